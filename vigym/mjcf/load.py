"""Import of an MJCF file, a model of MuJoCo, as a Mechanism."""

import os
from pathlib import Path

import numpy as np

from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.elements.errors import AssemblyError, MechanismError
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.massless import check_massless
from vigym.mjcf.bodies import Robot
from vigym.mjcf.chains import add_bodies, add_starts
from vigym.mjcf.compiled import compile_file
from vigym.mjcf.contacts import add_shapes
from vigym.mjcf.loops import add_equalities

BASES = ("fixed", "floating", None)
ERROR_OR_REPORT = ("error", "report")
# counts of a compiled model: elements in words, and why they are left out
LEFT_OUT = {
    "ntendon": ("tendons", "their springs, limits and forces are not simulated"),
    "nsensor": ("sensors", "sensors are not simulated; environments have their own"),
    "nplugin": ("plugins", "they are not known to this importer"),
    "nmocap": ("mocap bodies", "they stand still in the world"),
    "ngravcomp": ("bodies with gravity compensation", "gravity acts on them"),
}
RIGID = "contacts, limits and loops are rigid, without the softness of solref, solimp and margin"


def load_mjcf(
    path: str | os.PathLike[str],
    base: str | None = None,
    ground: bool | Ground | None = None,
    self_collision: bool = False,
    missing_meshes: str = "error",
    inertias: str = "error",
) -> Mechanism:
    """Return the mechanism of an MJCF file at the model's reference pose, `qpos0`.

    MuJoCo compiles the file, in a process of its own; `pip install 'vigym[mjcf]'` has it. Bodies
    without a joint are part of their parent, and frames on it, as are named sites. Joints keep
    their names, and coordinates are MuJoCo's less `ref`. Several joints of one body have bodies
    without mass between them, named `body:joint`. A floating body has its centre of mass for
    origin.

    The first plane, or a level height field, is the ground; geoms touch it with MuJoCo's mixed
    friction. Actuators whose force is affine become efforts and motors of joints. <connect> and
    <weld> become joints that close loops, a linear <joint> equality a coupling. `Mechanism.starts`
    has the keyframes. `Mechanism.notes` lists everything else.

    Args:
        path: of the file.
        base: "fixed": bodies of the world lose their free joints; "floating": those without a joint
            get one; None: as in the file. A base that is given leaves out the keyframes.
        ground: in place of the file's, as in `Mechanism`; False: none; None: the file's.
        self_collision: whether bodies whose geoms may touch, by the file, are paired.
        missing_meshes: for files of meshes that are not there: "error", or "report" to leave out
            their geoms, with a note.
        inertias: for inertias that no rigid body has: "error", or "report" to let MuJoCo balance
            them.

    Raises:
        MechanismError: no mujoco, or a file that cannot be read truthfully; names the file.
        AssemblyError: loops that cannot be closed.
    """
    file = Path(path)
    options = {"missing_meshes": missing_meshes, "inertias": inertias}
    for option, value in options.items():
        if value not in ERROR_OR_REPORT:
            found = f"{file}: option {option}: found {value!r}"
            raise MechanismError(f"{found}, expected 'error' or 'report'")
    if base not in BASES:
        expected = "expected 'fixed', 'floating' or None"
        raise MechanismError(f"{file}: option base: found {base!r}, {expected}")
    compiled = compile_file(file, base, **options)
    gravity = np.array(compiled.model.opt.gravity)
    mech = Mechanism(gravity, False if ground is None else ground, compiled.name)
    mech.notes += compiled.notes
    robot = Robot(compiled, mech)
    try:
        add_bodies(robot)
        robot.add_frames()
        add_equalities(robot)
        add_shapes(robot, ground, self_collision)
        add_starts(robot)
        _note_others(robot)
        check_massless(mech, mech.structure)
    except AssemblyError as error:
        raise AssemblyError(f"{file}: {error}") from error
    except MechanismError as error:
        raise MechanismError(f"{file}: {error}") from error
    return mech


def _note_others(robot: Robot) -> None:
    """Add notes on what is not simulated."""
    m = robot.model
    for count, (elements, reason) in LEFT_OUT.items():
        number = int(getattr(m, count))
        if number:
            robot.note("ignored", f"{elements}: {number}", reason)
    if m.opt.density or m.opt.viscosity:
        found = f"density {m.opt.density:g}, viscosity {m.opt.viscosity:g}"
        robot.note("ignored", f"<option> {found}", "forces of a fluid are not simulated")
    limits = {each.name: each.limits for each in robot.mechanism.joints.values()}
    outside = [
        name
        for name, each in limits.items()
        if each is not None and not each[0, 0] <= 0.0 <= each[0, 1]
    ]
    message = "zero is beyond limits: starts are in the middle of them"
    robot.note_all("changed", "joints", outside, message)
    if m.neq or m.ngeom or m.jnt_limited.any():
        robot.note("changed", "softness", RIGID)
