"""Environment in ten lines: random actions, and the physics in `info`.

python examples/random_rollout.py vigym/Acrobot-v0
"""

import sys

import gymnasium as gym

import vigym  # noqa: F401  registers the environments


def main(name: str = "vigym/Pendulum-v0", seed: int = 0) -> dict[str, float]:
    """Play one episode with random actions and return the last `info`."""
    env = gym.make(name)
    env.action_space.seed(seed)
    observation, info = env.reset(seed=seed)
    total, steps = 0.0, 0
    done = False
    while not done:
        observation, reward, terminated, truncated, info = env.step(env.action_space.sample())
        total += float(reward)
        steps += 1
        done = terminated or truncated
    env.close()

    print(f"{name}: return {total:.2f} in {steps} steps")
    terms = {key: round(value, 4) for key, value in info.items() if key.startswith("reward_")}
    print("reward terms  ", terms)
    print(f"energy         {info['energy_total']:.4f} J")
    print(f"motor work     {info['work_actuator']:.4f} J")
    print(f"energy balance {info['energy_balance']:.1e} J: the error of the integrator")
    print(f"joint gaps     {info['constraint_residual_max']:.1e} m or rad at most")
    return info


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "vigym/Pendulum-v0")
