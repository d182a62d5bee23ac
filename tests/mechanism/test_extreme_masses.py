"""Masses beyond what numbers hold: an error of the library, or a simulator that works."""

import itertools

import numpy as np
import pytest

from vigym import Simulator
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.shapes import Sphere
from vigym.mechanism.mechanism import Mechanism

MASSES = (1e-150, 1e30, 1e150, 1e300, 1.7e308)
KINDS = ("limits", "motor", "friction", "coupling", "loop", "contact", "pair")


def two_bodies(kind: str, mass: float, inertia: float) -> Mechanism:
    mech = Mechanism(ground=kind in ("contact", "pair"))
    mech.add_body("a", 1.0, (1.0, 1.0, 1.0), position=(0, 0, 1))
    mech.add_body("b", mass, (inertia,) * 3, position=(0, 0, 2))
    if kind in ("contact", "pair"):
        mech.add_collision("ca", "a", Sphere(radius=0.4))
        mech.add_collision("cb", "b", Sphere(radius=0.6))
        if kind == "pair":
            mech.add_pair("a", "b")
        return mech
    limits, friction = (-0.1, 0.1) if kind == "limits" else None, float(kind == "friction")
    turning = {"limits": limits, "friction": friction, "effort": 1.0, "axis": (0, 1, 0)}
    mech.add_joint("j", "revolute", "world", "a", (0, 0, 0.5), **turning)
    mech.add_joint("k", "revolute", "a", "b", (0, 0, 1.5), **turning)
    if kind == "motor":
        mech.add_motor("k", kp=1.0, kd=1.0)
    elif kind == "coupling":
        mech.add_coupling("c", "gear", "k", "j")
    elif kind == "loop":
        mech.add_joint("l", "revolute", "world", "b", (0.3, 0, 2.5), axis=(0, 1, 0))
    return mech


def use(kind: str, mass: float, inertia: float) -> None:
    mech = two_bodies(kind, mass, inertia)
    mech.summary()
    sim = Simulator(mech)
    sim.step(substeps=2)
    sim.metrics()
    sim.linearize()


@pytest.mark.filterwarnings("error", "ignore:mechanism 'mechanism' masses. found")
@pytest.mark.parametrize("kind", KINDS)
def test_errors_are_those_of_the_library(kind):
    foreign = {}
    for mass, inertia in itertools.product(MASSES, (1.0, *MASSES)):
        try:
            use(kind, mass, inertia)
        except Exception as error:
            if type(error) not in (MechanismError, ValueError, RuntimeError):
                foreign[mass, inertia] = error
    assert foreign == {}


def test_the_error_of_masses_names_the_bodies():
    mech = two_bodies("limits", 1e30, 1.0)
    with pytest.raises(MechanismError, match=r"found mass from 1 kg of 'a' to 1e\+30 kg of 'b'"):
        Simulator(mech)


@pytest.mark.parametrize(("mass", "inertia"), [(1.0, 1.7e308), (1e-150, 1e300)])
def test_an_inertia_beyond_what_sums_and_ratios_hold_is_refused(mass, inertia):
    with pytest.raises(
        MechanismError, match="body 'b' inertia: found .* kg m.2 of .* kg, expected"
    ):
        two_bodies("motor", mass, inertia)
    huge = 1e300 * np.array([1.0, 1.0, 1.5])
    assert Mechanism().add_body("c", 1.0, huge).inertia[2, 2] == huge[2]
