"""The command line as a person meets it: good and bad input, what it prints, writes and returns."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import pytest
from PIL import Image, ImageSequence
from rich.console import Console

from scenes.command_line import said, table
from scenes.env_cases import OF_FILES
from vigym import assets
from vigym.cli import warmup
from vigym.cli.app import COMMANDS, run
from vigym.core.tables.features import FEATURE_SETS
from vigym.envs.registry import ENVIRONMENTS
from vigym.simulation.compile.model import build_model
from vigym.simulation.state.batch import LaneGroups

ROOT = Path(__file__).resolve().parents[2]
LONG = "a" * 300  # of no file: names have at most 255 letters
FOUR_BAR = str(assets.path("four_bar"))


def fresh(*arguments, **settings):
    """Run `python -m vigym` in a new process."""
    command = [sys.executable, "-m", "vigym", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **settings)


def test_list_names_every_environment(capsys):
    out = said(capsys, "list")
    for entry in ENVIRONMENTS:
        assert entry.id in out
    (minitaur,) = [
        line for line in out.splitlines() if line.strip().startswith("vigym/Minitaur-v0")
    ]
    assert minitaur.endswith("trot bound pronk trained")
    rows = json.loads(said(capsys, "list", "--json", "-"))
    assert [row["id"] for row in rows] == [entry.id for entry in ENVIRONMENTS]
    assert rows[0]["steps"] == ENVIRONMENTS[0].max_episode_steps


def test_inspect_loads_neither_numba_nor_kernels_and_draws(tmp_path, run_python):
    picture = tmp_path / "four_bar.png"
    code = (
        "import sys; from vigym.cli.app import run; "
        f"code = run(['inspect', {FOUR_BAR!r}]); "
        "print([name for name in ('numba', 'vigym.core', 'matplotlib') if name in sys.modules], code)"
    )
    done = run_python(code)
    assert done.stdout.splitlines()[-1] == "[] 0", done.stderr
    assert fresh("inspect", FOUR_BAR, "--plot", picture).returncode == 0
    assert picture.stat().st_size > 20_000


def test_evaluate_compares_and_writes(capsys, tmp_path):
    files = {ending: tmp_path / f"scores.{ending}" for ending in ("csv", "json", "png")}
    out = said(capsys, "evaluate", "vigym/Pendulum-v0", "-c", "random", "-c", "zero", "-n", 3, "--seed", 7,
               "--csv", files["csv"], "--json", files["json"], "--plot", files["png"])  # fmt: skip
    assert out.startswith("vigym/Pendulum-v0, seeds 7 to 9\n")
    cells = {row[0].strip(): row[1:] for row in table(out, "vigym/Pendulum-v0")}
    assert [cell.strip() for cell in cells["solver failures"]] == ["0", "0"]
    rows = list(csv.DictReader(files["csv"].open()))
    assert [(row["controller"], row["seed"]) for row in rows] == [
        (c, s) for c in ("random", "zero") for s in "789"
    ]
    content = json.loads(files["json"].read_text())
    returns = [float(row["return"]) for row in rows[:3]]
    assert content["controllers"][0]["summary"]["return"]["mean"] == pytest.approx(sum(returns) / 3)
    assert [row["return"] for row in content["controllers"][0]["episodes"]] == returns
    assert files["png"].stat().st_size > 20_000


def test_evaluate_to_standard_output_prints_nothing_else(capsys):
    out = said(
        capsys, "evaluate", "vigym/Snake-v0", "-c", "zero", "-n", 1, "-o", "links=3", "--json", "-"
    )
    assert json.loads(out)["options"] == {"links": 3}
    out = said(capsys, "evaluate", "vigym/Snake-v0", "-c", "zero", "-n", 2, "--csv", "-")
    assert len(list(csv.DictReader(out.splitlines()))) == 2


def test_films_are_named_after_the_controllers(capsys, tmp_path):
    small = "-o", "width=32", "-o", "height=32", "-o", "frame_skip=150"
    said(capsys, "record", "vigym/Pendulum-v0", *small, "--file", tmp_path / "one.mp4")
    said(capsys, "evaluate", "vigym/Pendulum-v0", *small, "-n", 1, "-c", "zero", "-c", "random",
         "--video", tmp_path / "many.mp4")  # fmt: skip
    assert {path.name for path in tmp_path.iterdir()} == {
        "one.mp4",
        "many-zero.mp4",
        "many-random.mp4",
    }


def test_steps_that_cannot_be_made_are_told_and_give_an_exit_code_of_their_own(capsys, tmp_path):
    arguments = ["vigym/Pendulum-v0", "-c", "random", "-o", "timestep=100.0"]
    assert (
        run(["evaluate", *arguments, "-c", "zero", "-n", "3", "--json", str(tmp_path / "s.json")])
        == 3
    )
    out, err = capsys.readouterr()
    scores = json.loads((tmp_path / "s.json").read_text())["controllers"]
    lost = [sum(row["unconverged_steps"] > 0 for row in one["episodes"]) for one in scores]
    assert all(lost)
    told = "{}: the solver did not converge in {} of 3 episodes"
    expected = [
        f"vigym evaluate: {told.format(*row)}" for row in zip(("random", "zero"), lost, strict=True)
    ]
    assert err.splitlines() == expected
    rows = [row for one in scores for row in one["episodes"] if row["unconverged_steps"]]
    assert all(row["failed"] and row["terminated"] for row in rows)
    assert "solver failures" in out
    film = tmp_path / "lost.mp4"
    assert run(["record", *arguments, "-f", str(film), "--no-shadow"]) == 3
    out, err = capsys.readouterr()
    assert (out, film.exists()) == (f"{film}\n", True)
    assert err == "vigym record: the video ends early: the solver did not converge\n"


@pytest.mark.parametrize("form", ["GIF", "WEBP"])
def test_a_film_may_be_a_moving_picture(form, capsys, tmp_path):
    small = "-o", "width=64", "-o", "height=48"
    film = tmp_path / f"swing.{form.lower()}"
    said(capsys, "record", "vigym/Pendulum-v0", *small, "--seconds", 1, "--video", film)
    with Image.open(film) as picture:
        assert (picture.format, picture.size, picture.info["loop"]) == (form, (64, 48), 0)
        durations = []
        for frame in ImageSequence.Iterator(picture):
            frame.load()
            durations.append(frame.info["duration"])
    # the start and 20 control steps of 50 ms; equal pictures may be one
    assert sum(durations) == 21 * 50
    assert len(durations) >= 15


def test_warmup_says_what_it_did(capsys):
    out = said(capsys, "warmup")
    rows = [[cell.strip() for cell in row[:2]] for row in table(out, "kernels")[:7]]
    kinds = [[kind, sim] for kind in ("trees", "loops", "contacts") for sim in ("one", "batch")]
    assert rows[:6] == kinds
    assert rows[6][0] == "pictures"
    assert "stored in" in out


@pytest.mark.parametrize(
    ("name", "batch"), [("trees", None), ("trees", 2), ("loops", None), ("loops", 2)]
)
def test_warmup_calls_every_kernel_of_a_simulator(name, batch, monkeypatch):
    called = set()
    call, derive = LaneGroups.call, LaneGroups.update_derived

    def noted(groups, kernel, *arguments, **options):
        called.add(kernel.py_func.__name__)
        return call(groups, kernel, *arguments, **options)

    def noted_derivation(groups):
        called.add("update_all_derived")
        derive(groups)

    monkeypatch.setattr(LaneGroups, "call", noted)
    monkeypatch.setattr(LaneGroups, "update_derived", noted_derivation)
    warmup._call_kernels(warmup._mechanisms(False)[name], batch, "float64")
    kernels = {"reset", "start", "step", "read", "constraint_forces", "update_all_derived"}
    assert called == kernels | ({"assemble"} if name == "loops" else set())


def test_warmup_has_the_kernels_of_all_environments():

    def features(mechanism):
        return LaneGroups(build_model(mechanism), None, 1, False, False).features

    assert [*map(features, warmup._mechanisms(True).values())] == [*FEATURE_SETS]
    usual = {*map(features, warmup._mechanisms(False).values())}
    for entry in ENVIRONMENTS:
        options = dict.fromkeys(OF_FILES.get(entry.id, {}), FOUR_BAR)
        env = gym.make(entry.id, **options).unwrapped
        assert features(env.mechanism) in usual, entry.id
        env.close()


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["inspct"], 2, "vigym: found 'inspct', did you mean 'inspect'? (vigym --help)"),
        (["inspect"], 2, "vigym inspect: Missing argument 'FILE'. (vigym inspect --help)"),
        (["inspect", "nowhere.urdf"], 2, "File 'nowhere.urdf' does not exist."),
        (["inspect", str(ROOT / "README.md")], 1, "README.md: "),
        (
            ["inspect", FOUR_BAR, "--plot", "picture.gif"],
            2,
            "expected a name that ends in .png or .svg or .pdf",
        ),
        (
            ["inspect", FOUR_BAR, "--plot", "nowhere/p.png"],
            2,
            "--plot: folder 'nowhere' does not exist",
        ),
        (
            ["evaluate", "vigym/Snke-v0", "-c", "zero"],
            1,
            "found 'vigym/Snke-v0', did you mean 'vigym/Snake-v0'?",
        ),
        (["record", "CartPole-v1"], 1, "environment 'CartPole-v1': found gymnasium.envs.classic"),
        (["view", "CartPole-v1"], 1, "expected an environment of vigym"),
        (["bench", "CartPole-v1"], 1, "found CartPoleEnv, expected an environment of vigym"),
        (["describe", "../mine:me/X-v0"], 1, "'../mine' is no name of a module; expected"),
        (["describe", "vigym/Snake-v0", "-o", "links=3", "-o", "links=4"], 2, "'links' twice"),
        (["describe", "CartPol-v1"], 1, "environment: found 'CartPol-v1', did you mean"),
        (["describe", "vigym/Snake-v0", "-o", "link=3"], 1, "found 'link', did you mean 'links'?"),
        (["evaluate", "vigym/Snake-v0", "-c", "trott"], 1, "controller: found 'trott'"),
        (
            ["evaluate", "vigym/Minitaur-v0", "-c", "trot,frequency=fast"],
            1,
            "frequency: found 'fast', expected a",
        ),
        (
            ["evaluate", "vigym/MinitaurLeg-v0", "-c", "hop,push=None"],
            1,
            "push: found None, expected a finite number",
        ),
        (
            ["evaluate", "vigym/Snake-v0", "-c", "skating,ramp=True"],
            1,
            "ramp: found True, expected a finite number",
        ),
        (
            ["evaluate", "vigym/Snake-v0", "-c", "lateral_undulation,step=x"],
            1,
            "step: found 'x', expected a finite",
        ),
        (
            ["evaluate", "vigym/Pendulum-v0", "-c", "pd,kp=True"],
            1,
            "kp: found True, expected numbers",
        ),
        (
            ["evaluate", "vigym/Pendulum-v0", "-c", "energy_swing_up,catch=x"],
            1,
            "catch: found 'x', expected a number",
        ),
        (
            ["evaluate", "vigym/Pendulum-v0", "-c", "energy_swing_up,balance=1"],
            1,
            "balance: found 1, expected a contr",
        ),
        (["evaluate", "vigym/Snake-v0", "-c", "zero", "-n", "0"], 2, "0 is not in the range x>=1"),
        (
            ["evaluate", "vigym/Snake-v0", "-c", "zero", "-o", "links"],
            2,
            "found 'links', expected name=value",
        ),
        (
            ["evaluate", "vigym/Snake-v0", "-c", "zero", "-o", "links=1"],
            1,
            "option links: found 1, expected",
        ),
        (
            ["evaluate", "vigym/Urdf-v0", "-c", "zero"],
            1,
            "environment 'vigym/Urdf-v0': options of Urdf: expected the option 'urdf'",
        ),
        (
            ["evaluate", "vigym/Snake-v0", "-c", "zero", "--csv", "-", "--json", "-"],
            2,
            "found '-' twice",
        ),
        (
            ["evaluate", "vigym/Snake-v0", "-c", "zero", "--csv", "/"],
            2,
            "--csv: '/' cannot be written",
        ),
        (
            ["evaluate", "vigym/Snake-v0", "-c", "zero", "--csv", "nowhere/s.csv"],
            2,
            "--csv: folder 'nowhere' does not exist",
        ),
        (
            ["record", "vigym/Snake-v0", "-f", "film.avi"],
            2,
            "expected a name that ends in .mp4 or .gif",
        ),
        (["record", "vigym/Snake-v0", "--seconds", "0"], 2, "found 0.0, expected a number"),
        (["record", "vigym/Snake-v0", "--seconds", "nan"], 2, "found nan, expected a number"),
        (["record", "vigym/Snake-v0", "-f", f"{LONG}.mp4"], 2, "expected the name of a file"),
        (["record", "vigym/Snake-v0", "-f", f"{LONG}/film.mp4"], 2, "does not exist"),
        (["evaluate", "vigym/Snake-v0", "-c", f"{LONG}.zip"], 1, "no readable file"),
    ],
)
def test_an_error_is_one_line_with_the_mend(
    arguments, code, message, capsys, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)  # no film of the reader's lies there
    monkeypatch.setattr("vigym.announce.KERNELS", ())  # nothing is said of those that compile
    assert run(arguments) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


@pytest.mark.parametrize("command", ["evaluate", "record", "view"])
@pytest.mark.parametrize("controller", ["zreo", "nothing.zip", "none.safetensors", "math:sine"])
def test_a_wrong_controller_is_told_before_kernels_compile(
    command, controller, capsys, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)  # no film of the reader's lies there

    def make_env(*args, **options):
        pytest.fail("made an environment, which compiles kernels")

    monkeypatch.setattr("vigym.evaluation.blocks.make_env", make_env)
    monkeypatch.setattr("vigym.evaluation.video.make_env", make_env)
    names = ["-c", "zero"] if command == "evaluate" else []
    assert run([command, "vigym/Pendulum-v0", *names, "-c", controller]) == 1
    assert controller in capsys.readouterr().err


def test_traceback_shows_where_an_error_comes_from():
    with pytest.raises(ValueError, match="did you mean"):
        run(["--traceback", "evaluate", "vigym/Snke-v0", "-c", "zero"])


def test_an_error_in_a_controller_of_ones_own_is_one_line_with_its_place(
    capsys, tmp_path, monkeypatch
):
    faulty = ["def breaks(observation, info):", "    raise RuntimeError('broken')", "", ""]
    faulty += ["def adds(observation, info):", "    return observation + observation[:2]"]
    (tmp_path / "faulty.py").write_text("\n".join(faulty) + "\n")
    (tmp_path / "open_end.py").write_text("act = (\n")
    monkeypatch.chdir(tmp_path)
    for name, message in (
        (
            "faulty:breaks",
            "vigym: RuntimeError: broken (faulty.py, line 2; vigym --traceback shows more)",
        ),
        ("faulty:adds", "(faulty.py, line 6; "),
        ("open_end:act", "(open_end.py, line 1)"),
    ):
        assert run(["evaluate", "vigym/Pendulum-v0", "-c", name, "-n", "1"]) == 1
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert message in err
    with pytest.raises(RuntimeError, match="broken"):
        run(["--traceback", "evaluate", "vigym/Pendulum-v0", "-c", "faulty:breaks", "-n", "1"])


@pytest.mark.parametrize("width", [80, 70, 60, 40])
def test_tables_fit_a_terminal_and_keep_words_whole_where_there_is_room(width, capsys, monkeypatch):
    monkeypatch.setattr("vigym.cli.output.console", lambda: Console(width=width, highlight=False))
    for arguments in (["list"], ["inspect", str(assets.path("minitaur"))]):
        out = said(capsys, *arguments)
        rows = [line for line in out.splitlines() if line.startswith(" ")]
        assert max(map(len, rows)) <= width
        if width == 80:
            assert "lateral_undulation" in out or "continuous" in out
            assert "SnakeSidewinding-v0 " in out or " front_left_upper_front " in out


def test_every_command_explains_itself_by_example(capsys):
    out = said(capsys, "--help")
    for name in COMMANDS:
        assert f"  {name} " in out
        assert f"vigym {name}" in said(capsys, name, "--help")
    assert run([]) == 2
    assert "Usage: vigym" in capsys.readouterr().err


def test_python_m_vigym_and_its_exit_codes(tmp_path):
    assert fresh("--version").stdout.startswith("vigym, version ")
    wrong = fresh("evaluate", "vigym/Nothing-v0", "-c", "zero")
    assert (wrong.returncode, wrong.stdout) == (1, "")
    assert fresh("lst").returncode == 2


def test_without_its_libraries_it_says_what_to_install(run_python):
    code = (
        "import sys, importlib.util as u; find = u.find_spec\n"
        "u.find_spec = lambda name, *more: None if name in ('click', 'rich') else find(name, *more)\n"
        "import vigym.__main__ as m; sys.exit(m.main())"
    )
    done = run_python(code)
    assert done.returncode == 1
    assert done.stderr.startswith(
        "vigym: found no click and rich, which the command line needs: pip install click rich"
    )
    assert done.stderr.count("\n") == 1
