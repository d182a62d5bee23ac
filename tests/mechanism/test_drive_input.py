"""Motors, couplings, skates and wheels: what is stored, and one clear error for what cannot be."""

import pytest

import vigym
from scenes.arms import ONE, arm

NAN, INF = float("nan"), float("inf")


def test_motors_have_the_effort_of_their_joint_unless_they_bring_their_own():
    mech = arm()
    assert mech.add_motor("slide", kd=3.0, effort=INF) == vigym.mechanism.elements.motors.Motor(
        "slide", 0.0, 3.0, INF
    )
    motor = mech.add_motor("hinge", 10.0, 1.0)
    assert (motor.kp, motor.kd, motor.effort, motor.model) == (10.0, 1.0, 2.0, None)
    assert (
        mech.motor_names == list(mech.motors) == ["hinge", "slide"]
    )  # the tree's order, not that of adding
    assert mech.actuator_names == ["hinge"]


MOTORS = {
    "unknown joint": ({"joint": "knee"}, "'knee', expected one of: hinge"),
    "implicit joint": ({"joint": "a:floating"}, "expected one of: hinge"),
    "fixed joint": (
        {"joint": "mast"},
        "fixed joint of 0 degrees of freedom, expected one degree of freedom",
    ),
    "two freedoms": (
        {"joint": "bolt"},
        "cylindrical joint of 2 degrees of freedom, expected one degree",
    ),
    "three freedoms": (
        {"joint": "ball"},
        "spherical joint of 3 degrees of freedom, expected one degree",
    ),
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
    "a model without position": (
        {"kp": 0, "kd": 1, "model": vigym.MINITAUR_MOTOR},
        "kp 0 with a model",
    ),
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
    assert (motor.voltage, motor.resistance, motor.torque_constant, motor.viscous) == (
        16.0,
        0.186,
        0.0954,
        0.0,
    )
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
    good = {
        "voltage": 12,
        "resistance": 1,
        "torque_constant": 0.1,
        "currents": (0, 1, 2),
        "torques": (0, 1, 1),
    }
    assert vigym.DCMotor(**good).torques == (0.0, 1.0, 1.0)
    with pytest.raises(vigym.MechanismError, match=f"motor model.*{message}"):
        vigym.DCMotor(**good | change)


def test_couplings_are_stored():
    mech = arm()
    gear = mech.add_coupling("g", "gear", "slide", "hinge", ratio=-0.5, offset=0.1)
    screw = mech.add_coupling("s", "screw", "bolt.distance", "bolt.angle", ratio=0.01)
    assert dict(mech.couplings) == {"g": gear, "s": screw}
    assert (gear.type, gear.joint, gear.other, gear.ratio, gear.offset) == (
        "gear",
        "slide",
        "hinge",
        -0.5,
        0.1,
    )


COUPLINGS = {
    "taken name": ({"name": "old"}, "unique"),
    "unknown type": ({"type": "belt"}, "'belt', expected one of: gear, mimic, screw"),
    "unknown joint": ({"joint": "knee"}, "'knee', expected one of: hinge"),
    "unknown other": ({"other": "knee"}, "'knee', expected one of: hinge"),
    "several numbers": ({"joint": "bolt"}, "'bolt', expected one of"),
    "closing": ({"joint": "closing"}, "'closing', a coordinate of a joint that closes a loop"),
    "other closing": (
        {"other": "closing"},
        "'closing', a coordinate of a joint that closes a loop",
    ),
    "quaternion": ({"joint": "ball.qw"}, "'ball.qw', a coordinate of a spherical joint"),
    "floating": ({"other": "a:floating.x"}, "'a:floating.x', a coordinate of a floating joint"),
    "itself": ({"other": "slide"}, "'slide' following itself"),
    "round a circle": ({"joint": "hinge", "other": "bolt.distance"}, "'hinge' following itself"),
    "follows already": ({"joint": "bolt.distance"}, "follows already by 'old'"),
    "zero ratio": ({"ratio": 0}, "ratio: found 0"),
    "nan ratio": ({"ratio": NAN}, "ratio.*finite"),
    "infinite offset": ({"offset": INF}, "offset.*finite"),
    "screw of two joints": ({"type": "screw"}, "distance and angle of one cylindrical joint"),
    "screw upside down": (
        {"type": "screw", "joint": "bolt.angle", "other": "bolt.distance"},
        "distance and angle",
    ),
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
    assert (wheel.position.tolist(), wheel.axis.tolist(), wheel.radius) == (
        [0.0, 1.0, 0.0],
        [0.0, -1.0, 0.0],
        0.1,
    )
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
