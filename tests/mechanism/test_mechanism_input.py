"""Bodies, joints and shapes no mechanism can have: one clear error each, and nothing is changed by it."""

import pytest

from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from vigym.mechanism.mechanism import Mechanism

ONE = (1.0, 1.0, 1.0)
NAN, INF = float("nan"), float("inf")


def two_bodies() -> Mechanism:
    mech = Mechanism()
    mech.add_body("a", 1.0, ONE)
    mech.add_body("b", 2.0, ONE)
    return mech


BAD_BODIES = {
    "name of a body": {"name": "a"},
    "the world's name": {"name": "world"},
    "empty name": {"name": ""},
    "blank name": {"name": "  "},
    "number as name": {"name": 3},
    "zero mass": {"mass": 0.0},
    "negative mass": {"mass": -1.0},
    "nan mass": {"mass": NAN},
    "infinite mass": {"mass": INF},
    "mass as text": {"mass": "heavy"},
    "zero inertia": {"inertia": (0.0, 0.0, 0.0)},
    "negative inertia": {"inertia": (1.0, 1.0, -0.1)},
    "nan inertia": {"inertia": (1.0, NAN, 1.0)},
    "triangle inequality": {"inertia": (1.0, 1.0, 2.00001)},
    "unsymmetric": {"inertia": [[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]},
    "indefinite": {"inertia": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]},
    "inertia shape": {"inertia": (1.0, 1.0)},
    "ragged inertia": {"inertia": [[1, 0], [0, 1, 0]]},
    "position shape": {"position": (0.0, 0.0)},
    "infinite position": {"position": (0.0, 0.0, INF)},
    "zero orientation": {"orientation": (0.0, 0.0, 0.0, 0.0)},
    "orientation shape": {"orientation": (1.0, 0.0, 0.0)},
    "not a shape": {"shapes": ["box"]},
    "bare shape": {"shapes": [Shape()]},
}


@pytest.mark.parametrize("change", BAD_BODIES.values(), ids=BAD_BODIES.keys())
def test_impossible_bodies_are_refused_and_change_nothing(change):
    mech = two_bodies()
    before = mech.summary()
    with pytest.raises(MechanismError, match="expected"):
        mech.add_body(**{"name": "c", "mass": 1.0, "inertia": ONE} | change)
    assert mech.summary() == before
    mech.add_body("c", 1.0, ONE)
    assert list(mech.bodies) == ["a", "b", "c"]


def test_rounding_of_a_lamina_is_no_reason_to_refuse():
    Mechanism().add_body("plate", 1.0, (1.0, 1.0, 2.0 * (1 + 1e-7)))


BAD_JOINTS = {
    "taken name": ({"name": "ab"}, "unique"),
    "empty name": ({"name": ""}, "non-empty"),
    "reserved name": ({"name": "c:floating"}, "reserved"),
    "unknown type": ({"type": "hinge"}, "'hinge', expected one of: fixed, revolute"),
    "unknown parent": ({"parent": "d"}, "'d', expected one of: world, a, b, c"),
    "unknown child": ({"child": "d"}, "'d', expected one of: a, b, c"),
    "world as child": ({"child": "world"}, "make the world the parent"),
    "self": ({"parent": "c"}, "two bodies"),
    "nan position": ({"position": (0, 0, NAN)}, "3 finite numbers"),
    "zero axis": ({"axis": (0, 0, 0)}, "not zero"),
    "axis2 without use": ({"axis2": (1, 0, 0)}, "axis2"),
    "universal without axis2": ({"type": "universal"}, "axis2"),
    "universal, skew axes": ({"type": "universal", "axis2": (1, 0, 1)}, "perpendicular"),
    "limits swapped": ({"limits": (1, -1)}, "lower <= upper"),
    "a limit as truth": (
        {"limits": (False, 1.0)},
        "limits: found .False, 1.0., expected .lower, upper.",
    ),
    "limits out of reach": ({"limits": (INF, INF)}, "lower one < inf"),
    "limits out of reach below": ({"limits": (-INF, -INF)}, "lower one < inf"),
    "nan limits": ({"limits": (NAN, 1)}, "lower <= upper"),
    "one limit for two": ({"type": "cylindrical", "limits": (-1, 1)}, "each of 2"),
    "limits of a ball": ({"type": "spherical", "limits": (-1, 1)}, "None for a spherical"),
    "negative damping": ({"damping": -1}, ">= 0"),
    "infinite damping": ({"damping": INF}, "finite"),
    "negative stiffness": ({"stiffness": -1}, ">= 0"),
    "limits of a floating joint": (
        {"type": "floating", "limits": 3 * [(-1, 1)]},
        "None for a floating",
    ),
    "limits beside a ball": (
        {"type": "point_on_plane", "limits": (-1, 1)},
        "each of 2 translations",
    ),
    "friction of a floating joint": ({"type": "floating", "friction": 0.1}, "those with a ball"),
    "rest of a ball": ({"type": "spherical", "rest": 0.1}, "expected 0"),
    "rest of wrong size": ({"rest": (0.1, 0.2)}, "1 finite"),
    "negative effort": ({"effort": -1}, ">= 0"),
    "nan effort": ({"effort": NAN}, ">= 0"),
    "negative armature": ({"armature": -1}, ">= 0"),
    "armature of a ball": ({"type": "spherical", "armature": 1}, "expected 0 for a spherical"),
    "negative friction": ({"friction": -0.1}, ">= 0"),
    "nan friction": ({"friction": NAN}, ">= 0"),
    "friction of two freedoms": (
        {"type": "cylindrical", "friction": 0.1},
        "of one degree of freedom",
    ),
    "effort of a fixed joint": ({"type": "fixed", "effort": 1}, "none for a fixed joint"),
    "damping of a fixed joint": ({"type": "fixed", "damping": 1}, "none for a fixed joint"),
}


@pytest.mark.parametrize(("change", "message"), BAD_JOINTS.values(), ids=BAD_JOINTS.keys())
def test_impossible_joints_are_refused_and_change_nothing(change, message):
    mech = two_bodies()
    mech.add_body("c", 1.0, ONE)
    mech.add_joint("ab", "revolute", "a", "b", (0, 0, 0))
    before = mech.summary()
    good = {"name": "bc", "type": "revolute", "parent": "b", "child": "c", "position": (0, 0, 0)}
    with pytest.raises(MechanismError, match=message) as caught:
        mech.add_joint(**good | change)
    assert "joint" in str(caught.value)
    assert mech.summary() == before
    mech.add_joint(**good)
    assert list(mech.joints) == ["ab", "bc"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Box((1, 1, 0)), lambda: Sphere(-1), lambda: Sphere(NAN), lambda: Cylinder(1, 0),
        lambda: Capsule(0, 1), lambda: Mesh("a.obj", (1, 0, 1)), lambda: Sphere(1, rgba=(2, 0, 0, 1)),
        lambda: Sphere(1, position=(0, 0)), lambda: Sphere(1, orientation=(0, 0, 0, 0)),
    ],
)  # fmt: skip
def test_impossible_shapes_are_refused(make):
    with pytest.raises(MechanismError, match="expected"):
        make()


@pytest.mark.parametrize(
    ("quantity", "value", "message"),
    [
        ("gravity", -1.62, r"gravity \[m/s\^2\]: found -1.62, expected 3 finite numbers"),
        ("gravity", (0, 0, NAN), "gravity .*, expected 3 finite numbers"),
        ("gravity", (0, 0, True), "gravity .*, expected 3 finite numbers"),
        ("ground", 0.0, "ground: found 0.0, expected None, True, False or Ground"),
        ("ground", "plane", "ground: found 'plane', expected None, True, False or Ground"),
    ],
)
def test_impossible_gravity_and_ground_are_refused_and_change_nothing(quantity, value, message):
    mech = Mechanism((0, 0, -1.62), ground=True)
    before = getattr(mech, quantity)
    with pytest.raises(MechanismError, match=message):
        setattr(mech, quantity, value)
    assert getattr(mech, quantity) is before
    with pytest.raises(MechanismError, match=message):
        Mechanism(**{quantity: value})
