"""Skates and wheels: no slip of what rolls, and derivatives of their velocities by motions."""

import numpy as np
import pytest

from scenes.plain_python import Fields, derivative_by_motion, random_vector, solved_step
from scenes.touching_scenes import leaning_rates, leaning_wheel, sleigh
from vigym import Simulator
from vigym.core.contact.kinematics import evaluate_no_slip_velocity, point_newton_increment
from vigym.core.contact.laws import no_slip
from vigym.core.tables.plan import SKATE, WHEEL

H = 0.01
RNG = np.random.default_rng(0)


def skating():
    sim = Simulator(sleigh(), timestep=H)
    sim.reset(velocities={"plane": (0.5, 0.0, 0.8)})
    return sim


def rolling():
    sim = Simulator(leaning_wheel(), timestep=H)
    sim.reset(velocities={"free": leaning_rates((0.1, 3.0, 0.8))})
    return sim


def holding(make):
    d, step, _ = solved_step(make(), H)
    contact = next(d.contact(c) for c in range(d.contact_count) if d.contact(c).kind >= SKATE)
    return d, step, contact


@pytest.mark.parametrize("make", [skating, rolling])
def test_what_a_step_holds_does_not_slip(make):
    d, step, contact = holding(make)
    evaluate_no_slip_velocity(d, contact, step.knot2, step.knot3, step.h)
    assert contact.velocity[1:3] == pytest.approx((0.0, 0.0), abs=1e-8)
    speed = np.linalg.norm(d.pose(step.knot3, contact.body).velocity)
    assert speed > 0.1  # and it moves
    pose = d.pose(step.knot3, contact.body)
    across = np.array(contact.no_slip_direction_1)
    pose.velocity = tuple(pose.velocity + 0.1 * across / np.linalg.norm(across))
    pose.position = tuple(pose.position + 0.1 * H * across / np.linalg.norm(across))
    evaluate_no_slip_velocity(d, contact, step.knot2, step.knot3, step.h)
    assert contact.velocity[1] == pytest.approx(0.1, rel=1e-4)


@pytest.mark.parametrize("make", [skating, rolling])
def test_velocities_change_by_motions_of_the_body(make):
    d, step, contact = holding(make)
    motion = random_vector(RNG), random_vector(RNG)
    body = d.body(contact.body)
    body.delta_position, body.delta_rotation = motion
    body.position_correction = body.rotation_correction = (0.0, 0.0, 0.0)
    evaluate_no_slip_velocity(d, contact, step.knot2, step.knot3, step.h)
    point = point_newton_increment(body, contact.arm_touching)
    expected = np.array(no_slip.change_of_no_slip_velocity(contact, point, motion[1])) / H

    def velocities():
        evaluate_no_slip_velocity(d, contact, step.knot2, step.knot3, step.h)
        return contact.velocity[1:3]

    found = derivative_by_motion(d, step, {contact.body: motion}, velocities)
    assert found == pytest.approx(expected, rel=1e-5, abs=1e-4)
    assert abs(found[0]) > 1.0


@pytest.mark.parametrize(
    ("kind", "gap", "grips"), [(SKATE, 1.0, True), (WHEEL, 0.9e-4, True), (WHEEL, 1.1e-4, False)]
)
def test_a_wheel_grips_where_it_touches_and_a_skate_always(kind, gap, grips):
    contact = Fields(kind=kind, radius=0.1, touching_point=1, point=2)
    assert bool(no_slip.find_gripping_lanes(Fields(), contact, np.float64(gap))) == grips
    assert no_slip.no_slip_point(contact) == (1 if kind == SKATE else 2)
