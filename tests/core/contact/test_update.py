"""Forces of contacts after an increment, after a part of it, and those of the solution."""

import numpy as np
import pytest

from scenes.plain_python import Fields, derivative_by_motion, evaluated_step, solved_step
from scenes.touching_scenes import leaning_rates, leaning_wheel, puck
from vigym import Simulator
from vigym.core.contact import update
from vigym.core.contact.kinematics import evaluate_contact_velocities
from vigym.core.contact.laws.no_slip import is_nonholonomic

H = 0.01
ONE = np.float64(1.0)


def sliding(spin=6.0):
    sim = Simulator(puck(torsion=0.02), timestep=H)
    sim.reset(velocities={"puck:floating": (1.0, 0.4, 0.0, 0.0, 0.0, spin)})
    return sim


def rolling():
    sim = Simulator(leaning_wheel(), timestep=H)
    sim.reset(velocities={"free": leaning_rates((0.1, 3.0, 0.8))})
    return sim


@pytest.mark.parametrize("make", [sliding, rolling])
def test_velocities_after_an_increment_are_those_that_its_motion_makes(make):
    d, step, _ = evaluated_step(make(), H)
    rows = [d.contact(c) for c in range(d.contact_count) if d.contact(c).active]
    before = [np.array(row.velocity) for row in rows]
    body, o = d.body(1), (0.0, 0.0, 0.0)
    body.delta_position, body.delta_rotation = (0.3, -0.2, 0.1), (0.2, 0.3, -0.1)
    body.position_correction = body.rotation_correction = o
    for row in rows:
        update.update_contact_after_increment(d, row, 1.0 / step.h)
    found = [np.array(row.velocity_next) - start for row, start in zip(rows, before, strict=True)]

    def velocities():
        evaluate_contact_velocities(d, step.knot2, step.knot3, step.h)
        return [row.velocity for row in rows]

    motion = {1: (body.delta_position, body.delta_rotation)}
    expected = derivative_by_motion(d, step, motion, velocities)
    for row, change, other in zip(rows, found, expected, strict=True):
        normal = np.array(row.normal2)
        if is_nonholonomic(row):
            assert change[1:3] == pytest.approx(other[1:3], rel=1e-5, abs=1e-6)
            continue
        flat, other_flat = (v[1:4] - normal * (normal @ v[1:4]) for v in (change, other))
        assert change[0] == pytest.approx(other[0], rel=1e-6)
        assert flat == pytest.approx(other_flat, rel=1e-4, abs=1e-4)


def test_near_the_solution_an_increment_leads_to_the_laws():
    """They are linear there."""
    for number, most in ((1, 1e3), (4, 1e-6)):
        d, step, found = evaluated_step(sliding(), H, number)
        assert found.nonsmooth
        assert found.errors.largest * d.environment.force_scale <= most
        squared = update.squared_law_errors_of_contacts(d, ONE, 1.0 / step.h, 1e-5)
        assert squared == pytest.approx(found.errors.squared, abs=1e-12)


@pytest.mark.parametrize("active", [True, False])
def test_forces_and_duals_move_by_a_part_of_their_way(active):
    start, end = (1.0, 2.0, 3.0, 4.0), (5.0, 0.0, 3.0, -4.0)
    seen, after = (0.0,) * 5, (1.0, 2.0, 3.0, 4.0, 5.0)
    row = Fields(
        active=np.bool_(active),
        force=start,
        affine_force=end,
        velocity_seen=seen,
        velocity_next=after,
    )
    row.dual, row.dual_next = (1.0, 2.0), (3.0, 6.0)
    d = Fields(contact_count=1, contact=lambda c: row, features={"contacts"})
    update.step_contact_force(row, 0.5, np.False_)
    assert row.force == start
    for length in (0.5, 1.0):
        update.step_contact_force(row, length, np.True_)
        update.step_duals(d, length, np.True_)
        goal = np.array(end) * active
        assert row.force == pytest.approx(np.array(start) + length * (goal - start))
        assert row.dual == ((1.0 + 2.0 * length, 2.0 + 4.0 * length) if active else (1.0, 2.0))
        start = row.force
        row.force, row.dual = row.force, (1.0, 2.0)
    assert row.velocity_seen == pytest.approx(after)
    update.clear_duals(d)
    assert row.dual[0] == 0.0


def test_forces_of_the_solution_have_the_power_of_their_law():
    """At the end of the step they brake the slide, and the normal velocity is none."""
    d, step, _ = solved_step(sliding(0.0), H)
    pose = d.pose(step.knot3, 1)
    for c in range(d.contact_count):
        row, arm = d.contact(c), d.contact(c).arm2
        force = np.array(row.converged_world_force)
        assert force[2] == pytest.approx(row.converged_force[0])
        slip = np.add(pose.velocity, np.cross((0.0, 0.0, pose.angular_velocity[2]), arm))
        assert force[:2] @ slip[:2] == pytest.approx(
            -0.5 * force[2] * np.linalg.norm(slip[:2]), rel=1e-6
        )
        row.active = False
        update.accept_contact_force(d, row, np.True_)
        assert row.converged_world_force == (0.0, 0.0, 0.0)
