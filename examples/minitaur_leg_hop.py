"""Hopping of a five-bar leg to a height: it extends on the ground while the hop is too low.

python examples/minitaur_leg_hop.py
"""

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments
from vigym.control.hop import Hop


def main(seed: int = 0) -> dict[str, float]:
    """Play an episode; print and return heights and power of the hops."""
    env = gym.make("vigym/MinitaurLeg-v0")
    observation, info = env.reset(seed=seed)
    hop = Hop(apex=0.45)
    infos, done = [info], False
    total = 0.0
    while not done:
        observation, reward, terminated, truncated, info = env.step(hop(observation, info))
        infos.append(info)
        total += float(reward)
        done = terminated or truncated
    env.close()

    heights = np.array([each["hip_height"] for each in infos])
    tops = 1 + np.flatnonzero((heights[1:-1] > heights[:-2]) & (heights[1:-1] >= heights[2:]))
    heights = heights[[k for k in tops if infos[k]["foot_height"] > 0.01]]
    result = {
        "return": total,
        "hops": len(heights),
        "lowest_top": float(heights[3:].min()),
        "highest_top": float(heights[3:].max()),
        "power": float(np.mean([each["power"] for each in infos])),
        "gap": max(each["constraint_residual_max"] for each in infos),
        "penetration": max(each["penetration"] for each in infos),
    }
    low, high = result["lowest_top"], result["highest_top"]
    print(f"{len(heights)} hops in {float(info['time']):.0f} s, return {total:.0f}")
    print(f"apex        {low:.3f} to {high:.3f} m after the first three hops, desired 0.45 m")
    print(f"power       {result['power']:.1f} W of both motors")
    print(f"loop gap    {result['gap']:.1e} m at most, penetration {result['penetration']:.1e} m")
    return result


if __name__ == "__main__":
    main()
