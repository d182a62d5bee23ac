"""Mechanism: bodies, joints, forces and contacts of a system, as an author writes it."""

import os
from collections.abc import Sequence

from numpy.typing import ArrayLike

from vigym.mechanism.constraints import Constraints
from vigym.mechanism.elements import bodies, checks, collisions, contacts, joints, motors
from vigym.mechanism.elements.bodies import WORLD, Body, Frame
from vigym.mechanism.elements.collisions import Collision, ContactMaterial
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.elements.joints import Joint, JointParameters, JointPlacement
from vigym.mechanism.elements.motors import DCMotor, Motor
from vigym.mechanism.elements.shapes import Shape, check_shapes
from vigym.mechanism.elements.springs import Spring, make_spring
from vigym.mechanism.summary import summary
from vigym.mechanism.topology.analysis import Structure, analyse_structure
from vigym.mechanism.topology.graph import check_joint_closes_loop
from vigym.mechanism.tracks.rows import with_tracks


class Mechanism(Constraints):
    """Named bodies and joints at one assembly pose; every value is checked when it is added.

    The methods `add_...` return the record of the new element. They raise MechanismError for a name
    that is taken, for unknown bodies and joints and for values out of range; the mechanism is then
    as it was. Bodies that no joint carries float freely: each gets an implicit joint named
    `<body>:floating`.

    Args:
        gravity: acceleration of free fall in the world (3,) [m/s^2].
        ground: True (the plane z = 0), a `Ground`, False for none, or None: the plane z = 0 when
            the first contact, collision or wheel is added, none before. Without a ground contacts
            and collisions are kept and touch nothing.
        name: shown in summaries.

    Attributes:
        gravity, ground: as the arguments; new values are checked in the same way.
        bodies, joints, frames: elements by name, in the order they were added, as below; joints
            without the implicit ones.
        springs, potentials, couplings, velocity_constraints: elements by name.
        motions: prescribed motions by coordinate.
        collisions, skates, wheels: elements by name, contacts among the collisions.
        pairs: pairs of bodies whose collision shapes touch each other.
        world_shapes: shapes drawn at rest, poses in the world.
        notes: `Note`s on elements that are not simulated exactly as they were written.

    Raises:
        MechanismError: gravity that is not three finite numbers, or a wrong ground.
    """

    _structure: tuple[tuple[int, ...], Structure] | None = None  # with the numbers of elements then

    def add_body(
        self,
        name: str,
        mass: float,
        inertia: ArrayLike,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
        shapes: Sequence[Shape] = (),
    ) -> Body:
        """Add a rigid body at its assembly pose.

        Args:
            name: unique among bodies and frames; "world" is taken.
            mass: [kg], > 0.
            inertia: moments (3,) or tensor (3, 3) about the centre of mass, body axes [kg m^2].
            position: centre of mass in the world (3,) [m].
            orientation: quaternion (w, x, y, z), body to world (4,); scaled to length one.
            shapes: drawn, poses in the body frame.
        """
        checks.require_new_name(name, "body", (WORLD,), self.bodies, self.frames)
        body = bodies.make_body(name, mass, inertia, position, orientation, shapes)
        return self.bodies.add(name, body)

    def add_joint(
        self,
        name: str,
        type: str,
        parent: str,
        child: str,
        position: ArrayLike,
        axis: ArrayLike = (0.0, 0.0, 1.0),
        limits: ArrayLike | None = None,
        damping: ArrayLike = 0.0,
        stiffness: ArrayLike = 0.0,
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
        """Join two bodies at their assembly pose, where all coordinates of the joint are zero.

        A joint whose child already hangs on another joint, or carries its parent, closes a loop.

        Args:
            name: unique among joints.
            type: key of `vigym.mechanism.elements.joints.JOINT_TYPES`.
            parent: body name or "world".
            child: body name.
            position: anchor in the world (3,) [m].
            axis: of translation and rotation in the world (3,), planar: normal; scaled to length
                one.
            limits: (lower, upper) [rad or m], one pair per degree of freedom; hard.
            damping: [N s/m or N m s/rad], >= 0: a number, or one per degree of freedom in the order
                of `velocity_names`, the same for three rotations.
            stiffness: [N/m or N m/rad], >= 0; as `damping`. Stable at any stiffness and period;
                vibrations that steps do not resolve are damped, see docs/numerics.md.
            rest: coordinate(s) where the spring is slack; spherical and floating: 0.
            effort: largest actuator force [N or N m]; None or 0: passive, inf: unlimited.
            armature: drive inertia seen at the joint [kg or kg m^2], >= 0.
            friction: Coulomb friction of a joint of one degree of freedom [N or N m], >= 0.
            axis2: universal only: second axis (3,), fixed in the child, perpendicular to `axis`.
            velocity: largest rate [rad/s or m/s]; only the joint's motor enforces it, by its
                effort.
            child_position: of an open loop-closing joint: anchor on the child in the world (3,)
                [m]; a simulator closes the loop.
            child_rotation: of an open loop-closing joint: rotation from the parent's joint frame to
                the child's (4,), quaternion in the world.
        """
        checks.require_new_name(name, "joint", self.joints, self.tracks)
        joints.check_joint_ends(name, parent, child, self.bodies)
        placement = JointPlacement(position, axis, axis2, child_position, child_rotation)
        parameters = JointParameters(
            limits, damping, stiffness, rest, effort, armature, friction, velocity
        )
        joint = joints.make_joint(name, type, parent, child, placement, parameters)
        closes_loop = check_joint_closes_loop(joint, self._index)
        self._closing += (name,) if closes_loop else ()
        self.notes += motors.velocity_notes(joint)
        return self.joints.add(name, joint)

    def add_frame(
        self,
        name: str,
        body: str,
        position: ArrayLike = (0.0, 0.0, 0.0),
        orientation: ArrayLike = (1.0, 0.0, 0.0, 0.0),
    ) -> Frame:
        """Name a massless frame fixed in a body or the world.

        Args:
            name: unique among bodies and frames.
            body: body name or "world".
            position: origin in the body frame (3,) [m].
            orientation: quaternion (w, x, y, z), frame to body (4,).
        """
        checks.require_new_name(name, "frame", (WORLD,), self.bodies, self.frames)
        checks.require_one_of(body, self.bodies, f"frame {name!r} body", (WORLD,))
        return self.frames.add(name, bodies.make_frame(name, body, position, orientation))

    def add_world_shape(self, shape: Shape) -> None:
        """Add a shape that is drawn at rest in the world."""
        self.world_shapes += check_shapes([shape], "world")

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
        """Connect two points by a spring and damper.

        It pulls with stiffness (length - rest_length) + damping d(length)/dt along their line.
        Steps are made in parts where a body swings too fast across stretched springs.

        Args:
            name: unique among springs.
            a: body name or "world".
            b: another one.
            point_a: end in the frame of body a (3,) [m]; of "world": in the world.
            point_b: end in the frame of body b (3,) [m].
            stiffness: [N/m], >= 0; along the line stable at any period (to 1e12 N/m for 1 kg
                and 1 m).
            rest_length: length without force [m], >= 0.
            damping: [N s/m], >= 0.
        """
        checks.require_new_name(name, "spring", self.springs)
        checks.require_one_of(a, self.bodies, f"spring {name!r} a", (WORLD,))
        checks.require_one_of(b, self.bodies, f"spring {name!r} b", (WORLD,))
        spring = make_spring(name, (a, b), (point_a, point_b), stiffness, rest_length, damping)
        return self.springs.add(name, spring)

    def add_motor(
        self,
        joint: str,
        kp: float = 0.0,
        kd: float = 0.0,
        effort: float | None = None,
        *,
        model: DCMotor | None = None,
    ) -> Motor:
        """Drive a joint of one degree of freedom by a controller solved within the step.

        Its force is kp (target - s) - kd rate, of kp = 0 kd (target - rate); the joint's torque is
        added and the sum clipped to the effort, at the end of the step. Any gains are stable. A
        velocity limit of the joint is enforced within the effort.

        Args:
            joint: name of a joint of one degree of freedom, without a motor, or of a curve joint,
                whose coordinate is its arc length, or of a coordinate of a joint of your own.
            kp: [N m/rad or N/m], >= 0. Above 0 the target is a position, at 0 it is a rate.
            kd: [N m s/rad or N s/m], >= 0; not both are 0.
            effort: largest force [N or N m], >= 0, may be inf; None: the joint's.
            model: electric motor; the controller's output is its pulse width in [-1, 1], and kp >
                0.
        """
        if joint in self.slide_names or joint in self.tracks:
            self._check_curve_motor(joint)
            return self._motors.add(joint, motors.make_motor(joint, kp, kd, effort, model))
        motors.check_motor_joint(joint, self.joints, self._motors, self.motions)
        motor = motors.make_joint_motor(self.joints[joint], kp, kd, effort, model)
        motors.remove_velocity_note(self.notes, self.joints[joint])
        return self._motors.add(joint, motor)

    def add_contact(
        self,
        name: str,
        body: str,
        position: ArrayLike,
        radius: float = 0.0,
        friction: ArrayLike = 0.8,
        restitution: float = 0.0,
        torsion: float = 0.0,
        direction: ArrayLike = (1.0, 0.0, 0.0),
    ) -> Collision:
        """Let a point or ball of a body touch the ground: the plane z = 0 where none is given.

        Args:
            name: unique among contacts and collisions.
            body: body name.
            position: point or centre of the ball in the body frame (3,) [m].
            radius: of the ball [m], >= 0.
            friction: a number, (along, across) or (along, across, backward), >= 0. "Along" resists
                slip forward, "backward" slip backward, on the ground's projection of `direction`.
            restitution: part of the approaching speed that is given back (Newton's), in [0, 1];
                none is below two steps of free fall, and heights are met to order one in the step.
            torsion: largest moment about the normal as a part of the normal force [m], >= 0.
            direction: in the body frame (3,), scaled to length one.
        """
        checks.require_new_name(name, "contact", self.collisions)
        bodies.check_body(body, self.bodies, self.frames, f"contact {name!r}")
        surface = ContactMaterial(friction, restitution, torsion, direction)
        contact = collisions.make_contact(name, body, position, radius, surface)
        return self._add_collision(contact)

    def add_collision(
        self,
        name: str,
        body: str,
        shape: Shape,
        friction: ArrayLike = 0.8,
        restitution: float = 0.0,
        torsion: float = 0.0,
        direction: ArrayLike = (1.0, 0.0, 0.0),
    ) -> Collision:
        """Let a shape of a body touch the ground, as `add_contact`, and bodies paired with it.

        Args:
            name: unique among contacts and collisions.
            body: body name.
            shape: any of `vigym.mechanism.elements.shapes`, pose in the body frame; not drawn.
                A mesh touches by its convex hull of at most 128 corners (a note says if more were
                cut).
            friction: as in `add_contact`.
            restitution: as in `add_contact`.
            torsion: as in `add_contact`.
            direction: as in `add_contact`.
        """
        checks.require_new_name(name, "collision", self.collisions)
        bodies.check_body(body, self.bodies, self.frames, f"collision {name!r}")
        surface = ContactMaterial(friction, restitution, torsion, direction)
        collision = collisions.make_collision(name, body, shape, surface)
        contacts.check_partners(collision, self._index.shapes_of_partners(body))
        return self._add_collision(collision)

    def add_pair(self, a: str, b: str) -> None:
        """Let the collision shapes of two bodies touch each other, not boxes on both.

        A sphere and any shape have one contact; a capsule and a capsule or box three: where they
        are nearest, and at the ends of the capsule's part over the other. Friction and restitution
        are the geometric means of both, without direction and torsion.

        Args:
            a: body name, with spheres, capsules or boxes for collision shapes.
            b: another one.
        """
        for body in (a, b):
            bodies.check_body(body, self.bodies, self.frames, f"pair {a!r}, {b!r}")
        contacts.check_pair(a, b, self._index.shapes, self._index.partners.get(a, ()))
        self.pairs += ((a, b),)

    def _add_collision(self, collision: Collision) -> Collision:
        contacts.check_contact_names(contacts.contact_names(collision), self._index.contacts)
        self._add_default_ground()
        self.notes += collisions.hull_truncation_notes(collision)
        return self.collisions.add(collision.name, collision)

    @property
    def degrees_of_freedom(self) -> int:
        """Number of independent velocities at a generic assembled pose; skates and wheels apart."""
        return self.structure.dofs

    @property
    def redundant_constraints(self) -> int:
        """Number of constraint rows that depend on others, at a generic assembled pose."""
        return self.structure.redundant_constraints

    @property
    def structure(self) -> Structure:
        """Assembled pose, loop constraints and numbers of degrees of freedom, cached.

        Raises:
            AssemblyError: loops that cannot be closed; names the worst joint and its gap. Or
                surfaces that touch at a singular place.
        """
        parts = self.bodies, self.joints, self.couplings, self.tracks
        numbers = tuple(len(part) for part in parts)  # elements are only added
        if self._structure is None or self._structure[0] != numbers:
            structure = analyse_structure(self)
            found = with_tracks(self, structure) if self.tracks else structure
            self._structure = numbers, found
        return self._structure[1]

    def reset_structure(self) -> None:
        """Discard the analysed structure: elements of this copy have other places."""
        self._structure = None

    def summary(self) -> str:
        """Return a text of all elements, degrees of freedom and notes."""
        try:
            return summary(self, self.structure)
        except AssemblyError as error:
            return summary(self, error)

    def to_urdf(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return this mechanism as a URDF file, loops included; write it to `path` if one is given.

        `load_urdf` reads it back. Ground and motors are comments, to be given again after loading.

        Raises:
            MechanismError: elements that a file cannot hold: other gravity, springs, armature, some
                joint types, limits of several degrees of freedom or on one side alone, friction
                that depends on the direction, pairs, skates, wheels.
        """
        from vigym.urdf.write.write import to_urdf

        return to_urdf(self, path)
