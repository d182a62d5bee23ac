"""Train SAC on a vigym environment, then evaluate the best policy and record a video.

python train/sac.py --env vigym/Pendulum-v0 --seed 0 --out runs/Pendulum-v0-sac
"""

from evaluation import Result
from hyperparameters import SAC as SETTINGS
from learning import run
from stable_baselines3 import SAC


def main(arguments: list[str] | None = None) -> Result:
    """Run the script."""
    return run(SAC, SETTINGS, __doc__, arguments)


if __name__ == "__main__":
    main()
