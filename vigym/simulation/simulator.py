"""Simulator: steps a mechanism, or a batch of copies of it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from vigym.announce import announce
from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism
from vigym.metrics import metrics
from vigym.simulation.dynamics.dynamics import Dynamics
from vigym.simulation.forces import Forces
from vigym.simulation.linearization.linearize import Linearizer
from vigym.simulation.parameters.parameters import Parameters
from vigym.simulation.parameters.quantities import GivenFactors
from vigym.simulation.plant import Plant
from vigym.simulation.state.coordinates import Base, Given
from vigym.simulation.state.initial_state import InitialState
from vigym.simulation.state.inputs import impulse_rows, positive_integer
from vigym.simulation.state.loop_assembly import report_assembly
from vigym.simulation.state.options import checked_options
from vigym.simulation.state.readings import Contacts, Energy, Readings, Status
from vigym.simulation.state.saved_state import SavedState
from vigym.simulation.tracks import TrackReadings

__all__ = ["Energy", "Simulator", "Status"]


class Simulator:
    """Simulation of a mechanism, or of a batch of copies of it with parameters of their own.

    Args:
        mechanism: mechanism to simulate; compiled here, later changes to it have no effect.
        timestep: step size h [s].
        order: 2; or 4 or 6, compositions of 5 and of 11 second-order steps, each up to 0.7 h and
            0.5 h long. They reach small energy errors in less time than order 2, with larger steps.
            Only without damping, motors, limits and contact: some of their steps go backwards.
        loops: "tail" (all loops in one dense node), "local" (each where its cycle closes) or
            "auto": the tail for up to two loop-closing joints and springs between points, local
            beyond. Steps agree to the tolerance.
        tolerance: largest scaled residual of an accepted step (a few roundings of its largest
            term, if that is more); 1e-10, or 1e-5 in single precision. A hundred times as much
            where contacts, motors, limits or dry friction have a force.
        max_iterations: largest number of Newton iterations of a step, with those of attempts and
            parts of it that fail. A step that has no solution by then ends unsolved.
        batch: number of environments, or None for one without a leading axis.
        threads: largest number of threads of a call. Their number changes no result.
        friction_cone: "cone", or "pyramid", its four-sided approximation.
        contact_solver: "newton": semi-smooth, with the interior-point method where that fails; or
            "interior_point" from the start, which takes many more iterations and leaves small
            gaps: a reference. It solves the true cone only.
        precision: "float64", or "float32": steps of a batch in single precision, about twice as
            fast. All inputs and readings stay double. For open chains without contact, see
            `vigym.simulation.state.float32`.

    Raises:
        ValueError: a value out of range, or an order above 2 with dissipation, motors, limits or
            contact.
        MemoryError: a batch that is larger than the machine's memory.

    Attributes:
        mechanism: copy of the mechanism as built.
        options: `Options`: order, tolerance and the other arguments above, fixed.
        readings: `Readings` of the present state; those of daily use are properties here, too.
        parameters: `Parameters`, by which environments differ; `set_parameters` changes them.
        dynamics: `Dynamics`: mass matrix, Jacobians, forward and inverse dynamics.
        forces: `Forces`: applied wrenches, and the forces of motors and imposed motions.
        tracks: `TrackReadings` of curve and surface joints and joints of your own.
    """

    __slots__ = (  # no others: an option that is set here would change nothing
        "__weakref__",
        "_idle",
        "_initial_state",
        "_linearizer",
        "_plant",
        "_saved_state",
        "dynamics",
        "forces",
        "mechanism",
        "options",
        "parameters",
        "readings",
        "tracks",
    )

    def __init__(
        self,
        mechanism: Mechanism,
        timestep: float = 0.01,
        order: int = 2,
        loops: str = "auto",
        tolerance: float | None = None,
        batch: int | None = None,
        threads: int = 1,
        *,
        max_iterations: int = 3000,
        friction_cone: str = "cone",
        contact_solver: str = "newton",
        precision: str = "float64",
    ) -> None:
        self.options = checked_options(
            mechanism,
            timestep=timestep,
            order=order,
            loops=loops,
            tolerance=tolerance,
            max_iterations=max_iterations,
            batch=batch,
            threads=threads,
            friction_cone=friction_cone,
            contact_solver=contact_solver,
            precision=precision,
        )
        announce()
        self._plant = plant = Plant(mechanism, self.options)
        self.mechanism = plant.mechanism
        report_assembly(self.mechanism, plant.coordinates)
        self.readings, self.parameters = readings, parameters = Readings(plant), Parameters(plant)
        self.dynamics = Dynamics(plant, readings, parameters)
        self.forces, self.tracks = Forces(plant, readings), TrackReadings(plant, readings)
        self._initial_state = InitialState(plant, readings, parameters)
        self._saved_state = SavedState(plant, readings, parameters)
        self._linearizer = Linearizer(plant, readings, parameters, self._saved_state)
        self._idle = plant.torque_rows(None), plant.target_rows(None)
        self.reset()

    def __repr__(self) -> str:
        name, bodies = self.mechanism.name, len(self.mechanism.bodies)
        batch = "" if self.batch is None else f", batch={self.batch}"
        return f"Simulator({name!r}, bodies={bodies}, timestep={self.timestep:g} s{batch})"

    def __getstate__(self) -> dict[str, Any]:
        return {"mechanism": self.mechanism, **vars(self.options), "state": self.state}

    def __setstate__(self, values: dict[str, Any]) -> None:
        options = {name: value for name, value in values.items() if name != "state"}
        self.__init__(**options)  # type: ignore[misc]
        self.state = values["state"]

    @property
    def timestep(self) -> float:
        """Step size [s]."""
        return self.options.timestep

    @property
    def batch(self) -> int | None:
        """Number of environments; None for one without a leading axis."""
        return self.options.batch

    @property
    def joint_positions(self) -> Array:
        """Coordinates (..., n_positions) [rad, m], as ``mechanism.position_names``."""
        return self.readings.joint_positions

    @property
    def joint_velocities(self) -> Array:
        """Velocities (..., n_velocities) [rad/s, m/s], as ``mechanism.velocity_names``."""
        return self.readings.joint_velocities

    @property
    def actuator_torques(self) -> Array:
        """Actuator forces of the last step (..., n_actuated) [N, N m]; of motors theirs."""
        return self.readings.actuator_torques

    @property
    def body_states(self) -> Array:
        """States (..., n_bodies, 13) of all bodies, in the order of ``mechanism.bodies``.

        Columns: position, orientation, velocity, angular velocity, as the ``body_...`` methods.
        """
        return self.readings.body_states

    @property
    def body_inertias(self) -> tuple[Array, Array]:
        """Masses (..., n_bodies) [kg] and inertias (..., n_bodies, 3, 3) [kg m^2] of all bodies."""
        return self.parameters.body_inertias

    @property
    def contacts(self) -> Contacts:
        """Contacts with the ground and of pairs; present gaps, forces of the last step."""
        return self.readings.contacts

    @property
    def terrain_maps(self) -> Any:
        """Number of the terrain's map under each environment, int or (batch,)."""
        maps = self._plant.groups.terrain_maps
        return int(maps[0]) if self._plant.single else maps

    @property
    def time(self) -> Any:
        """Simulated time since reset [s]."""
        return self.readings.time

    def reset(
        self,
        positions: Given = None,
        velocities: Given = None,
        base: Base = None,
        mask: ArrayLike | None = None,
        place_on_ground: bool = False,
        terrain_map: ArrayLike | None = None,
        overlaps: str = "hold",
    ) -> None:
        """Start from joint coordinates and velocities; by default from the assembly pose at rest.

        The assembly pose is zero, or what is nearest to it within the limits of joints.

        With loops, given values are held and the other joints follow: from the assembly pose, on
        its branch, and with the rates that keep the loops closed with the least kinetic energy.
        Rates given as a whole array are projected. Of loop-closing joints a whole array of
        positions sets the full turns only.

        Args:
            positions: joint or coordinate name -> value [rad, m], or the whole array
                (n_positions,); in a batch also arrays with a leading (batch,) axis.
            velocities: the same for velocities (n_velocities,) [rad/s, m/s].
            base: floating body -> dict of position, orientation, velocity, angular_velocity.
            mask: (batch,) environments to reset, all by default; (1,) without a batch.
            place_on_ground: whether floating bodies are moved along the ground's normal until their
                contacts, and those of the bodies they carry, just touch it; bases that are free in
                a plane move in it. Bodies connected by loop-closing joints or contact pairs move as
                one; a loop-closing joint to the world keeps them in place. A contact that starts
                below the ground, like a joint that starts beyond its limits, never goes further and
                is led back by 1e-6 (m, rad) a step at most, no faster than a body falls as deep.
            overlaps: "hold": as said above; "refuse": an error names the contacts that start deep.
            terrain_map: number of the map of the ground's terrain, in a batch also (batch,); None:
                as before, at first 0.

        Raises:
            MechanismError: a name that is unknown, a value that is not finite or has the wrong
                shape.
            AssemblyError: given values at which a loop cannot be closed; names the joint and its
                gap. Overlaps that are to be refused; names contacts and their depths.
            ValueError: the mask is not bool of shape (batch,), or there is no such map. The state
                is then unchanged, as after every error here.
        """
        environments = self._plant.mask(mask)
        checks.require_one_of(overlaps, ["hold", "refuse"], "overlaps")
        placing = environments, place_on_ground, terrain_map, overlaps
        self._initial_state.reset(positions, velocities, base, *placing)

    def step(
        self,
        torques: ArrayLike | None = None,
        targets: ArrayLike | None = None,
        substeps: int = 1,
    ) -> Status:
        """Make ``substeps`` steps with constant torques and targets.

        Args:
            torques: (n_actuated,) or (batch, n_actuated) [N, N m] as ``mechanism.actuator_names``;
                None is zero.
            targets: (n_motors,) or (batch, n_motors) as ``mechanism.motor_names``: positions [rad,
                m], or rates of motors without a position gain; None: the motors idle.
            substeps: number of steps.

        Raises:
            ValueError: values of the wrong shape or not finite, substeps below one. The state is
                then unchanged.
        """
        steps = positive_integer(substeps, "substeps")
        rows = None if torques is None else self._plant.torque_rows(torques)
        self.step_unchecked(rows, targets, steps)
        status = self.readings.status
        self.tracks.warn_of_singular_places(status.converged)
        self._warn_of_exhausted_steps(status)
        return status

    def step_unchecked(
        self, torques: Array | None, targets: ArrayLike | None, substeps: int
    ) -> bool:
        """Make steps like `step`, without checks of the inputs; return whether all converged.

        Args:
            torques: (..., n_actuated) finite numbers [N, N m], or None.
            targets: as of `step`.
            substeps: number of steps, at least one.
        """
        idle, options = self._idle, self.options
        torque_rows = idle[0] if torques is None else torques.reshape(idle[0].shape)
        target_rows = idle[1] if targets is None else self._plant.target_rows(targets)
        inputs, status = (torque_rows, target_rows), self.readings.status_rows
        self.readings.clear()
        return self._plant.advance(inputs, options.timestep, options.order, substeps, status)

    def _warn_of_exhausted_steps(self, status: Status) -> None:
        """Warn of environments whose step ended unsolved by its budget of iterations."""
        limit = self.options.max_iterations
        failed = np.logical_not(status.converged) & (status.iterations >= limit)
        if np.any(failed):
            where = "" if self.batch is None else f" of environment {int(failed.argmax())}"
            warnings.warn(
                f"step{where}: found no solution within max_iterations={limit}, and made no step",
                RuntimeWarning,
                stacklevel=3,
            )

    def push(self, impulses: ArrayLike) -> None:
        """Apply impulses (..., n_bodies, 3) [N s] at centres of mass, world axes.

        Bodies are in the order of `mechanism.bodies`. Constraints, contacts and limits pass the
        impulses on at once, and contacts rebound. Their energy is not counted as work: the energy
        balance goes on as if there had been no push. Environments without an impulse do not change.

        Raises:
            ValueError: the wrong shape, or numbers that are not finite. Nothing changes then.
        """
        readings, plant = self.readings, self._plant
        masses = self.body_inertias[0].reshape(plant.count, -1)
        rows = impulse_rows(impulses, *masses.shape, plant.single)
        mask = np.asarray(rows.any(axis=(1, 2)))
        before = readings.energy_balance()
        plant.push(mask, rows / masses[..., None], readings.energy_sums)
        readings.clear()
        gained = np.where(mask, readings.energy_balance() - before, 0.0)
        readings.start_energy = readings.start_energy + gained

    @property
    def state(self) -> Array:
        """Copy of all that the next step depends on (..., n_state); it can be set.

        Once `set_parameters` was called the factors are its last columns. Steps after setting it
        are the same bit for bit.
        """
        return self._saved_state.save()

    @state.setter
    def state(self, value: ArrayLike) -> None:
        self.set_state(value)

    def set_state(self, state: ArrayLike, mask: ArrayLike | None = None) -> None:
        """Restore states (..., n_state) of the environments of a mask, all by default.

        A state without factors sets the parameters as built.

        Raises:
            ValueError: the shape or a value cannot be a state of this mechanism.
        """
        self._saved_state.restore(state, self._plant.mask(mask))

    def require_state(self, state: ArrayLike, mask: ArrayLike | None = None) -> None:
        """Raise the ValueError that `set_state` would; nothing changes."""
        self._saved_state.check(state, self._plant.mask(mask))

    def set_parameters(self, parameters: GivenFactors, mask: ArrayLike | None = None) -> None:
        """Multiply quantities of the mechanism by factors, and reset these environments.

        Quantities that are not named are as built. Assembly poses, effective masses at contacts and
        limits, and the scales of residuals are computed anew. The environment then equals a
        simulator of such a mechanism. ``mechanism`` and pictures stay as built.

        Args:
            parameters: quantity -> factor of all its elements, or element -> factor; a factor is a
                number > 0, in a batch also (batch,). Quantities, see
                `vigym.simulation.parameters.quantities.QUANTITIES`: "gravity", "mass" and
                "inertia" and "length" of bodies, "friction" of contacts, "joint_friction",
                "damping" and "stiffness" of joints, "strength" of actuated joints and motors.
            mask: (batch,) environments to change, all by default; (1,) without a batch.

        Raises:
            MechanismError: a name that is unknown or of something that is zero, a factor that is
                not a number > 0, lengths that leave a mechanism of another structure.
            AssemblyError: lengths at which a loop cannot be closed; names the joint and the gap.
            ValueError: a wrong mask. Nothing is changed then, as after every error here.
        """
        environments = self._plant.mask(mask)
        self.parameters.set(self.parameters.read(parameters), environments)
        self.readings.clear()
        self.reset(mask=environments)

    def linearize(
        self,
        torques: ArrayLike | None = None,
        substeps: int = 1,
        targets: ArrayLike | None = None,
    ) -> tuple[Array, Array]:
        """Linearise the next steps about the present state, which stays as it is.

        With x the deviation of a state, (displacement, velocity) along the dofs of all joints in
        the order of ``mechanism.velocity_names``, and u that of the torques and of the motors'
        targets, constant over all steps,

            x' = A x + B u.

        Where coordinates are numbers x is the difference of (``joint_positions``,
        ``joint_velocities``); that of a quaternion is the small rotation in the child's axes. With
        loops and couplings A acts on the part of x that they allow, the nearest in kinetic energy,
        and columns of loop-closing joints are zero; A x and B u stay on the loops.

        A step is smooth without contact, limits and dry friction, and where motors are below their
        largest force and rate. After a reset the first step of a damped joint, or one with a motor,
        differs from the following ones by about (timestep damping / inertia)^2: linearise after a
        step if that matters. Targets of the step before still act on the first one, and are no part
        of u; nor are the slow rates part of x of springs that a step does not resolve.

        Args:
            torques: (n_actuated,) or (batch, n_actuated) [N, N m] about which; None is zero.
            substeps: number of steps.
            targets: (n_motors,) or (batch, n_motors) [rad, m or their rates] about which; None: all
                motors idle.

        Returns:
            A (..., 2 n, 2 n) and B (..., 2 n, n_actuated + n_motors) with n =
            len(``mechanism.velocity_names``).

        Raises:
            ValueError: inputs of the wrong shape or beyond an effort, a mechanism with electric
                models of motors, dry friction, skates or wheels, a contact that touches, a joint at
                its limit, a motor at its largest force or rate, a pose where loops leave more
                motions than elsewhere, masses too different for double precision.
            RuntimeError: a step that does not converge, or only when halved.
        """
        return self._linearizer.linearize(torques, substeps, targets)

    def metrics(self) -> dict[str, Any]:
        """Compute the physics metrics of the present state, see ``vigym.metrics.METRICS``."""
        return metrics(self.readings.present_state)

    def energy(self) -> Energy:
        """Return kinetic, potential (springs included) and total energy at present [J]."""
        return self.readings.energy

    def constraint_residual(self) -> Any:
        """Return the largest joint gap [m or rad]."""
        return self.readings.constraint_residual

    def joint_forces(self) -> Array:
        """Return the constraint forces of the last step (..., n_joints, 6).

        In the order of ``mechanism.ordered_joints``: force [N] and moment about the joint's anchor
        [N m] that each joint exerts on its child, world axes, at the time when the last step
        began. They are without the forces along the joint's degrees of freedom, and zero before the
        first step. Where loops leave them undetermined they have the least norm over all forces and
        moments.
        """
        return self.readings.joint_forces(self.parameters.mechanisms)

    def body_position(self, name: str) -> Array:
        """Return a body's centre of mass, or a frame's origin, in the world (..., 3) [m]."""
        return self.readings.point(name, "position")

    def body_orientation(self, name: str) -> Array:
        """Return the unit quaternion (w, x, y, z), body or frame to world (..., 4)."""
        return self.readings.point(name, "orientation")

    def body_velocity(self, name: str) -> Array:
        """Return the present velocity of that point, world axes (..., 3) [m/s]."""
        return self.readings.point(name, "velocity")

    def body_angular_velocity(self, name: str) -> Array:
        """Return the present angular velocity, body or frame axes (..., 3) [rad/s]."""
        return self.readings.point(name, "angular_velocity")
