"""A five-bar leg hops to a height: it stretches on the ground while the hop it has momentum for is too low.

python examples/minitaur_leg_hop.py
"""

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments
from vigym.control.hop import Hop


def main(seed: int = 0) -> dict[str, float]:
    """Play an episode; print and return how high the hops were, and what they cost."""
    env = gym.make("vigym/MinitaurLeg-v0")
    observation, info = env.reset(seed=seed)
    hop, infos, total, done = Hop(apex=0.45), [info], 0.0, False
    while not done:
        observation, reward, terminated, truncated, info = env.step(hop(observation, info))
        infos.append(info)
        total, done = total + float(reward), terminated or truncated
    env.close()

    heights = np.array([now["hip_height"] for now in infos])
    tops = 1 + np.flatnonzero((heights[1:-1] > heights[:-2]) & (heights[1:-1] >= heights[2:]))
    heights = heights[[k for k in tops if infos[k]["foot_height"] > 0.01]]
    result = {
        "return": total,
        "hops": len(heights),
        "lowest_top": float(heights[3:].min()),
        "highest_top": float(heights[3:].max()),
        "power": float(np.mean([now["power"] for now in infos])),
        "gap": max(now["constraint_residual_max"] for now in infos),
        "penetration": max(now["penetration"] for now in infos),
    }
    low, high = result["lowest_top"], result["highest_top"]
    print(f"{len(heights)} hops in {float(info['time']):.0f} s, return {total:.0f}")
    print(f"tops        {low:.3f} to {high:.3f} m after the first three, asked 0.45 m")
    print(f"power       {result['power']:.1f} W of both motors")
    print(f"loop gap    {result['gap']:.1e} m at most, penetration {result['penetration']:.1e} m")
    return result


if __name__ == "__main__":
    main()
