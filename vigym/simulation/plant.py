"""Plant: a mechanism compiled for all environments of a batch, with their memory.

All calls of the compiled kernels from the simulation are here.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.core.compiler.processes import compile_beside
from vigym.core.joint.bounded_forces import IDLE_TARGET
from vigym.core.kernels import assemble, constraint_forces, read, reset, start, step
from vigym.core.model import snapshot
from vigym.core.model.layout import Model, header_of, plan_rows
from vigym.core.tables.plan import ACTUATOR_PLAN
from vigym.core.tables.state import DOF_STATE, ENVIRONMENT_STATE, WRENCH_STATE
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.couplings import VelocityConstraint
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.compile.layout import Rows
from vigym.simulation.compile.model import build_model
from vigym.simulation.failures import UserFunctions
from vigym.simulation.state import inputs
from vigym.simulation.state.batch import LaneGroups
from vigym.simulation.state.coordinates import Coordinates
from vigym.simulation.state.float32 import SinglePrecision, check_single
from vigym.simulation.state.options import Options


class Plant:
    """Mechanism, compiled model and memory of all environments.

    Args:
        mechanism: mechanism as built; it is copied.
        options: options of the simulator.

    Raises:
        ValueError: options that do not fit the mechanism.
        MemoryError: a batch that is larger than the machine's memory.

    Attributes:
        mechanism: mechanism as built.
        options: options of the simulator.
        model: constant tables of the mechanism as built.
        coordinates: its joint coordinates.
        groups: plan, constants, state and scratch memory.
        single: whether there is one environment without a leading axis.
        count: number of environments.
        assembled: (count, n_positions) assembly poses.
        is_imposed: whether motions or velocity constraints are imposed.
        variants: environment -> its mechanism, of those that were given one of their own.
    """

    def __init__(self, mechanism: Mechanism, options: Options) -> None:
        self.options = options
        self.model: Model = build_model(mechanism, options.loops)
        self._built_plan = self.model.plan  # without room for held wrenches
        self.coordinates = Coordinates(mechanism)
        self.mechanism = copy.deepcopy(mechanism)  # with the analysis that was made of it
        self._user_functions = UserFunctions(self.mechanism)
        self.is_imposed = bool(self.mechanism.motions or self.mechanism.velocity_constraints)
        header = header_of(self.model.plan)
        self._actuators = int(header["actuator_count"])
        self._motors = int(header["motor_count"])
        self.groups = _lane_groups(self.mechanism, self.model, options)
        compile_beside(self.groups.kind, self.groups.first_calls(), longest=step.step)
        self.single = self.groups.single
        self.count = self.groups.count
        self.assembled: Array = np.tile(self.coordinates.assembled, (self.count, 1))
        self.variants: dict[int, Mechanism] = {}

    def mask(self, mask: ArrayLike | None) -> NDArray[np.bool_]:
        """Check a mask (count,) of environments, None for all, and return it."""
        return inputs.environment_mask(mask, self.count)

    def torque_rows(self, torques: ArrayLike | None) -> Array:
        """Check torques (..., n_actuated), None for zero; return rows (count, n_actuated)."""
        return inputs.torque_rows(torques, self.count, self._actuators, self.single)

    def target_rows(self, targets: ArrayLike | None) -> Array:
        """Check motor targets (..., n_motors), None for idle; return rows (count, n_motors)."""
        return inputs.target_rows(targets, self.count, self._motors, self.single)

    def squeeze(self, values: Array) -> Array:
        """Copy values (count, ...), without the leading axis for a single environment."""
        copied: Array = (values[0] if self.single else values).copy()
        return copied

    def number(self, values: Array) -> Any:
        """Copy values (count,), to a float for a single environment."""
        return float(values[0]) if self.single else values.copy()

    def set_model(self, environment: int, model: Model) -> None:
        """Set the constants of an environment by other factors, with lengths as built."""
        self.groups.set_model(environment, model)
        self.assembled[environment] = self.coordinates.assembled
        self.variants.pop(environment, None)

    def set_mechanisms(self, environments: Sequence[int], mechanisms: Sequence[Mechanism]) -> None:
        """Set mechanisms of their own for environments.

        Raises:
            MechanismError: one of another structure than the mechanism as built; none is set.
        """
        models = [build_model(mechanism, self.options.loops) for mechanism in mechanisms]
        for environment, model in zip(environments, models, strict=True):
            if not np.array_equal(model.plan, self._built_plan):
                where = "" if self.single else f" of environment {environment}"
                raise MechanismError(
                    f"parameters{where}: found lengths that change which rows of a loop depend on "
                    "others, expected a mechanism of the same structure"
                )
        for environment, mechanism, model in zip(environments, mechanisms, models, strict=True):
            self.groups.set_model(environment, model)
            self.variants[environment] = mechanism
            self.assembled[environment] = Coordinates.assembled_pose(mechanism)

    def set_terrain_maps(self, maps: ArrayLike, mask: NDArray[np.bool_]) -> None:
        """Put the environments of a mask (count,) on maps of the terrain, one number or (count,).

        Raises:
            ValueError: no terrain, or a number that is not of one of its maps.
        """
        ground = self.mechanism.ground
        count = 0 if ground is None or ground.terrain is None else ground.terrain.maps
        given = np.asarray(maps)
        whole = given.dtype.kind in "iu" and given.shape in ((), (self.count,))
        if not whole or (given < 0).any() or (given >= count).any():
            expected = f"whole numbers below {count}, the maps of the terrain"
            raise ValueError(f"terrain_map: found {maps!r}, expected {expected}")
        self.groups.set_terrain_maps(np.where(mask, given, self.groups.terrain_maps))

    def place(self, positions: Array, velocities: Array, mask: NDArray[np.bool_]) -> None:
        """Start environments of a mask from coordinates (count, n) and velocities (count, n)."""
        if not np.count_nonzero(mask):
            return
        selected = mask[:, None].astype(np.float64)
        self.groups.call(reset.reset, positions, velocities, selected, changes=mask)
        if not self.is_imposed:
            return
        constraints = self.mechanism.velocity_constraints.values()
        if constraints:
            rates = np.array([each.rate_at(0.0) / each.size for each in constraints])
            groups = self.groups
            snapshot.write_motion_rates(groups.plan, groups.state, rates, mask, self.single)

    def start(self, mask: NDArray[np.bool_]) -> None:
        """Project the start velocities of the environments of a mask (count,) on all constraints.

        Contacts that touch with restitution rebound.
        """
        if self.groups.projects_starts:
            none = np.empty((self.count, 0))
            self._start(mask, none, none)

    def push(self, mask: NDArray[np.bool_], velocities: Array, sums: Array) -> None:
        """Start environments of a mask (count,) anew, with changes of velocities.

        Args:
            mask: (count,) environments to push.
            velocities: (count, n_bodies, 3) changes at the centres of mass [m/s].
            sums: (count, 2) energy dissipated so far and work [J].
        """
        rows = self.model.body_rows
        changes = np.zeros((self.count, len(rows), 3))
        changes[:, rows - 1] = velocities
        self._start(mask, changes.reshape(self.count, -1), sums)

    def _start(self, mask: NDArray[np.bool_], changes: Array, sums: Array) -> None:
        if np.count_nonzero(mask):
            arguments = mask[:, None].astype(np.float64), self.options.timestep, changes, sums
            self.groups.call(start.start, *arguments, changes=mask)

    def assemble(
        self, given: tuple[Array, Array], start: tuple[Array, Array], mask: NDArray[np.bool_]
    ) -> tuple[Array, Array, Array]:
        """Close loops and couplings, in positions and velocities.

        Args:
            given: positions (count, n_positions) and velocities (count, n_velocities) that are
                held, NaN where they follow.
            start: positions and velocities to start from; the latter are overwritten.
            mask: (count,) environments to close.

        Returns:
            Positions, velocities and the kernel's result (count, JOINT_GAPS + n): gaps, among them
            those of n loop-closing joints.
        """
        q, rates = start
        positions = q.copy()
        gaps = max(1, len(self.mechanism.closing_joints))
        result = np.zeros((len(q), assemble.JOINT_GAPS + gaps))
        arguments = positions, q.copy(), given[0], q, rates, given[1], result
        self.groups.call(assemble.assemble, *arguments, selected=mask)
        return positions, rates, result

    def advance(
        self, inputs: tuple[Array, Array], timestep: float, order: int, steps: int, status: Array
    ) -> bool:
        """Make steps; return whether the steps of all environments met the tolerance.

        Args:
            inputs: torques (count, n_actuated) and targets (count, n_motors), NaN where idle.
            timestep: step size [s].
            order: order of the integrator.
            steps: number of steps.
            status: (count, STATUS_COLUMNS) rows to write the status to.
        """
        if self.is_imposed:
            inputs = inputs[0], np.hstack([inputs[1], self._motion_samples(timestep, steps)])
        self._user_functions.clear()
        method = timestep, order, steps, self.options.tolerance, self.options.max_iterations
        self.groups.call(step.step, *inputs, *method, status, steps=steps)
        converged = status.item(0) if self.single else status[status[:, 0].argmin(), 0]
        if not converged:  # some steps failed, and may have diverged
            status[np.isnan(status[:, 2]), 2] = np.inf
            self._user_functions.warn()
        return bool(converged)

    def _motion_samples(self, timestep: float, steps: int) -> Array:
        """Return coordinates and rates of prescribed motions at the end of all steps of a call.

        For velocity constraints the values are integrals of the rate over the step.

        Returns:
            (count, 2 steps motions), motions and their two numbers last.
        """
        times = self.groups.times[:, None] + timestep * np.arange(1, steps + 1)
        each, places = np.unique(times, return_inverse=True)
        motions = self.mechanism.motions.values()
        constraints = self.mechanism.velocity_constraints.values()
        rows = np.array(
            [
                [
                    *(motion.at(time) for motion in motions),
                    *(scaled_step(each, time - timestep, time) for each in constraints),
                ]
                for time in each.tolist()
            ]
        )
        samples: Array = rows.reshape(len(each), -1)[places.reshape(times.shape)]
        result: Array = samples.reshape(self.count, -1)
        return result

    @property
    def motion_forces(self) -> Array:
        """Forces (count, n) of prescribed motions and then velocity constraints, in the last step.

        At its first knot.
        """
        groups = self.groups
        rows, sizes = snapshot.read_multipliers(groups.plan, groups.state, self.single, self.count)
        total = sizes.sum(axis=1)
        share = np.divide(2.0 * sizes[:, 0], total, out=np.zeros_like(total), where=total > 0.0)
        constraints = self.mechanism.velocity_constraints.values()
        scales = np.array([1.0] * len(self.mechanism.motions) + [each.size for each in constraints])
        forces: Array = rows * share[:, None] / scales
        return forces

    @property
    def motor_forces(self) -> Array:
        """Forces (count, n_motors) of all motors in the last step [N, N m]."""
        return _read_dofs(self.groups.plan, self.pack_state(), "motor", "last_motor_force")

    def hold_wrench(self, body: str, wrench: Array, mask: NDArray[np.bool_]) -> None:
        """Hold a wrench (count, 15) on a body in the environments of a mask, in place of its last.

        Its columns are force and torque in the world, force and torque in the body, and the point.
        """
        self.enable_wrenches()
        groups, row = self.groups, int(self.model.body_rows[[*self.mechanism.bodies].index(body)])
        rows = snapshot.read_wrenches(groups.plan, groups.state, self.single, self.count)[:, row]
        rows[mask] = wrench[mask]
        snapshot.write_wrenches(groups.plan, groups.state, rows, row, self.single)

    @property
    def holds_wrenches(self) -> bool:
        """Whether the state has held wrenches."""
        return bool(header_of(self.groups.plan)["wrench_count"])

    @property
    def any_wrench(self) -> bool:
        """Whether any body is held by a wrench that is not zero."""
        groups = self.groups
        return self.holds_wrenches and bool(
            snapshot.read_wrenches(groups.plan, groups.state, self.single, self.count).any()
        )

    def enable_wrenches(self) -> None:
        """Make room for held wrenches in the state, which stays as it is."""
        if self.holds_wrenches:
            return
        state, old = self.pack_state(), self.groups
        plan = self.model.plan.copy()
        header = header_of(plan)
        header["wrench_count"] = header["body_count"]
        self.model = self.model._replace(plan=plan)
        self.groups = _lane_groups(self.mechanism, self.model, self.options)
        self.groups.take_constants(old)
        self.unpack_state(self.with_wrench_columns(state))

    def with_wrench_columns(self, rows: Array) -> Array:
        """Return packed states (count, n) of a plant without held wrenches, with zeros for them."""
        columns = snapshot.wrench_columns(self.groups.plan)
        zeros = np.zeros((len(rows), columns.stop - columns.start))
        return np.hstack([rows[:, : columns.start], zeros, rows[:, columns.start :]])

    @property
    def wrench_width(self) -> int:
        """Number of columns that held wrenches have in a packed state."""
        return int(header_of(self.model.plan)["body_count"]) * WRENCH_STATE.width

    def read(self, table: Array, mask: NDArray[np.bool_] | None = None) -> None:
        """Write the readings of the environments of a mask, or of all, to a table (count, n)."""
        self.groups.call(read.read, table, selected=mask, knots=1)

    def constraint_forces(self, columns: int) -> Array:
        """Return forces of all joints, then poses of all bodies, as rows (count, columns)."""
        table = np.zeros((self.count, columns))
        self.groups.call(constraint_forces.constraint_forces, table)
        return table

    def pack_state(self) -> Array:
        """Return the states as rows (count, n)."""
        return snapshot.pack(self.groups.plan, self.groups.state, self.single, self.count)

    def unpack_state(self, rows: Array) -> None:
        """Restore states from rows (count, n or more)."""
        snapshot.unpack(self.groups.plan, self.groups.state, rows, self.single)
        self.groups.update_derived()

    @property
    def state_columns(self) -> int:
        """Number of columns of a packed state."""
        return snapshot.packed_width(self.groups.plan)

    def state_quaternions(self, rows: Array) -> Array:
        """Return the quaternions (count, n, 4) in packed states."""
        return snapshot.packed_orientations(self.groups.plan, rows)

    def last_inputs(self) -> tuple[Array, Array, Array]:
        """Return the inputs of the last step, and its size.

        Returns:
            Torques (count, n_actuated), targets (count, n_motors) with NaN where a motor idled,
            and sizes (count,) [s], 0 after a reset.
        """
        plan, rows = self.groups.plan, self.pack_state()
        torques = _read_dofs(plan, rows, "actuator", "last_torque")
        targets = _read_dofs(plan, rows, "motor", "last_target")
        targets = np.where(np.abs(targets) < IDLE_TARGET, targets, np.nan)
        return torques, targets, rows[:, ENVIRONMENT_STATE.offset("step_size")]

    def slow_rates(self) -> Array:
        """Return the slow rates (count, n) of all joints, then of springs between points.

        Along the dofs of joints in the order of the mechanism's velocity names.
        """
        mechanism, rows = self.mechanism, Rows(self.mechanism)
        dofs = [
            rows.dof[joint.name] + j
            for joint in mechanism.ordered_joints
            for j in range(joint.dofs)
        ]
        dofs += [rows.dof[f"spring {name}"] for name in mechanism.springs]
        return _dof_column(self.pack_state(), np.array(dofs, np.int64), "slow_rate")


def scaled_step(constraint: VelocityConstraint, start: float, end: float) -> tuple[float, float]:
    """Return integral and end rate of a velocity constraint, as its divided equation has them."""
    whole, rate = constraint.over_step(start, end)
    return whole / constraint.size, rate / constraint.size


def _read_dofs(plan: NDArray[np.int64], rows: Array, driven: str, field: str) -> Array:
    """Return a field of the dofs that actuators or motors drive (count, n), in packed states."""
    header = header_of(plan)
    start, count = int(header[f"plan_{driven}s"]), int(header[f"{driven}_count"])
    dofs = plan_rows(plan, ACTUATOR_PLAN, start, count)["dof"]
    return _dof_column(rows, dofs, field)


def _dof_column(rows: Array, dofs: NDArray[np.int64], field: str) -> Array:
    """Return a field of some dofs (count, n), in packed states."""
    column: Array = rows[:, snapshot.SCALARS + dofs * DOF_STATE.width + DOF_STATE.offset(field)]
    return column


def _lane_groups(mechanism: Mechanism, model: Model, options: Options) -> LaneGroups:
    """Return the memory of all environments, in the precision of the steps."""
    if options.precision == "float32":
        check_single(
            mechanism, model, options.timestep, options.order, options.tolerance, options.batch
        )
        return SinglePrecision(model, options.batch or 1, options.threads)
    pyramid = options.friction_cone == "pyramid"
    interior_point = options.contact_solver != "newton"
    return LaneGroups(model, options.batch, options.threads, pyramid, interior_point)
