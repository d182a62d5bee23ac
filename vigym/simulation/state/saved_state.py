"""States of a simulator as plain rows, to save and restore."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.mechanism.elements.checks import Array
from vigym.simulation.parameters.parameters import Parameters
from vigym.simulation.plant import Plant
from vigym.simulation.state.inputs import real_array, state_rows
from vigym.simulation.state.readings import Readings


class SavedState:
    """Conversion of the state of all environments to rows, and back.

    A row has the plant's state, the energy at reset, the status of the last step, and, once
    parameters were set, their factors.

    Args:
        plant: mechanism and memory.
        readings: its readings.
        parameters: its parameters.
    """

    def __init__(self, plant: Plant, readings: Readings, parameters: Parameters) -> None:
        self._plant = plant
        self._readings = readings
        self._parameters = parameters

    def save(self) -> Array:
        """Return the state (..., n_state), which determines the next step."""
        factors = self._parameters.factors
        rows = [self._rows()] if factors is None else [self._rows(), factors]
        return self._plant.squeeze(np.concatenate(rows, axis=1))

    def restore(self, state: ArrayLike, mask: NDArray[np.bool_]) -> None:
        """Restore the environments of a mask (count,) from states that `save` returned.

        Raises:
            ValueError: not a state of this mechanism; nothing is changed then.
        """
        readings = self._readings
        rows, factors = self.check(state, mask)
        self._parameters.set(factors, mask)
        self._plant.unpack_state(rows)
        columns = self._plant.state_columns
        readings.start_energy = rows[:, columns].copy()
        readings.status_rows[:] = rows[:, columns + 1 :]
        readings.clear()

    def check(self, state: ArrayLike, mask: NDArray[np.bool_]) -> tuple[Array, Array]:
        """Check states for the environments of a mask (count,).

        Returns:
            Rows (count, n) without factors, the present ones outside of the mask, and factors
            (count, n_factors), 1 where the state has none.

        Raises:
            ValueError: not a state of this mechanism.
        """
        plant, n_factors = self._plant, self._parameters.table.size
        state = self._with_same_wrenches(state, n_factors)
        present = self._rows()
        n = present.shape[1]
        given = state_rows(state, plant.count, (n, n + n_factors), plant.single)
        rows = np.where(mask[:, None], given[:, :n], present)
        lengths = np.linalg.norm(plant.state_quaternions(rows), axis=-1)
        errors = np.abs(lengths - 1.0)
        if errors.max(initial=0.0) > 1e-6:
            raise ValueError(
                f"state: found an orientation of length {lengths.flat[errors.argmax()]:g}, "
                "expected 1"
            )
        factors = given[:, n:] if given.shape[1] > n else np.ones((1, n_factors))
        if not (factors > 0.0).all():
            raise ValueError(f"state: found a factor of {factors.min():g}, expected factors > 0")
        return rows, np.broadcast_to(factors, (plant.count, n_factors))

    def _with_same_wrenches(self, state: ArrayLike, n_factors: int) -> ArrayLike:
        """Return states with columns for held wrenches if the plant has them.

        Where states have them and the plant does not, it gets room for them.
        """
        plant = self._plant
        shape, width = real_array(state, "state").shape, plant.wrench_width
        n = plant.state_columns + 1 + self._readings.status_rows.shape[1]
        if not shape or shape[-1] in (n, n + n_factors):
            return state
        if not plant.holds_wrenches and shape[-1] in (n + width, n + width + n_factors):
            plant.enable_wrenches()
        elif plant.holds_wrenches and shape[-1] in (n - width, n - width + n_factors):
            rows = np.asarray(state, np.float64)
            return plant.with_wrench_columns(rows.reshape(-1, shape[-1])).reshape(
                *shape[:-1], shape[-1] + width
            )
        return state

    def _rows(self) -> Array:
        """Return the states (count, n) without factors."""
        readings = self._readings
        energy = readings.start_energy[:, None]
        return np.concatenate([self._plant.pack_state(), energy, readings.status_rows], axis=1)
