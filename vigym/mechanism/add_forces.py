"""The builder's half for springs, motors and couplings."""

from numpy.typing import ArrayLike

from vigym.mechanism.elements import checks
from vigym.mechanism.elements.bodies import WORLD, velocity_of
from vigym.mechanism.elements.collection import Listing
from vigym.mechanism.elements.couplings import Coupling, check_coupled, make_coupling
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.motors import DCMotor, Motor, make_motor
from vigym.mechanism.elements.springs import Spring, make_spring


class AddForces(Listing):
    """Adds what pulls, drives and couples."""

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
        checks.fresh_name(name, "spring", self._springs)
        for end, body in (("a", a), ("b", b)):
            checks.one_of(body, [WORLD, *self._bodies], f"spring {name!r} {end}")
        spring = make_spring(name, a, b, point_a, point_b, stiffness, rest_length, damping)
        self._springs[name] = spring
        return spring

    def add_motor(
        self, joint: str, kp: float = 0.0, kd: float = 0.0, effort: float | None = None, *, model: DCMotor | None = None
    ) -> Motor:
        """Drive a joint of one freedom by a controller that is solved within the step, and return its record.

        Its force is kp (target - s) - kd rate, of kp = 0 kd (target - rate); the joint's torque is added and the sum
        clipped to the effort, at the end of the step. Any gains are stable. A joint with a limit of velocity is braked
        within the effort.

        Args:
            joint: name of a joint of the tree without a motor.
            kp: [N m/rad or N/m], >= 0. Above 0 the target is a position, at 0 it is a rate.
            kd: [N m s/rad or N s/m], >= 0; not both are 0.
            effort: largest force [N or N m], >= 0, may be inf; None: the joint's.
            model: electric motor; the controller's output is then the pulse width in [-1, 1], and kp is > 0.

        Raises:
            MechanismError: a joint that is unknown, closes a loop, has another number of freedoms than one or a motor
                already; a value out of range.
        """
        checks.one_of(joint, list(self._joints), "motor joint")
        element = f"motor of joint {joint!r}"
        if joint in self._closing:
            raise MechanismError(
                f"{element}: found a joint that closes a loop, expected one of the tree: add it before the others"
            )
        if joint in self._motors:
            raise MechanismError(f"{element}: found a second motor on it, expected one")
        motor = make_motor(self._joints[joint], kp, kd, effort, model)
        self._motors[joint] = motor
        self.report[:] = [entry for entry in self.report if entry.element != velocity_of(joint)]
        return motor

    def add_coupling(
        self, name: str, type: str, joint: str, other: str, ratio: float = 1.0, offset: float = 0.0
    ) -> Coupling:
        """Let one joint coordinate follow another, joint = ratio * other + offset, and return the record.

        Args:
            name: unique among couplings.
            type: "gear", "mimic", or "screw" for distance and angle of one cylindrical joint.
            joint: position coordinate that follows, as in `position_names`, of a joint of the tree without quaternion;
                it follows no other one.
            other: the coordinate it follows.
            ratio: not zero [unit of joint / unit of other]; of a screw pitch / (2 pi) [m/rad].
            offset: [unit of joint].

        Raises:
            MechanismError: a coordinate that is unknown, of a closing joint, of a quaternion or follows itself.
        """
        checks.fresh_name(name, "coupling", self._couplings)
        coupling = make_coupling(name, type, joint, other, ratio, offset)
        for end in (joint, other):
            closing = [owner.name for owner in self.closing_joints if end in {owner.name, *owner.names}]
            if closing:
                found = f"{end!r}, a coordinate of a joint that closes a loop"
                raise MechanismError(f"coupling {name!r}: found {found}, expected one of a joint of the tree")
        check_coupled(coupling, self.tree_joints, self._couplings.values())
        self._couplings[name] = coupling
        return coupling
