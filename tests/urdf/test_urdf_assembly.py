"""Assembly of loops: within the limits of joints where a pose is, past the antipode, and never silent."""

import re

import numpy as np
import pytest

from scenes.urdf_text import HINGE, joint, link, loop
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.simulator import Simulator

CRANK, COUPLER = 0.2, 0.5  # [m]
ROCKER, BASE = 0.4, 0.45


def four_bar(limits=None, name="pivot") -> tuple[str, ...]:
    """Crank, coupler and rocker along x at zero; `limits` are those of one joint."""
    low, high = limits or (1.0, -1.0)
    bounds = f'<limit lower="{low}" upper="{high}" effort="0"/>'
    places = {"motor": ("world", "crank", 0.0), "elbow": ("crank", "coupler", CRANK)}
    places["pivot"] = ("world", "rocker", BASE)
    joints = [
        joint(
            each, "revolute", parent, child, HINGE + f'<origin xyz="{x} 0 0"/>'
            + (bounds if each == name else '<limit lower="1" upper="-1" effort="0"/>'),
        )
        for each, (parent, child, x) in places.items()
    ]  # fmt: skip
    ends = (f'link="coupler" xyz="{COUPLER} 0 0"', f'link="rocker" xyz="{ROCKER} 0 0"')
    return (
        link("world", ""),
        *map(link, ("crank", "coupler", "rocker")),
        *joints,
        loop("revolute", *ends, name="pin"),
    )


def closed_pose(crank: float, side: float = 1.0) -> np.ndarray:
    """Return the three angles of the four-bar at an angle of the crank, by triangles.

    The pin is on one side of the line through the coupler's and the rocker's other ends.
    """
    pin = CRANK * np.exp(1j * crank)
    diagonal = BASE - pin
    length = abs(diagonal)
    opening = np.arccos((length**2 + COUPLER**2 - ROCKER**2) / (2 * length * COUPLER))
    coupler = np.angle(diagonal) + side * opening
    rocker = np.angle(pin + COUPLER * np.exp(1j * coupler) - BASE)
    return -np.array([crank, coupler - crank, rocker])  # positive turns about y are downwards


@pytest.mark.parametrize("name", ["motor", "elbow", "pivot"])
@pytest.mark.parametrize("seed", range(3))
def test_the_assembled_pose_is_within_limits_where_one_is(load, name, seed):
    """The limits are narrow and about a random pose of the four-bar."""
    angles = closed_pose(np.random.default_rng(seed).uniform(-1, 1))
    angle = angles[["motor", "elbow", "pivot"].index(name)]
    mech = load(*four_bar((angle - 0.1, angle + 0.1), name))
    found = dict(zip(mech.position_names, mech.structure.assembly, strict=False))
    assert abs(found[name] - angle) <= 0.1 + 1e-6
    assert mech.structure.beyond_limits == {}
    residual = Simulator(mech).constraint_residual()
    assert np.max(residual) < 1e-9


def test_of_poses_within_limits_the_nearest_is_taken(load):
    """A limit that the pose next to zero holds changes nothing."""
    free = load(*four_bar()).structure.assembly
    mech = load(*four_bar((free[2] - 0.5, free[2] + 0.5)))
    np.testing.assert_array_equal(mech.structure.assembly, free)


def test_loops_beyond_limits_are_told_with_joint_value_and_limits(load):
    """The rocker of this four-bar cannot be there: the coupler would be too short."""
    text = four_bar((0.2, 0.3))
    mech = load(*text)
    value = mech.structure.assembly[2]
    told = f"joint 'pivot': loops or couplings have it at {value:.6g}, beyond its limits 0.2 to 0.3"
    assert sum(told in str(note) for note in mech.notes) == 1
    assert sum(told in str(note) for note in Simulator(mech).mechanism.notes) == 1
    mech.notes.clear()  # as of a mechanism that no file describes
    assert sum(told in str(note) for note in Simulator(mech).mechanism.notes) == 1


@pytest.mark.parametrize("count", [1, 2])
def test_frames_that_are_half_a_turn_apart_are_closed(count):
    """Newton's method stays at the antipode, where the slope of a rotation's rows vanishes."""
    mech = Mechanism(gravity=(0, 0, 0), ground=False)
    corners = [(0, 0, 0), (1, 0, 0), (1, 0, 1)]
    for number in range(count):
        parent = "world"
        for name, corner in zip("abc", corners, strict=True):
            child = f"{name}{number}"
            mech.add_body(child, 1.0, (0.1, 0.1, 0.1), corner)
            mech.add_joint(child, "revolute", parent, child, corner, (0, 1, 0))
            parent = child
        ends = {"position": (0, 0, 1), "child_position": (0, 0, 1)}
        turned = {"child_rotation": (0.0, 0.0, 1.0, 0.0)}
        mech.add_joint(f"end{number}", "fixed", "world", parent, **ends, **turned)
    sums = np.sum(mech.structure.assembly.reshape(count, 3), axis=1)
    np.testing.assert_allclose(np.cos(sums), -1.0, atol=1e-12)
    assert np.max(Simulator(mech).constraint_residual()) < 1e-9


def test_loops_that_share_no_motion_come_within_their_limits_apart(load):
    """Random poses of all loops together are almost never within the limits of each."""
    names = "motor|elbow|pivot|pin|crank|coupler|rocker"
    parts = []
    for number, crank in enumerate(np.linspace(-1.2, 1.3, 6)):
        angle = closed_pose(crank, side=(-1) ** number)[1]
        world, *rest = four_bar((angle - 0.02, angle + 0.02), "elbow")
        parts += [re.sub(rf'"({names})"', rf'"\g<1>{number}"', part) for part in rest]
    mech = load(world, *parts)
    assert mech.structure.beyond_limits == {}
    assert np.max(Simulator(mech).constraint_residual()) < 1e-9


@pytest.mark.parametrize(("crank", "side"), [(0.8, 1.0), (-0.9, -1.0)])
def test_loops_are_assembled_within_limits_of_the_joint_that_closes_them(load, crank, side):
    """The pin's angle is that of the rocker less that of the coupler."""
    first, second, rocker = closed_pose(crank, side)
    angle = rocker - first - second
    *parts, closing = four_bar()
    limit = f'<limit lower="{angle - 0.05}" upper="{angle + 0.05}"/>'
    mech = load(*parts, closing.replace("<link1", limit + "<link1"))
    assert mech.structure.beyond_limits == {}
    found = mech.structure.assembly
    assert abs(found[2] - found[0] - found[1] - angle) <= 0.05 + 1e-6
    sim = Simulator(mech)
    assert abs(sim.joint_positions[mech.position_names.index("pin")] - angle) <= 0.05 + 1e-6
    assert np.max(sim.constraint_residual()) < 1e-9


def test_limits_of_the_closing_joint_that_no_pose_holds_are_told(load):
    *parts, closing = four_bar()
    far = '<limit lower="3.1" upper="3.2"/>'
    mech = load(*parts, closing.replace("<link1", far + "<link1"))
    (value, low, high) = mech.structure.beyond_limits["pin"]
    assert (low, high) == (3.1, 3.2)
    told = f"joint 'pin': loops or couplings have it at {value:.6g}, beyond its limits 3.1 to 3.2"
    assert sum(told in str(note) for note in mech.notes) == 1


@pytest.mark.parametrize("own", ["", '<limit lower="-3" upper="1"/>'])
def test_a_leader_starts_where_its_follower_is_within_limits(load, own):
    follower = HINGE + '<limit lower="0" upper="0.2"/><mimic joint="j" offset="2"/>'
    chain = [
        joint("j", "revolute", "a", "b", HINGE + own),
        joint("k", "revolute", "b", "c", follower),
    ]
    mech = load(link("a"), link("b"), link("c"), *chain)
    assert dict(zip(mech.position_names, Simulator(mech).joint_positions, strict=True))[
        "k"
    ] == pytest.approx(0.1)
    assert not any("beyond" in str(note) for note in mech.notes)


def test_a_follower_that_no_leader_brings_within_its_limits_is_told(load):
    leader = joint("j", "revolute", "a", "b", HINGE + '<limit lower="0" upper="1"/>')
    follower = HINGE + '<limit lower="2" upper="3"/><mimic joint="j"/>'
    mech = load(link("a"), link("b"), link("c"), leader, joint("k", "revolute", "b", "c", follower))
    assert any("joint 'k': loops or couplings have it at 0" in str(note) for note in mech.notes)
