"""PD control of two hip angles leads the foot of a five-bar leg along a step.

python examples/minitaur_leg_path.py
"""

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments
from vigym.envs.minitaur_leg import LOWER, UPPER, foot_path

STIFFNESS, DAMPING = 6.0, 0.06  # [N m/rad, N m s/rad]
FRICTION, EFFORT = 0.0489, 3.5  # of the motors [N m s/rad, N m]
DT, STEP = 0.01, 0.04 * np.pi  # of the control [s], of the phase meanwhile [rad]: two steps of the foot per second


def hip_angles(x: np.ndarray, z: np.ndarray) -> np.ndarray:
    """Return front and rear hip angle (2,) [rad] that put the foot x forwards of the hip and z above it [m]."""
    reach, lean = np.hypot(x, z), np.arctan2(x, -z)
    opening = np.arccos((UPPER**2 + reach**2 - LOWER**2) / (2.0 * UPPER * reach))  # between upper bar and foot
    return 0.5 * np.pi - np.array([opening + lean, opening - lean])


def main(seed: int = 0) -> dict[str, float]:
    """Play an episode; print and return how near the foot was, and what became of power and loop."""
    env = gym.make("vigym/MinitaurLeg-v0")
    _, info = env.reset(seed=seed)
    total, errors, powers, gaps, done = 0.0, [], [], [], False
    while not done:
        before, after = (hip_angles(*foot_path(phase)) for phase in (info["phase"], info["phase"] + STEP))
        wanted, rates = 0.5 * (before + after), (after - before) / DT
        hips, turning = info["joint_positions"][1:3], info["joint_velocities"][1:3]
        torques = STIFFNESS * (wanted - hips) + DAMPING * (rates - turning) + FRICTION * rates
        action = np.clip(torques / EFFORT, -1.0, 1.0).astype(np.float32)
        _, reward, terminated, truncated, info = env.step(action)
        total, done = total + float(reward), terminated or truncated
        errors.append(info["foot_error"])
        powers.append(info["power_mech"])
        gaps.append(info["constraint_residual_max"])
    env.close()

    settled = slice(round(0.5 / DT), None)
    result = {
        "return": total,
        "foot_error_mean": float(np.mean(errors[settled])),
        "foot_error_max": max(errors[settled]),
        "power": float(np.mean(powers[settled])),
        "gap": max(gaps),
    }
    print(f"return {total:.1f} in {len(errors)} control steps; from 0.5 s on:")
    print(f"foot error {1e3 * result['foot_error_mean']:.1f} mm on average, {1e3 * max(errors[settled]):.1f} at most")
    print(f"power      {result['power']:.2f} W of both motors on average")
    print(f"loop gap   {result['gap']:.1e} m or rad at most")
    return result


if __name__ == "__main__":
    main()
