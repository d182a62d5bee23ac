"""Contact forces in the equations: wrenches do the work of their components, blocks are their derivatives."""

import numpy as np
import pytest

from scenes.pair_scenes import meeting
from scenes.plain_python import Fields, derivative_by_motion, evaluated_step, random_vector
from scenes.touching_scenes import leaning_rates, leaning_wheel, puck
from vigym import Simulator
from vigym.core.contact import assembly
from vigym.core.contact.kinematics import evaluate_contact_velocities
from vigym.core.contact.laws.no_slip import is_nonholonomic

H, WEIGHT = 0.01, 1.3
RNG = np.random.default_rng(0)


def test_a_wrench_does_the_work_of_its_components():
    normal = (0.0, 0.6, 0.8)
    t1, t2 = (0.4, 0.0, 0.0), (0.0, 0.24, -0.18)
    contact = Fields(
        normal2=normal, scaled_tangent_1=t1, scaled_tangent_2=t2, arm2=(0.1, -0.2, 0.3)
    )
    components = 5.0, 1.0, -2.0, 0.7
    force, torque = assembly.contact_wrench(contact, components)
    v, w = np.array(random_vector(RNG)), np.array(random_vector(RNG))
    at = v + np.cross(w, contact.arm2)
    expected = sum(
        f * (at @ axis) for f, axis in zip(components, (normal, t1, t2), strict=False)
    ) + 0.7 * (w @ normal)
    assert np.dot(force, v) + np.dot(torque, w) == pytest.approx(expected)


def sliding():
    sim = Simulator(puck(torsion=0.02), timestep=H)
    sim.reset(velocities={"puck:floating": (1.0, 0.4, 0.0, 0.0, 0.0, 6.0)})
    return sim


def rolling():
    sim = Simulator(leaning_wheel(), timestep=H)
    sim.reset(velocities={"free": leaning_rates((0.1, 3.0, 0.8))})
    return sim


def scaled_change(row, change):
    """Change of the velocities that the slopes of a law belong to, from that of all velocities."""
    if is_nonholonomic(row):
        return np.array((change[0] * 0.0, change[1], change[2], 0.0))
    flat = change[1:4]
    spin = row.torsional_friction * change[4]
    return np.array((change[0], flat @ row.scaled_tangent_1, flat @ row.scaled_tangent_2, spin))


def slopes_of(row):
    k = np.zeros((4, 4))
    k[0, 0] = row.slope_nn
    k[1, 0] = row.slope_1n
    k[2, 0], k[3, 0] = row.slope_2n, row.slope_sn
    k[1, 1] = row.slope_11
    k[1, 2] = row.slope_12
    k[2, 1] = row.slope_21
    k[2, 2], k[3, 3] = row.slope_22, row.slope_ss
    return k


@pytest.mark.parametrize("make", [sliding, rolling])
def test_blocks_are_derivatives_of_the_residual_by_a_motion(make):
    d, step, _ = evaluated_step(make(), H, 2)
    rows = [d.contact(c) for c in range(d.contact_count) if d.contact(c).active]
    body, zero = d.body(1), (0.0,) * 9
    body.block_a = body.block_b = zero
    body.block_c = body.block_d = zero
    assembly.add_contact_stiffness(d, WEIGHT, 1.0 / step.h)
    A, B, C, D = (
        np.reshape(part, (3, 3))
        for part in (body.block_a, body.block_b, body.block_c, body.block_d)
    )
    shift, rotation = random_vector(RNG), random_vector(RNG)
    found = np.concatenate([A @ shift + B @ rotation, C @ shift + D @ rotation])

    def velocities():
        evaluate_contact_velocities(d, step.knot2, step.knot3, step.h)
        return [row.velocity for row in rows]

    expected = np.zeros(6)
    for row, change in zip(
        rows, derivative_by_motion(d, step, {1: (shift, rotation)}, velocities), strict=True
    ):
        force = -slopes_of(row) @ scaled_change(row, change)
        mu = row.torsional_friction
        expected -= WEIGHT * np.ravel(assembly.contact_wrench(row, (*force[:3], mu * force[3])))
    assert np.abs(expected).max() > 100.0
    assert found == pytest.approx(expected, rel=1e-4, abs=1e-4 * np.abs(expected).max())


def test_forces_on_a_body_are_those_of_all_contacts():
    d, _, _ = evaluated_step(sliding(), H, 2)
    body = d.body(1)
    body.force = body.torque = (0.0, 0.0, 0.0)
    assembly.add_contact_forces(d, WEIGHT)
    rows = [d.contact(c) for c in range(d.contact_count)]
    assert -body.force[2] == pytest.approx(WEIGHT * sum(row.affine_force[0] for row in rows))
    spins = sum(
        np.cross(row.arm2, assembly.contact_wrench(row, row.affine_force)[0]) for row in rows
    )
    own = sum(row.torsional_friction * row.affine_force[3] for row in rows)
    assert -body.torque[2] == pytest.approx(WEIGHT * (spins[2] + own))


def test_rows_of_two_bodies():
    """K is the change of the force by motions, B the wrench of a unit force; both bodies get opposite forces."""
    mech, rates = meeting("ball-ball", apart=0.205, friction=0.4)
    sim = Simulator(mech, timestep=H)
    sim.reset(velocities=rates)
    d, step, _ = evaluated_step(sim, H, 1)
    row = d.contact(0)
    assert row.active
    assembly.assemble_contact_rows(d, WEIGHT, 1.0 / step.h)
    motions = {i: (random_vector(RNG), random_vector(RNG)) for i in (row.body, row.partner)}

    def approach():
        evaluate_contact_velocities(d, step.knot2, step.knot3, step.h)
        return row.velocity[0]

    loop_row = d.loop_row(row.first_loop_row)
    ends = {row.body: d.fill_in(loop_row.endpoint_b), row.partner: d.fill_in(loop_row.endpoint_a)}
    found = sum(
        np.dot(ends[i].K_force, shift) + np.dot(ends[i].K_torque, rotation)
        for i, (shift, rotation) in motions.items()
    )
    assert abs(found) > 100.0
    assert found == pytest.approx(
        row.slope_nn * derivative_by_motion(d, step, motions, approach), rel=1e-5
    )
    for j, direction in enumerate((row.normal2, row.scaled_tangent_1, row.scaled_tangent_2)):
        loop_row = d.loop_row(row.first_loop_row + j)
        own, partner = d.fill_in(loop_row.endpoint_b), d.fill_in(loop_row.endpoint_a)
        assert own.B_force == pytest.approx(WEIGHT * np.array(direction))
        assert partner.B_force == pytest.approx(-WEIGHT * np.array(direction))
        assert own.B_torque == pytest.approx(WEIGHT * np.cross(row.arm2, direction))
        assembly.set_row_residuals(d, row)
        assert loop_row.residual == -row.affine_force[j]
