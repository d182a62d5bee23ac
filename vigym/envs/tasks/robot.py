"""Control of the joints of any robot in a file, on the ground where the robot floats."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from vigym.envs.options import find_callable, is_number, require, require_bool
from vigym.envs.random_start import RandomStart
from vigym.envs.robots.actuation import (
    Actuation,
    Given,
    default_control,
    motors_of_kind,
    with_actuators,
    with_efforts,
    with_motor_efforts,
)
from vigym.envs.robots.floating_base import (
    FloatingBase,
    can_fall,
    has_fallen,
    upwards,
    warn_of_idle_shapes,
)
from vigym.envs.robots.joint_observation import JointObservation, joint_observation
from vigym.envs.robots.starts import random_start, warn_of_arm
from vigym.envs.task import Array, Flags, Quantities, Start, Task
from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.bases import robot_base
from vigym.mjcf.source import is_mjcf
from vigym.robot_files import load
from vigym.simulation.simulator import Simulator

MAX_DISTANCE, MAX_RATE = 1000.0, 200.0  # bounds of observations [m], [rad/s, m/s]
FALL = 0.5  # part of the height at the start below which a robot has fallen

Hook = Callable[..., Any]


@dataclass(frozen=True, kw_only=True)
class Robot(Task):
    """Control of the joints of any robot in a file, on the ground where the robot floats.

    ## Description

    Mechanism of a URDF, MJCF or SDF file, with an action for every actuated joint: one with a
    positive effort in its `<limit>`, an actuator, or an entry in `efforts`. `vigym inspect FILE`
    reports what the importer kept, changed or dropped.

    A robot that floats (its root link has mass and is not named `world`) stands on the ground and
    walks: actions are targets of its joints, it starts in touch with the ground, is rewarded for
    speed along the world's x axis, and its episode ends with a fall. So does one whose base moves
    in a plane, by a planar joint or two slides and a hinge without actuators or limits. A robot
    that is fixed to the world has no ground unless `ground=True`, and no reward unless `reward`
    gives one. A warning tells if the file has <collision> shapes that touch nothing, or a robot on
    the ground has none.

    ## Notes

    With `control="position"` or "velocity" every actuated joint has a motor, implicit in the step:
    torque = kp (target - position) - kd rate, or kd (target - rate), at most the effort. Any gains
    are stable. `kp` and `kd` are numbers for all joints, or {joint: number}. By default they are
    those of the file's actuator; or else the effort is reached at an error of 0.4 rad or 0.1 m and
    kd is 0.04 s times kp; with "velocity" it is reached at an error of a fifth of the largest rate.

    `info` has `joint_positions` and `joint_velocities`, in the order of the mechanism's
    `position_names` and `velocity_names`; `actuator_torques` [N m, N] in the order of
    `actuator_names`; `power`, the motors' sum of |torque * rate| [W], mean over the control step;
    and for each name in `track` the place of that body's centre of mass or that frame's origin,
    `NAME_position` (3,) [m]. Of a robot that floats it also has `x_position`, `y_position` [m],
    `x_velocity`, `y_velocity` [m/s], the `height` of the base's centre of mass above the ground
    [m], and `upright`, the cosine between the vertical and the direction in the base that was
    vertical at the start. `env.unwrapped.observation_names` names every entry of the observation.
    Observations are clipped to their bounds, `info` is not.

    `reward`, `observe` and `terminated` take callables, or "module:name" (the working directory is
    searched; the spec of the environment can then be written to JSON). They are array expressions
    over leading dimensions: () for one environment, (n,) for a vector of them.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | per degree of freedom | effort's share | -1 | 1 | `actuator_names` | force (N m, N) |
    | or per joint | target within its limits | -1 | 1 | `motor_names` | position (rad, m) |
    | or per joint | target, largest rate's share | -1 | 1 | `motor_names` | rate (rad/s, m/s) |

    `control` chooses the row: by default that of the file's actuators if it is MJCF or has motors,
    else "position" for a robot that floats on a ground, "torque" for any other. Followers of
    `<mimic>` are passive, unless `efforts` names them; with that default, and without `efforts`, so
    are joints of loops that follow from other motors. A warning names them. A position target of 0
    is the start, -1 and 1 are the joint's limits; without limits they are 1.57 rad or m to either
    side. Largest rates are `<limit velocity>`.

    ## Observation Space

    The first four rows are those of a robot that floats, in place of the joints of its base.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 1 | height of the base | -1000 | 1000 | floating | distance (m) |
    | 4 | orientation of the base, quaternion (w, x, y, z) | -1 | 1 | floating | ratio |
    | 3 | velocity of the base, own axes | -50 | 50 | floating | rate (m/s) |
    | 3 | angular velocity of the base, own axes | -100 | 100 | floating | rate (rad/s) |
    | one per angle | cosines of the angles | -1 | 1 | revolute, continuous, ... | ratio |
    | one per angle | sines of the angles | -1 | 1 | revolute, continuous, ... | ratio |
    | one per distance | distances, positions | -1000 | 1000 | prismatic, ... | distance (m) |
    | four per quaternion | quaternions (w, x, y, z) | -1 | 1 | spherical, ... | ratio |
    | per degree of freedom | velocities | -200 | 200 | `velocity_names` | rate (rad/s or m/s) |

    `observe(info)` replaces them: the (..., n) numbers that it returns, without bounds.

    ## Rewards

    reward = reward_forward + reward_alive + reward_energy + reward_task, all in `info`. The first
    three are those of a robot that floats without a `reward` of yours, and zero otherwise:

    - reward_forward: `forward_weight` times the velocity of the base along the world's x axis;
    - reward_alive: `alive_weight` for each step without a fall;
    - reward_energy: minus `energy_weight` times `power` over the robot's weight as built [m/s];
    - reward_task: `task_weight` times the value of `reward(info, action)`, with the quantities of
      `info` named above and the action in [-1, 1].

    ## Starting State

    Positions of `start`, by joint or by the name of a keyframe or of a `<group_state>` of the SRDF
    file beside a URDF file, loops closed. By default: the first keyframe; "standing" of a robot
    that floats; else the file's zero. A joint whose limits exclude its zero starts in their middle.
    Positions [m, rad] and rates are uniform within +- `reset_noise_scale` of that, and within
    limits; for quaternions the components of the rotation vector. In closed loops that holds for
    the actuated joints, as many as set the loop; joints that `start` names come first. The lowest
    point of a robot that floats touches the ground, unless `base_position` or `start` places it.

    ## Episode End

    - Termination: a fall of a robot that floats on the ground, with `upright` below `min_upright`
      or `height` below `min_height`, or `terminated(info)` in place of that; or the solver fails
      (`info["solver_converged"]` is False).
    - Truncation: after 1000 control steps, 20 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `robot` | str or Path | required | the file |
    | `base` | str | None | "fixed", "floating" or None: as in the file |
    | `base_position` | tuple | None | of the root link (m); None: on the ground |
    | `base_orientation` | tuple | None | its quaternion (w, x, y, z); None: as in the file |
    | `start` | dict or str | None | {joint: position (rad, m)}, or a state by name |
    | `ground` | bool or Ground | None | a plane; None: the file's, or z = 0 if the robot floats |
    | `friction` | float | None | coefficient on the ground; None: as in the file |
    | `self_collision` | bool | False | whether bodies that no joint connects touch each other |
    | `control` | str | None | "torque", "position" or "velocity": what actions set, see above |
    | `kp` | float or dict | None | gain on positions (N m/rad, N/m), see above |
    | `kd` | float or dict | None | gain on rates (N m s/rad, N s/m), see above |
    | `action_scale` | float | 1.0 | part of the range of targets that actions reach |
    | `efforts` | float or dict | None | {joint: effort (N m, N)}, 0: passive; None: the file's |
    | `track` | tuple | () | bodies and frames whose position `info` has |
    | `reward` | callable or str | None | `reward(info, action)` of a step in place of the default |
    | `observe` | callable or str | None | `observe(info)` in place of the observation |
    | `terminated` | callable or str | None | `terminated(info)` in place of the fall |
    | `forward_weight` | float | 1.0 | weight of the forward velocity (s/m) |
    | `alive_weight` | float | 0.2 | reward of a step without a fall |
    | `energy_weight` | float | 0.1 | weight of the power over the robot's weight (s/m) |
    | `task_weight` | float | 1.0 | weight of the callable's reward |
    | `min_upright` | float | 0.5 | cosine of the tilt at which a robot has fallen |
    | `min_height` | float | None | height below which it has (m); None: half the start's |
    | `missing_meshes` | str | "error" | or "report": omits unreadable <collision> meshes |
    | `inertias` | str | "error" | or "report": mends inertias that no rigid body has |
    | `reset_noise_scale` | float | 0.1 | half width of the initial noise (m, rad, per s) |
    """

    timestep: float = 0.005
    frame_skip: int = 4
    robot: str | Path
    base: str | None = None
    base_position: Sequence[float] | None = None
    base_orientation: Sequence[float] | None = None
    start: Mapping[str, float] | str | None = None
    ground: bool | Ground | None = None
    friction: float | None = None
    self_collision: bool = False
    control: str | None = None
    kp: Given = None
    kd: Given = None
    action_scale: float = 1.0
    efforts: Given = None
    track: Sequence[str] = ()
    reward: Hook | str | None = None
    forward_weight: float = 1.0
    alive_weight: float = 0.2
    energy_weight: float = 0.1
    task_weight: float = 1.0
    min_upright: float = 0.5
    min_height: float | None = None
    missing_meshes: str = "error"
    inertias: str = "error"

    _given: ClassVar[Mapping[str, Hook | None]]  # callables of the options below
    # options and, once they are read, hooks of the task
    observe: Hook | str | None = None  # type: ignore[assignment]
    terminated: Hook | str | None = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        super().__post_init__()
        require(isinstance(self.robot, str | PathLike), "robot", self.robot, "the path of a file")
        for option in ("min_upright", "min_height", "friction"):
            value = getattr(self, option)
            valid = is_number(value) or (value is None and option != "min_upright")
            require(valid, option, value, "a finite number")
        valid = self.ground is None or isinstance(self.ground, bool | Ground)
        require(valid, "ground", self.ground, "True, False, None or a vigym.Ground")
        require_bool("self_collision", self.self_collision)
        valid = isinstance(self.track, Sequence) and not isinstance(self.track, str)
        require(valid, "track", self.track, 'names of bodies or frames, such as ("hand",)')
        options = ("reward", "observe", "terminated")
        given = {option: find_callable(option, getattr(self, option)) for option in options}
        vars(self).update(_given=given, observe=self._observe, terminated=self._terminated)

    def mechanism(self) -> Mechanism:
        """Return the mechanism of the file, on its ground and with its motors."""
        mechanism = self._robot.without_motors()
        start = self._at_start.joint_positions.tolist()
        positions = dict(zip(mechanism.position_names, start, strict=True))
        self._actuation.add_motors(mechanism, positions)
        return mechanism

    @cached_property
    def _robot(self) -> Mechanism:
        """Mechanism of the file on its ground, with the motors of the file."""
        mechanism = load(
            self.robot,
            base=self.base,
            ground=self._plane if self.ground else self.ground,
            self_collision=self.self_collision,
            missing_meshes=self.missing_meshes,
            inertias=self.inertias,
        )
        mechanism = with_efforts(with_motor_efforts(mechanism), self.efforts)
        base = robot_base(mechanism)
        if self.ground is None and (can_fall(mechanism) or mechanism.ground is not None):
            mechanism.ground = self._floor(mechanism.ground or Ground())
            shapes = f"<collision> of {len(mechanism.collisions)} shapes"
            mechanism.notes = [note for note in mechanism.notes if note.element != shapes]
        placed = "the robot is fixed to the world"
        placed = placed if base is None else "`start` sets the joints of its base"
        for option in ("base_position", "base_orientation"):
            floats = base is not None and base.floats
            value = getattr(self, option)
            require(floats or value is None, option, value, f"None: {placed}")
        grounded = mechanism.ground is not None
        require(grounded or self.friction is None, "friction", self.friction, "None: no ground")
        warn_of_idle_shapes(mechanism, self.ground)
        warn_of_arm(mechanism, self.base)
        return with_actuators(mechanism, self.efforts, self.control is None)

    @property
    def _plane(self) -> Ground:
        """Ground of the options."""
        return self._floor(self.ground if isinstance(self.ground, Ground) else Ground())

    def _floor(self, ground: Ground) -> Ground:
        """Return a ground with the friction of the options."""
        friction: Any = ground.friction if self.friction is None else self.friction
        return replace(ground, friction=friction)

    @cached_property
    def _actuation(self) -> Actuation:
        control, own = self.control, self._robot.motors
        if control is None:
            is_own = bool(own) or is_mjcf(Path(self.robot))
            control = default_control(bool(own), is_own, self._lowest is not None)
        else:
            own = motors_of_kind(own, control)
        return Actuation(control, self.kp, self.kd, self.action_scale, own)

    @cached_property
    def _start(self) -> RandomStart:
        place = self.base_position, self.base_orientation
        return random_start(self.robot, self._robot, self.start, *place)

    @cached_property
    def _at_start(self) -> Simulator:
        """Simulator of the robot without motors at its start without noise, on the ground."""
        simulator = Simulator(self._robot.without_motors(), timestep=self.timestep)
        positions, velocities = self._start(np.random.default_rng(0), 0.0)
        simulator.reset(positions, velocities, place_on_ground=True)
        return simulator

    @cached_property
    def _base(self) -> FloatingBase | None:
        """Base of a robot that floats."""
        base = robot_base(self._robot)
        return None if base is None else FloatingBase(self._at_start, base.body)

    @cached_property
    def _lowest(self) -> float | None:
        """Height of the base below which the robot has fallen [m]; None if it cannot fall."""
        if self._base is None or not self._robot.ground_contact_names:
            return None
        if self.min_height is not None:
            return float(self.min_height)
        return FALL * float(self._base.quantities(self._at_start)["height"])

    @cached_property
    def _joints(self) -> JointObservation:
        base = robot_base(self._robot)
        without = [] if base is None else [joint.name for joint in base.joints]
        return joint_observation(self._robot, MAX_DISTANCE, MAX_RATE, without)

    @cached_property
    def _weight(self) -> float:
        """Weight of the robot as built [N]."""
        mass = sum(body.mass for body in self._robot.bodies.values())
        return float(mass * np.linalg.norm(self._robot.gravity))

    @cached_property
    def grounded(self) -> bool:  # type: ignore[override]
        """Whether the robot starts in touch with the ground."""
        base, names = robot_base(self._robot), self.start if isinstance(self.start, Mapping) else ()
        named = base is not None and base.sets_height(set(names), upwards(self._robot))
        return base is not None and not named and self.base_position is None

    @property
    def has_reward(self) -> bool:
        """Whether the reward can be other than zero."""
        return self._given["reward"] is not None or self._base is not None

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the start with noise."""
        return self._start(rng, self.reset_noise_scale)

    def targets(self, action: Array) -> Array | None:
        """Return the targets of the motors (..., n_motors), None for torques."""
        return self._actuation.targets(action)

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return base and joint coordinates, or the entries of the callable's observation."""
        observe = self._given["observe"]
        if observe is not None:
            sim = self._at_start
            common = {"joint_positions": sim.joint_positions, "time": np.asarray(sim.time)[()]}
            common["joint_velocities"] = sim.joint_velocities
            found = np.asarray(observe(common | self.quantities(sim)))
            valid = found.ndim == 1 and found.size > 0
            expected = "numbers (n,) of one environment"
            require(valid, "observe", f"a result of shape {found.shape}", expected)
            return {f"observation {number}": np.inf for number in range(found.size)}
        base = {} if self._base is None else self._base.bounds
        return {**base, **self._joints.bounds}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return torques and power, tracked positions, and the state of a floating base."""
        own = {f"{name}_position": sim.body_position(name) for name in self.track}
        own |= {"actuator_torques": sim.actuator_torques, "power": sim.readings.power}
        if self._base is not None:
            own |= self._base.quantities(sim)
        return own

    def _observe(self, quantities: Quantities) -> Array:
        """Return base and joint coordinates (..., n_observations), or those of the callable."""
        observe = self._given["observe"]
        if observe is not None:
            found = np.asarray(observe(quantities), dtype=np.float64)
            shape = quantities["joint_positions"].shape[:-1]
            expected = f"an array (..., n) over {shape}, with a row for each environment"
            valid = found.shape[:-1] == shape
            require(valid, "observe", f"a result of shape {found.shape}", expected)
            _require_finite("observe", found)
            return found
        joints = self._joints(quantities)
        if self._base is None:
            return joints
        return np.concatenate((self._base.observe(quantities), joints), axis=-1)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the value of the callable, or the terms of a robot that walks."""
        zero = np.zeros(action.shape[:-1])
        terms: Quantities = dict.fromkeys(("forward", "alive", "energy", "task"), zero)
        reward = self._given["reward"]
        if reward is not None:
            terms["task"] = np.asarray(reward(quantities, action), dtype=np.float64)
            _require_finite("reward", terms["task"])
        elif self._base is not None:
            terms["forward"] = quantities["x_velocity"]
            terms["alive"] = 1.0 - np.asarray(self._terminated(quantities), dtype=np.float64)
            terms["energy"] = -quantities["power"] / (self._weight or np.inf)
        return terms

    def _terminated(self, quantities: Quantities) -> Flags:
        """Return whether the robot fell, or the value of the callable (...,)."""
        terminated = self._given["terminated"]
        if terminated is not None:
            return np.asarray(terminated(quantities), dtype=np.bool_)
        if self._lowest is not None:
            return has_fallen(quantities, self.min_upright, self._lowest)
        return np.zeros(quantities["joint_positions"].shape[:-1], dtype=np.bool_)


def _require_finite(option: str, found: Array) -> None:
    require(bool(np.isfinite(found).all()), option, f"a result {found}", "finite numbers")
