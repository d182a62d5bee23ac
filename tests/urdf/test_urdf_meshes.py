"""Meshes where people have them: packages of another name, another case, folders of MuJoCo."""

import pytest

from scenes.urdf_text import INERTIAL, link
from vigym.mechanism.elements import mesh
from vigym.mechanism.elements.errors import UrdfError
from vigym.urdf.convert.load import load_urdf

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n"


def robot(filename: str, extra: str = "") -> str:
    shape = f'<geometry><mesh filename="{filename}"/></geometry>'
    inside = f"{INERTIAL}<collision>{shape}</collision><visual>{shape}</visual>"
    return f'<robot name="r">{extra}{link("a", inside)}</robot>'


def compiler(attributes: str) -> str:
    return f"<mujoco><compiler {attributes}/></mujoco>"


ELSEWHERE = {
    "package of another name": ("package://crawler/meshes/Lump.obj", ""),
    "another case": ("../Meshes/lump.OBJ", ""),
    "package of another name and case": ("package://crawler/MESHES/lump.obj", ""),
    "encoded": ("package://crawler/%6Deshes/Lump.obj", ""),
    "meshdir, paths stripped": ("any/where/Lump.obj", compiler('meshdir="../meshes"')),
    "meshdir, package": ("package://x/y/Lump.obj", compiler('meshdir="../meshes/"')),
    "meshdir with folders": (
        "meshes/Lump.obj",
        compiler('meshdir=".." strippath="false"'),
    ),
}


@pytest.mark.parametrize("case", ELSEWHERE)
def test_a_mesh_elsewhere_is_found_and_told(case, tmp_path):
    filename, extra = ELSEWHERE[case]
    place = tmp_path / "crawler-main" / "meshes" / "Lump.obj"
    file = tmp_path / "crawler-main" / "urdf" / "r.urdf"
    for each in (place, file):
        each.parent.mkdir(parents=True)
    place.write_text(TETRAHEDRON)
    file.write_text(robot(filename, extra))
    mech = load_urdf(file, ground=True)
    assert len(mech.collisions["a"].corners) == 4
    assert mech.bodies["a"].shapes[0].path.samefile(place)
    assert sum("is taken from" in note.message for note in mech.notes) == 2


def test_no_mesh_is_guessed(tmp_path):
    """Not where names differ in more than case, nor where two files do in case."""
    (tmp_path / "Lump.obj").write_text(TETRAHEDRON)
    for name in ("lumps.obj", "lump.stl", "x/lump.obj"):
        (tmp_path / "r.urdf").write_text(robot(name))
        with pytest.raises(UrdfError, match="found no readable file"):
            load_urdf(tmp_path / "r.urdf")
    (tmp_path / "LUMP.obj").write_text(TETRAHEDRON)
    if len(list(tmp_path.glob("*.obj"))) == 2:  # a file system that tells cases apart
        (tmp_path / "r.urdf").write_text(robot("lump.obj"))
        with pytest.raises(UrdfError, match="found no readable file"):
            load_urdf(tmp_path / "r.urdf")


def test_drawn_meshes_are_read_when_they_are_drawn(tmp_path, monkeypatch):
    read = []
    load = mesh._load
    monkeypatch.setattr(mesh, "_load", lambda *args: read.append(args) or load(*args))
    (tmp_path / "lump.obj").write_text(TETRAHEDRON)
    file = tmp_path / "r.urdf"
    text = robot("lump.obj")
    file.write_text(text[: text.index("<collision>")] + text[text.index("<visual>") :])
    mech = load_urdf(file)
    assert read == []
    assert len(mech.bodies["a"].shapes) == 1
