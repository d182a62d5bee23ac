"""Waves that run down a snake take it along, the faster the more its friction tells along from across.

python examples/snake_gait.py
"""

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments
from vigym.control.serpenoid import lateral_undulation
from vigym.envs.tasks.snake import REACH

FRICTIONS = ((0.4, 0.4), (0.1, 0.2), (0.04, 0.4), (0.01, 0.4))  # along the links and across
SETTLED = 2.0  # the wave has grown and the snake is under way [s]


def crawl(along: float, across: float, seed: int = 0) -> dict[str, float]:
    """Return mean speed [m/s], power [W] and cost of transport of an episode, and its deepest penetration [m]."""
    env = gym.make("vigym/Snake-v0", friction_along=along, friction_across=across)
    gait = lateral_undulation(joints=env.action_space.shape[0], reach=REACH)  # type: ignore[index]
    observation, info = env.reset(seed=seed)
    path, powers, depth, done = [], [], 0.0, False
    while not done:
        observation, _, terminated, truncated, info = env.step(gait(observation, info))
        depth, done = max(depth, info["penetration"]), terminated or truncated
        if info["time"] >= SETTLED:
            path.append((info["time"], info["x_position"], info["y_position"]))
            powers.append(info["power"])
    env.close()
    seconds, *way = np.subtract(path[-1], path[0])
    speed, power = float(np.hypot(*way) / seconds), float(np.mean(powers))
    weight = 9.81 * sum(body.mass for body in env.unwrapped.mechanism.bodies.values())  # type: ignore[attr-defined]
    return {"speed": speed, "power": power, "cost_of_transport": power / (weight * speed), "penetration": depth}


def main() -> list[dict[str, float]]:
    """Print and return how the snake gets on with each pair of coefficients."""
    print("along / across   speed [m/s]   power [W]   cost of transport   penetration [m]")
    rows = [crawl(along, across) for along, across in FRICTIONS]
    for (along, across), row in zip(FRICTIONS, rows, strict=True):
        cost = f"{row['cost_of_transport']:17.2f}"
        print(f"{along:5} / {across:<6} {row['speed']:13.3f} {row['power']:11.2f} {cost} {row['penetration']:17.0e}")
    return rows


if __name__ == "__main__":
    main()
