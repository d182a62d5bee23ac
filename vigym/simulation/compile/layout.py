"""Plan of a mechanism: rows of bodies, degrees of freedom and loops, order of elimination."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vigym.core.compiler.simd import LANES
from vigym.core.model.contact_slots import LEAST_ALIKE
from vigym.core.model.layout import header_of
from vigym.core.tables.plan import (
    ACTIVE_JOINT_PLAN,
    ACTUATOR_PLAN,
    BALL_PIVOT,
    BODY_PLAN,
    CHAIN_BLOCK,
    CONTACT_ROW,
    COUPLED_ROW,
    GENERAL_PIVOT,
    HEADER,
    HINGE_PIVOT,
    LEAF_BLOCK,
    PRESCRIBED_ROW,
    RIM_CONTACT,
    STORED_BLOCK,
    VELOCITY_ROW,
)
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.joints import Joint
from vigym.simulation.compile.contacts import terrain_numbers
from vigym.simulation.compile.elimination_order import Loops
from vigym.simulation.compile.motors import motor_kind
from vigym.simulation.compile.runs import TreeOrder, is_hinge, set_runs
from vigym.simulation.compile.tracks import set_slide_plans, set_track_counts, track_plans

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

# entries of a hinge's plan by which hinges are alike
HINGE_SHAPE = ("motor_kind", "has_limit", "has_friction", "has_spring")


def starts(names: list[str], widths: list[int]) -> dict[str, int]:
    """Return the first entry of each name, where names take ``widths`` consecutive entries."""
    return dict(zip(names, np.cumsum([0, *widths]).tolist(), strict=False))


class Rows:
    """Rows of a mechanism's elements in the tables of the core.

    Attributes:
        order: joints of the tree, parents before children.
        runs: (first, end) of consecutive rows of bodies whose subtrees are alike.
        parents: row of the body that each body hangs on.
        body: row of each body; the world is 0.
        loop: row of each loop: loop-closing joints by name, point springs as "spring NAME", slides
            as "slide NAME", curve and surface joints as "track NAME", the fifth constraint of a
            joint of the user's as "more NAME".
        dof: first degree of freedom of each joint, point spring and slide.
        dof_order: joints in the order of their degrees of freedom: hinges first, so that runs of
            them begin with a block, which is faster.
        dof_count: number of degrees of freedom.
        first_loop: row of the first loop: a lane block of its own, so that phases over bodies leave
            loops alone.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        tree = TreeOrder(mechanism)
        self.order, self.runs = tree.joints, tree.runs
        self.body = {WORLD: 0} | {joint.child: i for i, joint in enumerate(self.order, start=1)}
        springs = list(mechanism.springs)
        self.dof_order = [
            *sorted(self.order, key=lambda joint: not is_hinge(joint)),
            *mechanism.closing_joints,
        ]
        names = [*(joint.name for joint in self.dof_order), *(f"spring {name}" for name in springs)]
        names += [f"slide {slide.name}" for _, slide in mechanism.slides]
        ones = len(springs) + len(mechanism.slides)
        self.dof = starts(names, [*(joint.dofs for joint in self.dof_order), *[1] * ones])
        self.dof_count = sum(joint.dofs for joint in self.dof_order) + ones
        names += [f"track {name}" for name in mechanism.tracks]
        names += [f"more {name}" for name, track in mechanism.tracks.items() if track.rows > 4]
        self.first_loop = -(-len(self.body) // LANES) * LANES
        self.loop = {name: self.first_loop + i for i, name in enumerate(names[len(self.order) :])}
        self.parents = [0, *(self.body[joint.parent] for joint in self.order)]

    @property
    def velocity_dofs(self) -> dict[str, int]:
        """Dof of each velocity coordinate of the tree's joints."""
        return {
            name: self.dof[joint.name] + j
            for joint in self.order
            for j, name in enumerate(joint.velocity_names)
        }

    def of(self, joint: Joint) -> int:
        """Return the row of a joint: the row of the body it carries, or of the loop it closes."""
        return self.loop.get(joint.name, self.body[joint.child])


def _has_rate_force(joint: Joint) -> bool:
    """Return whether rates of a joint set a force."""
    ball = joint.joint_type.has_quaternion and bool(joint.effort or joint.friction)
    return joint.is_damped or joint.armature > 0 or ball


def _has_coordinate_force(mechanism: Mechanism, joint: Joint) -> bool:
    """Return whether coordinates set a force: springs, motors, limits, friction, couplings."""
    coupled = {
        name
        for coupling in mechanism.couplings.values()
        for name in (coupling.joint, coupling.other)
    } | {*mechanism.motions}
    bounded = joint.limits is not None or joint.friction > 0 or joint.name in mechanism.motors
    return joint.is_sprung or bounded or bool(coupled & joint.coordinate_names)


def is_active(mechanism: Mechanism, joint: Joint) -> bool:
    """Return whether coordinates or rates of a joint set a force."""
    return _has_rate_force(joint) or _has_coordinate_force(mechanism, joint)


def _pivot_kind(joint: Joint, has_fill_ins: bool) -> int:
    """Choose the pivot of a joint; the 3x3 pivot has no rates, springs or loop rows."""
    dofs = len(joint.joint_type.translations), len(joint.joint_type.rotations)
    if dofs == (0, 1):
        return HINGE_PIVOT
    is_free = not (_has_rate_force(joint) or joint.is_sprung or has_fill_ins)
    return BALL_PIVOT if dofs == (0, 3) and is_free else GENERAL_PIVOT


def _set_block_kinds(bodies: np.ndarray) -> None:
    """Choose where the elimination finds the block of each body, the world's first.

    Bodies add to a stored block where it has several, or not the next one alone. The world's is not
    used. Kernels of plain trees store no others; where there are loops or contacts all are stored.
    """
    count = len(bodies)
    children = np.bincount(bodies["parent"][1:], minlength=count)
    follows = np.append(bodies["parent"][1:] == np.arange(count - 1), False)
    kinds = np.where(children == 0, LEAF_BLOCK, STORED_BLOCK)
    kinds[follows & (children == 1)] = CHAIN_BLOCK
    kinds[0] = CHAIN_BLOCK
    bodies["block_kind"] = kinds


def _joint_rows(mechanism: Mechanism, rows: Rows, loops: Loops) -> np.ndarray:
    """Make the plan rows of the bodies with their joints, and of the loops."""
    joints = mechanism.ordered_joints
    names = [joint.name for joint in joints]
    position = starts(names, [len(joint.joint_type.positions) for joint in joints])
    velocity = starts(names, [joint.dofs for joint in joints])
    plan = BODY_PLAN.rows(rows.first_loop + len(rows.loop) if rows.loop else len(rows.body))
    for joint in joints:
        row = plan[rows.of(joint)]
        in_tree = rows.of(joint) < len(rows.body)
        row["parent"], row["child"] = rows.body[joint.parent], rows.body[joint.child]
        row["first_dof"] = rows.dof[joint.name]
        row["first_position"] = position[joint.name]
        row["first_velocity"] = velocity[joint.name]
        row["translation_count"] = len(joint.joint_type.translations)
        row["rotation_count"] = len(joint.joint_type.rotations)
        row["has_rate_force"] = _has_rate_force(joint)
        row["has_spring"] = joint.is_sprung
        row["motor_kind"] = motor_kind(mechanism, joint.name)
        row["has_limit"] = joint.limits is not None
        row["has_friction"] = joint.friction > 0
        row["has_forces"] = is_active(mechanism, joint) or bool(joint.effort)
        row["has_coordinate_force"] = _has_coordinate_force(mechanism, joint)
        if in_tree:
            row["pivot_kind"] = _pivot_kind(joint, loops.fill_ins[rows.of(joint)][1] > 0)
    for spring in mechanism.springs.values():
        row = plan[rows.loop[f"spring {spring.name}"]]
        row["parent"], row["child"] = rows.body[spring.a], rows.body[spring.b]
        row["first_dof"] = rows.dof[f"spring {spring.name}"]
    for track in mechanism.tracks.values():
        row = plan[rows.loop[f"track {track.name}"]]
        row["parent"], row["child"] = rows.body[track.a], rows.body[track.b]
    set_slide_plans(plan, mechanism, rows.body, rows.loop, rows.dof)
    _add_loop_rows(plan, len(rows.body), loops)
    _set_block_kinds(plan[: len(rows.body)])
    set_runs(plan, rows.runs, loops)
    return plan


def _add_loop_rows(plan: np.ndarray, body_count: int, loops: Loops) -> None:
    """Fill in the loop rows of bodies and loops, and the fill-in rows of bodies."""
    for body in range(body_count):
        plan[body]["first_loop_row"], plan[body]["loop_row_count"] = loops.eliminated[body]
        first, count, step = loops.fill_ins[body]
        plan[body]["first_fill_in"], plan[body]["fill_in_count"] = first, count
        plan[body]["fill_in_step"] = step
    for r, row in reversed(list(enumerate(loops.rows))):
        if row.kind not in (COUPLED_ROW, CONTACT_ROW, PRESCRIBED_ROW, VELOCITY_ROW):
            plan[row.owner]["first_loop_row"] = r
            plan[row.owner]["loop_row_count"] += 1


def _integers(rows: np.ndarray) -> np.ndarray:
    """View structured rows of the plan as one flat array of integers."""
    return rows.view(np.int64).reshape(-1)


def _join_lists(joints: np.ndarray, lists: dict[str, np.ndarray]) -> np.ndarray:
    """Join header, joints and lists to one plan; the header has the start of each list."""
    flat = [_integers(rows) for rows in lists.values()]
    plan = np.concatenate([np.zeros(HEADER.width, np.int64), _integers(joints), *flat])
    start = HEADER.width + joints.size * BODY_PLAN.width
    for name, integers in zip(lists, flat, strict=True):
        header_of(plan)[name] = start
        start += integers.size
    return plan


def _actuator_rows(joints: list[Joint], rows: Rows) -> list[tuple[int, int, int]]:
    """Return the rows of ACTUATOR_PLAN of all degrees of freedom that are driven."""
    return [
        (rows.of(joint), k, rows.dof[joint.name] + k)
        for joint in joints
        for k in range(joint.dofs if joint.effort else 0)
    ]


def _motor_rows(mechanism: Mechanism, rows: Rows) -> list[tuple[int, int, int]]:
    """Return the rows of ACTUATOR_PLAN of all motors, those along curves last."""
    driven = [joint for joint in mechanism.ordered_joints if joint.name in mechanism.motors]
    found = [(rows.of(joint), 0, rows.dof[joint.name]) for joint in driven]
    driven_slides = [name for name in mechanism.tracks.coordinate_names if name in mechanism.motors]
    slides = [f"slide {name}" for name in driven_slides]
    return [*found, *((rows.loop[name], 0, rows.dof[name]) for name in slides)]


def _order_active_joints(
    rows: list[int], joints: np.ndarray, body_count: int
) -> tuple[list[int], int]:
    """Put the hinges that are alike first, and count them: one environment takes them together.

    Alike are hinges of the tree with the same motors, limits, friction and springs, whose rows
    follow each other.
    """
    runs: list[list[int]] = [[]]
    shape: tuple[int, ...] = ()
    for i in sorted(rows):
        joint = joints[i]
        single = (joint["translation_count"], joint["rotation_count"]) == (0, 1)
        if not (i < body_count and single and joint["has_coordinate_force"]):
            continue
        before, shape = shape, tuple(int(joint[name]) for name in HINGE_SHAPE)
        if shape != before or i - 1 not in runs[-1]:
            runs.append([])
        runs[-1].append(i)
    alike = max(runs, key=len)
    if len(alike) < LEAST_ALIKE:
        return rows, 0
    return [*alike, *(i for i in rows if i not in set(alike))], len(alike)


def _set_terrain_size(header: np.void, mechanism: Mechanism) -> None:
    """Fill in the numbers of the terrain's grid points in the header."""
    if mechanism.ground is not None and mechanism.ground.terrain is not None:
        _, columns, rows = mechanism.ground.terrain.heights.shape
        header["terrain_columns"], header["terrain_rows"] = columns, rows


def _count_listed_elements(header: np.void, lists: dict[str, np.ndarray]) -> None:
    """Write to the header how many contacts, rims, motions and potentials there are."""
    for kind in ("contact", "motion", "potential"):
        header[f"{kind}_count"] = len(lists[f"plan_{kind}s"])
    header["rim_count"] = (lists["plan_contacts"]["kind"] == RIM_CONTACT).sum()


def _sum_up_joints(header: np.void, joints: np.ndarray) -> None:
    """Write the summary of the rows of all bodies and joints to the header."""
    bodies = joints[: int(header["body_count"])]
    header["unstored_block_count"] = (bodies["block_kind"] != STORED_BLOCK).sum()
    bounded = (joints["motor_kind"] > 0) | (joints["has_limit"] > 0) | (joints["has_friction"] > 0)
    header["has_bounded_forces"] = bounded.any()
    header["has_limits"] = (joints["has_limit"] > 0).any()


def build_plan(
    mechanism: Mechanism, rows: Rows, loops: Loops, lists: dict[str, np.ndarray]
) -> np.ndarray:
    """Build the plan; `lay_out` of the core fills in sizes and starts of the float tables.

    Args:
        mechanism: its elements.
        rows: their rows.
        loops: loop rows in the order of their elimination.
        lists: structured rows of contacts, motions, terms and potentials, by entry of the header.
    """
    joints = _joint_rows(mechanism, rows, loops)
    ordered = mechanism.ordered_joints
    active = [rows.of(joint) for joint in ordered if is_active(mechanism, joint)]
    active += [rows.loop[f"slide {slide.name}"] for _, slide in mechanism.slides]
    active, alike = _order_active_joints(active, joints, len(rows.body))
    motors = _motor_rows(mechanism, rows)
    actuators = _actuator_rows(ordered, rows)
    plan = _join_lists(
        joints,
        {
            "plan_actuators": np.array(actuators, ACTUATOR_PLAN.dtype),
            "plan_active_joints": np.array([(row,) for row in active], ACTIVE_JOINT_PLAN.dtype),
            "plan_loop_rows": loops.plan,
            "plan_fill_ins": loops.fill_in_plan,
            "plan_motors": np.array(motors, ACTUATOR_PLAN.dtype),
            "plan_terrain": terrain_numbers(mechanism),
            **track_plans(mechanism, rows.body, rows.loop),
            **lists,
        },
    )
    header = header_of(plan)
    header["body_count"], header["dof_count"] = len(rows.body), rows.dof_count
    header["position_count"] = len(mechanism.position_names)
    header["velocity_count"] = len(mechanism.velocity_names)
    header["actuator_count"], header["motor_count"] = len(actuators), len(motors)
    header["active_joint_count"], header["first_lone_joint"] = len(active), alike
    _set_terrain_size(header, mechanism)
    set_track_counts(header, mechanism)
    header["joint_count"] = len(rows.body) + len(mechanism.closing_joints)
    header["loop_count"], header["first_loop"] = len(rows.loop), rows.first_loop
    header["loop_row_count"] = len(loops.rows)
    header["fill_in_count"], header["schur_count"] = len(loops.fill_in_plan), loops.schur_count
    _count_listed_elements(header, lists)
    header["contact_row_count"] = sum(row.kind == CONTACT_ROW for row in loops.rows)
    _sum_up_joints(header, joints)
    return plan
