"""Rows of curve, surface and custom joints at given poses, found without the core.

And how many motions they leave to a mechanism at its assembly.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from vigym.mechanism.content import Elements
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.topology.analysis import Structure
from vigym.mechanism.topology.effective_mass import Mobility
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


def assembly_poses(mechanism: Elements) -> dict[str, Pose]:
    """Return position and quaternion of all bodies, the world too, at the assembly."""
    poses = {
        name: (np.asarray(body.position), np.asarray(body.orientation))
        for name, body in mechanism.bodies.items()
    }
    return {WORLD: (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))} | poses


def with_tracks(mechanism: Elements, structure: Structure) -> Structure:
    """Return the structure with the degrees of freedom that these joints leave.

    Their rows are counted at the assembly; locked turns and axes along normals as independent ones.

    Args:
        mechanism: all elements.
        structure: of its other joints.

    Raises:
        AssemblyError: a place of touch that is singular.
    """
    mobility = Mobility(mechanism, structure)
    before = mobility.independent_dofs
    rates = track_rates(mechanism, mobility)
    mobility.hold(rates)
    rows = sum(track.rows for track in mechanism.tracks.values())
    taken = before - mobility.independent_dofs + rows - len(rates)
    return replace(
        structure,
        dofs=structure.dofs - taken,
        redundant_constraints=structure.redundant_constraints + rows - taken,
    )


def track_rates(mechanism: Elements, mobility: Mobility) -> Array:
    """Return the constraint rows of curve, surface and custom joints at the assembly (n, dofs).

    Each row has the weights of the rates of all degrees of freedom of the tree.
    """
    poses, found = assembly_poses(mechanism), [np.zeros((0, mobility.dofs))]
    for track in mechanism.tracks.values():
        directions, place = held_directions(track, poses[track.a], poses[track.b])
        found += [relative_rates(mobility, track, each, place, poses)[None] for each in directions]
    return np.concatenate(found)


def relative_rates(
    mobility: Mobility, track: Track, along: Array, place: Array, poses: dict[str, Pose]
) -> Array:
    """Return the motion of body b against a along a direction, per rate of each dof (dofs,).

    Args:
        mobility: of the bodies.
        track: joint of both bodies.
        along: (force, moment) about a place (6,) [world].
        place: that point (3,) [m, world].
        poses: of all bodies.
    """
    rates = np.zeros(mobility.dofs)
    for end, sign in ((track.a, -1.0), (track.b, 1.0)):
        if end != WORLD:
            turn = along[3:] + np.cross(place - poses[end][0], along[:3])
            weights = {end: sign * np.append(along[:3], turn)}
            rates += mobility.along(weights, lambda body: WORLD)
    return rates
