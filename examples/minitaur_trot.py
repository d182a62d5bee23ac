"""Trot of the Minitaur: open-loop targets of eight motors, four closed legs on the ground.

python examples/minitaur_trot.py
"""

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments
from vigym.control.minitaur_gaits import trot


def main(seed: int = 0) -> dict[str, float]:
    """Play an episode; print and return speed, power, loop gap and penetration."""
    env = gym.make("vigym/Minitaur-v0")
    observation, info = env.reset(seed=seed)
    gait = trot(frequency=2.0, lift=0.25, swing=0.3)
    infos, done = [], False
    while not done:
        observation, _, terminated, truncated, info = env.step(gait(observation, info))
        infos.append(info)
        done = terminated or truncated
    env.close()

    power = float(np.mean([each["power"] for each in infos]))
    time = float(info["time"])
    distance = info["x_position"]
    result = {
        "speed": distance / time,
        "power": power,
        "cost_of_transport": power * time / (6.0 * 9.81 * distance),
        "gap": max(each["constraint_residual_max"] for each in infos),
        "penetration": max(each["penetration"] for each in infos),
        "upright": min(each["upright"] for each in infos),
    }
    print(f"{distance:.2f} m forwards in {time:.0f} s, {info['y_position']:+.2f} m to the left")
    print(f"speed       {result['speed']:.3f} m/s")
    print(f"power       {power:.1f} W of all motors")
    print(f"cost of transport {result['cost_of_transport']:.2f}")
    print(f"loop gap    {result['gap']:.1e} m at most")
    print(f"penetration {result['penetration']:.1e} m at most")
    return result


if __name__ == "__main__":
    main()
