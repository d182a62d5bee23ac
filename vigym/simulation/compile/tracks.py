"""Rows of the core's tables for curve and surface joints, and for slides along them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vigym.core.compiler.transforms import compile_transform
from vigym.core.tables.constants import (
    DOF_MODEL,
    POINT_MODEL,
    SIDE_MODEL,
    SLIDE_MODEL,
    TRACK_MODEL,
)
from vigym.core.tables.plan import (
    CURVE_SIDE,
    ELLIPSOID_SIDE,
    HELIX_SIDE,
    PATCH_SIDE,
    PLANE_SIDE,
    POINT_SIDE,
    SIDE_PLAN,
    SLIDE_PLAN,
    TRACK_PLAN,
)
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.topology.effective_mass import Mobility, effective_mass
from vigym.mechanism.tracks.custom import CustomJoint
from vigym.mechanism.tracks.joints import Track
from vigym.mechanism.tracks.nearest import Pose, find_nearest_places
from vigym.mechanism.tracks.rows import assembly_poses, relative_rates
from vigym.mechanism.tracks.slides import Coordinate
from vigym.simulation.compile.motors import motor_kind, set_motor
from vigym.spatial import rotation_matrix

if TYPE_CHECKING:
    from vigym.mechanism.mechanism import Mechanism

KINDS = {
    "point": POINT_SIDE,
    "helix": HELIX_SIDE,
    "curve": CURVE_SIDE,
    "plane": PLANE_SIDE,
    "ellipsoid": ELLIPSOID_SIDE,
    "patch": PATCH_SIDE,
    "coordinates": POINT_SIDE,
}


def track_plans(
    mechanism: Mechanism, bodies: dict[str, int], loops: dict[str, int]
) -> dict[str, np.ndarray]:
    """Make the rows of TRACK_PLAN, SIDE_PLAN and SLIDE_PLAN.

    Args:
        mechanism: its curve and surface joints.
        bodies: row of each body.
        loops: row of each loop.

    Raises:
        MechanismError: a transform that numba does not compile.
    """
    of_slides = [track.name for track, _ in mechanism.slides]
    tracks = [
        (
            loops[f"track {name}"],
            track.rows,
            track.on_curve,
            _transform_address(track),
            loops.get(f"more {name}", -1),
            of_slides.index(name) if name in of_slides else 0,
            of_slides.count(name),
        )
        for name, track in mechanism.tracks.items()
    ]
    sides, start = [], 0
    for track in mechanism.tracks.values():
        for body, side in ((track.a, track.side_a), (track.b, track.side_b)):
            numbers = side.pieces, side.second_pieces, side.degree, side.second_degree
            ends = side.closed, side.second_closed
            first = bodies[body], KINDS[side.kind], side.dimensions, start
            sides.append((*first, *numbers, *ends))
            start += len(side.points)
    order = list(mechanism.tracks)
    slides = [
        (loops[f"slide {slide.name}"], order.index(track.name), slide.parameter)
        for track, slide in mechanism.slides
    ]
    return {
        "plan_tracks": np.array(tracks, TRACK_PLAN.dtype),
        "plan_sides": np.array(sides, SIDE_PLAN.dtype),
        "plan_slides": np.array(slides, SLIDE_PLAN.dtype),
    }


def _transform_address(track: Track) -> int:
    """Return the address of the compiled transform of a joint of the user's, else 0."""
    if not isinstance(track, CustomJoint):
        return 0
    try:
        compiled = compile_transform(track.transform, len(track.start), track.of_matrix)
    except TypeError as error:
        raise MechanismError(
            f"custom joint {track.name!r} transform: found a function that numba does not compile "
            f"({error}), expected arithmetic of numbers and numpy"
        ) from error
    return int(compiled.address)


def set_track_counts(header: np.void, mechanism: Mechanism) -> None:
    """Fill in the numbers of curve and surface joints, slides and coefficients in the header."""
    tracks = mechanism.tracks.values()
    header["track_count"], header["slide_count"] = len(tracks), len(mechanism.slides)
    sides = [side for track in tracks for side in (track.side_a, track.side_b)]
    header["more_count"] = sum(track.rows > 4 for track in tracks)
    header["point_count"] = sum(len(side.points) for side in sides)


def set_slide_plans(
    plan: np.ndarray,
    mechanism: Mechanism,
    bodies: dict[str, int],
    loops: dict[str, int],
    dofs: dict[str, int],
) -> None:
    """Fill in the plan rows of slides: joints of one translation between two bodies.

    Args:
        plan: rows of BODY_PLAN.
        mechanism: its curve and surface joints.
        bodies: row of each body.
        loops: row of each loop.
        dofs: first degree of freedom of each slide.
    """
    for track, slide in mechanism.slides:
        row = plan[loops[f"slide {slide.name}"]]
        row["parent"], row["child"] = bodies[track.a], bodies[track.b]
        row["first_dof"], row["translation_count"] = dofs[f"slide {slide.name}"], 1
        row["has_rate_force"] = slide.forces.damping > 0.0
        row["has_spring"] = slide.forces.stiffness > 0.0
        row["motor_kind"] = motor_kind(mechanism, slide.name)
        row["has_limit"], row["has_friction"] = slide.has_limits, slide.forces.friction > 0.0
        row["has_forces"] = row["has_coordinate_force"] = True


def slide_dofs(mechanism: Mechanism, mobility: Mobility | None) -> np.ndarray:
    """Make the rows of DOF_MODEL of all slides.

    Args:
        mechanism: its curve and surface joints.
        mobility: of its bodies; None where nothing has limits, friction, motors or contacts.
    """
    rows = DOF_MODEL.rows(len(mechanism.slides))
    for row, (_, slide) in zip(rows, mechanism.slides, strict=True):
        forces = slide.forces
        row["damping"], row["stiffness"] = forces.damping, forces.stiffness
        row["rest"], row["friction"] = forces.rest, forces.friction
        row["lower"], row["upper"] = slide.limits
        row["velocity_limit"] = np.inf
        if slide.name in mechanism.motors:
            set_motor(row, mechanism.motors[slide.name])
    if mobility is not None:
        rates = slide_rates(mechanism, mobility)
        rows["effective_mass"] = slide_masses(rates, mobility.inverse_inertia)
    return rows


def slide_rates(mechanism: Mechanism, mobility: Mobility) -> list[Array]:
    """Return how each slide's coordinate moves by the tree's dofs at the assembly: n of (dofs,)."""
    poses = assembly_poses(mechanism)
    return [_rates(mobility, track, slide, poses) for track, slide in mechanism.slides]


def slide_masses(rates: list[Array], inverse_inertia: Array) -> list[float]:
    """Return the masses [kg] that forces along slides meet at the assembly, for scale.

    Args:
        rates: as from `slide_rates`.
        inverse_inertia: of the tree (dofs, dofs).
    """
    return [float(effective_mass(rate @ inverse_inertia @ rate)) for rate in rates]


def _rates(mobility: Mobility, track: Track, slide: Coordinate, poses: dict[str, Pose]) -> Array:
    """Return how a slide's coordinate moves by the tree's dofs (dofs,)."""
    if isinstance(track, CustomJoint):
        return _custom_rates(mobility, track, slide, poses)
    nearest = find_nearest_places(track, poses[track.a], poses[track.b])
    on_a = slide.parameter < 2
    body, side = (track.a, track.side_a) if on_a else (track.b, track.side_b)
    place = nearest.place_a if on_a else nearest.place_b
    x, q = poses[body]
    R = rotation_matrix(q)
    along = R @ side.tangents(place)[slide.parameter % 2]
    along /= np.linalg.norm(along)
    point = x + R @ side.in_body(place[None])[0]
    rates = np.zeros(mobility.dofs)
    for end, sign in ((track.a, -1.0), (track.b, 1.0)):
        if end != WORLD:
            at = rotation_matrix(poses[end][1]).T @ (point - poses[end][0])
            rates += sign * along @ mobility.velocities([end], at[None, None])[0, 0]
    return rates


def _custom_rates(
    mobility: Mobility, track: CustomJoint, slide: Coordinate, poses: dict[str, Pose]
) -> Array:
    """Return how a coordinate of a custom joint moves by the tree's dofs (dofs,)."""
    x, q = poses[track.b]
    place = x + rotation_matrix(q) @ track.side_b.position
    axes = rotation_matrix(poses[track.a][1]) @ track.side_a.rotation
    along = np.linalg.pinv(track.twists())[slide.parameter].reshape(2, 3) @ axes.T
    return relative_rates(mobility, track, along.ravel(), place, poses)


def track_tables(mechanism: Mechanism) -> dict[str, np.ndarray]:
    """Make the constants of curve and surface joints and slides, by name of the table in `Model`.

    Raises:
        AssemblyError: a place of touch at the assembly that is singular, or where a locked turn
            about the normal is not defined.
    """
    count, poses = len(mechanism.tracks), assembly_poses(mechanism)
    tracks, sides = TRACK_MODEL.rows(count), SIDE_MODEL.rows(2 * count)
    points: list[Array] = [np.zeros((0, 3))]
    for t, track in enumerate(mechanism.tracks.values()):
        nearest = find_nearest_places(track, poses[track.a], poses[track.b])
        tracks[t]["offset"] = track.side_a.offset + track.side_b.offset
        tracks[t]["sense"] = nearest.sense
        tracks[t]["track_axis"] = 0.0 if track.axis is None else track.axis
        tracks[t]["locked_cosine"] = np.cos(nearest.angle)
        tracks[t]["locked_sine"] = np.sin(nearest.angle)
        for k, side in enumerate((track.side_a, track.side_b)):
            row = sides[2 * t + k]
            row["origin"], row["frame"] = side.position, side.rotation.ravel()
            row["sizes"] = side.sizes
            row["start_place"] = nearest.place_b if k else nearest.place_a
            row["longest_change"] = side.longest_change
            points.append(side.points)
    table = POINT_MODEL.rows(sum(map(len, points)))
    table["coefficient"] = np.concatenate(points)
    slides = SLIDE_MODEL.rows(len(mechanism.slides))
    slides["per_parameter"] = [slide.per_parameter for _, slide in mechanism.slides]
    return {"tracks": tracks, "sides": sides, "points": table, "slides": slides}
