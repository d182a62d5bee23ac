"""Bodies of an MJCF file, nested as the tree has them, with their joints, shapes and sites."""

import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from vigym.mechanism.content import Elements
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.collisions import Collision
from vigym.mechanism.elements.joints import FLOATING_SUFFIX, Joint, joint_frame
from vigym.mechanism.elements.shapes import Box, Cylinder, Mesh, Shape, Sphere
from vigym.mechanism.topology.graph import spanning_tree
from vigym.spatial import IDENTITY, Pose, quaternion_from_z, rotation_matrix

CONNECTED = ("spherical", "revolute", "continuous")  # types that <connect> closes
POINT = 1e-6  # radius of the balls that stand for points [m]
# Bits of geoms: bodies touch the ground alone. MuJoCo draws group 1, and does not draw group 3.
DRAWN = {"contype": "0", "conaffinity": "0", "group": "1"}
TOUCHING = {"contype": "1", "conaffinity": "2", "group": "3"}
GROUND = {"contype": "2", "conaffinity": "1", "condim": "1"}


def element(tag: str, *children: ET.Element, **attributes: Any) -> ET.Element:
    """Return an element; numbers become texts, attributes that are None are left out."""
    made = ET.Element(tag)
    for name, value in attributes.items():
        if isinstance(value, str):
            made.set(name, value)
        elif value is not None:
            made.set(name, " ".join(repr(each + 0.0) for each in np.ravel(value).tolist()))
    made.extend(children)
    return made


def has_forces(joint: Joint, mech: Elements) -> bool:
    """Return whether forces along its coordinates act on a joint."""
    others = joint.is_damped or joint.is_sprung or joint.armature or joint.friction
    return bool(others or joint.actuated or joint.limits is not None or joint.name in mech.motors)


def is_cut(joint: Joint, mech: Elements) -> bool:
    """Return whether a closing joint carries a part of its child, welded to the rest."""
    return joint.dofs > 0 and (joint.type not in CONNECTED or has_forces(joint, mech))


def part_name(joint: Joint) -> str:
    """Return the name of the part of the child that a closing joint carries."""
    return f"{joint.child}:{joint.name}"


def is_massless(mech: Elements, joint: Joint) -> bool:
    """Return whether the child of a joint has no mass and moves."""
    return joint.dofs > 0 and not mech.bodies[joint.child].mass


class Nested:
    """Bodies of the file.

    Args:
        mech: the mechanism.

    Attributes:
        elements: <worldbody> and <body> by name; bodies without mass that move have none.
        actuators: joint of the file, and gear of a ball, by the velocity coordinate.
    """

    def __init__(self, mech: Elements) -> None:
        self.mech = mech
        self.elements = {WORLD: element("worldbody")}
        self.actuators: dict[str, dict[str, Any]] = {}
        cut = [joint for joint in mech.closing_joints if is_cut(joint, mech)]
        self._parts = Counter(joint.child for joint in cut)
        waiting: dict[str, list[Joint]] = {}  # at bodies without mass: joints of the next body
        for joint, name in spanning_tree(mech):
            joints = [*waiting.pop(joint.parent, []), joint]
            if is_massless(mech, joint):
                waiting[name] = joints
            else:
                self._add_body(name, joints, self.pose(name))
        for joint in cut:
            self._add_body(part_name(joint), [joint], self.closed_pose(joint))
        for frame in mech.frames.values():
            self.add_site(frame.name, frame.body, frame.position, quat=frame.orientation)
        self._add_shapes()

    def pose(self, body: str) -> Pose:
        """Return the frame of a body in the world."""
        if body == WORLD:
            return IDENTITY
        found = self.mech.bodies[body]
        return Pose(found.position, rotation_matrix(found.orientation))

    def closed_pose(self, joint: Joint) -> Pose:
        """Return the pose of the child at which a closing joint is closed, its coordinates zero."""
        turn = rotation_matrix(joint.child_rotation).T
        child = self.pose(joint.child)
        offset = turn @ (child.position - joint.child_position)
        return Pose(joint.position + offset, turn @ child.rotation)

    def add_site(self, name: str, body: str, position: Array, **attributes: Any) -> None:
        """Add a site at a point of a body, in its frame (3,) [m]."""
        self.elements[body].append(element("site", name=name, pos=position, **attributes))

    def _add_body(self, name: str, joints: list[Joint], pose: Pose) -> None:
        """Add a <body> with the joints that carry it, in the order of their motions.

        Mass and inertia of a body are divided evenly among its parts.
        """
        parent, body = joints[0].parent, self.mech.bodies[joints[-1].child]
        place = self.pose(parent).inverse @ pose
        made = element("body", name=name, pos=place.position, quat=place.orientation)
        made.extend(each for joint in joints for each in self._joint(joint, pose))
        if body.mass:
            share = 1.0 / (1.0 + self._parts[body.name])
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = share * body.inertia
            inertia = {"mass": share * body.mass, "fullinertia": (xx, yy, zz, xy, xz, yz)}
            made.append(element("inertial", pos=(0.0, 0.0, 0.0), **inertia))
        self.elements[parent].append(made)
        self.elements[name] = made

    def _joint(self, joint: Joint, pose: Pose) -> Iterator[ET.Element]:
        """Yield the slides of a joint, then its hinges or its ball; `pose` is of the child."""
        row, names = joint.joint_type, joint.velocity_names
        frame, anchor = joint_frame(joint.axis, joint.axis2), joint.position
        if row.dofs == 6:
            if joint.parent == WORLD and not has_forces(joint, self.mech):
                implicit = joint.name.endswith(FLOATING_SUFFIX)
                yield element("freejoint", name=None if implicit else joint.name)
                return
            frame, anchor = self.pose(joint.parent).rotation, pose.position
        place = {"pos": pose.rotation.T @ (anchor - pose.position)}
        axes, count = pose.rotation.T @ frame, len(row.translations)
        singles = row.translations if row.has_quaternion else row.translations + row.rotations
        for k, (column, name) in enumerate(zip(singles, joint.position_names, strict=False)):
            kind = {"name": name, "type": "slide" if k < count else "hinge"}
            limits = None if joint.limits is None else joint.limits[k]
            if limits is not None and np.isfinite(limits).any():
                kind["range"] = limits
            yield element("joint", **kind, **place, axis=axes[:, column], **_forces(joint, k))
            self.actuators[names[k]] = {"joint": name}
        if row.has_quaternion:
            yield element("joint", name=joint.name, type="ball", **place, **_forces(joint, count))
            for name, axis in zip(names[count:], np.eye(3, 6), strict=True):
                self.actuators[name] = {"joint": joint.name, "gear": axis}

    def _add_shapes(self) -> None:
        """Add the ground, drawn shapes and those that touch the ground."""
        mech, ground = self.mech, self.mech.ground
        drawn = [(WORLD, shape) for shape in mech.world_shapes]
        drawn += [(body.name, shape) for body in mech.bodies.values() for shape in body.shapes]
        for name, shape in drawn:
            if not isinstance(shape, Mesh):
                self.elements[name].append(_geom(shape, rgba=shape.rgba, **DRAWN))
        if ground is None:
            return
        place = {"pos": ground.height * ground.normal, "quat": quaternion_from_z(ground.normal)}
        size = {"size": (0.0, 0.0, 1.0), "friction": (0.0, 0.0, 0.0)}
        self.elements[WORLD].append(element("geom", type="plane", **place, **size, **GROUND))
        for each in mech.ground_collisions:
            slide, torsion = friction_of(mech, each)[0], each.torsion
            surface = {"condim": "4" if torsion else "3", "friction": (slide, torsion, 0.0)}
            shape = each.shape or Sphere(radius=each.radius or POINT, position=each.position)
            made = _geom(shape, name=each.name, **surface, **TOUCHING)
            self.elements[each.body].append(made)


def friction_of(mech: Elements, collision: Collision) -> Array:
    """Return the friction (along, across, backward) (3,) of a collision on the ground."""
    own = None if mech.ground is None else mech.ground.friction
    return collision.friction if own is None else own


def meshes(mech: Elements) -> Iterable[ET.Element]:
    """Yield the corners of the meshes that touch the ground, in the frame of their body."""
    for each in mech.ground_collisions:
        if isinstance(each.shape, Mesh):
            yield element("mesh", name=each.name, vertex=each.corners)


def _geom(shape: Shape, **attributes: Any) -> ET.Element:
    """Return the <geom> of a shape; a mesh has the name of its collision."""
    place = {"pos": shape.position, "quat": shape.orientation}
    if isinstance(shape, Mesh):
        return element("geom", type="mesh", mesh=attributes["name"], **attributes)
    if isinstance(shape, Box):
        attributes["size"] = 0.5 * np.asarray(shape.size)
    elif isinstance(shape, Cylinder):
        attributes["size"] = (shape.radius, 0.5 * shape.length)
    elif isinstance(shape, Sphere):
        attributes["size"] = shape.radius
    return element("geom", type=shape.kind, **place, **attributes)


def _forces(joint: Joint, dof: int) -> dict[str, Any]:
    """Return the forces along a degree of freedom, or about the ball, as attributes."""
    has_friction = joint.dofs == 1 or dof == len(joint.joint_type.translations)
    forces = {
        "damping": joint.dof_damping[dof],
        "stiffness": joint.dof_stiffness[dof],
        "springref": joint.rest[dof] if joint.rest else 0.0,
        "armature": joint.armature,
        "frictionloss": joint.friction if has_friction else 0.0,
    }
    return {name: value for name, value in forces.items() if value}
