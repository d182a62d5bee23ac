"""Parameters by which the environments of a batch differ from the mechanism as built."""

from __future__ import annotations

import warnings
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.elements.bodies import Note
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.parameters.mass_ratios import MassRatios
from vigym.simulation.parameters.quantities import (
    WHOLE,
    FactorTable,
    GivenFactors,
    with_factors,
)
from vigym.simulation.parameters.tables import ScaledTables
from vigym.simulation.plant import Plant


class Parameters:
    """Factors of the quantities of every environment, and the constants that follow from them.

    Args:
        plant: mechanism and memory; `set` gives its environments their constants.

    Attributes:
        factors: (count, n_factors), or None as long as all environments are as built.
    """

    def __init__(self, plant: Plant) -> None:
        self._plant = plant
        self.factors: Array | None = None
        self._efforts: Array | None = None
        self._weight_factor: Any = None
        self._ratios = MassRatios(plant.mechanism)
        self._report_masses()

    def _report_masses(self) -> None:
        """Add a note, and warn, of bodies that touch and are too unlike in mass."""
        fault = self._ratios.fault(self._masses())
        if fault:
            mechanism = self._plant.mechanism
            note = Note("unlike", "masses", fault)
            mechanism.notes += [] if note in mechanism.notes else [note]
            text = f"mechanism {mechanism.name!r} masses: {fault}"
            warnings.warn(text, RuntimeWarning, stacklevel=4)

    @cached_property
    def table(self) -> FactorTable:
        """Columns of the factors."""
        return FactorTable(self._plant.mechanism)

    @cached_property
    def _scaled(self) -> ScaledTables:
        return ScaledTables(self._plant.mechanism, self._plant.model, self.table)

    def read(self, parameters: GivenFactors) -> Array:
        """Check parameters as given to `Simulator.set_parameters`; return rows (count, n_factors).

        Raises:
            MechanismError: an unknown name, or a factor that is not a number > 0.
        """
        return self.table.rows(parameters, self._plant.count, self._plant.single)

    def set(self, rows: Array, mask: NDArray[np.bool_]) -> None:
        """Set the factors (count, n_factors) of the environments of a mask.

        Raises:
            MechanismError: lengths that leave a mechanism of another structure.
            AssemblyError: lengths at which a loop cannot be closed.
        """
        plant = self._plant
        present = np.ones_like(rows) if self.factors is None else self.factors
        changed = np.flatnonzero(mask & (rows != present).any(axis=1)).tolist()
        lengths = list(self.table.columns["length"].values())
        resized = [e for e in changed if (rows[e, lengths] != 1.0).any()]
        plant.set_mechanisms(resized, [self._mechanism(rows[e], e) for e in resized])
        for e in changed:
            if e not in resized:
                as_built = (rows[e] == 1.0).all()
                plant.set_model(e, plant.model if as_built else self._scaled.model(rows[e]))
        if self.factors is not None or changed:
            self.factors = np.where(mask[:, None], rows, present)
            self._report_masses()
        self._efforts = None
        self._weight_factor = None

    def _masses(self) -> Array:
        """Return the masses (count, n_bodies) [kg]."""
        bodies = self._plant.mechanism.bodies
        masses: Array = np.array([body.mass for body in bodies.values()])
        return masses * self._factors_of("mass", list(bodies))

    def _mechanism(self, row: Array, environment: int) -> Mechanism:
        """Return the mechanism with a row of factors."""
        try:
            mechanism = with_factors(self._plant.mechanism, self.table.factors(row))
            _ = mechanism.structure
        except MechanismError as error:
            where = "" if self._plant.single else f" of environment {environment}"
            raise type(error)(f"parameters{where}: {error}") from error
        return mechanism

    def mechanism_of(self, environment: int) -> Mechanism:
        """Return the mechanism of an environment, made at the first call where it has factors."""
        variants = self._plant.variants
        if environment not in variants:
            if self.factors is None or (self.factors[environment] == 1.0).all():
                return self._plant.mechanism
            variants[environment] = self._mechanism(self.factors[environment], environment)
        return variants[environment]

    @property
    def mechanisms(self) -> list[Mechanism]:
        """Mechanism of every environment."""
        return [self.mechanism_of(environment) for environment in range(self._plant.count)]

    def environments_with_factors(self) -> list[int]:
        """Return the environments with factors other than 1."""
        if self.factors is None:
            return []
        found: list[int] = np.flatnonzero((self.factors != 1.0).any(axis=1)).tolist()
        return found

    @property
    def by_name(self) -> dict[str, dict[str, Any]]:
        """Quantity -> element -> factor on the mechanism as built, in a batch (batch,)."""
        built = np.ones((self._plant.count, self.table.size))
        rows = built if self.factors is None else self.factors
        return {
            quantity: {name: self._plant.number(rows[:, k]) for name, k in columns.items()}
            for quantity, columns in self.table.columns.items()
        }

    @property
    def actuator_efforts(self) -> Array:
        """Largest force of every actuator (..., n_actuated) [N or N m]."""
        return self._read_efforts().copy()

    def scaled_torques(self, shares: Array) -> Array:
        """Return torques (..., n_actuated) [N or N m] from their shares of the efforts."""
        return shares * self._read_efforts()

    def _read_efforts(self) -> Array:
        """Return the efforts (..., n_actuated), computed once for present factors."""
        if self._efforts is None:
            driven = self._plant.mechanism.actuated_joints
            actuated = [joint for joint in driven for _ in range(joint.dofs)]
            factors = self._factors_of("strength", [joint.name for joint in actuated])
            efforts = factors * np.array([joint.effort for joint in actuated])
            self._efforts = self._plant.squeeze(efforts)
        return self._efforts

    @property
    def body_inertias(self) -> tuple[Array, Array]:
        """Masses (..., n_bodies) [kg] and inertias (..., n_bodies, 3, 3) [kg m^2] of all bodies."""
        bodies = self._plant.mechanism.bodies
        names = list(bodies)
        masses, mass = self._masses(), self._factors_of("mass", names)
        length = self._factors_of("length", names)
        inertia = mass * length * length * self._factors_of("inertia", names)
        inertias = np.array([body.inertia for body in bodies.values()]) * inertia[..., None, None]
        return self._plant.squeeze(masses), self._plant.squeeze(inertias)

    @property
    def gravity(self) -> Array:
        """Acceleration of free fall (..., 3) [m/s^2, world]."""
        factors = self._factors_of("gravity", [WHOLE])
        return self._plant.squeeze(factors * np.asarray(self._plant.mechanism.gravity))

    @property
    def weight_factor(self) -> Any:
        """Weight of all bodies over that of the mechanism as built (...,), 1 for that."""
        if self._weight_factor is None:
            bodies = self._plant.mechanism.bodies
            masses = np.array([body.mass for body in bodies.values()])
            # rows side by side in memory are summed in one order, for any number of environments
            weighed = np.ascontiguousarray(self._masses())
            gravity = self._factors_of("gravity", [WHOLE])[:, 0]
            factors = gravity * weighed.sum(axis=-1) / masses.sum()
            self._weight_factor = self._plant.number(factors)
        return copy(self._weight_factor)

    def _factors_of(self, quantity: str, names: list[str]) -> Array:
        """Return the factors (count, n) of named elements; 1 where an element has none."""
        columns = self.table.columns.get(quantity, {})
        if self.factors is None or not columns:
            return np.ones((self._plant.count, len(names)))
        return self.factors[:, [columns[name] for name in names]]
