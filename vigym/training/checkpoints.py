"""Files of a training run: checkpoints, the best policy, the learning curve, the configuration."""

import json
import os
import pickle
import shutil
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.callbacks import BaseCallback, EvalCallback
from stable_baselines3.common.off_policy_algorithm import OffPolicyAlgorithm

from vigym.evaluation.policies import normalisation_file

MODEL, NORMALISATION = "model.zip", "vecnormalize.pkl"
REPLAY, CONFIGURATION = "replay.pkl", "config.json"
CURVE, RESULTS = "curve.csv", "results.json"
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
        fault = _fault(folder)
        if not fault:
            return folder
        if tell:
            print(f"checkpoint {folder}: {fault}; it is skipped", file=sys.stderr)
    return None


def _fault(folder: Path) -> str:
    """Return why a checkpoint cannot be continued from, "" if it can: it may be half-written."""
    try:
        with zipfile.ZipFile(folder / MODEL) as archive:
            # the end of a file that was cut may be that of an archive inside of it
            is_model = "data" in archive.namelist()
            damaged = archive.testzip()
        pickle.loads((normalisation_file(folder) or folder / NORMALISATION).read_bytes())
    except Exception as error:  # what a damaged pickle raises may be anything
        return f"found {type(error).__name__}: {error}"
    if not is_model:
        return f"found no 'data' in {MODEL}"
    return f"found a damaged {damaged!r} in {MODEL}" if damaged else ""


def save(model: BaseAlgorithm, folder: Path) -> None:
    """Write the model and its normalisation; both are there, or both as they were."""
    new, old = folder.with_name(f"{folder.name}.new"), folder.with_name(f"{folder.name}.old")
    restore(folder)
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    model.save(new / MODEL)
    envs = model.get_vec_normalize_env()
    assert envs is not None
    envs.save(str(new / NORMALISATION))
    if folder.exists():
        folder.rename(old)
    new.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def restore(folder: Path) -> None:
    """Put a folder back that `save` was about to replace when its process ended."""
    old = folder.with_name(f"{folder.name}.old")
    if old.exists() and not folder.exists():
        old.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def write_configuration(out: Path, values: Mapping[str, Any]) -> None:
    """Write what a run was asked for; callables are written by their names."""
    text = json.dumps(
        values, indent=2, default=lambda value: getattr(value, "__name__", str(value))
    )
    write_whole(out / CONFIGURATION, text + "\n")


def read_configuration(out: Path) -> dict[str, Any]:
    """Return what the run in a folder was asked for; {} for one of an earlier version.

    Raises:
        ValueError: the file is damaged.
    """
    file = out / CONFIGURATION
    found = read_json(file) if file.is_file() else {}
    for name, (kind, expected) in _ENTRIES.items():
        if not isinstance(found.get(name, kind()), kind):
            raise ValueError(f"{file}, {name!r}: found {found[name]!r}, expected {expected}")
    return found


def read_json(file: Path) -> dict[str, Any]:
    """Return the entries of a file of a run.

    Raises:
        ValueError: the file is damaged.
    """
    expected = "expected a JSON object, as vigym train writes it"
    try:
        found = json.loads(file.read_text())
    except ValueError as error:  # of JSON, or of letters that are none
        raise ValueError(f"{file}: found a damaged file ({error}), {expected}") from error
    if not isinstance(found, dict):
        raise ValueError(f"{file}: found the {type(found).__name__} {found!r}, {expected}")
    return found


def read_curve(file: Path) -> list[tuple[int, float]]:
    """Return the steps and mean returns of a learning curve, [] for one without a file.

    A last line without its end was cut while it was written, and is left out.

    Raises:
        ValueError: the file is damaged otherwise.
    """
    if not file.is_file():
        return []
    *lines, cut = file.read_text(errors="replace").split("\n")
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


def write_whole(file: Path, text: str) -> None:
    """Write a text to a file; until all of it is written, the file is as it was."""
    new = file.with_name(f"new-{file.name}")
    new.write_text(text)
    os.replace(new, file)


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
        # a process that ended before the checkpoint of its last row lost what the row tells of
        self._curve = [row for row in self._curve if row[0] <= self.steps]

    def _on_step(self) -> bool:
        steps = self.model.num_timesteps
        score = float(self.parent.last_mean_reward)
        if isinstance(self.model, OffPolicyAlgorithm):  # first: no checkpoint is without one
            new = self.out / f"new-{REPLAY}"  # only the latest: it is large
            self.model.save_replay_buffer(new)
            os.replace(new, self.out / REPLAY)
        if score > self.best_so_far():
            save(self.model, self.out / "best")
        self._curve.append((steps, score))
        lines = [_COLUMNS, *(f"{steps},{score}" for steps, score in self._curve)]
        write_whole(self.out / CURVE, "\n".join(lines) + "\n")
        save(self.model, self.out / "checkpoints" / str(steps))  # last: it has all of the above
        self.steps = steps
        return True
