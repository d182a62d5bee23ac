"""Bodies without mass between joints: several coordinates between two bodies, exactly."""

import re

import numpy as np
import pytest

from vigym import Mechanism, MechanismError, Simulator

X, Y, Z = np.eye(3)
NONE = (0.0, 0.0, 0.0)
FREE = (-np.inf, np.inf)


def bob(mech, aside=0.1):
    mech.add_body("bob", 1.0, (0.02, 0.03, 0.01), position=(0.0, aside, -0.5))


def chain(*joints, mass=0.0, inertia=NONE, place=NONE, aside=0.1, **more):
    """A bob on (type, axis) joints one after the other at the origin, links without mass between."""
    mech = Mechanism()
    before = "world"
    for k, (kind, axis) in enumerate(joints[:-1]):
        mech.add_body(f"link{k}", mass, inertia, place)
        mech.add_joint(f"j{k}", kind, before, f"link{k}", NONE, axis, **more)
        before = f"link{k}"
    bob(mech, aside)
    kind, axis = joints[-1]
    mech.add_joint(f"j{len(joints) - 1}", kind, before, "bob", place, axis, **more)
    return mech


def swing(mech, positions, velocities, steps=30, targets=None):
    sim = Simulator(mech, timestep=0.01)
    sim.reset(positions, velocities)
    found = []
    for _ in range(steps):
        assert sim.step(targets=targets).converged
        found.append(np.concatenate([sim.body_position("bob"), sim.joint_positions]))
    assert sim.metrics()["constraint_residual_max"] < 1e-12
    return np.array(found)


def universal(**more):
    mech = Mechanism()
    bob(mech)
    mech.add_joint("u", "universal", "world", "bob", NONE, X, axis2=Y, **more)
    return mech


@pytest.mark.parametrize("limits", [None, (-0.3, 0.25)])
def test_two_hinges_through_a_link_without_mass_are_a_universal_joint(limits):
    start = (0.2, 0.1), (1.0, 2.0)
    hinges = swing(chain(("revolute", X), ("revolute", Y), damping=0.1, limits=limits), *start)
    both = None if limits is None else [limits, limits]
    joint = swing(universal(damping=0.1, limits=both), *start)
    assert np.abs(hinges[:, 4]).max() > 0.2
    # both solve the same equations to 1e-10 of the forces
    np.testing.assert_allclose(hinges, joint, rtol=0.0, atol=1e-8)


def test_two_slides_and_a_hinge_are_a_planar_joint():
    joints = ("prismatic", X), ("prismatic", Y), ("continuous", Z)
    mech = Mechanism()
    bob(mech)
    mech.add_joint("p", "planar", "world", "bob", NONE, Z)
    start = (0.1, 0.2, 0.3), (1.0, -2.0, 4.0)
    np.testing.assert_allclose(
        swing(chain(*joints), *start), swing(mech, *start), rtol=0.0, atol=1e-8
    )


def test_motor_and_limit_act_on_one_of_two_hinges():
    joints = ("revolute", X), ("revolute", Y)
    hinges = chain(*joints, aside=0.0)
    hinges.add_motor("j1", kp=200.0, kd=20.0, effort=np.inf)
    angle = swing(hinges, NONE[:2], NONE[:2], steps=100, targets=[0.4])[-1, 4]
    # a weight of 9.81 N, 0.5 m from the hinge; the motor's error dies away as exp(-10 t)
    assert 200.0 * (0.4 - angle) == pytest.approx(9.81 * 0.5 * np.sin(angle), rel=1e-3)
    stopped = chain(*joints, aside=0.0, limits=(-0.3, 0.3))
    stopped.add_motor("j1", kp=200.0, kd=20.0, effort=np.inf)
    angles = swing(stopped, NONE[:2], NONE[:2], steps=60, targets=[0.4])[:, 4]
    assert angles[-1] == pytest.approx(0.3, abs=1e-6)
    assert angles.max() < 0.3 + 1e-6


def test_link_without_mass_is_the_limit_of_a_light_one():
    place = (0.2, 0.0, 0.0)
    start = (0.0, 0.0), (1.0, 1.0)
    joints = ("revolute", Y), ("revolute", X)
    none = swing(chain(*joints, place=place), *start)
    light = swing(chain(*joints, place=place, mass=1e-7, inertia=(1e-9,) * 3), *start)
    np.testing.assert_allclose(none, light, rtol=0.0, atol=1e-6)


def test_energy_is_kept_with_links_without_mass():
    sim = Simulator(chain(("revolute", X), ("revolute", Y)), timestep=0.005)
    sim.reset((0.3, 0.4), (2.0, 1.0))
    for _ in range(100):
        sim.step()
    assert abs(sim.metrics()["energy_balance"]) < 1e-3


def test_links_without_mass_keep_their_loop_closed():
    mech = chain(("revolute", X), ("revolute", Y))
    mech.add_body("rod", 1.0, (0.1, 0.1, 0.01), position=(0.5, 0.1, -0.5))
    mech.add_joint("ball", "spherical", "bob", "rod", (0.0, 0.1, -0.5))
    mech.add_joint("loop", "spherical", "world", "rod", (1.0, 0.1, -0.5))
    assert mech.degrees_of_freedom == 2
    sim = Simulator(mech, timestep=0.01)
    sim.reset()
    for _ in range(20):
        assert sim.step().converged
    assert np.max(sim.constraint_residual()) < 1e-10


def test_motions_that_move_no_mass_are_named():
    mech = Mechanism()
    bob(mech)
    mech.add_joint("hip", "revolute", "world", "bob", NONE, X)
    mech.add_body("tip", 0.0, NONE)
    mech.add_joint("end", "revolute", "bob", "tip", NONE, Y)
    with pytest.raises(MechanismError, match="a motion along 'end' moves no mass"):
        Simulator(mech)
    parallel = chain(("revolute", X), ("revolute", X))
    with pytest.raises(MechanismError, match=re.escape("along 'j0', 'j1' moves no mass")):
        Simulator(parallel)


def test_an_armature_moves_what_has_no_mass():
    swing(chain(("revolute", X), ("revolute", X), armature=0.01), (0.0, 0.0), (0.0, 1.0))


def test_mass_and_inertia_are_both_zero_or_none():
    mech = Mechanism()
    for mass, inertia in ((0.0, (1.0, 1.0, 1.0)), (1.0, NONE)):
        with pytest.raises(MechanismError, match="expected"):
            mech.add_body("a", mass, inertia)
    mech.add_body("a", 0.0, NONE)
    with pytest.raises(MechanismError, match="'a', which has no mass, expected a body with mass"):
        mech.add_contact("toe", "a", NONE)
