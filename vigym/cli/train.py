"""Command `vigym train`: a policy for an environment or a robot's file, its scores and a film."""

import json
import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vigym.cli.evaluate import (
    environment_argument,
    find_environment,
    is_file,
    option_option,
    parse_options,
)
from vigym.cli.output import check_folder, print_table, progress_bar

if TYPE_CHECKING:
    from vigym.training.run import TrainingRun

NEEDED = {"stable_baselines3": "stable-baselines3", "torch": "torch", "matplotlib": "matplotlib"}


@click.command()
@environment_argument
@click.option(
    "--algo",
    type=click.Choice(["ppo", "sac"]),
    help="Algorithm.  [default: ppo]",
)
@click.option(
    "--learner",
    type=click.Choice(["sb3", "sbx"]),
    help="Library: stable-baselines3, or SBX, its twin on JAX.  [default: sb3]",
)
@option_option
@click.option(
    "-P",
    "--hyperparameter",
    "hyperparameters",
    multiple=True,
    callback=parse_options,
    metavar="NAME=VALUE",
    help="Hyperparameter of the algorithm, or n_envs, n_timesteps, learning_rate, normalize.",
)
@click.option(
    "--timesteps",
    "--n-timesteps",
    "timesteps",
    type=click.IntRange(min=1),
    help="Number of control steps.  [default: that of the recipe]",
)
@click.option(
    "--curriculum",
    metavar="MODULE:NAME",
    help="Function (progress in [0, 1], returns of latest episodes) -> options to change.",
)
@click.option("-s", "--seed", type=click.IntRange(min=0), help="Seed of the run.  [default: 0]")
@click.option(
    "--episodes",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Episodes of the evaluation at the end.",
)
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder of the run.  [default: runs/NAME-seedN]",
)
@click.option(
    "--resume", is_flag=True, help="Continue from the newest checkpoint, if there is one."
)
@click.option(
    "--processes",
    type=click.IntRange(min=1),
    help="Processes that step the environments.  [default: this one]",
)
@click.option("--tensorboard", is_flag=True, help="Write curves for tensorboard.")
@click.option("--no-video", is_flag=True, help="Record no video.")
def command(
    environment: str,
    algo: str | None,
    learner: str | None,
    options: dict[str, Any],
    hyperparameters: dict[str, Any],
    timesteps: int | None,
    curriculum: str | None,
    seed: int | None,
    episodes: int,
    out: Path | None,
    resume: bool,
    processes: int | None,
    tensorboard: bool,
    no_video: bool,
) -> int:
    """Train a policy for the environment ID, or for the robot of a FILE.

    Any Gymnasium id will do: those of vigym, your own as module:id, and others, such as
    HalfCheetah-v5. A URDF, MJCF or SDF file stands for vigym/Robot-v0. The folder of the run then
    has the best policy, its learning curve, its scores over fresh episodes and a video.

    \b
    vigym train vigym/Pendulum-v0
    vigym train robot.urdf -o control=position --timesteps 300000
    vigym train robot.urdf -o reward=mine:reward -o self_collision=True --out runs/mine
    vigym train mine:me/Positioner-v0 --algo sac -P gamma=0.98 -P learning_rate=lin_3e-4
    vigym train vigym/Pendulum-v0 --timesteps 800000 --resume
    vigym evaluate vigym/Pendulum-v0 -c runs/Pendulum-v0-seed0/best/model.zip -c zero
    """  # noqa: D301
    require_libraries(tensorboard)
    from vigym.training.run import TrainingRun, finished, record, train

    name, options = find_environment(environment, options)
    env_id = name.rpartition(":")[2]  # its module is imported
    if timesteps is not None:
        hyperparameters = hyperparameters | {"n_timesteps": timesteps}
    given: dict[str, Any] = {"options": options, "hyperparameters": hyperparameters}
    given |= {"algo": algo, "learner": learner, "seed": seed, "curriculum": curriculum}
    folder = out or Path("runs") / f"{_run_name(environment)}-seed{seed or 0}"
    check_folder(folder, "--out")
    settings = _settings(folder, env_id, given, resume)
    more: dict[str, Any] = {"resume": resume, "tensorboard": tensorboard, "episodes": episodes}
    run = TrainingRun(env_id=env_id, out=folder, processes=processes, **more, **settings)
    if resume and finished(run):
        click.echo(f"{folder}: found a finished run of {run.recipe.n_timesteps} steps")
    else:
        row, result = train(run)
        _print(run, environment, row, result.table)
    if not no_video and not (resume and run.video.is_file()):
        with progress_bar("video") as progress:
            video = record(run, progress)
        print(f"video {video}" if video else "no video")
    return 0


def require_libraries(tensorboard: bool = False) -> None:
    """Raise ImportError for a missing library; UsageError for tensorboard."""
    missing = [package for name, package in NEEDED.items() if find_spec(name) is None]
    if missing:
        mend = "pip install torch, then pip install 'vigym[train]'"
        raise ImportError(f"training needs {' and '.join(missing)}: {mend}")
    if tensorboard and find_spec("tensorboard") is None:
        text = "--tensorboard: the package is not installed; pip install tensorboard"
        raise click.UsageError(text)


def _run_name(environment: str) -> str:
    """Return the first part of the name of a run's folder: the name of the id or of the file."""
    if is_file(environment):
        return Path(environment).stem
    return environment.rpartition(":")[2].rpartition("/")[2]


def _settings(folder: Path, env_id: str, given: dict[str, Any], resume: bool) -> dict[str, Any]:
    """Return the settings of a run: the given ones, or the original ones of a resumed run.

    Raises:
        UsageError: a run in the folder that is not to be resumed, or that has no checkpoint that
            is whole, or that began with other settings.
        ValueError: its configuration is damaged.
    """
    from vigym.training.checkpoints import checkpoints, newest_checkpoint, read_configuration

    defaults: dict[str, Any] = {"options": {}, "algo": "ppo", "learner": "sb3"}
    defaults |= {"hyperparameters": {}, "seed": 0, "curriculum": None}
    begun = bool(checkpoints(folder))
    if begun and not resume:
        advice = "add --resume, or give another --out"
        raise click.UsageError(f"{folder}: found an earlier run; {advice}")
    if begun and newest_checkpoint(folder, tell=False) is None:
        newest_checkpoint(folder)  # tells why; the run itself tells of those that it skips
        advice = "expected one to continue from; give another --out"
        raise click.UsageError(f"{folder}: found no checkpoint that is whole, {advice}")
    configuration = read_configuration(folder) if resume else {}
    if not (begun or configuration):
        return defaults | {name: value for name, value in given.items() if value is not None}
    began = defaults | configuration
    for name, value in {"env_id": env_id, **given}.items():
        if isinstance(value, dict):
            for key, inner in value.items():
                found = _plain(began[name].get(key))
                if key != "n_timesteps" and found != _plain(inner):
                    _refuse(folder, f"{key}={inner}", f"{key}={found}")
        elif value is not None and value != began.get(name, value):
            _refuse(folder, f"{name} {value}", f"{name} {began[name]}")
    merged = {name: began[name] for name in defaults}
    merged["hyperparameters"] = began["hyperparameters"] | given["hyperparameters"]
    return merged


def _refuse(folder: Path, found: str, began: str) -> None:
    text = f"{folder}: found {found}, expected {began}, with which the run began"
    raise click.UsageError(f"{text}; give another --out")


def _plain(value: Any) -> Any:
    """Return a value as JSON reads it back."""
    return json.loads(json.dumps(value, default=str))


def _print(
    run: "TrainingRun", environment: str, row: dict[str, Any], table: list[list[str]]
) -> None:
    """Print the scores of a run, where its files are, and how to score its policy again."""
    from vigym.training.environments import is_own

    minutes = f"{row['timesteps']} steps in {row['minutes']:.1f} minutes"
    title = f"{run.env_id}, {run.algo} of {run.learner}, seed {run.seed}, {minutes}"
    print_table(title, ["quantity", "unit", "value"], table, right=[2])
    share = 100.0 * row["learner_share"]
    print(f"the learner took {share:.0f} % of the time, the environments the rest")
    print(f"results in {run.out}")
    if is_own(run.env_id):
        options = dict(run.options)
        if is_file(environment):
            del options["robot"]
        words = ["vigym", "evaluate", environment, "-c", str(run.best)]
        words += [word for key, value in options.items() for word in ("-o", f"{key}={value}")]
        print(f"score it again: {shlex.join(words)}")
