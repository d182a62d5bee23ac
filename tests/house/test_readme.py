"""The README and the pages beside it: programs run, tables name what is there, links lead on."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import vigym
from vigym import assets
from vigym.envs.registry import ENVIRONMENTS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text(encoding="utf-8") for page in PAGES}
LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "tests" / "benchmarks" / "RESULTS.md"]
README_LINES = 200
PROGRAMS = {  # but for files that commands read
    name: re.findall(r"(?<!-->\n)```python\n(.*?)```", text, re.DOTALL)
    for name, text in TEXTS.items()
}
Space = dict[str, Any]


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= README_LINES


def check_readme(space: Space) -> None:
    assert space["picture"].shape == (480, 640, 3)


def check_environments(space: Space) -> None:
    assert len(space["observations"]) == 64
    assert space["envs"].unwrapped.task.terrain_level == 0.5
    space["env"].reset(seed=0)
    assert len(set(space["env"].unwrapped.sim.parameters.by_name["mass"].values())) > 1


def check_pictures(space: Space) -> None:
    assert space["colours"].shape[:2] == space["depths"].shape
    assert space["drawn"].shape == (240, 320, 3)
    assert space["seeing"].observation_space.contains(space["seeing"].reset()[0])
    assert space["watched"].reset()[0].shape == (4, 84, 84, 3)


def check_mechanisms(space: Space) -> None:
    assert isinstance(space["sim"], vigym.Simulator)
    assert space["sim"].time == pytest.approx(1.0)
    assert isinstance(space["robot"], vigym.Mechanism)
    assert space["robot"].degrees_of_freedom == 1
    assert np.ptp(space["many"].joint_positions) > 0.1
    assert space["sliding"].constraint_residual() <= 1e-10
    assert space["moving"].body_velocity("second")[0] == pytest.approx(2.0)
    assert space["moving"].forces.velocity_constraints == pytest.approx([-2.0])
    assert space["rolling"].energy().total == pytest.approx(space["before"], abs=0.01)


def check_controllers(space: Space) -> None:
    assert space["balanced"]
    assert len(space["scores"].rows) == 5


def check_baselines(space: Space) -> None:
    assert space["method"].time == pytest.approx(1.0)


def check_contact(space: Space) -> None:
    assert space["fall"].metrics()["penetration"] <= 1e-6


def check_loops(space: Space) -> None:
    four_bar = space["four_bar"]
    assert (four_bar.degrees_of_freedom, four_bar.redundant_constraints) == (1, 3)


def check_dynamics(space: Space) -> None:
    """Say whether the hand is where the page says."""
    assert abs(space["offset"]).max() < 1e-6


def check_mujoco(space: Space) -> None:
    assert space["status"].converged
    assert space["env"].observation_space.contains(space["observation"])
    assert space["hopper"].observation_space.shape == (12,)
    assert space["cheetahs"].observation_space.shape == (16, 17)


def check_questions(space: Space) -> None:
    """Say whether observations are stacked, states restored, and rewards those of one's own."""
    assert space["history"].shape == (3, 35)
    assert (space["histories"].shape, space["histories"].dtype) == ((2, 3, 35), np.float32)
    assert space["M"].shape == (3, 3)
    np.testing.assert_array_equal(space["sim"].state, space["saved"])
    assert space["low"] < 0.0


def check_scaling(space: Space) -> None:
    assert space["rewards"].shape == (64,)
    assert space["envs"].closed


def check_training(space: Space) -> None:
    """Say whether the policy is that of its card, and the step was solved."""
    assert space["policy"].card["evaluation"]["mean_return"] > 200.0
    assert space["info"]["solver_converged"]


# page: number of its programs, and what they have to show
CHECKS: dict[str, tuple[int, Callable[[Space], None]]] = {
    "README.md": (1, check_readme),
    "docs/baselines.md": (2, check_baselines),
    "docs/coming_from_mujoco.md": (2, check_mujoco),
    "docs/contact.md": (2, check_contact),
    "docs/controllers.md": (2, check_controllers),
    "docs/dynamics.md": (1, check_dynamics),
    "docs/environments.md": (9, check_environments),
    "docs/loops.md": (1, check_loops),
    "docs/mechanisms.md": (5, check_mechanisms),
    "docs/pictures.md": (3, check_pictures),
    "docs/questions.md": (12, check_questions),
    "docs/scaling.md": (1, check_scaling),
    "docs/training.md": (3, check_training),
}


def test_pages_with_programs_are_checked() -> None:
    assert sorted(name for name, found in PROGRAMS.items() if found) == sorted(CHECKS)


@pytest.mark.parametrize("name", CHECKS)
def test_the_programs_of_a_page_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, check = CHECKS[name]
    if check is check_mujoco:
        pytest.importorskip("mujoco")
    shutil.copy(assets.path("pendulum"), tmp_path / "robot.urdf")
    monkeypatch.chdir(tmp_path)
    space: Space = {"__name__": "__main__"}  # as a script
    assert len(PROGRAMS[name]) == count
    for program in PROGRAMS[name]:
        exec(compile(program, name, "exec"), space)
    check(space)


def command(line: str) -> str:
    """Run a command of the README in the checkout and return what it prints."""
    words = [sys.executable, "-m", *line.split()]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def alike(found: str, shown: str) -> bool:
    """Return whether two words are the same, or numbers that are nearly so: machines differ."""
    try:
        return float(found) == pytest.approx(float(shown), rel=0.05, abs=0.01)
    except ValueError:
        return found == shown


# Lines that differ between machines: times, the step that rounding makes hardest, and what is installed.
OF_THE_MACHINE = ("environment speed", "solver iterations, largest", "read by")

TRANSCRIPTS = re.findall(r"```console\n\$ (.*?)```", "\n".join(TEXTS.values()), re.DOTALL)


@pytest.mark.parametrize("transcript", TRANSCRIPTS, ids=lambda text: text.split()[1])
def test_its_transcripts_are_what_the_commands_print(transcript: str) -> None:
    line, _, shown = transcript.partition("\n")
    found = command(line)
    for now, then in zip(found.split("\n"), shown.split("\n"), strict=True):
        if not then.lstrip().startswith(OF_THE_MACHINE):
            pairs = list(zip(now.split(), then.split(), strict=True))
            assert all(alike(*pair) for pair in pairs), (now, then)


# command: options that make it short; they come last and count
SHORT = {
    "train": "--timesteps 2048 -P n_envs=16 -P n_steps=64 --episodes 2 -o max_episode_steps=100 --no-video",
    "evaluate": "-n 2 -o max_episode_steps=100",
    "record": "--seconds 0.5",
}


def section(title: str) -> str:
    """Return a section of the README."""
    (found,) = re.findall(rf"^## {title}\n(.*?)^## ", README, re.DOTALL | re.MULTILINE)
    return found


def run_commands(text: str, folder: Path) -> dict[str, str]:
    """Save the files of a text and run its commands in order, cut short.

    Returns what each command line printed.
    """
    for name, content in re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", text, re.DOTALL):
        (folder / name).write_text(content)
    (folder / "assets").symlink_to(ROOT / "assets")
    lines = "".join(re.findall(r"<!-- run -->\n```bash\n(.*?)```", text, re.DOTALL)).splitlines()
    said = {}
    for line in lines:
        assert line.startswith("vigym ")
        words = line.split()
        words = [sys.executable, "-m", *words, *SHORT.get(words[1], "").split()]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, (line, done.stderr)
        said[line] = done.stdout
    assert len(lines) == len(said)
    return said


def made(folder: Path) -> set[str]:
    """Return the names of the files in a folder that are no smaller than a picture."""
    return {file.name for file in folder.iterdir() if file.stat().st_size > 5000}


def test_the_five_minutes_run(tmp_path: Path) -> None:
    said = run_commands(section("Five minutes"), tmp_path)
    assert len(said) == 5
    assert {"trot.mp4", "trained.mp4", "pendulum.png"} <= made(tmp_path)


def test_a_file_becomes_a_trained_robot(tmp_path: Path) -> None:
    """The page goes on with the policy that the README trains."""
    said = run_commands(section("A robot of your own") + TEXTS["docs/robots.md"], tmp_path)
    assert len(said) == 8
    (scores,) = [text for line, text in said.items() if "evaluate" in line]
    assert "return" in scores
    (inspected,) = [text for line, text in said.items() if "inspect arm.urdf" in line]
    assert "degrees of freedom 1, redundant constraints 3" in inspected
    assert {"stand.mp4", "walk.mp4", "arm.png", "arm.mp4"} <= made(tmp_path)
    for name in ("walk", "pace"):
        assert {"best", "curve.png", "results.json"} <= {
            path.name for path in (tmp_path / "runs" / name).iterdir()
        }


def test_a_task_of_one_file_is_an_environment(tmp_path: Path) -> None:
    (scores,) = run_commands(TEXTS["docs/tasks.md"], tmp_path).values()
    assert "me/Positioner-v0" in scores


def test_its_table_has_every_environment_and_no_other() -> None:
    assert re.findall(r"^\| \[`(vigym/\S+)`\]", README, re.MULTILINE) == [
        entry.id for entry in ENVIRONMENTS
    ]


@pytest.mark.parametrize("name", ["train", "test"])
def test_its_commands_can_be_found(name: str) -> None:
    """The continuous integration runs what stands below these marks."""
    assert re.search(rf"^<!-- command: {name} -->\n```bash\n\S[^\n]*\n```$", README, re.MULTILINE)


@pytest.mark.parametrize("page", LINKED, ids=lambda page: page.name)
def test_what_a_page_points_to_exists(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    scripts = re.findall(r"python ((?:train|tests|examples)/\S+\.py)", text)
    links = re.findall(r"\]\((?!http|#)([^)#]+)", text)
    assert [script for script in scripts if not (ROOT / script).is_file()] == []
    assert [link for link in links if not (page.parent / link).is_file()] == []


def test_headings_that_links_name_exist() -> None:
    for page in LINKED:
        for target, heading in re.findall(
            r"\]\((?!http)([^)#]*)#([^)]+)\)", page.read_text("utf-8")
        ):
            text = (page.parent / target if target else page).read_text(encoding="utf-8")
            headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
            slugs = {re.sub(r"[^\w -]", "", name).lower().replace(" ", "-") for name in headings}
            assert heading in slugs, (page.name, target, heading)
