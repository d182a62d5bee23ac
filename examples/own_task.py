"""Environment of one's own, defined by constants and hooks.

python examples/own_task.py
"""

from dataclasses import dataclass

import gymnasium as gym
import numpy as np

from vigym import Mechanism, Simulator
from vigym.envs.arrays import stack
from vigym.envs.env import TaskEnv
from vigym.envs.task import Array, Quantities, Task


@dataclass(frozen=True, kw_only=True)
class Positioner(Task):
    """Positioning of a carriage in the middle of a line."""

    distance_weight: float = 1.0

    def mechanism(self) -> Mechanism:
        """Return the carriage on its line."""
        mech = Mechanism(name="positioner")
        mech.add_body("carriage", 2.0, (0.01, 0.01, 0.01))
        joint = ("line", "prismatic", "world", "carriage")
        mech.add_joint(*joint, (0, 0, 0), axis=(1, 0, 0), effort=5.0, damping=0.5)
        return mech

    def initial(self, mechanism: Mechanism, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return the carriage at rest, about 2 m from the middle."""
        return 2.0 + self.reset_noise_scale * rng.uniform(-1.0, 1.0, 1), np.zeros(1)

    def observation(self, mechanism: Mechanism) -> dict[str, float]:
        """Return position and velocity."""
        return {"position": 5.0, "velocity": 10.0}

    def quantities(self, sim: Simulator) -> Quantities:
        """Return position and velocity."""
        return {"position": sim.joint_positions[..., 0], "velocity": sim.joint_velocities[..., 0]}

    def observe(self, quantities: Quantities) -> Array:
        """Return position and velocity (..., 2)."""
        return stack(quantities["position"], quantities["velocity"])

    def rewards(self, quantities: Quantities, action: Array) -> Quantities:
        """Return the term of the distance from the middle."""
        return {"distance": -np.abs(quantities["position"])}


def main(steps: int = 200) -> dict[str, float]:
    """Play an episode with a hand-made controller and return the last `info`."""
    env = gym.wrappers.TimeLimit(TaskEnv(Positioner), steps)
    (position, velocity), info = env.reset(seed=0)
    for _ in range(steps):
        push = np.clip([-2.0 * position - 2.0 * velocity], -1.0, 1.0).astype(np.float32)
        (position, velocity), _, _, _, info = env.step(push)
    print(f"position after {steps} steps: {info['position']:.1e} m")
    return info


if __name__ == "__main__":
    main()
