"""Walking with Theo Jansen's linkage: six legs on one motor."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym import assets
from vigym.control.kinematics.jansen import feet
from vigym.envs.arrays import cosine, cost_of_transport, sine, stack, unstack
from vigym.envs.options import require_positive
from vigym.envs.rewards import tolerance
from vigym.envs.task import Array, Flags, Quantities, Start, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

ZERO_HEIGHT, FOOT = 0.9383, 0.02  # of the shaft at the file's zero, radius of a foot [m]
GRAVITY = 9.81  # [m/s^2]
MAX_PITCH = 0.8  # at which an episode ends [rad]
MAX_SPEED, MAX_RATE = 10.0, 100.0  # bounds of observations [m/s, rad/s]


@dataclass(frozen=True, kw_only=True)
class Jansen(Task):
    """Walking with Theo Jansen's linkage.

    ## Description

    One motor turns the shaft of a walker with three rows of a front and a rear leg, in a vertical
    plane. Each leg has ten bars of Jansen's lengths and three closed loops, 18 in all, and turns
    the circle of its crank into a step. The walker has 20.5 kg and stands 0.94 m high. It is to
    travel forwards, along x, at `speed`, with little power.

    ## Notes

    While its foot is on the ground a leg carries the shaft at a height that changes by less than
    1 mm; a step is 0.65 m long. Feet are lifted by 0.22 m. `vigym.control.kinematics.jansen` has
    their paths.

    `info` has `x_position` of the shaft [m], `x_velocity`, its mean over the control step [m/s],
    `pitch`, forwards [rad], `crank_angle` [rad] and `crank_rate` [rad/s], `power`, the motor's
    |torque * rate|, mean over the control step [W], and `cost_of_transport`, that over weight and
    speed.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | torque of the shaft, scaled by the effort of 60 N m | -1 | 1 | crank | torque (N m) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | cosine of the crank's angle | -1 | 1 | crank | ratio |
    | 1 | sine of the crank's angle | -1 | 1 | crank | ratio |
    | 2 | rate of the crank | -100 | 100 | crank | rate (rad/s) |
    | 3 | pitch of the chassis, forwards | -0.8 | 0.8 | root | angle (rad) |
    | 4 | rate of the pitch | -100 | 100 | root | rate (rad/s) |
    | 5 | velocity of the shaft along x | -10 | 10 | root | rate (m/s) |
    | 6 | velocity of the shaft upwards | -10 | 10 | root | rate (m/s) |

    ## Rewards

    reward = reward_velocity + reward_energy, both in `info`:

    - reward_velocity: `velocity_weight` times 1 at `speed`, 0.1 at rest;
    - reward_energy: minus `energy_weight` times the motor's mean power over the control step.

    ## Starting State

    At rest, level, the lowest foot on the ground; the angle of the crank [rad] is uniform within
    +- `reset_noise_scale` of zero, where the first crank points forwards.

    ## Episode End

    - Termination: a pitch of more than 0.8 rad, or the solver fails (`info["solver_converged"]` is
      False).
    - Truncation: after 400 control steps, 8 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `speed` | float | 0.6 | desired speed (m/s) |
    | `velocity_weight` | float | 1.0 | weight of the speed |
    | `energy_weight` | float | 0.002 | weight of the motor's power (1/W) |
    | `reset_noise_scale` | float | 3.0 | half width of the noise (rad) |
    """

    timestep: float = 0.005
    frame_skip: int = 4
    speed: float = 0.6
    velocity_weight: float = 1.0
    energy_weight: float = 0.002
    reset_noise_scale: float = 3.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("speed", self.speed, "m/s")

    def mechanism(self) -> Mechanism:
        """Return the walker of `assets/jansen` on the ground."""
        return load_urdf(assets.path("jansen"), ground=True)

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the walker on its lowest foot, the crank turned."""
        crank = rng.uniform(-self.reset_noise_scale, self.reset_noise_scale)
        lift = FOOT - feet(np.array(crank))[:, 1].min() - ZERO_HEIGHT
        return {"root": (0.0, lift, 0.0), "crank": crank}, {}

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return crank and chassis."""
        crank = {"cos(crank)": 1.0, "sin(crank)": 1.0, "velocity(crank)": MAX_RATE}
        chassis = {"pitch": MAX_PITCH, "velocity(pitch)": MAX_RATE}
        return {**crank, **chassis, "x_velocity": MAX_SPEED, "z_velocity": MAX_SPEED}

    def travelled(self, sim: Simulator) -> Quantities:
        """Return the place along x [m], whose mean rate is rewarded."""
        return {"x_velocity": sim.joint_positions[..., 0]}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return place, speed, pitch, crank and power."""
        x, _, pitch, crank, *_ = unstack(sim.joint_positions)
        vx, _, _, crank_rate, *_ = unstack(sim.joint_velocities)
        power = sim.readings.power
        weight = GRAVITY * np.add.reduce(sim.body_inertias[0], axis=-1)
        return {
            "x_position": x,
            "pitch": -pitch,
            "crank_angle": crank,
            "crank_rate": crank_rate,
            "power": power,
            "cost_of_transport": cost_of_transport(power, weight, vx),
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return crank and chassis (..., 7)."""
        vx, vz, turn, *_ = unstack(quantities["joint_velocities"])
        crank, rate = quantities["crank_angle"], quantities["crank_rate"]
        return stack(cosine(crank), sine(crank), rate, quantities["pitch"], -turn, vx, vz)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of speed and energy."""
        slip = quantities["x_velocity"] - self.speed
        return {"velocity": tolerance(slip, margin=self.speed), "energy": -quantities["power"]}

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the walker tips over."""
        tipped: Flags = abs(quantities["pitch"]) > MAX_PITCH
        return tipped
