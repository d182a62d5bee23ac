"""What no reader takes: pipes, devices, folders, sizes and depths without end."""

import json
import os
import signal
import zipfile
from pathlib import Path

import numpy as np
import pytest

import vigym
from vigym import files
from vigym.evaluation.policies import load_model
from vigym.files import read_pickle
from vigym.mechanism.elements.mesh import FORMATS, read_mesh

DEPTH = 100_000


def read_configuration(file):
    pytest.importorskip("stable_baselines3", reason="needs vigym[train]")
    from vigym.training.checkpoints import read_configuration

    return read_configuration(file.parent)


def read_curve(file):
    pytest.importorskip("stable_baselines3", reason="needs vigym[train]")
    from vigym.training.checkpoints import read_curve

    return read_curve(file)


def read_replay(file):
    pytest.importorskip("stable_baselines3", reason="needs vigym[train]")
    from vigym.training.learners import _load_replay

    class Model:
        def load_replay_buffer(self, stream):
            raise OSError("zeros")

    _load_replay(Model(), file)


# name of a file: its reader
READERS = {
    "robot.urdf": vigym.load_urdf,
    **{f"mesh{ending}": read_mesh for ending in FORMATS},
    "policy.safetensors": vigym.load_policy,
    "policy.json": lambda card: vigym.load_policy(card.with_suffix(".safetensors")),
    "model.zip": lambda file: load_model(file, None),
    "vecnormalize.pkl": lambda file: read_pickle(file, file),
    "config.json": read_configuration,
    "curve.csv": read_curve,
    "replay.pkl": read_replay,
}


def make_huge(file: Path) -> None:
    with file.open("wb") as stream:
        stream.truncate(1 << 40)  # of zeros, which take no space


# what lies in place of the file
OTHERS = {
    "a pipe": os.mkfifo,
    "a device": lambda file: file.symlink_to("/dev/zero"),
    "a folder": Path.mkdir,
    f"{1 << 40} bytes": make_huge,
    "no readable file": lambda file: file.symlink_to(file),
}


@pytest.fixture(autouse=True)
def _no_endless_wait():
    """End a test that waits for another process."""
    signal.alarm(60)
    yield
    signal.alarm(0)


@pytest.mark.parametrize("found", OTHERS)
@pytest.mark.parametrize("name", READERS)
def test_readers_name_what_is_no_file_of_bounded_size(tmp_path, name, found):
    file = tmp_path / name
    OTHERS[found](file)
    if name == "policy.safetensors":  # its card is read first
        head = {"format": 1, "env_id": "", "sha256": "", "sizes": [1, 1], "squashed": True}
        (tmp_path / "policy.json").write_text(json.dumps(head | {"activation": "tanh"}))
    if name in ("config.json", "curve.csv") and found == "no readable file":
        pytest.skip("a run without one is of an earlier version")
    if name == "replay.pkl" and "bytes" in found:
        found = "a damaged file"  # a program, and large: it has no limit
    with pytest.raises(ValueError, match=f"{name}: found {found}.*, expected ") as error:
        READERS[name](file)
    assert str(file) in str(error.value)


def write_model(file: Path, data: bytes) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("data", data)


def glb(head: bytes) -> bytes:
    """Return a glTF file of a list alone."""
    sizes = (2).to_bytes(4, "little"), (20 + len(head)).to_bytes(4, "little")
    return b"glTF" + b"".join(sizes) + len(head).to_bytes(4, "little") + b"JSON" + head


@pytest.mark.parametrize("name", ["policy.json", "config.json", "model.zip", "mesh.glb"])
def test_deep_json_is_an_error(tmp_path, name):
    file = tmp_path / name
    if name == "model.zip":
        write_model(file, b"[" * DEPTH)
    else:
        file.write_bytes(glb(b"[" * DEPTH) if name == "mesh.glb" else b"[" * DEPTH)
    with pytest.raises(ValueError, match="found .*recursion.*, expected "):
        READERS[name](file)


@pytest.mark.parametrize("name", ["robot.urdf", "mesh.dae"])
def test_deep_xml_and_entities_are_errors(tmp_path, name):
    file = tmp_path / name
    file.write_text("<robot>" + "<link>" * DEPTH + "</link>" * DEPTH + "</robot>")
    with pytest.raises(ValueError, match="found <link> in 601 others, expected at most 600"):
        READERS[name](file)
    for encoding in ("utf-8", "utf-16"):
        head = f'<?xml version="1.0" encoding="{encoding}"?><!DOCTYPE robot '
        for entity in ('[<!ENTITY a "aaa">]>', '[<!ENTITY a SYSTEM "/etc/passwd">]>'):
            file.write_text(f'{head}{entity}<robot name="&a;"/>', encoding=encoding)
            with pytest.raises(ValueError, match="declaration of an entity, 'a', expected none"):
                READERS[name](file)


@pytest.mark.parametrize("name", ["robot.urdf", "robot.sdf", "robot.xml", "mesh.stl", "mesh.obj"])
def test_a_pointer_of_git_lfs_is_told(tmp_path, name):
    file = tmp_path / name
    file.write_text("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n")
    with pytest.raises(ValueError, match=f"{name}: found a pointer of Git LFS, not the file"):
        (read_mesh if "mesh" in name else vigym.load)(file)


def test_a_zip_archive_is_no_mesh(tmp_path):
    file = tmp_path / "mesh.dae"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("mesh.dae", "<COLLADA/>")
    file.write_bytes(b"<COLLADA/>" + file.read_bytes())  # what comes first does not matter
    with pytest.raises(ValueError, match=r"found a zip archive, expected the \.dae file in it"):
        read_mesh(file)


def test_copies_in_a_mesh_are_counted_before_they_are_made(tmp_path):
    """Nodes of nodes of nodes, two copies of each: doublings of a file of 2 kB."""
    nodes = [
        f'<node id="n{k}">' + 2 * f'<instance_node url="#n{k + 1}"/>' + "</node>" for k in range(40)
    ]
    text = f'<COLLADA><library_nodes>{"".join(nodes)}<node id="n40"/></library_nodes></COLLADA>'
    file = tmp_path / "mesh.dae"
    file.write_text(text)
    with pytest.raises(ValueError, match=r"found \d{15,} bytes unpacked, expected up to"):
        read_mesh(file)


@pytest.mark.parametrize(
    "head",
    [
        {"accessors": [{"count": 10**12}, {"count": -(10**12)}]},
        {
            "accessors": [{"count": 10**6}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}] * 1000}],
        },
    ],
)
def test_arrays_of_a_gltf_file_are_counted_before_they_are_made(tmp_path, head):
    file = tmp_path / "mesh.glb"
    file.write_bytes(glb(json.dumps(head).encode()))
    with pytest.raises(ValueError, match=r"found \d+ bytes unpacked, expected up to"):
        read_mesh(file)


def test_a_mesh_in_many_nodes_is_counted(tmp_path, monkeypatch):
    import trimesh

    ball = trimesh.creation.icosphere(subdivisions=3)  # of 642 vertices
    scene = trimesh.Scene({"ball": ball})
    for number in range(20):
        scene.graph.update(f"copy {number}", geometry="ball", matrix=np.eye(4))
    file = tmp_path / "mesh.glb"
    file.write_bytes(scene.export(file_type="glb"))
    assert len(read_mesh(file).vertices) == 21 * 642
    monkeypatch.setattr("vigym.mechanism.elements.mesh.MOST_BYTES", 15 * 642 * 24)
    with pytest.raises(ValueError, match=f"found {21 * 642 * 24} bytes unpacked"):
        read_mesh(file)


@pytest.mark.parametrize("declared", [None, 10])
def test_archives_unpack_no_more_than_the_limit(tmp_path, monkeypatch, declared):
    """The list in the archive may say less than there is."""
    monkeypatch.setattr(files, "MOST_BYTES", 100_000)
    file = tmp_path / "model.zip"
    write_model(file, b" " * 1_000_000)
    if declared is not None:
        size, said = ((one).to_bytes(4, "little") for one in (1_000_000, declared))
        file.write_bytes(file.read_bytes().replace(size, said))
    with pytest.raises(ValueError, match="found 1000000 bytes unpacked|CRC|no JSON"):
        load_model(file, None)


def test_a_file_that_grows_is_read_to_the_limit(tmp_path, monkeypatch):
    """As some of the system, which have no size."""
    file = tmp_path / "text"
    file.write_bytes(b"1234")
    monkeypatch.setattr(files, "_fault", lambda *given: "")
    assert files.read_file(file, "a text", most=4) == b"1234"
    with pytest.raises(ValueError, match="text: found more than 3 bytes, expected a text"):
        files.read_file(file, "a text", most=3)
