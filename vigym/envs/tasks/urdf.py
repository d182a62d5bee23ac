"""Torque control of the joints of any URDF file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from vigym.envs.joint_observation import JointObservation, joint_observation, random_start
from vigym.envs.task import Array, Quantities, Start, Task
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator
from vigym.urdf.convert.load import load_urdf

MAX_DISTANCE, MAX_RATE = 1000.0, 200.0  # bounds of observations [m], [rad/s, m/s]

Reward = Callable[[Quantities, Array], Any]


@dataclass(frozen=True, kw_only=True)
class Urdf(Task):
    """Torque control of the joints of any URDF file.

    ## Description

    Mechanism of the file, with an action for every actuated joint: one whose `<limit effort>` is
    positive. The reward is zero or that of a callable. `vigym inspect FILE` reports what the
    importer kept, changed or dropped. There is no ground.

    ## Notes

    `info` has `joint_positions` and `joint_velocities`, in the order of the mechanism's
    `position_names` and `velocity_names`. `env.unwrapped.observation_names` names every entry of
    the observation.
    Observations are clipped to their bounds, `info` is not.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | per degree of freedom | motor, scaled by effort | -1 | 1 | `actuator_names` | force (N m, N) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | one per angle | cosines of the angles | -1 | 1 | revolute, continuous, ... | ratio |
    | one per angle | sines of the angles | -1 | 1 | revolute, continuous, ... | ratio |
    | one per distance | distances, positions | -1000 | 1000 | prismatic, floating | distance (m) |
    | four per quaternion | quaternions (w, x, y, z) | -1 | 1 | spherical, floating | ratio |
    | per degree of freedom | velocities | -200 | 200 | `velocity_names` | rate (rad/s or m/s) |

    ## Rewards

    reward = reward_task, in `info`: `task_weight` times the value of the callable
    `reward(info, action)` of the quantities of `info` named above and the action in [-1, 1]; 0
    without one. It may be named as "module:function", so that the spec of the environment can be
    written to JSON.

    ## Starting State

    The file's zero, loops closed; positions [m, rad] and rates are uniform within +-
    `reset_noise_scale` of it, for quaternions the components of the rotation vector. In closed
    loops that holds for the actuated joints, and the others follow. Loops with more motors than
    degrees of freedom have to start with `reset_noise_scale=0`.

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 1000 control steps, 50 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `urdf` | str or Path | required | the file |
    | `base` | str | None | "fixed", "floating" or None: as in the file |
    | `missing_meshes` | str | "error" | or "report": omits unreadable <collision> meshes |
    | `inertias` | str | "error" | or "report": mends inertias that no rigid body has |
    | `reward` | callable or str | None | reward of a step, or "module:function" |
    | `task_weight` | float | 1.0 | weight of the callable's reward |
    | `reset_noise_scale` | float | 0.1 | half width of the initial noise (m, rad, per s) |
    """

    urdf: str | Path
    base: str | None = None
    missing_meshes: str = "error"
    inertias: str = "error"
    reward: Reward | str | None = None
    task_weight: float = 1.0

    def mechanism(self) -> Mechanism:
        """Return the mechanism of the file."""
        return self._loaded

    @cached_property
    def _loaded(self) -> Mechanism:
        return load_urdf(
            self.urdf,
            base=self.base,
            missing_meshes=self.missing_meshes,
            inertias=self.inertias,
        )

    @cached_property
    def _joints(self) -> JointObservation:
        return joint_observation(self._loaded, distance=MAX_DISTANCE, velocity=MAX_RATE)

    @cached_property
    def _reward(self) -> Reward | None:
        if not isinstance(self.reward, str):
            return self.reward
        module, _, name = self.reward.partition(":")
        found: Reward = getattr(import_module(module), name)
        return found

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Return the file's zero with noise."""
        return random_start(mechanism, rng, self.reset_noise_scale)

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return all joint coordinates."""
        return self._joints.bounds

    def quantities(self, sim: Simulator) -> Quantities:
        """Return nothing beyond the joint coordinates."""
        return {}

    def observe(self, quantities: Quantities) -> Array:
        """Return the joint coordinates (..., n_observations)."""
        return self._joints(quantities)

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the value of the callable, or zero."""
        if self._reward is None:
            return {"task": np.zeros(action.shape[:-1])}
        return {"task": np.asarray(self._reward(quantities, action), dtype=np.float64)}
