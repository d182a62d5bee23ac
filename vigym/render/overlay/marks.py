"""Contact forces and energies of a simulator, to be drawn over a picture."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym.render.scene.camera import Array
from vigym.simulation.simulator import Simulator

KINDS = ("contacts", "energy")  # contents of an overlay
ARROW = 0.45  # length of the arrow of a force as large as the weight [scene sizes]
LONGEST = 2.0  # largest length of an arrow [scene sizes]


@dataclass(frozen=True, eq=False)
class Marks:
    """Contents of an overlay at one time; None: not shown.

    Attributes:
        forces: of the active contacts on their bodies (n, 3) [N, world].
        points: of application (n, 3) [m, world].
        energies: name -> energy [J].
    """

    forces: Array | None = None
    points: Array | None = None
    energies: Mapping[str, float] | None = None


def parse_overlay(value: object) -> tuple[str, ...]:
    """Return the kinds that the option `overlay` names: a tuple, or a comma-separated text.

    Raises:
        ValueError: an unknown name, or neither a tuple nor a text.
    """
    names = tuple(value.split(",")) if isinstance(value, str) else value
    if not isinstance(names, tuple | list) or not all(
        isinstance(name, str) and name in KINDS for name in names
    ):
        raise ValueError(
            f"option overlay: found {value!r}, expected a tuple of names out of {KINDS}"
        )
    return tuple(dict.fromkeys(names))


def read_marks(sim: Simulator, kinds: tuple[str, ...], lane: int = 0) -> Marks | None:
    """Return the present marks of `kinds`, None without any; `lane`: environment of a batch."""
    if not kinds:
        return None
    forces = points = energies = None
    if "contacts" in kinds:
        contacts = sim.contacts
        force, point = (_of_lane(one, lane, 2) for one in (contacts.force, contacts.position))
        active = force.any(axis=1)
        forces, points = force[active], point[active]
    if "energy" in kinds:
        values = sim.energy()._asdict()
        energies = {name: float(_of_lane(value, lane, 0)) for name, value in values.items()}
    return Marks(forces, points, energies)


def _of_lane(values: Array, lane: int, dimensions: int) -> Array:
    """Return the values of one environment, which have `dimensions` axes without the batch axis."""
    array = np.asarray(values)
    return array[lane] if array.ndim > dimensions else array


def force_arrows(forces: Array, weight: float, size: float) -> Array:
    """Return the arrows (n, 3) [m] of `forces` (n, 3) [N] in a scene of `size` [m].

    A force of `weight` [N] has the length `ARROW`; without weight the largest of the forces has it.
    No arrow is longer than `LONGEST`.
    """
    unit = weight or float(np.linalg.norm(forces, axis=1).max(initial=0.0)) or 1.0
    arrows = forces * (ARROW * size / unit)
    longest = LONGEST * size
    lengths = np.maximum(np.linalg.norm(arrows, axis=1, keepdims=True), longest)
    shortened: Array = arrows * (longest / lengths)
    return shortened
