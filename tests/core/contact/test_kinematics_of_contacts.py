"""Velocities of contacts at a guess of knot 3: their changes are those that increments make; and which are active."""

import numpy as np
import pytest

from scenes.pair_scenes import MEETS, meeting
from scenes.plain_python import (
    data_of,
    derivative_by_motion,
    evaluated_step,
    random_vector,
    step_of,
)
from scenes.touching_scenes import ball, capsule, cylinder, turned
from vigym import Simulator
from vigym.core.contact import kinematics
from vigym.core.contact.rolling import slip_change
from vigym.core.contact.segment_box import is_pair
from vigym.core.math.vectors import dot
from vigym.core.tables.plan import PAIR_NEAREST_CONTACT

H = 0.02
SPIN = (0.5, 0.3, -0.2, 2.0, -1.0, 3.0)
RNG = np.random.default_rng(0)
SHAPES = {
    "ball": (lambda: ball(0.1), "ball:floating"),
    "capsule": (lambda: capsule(0.08), "pill:floating"),
    "cylinder": (lambda: cylinder(0.18, turned(0.5, (1, 0, 0))), "can:floating"),
}
APART = {"ball-ball": 0.21, "ball-rod": 0.3, "ball-brick": 0.45, "rod-rod": 0.3, "rod-brick": 0.45}


def touching(name):
    """Data, step and first contact of a shape that spins on the ground, or of two bodies that meet."""
    if name in SHAPES:
        make, joint = SHAPES[name]
        mech, rates = make(), {joint: SPIN}
    else:
        mech, rates = meeting(name, apart=APART[name])
    sim = Simulator(mech, timestep=H)
    sim.reset(velocities=rates)
    assert sim.step().converged
    d, step, _ = evaluated_step(sim, H)
    contact = next(d.contact(c) for c in range(d.contact_count) if d.contact(c).active)
    return d, step, contact


@pytest.mark.parametrize("name", [*SHAPES, *MEETS])
def test_velocities_change_by_increments(name):
    """Of the nearest points of two bodies along the normal, in which no motion of the points counts."""
    d, step, contact = touching(name)
    bodies = [contact.body] + [contact.partner] * is_pair(contact)
    motions = {i: (random_vector(RNG), random_vector(RNG)) for i in bodies}
    for i, motion in motions.items():
        d.body(i).delta_position, d.body(i).delta_rotation = motion
        d.body(i).position_correction = d.body(i).rotation_correction = (0.0, 0.0, 0.0)
    kinematics.evaluate_contact_velocity(d, contact, step.knot2, step.knot3, 1.0 / step.h)
    motion = kinematics.contact_newton_increment(
        d, contact, contact.arm_lowest, contact.partner_arm_lowest
    )
    expected = dot(contact.normal3, motion) / H

    def evaluated():
        kinematics.evaluate_contact_velocity(d, contact, step.knot2, step.knot3, 1.0 / step.h)
        return contact.velocity

    found = derivative_by_motion(d, step, motions, evaluated)
    assert found[0] == pytest.approx(expected, rel=1e-5)
    if not is_pair(contact):
        shift, rotation = motions[contact.body]
        along = [dot(found[1:4], t) for t in (contact.tangent_1, contact.tangent_2)]
        slip = np.array(slip_change(contact, shift, rotation)) / H
        expected = [slip @ t for t in (contact.tangent_1, contact.tangent_2)]
        # as a rim tilts its lowest point runs along it, which slopes leave out
        assert along == pytest.approx(expected, rel=1e-5, abs=0.15 if name == "cylinder" else 0.0)
        turning = np.linalg.norm(rotation)
        assert found[4] == pytest.approx(dot(contact.normal3, rotation) / H, abs=0.05 * turning / H)


@pytest.mark.parametrize("name", [*SHAPES, MEETS[0]])
def test_open_joints_count_as_closed(name):
    """A motion that closes the joints changes velocities as an increment does."""
    d, step, contact = touching(name)
    velocities = []
    for motion in ((0.0, 0.0, 0.0), (1e-4, -2e-4, 3e-4)):
        d.body(contact.body).position_correction = motion
        kinematics.evaluate_contact_velocity(d, contact, step.knot2, step.knot3, 1.0 / step.h)
        velocities.append(np.array(contact.velocity))
    change = (velocities[1] - velocities[0]) * H
    normal = np.array(contact.normal3)
    assert change[0] == pytest.approx(normal @ (1e-4, -2e-4, 3e-4))
    flat = change[1:4] - normal * (normal @ change[1:4])
    assert flat == pytest.approx(np.array((1e-4, -2e-4, 3e-4)) - normal * change[0], abs=2e-6)


def test_a_normal_velocity_leads_from_the_gap_to_its_target():
    d, step, contact = touching("ball")
    height = d.pose(step.knot3, contact.body).position[2]
    assert contact.velocity[0] * H == pytest.approx(height - 0.1 - contact.gap_target, abs=1e-12)


@pytest.mark.parametrize(
    ("height", "speed", "active"), [(0.1, 0.0, True), (0.15, 0.0, False), (0.15, -1.0, True)]
)
def test_a_contact_is_active_that_a_few_steps_close(height, speed, active):
    """In four steps of 0.01 s: by 0.004 m of a fall, and by the speed."""
    sim = Simulator(ball(height), timestep=0.01)
    sim.reset(velocities={"ball:floating": (0.0, 0.0, 1.5 * speed, 0.0, 0.0, 0.0)})
    d, step = step_of(sim, 0.01)
    kinematics.detect_contacts(d, step.knot2, step.h, np.True_)
    assert bool(d.contact(0).active) == active
    assert d.contact(0).gap2 == pytest.approx(height - 0.1)
    d.contact(0).last_force = (1.0, 0.0, 0.0, 0.0)  # what had a force is
    kinematics.detect_contacts(d, step.knot2, step.h, np.True_)
    assert d.contact(0).active


def test_a_frame_of_two_bodies_is_halfway_between_them():
    mech, rates = meeting("ball-ball", apart=0.21)
    sim = Simulator(mech, timestep=H)
    sim.reset(velocities=rates)
    d, step = step_of(sim, H)
    kinematics.detect_contacts(d, step.knot2, step.h, np.True_)
    contact = d.contact(0)
    assert contact.active
    assert contact.gap2 == pytest.approx(0.01)
    own, partner = d.pose(step.knot2, contact.body), d.pose(step.knot2, contact.partner)
    at, other = np.add(own.anchor, contact.arm2), np.add(partner.anchor, contact.partner_arm2)
    assert at == pytest.approx(other)
    assert at == pytest.approx(0.5 * np.add(own.position, partner.position))
    kinematics.deactivate_pair_contacts(d)
    assert not contact.active
    assert not d.environment.any_active


def test_an_end_beside_the_nearest_point_is_left_to_it():
    mech, _ = meeting("rod-brick")
    d = data_of(Simulator(mech, timestep=H))
    nearest = next(
        d.contact(c) for c in range(d.contact_count) if d.contact(c).kind == PAIR_NEAREST_CONTACT
    )
    end = d.contact(nearest.index + 1)
    nearest.active, nearest.segment_parameter = True, 0.5
    for place, left in ((0.5, True), (0.9, False)):
        end.segment_parameter = place
        assert bool(kinematics.coincides_with_nearest_contact(d, end)) == left
