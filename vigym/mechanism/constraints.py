"""Constraints of a mechanism beside its joints of the tree, and potentials of the user's own."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements import bodies, checks, contacts, couplings, motors, springs
from vigym.mechanism.elements.bodies import WORLD, Body
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.collection import Elements
from vigym.mechanism.elements.couplings import Coupling, Skate, VelocityConstraint, Wheel
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.motors import Motion
from vigym.mechanism.elements.springs import Potential
from vigym.mechanism.tracks.custom import CustomJoint, make_custom_joint
from vigym.mechanism.tracks.joints import Track, make_curve_joint, make_surface_joint
from vigym.mechanism.tracks.sides import Side
from vigym.mechanism.tracks.slides import Slide


class Constraints(Elements):
    """Methods of `Mechanism` that add constraints which are no joints, and potentials."""

    def add_coupling(
        self, name: str, type: str, joint: str, other: str, ratio: float = 1.0, offset: float = 0.0
    ) -> Coupling:
        """Make one joint coordinate follow another: joint = ratio * other + offset.

        Args:
            name: unique among couplings.
            type: "gear", "mimic", or "screw" for distance and angle of one cylindrical joint.
            joint: position coordinate that follows, as in `position_names`, of a joint of the tree
                without quaternion; it follows no other one.
            other: coordinate that it follows.
            ratio: not zero [unit of joint / unit of other]; of a screw pitch / (2 pi) [m/rad].
            offset: [unit of joint].
        """
        checks.require_new_name(name, "coupling", self.couplings)
        coupling = couplings.make_coupling(name, type, joint, other, ratio, offset)
        self._index.check_coupling(coupling, lambda: self.tree_joints)
        return self.couplings.add(name, coupling)

    def add_motion(
        self,
        coordinate: str,
        motion: Callable[[float], float] | tuple[ArrayLike, ArrayLike],
        rate: Callable[[float], float] | None = None,
    ) -> Motion:
        """Prescribe the motion of a joint coordinate as a function of time.

        `sim.motion_forces` has the force of the motion; its work counts as work of actuators.
        Starts take coordinate and rate of the motion at time 0.

        Args:
            coordinate: position coordinate as in `position_names`, of a joint of the tree without
                quaternion; neither its joint has a motor nor does it follow by a coupling.
            motion: function of the time since reset [s] to a coordinate [rad, m], or (times,
                values) of samples: a cubic between them, and rest before and behind.
            rate: derivative of the function; by default differences over 2 ms before and behind.
        """
        checks.require_new_name(coordinate, "motion", self.motions)
        new = motors.make_motion(coordinate, motion, rate)
        self._index.check_motion(coordinate, self._motors, lambda: self.tree_joints)
        return self.motions.add(coordinate, new)

    def add_velocity_constraint(
        self,
        name: str,
        terms: Mapping[str, ArrayLike],
        rate: Callable[[float], float] | tuple[ArrayLike, ArrayLike] | float = 0.0,
        pushes: Mapping[str, ArrayLike] | None = None,
        frame: str = "world",
    ) -> VelocityConstraint:
        """Let a weighted sum of velocities of bodies follow a function of time.

        The sum of linear . v + angular . w over the bodies is the rate; v is the velocity of a
        body's centre of mass, w its angular velocity, both in the world. Steps have such
        velocities, over the step and at knots; starts are projected on them. The force, a factor
        on the weights, is `sim.velocity_constraint_forces`.

        The power of a force along the weights is force times rate, zero at rate 0. It counts as
        work of actuators, and so does the work along `pushes`.

        Args:
            name: unique among velocity constraints.
            terms: body -> (linear (3,), angular (3,)) weights.
            rate: a number, a function of the time since reset [s], or (times, values) of samples: a
                cubic between them, constant before and behind.
            pushes: body -> (force (3,), torque (3,)) about the centre of mass that a unit force
                exerts; None: along the weights.
            frame: frame of the weights and pushes: "world", "body" for each in its own
                body, or the name of one body for all of them.
        """
        checks.require_new_name(name, "velocity constraint", self.velocity_constraints)
        made = couplings.make_velocity_constraint(name, terms, rate, pushes, frame, self.bodies)
        return self.velocity_constraints.add(name, made)

    def add_potential(
        self,
        name: str,
        body: str,
        energy: Callable[[Array, Array], float],
        forces: Callable[[Array, Array], Any],
    ) -> Potential:
        """Let a body move in a potential of your own: a field, a soft boundary, a bond.

        It acts at the ends of the steps, as gravity does. Energy has no trend if the vibrations
        that it causes are slower than 2 / timestep rad/s. `sim.energy` counts it. numba compiles
        both functions when a simulator is made; kernels stay as they are. To pickle a simulator,
        define them in a module.

        Args:
            name: unique among potentials.
            body: body name.
            energy: of (position, orientation) to a number [J]: centre of mass (3,) [m, world] and
                quaternion (w, x, y, z), body to world (4,).
            forces: of the same to (force, torque), three numbers each: minus the derivatives of the
                energy by the position [N, world] and by rotations about the centre of mass
                [N m, world]. They are compared with differences of the energy at the assembly pose.
        """
        checks.require_new_name(name, "potential", self.potentials)
        bodies.check_body(body, self.bodies, self.frames, f"potential {name!r}")
        pose = self.bodies[body].position, self.bodies[body].orientation
        made = springs.make_potential(name, body, (energy, forces), pose)
        return self.potentials.add(name, made)

    def add_curve_joint(
        self,
        name: str,
        parent: str,
        child: str,
        curve: Side,
        point: ArrayLike = (0.0, 0.0, 0.0),
        axis: ArrayLike | None = None,
        slide: Slide | None = None,
    ) -> Track:
        """Keep a point of a body on a curve of another one, wherever both are in the tree.

        Args:
            name: unique among joints; `add_motor` takes it, too.
            parent: body with the curve, or "world".
            child: body with the point, or "world".
            curve: of `vigym.mechanism.tracks.curves`: `Circle`, `Helix`, `Line`, `Bezier`,
                `BSpline`, `Fitted`, `Curve`. The ends of an open one are limits.
            point: in the child's frame (3,) [m].
            axis: direction in the child's frame (3,) that stays along the curve; None: free.
            slide: damper, spring, friction and limits along the curve.
        """
        checks.require_new_name(name, "curve joint", self.tracks, self.joints)
        self._require_ends(f"curve joint {name!r}", parent, child)
        new = make_curve_joint(name, (parent, child), curve, point, axis, slide)
        return self.tracks.add(name, new)

    def add_surface_joint(
        self, name: str, parent: str, child: str, first: Side, second: Side, spin: bool = True
    ) -> Track:
        """Keep two surfaces in touch at one point, where they slide and roll freely.

        They touch where they are nearest at the assembly pose; starts move them together. They
        never part: the force may pull. The edges of a patch are limits. Where both fit along a
        curve (linked tori that turn far about the normal) the contact point is singular: steps fail
        before, with a warning that names the joint. `spin=False` keeps linked tori off.

        Args:
            name: unique among joints.
            parent: body name or "world".
            child: another one.
            first: surface of the parent, of `vigym.mechanism.tracks.surfaces`: `Sphere`, `Torus`,
                `Cylinder`, `Plane`, `Ellipsoid`, `Patch`; a curve or a
                `vigym.mechanism.tracks.sides.Point` if the other is a surface or has a tube.
            second: surface of the child.
            spin: whether the bodies may turn against each other about the normal. False keeps the
                angle between a direction of each at that of the assembly: of the tangent along a
                torus, cylinder or curve, of the first tangent of a plane or patch, of the z axis of
                a sphere or ellipsoid along its surface, which is undefined at its poles: steps
                that come near them fail.
        """
        checks.require_new_name(name, "surface joint", self.tracks, self.joints)
        self._require_ends(f"surface joint {name!r}", parent, child)
        new = make_surface_joint(name, (parent, child), (first, second), spin)
        return self.tracks.add(name, new)

    def add_custom_joint(
        self,
        name: str,
        parent: str,
        child: str,
        transform: Callable[[Any], Any],
        start: ArrayLike = 0.0,
        position: ArrayLike = (0.0, 0.0, 0.0),
        slides: Slide | Sequence[Slide | None] | None = None,
    ) -> CustomJoint:
        """Hold a body to another one by a joint of your own: its pose by coordinates.

        The pose of the child's frame in the parent's is `transform(q)`. numba compiles it when a
        simulator is made; kernels stay as they are. Derivatives come from complex numbers, exact to
        rounding: q is an array of them. To pickle a simulator, define the function in a module.
        `sim.custom_position(name)` and `sim.custom_velocity(name)` are q and its rates.

        Args:
            name: unique among joints. `add_motor` takes it if there is one coordinate, of several
                "name:0", "name:1", ...
            parent: body name or "world".
            child: another one.
            transform: of q (n,) to (position (3,), orientation), in the parent's frame [m]; the
                orientation is a unit quaternion (w, x, y, z) or a rotation matrix (3, 3). It is
                made of arithmetic and numpy's functions that take complex numbers, without abs.
            start: coordinates (n,) at the assembly, 1 <= n <= 5, or one number.
            position: of the parent's frame at the assembly (3,) [m, world]; its axes are the
                world's there. The child's frame is where `transform(start)` puts it.
            slides: damper, spring, friction and limits along each coordinate; None: none.

        Raises:
            MechanismError: a transform of other shapes, that is not rigid or finite, whose
                derivatives are not those of its differences, or whose coordinates move the child
                alike.
        """
        checks.require_new_name(name, "custom joint", self.tracks, self.joints)
        self._require_ends(f"custom joint {name!r}", parent, child)
        still = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        first, second = (
            (end, still if end == WORLD else _pose(self.bodies[end])) for end in (parent, child)
        )
        new = make_custom_joint(name, (first, second), transform, start, position, slides)
        self.tracks.add(name, new)
        return new

    def _check_curve_motor(self, joint: str) -> None:
        element = f"motor of joint {joint!r}"
        if joint not in self.slide_names:
            names = self.tracks[joint].coordinate_names
            found = "no coordinate of it" if names else "a surface joint"
            expected = f"one of {names}" if names else "a curve joint"
            raise MechanismError(f"{element}: found {found}, expected {expected}")
        if joint in self._motors:
            raise MechanismError(f"{element}: found a second motor on it, expected one")

    def _require_ends(self, element: str, *ends: str) -> None:
        for end in ends:
            checks.require_one_of(end, self.bodies, f"{element} body", (WORLD,))

    def add_skate(self, name: str, body: str, position: ArrayLike, direction: ArrayLike) -> Skate:
        """Keep a point of a body from moving along a direction fixed in it (nonholonomic).

        Args:
            name: unique among skates and wheels.
            body: body name.
            position: in the body frame (3,) [m].
            direction: in the body frame (3,), scaled to length one.
        """
        checks.require_new_name(name, "skate", self.skates, self.wheels)
        bodies.check_body(body, self.bodies, self.frames, f"skate {name!r}")
        return self.skates.add(name, couplings.make_skate(name, body, position, direction))

    def add_wheel(
        self, name: str, body: str, position: ArrayLike, axis: ArrayLike, radius: float
    ) -> Wheel:
        """Let a wheel stand on the ground, and roll on it without slip (nonholonomic).

        Its rim presses on the ground and may lift; it holds along and across as long as it is
        within a thousandth of its radius of the ground. A mechanism without a ground gets the plane
        z = 0; one made with `ground=False` has no wheels.

        Args:
            name: unique among skates and wheels.
            body: body name of the wheel, which turns.
            position: centre in the body frame (3,) [m].
            axis: in the body frame (3,), scaled to length one.
            radius: [m], > 0.
        """
        checks.require_new_name(name, "wheel", self.skates, self.wheels)
        bodies.check_body(body, self.bodies, self.frames, f"wheel {name!r}")
        wheel = couplings.make_wheel(name, body, position, axis, radius)
        contacts.check_contact_names(contacts.wheel_contact_names(wheel), self._index.contacts)
        self._add_default_ground()
        bodies.require_ground(self.ground, f"wheel {name!r}")
        return self.wheels.add(name, wheel)


def _pose(body: Body) -> tuple[Array, Array]:
    """Return position and quaternion of a body at the assembly."""
    return np.asarray(body.position), np.asarray(body.orientation)
