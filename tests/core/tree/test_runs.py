"""Alike legs of one robot go through the sweeps together, in lanes; those of a batch one by one.

So whatever its legs are, one robot moves bit for bit as it does in a batch.
"""

from __future__ import annotations

import numpy as np
import pytest

from vigym import Ground, Mechanism, Simulator
from vigym.core.compiler.simd import LANES
from vigym.core.model.contact_slots import LEAST_ALIKE
from vigym.core.model.layout import header_of, plan_rows
from vigym.core.tables.plan import BODY_PLAN, HEADER
from vigym.mechanism.elements.ground import maps
from vigym.mechanism.elements.shapes import Capsule
from vigym.simulation.compile.model import build_model
from vigym.simulation.compile.runs import TreeOrder

LENGTH = 0.15  # of a leg's links [m]
STEPS = 60


def add_leg(mech, name, at, bones, angle=0.0, motor=True):
    """Add a leg of several links to the trunk, from its hip down, a ball under the last one."""
    parent, place = "trunk", np.array(at)
    side = np.array([np.cos(angle), np.sin(angle), 0.0])
    for k in range(bones):
        body, joint = f"{name}_{k}", f"{name}_joint{k}"
        middle = place - [0.0, 0.0, 0.5 * LENGTH]
        mech.add_body(body, 0.2 + 0.1 * k, (4e-4, 5e-4, 1e-4), position=middle)
        limits = (-1.0, 0.8) if k else None
        mech.add_joint(
            joint, "revolute", parent, body, place, side, limits=limits, effort=3.0, friction=0.01
        )
        if motor:
            mech.add_motor(joint, kp=8.0, kd=0.2)
        parent, place = body, place - [0.0, 0.0, LENGTH]
    mech.add_contact(f"{name}_foot", parent, (0.0, 0.0, -0.5 * LENGTH), radius=0.02, friction=0.7)


def trunk(ground=True):
    mech = Mechanism(ground=ground)
    mech.add_body("trunk", 3.0, (0.02, 0.03, 0.04), position=(0.0, 0.0, 0.6))
    mech.add_contact("belly", "trunk", (0.0, 0.0, 0.0), radius=0.1)
    return mech


def star(legs, bones=2, motor=True, ground=True):
    """Make a robot with alike legs around its trunk."""
    mech = trunk(ground)
    for k in range(legs):
        angle = 2.0 * np.pi * k / legs
        at = (0.2 * np.cos(angle), 0.2 * np.sin(angle), 0.6)
        add_leg(mech, f"leg{k}", at, bones, angle, motor)
    return mech


def mixed():
    """Make a robot with legs of two kinds in turn, and a tail."""
    mech = trunk()
    for k in range(7):
        at = (0.2 * np.cos(k), 0.2 * np.sin(k), 0.6)
        add_leg(mech, f"leg{k}", at, 2 + k % 2, 0.9 * k, motor=k % 3 > 0)
    add_leg(mech, "tail", (-0.3, 0.0, 0.6), 1)
    return mech


def spider():
    """Make a robot whose legs have three toes each."""
    mech = trunk()
    for k in range(4):
        angle = 1.6 * k
        at = np.array([0.2 * np.cos(angle), 0.2 * np.sin(angle), 0.6])
        add_leg(mech, f"leg{k}", at, 1, angle)
        for toe in range(3):
            end = at + [0.04 * (toe - 1), 0.0, -LENGTH]
            body, joint = f"toe{k}_{toe}", f"toe{k}_{toe}_joint"
            mech.add_body(body, 0.05, (2e-5, 2e-5, 1e-5), position=end - [0.0, 0.0, 0.03])
            mech.add_joint(joint, "revolute", f"leg{k}_0", body, end, (0.0, 1.0, 0.0), damping=0.01)
            mech.add_contact(f"tip{k}_{toe}", body, (0.0, 0.0, -0.02), radius=0.01, friction=1.0)
    return mech


def closed(pairs, tied=False):
    """Make a robot with pairs of legs that share their feet, as those of the Minitaur do."""
    mech = trunk()
    for k in range(pairs):
        angle = 2.0 * np.pi * k / pairs
        at = np.array([0.3 * np.cos(angle), 0.3 * np.sin(angle), 0.6])
        for side in (-1.0, 1.0):
            name = f"{'front' if side > 0 else 'rear'}{k}"
            hip = at + [0.05 * side, 0.0, 0.0]
            knee = hip + [0.08 * side, 0.0, -0.1]
            foot = at - [0.0, 0.0, 0.25]
            for part, (start, end) in enumerate(((hip, knee), (knee, foot))):
                body = f"{name}_{part}"
                mech.add_body(body, 0.15, (3e-4, 3e-4, 1e-4), position=0.5 * (start + end))
                parent = f"{name}_0" if part else "trunk"
                mech.add_joint(
                    f"{name}_joint{part}",
                    "revolute",
                    parent,
                    body,
                    start,
                    (0.0, 1.0, 0.0),
                    effort=3.0 if part == 0 else None,
                )
            mech.add_motor(f"{name}_joint0", kp=8.0, kd=0.2)
        mech.add_joint(f"toe{k}", "revolute", f"front{k}_1", f"rear{k}_1", foot, (0.0, 1.0, 0.0))
        low = foot - mech.bodies[f"front{k}_1"].position
        mech.add_contact(f"foot{k}", f"front{k}_1", low, radius=0.02, friction=0.8)
    if tied:  # a loop row that passes some of the legs alone
        mech.add_coupling("tie", "gear", "front0_joint0", "front1_joint0", ratio=1.0)
    return mech


def touching():
    """Make a robot two of whose legs may touch."""
    mech = star(5)
    for k in range(2):
        mech.add_collision(f"shin{k}", f"leg{k}_1", Capsule(radius=0.02, length=0.1))
    mech.add_pair("leg0_1", "leg1_1")
    return mech


ROBOTS = {
    **{f"{n} legs": (lambda n=n: star(n)) for n in (2, 3, 4, 5, 8, 9, 11)},
    "17 fins": lambda: star(17, 1),
    "long legs": lambda: star(6, 4),
    "passive legs": lambda: star(5, 3, motor=False),
    "mixed legs": mixed,
    "spider": spider,
    "touching legs": touching,
    "legs on terrain": lambda: star(6, ground=Ground(terrain=maps.rough(maps=2))),
    "2 closed legs": lambda: closed(2),
    "3 closed legs": lambda: closed(3),
    "5 closed legs": lambda: closed(5),
    "tied legs": lambda: closed(4, tied=True),
}


def bodies_of(mech):
    """Return the rows of the bodies in the plan."""
    plan = build_model(mech).plan
    return plan_rows(plan, BODY_PLAN, HEADER.width, int(header_of(plan)["body_count"]))


@pytest.mark.parametrize("robot", ROBOTS)
def test_parents_come_before_their_children(robot):
    rows = bodies_of(ROBOTS[robot]())
    assert (rows["parent"] < np.maximum(np.arange(len(rows)), 1)).all()


@pytest.mark.parametrize("robot", ROBOTS)
def test_no_body_of_a_run_carries_another(robot):
    rows = bodies_of(ROBOTS[robot]())
    together = rows["run_end"] > 0
    assert (rows["parent"][together] < rows["run_first"][together]).all()
    for first in np.unique(rows["run_first"][together]):
        run = np.flatnonzero(together & (rows["run_first"] == first))
        assert LEAST_ALIKE <= len(run) <= LANES
        np.testing.assert_array_equal(run, np.arange(first, rows["run_end"][first]))


@pytest.mark.parametrize(
    ("mech", "count"),
    [(star(2), 0), (star(LANES), 2 * LANES), (star(LANES + 1), 2 * LANES), (closed(2), 8)],
)
def test_alike_legs_make_runs(mech, count):
    assert (bodies_of(mech)["run_end"] > 0).sum() == count


def test_legs_keep_their_order_without_a_ground():
    mech = star(4)
    order = [joint.child for joint in TreeOrder(mech).joints]
    assert order[:3] == ["trunk", "leg0_0", "leg1_0"]
    floating = Mechanism()
    for k in range(4):
        floating.add_body(f"arm{k}", 1.0, (1.0, 1.0, 1.0), position=(float(k), 0.0, 0.0))
        floating.add_body(f"hand{k}", 1.0, (1.0, 1.0, 1.0), position=(float(k), 0.0, -1.0))
        at = (float(k), 0.0, 0.5)
        floating.add_joint(f"shoulder{k}", "revolute", "world", f"arm{k}", at, (0.0, 1.0, 0.0))
        at = (float(k), 0.0, -0.5)
        floating.add_joint(f"wrist{k}", "revolute", f"arm{k}", f"hand{k}", at, (0.0, 1.0, 0.0))
    order = [joint.child for joint in TreeOrder(floating).joints]
    assert order == [f"{part}{k}" for k in range(4) for part in ("arm", "hand")]


@pytest.mark.parametrize("timestep", [0.002, 0.01])
@pytest.mark.parametrize("robot", ROBOTS)
def test_one_robot_moves_as_in_a_batch(robot, timestep):
    mech = ROBOTS[robot]()
    one, many = Simulator(mech, timestep=timestep), Simulator(mech, timestep=timestep, batch=2)
    base = {"trunk": {"velocity": (0.4, -0.2, -1.0), "angular_velocity": (0.5, 1.0, 0.2)}}
    for sim in (one, many):
        sim.reset(base=base, place_on_ground=True)
    draw, touched = np.random.default_rng(0), False
    for k in range(STEPS):
        if k % 10 == 0:
            targets = draw.uniform(-0.6, 0.6, len(mech.motor_names))
        status = one.step(targets=targets)
        statuses = many.step(targets=np.stack([targets, targets]))
        assert status.converged
        assert statuses.converged.all()
        np.testing.assert_array_equal(many.body_states, [one.body_states] * 2)
        np.testing.assert_array_equal(statuses.iterations, status.iterations)
        touched |= one.contacts.force.any()
    assert touched
