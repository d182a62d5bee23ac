"""Training of PPO of RLlib, and the score of its policy.

pip install "ray[rllib]"
python examples/train_rllib.py 2        # two processes that step environments
"""

import sys

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig

import vigym

NAME = "vigym/Pendulum-v0"
ENVS, STEPS = 32, 128


def main(runners: int = 0, iterations: int = 40) -> float:
    """Train, print and return the mean return of ten episodes; runners 0: in this process."""
    ray.init(include_dashboard=False, log_to_driver=False)
    # "vigym:" imports the package in every process. RLlib builds a dictionary for every environment
    # and step from the infos, unless there are none.
    options = {"reset_noise_scale": 3.0, "info_keys": ()}
    config = (
        PPOConfig()
        .environment(f"vigym:{NAME}", env_config=options)
        .env_runners(
            num_env_runners=runners,
            num_envs_per_env_runner=ENVS // max(1, runners),
            gym_env_vectorize_mode="vector_entry_point",  # vigym's own vectors
            rollout_fragment_length=STEPS,
        )
        .training(
            lr=1e-3,
            lambda_=0.95,
            use_kl_loss=False,
            clip_param=0.2,
            vf_clip_param=float("inf"),
            num_epochs=10,
            minibatch_size=512,
            train_batch_size_per_learner=ENVS * STEPS,
        )
        .rl_module(model_config={"fcnet_hiddens": [64, 64], "vf_share_layers": False})
    )
    algorithm = config.build_algo()
    for _ in range(iterations):
        algorithm.train()
    module = algorithm.get_module()

    def controller(observation, info):  # type: ignore[no-untyped-def]
        batch = {"obs": torch.as_tensor(observation, dtype=torch.float32)}
        with torch.no_grad():
            outputs = module.forward_inference(batch)["action_dist_inputs"]
        return outputs[:, :1].numpy()  # mean; the rest is the spread

    controller.batched = True  # type: ignore[attr-defined]  # called once for all episodes
    score = float(vigym.evaluate(NAME, controller, episodes=10, seed=1000).column("return_").mean())
    print(f"return {score:.1f} after {iterations} iterations")
    algorithm.stop()
    ray.shutdown()
    return score


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
