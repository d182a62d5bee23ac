"""The plan of a mechanism: which row everything has, what hangs on what, and in which order it is eliminated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vigym.core import tables as T
from vigym.core.simd import LANES
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.topology.graph import spanning_tree
from vigym.simulation.compile.elimination_order import Loops

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism


def _pivots(joint: Joint, has_rate: bool, carries: bool) -> int:
    """How the joint's freedoms are eliminated; the 3x3 pivot knows no rates, springs or loop rows."""
    freedoms = len(joint.prototype.translations), len(joint.prototype.rotations)
    if freedoms == (0, 1):
        return T.HINGE
    return T.BALL if freedoms == (0, 3) and not (has_rate or joint.stiffness or carries) else T.GENERAL


def starts(names: list[str], widths: list[int]) -> dict[str, int]:
    """Where what belongs to each name starts."""
    return dict(zip(names, np.cumsum([0, *widths]).tolist(), strict=False))


class Rows:
    """Where everything of a mechanism is in its tables.

    Attributes:
        order: joints of the tree, depth-first; parents: row of the body that each row hangs on.
        body, link: row of each body (the world is 0), and of each closing joint and spring.
        freedom: first freedom row of each joint and spring; freedoms: their number.
        first_link: row of the first link: a lane block of its own, so that what runs over bodies leaves links alone.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self.order = [joint for joint, _ in spanning_tree(mechanism)]
        self.body = {WORLD: 0} | {joint.child: i for i, joint in enumerate(self.order, start=1)}
        joints, springs = [*self.order, *mechanism.closing_joints], list(mechanism.springs)
        names = [*(joint.name for joint in joints), *(f"spring {name}" for name in springs)]
        self.freedom = starts(names, [*(len(joint.prototype.velocities) for joint in joints), *[1] * len(springs)])
        self.freedoms = sum(len(joint.prototype.velocities) for joint in joints) + len(springs)
        self.first_link = -(-len(self.body) // LANES) * LANES
        self.link = {name: self.first_link + i for i, name in enumerate(names[len(self.order) :])}
        self.parents = [0, *(self.body[joint.parent] for joint in self.order)]


def _has_rate(joint: Joint) -> bool:
    driven_ball = bool(joint.effort) and joint.prototype.has_quaternion
    return joint.damping > 0 or joint.armature > 0 or driven_ball


def _drive(mechanism: Mechanism, joint: Joint) -> int:
    """Kind of the motor of a joint."""
    motor = mechanism.motors.get(joint.name)
    if motor is None:
        return T.NO_DRIVE
    return T.PD if motor.model is None else T.DC


def _placed(mechanism: Mechanism, joint: Joint) -> bool:
    """Whether the coordinates of a joint set a force: springs, motors, limits, dry friction, couplings."""
    coupled = {name for coupling in mechanism.couplings.values() for name in (coupling.joint, coupling.other)}
    bounded = joint.limits is not None or joint.friction > 0 or joint.name in mechanism.motors
    return joint.stiffness > 0 or bounded or bool(coupled & joint.names)


def _seen(mechanism: Mechanism, joint: Joint) -> bool:
    """Whether the coordinates of a joint or their rates set a force."""
    return _has_rate(joint) or _placed(mechanism, joint)


def _joint_plans(mechanism: Mechanism, rows: Rows, loops: Loops) -> np.ndarray:
    """Plan rows of the bodies and links (rows, PLAN)."""
    listed = mechanism.ordered_joints
    names = [joint.name for joint in listed]
    position = starts(names, [len(joint.prototype.positions) for joint in listed])
    velocity = starts(names, [len(joint.prototype.velocities) for joint in listed])
    plan = np.zeros((rows.first_link + len(rows.link) if rows.link else len(rows.body), T.PLAN), np.int64)
    for joint in listed:
        i, kind = rows.link.get(joint.name, rows.body[joint.child]), joint.prototype
        plan[i, [T.PARENT, T.CHILD]] = rows.body[joint.parent], rows.body[joint.child]
        plan[i, [T.FIRST, T.POSITION, T.VELOCITY]] = (
            rows.freedom[joint.name],
            position[joint.name],
            velocity[joint.name],
        )
        plan[i, [T.TRANSLATIONS, T.ROTATIONS]] = len(kind.translations), len(kind.rotations)
        plan[i, [T.HAS_RATE, T.HAS_SPRING]] = _has_rate(joint), joint.stiffness > 0
        plan[i, [T.HAS_DRIVE, T.SEES]] = _drive(mechanism, joint), _seen(mechanism, joint) or bool(joint.effort)
        plan[i, T.HAS_START] = _placed(mechanism, joint)
        plan[i, [T.HAS_LIMIT, T.HAS_DRY]] = joint.limits is not None and i < len(rows.body), joint.friction > 0
        if i < len(rows.body):
            plan[i, T.PIVOTS] = _pivots(joint, _has_rate(joint), loops.carries[i][1] > 0)
    for spring in mechanism.springs.values():
        name = f"spring {spring.name}"
        ends = rows.body[spring.a], rows.body[spring.b]
        plan[rows.link[name], [T.PARENT, T.CHILD, T.FIRST]] = *ends, rows.freedom[name]
    for body in range(len(rows.body)):
        plan[body, [T.FIRST_ROW, T.ROWS]] = loops.eliminated[body]
        plan[body, [T.FIRST_CARRY, T.CARRIES]] = loops.carries[body]
    for r, row in reversed(list(enumerate(loops.rows))):
        if row.kind not in (T.COUPLED, T.TOUCHING_ROW):
            plan[row.link, T.FIRST_ROW] = r
            plan[row.link, T.ROWS] += 1
    return plan


def build_plan(mechanism: Mechanism, rows: Rows, loops: Loops, contacts: np.ndarray) -> np.ndarray:
    """The plan; sizes of float tables are filled in by ``tables.lay_out``."""
    joints = _joint_plans(mechanism, rows, loops)
    rated = [rows.link.get(j.name, rows.body[j.child]) for j in mechanism.ordered_joints if _seen(mechanism, j)]
    motors = [
        (rows.body[j.child], 0, rows.freedom[j.name]) for j in mechanism.tree_joints if j.name in mechanism.motors
    ]
    actuators = [
        (rows.body[j.child], k, rows.freedom[j.name] + k)
        for j in mechanism.tree_joints
        for k in range(len(j.prototype.velocities) if j.effort else 0)
    ]
    header = np.zeros(T.HEADER, np.int64)
    header[[T.BODIES, T.FREEDOMS]] = len(rows.body), rows.freedoms
    header[[T.ACTUATORS, T.RATED]] = len(actuators), len(rated)
    header[[T.POSITIONS, T.VELOCITIES]] = len(mechanism.position_names), len(mechanism.velocity_names)
    header[[T.JOINTS, T.LINKS]] = len(rows.body) + len(mechanism.closing_joints), len(rows.link)
    header[[T.FIRST_LINK, T.LOOP_ROWS]] = rows.first_link, len(loops.rows)
    header[[T.CARRIED_ROWS, T.COUPLINGS]] = len(loops.carried), loops.couplings
    header[T.TOUCHING_ROWS] = sum(row.kind == T.TOUCHING_ROW for row in loops.rows)
    header[[T.CONTACTS, T.MOTORS]] = len(contacts), len(motors)
    header[T.LAWS] = int((joints[:, [T.HAS_DRIVE, T.HAS_LIMIT, T.HAS_DRY]] > 0).any())
    tables = joints, actuators, rated, loops.plan, loops.carried, contacts, motors
    parts = [np.array(part, np.int64).ravel() for part in tables]
    starts = T.HEADER + np.cumsum([part.size for part in parts])
    header[[T.PLAN_ACTUATORS, T.PLAN_RATED, T.PLAN_LOOPS, T.PLAN_CARRIED]] = starts[:4]
    header[[T.PLAN_CONTACTS, T.PLAN_MOTORS]] = starts[4:6]
    return np.concatenate([header, *parts])
