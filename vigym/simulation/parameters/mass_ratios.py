"""Masses of bodies that push each other through contacts: too unlike, the lighter one sinks.

A step is solved to a part of the largest forces in it. If a body is lighter than that part of the
load that presses on it, its weight and its depth are lost in the rounding of the load.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.collection import Forest
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.mechanism import Mechanism

# Up to it bodies of metres sink by microns; at ten times as much they fall freely for a step, at a
# thousand times they sink by centimetres.
LARGEST_RATIO = 1e6


class _Group(NamedTuple):
    """Bodies that joints and contact pairs connect; numbers of bodies."""

    all: NDArray[np.intp]
    touching: NDArray[np.intp]


class MassRatios:
    """Ratios of the masses of bodies that push each other through contact pairs.

    Args:
        mechanism: bodies, joints and contact pairs.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._names = names = list(mechanism.bodies)
        forest = Forest()
        joints = [(joint.parent, joint.child) for joint in mechanism.joints.values()]
        tracks = [(track.a, track.b) for track in mechanism.tracks.values()]
        fixed = {WORLD, *mechanism.obstacles}
        pairs = [pair for pair in mechanism.pairs if fixed.isdisjoint(pair)]
        for pair in [*joints, *tracks, *pairs]:
            a, b = map(forest.root, pair)
            if WORLD not in pair and a != b:
                forest.add(a, b)
        roots = np.array([forest.root(name) for name in names])
        touching = {name for pair in pairs for name in pair}
        touches = np.array([name in touching for name in names], np.bool_)
        groups = [roots == root for root in dict.fromkeys(roots[touches].tolist())]
        self._groups = [_Group(*map(np.flatnonzero, (own, own & touches))) for own in groups]

    def fault(self, masses: Array) -> str:
        """Return which bodies are too unlike in masses (count, n_bodies) [kg], "" if none are."""
        for group in self._groups:
            light, heavy = masses[:, group.touching], masses[:, group.all]
            ratios = heavy.max(axis=1) / light.min(axis=1)
            worst = int(ratios.argmax())
            if ratios[worst] > LARGEST_RATIO:
                few = group.touching[light[worst].argmin()], group.all[heavy[worst].argmax()]
                low, high = (f"{masses[worst, k]:.3g} kg of {self._names[k]!r}" for k in few)
                return (
                    f"found {low} and {high}, which contacts connect, expected a ratio of at most "
                    f"{LARGEST_RATIO:g}: contacts of the lighter one sink"
                )
        return ""
