"""What loops impose and leave free: rows, degrees of freedom, redundancies, the assembled pose, what cannot close."""

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from scenes.effort import count_lines
from scenes.linkages import (
    TRAPEZE,
    Y,
    bricard,
    five_bar,
    folded,
    four_bar,
    ladder,
    quadruped,
    sarrus,
    spatial_chain,
)
from vigym.mechanism.elements.errors import AssemblyError
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.joint_frames import joint_frames
from vigym.mechanism.topology.kinematics import TreeKinematics
from vigym.mechanism.topology.loop_constraints import joint_gaps

IN_LINE = ((0, 0, 0), (1, 0, 0), (3, 0, 0), (2, 0, 0))  # a parallelogram folded flat
CLOSING = (
    "fixed",
    "revolute",
    "continuous",
    "prismatic",
    "cylindrical",
    "spherical",
    "planar",
    "universal",
)


def pair(second="revolute", offset=(0.0, 0.0, 0.0), **values):
    """Two hinges on one axis between two bodies; the second's halves `offset` apart."""
    mech = Mechanism()
    mech.add_body("a", 1.0, (1, 1, 1))
    mech.add_body("b", 1.0, (1, 1, 1), (1, 0, 0))
    mech.add_joint("h1", "revolute", "a", "b", (0.5, 0, 0), Y)
    mech.add_joint(
        "h2",
        second,
        "a",
        "b",
        (0.5, 0.3, 0),
        Y,
        child_position=np.array((0.5, 0.3, 0)) + offset,
        **values,
    )
    return mech


def through_the_world():
    """A body that floats by the tree and hangs on two balls: it can only spin about the line through both."""
    mech = Mechanism()
    mech.add_body("a", 1.0, (1, 1, 1))
    mech.add_body("b", 1.0, (1, 1, 1), (1, 0, 0))
    mech.add_joint("root", "floating", "world", "a", (0, 0, 0))
    mech.add_joint("link", "spherical", "a", "b", (0.5, 0, 0))
    mech.add_joint("ball", "spherical", "world", "a", (0, 0, 1))
    mech.add_joint("end", "spherical", "world", "b", (1, 0.5, 0))
    return mech


def imposed(mech):
    rows = mech.structure.loop_constraints
    return {name: (len(r.translations), len(r.rotations), r.redundant) for name, r in rows.items()}


def gap(mech):
    """Largest gap of a closing joint, redundant rows included, at the assembly [m or rad]."""
    poses = TreeKinematics(mech).poses(mech.structure.assembly[None])
    return max(
        np.max(joint_gaps(joint_frames(mech, joint), poses)) for joint in mech.closing_joints
    )


def tilted(size):
    """A four-bar whose axes are misaligned by about `size` rad."""
    rng = np.random.default_rng(3)
    return four_bar(axes=[np.add(Y, size * rng.uniform(-1.0, 1.0, 3)) for _ in range(4)])


@pytest.mark.parametrize(
    ("mech", "rows", "freedoms", "redundant"),
    [
        (four_bar(), (2, 0, 3), 1, 3),
        (four_bar(closing="spherical"), (2, 0, 1), 1, 1),
        (four_bar(closing="cylindrical"), (2, 0, 2), 1, 2),
        (four_bar(closing="fixed"), (2, 1, 3), 0, 3),
        (four_bar(closing="planar"), (0, 0, 3), 3, 3),
        (four_bar(IN_LINE), (2, 0, 3), 1, 3),
        (four_bar(IN_LINE, "spherical"), (2, 0, 1), 1, 1),
        (tilted(1e-6), (2, 0, 3), 1, 3),
        (tilted(7e-6), (2, 0, 3), 1, 3),  # 3.1416 for pi
        (tilted(1e-3), (3, 2, 0), 0, 2),
        (five_bar(), (2, 0, 3), 2, 3),
        (bricard(), (3, 2, 0), 1, 1),
        (bricard(0.7), (3, 2, 0), 1, 1),
        (sarrus(), (3, 1, 1), 1, 1),
        (bricard(floating=True), (3, 2, 0), 7, 1),
        (pair(), (0, 0, 5), 7, 5),
        (pair("spherical"), (0, 0, 3), 7, 3),
        (pair("fixed"), (0, 1, 5), 6, 5),
        (pair("prismatic"), (0, 1, 4), 6, 4),
    ],
)
def test_rows_that_do_nothing_are_left_out_and_freedoms_counted(mech, rows, freedoms, redundant):
    assert list(imposed(mech).values()) == [rows]
    assert (mech.degrees_of_freedom, mech.redundant_constraints) == (freedoms, redundant)


@pytest.mark.parametrize(
    ("mech", "freedoms", "redundant"),
    [
        (ladder(2), 1, 6),
        (ladder(20), 1, 60),
        (ladder(3, "spherical"), 1, 3),
        (ladder(10, up=(1, 0, 0)), 1, 30),
        (folded(1), 7, 3),
        (folded(4), 10, 12),
        (quadruped(), 14, 12),
        (quadruped(closing="spherical"), 14, 4),
        (through_the_world(), 3, 0),
    ],
)
def test_freedoms_of_several_loops(mech, freedoms, redundant):
    assert (mech.degrees_of_freedom, mech.redundant_constraints) == (freedoms, redundant)


def test_an_oblique_plane_is_found_by_a_joint_that_has_no_axis():
    normal = np.array([1.0, 2.0, -0.5]) / np.linalg.norm([1.0, 2.0, -0.5])
    e1 = np.cross(normal, [0.0, 0.0, 1.0])
    points = [e1 * x + np.cross(normal, e1) * z for x, _, z in TRAPEZE]
    mech = four_bar(points, "fixed", axes=[normal] * 3 + [(0.0, 0.0, 1.0)])
    assert imposed(mech) == {"close": (2, 1, 3)}
    rows = mech.structure.loop_constraints["close"]
    u, w = rows.rotations[0]
    t = rows.translations
    assert np.abs([u @ normal, t @ normal @ (1, 1)]).max() < 1e-12
    assert np.abs(t @ t.T - np.eye(2)).max() < 1e-12
    assert np.isclose(np.linalg.norm(w), 1.0)


def test_what_redundant_rows_hide_is_measured():
    assert max(four_bar().structure.loop_constraints["close"].misfit) < 1e-14
    distance, angle = tilted(1e-6).structure.loop_constraints["close"].misfit
    assert 1e-7 < distance < 2e-5
    assert 1e-7 < angle < 2e-5


def test_closed_halves_are_assembled_at_exactly_zero():
    for mech in (four_bar(), bricard(), quadruped(), pair(), through_the_world()):
        assert np.array_equal(mech.structure.assembly, TreeKinematics(mech).zero)
        assert gap(mech) < 1e-14


def test_a_tree_has_its_assembly_and_nothing_else():
    mech = Mechanism()
    mech.add_body("a", 1.0, (1, 1, 1), (1, 2, 3))
    assert np.array_equal(mech.structure.assembly, [1, 2, 3, 1, 0, 0, 0])
    assert (
        mech.structure.loop_constraints,
        mech.degrees_of_freedom,
        mech.redundant_constraints,
    ) == ({}, 6, 0)


def test_an_open_four_bar_is_closed_next_to_zero():
    mech = four_bar(ground=(2.2, 0.0, 0.1))
    assert gap(mech) < 1e-12
    assert 0.01 < np.abs(mech.structure.assembly).max() < 0.3
    assert mech.degrees_of_freedom == 1


def test_a_floating_base_stays_while_its_legs_close():
    mech = quadruped(spread=0.1)
    assert gap(mech) < 1e-12
    assert np.array_equal(mech.structure.assembly[:7], TreeKinematics(mech).zero[:7])
    legs = mech.structure.assembly[7:].reshape(4, 4)
    assert np.abs(legs - legs[0]).max() < 1e-9  # each leg for itself, all alike
    assert mech.degrees_of_freedom == 14


@pytest.mark.parametrize("closing", CLOSING)
@pytest.mark.parametrize("seed", range(4))
def test_spatial_loops_of_all_types_are_closed(closing, seed):
    mech, _ = spatial_chain(seed, closing, far=0.5)
    kind = mech.joints["close"].joint_type
    assert gap(mech) < 1e-12
    assert (mech.degrees_of_freedom, mech.redundant_constraints) == (1 + len(kind.velocities), 0)


def test_the_nearest_pose_is_the_one_the_loop_was_opened_from():
    mech, angles = spatial_chain(5, "fixed", far=0.05, count=6)
    assert np.abs(mech.structure.assembly - angles).max() < 1e-11
    assert mech.degrees_of_freedom == 0


@pytest.mark.parametrize("slack", [0.0, 1e-9, 1e-6, 1e-3])
def test_bars_that_only_reach_stretched_out_are_assembled(slack):
    mech = four_bar(((0, 0, 0), (0, 0, 1), (1, 0, 1), (2, 0, 1)), ground=(3.0 - slack, 0, 0))
    assert gap(mech) < 1e-10


def test_bars_in_line_that_must_fold_do():
    mech = four_bar(((0, 0, 0), (1, 0, 0), (2, 0, 0), (3, 0, 0)), ground=(1.5, 0, 0))
    assert gap(mech) < 1e-12
    assert mech.degrees_of_freedom == 1


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: pair(offset=(0, 1e-3, 0)),
            r"'h2': found its two joint frames 0.001 m and 0 rad.*no motion",
        ),
        (
            lambda: pair(offset=(1e-3, 0, 0)),
            r"'h2': found its two joint frames 0.001 m and 0 rad.*no nearer",
        ),
        (
            lambda: pair(child_rotation=(1, 1e-3, 0, 0)),
            r"'h2': found its two joint frames 0 m and 0.002 rad.*no nearer",
        ),
        (
            lambda: four_bar(ground=(2.2, 1e-3, 0)),
            r"'close': found its two joint frames 0.001 m .*no motion",
        ),
        (
            lambda: four_bar(ground=(8.0, 0, 0)),
            r"'close': found its two joint frames 3.36 m .*comes no nearer",
        ),
        (
            lambda: four_bar(closing="fixed", ground=(6, 0, 0)),
            r"'close': found its two joint frames .*comes no nearer",
        ),
        (
            lambda: four_bar(((0, 0, 0), (0, 0, 1), (1, 0, 1), (2, 0, 1)), ground=(3 + 1e-6, 0, 0)),
            r"'close': .*e-0\d m",
        ),
    ],
)
def test_a_loop_that_cannot_close_names_its_joint_and_gap(build, message):
    mech = build()
    with pytest.raises(AssemblyError, match=message):
        _ = mech.structure
    with pytest.raises(AssemblyError, match=message):
        _ = mech.degrees_of_freedom


def test_angles_of_four_decimals_still_close():
    mech = pair(child_rotation=(1.0, 0.0, 0.0, (np.pi - 3.1416) / 2))
    assert mech.degrees_of_freedom == 7
    assert mech.structure.loop_constraints["h2"].misfit[1] == pytest.approx(
        3.1416 - np.pi, rel=1e-3
    )


def test_the_structure_is_found_once_and_grows_with_the_mechanism():
    mech = four_bar()
    assert mech.structure is mech.structure
    for twin in (copy.deepcopy(mech), pickle.loads(pickle.dumps(mech))):
        assert (twin.degrees_of_freedom, imposed(twin)) == (1, imposed(mech))
        rows = twin.structure.loop_constraints["close"]
        for array in (twin.structure.assembly, rows.translations, rows.rotations):
            assert not array.flags.writeable
        twin.add_body("free", 1.0, (1, 1, 1))
        assert twin.degrees_of_freedom == 7
        twin.add_joint("fix", "fixed", "c", "free", (0, 0, 0))
        assert twin.degrees_of_freedom == 1
    assert mech.degrees_of_freedom == 1


def test_the_analysis_of_a_quadruped_is_little_work():
    """Its four loops take some 9,000 lines each."""
    mech = quadruped(spread=0.05)
    assert count_lines(lambda: mech.degrees_of_freedom) < 60_000
    assert mech.degrees_of_freedom == 14


def test_nothing_is_compiled_for_it():
    code = """
import sys
from scenes import linkages
assert linkages.quadruped().degrees_of_freedom == 14
assert "numba" not in sys.modules
"""
    subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        cwd=Path(__file__).resolve().parents[1],
        timeout=60,
    )
