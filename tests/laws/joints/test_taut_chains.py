"""Light chains that carry heavy bodies: their links swing faster than a step follows, and gain no energy by that."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.batches import assert_batch_moves_as_alone
from vigym import Mechanism, Simulator
from vigym.core.tables.state import ENVIRONMENT_STATE

# Inertia of a thin rod along z, over mass and length squared
ROD = np.array([1.0, 1.0, 0.24]) / 12.0


def add_links(mech, count, mass, length, first, axes, **forces):
    """Hang links on a body, one on the other, along -z; returns the last one's name."""
    for k in range(count):
        name, parent = f"link_{k}", first if k == 0 else f"link_{k - 1}"
        inertia = mass * length**2 * ROD
        mech.add_body(name, mass, inertia, position=(0.0, 0.0, -length * (k + 0.5)))
        place = 0.0, 0.0, -length * k
        axis = axes[k % len(axes)]
        mech.add_joint(f"joint_{k}", "revolute", parent, name, place, axis, **forces)
    return f"link_{count - 1}"


def rope(count, load, axes=((0.0, 1.0, 0.0),), stiffness=0.0, **forces):
    """A rope of 1 m and 0.4 kg with a load at its end; forces of the joints of its links."""
    mech = Mechanism()
    last = add_links(mech, count, 0.4 / count, 1.0 / count, "world", axes, **forces)
    mech.add_body("load", load, (0.0004 * load,) * 3, position=(0.0, 0.0, -1.02))
    mech.add_joint("hook", "revolute", last, "load", (0.0, 0.0, -1.0), axes[0], stiffness=stiffness)
    return mech


def crane(load):
    """A load on a chain of six links below a trolley that rolls along a rail."""
    mech = Mechanism()
    mech.add_body("trolley", 10.0, (0.1, 0.1, 0.1))
    mech.add_joint("rail", "prismatic", "world", "trolley", (0, 0, 0), (1, 0, 0), damping=5.0)
    last = add_links(mech, 6, 0.1, 0.25, "trolley", [(0.0, 1.0, 0.0)])
    mech.add_body("load", load, (0.02 * load,) * 3, position=(0.0, 0.0, -1.65))
    mech.add_joint("hook", "revolute", last, "load", (0.0, 0.0, -1.5), (0, 1, 0))
    return mech


def bridge(count, load):
    """A light rope between two walls with a heavy link in its middle: a closed loop."""
    mech, mass = Mechanism(), 0.4 / count
    places = [np.array((x, 0.0, 0.3 * (x * x - 1.0))) for x in np.linspace(-1.0, 1.0, count + 1)]
    for k, (start, end) in enumerate(zip(places, places[1:], strict=False)):
        way = end - start
        length, half = np.linalg.norm(way), 0.5 * np.arctan2(way[0], way[2])
        own, turn = load if k == count // 2 else mass, (np.cos(half), 0.0, np.sin(half), 0.0)
        inertia = own * length**2 * ROD
        mech.add_body(f"link_{k}", own, inertia, position=(start + end) / 2.0, orientation=turn)
        parent = "world" if k == 0 else f"link_{k - 1}"
        mech.add_joint(f"joint_{k}", "revolute", parent, f"link_{k}", start, (0, 1, 0))
    mech.add_joint("end", "revolute", "world", f"link_{count - 1}", places[-1], (0, 1, 0))
    return mech


def largest_gain(sim, steps):
    """Step, and return the largest gain of energy over the largest kinetic energy, and the mean of iterations."""
    start, counts = sim.energy(), []
    gain, most = 0.0, start.kinetic
    for _ in range(steps):
        status = sim.step()
        assert status.converged
        counts.append(status.iterations)
        now = sim.energy()
        gain, most = max(gain, now.total - start.total), max(most, now.kinetic)
    return gain / most, np.mean(counts)


CROSSED = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)


@pytest.mark.parametrize(("stiffness", "friction"), [(0.0, 0.0), (1e-9, 0.0), (0.0, 1e-3)])
@pytest.mark.parametrize("axes", [((0.0, 1.0, 0.0),), CROSSED])
@pytest.mark.parametrize(
    ("count", "load"), [(4, 1000.0), (5, 10.0), (8, 100.0), (20, 1.0), (20, 0.2)]
)
def test_a_rope_with_a_load_gains_no_energy(count, load, axes, stiffness, friction):
    """The rate of the links' swing times the step is above two, where the swing would grow."""
    sim = Simulator(rope(count, load, axes, stiffness, friction=friction), timestep=0.01)
    rates = np.random.default_rng(3).normal(size=count)
    for speed in (0.01, 0.1, 1.0):
        sim.reset(velocities={f"joint_{k}": speed * rate for k, rate in enumerate(rates)})
        gain, iterations = largest_gain(sim, 300)
        assert gain <= 0.02
        assert iterations <= 120.0


@pytest.mark.parametrize(("count", "load"), [(10, 30.0), (5, 100.0), (20, 10.0)])
def test_a_rope_gains_no_energy_in_steps_of_order_four(count, load):
    """The parts of such a step differ in size, and one goes backwards."""
    sim = Simulator(rope(count, load), timestep=0.01, order=4)
    rates = np.random.default_rng(3).normal(size=count)
    for speed in (0.001, 0.1, 1.0):
        sim.reset(velocities={f"joint_{k}": speed * rate for k, rate in enumerate(rates)})
        gain, _ = largest_gain(sim, 200)
        assert gain <= 0.02


@pytest.mark.parametrize(
    ("by", "force"),
    [
        ("wrench", 30.0),
        ("wrench", 100.0),
        ("wrench", 1000.0),
        ("spring", 100.0),
        ("closing joint", 1000.0),
    ],
)
def test_a_rope_that_is_pulled_gains_no_energy(by, force):
    """The tension is neither of weight nor of motion, and what pulls works."""
    mech = rope(8, 1.0)
    if by == "spring":
        mech.add_spring(
            "pull", "load", "world", (0.0, 0.0, 0.0), (0.0, 0.0, -3.0), force / 1.9, 0.1
        )
    if by == "closing joint":
        spring = {"stiffness": 1000.0, "rest": -force / 1000.0}
        mech.add_joint("pull", "prismatic", "world", "load", (0, 0, -1), (0, 0, 1), **spring)
    sim = Simulator(mech, timestep=0.01)
    rates = np.random.default_rng(5).normal(size=8)
    velocities = {f"joint_{k}": 0.1 * rate for k, rate in enumerate(rates)}
    if by == "closing joint":  # the straight rope is a singular pose of the loop
        velocities = [*velocities.values(), 0.0, 0.0]
    sim.reset(velocities=velocities)
    if by == "wrench":
        sim.forces.apply("load", force=(0.0, 0.0, -force))
    energies, kinetic = [], []
    for _ in range(301):
        metrics = sim.metrics()
        energies.append(metrics["energy_total"] - metrics["work_actuator"])
        kinetic.append(metrics["energy_kinetic"])
        assert sim.step().converged
    assert max(energies) - energies[0] <= 0.01 * max(kinetic)


@pytest.mark.parametrize("load", [1.0, 10.0, 50.0])
def test_steps_of_a_damped_chain_are_not_halved(load):
    """Dampers take more of a swing in a step than it could grow."""
    sim = Simulator(rope(5, load, damping=5.0), timestep=0.01)
    sim.reset(velocities={"joint_0": 1.0, "joint_3": -2.0})
    for _ in range(200):
        status = sim.step()
        assert status.converged
        assert status.halvings == 0


def test_a_crane_moves_as_with_short_steps():
    speeds = []
    for h in (0.01, 0.00125):
        sim = Simulator(crane(20.0), timestep=h)
        sim.reset(velocities={"rail": 0.3})
        gain, _ = largest_gain(sim, round(3.0 / h))
        assert gain <= 1e-6
        speeds.append(sim.joint_velocities[0])
    assert speeds[0] == pytest.approx(speeds[1], abs=2e-3)


@pytest.mark.parametrize(
    ("count", "load", "h", "most"),
    [(9, 10.0, 0.01, 0.01), (9, 50.0, 0.005, 0.01), (5, 10.0, 0.01, 0.1), (5, 2.0, 0.01, 0.1)],
)
def test_a_bridge_of_light_links_gains_no_energy(count, load, h, most):
    """That of five links snaps taut in a step, within which its energy is read roughly."""
    sim = Simulator(bridge(count, load), timestep=h)
    sim.reset()
    gain, _ = largest_gain(sim, 300)
    assert gain <= most


def test_a_step_short_enough_for_its_swings_is_not_halved():
    sim = Simulator(crane(20.0), timestep=0.005)
    sim.reset(velocities={"rail": 0.3})
    for _ in range(200):
        assert sim.step().halvings == 0


def test_steps_begin_with_whole_fractions():
    """Parts of another size leave a tiny one at the end of a step, which has no solution."""
    sim = Simulator(rope(10, 4000.0, friction=1e-3), timestep=0.02)
    rates = 3.0 * np.random.default_rng(7).normal(size=10)
    sim.reset(velocities={f"joint_{k}": rate for k, rate in enumerate(rates)})
    place, parts = ENVIRONMENT_STATE.offset("first_part"), set()
    for _ in range(150):
        sim.step()
        parts.add(float(sim.state[place]))
    assert parts <= {0.5**k for k in range(9)}
    assert len(parts) > 2


def test_taut_chains_in_a_batch_are_those_of_single_environments():
    mech = crane(20.0)
    given = [({"hook": 0.1 * e}, {"rail": 0.1 * e}) for e in range(11)]
    assert_batch_moves_as_alone(mech, given, 60, timestep=0.01)
