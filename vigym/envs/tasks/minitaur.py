"""Walk forwards with the Minitaur, a quadruped of four closed five-bar legs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym import assets
from vigym.control.minitaur_legs import commanded, hip_angles
from vigym.envs.arrays import cost_of_transport, into_body, parts
from vigym.envs.task import Array, Flags, Quantities, Start, Task, require_positive
from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.elements.motors import MINITAUR_MOTOR
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

STAND = 2.0  # extension of the legs at the start [rad]
MASS, GRAVITY = 6.0, 9.81  # [kg, m/s^2]
EFFORT = 3.5  # of a motor [N m]
STIFFNESS, DAMPING = 8.0, 0.3  # of a position motor [N m/rad, N m s/rad]
PULSE, PULSE_RATE = 1.0, 0.02  # the same of a voltage motor [1/rad, s/rad]
LOW, TILTED = 0.13, 0.85  # a fall: height of the base [m], cosine between its z axis and the vertical
HIPS, RATES = slice(7, 23, 2), slice(6, 22, 2)  # of the hips among joint positions and velocities
FAR, TURNED, FAST, FAST_TURN, FAST_HIP = 1.0, 4.0, 10.0, 50.0, 200.0  # bounds [m, rad, m/s, rad/s, rad/s]


@dataclass(frozen=True, kw_only=True)
class Minitaur(Task):
    """Walk forwards with the Minitaur, a quadruped of four closed five-bar legs.

    ## Description

    The Minitaur of Ghost Robotics with its published masses and lengths, 6 kg in all. Two coaxial motors turn the two
    upper bars of a leg, 0.115 m long, each carries a lower bar of 0.2 m, and the lower bars meet at the foot. The loops
    are closed by joints, not by springs. Four feet and the body touch the ground. The robot is to go forwards, along x,
    with little energy: the task of Bullet's MinitaurBulletEnv.

    ## Notes

    Motors hold targets: torque = 8 (target - angle) - 0.3 rate, at most 3.5 N m, solved within the step
    (`motor="torque"`). With `motor="voltage"` the same law, with gains 1 and 0.02, sets the pulse width of the robot's
    drives: 16 V, back-EMF 0.0954 V s/rad, 0.186 ohm, torque saturating from 1 N m at 10 A to 3.5 N m at 60 A.
    A leg is commanded in swing and extension, as in the robot's own leg map: positive swing turns it forwards; the
    extension is the mean angle of its two motors, which point up at 0, are level at pi/2 and down at pi.
    `info` has `x_position`, `y_position`, `height` of the base [m], `x_velocity`, `y_velocity` [m/s], `upright`, the
    cosine between the base's z axis and the vertical, `motor_torques` [N m], `power`, the sum of |torque * rate| [W]
    over the motors, its mean over the control step, and `cost_of_transport`, power over weight and forward speed (at
    least 0.01 m/s) at the end of the step.
    Observations are clipped to their bounds, `info` is not.

    ## Action Space

    Legs in the order front left, back left, front right, back right.

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-3 | swing of each leg, target: pi/4 a | -1 | 1 | front_left_hip_front, front_left_hip_rear, ... | angle (rad) |
    | 4-7 | extension of each leg, target: pi - pi/4 (a + 1.5) | -1 | 1 | ..., back_right_hip_rear | angle (rad) |

    ## Observation Space

    Motors in the order front and rear of front left, back left, front right, back right. Bullet's 28 numbers, then the
    body's velocity and height.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0-7 | angles of the motors, 0: level, positive: down | -4 | 4 | hips | angle (rad) |
    | 8-15 | rates of the motors | -200 | 200 | hips | rate (rad/s) |
    | 16-23 | torques of the motors | -3.5 | 3.5 | hips | torque (N m) |
    | 24-27 | orientation of the base, quaternion (w, x, y, z) | -1 | 1 | base:floating | ratio |
    | 28-30 | velocity of the base in its own axes | -10 | 10 | base:floating | rate (m/s) |
    | 31-33 | angular velocity of the base in its own axes | -50 | 50 | base:floating | rate (rad/s) |
    | 34 | height of the base | -1 | 1 | base:floating | distance (m) |

    ## Rewards

    reward = reward_forward + reward_energy + reward_drift + reward_shake, all in `info`; the terms of Bullet's
    environment, dt is the control step:

    - reward_forward: `forward_weight` times x velocity times dt (Bullet: the difference of x over the step);
    - reward_energy: minus `energy_weight` times the sum of |torque * rate| over the motors, its mean over the step,
      times dt (Bullet: the modulus of the sum at the step's end, so that a motor that brakes pays for another one);
    - reward_drift: minus `drift_weight` times |y velocity| times dt;
    - reward_shake: minus `shake_weight` times |the sum of the horizontal parts of the base's z axis|.

    ## Starting State

    Standing on the ground with extended legs (2 rad), at rest; hip angles [rad] are uniform within +-
    `reset_noise_scale` of that, and the robot is set down where its lowest foot touches.

    ## Episode End

    - Termination: a fall: the base's z axis is more than acos(0.85) = 31.8 degrees off the vertical or the base is
      lower than 0.13 m; and when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 1000 control steps, 10 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `motor` | str | "torque" | "torque" or "voltage": what the controller of a motor sets |
    | `friction` | float | 0.8 | coefficient of the feet and the body on the ground |
    | `forward_weight` | float | 1.0 | weight of the progress (1/m) |
    | `energy_weight` | float | 0.005 | weight of the motors' energy (1/J) |
    | `drift_weight` | float | 0.0 | weight of the way sideways (1/m) |
    | `shake_weight` | float | 0.0 | weight of the tilt |
    | `timestep` | float | 0.005 | step of the integrator (s) |
    | `frame_skip` | int | 2 | integrator steps per control step |
    | `reset_noise_scale` | float | 0.1 | half width of the initial noise (rad) |
    | `randomization`, `observation_noise` | dict, float | None, 0.0 | off; see `vigym.envs.perturbations` |
    | `action_latency`, `pushes` | int, tuple | 0, None | off; see there |
    | `render_mode` | str | None | "rgb_array", "human" (window) or "browser" |
    | `width`, `height` | int | 640, 480 | size of pictures (pixels) |
    | `overlay` | tuple | () | what pictures show besides: "contacts" (forces), "energy" (bars) |
    | `shadow` | bool | True | whether bodies throw one on the floor in pictures |

    ## Version History

    - v0: first version.
    """

    grounded: ClassVar[bool] = True

    timestep: float = 0.005
    frame_skip: int = 2
    motor: str = "torque"
    friction: float = 0.8
    forward_weight: float = 1.0
    energy_weight: float = 0.005
    drift_weight: float = 0.0
    shake_weight: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_positive("friction", self.friction, "a number")
        if self.motor not in ("torque", "voltage"):
            raise ValueError(f"option motor: found {self.motor!r}, expected 'torque' or 'voltage'")

    def mechanism(self) -> Mechanism:
        """Return the robot of `assets/minitaur` on the ground, a motor at every hip."""
        mechanism = load_urdf(assets.path("minitaur"), ground=Ground(friction=np.full(3, self.friction)))
        for name in mechanism.actuator_names:
            if self.motor == "voltage":
                mechanism.add_motor(name, PULSE, PULSE_RATE, model=MINITAUR_MOTOR)
            else:
                mechanism.add_motor(name, STIFFNESS, DAMPING)
        return mechanism

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Stand with noise of the hips; the loops follow."""
        noise = rng.uniform(-self.reset_noise_scale, self.reset_noise_scale, len(mechanism.motor_names))
        return dict(zip(mechanism.motor_names, STAND - 0.5 * np.pi + noise, strict=True)), {}

    def targets(self, action: Array) -> Array:
        """Return the hip angles (..., 8) [rad] of swings and extensions."""
        return hip_angles(*commanded(action))

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return motors, pose and velocity of the base."""
        motors = {"angle": TURNED, "velocity": FAST_HIP, "torque": EFFORT}
        bounds = {f"{what}({name})": bound for what, bound in motors.items() for name in mechanism.motor_names}
        bounds |= {f"orientation_{part}": 1.0 for part in "wxyz"}
        bounds |= {f"velocity_{axis}": FAST for axis in "xyz"} | {
            f"angular_velocity_{axis}": FAST_TURN for axis in "xyz"
        }
        return bounds | {"height": FAR}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return where the robot is, how fast it goes, and what its motors do."""
        positions, velocities, torques = sim.joint_positions, sim.joint_velocities, sim.actuator_torques
        x, y = positions[..., 4], positions[..., 5]
        power = sim.power
        return {
            "x_position": positions[..., 0],
            "y_position": positions[..., 1],
            "height": positions[..., 2],
            "x_velocity": velocities[..., 0],
            "y_velocity": velocities[..., 1],
            "upright": 1.0 - 2.0 * (x * x + y * y),
            "motor_torques": torques,
            "power": power,
            "cost_of_transport": cost_of_transport(power, MASS * GRAVITY, velocities[..., 0]),
        }

    def observe(self, now: Quantities) -> Array:
        """Return motors, pose and velocity of the base (..., 35)."""
        positions, velocities = now["joint_positions"], now["joint_velocities"]
        orientation = positions[..., 3:7]
        moving = into_body(orientation, velocities[..., 0:3]), velocities[..., 3:6]
        motors = positions[..., HIPS], velocities[..., RATES], now["motor_torques"]
        return np.concatenate((*motors, orientation, *moving, positions[..., 2:3]), axis=-1)

    def rewards(self, now: Quantities, action: Array) -> Quantities:
        """Return the terms of progress, energy, drift and shake."""
        w, x, y, z = parts(now["joint_positions"][..., 3:7])
        step = self.timestep * self.frame_skip
        return {
            "forward": now["x_velocity"] * step,
            "energy": -now["power"] * step,
            "drift": -abs(now["y_velocity"]) * step,
            "shake": -abs(2.0 * (x * z + w * y) + 2.0 * (y * z - w * x)),
        }

    def terminated(self, now: Quantities) -> Flags:
        """Return whether the robot fell."""
        return (now["upright"] < TILTED) | (now["height"] < LOW)
