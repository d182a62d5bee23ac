"""PI control of a crank through the poses in which all bars of the linkage are collinear.

python examples/four_bar_speed.py
"""

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments

KP, KI = 0.6, 20.0  # gains of the speed error and of its integral [N m s/rad, N m/rad]
FRICTION, EFFORT = 0.1, 3.0  # of the motor [N m s/rad, N m]
DT = 0.02  # control step [s]


def main(seed: int = 0) -> dict[str, float]:
    """Play an episode; print and return speed error, energy and loop gap."""
    env = gym.make("vigym/FourBar-v0")
    _, info = env.reset(seed=seed)
    infos, done = [info], False
    integral, total = 0.0, 0.0
    while not done:
        error = info["command"] - info["crank_speed"]
        integral += error * DT
        torque = FRICTION * info["command"] + KP * error + KI * integral
        action = np.clip([torque / EFFORT], -1.0, 1.0).astype(np.float32)
        _, reward, terminated, truncated, info = env.step(action)
        infos.append(info)
        total += float(reward)
        done = terminated or truncated
    env.close()

    column = {key: np.array([each[key] for each in infos]) for key in info}
    passes = int(np.count_nonzero(np.diff(column["transmission_angle"] > 0.0)))
    errors = np.abs(column["speed_error"][1:])
    result = {
        "return": total,
        "passes": passes,
        "speed_error_mean": float(errors.mean()),
        "speed_error_max": float(errors.max()),
        "energy_balance": info["energy_balance"],
        "energy_change": float(np.abs(column["energy_total"] - column["energy_total"][0]).max()),
        "gap": float(column["constraint_residual_max"][1:].max()),
    }
    print(f"return {total:.1f} in {len(errors)} control steps, {passes} singular poses")
    print(f"speed error    {errors.mean():.2f} rad/s on average, {errors.max():.2f} at most")
    print(f"energy balance {result['energy_balance']:.1e} J at the end")
    print(f"energy change  {result['energy_change']:.1f} J at most")
    print(f"loop gap       {result['gap']:.1e} m or rad at most")
    return result


if __name__ == "__main__":
    main()
