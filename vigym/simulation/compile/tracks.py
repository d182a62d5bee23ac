"""Rows of the core's tables for curve and surface joints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vigym.core.model.fields import POINT_MODEL, SIDE_MODEL, SIDE_PLAN, TRACK_MODEL, TRACK_PLAN
from vigym.mechanism.elements.checks import Array

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism


def track_plans(
    mechanism: Mechanism, bodies: dict[str, int], loops: dict[str, int]
) -> dict[str, np.ndarray]:
    """Make the rows of TRACK_PLAN and SIDE_PLAN.

    Args:
        mechanism: its curve and surface joints.
        bodies: row of each body.
        loops: row of each loop.
    """
    tracks = [(loops[f"track {track.name}"], track.rows) for track in mechanism.tracks.values()]
    sides, start = [], 0
    for track in mechanism.tracks.values():
        for body, side in ((track.a, track.side_a), (track.b, track.side_b)):
            numbers = side.pieces, side.degree, side.second_degree, side.closed
            sides.append((bodies[body], side.kind, side.dimensions, start, *numbers))
            start += len(side.points)
    return {
        "plan_tracks": np.array(tracks, TRACK_PLAN.dtype),
        "plan_sides": np.array(sides, SIDE_PLAN.dtype),
    }


def track_tables(
    mechanism: Mechanism, poses: dict[str, tuple[Array, Array]]
) -> dict[str, np.ndarray]:
    """Make the constants of curve and surface joints, by name of the table in `Model`.

    Args:
        mechanism: the joints.
        poses: of all bodies at the assembly.
    """
    count = len(mechanism.tracks)
    tracks, sides = TRACK_MODEL.rows(count), SIDE_MODEL.rows(2 * count)
    points = [np.zeros((0, 3))]
    for t, track in enumerate(mechanism.tracks.values()):
        *places, sense = track.start(poses[track.a], poses[track.b])
        tracks[t]["offset"] = track.side_a.offset + track.side_b.offset
        tracks[t]["sense"] = sense
        tracks[t]["track_axis"] = 0.0 if track.axis is None else track.axis
        for k, side in enumerate((track.side_a, track.side_b)):
            row = sides[2 * t + k]
            row["origin"], row["frame"] = side.position, side.rotation.ravel()
            row["sizes"], row["start_place"] = side.sizes, places[k]
            row["longest_change"] = side.longest_change
            points.append(side.points)
    table = POINT_MODEL.rows(sum(map(len, points)))
    table["coefficient"] = np.concatenate(points)
    return {"tracks": tracks, "sides": sides, "points": table}
