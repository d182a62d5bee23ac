"""Comparison of methods, in Python and as a command."""

import json

import numpy as np
import pytest
from matplotlib.figure import Figure

from scenes.chains import rod_chain
from scenes.command_line import said, table
from scenes.linkages import four_bar
from vigym import Mechanism, MechanismError, assets
from vigym.baselines import METHODS
from vigym.baselines.compare import Setting, able_methods, bare, compare, energy_takers, left_out
from vigym.cli.app import run

ACROBOT = assets.path("acrobot")
FOUR_BAR = assets.path("four_bar")


def test_all_methods_run_on_a_chain_from_one_start():
    setting = Setting(0.01, 0.1, positions=np.array([1.0, 0.5]))
    runs = compare(rod_chain(2), None, setting)
    assert [each.method for each in runs][0] == "vigym"
    assert {each.method for each in runs} == set(METHODS)
    for each in runs:
        assert each.steps == 10
        assert each.failure is None
        assert each.times == pytest.approx(np.linspace(0.0, 0.1, 11))
        assert each.energies[0] == 0.0
        assert set(each.row()) >= {"method", "order", "energy_error_J", "gap", "iterations"}


def test_a_step_that_fails_ends_the_run():
    start = {"velocities": np.array([20.0, -40.0, 30.0])}
    (found,) = compare(rod_chain(3), ["riqn"], Setting(0.3, 10.0, **start))
    assert found.steps < 33
    assert "found no solution" in found.failure


def test_methods_that_know_a_mechanism():
    assert able_methods(four_bar()) == ["vigym", "multipliers", "baumgarte", "ggl"]
    out = left_out(four_bar())
    assert list(out) == ["loop, joint 'close'"]
    assert set(out["loop, joint 'close'"]) == set(METHODS) - set(able_methods(four_bar()))


def test_a_bare_mechanism_has_joints_alone():
    mech = rod_chain(2)
    mech.add_contact("foot", "rod1", (0, 0, -0.5))
    mech.add_joint("close", "spherical", "world", "rod1", (0, 0, -2))
    mech.add_motor("hinge1", kp=1.0, effort=1.0)
    found = bare(mech)
    assert list(found.joints) == list(mech.joints)
    assert not found.contact_names
    assert not found.motors
    assert found.degrees_of_freedom == mech.degrees_of_freedom


def test_unknown_methods_and_times_are_refused():
    with pytest.raises(MechanismError, match="method: found 'euler', expected one of"):
        compare(rod_chain(1), ["euler"])
    with pytest.raises(MechanismError, match="seconds: found 0.0, expected a positive"):
        compare(rod_chain(1), ["rk4"], Setting(seconds=0.0))


def test_the_command_prints_a_table_and_tells_what_it_left_out(capsys):
    arguments = ("compare", FOUR_BAR, "--bare", "--seconds", "0.05")
    code = run([str(each) for each in arguments])
    out, err = capsys.readouterr()
    assert code == 0
    rows = table(out, "four_bar: bodies 3, joints 4")
    assert [row[0] for row in rows] == ["vigym", "multipliers", "baumgarte", "ggl"]
    assert "left out: " in err
    assert "(loop, joint 'tip')" in err


def test_the_command_writes_json_and_a_plot(capsys, tmp_path):
    plot = tmp_path / "energies.png"
    methods = ("-m", "vigym", "-m", "rk4", "--position", "shoulder=1.0", "--plot", plot)
    known = json.loads(
        said(capsys, "compare", ACROBOT, "--seconds", "0.1", *methods, "--json", "-")
    )
    assert [row["method"] for row in known["runs"]] == ["vigym", "rk4"]
    assert known["runs"][0]["steps"] == 10
    assert plot.stat().st_size > 10_000


def test_errors_that_overflow_do_not_stretch_the_axes_of_the_plot(capsys, tmp_path, monkeypatch):
    drawn = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *place, **more: drawn.append(figure))
    plot = ("--bare", "--seconds", "1", "--plot", tmp_path / "errors.png")
    methods = ("-m", "vigym", "-m", "multipliers")
    assert run(["compare", "vigym/FourBar-v0", *map(str, (*plot, *methods))]) == 3
    assert "'multipliers' at 0." in capsys.readouterr().err
    for ax in drawn[0].axes:
        least, most = ax.get_ylim()
        assert 1e-19 < least < most < 1e3
        kept, grown, cross = ax.lines
        assert max(kept.get_ydata()) < most
        assert max(grown.get_ydata()) > most
        assert (cross.get_marker(), cross.get_ydata()[0]) == ("x", most)
    labels = [text.get_text() for text in drawn[0].legends[0].get_texts()]
    assert labels == ["vigym", "multipliers, ended early (x)"]


def test_the_json_of_the_command_tells_what_was_left_out(capsys):
    text = said(capsys, "compare", FOUR_BAR, "--seconds", "0.02", "--json", "-")
    known = json.loads(text)
    assert [row["method"] for row in known["runs"]] == ["vigym"]
    assert known["left_out"]["joint damper, joint 'drive'"] == ["multipliers", "baumgarte", "ggl"]


def test_the_command_runs_a_method_once_and_takes_names_with_accents(capsys, tmp_path):
    file = tmp_path / "bras_élevé.urdf"
    text = ACROBOT.read_text(encoding="utf-8").replace("shoulder", "épaule")
    file.write_text(text.replace('<robot name="acrobot"', '<robot name="bras élevé"'), "utf-8")
    start = ("--position", "épaule=1.0", "--plot", tmp_path / "tracé.png")
    twice = ("-m", "rk4", "-m", "vigym", "-m", "rk4", "--seconds", "0.02")
    out = said(capsys, "compare", file, "--bare", *twice, *start)
    assert [row[0] for row in table(out, "bras élevé: bodies 2")] == ["rk4", "vigym"]


def test_the_command_takes_any_name_of_a_coordinate(capsys, tmp_path):
    mech = Mechanism(ground=False)
    for name in "abc":
        mech.add_body(name, 1.0, (1, 1, 1))
    mech.add_joint("p", "planar", "world", "a", (0, 0, 0), axis=(0, 1, 0))
    mech.add_joint("left hip", "continuous", "a", "b", (0, 0, 0))
    mech.add_joint("a=b", "continuous", "b", "c", (0, 0, 0))
    mech.to_urdf(tmp_path / "names.urdf")
    setting = ("--seconds", "0.02", "-m", "vigym")
    positions = ("--position", "p.x=0.5", "--position", "left hip=0.5", "--position", "a=b=1")
    velocities = ("--velocity", "p.angle=0.5", "--velocity", "left hip=-1e-1")
    said(capsys, "compare", tmp_path / "names.urdf", *setting, *positions, *velocities)


@pytest.mark.filterwarnings("error")
def test_energies_that_overflow_end_a_run_and_are_valid_json(capsys):
    """Euler's method with steps that are far too large, until squares of rates overflow."""
    setting = ("--bare", "--timestep", "0.5", "--seconds", "200", "-m", "explicit-euler")
    chain = assets.path("pendulum_chain")
    assert run(["compare", str(chain), *setting, "--json", "-"]) == 3
    (row,) = json.loads(capsys.readouterr().out)["runs"]
    assert "not finite" in row["failure"]
    assert np.isfinite(row["energy_error_J"])


def test_the_command_starts_environments_as_they_do(capsys):
    said(capsys, "compare", "vigym/Acrobot-v0", "--seconds", "0.02", "-m", "rk4", "-s", "3")


def test_what_takes_energy_is_told(capsys):
    told = "Energy errors contain what these take or give: "
    acrobot = said(capsys, "compare", ACROBOT, "--bare", "--seconds", "0.02", "-m", "rk4")
    assert told not in acrobot
    snake = said(capsys, "compare", "vigym/Snake-v0", "--seconds", "0.04", "-m", "vigym")
    assert f"{told}limits, contacts.\n" in snake
    mech = rod_chain(2)
    assert energy_takers(mech) == []
    mech.add_spring("spring", "world", "rod1", (0, 0, 1), (0, 0, 0), 1.0, 1.0)
    assert energy_takers(mech) == []
    mech.add_spring("damper", "world", "rod1", (0, 0, 1), (0, 0, 0), 1.0, 1.0, damping=1.0)
    mech.add_skate("blade", "rod0", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    assert energy_takers(mech) == ["dampers", "skates"]
    assert energy_takers(bare(mech)) == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ((FOUR_BAR, "-m", "rk4"), "method 'rk4': found joint"),
        (("none.urdf",), "found no file 'none.urdf', expected a URDF, MJCF or SDF file"),
        (
            ("a" * 300 + ".urdf",),
            "aaa...', expected a URDF, MJCF or SDF file",
        ),  # no file has so long a name
        (("a" * 300,), "found 'aaa"),
        ((FOUR_BAR, "-o", "seed=1"), "-o: found options of an environment beside a file"),
        ((ACROBOT, "-m", "rk4", "--tolerance", "-1"), "tolerance: found -1.0, expected a number"),
        ((ACROBOT, "-m", "riqn", "--tolerance", "nan"), "tolerance: found nan, expected a finite"),
        ((ACROBOT, "--position", "shoulder"), "found 'shoulder', expected name=value"),
        ((ACROBOT, "--velocity", "=1.0"), "found '=1.0', expected name=value"),
        ((ACROBOT, "--position", "left hip=1.0"), "positions: found 'left hip', expected names"),
        ((ACROBOT, "--position", "elbow=1", "--position", "elbow=2"), "found 'elbow' twice"),
        ((ACROBOT, "--plot", "x.txt"), "--plot: found 'x.txt', expected a name that ends in"),
    ],
)
def test_errors_of_the_command_are_one_line(arguments, text, capsys):
    assert run(["compare", *map(str, arguments)]) in (1, 2)
    error = capsys.readouterr().err
    assert text in error
    assert error.count("\n") == 1
