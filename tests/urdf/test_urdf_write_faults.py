"""What a URDF file cannot hold: an error where it would change the motion, a comment in the file where not."""

import numpy as np
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


def spring(mech):
    mech.add_joint("j", "continuous", "a", "b", (0, 0, 0))
    mech.add_spring("s", "a", "b", (0, 0, 0), (0, 0, 1), 1.0, 1.0)


def pair(mech):
    mech.add_joint("j", "continuous", "a", "b", (0, 0, 0))
    for name in "ab":
        mech.add_collision(f"ball of {name}", name, Sphere(0.1))
    mech.add_pair("a", "b")


def skate(mech):
    mech.add_joint("j", "continuous", "a", "b", (0, 0, 0))
    mech.add_skate("s", "a", (0, 0, 0), (0, 1, 0))


def wheel(mech):
    mech.add_joint("j", "continuous", "a", "b", (0, 0, 0))
    mech.add_wheel("w", "b", (0, 0, 0), (0, 1, 0), 0.1)


def slippery(mech):
    mech.add_joint("j", "continuous", "a", "b", (0, 0, 0))
    mech.add_contact("c", "a", (0, 0, 0), friction=(1.0, 0.5))


def sticky(mech):
    mech.add_joint("j", "continuous", "a", "b", (0, 0, 0))
    mech.add_contact("c", "a", (0, 0, 0), friction=1e5)


def patched(mech):
    mech.add_joint("j", "continuous", "a", "b", (0, 0, 0))
    mech.add_frame("toe", "a")
    for name, torsion in (("b", 0.0), ("c", 0.01), ("d", 0.1)):
        mech.add_contact(name, "a", (0, 0, 0), torsion=torsion)


def tied(mech):
    mech.add_joint("p", "planar", "world", "a", (0, 0, 0))
    mech.add_joint("j", "continuous", "a", "b", (0, 0, 0))
    mech.add_coupling("c", "gear", "p.x", "j")


def hang(mech):
    mech.add_joint("j", "continuous", "world", "b", (0, 0, 0))


def scenery(mech):
    mech.add_joint("j", "continuous", "a", "b", (0, 0, 0))
    mech.add_world_shape(Sphere(radius=1.0))


FAULTS = {
    "gravity": (
        lambda: Mechanism(name="m", gravity=(0, 0, -1.62)),
        r"gravity: found \[0.0, 0.0, -1.62\], expected \(0.0",
    ),
    "spring": (
        lambda: free(spring),
        "spring 's': found a spring, expected none; add it again after loading",
    ),
    "armature": (lambda: hinge(armature=0.1), "joint 'j': found armature 0.1, expected 0"),
    "effort": (
        lambda: hinge(effort=np.inf),
        "joint 'j': found unlimited effort, expected a finite number",
    ),
    "cone of a ball": (
        lambda: hinge("spherical", swing=0.5),
        "'j': found swing 0.5, expected None",
    ),
    "friction of a ball": (
        lambda: hinge("spherical", friction=0.1),
        "joint 'j': found friction 0.1 of a ball, expected 0",
    ),
    "limits of a hinge without end": (
        lambda: hinge(limits=(-1, 1)),
        r"joint 'j': found limits \[\[-1.0, 1.0\]\] on type 'continuous', expected one of: revolute, prismatic",
    ),
    "limits of three freedoms": (
        lambda: hinge("planar", limits=[(-1, 1)] * 3),
        "'j': found limits .* on type 'planar'",
    ),
    "lower limit without end": (
        lambda: hinge("revolute", limits=(-np.inf, 1.0)),
        r"joint 'j': found limits \[\[-inf, 1.0\]\], expected finite numbers, or none",
    ),
    "upper limit without end": (
        lambda: hinge("prismatic", limits=(0.0, np.inf)),
        r"joint 'j': found limits \[\[0.0, inf\]\], expected finite numbers, or none",
    ),
    "a limit of three freedoms": (
        lambda: hinge("planar", limits=[(-np.inf, np.inf), (-np.inf, 1), (-np.inf, np.inf)]),
        "'j': found limits .* on type 'planar'",
    ),
    "pair": (
        lambda: free(pair),
        "pair 'a', 'b': found bodies that touch each other, expected none",
    ),
    "skate": (
        lambda: free(skate),
        "skate 's': found a skate, expected none; add it again after loading",
    ),
    "wheel": (
        lambda: free(wheel),
        "wheel 'w': found a wheel, expected none; add it again after loading",
    ),
    "direction": (
        lambda: free(slippery),
        r"collision 'c': found friction \(1.0, 0.5, 1.0\), expected one number",
    ),
    "largest friction": (
        lambda: free(sticky),
        r"collision 'c': found friction 100000, expected at most 5, as is read from files",
    ),
    "surfaces": (
        lambda: free(patched),
        r"'d': found one more .* \(0.8, 0.0, 0.1\) on body 'a', .*: add a frame",
    ),
    "planar coordinate": (
        lambda: free(tied),
        "coupling 'c': found the coordinate 'p.x', expected joints of one",
    ),
    "rest": (
        lambda: hinge("planar", rest=(1, 2, 3)),
        r"joint 'j': found rest \(1.0, 2.0, 3.0\), expected one number",
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
    mech.add_joint("turn", "continuous", "world", "a", (0, 0, 0), velocity=np.inf, effort=2.0)
    mech.add_joint("slide", "prismatic", "a", "b", (0, 0, 1))
    mech.add_motor("turn", 20.0, 0.5)
    mech.add_coupling("belt", "gear", "slide", "turn")
    mech.add_joint("weld", "fixed", "b", "c", (0, 0, 1))
    text = mech.to_urdf(str(tmp_path / "notes.urdf"))
    for note in (
        "the ground is not in this file: it is an argument of load_urdf",
        "motor of joint 'turn' is not in this file (kp 20, kd 0.5, effort 2): add it again after loading",
        "coupling 'belt': a gear, written as <mimic> of joint 'slide'",
        "joint 'turn': velocity inf is read as no limit",
        "joint 'weld': fixed, readers make one body of 'b' and 'c'",
    ):
        assert f"<!-- {note} -->" in text
    loaded = load_urdf(tmp_path / "notes.urdf")
    assert (list(loaded.bodies), loaded.bodies["b"].mass) == (["a", "b"], 2.0)
