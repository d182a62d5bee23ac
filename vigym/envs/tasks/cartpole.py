"""Swing-up of a pole by pushing its cart."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym import assets
from vigym.envs.arrays import stack, unstack, wrap_angle
from vigym.envs.rewards import tolerance
from vigym.envs.task import Array, Flags, Quantities, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

HANGING = np.pi  # joint angle of the hanging pole: the file's zero is upright [rad]
RAIL = 2.5  # half length of the rail, where an episode ends [m]
MAX_CART_SPEED = 20.0  # bound of the observed cart velocity [m/s]
MAX_POLE_RATE = 40.0  # bound of the observed pole rate [rad/s]
DISTANCE_MARGIN = 1.0  # distance from the middle at which a reward factor is a tenth [m]
RATE_MARGIN = 4.0  # pole rate at which a reward factor is a tenth [rad/s]


@dataclass(frozen=True, kw_only=True)
class CartPole(Task):
    """Swing-up of a pole by pushing its cart.

    ## Description

    A pole hangs on a free hinge under a cart on a straight rail. The agent pushes the cart to raise
    the pole and to balance it upright near the middle of the rail.

    ## Notes

    `info` has `cart_position` [m], `cart_velocity` [m/s], `angle` from upright in [-pi, pi) [rad]
    and `angular_velocity` [rad/s]. Observations are clipped to their bounds, `info` is not.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | force on the cart, scaled by its effort | -1 | 1 | rail | force (N) |

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

    - reward_upright: `upright_weight` times the height of the pole's tip, 0 hanging to 1 upright;
    - reward_still: `still_weight` times that height, times a factor of 1 in the middle of the rail
      and 0.1 at 1 m from it, times a factor of 1 for a pole at rest and 0.1 at 4 rad/s;
    - reward_control: minus `control_weight` times the squared action.

    ## Starting State

    Cart in the middle, pole hanging; positions and rates are uniform within +- `reset_noise_scale`
    of it.

    ## Episode End

    - Termination: the cart is more than 2.5 m from the middle, or the solver fails
      (`info["solver_converged"]` is False).
    - Truncation: after 500 control steps, 20 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `upright_weight` | float | 0.5 | weight of the height |
    | `still_weight` | float | 0.5 | weight of being at rest in the middle |
    | `control_weight` | float | 0.01 | weight of the squared action |
    | `reset_noise_scale` | float | 0.1 | half width of the initial noise (m, rad, per s) |
    """

    frame_skip: int = 4
    upright_weight: float = 0.5
    still_weight: float = 0.5
    control_weight: float = 0.01

    def mechanism(self) -> Mechanism:
        """Return the cart and pole of `assets/cartpole`."""
        return load_urdf(assets.path("cartpole"))

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the cart in the middle and the pole hanging, with noise."""
        scale = self.reset_noise_scale
        positions = np.array([0.0, HANGING]) + rng.uniform(-scale, scale, 2)
        return positions, rng.uniform(-scale, scale, 2)

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return position, cosine, sine and rates."""
        return {
            "cart_position": RAIL,
            "cos(angle)": 1.0,
            "sin(angle)": 1.0,
            "cart_velocity": MAX_CART_SPEED,
            "angular_velocity": MAX_POLE_RATE,
        }

    def quantities(self, sim: Simulator) -> Quantities:
        """Return position of the cart, angle of the pole from upright, and their rates."""
        cart, pole = unstack(sim.joint_positions)
        velocity, rate = unstack(sim.joint_velocities)
        return {
            "cart_position": cart,
            "cart_velocity": velocity,
            "angle": wrap_angle(pole),
            "angular_velocity": rate,
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return position, cosine, sine and rates (..., 5)."""
        angle = quantities["angle"]
        rates = quantities["cart_velocity"], quantities["angular_velocity"]
        return stack(quantities["cart_position"], np.cos(angle), np.sin(angle), *rates)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of being upright, being still in the middle, and control."""
        height = 0.5 * (1.0 + np.cos(quantities["angle"]))
        (force,) = unstack(action)
        centred = tolerance(quantities["cart_position"], margin=DISTANCE_MARGIN)
        still = tolerance(quantities["angular_velocity"], margin=RATE_MARGIN)
        return {
            "upright": height,
            "still": height * centred * still,
            "control": -(force * force),
        }

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the cart has left the rail."""
        return abs(quantities["cart_position"]) > RAIL
