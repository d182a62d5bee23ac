"""Every figure of the papers is drawn in a small setting, and shows its law."""

import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "examples" / "papers"
FILES = sorted(FOLDER.glob("[!_]*.py"))
PAGE = ROOT / "docs" / "figures.md"
LINES = 160
BYTES = 1_500_000  # of all pictures of the page


def load(name):
    spec = spec_from_file_location(name, FOLDER / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def check_mc_4_properties(module, found):
    assert abs(found["vigym: mean error of the last tenth [J]"]) < 0.02
    assert found["heun: mean error of the last tenth [J]"] > 0.03
    assert found["vigym: gap at the end [m]"] < 1e-10
    assert found["rows of accelerations: gap at the end [m]"] > 1e-6
    for count in (1, 10, 100):
        residuals = np.array(found[f"{count} links: residuals"])
        assert (residuals[1:3] < 1e-3 * residuals[:2]).all()
        assert residuals[-1] < 1e-13


@pytest.mark.usefixtures("paper_scripts")
def test_sparse_and_dense_systems_have_one_solution():
    """The sparse system of panel c is the dense one."""
    from vigym.baselines import Multipliers, sparse

    module = load("mc_4_properties")
    method = Multipliers(module.chain(4, 1.0))
    method.step()
    blocks = method.system.H
    z = np.where(np.arange(6) < blocks.size[:, None], 1.0, 0.0)
    solution = sparse.sparse_solve(sparse.sparse_factor(blocks), z)
    flat = np.concatenate([x[:n] for x, n in zip(solution, blocks.size, strict=True)])
    matrix = module.dense(blocks)
    expected = np.linalg.solve(matrix, np.ones(len(matrix)))
    # rounding: factors without pivots lose the square of the condition at most
    allowed = np.finfo(float).eps * np.linalg.cond(matrix) ** 2 * np.abs(expected).max()
    assert np.abs(flat - expected).max() < allowed


def check_mc_5_pendulums(module, found):
    assert set(map(len, found.values())) == {len(module.LINKS["quick"])}
    method = module.explicit(4, "spherical", True, 1e-3)
    start = method.energy().total
    module.make(method, 0.5)
    product = module.Product(module.linkage(module.arc(4), "spherical", True), 1e-3)
    module.make(product, 0.5)
    assert method.energy().total == pytest.approx(start, abs=1e-6)
    # a step of second order: 1e-6 of its square, times the chain's few turns a second
    np.testing.assert_allclose(method.positions, product.positions, atol=1e-4)
    assert method.gap() < 1e-6


def check_mc_6_segments(module, found):
    for _, _, iterations, error, gap, _ in found:
        assert iterations < 10
        assert error < 0.2
        assert gap < 1e-10
    assert all("fails" in row[-1] for row in found)


def check_mc_8_tolerances(module, found):
    failed = {key for key, (_, _, step) in found.items() if step is not None}
    assert failed
    assert all((name, count, t) != ("vigym", count, t) for name, count, t in failed)
    assert all((count, t) == (50, 1e-10) for _, count, t in failed)
    for name in ("riqn", "third-order"):
        loose, tight = (found[name, 10, t][0] for t in (1e-6, 1e-10))
        assert loose < tight


def check_sim_7_accuracy(module, found):
    assert found["vigym: gap at the end [m]"] < 1e-10 < found["Runge-Kutta 4: gap at the end [m]"]
    assert found["heun: mean error of the last tenth [J]"] > 0.01
    euler = found["explicit-euler: largest energy error [J]"]
    assert 10.0 * found["vigym: largest energy error [J]"] < euler
    assert abs(found["vigym: lowest height [mm]"]) < 1e-3
    if "MuJoCo: lowest height [mm]" in found:
        assert found["MuJoCo: lowest height [mm]"] < -1.0


def check_sim_8_spheres(module, found):
    for _, iterations, depths in found.values():
        assert iterations[-1] < 1.5 * iterations[0]
        assert max(depths) < 1e-8


def check_sim_9_graphs(module, found):
    assert [len(times) for times in found.values()] == [2, 2, 1]
    mech = module.lattice((3, 3))
    local, tail = (module.vigym.Simulator(mech, module.STEP, loops=s) for s in ("local", "tail"))
    for sim in (local, tail):
        sim.step(substeps=10)
        assert sim.constraint_residual() < 1e-10
    # both solve the equations to 1e-10, of rates of 1 m/s
    np.testing.assert_allclose(local.joint_velocities, tail.joint_velocities, atol=1e-8)


def check_sim_11_small_steps(module, found):
    steps = module.STEPS["quick"]
    for iterations, errors, drifts in found.values():
        assert max(iterations) < 10
        assert errors[-1] < 1e-9
        orders = np.diff(np.log(drifts)) / np.diff(np.log(steps))
        np.testing.assert_allclose(orders, 2.0, atol=0.1)
    large, *others = (np.array(columns) for columns in found.values())
    for other in others:  # all quantities go with the scale
        np.testing.assert_allclose(other, large, rtol=1e-3, atol=1e-9)


def check_sim_12_double_four_bar(module, found):
    ours, theirs = found["vigym", 0.01], found["ggl", 0.01]
    assert ours[3] == pytest.approx(theirs[3], abs=1e-2)
    for largest, _, gap, angle in (ours, theirs):
        assert largest < 0.05
        assert gap < 1e-9
        assert angle > 4.0  # past the pose where all bars are in line


def check_sim_13_quadruped(module, found):
    (ways,) = found
    assert len(ways) == module.EPISODES["quick"]
    assert (np.diff(ways) >= 0.0).all()
    assert ways[-1] > 5.0


def check_sim_14_exoskeleton(module, found):
    comfortable = {key for key, (torque, _) in found.items() if torque <= module.LIMIT}
    assert set(found) - comfortable == {("original", "spastic")}


def check_bar_table(module, found):
    gaps = {name: values for name, *values in found["drift"]}
    assert gaps["multipliers"][0] < gaps["multipliers"][-1]
    assert max(gaps["baumgarte"]) < 1e-6
    assert max(gaps["vigym"]) < 1e-10
    assert [row[1] for row in found["systems"]] == ["108 + 0", "96 + 12", "96 + 3"]
    assert max(row[-2] for row in found["systems"]) < 1e-10


def check_lee_chain(module, found):
    error = "mean energy error of the last tenth [J]"
    assert abs(found[f"riqn: {error}"]) < 0.1 * abs(found[f"semi-implicit-euler: {error}"])
    assert found["10 links: dense - DRNEA, relative"] < 1e-12
    newton, riqn = (found[f"{name}: mean evaluations of a step"] for name in ("newton", "riqn"))
    assert newton == pytest.approx(4.0, abs=0.5)
    assert riqn == pytest.approx(5.7, abs=1.2)


def check_si_table(module, found):
    """Accelerations are compared with Pinocchio's, and with those of multipliers, on the way."""
    assert set(module.NAMES[:3]) <= set(found)
    tori = module.cases("quick")[-1]
    assert tori.tree.dofs == 10
    q, rates = tori.q + 0.1, np.linspace(-0.5, 0.5, 10)
    away = module.difference_to_multipliers(tori.mechanism, tori.tree, q, rates)
    assert away < 1e-6  # differences over 20 us: rounding, 1e-16 / 1e-5, and 1e-10 of third order


def check_si_surfaces(module, found):
    freedoms = {row[0]: row[1] for row in found}
    assert freedoms["TC3"] == 10
    assert freedoms["windmill"] == 25
    for row in found:
        assert row[2] < 1e-3  # energy error [J]
        assert row[3] <= 1e-10  # gap


@pytest.fixture
def paper_scripts(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(FOLDER))  # as where a script lies
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("paper_scripts")
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_figure(file, capsys):
    if file.stem in ("sim_13_quadruped", "sim_14_exoskeleton"):
        pytest.importorskip("PIL")
    assert len(file.read_text().splitlines()) <= LINES
    module = load(file.stem)
    found = module.main("figure.png", "quick")
    globals()[f"check_{file.stem}"](module, found)  # a figure without a check fails here
    assert Path("figure.png").stat().st_size > 10_000
    assert capsys.readouterr().out.count("\n") > 5


def test_the_page_shows_every_figure():
    text = PAGE.read_text(encoding="utf-8")
    shown = re.findall(r"!\[[^\]]+\]\((pictures/papers/(\w+)\.webp)\)", text)
    assert sorted(name for _, name in shown) == [file.stem for file in FILES]
    assert sum((PAGE.parent / picture).stat().st_size for picture, _ in shown) < BYTES
    for file in FILES:
        assert f"python examples/papers/{file.name}" in text
