"""Model of an MJCF file, compiled by mujoco in another process, which a bad file may end."""

import json
import os
import pickle
import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.errors import MechanismError
from vigym.mjcf.source import read_source

WORKER = Path(__file__).with_name("worker.py")
MOST_SECONDS = 100  # of compiling
CONTACT = ("geom_contype", "geom_conaffinity")
# arrays of the model that a bit of <flag> disables: constraint, equality, frictionloss, limit,
# contact, spring, damper
DISABLED = (
    ("eq_active0", "dof_frictionloss", "jnt_limited", *CONTACT),
    ("eq_active0",),
    ("dof_frictionloss",),
    ("jnt_limited",),
    CONTACT,
    ("jnt_stiffness",),
    ("dof_damping",),
)
BALANCE = " (inertias='report' mends inertias)"


@dataclass(frozen=True)
class Compiled:
    """Compiled model at its reference pose.

    Attributes:
        model: mujoco's MjModel.
        data: MjData with the places of bodies, joints, geoms and sites at `qpos0`.
        name: of the model.
        meshes: path of the file by the name that mujoco has for it.
        notes: on elements that are not read.
    """

    model: Any
    data: Any
    name: str
    meshes: dict[str, Path]
    notes: list[Note]


def compile_file(path: Path, base: str | None, missing_meshes: str, inertias: str) -> Compiled:
    """Return the compiled model of a file; arguments as of `load_mjcf`.

    Raises:
        MechanismError: mujoco is not installed, or refuses the file; names it.
    """
    if find_spec("mujoco") is None:
        expected = "the package mujoco, which compiles MJCF: pip install 'vigym[mjcf]'"
        raise MechanismError(f"{path}: found no mujoco, expected {expected}")
    source = read_source(path, missing_meshes)
    given = {
        "xml": ET.tostring(source.root, encoding="unicode"),
        "models": source.models,
        "assets": source.assets,
        "base": base,
        "balance": inertias == "report",
    }
    answer, binary = _run_worker(path, given)
    if "error" in answer:
        text = " ".join(answer["error"].split())
        hint = BALANCE if "balanceinertia" in text else ""
        raise MechanismError(f"{path}: found a model that mujoco refuses: {text}{hint}")
    import mujoco

    model = mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": binary})
    for bit in np.flatnonzero(model.opt.disableflags >> np.arange(len(DISABLED)) & 1):
        for array in DISABLED[bit]:
            getattr(model, array)[:] = 0
    if model.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_GRAVITY):
        model.opt.gravity[:] = 0.0
    data = mujoco.MjData(model)
    data.qpos[:] = model.qpos0
    mujoco.mj_kinematics(model, data)
    notes = [Note("changed", "warning of mujoco", text) for text in answer["warnings"]]
    notes += source.notes
    return Compiled(model, data, answer["name"] or path.stem, source.meshes, notes)


def _run_worker(path: Path, given: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Return the answer of the worker and the binary model behind it."""
    command = [sys.executable, "-P", str(WORKER)]
    environment = {**os.environ, "MUJOCO_GL": "off"}  # without the libraries that draw
    try:
        done = subprocess.run(
            command,
            input=pickle.dumps(given),
            capture_output=True,
            timeout=MOST_SECONDS,
            env=environment,
        )
    except subprocess.TimeoutExpired as error:
        found = f"a model that mujoco does not compile in {MOST_SECONDS} s"
        raise MechanismError(f"{path}: found {found}, expected a smaller one") from error
    head, newline, binary = done.stdout.partition(b"\n")
    if not newline:
        words = done.stderr.decode(errors="replace").split()
        found = f"a model that ends mujoco (exit code {done.returncode}): {' '.join(words[-40:])}"
        raise MechanismError(f"{path}: {found}, expected one that it compiles")
    return json.loads(head), binary
