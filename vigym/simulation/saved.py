"""States of a simulator as plain rows: the half of `Simulator` that saves and restores."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.core import snapshot
from vigym.simulation.parameters.parameters import Varying
from vigym.simulation.state.coordinates import Array
from vigym.simulation.state.options import chosen_of, rows_of


class Saved(Varying):
    """The half of `Simulator` that saves and restores states."""

    @property
    def state(self) -> Array:
        """Everything that the next step depends on (..., n_state): a copy. Setting it continues bit for bit.

        Once `set_parameters` was called the factors are its last columns.
        """
        factors = () if self._factors is None else (self._factors,)
        return self._out(np.concatenate([self._rows(), *factors], axis=1))

    @state.setter
    def state(self, value: ArrayLike) -> None:
        self.set_state(value)

    def set_state(self, state: ArrayLike, mask: ArrayLike | None = None) -> None:
        """Restore states (..., n_state) taken from ``state``, of the environments of ``mask`` (all by default).

        Environments whose state tells no factors are as built then.

        Raises:
            ValueError: the shape or a value cannot be a state of this mechanism.
        """
        plan, chosen = self._groups.plan, chosen_of(mask, self._count)
        rows, factors = self._checked(state, chosen)
        self._vary(factors, chosen)
        columns = snapshot.columns(plan)
        snapshot.unpack(plan, self._groups.state, rows, self._single)
        self._start_energy, self._status[:] = rows[:, columns].copy(), rows[:, columns + 1 :]
        self._groups.refresh()
        self._reread(chosen)

    def require_state(self, state: ArrayLike, mask: ArrayLike | None = None) -> None:
        """Raise the ValueError that `set_state` would; nothing changes."""
        self._checked(state, chosen_of(mask, self._count))

    def _checked(self, state: ArrayLike, chosen: NDArray[np.bool_]) -> tuple[Array, Array]:
        """States (count, n) without factors, of environments that are not chosen as they are, and factors (count, m).

        Raises:
            ValueError: the shape or a value cannot be a state of this mechanism.
        """
        now, factors = self._rows(), self._factor_table.size
        n = now.shape[1]
        given = rows_of(state, self._count, (n, n + factors), self._single)
        rows = np.where(chosen[:, None], given[:, :n], now)
        lengths = np.linalg.norm(snapshot.quaternions(self._groups.plan, rows), axis=-1)
        if np.abs(lengths - 1.0).max(initial=0.0) > 1e-6:
            raise ValueError(
                f"state: found an orientation of length {lengths.flat[np.abs(lengths - 1.0).argmax()]:g}, expected 1"
            )
        if given.shape[1] == n + factors and not (given[:, n:] > 0.0).all():
            raise ValueError(f"state: found a factor of {given[:, n:].min():g}, expected factors > 0")
        told = given[:, n:] if given.shape[1] > n else np.ones((1, factors))
        return rows, np.broadcast_to(told, (self._count, factors))

    def _rows(self) -> Array:
        """States (count, n) without factors."""
        packed = snapshot.pack(self._groups.plan, self._groups.state, self._single, self._count)
        return np.concatenate([packed, self._start_energy[:, None], self._status], axis=1)
