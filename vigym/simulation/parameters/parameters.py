"""Environments that differ from the mechanism as built: the half of `Simulator` that makes them so."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.parameters.quantities import FactorTable, Parameters, varied
from vigym.simulation.parameters.tables import Scaled
from vigym.simulation.state.coordinates import Array, Coordinates
from vigym.simulation.state.options import chosen_of
from vigym.simulation.state.readings import Reader


class Varying(Reader):
    """The half of `Simulator` by which its environments differ."""

    _loops: str
    _factors: Array | None = None  # (count, factors), None as long as all are as built
    _efforts: Array | None = None  # (count, n_actuated), once asked for

    def _restart(self, chosen: NDArray[np.bool_]) -> None:
        raise NotImplementedError

    @cached_property
    def _factor_table(self) -> FactorTable:
        return FactorTable(self.mechanism)

    @property
    def parameters(self) -> dict[str, dict[str, Any]]:
        """Quantity -> element -> factor, in a batch (batch,), by which environments differ from it as built."""
        rows = np.ones((self._count, self._factor_table.size)) if self._factors is None else self._factors
        columns = self._factor_table.columns
        return {q: {name: self._number(rows[:, k]) for name, k in names.items()} for q, names in columns.items()}

    @property
    def actuator_efforts(self) -> Array:
        """Largest force of every actuator (..., n_actuated) [N or N m]."""
        if self._efforts is None:
            driven = [
                joint for joint in self.mechanism.tree_joints if joint.actuated for _ in joint.prototype.velocities
            ]
            factors = self._of("strength", [joint.name for joint in driven])
            self._efforts = factors * np.array([joint.effort for joint in driven])
        return self._out(self._efforts)

    @property
    def body_inertias(self) -> tuple[Array, Array]:
        """Masses (..., n_bodies) [kg] and inertias (..., n_bodies, 3, 3) [kg m^2], ordered as `mechanism.bodies`."""
        bodies, names = self.mechanism.bodies.values(), list(self.mechanism.bodies)
        mass, length, inertia = (self._of(quantity, names) for quantity in ("mass", "length", "inertia"))
        inertias = np.array([body.inertia for body in bodies]) * (mass * length * length * inertia)[..., None, None]
        return self._out(np.array([body.mass for body in bodies]) * mass), self._out(inertias)

    def _of(self, quantity: str, names: list[str]) -> Array:
        """Factors (count, n) of named elements, 1 of those without one."""
        columns = self._factor_table.columns.get(quantity, {})
        if self._factors is None or not columns:
            return np.ones((self._count, len(names)))
        return self._factors[:, [columns[name] for name in names]]

    def set_parameters(self, parameters: Parameters, mask: ArrayLike | None = None) -> None:
        """Multiply quantities of the mechanism by factors; the chosen environments then start afresh, as by `reset`.

        What is not named is as built. Everything that follows from these quantities is found anew: assembly poses,
        inertia seen by contacts and limits, the scales of forces and lengths that residuals are measured by. The
        environment is that of a simulator of such a mechanism. ``mechanism`` and pictures stay as built.

        Args:
            parameters: quantity -> factor of all its elements, or element -> factor; a factor is a number > 0, in a
                batch also (batch,). Quantities, see `vigym.simulation.parameters.quantities.QUANTITIES`: "gravity",
                "mass" and "inertia" and "length" of bodies, "friction" of contacts, "joint_friction", "damping" and
                "stiffness" of joints, "strength" of actuated joints and motors.
            mask: (batch,) environments to change, all by default; (1,) without a batch.

        Raises:
            MechanismError: a name that is unknown or of something that is zero, a factor that is none, lengths that
                leave a mechanism of another structure.
            AssemblyError: lengths at which a loop cannot be closed; names the joint and the gap.
            ValueError: a wrong mask. Nothing is changed then, as after every error here.
        """
        chosen = chosen_of(mask, self._count)
        self._vary(self._factor_table.rows(parameters, self._count, self._single), chosen)
        self._restart(chosen)

    def _vary(self, rows: Array, chosen: NDArray[np.bool_]) -> None:
        """Give the chosen environments their rows of factors (count, factors)."""
        now = np.ones_like(rows) if self._factors is None else self._factors
        places = np.flatnonzero(chosen & (rows != now).any(axis=1)).tolist()
        lengths = list(self._factor_table.columns["length"].values())
        long = [e for e in places if (rows[e, lengths] != 1.0).any()]
        stretched = {e: self._made(rows[e], e) for e in long}
        self._adopt(long, list(stretched.values()))
        for e in places:
            if e not in stretched:
                built = (rows[e] == 1.0).all()
                self._groups.install(e, self._model if built else self._scaled.model(rows[e]))
                self._rest[e] = self._coordinates.rest
                self._variants.pop(e, None)
        if self._factors is not None or places:
            self._factors = np.where(chosen[:, None], rows, now)
        self._reading = self._efforts = None

    @cached_property
    def _scaled(self) -> Scaled:
        return Scaled(self.mechanism, self._model, self._factor_table)

    def _made(self, row: Array, environment: int) -> Mechanism:
        """The mechanism with a row of factors."""
        try:
            other = varied(self.mechanism, self._factor_table.factors(row))
            _ = other.structure
        except MechanismError as error:
            where = "" if self._single else f" of environment {environment}"
            raise type(error)(f"parameters{where}: {error}") from error
        return other

    def _adopt(self, places: Sequence[int], mechanisms: Sequence[Mechanism]) -> None:
        """Let environments be those of mechanisms of the same structure."""
        models = [mechanism.compile(self._loops) for mechanism in mechanisms]
        for e, model in zip(places, models, strict=True):
            if not np.array_equal(model.plan, self._model.plan):
                where = "" if self._single else f" of environment {e}"
                raise MechanismError(
                    f"parameters{where}: found lengths that change which rows of a loop depend on others, expected a "
                    "mechanism of the same structure"
                )
        for e, mechanism, model in zip(places, mechanisms, models, strict=True):
            self._groups.install(e, model)
            self._variants[e] = mechanism
            self._rest[e] = Coordinates.rest_pose(mechanism)
        self._reading = None

    def _changed(self) -> list[int]:
        """Environments that are not as built."""
        return [] if self._factors is None else np.flatnonzero((self._factors != 1.0).any(axis=1)).tolist()

    def _mechanism_of(self, environment: int) -> Mechanism:
        """The mechanism of an environment, made when first asked for where it is not as built."""
        if environment not in self._variants:
            if self._factors is None or (self._factors[environment] == 1.0).all():
                return self.mechanism
            self._variants[environment] = self._made(self._factors[environment], environment)
        return self._variants[environment]
