"""Walking of a quadruped with the velocity that it is commanded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vigym.control.quadruped_gaits import UNIT, clock, trot_angles
from vigym.envs.arrays import stack, unstack, world_up_in_body
from vigym.envs.options import is_number, require
from vigym.envs.rewards import tolerance
from vigym.envs.task import Array, Quantities
from vigym.envs.tasks.quadruped_base import (
    QuadrupedTask,
    trunk_bounds,
    trunk_velocity,
)
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

# Commands, and the range from which they are drawn [m/s, m/s, rad/s].
COMMANDS = {
    "command_forward": (-0.5, 1.0),
    "command_left": (-0.3, 0.3),
    "command_turn": (-1.0, 1.0),
}
WITHOUT_NOISE = (0.5, 0.0, 0.0)  # command with a `reset_noise_scale` of 0
CORRECTION = 0.5 * UNIT  # of the targets by an action of 1 [rad]
VELOCITY_MARGIN, TURN_MARGIN = 0.5, 1.0  # errors with a tenth of the reward [m/s, rad/s]
MAX_COMMAND = 2.0  # bound of commands and of their observations [m/s, rad/s]


@dataclass(frozen=True, kw_only=True)
class QuadrupedCommand(QuadrupedTask):
    """Walking of a quadruped with the velocity that it is commanded.

    ## Description

    The robot of `vigym/Quadruped-v1` follows a command of three numbers: velocities forwards and to
    the left, and the rate of turning. They are drawn anew for every episode, or given by `command`.

    ## Notes

    Motors are those of `vigym/Quadruped-v1`: torque = 100 (target - angle) - 2 rate, at most 33.5
    N m. Targets without an action are those of `vigym.control.quadruped_gaits.trot_angles`: 2.5
    steps of each foot per second, diagonal legs together, feet lifted by about 0.05 m.

    `info` has the commands `command_forward`, `command_left` [m/s] and `command_turn` [rad/s],
    which stay for an episode; what is to equal them: `forward_velocity`, `left_velocity` [m/s] and
    `turning` [rad/s], in the axes of the trunk; and what `vigym/Quadruped-v1` has: `x_position`,
    `y_position`, `height` [m], `x_velocity`, `y_velocity` [m/s], `heading` [rad], `upright`,
    `motor_torques` [N m], `power` [W] and `cost_of_transport`, along x as there. Observations are
    clipped to their bounds, `info` is not.

    ## Action Space

    Legs in the order front left, back left, front right, back right; of each abduction, hip, knee.

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-11 | target angles, trot + (0.2, 0.4, 0.325) a | -1 | 1 | front_left_abduction to \
back_right_knee | angle (rad) |

    ## Observation Space

    Joints in the order of the actions.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-11 | joint angles | -4.2 | 4.2 | legs | angle (rad) |
    | 12-23 | joint rates | -50 | 50 | legs | rate (rad/s) |
    | 24-26 | upwards, own axes of the trunk | -1 | 1 | trunk:floating | ratio |
    | 27-29 | velocity of the trunk, own axes | -10 | 10 | trunk:floating | rate (m/s) |
    | 30-32 | angular velocity of the trunk, own axes | -50 | 50 | trunk:floating | rate (rad/s) |
    | 33-34 | commanded velocities forwards, to the left | -2 | 2 | | rate (m/s) |
    | 35 | commanded rate of turning | -2 | 2 | | rate (rad/s) |
    | 36-37 | sine and cosine of the trot's phase | -1 | 1 | | ratio |

    ## Rewards

    reward = reward_velocity + reward_turn + reward_energy, all in `info`:

    - reward_velocity: `velocity_weight` times 1 / (1 + 9 (e / 0.5 m/s)^2), e the distance of the
      horizontal velocity from the commanded one;
    - reward_turn: `turn_weight` times 1 / (1 + 9 (d / 1 rad/s)^2), d the error of the rate of
      turning;
    - reward_energy: minus `energy_weight` times the sum of |torque * rate| over the motors, mean
      over the step [W].

    ## Starting State

    Standing on the ground, at rest; joint angles [rad] are uniform within +- `reset_noise_scale` of
    the stand, and the lowest foot touches the ground. Commands are uniform, forwards from -0.5 to 1
    m/s, to the left within +-0.3 m/s, turning within +-1 rad/s, unless `command` gives them. With
    `reset_noise_scale=0` they are 0.5 m/s forwards.

    ## Episode End

    - Termination: a fall, with the trunk's z axis more than acos(0.7) = 45.6 degrees off the
      vertical or the trunk lower than 0.16 m, or the solver fails (`info["solver_converged"]` is
      False).
    - Truncation: after 500 control steps, 10 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `command` | tuple | None | forwards, left, turning (m/s, m/s, rad/s), in +-2: numbers, \
or ranges (low, high) to draw from; None: random |
    | `terrain` | str or Terrain | None | "slope", "steps", "boxes", "rough", "mixed", a `Terrain` |
    | `terrain_level` | float | 1.0 | part of the terrain's maps, the first ones, for episodes |
    | `friction` | float | 0.8 | coefficient of all that touches the ground |
    | `velocity_weight` | float | 1.0 | weight of the commanded velocity |
    | `turn_weight` | float | 0.5 | weight of the commanded turning |
    | `energy_weight` | float | 0.0005 | weight of the motors' power (1/W) |

    ## Version History

    - v1: integrator steps of 5 ms, before 1 ms; control steps stay 20 ms.
    - v0: first version.
    """

    reset_noise_scale: float = 0.05
    command: Sequence[float | Sequence[float]] | None = None
    velocity_weight: float = 1.0
    turn_weight: float = 0.5
    energy_weight: float = 0.0005

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.command is not None:
            given = self._ranges if isinstance(self.command, Sequence) else []
            fits = len(given) == len(COMMANDS) and all(map(_is_range, given))
            expected = f"three numbers in [-{MAX_COMMAND}, {MAX_COMMAND}] or pairs, or None"
            require(fits, "command", self.command, expected)

    @property
    def _ranges(self) -> list[Any]:
        """Ranges of the commands that are given, of a number from it to itself."""
        return [(one, one) if is_number(one) else one for one in self.command or ()]

    def goal(self, rng: np.random.Generator) -> Mapping[str, float]:
        """Return the commands of an episode."""
        if self.command is None and self.reset_noise_scale > 0.0:
            return {name: rng.uniform(*bounds) for name, bounds in COMMANDS.items()}
        if self.command is None:
            return dict(zip(COMMANDS, WITHOUT_NOISE, strict=True))
        drawn = [rng.uniform(low, high) if low < high else low for low, high in self._ranges]
        return dict(zip(COMMANDS, map(float, drawn), strict=True))

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return joints, tilt and velocity of the trunk, and commands."""
        tilt = {f"up_{axis}": 1.0 for axis in "xyz"}
        commands = dict.fromkeys(COMMANDS, MAX_COMMAND)
        clock = {"sin(phase)": 1.0, "cos(phase)": 1.0}
        return {**self.joint_bounds(mechanism), **tilt, **trunk_bounds(), **commands, **clock}

    def targets(self, action: Array) -> Array:
        """Return the corrections (..., 12) [rad] of an action."""
        return CORRECTION * action

    def motion(self, time: Array, goals: Quantities) -> Array:
        """Return the joint angles (..., 12) [rad] of the trot."""
        return trot_angles(time, *(goals[name] for name in COMMANDS))

    def quantities(self, sim: Simulator) -> Quantities:
        """Return those of the robot, and its velocity in its own axes."""
        found = super().quantities(sim)
        velocity, spin = trunk_velocity(sim.joint_positions, sim.joint_velocities)
        forward, left, _ = unstack(velocity)
        *_, turning = unstack(spin)
        return found | {"forward_velocity": forward, "left_velocity": left, "turning": turning}

    def course(self, quantities: Mapping[str, Any]) -> Array:
        """Return the direction of the commanded velocity; nan for turning alone (...,) [rad]."""
        forward, left = (
            np.asarray(quantities[name]) for name in ("command_forward", "command_left")
        )
        course = quantities["heading"] + np.arctan2(left, forward)
        return np.where((forward == 0.0) & (left == 0.0), np.nan, course)

    def observe(self, quantities: Quantities) -> Array:
        """Return joints, tilt and velocity of the trunk, commands and clock (..., 38)."""
        positions, velocities = quantities["joint_positions"], quantities["joint_velocities"]
        joints = self.observed_joints(quantities)
        trunk = world_up_in_body(positions[..., 3:7]), *trunk_velocity(positions, velocities)
        commands = stack(*(quantities[name] for name in COMMANDS))
        phase = stack(*clock(quantities["time"]))
        return np.concatenate((*joints, *trunk, commands, phase), axis=-1)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of velocity, turning and energy."""
        forward = quantities["forward_velocity"] - quantities["command_forward"]
        left = quantities["left_velocity"] - quantities["command_left"]
        turn = quantities["turning"] - quantities["command_turn"]
        return {
            "velocity": tolerance(np.sqrt(forward * forward + left * left), margin=VELOCITY_MARGIN),
            "turn": tolerance(turn, margin=TURN_MARGIN),
            "energy": -quantities["power"],
        }


def _is_range(value: Any) -> bool:
    """Return whether a value is a pair (low, high) of commands."""
    pair = list(value) if isinstance(value, Sequence) else []
    valid = len(pair) == 2 and all(map(is_number, pair))
    return valid and -MAX_COMMAND <= pair[0] <= pair[1] <= MAX_COMMAND
