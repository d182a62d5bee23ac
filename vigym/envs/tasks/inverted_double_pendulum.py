"""Balance two poles, one on top of the other, by pushing their cart."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym import assets
from vigym.envs.arrays import columns, parts, wrapped
from vigym.envs.task import Array, Flags, Quantities, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

POLE = 0.6  # length of each pole [m]
FALLEN = 0.9  # height of the tip above the cart at which an episode ends [m]
RAIL = 2.5  # half length of the rail, where an episode ends [m]
FAST_CART, FAST_POLE = 20.0, 40.0  # bounds of the observed rates [m/s, rad/s]


@dataclass(frozen=True, kw_only=True)
class InvertedDoublePendulum(Task):
    """Balance two poles, one on top of the other, by pushing their cart.

    ## Description

    Two poles of 0.6 m stand on each other and on a cart, with free hinges between them. The agent pushes the cart
    along its rail so that the tip stays up.

    ## Notes

    `info` has `cart_position` [m], `cart_velocity` [m/s], `lower_angle` and `upper_angle` of the poles from upright
    in [-pi, pi) [rad], their rates `lower_rate` and `upper_rate` [rad/s] and `tip_height` above the cart [m].
    Observations are clipped to their bounds, `info` is not.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | push on the cart, scaled by its effort | -1 | 1 | rail | force (N) |

    ## Observation Space

    Angles are from upright, not between the poles.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | position of the cart | -2.5 | 2.5 | rail | distance (m) |
    | 1 | sine of the lower pole's angle | -1 | 1 | hinge | ratio |
    | 2 | sine of the upper pole's angle | -1 | 1 | elbow | ratio |
    | 3 | cosine of the lower pole's angle | -1 | 1 | hinge | ratio |
    | 4 | cosine of the upper pole's angle | -1 | 1 | elbow | ratio |
    | 5 | velocity of the cart | -20 | 20 | rail | rate (m/s) |
    | 6 | angular velocity of the lower pole | -40 | 40 | hinge | rate (rad/s) |
    | 7 | angular velocity of the upper pole | -40 | 40 | elbow | rate (rad/s) |

    ## Rewards

    reward = reward_alive + reward_tip + reward_rates + reward_control, all in `info`:

    - reward_alive: `alive_weight` for every step the tip is up;
    - reward_tip: minus `tip_weight` times the squared distance of the tip from its place above the middle of the
      rail, height and side [m^2];
    - reward_rates: minus `rates_weight` times the sum of the poles' squared rates [rad^2/s^2];
    - reward_control: minus `control_weight` times the squared action.

    ## Starting State

    Upright in the middle; the position of the cart [m], both angles from upright [rad] and all rates are uniform
    within +- `reset_noise_scale` of it.

    ## Episode End

    - Termination: the tip is less than 0.9 m above the cart, or the cart more than 2.5 m from the middle, or the
      solver fails (`info["solver_converged"]` is False).
    - Truncation: after 1000 control steps, 20 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `alive_weight` | float | 1.0 | weight of being up |
    | `tip_weight` | float | 0.5 | weight of the tip's squared distance |
    | `rates_weight` | float | 0.001 | weight of the squared rates |
    | `control_weight` | float | 0.01 | weight of the squared action |
    | `timestep` | float | 0.01 | step of the integrator (s) |
    | `frame_skip` | int | 2 | integrator steps per control step |
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

    frame_skip: int = 2
    alive_weight: float = 1.0
    tip_weight: float = 0.5
    rates_weight: float = 0.001
    control_weight: float = 0.01

    def mechanism(self) -> Mechanism:
        """Return the cart and poles of `assets/inverted_double_pendulum`."""
        return load_urdf(assets.path("inverted_double_pendulum"))

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Stand upright in the middle, with noise."""
        # The elbow's coordinate is the angle between the poles.
        scale = self.reset_noise_scale
        (cart, lower, upper), rates = rng.uniform(-scale, scale, (2, 3)).tolist()
        return np.array([cart, lower, upper - lower]), np.array([rates[0], rates[1], rates[2] - rates[1]])

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return position, sines, cosines and rates."""
        return {
            "cart_position": RAIL,
            "sin(lower_angle)": 1.0,
            "sin(upper_angle)": 1.0,
            "cos(lower_angle)": 1.0,
            "cos(upper_angle)": 1.0,
            "cart_velocity": FAST_CART,
            "lower_rate": FAST_POLE,
            "upper_rate": FAST_POLE,
        }

    def quantities(self, sim: Simulator) -> Quantities:
        """Return the cart's position, both poles' angles from upright, their rates, and the tip's height."""
        cart, first, second = parts(sim.joint_positions)
        velocity, first_rate, second_rate = parts(sim.joint_velocities)
        lower, upper = wrapped(first), wrapped(first + second)
        return {
            "cart_position": cart,
            "cart_velocity": velocity,
            "lower_angle": lower,
            "upper_angle": upper,
            "lower_rate": first_rate,
            "upper_rate": first_rate + second_rate,
            "tip_height": POLE * (np.cos(lower) + np.cos(upper)),
        }

    def observe(self, now: Quantities) -> Array:
        """Return position, sines, cosines and rates (..., 8)."""
        lower, upper = now["lower_angle"], now["upper_angle"]
        rates = now["cart_velocity"], now["lower_rate"], now["upper_rate"]
        return columns(now["cart_position"], np.sin(lower), np.sin(upper), np.cos(lower), np.cos(upper), *rates)

    def rewards(self, now: Quantities, action: Array) -> Quantities:
        """Return the terms of being up, the tip's place, the poles' rates, and control."""
        side = now["cart_position"] + POLE * (np.sin(now["lower_angle"]) + np.sin(now["upper_angle"]))
        drop = 2.0 * POLE - now["tip_height"]
        lower, upper, (push,) = now["lower_rate"], now["upper_rate"], parts(action)
        return {
            "alive": 1.0 + 0.0 * side,
            "tip": -(side * side + drop * drop),
            "rates": -(lower * lower + upper * upper),
            "control": -(push * push),
        }

    def terminated(self, now: Quantities) -> Flags:
        """Return whether the tip has fallen or the cart has left the rail."""
        return (now["tip_height"] < FALLEN) | (abs(now["cart_position"]) > RAIL)
