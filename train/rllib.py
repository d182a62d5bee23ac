"""Training with PPO of RLlib, by the recipes of `vigym train`, on several processes or machines.

pip install ".[train,ray]"
python train/rllib.py vigym/Pendulum-v0 --runners 2
vigym evaluate vigym/Pendulum-v0 -c runs/Pendulum-v0-rllib-seed0
"""

from pathlib import Path
from typing import Any

import click

from vigym.cli.evaluate import option_option
from vigym.cli.output import print_table
from vigym.evaluation.environments import check_env_id
from vigym.training.rllib import RllibRun, train


@click.command()
@click.argument("env_id", metavar="ID")
@option_option
@click.option("--runners", type=click.IntRange(min=0), default=0, help="Processes of environments.")
@click.option("--timesteps", type=click.IntRange(min=1), help="Control steps.")
@click.option("-s", "--seed", type=click.IntRange(min=0), default=0, help="Seed of the run.")
@click.option("--episodes", type=click.IntRange(min=1), default=100, help="Of the evaluation.")
@click.option("--out", type=click.Path(file_okay=False, path_type=Path), help="Folder of the run.")
def main(env_id: str, out: Path | None, seed: int, **settings: Any) -> None:
    """Train a policy for the environment ID and print its scores."""
    check_env_id(env_id)
    folder = out or Path("runs") / f"{env_id.rpartition('/')[2]}-rllib-seed{seed}"
    row, result = train(RllibRun(env_id=env_id, out=folder, seed=seed, **settings))
    title = f"{env_id}, ppo of rllib, seed {seed}, {row['timesteps']} steps in {row['minutes']} min"
    print_table(title, ["quantity", "unit", "value"], result.table, right=[2])
    print(f"score it again: vigym evaluate {env_id} -c {folder}")


if __name__ == "__main__":
    main()
