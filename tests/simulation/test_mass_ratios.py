"""Masses too unlike for contacts between bodies: told, with names; below the ratio nothing sinks."""

import re
import warnings

import numpy as np
import pytest

from vigym import Mechanism, Simulator
from vigym.mechanism.elements.shapes import Sphere
from vigym.simulation.parameters.mass_ratios import LARGEST_RATIO

RADIUS = 0.2  # [m]


def ball(mech, name, mass, height):
    mech.add_body(name, mass, (0.4 * mass * RADIUS**2,) * 3, position=(0, 0, height))
    mech.add_collision(f"shape of {name}", name, Sphere(radius=RADIUS))


def stack(*masses, paired=True):
    """Return balls that stand on each other; ball 0 on the ground."""
    mech = Mechanism(ground=True)
    for k, mass in enumerate(masses):
        ball(mech, f"ball {k}", mass, (1 + 2 * k) * RADIUS)
    for k in range(len(masses) - 1) if paired else ():
        mech.add_pair(f"ball {k}", f"ball {k + 1}")
    return mech


def with_hinged_load(load):
    """Return a foot below a body that a hinge connects to a load, on a plate."""
    mech = stack(1.0, 1.0)
    ball(mech, "load", load, 3.0)
    mech.add_joint("hinge", "revolute", "ball 1", "load", (0, 0, 1), axis=(0, 1, 0))
    return mech


UNLIKE = {
    "heavy on light": (stack(1.0, 2 * LARGEST_RATIO), "1 kg of 'ball 0' and 2e+06 kg of 'ball 1'"),
    "light on heavy": (stack(2 * LARGEST_RATIO, 1.0), "1 kg of 'ball 1' and 2e+06 kg of 'ball 0'"),
    "in a stack": (stack(1.0, 5e3, 5e6), "1 kg of 'ball 0' and 5e+06 kg of 'ball 2'"),
    "by a joint": (with_hinged_load(2e6), "1 kg of 'ball 0' and 2e+06 kg of 'load'"),
}


@pytest.mark.parametrize("case", UNLIKE)
def test_masses_too_unlike_are_told(case):
    mech, found = UNLIKE[case]
    expected = re.escape(f"masses: found {found}, which contacts connect, expected a ratio of at")
    with pytest.warns(RuntimeWarning, match=expected) as told:
        sim = Simulator(mech)
    assert told[0].filename == __file__
    assert [note.action for note in sim.mechanism.notes] == ["unlike"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "mech", [stack(1.0, 0.9 * LARGEST_RATIO), stack(1.0, 1e9, paired=False), with_hinged_load(9e5)]
)
def test_others_are_not(mech):
    assert Simulator(mech).mechanism.notes == []


@pytest.mark.parametrize("batch", [None, 2])
def test_parameters_that_make_masses_unlike_are_told(batch):
    sim = Simulator(stack(1.0, 1e5), batch=batch)
    factor = 100.0 if batch is None else [1.0, 100.0]
    with pytest.warns(RuntimeWarning, match=r"1e\+07 kg of 'ball 1'") as told:
        sim.set_parameters({"mass": {"ball 1": factor}})
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim.set_parameters({"mass": {"ball 1": 2.0}})


@pytest.mark.parametrize(
    "masses",
    [
        (1.0, LARGEST_RATIO),
        (LARGEST_RATIO, 1.0),
        (1.0, 1e3, LARGEST_RATIO),
        (1.0, 1.0, LARGEST_RATIO),
    ],
)
def test_bodies_do_not_sink_up_to_that_ratio(masses):
    sim = Simulator(stack(*masses), timestep=0.005)
    for _ in range(100):
        assert sim.step().converged
        assert sim.metrics()["penetration"] < 1e-5
    heights = [sim.body_position(f"ball {k}")[2] for k in range(len(masses))]
    assert heights == pytest.approx(RADIUS * (1 + 2 * np.arange(len(masses))), abs=1e-5)
