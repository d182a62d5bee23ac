"""The Mechanism builder: what a person writes a system of bodies and joints in."""

import os
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from vigym.mechanism import check
from vigym.mechanism.errors import MechanismError
from vigym.mechanism.graph import check_closing, check_coordinates, check_open, closes_loop
from vigym.mechanism.joints import Joint, make_joint
from vigym.mechanism.listing import IMPLICIT, Listing
from vigym.mechanism.parts import WORLD, Body, Frame, Ground, Report, make_body, make_frame, make_ground
from vigym.mechanism.shapes import Shape, check_shapes
from vigym.mechanism.springs import Spring, make_spring


class Mechanism(Listing, check.ReadOnly):
    """Named bodies and joints at one assembly pose; every value is checked when it is added.

    An element that is refused leaves the mechanism as it was. Bodies that no joint carries float freely: each gets
    an implicit joint named `<body>:floating`.

    Args:
        gravity: acceleration of free fall in the world (3,) [m/s^2].
        ground: None, True (the plane z = 0) or a `Ground`; it is drawn, nothing touches it.
        name: shown in summaries.

    Attributes:
        report: list of `Report`: what is not simulated exactly as it was written.

    Raises:
        MechanismError: gravity that is not three finite numbers, or a wrong ground.
    """

    def __init__(
        self,
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        ground: bool | Ground | None = None,
        name: str = "mechanism",
    ) -> None:
        self.gravity = check.vector(gravity, "gravity [m/s^2]")
        self.ground = make_ground(ground)
        self.name = check.fresh_name(name, "mechanism", ())
        self.report: list[Report] = []
        self._bodies: dict[str, Body] = {}
        self._joints: dict[str, Joint] = {}
        self._closing: set[str] = set()
        self._springs: dict[str, Spring] = {}
        self._frames: dict[str, Frame] = {}
        self._world_shapes: list[Shape] = []

    def __repr__(self) -> str:
        return f"<Mechanism {self.name!r}: {len(self._bodies)} bodies, {len(self._joints)} joints>"

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
        check.fresh_name(name, "body", [WORLD, *self._bodies, *self._frames])
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
            type: a key of `vigym.mechanism.joints.PROTOTYPES`.
            parent: body name or "world".
            child: body name.
            position: anchor in the world (3,) [m].
            axis: direction of the freedom in the world (3,), planar: the normal; scaled to length one.
            limits: (lower, upper) [rad or m], one pair per freedom; stored, not enforced.
            damping: [N s/m or N m s/rad], >= 0.
            stiffness: [N/m or N m/rad], >= 0.
            rest: coordinate(s) where the spring is slack; spherical and floating: 0.
            effort: largest actuator force [N or N m]; None or 0: passive, inf: unlimited.
            armature: drive inertia seen at the joint [kg or kg m^2], >= 0.
            friction: must be 0, joint friction is not simulated yet.
            axis2: universal only: second axis (3,), fixed in the child, perpendicular to `axis`.
            velocity: largest rate [rad/s or m/s]; stored, not enforced.
            child_position: closing joints only: the child's half of the anchor in the world (3,) [m], where the loop
                is open at the assembly pose; it is closed when a simulator is made.
            child_rotation: closing joints only: turns the parent's half of the joint frame into the child's (4,),
                quaternion in the world.

        Raises:
            MechanismError: unknown type or body, a value out of range, a closing joint with an actuator or armature.
        """
        check.fresh_name(name, "joint", self._joints)
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
        self.report.extend(Report("not enforced", *bound) for bound in joint.bounds)
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
        check.fresh_name(name, "frame", [WORLD, *self._bodies, *self._frames])
        check.one_of(body, [WORLD, *self._bodies], f"frame {name!r} body")
        frame = make_frame(name, body, position, orientation)
        self._frames[name] = frame
        return frame

    def add_spring(
        self,
        name: str,
        a: str,
        b: str,
        point_a: ArrayLike,
        point_b: ArrayLike,
        stiffness: float,
        rest_length: float,
        damping: float = 0.0,
    ) -> Spring:
        """Stretch a spring and damper between two points and return its record.

        It pulls with stiffness (length - rest_length) + damping d(length)/dt along the line between the points.

        Args:
            name: unique among springs.
            a: body name or "world".
            b: another one.
            point_a: end in the frame of body a (3,) [m]; of "world": in the world.
            point_b: the same of body b.
            stiffness: [N/m], >= 0; any period, however far below a step, is stable (to 1e12 N/m for 1 kg and 1 m).
            rest_length: length without force [m], >= 0.
            damping: [N s/m], >= 0.

        Raises:
            MechanismError: unknown body, one body twice, a name that is taken, or a value out of range.
        """
        check.fresh_name(name, "spring", self._springs)
        for end, body in (("a", a), ("b", b)):
            check.one_of(body, [WORLD, *self._bodies], f"spring {name!r} {end}")
        spring = make_spring(name, a, b, point_a, point_b, stiffness, rest_length, damping)
        self._springs[name] = spring
        return spring

    def add_world_shape(self, shape: Shape) -> None:
        """Draw a shape that stands still; its pose is in the world.

        Raises:
            MechanismError: not a shape.
        """
        self._world_shapes.extend(check_shapes([shape], "world"))

    def summary(self) -> str:
        """Return a text of bodies, joints, frames, degrees of freedom and the report."""
        from vigym.mechanism.summary import summary

        return summary(self)

    def to_urdf(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return this mechanism as a URDF file, loops included, and write it to `path`; `load_urdf` reads it back.

        What changes no motion and has no place in it (the ground, limits of several freedoms) is in its comments.

        Raises:
            MechanismError: what changes the motion and has no place: other gravity, springs, armature, some types.
        """
        from vigym.mechanism.urdf_text import to_urdf

        return to_urdf(self, path)

    def compile(self, loops: str = "auto") -> Any:
        """Return the constant tables the stepper works on; `loops` as in `Simulator`."""
        from vigym.mechanism.model import build_model

        return build_model(self, loops)

    def _check_ends(self, name: str, parent: str, child: str) -> None:
        if child == WORLD:
            raise MechanismError(f"joint {name!r} child: found 'world', expected a body; make the world the parent")
        check.one_of(parent, [WORLD, *self._bodies], f"joint {name!r} parent")
        check.one_of(child, list(self._bodies), f"joint {name!r} child")
        if parent == child:
            raise MechanismError(f"joint {name!r}: found {child!r} as parent and child, expected two bodies")
