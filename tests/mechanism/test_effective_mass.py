"""Effective masses at contacts: the least that a force meets, and the mean that scales forces."""

import numpy as np
import pytest

from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.effective_mass import Mobility

MASS, INERTIA = 2.0, 0.3
ARM = 0.5
POINT = np.array([[0.0, 0.0, -ARM]])
LEAST = 1.0 / (1.0 / MASS + ARM**2 / INERTIA)  # across the arm


def chain(count):
    """Return a free chain of equal bodies, which pins through their centres join."""
    mech = Mechanism()
    for k in range(count):
        mech.add_body(f"b{k}", MASS, (INERTIA,) * 3)
        if k > 0:
            mech.add_joint(f"j{k}", "spherical", f"b{k - 1}", f"b{k}", (0.0, 0.0, 0.0))
    return mech


def mobility(mech):
    return Mobility(mech, mech.structure)


def test_a_force_meets_the_least_mass_across_the_arm():
    assert mobility(chain(1)).least_effective_mass_at("b0", POINT) == pytest.approx(LEAST)


@pytest.mark.parametrize("count", [1, 3])
def test_the_ground_meets_the_geometric_mean_of_the_least_and_the_whole_mass(count):
    found = mobility(chain(count))
    least = 1.0 / (1.0 / (count * MASS) + ARM**2 / INERTIA)  # pins in the centres turn freely
    mean = np.sqrt(least * count * MASS)
    assert found.ground_contact_scales_at("b0", POINT)[0] == pytest.approx(mean)


def test_a_law_meets_the_geometric_mean_of_the_extremes_at_the_contact():
    """The whole mass is met along the arm of a free body. A pin at the end of the arm takes that direction away."""
    free = Mechanism()
    free.add_body("b", MASS, (INERTIA,) * 3)
    assert mobility(free).ground_contact_scales_at("b", POINT)[1] == pytest.approx(1.0)
    held = Mechanism()
    held.add_body("b", MASS, (INERTIA,) * 3)
    held.add_joint("pin", "spherical", "world", "b", (0.0, 0.0, ARM))
    mass, scale = mobility(held).ground_contact_scales_at("b", POINT)
    across = (INERTIA + MASS * ARM**2) / (2.0 * ARM) ** 2
    assert mass * scale == pytest.approx(across)


def test_bodies_that_no_joint_connects_do_not_count():
    mech = chain(2)
    mech.add_body("apart", 1000.0, (1.0, 1.0, 1.0), position=(5.0, 0.0, 0.0))
    mech.add_joint("slide", "prismatic", "world", "apart", (5.0, 0.0, 0.0))
    alone = mobility(chain(2)).ground_contact_scales_at("b1", POINT)
    assert mobility(mech).ground_contact_scales_at("b1", POINT) == pytest.approx(alone)


def test_a_dof_that_a_loop_locks_has_the_inertia_of_the_open_tree():
    """Its mobility is rounding: the inverse of that would scale its friction by 1e30."""
    open_, locked = (chain(1) for _ in range(2))
    for mech in (open_, locked):
        mech.add_body("arm", MASS, (INERTIA, 2.0 * INERTIA, 2.0 * INERTIA), (0.3, 0.2, 0.1))
        mech.add_joint("hinge", "revolute", "b0", "arm", (0.1, 0.1, 0.0), axis=(0.6, 0.0, 0.8))
    locked.add_joint("second", "spherical", "b0", "arm", (0.2, -0.1, 0.3))
    expected = mobility(open_).effective_inertias()
    np.testing.assert_allclose(mobility(locked).effective_inertias()[-1], expected[-1])


def test_a_dof_of_a_closing_joint_that_the_tree_locks_has_the_inertia_of_free_bodies():
    """A slide along the axis of a hinge: what is left of its mobility is rounding."""
    axis, place = np.array([0.6, 0.0, 0.8]), np.array([0.1, 0.1, 0.0])
    mech = chain(1)
    mech.add_body("arm", 2.0 * MASS, (INERTIA,) * 3, (0.3, 0.2, 0.1))
    mech.add_joint("hinge", "revolute", "b0", "arm", place, axis=axis)
    mech.add_joint("slide", "prismatic", "b0", "arm", place + 0.3 * axis, axis=axis)
    found = 0.0
    for name, mass in (("b0", MASS), ("arm", 2.0 * MASS)):
        arm = np.cross(place - mech.bodies[name].position, axis)
        found += 1.0 / mass + arm @ arm / INERTIA
    np.testing.assert_allclose(mobility(mech).closing_inertias(), 1.0 / found)
