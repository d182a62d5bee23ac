"""A PI controller turns a crank, both ways, through the poses in which all bars of the linkage lie in one line.

python examples/four_bar_speed.py
"""

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments

PROPORTIONAL, INTEGRAL = 0.6, 20.0  # torque per speed that is missing and per its integral [N m s/rad, N m/rad]
FRICTION, EFFORT = 0.1, 3.0  # of the motor [N m s/rad, N m]
DT = 0.02  # of the control [s]


def main(seed: int = 0) -> dict[str, float]:
    """Play an episode; print and return how the speed was met, and what became of energy and loop."""
    env = gym.make("vigym/FourBar-v0")
    _, info = env.reset(seed=seed)
    integral, total, passes, done = 0.0, 0.0, 0, False
    start = info["energy_total"]
    errors, gaps, swings = [], [], []
    while not done:
        side = info["transmission_angle"] > 0.0
        lack = info["command"] - info["crank_speed"]
        integral += lack * DT
        torque = FRICTION * info["command"] + PROPORTIONAL * lack + INTEGRAL * integral
        action = np.clip([torque / EFFORT], -1.0, 1.0).astype(np.float32)
        _, reward, terminated, truncated, info = env.step(action)
        total, done = total + float(reward), terminated or truncated
        passes += side != (info["transmission_angle"] > 0.0)
        errors.append(abs(info["speed_error"]))
        gaps.append(info["constraint_residual_max"])
        swings.append(abs(info["energy_total"] - start))
    env.close()

    result = {
        "return": total,
        "passes": passes,
        "speed_error_mean": float(np.mean(errors)),
        "speed_error_max": max(errors),
        "energy_balance": info["energy_balance"],
        "energy_change": max(swings),
        "gap": max(gaps),
    }
    print(f"return {total:.1f} in {len(errors)} control steps, {passes} times through the line")
    print(f"speed error    {result['speed_error_mean']:.2f} rad/s on average, {result['speed_error_max']:.2f} at most")
    print(f"energy balance {result['energy_balance']:.1e} J at the end; it rose and fell by {max(swings):.1f} J")
    print(f"loop gap       {result['gap']:.1e} m or rad at most")
    return result


if __name__ == "__main__":
    main()
