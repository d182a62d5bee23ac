"""Import of a URDF file: print its mechanism and drive its joints through Gymnasium.

python examples/import_urdf.py path/to/robot.urdf
"""

import sys
from typing import Any

import gymnasium as gym
import numpy as np

import vigym
from vigym import assets


def calm(quantities: dict[str, np.ndarray], action: np.ndarray) -> np.ndarray:
    """Return the reward of slow joints, of one environment or many."""
    rates = quantities["joint_velocities"]
    return np.asarray(-(rates * rates).sum(axis=-1))


def main(path: str | None = None, steps: int = 100) -> dict[str, Any]:
    """Print the mechanism, brake every motor for some steps, and return the last `info`."""
    path = path or str(assets.path("acrobot"))
    mech = vigym.load_urdf(path)
    print(mech.summary())

    env = gym.make("vigym/Urdf-v0", urdf=path, reward=calm)
    _, info = env.reset(seed=0)
    actuated = [mech.velocity_names.index(name) for name in mech.actuator_names]
    for _ in range(steps):
        action = np.clip(-info["joint_velocities"][actuated], -1.0, 1.0).astype(np.float32)
        _, reward, terminated, _, info = env.step(action)
        if terminated:
            raise RuntimeError(f"the solver failed: {info}")
    env.close()
    print(f"after {steps} steps: rates {info['joint_velocities'].round(3)}, reward {reward:.3f}")
    return info


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
