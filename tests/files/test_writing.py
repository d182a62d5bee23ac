"""Files are written whole or not at all, by every writer of the package."""

import errno
import os
import resource
import stat
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import vigym
from vigym.cli import output
from vigym.cli.app import run
from vigym.files import check_output, whole_file, whole_folder, write_file
from vigym.policies.network import Network, write_network


def mechanism():
    made = vigym.Mechanism()
    made.add_body("arm", 1.0, (1.0, 1.0, 1.0), position=(1.0, 0.0, 0.0))
    made.add_joint("hinge", "revolute", "world", "arm", (0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    return made


def write_policy(file):
    ones, one = np.ones(1, np.float32), np.ones(1)
    write_network(
        Network([ones[None]], [ones], one, one, 1.0, -ones, ones, "tanh", True, {"env_id": "a"}),
        file,
    )


def write_film(file):
    pytest.importorskip("moviepy")
    from vigym.evaluation.video import film

    picture = np.zeros((16, 16, 3), np.uint8)
    with film(file, picture, 10.0) as write:
        for shade in range(20):
            write(picture + np.uint8(10 * shade))


def write_curve_plot(file):
    pytest.importorskip("stable_baselines3", reason="needs vigym[train]")
    from vigym.training.results import plot_curve

    plot_curve(file.with_name("missing.csv"), file)


@cache
def evaluation():
    from vigym.evaluation.plots import TRACES

    return vigym.evaluate("vigym/Pendulum-v0", "zero", 1, traces=TRACES)


def write_plot(file):
    from vigym.evaluation.plots import draw

    draw([evaluation()], file)


def write_drawing(file):
    from vigym.cli.draw import draw

    draw(mechanism(), file)


# name of a file: its writer
WRITERS = {
    "text.txt": lambda file: write_file(file, "text"),
    "robot.urdf": lambda file: mechanism().to_urdf(file),
    "robot.xml": lambda file: mechanism().to_mjcf(file),
    "policy.safetensors": write_policy,
    "film.mp4": write_film,
    "film.gif": write_film,
    "film.webp": write_film,
    "curve.png": write_curve_plot,
    "plot.svg": write_plot,
    "drawing.pdf": write_drawing,
    "rows.json": lambda file: output.write_json(str(file), {"a": 1}),
    "rows.csv": lambda file: output.write_csv(str(file), [{"a": 1}]),
}


@contextmanager
def full_disk():
    """Let every write to a file fail."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_whole_or_as_it_was(tmp_path, name):
    folder = tmp_path / "out"
    folder.mkdir()
    file, link = folder / name, tmp_path / name
    link.symlink_to(file)
    (tmp_path / "first").mkdir()
    WRITERS[name](tmp_path / "first" / name)  # fonts and kernels are there from now on
    for before in (None, b"before"):
        if before is not None:
            file.write_bytes(before)
            file.chmod(0o640)
        with pytest.raises(OSError, match=name.partition(".")[0]), full_disk():
            WRITERS[name](file)
        assert [one.name for one in folder.iterdir()] == ([name] if before else [])
        assert before is None or file.read_bytes() == before
    WRITERS[name](link)
    assert link.is_symlink()
    assert file.stat().st_size > 0
    assert file.read_bytes() != b"before"
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_checkpoint_is_whole_or_as_it_was(tmp_path):
    folder = tmp_path / "best"
    for text in ("1", "2"):
        with whole_folder(folder) as new:
            (new / "model").write_text(text)
    with pytest.raises(OSError, match="best"), full_disk(), whole_folder(folder) as new:
        (new / "model").write_text("3")
    assert [one.name for one in tmp_path.iterdir()] == ["best"]
    assert (folder / "model").read_text() == "2"


def test_new_files_have_the_mode_of_the_umask(tmp_path):
    before = os.umask(0o027)
    try:
        write_file(tmp_path / "text", "text")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "text").stat().st_mode) == 0o640


def test_an_error_within_leaves_no_file(tmp_path):
    def interrupted():
        with whole_file(tmp_path / "text") as new:
            new.write_text("half")
            raise KeyboardInterrupt

    pytest.raises(KeyboardInterrupt, interrupted)
    assert list(tmp_path.iterdir()) == []


def test_errors_of_other_files_keep_their_names(tmp_path):
    with pytest.raises(OSError, match="other"), whole_file(tmp_path / "text"):
        raise OSError(errno.ENOSPC, "full", "other")


@pytest.mark.parametrize("make", [Path.mkdir, lambda file: file.symlink_to("/dev/zero")])
def test_folders_and_devices_are_refused(tmp_path, make, capsys):
    file = tmp_path / "rows.csv"
    make(file)
    for write in (write_file, lambda file, text: check_output(file)):
        with pytest.raises(OSError, match=r"found a (folder|device), expected a file, a pipe or"):
            write(file, "text")
    assert run(["list", "--csv", str(file)]) == 2
    assert "cannot be written (" in capsys.readouterr().err


def test_a_pipe_gets_what_is_written_if_it_is_read(tmp_path):
    file = tmp_path / "pipe"
    os.mkfifo(file)
    check_output(file)
    with pytest.raises(OSError, match="pipe: found a pipe without a reader, expected a reader"):
        write_file(file, "text")
    reader = os.open(file, os.O_RDONLY | os.O_NONBLOCK)
    write_file(file, "text")
    assert os.read(reader, 100) == b"text"
    os.close(reader)


def test_standard_streams_are_written_as_they_are(run_python, tmp_path):
    code = "import sys; from vigym.files import write_file; print('one'); "
    code += "write_file('/dev/stdout', 'two\\n'); write_file('/dev/null', 'x'); print('three')"
    assert run_python(code).stdout == "one\ntwo\nthree\n"
    with (tmp_path / "log").open("w") as log:
        import subprocess
        import sys

        subprocess.run([sys.executable, "-c", code], stdout=log, check=True)
    assert (tmp_path / "log").read_text() == "one\ntwo\nthree\n"


def test_a_file_that_may_not_be_written_stays(tmp_path, monkeypatch):
    file = tmp_path / "text"
    file.write_text("before")
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may write all
    with pytest.raises(PermissionError, match="text"):
        write_file(file, "after")
    assert file.read_text() == "before"


def test_long_names_and_missing_folders(tmp_path):
    write_file(tmp_path / ("n" * 255), "text")
    with pytest.raises(FileNotFoundError, match="missing/text"):
        write_file(tmp_path / "missing" / "text", "text")
