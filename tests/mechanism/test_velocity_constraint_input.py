"""Constraints of velocities that are wrong, that contradict each other, or that others do not know."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.moving_bodies import NONE, two_bodies
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.errors import MechanismError

UP = (0.0, 0.0, 1.0)


def test_contradicting_constraints_are_refused():
    mech = two_bodies()
    mech.add_velocity_constraint(
        "again", {"first": ((-4, 0, 0), NONE), "second": ((2, 0, 0), NONE)}
    )
    with pytest.raises(
        MechanismError, match="'again': found a velocity that prescribed motions, curve or"
    ):
        Simulator(mech)
    mech = Mechanism()
    mech.add_body("door", 1.0, (0.1, 0.1, 0.1), (0.5, 0.0, 0.0))
    mech.add_joint("hinge", "revolute", "world", "door", (0.0, 0.0, 0.0), UP)
    mech.add_velocity_constraint("up", {"door": (UP, NONE)})
    with pytest.raises(
        MechanismError, match="'up': found velocities that joints and loops hold at"
    ):
        Simulator(mech)
    mech = two_bodies(pushes={"first": ((0.0, 1.0, 0.0), NONE)})
    with pytest.raises(MechanismError, match="that its pushes cannot change"):
        Simulator(mech)


WRONG = {
    "unknown body": ({"terms": {"third": (UP, NONE)}}, "body: found 'third', expected one of: fir"),
    "no terms": ({"terms": {}}, "terms: found {}, expected body -> "),
    "zeros": ({"terms": {"first": (NONE, NONE)}}, "terms: found zeros alone, expected"),
    "one vector": ({"terms": {"first": UP}}, "terms of 'first': found .0.0, 0.0, 1.0., expected"),
    "not finite": ({"terms": {"first": (UP, (np.inf, 0, 0))}}, "of 'first': found"),
    "rate": ({"rate": "fast"}, "rate: found 'fast', expected a finite number"),
    "rate of three": ({"rate": (0.0, 1.0, 2.0)}, "rate: found .0.0, 1.0, 2.0., expected a number,"),
    "samples": ({"rate": ([0.0, 0.0], [1.0, 1.0])}, "rate: found times .0.0, 0.0., expected"),
    "rate at 0": ({"rate": lambda t: np.nan}, "rate at 0 s: found nan, expected a finite number"),
    "frame": ({"frame": "third"}, "frame: found 'third', expected one of: world, body, first"),
    "pushes": ({"pushes": {"first": (NONE, NONE)}}, "pushes: found zeros alone"),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG.keys())
def test_wrong_constraints_are_refused_and_change_nothing(change, message):
    mech = two_bodies()
    with pytest.raises(MechanismError, match=message):
        mech.add_velocity_constraint("new", **({"terms": {"first": (UP, NONE)}} | change))
    assert list(mech.velocity_constraints) == ["twice as fast"]


def test_what_does_not_know_them_says_so():
    mech = two_bodies((0.0, 0.0, -9.81))
    name = "velocity constraint 'twice as fast'"
    with pytest.raises(ValueError, match=f"order=4: found {name}"):
        Simulator(mech, order=4)
    with pytest.raises(ValueError, match=f"float32.*found {name}"):
        Simulator(mech, batch=2, precision="float32")
    with pytest.raises(MechanismError, match=name):
        mech.to_urdf()
    sim = Simulator(mech)
    for query in (sim.linearize, sim.dynamics.forward):
        with pytest.raises(ValueError, match=f"found {name}"):
            query()
    (line,) = [row for row in mech.summary().splitlines() if "twice" in row]
    assert line.split("twice as fast")[1].strip().startswith("(2, 0, 0) . v + (0, 0, 0) . w of fir")
