"""Files of a training run: checkpoints, the best policy, the learning curve, the configuration."""

import csv
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
            missing = {"data", "policy.pth"}.difference(archive.namelist())
            damaged = archive.testzip()
        pickle.loads((normalisation_file(folder) or folder / NORMALISATION).read_bytes())
    except Exception as error:  # what a damaged pickle raises may be anything
        return f"found {type(error).__name__}: {error}"
    if missing:
        return f"found no {min(missing)!r} in {MODEL}"
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
    (out / CONFIGURATION).write_text(text + "\n")


def read_configuration(out: Path) -> dict[str, Any]:
    """Return what the run in a folder was asked for; {} for one of an earlier version."""
    file = out / CONFIGURATION
    found: dict[str, Any] = json.loads(file.read_text()) if file.is_file() else {}
    return found


class CheckpointCallback(BaseCallback):
    """Callback after each evaluation: a checkpoint, the best model, a row of the curve.

    Args:
        out: folder of the run.
    """

    parent: EvalCallback

    def __init__(self, out: Path) -> None:
        super().__init__()
        self.out = out

    def best_so_far(self) -> float:
        """Return the best mean return of the curve so far."""
        if not (self.out / "curve.csv").is_file():
            return -float("inf")
        with open(self.out / "curve.csv", newline="") as file:
            return max(float(row["return"]) for row in csv.DictReader(file))

    def _on_step(self) -> bool:
        steps = self.model.num_timesteps
        score = float(self.parent.last_mean_reward)
        save(self.model, self.out / "checkpoints" / str(steps))
        if isinstance(self.model, OffPolicyAlgorithm):
            new = self.out / f"new-{REPLAY}"  # only the latest: it is large
            self.model.save_replay_buffer(new)
            os.replace(new, self.out / REPLAY)
        if score > self.best_so_far():
            save(self.model, self.out / "best")
        first = not (self.out / "curve.csv").is_file()
        with open(self.out / "curve.csv", "a", newline="") as file:
            writer = csv.writer(file)
            writer.writerows([["steps", "return"]] * first + [[steps, score]])
        return True
