"""Starts of episodes: random ones of any mechanism, and those given to a reset."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.envs.arrays import Array, Flags
from vigym.envs.options import is_number, require
from vigym.envs.task import Start, Task
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.analysis import loop_sizes
from vigym.mechanism.topology.bases import free_bases
from vigym.mechanism.topology.graph import tree_joints_on_loops
from vigym.mechanism.topology.joint_frames import joint_frames, relative_pose
from vigym.mechanism.topology.kinematics import TreeKinematics
from vigym.mechanism.topology.loop_constraints import LoopSystem
from vigym.simulation.simulator import Simulator
from vigym.simulation.state.coordinates import Coordinates
from vigym.spatial import quaternion_product

Rows = NDArray[np.intp]
START_OPTIONS = ["state", "positions", "velocities"]  # of a reset: fields of `GivenStart`
_DEPENDENT = 1e-6  # relative singular value of motions that count as dependent


class RandomStart:
    """Random joint positions and velocities of a new episode, about a pose at rest.

    Every coordinate is uniform within +- scale [rad, m, per s] of the pose, and within the joint's
    limits; a quaternion is rotated by such a rotation vector. The pose is the assembly pose, but
    for the joints of `start`. With loops or couplings the coordinates are those of
    `independent_joints`, by name, and the others follow.

    Args:
        mechanism: with the joints.
        start: joint or coordinate name -> position [rad, m].
        poses: floating joint -> pose (7,): position [m], quaternion (w, x, y, z).

    Raises:
        ValueError: `start` names no such joint, joints of a loop that depend on each other, or a
            position beyond the joint's limits.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        start: Mapping[str, float] | None = None,
        poses: Mapping[str, Array] | None = None,
    ) -> None:
        named = _positions_by_joint(mechanism, start or {})
        self._mechanism = mechanism
        self._by_name = bool(mechanism.closing_joints or mechanism.couplings)
        self._joints = mechanism.tree_joints
        if self._by_name:
            self._joints = independent_joints(mechanism, list(named))
        self._centers = _centers(mechanism, self._joints, named)
        self._is_moved = bool(named or poses)
        self._centers |= poses or {}

    def __call__(self, rng: np.random.Generator, scale: float) -> tuple[Start, Start]:
        """Return joint positions and velocities; those of loops are by name, or none at scale 0."""
        if not self._by_name:
            noisy = [self._positions(joint, rng, scale) for joint in self._joints]
            dofs = self._mechanism.degrees_of_freedom
            return np.concatenate(noisy), rng.uniform(-scale, scale, dofs)
        joints = self._joints if scale or self._is_moved else []
        positions = {joint.name: self._positions(joint, rng, scale) for joint in joints}
        return positions, {joint.name: rng.uniform(-scale, scale, joint.dofs) for joint in joints}

    def _positions(self, joint: Joint, rng: np.random.Generator, scale: float) -> Array:
        """Return random positions of one joint."""
        noise = rng.uniform(-scale, scale, joint.dofs)
        center = self._centers[joint.name]
        free = len(joint.joint_type.translations) if joint.joint_type.has_quaternion else joint.dofs
        values: Array = center[:free] + noise[:free]
        if joint.limits is not None and not _is_outside(joint, center[:free]):
            values = np.minimum(np.maximum(values, joint.limits[:, 0]), joint.limits[:, 1])
        if not joint.joint_type.has_quaternion:
            return values
        half = np.concatenate(([1.0], 0.5 * noise[-3:]))
        rotation: Array = half / np.sqrt(half @ half)
        if free:
            rotation = quaternion_product(center[-4:], rotation)
        return np.concatenate((values, rotation))


def draw_initial_states(
    task: Task, mechanism: Mechanism, streams: Sequence[np.random.Generator], mask: Flags
) -> tuple[Start, Start]:
    """Draw joint positions and velocities of environments, with a leading axis (batch,).

    Each is drawn on its own, since every environment has its own random stream.

    Args:
        task: with the distribution.
        mechanism: of the task.
        streams: random stream of every environment; those outside the mask are not used.
        mask: (batch,) environments to draw, at least one; rows of the others are arbitrary.

    Raises:
        ValueError: the task names different joints for different environments.
    """
    lanes = mask.nonzero()[0]
    rows = np.zeros(len(mask), dtype=np.intp)  # of every environment among those drawn
    rows[lanes] = np.arange(len(lanes))
    states = [task.initial(mechanism, streams[lane]) for lane in lanes.tolist()]
    positions, velocities = zip(*states, strict=True)
    return _stack_starts(positions, rows), _stack_starts(velocities, rows)


def draw_terrain_maps(
    task: Task, mechanism: Mechanism, streams: Sequence[np.random.Generator], mask: Flags
) -> NDArray[np.int64] | None:
    """Draw the terrain's map for environments of a mask (batch,); None where there is one ground.

    Returns:
        Numbers (batch,), 0 outside of the mask.
    """
    ground = mechanism.ground
    if ground is None or ground.terrain is None or ground.terrain.maps == 1:
        return None
    drawn = np.zeros(len(mask), dtype=np.int64)
    for lane in mask.nonzero()[0].tolist():
        drawn[lane] = streams[lane].integers(task.terrain_maps(ground.terrain.maps))
    return drawn


def _stack_starts(starts: Sequence[Start], rows: Rows) -> Start:
    """Return one array of all, or one by joint name."""
    first = starts[0]
    if not isinstance(first, Mapping):
        return _take_rows(starts, rows)  # type: ignore[arg-type]
    named: list[Mapping[str, ArrayLike]] = []
    for start in starts:
        if not isinstance(start, Mapping) or start.keys() != first.keys():
            found = list(start)
            expected = f"{list(first)} as for another"
            raise ValueError(f"initial: found {found} for one environment, expected {expected}")
        named.append(start)
    numbers = [name for name, value in first.items() if isinstance(value, float)]
    values: Any = [[start[name] for name in numbers] for start in named]
    table = _take_rows(values, rows)
    others = first.keys() - set(numbers)
    arrays = {name: _take_rows([start[name] for start in named], rows) for name in others}
    return {**dict(zip(numbers, table.T, strict=True)), **arrays}


def _take_rows(values: Sequence[ArrayLike], rows: Rows) -> Array:
    table: Array = np.array(values, dtype=np.float64).take(rows, axis=0)
    return table


@dataclass(frozen=True, kw_only=True)
class GivenStart:
    """Start of an episode as given to a reset, in place of the random one.

    Attributes:
        state: saved state (..., n_state), None for none.
        positions: joint or coordinate name -> position [rad, m], or the whole array
            (n_positions,); the others are as drawn. In a vector environment also (num_envs, ...).
        velocities: the same for velocities [rad/s, m/s].
    """

    state: Any = None
    positions: Any = None
    velocities: Any = None

    def check(self, sim: Simulator, mask: Flags) -> None:
        """Check the state, or names, shapes and numbers of positions and velocities.

        Args:
            sim: of the environments.
            mask: (count,) environments that start.

        Raises:
            ValueError: a state, a name or a shape that the mechanism has not, or numbers that are
                not finite; a state as well as positions or velocities.
        """
        if self.positions is None and self.velocities is None:
            if self.state is not None:
                sim.require_state(self.state, mask)
            return
        if self.state is not None:
            raise ValueError(
                "reset options: found 'state' as well as 'positions' or 'velocities', expected "
                "either: a state has them all"
            )
        count, single = sim.batch or 1, sim.batch is None
        Coordinates(sim.mechanism).arrays(count, single, self.positions, self.velocities, None)

    def merged_positions(self, drawn: Start, mechanism: Mechanism) -> Start:
        """Return the given positions, and random ones of joints that do not follow from them."""
        if self.positions is None:
            return drawn
        drawn = _without_followers(drawn, self.positions, mechanism)
        return _merged(self.positions, drawn, mechanism.position_names)

    def merged_velocities(self, drawn: Start, mechanism: Mechanism) -> Start:
        """Return the given velocities, and random ones of joints that do not follow from them."""
        if self.velocities is None:
            return drawn
        drawn = _without_followers(drawn, self.velocities, mechanism)
        return _merged(self.velocities, drawn, mechanism.velocity_names)

    def places_base(self, mechanism: Mechanism) -> bool:
        """Return whether the height of a base is given, which is not moved then."""
        if not isinstance(self.positions, Mapping) or mechanism.ground is None:
            return self.positions is not None
        names, normal = set(self.positions), mechanism.ground.normal
        return any(base.sets_height(names, normal) for base in free_bases(mechanism))

    def part(self, lanes: slice, mechanism: Mechanism) -> "GivenStart":
        """Return the start of some environments of a vector, which was checked for all."""
        return GivenStart(
            state=_lane_rows(self.state, lanes, []),
            positions=_lane_rows(self.positions, lanes, mechanism.position_names),
            velocities=_lane_rows(self.velocities, lanes, mechanism.velocity_names),
        )


RANDOM_START = GivenStart()


def _merged(given: Any, drawn: Start, names: list[str]) -> Start:
    """Return given values by name or as an array, and random values of the other names."""
    if not isinstance(given, Mapping):
        whole: Array = np.asarray(given, dtype=np.float64)
        return whole
    if not isinstance(drawn, Mapping):
        columns = np.moveaxis(np.asarray(drawn, dtype=np.float64), -1, 0)
        drawn = dict(zip(names, columns, strict=False))
    return {**drawn, **given}


def _lane_rows(given: Any, lanes: slice, names: list[str]) -> Any:
    """Return rows of some environments, by name or as an array; a row for all stays as it is."""
    if isinstance(given, Mapping):
        return {key: _lane_rows(given[key], lanes, [key] if key in names else []) for key in given}
    rows = np.asarray(given)
    each = rows.ndim == 2 or (rows.ndim == 1 and len(names) == 1 and len(rows) > 1)
    return rows[lanes] if each else given


def _without_followers(drawn: Start, given: Any, mechanism: Mechanism) -> Start:
    """Return the random values by name for loops, without joints that follow the given ones."""
    if not (isinstance(drawn, Mapping) and isinstance(given, Mapping)):
        return drawn

    def names(joint: Joint) -> set[str]:
        return {joint.name, *joint.position_names, *joint.velocity_names}

    def joints(named: Collection[str]) -> list[Joint]:
        return [joint for joint in mechanism.tree_joints if not names(joint).isdisjoint(named)]

    independent, _ = _choose_independent(mechanism, [*joints(given), *joints(drawn)])
    following = set().union(*(names(j) for j in joints(drawn) if j not in independent))
    return {name: value for name, value in drawn.items() if name not in following}


def independent_joints(mechanism: Mechanism, named: list[str] | None = None) -> list[Joint]:
    """Return the tree joints that set an initial state: those in no loop, and actuated ones.

    Where the actuated joints of a loop are more than its degrees of freedom, those nearest to the
    world set it. Joints of a loop that are `named` come before the actuated ones.

    Args:
        mechanism: with the joints.
        named: names of joints that set the state.

    Raises:
        ValueError: named joints that depend on each other.
    """
    tree = mechanism.tree_joints
    first = [joint for joint in tree if joint.name in (named or ())]
    accepted, dependent = _choose_independent(mechanism, first)
    for joint in dependent:
        before = [one.name for one in accepted if one in first]
        expected = f"joints that move independently: this one follows {', '.join(before)}"
        require(False, "start", joint.name, expected)
    return [joint for joint in tree if joint in accepted]


def _choose_independent(
    mechanism: Mechanism, first: list[Joint]
) -> tuple[list[Joint], list[Joint]]:
    """Choose joints that set a state, if possible the first ones; return those that depend, too."""
    looped = tree_joints_on_loops(mechanism)
    tree = mechanism.tree_joints
    free = [joint for joint in tree if joint.name not in looped]
    actuated = [joint for joint in tree if joint.name in looped and joint.actuated]
    actuated.sort(key=lambda joint: _depth_of(mechanism, joint))
    motion = _motion(mechanism)
    rows, row = {}, 0
    for joint in tree:
        rows[joint.name] = list(range(row, row + joint.dofs))
        row += joint.dofs
    selected: list[int] = []
    accepted: list[Joint] = []
    dependent: list[Joint] = []
    for joint in dict.fromkeys([*first, *free, *actuated]):
        trial = selected + rows[joint.name]
        if len(trial) <= mechanism.degrees_of_freedom and _is_independent(motion[trial]):
            selected = trial
            accepted.append(joint)
        elif joint in first:
            dependent.append(joint)
    return accepted, dependent


def _depth_of(mechanism: Mechanism, joint: Joint) -> int:
    """Return the number of joints between a tree joint and the world."""
    carriers = {each.child: each for each in mechanism.tree_joints}
    depth = 0
    while joint.parent in carriers:
        joint = carriers[joint.parent]
        depth += 1
    return depth


def _motion(mechanism: Mechanism) -> Array:
    """Return a basis (tree dofs, m) of the velocities that loops and couplings allow."""
    tree = TreeKinematics(mechanism)
    closing = mechanism.closing_joints
    if not closing:
        return tree.velocity_map
    frames = [joint_frames(mechanism, joint) for joint in closing]
    structure = mechanism.structure
    rows = [structure.loop_constraints[joint.name] for joint in closing]
    system = LoopSystem(tree, frames, rows, loop_sizes(mechanism, tree, frames))
    derivatives = system.evaluate(tree.poses(structure.assembly[None]))[1][0]
    _, sizes, basis = np.linalg.svd(derivatives)
    rank = int((sizes > _DEPENDENT * sizes.max(initial=0.0)).sum())
    motion: Array = system.gains @ basis[rank:].T
    return motion


def _is_independent(motion: Array) -> bool:
    """Return whether the rows (n, m) of a basis are linearly independent."""
    if len(motion) > motion.shape[1]:
        return False
    sizes = np.linalg.svd(motion, compute_uv=False)
    return bool(sizes.min(initial=np.inf) > _DEPENDENT * sizes.max(initial=0.0))


def _positions_by_joint(
    mechanism: Mechanism, start: Mapping[str, float]
) -> dict[str, dict[int, float]]:
    """Return column -> position by joint, from positions by coordinate name."""
    require(isinstance(start, Mapping), "start", start, "{joint: position}")
    columns = {
        name: (joint, column)
        for joint in mechanism.tree_joints
        if not joint.joint_type.has_quaternion
        for column, name in enumerate(joint.position_names)
    }
    named: dict[str, dict[int, float]] = {}
    for name, value in start.items():
        require(name in columns, "start", name, f"names among {', '.join(columns)}")
        require(is_number(value), f"start of {name}", value, "a finite number (rad, m)")
        joint, column = columns[name]
        if joint.limits is not None:
            low, high = joint.limits[column]
            expected = f"a position within its limits, {low:g} to {high:g}"
            require(low <= value <= high, f"start of {name}", value, expected)
        named.setdefault(joint.name, {})[column] = float(value)
    return named


def _centers(
    mechanism: Mechanism, joints: list[Joint], named: Mapping[str, Mapping[int, float]]
) -> dict[str, Array]:
    """Return the positions about which each joint starts."""
    tree = mechanism.tree_joints
    ends = np.cumsum([len(joint.joint_type.positions) for joint in tree])
    assembly = dict(
        zip([j.name for j in tree], np.split(mechanism.structure.assembly, ends[:-1]), strict=True)
    )
    centers = {}
    for joint in joints:
        center = np.array(assembly[joint.name])
        if joint.type == "floating":  # its coordinates are a pose
            center = relative_pose(mechanism, joint.parent, joint.child)
        for column, value in named.get(joint.name, {}).items():
            center[column] = value
        centers[joint.name] = center
    return centers


def _is_outside(joint: Joint, positions: Array | float) -> bool:
    """Return whether positions of a joint are beyond its limits."""
    if joint.limits is None:
        return False
    return bool((positions < joint.limits[:, 0]).any() or (positions > joint.limits[:, 1]).any())
