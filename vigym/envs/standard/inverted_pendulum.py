"""Balancing of a pole by pushing its cart, as in Gymnasium's InvertedPendulum-v5."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vigym.envs.standard.base import StandardTask, as_numbers
from vigym.envs.task import Array, Flags, Quantities
from vigym.simulation.simulator import Simulator

MAX_ANGLE = 0.2  # of the pole from upright, beyond which an episode ends [rad]


@dataclass(frozen=True, kw_only=True)
class InvertedPendulum(StandardTask):
    """Balancing of a pole by pushing its cart, as in Gymnasium.

    ## Description

    A pole of 0.6 m stands on a free hinge of a cart. The agent pushes the cart along its rail to
    keep the pole up. Masses, sizes, limits and dampers are those of Gymnasium's model.

    ## Notes

    What differs from Gymnasium's InvertedPendulum-v5: actions are in [-1, 1], a third of its own,
    so that the forces are equal; the rail ends rigidly; an episode also ends if the solver fails.

    `xml_file` and `default_camera_config` are not options here.

    `info` has the `angle` of the pole from upright [rad].

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | force on the cart, scaled by the effort of 300 N | -1 | 1 | slider | force (N) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | 0 | position of the cart | -inf | inf | slider | distance (m) |
    | 1 | angle of the pole from upright | -inf | inf | hinge | angle (rad) |
    | 2 | velocity of the cart | -inf | inf | slider | rate (m/s) |
    | 3 | angular velocity of the pole | -inf | inf | hinge | rate (rad/s) |

    ## Rewards

    reward = reward_survive, in `info`: `healthy_reward` for every step that does not end with a
    fall.

    ## Starting State

    Upright in the middle; all positions [m, rad] and velocities are uniform within +-
    `reset_noise_scale` of it.

    ## Episode End

    - Termination: the pole is more than 0.2 rad off upright, or the solver fails
      (`info["solver_converged"]` is False).
    - Truncation: after 1000 control steps, 40 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `healthy_reward` | float | 1.0 | weight of being up |
    """

    robot: ClassVar[str] = "inverted_pendulum"
    weight_names = {"survive": "healthy_reward"}  # noqa: RUF012

    timestep: float = 0.02
    frame_skip: int = 2
    reset_noise_scale: float = 0.01
    healthy_reward: float = 1.0

    def quantities(self, sim: Simulator) -> Quantities:
        """Return the coordinates and the angle of the pole."""
        found = self.coordinates(sim)
        return {**found, "angle": found["_positions"][..., 1]}

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the term of being up."""
        return {"survive": as_numbers(np.logical_not(self.terminated(quantities)))}

    def terminated(self, quantities: Quantities) -> Flags:
        """Return whether the pole has fallen."""
        fallen: Flags = abs(quantities["angle"]) > MAX_ANGLE
        return fallen
