"""Import of a URDF file as a Mechanism."""

import os
from importlib.util import find_spec
from typing import Any

import numpy as np

from vigym.mechanism.elements.bodies import WORLD, Ground, Note
from vigym.mechanism.elements.errors import AssemblyError, MechanismError, UrdfError
from vigym.mechanism.elements.motors import DCMotor
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.massless import check_massless
from vigym.spatial import IDENTITY, Pose
from vigym.urdf.convert.collisions import add_collisions, add_pairs, name_collisions
from vigym.urdf.convert.cross_check import cross_check
from vigym.urdf.convert.loops import add_loops, note_gaps
from vigym.urdf.convert.massless import complete_masses
from vigym.urdf.convert.merge import (
    NO_MASS,
    LinkGroup,
    group_links,
    merge_masses,
    move_origin,
    relative_poses,
    visual_shapes,
)
from vigym.urdf.convert.tree import LinkOrder, order_links, zero_poses
from vigym.urdf.read.dialect import ADDITIONS, DIRECTION, ENDS, POINT
from vigym.urdf.read.links import read_robot
from vigym.urdf.read.records import Mimic, Robot, TreeJoint, UrdfCollision
from vigym.urdf.read.xml import Node, parse_xml

_BASES = ("fixed", "floating", None)
_ERROR_OR_REPORT = ("error", "report")


def load_urdf(
    path: str | os.PathLike[str],
    base: str | None = None,
    ground: bool | Ground | None = None,
    self_collision: bool = False,
    missing_meshes: str = "error",
    inertias: str = "error",
) -> Mechanism:
    """Return the mechanism of a URDF file at the file's zero, the root link's frame in the world's.

    Links on fixed joints become one body with the name and the axes of the first link with mass;
    the other links become frames on it. Links without mass between joints become bodies without
    mass. Joints keep their names and the order of the file. Nothing is printed: `Mechanism.notes`
    lists elements that were changed, dropped or are not simulated. Loop joints (`<loop_joint>`,
    `<constraint>`, `<drake:ball_constraint>`, see `vigym.urdf.read.loops`; closing frames and YAML,
    see `vigym.urdf.read.beside`) become loop-closing joints, after all others; if their two joint
    frames are apart at the file's zero, simulators start with the loop closed. `<mimic>` becomes a
    coupling with the name of its joint. Where pybullet is installed, its loader reads a copy of the
    file, too, and has to find the same
    numbers.

    <collision> elements touch the ground, with the friction of <contact>, of Gazebo's <mu1> and
    <mu2>, or 0.8; more than 5 is taken as 5, with a note. A sphere of radius 0 is a point, a mesh
    (OBJ, STL, DAE, PLY, GLB) is its convex hull. They have the name in the file, or their link's
    where that is not unique, with a number where several would have one name. Meshes of <visual>
    that are not there are left out, with a note. They are read when they are drawn: one that cannot
    be read is left out of the picture, with a warning.

    Args:
        path: of the file.
        base: "fixed" welds the root to the world, "floating" frees it; None: a root link named
            `world`, or without mass in it and in the links on its fixed joints, is fixed, any other
            floats. A root link named `world` that is to float needs links with mass on its fixed
            joints: it is a part of their body then, and has no frame.
        ground: as in `Mechanism`; None: no ground.
        self_collision: whether bodies that no joint connects touch each other, by spheres, capsules
            and boxes.
        missing_meshes: for meshes of <collision> that cannot be read: "error", or "report" to leave
            them out, with a note.
        inertias: for inertias that no rigid body has, and links that move without any mass: "error"
            where that of a body with all its links is one, or "report" to mend them, with a note.
            Where a principal moment is larger than the sum of the other two, it stays and the other
            two grow by half of the difference. A body that is a line becomes a rod a hundredth as
            thick as long, one without any inertia the uniform box about its shapes. A link without
            mass in it or beyond has that of its shapes in water; without shapes its joint is fixed.

    Raises:
        UrdfError: a file that cannot be read truthfully; names file, element, found and expected.
        AssemblyError: loops that cannot be closed; names file, joint and the remaining gap.
        MechanismError: a wrong `ground`.
    """
    check_options(path, base, missing_meshes, inertias)
    element = parse_xml(path, "robot")
    return load_element(element, base, ground, self_collision, missing_meshes, inertias)


def load_element(
    element: Node,
    base: str | None = None,
    ground: bool | Ground | None = None,
    self_collision: bool = False,
    missing_meshes: str = "error",
    inertias: str = "error",
) -> Mechanism:
    """Return the mechanism of the element <robot>; options and errors are those of `load_urdf`."""
    robot = read_robot(element)
    if find_spec("pybullet") is not None:
        cross_check(robot, order_links(robot))
    return to_mechanism(robot, base, ground, self_collision, missing_meshes, inertias)


def check_options(
    path: str | os.PathLike[str], base: str | None, missing_meshes: str, inertias: str
) -> None:
    """Raise UrdfError for a value that an option of `load_urdf` does not have."""
    if base not in _BASES:
        expected = "expected 'fixed', 'floating' or None"
        raise UrdfError(f"{os.fspath(path)}: option base: found {base!r}, {expected}")
    for option, value in (("missing_meshes", missing_meshes), ("inertias", inertias)):
        if value not in _ERROR_OR_REPORT:
            found = f"{os.fspath(path)}: option {option}: found {value!r}"
            raise UrdfError(f"{found}, expected 'error' or 'report'")


def to_mechanism(
    robot: Robot,
    base: str | None,
    ground: bool | Ground | None,
    self_collision: bool,
    missing_meshes: str,
    inertias: str,
) -> Mechanism:
    """Return the mechanism of a file's records; options and errors are those of `load_urdf`."""
    robot = complete_masses(robot, order_links(robot), inertias)
    order = order_links(robot)
    mech = Mechanism(ground=False if ground is None else ground, name=robot.name)
    mech.notes += robot.notes
    try:
        _add_elements(mech, robot, order, base, missing_meshes, inertias)
        if self_collision:
            add_pairs(mech)
    except UrdfError:
        raise
    except AssemblyError as error:
        raise AssemblyError(f"{robot.path}: {error}") from error
    except MechanismError as error:
        raise UrdfError(f"{robot.path}: {error}") from error
    if mech.ground is None and mech.collisions and not mech.pairs:
        found = f"<collision> of {len(mech.collisions)} shapes"
        mech.notes.append(Note("ignored", found, "no ground: these shapes touch nothing"))
    return mech


def _add_elements(
    mech: Mechanism,
    robot: Robot,
    order: LinkOrder,
    base: str | None,
    missing_meshes: str,
    inertias: str,
) -> None:
    poses = zero_poses(order, robot.placement)
    owners: dict[str, str] = {}  # link -> body
    places: dict[str, Pose] = {}  # link -> pose in that body
    groups = group_links(robot, order)
    fixed = groups[:1] if _is_fixed_base(robot, groups[0], base) else []
    moving = [link for group in groups[len(fixed) :] for link in group.links]
    names = name_collisions(robot, moving, mech.notes)
    for group in groups:
        if group in fixed:
            body, found = WORLD, _add_world(mech, group, poses)
        else:
            body = group.reference.name
            found = _add_body(mech, robot, group, names, poses, missing_meshes, inertias)
        places |= found
        owners |= dict.fromkeys(found, body)
    driven = {each.values["joint"] for each in robot.additions if each.tag == "motor"}
    for joint in robot.joints.values():
        if joint.is_fixed:
            message = f"fixed: link {joint.child!r} is part of {owners[joint.child]!r}"
            mech.notes.append(Note("merged", f"joint {joint.name!r}", message))
        else:
            _add_joint(mech, joint, owners, poses[joint.child], joint.name in driven)
    add_loops(mech, robot, owners, poses)
    for joint in robot.joints.values():
        if joint.mimic is not None and joint.is_fixed:
            message = f"the joint is fixed: it cannot follow {joint.mimic.joint!r}"
            mech.notes.append(Note("ignored", joint.mimic.place, message))
        elif joint.mimic is not None:
            _add_mimic(mech, robot, joint, joint.mimic)
    _add_additions(mech, robot, owners, places)
    note_gaps(mech, robot)
    check_massless(mech, mech.structure)


def _is_fixed_base(robot: Robot, root: LinkGroup, base: str | None) -> bool:
    if base == "floating":
        _check_floating(robot, root)
        return False
    return base == "fixed" or root.links[0].name == WORLD or not root.mass


def _check_floating(robot: Robot, root: LinkGroup) -> None:
    """Raise UrdfError for a root that cannot float: a link without mass, or a body named world."""
    name = root.links[0].name
    place = "base='floating'"
    if not root.mass:
        found = f"no mass in the root link {name!r} and what is fixed to it"
        expected = "a root with mass: leave `base` out, or give it a mass"
        if name == WORLD:
            found += ", which by convention is the world that nothing moves"
            expected = "a root with mass: leave `base` out, or make the robot's first link the root"
        raise robot.error(place, found, expected)
    if root.reference.name == WORLD:
        found = f"a root link named {WORLD!r} with {root.links[0].mass:g} kg"
        expected = "another name: this one is the world's, which nothing moves"
        raise robot.error(place, found, expected)


def _add_world(mech: Mechanism, group: LinkGroup, poses: dict[str, Pose]) -> dict[str, Pose]:
    """Add links that are fixed to the world as frames and shapes of it; return their poses."""
    for link in group.links:
        pose = poses[link.name]
        if link.name != WORLD:
            mech.add_frame(link.name, WORLD, pose.position, pose.orientation)
        if link.mass:
            message = f"fixed to the world: its {link.mass:g} kg do not move and are not simulated"
            mech.notes.append(Note("merged", f"link {link.name!r}", message))
        for collision in link.collisions:
            message = "fixed to the world, of which only the ground touches"
            mech.notes.append(Note("ignored", collision.place, message))
    for shape in visual_shapes(group, poses, np.zeros(3)):
        mech.add_world_shape(shape)
    return {link.name: poses[link.name] for link in group.links}


def _add_body(
    mech: Mechanism,
    robot: Robot,
    group: LinkGroup,
    names: dict[UrdfCollision, str],
    poses: dict[str, Pose],
    missing_meshes: str,
    inertias: str,
) -> dict[str, Pose]:
    """Add the body of a group of links, with `names` of its shapes; return their poses in it."""
    relative = relative_poses(group, poses)
    body = NO_MASS
    if group.mass:
        body = merge_masses(robot.path, group, relative, inertias, mech.notes)
    name = group.reference.name
    pose = poses[name]
    drawn = tuple(visual_shapes(group, relative, body.center))
    position = pose.position + pose.rotation @ body.center
    mech.add_body(name, body.mass, body.inertia, position, pose.orientation, drawn)
    places = {each: move_origin(pose, body.center) for each, pose in relative.items()}
    for link in group.links:
        if link.name == WORLD:
            message = f"base='floating': part of {name!r}, not the world; it has no frame"
            mech.notes.append(Note("merged", f"link {WORLD!r}", message))
        elif link.name != name:
            frame = places[link.name]
            mech.add_frame(link.name, name, frame.position, frame.orientation)
    if group.mass:
        add_collisions(mech, robot, group, names, relative, body.center, missing_meshes)
        return places
    for collision in (each for link in group.links for each in link.collisions):
        mech.notes.append(Note("ignored", collision.place, "a link without mass touches nothing"))
    return places


def _add_joint(
    mech: Mechanism, joint: TreeJoint, owners: dict[str, str], pose: Pose, driven: bool
) -> None:
    """Add a moving joint, `driven` by a motor or not; `pose` is its frame in the world at zero."""
    if not joint.effort and not driven:
        found = "no <limit effort>" if joint.effort is None else "effort 0"
        mech.notes.append(Note("passive", f"joint {joint.name!r}", f"{found}: nothing drives it"))
    mech.add_joint(
        joint.name,
        joint.type,
        owners[joint.parent],
        owners[joint.child],
        pose.position,
        pose.rotate_axis(joint.axis),
        axis2=None if joint.axis2 is None else pose.rotate_axis(joint.axis2),
        **joint.arguments(),
    )
    if joint.pitch is not None:
        angle, distance = f"{joint.name}.angle", f"{joint.name}.distance"
        mech.add_coupling(joint.name, "screw", distance, angle, joint.pitch)


def _add_mimic(mech: Mechanism, robot: Robot, joint: TreeJoint, mimic: Mimic) -> None:
    for each in (joint, robot.joints[mimic.joint]):
        if each.joint_type.dofs != 1:
            found = f"the {each.type} joint {each.name!r}"
            raise robot.error(mimic.place, found, "joints of one degree of freedom")
    if mimic.factor == 0.0:
        raise robot.error(mimic.place, "multiplier 0", "another number, or a fixed joint")
    mech.add_coupling(joint.name, "mimic", joint.name, mimic.joint, mimic.factor, mimic.offset)


def _add_additions(
    mech: Mechanism, robot: Robot, owners: dict[str, str], places: dict[str, Pose]
) -> None:
    """Add the elements that URDF lacks.

    Args:
        mech: with all bodies and joints.
        robot: of the file.
        owners: body (or "world") of each link.
        places: pose of each link in the frame of its body, or in the world.

    Raises:
        MechanismError: values that such an element cannot have.
        UrdfError: a fixed joint.
    """
    owners = {WORLD: WORLD} | owners
    places = {WORLD: IDENTITY} | places
    fixed = {name for name, joint in robot.joints.items() if joint.is_fixed}
    for each in robot.additions:
        values = dict(each.values)
        for name in fixed & {values.get("joint"), values.get("other")}:
            raise robot.error(each.place, f"the fixed joint {name!r}", "a joint that moves")
        for name, kind in ADDITIONS[each.tag].items():
            if kind in (POINT, DIRECTION):
                pose = places[each.values[ENDS.get(name, "body")]]
                turned = pose.rotation @ values[name]
                values[name] = turned if kind == DIRECTION else pose.position + turned
        ends = [end for end in ("body", "a", "b") if end in values]
        bodies: dict[str, Any] = {end: owners[values[end]] for end in ends}
        if each.tag == "pair" and not bodies.items() <= values.items():
            message = f"lets all shapes of {bodies['a']!r} and {bodies['b']!r} touch"
            mech.notes.append(Note("changed", each.place, message))
            if {*bodies.values()} in map(set, mech.pairs):
                continue
        values |= bodies
        if "model" in values:
            values["model"] = DCMotor(**values["model"])
        getattr(mech, f"add_{each.tag}")(**values)
