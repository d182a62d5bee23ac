"""Geoms of a compiled model as shapes of bodies."""

from collections.abc import Callable
from typing import Any

import numpy as np

from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from vigym.mjcf.bodies import Robot
from vigym.mjcf.ellipsoids import balls_of
from vigym.spatial import Pose, rotation_matrix

# numbers of mujoco's mjtGeom
PLANE, FIELD, SPHERE, CAPSULE, ELLIPSOID, CYLINDER, BOX, MESH = range(8)
NAMES = ("plane", "height field", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh")
DRAWN_GROUPS = 3  # mujoco draws the groups 0 to 2
GREY = (0.5, 0.5, 0.5, 1.0)  # of geoms without a colour


def shapes_of(robot: Robot, geom: int) -> list[Shape]:
    """Return a geom as shapes in the frame of its body; none for a kind that vigym lacks."""
    m = robot.model
    size, kind = m.geom_size[geom].tolist(), int(m.geom_type[geom])
    pose = robot.carrier_pose(int(m.geom_bodyid[geom])).inverse @ robot.pose("geom", geom)
    if kind == MESH:
        return _mesh_of(robot, geom, pose)
    more: dict[str, Any] = {"rgba": colour(m, geom)}
    if kind == ELLIPSOID:
        centers, radii, _ = balls_of(m.geom_size[geom])
        places = pose.position + centers @ pose.rotation.T
        return [
            Sphere(radius=radius, position=place, **more)
            for radius, place in zip(radii.tolist(), places, strict=True)
        ]
    more |= {"position": pose.position, "orientation": pose.orientation}
    makers: dict[int, Callable[[], Shape]] = {
        SPHERE: lambda: Sphere(radius=size[0], **more),
        CAPSULE: lambda: Capsule(radius=size[0], length=2.0 * size[1], **more),
        CYLINDER: lambda: Cylinder(radius=size[0], length=2.0 * size[1], **more),
        BOX: lambda: Box(size=[2.0 * each for each in size], **more),
    }
    return [makers[kind]()] if kind in makers else []


def _mesh_of(robot: Robot, geom: int, pose: Pose) -> list[Shape]:
    """Return a mesh as its file has it; nothing of one that is written in the model."""
    m = robot.model
    number = int(m.geom_dataid[geom])
    start = int(m.mesh_pathadr[number])
    end = m.paths.index(b"\0", start) if start >= 0 else 0
    path = robot.compiled.meshes.get(m.paths[start:end].decode())
    if path is None or path.suffix.lower() == ".msh":
        return []
    # mujoco moves vertices to the centre of mass and the principal axes
    moved = Pose(np.array(m.mesh_pos[number]), rotation_matrix(np.array(m.mesh_quat[number])))
    own = pose @ moved.inverse
    mesh = Mesh(
        path=path,
        scale=m.mesh_scale[number],
        position=own.position,
        orientation=own.orientation,
        rgba=colour(m, geom),
    )
    return [mesh]


def colour(model: Any, geom: int) -> Array:
    """Return red, green, blue and opacity (4,) of a geom, its own or its material's."""
    own, material = model.geom_rgba[geom], int(model.geom_matid[geom])
    if material >= 0 and np.allclose(own, GREY):
        own = model.mat_rgba[material]
    return np.clip(np.asarray(own, np.float64), 0.0, 1.0)


def drawn_shapes(robot: Robot, root: int) -> list[Shape]:
    """Return the shapes that are drawn of the bodies with a root."""
    seen = (geom for geom in geoms_of(robot, root) if is_drawn(robot, geom))
    return [shape for geom in seen for shape in shapes_of(robot, geom)]


def is_drawn(robot: Robot, geom: int) -> bool:
    """Return whether mujoco draws a geom."""
    m = robot.model
    return bool(m.geom_group[geom] < DRAWN_GROUPS and colour(m, geom)[3] > 0.0)


def geoms_of(robot: Robot, root: int) -> list[int]:
    """Return the geoms of the bodies with a root, 0 for the world's."""
    return np.flatnonzero(robot.roots[robot.model.geom_bodyid] == root).tolist()
