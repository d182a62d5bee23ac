"""Contacts, collisions, pairs and grounds: what is stored, and one clear error for what cannot be."""

import copy
import pickle

import numpy as np
import pytest

import vigym
from scenes.arms import ONE, arm
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Shape, Sphere

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("friction", "stored"),
    [(0.5, (0.5, 0.5, 0.5)), ((1, 0.2), (1, 0.2, 1)), ((1, 0.2, 3), (1, 0.2, 3)), (0, (0, 0, 0))],
)
def test_friction_is_stored_along_across_and_backward(friction, stored):
    mech = arm()
    contact = mech.add_contact("foot", "b", (0, 0, -1), friction=friction)
    assert contact.friction.tolist() == list(stored)
    assert vigym.Ground(friction=friction).friction.tolist() == list(stored)
    assert vigym.Ground().friction is None
    with pytest.raises(ValueError, match="read-only"):
        contact.friction[0] = 1.0


def test_contacts_and_collisions_are_stored_in_normal_form():
    mech = arm()
    ball = mech.add_contact(
        "foot", "b", (0, 0, -1), 0.1, restitution=1, torsion=0.01, direction=(0, 0, 2)
    )
    box = mech.add_collision("trunk", "a", Box((1, 2, 3), position=(0.1, 0.2, 0.3)))
    assert dict(mech.collisions) == {"foot": ball, "trunk": box}
    assert (ball.body, ball.shape, ball.radius, ball.restitution, ball.torsion) == (
        "b",
        None,
        0.1,
        1.0,
        0.01,
    )
    assert (ball.position.tolist(), ball.direction.tolist()) == ([0.0, 0.0, -1.0], [0.0, 0.0, 1.0])
    assert (box.position.tolist(), box.radius, box.friction.tolist()) == (
        [0.1, 0.2, 0.3],
        0.0,
        [0.8] * 3,
    )
    assert (box.restitution, box.torsion, box.direction.tolist()) == (0.0, 0.0, [1.0, 0.0, 0.0])
    assert mech.bodies["a"].shapes == ()


def test_what_touches_makes_the_ground_that_is_not_there():
    for add in (
        lambda mech: mech.add_contact("foot", "b", (0, 0, 0)),
        lambda mech: mech.add_collision("ball", "b", Sphere(1)),
        lambda mech: mech.add_wheel("wheel", "b", (0, 0, 0), (0, 1, 0), 0.1),
    ):
        mech = arm()
        add(mech)
        assert (mech.ground.height, mech.ground.normal.tolist()) == (0.0, [0.0, 0.0, 1.0])
        tilted = arm(ground=vigym.Ground(0.2, (0, 1, 1)))
        add(tilted)
        assert tilted.ground.height == 0.2
    mech = arm()
    mech.add_skate("skate", "b", (0, 0, 0), (0, 1, 0))
    assert mech.ground is None


@pytest.mark.parametrize("before", [None, False, True])
@pytest.mark.parametrize("given", [None, False, True, vigym.Ground(0.2, (0, 1, 1))])
def test_ground_is_set_as_it_is_given(before, given):
    set_later, made = arm(ground=before), arm(ground=given)
    set_later.ground = given
    for mech in (set_later, copy.deepcopy(set_later), pickle.loads(pickle.dumps(set_later))):
        assert repr(mech.ground) == repr(made.ground)
        mech.add_contact("foot", "b", (0, 0, 0))
    made.add_contact("foot", "b", (0, 0, 0))
    assert repr(set_later.ground) == repr(made.ground)
    assert set_later.summary() == made.summary()


def test_without_ground_what_touches_is_kept_and_wheels_are_errors():
    mech = arm(ground=False)
    mech.add_contact("foot", "b", (0, 0, 0))
    mech.add_collision("ball", "b", Sphere(1))
    mech.add_collision("rod", "c", Capsule(0.1, 1))
    mech.add_pair("b", "c")
    assert mech.ground is None
    assert mech.ground_contact_names == []
    assert mech.contact_names == ["ball/rod"]
    assert mech.pairs == (("b", "c"),)
    with pytest.raises(
        vigym.MechanismError, match="wheel 'w': found a mechanism made without ground"
    ):
        mech.add_wheel("w", "b", (0, 0, 0), (0, 1, 0), 0.1)
    assert not mech.wheels
    mech.ground = vigym.Ground()
    mech.add_wheel("w", "b", (0, 0, 0), (0, 1, 0), 0.1)
    wheel = [f"w:{i}" for i in range(4)]
    assert mech.contact_names == ["foot", "ball", "rod:0", "rod:1", *wheel, "ball/rod"]


SURFACES = {
    "negative friction": ({"friction": -0.1}, "friction.*>= 0"),
    "negative friction across": ({"friction": (1, -0.1)}, "friction.*>= 0"),
    "nan friction": ({"friction": NAN}, "friction.*>= 0"),
    "infinite friction": ({"friction": INF}, "friction.*>= 0"),
    "four frictions": ({"friction": (1, 1, 1, 1)}, "along, across, backward"),
    "no friction": ({"friction": ()}, "along, across, backward"),
    "friction as text": ({"friction": "rubber"}, "friction.*>= 0"),
    "friction as a number in text": (
        {"friction": "0.5"},
        "friction: found '0.5', expected a number",
    ),
    "friction as truth": ({"friction": True}, "friction: found True, expected a number"),
    "one friction as truth": ({"friction": (1.0, np.True_)}, "friction.*expected a number"),
    "restitution as truth": (
        {"restitution": True},
        "restitution: found True, expected a finite number",
    ),
    "torsion as truth": ({"torsion": np.array(False)}, "torsion.*expected a finite number"),
    "negative restitution": ({"restitution": -0.1}, "restitution.*>= 0"),
    "large restitution": ({"restitution": 1.1}, r"restitution.*\[0, 1\]"),
    "nan restitution": ({"restitution": NAN}, "restitution.*>= 0"),
    "negative torsion": ({"torsion": -1}, "torsion.*>= 0"),
    "nan torsion": ({"torsion": NAN}, "torsion.*>= 0"),
    "no direction": ({"direction": (0, 0, 0)}, "direction.*not zero"),
    "unknown body": ({"body": "z"}, "'z', expected one of: a, b, c, d, e"),
    "the world": ({"body": "world"}, "'world', expected one of: a"),
    "massless frame": (
        {"body": "toe"},
        "'toe', a massless frame fixed in 'b', expected a body with mass",
    ),
    "taken name": ({"name": "old"}, "unique"),
    "name of a point": ({"name": "box:3"}, "unique"),
    "empty name": ({"name": ""}, "non-empty"),
}


@pytest.mark.parametrize("method", ["add_contact", "add_collision"])
@pytest.mark.parametrize(("change", "message"), SURFACES.values(), ids=SURFACES.keys())
def test_impossible_contacts_are_refused_and_change_nothing(method, change, message):
    mech = arm()
    mech.add_contact("old", "b", (0, 0, 0))
    mech.add_collision("box", "a", Box(ONE))
    before, mech.ground = mech.summary(), None
    good = {"name": "foot", "body": "b"} | (
        {"position": (0, 0, 0)} if method == "add_contact" else {"shape": Sphere(1)}
    )
    with pytest.raises(vigym.MechanismError, match=message):
        getattr(mech, method)(**good | change)
    assert mech.ground is None
    mech.ground = vigym.Ground()
    assert mech.summary() == before
    getattr(mech, method)(**good)
    assert mech.contact_names[-1] == "foot"


def test_points_of_a_shape_have_names_of_their_own():
    mech = arm()
    mech.add_contact("box:7", "b", (0, 0, 0))
    with pytest.raises(vigym.MechanismError, match="'box:7'.*unique"):
        mech.add_collision("box", "a", Box(ONE))
    assert list(mech.collisions) == ["box:7"]


@pytest.mark.parametrize(
    ("change", "message"),
    [({"position": (0, 0)}, "3 finite"), ({"position": (0, 0, NAN)}, "3 finite"), ({"radius": -1}, ">= 0"),
     ({"radius": NAN}, ">= 0"), ({"radius": INF}, "finite")],
)  # fmt: skip
def test_impossible_balls_are_refused(change, message):
    with pytest.raises(vigym.MechanismError, match=f"contact 'foot'.*{message}"):
        arm().add_contact(**{"name": "foot", "body": "b", "position": (0, 0, 0)} | change)


@pytest.mark.parametrize("shape", ["box", None, Shape()])
def test_what_is_no_shape_is_refused(shape):
    with pytest.raises(vigym.MechanismError, match="collision 'c' shapes.*expected Box"):
        arm().add_collision("c", "b", shape)


def test_impossible_grounds_are_refused():
    for wrong in (-1.0, NAN, (1, 2, 3, 4)):
        with pytest.raises(vigym.MechanismError, match="ground friction"):
            vigym.Ground(friction=wrong)


def test_impossible_pairs_are_refused():
    mech = arm()
    mech.add_collision("ball", "a", Sphere(1))
    mech.add_contact("tip", "b", (0, 0, 0))
    mech.add_collision("rod", "c", Capsule(0.1, 1))
    mech.add_collision("drum", "d", Cylinder(0.1, 1))
    mech.add_pair("a", "c")
    for a, b, message in (
        ("a", "z", "'z', expected one of"),
        ("toe", "a", "massless frame"),
        ("a", "a", "one body twice"),
        ("c", "a", "second pair"),
        ("a", "b", "no collision shape on 'b'"),
        ("a", "d", "collision 'drum' of body 'd': found a cylinder"),
    ):
        with pytest.raises(vigym.MechanismError, match=message):
            mech.add_pair(a, b)
    with pytest.raises(
        vigym.MechanismError, match="collision 'more' of body 'c': found a cylinder"
    ):
        mech.add_collision("more", "c", Cylinder(0.1, 1))
    assert mech.pairs == (("a", "c"),)
    assert list(mech.collisions) == ["ball", "tip", "rod", "drum"]


@pytest.mark.parametrize("apart", [0.0, 0.05])
def test_paired_rods_whose_ends_meet_in_their_hinge_are_refused(apart):
    """Whatever they do they touch at distance zero there; a shorter rod is taken."""
    mech = vigym.Mechanism(ground=False)
    for name, z in (("upper", 0.25), ("lower", -0.25)):
        mech.add_body(name, 1.0, (0.02, 0.02, 0.001), position=(0.0, 0.0, z))
        mech.add_collision(name, name, Capsule(0.02, 0.5 - 2.0 * apart))
    mech.add_joint("elbow", "revolute", "upper", "lower", (0.0, 0.0, 0.0), axis=(0, 1, 0))
    mech.add_pair("upper", "lower")
    if apart:
        assert vigym.Simulator(mech).contacts.gap.min() > 0.0
        return
    with pytest.raises(
        vigym.MechanismError, match="'upper' and 'lower' both through joint 'elbow'"
    ):
        vigym.Simulator(mech)


def test_pickles_and_copies_keep_everything():
    mech = arm()
    mech.add_contact("foot", "b", (0, 0, -1), friction=(1, 0.5))
    mech.add_collision("ball", "a", Sphere(1))
    mech.add_collision("rod", "c", Capsule(0.1, 1))
    mech.add_pair("a", "c")
    mech.add_motor("hinge", 10.0, 1.0, model=vigym.MINITAUR_MOTOR)
    mech.add_coupling("g", "gear", "slide", "hinge")
    mech.add_skate("s", "a", (1, 0, 0), (0, 2, 0))
    mech.add_wheel("w", "b", (0, 1, 0), (0, 1, 0), 0.1)
    for twin in (pickle.loads(pickle.dumps(mech)), copy.deepcopy(mech)):
        assert twin.summary() == mech.summary()
        assert (twin.contact_names, twin.motor_names, twin.pairs) == (
            mech.contact_names,
            ["hinge"],
            (("a", "c"),),
        )
        assert twin.motors == mech.motors
        assert twin.couplings == mech.couplings
        arrays = (
            twin.collisions["foot"].friction,
            twin.skates["s"].position,
            twin.wheels["w"].axis,
        )
        assert not any(array.flags.writeable for array in arrays)
        np.testing.assert_array_equal(arrays[0], [1.0, 0.5, 1.0])
        twin.add_contact("other", "b", (0, 0, 0))
    assert "other" not in mech.collisions
