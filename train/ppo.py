"""Train PPO on a vigym environment, then evaluate the best policy and record a video.

python train/ppo.py --env vigym/Pendulum-v0 --seed 0
"""

from evaluation import Result
from hyperparameters import PPO as SETTINGS
from learning import run
from stable_baselines3 import PPO


def main(arguments: list[str] | None = None) -> Result:
    """Run the script."""
    return run(PPO, SETTINGS, __doc__, arguments)


if __name__ == "__main__":
    main()
