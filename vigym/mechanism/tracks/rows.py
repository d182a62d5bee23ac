"""Directions that curve, surface and custom joints hold at given poses, found without the core."""

from __future__ import annotations

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.tracks.custom import CustomJoint
from vigym.mechanism.tracks.joints import Track
from vigym.mechanism.tracks.nearest import Pose, find_nearest_places
from vigym.spatial import rotation_matrix

STEP = 1e-3  # of a parameter, of differences of tangents


def held_directions(track: Track, pose_a: Pose, pose_b: Pose) -> tuple[Array, Array]:
    """Return directions (n, 6) along which body b does not move against body a, and their point.

    They are (force, moment) about the point (3,) [m, world]. Locked turns of surface joints, and
    axes along normals, are left out.

    Args:
        track: the joint.
        pose_a: position (3,) and quaternion (4,) of body a.
        pose_b: those of body b.

    Raises:
        AssemblyError: a place of touch that is singular.
    """
    R_a, R_b = rotation_matrix(pose_a[1]), rotation_matrix(pose_b[1])
    if isinstance(track, CustomJoint):
        axes = R_a @ track.side_a.rotation
        twists = track.twists().reshape(2, 3, -1)
        held = _across((axes @ twists).reshape(6, -1).T)
        return held, pose_b[0] + R_b @ track.side_b.position
    nearest = find_nearest_places(track, pose_a, pose_b)
    a, b = nearest.place_a, nearest.place_b
    ends = (
        pose_a[0] + R_a @ track.side_a.in_body(a[None])[0],
        pose_b[0] + R_b @ track.side_b.in_body(b[None])[0],
    )
    tangents = track.side_a.tangents(a) @ R_a.T
    none = np.zeros(3)
    if not track.on_curve:
        normal = np.cross(*tangents) if len(tangents) == 2 else ends[1] - ends[0]
        return np.append(normal / np.linalg.norm(normal), none)[None], ends[1]
    speed = float(np.linalg.norm(tangents[0]))
    tangent = tangents[0] / speed
    across = _across(tangent[None])
    rows = [np.append(n, none) for n in across]
    if track.axis is not None:
        axis, way = R_b @ track.axis, np.array([STEP])
        steps = [track.side_a.tangents(track.side_a.moved(a, s * way))[0] for s in (1.0, -1.0)]
        bend = R_a @ (steps[0] - steps[1]) / (2.0 * STEP * speed * speed)
        rows += [
            np.append(-(axis @ tangent) * (n @ bend) * tangent, np.cross(axis, n)) for n in across
        ]
    return np.array(rows), ends[1]


def _across(rows: Array) -> Array:
    """Return orthonormal rows that are perpendicular to given ones (n, m)."""
    values, vectors = np.linalg.svd(rows)[1:]
    found: Array = vectors[len(values) :]
    return found
