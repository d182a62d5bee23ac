"""Constant tables of a mechanism whose quantities are multiplied, without compiling it anew; lengths are as built."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.core import tables as T
from vigym.core.simd import LANES
from vigym.core.tables import Model
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.contacts import contact_names, pair_touches
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.effective_mass import Mobility, inverted, needs_mobility
from vigym.simulation.compile.contacts import sides
from vigym.simulation.compile.layout import Rows, starts
from vigym.simulation.compile.model import scales
from vigym.simulation.parameters.quantities import WHOLE, FactorTable

Index = NDArray[np.intp]
TABLES = ("environment", "bodies", "freedoms", "contacts")


class Product(NamedTuple):
    """Entries of a table that a quantity's factors multiply.

    Attributes:
        table: name of the table in `Model`.
        rows: (n,) rows, each once.
        fields: their fields.
        factors: (n,) columns of the factors.
        power: of the factors.
    """

    table: str
    rows: Index
    fields: slice
    factors: Index
    power: float = 1.0


class Scaled:
    """Models of a mechanism with factors of everything but lengths.

    Args:
        mechanism: as built.
        model: its tables.
        table: whose factors.
    """

    def __init__(self, mechanism: Mechanism, model: Model, table: FactorTable) -> None:
        self._mechanism, self._model, self._columns, self._rows = mechanism, model, table.columns, Rows(mechanism)
        self._products = [
            self._product("environment", "gravity", {WHOLE: [0]}, T.GRAVITY, 3),
            *self._of_bodies(), *self._of_freedoms(), *self._of_contacts(),
        ]  # fmt: skip
        self._mobility = Mobility(mechanism) if needs_mobility(mechanism) else None
        if self._mobility is not None:
            self._moved, self._moved_partners, self._paired = self._touching(self._mobility, model)
            self._eased = self._freedoms_of_tree()

    def model(self, factors: Array) -> Model:
        """Tables with a row of factors; scales and the inertia seen by contacts and limits are found anew."""
        tables = {name: np.atleast_2d(getattr(self._model, name)).copy() for name in TABLES}
        for table, rows, fields, columns, power in self._products:
            tables[table][rows, fields] *= factors[columns, None] ** power
        bodies, environment = tables["bodies"], tables["environment"][0]
        gravity = environment[T.GRAVITY // LANES :][:3]
        environment[T.FORCE_SCALE // LANES :][:2] = scales(gravity, bodies[: len(self._rows.body)])
        if self._mobility is not None:
            inverse = self._mobility.inverse(*self._inertias(bodies))
            easy = _easiest(self._moved, inverse)
            easy[self._paired] = 2.0 * (easy[self._paired] + _easiest(self._moved_partners, inverse))
            tables["contacts"][:, T.HEFT // LANES] = inverted(easy)
            rows, freedoms = self._eased
            tables["freedoms"][rows, T.EASE // LANES] = inverted(np.diag(inverse)[freedoms])
        return self._model._replace(**(tables | {"environment": environment}))

    def _touching(self, mobility: Mobility, model: Model) -> tuple[Array, Array, NDArray[np.bool_]]:
        """How contacts' own bodies move (n, 7, 3, freedoms), and partners of those of two bodies; which these are."""
        names = {row: name for name, row in self._rows.body.items()}
        plan = model.plan[model.plan[T.PLAN_CONTACTS] :][: len(model.contacts) * T.TOUCH_PLAN].reshape(-1, T.TOUCH_PLAN)
        paired = (plan[:, T.TOUCH_KIND] >= T.PAIR_BALL) & (plan[:, T.TOUCH_KIND] <= T.PAIR_TAIL)
        places = np.array([sides(row) for row in model.contacts]).reshape(-1, 2, 7, 3)
        moved = mobility.velocities([names[row] for row in plan[:, T.TOUCHES].tolist()], places[:, 0])
        partners = [names[row] for row in plan[paired, T.PARTNER].tolist()]
        return moved, mobility.velocities(partners, places[paired, 1]), paired

    def _inertias(self, bodies: Array) -> tuple[Array, Array]:
        """Masses (n,) and inertias (n, 3, 3) in the order of the mechanism's bodies."""
        rows = bodies[self._model.body_rows]
        moments = rows[:, T.INERTIA // LANES :][:, :6]
        return rows[:, T.MASS // LANES], moments[:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)

    def _product(self, table: str, quantity: str, rows: dict[str, list[int]], field: int, width: int) -> Product:
        """Entries of the elements that have the quantity; ``rows`` of each by name."""
        pairs = [(row, k) for name, k in self._columns.get(quantity, {}).items() for row in rows.get(name, ())]
        places = np.array(pairs, np.intp).reshape(-1, 2)
        return Product(table, places[:, 0], slice(field // LANES, field // LANES + width), places[:, 1])

    def _of_bodies(self) -> list[Product]:
        rows = {name: [row] for name, row in self._rows.body.items()}
        if self._rows.link:  # what fills the last body's block
            last = self._rows.order[-1].child
            rows[last] = [*range(self._rows.body[last], self._rows.first_link)]
        mass, inertia = (T.MASS, 7), (T.INERTIA, 6)
        return [self._product("bodies", "mass", rows, *mass), self._product("bodies", "inertia", rows, *inertia)]

    def _of_freedoms(self) -> list[Product]:
        joints = {
            joint.name: [self._rows.freedom[joint.name] + j for j in range(len(joint.prototype.velocities))]
            for joint in self._mechanism.ordered_joints
        }
        springs = {name: [self._rows.freedom[f"spring {name}"]] for name in self._mechanism.springs}
        both = {name: springs.get(name, []) + joints.get(name, []) for name in springs | joints}
        pulse = [name for name, motor in self._mechanism.motors.items() if motor.model is not None]
        driven = {name: joints[name][:1] for name in self._mechanism.motors}
        return [
            self._product("freedoms", "damping", both, T.DAMPING, 1),
            self._product("freedoms", "stiffness", both, T.STIFFNESS, 1),
            self._product("freedoms", "joint_friction", joints, T.DRY, 1),
            self._product("freedoms", "strength", joints, T.EFFORT, 1),
            self._product("freedoms", "strength", driven, T.STRONGEST, 1),
            self._product("freedoms", "strength", {n: driven[n] for n in driven if n not in pulse}, T.KP, 2),
            self._product("freedoms", "strength", {name: driven[name] for name in pulse}, T.TORQUES, 8),
        ]

    def _of_contacts(self) -> list[Product]:
        """Friction with the ground, and between bodies: the geometric mean of both."""
        rows, start = {}, 0
        for collision in self._mechanism.collisions.values() if self._mechanism.ground is not None else ():
            count = len(contact_names(collision))
            rows[collision.name], start = [*range(start, start + count)], start + count
        own, partner = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
        for row, touch in enumerate(pair_touches(self._mechanism), start):
            own[touch.own.name].append(row)
            partner[touch.partner.name].append(row)
        friction = "contacts", "friction"
        return [
            self._product(*friction, rows, T.MU_ALONG, 3),
            self._product(*friction, own, T.MU_ALONG, 3)._replace(power=0.5),
            self._product(*friction, partner, T.MU_ALONG, 3)._replace(power=0.5),
        ]

    def _freedoms_of_tree(self) -> tuple[Index, Index]:
        """Rows of the tree's freedoms, and their numbers in the order of the tree's joints."""
        tree = self._mechanism.tree_joints
        first = starts([joint.name for joint in tree], [len(joint.prototype.velocities) for joint in tree])
        pairs = [
            (self._rows.freedom[joint.name] + j, first[joint.name] + j)
            for joint in tree
            for j in range(len(joint.prototype.velocities))
        ]
        rows, freedoms = np.array(pairs, np.intp).reshape(-1, 2).T
        return rows, freedoms


def _easiest(moved: Array, inverse: Array) -> Array:
    """Largest mobility (n,) of places that move by (n, 7, 3, freedoms), in any direction."""
    mobility = np.linalg.eigvalsh(moved @ inverse @ moved.swapaxes(-1, -2))
    easiest: Array = mobility.max(axis=(1, 2), initial=0.0)
    return easiest
