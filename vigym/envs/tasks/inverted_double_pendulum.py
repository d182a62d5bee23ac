"""Balancing of two poles, one on top of the other, by pushing their cart."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym import assets
from vigym.envs.arrays import cosine, sine, stack, unstack, wrap_angle
from vigym.envs.task import Array, Flags, Quantities, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

POLE = 0.6  # length of each pole [m]
MIN_HEIGHT = 0.9  # height of the tip above the cart at which an episode ends [m]
RAIL = 2.5  # half length of the rail, where an episode ends [m]
MAX_CART_SPEED = 20.0  # bound of the observed cart velocity [m/s]
MAX_POLE_RATE = 40.0  # bound of the observed pole rates [rad/s]


@dataclass(frozen=True, kw_only=True)
class InvertedDoublePendulum(Task):
    """Balancing of two poles, one on top of the other, by pushing their cart.

    ## Description

    Two poles of 0.6 m stand on each other and on a cart, with free hinges between them. The agent
    pushes the cart along its rail to keep the tip up.

    ## Notes

    `info` has `cart_position` [m], `cart_velocity` [m/s], `lower_angle` and `upper_angle` of the
    poles from upright in [-pi, pi) [rad], their rates `lower_rate` and `upper_rate` [rad/s] and
    `tip_height` above the cart [m].
    Observations are clipped to their bounds, `info` is not.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | force on the cart, scaled by its effort | -1 | 1 | rail | force (N) |

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
    - reward_tip: minus `tip_weight` times the squared distance of the tip from its upright position
      above the middle of the rail [m^2];
    - reward_rates: minus `rates_weight` times the sum of the poles' squared rates [rad^2/s^2];
    - reward_control: minus `control_weight` times the squared action.

    ## Starting State

    Upright in the middle; the position of the cart [m], both angles from upright [rad] and all
    rates are uniform within +- `reset_noise_scale` of it.

    ## Episode End

    - Termination: the tip is less than 0.9 m above the cart, or the cart more than 2.5 m from the
      middle, or the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 1000 control steps, 20 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `alive_weight` | float | 1.0 | weight of being up |
    | `tip_weight` | float | 0.5 | weight of the tip's squared distance |
    | `rates_weight` | float | 0.001 | weight of the squared rates |
    | `control_weight` | float | 0.01 | weight of the squared action |
    | `reset_noise_scale` | float | 0.1 | half width of the initial noise (m, rad, per s) |
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
        """Return the upright poles in the middle with noise."""
        # The elbow's coordinate is the angle between the poles.
        scale = self.reset_noise_scale
        (cart, lower, upper), rates = rng.uniform(-scale, scale, (2, 3)).tolist()
        positions = np.array([cart, lower, upper - lower])
        return positions, np.array([rates[0], rates[1], rates[2] - rates[1]])

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return position, sines, cosines and rates."""
        return {
            "cart_position": RAIL,
            "sin(lower_angle)": 1.0,
            "sin(upper_angle)": 1.0,
            "cos(lower_angle)": 1.0,
            "cos(upper_angle)": 1.0,
            "cart_velocity": MAX_CART_SPEED,
            "lower_rate": MAX_POLE_RATE,
            "upper_rate": MAX_POLE_RATE,
        }

    def quantities(self, sim: Simulator) -> Quantities:
        """Return position of the cart, pole angles from upright, rates, and height of the tip."""
        cart, hinge, elbow = unstack(sim.joint_positions)
        velocity, hinge_rate, elbow_rate = unstack(sim.joint_velocities)
        lower = wrap_angle(hinge)
        upper = wrap_angle(hinge + elbow)
        cosines = cosine(lower), cosine(upper)
        return {
            "cart_position": cart,
            "cart_velocity": velocity,
            "lower_angle": lower,
            "upper_angle": upper,
            "lower_rate": hinge_rate,
            "upper_rate": hinge_rate + elbow_rate,
            "tip_height": POLE * (cosines[0] + cosines[1]),
            "_lower_sine": sine(lower),
            "_upper_sine": sine(upper),
            "_lower_cosine": cosines[0],
            "_upper_cosine": cosines[1],
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return position, sines, cosines and rates (..., 8)."""
        sines = quantities["_lower_sine"], quantities["_upper_sine"]
        cosines = quantities["_lower_cosine"], quantities["_upper_cosine"]
        rates = quantities["cart_velocity"], quantities["lower_rate"], quantities["upper_rate"]
        return stack(quantities["cart_position"], *sines, *cosines, *rates)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of being up, position of the tip, rates of the poles, and control."""
        lean = quantities["_lower_sine"] + quantities["_upper_sine"]
        side = quantities["cart_position"] + POLE * lean
        drop = 2.0 * POLE - quantities["tip_height"]
        lower, upper = quantities["lower_rate"], quantities["upper_rate"]
        (force,) = unstack(action)
        return {
            "alive": 1.0 + 0.0 * side,
            "tip": -(side * side + drop * drop),
            "rates": -(lower * lower + upper * upper),
            "control": -(force * force),
        }

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the tip has fallen or the cart has left the rail."""
        fallen = quantities["tip_height"] < MIN_HEIGHT
        return fallen | (abs(quantities["cart_position"]) > RAIL)
