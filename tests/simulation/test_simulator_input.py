"""Every kind of wrong input to a simulator: the message says what was found, the state stays, steps go on."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest

from scenes.moving import assert_works_as_before, motion, moving, pendulum, tree
from scenes.trees import TYPES, random_tree
from vigym import MechanismError, Simulator


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({"timestep": 0.0}, ("timestep", "0.0", "positive")),
        ({"timestep": -0.01}, ("timestep", "-0.01", "positive")),
        ({"timestep": np.nan}, ("timestep", "nan", "positive")),
        ({"timestep": np.inf}, ("timestep", "inf", "finite")),
        ({"order": 3}, ("order", "3", "2, 4, 6")),
        ({"order": [4]}, ("order", "[4]", "2, 4, 6")),
        ({"order": True}, ("order", "True", "2, 4, 6")),
        ({"order": None}, ("order", "None", "2, 4, 6")),
        ({"tolerance": 0.0}, ("tolerance", "0.0", "1e-14")),
        ({"tolerance": -1e-10}, ("tolerance", "-1e-10")),
        ({"tolerance": 1.0}, ("tolerance", "1.0")),
        ({"tolerance": np.nan}, ("tolerance", "nan")),
        ({"batch": 0}, ("batch", "0", "at least 1")),
        ({"batch": -1}, ("batch", "-1", "at least 1")),
        ({"batch": 1.5}, ("batch", "1.5", "whole number")),
        ({"batch": np.nan}, ("batch", "nan", "whole number")),
        ({"threads": 2}, ("threads", "2", "1")),
        ({"threads": 0}, ("threads", "0", "1")),
    ],
)
def test_wrong_options(options, parts):
    with pytest.raises(ValueError, match="found") as caught:
        Simulator(pendulum(), **options)
    assert all(part in str(caught.value) for part in parts), str(caught.value)


@pytest.mark.parametrize("order", [4, 6])
def test_higher_orders_need_a_system_without_damping(order):
    with pytest.raises(ValueError, match=f"order={order}: found joint 'pin', damped"):
        Simulator(pendulum(damping=0.1), order=order)


@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_torques_that_are_not_finite(value, batch):
    sim = moving(tree(), batch=batch)
    before, torques = (
        motion(sim),
        np.zeros(np.shape(sim.time) + (len(sim.mechanism.actuator_names),)),
    )
    torques[..., 3] = value
    with pytest.raises(ValueError, match=f"torques: found {value}.*expected finite"):
        sim.step(torques)
    assert_works_as_before(sim, before)


@pytest.mark.parametrize(
    ("batch", "wrong"), [(None, (3, 0)), (3, (0,)), (None, (1, 0)), (None, (-1,)), (3, (2, 0))]
)
def test_torques_of_the_wrong_shape(batch, wrong):
    """The last number of `wrong` counts from that of the actuators."""
    sim = moving(tree(), batch=batch)
    count = len(sim.mechanism.actuator_names)
    before, right = motion(sim), (count,) if batch is None else (3, count)
    wrong = (*wrong[:-1], wrong[-1] + count)
    with pytest.raises(ValueError, match="torques: found shape") as caught:
        sim.step(np.zeros(wrong))
    assert f"found shape {wrong}, expected {right}" in str(caught.value)
    with pytest.raises(ValueError, match="torques: found shape"):
        sim.step(0.0)
    assert_works_as_before(sim, before)


@pytest.mark.parametrize("substeps", [0, -1, 1.5, np.nan, np.inf])
def test_wrong_substeps(substeps):
    sim = moving(tree())
    before = motion(sim)
    with pytest.raises(ValueError, match=f"substeps: found {substeps}, expected a whole number"):
        sim.step(substeps=substeps)
    assert_works_as_before(sim, before)


RESETS = [
    ({"positions": {"nope": 1.0}}, ("positions", "'nope'", "j1", "root")),
    ({"velocities": {"nope": 1.0}}, ("velocities", "'nope'", "j1")),
    ({"positions": {"j1": (1.0, 2.0)}}, ("'j1'", "(2,)", "(1,)")),
    ({"positions": {"j1": np.nan}}, ("'j1'", "nan", "finite")),
    ({"positions": {"j2": (np.inf, 0.0, 0.0, 0.0)}}, ("'j2'", "inf", "finite")),
    ({"velocities": {"j1": -np.inf}}, ("'j1'", "-inf", "finite")),
    ({"velocities": {"j2": (0.0, 0.0)}}, ("'j2'", "(2,)", "(3,)")),
    ({"positions": np.zeros(4)}, ("positions", "(4,)", "expected")),
    ({"velocities": np.zeros(4)}, ("velocities", "(4,)", "expected")),
    ({"positions": {"j1": True}}, ("positions of 'j1'", "found True", "real numbers")),
    ({"positions": {"j1": "0.5"}}, ("positions of 'j1'", "found '0.5'", "real numbers")),
    ({"velocities": {"j2": (0.0, True, 0.0)}}, ("velocities of 'j2'", "True", "real numbers")),
    ({"positions": {"j2": np.zeros(4)}}, ("quaternion", "length 0", "length 1")),
    ({"base": {"root": {"orientation": np.zeros(4)}}}, ("quaternion", "length 0")),
    ({"base": {"root": {"orientation": np.ones(3)}}}, ("'root'", "orientation", "(3,)", "(4,)")),
    ({"base": {"root": {"position": (0.0, np.nan, 0.0)}}}, ("'root'", "position", "nan")),
    ({"base": {"root": {"pose": np.zeros(3)}}}, ("'root'", "'pose'", "position, orientation")),
    ({"base": {"b1": {"position": np.zeros(3)}}}, ("base", "'b1'", "root")),
    ({"base": {"nope": {}}}, ("base", "'nope'", "root")),
]


@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize(("wrong", "parts"), RESETS)
def test_wrong_resets(wrong, parts, batch):
    sim = moving(random_tree(1, ["fixed", "revolute", "spherical"], to_world=False), batch=batch)
    before = motion(sim)
    with pytest.raises(MechanismError) as caught:
        sim.reset(**wrong)
    assert all(part in str(caught.value) for part in parts), str(caught.value)
    assert_works_as_before(sim, before)


@pytest.mark.parametrize(
    "mask", [[True, False], [1, 0, 1], True, [[True, False, True]], np.ones(3)]
)
def test_wrong_masks(mask):
    sim = moving(tree(), batch=3)
    before, state = motion(sim), sim.state
    for wrong in (lambda: sim.reset(mask=mask), lambda: sim.set_state(state, mask)):
        with pytest.raises(ValueError, match=r"mask: found .* expected bool of shape \(3,\)"):
            wrong()
    assert_works_as_before(sim, before)


def test_one_environment_has_no_mask_to_choose_from():
    sim = moving(tree())
    before, state = motion(sim), sim.state
    for wrong in (
        lambda: sim.reset(mask=[True, False]),
        lambda: sim.set_state(state, [True, False]),
    ):
        with pytest.raises(ValueError, match="mask: found"):
            wrong()
    assert_works_as_before(sim, before)


@pytest.mark.parametrize("batch", [None, 3])
def test_wrong_states(batch):
    sim = moving(tree(), batch=batch)
    before, state = motion(sim), sim.state
    holed = state.copy()
    holed[..., 20] = np.nan
    # the last: quaternions of length zero
    for wrong in (
        state[..., :-1],
        state[..., None],
        holed,
        np.append(state, 0.0),
        1.0,
        np.zeros_like(state),
    ):
        with pytest.raises(ValueError, match="state: found"):
            sim.state = wrong
        np.testing.assert_array_equal(sim.state, state)
    assert_works_as_before(sim, before)


def test_a_state_of_another_mechanism():
    sim = moving(tree())
    with pytest.raises(ValueError, match="state: found shape"):
        sim.state = moving(random_tree(0, TYPES[:4])).state


@pytest.mark.parametrize(
    "read", ["body_position", "body_orientation", "body_velocity", "body_angular_velocity"]
)
def test_unknown_bodies(read):
    sim = Simulator(pendulum())
    with pytest.raises(MechanismError, match="body: found 'leg', expected one of arm"):
        attrgetter(read)(sim)("leg")


@pytest.mark.parametrize(
    "read", ["body_position", "body_angular_velocity", "dynamics.point_jacobian"]
)
def test_unknown_frames(read):
    mech = pendulum()
    mech.add_frame("camera", "arm")
    sim = Simulator(mech)
    expected = "body: found 'camrea', expected one of arm, camera, world"
    with pytest.raises(MechanismError, match=expected):
        attrgetter(read)(sim)("camrea")


@pytest.mark.parametrize("option", ["timestep", "order", "tolerance", "batch"])
def test_options_stay_as_they_were_checked(option):
    sim = Simulator(pendulum())
    with pytest.raises(AttributeError):
        setattr(sim, option, 3)
    assert sim.step().converged
