"""Quantities of a mechanism that parameters multiply: mass, length, friction, ...

`FactorTable` holds the factors by which environments differ from the mechanism as built.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.elements.bodies import Body
from vigym.mechanism.elements.checks import Array, has_bools_or_strings
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.motors import Motor
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.tracks.slides import Slide
from vigym.simulation.parameters.lengths import with_lengths

Factors = Mapping[str, Mapping[str, float]]  # quantity -> element -> factor
# quantity -> factor of all its elements, or element -> factor
GivenFactors = Mapping[str, ArrayLike | Mapping[str, ArrayLike]]
WHOLE = "all"  # the only element of a quantity of the whole mechanism


class Quantity(NamedTuple):
    """Quantity that parameters may multiply.

    Attributes:
        elements: names of the elements of a mechanism that have it, and not zero.
        meaning: description for users.
    """

    elements: Callable[[Mechanism], list[str]]
    meaning: str


def _elements_with(attribute: str) -> Callable[[Mechanism], list[str]]:
    """Return a function that finds the joints, springs and slides with a non-zero attribute.

    A name that a joint and a spring share stands for both.
    """

    def names(mechanism: Mechanism) -> list[str]:
        owners: list[tuple[str, Any]] = [
            *mechanism.joints.items(),
            *mechanism.springs.items(),
            *((slide.name, slide.forces) for _, slide in mechanism.slides),
        ]
        return list(dict.fromkeys(n for n, owner in owners if np.any(getattr(owner, attribute, 0))))

    return names


QUANTITIES = {
    "gravity": Quantity(
        lambda mech: [WHOLE] * bool(np.any(mech.gravity)), "acceleration of free fall"
    ),
    "mass": Quantity(lambda mech: list(mech.bodies), "mass of a body, and with it its inertia"),
    "inertia": Quantity(
        lambda mech: list(mech.bodies),
        "inertia of a body, on top of the effect of its mass and length",
    ),
    "length": Quantity(
        lambda mech: list(mech.bodies),
        "distances of everything fixed to a body from its centre of mass, radii too; "
        "its inertia goes with the square. Curves, surfaces, joints of your own and their "
        "bodies keep their lengths",
    ),
    "friction": Quantity(
        lambda mech: [c.name for c in mech.collisions.values() if np.any(_friction(mech, c))],
        "coefficients of friction of a contact or collision shape",
    ),
    "joint_friction": Quantity(_elements_with("friction"), "dry friction of a joint"),
    "damping": Quantity(_elements_with("damping"), "damping of a joint or spring"),
    "stiffness": Quantity(_elements_with("stiffness"), "stiffness of a joint or spring"),
    "strength": Quantity(
        lambda mech: [
            *(j.name for j in mech.joints.values() if j.actuated or j.name in mech.motors),
            *(name for name in mech.tracks.coordinate_names if name in mech.motors),
        ],
        "effort of a joint and force of its motor: gains, largest force, torques of its saturation",
    ),
}


def with_factors(mechanism: Mechanism, factors: Factors) -> Mechanism:
    """Return a copy of a mechanism with quantities multiplied; without a factor they are kept.

    Args:
        mechanism: mechanism as built; it is not changed.
        factors: quantity -> element -> factor > 0, names as in `QUANTITIES`.
    """
    of = {quantity: factors.get(quantity, {}) for quantity in QUANTITIES}
    strength, friction = of["strength"], of["friction"]
    other = mechanism.with_replaced_elements(
        bodies={name: _body(body, of) for name, body in mechanism.bodies.items()},
        joints={name: _joint(joint, of) for name, joint in mechanism.joints.items()},
        motors={
            name: _motor(motor, strength.get(name, 1.0)) for name, motor in mechanism.motors.items()
        },
        springs={
            name: replace(spring, **_multiplied(spring, of, ("stiffness", "damping")))
            for name, spring in mechanism.springs.items()
        },
        tracks={
            name: track.with_changed_slides(lambda name, slide: _slide(name, slide, of))
            for name, track in mechanism.tracks.items()
        },
        collisions={
            name: replace(c, friction=_friction(mechanism, c) * friction.get(name, 1.0))
            for name, c in mechanism.collisions.items()
        },
    )
    other.gravity = np.asarray(mechanism.gravity) * of["gravity"].get(WHOLE, 1.0)
    if mechanism.ground is not None:  # the collisions have its own friction now
        other.ground = replace(mechanism.ground, friction=None)
    if any(factor != 1.0 for factor in of["length"].values()):
        return with_lengths(other, of["length"])
    return other


def _friction(mechanism: Mechanism, collision: Collision) -> Any:
    """Return the friction of a collision; the ground's own friction replaces it."""
    own = None if mechanism.ground is None else mechanism.ground.friction
    return collision.friction if own is None else own


def _multiplied(element: Any, of: Factors, names: tuple[str, ...]) -> dict[str, Any]:
    """Return named attributes of an element, multiplied by its factors."""
    return {name: getattr(element, name) * of[name].get(element.name, 1.0) for name in names}


def _slide(name: str, slide: Slide, of: Factors) -> Slide:
    return replace(
        slide,
        damping=slide.damping * of["damping"].get(name, 1.0),
        stiffness=slide.stiffness * of["stiffness"].get(name, 1.0),
        friction=slide.friction * of["joint_friction"].get(name, 1.0),
    )


def _body(body: Body, of: Factors) -> Body:
    mass = of["mass"].get(body.name, 1.0)
    length = of["length"].get(body.name, 1.0)
    inertia = mass * length * length * of["inertia"].get(body.name, 1.0)
    return replace(body, mass=body.mass * mass, inertia=body.inertia * inertia)


def _joint(joint: Joint, of: Factors) -> Joint:
    strength = of["strength"].get(joint.name, 1.0)
    effort = None if joint.effort is None else joint.effort * strength
    friction = joint.friction * of["joint_friction"].get(joint.name, 1.0)
    multiplied = _multiplied(joint, of, ("damping", "stiffness"))
    return replace(joint, effort=effort, friction=friction, **multiplied)


def _motor(motor: Motor, strength: float) -> Motor:
    effort = motor.effort * strength
    if motor.model is None:
        return replace(motor, kp=motor.kp * strength, kd=motor.kd * strength, effort=effort)
    torques = tuple(torque * strength for torque in motor.model.torques)
    # gains stay: they make the pulse width that the electric model takes
    return replace(motor, effort=effort, model=replace(motor.model, torques=torques))


class FactorTable:
    """Columns of the factors of a mechanism.

    Args:
        mechanism: mechanism as built.

    Attributes:
        columns: quantity -> element -> column, of the quantities that the mechanism has.
        size: number of columns.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        names = [
            (quantity, name)
            for quantity, row in QUANTITIES.items()
            for name in row.elements(mechanism)
        ]
        self.columns: dict[str, dict[str, int]] = {}
        for column, (quantity, name) in enumerate(names):
            self.columns.setdefault(quantity, {})[name] = column
        self.size = len(names)

    def rows(self, parameters: GivenFactors, count: int, single: bool) -> Array:
        """Return factors (count, size) of the parameters; 1 for those that are not named.

        Raises:
            MechanismError: a name that is unknown, or of a quantity that is zero; a value of the
                wrong shape or not finite and above zero.
        """
        rows = np.ones((count, self.size))
        _require_mapping(parameters)
        for quantity, given in parameters.items():
            columns = self._columns_of(quantity)
            values = given if isinstance(given, Mapping) else dict.fromkeys(columns, given)
            label = f"parameters {quantity}"
            for element, value in values.items():
                if element not in columns:
                    raise MechanismError(
                        f"{label}: found {element!r}, expected {', '.join(columns)}"
                    )
                name = label if element == WHOLE else f"{label} of {element!r}"
                rows[:, columns[element]] = _checked(value, count, single, name)
        return rows

    def _columns_of(self, quantity: str) -> dict[str, int]:
        if quantity not in QUANTITIES:
            raise MechanismError(
                f"parameters: found {quantity!r}, expected {', '.join(QUANTITIES)}"
            )
        if quantity not in self.columns:
            raise MechanismError(
                f"parameters: found {quantity!r}, of which the mechanism has none to multiply, "
                f"expected {', '.join(self.columns)}"
            )
        return self.columns[quantity]

    def factors(self, row: Array) -> Factors:
        """Return the factors of one environment by name."""
        return {
            quantity: {name: float(row[k]) for name, k in columns.items()}
            for quantity, columns in self.columns.items()
        }


def _require_mapping(parameters: Any) -> None:
    if not isinstance(parameters, Mapping):
        expected = "a dictionary, quantity -> factor"
        raise MechanismError(f"parameters: found {parameters!r}, expected {expected}")


def _checked(value: ArrayLike, count: int, single: bool, label: str) -> Array:
    """Return factors () or (count,) after a check."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise MechanismError(f"{label}: found {value!r}, expected factors > 0") from error
    if has_bools_or_strings(value):
        raise MechanismError(f"{label}: found {value!r}, expected factors > 0")
    if array.shape != () and (single or array.shape != (count,)):
        expected = "()" if single else f"() or ({count},)"
        raise MechanismError(f"{label}: found shape {array.shape}, expected {expected}")
    wrong = ~((array > 0.0) & np.isfinite(array))
    if wrong.any():
        found = np.atleast_1d(array)[np.atleast_1d(wrong)][0]
        raise MechanismError(f"{label}: found {found:g}, expected factors > 0")
    return array
