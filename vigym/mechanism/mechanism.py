"""Mechanism: bodies, joints, forces and contacts of a system, as an author writes it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from vigym.mechanism.elements import bodies, checks, collisions, contacts, couplings, joints, motors
from vigym.mechanism.elements.bodies import WORLD, Body, Frame
from vigym.mechanism.elements.couplings import Skate
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.elements.shapes import Shape, check_shapes
from vigym.mechanism.elements.springs import Potential, Spring, make_potential, make_spring
from vigym.mechanism.summary import summary
from vigym.mechanism.topology.analysis import Structure, analyse_structure
from vigym.mechanism.topology.graph import check_joint_closes_loop
from vigym.mechanism.tracks.rows import with_tracks
from vigym.mechanism.writable import Writable


class Mechanism(Writable):
    """Named bodies and joints at one assembly pose; every value is checked when it is added.

    Methods `add_...` return the new element. They raise MechanismError for a name that is taken,
    unknown bodies and joints, and values out of range; the mechanism is then as it was. Bodies that
    no joint carries float freely, on an implicit joint named `<body>:floating`.

    Args:
        gravity: acceleration of free fall in the world (3,) [m/s^2].
        ground: True (the plane z = 0), a `Ground`, False for none, or None: the plane z = 0 when
            the first contact, collision or wheel is added, none before. Without a ground contacts
            and collisions are kept and touch nothing.
        name: shown in summaries.

    Attributes:
        gravity, ground: as the arguments; new values are checked in the same way.
        bodies, joints, frames: elements by name, in the order they were added; joints without the
            implicit ones.
        springs, potentials, couplings, velocity_constraints: elements by name.
        tracks: curve and surface joints and joints of your own; it has methods that add them.
        motions: prescribed motions by coordinate.
        collisions, skates, wheels: elements by name, contacts among the collisions.
        pairs: pairs of bodies whose collision shapes touch each other.
        world_shapes: shapes drawn at rest, poses in the world.
        starts: keyframes of a file by name: positions by joint, for `Simulator.reset`.
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
            mass: [kg]; 0, with inertia 0, of a link between joints.
            inertia: moments (3,) or tensor (3, 3) about the centre of mass, body axes [kg m^2].
            position: centre of mass in the world (3,) [m].
            orientation: quaternion (w, x, y, z), body to world (4,); scaled to length one.
            shapes: drawn, poses in the body frame.
        """
        checks.require_new_name(name, "body", (WORLD,), self.bodies, self.frames)
        made = bodies.make_body(name, mass, inertia, position, orientation, shapes)
        return self.bodies.add(name, made)

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
    ) -> joints.Joint:
        """Join two bodies at their assembly pose, where all coordinates of the joint are zero.

        A joint whose child already hangs on another joint, or carries its parent, closes a loop.

        Args:
            name: unique among joints.
            type: key of `vigym.mechanism.elements.joint_types.JOINT_TYPES`.
            parent: body name or "world".
            child: body name.
            position: anchor in the world (3,) [m].
            axis: of translation and rotation in the world (3,), planar: normal; scaled to length
                one.
            limits: (lower, upper) [rad or m], hard, per degree of freedom; balls: per translation.
            damping: [N s/m or N m s/rad], >= 0: a number, or one per degree of freedom in the order
                of `velocity_names`, the same for three rotations.
            stiffness: [N/m or N m/rad], >= 0; as `damping`. Stable at any stiffness and period;
                vibrations that steps do not resolve are damped, see docs/numerics.md.
            rest: coordinate(s) where the spring is slack; spherical and floating: 0.
            effort: largest actuator force [N or N m]; None or 0: passive, inf: unlimited.
            armature: drive inertia seen at the joint [kg or kg m^2], >= 0.
            friction: Coulomb friction of one degree of freedom [N or N m] or a ball's three, >= 0.
            axis2: universal only: second axis (3,), fixed in the child, perpendicular to `axis`.
            velocity: largest rate [rad/s or m/s]; only the joint's motor enforces it, by its
                effort.
            child_position: if a loop is open here: anchor on the child in the world (3,) [m].
            child_rotation: the same: rotation (4,) from the parent's joint frame to the child's,
                quaternion in the world.
        """
        checks.require_new_name(name, "joint", self.joints, self.tracks)
        joints.check_joint_ends(name, parent, child, self.bodies)
        placement = joints.JointPlacement(position, axis, axis2, child_position, child_rotation)
        parameters = joints.JointParameters(
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
        model: motors.DCMotor | None = None,
        targets: ArrayLike | None = None,
    ) -> motors.Motor:
        """Drive a joint of one degree of freedom by a controller solved within the step.

        Its force is kp (target - s) - kd rate, of kp = 0 kd (target - rate); the joint's torque is
        added and the sum clipped to the effort, at the end of the step, within which a velocity
        limit of the joint is enforced. Any gains are stable.

        Args:
            joint: name of a joint of one degree of freedom without a motor, of a curve joint (its
                arc length), or of a coordinate of a joint of your own.
            kp: [N m/rad or N/m], >= 0. The target is a position, at 0 a rate.
            kd: [N m s/rad or N s/m], >= 0; not both are 0.
            effort: largest force [N or N m], >= 0, may be inf; None: the joint's.
            model: electric motor; the controller's output is its pulse width in [-1, 1]; kp > 0.
            targets: (least, largest) that its user asks for [rad, m, per s], for environments.
        """
        if joint in (*self.tracks, *self.tracks.coordinate_names):
            self.tracks.check_motor(joint, self._motors)
            motor = motors.make_motor(joint, kp, kd, effort, model)
        else:
            motors.check_motor_joint(joint, self.joints, self._motors, self.motions)
            motor = motors.make_joint_motor(self.joints[joint], kp, kd, effort, model)
            motors.remove_velocity_note(self.notes, self.joints[joint])
        return self._motors.add(joint, motors.with_targets(motor, targets))

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
    ) -> collisions.Collision:
        """Let a point or ball of a body touch the ground: the plane z = 0 where none is given.

        Args:
            name: unique among contacts and collisions.
            body: body name.
            position: point or centre of the ball in the body frame (3,) [m].
            radius: of the ball [m], >= 0.
            friction: a number, (along, across) or (along, across, backward), >= 0; "along" and
                "backward" resist slip along the ground's projection of `direction` and back.
            restitution: part of the approaching speed that is given back (Newton's), in [0, 1];
                none is below two steps of free fall, and heights are met to order one in the step.
            torsion: largest moment about the normal as a part of the normal force [m], >= 0.
            direction: in the body frame (3,).
        """
        checks.require_new_name(name, "contact", self.collisions)
        bodies.check_body(body, self.bodies, self.frames, f"contact {name!r}")
        surface = collisions.ContactMaterial(friction, restitution, torsion, direction)
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
    ) -> collisions.Collision:
        """Let a shape of a body touch the ground, as `add_contact`, and bodies paired with it.

        Args:
            name: unique among contacts and collisions.
            body: body name; of one that a fixed joint holds in the world only pairs touch.
            shape: any of `vigym.mechanism.elements.shapes`, pose in the body frame; not drawn.
                A mesh touches by its convex hull of at most 128 corners (a note says if more were
                cut).
            friction: as in `add_contact`.
            restitution: as in `add_contact`.
            torsion: as in `add_contact`.
            direction: as in `add_contact`.
        """
        checks.require_new_name(name, "collision", self.collisions)
        bodies.check_body(body, self.bodies, self.frames, f"collision {name!r}", self.obstacles)
        surface = collisions.ContactMaterial(friction, restitution, torsion, direction)
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
            bodies.check_body(body, self.bodies, self.frames, f"pair {a!r}, {b!r}", self.obstacles)
        contacts.check_pair(a, b, self._index.shapes, self._index.partners.get(a, ()))
        self.pairs += ((a, b),)

    def add_coupling(
        self, name: str, type: str, joint: str, other: str, ratio: float = 1.0, offset: float = 0.0
    ) -> couplings.Coupling:
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
    ) -> motors.Motion:
        """Prescribe the motion of a joint coordinate as a function of time.

        `sim.forces.motions` has the force of the motion; its work counts as work of actuators.
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
    ) -> couplings.VelocityConstraint:
        """Let a weighted sum of velocities of bodies follow a function of time.

        The sum of linear . v + angular . w over the bodies is the rate; v is the velocity of a
        body's centre of mass, w its angular velocity, both in the world. Steps have such
        velocities, over the step and at knots; starts are projected on them. The force, a factor
        on the weights, is `sim.forces.velocity_constraints`.

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
        energy: Callable[[checks.Array, checks.Array], float],
        forces: Callable[[checks.Array, checks.Array], Any],
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
        return self.potentials.add(name, make_potential(name, body, (energy, forces), pose))

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
    ) -> couplings.Wheel:
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

    def _add_collision(self, collision: collisions.Collision) -> collisions.Collision:
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
            AssemblyError: loops that cannot be closed, with the worst joint and its gap; or
                surfaces that touch at a singular place.
        """
        # elements are only added
        numbers = len(self.bodies), len(self.joints), len(self.couplings), len(self.tracks)
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
