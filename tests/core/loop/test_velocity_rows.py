"""Velocity constraints: derivatives of a term by motions of its body and frame, and rates along pushes."""

import numpy as np
import pytest

from scenes.plain_python import (
    Fields,
    derivative_by_motion,
    evaluated_step,
    random_vector,
    solved_step,
)
from vigym import Mechanism, Simulator
from vigym.core.body.pose import mean_rotation_rate
from vigym.core.loop import velocity_rows

H = 0.02
RNG = np.random.default_rng(0)


def tumbling():
    mech = Mechanism()
    for k in range(2):
        mech.add_body(f"b{k}", 1.0 + k, (0.1, 0.2, 0.25), (1.0 * k, 0.0, 0.0))
    mech.add_velocity_constraint(
        "row", {"b0": ((1.0, 0.0, 0.3), (0.0, 0.2, 0.0)), "b1": ((-1.0, 0.5, 0.0), (0.0,) * 3)}
    )
    sim = Simulator(mech, timestep=H)
    rates = RNG.normal(size=(2, 6))
    sim.reset(velocities={f"b{k}:floating": rates[k] for k in range(2)})
    return sim


def test_derivatives_of_a_term():
    d, step, _ = evaluated_step(tumbling(), H)
    term = Fields(body=1, frame=2, linear=random_vector(RNG), angular=random_vector(RNG))
    shift, turn, frame_turn = (random_vector(RNG) for _ in range(3))
    _, by_shift, by_rotation, by_frame = velocity_rows.term_derivatives(
        d, term, step.knot2, step.knot3
    )
    expected = np.dot(by_shift, shift) + np.dot(by_rotation, turn) + np.dot(by_frame, frame_turn)
    found = derivative_by_motion(
        d,
        step,
        {1: (shift, turn), 2: ((0.0, 0.0, 0.0), frame_turn)},
        lambda: velocity_rows.term_derivatives(d, term, step.knot2, step.knot3)[0],
    )
    assert found == pytest.approx(expected, rel=1e-6)


def test_a_term_over_a_step_and_back_is_none():
    """Odd in time: weights are means of both knots."""
    d, step, _ = evaluated_step(tumbling(), H)
    term = Fields(body=1, frame=2, linear=random_vector(RNG), angular=random_vector(RNG))
    ahead = velocity_rows.term_derivatives(d, term, step.knot2, step.knot3)[0]
    back = velocity_rows.term_derivatives(d, term, step.knot3, step.knot2)[0]
    assert ahead == pytest.approx(-back, rel=1e-9)
    assert abs(ahead) > 1e-3


def test_a_step_keeps_the_sum_of_velocities():
    d, step, _ = solved_step(tumbling(), H)
    motion = d.motion(0)
    assert velocity_rows.set_velocity_residual(d, motion, step.knot2, step.knot3) == pytest.approx(
        0.0, abs=1e-10
    )
    first, second = d.pose(step.knot3, 1), d.pose(step.knot3, 2)
    total = np.dot((1.0, 0.0, 0.3), first.velocity) + np.dot((-1.0, 0.5, 0.0), second.velocity)
    R = np.reshape(d.pose(step.knot2, 1).rotation, (3, 3))
    assert total + 0.2 * (R @ first.angular_velocity)[1] == pytest.approx(0.0, abs=1e-3)
    motion.goal = motion.goal + 0.5
    velocity_rows.set_velocity_residual(d, motion, step.knot2, step.knot3)
    assert d.loop_row(motion.loop_row).residual == pytest.approx(-0.5)


def test_rows_at_bodies_push_along_their_weights():
    d, step, _ = evaluated_step(tumbling(), H)
    motion = d.motion(0)
    velocity_rows.write_velocity_rows(d, step.knot2, step.knot3)
    for n in range(motion.first_term, velocity_rows.term_end(motion)):
        term = d.term(n)
        fill_in, arm = d.fill_in(term.body_fill_in), d.pose(step.knot2, term.body).arm
        assert fill_in.B_force == pytest.approx(term.linear)
        assert fill_in.B_torque == pytest.approx(
            np.array(term.angular) - np.cross(arm, term.linear)
        )
    rate = velocity_rows.push_rate(d, motion, step.knot2, step.knot2)
    for i in (1, 2):
        body, pose = d.body(i), d.pose(step.knot2, i)
        omega = np.reshape(pose.rotation, (3, 3)) @ pose.angular_velocity
        body.delta_rotation = tuple(omega)
        body.delta_position = tuple(pose.velocity + np.cross(omega, pose.arm))
    assert velocity_rows.push_rate_at_knot(d, motion, step.knot2) == pytest.approx(rate, rel=1e-3)
    velocity_rows.clear_velocity_rows(d)
    assert d.fill_in(d.term(0).body_fill_in).B_force == (0.0, 0.0, 0.0)


def towed():
    """Two bodies whose weights turn with one of them, and whose row pushes along directions of its own."""
    mech = Mechanism()
    for k in range(2):
        mech.add_body(f"b{k}", 1.0 + k, (0.1, 0.2, 0.25), (1.0 * k, 0.0, 0.0))
    terms = {"b0": ((1.0, 0.0, 0.3), (0.0, 0.2, 0.0)), "b1": ((-1.0, 0.5, 0.0), (0.0,) * 3)}
    pushes = {"b0": ((1.0, 0.2, 0.0), (0.0, 0.0, 0.1)), "b1": ((-1.0, 0.0, 0.4), (0.1, 0.0, 0.0))}
    mech.add_velocity_constraint("row", terms, 0.3, pushes, "b1")
    sim = Simulator(mech, timestep=H)
    rates = np.random.default_rng(1).normal(size=(2, 6))
    sim.reset(velocities={f"b{k}:floating": rates[k] for k in range(2)})
    return sim


def test_rows_of_a_body_and_of_its_frame_are_derivatives_of_the_residual():
    """Summed over the fill-in rows of each body, that of the frame among them."""
    d, step, _ = evaluated_step(towed(), H)
    motion = d.motion(0)
    velocity_rows.write_velocity_rows(d, step.knot2, step.knot3)
    motions = {i: (random_vector(RNG), random_vector(RNG)) for i in (1, 2)}
    rows = {}
    for n in range(motion.first_term, velocity_rows.term_end(motion)):
        term = d.term(n)
        assert (term.body, term.frame) in ((1, 2), (2, 2))
        for i, q in ((term.body, term.body_fill_in), (term.frame, term.frame_fill_in)):
            if q >= 0:
                rows[q] = i
    assert len(rows) == 2
    expected = sum(
        np.dot(d.fill_in(q).K_force, motions[i][0]) + np.dot(d.fill_in(q).K_torque, motions[i][1])
        for q, i in rows.items()
    )
    for i in (1, 2):  # of the tree's gaps, which are not differenced here
        d.body(i).position_correction = d.body(i).rotation_correction = (0.0, 0.0, 0.0)

    def residual():
        velocity_rows.set_velocity_residual(d, motion, step.knot2, step.knot3)
        return d.loop_row(motion.loop_row).residual

    found = derivative_by_motion(d, step, motions, residual)
    assert found == pytest.approx(expected, rel=1e-6)


def test_the_rate_along_pushes_is_the_power_of_a_unit_force():
    """In the mean of the velocities before and after a knot."""
    d, step, _ = solved_step(towed(), H)
    motion, expected = d.motion(0), 0.0
    assert motion.does_work
    R = np.reshape(d.pose(step.knot2, 2).rotation, (3, 3))
    pushes = {1: ((1.0, 0.2, 0.0), (0.0, 0.0, 0.1)), 2: ((-1.0, 0.0, 0.4), (0.1, 0.0, 0.0))}
    for i, (force, torque) in pushes.items():
        turned = np.reshape(d.pose(step.knot2, i).rotation, (3, 3))
        for knot in (step.knot2, step.knot3):
            pose = d.pose(knot, i)
            omega = turned @ mean_rotation_rate(pose)
            expected += 0.5 * (R @ force @ pose.velocity + R @ torque @ omega)
    size = d.term(motion.first_term).push[0]  # of 1: rows are scaled
    found = velocity_rows.velocity_row_rate(d, motion, step.knot2, step.knot3)
    assert found == pytest.approx(size * expected)
    for i in (1, 2):  # at a knot as before it
        body, pose = d.body(i), d.pose(step.knot2, i)
        omega = np.reshape(pose.rotation, (3, 3)) @ mean_rotation_rate(pose)
        body.delta_rotation = tuple(omega)
        body.delta_position = tuple(pose.velocity + np.cross(omega, pose.arm))
    before = velocity_rows.velocity_row_rate(d, motion, step.knot2, step.knot2)
    at_knot = velocity_rows.velocity_row_knot_rate(d, motion, step.knot2)
    assert at_knot == pytest.approx(before)
