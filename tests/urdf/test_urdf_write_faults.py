"""What a URDF file cannot hold: an error where it would change the motion, a comment in the file where not."""

import pytest

from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.shapes import Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.urdf.convert.load import load_urdf


def hinge(type="continuous", **values):
    mech = Mechanism(name="m")
    mech.add_body("a", 1.0, (1, 1, 1))
    mech.add_joint("j", type, "world", "a", (0, 0, 0), **values)
    return mech


def free(change):
    mech = Mechanism(name="m")
    mech.add_body("a", 1.0, (1, 1, 1))
    mech.add_body("b", 1.0, (1, 1, 1))
    change(mech)
    return mech


def sticky(mech):
    mech.add_joint("j", "continuous", "a", "b", (0, 0, 0))
    mech.add_contact("c", "a", (0, 0, 0), friction=1e5)


def still():
    mech = hinge(velocity=0.0, effort=1.0)
    mech.add_motor("j", kp=1.0)
    return mech


def spring(mech):
    mech.add_joint("j", "continuous", "a", "b", (0, 0, 0))
    mech.add_spring("s\ufffe", "a", "b", (0, 0, 0), (0, 0, 1), 1.0, 1.0)


def hang(mech):
    mech.add_joint("j", "continuous", "world", "b", (0, 0, 0))


def scenery(mech):
    mech.add_joint("j", "continuous", "a", "b", (0, 0, 0))
    mech.add_world_shape(Sphere(radius=1.0))


def obstacle(mech):
    mech.add_joint("wall", "fixed", "world", "a", (0, 0, 0))
    mech.add_joint("j", "continuous", "world", "b", (0, 0, 0))
    for body in "ab":
        mech.add_collision(body, body, Sphere(radius=0.1))
    mech.add_pair("a", "b")


FAULTS = {
    "obstacle": (
        lambda: free(obstacle),
        "pair 'a', 'b': found 'a', which is fixed to the world, expected bodies that move",
    ),
    "gravity": (
        lambda: Mechanism(name="m", gravity=(0, 0, -1.62)),
        r"gravity: found \[0.0, 0.0, -1.62\], expected \(0.0",
    ),
    "limits of a hinge without end": (
        lambda: hinge(limits=(-1, 1)),
        r"joint 'j': found limits \[\[-1.0, 1.0\]\] on type 'continuous', expected one of: revolute, prismatic",
    ),
    "largest friction": (
        lambda: free(sticky),
        r"collision 'c': found friction 100000, expected at most 5, as is read from files",
    ),
    "two that float": (
        lambda: free(lambda mech: None),
        "body 'a': found no joint that carries it, and other bodies",
    ),
    "world and one that floats": (
        lambda: free(hang),
        "'a': .*joints, frames or shapes on the world, expected one root",
    ),
    "scenery and one that floats": (
        lambda: free(scenery),
        "'a': .*carry it by a joint of type 'floating'",
    ),
    "rate of a motor": (
        still,
        "joint 'j': found velocity 0 with a motor, expected a number > 0",
    ),
    "name of a spring": (
        lambda: free(spring),
        r"name 's.ufffe': found a character that XML does not allow, expected",
    ),
    "name": (
        lambda: Mechanism(name="a\ufffeb"),
        "name 'a.ufffeb': found a character that XML does not allow, expected",
    ),
}


@pytest.mark.parametrize(("make", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_what_changes_the_motion_is_an_error(make, message, tmp_path):
    mech = make()
    with pytest.raises(MechanismError, match=message) as caught:
        mech.to_urdf(tmp_path / "never.urdf")
    assert str(caught.value).startswith(f"mechanism {mech.name!r} as URDF: ")
    assert not (tmp_path / "never.urdf").exists()


def test_what_changes_no_motion_and_has_no_place_is_told(tmp_path):
    mech = Mechanism(ground=True)
    for name in "abc":
        mech.add_body(name, 1.0, (1, 1, 1))
    mech.add_joint("turn", "continuous", "world", "a", (0, 0, 0), velocity=0.0, effort=2.0)
    mech.add_joint("slide", "prismatic", "a", "b", (0, 0, 1))
    mech.add_joint("weld", "fixed", "b", "c", (0, 0, 1))
    mech.starts["low"] = {"slide": -0.1}
    text = mech.to_urdf(str(tmp_path / "notes.urdf"))
    for note in (
        "the ground is not in this file: it is an argument of load_urdf",
        "start 'low' is not in this file: a state of an SRDF file beside it may have it",
        "joint 'turn': velocity 0 is read as no limit",
        "joint 'weld': fixed, readers make one body of 'b' and 'c'",
    ):
        assert f"<!-- {note} -->" in text
    loaded = load_urdf(tmp_path / "notes.urdf")
    assert (list(loaded.bodies), loaded.bodies["b"].mass) == (["a", "b"], 2.0)
