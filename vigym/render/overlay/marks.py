"""What a picture can tell beside where bodies are: the forces of contacts, the energies."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from vigym.render.scene.camera import Array
from vigym.simulation.simulator import Simulator

KINDS = ("contacts", "energy")  # what an overlay may show
ARROW, LONGEST = 0.45, 2.0  # length of a force as large as the weight, and of the longest arrow, in scene sizes


@dataclass(frozen=True, eq=False)
class Marks:
    """What an overlay shows at one moment; None for what it does not show.

    Attributes:
        forces: of the contacts that press, on their bodies (n, 3) [N, world].
        points: where they act (n, 3) [m, world].
        energies: name -> energy [J].
    """

    forces: Array | None = None
    points: Array | None = None
    energies: Mapping[str, float] | None = None


def overlay_kinds(value: object) -> tuple[str, ...]:
    """Return the kinds that an option names: a tuple of names, or a text with commas between them.

    Raises:
        ValueError: an unknown name, or neither a tuple nor a text.
    """
    names = tuple(value.split(",")) if isinstance(value, str) else value
    if not isinstance(names, tuple | list) or not all(isinstance(name, str) and name in KINDS for name in names):
        raise ValueError(f"option overlay: found {value!r}, expected a tuple of names out of {KINDS}")
    return tuple(dict.fromkeys(names))


def marks_of(sim: Simulator, kinds: tuple[str, ...], lane: int = 0) -> Marks | None:
    """Return what an overlay of `kinds` shows of `sim` now, None without any; `lane` is the environment of a batch."""
    if not kinds:
        return None
    forces = points = energies = None
    if "contacts" in kinds:
        contacts = sim.contacts
        force, point = (_of_lane(values, lane, 2) for values in (contacts.force, contacts.position))
        pressing = force.any(axis=1)
        forces, points = force[pressing], point[pressing]
    if "energy" in kinds:
        energies = {name: float(_of_lane(value, lane, 0)) for name, value in sim.energy()._asdict().items()}
    return Marks(forces, points, energies)


def _of_lane(values: Array, lane: int, dimensions: int) -> Array:
    """Return the values of one environment, which have so many dimensions without the batch's axis."""
    array = np.asarray(values)
    return array[lane] if array.ndim > dimensions else array


def arrows_of(forces: Array, weight: float, size: float) -> Array:
    """Return the arrows (n, 3) [m] that stand for `forces` (n, 3) [N] in a scene of `size` [m].

    A force of `weight` [N] is `ARROW` sizes long; without weight the largest of the forces is. None is longer than
    `LONGEST` sizes.
    """
    unit = weight or float(np.linalg.norm(forces, axis=1).max(initial=0.0)) or 1.0
    arrows = forces * (ARROW * size / unit)
    longest = LONGEST * size
    shortened: Array = arrows * (longest / np.maximum(np.linalg.norm(arrows, axis=1, keepdims=True), longest))
    return shortened
