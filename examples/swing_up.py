"""Swing-up by energy control: the pendulum, with a regulator upright, and the acrobot.

python examples/swing_up.py
"""

from typing import Any

import gymnasium as gym
import numpy as np

import vigym  # noqa: F401  registers the environments
from vigym.control.energy_swing_up import EnergySwingUp, energy_swing_up, resting_energy
from vigym.control.lqr import lqr


def controller(env_id: str) -> EnergySwingUp:
    """Return the controller of an environment."""
    env: Any = gym.make(env_id).unwrapped
    mech, task = env.mechanism, env.task
    energy = resting_energy(mech, {mech.position_names[0]: np.pi})  # upright
    if (
        "Acrobot" in env_id
    ):  # the elbow's reaction drives the upper rod, so the torque goes against its rate
        return energy_swing_up(mech, energy=energy + 5.0, swing="shoulder", push=-3.0)
    costs = {"position_cost": 10.0, "velocity_cost": 1.0}
    balance = lqr(mech, {"hinge": np.pi}, timestep=task.timestep, substeps=task.frame_skip, **costs)
    return energy_swing_up(mech, energy=energy, balance=balance, catch=10.0)


def play(
    env_id: str, steps: int, episodes: int
) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Play one episode per seed; return returns, lengths [steps] and the last info."""
    act, env = controller(env_id), gym.make_vec(env_id, num_envs=episodes)
    observation, info = env.reset(seed=0)
    returns, lengths = np.zeros(episodes), np.full(episodes, steps)
    for step in range(1, steps):  # the last one would truncate
        observation, reward, terminated, _, info = env.step(act(observation, info))
        returns += np.where(step <= lengths, reward, 0.0)
        lengths = np.where(terminated, np.minimum(lengths, step), lengths)
    env.close()
    return returns, lengths, info


def main(episodes: int = 100) -> dict[str, float]:
    """Print and return how many episodes reach their goal."""
    returns, _, info = play("vigym/Pendulum-v0", 300, episodes)
    still = (np.abs(info["angle"]) < 1e-3) & (np.abs(info["angular_velocity"]) < 1e-3)
    print(
        f"pendulum: {still.sum()} of {episodes} at rest upright, returns from {returns.min():.0f}"
    )
    result = {"standing": int(still.sum()), "pendulum_worst": float(returns.min())}
    returns, lengths, _ = play("vigym/Acrobot-v0", 500, episodes)
    up, seconds = lengths < 500, 0.05 * lengths
    print(f"acrobot: {up.sum()} of {episodes} reach the goal height")
    print(f"in {seconds.mean():.1f} s on average, {seconds.max():.1f} s at most")
    result |= {"up": int(up.sum()), "longest": float(seconds.max())}
    return result | {"acrobot_mean": float(returns.mean())}


if __name__ == "__main__":
    main()
