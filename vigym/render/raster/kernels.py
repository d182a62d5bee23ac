"""Kernels of the rasteriser.

Corners of triangles are rounded to `GRID` parts of a sample, and which samples a triangle covers is
decided in whole numbers. So rounding errors, in which processors and libraries differ, change no
picture. A sample on an edge belongs to one of the two triangles there, the one to its right or
below it.

Depth is kept as its inverse, which is linear over the picture.
"""

from typing import NamedTuple

import numpy as np

from vigym.core.compiler.kernel import entry, inline, phase

GRID = 256  # positions along a sample's edge
FARTHEST = (
    2.0**20
)  # samples from the picture's corner; points projected farther away are moved here
# columns of the corner of a triangle
X, Y = 0, 1
W = 2
POSITION, NORMAL = 3, 6
COLUMNS = 9


class Surfaces(NamedTuple):
    """Triangles of all visuals.

    Attributes:
        vertices: in the axes of their visual (n, 3) [m].
        normals: at the vertices (n, 3).
        vertex_visual: index of the visual of each vertex (n,).
        triangles: indices of vertices (m, 3), counter-clockwise from outside.
        visual: index of the visual of each triangle (m,).
        two_sided: whether each visual is drawn from inside, too (n_visuals,).
        colours: of the visuals (n_visuals, 3), in [0, 1].
    """

    vertices: np.ndarray
    normals: np.ndarray
    vertex_visual: np.ndarray
    triangles: np.ndarray
    visual: np.ndarray
    two_sided: np.ndarray
    colours: np.ndarray


class Eye(NamedTuple):
    """Camera and the part of its picture that is drawn.

    Attributes:
        matrix: rows x, y, w of the map from world to clip space (3, 4).
        position: of the camera (3,) [m].
        near: distance in front of which nothing is drawn [m].
        size: width and height of the whole picture [samples].
        corner: column and row of the part's upper left sample.
        floor: inverse depth (a, b, c) of the floor at device x, y: a x + b y + c; zero without one.
    """

    matrix: np.ndarray
    position: np.ndarray
    near: float
    size: tuple[int, int]
    corner: tuple[int, int]
    floor: np.ndarray


class Light(NamedTuple):
    """Light from far away, by the model of Blinn and Phong.

    Attributes:
        direction: unit vector to the light (3,).
        ambient, diffuse, specular: brightness, in [0, 1].
    """

    direction: np.ndarray
    ambient: float
    diffuse: float
    specular: float


class Samples(NamedTuple):
    """Part of a picture.

    Attributes:
        colour: (h, w, 3), or (0, 0, 3) without colours.
        inverse: of the depth along the view (h, w) [1/m]; 0: infinitely far.
        visual: index of the visual that is seen (h, w); -1: none.
    """

    colour: np.ndarray
    inverse: np.ndarray
    visual: np.ndarray


@entry
def place(surfaces, positions, orientations, vertices, normals):
    """Write vertices and normals (n, 3), in the world, of visuals at these poses."""
    for i in range(vertices.shape[0]):
        visual = surfaces.vertex_visual[i]
        rotate(orientations[visual], surfaces.vertices[i], vertices[i])
        rotate(orientations[visual], surfaces.normals[i], normals[i])
        for axis in range(3):
            vertices[i, axis] += positions[visual, axis]


@inline
def rotate(quaternion, vector, rotated):
    """Write a vector rotated by a unit quaternion."""
    w, x, y, z = quaternion
    a, b, c = vector
    # v + 2 w (u x v) + 2 u x (u x v), with the vector part u of the quaternion
    d = y * c - z * b
    e = z * a - x * c
    f = x * b - y * a
    rotated[0] = a + 2.0 * (w * d + y * f - z * e)
    rotated[1] = b + 2.0 * (w * e + z * d - x * f)
    rotated[2] = c + 2.0 * (w * f + x * e - y * d)


@entry
def draw(surfaces, vertices, normals, eye, light, samples):
    """Draw the surfaces, whose vertices and normals are in the world, over the floor."""
    clear(eye, samples)
    clip = np.empty((vertices.shape[0], 3))
    for i in range(vertices.shape[0]):
        for row in range(3):
            m = eye.matrix[row]
            x, y, z = vertices[i]
            clip[i, row] = m[0] * x + m[1] * y + m[2] * z + m[3]
    corners = np.empty((4, COLUMNS))
    for t in range(surfaces.triangles.shape[0]):
        count = clip_corners(surfaces.triangles[t], clip, vertices, normals, eye.near, corners)
        if count == 0:
            continue
        visual = surfaces.visual[t]
        for k in range(count):
            to_samples(corners[k], eye)
        for k in range(2, count):
            trio = corners[0], corners[k - 1], corners[k]
            fill(trio, visual, surfaces, eye, light, samples)


@phase
def clear(eye, samples):
    """Remove everything from the samples but the floor, which hides objects below it."""
    height, width = samples.inverse.shape
    a, b, c = eye.floor
    for row in range(height):
        y = 1.0 - (eye.corner[1] + row + 0.5) * (2.0 / eye.size[1])
        for column in range(width):
            x = (eye.corner[0] + column + 0.5) * (2.0 / eye.size[0]) - 1.0
            samples.inverse[row, column] = max(0.0, a * x + b * y + c)
            samples.visual[row, column] = -1


@inline
def clip_corners(triangle, clip, vertices, normals, near, corners):
    """Write the corners of the part of a triangle beyond `near`; return how many: 0, 3 or 4."""
    count = 0
    for k in range(3):
        i, j = triangle[k], triangle[(k + 1) % 3]
        inside, next_inside = clip[i, W] >= near, clip[j, W] >= near
        if inside:
            mix(i, j, 0.0, clip, vertices, normals, corners[count])
            count += 1
        if inside != next_inside:
            part = (near - clip[i, W]) / (clip[j, W] - clip[i, W])
            mix(i, j, part, clip, vertices, normals, corners[count])
            count += 1
    return count


@inline
def mix(i, j, part, clip, vertices, normals, corner):
    """Write a corner on the edge between two vertices."""
    for axis in range(3):
        corner[axis] = clip[i, axis] + part * (clip[j, axis] - clip[i, axis])
        step = vertices[j, axis] - vertices[i, axis]
        corner[POSITION + axis] = vertices[i, axis] + part * step
        turn = normals[j, axis] - normals[i, axis]
        corner[NORMAL + axis] = normals[i, axis] + part * turn


@inline
def to_samples(corner, eye):
    """Project a corner: rounded place on the grid, inverse depth, and the rest divided by depth."""
    inverse = 1.0 / corner[W]
    x = (corner[X] * inverse + 1.0) * 0.5 * eye.size[0] - eye.corner[0]
    y = (1.0 - corner[Y] * inverse) * 0.5 * eye.size[1] - eye.corner[1]
    corner[X] = np.floor(min(max(x, -FARTHEST), FARTHEST) * GRID + 0.5)
    corner[Y] = np.floor(min(max(y, -FARTHEST), FARTHEST) * GRID + 0.5)
    corner[W] = inverse
    for k in range(POSITION, COLUMNS):
        corner[k] *= inverse


@phase
def fill(trio, visual, surfaces, eye, light, samples):
    """Draw a triangle of three projected corners where it is the nearest."""
    a, b, c = trio
    outwards = 1.0
    area = twice_area(a, b, c)
    if area == 0 or (area > 0 and not surfaces.two_sided[visual]):
        return
    if area > 0:  # seen from inside, since rows count downwards
        outwards = -1.0
    else:
        b, c = c, b
        area = -area
    xa, ya = np.int64(a[X]), np.int64(a[Y])
    xb, yb = np.int64(b[X]), np.int64(b[Y])
    xc, yc = np.int64(c[X]), np.int64(c[Y])
    part = 1.0 / area
    height, width = samples.inverse.shape
    left = max(first_centre(min(xa, xb, xc)), 0)
    right = min(last_centre(max(xa, xb, xc)), width - 1)
    top = max(first_centre(min(ya, yb, yc)), 0)
    bottom = min(last_centre(max(ya, yb, yc)), height - 1)
    for row in range(top, bottom + 1):
        y = row * GRID + GRID // 2
        start, end = narrow(left, right, y, xa, ya, xb, yb)
        start, end = narrow(start, end, y, xb, yb, xc, yc)
        start, end = narrow(start, end, y, xc, yc, xa, ya)
        for column in range(start, end + 1):
            x = column * GRID + GRID // 2
            u = ((xc - xb) * (y - yb) - (yc - yb) * (x - xb)) * part
            v = ((xa - xc) * (y - yc) - (ya - yc) * (x - xc)) * part
            s = 1.0 - u - v
            inverse = u * a[W] + v * b[W] + s * c[W]
            if inverse > samples.inverse[row, column]:
                samples.inverse[row, column] = inverse
                samples.visual[row, column] = visual
                if samples.colour.shape[0] > 0:
                    point = interpolate(a, b, c, u, v, s)
                    colour = surfaces.colours[visual]
                    shade(point, inverse, outwards, eye, light, colour, samples.colour[row, column])


@inline
def twice_area(a, b, c):
    """Return twice the area on the grid, negative for a triangle seen from outside."""
    first = np.int64(b[X] - a[X]) * np.int64(c[Y] - a[Y])
    return first - np.int64(c[X] - a[X]) * np.int64(b[Y] - a[Y])


@inline
def first_centre(place):
    """Return the first sample whose centre is at this place of the grid or after it."""
    return (place + GRID // 2 - 1) // GRID


@inline
def last_centre(place):
    """Return the last sample whose centre is at this place of the grid or before it."""
    return (place - GRID // 2) // GRID


@inline
def narrow(start, end, y, xa, ya, xb, yb):
    """Return the columns from start to end whose centre is on the inner side of an edge."""
    rise = yb - ya
    run = xb - xa
    # inside: limit - GRID rise column >= 0; a sample on a right or lower edge is outside
    limit = run * (y - ya) - rise * (GRID // 2 - xa)
    if rise > 0 or (rise == 0 and run < 0):
        limit -= 1
    if rise > 0:
        end = min(end, limit // (GRID * rise))
    elif rise < 0:
        start = max(start, -(limit // (-GRID * rise)))
    elif limit < 0:
        end = start - 1
    return start, end


@inline
def interpolate(a, b, c, u, v, s):
    """Return position and normal at a sample, both divided by depth, as six numbers."""
    return (
        u * a[3] + v * b[3] + s * c[3],
        u * a[4] + v * b[4] + s * c[4],
        u * a[5] + v * b[5] + s * c[5],
        u * a[6] + v * b[6] + s * c[6],
        u * a[7] + v * b[7] + s * c[7],
        u * a[8] + v * b[8] + s * c[8],
    )


@inline
def shade(point, inverse, outwards, eye, light, colour, pixel):
    """Write the colour of a point in the light."""
    px, py, pz, nx, ny, nz = point
    lx, ly, lz = light.direction
    # the lengths of these directions do not matter: depth is divided out
    dx = eye.position[0] * inverse - px
    dy = eye.position[1] * inverse - py
    dz = eye.position[2] * inverse - pz
    n = outwards / np.sqrt(nx * nx + ny * ny + nz * nz + 1e-30)
    d = np.sqrt(dx * dx + dy * dy + dz * dz)
    hx = lx * d + dx
    hy = ly * d + dy
    hz = lz * d + dz
    diffuse = light.ambient + light.diffuse * max(0.0, (nx * lx + ny * ly + nz * lz) * n)
    gloss = max(0.0, (nx * hx + ny * hy + nz * hz) * n)
    gloss = gloss * gloss / (hx * hx + hy * hy + hz * hz + 1e-30)
    for _ in range(4):  # to the power of 16, of the square
        gloss *= gloss
    for k in range(3):
        value = 255.0 * (colour[k] * diffuse + light.specular * gloss)
        pixel[k] = np.uint8(min(value, 255.0))


@entry
def cast_shadow(samples, first, eye, to_light, shade):
    """Darken samples of the visuals from `first` on where the light is blocked.

    Args:
        samples: colours are changed.
        first: index of a visual.
        eye: camera of the samples.
        to_light: map (3, 4) from device x, y, 1 and inverse depth to places x, y, w in the picture
            that the light sees, in [0, 1] after division by w.
        shade: part of the light that is taken, at places of that picture (size, size).
    """
    height, width = samples.visual.shape
    size = shade.shape[0]
    for row in range(height):
        y = 1.0 - (eye.corner[1] + row + 0.5) * (2.0 / eye.size[1])
        for column in range(width):
            if samples.visual[row, column] < first:
                continue
            x = (eye.corner[0] + column + 0.5) * (2.0 / eye.size[0]) - 1.0
            inverse = samples.inverse[row, column]
            u = place_in_light(to_light[0], x, y, inverse)
            v = place_in_light(to_light[1], x, y, inverse)
            w = place_in_light(to_light[2], x, y, inverse)
            if w > 0.0 and 0.0 <= u < w and 0.0 <= v < w:
                light = 1.0 - shade[int(v / w * size), int(u / w * size)]
                for k in range(3):
                    samples.colour[row, column, k] = np.uint8(
                        light * samples.colour[row, column, k]
                    )


@inline
def place_in_light(row, x, y, inverse):
    """Return a coordinate of a sample in the light's picture, times the w of that picture."""
    return row[0] * x + row[1] * y + row[2] + row[3] * inverse


@entry
def blend(samples, picture):
    """Write the mean of the samples of each pixel into a picture (h, w, 3), their background."""
    height, width, _ = picture.shape
    n = samples.visual.shape[0] // max(height, 1)
    for row in range(height):
        for column in range(width):
            covered, red = 0, 0
            green, blue = 0, 0
            for y in range(row * n, row * n + n):
                for x in range(column * n, column * n + n):
                    if samples.visual[y, x] >= 0:
                        covered += 1
                        red += samples.colour[y, x, 0]
                        green += samples.colour[y, x, 1]
                        blue += samples.colour[y, x, 2]
            if covered:
                pixel, free = picture[row, column], n * n - covered
                pixel[0] = (red + free * pixel[0]) // (n * n)
                pixel[1] = (green + free * pixel[1]) // (n * n)
                pixel[2] = (blue + free * pixel[2]) // (n * n)
