"""Contacts, motors, couplings, skates and wheels: what is stored, and one clear error for what cannot be."""

import copy
import pickle

import numpy as np
import pytest

import vigym
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.shapes import Box, Capsule, Cylinder, Shape, Sphere

ONE = (1.0, 1.0, 1.0)
NAN, INF = float("nan"), float("inf")


def arm(**options) -> Mechanism:
    """Bodies a (floats), b (hinge with effort), c (cylindrical), d (ball), e (slide); a hinge from a to e closes."""
    mech = Mechanism(**options)
    for name in "abcde":
        mech.add_body(name, 1.0, ONE)
    mech.add_joint("hinge", "revolute", "a", "b", (0, 0, 0), effort=2.0)
    mech.add_joint("bolt", "cylindrical", "a", "c", (0, 0, 0))
    mech.add_joint("ball", "spherical", "a", "d", (0, 0, 0))
    mech.add_joint("slide", "prismatic", "b", "e", (0, 0, 0))
    mech.add_joint("weld", "fixed", "a", "d", (0, 0, 0))
    mech.add_joint("closing", "revolute", "a", "e", (0, 0, 0))
    mech.add_frame("toe", "b", (0, 0, -1))
    return mech


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
    ball = mech.add_contact("foot", "b", (0, 0, -1), 0.1, restitution=1, torsion=0.01, direction=(0, 0, 2))
    box = mech.add_collision("trunk", "a", Box((1, 2, 3), position=(0.1, 0.2, 0.3)))
    assert dict(mech.collisions) == {"foot": ball, "trunk": box}
    assert (ball.body, ball.shape, ball.radius, ball.restitution, ball.torsion) == ("b", None, 0.1, 1.0, 0.01)
    assert (ball.position.tolist(), ball.direction.tolist()) == ([0.0, 0.0, -1.0], [0.0, 0.0, 1.0])
    assert (box.position.tolist(), box.radius, box.friction.tolist()) == ([0.1, 0.2, 0.3], 0.0, [0.8] * 3)
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


def test_without_ground_what_touches_is_kept_and_wheels_are_errors():
    mech = arm(ground=False)
    mech.add_contact("foot", "b", (0, 0, 0))
    mech.add_collision("ball", "b", Sphere(1))
    mech.add_collision("rod", "c", Capsule(0.1, 1))
    mech.add_pair("b", "c")
    assert mech.ground is None
    assert mech.contact_names == []
    assert mech.pairs == (("b", "c"),)
    with pytest.raises(vigym.MechanismError, match="wheel 'w': found a mechanism made without ground"):
        mech.add_wheel("w", "b", (0, 0, 0), (0, 1, 0), 0.1)
    assert not mech.wheels
    mech.ground = vigym.Ground()
    mech.add_wheel("w", "b", (0, 0, 0), (0, 1, 0), 0.1)
    assert mech.contact_names == ["foot", "ball", "rod:0", "rod:1"]


SURFACES = {
    "negative friction": ({"friction": -0.1}, "friction.*>= 0"),
    "negative friction across": ({"friction": (1, -0.1)}, "friction.*>= 0"),
    "nan friction": ({"friction": NAN}, "friction.*>= 0"),
    "infinite friction": ({"friction": INF}, "friction.*>= 0"),
    "four frictions": ({"friction": (1, 1, 1, 1)}, "along, across, backward"),
    "no friction": ({"friction": ()}, "along, across, backward"),
    "friction as text": ({"friction": "rubber"}, "friction.*>= 0"),
    "negative restitution": ({"restitution": -0.1}, "restitution.*>= 0"),
    "large restitution": ({"restitution": 1.1}, r"restitution.*\[0, 1\]"),
    "nan restitution": ({"restitution": NAN}, "restitution.*>= 0"),
    "negative torsion": ({"torsion": -1}, "torsion.*>= 0"),
    "nan torsion": ({"torsion": NAN}, "torsion.*>= 0"),
    "no direction": ({"direction": (0, 0, 0)}, "direction.*not zero"),
    "unknown body": ({"body": "z"}, "'z', expected one of: a, b, c, d, e"),
    "the world": ({"body": "world"}, "'world', expected one of: a"),
    "massless frame": ({"body": "toe"}, "'toe', a massless frame fixed in 'b', expected a body with mass"),
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
    with pytest.raises(vigym.MechanismError, match="collision 'more' of body 'c': found a cylinder"):
        mech.add_collision("more", "c", Cylinder(0.1, 1))
    assert mech.pairs == (("a", "c"),)
    assert list(mech.collisions) == ["ball", "tip", "rod", "drum"]


def test_motors_have_the_effort_of_their_joint_unless_they_bring_their_own():
    mech = arm()
    assert mech.add_motor("slide", kd=3.0, effort=INF) == vigym.mechanism.motors.Motor("slide", 0.0, 3.0, INF)
    motor = mech.add_motor("hinge", 10.0, 1.0)
    assert (motor.kp, motor.kd, motor.effort, motor.model) == (10.0, 1.0, 2.0, None)
    assert mech.motor_names == list(mech.motors) == ["hinge", "slide"]  # the tree's order, not that of adding
    assert mech.actuator_names == ["hinge"]


MOTORS = {
    "unknown joint": ({"joint": "knee"}, "'knee', expected one of: hinge"),
    "implicit joint": ({"joint": "a:floating"}, "expected one of: hinge"),
    "fixed joint": ({"joint": "mast"}, "fixed joint of 0 freedoms, expected one freedom"),
    "two freedoms": ({"joint": "bolt"}, "cylindrical joint of 2 freedoms, expected one freedom"),
    "three freedoms": ({"joint": "ball"}, "spherical joint of 3 freedoms, expected one freedom"),
    "closing joint": ({"joint": "closing"}, "closes a loop"),
    "second motor": ({"joint": "driven"}, "second motor"),
    "negative kp": ({"kp": -1}, "kp.*>= 0"),
    "nan kp": ({"kp": NAN}, "kp.*>= 0"),
    "infinite kp": ({"kp": INF}, "kp.*finite"),
    "negative kd": ({"kd": -1}, "kd.*>= 0"),
    "nan kd": ({"kd": NAN}, "kd.*>= 0"),
    "no gains": ({"kp": 0}, "kp 0 and kd 0"),
    "negative effort": ({"effort": -1}, "effort.*>= 0"),
    "nan effort": ({"effort": NAN}, "effort.*>= 0"),
    "no effort": ({"effort": None}, "None here and at the joint"),
    "not a model": ({"model": 16.0}, "expected None or a DCMotor"),
    "a model without position": ({"kp": 0, "kd": 1, "model": vigym.MINITAUR_MOTOR}, "kp 0 with a model"),
}


@pytest.mark.parametrize(("change", "message"), MOTORS.values(), ids=MOTORS.keys())
def test_impossible_motors_are_refused_and_change_nothing(change, message):
    mech = arm()
    for name, type in (("driven", "revolute"), ("mast", "fixed")):
        mech.add_body(f"body of {name}", 1.0, ONE)
        mech.add_joint(name, type, "e", f"body of {name}", (0, 0, 0))
    mech.add_motor("driven", 1.0, effort=1.0)
    before = mech.summary()
    with pytest.raises(vigym.MechanismError, match=message) as caught:
        mech.add_motor(**{"joint": "slide", "kp": 1.0, "effort": 1.0} | change)
    assert "motor" in str(caught.value)
    assert mech.summary() == before
    assert mech.motor_names == ["driven"]


def test_the_minitaur_motor_is_data():
    motor = vigym.MINITAUR_MOTOR
    assert isinstance(motor, vigym.DCMotor)
    assert (motor.voltage, motor.resistance, motor.torque_constant, motor.viscous) == (16.0, 0.186, 0.0954, 0.0)
    assert motor.currents == (0.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0)
    assert motor.torques == (0.0, 1.0, 1.9, 2.45, 3.0, 3.25, 3.5)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"voltage": 0}, "voltage.*> 0"),
        ({"resistance": -1}, "resistance.*> 0"),
        ({"torque_constant": NAN}, "torque_constant.*>= 0"),
        ({"viscous": -1}, "viscous.*>= 0"),
        ({"currents": (0, 2, 1)}, "currents.*increase from 0"),
        ({"currents": (1, 2, 3)}, "currents.*increase from 0"),
        ({"currents": (0,), "torques": (0,)}, "currents.*at least two"),
        ({"currents": 3}, "currents.*list of numbers"),
        ({"torques": (0, 1)}, "torques.*3 numbers"),
        ({"torques": (0, 2, 1)}, "nowhere fall"),
        ({"torques": (1, 2, 3)}, "from 0"),
        ({"torques": (0, 1, NAN)}, "finite"),
    ],
)
def test_impossible_motor_models_are_refused(change, message):
    good = {"voltage": 12, "resistance": 1, "torque_constant": 0.1, "currents": (0, 1, 2), "torques": (0, 1, 1)}
    assert vigym.DCMotor(**good).torques == (0.0, 1.0, 1.0)
    with pytest.raises(vigym.MechanismError, match=f"motor model.*{message}"):
        vigym.DCMotor(**good | change)


def test_couplings_are_stored():
    mech = arm()
    gear = mech.add_coupling("g", "gear", "slide", "hinge", ratio=-0.5, offset=0.1)
    screw = mech.add_coupling("s", "screw", "bolt.distance", "bolt.angle", ratio=0.01)
    assert dict(mech.couplings) == {"g": gear, "s": screw}
    assert (gear.type, gear.joint, gear.other, gear.ratio, gear.offset) == ("gear", "slide", "hinge", -0.5, 0.1)


COUPLINGS = {
    "taken name": ({"name": "old"}, "unique"),
    "unknown type": ({"type": "belt"}, "'belt', expected one of: gear, mimic, screw"),
    "unknown joint": ({"joint": "knee"}, "'knee', expected one of: hinge"),
    "unknown other": ({"other": "knee"}, "'knee', expected one of: hinge"),
    "several numbers": ({"joint": "bolt"}, "'bolt', expected one of"),
    "closing": ({"joint": "closing"}, "'closing', a coordinate of a joint that closes a loop"),
    "other closing": ({"other": "closing"}, "'closing', a coordinate of a joint that closes a loop"),
    "quaternion": ({"joint": "ball.qw"}, "'ball.qw', a coordinate of a spherical joint"),
    "floating": ({"other": "a:floating.x"}, "'a:floating.x', a coordinate of a floating joint"),
    "itself": ({"other": "slide"}, "'slide' following itself"),
    "round a circle": ({"joint": "hinge", "other": "bolt.distance"}, "'hinge' following itself"),
    "follows already": ({"joint": "bolt.distance"}, "follows already by 'old'"),
    "zero ratio": ({"ratio": 0}, "ratio: found 0"),
    "nan ratio": ({"ratio": NAN}, "ratio.*finite"),
    "infinite offset": ({"offset": INF}, "offset.*finite"),
    "screw of two joints": ({"type": "screw"}, "distance and angle of one cylindrical joint"),
    "screw upside down": ({"type": "screw", "joint": "bolt.angle", "other": "bolt.distance"}, "distance and angle"),
}


@pytest.mark.parametrize(("change", "message"), COUPLINGS.values(), ids=COUPLINGS.keys())
def test_impossible_couplings_are_refused_and_change_nothing(change, message):
    mech = arm()
    mech.add_coupling("old", "gear", "bolt.distance", "hinge")
    before = mech.summary()
    good = {"name": "c", "type": "gear", "joint": "slide", "other": "hinge"}
    with pytest.raises(vigym.MechanismError, match=message):
        mech.add_coupling(**good | change)
    assert mech.summary() == before
    mech.add_coupling(**good)
    assert list(mech.couplings) == ["old", "c"]


def test_skates_and_wheels_are_stored_and_checked():
    mech = arm()
    skate = mech.add_skate("s", "a", (1, 0, 0), (0, 2, 0))
    wheel = mech.add_wheel("w", "b", (0, 1, 0), (0, -3, 0), 0.1)
    assert (dict(mech.skates), dict(mech.wheels)) == ({"s": skate}, {"w": wheel})
    assert (skate.position.tolist(), skate.direction.tolist()) == ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0])
    assert (wheel.position.tolist(), wheel.axis.tolist(), wheel.radius) == ([0.0, 1.0, 0.0], [0.0, -1.0, 0.0], 0.1)
    before = mech.summary()
    skates = {"name": "t", "body": "a", "position": (0, 0, 0), "direction": (0, 1, 0)}
    wheels = {"name": "t", "body": "a", "position": (0, 0, 0), "axis": (0, 1, 0), "radius": 0.1}
    for add, good, change, message in (
        (mech.add_skate, skates, {"name": "w"}, "skate 'w'.*unique"),
        (mech.add_skate, skates, {"body": "toe"}, "skate 't' body.*massless frame"),
        (mech.add_skate, skates, {"position": (0, NAN, 0)}, "skate 't' position.*3 finite"),
        (mech.add_skate, skates, {"direction": (0, 0, 0)}, "skate 't' direction.*not zero"),
        (mech.add_wheel, wheels, {"name": "s"}, "wheel 's'.*unique"),
        (mech.add_wheel, wheels, {"body": "z"}, "wheel 't' body.*expected one of"),
        (mech.add_wheel, wheels, {"axis": (0, 0, 0)}, "wheel 't' axis.*not zero"),
        (mech.add_wheel, wheels, {"radius": 0}, "wheel 't' radius.*> 0"),
        (mech.add_wheel, wheels, {"radius": NAN}, "wheel 't' radius.*finite"),
    ):
        with pytest.raises(vigym.MechanismError, match=message):
            add(**good | change)
    assert mech.summary() == before


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
        assert (twin.contact_names, twin.motor_names, twin.pairs) == (mech.contact_names, ["hinge"], (("a", "c"),))
        assert twin.motors == mech.motors
        assert twin.couplings == mech.couplings
        arrays = (twin.collisions["foot"].friction, twin.skates["s"].position, twin.wheels["w"].axis)
        assert not any(array.flags.writeable for array in arrays)
        np.testing.assert_array_equal(arrays[0], [1.0, 0.5, 1.0])
        twin.add_contact("other", "b", (0, 0, 0))
    assert "other" not in mech.collisions
