"""Held wrenches: force and torque at a pose, halves of both steps, and work along a known motion."""

import numpy as np
import pytest

from scenes.plain_python import data_of, random_vector, solved_step
from scenes.touching_scenes import ball
from vigym import Simulator
from vigym.core.body import wrenches
from vigym.core.model.context import knot_buffer

H = 0.01
RNG = np.random.default_rng(0)
FORCE, TORQUE, BODY_FORCE, BODY_TORQUE, POINT = (random_vector(RNG) for _ in range(5))
NAMES = "force", "torque", "body_force", "body_torque", "application"
LAST = (
    "last_applied_force",
    "last_applied_torque",
    "last_body_force",
    "last_body_torque",
    "last_application",
)


def held(values=(FORCE, TORQUE, BODY_FORCE, BODY_TORQUE, POINT)):
    """A ball that flies and spins; its wrench is held in this step, not in the last."""
    sim = Simulator(ball(5.0), timestep=H)
    sim.reset(velocities={"ball:floating": (1.0, 2.0, -1.0, 0.3, -0.5, 0.8)})
    sim.forces.apply("ball", (0.0, 0.0, 1.0))
    sim.step(substeps=2)
    d = data_of(sim)
    for name, last, value in zip(NAMES, LAST, values, strict=True):
        setattr(d.wrench(1), name, value)
        setattr(d.wrench(1), last, (0.0, 0.0, 0.0))
    return sim, d


def test_a_wrench_does_the_work_of_its_forces():
    """At a body's velocity and angular velocity."""
    _, d = held()
    pose = d.pose(knot_buffer(d, 0), 1)
    R = np.reshape(pose.rotation, (3, 3))
    force, torque = wrenches.present_wrench(d.wrench(1), pose)
    v, w = np.array(random_vector(RNG)), np.array(random_vector(RNG))  # w in body axes
    at_point = v + R @ np.cross(w, POINT)
    expected = at_point @ (np.array(FORCE) + R @ BODY_FORCE) + (R @ w) @ (
        np.array(TORQUE) + R @ BODY_TORQUE
    )
    assert np.dot(force, v) + np.dot(torque, w) == pytest.approx(expected)


def test_at_a_knot_there_are_halves_of_both_steps():
    _, d = held()
    knot, wrench = knot_buffer(d, 0), d.wrench(1)
    present = np.ravel(wrenches.present_wrench(wrench, d.pose(knot, 1)))
    assert np.ravel(wrenches.knot_wrench(d, 1, knot, 3.0)) == pytest.approx(0.5 * present)
    wrenches.store_wrenches(d, knot, 3.0, np.False_)
    assert wrench.last_applied_force == (0.0, 0.0, 0.0)
    wrenches.store_wrenches(d, knot, 3.0, np.True_)
    assert np.ravel((wrench.knot_force, wrench.knot_torque)) == pytest.approx(0.5 * present)
    assert np.ravel(wrenches.last_wrench(wrench, d.pose(knot, 1))) == pytest.approx(present)
    assert np.ravel(wrenches.knot_wrench(d, 1, knot, 3.0)) == pytest.approx(2.0 * present)
    body = d.body(1)
    body.history_force = body.history_torque = (0.0, 0.0, 0.0)
    body.force = body.torque = (0.0, 0.0, 0.0)
    largest = wrenches.add_wrenches(d, knot, 1.0)
    assert np.ravel((body.history_force, body.history_torque)) == pytest.approx(-present)
    assert largest == pytest.approx(np.abs(present[:3]).max())
    wrenches.add_wrench_impulses(d, knot, 0.5)
    assert body.force == pytest.approx(-0.25 * present[:3])
    wrenches.clear_wrenches(d)
    assert not np.any(wrenches.present_wrench(wrench, d.pose(knot, 1)))


def test_a_force_that_is_fixed_in_the_world_works_along_the_way():
    o = (0.0, 0.0, 0.0)
    sim, d = held((FORCE, o, o, o, o))
    start = np.array(d.pose(knot_buffer(d, 0), 1).position)
    d, step, _ = solved_step(sim, H)
    way = np.array(d.pose(step.knot3, 1).position) - start
    work, absolute_work = wrenches.wrench_work(d, step.knot2, step.knot3, step.h)
    assert work == pytest.approx(way @ FORCE)
    assert absolute_work == pytest.approx(abs(way @ FORCE))


def test_a_torque_that_turns_with_the_body_works_along_its_turn():
    o = (0.0, 0.0, 0.0)
    sim, _ = held((o, o, o, (0.0, 0.0, 2.0), o))
    d, step, _ = solved_step(sim, H)
    turn = H * d.pose(step.knot3, 1).angular_velocity[2]
    assert wrenches.wrench_work(d, step.knot2, step.knot3, step.h)[0] == pytest.approx(
        2.0 * turn, rel=1e-4
    )
