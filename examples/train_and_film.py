"""Training of PPO of stable-baselines3 on native vector environments, its score and a video.

python examples/train_and_film.py swing_up.mp4        # half a minute; full runs: vigym train
"""

import sys

import gymnasium as gym
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecNormalize

import vigym
from vigym.evaluation.video import record_video
from vigym.wrappers import SB3VecEnv

NAME = "vigym/Pendulum-v0"


def main(path: str = "swing_up.mp4", timesteps: int = 150_000) -> dict[str, float]:
    """Train, print and return mean returns, and record an episode into `path`."""
    vector = gym.make_vec(NAME, num_envs=16, reset_noise_scale=3.0, autoreset_mode="SameStep")
    envs = VecNormalize(SB3VecEnv(vector))
    model = PPO(
        "MlpPolicy", envs, learning_rate=1e-3, n_steps=256, batch_size=512, device="cpu", seed=0
    )
    model.learn(timesteps)

    def policy(observation, info):  # type: ignore[no-untyped-def]
        return model.predict(envs.normalize_obs(observation), deterministic=True)[0]

    policy.batched = True  # type: ignore[attr-defined]  # called once for all episodes
    returns = {}
    for name, controller in (("trained", policy), ("doing nothing", "zero")):
        scores = vigym.evaluate(NAME, controller, episodes=20, seed=1000).column("return_")
        returns[name] = float(scores.mean())
        print(f"{name:13} return {returns[name]:6.1f} +- {scores.std():.1f}")
    record_video(NAME, policy, path, seed=1000, seconds=8.0)
    print(path)
    return returns


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "swing_up.mp4")
