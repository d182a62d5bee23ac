"""Constant tables of environments with multiplied quantities, made without recompilation."""

from __future__ import annotations

from collections import defaultdict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.core.model.layout import Model, header_of, plan_rows
from vigym.core.tables.plan import CONTACT_PLAN, PAIR_BALL_CONTACT, PAIR_TAIL_CONTACT
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.contacts import contact_names
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.effective_mass import Mobility
from vigym.simulation.compile.contacts import pair_extremes, pair_mass
from vigym.simulation.compile.layout import Rows, starts
from vigym.simulation.compile.model import load_ratio, scales
from vigym.simulation.compile.tracks import slide_masses, slide_rates
from vigym.simulation.parameters.quantities import WHOLE, FactorTable

Index = NDArray[np.intp]
TABLES = ("environment", "bodies", "dofs", "contacts")
FRICTION = ("friction_along", "friction_across", "friction_backward")


class Product(NamedTuple):
    """Field of a table that a quantity's factors multiply.

    Attributes:
        table: name of the table in `Model`.
        field: name of the field.
        rows: (n,) rows, each once.
        factors: (n,) columns of the factors.
        power: of the factors.
    """

    table: str
    field: str
    rows: Index
    factors: Index
    power: float = 1.0


class ScaledTables:
    """Models of a mechanism with factors of everything but lengths.

    Args:
        mechanism: as built.
        model: its tables.
        table: whose factors.
    """

    def __init__(self, mechanism: Mechanism, model: Model, table: FactorTable) -> None:
        self._mechanism, self._model = mechanism, model
        self._columns, self._rows = table.columns, Rows(mechanism)
        self._products = [
            *self._product("environment", "gravity", {WHOLE: [0]}, ("gravity",)),
            *self._body_products(),
            *self._dof_products(),
            *self._contact_products(),
        ]
        self._mobility = (
            Mobility(mechanism, mechanism.structure) if mechanism.needs_mobility else None
        )
        if self._mobility is not None:
            self._set_contacts(self._mobility, model)
            self._tree_rows, self._tree_dofs = self._dofs_of_tree()
            self._closing_rows = np.array(
                [
                    self._rows.dof[joint.name] + j
                    for joint in mechanism.closing_joints
                    for j in range(joint.dofs)
                ],
                np.intp,
            )
            springs = [self._rows.dof[f"spring {name}"] for name in mechanism.springs]
            self._spring_rows = np.array(springs, np.intp)
            slides = [self._rows.dof[f"slide {slide.name}"] for _, slide in mechanism.slides]
            self._slide_rows = np.array(slides, np.intp)
            self._slide_rates = slide_rates(mechanism, self._mobility)

    def model(self, factors: Array) -> Model:
        """Build the tables of a row of factors, with scales and effective masses computed again."""
        tables = {name: getattr(self._model, name).copy() for name in TABLES}
        for table, field, rows, columns, power in self._products:
            values = tables[table][field]
            scale = factors[columns] ** power
            values[rows] *= scale if values.ndim == 1 else scale[:, None]
        bodies, environment = tables["bodies"], tables["environment"][0]
        measures = scales(environment["gravity"], bodies[: len(self._rows.body)])
        environment["force_scale"], environment["length_scale"] = measures
        environment["load_ratio"] = load_ratio(bodies[: len(self._rows.body)], self._rows.parents)
        if self._mobility is not None:
            masses, inertias = self._inertias(bodies)
            inverse = self._mobility.inverse(masses, inertias)
            own, partner = (
                self._mobility.effective_masses(velocities, inverse)
                for velocities in self._contact_motions
            )
            scaling, law_scales = self._mobility.ground_contact_scales(self._touching, own, masses)
            pairs = self._is_pair
            scaling[pairs], law_scales[pairs] = pair_mass(own[0][pairs], partner[0]), 1.0
            tables["contacts"]["effective_mass"] = scaling
            tables["contacts"]["law_scale"] = law_scales
            inertias = tables["dofs"]["effective_mass"]
            along = self._mobility.effective_inertias(inverse)
            inertias[self._tree_rows] = along[self._tree_dofs]
            inertias[self._closing_rows] = self._mobility.closing_inertias(inverse)
            inertias[self._spring_rows] = self._mobility.spring_masses(inverse)
            inertias[self._slide_rows] = slide_masses(self._slide_rates, inverse)
        return self._model._replace(**tables)

    def _set_contacts(self, mobility: Mobility, model: Model) -> None:
        """Set touching bodies, which are pairs, and velocities (n, 7, 3, dofs) of their points."""
        names = {row: name for name, row in self._rows.body.items()}
        start = int(header_of(model.plan)["plan_contacts"])
        plan = plan_rows(model.plan, CONTACT_PLAN, start, len(model.contacts))
        is_pair = (plan["kind"] >= PAIR_BALL_CONTACT) & (plan["kind"] <= PAIR_TAIL_CONTACT)
        places = np.array([pair_extremes(row) for row in model.contacts]).reshape(-1, 2, 7, 3)
        partners = [names[row] for row in plan["partner"][is_pair].tolist()]
        self._touching = [names[row] for row in plan["body"].tolist()]
        self._is_pair = is_pair
        self._contact_motions = (
            mobility.velocities(self._touching, places[:, 0]),
            mobility.velocities(partners, places[is_pair, 1]),
        )

    def _inertias(self, bodies: np.ndarray) -> tuple[Array, Array]:
        """Return masses (n,) and inertias (n, 3, 3) in the order of the mechanism's bodies."""
        rows = bodies[self._model.body_rows]
        return rows["mass"], rows["inertia"][:, [0, 3, 4, 3, 1, 5, 4, 5, 2]].reshape(-1, 3, 3)

    def _product(
        self,
        table: str,
        quantity: str,
        rows: dict[str, list[int]],
        fields: tuple[str, ...],
        power: float = 1.0,
    ) -> list[Product]:
        """Multiply fields of the elements with the quantity; ``rows`` of each element by name."""
        pairs = [
            (row, k)
            for name, k in self._columns.get(quantity, {}).items()
            for row in rows.get(name, ())
        ]
        places = np.array(pairs, np.intp).reshape(-1, 2)
        return [Product(table, field, places[:, 0], places[:, 1], power) for field in fields]

    def _body_products(self) -> list[Product]:
        """Return the products of masses and inertias."""
        rows = {name: [row] for name, row in self._rows.body.items()}
        if self._rows.loop:  # rows that fill the last body's block
            last = self._rows.order[-1].child
            rows[last] = [*range(self._rows.body[last], self._rows.first_loop)]
        masses = self._product("bodies", "mass", rows, ("mass", "inertia"))
        return masses + self._product("bodies", "inertia", rows, ("inertia",))

    def _dof_products(self) -> list[Product]:
        """Return the products of damping, stiffness, friction and strength."""
        joints = {
            joint.name: [self._rows.dof[joint.name] + j for j in range(joint.dofs)]
            for joint in self._mechanism.ordered_joints
        }
        springs = {name: [self._rows.dof[f"spring {name}"]] for name in self._mechanism.springs}
        joints |= {
            slide.name: [self._rows.dof[f"slide {slide.name}"]]
            for _, slide in self._mechanism.slides
        }
        both = {name: springs.get(name, []) + joints.get(name, []) for name in springs | joints}
        motors = self._mechanism.motors
        driven = {name: joints[name][:1] for name in motors}
        dc = {name: driven[name] for name in driven if motors[name].model is not None}
        pd = {name: driven[name] for name in driven if name not in dc}
        return [
            *self._product("dofs", "damping", both, ("damping",)),
            *self._product("dofs", "stiffness", both, ("stiffness",)),
            *self._product("dofs", "joint_friction", joints, ("friction",)),
            *self._product("dofs", "strength", joints, ("effort",)),
            *self._product("dofs", "strength", driven, ("force_limit",)),
            *self._product("dofs", "strength", pd, ("kp", "kd")),
            *self._product("dofs", "strength", dc, ("torques",)),
        ]

    def _contact_products(self) -> list[Product]:
        """Return the products of friction with the ground and between bodies (geometric means)."""
        rows, start = {}, 0
        for collision in self._mechanism.ground_collisions:
            count = len(contact_names(collision, self._mechanism.planes_of_ground))
            rows[collision.name] = [*range(start, start + count)]
            start += count
        own, partner = defaultdict[str, list[int]](list), defaultdict[str, list[int]](list)
        start = len(self._mechanism.ground_contact_names)
        for row, pair in enumerate(self._mechanism.pair_contacts, start):
            own[pair.own.name].append(row)
            partner[pair.partner.name].append(row)
        return [
            *self._product("contacts", "friction", rows, FRICTION),
            *self._product("contacts", "friction", own, FRICTION, 0.5),
            *self._product("contacts", "friction", partner, FRICTION, 0.5),
        ]

    def _dofs_of_tree(self) -> tuple[Index, Index]:
        """Find rows of the tree's dofs, and their numbers in the order of the tree's joints."""
        tree = self._mechanism.tree_joints
        first = starts([joint.name for joint in tree], [joint.dofs for joint in tree])
        pairs = [
            (self._rows.dof[joint.name] + j, first[joint.name] + j)
            for joint in tree
            for j in range(joint.dofs)
        ]
        rows, dofs = np.array(pairs, np.intp).reshape(-1, 2).T
        return rows, dofs
