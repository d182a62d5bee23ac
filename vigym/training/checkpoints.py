"""Files of a training run: checkpoints, the best policy, the learning curve, the configuration."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback, EvalCallback
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm
from stable_baselines3.common.vec_env import VecEnv, VecNormalize

from vigym.evaluation.policies import normalisation_file
from vigym.files import (
    MOST_TEXT,
    open_archive,
    open_file,
    read_file,
    read_json,
    read_pickle,
    whole_file,
    whole_folder,
    write_file,
)

MODEL, NORMALISATION = "model.zip", "vecnormalize.pkl"
REPLAY, CONFIGURATION = "replay.pkl", "config.json"
CURVE, RESULTS = "curve.csv", "results.json"
A_RUN = "a JSON object, as vigym train writes it"
_COLUMNS = "steps,return"  # of the curve
# entries of a configuration: their types, and these in words
_ENTRIES: dict[str, tuple[type, str]] = {
    "env_id": (str, "an id"),
    "options": (dict, "a dictionary"),
    "algo": (str, "a name"),
    "learner": (str, "a name"),
    "hyperparameters": (dict, "a dictionary"),
    "seed": (int, "a whole number"),
}


def checkpoints(out: Path) -> list[Path]:
    """Return the folders of all checkpoints, the newest last."""
    folders = [folder for folder in (out / "checkpoints").glob("*") if folder.name.isdigit()]
    return sorted(folders, key=lambda folder: int(folder.name))


def newest_checkpoint(out: Path, tell: bool = True) -> Path | None:
    """Return the newest checkpoint that is whole, None without one.

    Those on the way that are not are named on standard error, unless ``tell`` is false.
    """
    for folder in reversed(checkpoints(out)):
        fault = _fault(folder, out)
        if not fault:
            return folder
        if tell:
            print(f"checkpoint {folder}: {fault}; it is skipped", file=sys.stderr)
    return None


def _fault(folder: Path, out: Path) -> str:
    """Return why a checkpoint cannot be continued from, "" if it can: it may be half-written."""
    try:
        with (
            open_file(folder / MODEL, "a saved model", owner=out) as stream,
            open_archive(stream, MODEL) as archive,
        ):
            # the end of a cut file may be the end of an archive inside of it
            is_model = "data" in archive.namelist()
            damaged = archive.testzip()
        read_pickle(normalisation_file(folder) or folder / NORMALISATION, out)
    except Exception as error:  # a damaged pickle may raise any error
        return f"found {type(error).__name__}: {error}"
    if not is_model:
        return f"found no 'data' in {MODEL}"
    return f"found a damaged {damaged!r} in {MODEL}" if damaged else ""


def save(model: BaseAlgorithm, folder: Path) -> None:
    """Write the model and its normalisation; both are there, or both as they were."""
    envs = model.get_vec_normalize_env()
    assert envs is not None
    with whole_folder(folder) as new:
        model.save(new / MODEL)
        envs.save(str(new / NORMALISATION))


def read_normalisation(folder: Path, envs: VecEnv, owner: Path) -> VecNormalize:
    """Return the normalisation beside a model around environments.

    Args:
        folder: of the model.
        envs: to wrap.
        owner: folder of the run, see `read_pickle`.
    """
    found: VecNormalize = read_pickle(normalisation_file(folder) or folder / NORMALISATION, owner)
    found.set_venv(envs)
    return found


def write_configuration(out: Path, values: Mapping[str, Any]) -> None:
    """Write the arguments of a run; callables are written by their names."""
    text = json.dumps(
        values, indent=2, default=lambda value: getattr(value, "__name__", str(value))
    )
    write_file(out / CONFIGURATION, text + "\n")


def read_configuration(out: Path) -> dict[str, Any]:
    """Return the arguments of the run in a folder; {} for a run of an earlier version.

    Raises:
        ValueError: the file is damaged.
    """
    file = out / CONFIGURATION
    found = read_json(file, A_RUN, owner=out) if file.exists() else {}
    for name, (kind, expected) in _ENTRIES.items():
        if not isinstance(found.get(name, kind()), kind):
            raise ValueError(f"{file}, {name!r}: found {found[name]!r}, expected {expected}")
    return found


def read_curve(file: Path) -> list[tuple[int, float]]:
    """Return the steps and mean returns of a learning curve, [] for one without a file.

    A last line without its end was cut while it was written, and is left out.

    Raises:
        ValueError: the file is damaged otherwise.
    """
    if not file.exists():
        return []
    data = read_file(file, "a learning curve", most=MOST_TEXT)
    *lines, cut = data.decode(errors="replace").replace("\r\n", "\n").split("\n")
    head = lines[0] if lines else cut
    if head != _COLUMNS and (lines or not _COLUMNS.startswith(head)):
        raise ValueError(f"{file}, line 1: found {head!r}, expected {_COLUMNS!r}")
    rows = []
    for number, line in enumerate(lines[1:], start=2):
        try:
            steps, score = line.split(",")
            rows.append((int(steps), float(score)))
        except ValueError as error:
            expected = "two numbers, the steps and the mean return"
            found = f"{file}, line {number}: found {line!r}"
            raise ValueError(f"{found}, expected {expected}") from error
    return rows


class CheckpointCallback(BaseCallback):
    """Callback after each evaluation: a checkpoint, the best model, a row of the curve.

    Args:
        out: folder of the run.

    Attributes:
        steps: number of control steps of the newest checkpoint.

    Raises:
        ValueError: the learning curve of the folder is damaged.
    """

    parent: EvalCallback

    def __init__(self, out: Path) -> None:
        super().__init__()
        self.out = out
        self.steps = 0
        self._curve = read_curve(out / CURVE)

    def best_so_far(self) -> float:
        """Return the best mean return of the curve so far."""
        return max((score for _, score in self._curve), default=-float("inf"))

    def _on_training_start(self) -> None:
        self.steps = self.model.num_timesteps
        # if a process ended before the checkpoint of its last row, the policy of that row is lost
        self._curve = [row for row in self._curve if row[0] <= self.steps]

    def _on_step(self) -> bool:
        steps = self.model.num_timesteps
        score = float(self.parent.last_mean_reward)
        if isinstance(self.model, OffPolicyAlgorithm):  # first: no checkpoint is without one
            with whole_file(self.out / REPLAY) as new:  # only the latest: it is large
                self.model.save_replay_buffer(new)
        if score > self.best_so_far():
            save(self.model, self.out / "best")
        self._curve.append((steps, score))
        lines = [_COLUMNS, *(f"{steps},{score}" for steps, score in self._curve)]
        write_file(self.out / CURVE, "\n".join(lines) + "\n")
        save(self.model, self.out / "checkpoints" / str(steps))  # last: it has all of the above
        self.steps = steps
        return True
