"""Lateral undulation of a snake, faster with more anisotropic friction.

python examples/snake_gait.py
"""

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments
from vigym.control.serpenoid import lateral_undulation
from vigym.envs.tasks.snake import ACTION_SCALE

FRICTIONS = ((0.4, 0.4), (0.1, 0.2), (0.04, 0.4), (0.01, 0.4))  # along the links and across
SETTLED = 2.0  # start of the measurement [s]


def crawl(along: float, across: float, seed: int = 0) -> dict[str, float]:
    """Return mean speed [m/s], power [W], cost of transport and largest penetration [m]."""
    env = gym.make("vigym/Snake-v0", friction_along=along, friction_across=across)
    joints = env.action_space.shape[0]  # type: ignore[index]
    gait = lateral_undulation(joints=joints, action_scale=ACTION_SCALE)
    observation, info = env.reset(seed=seed)
    path, powers = [], []
    depth, done = 0.0, False
    while not done:
        observation, _, terminated, truncated, info = env.step(gait(observation, info))
        depth, done = max(depth, info["penetration"]), terminated or truncated
        if info["time"] >= SETTLED:
            path.append((info["time"], info["x_position"], info["y_position"]))
            powers.append(info["power"])
    env.close()
    seconds, *distance = np.subtract(path[-1], path[0])
    speed, power = float(np.hypot(*distance) / seconds), float(np.mean(powers))
    bodies = env.unwrapped.mechanism.bodies.values()  # type: ignore[attr-defined]
    cost = power / (9.81 * sum(body.mass for body in bodies) * speed)
    return {"speed": speed, "power": power, "cost_of_transport": cost, "penetration": depth}


def main() -> list[dict[str, float]]:
    """Print and return the results of each pair of coefficients."""
    print("along / across   speed [m/s]   power [W]   cost of transport   penetration [m]")
    rows = [crawl(along, across) for along, across in FRICTIONS]
    for (along, across), row in zip(FRICTIONS, rows, strict=True):
        motion = f"{row['speed']:13.3f} {row['power']:11.2f} {row['cost_of_transport']:17.2f}"
        print(f"{along:5} / {across:<6} {motion} {row['penetration']:17.0e}")
    return rows


if __name__ == "__main__":
    main()
