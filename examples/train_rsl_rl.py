"""Training of PPO of rsl_rl, and the score of its policy.

pip install rsl-rl-lib
python examples/train_rsl_rl.py
"""

import gymnasium as gym
import torch
from rsl_rl.runners import OnPolicyRunner
from tensordict import TensorDict

import vigym
from vigym.wrappers import RslRlVecEnv

NAME = "vigym/Pendulum-v0"
NETWORK = {"class_name": "MLPModel", "hidden_dims": [64, 64], "activation": "tanh"}
ACTOR = {"distribution_cfg": {"class_name": "GaussianDistribution", "init_std": 1.0}}
CONFIG = {
    "num_steps_per_env": 128,
    "save_interval": 1000,
    "obs_groups": {"actor": ["policy"], "critic": ["policy"]},
    "actor": NETWORK | ACTOR | {"obs_normalization": True},
    "critic": NETWORK | {"obs_normalization": True},
    "algorithm": {
        "class_name": "PPO",
        "num_learning_epochs": 10,
        "num_mini_batches": 8,
        "learning_rate": 1e-3,
        "schedule": "fixed",
        "use_clipped_value_loss": False,
        "entropy_coef": 0.0,
        "gamma": 0.99,
        "lam": 0.95,
    },
}


def main(iterations: int = 40) -> float:
    """Train, print and return the mean return of ten episodes."""
    torch.manual_seed(0)
    vector = gym.make_vec(NAME, num_envs=32, reset_noise_scale=3.0, autoreset_mode="SameStep")
    runner = OnPolicyRunner(RslRlVecEnv(vector, seed=0), CONFIG, log_dir=None, device="cpu")
    runner.learn(iterations, init_at_random_ep_len=True)
    policy = runner.get_inference_policy()

    def controller(observation, info):  # type: ignore[no-untyped-def]
        groups = {"policy": torch.as_tensor(observation, dtype=torch.float32)}
        with torch.inference_mode():
            return policy(TensorDict(groups, batch_size=[len(observation)])).numpy()

    controller.batched = True  # type: ignore[attr-defined]  # called once for all episodes
    score = float(vigym.evaluate(NAME, controller, episodes=10, seed=1000).column("return_").mean())
    print(f"return {score:.1f} after {iterations} iterations")
    return score


if __name__ == "__main__":
    main()
