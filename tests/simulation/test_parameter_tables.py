"""Tables that factors multiplied are those of the mechanism with these quantities."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.linkages import five_bar, four_bar
from scenes.pair_scenes import stack
from scenes.rods import COUNT, factors, puck, rod, row
from vigym import MINITAUR_MOTOR, Mechanism, Simulator
from vigym.core.model.layout import Model, model_table
from vigym.mechanism.elements.shapes import Cylinder
from vigym.mechanism.tracks.curves import Circle
from vigym.mechanism.tracks.slides import Slide
from vigym.simulation.compile.model import build_model
from vigym.simulation.parameters.quantities import with_factors


def everything():
    """A mechanism with all that tables know: hinges, balls, a slide, springs, motors, rims, a wheel, a loop."""
    mech = five_bar()
    mech.add_body("cart", 3.0, (0.3, 0.4, 0.5), (0.0, 2.0, 0.4))
    mech.add_body("drum", 0.5, (0.02, 0.02, 0.03), (0.3, 2.0, 0.2))
    mech.add_joint(
        "axle",
        "revolute",
        "cart",
        "drum",
        (0.3, 2.0, 0.2),
        (0, 1, 0),
        damping=0.2,
        friction=0.1,
        effort=2.0,
    )
    mech.add_motor("axle", 0.0, 1.0)
    mech.add_wheel("tyre", "drum", (0.0, 0.0, 0.0), (0, 1, 0), 0.2)
    mech.add_collision("barrel", "cart", Cylinder(radius=0.1, length=0.5), friction=(0.2, 0.5, 0.3))
    mech.add_body("arm", 0.7, (0.05, 0.06, 0.02), (0.0, 2.0, 0.9))
    mech.add_joint(
        "shoulder", "spherical", "cart", "arm", (0.0, 2.0, 0.6), stiffness=2.0, damping=0.3
    )
    mech.add_body("fist", 0.2, (0.01, 0.01, 0.01), (0.0, 2.0, 1.4))
    mech.add_joint(
        "wrist",
        "revolute",
        "arm",
        "fist",
        (0.0, 2.0, 1.2),
        (1, 0, 0),
        effort=1.0,
        limits=(-1.0, 1.0),
    )
    mech.add_motor("wrist", 0.3, 0.1, model=MINITAUR_MOTOR)
    mech.add_spring("shoulder", "cart", "fist", (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), 20.0, 0.5, 0.4)
    return mech


def tracks():
    """A bead on a curve and a joint of the user's, with slides and motors."""
    mech = Mechanism()
    slide = Slide(damping=0.2, stiffness=3.0, friction=0.1, limits=(-1.0, 2.0))
    for k, name in enumerate(("bead", "free", "bob")):
        mech.add_body(name, 1.0 + k, (0.1, 0.2, 0.25), (1.0, 0.0, 0.0))
    mech.tracks.add_curve("rail", "world", "bead", Circle(1.0), slide=slide)
    mech.add_motor("rail", 5.0, 0.3, effort=2.0)
    mech.tracks.add_curve("ring", "bead", "free", Circle(0.5, (-0.5, 0.0, 0.0)))
    mech.add_motor("ring", 1.0, 0.1, effort=3.0, model=MINITAUR_MOTOR)
    mech.tracks.add_custom("screw", "world", "bob", climb, (0.2, 0.0), slides=[slide, None])
    mech.add_motor("screw:1", 2.0, 0.2, effort=1.0)
    return mech


def climb(q):
    """Turn about z, climb by the turn, and slide along x."""
    zero = 0.0 * q[0]
    place = np.array([q[1], zero, 0.1 * q[0]])
    return place, np.array([np.cos(0.5 * q[0]), zero, zero, np.sin(0.5 * q[0])])


@pytest.mark.parametrize(
    "mech",
    [rod(), four_bar(), puck(), everything(), stack(), tracks()],
    ids=["rod", "four_bar", "puck", "everything", "stack", "tracks"],
)
def test_tables_are_those_of_the_mechanism_compiled_anew(mech):
    sim = Simulator(mech, batch=COUNT)
    parameters = factors(sim, 0.3, 3.0, leave=["length"])
    sim.set_parameters(parameters)
    for e in range(COUNT):
        expected = build_model(with_factors(mech, row(parameters, e)))
        found = sim.parameters._scaled.model(sim.parameters.factors[e])
        for name in Model._fields:
            ours, theirs = getattr(found, name), getattr(expected, name)
            for field in ours.dtype.names or (...,):
                np.testing.assert_allclose(
                    ours[field], theirs[field], rtol=1e-11, err_msg=f"{name} {field}"
                )
        assert (found.bodies != sim._plant.model.bodies).any()
    sim.set_parameters({})
    groups = sim._plant.groups
    table = groups.table.reshape(-1, groups._stride)
    np.testing.assert_array_equal(table[0], model_table(sim._plant.model, False))
