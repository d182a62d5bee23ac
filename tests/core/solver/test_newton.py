"""Newton's iterations converge quadratically wherever a step is smooth: no slope of any equation is wrong.

A wrong slope would leave a part of each residual. Here the next one is at most the square of the last, once
the first increment has settled which contacts stick and slip.
"""

import numpy as np
import pytest

from scenes.custom_joints import JOINTS, held
from scenes.features import SCENES, start
from scenes.loops_space import closed_by
from scenes.pair_scenes import MEETS, meeting
from scenes.plain_python import newton_residuals
from scenes.touching_scenes import capsule, cylinder, leaning_wheel, puck, sleigh, turned, unicycle
from scenes.tracks import CURVES, SURFACES, hanging, sliding
from scenes.trees import TYPES, random_positions, random_rates, random_tree
from vigym import Simulator
from vigym.mechanism.tracks.slides import Slide

H = 0.02
ROUNDING = 1e-11  # of residuals, which are scaled by the weight; stiff springs round most
SPIN = (0.3, -0.1, 0.0, 1.0, 0.5, 2.0)


def assert_quadratic(sim):
    residuals = np.array(newton_residuals(sim, H))
    assert residuals[0] > 1e-4  # there is something to solve
    assert (residuals[2:] < residuals[1:-1] ** 2 + ROUNDING).all(), residuals


def moved(mech, velocities=None, steps=2, **options):
    """A simulator after a few steps."""
    sim = Simulator(mech, timestep=0.01, **options)
    sim.reset(velocities=velocities)
    assert sim.step(substeps=steps).converged
    return sim


@pytest.mark.parametrize("kind", TYPES)
def test_joints(kind):
    mech = random_tree(2, (kind, "spherical"), damping=0.5)
    sim = Simulator(mech, timestep=0.01)
    sim.reset(random_positions(3, mech), random_rates(4, mech, 2.0))
    assert sim.step(substeps=2).converged
    assert_quadratic(sim)


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "universal", "spherical", "planar"])
def test_closing_joints(kind):
    sim = moved(closed_by(kind, damping=0.3), steps=1)
    sim.push(0.2 * np.sin(np.arange(18.0)).reshape(6, 3))
    assert_quadratic(sim)


@pytest.mark.parametrize("make", SCENES, ids=lambda make: make.__name__)
def test_everything_at_once(make):
    sim = start(make)
    assert sim.step().converged
    assert_quadratic(sim)


@pytest.mark.parametrize("name", CURVES)
def test_curves(name):
    assert_quadratic(moved(sliding(name, slide=Slide(stiffness=5.0, damping=0.3)), steps=5))


@pytest.mark.parametrize("name", SURFACES)
def test_surfaces(name):
    sim = moved(hanging(name))
    sim.push([(0.1, 0.05, 0.02)])
    assert_quadratic(sim)


@pytest.mark.parametrize("name", JOINTS)
def test_joints_of_ones_own(name):
    assert_quadratic(moved(held(name), steps=5))


@pytest.mark.parametrize(
    ("make", "velocities", "cone"),
    [
        (puck, {"puck:floating": (1.0, 0.4, 0.0, 0.0, 0.0, 6.0)}, "cone"),
        (puck, {"puck:floating": (1.0, 0.4, 0.0, 0.0, 0.0, 6.0)}, "pyramid"),
        (lambda: capsule(0.08), {"pill:floating": SPIN}, "cone"),
        (lambda: capsule(0.08), {"pill:floating": SPIN}, "pyramid"),
        (lambda: cylinder(0.15, turned(0.5, (1, 0, 0))), {"can:floating": SPIN}, "cone"),
    ],
)
def test_contacts(make, velocities, cone):
    assert_quadratic(moved(make(), velocities, friction_cone=cone))


@pytest.mark.parametrize(
    ("make", "velocities"),
    [
        (sleigh, {"plane": (0.5, 0.0, 0.8)}),
        (unicycle, {"plane": (0.5, 0.0, 0.8)}),
        (leaning_wheel, {"free": (0.5, 0.1, 0.0, 0.1, 3.0, 0.8)}),
    ],
)
def test_skates_and_wheels(make, velocities):
    assert_quadratic(moved(make(), velocities))


@pytest.mark.parametrize("kinds", MEETS)
def test_pairs(kinds):
    """Where two bodies touch is taken not to move on them: a small part of each residual stays."""
    mech, rates = meeting(kinds)
    sim = Simulator(mech, timestep=0.01)
    sim.reset(velocities=rates)
    while not sim.contacts.force.any():
        assert sim.step().converged
        assert sim.time < 2.0
    residuals = newton_residuals(sim, 0.01)
    assert residuals[0] > 1e-4
    assert residuals[-1] < 1e-2 * residuals[-2] + ROUNDING, residuals
