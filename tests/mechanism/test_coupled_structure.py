"""What couplings do to degrees of freedom and to the assembled pose, in trees and in loops."""

import numpy as np
import pytest

from scenes.linkages import five_bar, four_bar, quadruped
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.kinematics import TreeKinematics


def row(count: int) -> Mechanism:
    """Slides on the world beside a free body, a ball between them and it."""
    mech = Mechanism()
    mech.add_body("free", 1.0, (1, 1, 1))
    mech.add_body("hung", 1.0, (1, 1, 1))
    mech.add_joint("ball", "spherical", "free", "hung", (0, 0, 0))
    for i in range(count):
        mech.add_body(f"b{i}", 1.0, (1, 1, 1))
        mech.add_joint(f"s{i}", "prismatic", "world", f"b{i}", (0, 0, 0))
    return mech


def at(mech: Mechanism) -> dict[str, float]:
    """The assembled coordinates by name."""
    return dict(zip(mech.position_names, mech.structure.assembly.tolist(), strict=False))


def test_followers_are_no_freedoms_and_start_where_their_leaders_put_them():
    mech = row(4)
    assert mech.degrees_of_freedom == 6 + 3 + 4
    mech.add_coupling(
        "a", "mimic", "s0", "s3", ratio=2.0, offset=0.1
    )  # a chain, not in the order of its links
    mech.add_coupling("b", "mimic", "s3", "s1", ratio=-0.5, offset=0.2)
    assert mech.degrees_of_freedom == 6 + 3 + 2
    assert mech.redundant_constraints == 0
    found = at(mech)
    assert [found[f"s{i}"] for i in range(4)] == pytest.approx([0.5, 0.0, 0.0, 0.2])
    assert found["ball.qw"] == found["free:floating.qw"] == 1.0
    tree = TreeKinematics(mech)
    names = mech.velocity_names
    column = [names[i] for i in tree.independent].index("s1")
    rates = dict(zip(names, tree.velocity_map[:, column].tolist(), strict=True))
    assert {name: rate for name, rate in rates.items() if rate} == {
        "s1": 1.0,
        "s3": -0.5,
        "s0": -1.0,
    }
    with pytest.raises(ValueError, match="read-only"):
        mech.structure.assembly[0] = 1.0


def test_a_screw_leaves_one_of_two_freedoms():
    mech = Mechanism()
    mech.add_body("nut", 1.0, (1, 1, 1))
    mech.add_joint("thread", "cylindrical", "world", "nut", (0, 0, 0))
    mech.add_coupling("pitch", "screw", "thread.distance", "thread.angle", ratio=0.01)
    assert mech.degrees_of_freedom == 1
    np.testing.assert_allclose(TreeKinematics(mech).velocity_map, [[0.01], [1.0]])


def test_geared_hips_leave_a_leg_one_freedom():
    mech = five_bar()
    mech.add_coupling("hips", "gear", "leg_hip_l", "leg_hip_r", ratio=-1.0)
    assert (mech.degrees_of_freedom, mech.redundant_constraints) == (1, 3)
    np.testing.assert_allclose(mech.structure.assembly, 0.0, atol=1e-12)


def test_loops_are_assembled_where_couplings_hold():
    mech = five_bar(spread=0.01)
    mech.add_coupling("hips", "gear", "leg_hip_l", "leg_hip_r", ratio=-1.0, offset=0.3)
    found = at(mech)
    assert found["leg_hip_l"] == pytest.approx(0.3 - found["leg_hip_r"], abs=1e-12)
    assert abs(found["leg_hip_l"]) > 0.05
    free = five_bar(spread=0.01).structure.assembly
    assert not np.allclose(mech.structure.assembly, free, atol=0.01)
    assert mech.degrees_of_freedom == 1


def test_a_gear_inside_a_loop_of_one_freedom_leaves_none():
    mech = four_bar()
    mech.add_coupling("locked", "gear", "j1", "j0", ratio=0.7)
    assert mech.degrees_of_freedom == 0
    np.testing.assert_array_equal(mech.structure.assembly, 0.0)


def test_legs_that_share_a_freedom_through_a_gear_are_one_system():
    mech = quadruped()
    for i in range(3):
        mech.add_coupling(f"g{i}", "gear", f"leg{i}_hip_l", f"leg{i + 1}_hip_l")
    assert (mech.degrees_of_freedom, mech.redundant_constraints) == (
        14 - 3,
        quadruped().redundant_constraints,
    )


def test_a_coupling_that_no_pose_of_the_loop_allows_is_an_error():
    mech = four_bar()
    mech.add_coupling(
        "far", "gear", "j2", "j0", ratio=1e-6, offset=1.65
    )  # folds two bars on each other
    with pytest.raises(AssemblyError, match="joint 'close'.*expected a loop that can be closed"):
        _ = mech.degrees_of_freedom


def test_what_is_added_later_counts():
    mech = row(2)
    assert mech.degrees_of_freedom == 11
    mech.add_coupling("a", "mimic", "s0", "s1")
    assert mech.degrees_of_freedom == 10
    mech.add_skate("s", "b0", (0, 0, 0), (0, 1, 0))
    assert mech.degrees_of_freedom == 10  # it takes a velocity away, and no position
