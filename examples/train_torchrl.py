"""Training of PPO of TorchRL, and the score of its policy.

pip install torchrl
python examples/train_torchrl.py
"""

import gymnasium as gym
import torch
from tensordict.nn import AddStateIndependentNormalScale as Spread
from tensordict.nn import TensorDictModule
from torch import nn
from torchrl.collectors import Collector
from torchrl.envs import DoubleToFloat, GymWrapper, TransformedEnv
from torchrl.modules import IndependentNormal, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import vigym

NAME = "vigym/Pendulum-v0"
ENVS, STEPS = 32, 128  # environments, and steps of each between two updates
EPOCHS, BATCH = 10, 512


def network() -> nn.Sequential:
    """Return a network of two hidden layers with one output."""
    layers = (nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1))
    return nn.Sequential(*layers)


def main(iterations: int = 40) -> float:
    """Train, print and return the mean return of ten episodes."""
    torch.manual_seed(0)
    # TorchRL resets the environments itself and reads no infos.
    vector = gym.make_vec(
        NAME, ENVS, reset_noise_scale=3.0, autoreset_mode="Disabled", info_keys=()
    )
    envs = TransformedEnv(GymWrapper(vector, device="cpu"), DoubleToFloat())
    mean = network()
    policy = ProbabilisticActor(
        TensorDictModule(nn.Sequential(mean, Spread(1)), ["observation"], ["loc", "scale"]),
        in_keys=["loc", "scale"],
        distribution_class=IndependentNormal,
        return_log_prob=True,
    )
    value = ValueOperator(network(), in_keys=["observation"])
    advantage = GAE(gamma=0.99, lmbda=0.95, value_network=value, average_gae=True)
    loss = ClipPPOLoss(policy, value, entropy_bonus=False, loss_critic_type="l2", critic_coeff=0.5)
    optimizer = torch.optim.Adam(loss.parameters(), lr=1e-3)
    frames = {"frames_per_batch": ENVS * STEPS, "total_frames": iterations * ENVS * STEPS}
    for batch in Collector(envs, policy, auto_register_policy_transforms=True, **frames):
        with torch.no_grad():
            data = advantage(batch).reshape(-1)
        for part in [p for _ in range(EPOCHS) for p in torch.randperm(len(data)).split(BATCH)]:
            terms = loss(data[part])
            (terms["loss_objective"] + terms["loss_critic"]).backward()
            optimizer.step()
            optimizer.zero_grad()

    def controller(observation, info):  # type: ignore[no-untyped-def]
        return mean(torch.as_tensor(observation, dtype=torch.float32)).detach().numpy()

    controller.batched = True  # type: ignore[attr-defined]  # called once for all episodes
    score = float(vigym.evaluate(NAME, controller, episodes=10, seed=1000).column("return_").mean())
    print(f"return {score:.1f} after {iterations} iterations")
    return score


if __name__ == "__main__":
    main()
