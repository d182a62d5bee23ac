"""Swing up a pole by pushing its cart."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym import assets
from vigym.envs.arrays import columns, parts, wrapped
from vigym.envs.rewards import tolerance
from vigym.envs.task import Array, Flags, Quantities, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

HANGING = np.pi  # joint angle of the hanging pole: the file's zero is upright [rad]
RAIL = 2.5  # half length of the rail, where an episode ends [m]
FAST_CART, FAST_POLE = 20.0, 40.0  # bounds of the observed rates [m/s, rad/s]
NEAR, STILL = 1.0, 4.0  # distance [m] and rate [rad/s] at which a reward factor is down to a tenth


@dataclass(frozen=True, kw_only=True)
class CartPole(Task):
    """Swing up a pole by pushing its cart.

    ## Description

    A pole hangs on a free hinge under a cart on a straight rail. The agent pushes the cart so that the pole gets
    upright, and keeps it there near the middle of the rail.

    ## Notes

    `info` has `cart_position` [m], `cart_velocity` [m/s], `angle` from upright in [-pi, pi) [rad] and
    `angular_velocity` [rad/s]. Observations are clipped to their bounds, `info` is not.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | push on the cart, scaled by its effort | -1 | 1 | rail | force (N) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | position of the cart | -2.5 | 2.5 | rail | distance (m) |
    | 1 | cosine of the pole's angle from upright | -1 | 1 | hinge | ratio |
    | 2 | sine of the pole's angle from upright | -1 | 1 | hinge | ratio |
    | 3 | velocity of the cart | -20 | 20 | rail | rate (m/s) |
    | 4 | angular velocity of the pole | -40 | 40 | hinge | rate (rad/s) |

    ## Rewards

    reward = reward_upright + reward_still + reward_control, all in `info`:

    - reward_upright: `upright_weight` times the height of the pole's end, 0 hanging to 1 upright;
    - reward_still: `still_weight` times that height, times 1 in the middle of the rail and a tenth 1 m from it,
      times 1 for a pole that does not turn and a tenth at 4 rad/s;
    - reward_control: minus `control_weight` times the squared action.

    ## Starting State

    Cart in the middle, pole hanging; positions and rates are uniform within +- `reset_noise_scale` of it.

    ## Episode End

    - Termination: the cart is more than 2.5 m from the middle, or the solver fails
      (`info["solver_converged"]` is False).
    - Truncation: after 500 control steps, 20 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `upright_weight` | float | 0.5 | weight of the height |
    | `still_weight` | float | 0.5 | weight of standing still in the middle |
    | `control_weight` | float | 0.01 | weight of the squared action |
    | `timestep` | float | 0.01 | step of the integrator (s) |
    | `frame_skip` | int | 4 | integrator steps per control step |
    | `reset_noise_scale` | float | 0.1 | half width of the initial noise (m, rad, per s) |
    | `randomization`, `observation_noise` | dict, float | None, 0.0 | off; see `vigym.envs.perturbations` |
    | `action_latency`, `pushes` | int, tuple | 0, None | off; see there |
    | `render_mode` | str | None | "rgb_array", "human" (window) or "browser" |
    | `width`, `height` | int | 640, 480 | size of pictures (pixels) |
    | `overlay` | tuple | () | what pictures show besides: "contacts" (forces), "energy" (bars) |
    | `shadow` | bool | True | whether bodies throw one on the floor in pictures |

    ## Version History

    - v0: first version.
    """

    frame_skip: int = 4
    upright_weight: float = 0.5
    still_weight: float = 0.5
    control_weight: float = 0.01

    def mechanism(self) -> Mechanism:
        """Return the cart and pole of `assets/cartpole`."""
        return load_urdf(assets.path("cartpole"))

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Stand in the middle with the pole hanging, with noise."""
        scale = self.reset_noise_scale
        return np.array([0.0, HANGING]) + rng.uniform(-scale, scale, 2), rng.uniform(-scale, scale, 2)

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return position, cosine, sine and rates."""
        return {
            "cart_position": RAIL,
            "cos(angle)": 1.0,
            "sin(angle)": 1.0,
            "cart_velocity": FAST_CART,
            "angular_velocity": FAST_POLE,
        }

    def quantities(self, sim: Simulator) -> Quantities:
        """Return position of the cart, angle of the pole from upright, and their rates."""
        (cart, pole), (velocity, rate) = parts(sim.joint_positions), parts(sim.joint_velocities)
        return {"cart_position": cart, "cart_velocity": velocity, "angle": wrapped(pole), "angular_velocity": rate}

    def observe(self, now: Quantities) -> Array:
        """Return position, cosine, sine and rates (..., 5)."""
        angle = now["angle"]
        rates = now["cart_velocity"], now["angular_velocity"]
        return columns(now["cart_position"], np.cos(angle), np.sin(angle), *rates)

    def rewards(self, now: Quantities, action: Array) -> Quantities:
        """Return the terms of being upright, being still in the middle, and control."""
        height, (push,) = 0.5 * (1.0 + np.cos(now["angle"])), parts(action)
        centred, still = tolerance(now["cart_position"], margin=NEAR), tolerance(now["angular_velocity"], margin=STILL)
        return {
            "upright": height,
            "still": height * centred * still,
            "control": -(push * push),
        }

    def terminated(self, now: Quantities) -> Flags:
        """Return whether the cart has left the rail."""
        return abs(now["cart_position"]) > RAIL
