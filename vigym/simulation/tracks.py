"""Readings of curve and surface joints, and of joints of the user's own."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from vigym.core.kernels import read_tracks
from vigym.mechanism.elements import checks
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.tracks.custom import CustomJoint
from vigym.mechanism.tracks.joints import Track
from vigym.simulation.plant import Plant
from vigym.simulation.state.readings import Readings
from vigym.spatial import batch_rotation_matrix

SINGULAR_PLACE = (
    "a singular place of touch, where both sides fit along a curve (spin=False keeps linked tori "
    "from turning there)"
)
SINGULAR_COORDINATES = "coordinates that move the child alike or not at all"
NEARLY_SINGULAR = 0.1  # regularity of a place below which it explains a step that failed


class Place(NamedTuple):
    """Place where a curve or surface joint touches; (batch, ...) in a batch.

    Parameters of a side: none of a point or sphere; an angle of a circle, helix or torus [rad]; a
    length of a line or cylinder, two of a plane [m]; the number of pieces of a curve; two in [0, 1]
    of a patch; of an ellipsoid the unit vector (3,) whose components its semi-axes multiply.

    Attributes:
        point: (..., 3) on the curve or surface of the first side, without its tube [m, world].
        first: (..., n) parameters of the side of body `track.a`.
        second: (..., m) parameters of the side of body `track.b`.
        first_rates: (..., n) their rates [1/s].
        second_rates: (..., m) their rates [1/s].
        regularity: (...) 0 at a singular place, where both sides fit along a curve; at most 1.
    """

    point: Any
    first: Any
    second: Any
    first_rates: Any
    second_rates: Any
    regularity: Any


class TrackReadings:
    """Places and coordinates of curve joints, surface joints and joints of your own.

    Args:
        plant: mechanism and memory.
        readings: its readings.
    """

    def __init__(self, plant: Plant, readings: Readings) -> None:
        self._plant = plant
        self._readings = readings

    def place(self, joint: str) -> Place:
        """Return where a curve or surface joint touches.

        Args:
            joint: its name.

        Raises:
            MechanismError: no curve or surface joint has this name.
        """
        tracks = self._plant.mechanism.tracks
        sides = [name for name, each in tracks.items() if not isinstance(each, CustomJoint)]
        track, rows = self._track(joint, sides, "curve or surface joint")
        widths = [_width(side.dimensions, side.kind) for side in (track.side_a, track.side_b)]
        parts = [
            rows[:, start + 3 * k : start + 3 * k + widths[k]]
            for start in (read_tracks.TRACK_PLACES, read_tracks.TRACK_RATES)
            for k in range(2)
        ]
        squeeze, number = self._plant.squeeze, self._plant.number
        regularity = number(rows[:, read_tracks.TRACK_REGULARITY])
        point = self._points(track, rows[:, :3])
        first, second, first_rates, second_rates = (squeeze(part.copy()) for part in parts)
        return Place(squeeze(point), first, second, first_rates, second_rates, regularity)

    def position(self, joint: str) -> Any:
        """Return the coordinate of a curve joint [m], or coordinates (..., n) of one of your own.

        That of a curve joint is the arc length from the parameter 0 of its curve on. On a closed
        curve it goes on beyond its length.

        Raises:
            MechanismError: no curve joint and no joint of your own has this name.
        """
        track, rows = self._track_with_coordinates(joint)
        if isinstance(track, CustomJoint):
            return self._coordinates(track, rows, read_tracks.TRACK_PLACES)
        return self._plant.number(track.side_a.lengths(rows[:, :3]))

    def velocity(self, joint: str) -> Any:
        """Return the rate of a curve joint [m/s], or rates (..., n) of a joint of your own.

        Raises:
            MechanismError: no curve joint and no joint of your own has this name.
        """
        track, rows = self._track_with_coordinates(joint)
        if isinstance(track, CustomJoint):
            return self._coordinates(track, rows, read_tracks.TRACK_RATES)
        speeds = [np.linalg.norm(track.side_a.tangents(place)[0]) for place in rows[:, :3]]
        return self._plant.number(np.array(speeds) * rows[:, read_tracks.TRACK_RATES])

    def _coordinates(self, track: CustomJoint, rows: Array, column: int) -> Array:
        return self._plant.squeeze(rows[:, column : column + len(track.start)])

    def _track_with_coordinates(self, joint: str) -> tuple[Track, Array]:
        tracks = self._plant.mechanism.tracks
        names = [name for name, track in tracks.items() if track.coordinate_names]
        return self._track(joint, names, "curve joint or joint of your own")

    def _track(self, joint: str, names: list[str], kind: str) -> tuple[Track, Array]:
        """Return a joint with one of some names, and its readings (count, READ_TRACK)."""
        checks.require_one_of(joint, names, kind)
        tracks = self._plant.mechanism.tracks
        return tracks[joint], self._readings.track_rows[:, list(tracks).index(joint)]

    def _points(self, track: Track, places: Array) -> Array:
        """Return points (count, 3) of side a in the world."""
        own, points = self._readings.body_rows(track.a), track.side_a.in_body(places)
        turned = np.einsum("nij,nj->ni", batch_rotation_matrix(own[:, 3:7]), points)
        found: Array = own[:, :3] + turned
        return found

    def warn_of_singular_places(self, converged: Any) -> None:
        """Warn of the joint that explains why a step failed, if one does."""
        tracks = list(self._plant.mechanism.tracks)
        failed = np.flatnonzero(~np.atleast_1d(converged)) if tracks else ()
        if not len(failed):
            return
        rows = self._readings.track_rows[failed]
        regular = rows[:, :, read_tracks.TRACK_REGULARITY].copy()
        for k, track in enumerate(self._plant.mechanism.tracks.values()):
            if isinstance(track, CustomJoint):
                least = [track.least_motion(row) for row in rows[:, k, : len(track.start)]]
                regular[:, k] = np.minimum(regular[:, k], least)
        row, worst = np.unravel_index(int(regular.argmin()), regular.shape)
        if regular[row, worst] < NEARLY_SINGULAR:
            custom = isinstance(self._plant.mechanism.tracks[tracks[worst]], CustomJoint)
            place = SINGULAR_COORDINATES if custom else SINGULAR_PLACE
            where = "" if self._plant.single else f" of environment {failed[row]}"
            warnings.warn(
                f"step{where}: found joint {tracks[worst]!r} next to {place} (regularity "
                f"{regular[row, worst]:.3g}), and made no step beyond",
                RuntimeWarning,
                stacklevel=3,
            )


def _width(dimensions: int, kind: str) -> int:
    """Return the number of parameters that a side shows."""
    return 3 if kind == "ellipsoid" else dimensions
