"""Planes of a height field that a ball or rim is about to touch: arithmetic of one environment.

The grid's points carry heights; the square between four of them is two triangles, divided by the
diagonal from its first to its last point. Beyond its edge the field goes on as high as there. A
ball touches a triangle under its lowest point, or an edge or a point of the grid where that is
convex: the plane is then that across the shortest way from the ball's centre. Only such planes are
found that are a local minimum of the distance, so that a plane given as heights has one, and a ball
that rolls over an edge turns from one triangle to the next. A ball in a corner has several. A bare
point is a ball without radius. The lowest point of a rim touches triangles and edges, its others
triangles alone.
"""

import math
from typing import Any, NamedTuple

from vigym.core.compiler.kernel import inline, phase
from vigym.core.compiler.simd import sqrt
from vigym.core.contact.plane import lowest_point_about
from vigym.core.math.vectors import add, axpy, cross, dot, scale, sub
from vigym.core.tables.plan import (
    BALL_CONTACT,
    CELL_SIZE,
    FIRST_X,
    FIRST_Y,
    HEIGHTS,
    LARGEST_HEIGHT,
    RIM_CONTACT,
    RIM_QUARTER_CONTACT,
    RIM_THREE_QUARTER_CONTACT,
)

REACH = 0.25  # cells beyond a ball or rim in which planes are sought
INSIDE = 1e-9  # cells by which a foot may lie beside its triangle
SAME = 1e-12  # 1 - cosine of the angle of normals that count as one
TINY = 1e-9  # [m] distance from an edge below which it has no normal
INNER = -1e-5  # [m] place of a ball's centre or a rim's point above a triangle: inside the ground
ENTERED = -1e-6  # [m] lowest place before a step from which one may enter the ground
BISECTIONS = 40  # of the normals of an edge
FLAT_RIM = 0.955  # cosine of the angle of rim and plane, 0.3 rad, up to which it lies on it
UPRIGHT = 0.7  # cosine of the angle of rim and edge up to which the rim touches the edge
FAR = 1e30  # [m] gap of a missing plane
FARTHEST = 1e8  # [m] coordinate beyond which there is no ground


class Round(NamedTuple):
    """Ball or rim of one environment.

    Attributes:
        kind: of its contact.
        centre: [m, world].
        rim: axis of the rim, and a direction across it.
        radius: [m].
    """

    kind: Any
    centre: Any
    rim: Any
    radius: Any


class Field(NamedTuple):
    """Height field of one environment.

    Attributes:
        cell: edge of its cells [m].
        x: of its first point [m].
        y: of its first point [m].
        top: largest height [m].
        start: slot of its first height in the plan.
    """

    cell: Any
    x: Any
    y: Any
    top: Any
    start: Any


@inline
def read_field(d, terrain_map):
    """Read the height field with the given number."""
    start = d.plan_terrain
    heights = start + HEIGHTS + terrain_map * d.terrain_columns * d.terrain_rows
    return Field(
        d.number(start + CELL_SIZE),
        d.number(start + FIRST_X),
        d.number(start + FIRST_Y),
        d.number(start + LARGEST_HEIGHT),
        heights,
    )


@inline
def grid_point(d, field, i, j):
    """Find point (i, j) of the grid [m, world]; beyond the edge it is as high as there."""
    column = min(max(i, 0), d.terrain_columns - 1)
    row = min(max(j, 0), d.terrain_rows - 1)
    height = d.number(field.start + column * d.terrain_rows + row)
    return field.x + i * field.cell, field.y + j * field.cell, height


# --- the best planes ------------------------------------------------------------------------------


@inline
def no_plane():
    """Make a placeholder for a missing plane: (gap, normal (3), height along it)."""
    return FAR, 0.0, 0.0, -2.0, 0.0


@inline
def are_parallel(a, b):
    """Return whether two planes face the same way."""
    return a[1] * b[1] + a[2] * b[2] + a[3] * b[3] > 1.0 - SAME


@inline
def add_plane(best, plane):
    """Add a plane to the best three, sorted by their gaps; of parallel ones the nearest counts."""
    first, second, third = best
    if plane[0] < first[0]:
        if are_parallel(plane, first):
            return plane, second, third
        if are_parallel(plane, second):
            return plane, first, third
        return plane, first, second
    if are_parallel(plane, first):
        return best
    if plane[0] < second[0]:
        if are_parallel(plane, second):
            return first, plane, third
        return first, plane, second
    if are_parallel(plane, second):
        return best
    if plane[0] < third[0]:
        return first, second, plane
    return best


@inline
def flatter_first(a, b):
    """Reorder two planes: the flatter one first, whichever is nearer."""
    if b[3] > a[3] or (b[3] == a[3] and b[1] > a[1]):
        return b, a
    return a, b


# --- triangles, edges and points ------------------------------------------------------------------


@inline
def is_aslant(kind, axis, normal):
    """Return whether a contact is a quarter turn from the lowest point of a rim that is not flat.

    A plane would push it along the rim and roll it, which does not change its gap: the force would
    do work out of nothing.
    """
    quarter = kind in (RIM_QUARTER_CONTACT, RIM_THREE_QUARTER_CONTACT)
    return quarter and abs(dot(axis, normal)) < FLAT_RIM


@inline
def add_triangle(found, touching, before, corner, slopes, upper, cell):
    """Add the plane of a triangle, if the foot of the lowest point is in it.

    Args:
        found: (best three planes, the least deep one that is inside the ground).
        touching: ball or rim.
        before: (ball or rim before the step, whether it has to have entered in the step).
        corner: first point of the triangle's cell.
        slopes: of the triangle along x and along y.
        upper: whether it is the cell's triangle with larger y.
        cell: edge of a cell [m].
    """
    per_length = 1.0 / sqrt(1.0 + slopes[0] * slopes[0] + slopes[1] * slopes[1])
    normal = (0.0 - slopes[0]) * per_length, (0.0 - slopes[1]) * per_length, per_length
    height = dot(normal, corner)
    kind, centre, rim, radius = touching
    if is_aslant(kind, rim[0], normal):
        return found
    lowest = lowest_point_about(kind, centre, rim, radius, normal)
    gap = dot(normal, lowest) - height
    foot = axpy(-gap, normal, lowest)
    u, v = (foot[0] - corner[0]) / cell, (foot[1] - corner[1]) / cell
    low, high = (u, v) if upper else (v, u)
    if low < -INSIDE or high > 1.0 + INSIDE or low > high + INSIDE:
        return found
    plane = gap, normal[0], normal[1], normal[2], height
    return add_plane_by_depth(found, touching, before, plane)


@inline
def add_plane_by_depth(found, touching, before, plane):
    """Add a plane to the best, or, where it is above the ball's centre, as the least deep one."""
    best, inner = found
    gap, height = plane[0], plane[4]
    kind, _, _, radius = touching
    if gap + (radius if kind == BALL_CONTACT else 0.0) >= INNER:
        return add_plane(best, plane), inner
    earlier, entered = before
    normal = plane[1], plane[2], plane[3]
    start = lowest_point_about(kind, earlier.centre, earlier.rim, radius, normal)
    if entered and dot(normal, start) - height < ENTERED:
        return found
    if inner[0] == FAR or gap > inner[0]:
        return best, plane
    return found


@inline
def triangle_normal(start, end, corner):
    """Find the unit normal of a triangle, upwards."""
    normal = cross(sub(end, start), sub(corner, start))
    length = sqrt(dot(normal, normal))
    return scale((1.0 if normal[2] > 0.0 else -1.0) / length, normal)


@inline
def turn_towards_edge(touching, start, way, normal):
    """Find how a rim's lowest point lies across an edge: from its second to its first triangle."""
    kind, centre, rim, radius = touching
    arm = sub(lowest_point_about(kind, centre, rim, radius, normal), start)
    return dot(cross(way, normal), arm)


@inline
def add_edge_of_rim(found, touching, before, start, end, beside):
    """Add the plane through an edge that is farthest from a rim, if it is in between its triangles.

    The rim's lowest point along that plane's normal is above the edge: found by bisection.
    """
    first = triangle_normal(start, end, beside[0])
    second = triangle_normal(start, end, beside[1])
    if dot(first, sub(beside[1], start)) >= 0.0:  # not convex
        return found
    way = sub(end, start)
    if dot(cross(way, first), second) < 0.0:
        way = scale(-1.0, way)
    if turn_towards_edge(touching, start, way, first) <= 0.0:
        return found
    if turn_towards_edge(touching, start, way, second) >= 0.0:
        return found
    for _ in range(BISECTIONS):
        middle = add(first, second)
        middle = scale(1.0 / sqrt(dot(middle, middle)), middle)
        if turn_towards_edge(touching, start, way, middle) > 0.0:
            first = middle
        else:
            second = middle
    kind, centre, rim, radius = touching
    if abs(dot(rim[0], first)) > UPRIGHT:  # not the rim but the disc in it would touch
        return found
    lowest = lowest_point_about(kind, centre, rim, radius, first)
    edge = sub(end, start)
    part = dot(sub(lowest, start), edge) / dot(edge, edge)
    if part < -INSIDE or part > 1.0 + INSIDE:
        return found
    height = dot(first, start)
    plane = dot(first, lowest) - height, first[0], first[1], first[2], height
    return add_plane_by_depth(found, touching, before, plane)


@inline
def add_nearest_point(best, ball, point, beside):
    """Add the plane across the way from a point of an edge to the ball's centre, if convex.

    ``beside`` are points next to the edge: there is such a plane where they are below it.
    """
    way = sub(ball.centre, point)
    distance = sqrt(dot(way, way))
    if not (way[2] > 0.0 and distance > TINY):
        return best
    normal = scale(1.0 / distance, way)
    for other in beside:
        if dot(normal, sub(other, point)) > 0.0:
            return best
    gap = distance - ball.radius
    return add_plane(best, (gap, normal[0], normal[1], normal[2], dot(normal, point)))


@inline
def add_edge(best, ball, start, end, beside):
    """Add the plane of an edge between two points, if the ball's centre is nearest to its inside.

    ``beside`` are the other corners of its two triangles.
    """
    way = sub(end, start)
    part = dot(sub(ball.centre, start), way) / dot(way, way)
    if part <= 0.0 or part >= 1.0:
        return best
    return add_nearest_point(best, ball, axpy(part, way, start), beside)


@phase(needs="terrain")
def add_edges_of_cell(d, field, best, ball, i, j):
    """Add the planes of the edges and the point that belong to a cell, see ``add_edge``."""
    a, b = grid_point(d, field, i, j), grid_point(d, field, i + 1, j)
    c, e = grid_point(d, field, i, j + 1), grid_point(d, field, i + 1, j + 1)
    below, left = grid_point(d, field, i, j - 1), grid_point(d, field, i - 1, j)
    best = add_edge(best, ball, a, b, (below, e))
    best = add_edge(best, ball, a, c, (left, e))
    best = add_edge(best, ball, a, e, (b, c))
    around = b, c, e, below, left, grid_point(d, field, i - 1, j - 1)
    return add_nearest_point(best, ball, a, around)


@phase(needs="terrain")
def add_edges_of_rim(d, field, found, touching, before, i, j):
    """Add the planes of the edges that belong to a cell, see ``add_edge_of_rim``."""
    a, b = grid_point(d, field, i, j), grid_point(d, field, i + 1, j)
    c, e = grid_point(d, field, i, j + 1), grid_point(d, field, i + 1, j + 1)
    below, left = grid_point(d, field, i, j - 1), grid_point(d, field, i - 1, j)
    found = add_edge_of_rim(found, touching, before, a, b, (below, e))
    found = add_edge_of_rim(found, touching, before, a, c, (left, e))
    return add_edge_of_rim(found, touching, before, a, e, (b, c))


@phase(needs="terrain")
def add_triangles_of_cell(d, field, found, touching, before, i, j):
    """Add the planes of both triangles of a cell, see ``add_triangle``."""
    cell = field.cell
    a = grid_point(d, field, i, j)
    b = grid_point(d, field, i + 1, j)[2]
    c = grid_point(d, field, i, j + 1)[2]
    e = grid_point(d, field, i + 1, j + 1)[2]
    slopes = (b - a[2]) / cell, (e - b) / cell
    found = add_triangle(found, touching, before, a, slopes, False, cell)
    slopes = (e - c) / cell, (c - a[2]) / cell
    return add_triangle(found, touching, before, a, slopes, True, cell)


@phase(needs="terrain")
def plane_above_centre(d, field, touching):
    """Find the plane of the triangle above the centre of a ball or rim deep in the ground."""
    centre = touching.centre
    i = int(math.floor((centre[0] - field.x) / field.cell))
    j = int(math.floor((centre[1] - field.y) / field.cell))
    a, e = grid_point(d, field, i, j), grid_point(d, field, i + 1, j + 1)
    b, c = grid_point(d, field, i + 1, j), grid_point(d, field, i, j + 1)
    corner = b if centre[0] - a[0] >= centre[1] - a[1] else c
    normal = triangle_normal(a, e, corner)
    height = dot(normal, a)
    gap = dot(normal, centre) - height
    if gap >= 0.0:
        return no_plane()
    return gap - touching.radius, normal[0], normal[1], normal[2], height


@inline
def highest_corner(d, field, i, j):
    """Find the largest height of the corners of a cell [m]."""
    a, b = grid_point(d, field, i, j)[2], grid_point(d, field, i + 1, j)[2]
    c, e = grid_point(d, field, i, j + 1)[2], grid_point(d, field, i + 1, j + 1)[2]
    return max(max(a, b), max(c, e))


@phase(needs="terrain")
def nearest_planes(d, terrain_map, touching, before):
    """Find the planes that a ball or rim is about to touch, at most three.

    Args:
        d: data of the lane group.
        terrain_map: number of the height field.
        touching: ball or rim.
        before: (ball or rim before the step, whether it has to have entered the ground since).

    Returns:
        Three planes (gap, normal (3), height along it), the flattest first; the gap of missing ones
        is FAR. Then the height of a level plane that is below all others.
    """
    field = read_field(d, terrain_map)
    centre = touching.centre
    reach = touching.radius + REACH * field.cell
    best = no_plane(), no_plane(), no_plane()
    inner = no_plane()
    is_near = centre[2] - reach <= field.top
    if is_near and abs(centre[0]) < FARTHEST and abs(centre[1]) < FARTHEST:
        first_i = int(math.floor((centre[0] - reach - field.x) / field.cell))
        last_i = int(math.floor((centre[0] + reach - field.x) / field.cell))
        first_j = int(math.floor((centre[1] - reach - field.y) / field.cell))
        last_j = int(math.floor((centre[1] + reach - field.y) / field.cell))
        for i in range(first_i, last_i + 1):
            for j in range(first_j, last_j + 1):
                if highest_corner(d, field, i, j) >= centre[2] - reach:
                    found = best, inner
                    found = add_triangles_of_cell(d, field, found, touching, before, i, j)
                    if touching.kind == RIM_CONTACT:
                        found = add_edges_of_rim(d, field, found, touching, before, i, j)
                    best, inner = found
                    if touching.kind == BALL_CONTACT:
                        best = add_edges_of_cell(d, field, best, touching, i, j)
        if inner[0] == FAR and best[0][0] == FAR:
            inner = plane_above_centre(d, field, touching)
    if inner[0] < FAR:
        best = add_plane(best, inner)
    first, second = flatter_first(best[0], best[1])
    second, third = flatter_first(second, best[2])
    first, second = flatter_first(first, second)
    return first, second, third, min(field.top, centre[2] - reach)
