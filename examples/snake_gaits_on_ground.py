"""Three gaits of a snake with alternating axes: sidewinding, rolling and linear progression.

python examples/snake_gaits_on_ground.py
"""

from collections.abc import Callable

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments
from vigym.control.serpenoid import Serpenoid, linear_progression, rolling, sidewinding
from vigym.envs.tasks.snake_sidewinding import ACTION_SCALE

GAITS: dict[str, Callable[..., Serpenoid]] = {
    "sidewinding": sidewinding,
    "rolling": rolling,
    "linear progression": linear_progression,
}
SETTLED = 2.0  # start of the measurement [s]


def travel(name: str, duration: float, seed: int = 0) -> dict[str, float]:
    """Return speeds along and left of the initial snake [m/s], power [W] and least uprightness."""
    env = gym.make("vigym/SnakeSidewinding-v0")
    joints = env.action_space.shape[0]  # type: ignore[index]
    gait = GAITS[name](joints=joints, action_scale=ACTION_SCALE)
    observation, info = env.reset(seed=seed)
    path, powers = [], []
    upright = 1.0
    while info["time"] < duration:
        observation, _, _, _, info = env.step(gait(observation, info))
        upright = min(upright, info["vertical"][2])
        if info["time"] >= SETTLED:
            path.append((info["time"], info["x_position"], info["y_position"]))
            powers.append(info["power"])
    env.close()
    seconds, ahead, left = np.subtract(path[-1], path[0])
    power = float(np.mean(powers))
    speeds = {"ahead": float(ahead / seconds), "left": float(left / seconds)}
    return speeds | {"power": power, "upright": float(upright)}


def main(duration: float = 12.0) -> dict[str, dict[str, float]]:
    """Print and return the results of each gait."""
    print("gait                 ahead [m/s]   to the left [m/s]   power [W]")
    rows = {name: travel(name, duration) for name in GAITS}
    for name, row in rows.items():
        print(f"{name:20} {row['ahead']:11.3f} {row['left']:19.3f} {row['power']:11.2f}")
    return rows


if __name__ == "__main__":
    main()
