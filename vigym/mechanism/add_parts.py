"""The builder's half for bodies, joints and what is fixed to them."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.bodies import WORLD, Body, Frame, Report, make_body, make_frame, velocity_of
from vigym.mechanism.elements.collection import IMPLICIT, Listing
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint, make_joint
from vigym.mechanism.elements.shapes import Shape, check_shapes
from vigym.mechanism.topology.graph import check_closing, check_coordinates, check_open, closes_loop


class AddParts(Listing):
    """Adds bodies, joints, frames and shapes of the world."""

    def add_body(
        self,
        name: str,
        mass: float,
        inertia: ArrayLike,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        shapes: Sequence[Shape] = (),
    ) -> Body:
        """Add a rigid body at its assembly pose and return its record.

        Args:
            name: unique among bodies and frames; "world" is taken.
            mass: [kg], > 0.
            inertia: principal moments (3,) or tensor (3, 3) about the centre of mass, body axes [kg m^2].
            position: centre of mass in the world (3,) [m].
            orientation: quaternion (w, x, y, z), body to world (4,); scaled to length one.
            shapes: what is drawn, poses in the body frame.

        Raises:
            MechanismError: a value no rigid body has, or a name that is taken.
        """
        checks.fresh_name(name, "body", [WORLD, *self._bodies, *self._frames])
        body = make_body(name, mass, inertia, position, orientation, shapes)
        self._bodies[name] = body
        return body

    def add_joint(
        self,
        name: str,
        type: str,
        parent: str,
        child: str,
        position: ArrayLike,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        limits: ArrayLike | None = None,
        damping: float = 0.0,
        stiffness: float = 0.0,
        rest: ArrayLike = 0.0,
        effort: float | None = None,
        armature: float = 0.0,
        friction: float = 0.0,
        *,
        axis2: ArrayLike | None = None,
        velocity: float | None = None,
        child_position: ArrayLike | None = None,
        child_rotation: ArrayLike | None = None,
    ) -> Joint:
        """Join two bodies at their assembly pose, where all coordinates of the joint are zero, and return its record.

        A joint whose child already hangs on another joint (or carries the joint's parent) closes a loop.

        Args:
            name: unique among joints.
            type: a key of `vigym.mechanism.elements.joints.PROTOTYPES`.
            parent: body name or "world".
            child: body name.
            position: anchor in the world (3,) [m].
            axis: direction of the freedom in the world (3,), planar: the normal; scaled to length one.
            limits: (lower, upper) [rad or m], one pair per freedom; hard.
            damping: [N s/m or N m s/rad], >= 0.
            stiffness: [N/m or N m/rad], >= 0.
            rest: coordinate(s) where the spring is slack; spherical and floating: 0.
            effort: largest actuator force [N or N m]; None or 0: passive, inf: unlimited.
            armature: drive inertia seen at the joint [kg or kg m^2], >= 0.
            friction: Coulomb friction of a joint of one freedom [N or N m], >= 0.
            axis2: universal only: second axis (3,), fixed in the child, perpendicular to `axis`.
            velocity: largest rate [rad/s or m/s]; the joint's motor brakes, within its effort. Nothing else keeps it.
            child_position: closing joints only: the child's half of the anchor in the world (3,) [m], where the loop
                is open at the assembly pose; it is closed when a simulator is made.
            child_rotation: closing joints only: turns the parent's half of the joint frame into the child's (4,),
                quaternion in the world.

        Raises:
            MechanismError: unknown type or body, a value out of range, a closing joint with an actuator or armature.
        """
        checks.fresh_name(name, "joint", self._joints)
        if IMPLICIT in name:
            raise MechanismError(f"joint {name!r}: found the reserved text {IMPLICIT!r}, expected another name")
        self._check_ends(name, parent, child)
        joint = make_joint(
            name, type, parent, child, position, axis=axis, axis2=axis2, limits=limits, damping=damping,
            stiffness=stiffness, rest=rest, effort=effort, armature=armature, friction=friction, velocity=velocity,
            child_position=child_position, child_rotation=child_rotation,
        )  # fmt: skip
        closes = closes_loop(joint, self._carrying)
        (check_closing if closes else check_open)(joint)
        check_coordinates(joint, self._joints.values())
        self._joints[name] = joint
        self._closing.update([name] if closes else [])
        if joint.velocity is not None and np.isfinite(joint.velocity):
            message = f"its largest rate {joint.velocity:g} is kept by a motor alone, and it has none"
            self.report.append(Report("not enforced", velocity_of(name), message))
        if joint.limits is not None and closes:
            message = f"{joint.limits.tolist()}: the joint closes a loop; add it before the others of its loop"
            self.report.append(Report("not enforced", f"joint {name!r} limits", message))
        return joint

    def add_frame(
        self,
        name: str,
        body: str,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    ) -> Frame:
        """Name a massless frame fixed in a body (or "world") and return its record.

        Args:
            name: unique among bodies and frames.
            body: body name or "world".
            position: origin in the body frame (3,) [m].
            orientation: quaternion (w, x, y, z), frame to body (4,).

        Raises:
            MechanismError: unknown body, a name that is taken, or a value that is not finite.
        """
        checks.fresh_name(name, "frame", [WORLD, *self._bodies, *self._frames])
        checks.one_of(body, [WORLD, *self._bodies], f"frame {name!r} body")
        frame = make_frame(name, body, position, orientation)
        self._frames[name] = frame
        return frame

    def add_world_shape(self, shape: Shape) -> None:
        """Draw a shape that stands still; its pose is in the world.

        Raises:
            MechanismError: not a shape.
        """
        self._world_shapes.extend(check_shapes([shape], "world"))

    def _check_ends(self, name: str, parent: str, child: str) -> None:
        if child == WORLD:
            raise MechanismError(f"joint {name!r} child: found 'world', expected a body; make the world the parent")
        checks.one_of(parent, [WORLD, *self._bodies], f"joint {name!r} parent")
        checks.one_of(child, list(self._bodies), f"joint {name!r} child")
        if parent == child:
            raise MechanismError(f"joint {name!r}: found {child!r} as parent and child, expected two bodies")
