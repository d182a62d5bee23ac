"""Balancing of two poles on a cart, as in Gymnasium's InvertedDoublePendulum-v5."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.envs.arrays import cosine, sine, unstack
from vigym.envs.standard.base import UNBOUNDED, StandardTask, as_numbers
from vigym.envs.task import Array, Flags, Quantities
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

POLE = 0.6  # length of each pole [m]
GRAVITY = (1e-5, 0.0, -9.81)  # [m/s^2]
TARGET = 2.0  # height of which the tip's distance is taken; the tip reaches 1.2 [m]
MIN_HEIGHT = 1.0  # of the tip above the rail, at which an episode ends [m]
MAX_RATE, MAX_FORCE = 10.0, 10.0  # of observations [m/s, rad/s], [N]
RAIL, NEAR_END = 1.0, 1e-6  # half length of the rail; distance within which its end holds [m]


@dataclass(frozen=True, kw_only=True)
class StandardDoublePendulum(StandardTask):
    """Balancing of two poles on a cart, as in Gymnasium.

    ## Description

    Two poles of 0.6 m stand on each other and on a cart, with free hinges between them. The agent
    pushes the cart along its rail to keep the tip up. Masses, sizes, limits and dampers are those
    of Gymnasium's model.

    `vigym/InvertedDoublePendulum-v0` is a lighter robot, with an observation and rewards of its
    own.

    ## Notes

    What differs from Gymnasium's InvertedDoublePendulum-v5: the rail ends rigidly, and the last
    observation, the force of its end on the cart, is 10 N or zero; rewards are of the place at the
    end of a step, not one integrator step earlier, and the weights of the last two are options; an
    episode also ends if the solver fails. Gravity leans by 1e-5 m/s^2 along x, as there.

    `xml_file` and `default_camera_config` are not options here.

    `info` has `tip_x` and `tip_height` of the tip [m], and `distance_penalty` and
    `velocity_penalty`, the last two rewards at weights of 1.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | force on the cart, scaled by the effort of 500 N | -1 | 1 | slider | force (N) |

    ## Observation Space

    The angle of the upper pole is that between the poles. Velocities are clipped to +-10.

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | position of the cart | -inf | inf | slider | distance (m) |
    | 1 | sine of the lower pole's angle | -inf | inf | hinge | ratio |
    | 2 | sine of the upper pole's angle | -inf | inf | hinge2 | ratio |
    | 3 | cosine of the lower pole's angle | -inf | inf | hinge | ratio |
    | 4 | cosine of the upper pole's angle | -inf | inf | hinge2 | ratio |
    | 5 | velocity of the cart | -inf | inf | slider | rate (m/s) |
    | 6 | angular velocity of the lower pole | -inf | inf | hinge | rate (rad/s) |
    | 7 | angular velocity of the upper pole | -inf | inf | hinge2 | rate (rad/s) |
    | 8 | force of the rail's end on the cart | -inf | inf | slider | force (N) |

    ## Rewards

    reward = reward_survive + reward_distance + reward_velocity, all in `info`:

    - reward_survive: `healthy_reward` for every step that does not end with a fall;
    - reward_distance: minus `distance_weight` times 0.01 x^2 + (z - 2 m)^2, x and z of the tip [m];
    - reward_velocity: minus `velocity_weight` times 0.001 times the squared rate of the lower pole
      plus 0.005 times that of the upper one [rad^2/s^2].

    ## Starting State

    Upright in the middle; all positions [m, rad] are uniform within +- `reset_noise_scale` of it,
    velocities are normal with that deviation.

    ## Episode End

    - Termination: the tip is at most 1 m above the rail, or the solver fails
      (`info["solver_converged"]` is False).
    - Truncation: after 1000 control steps, 50 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `healthy_reward` | float | 10.0 | weight of being up |
    | `distance_weight` | float | 1.0 | weight of the tip's distance |
    | `velocity_weight` | float | 1.0 | weight of the squared rates |
    """

    robot: ClassVar[str] = "standard_double_pendulum"
    normal_rates: ClassVar[bool] = True
    weight_names = {"survive": "healthy_reward"}  # noqa: RUF012

    timestep: float = 0.01
    frame_skip: int = 5
    healthy_reward: float = 10.0
    distance_weight: float = 1.0
    velocity_weight: float = 1.0

    def mechanism(self) -> Mechanism:
        """Return the cart and poles."""
        mechanism = super().mechanism()
        mechanism.gravity = np.array(GRAVITY)
        return mechanism

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return position, sines, cosines, velocities and the force of the rail's end."""
        slider, *hinges = mechanism.position_names
        angles = [f"{of}({name})" for of in ("sin", "cos") for name in hinges]
        velocities = [f"velocity({name})" for name in mechanism.velocity_names]
        return dict.fromkeys([slider, *angles, *velocities, "rail_end_force"], UNBOUNDED)

    def quantities(self, sim: Simulator) -> Quantities:
        """Return the coordinates, the place of the tip, and the terms of its distance and rates."""
        found = self.coordinates(sim)
        cart, lower, upper = unstack(sim.joint_positions)
        _, lower_rate, upper_rate = unstack(found["_velocities"])
        upper = lower + upper
        x = cart + POLE * (sine(lower) + sine(upper))
        height = POLE * (cosine(lower) + cosine(upper))
        drop = height - TARGET
        return {
            **found,
            "tip_x": x,
            "tip_height": height,
            "distance_penalty": -(0.01 * x * x + drop * drop),
            "velocity_penalty": -(1e-3 * lower_rate * lower_rate + 5e-3 * upper_rate * upper_rate),
        }

    def observe(self, quantities: Quantities) -> Array:
        """Return position, sines, cosines, velocities and the force of the rail's end (..., 9)."""
        positions = quantities["_positions"]
        cart, angles = positions[..., :1], positions[..., 1:]
        rates = np.clip(quantities["_velocities"], -MAX_RATE, MAX_RATE)
        force = MAX_FORCE * (1.0 * (cart < NEAR_END - RAIL) - (cart > RAIL - NEAR_END))
        return np.concatenate((cart, np.sin(angles), np.cos(angles), rates, force), axis=-1)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the terms of being up, of the tip's distance, and of the rates."""
        return {
            "survive": as_numbers(np.logical_not(self.terminated(quantities))),
            "distance": quantities["distance_penalty"],
            "velocity": quantities["velocity_penalty"],
        }

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the tip has fallen."""
        fallen: Flags = quantities["tip_height"] <= MIN_HEIGHT
        return fallen
