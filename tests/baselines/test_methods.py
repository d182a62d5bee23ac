"""All methods: order of convergence, agreement with each other and the product, energy, refusals."""

import numpy as np
import pytest

from scenes.chains import rod_chain
from scenes.fields import add_bowl
from scenes.linkages import four_bar
from scenes.trees import random_tree
from vigym import Mechanism, MechanismError
from vigym.baselines import METHODS, StepError

START = np.array([1.0, 0.5]), np.array([0.3, -1.0])
TREES = tuple(METHODS)
LOOPS = ("vigym", "multipliers", "baumgarte", "ggl")


def simulated(name, mech, timestep, seconds, positions=None, velocities=None):
    method = METHODS[name](mech, timestep)
    method.reset(positions, velocities)
    for _ in range(round(seconds / timestep)):
        method.step()
    return method


@pytest.fixture(scope="module")
def exact():
    """The chain by the fourth order at a small step: errors of 1e-9."""
    return simulated("rk4", rod_chain(2), 1e-3, 0.4, *START)


@pytest.mark.parametrize("name", TREES)
def test_order_of_convergence(name, exact):
    errors = []
    for h in (0.02, 0.01, 0.005):
        found = simulated(name, rod_chain(2), h, 0.4, *START)
        positions = np.abs(found.positions - exact.positions).max()
        rates = np.abs(found.velocities - exact.velocities).max()
        errors.append((positions, rates))
    orders = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    expected = METHODS[name].order
    assert orders[-1].min() > expected - 0.3
    assert orders[-1].max() < expected + 0.9


@pytest.mark.parametrize("name", TREES)
def test_start_and_energies_are_those_of_the_product(name):
    mech = rod_chain(2)
    method, product = METHODS[name](mech), METHODS["vigym"](mech)
    for each in (method, product):
        each.reset(*START)
    assert method.positions == pytest.approx(product.positions, abs=1e-12)
    assert method.velocities == pytest.approx(product.velocities, abs=1e-12)
    assert tuple(method.energy()) == pytest.approx(tuple(product.energy()), abs=1e-12)
    assert method.gap() < 1e-12
    assert method.time == 0.0
    method.step()
    assert method.time == pytest.approx(0.01)
    method.reset()
    assert (method.time, method.iterations, method.factorisations) == (0.0, 0, 0)
    assert method.positions == pytest.approx([0.0, 0.0])


@pytest.mark.parametrize("name", [name for name in TREES if name != "third-order"])
def test_methods_agree_on_all_joint_types(name):
    """In the limit of small steps: errors are those of first-order methods, of h."""
    kinds = ("revolute", "spherical", "universal", "planar", "cylindrical", "prismatic", "fixed")
    mech = random_tree(4, kinds, springs=False, armature=False, to_world=False)
    rates = 0.5 * np.random.default_rng(0).normal(size=len(mech.velocity_names))
    exact = simulated("rk4", mech, 0.01, 0.1, velocities=rates)
    found = simulated(name, mech, 0.002, 0.1, velocities=rates)
    allowed = 2e-2 if METHODS[name].order == 1 else 2e-4
    assert found.positions == pytest.approx(exact.positions, abs=allowed)
    assert found.velocities == pytest.approx(exact.velocities, abs=10.0 * allowed)


@pytest.mark.parametrize("name", LOOPS)
def test_methods_agree_on_loops(name):
    start = {"velocities": {"j0": 2.0}}
    exact = simulated("vigym", four_bar(), 1e-3, 0.2, **start)
    found = simulated(name, four_bar(), 5e-3, 0.2, **start)
    allowed = 2e-2 if METHODS[name].order == 1 else 2e-4
    assert found.positions == pytest.approx(exact.positions, abs=allowed)
    assert found.velocities == pytest.approx(exact.velocities, abs=10.0 * allowed)


@pytest.mark.parametrize("name", ["heun", "rk4", "riqn", "newton", "broyden", "third-order"])
def test_joint_springs_are_those_of_the_product(name):
    mech = random_tree(6, ("revolute", "universal", "cylindrical"), armature=False)
    exact = simulated("vigym", mech, 1e-3, 0.1)
    found = simulated(name, mech, 5e-3, 0.1)
    assert found.positions == pytest.approx(exact.positions, abs=1e-4)
    assert sum(found.energy()[:2]) == pytest.approx(exact.energy().total, abs=1e-3)


@pytest.mark.parametrize("name", ["semi-implicit-euler", "heun", "rk4", "riqn", "newton"])
def test_joint_dampers_are_those_of_the_product(name):
    ball = () if name in ("riqn", "newton") else ("spherical",)
    kinds = ("revolute", *ball, "prismatic")
    mech = random_tree(6, kinds, springs=False, armature=False, damping=0.5)
    exact = simulated("vigym", mech, 1e-3, 0.1)
    found = simulated(name, mech, 1e-3, 0.1)
    assert found.positions == pytest.approx(exact.positions, abs=2e-3)


@pytest.mark.parametrize("name", ["riqn", "newton", "third-order", "vigym"])
def test_variational_energy_has_no_trend(name):
    """Rods that swing: energies of the second half lie where those of the first half did."""
    method = METHODS[name](rod_chain(2), 0.02)
    method.reset(positions=np.array([0.8, 0.3]))
    start, errors = method.energy().total, []
    for _ in range(800):
        method.step()
        errors.append(method.energy().total - start)
    early, late = np.abs(errors[:400]).max(), np.abs(errors[400:]).max()
    assert late < 1.5 * early < 0.5


def test_explicit_energies_have_one():
    drift = {}
    for name in ("explicit-euler", "heun"):
        method = METHODS[name](rod_chain(1), 0.01)
        method.reset(positions=np.array([0.8]))
        start = method.energy().total
        for _ in range(400):
            method.step()
        drift[name] = method.energy().total - start
    assert drift["explicit-euler"] > 1.0
    assert 0.0 < drift["heun"] < 1e-2


def test_loops_that_come_apart_are_an_error():
    method = METHODS["multipliers"](four_bar(), timestep=0.5)
    method.reset(velocities={"j0": 20.0})
    with pytest.raises(StepError, match="found velocities that are not finite"):
        walk(method, 500)


def walk(method, steps):
    for _ in range(steps):
        method.step()


def with_element(kind):
    """A double pendulum with one element that not every method knows, and its name in errors."""
    mech = Mechanism()
    mech.add_body("a", 1.0, (0.1, 0.1, 0.1), (0, 0, -0.5))
    mech.add_body("b", 1.0, (0.1, 0.1, 0.1), (0, 0, -1.5))
    values = {
        "limit": {"limits": (-1, 1)},
        "joint friction": {"friction": 0.1},
        "armature": {"armature": 0.1},
        "joint spring": {"stiffness": 1.0},
        "joint damper": {"damping": 1.0},
        "spring of three rotations": {"stiffness": 1.0},
        "damper of three rotations": {"damping": 1.0},
    }
    ball = kind.endswith("three free rotations") or kind.endswith("of three rotations")
    values = values.get(kind, {})
    mech.add_joint("first", "revolute", "world", "a", (0, 0, 0), (0, 1, 0))
    mech.add_joint(
        "knee", "spherical" if ball else "revolute", "a", "b", (0, 0, -1), (0, 1, 0), **values
    )
    extra = {
        "loop": lambda: mech.add_joint("close", "spherical", "world", "b", (0, 0, -2)),
        "coupling": lambda: mech.add_coupling("gears", "gear", "knee", "first", 2.0),
        "contact": lambda: mech.add_contact("foot", "b", (0, 0, -0.5)),
        "point spring": lambda: mech.add_spring(
            "rope", "world", "b", (1, 0, 0), (0, 0, 0), 10.0, 1.0
        ),
        "skate": lambda: mech.add_skate("blade", "b", (0, 0, 0), (1, 0, 0)),
        "wheel": lambda: mech.add_wheel("tyre", "b", (0, 0, 0), (0, 1, 0), 0.1),
        "prescribed motion": lambda: mech.add_motion("knee", lambda t: 0.1 * t * t),
        "velocity constraint": lambda: mech.add_velocity_constraint(
            "slow", {"b": ((1, 0, 0), (0, 0, 0))}
        ),
        "potential": lambda: add_bowl(mech, "b"),
    }
    if kind in extra:
        extra[kind]()
    names = {"loop": "close", "coupling": "gears", "contact": "foot", "point spring": "rope"}
    names |= {"skate": "blade", "wheel": "tyre"}
    return mech, names | {"velocity constraint": "slow", "potential": "bowl of b"}


@pytest.mark.parametrize("name", [name for name in TREES if name != "vigym"])
@pytest.mark.parametrize(
    "kind",
    [
        *("loop", "three free rotations", "joint spring", "joint damper", "limit", "armature"),
        *("spring of three rotations", "damper of three rotations", "coupling", "joint friction"),
        *("point spring", "contact", "skate", "wheel"),
        *("prescribed motion", "velocity constraint", "potential"),
    ],
)
def test_methods_refuse_what_they_do_not_know(name, kind):
    mech, names = with_element(kind)
    if {kind} <= METHODS[name].knows:
        METHODS[name](mech).step()
        return
    element = names.get(kind, "knee")
    with pytest.raises(MechanismError) as error:
        METHODS[name](mech)
    text = str(error.value)
    assert text.startswith(f"method {name!r}: found ")
    assert repr(element) in text
    able = text.split(": ")[-1].split(", ")
    assert "vigym" in able
    assert name not in able


def test_numbers_that_are_not_finite_are_an_error():
    method = METHODS["explicit-euler"](rod_chain(3), timestep=0.5)
    method.reset(positions=np.array([1.0, -2.0, 1.5]))
    with pytest.raises(StepError, match="found velocities that are not finite"):
        walk(method, 200)


def test_a_method_that_derives_from_another_leaves_its_name_alone():
    class Variant(METHODS["rk4"]):
        tableau = METHODS["heun"].tableau

    assert METHODS["rk4"] is not Variant
