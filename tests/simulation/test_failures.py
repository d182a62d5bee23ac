"""Functions of the user that fail in a step: it is not made, and a warning or error says whose."""

import re

import numpy as np
import pytest

import vigym
from vigym.mechanism.elements.errors import MechanismError

MASS, GRAVITY = 1.0, 9.81  # [kg, m/s^2]
START = 0.9  # [m] height below which functions fail


def no_energy(position, orientation):
    return 0.0


def no_forces(position, orientation):
    return np.zeros(3), np.zeros(3)


def undefined_energy(position, orientation):
    return 0.0 if position[2] > START else np.nan


def undefined_forces(position, orientation):
    return np.array((0.0, 0.0, 0.0 if position[2] > START else np.inf)), np.zeros(3)


def raising_energy(position, orientation):
    if position[2] < START:
        raise ValueError("too low")
    return 0.0


def raising_forces(position, orientation):
    if position[2] < START:
        raise ZeroDivisionError("no height")
    return np.zeros(3), np.zeros(3)


def reading_beyond(position, orientation):
    return 0.0 * position[3 if position[2] < START else 2]


FAULTS = {
    "undefined energy": (undefined_energy, no_forces, "energy at .*: found nan"),
    "undefined forces": (
        no_energy,
        undefined_forces,
        r"forces at .*: found \[0.0, 0.0, inf, 0.0, 0.0, 0.0\]",
    ),
    "raising energy": (raising_energy, no_forces, "energy at .*: found ValueError: too low"),
    "raising forces": (no_energy, raising_forces, "forces at .*: found ZeroDivisionError: no hei"),
    "place beyond": (reading_beyond, no_forces, "energy at .*: found IndexError: index is out of"),
}


def falling(energy, forces):
    mech = vigym.Mechanism(gravity=(0, 0, -GRAVITY))
    mech.add_body("other", MASS, (0.1, 0.1, 0.1), position=(1, 0, 1))
    mech.add_body("b", MASS, (0.1, 0.1, 0.1), position=(0, 0, 1))
    mech.add_potential("sound", "other", no_energy, no_forces)
    mech.add_potential("faulty", "b", energy, forces)
    return mech


def step_until_unsolved(sim):
    """Step until one fails; return the state before it, and which converged."""
    while True:
        before = sim.state
        converged = sim.step().converged
        if not np.all(converged):
            return before, converged


@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_step_to_where_a_potential_fails_is_not_made(fault, batch, capfd):
    energy, forces, message = FAULTS[fault]
    sim = vigym.Simulator(falling(energy, forces), timestep=0.01, batch=batch)
    if batch:  # only the first one falls
        sim.reset(base={"b": {"velocity": np.array([(0, 0, 0), (0, 0, 9), (0, 0, 9)])}})
    while np.min(sim.body_position("b")[..., 2]) > START + 0.02:
        assert np.all(sim.step().converged)
    with pytest.warns(RuntimeWarning, match="step: potential 'faulty' " + message) as told:
        before, converged = step_until_unsolved(sim)
    assert np.array_equal(converged, False if batch is None else [False, True, True])
    first = () if batch is None else 0
    assert np.array_equal(before[first][:-6], sim.state[first][:-6])  # but for the status
    assert np.isfinite(sim.body_states).all()
    assert np.isfinite(sim.energy().total).all()
    assert all("sound" not in str(each.message) for each in told)
    assert told[0].filename == __file__
    assert "Exception ignored" not in capfd.readouterr().err


def late(value):
    def function(time):
        return 0.0 if time < 0.05 else value()

    return function


def raises():
    raise KeyError("no plan")


@pytest.mark.parametrize(
    ("add", "named"),
    [
        (lambda mech, f: mech.add_motion("j", f), "motion of 'j' at 0.05 s"),
        (lambda mech, f: mech.add_motion("j", lambda t: t, f), "motion of 'j' at 0.05 s"),
        (
            lambda mech, f: mech.add_velocity_constraint("v", {"b": ((0, 0, 1), (0, 0, 0))}, f),
            "velocity constraint 'v' rate at 0.05 s",
        ),
    ],
)
@pytest.mark.parametrize(
    ("value", "found"), [(raises, "KeyError: 'no plan'"), (lambda: np.nan, "nan")]
)
def test_functions_of_time_are_named(add, named, value, found):
    mech = vigym.Mechanism()
    mech.add_body("b", MASS, (0.1, 0.1, 0.1), position=(0.5, 0, 0))
    mech.add_joint("j", "revolute", "world", "b", (0, 0, 0), axis=(0, 1, 0))
    add(mech, late(value))
    sim = vigym.Simulator(mech, timestep=0.0125)
    message = re.escape(f"{named}: found {found}, expected a finite number")
    for _ in range(3):
        assert sim.step().converged
    before = sim.state
    with pytest.raises(MechanismError, match=message):
        sim.step()
    assert np.array_equal(before, sim.state)


def test_a_transform_that_fails_is_named():
    def transform(q):
        if q[0].real > 0.1:
            raise ValueError("beyond the rail")
        return (q[0], 0 * q[0], 0 * q[0]), (1.0 + 0 * q[0], 0 * q[0], 0 * q[0], 0 * q[0])

    mech = vigym.Mechanism(gravity=(GRAVITY, 0, 0))
    mech.add_body("b", MASS, (0.1, 0.1, 0.1))
    mech.tracks.add_custom("rail", "world", "b", transform, start=0.0)
    sim = vigym.Simulator(mech, timestep=0.01)
    message = "step: custom joint 'rail' transform .*: found ValueError: beyond the rail"
    with pytest.warns(RuntimeWarning, match=message):
        before, _ = step_until_unsolved(sim)
    assert np.array_equal(before[:-6], sim.state[:-6])  # but for the status
    assert sim.body_position("b")[0] < 0.1
    assert np.isfinite(sim.body_states).all()


@pytest.mark.parametrize("what", ["energy", "forces"])
def test_potentials_that_raise_at_the_assembly_are_named(what):
    functions = {"energy": no_energy, "forces": no_forces}
    functions[what] = lambda position, orientation: [][0]
    message = f"potential 'faulty' {what}: found IndexError: list index out of range, expected"
    with pytest.raises(MechanismError, match=message):
        falling(**functions)
