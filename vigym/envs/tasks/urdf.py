"""Drive the joints of any URDF file."""

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

FAR, FAST = 1000.0, 200.0  # bounds of observed distances [m] and rates [rad/s, m/s]

Reward = Callable[[Quantities, Array], Any]


@dataclass(frozen=True, kw_only=True)
class Urdf(Task):
    """Drive the joints of any URDF file.

    ## Description

    The mechanism of the file, with an action for every actuated joint: those whose `<limit effort>` is positive.
    The reward is zero, or what a callable says. `vigym inspect FILE` tells what the importer kept, changed or
    dropped. There is no ground.

    ## Notes

    `info` has `joint_positions` and `joint_velocities`, in the order of the mechanism's `position_names` and
    `velocity_names`. `env.unwrapped.observation_names` names every entry of the observation.
    Observations are clipped to their bounds, `info` is not.

    ## Action Space

    | Num | Action | Control Min | Control Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | one per freedom | motor, scaled by the joint's effort | -1 | 1 | `actuator_names` | torque or force (N m, N) |

    ## Observation Space

    | Num | Observation | Min | Max | Joint | Type (Unit) |
    |---|---|---|---|---|---|
    | one per angle | cosines of the angles | -1 | 1 | revolute, continuous, ... | ratio |
    | one per angle | sines of the angles | -1 | 1 | revolute, continuous, ... | ratio |
    | one per distance | distances, of floating joints the position | -1000 | 1000 | prismatic, ... | distance (m) |
    | four per quaternion | quaternions (w, x, y, z) | -1 | 1 | spherical, floating | ratio |
    | one per freedom | velocities | -200 | 200 | `velocity_names` | rate (rad/s or m/s) |

    ## Rewards

    reward = reward_task, in `info`: `task_weight` times what the callable `reward(info, action)` returns, which
    gets the quantities of `info` named above and the action in [-1, 1]; 0 without one. It may be named as
    "module:function", so that the environment's spec can be written to JSON.

    ## Starting State

    The file's zero, loops closed; positions [m, rad] and rates are uniform within +- `reset_noise_scale` of it, for
    quaternions the components of the rotation vector. In closed loops that holds for the actuated joints, and the
    others follow. Loops with more motors than freedoms have to start with `reset_noise_scale=0`.

    ## Episode End

    - Termination: only when the solver fails (`info["solver_converged"]` is False).
    - Truncation: after 1000 control steps, 50 s.

    ## Arguments

    | Parameter | Type | Default | Description |
    |---|---|---|---|
    | `urdf` | str or Path | required | the file |
    | `base` | str | None | "fixed", "floating" or None: as the file says |
    | `missing_meshes` | str | "error" | or "report": <collision> meshes that cannot be read are left out |
    | `reward` | callable or str | None | reward of a step, or "module:function" |
    | `task_weight` | float | 1.0 | weight of the callable's reward |
    | `timestep` | float | 0.01 | step of the integrator (s) |
    | `frame_skip` | int | 5 | integrator steps per control step |
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

    urdf: str | Path
    base: str | None = None
    missing_meshes: str = "error"
    reward: Reward | str | None = None
    task_weight: float = 1.0

    def mechanism(self) -> Mechanism:
        """Return the mechanism of the file."""
        return self._loaded

    @cached_property
    def _loaded(self) -> Mechanism:
        return load_urdf(self.urdf, base=self.base, missing_meshes=self.missing_meshes)

    @cached_property
    def _joints(self) -> JointObservation:
        return joint_observation(self._loaded, distance=FAR, velocity=FAST)

    @cached_property
    def _reward(self) -> Reward | None:
        if not isinstance(self.reward, str):
            return self.reward
        module, _, name = self.reward.partition(":")
        found: Reward = getattr(import_module(module), name)
        return found

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Start, Start]:
        """Take the file's zero, with noise."""
        return random_start(mechanism, rng, self.reset_noise_scale)

    def observation(self, mechanism: Mechanism) -> Mapping[str, float]:
        """Return all joint coordinates."""
        return self._joints.bounds

    def quantities(self, sim: Simulator) -> Quantities:
        """Return nothing beyond the joint coordinates."""
        return {}

    def observe(self, now: Quantities) -> Array:
        """Return the joint coordinates (..., n_observations)."""
        return self._joints(now)

    def rewards(self, now: Quantities, action: Array) -> Quantities:
        """Return what the callable says, or zero."""
        if self._reward is None:
            return {"task": np.zeros(action.shape[:-1])}
        return {"task": np.asarray(self._reward(now, action), dtype=np.float64)}
