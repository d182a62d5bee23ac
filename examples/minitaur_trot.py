"""The Minitaur trots: open-loop signals to eight motors, four closed legs, feet on the ground.

python examples/minitaur_trot.py
"""

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments
from vigym.control.minitaur_gaits import trot


def main(seed: int = 0) -> dict[str, float]:
    """Play an episode; print and return speed, power, and how well loops and ground were kept."""
    env = gym.make("vigym/Minitaur-v0")
    observation, info = env.reset(seed=seed)
    gait = trot(frequency=2.0, lift=0.25, swing=0.3)
    infos, done = [], False
    while not done:
        observation, _, terminated, truncated, info = env.step(gait(observation, info))
        infos.append(info)
        done = terminated or truncated
    env.close()

    power, time, way = float(np.mean([now["power"] for now in infos])), float(info["time"]), info["x_position"]
    result = {
        "speed": way / time,
        "power": power,
        "cost_of_transport": power * time / (6.0 * 9.81 * way),
        "gap": max(now["constraint_residual_max"] for now in infos),
        "penetration": max(now["penetration"] for now in infos),
        "upright": min(now["upright"] for now in infos),
    }
    print(f"{way:.2f} m forwards in {time:.0f} s, {info['y_position']:+.2f} m to the left")
    print(f"speed       {result['speed']:.3f} m/s")
    print(f"power       {power:.1f} W of all motors, cost of transport {result['cost_of_transport']:.2f}")
    print(f"loop gap    {result['gap']:.1e} m at most")
    print(f"penetration {result['penetration']:.1e} m at most")
    return result


if __name__ == "__main__":
    main()
