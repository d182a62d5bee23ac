"""Commands `describe` and `view`, the thresholds of `list`, and files that exist already."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from scenes.command_line import said, table
from vigym import assets
from vigym.cli.app import COMMANDS, run
from vigym.cli.evaluate import _video_paths
from vigym.envs.env import task_class
from vigym.envs.registry import ENVIRONMENTS
from vigym.render.errors import RenderError, WindowClosedError

FOUR_BAR = str(assets.path("four_bar"))


def test_files_are_replaced_only_if_asked_for(capsys, tmp_path):
    names = {
        "csv": ["evaluate", "vigym/Pendulum-v0", "-n", "1", "--csv"],
        "json": ["list", "--json"],
        "png": ["inspect", FOUR_BAR, "--plot"],
        "mp4": ["record", "vigym/Pendulum-v0", "-o", "width=32", "-o", "height=32", "--seconds", "0.1", "--video"],
    }  # fmt: skip
    for ending, arguments in names.items():
        file = tmp_path / f"kept.{ending}"
        file.write_text("mine")
        assert run([*arguments, str(file)]) == 2
        out, err = capsys.readouterr()
        assert (out, file.read_text()) == ("", "mine")
        assert (
            f"--{arguments[-1][2:]}: {str(file)!r} exists: give another name, or --overwrite" in err
        )
        said(capsys, *arguments, file, "--overwrite")
        assert file.read_bytes() != b"mine"


def test_no_help_says_that_a_robot_comes_from_urdf_alone():
    """Nor from a format whose name is not beside those of the others."""
    for name, (place, summary) in COMMANDS.items():
        module, _, attribute = place.partition(":")
        text = " ".join((summary, getattr(import_module(module), attribute).help))
        assert not re.search(r"\ba URDF file", text, re.IGNORECASE), name


def test_films_of_several_controllers_are_not_replaced_either(capsys, tmp_path):
    (tmp_path / "many-zero.mp4").write_text("mine")
    arguments = ["evaluate", "vigym/Pendulum-v0", "-n", "1", "-c", "zero", "-c", "random"]
    assert run([*arguments, "--video", str(tmp_path / "many.mp4")]) == 2
    assert "many-zero.mp4' exists" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["evaluate", "vigym/Pendulum-v0", "--csv", "a.out", "--json", "./a.out"], "csv json"),
        (["evaluate", "vigym/Pendulum-v0", "--csv", "b.png", "--plot", "b.png"], "csv plot"),
        (["list", "--csv", "a", "--json", "a", "--overwrite"], "csv json"),
        (["inspect", FOUR_BAR, "--json", "a.svg", "--plot", "a.svg"], "json plot"),
    ],
)
def test_a_file_is_of_one_option(arguments, options, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, list(tmp_path.iterdir())) == ("", [])
    assert "expected another file than that of --" in err
    assert all(f"--{option}" in err for option in options.split())
    said(capsys, "list", "--csv", "/dev/null", "--json", "/dev/null")


def test_films_of_controllers_with_equal_letters_have_numbers():
    names = ("pd,target=-1", "pd,target=+1", "pd-target--1", "zero", "zero")
    films = _video_paths(names, Path("films/up.gif"))
    stems = ["up-pd-target--1", "up-pd-target--1-2", "up-pd-target--1-3", "up-zero"]
    assert dict(zip(names, (Path(f"films/{stem}.gif") for stem in stems), strict=False)) == films


@pytest.mark.parametrize("limit", ["-1", "None"])
def test_episodes_without_an_end_are_refused(limit, capsys, tmp_path):
    arguments = ["vigym/Pendulum-v0", "-c", "zero", "-o", f"max_episode_steps={limit}"]
    assert run(["evaluate", *arguments, "-n", "1"]) == 1
    found = "'vigym/Pendulum-v0': found episodes without a limit, expected max_episode_steps above"
    assert found in capsys.readouterr().err
    if limit == "None":  # of one environment alone: its own limit
        return
    film = tmp_path / "film.mp4"
    arguments += ["-o", "width=32", "-o", "height=32", "--video", film]
    assert run(["record", *map(str, arguments)]) == 1
    assert f"{found} 0, or seconds of the video" in capsys.readouterr().err
    assert not film.exists()
    said(capsys, "record", *arguments, "--seconds", "0.1")


def test_output_survives_where_letters_are_missing_or_nobody_reads(tmp_path):
    def shell(line, **variables):
        command = f"{shlex.quote(sys.executable)} -m vigym {line}"
        known = os.environ | variables
        return subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120, env=known)  # fmt: skip

    short = "vigym/Pendulum-v0 -c zero -n 2 -o max_episode_steps=3"
    done = shell(f"evaluate {short}", PYTHONIOENCODING="ascii")
    assert (done.returncode, " ? " in done.stdout) == (0, True), done.stderr
    done = shell(f"inspect {FOUR_BAR}", PYTHONIOENCODING="ascii")
    assert (done.returncode, "[kg m?]" in done.stdout) == (0, True), done.stderr
    for line in ("list", "describe vigym/Snake-v0", f"evaluate {short}"):
        done = shell(f"{line} >&-")
        assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    done = shell(f"evaluate {short} --json - >&-")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "--json: found '-', but standard output is closed: name a file" in done.stderr


def test_list_names_steps_and_thresholds(capsys):
    rows = table(said(capsys, "list"), " id ")
    cells = {row[0]: row[2] for row in rows if len(row) > 2}
    assert cells["vigym/Minitaur-v0"].strip() == "1000, 15"
    assert cells["vigym/Urdf-v0"].strip() == "1000"


def test_describe_prints_the_page_of_every_environment(capsys):
    for entry in ENVIRONMENTS:
        page = said(capsys, "describe", entry.id)
        assert page.startswith(f"# {entry.id}\n\n{task_class(entry.task).__doc__.strip()}\n")
        assert f"- steps of an episode: {entry.max_episode_steps}\n" in page
    assert "- controllers: trot, bound, pronk" in said(capsys, "describe", "vigym/Minitaur-v0")


def test_describe_writes_for_machines(capsys):
    known = json.loads(said(capsys, "describe", "vigym/Snake-v0", "-o", "links=3", "--json", "-"))
    assert known["options"]["links"] == 9  # the default
    assert known["options"]["width"] == 640
    assert known["rewards"] == ["forward", "power"]
    assert known["actions"] == "Box(-1.0, 1.0, (2,), float32)"
    assert known["observation_names"][-1] == "velocity(joint2)"
    known = json.loads(said(capsys, "describe", "vigym/Urdf-v0", "--json", "-"))
    assert (known["options"]["urdf"], known["observations"]) == (None, None)
    known = json.loads(
        said(capsys, "describe", "vigym/Urdf-v0", "-o", f"urdf={FOUR_BAR}", "--json", "-")
    )
    assert known["observations"].startswith("Box(")


def test_describe_tells_of_tasks_without_a_page_and_of_other_packages(
    capsys, tmp_path, monkeypatch
):
    (tmp_path / "bare.py").write_text(BARE)
    monkeypatch.chdir(tmp_path)
    page = said(capsys, "describe", "bare:me/Bare-v0")
    assert page.startswith("# me/Bare-v0\n\nRod without a page.\n")
    assert "\n## Action Space\n\nBox(-1.0, 1.0, (1,), float32)\n" in page
    assert "\n- cos(angle)\n" in page
    assert "\n- `timestep`: 0.01\n" in page
    page = said(capsys, "describe", "CartPole-v1")
    assert "## Action Space" in page
    assert "- return that counts as solved: 475" in page


BARE = """
from vigym.envs.registry import Entry
from vigym.envs.tasks.pendulum import Pendulum

class Bare(Pendulum):
    "Rod without a page."

Entry("me/Bare-v0", Bare, 10).register()
"""


def test_a_file_stands_for_its_robot_in_every_command(capsys, tmp_path, monkeypatch):
    shutil.copy(FOUR_BAR, tmp_path / "arm.urdf")
    monkeypatch.chdir(tmp_path)
    known = json.loads(said(capsys, "describe", "arm.urdf", "--json", "-"))
    assert (known["id"], known["action_names"]) == ("vigym/Robot-v0", ["drive"])
    assert "- actions (1): drive\n- observations (12): cos(drive)" in said(
        capsys, "describe", "arm.urdf"
    )
    few = "-n", 1, "-o", "max_episode_steps=3"
    assert said(capsys, "evaluate", "arm.urdf", *few).startswith("arm.urdf, seed 0\n")
    by_id = "evaluate", "vigym/Urdf-v0", "-o", "urdf=arm.urdf"
    scores = [said(capsys, *line, *few, "--csv", "-") for line in (by_id, ("evaluate", "arm.urdf"))]
    assert scores[0] == scores[1]
    small = "-o", "width=32", "-o", "height=32", "--seconds", 0.1
    said(capsys, "record", "arm.urdf", *small, "--video", "arm.gif")
    assert (tmp_path / "arm.gif").stat().st_size > 0
    assert "vigym/Robot-v0" in said(capsys, "bench", "arm.urdf", "-e", 1, "--repeats", 1)


@pytest.mark.parametrize("command", ["describe", "evaluate", "record", "view", "bench", "train"])
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.urdf"], "found no file 'none.urdf', expected a URDF, MJCF or SDF file"),
        ([FOUR_BAR, "-o", "robot=b.urdf"], "option robot: found 'b.urdf', expected none beside"),
        ([FOUR_BAR, "-o", "urdf=b.urdf"], "option urdf: found 'b.urdf', expected none beside the"),
    ],
    ids=["none", "two", "two by another option"],
)
def test_a_file_that_is_none_and_two_files_are_refused(
    command, arguments, message, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)  # no film of the reader's lies there
    if command == "train":
        pytest.importorskip("stable_baselines3", reason="needs vigym[train]")
    assert run([command, *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "option"),
    [
        (["view", "vigym/Pendulum-v0"], "render_mode='human'"),
        (["evaluate", "vigym/Pendulum-v0"], "num_envs=3"),
        (["evaluate", "vigym/Pendulum-v0"], "disable_env_checker=True"),
        (["describe", "vigym/Pendulum-v0"], "task='x'"),
    ],
)
def test_options_that_a_command_sets_are_refused(arguments, option, capsys):
    assert run([*arguments, "-o", option]) == 1
    found = option.replace("=", ": found ")
    assert f"option {found}, expected none: it is fixed here" in capsys.readouterr().err


def test_the_shadow_may_be_an_option_too(capsys, monkeypatch, tmp_path):
    given = []
    record = lambda *arguments, **more: given.append(arguments[4]) or True  # noqa: E731
    monkeypatch.setattr("vigym.evaluation.video.record_video", record)
    line = "record", "vigym/Pendulum-v0", "--video", tmp_path / "a.mp4"
    said(capsys, *line, "-o", "shadow=False")
    said(capsys, *line, "--no-shadow")
    said(capsys, *line)
    assert [options["shadow"] for options in given] == [False, False, True]


def test_view_shows_episodes_and_ends(capsys, monkeypatch):
    shown = []

    class Screen:
        def render(self, positions, orientations, marks=None):
            shown.append(positions)

        def close(self):
            shown.append("closed")

    modes = []

    def make_screen(mechanism, mode, **settings):
        modes.append(mode)
        return Screen()

    monkeypatch.setattr("vigym.render.make.make_renderer", make_screen)
    arguments = "view", "vigym/Pendulum-v0", "-c", "zero", "-n", 2, "-s", 5, "-o", "frame_skip=150"
    out = said(capsys, *arguments)
    lines = out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["seed 5", "seed 6"]
    assert all(line.endswith(" in 300 steps") for line in lines)
    assert len(shown) == 2 * 301 + 1
    assert shown[-1] == "closed"
    said(capsys, *arguments[:5], 1, "--window")
    assert modes == ["browser", "human"]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (KeyboardInterrupt(), 0),
        (WindowClosedError(), 0),
        (RenderError("no display"), 1),
    ],
    ids=["interrupt", "closed", "none"],
)
def test_view_ends_with_the_user(error, code, capsys, monkeypatch):
    def fail(*arguments, **settings):
        raise error

    monkeypatch.setattr("vigym.render.make.make_renderer", fail)
    assert run(["view", "vigym/Pendulum-v0"]) == code
    assert capsys.readouterr().err == ("vigym: view: no display\n" if code else "") or code == 0
