"""The README and the pages beside it: programs run, tables name what is there, links lead on."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vigym
from vigym import assets
from vigym.envs.registry import ENVIRONMENTS

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCS = [
    ROOT / "docs" / f"{name}.md" for name in ("mechanisms", "environments", "commands", "baselines")
]
PAGES = [ROOT / "README.md", *DOCS]
TEXT = "\n".join(
    page.read_text(encoding="utf-8") for page in PAGES
)  # programs go on from page to page
LINKED = [*PAGES, ROOT / "CONTRIBUTING.md", ROOT / "tests" / "benchmarks" / "RESULTS.md"]


def test_its_programs_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(assets.path("pendulum"), tmp_path / "robot.urdf")
    monkeypatch.chdir(tmp_path)
    space: dict[str, object] = {}
    programs = re.findall(r"(?<!-->\n)```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(programs) == 11
    for program in programs:
        exec(compile(program, "README.md", "exec"), space)

    sim = space["sim"]
    many = space["many"]
    robot = space["robot"]
    assert isinstance(sim, vigym.Simulator)
    assert isinstance(many, vigym.Simulator)
    assert isinstance(robot, vigym.Mechanism)
    assert sim.time == pytest.approx(1.0)
    assert np.ptp(many.joint_positions) > 0.1
    assert robot.degrees_of_freedom == 1
    assert space["envs"].num_envs == len(space["observations"]) == 64
    space["env"].reset(seed=0)
    assert len(set(space["env"].unwrapped.sim.parameters["mass"].values())) > 1
    assert space["seeing"].observation_space.contains(space["seeing"].reset()[0])
    assert space["watched"].reset()[0].shape == (4, 84, 84, 3)
    assert space["balanced"]
    assert space["fall"].metrics()["penetration"] <= 1e-6
    assert (space["four_bar"].degrees_of_freedom, space["four_bar"].redundant_constraints) == (1, 3)


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


@pytest.mark.parametrize("transcript", re.findall(r"```console\n\$ (.*?)```", TEXT, re.DOTALL))
def test_its_transcripts_are_what_the_commands_print(transcript: str) -> None:
    line, _, shown = transcript.partition("\n")
    found = command(line)
    for now, then in zip(found.split("\n"), shown.split("\n"), strict=True):
        # those of the machine, and of what is installed
        if not then.lstrip().startswith(("environment speed", "read by")):
            pairs = list(zip(now.split(), then.split(), strict=True))
            assert all(alike(*pair) for pair in pairs), (now, then)


SHORT = ("--timesteps", "2048", "-P", "n_envs=16", "-P", "n_steps=64", "--episodes", "2")


def run_section(title: str, folder: Path) -> dict[str, str]:
    """Save the files of a section and run its commands in order; training is cut short.

    Returns what each command line printed.
    """
    (section,) = re.findall(rf"^## {title}\n(.*?)^## ", README, re.DOTALL | re.MULTILINE)
    for name, text in re.findall(r"<!-- file: (\S+) -->\n```\w+\n(.*?)```", section, re.DOTALL):
        (folder / name).write_text(text)
    (folder / "assets").symlink_to(ROOT / "assets")
    lines = "".join(re.findall(r"<!-- run -->\n```bash\n(.*?)```", section, re.DOTALL)).splitlines()
    said = {}
    for line in lines:
        assert line.startswith("vigym ")
        more = (*SHORT, "--no-video") if line.startswith("vigym train") else ()
        words = [sys.executable, "-m", *line.split(), *more]
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, (line, done.stderr)
        said[line] = done.stdout
    assert len(lines) == len(said)
    return said


def made(folder: Path) -> set[str]:
    """Return the names of the files in a folder that are no smaller than a picture."""
    return {file.name for file in folder.iterdir() if file.stat().st_size > 5000}


def test_the_five_minutes_run(tmp_path: Path) -> None:
    said = run_section("Five minutes", tmp_path)
    assert len(said) == 7
    (inspected,) = [text for line, text in said.items() if "inspect arm.urdf" in line]
    assert "degrees of freedom 1, redundant constraints 3" in inspected
    assert {"trot.mp4", "pendulum.png", "arm.png", "arm.mp4"} <= made(tmp_path)


def test_a_file_becomes_a_trained_robot(tmp_path: Path) -> None:
    said = run_section("From a URDF file to a trained robot", tmp_path)
    assert len(said) == 6
    (scores,) = [text for line, text in said.items() if "evaluate" in line]
    assert "return" in scores
    assert {"stand.mp4", "walk.mp4"} <= made(tmp_path)
    for name in ("walk", "pace"):
        assert {"best", "curve.png", "results.json"} <= {
            path.name for path in (tmp_path / "runs" / name).iterdir()
        }


def test_its_table_has_every_environment_and_no_other() -> None:
    assert re.findall(r"^\| `(vigym/\S+)`", README, re.MULTILINE) == [
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
    assert links
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
