"""A mechanism with other masses, lengths, coefficients: the same elements, each quantity times a factor.

`FactorTable` holds the factors by which environments differ from the mechanism as built: names, checks, a row for each.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements.bodies import Body
from vigym.mechanism.elements.checks import Array, no_numbers
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.motors import Motor
from vigym.mechanism.mechanism import Mechanism
from vigym.simulation.parameters.lengths import stretched

Factors = Mapping[str, Mapping[str, float]]  # quantity -> element -> factor
WHOLE = "all"  # the one element of what belongs to the whole mechanism
Parameters = Mapping[str, ArrayLike | Mapping[str, ArrayLike]]  # quantity -> factor, or element -> factor


class Quantity(NamedTuple):
    """What may be multiplied.

    Attributes:
        elements: names of the elements of a mechanism that have it, and not zero.
        meaning: for people.
    """

    elements: Callable[[Mechanism], list[str]]
    meaning: str


def _with(name: str) -> Callable[[Mechanism], list[str]]:
    """Names of the joints and springs with a quantity that is not zero; a name of both means both."""

    def names(mechanism: Mechanism) -> list[str]:
        owners: list[Any] = [*mechanism.joints.values(), *mechanism.springs.values()]
        return list(dict.fromkeys(owner.name for owner in owners if getattr(owner, name, 0.0)))

    return names


QUANTITIES = {
    "gravity": Quantity(lambda mech: [WHOLE] * bool(np.any(mech.gravity)), "acceleration of free fall"),
    "mass": Quantity(lambda mech: list(mech.bodies), "mass of a body, and with it its inertia"),
    "inertia": Quantity(lambda mech: list(mech.bodies), "inertia of a body, on top of what its mass and length make"),
    "length": Quantity(
        lambda mech: list(mech.bodies),
        "distances of all that is fixed to a body from its centre of mass, radii too; its inertia goes with the square",
    ),
    "friction": Quantity(
        lambda mech: [c.name for c in mech.collisions.values() if np.any(_friction(mech, c))],
        "coefficients of friction of a contact or collision shape",
    ),
    "joint_friction": Quantity(_with("friction"), "dry friction of a joint"),
    "damping": Quantity(_with("damping"), "damping of a joint or spring"),
    "stiffness": Quantity(_with("stiffness"), "stiffness of a joint or spring"),
    "strength": Quantity(
        lambda mech: [j.name for j in mech.joints.values() if j.actuated or j.name in mech.motors],
        "effort of a joint and force of its motor: gains, largest force, torques of its saturation",
    ),
}


def varied(mechanism: Mechanism, factors: Factors) -> Mechanism:
    """Return a mechanism like ``mechanism``, its quantities multiplied; what has no factor is as it was.

    Args:
        mechanism: as built; it is left as it is.
        factors: quantity -> element -> factor > 0, names as in `QUANTITIES`.
    """
    of = {quantity: factors.get(quantity, {}) for quantity in QUANTITIES}
    other = copy.copy(mechanism)
    other.report = list(mechanism.report)
    other.gravity = np.asarray(mechanism.gravity) * of["gravity"].get(WHOLE, 1.0)
    other._bodies = {name: _body(body, of) for name, body in mechanism.bodies.items()}
    other._joints = {name: _joint(joint, of) for name, joint in mechanism.joints.items()}
    other._motors = {name: _motor(mechanism._motors[name], of["strength"].get(name, 1.0)) for name in mechanism._motors}
    other._springs = {
        spring.name: replace(spring, **_times(spring, of, ("stiffness", "damping")))
        for spring in mechanism.springs.values()
    }
    other._collisions = {
        c.name: replace(c, friction=_friction(mechanism, c) * of["friction"].get(c.name, 1.0))
        for c in mechanism.collisions.values()
    }
    other._frames, other._skates, other._wheels = dict(other._frames), dict(other._skates), dict(other._wheels)
    if mechanism.ground is not None:  # its own friction is that of the collisions now
        other.ground = replace(mechanism.ground, friction=None)
    return stretched(other, of["length"]) if any(factor != 1.0 for factor in of["length"].values()) else other


def _friction(mechanism: Mechanism, collision: Collision) -> Any:
    own = None if mechanism.ground is None else mechanism.ground.friction
    return collision.friction if own is None else own


def _times(element: Any, of: Factors, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(element, name) * of[name].get(element.name, 1.0) for name in names}


def _body(body: Body, of: Factors) -> Body:
    mass, length = of["mass"].get(body.name, 1.0), of["length"].get(body.name, 1.0)
    inertia = mass * length * length * of["inertia"].get(body.name, 1.0)
    return replace(body, mass=body.mass * mass, inertia=body.inertia * inertia)


def _joint(joint: Joint, of: Factors) -> Joint:
    strength = of["strength"].get(joint.name, 1.0)
    effort = None if joint.effort is None else joint.effort * strength
    friction = joint.friction * of["joint_friction"].get(joint.name, 1.0)
    return replace(joint, effort=effort, friction=friction, **_times(joint, of, ("damping", "stiffness")))


def _motor(motor: Motor, strength: float) -> Motor:
    if motor.model is None:
        return replace(motor, kp=motor.kp * strength, kd=motor.kd * strength, effort=motor.effort * strength)
    torques = tuple(torque * strength for torque in motor.model.torques)  # its command is a pulse width
    return replace(motor, effort=motor.effort * strength, model=replace(motor.model, torques=torques))


class FactorTable:
    """Which column of a row of factors belongs to what.

    Args:
        mechanism: as built.

    Attributes:
        columns: quantity -> element -> column; of the quantities that the mechanism has.
        size: number of columns.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        names = [(quantity, name) for quantity, row in QUANTITIES.items() for name in row.elements(mechanism)]
        self.columns: dict[str, dict[str, int]] = {}
        for column, (quantity, name) in enumerate(names):
            self.columns.setdefault(quantity, {})[name] = column
        self.size = len(names)

    def rows(self, parameters: Parameters, count: int, single: bool) -> Array:
        """Factors (count, size) of what is named, 1 elsewhere.

        Raises:
            MechanismError: a name that is unknown, or of something that is zero; a value of the wrong shape or not
                finite and above zero.
        """
        rows = np.ones((count, self.size))
        for quantity, given in parameters.items():
            columns = self._of(quantity)
            values = given if isinstance(given, Mapping) else dict.fromkeys(columns, given)
            for element, value in values.items():
                if element not in columns:
                    raise MechanismError(f"parameters {quantity}: found {element!r}, expected {', '.join(columns)}")
                what = f"parameters {quantity}" if element == WHOLE else f"parameters {quantity} of {element!r}"
                rows[:, columns[element]] = _factors(value, count, single, what)
        return rows

    def _of(self, quantity: str) -> dict[str, int]:
        if quantity not in QUANTITIES:
            raise MechanismError(f"parameters: found {quantity!r}, expected {', '.join(QUANTITIES)}")
        if quantity not in self.columns:
            raise MechanismError(
                f"parameters: found {quantity!r}, of which the mechanism has none to multiply, expected "
                f"{', '.join(self.columns)}"
            )
        return self.columns[quantity]

    def factors(self, row: Array) -> Factors:
        """One environment's factors by name."""
        return {q: {name: float(row[k]) for name, k in columns.items()} for q, columns in self.columns.items()}


def _factors(value: ArrayLike, count: int, single: bool, what: str) -> Array:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MechanismError(f"{what}: found {value!r}, expected factors > 0") from error
    if no_numbers(value):
        raise MechanismError(f"{what}: found {value!r}, expected factors > 0")
    if array.shape != () and (single or array.shape != (count,)):
        raise MechanismError(f"{what}: found shape {array.shape}, expected {'()' if single else f'() or ({count},)'}")
    wrong = ~((array > 0.0) & np.isfinite(array))
    if wrong.any():
        raise MechanismError(f"{what}: found {np.atleast_1d(array)[np.atleast_1d(wrong)][0]:g}, expected factors > 0")
    return array
