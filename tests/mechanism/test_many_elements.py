"""Mechanisms of many elements: adding one takes as much work as adding the first."""

from functools import partial

import pytest

from scenes.effort import count_lines
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.shapes import Sphere
from vigym.mechanism.mechanism import Mechanism

FEW, MANY = 50, 400
ONE = (1.0, 1.0, 1.0)
ORIGIN = (0.0, 0.0, 0.0)


def count_work(count: int) -> dict[str, int]:
    """Return the executed lines of adding ``count`` elements of each kind to a chain."""
    mech, work = Mechanism(), {}

    def parent(k):
        return f"b{k - 1}" if k else "world"

    kinds = {
        "body": lambda k: mech.add_body(f"b{k}", 1.0, ONE),
        "joint": lambda k: mech.add_joint(
            f"j{k}", "revolute", parent(k), f"b{k}", ORIGIN, effort=1.0, velocity=1.0
        ),
        "loop": lambda k: mech.add_joint(f"l{k}", "spherical", "world", f"b{k}", ORIGIN),
        "motor": lambda k: mech.add_motor(f"j{k}", kp=1.0),
        "coupling": lambda k: mech.add_coupling(f"c{k}", "gear", f"j{k + 1}", f"j{k}"),
        "contact": lambda k: mech.add_contact(f"p{k}", f"b{k}", ORIGIN),
        "collision": lambda k: mech.add_collision(f"s{k}", f"b{k}", Sphere(radius=0.1)),
        "pair": lambda k: mech.add_pair(f"b{k}", f"b{k + 1}"),
        "skate": lambda k: mech.add_skate(f"k{k}", f"b{k}", ORIGIN, (1.0, 0.0, 0.0)),
        "frame": lambda k: mech.add_frame(f"f{k}", f"b{k}"),
    }
    for kind, add in kinds.items():
        added = range(count - 1 if kind in ("coupling", "pair") else count)
        work[kind] = sum(count_lines(partial(add, k)) for k in added)
    return work


def test_the_work_of_adding_grows_with_the_number_of_elements():
    """The ratio of work is that of the elements, 8, up to logarithms; its square would be 64."""
    few, many = count_work(FEW), count_work(MANY)
    slow = {kind: many[kind] / few[kind] for kind in few if many[kind] > 12.0 * few[kind]}
    assert slow == {}


def test_elements_of_a_copy_are_no_elements_of_the_first():
    mech = Mechanism()
    for name in "abc":
        mech.add_body(name, 1.0, ONE)
    mech.add_joint("j", "revolute", "world", "a", ORIGIN)
    copies = mech.with_replaced_elements(), mech.with_replaced_elements()
    for each in (mech, *copies):
        each.add_joint("k", "revolute", "a", "b", ORIGIN)
        each.add_joint("l", "revolute", "b", "c", ORIGIN)
        assert not each.closing_joints
    with pytest.raises(MechanismError, match="joint 'm'.*coordinate name 'k' is taken|second"):
        copies[0].add_joint("k", "revolute", "world", "c", ORIGIN)


@pytest.mark.parametrize(
    "order", [range(30), range(29, -1, -1), [*range(0, 30, 2), *range(1, 30, 2)]]
)
def test_a_joint_closes_a_loop_in_whatever_order_the_others_came(order):
    """The last joint carries the root of the chain by its end."""
    mech = Mechanism()
    for k in range(31):
        mech.add_body(f"b{k}", 1.0, ONE)
    for k in order:
        mech.add_joint(f"j{k}", "spherical", f"b{k}", f"b{k + 1}", ORIGIN)
    assert not mech.closing_joints
    mech.add_joint("last", "spherical", "b30", "b0", ORIGIN)
    assert [joint.name for joint in mech.closing_joints] == ["last"]
    mech.add_joint("free", "spherical", "world", "b0", ORIGIN)
    assert [joint.name for joint in mech.closing_joints] == ["last"]
