"""Wrong factors: the message says what was found, and nothing is changed."""

from __future__ import annotations

import re

import numpy as np
import pytest

from scenes.rods import rod
from vigym import MechanismError, Simulator
from vigym.mechanism.tracks.curves import Circle


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weight": 1.0}, "parameters: found 'weight', expected gravity, mass,"),
        (
            {"friction": 1.0},
            "parameters: found 'friction', of which the mechanism has none to multiply, expected gravity",
        ),
        ({"mass": {"road": 1.0}}, "parameters mass: found 'road', expected rod"),
        ({"mass": {"rod": 0.0}}, "parameters mass of 'rod': found 0, expected factors > 0"),
        ({"mass": -1.0}, "parameters mass of 'rod': found -1, expected factors > 0"),
        ({"mass": True}, "parameters mass of 'rod': found True, expected factors > 0"),
        ({"gravity": np.nan}, "parameters gravity: found nan, expected factors > 0"),
        ({"gravity": [1.0, np.inf, 1.0]}, "parameters gravity: found inf, expected factors > 0"),
        ({"gravity": [1.0, 2.0]}, r"parameters gravity: found shape (2,), expected () or (3,)"),
        ({"damping": "much"}, "parameters damping of 'pin': found 'much', expected factors > 0"),
    ],
)
def test_wrong_parameters_change_nothing(parameters, message):
    sim = Simulator(rod(), batch=3)
    sim.step(substeps=3)
    before = sim.state
    with pytest.raises(MechanismError, match=re.escape(message)):
        sim.set_parameters(parameters)
    np.testing.assert_array_equal(sim.state, before)


def test_bodies_with_curves_keep_their_lengths():
    mech = rod()
    mech.add_body("bead", 1.0, (0.1, 0.1, 0.1), position=(1.0, 0.0, 0.0))
    mech.tracks.add_curve("ring", "world", "bead", Circle(1.0))
    sim = Simulator(mech)
    sim.set_parameters({"length": {"rod": 1.2, "bead": 1.0}})
    before = sim.state
    message = (
        "parameters: length of 'bead': found joint 'ring' on it, expected a body without curves"
    )
    with pytest.raises(MechanismError, match=message):
        sim.set_parameters({"length": 1.2})
    np.testing.assert_array_equal(sim.state, before)


def test_one_environment_takes_no_rows():
    with pytest.raises(MechanismError, match=re.escape("found shape (1,), expected ()")):
        Simulator(rod()).set_parameters({"mass": [1.0]})


def test_a_state_with_factors_that_are_none():
    sim = Simulator(rod())
    sim.set_parameters({"mass": 2.0})
    before, wrong = sim.state, sim.state
    wrong[-1] = -1.0
    with pytest.raises(ValueError, match="state: found a factor of -1, expected factors > 0"):
        sim.state = wrong
    np.testing.assert_array_equal(sim.state, before)
