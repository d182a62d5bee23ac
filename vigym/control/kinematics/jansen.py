"""Feet of Theo Jansen's walking linkage, by his lengths.

A crank pin moves two triangles over bars; the lower one ends in the foot. The names of the bars are
those of Jansen's figure, their lengths are in `LENGTHS`, here with 10 mm for each of his units.
"""

import numpy as np

from vigym.control.actuators import Array

UNIT = 0.01  # [m]
LENGTHS = {
    "a": 38.0,  # from the crank's axle to the fixed pin, level
    "b": 41.5,
    "c": 39.3,
    "d": 40.1,
    "e": 55.8,
    "f": 39.4,
    "g": 36.7,
    "h": 65.7,
    "i": 49.0,
    "j": 50.0,
    "k": 61.9,
    "l": 7.8,  # of the fixed pin below the axle
    "m": 15.0,  # radius of the crank
}
ROWS = 3  # of legs along the shaft, their cranks a third of a turn apart


def leg_pins(crank: Array) -> dict[str, Array]:
    """Return places (..., 2) [m] of the pins of a leg, x away from the axle and z upwards.

    Args:
        crank: angle of the crank pin from x upwards (...,) [rad].

    Returns:
        `axle`, `crank` and `fixed` pins, `top` of the bars b, e and j, `rear` of d, e and f, `low`
        of c, g, i and k, `heel` of f, g and h, and `foot` of h and i.
    """
    bars = {name: UNIT * length for name, length in LENGTHS.items()}
    angle = np.asarray(crank, dtype=np.float64)
    pin = bars["m"] * np.stack((np.cos(angle), np.sin(angle)), axis=-1)
    fixed = np.array((bars["a"], -bars["l"])) + 0.0 * pin
    top = _corner(pin, bars["j"], fixed, bars["b"])
    low = _corner(fixed, bars["c"], pin, bars["k"])
    rear = _corner(top, bars["e"], fixed, bars["d"])
    heel = _corner(rear, bars["f"], low, bars["g"])
    foot = _corner(heel, bars["h"], low, bars["i"])
    names = ("axle", "crank", "fixed", "top", "low", "rear", "heel", "foot")
    return dict(zip(names, (0.0 * pin, pin, fixed, top, low, rear, heel, foot), strict=True))


def feet(crank: Array) -> Array:
    """Return places of the feet (..., 2 ROWS, 2) [m] from the axle, the front ones first.

    Args:
        crank: angle of the crank of the first row (...,) [rad].
    """
    angles = np.asarray(crank)[..., None] + 2.0 * np.pi / ROWS * np.arange(ROWS)
    front, rear = leg_pins(angles)["foot"], leg_pins(np.pi - angles)["foot"]
    return np.concatenate((front, rear * (-1.0, 1.0)), axis=-2)


def _corner(one: Array, from_one: float, other: Array, from_other: float) -> Array:
    """Return the point (..., 2) at given distances from two points, left of the way between."""
    way = other - one
    distance = np.hypot(way[..., 0], way[..., 1])[..., None]
    along = (distance**2 + from_one**2 - from_other**2) / (2.0 * distance)
    aside = np.sqrt(from_one**2 - along**2)
    left = np.stack((-way[..., 1], way[..., 0]), axis=-1) / distance
    corner: Array = one + along * way / distance + aside * left
    return corner
