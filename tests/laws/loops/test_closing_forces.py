"""Springs, dampers, armatures, limits and friction of loop-closing joints: which of them closes changes nothing."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from vigym import Mechanism, Simulator

UP = (0.0, 1.0, 0.0)
PINS = {"A": (0.0, 0.0, 0.0), "B": (0.1, 0.0, 0.5), "C": (0.7, 0.0, 0.7), "D": (0.8, 0.0, 0.0)}
ENDS = {
    "A": ("world", "left"),
    "B": ("left", "top"),
    "C": ("top", "right"),
    "D": ("world", "right"),
}
BARS = {"left": "AB", "top": "BC", "right": "CD"}
ORDERS = ["ABCD", "ADBC", "ABDC"]


def hinge(q):
    """Turn about y."""
    return (0.0, 0.0, 0.0), (np.cos(0.5 * q[0]), 0.0, np.sin(0.5 * q[0]), 0.0)


def four_bar(order, values, own=""):
    """A four-bar whose joints are added in an order; the last one closes the loop.

    Hinges of the letters `own` are given by their transform.
    """
    mech = Mechanism()
    for bar, (start, end) in BARS.items():
        middle = 0.5 * (np.array(PINS[start]) + PINS[end])
        mech.add_body(bar, 1.0, (0.02, 0.02, 0.01), middle)
    for pin in order:
        parent, child = ENDS[pin]
        if pin in own:
            mech.tracks.add_custom(pin, parent, child, hinge, 0.0, PINS[pin])
            continue
        kind = values.get(pin, {}).pop("type", "revolute")
        mech.add_joint(pin, kind, parent, child, PINS[pin], UP, **values.get(pin, {}))
    assert own or [joint.name for joint in mech.closing_joints] == [order[-1]]
    return mech


FORCES = {
    "springs": {"B": {"stiffness": 30.0, "rest": 0.2}, "C": {"stiffness": 50.0}},
    "dampers": {"B": {"damping": 0.3}, "C": {"damping": 0.1, "stiffness": 5.0}},
    "limits": {"C": {"limits": (-0.25, 0.3)}},
    "armatures": {"B": {"armature": 0.2}, "C": {"armature": 0.5, "damping": 0.1}},
    "friction": {"B": {"friction": 0.1}, "C": {"friction": 0.2}},
    "all": {
        "B": {"stiffness": 20.0, "limits": (-0.4, 0.3)},
        "C": {"friction": 0.1, "damping": 0.05, "armature": 0.1, "limits": (-0.5, 0.4)},
    },
}  # fmt: skip


@pytest.mark.parametrize("name", FORCES)
def test_a_four_bar_moves_the_same_whichever_joint_closes_it(name):
    """Places of all bars and energies, at each of 100 steps with impacts at limits among them."""
    found = []
    for order in ORDERS:
        values = {pin: dict(given) for pin, given in FORCES[name].items()}
        sim = Simulator(four_bar(order, values), timestep=0.01, tolerance=1e-12)
        sim.reset(velocities={"A": 2.0})
        rows = []
        for _ in range(100):
            assert sim.step().converged
            metrics = sim.metrics()
            places = [sim.body_position(bar) for bar in BARS]
            rows.append([*np.ravel(places), sim.energy().total, metrics["dissipated"]])
        found.append(rows)
    for one, other in itertools.pairwise(np.array(found)):
        # limits and friction are met to 1e-8 [rad] a step, and steps add up
        np.testing.assert_allclose(one, other, rtol=0.0, atol=2e-6)


@pytest.mark.parametrize("own", ["C", "CD", "ABCD"])
def test_hinges_of_ones_own_make_the_same_four_bar(own):
    """Its redundant rows are found, and it moves as the one of built-in hinges."""
    found = []
    for chosen in ("", own):
        mech = four_bar("ABDC", {}, chosen)
        assert (mech.degrees_of_freedom, mech.redundant_constraints) == (1, 3)
        sim = Simulator(mech, timestep=0.01, tolerance=1e-12)
        assert sim.step(substeps=100).converged
        assert sim.constraint_residual() <= 1e-10
        found.append([sim.body_position(bar) for bar in BARS])
    np.testing.assert_allclose(*found, atol=1e-9)


@pytest.mark.parametrize("h", [0.02, 0.005])
def test_limits_of_a_closing_joint_hold(h):
    """The energy of impacts is booked as lost, none is gained."""
    sim = Simulator(four_bar("ABDC", {"C": {"limits": (-0.25, 0.3)}}), timestep=h)
    sim.reset(velocities={"A": 2.0})
    start, angles = sim.energy().total, []
    for _ in range(round(2.0 / h)):
        assert sim.step().converged
        angles.append(sim.joint_positions[-1])
    assert max(np.abs(angles)) > 0.2
    assert min(angles) >= -0.25 - 1e-8
    assert max(angles) <= 0.3 + 1e-8
    metrics = sim.metrics()
    assert metrics["dissipated"] > 0.01
    assert abs(metrics["energy_balance"]) < 30.0 * h**2 * max(1.0, abs(start))


def test_friction_of_a_closing_joint_holds_still():
    sim = Simulator(four_bar("ABDC", {"C": {"friction": 50.0}}), timestep=0.01)
    before = sim.joint_positions
    for _ in range(50):
        assert sim.step().converged
    np.testing.assert_allclose(sim.joint_positions, before, atol=1e-8)


@pytest.mark.parametrize("stiffness", [1e3, 1e6])
@pytest.mark.parametrize("kind", ["spherical", "universal", "cylindrical"])
def test_stiff_springs_of_closing_joints_give_no_energy(kind, stiffness):
    """Two rods in space, hung on a ball each and joined at their ends; up to 100 rad of vibration in a step."""
    mech = Mechanism()
    for name, side in (("left", -1.0), ("right", 1.0)):
        mech.add_body(name, 1.0, (0.02, 0.025, 0.01), (0.3 * side, 0.1, -0.5))
        mech.add_joint(f"{name} ball", "spherical", "world", name, (0.6 * side, 0.1 * side, 0.0))
    axes = {"axis": UP} | ({"axis2": (0.0, 0.0, 1.0)} if kind == "universal" else {})
    mech.add_joint("end", kind, "left", "right", (0.0, 0.0, -1.0), stiffness=stiffness, **axes)
    sim, energies = Simulator(mech, timestep=0.01), []
    sim.reset(velocities=np.linspace(-0.5, 1.0, len(mech.velocity_names)))
    start = sim.energy().total
    for _ in range(1000):
        status = sim.step()
        assert status.converged
        assert status.halvings == 0
        assert sim.constraint_residual() <= 1e-10
        energies.append(sim.energy().total)
    first, second = np.reshape(energies, (2, -1))
    kinetic = start + 9.81  # above the potential energy at rest
    assert second.mean() < first.mean() + 0.02 * kinetic
    assert max(energies) < start + 0.3 * kinetic


def test_a_batch_is_its_environments_bit_for_bit():
    values = {"B": {"stiffness": 20.0}}
    values["C"] = {"limits": (-0.25, 0.3), "friction": 0.1, "effort": 2.0}
    rates = np.array([0.5, 1.0, 2.0])
    batch = Simulator(four_bar("ABDC", {pin: dict(v) for pin, v in values.items()}), batch=3)
    batch.reset(velocities={"A": rates})
    torques = rates[:, None] - 1.5
    batch.step(torques, substeps=50)
    for e, rate in enumerate(rates):
        one = Simulator(four_bar("ABDC", {pin: dict(v) for pin, v in values.items()}))
        one.reset(velocities={"A": rate})
        one.step(torques[e], substeps=50)
        np.testing.assert_array_equal(batch.state[e], one.state)


def torque_of(sim, t):
    """The same torque of hinge C in every order of the joints."""
    return [3.0 * np.sin(4.0 * t) if name == "C" else 0.0 for name in sim.mechanism.actuator_names]


DRIVES = {
    "actuator": ({"effort": 5.0}, None),
    "position motor": ({"effort": 50.0}, {"kp": 200.0, "kd": 5.0}),
    "rate motor": ({"effort": 4.0}, {"kd": 3.0}),
    "saturated motor": ({"effort": 0.5}, {"kp": 500.0, "kd": 2.0}),
}


@pytest.mark.parametrize("name", DRIVES)
def test_a_driven_four_bar_moves_the_same_whichever_joint_closes_it(name):
    """Hinge C is driven; in the second order it closes the loop. Also forces, works and saturation."""
    found = []
    for order in ("ABCD", "ABDC"):
        given, gains = DRIVES[name]
        mech = four_bar(order, {"C": dict(given)})
        if gains:
            mech.add_motor("C", **gains)
        sim = Simulator(mech, timestep=0.01, tolerance=1e-12)
        sim.reset(velocities={"A": 1.0})
        rows = []
        for k in range(100):
            given = [0.3 * np.sin(0.05 * k)] if gains else None
            status = sim.step(None if gains else torque_of(sim, 0.01 * k), given)
            assert status.converged
            metrics = sim.metrics()
            places = [sim.body_position(bar) for bar in BARS]
            work = metrics["work_actuator"], sim.readings.power
            rows.append([*np.ravel(places), *work, *sim.actuator_torques, status.clipped])
        found.append(rows)
    np.testing.assert_allclose(*found, rtol=1e-6, atol=2e-6)
    assert np.abs(np.array(found[0])[:, -4]).max() > 0.0


def test_the_work_of_a_closing_joints_motor_is_booked():
    errors = []
    for h in (0.01, 0.005):
        mech = four_bar("ABDC", {"C": {"effort": 50.0}})
        mech.add_motor("C", kp=100.0, kd=2.0)
        sim = Simulator(mech, timestep=h)
        for k in range(round(1.0 / h)):
            assert sim.step(None, [0.3 * np.sin(5.0 * h * k)]).converged
        errors.append(abs(sim.metrics()["energy_balance"]))
    assert errors[0] < 0.02
    assert errors[1] < 0.4 * errors[0]


def test_queries_name_the_actuator_of_a_closing_joint():
    sim = Simulator(four_bar("ABDC", {"C": {"effort": 5.0}}))
    for query in (sim.linearize, sim.dynamics.forward):
        with pytest.raises(ValueError, match="found the actuator of 'C', which closes a loop"):
            query()
    assert sim.dynamics.mass_matrix().shape == (3, 3)
