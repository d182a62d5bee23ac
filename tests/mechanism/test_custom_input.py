"""Joints of one's own: transforms that are refused, and what others say of such joints."""

from __future__ import annotations

import math

import numpy as np
import pytest

from scenes.custom_joints import five, held, hinge, screw
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.tracks.custom import evaluate_transform
from vigym.mechanism.tracks.slides import Slide

STILL = (1.0, 0.0, 0.0, 0.0)


def doubled(q):
    """Two coordinates that do the same."""
    return (q[0] + q[1], 0.0, 0.0), STILL


def lost(q):
    """A coordinate without effect at zero."""
    return (q[0] ** 2, 0.0, 0.0), STILL


WRONG = {
    "no function": (3.0, 0.0, "transform: found 3.0, expected a function"),
    "no pair": (lambda q: q, 0.0, "transform: found ValueError at complex numbers"),
    "shapes": (lambda q: ((q[0], 0.0), STILL), 0.0, r"found shapes \(\(2,\), \(4,\)\), expected"),
    "math": (lambda q: ((math.sin(q[0]), 0, 0), STILL), 0.0, "at complex numbers"),
    "not finite": (lambda q: ((1.0 / q[0], 0, 0), STILL), 0.0, "not finite"),
    "long quaternion": (lambda q: ((q[0], 0, 0), (1.1, 0, 0, 0)), 0.0, "no rotation at .* by 0.1"),
    "mirror": (lambda q: ((q[0], 0, 0), -np.eye(3)), 0.0, "found no rotation"),
    "abs": (lambda q: ((np.abs(q[0]), 0, 0), STILL), 0.5, "expected a smooth function without"),
    "alike": (doubled, (0.0, 0.0), "move the child alike or not at all"),
    "without effect": (lost, 0.0, "move the child alike or not at all"),
    "too many": (five, np.zeros(6), "start: found .* expected 1 to 5 finite numbers"),
    "not a number": (hinge, np.nan, "start: found nan, expected 1 to 5"),
}


def with_body():
    mech = Mechanism()
    mech.add_body("body", 1.0, (0.1, 0.1, 0.1), (0.0, 0.0, -0.3))
    return mech


@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
@pytest.mark.parametrize("name", WRONG)
def test_wrong_transforms_are_refused(name):
    transform, start, message = WRONG[name]
    mech = with_body()
    with pytest.raises(MechanismError, match=f"custom joint 'own'.*{message}"):
        mech.tracks.add_custom("own", "world", "body", transform, start)
    assert not mech.tracks


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"slides": 3.0}, "slides: found 3.0, expected 1"),
        ({"slides": (None, None)}, "expected 1, one for each coordinate: each a Slide or None"),
        ({"position": (0.0, 1.0)}, "custom joint 'own' position"),
        ({"parent": "body"}, "found 'body' twice"),
        ({"parent": "nobody"}, "body: found 'nobody'"),
    ],
)
def test_wrong_options_are_refused(options, message):
    mech = with_body()
    options = {"parent": "world", "child": "body", "transform": hinge} | options
    with pytest.raises(MechanismError, match=message):
        mech.tracks.add_custom("own", **options)


def test_one_slide_is_not_one_of_several():
    with pytest.raises(MechanismError, match=r"slides: found Slide\(.*expected 5, one for each"):
        held("five", Slide())


def test_what_numba_does_not_compile_is_an_error():
    def opaque(q):
        return {"x": (q[0], 0.0, 0.0)}["x"], eval("(1.0, 0.0, 0.0, 0.0)")

    mech = with_body()
    mech.tracks.add_custom("own", "world", "body", opaque)
    with pytest.raises(MechanismError, match="'own' transform: found a function that numba does"):
        Simulator(mech)


def test_derivatives_are_exact():
    _, _, twists = evaluate_transform(screw, np.array([0.7]))
    np.testing.assert_allclose(twists[:, 0], [0.0, 0.0, 0.05, 0.0, 0.0, 1.0], atol=1e-16)


def test_other_parts_say_what_they_cannot_do():
    mech = held("five", gravity=(0.0, 0.0, -9.81))
    assert "body in world by five of 5" in mech.summary()
    assert mech.degrees_of_freedom == 5
    assert "degrees of freedom: 5" in mech.summary()
    with pytest.raises(MechanismError, match="curve, surface or custom joint 'own': found one"):
        mech.to_urdf()
    with pytest.raises(MechanismError, match="found no coordinate of it, expected one of .'own:0'"):
        mech.add_motor("own", kp=1.0, effort=1.0)
    sim = Simulator(mech)
    with pytest.raises(ValueError, match="linearize: found curve or surface joint 'own'"):
        sim.linearize()
    with pytest.raises(ValueError, match="found the curve or surface joint 'own'"):
        sim.dynamics.forward()
    with pytest.raises(MechanismError, match="curve or surface joint: found 'own'"):
        sim.tracks.place("own")
    with pytest.raises(MechanismError, match="joint of your own: found 'off'"):
        sim.tracks.position("off")
