"""Velocities at a knot: momenta of the last step, with the left halves of all impulses."""

import numpy as np
import pytest

from scenes.plain_python import data_of
from scenes.touching_scenes import ball, fixed_leg, slider
from vigym import Simulator
from vigym.core.kernels import knot_velocity
from vigym.core.model.context import knot_buffer

H = 0.01


def after_a_step(mech, velocities=None, **given):
    sim = Simulator(mech, timestep=H)
    sim.reset(velocities=velocities)
    assert sim.step(substeps=2, **given).converged
    d = data_of(sim)
    return d, knot_buffer(d, 0)


def test_a_fall_has_the_mean_of_both_steps():
    d, knot = after_a_step(ball(9.0), {"ball:floating": (1.0, 0.0, 2.0, 0.0, 0.0, 0.0)})
    assert not knot_velocity.solve_knot_velocities(d, knot, np.True_)
    assert d.body(1).delta_position == pytest.approx((1.0, 0.0, 2.0 - 0.02 * 9.81))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"damping": 8.0}, lambda v: v / (1.0 + 0.5 * H * 8.0)),
        ({"friction": 3.0}, lambda v: v - 0.5 * H * 3.0),
        ({"armature": 2.0}, lambda v: v),
    ],
)
def test_half_of_the_impulses_of_a_joint_act_up_to_the_knot(options, expected):
    d, knot = after_a_step(slider(**options), {"rail": 1.0})
    knot_velocity.solve_knot_velocities(d, knot, np.True_)
    v = d.pose(knot, 1).velocity[0]
    assert d.body(1).delta_position[0] == pytest.approx(expected(v), rel=1e-9)


@pytest.mark.parametrize("touching", [True, False])
def test_contacts_act_in_lanes_that_touch(touching):
    d, knot = after_a_step(ball(0.1, friction=0.0))
    knot_velocity.solve_knot_velocities(d, knot, np.bool_(touching))
    v = d.pose(knot, 1).velocity[2]
    assert d.body(1).delta_position[2] == pytest.approx(
        0.0 if touching else v - 0.5 * H * 9.81, abs=1e-6
    )


def test_where_forces_do_not_converge_the_last_velocities_stay():
    d, knot = after_a_step(ball(9.0), {"ball:floating": (1.0, 0.0, 2.0, 0.5, 0.0, 0.3)})
    body, pose = d.body(1), d.pose(knot, 1)
    body.delta_position = body.delta_rotation = (9.0, 9.0, 9.0)
    d.contact(0).affine_force = (1.0, 2.0, 3.0, 4.0)
    knot_velocity.fall_back_to_step_velocity(d, knot, np.False_)
    assert body.delta_position == (9.0, 9.0, 9.0)
    knot_velocity.fall_back_to_step_velocity(d, knot, np.True_)
    omega = np.reshape(pose.rotation, (3, 3)) @ pose.angular_velocity
    assert body.delta_rotation == pytest.approx(omega)
    assert body.delta_position == pytest.approx(np.add(pose.velocity, np.cross(omega, pose.arm)))
    assert d.contact(0).affine_force == (0.0,) * 4


def test_velocities_keep_loops_closed():
    d, knot = after_a_step(fixed_leg(), targets=[0.3, 0.2])
    knot_velocity.solve_knot_velocities(d, knot, np.True_)
    loop = d.first_loop
    closure = d.body(loop)
    anchor, speeds = np.array(d.pose(knot, loop).anchor), []
    for i in (closure.parent, closure.child):
        body = d.body(i)
        speeds.append(
            np.add(
                body.delta_position, np.cross(body.delta_rotation, anchor - d.pose(knot, i).anchor)
            )
        )
    assert speeds[0] == pytest.approx(speeds[1], abs=1e-7)
    assert np.linalg.norm(speeds[0]) > 1e-3


def test_laws_that_do_not_converge_at_a_knot_leave_the_velocities_of_the_step(monkeypatch):
    """No force of theirs acts at the knot then; which lanes these are is told."""
    d, knot = after_a_step(slider(friction=3.0), {"rail": 1.0})
    monkeypatch.setattr(
        knot_velocity,
        "update_bounded_forces",
        lambda d, *rest: (np.float64(1e9), np.float64(0.0), np.float64(1.0)),
    )
    assert knot_velocity.solve_knot_velocities(d, knot, np.True_)
    assert d.body(1).delta_position == pytest.approx(d.pose(knot, 1).velocity)
    assert d.dof(0).affine_forces == (0.0,) * 3
