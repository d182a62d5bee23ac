"""Training of PPO on an environment: the command `vigym train ID`, as a script.

python train/ppo.py --env vigym/Pendulum-v0 --seed 0
"""

import sys

from vigym.cli.app import run


def main(arguments: list[str] | None = None) -> int:
    """Train with the options of `vigym train`; return its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    return run(["train", *(word for word in given if word != "--env"), "--algo", "ppo"])


if __name__ == "__main__":
    sys.exit(main())
