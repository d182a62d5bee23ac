"""load_urdf: from a file to a Mechanism."""

import os

import numpy as np

from vigym.mechanism.elements.bodies import WORLD, Ground, Note
from vigym.mechanism.elements.errors import AssemblyError, MechanismError, UrdfError
from vigym.mechanism.elements.joints import JOINT_TYPES
from vigym.mechanism.mechanism import Mechanism
from vigym.spatial import Pose
from vigym.urdf.convert.collisions import add_collisions, add_pairs
from vigym.urdf.convert.cross_check import cross_check
from vigym.urdf.convert.loops import add_loops, report_gaps
from vigym.urdf.convert.merge import Cluster, clusters, combine, places, shapes
from vigym.urdf.convert.tree import link_order, zero_poses
from vigym.urdf.read.links import read
from vigym.urdf.read.records import Mimic, Robot, UrdfJoint
from vigym.urdf.read.xml import read_robot

_BASES = ("fixed", "floating", None)
_MISSING = ("error", "report")


def load_urdf(
    path: str | os.PathLike[str],
    base: str | None = None,
    ground: bool | Ground | None = None,
    self_collision: bool = False,
    missing_meshes: str = "error",
) -> Mechanism:
    """Return the mechanism a URDF file describes, at the file's zero, with the root link's frame in the world's.

    Links that fixed joints hold together are one body, named after its first link with mass and with that link's
    axes; the other links are frames on it. Joints keep their names and the order of the file. Nothing is printed:
    `Mechanism.report` tells what was changed, dropped or is not simulated. Elements that close loops (`<loop_joint>`,
    `<constraint>`, `<drake:ball_constraint>`, see `vigym.urdf.read.loops`) become closing joints behind all others;
    where their halves are apart at the file's zero, simulators start assembled. `<mimic>` is a coupling named like its
    joint.

    <collision> elements touch the ground: with the friction of <contact>, of Gazebo's <mu1>, <mu2>, or 0.8; a sphere of
    radius 0 is a point, a mesh (OBJ, STL) its convex hull. They are named as written, or like their link where that is
    not unique. A mesh that is only drawn and cannot be read is left out and reported.

    Args:
        path: the file.
        base: "fixed" welds the root to the world, "floating" lets it go; None does as the file says: a root link
            called `world`, or one without mass in it and in what is fixed to it, is the world, any other floats.
        ground: as in `Mechanism`; None: no ground, and nothing touches one.
        self_collision: whether bodies that no joint holds together touch each other, by spheres, capsules and boxes.
        missing_meshes: of <collision>, those that cannot be read: "error", or "report": they are left out.

    Raises:
        UrdfError: a file that cannot be read truthfully; names file, element, what was found and expected.
        AssemblyError: loops that cannot be closed; names file, joint and the gap that is left.
        MechanismError: a wrong `ground`.
    """
    if base not in _BASES:
        raise UrdfError(f"{os.fspath(path)}: base: found {base!r}, expected 'fixed', 'floating' or None")
    if missing_meshes not in _MISSING:
        found = f"{os.fspath(path)}: missing_meshes: found {missing_meshes!r}"
        raise UrdfError(f"{found}, expected 'error' or 'report'")
    robot = read(read_robot(path))
    order = link_order(robot)
    cross_check(robot, order)
    mech = Mechanism(ground=False if ground is None else ground, name=robot.name)
    mech.report += robot.report
    try:
        _fill(mech, robot, clusters(robot, order), zero_poses(order), base, self_collision, missing_meshes)
    except UrdfError:
        raise
    except AssemblyError as error:
        raise AssemblyError(f"{robot.path}: {error}") from error
    except MechanismError as error:
        raise UrdfError(f"{robot.path}: {error}") from error
    return mech


def _fill(
    mech: Mechanism,
    robot: Robot,
    groups: list[Cluster],
    poses: dict[str, Pose],
    base: str | None,
    self_collision: bool,
    missing_meshes: str,
) -> None:
    owners: dict[str, str] = {}  # link -> body
    for cluster in groups:
        fixed = cluster.joint is None and _is_world(robot, cluster, base)
        body = _add_world(mech, cluster, poses) if fixed else _add_body(mech, robot, cluster, poses, missing_meshes)
        owners |= dict.fromkeys((link.name for link in cluster.links), body)
    for joint in robot.joints.values():
        if joint.type == "fixed":
            message = f"fixed: link {joint.child!r} is part of {owners[joint.child]!r}"
            mech.report.append(Note("merged", f"joint {joint.name!r}", message))
        else:
            _add_joint(mech, joint, owners, poses[joint.child])
    add_loops(mech, robot, owners, poses)
    for joint in robot.joints.values():
        if joint.mimic is not None:
            _add_mimic(mech, robot, joint, joint.mimic)
    report_gaps(mech, robot)
    if self_collision:
        add_pairs(mech)
    if mech.ground is None and mech.collisions:
        found = f"<collision> of {len(mech.collisions)} shapes"
        mech.report.append(Note("ignored", found, "no ground is given, and they touch none"))


def _is_world(robot: Robot, root: Cluster, base: str | None) -> bool:
    if base == "floating" and not root.mass:
        found = f"no mass in the root link {root.links[0].name!r} and what is fixed to it"
        raise UrdfError(f"{robot.path}: base='floating': found {found}, expected a root with mass")
    return base == "fixed" or (base is None and (root.links[0].name == WORLD or not root.mass))


def _add_world(mech: Mechanism, cluster: Cluster, poses: dict[str, Pose]) -> str:
    """Fix a cluster to the world: its links are frames and scenery there."""
    for link in cluster.links:
        if link.name != WORLD:
            mech.add_frame(link.name, WORLD, poses[link.name].position, poses[link.name].orientation)
        if link.mass:
            message = f"fixed to the world: its {link.mass:g} kg do not move and are not simulated"
            mech.report.append(Note("merged", f"link {link.name!r}", message))
        for touch in link.touches:
            mech.report.append(Note("ignored", touch.place, "fixed to the world, of which only the ground touches"))
    for shape in shapes(cluster, poses, np.zeros(3)):
        mech.add_world_shape(shape)
    return WORLD


def _add_body(mech: Mechanism, robot: Robot, cluster: Cluster, poses: dict[str, Pose], missing_meshes: str) -> str:
    if not cluster.mass:
        above = f" on the moving joint {cluster.joint.name!r}" if cluster.joint else ""
        found = f"no mass in it and what is fixed to it{above}"
        raise UrdfError(f"{robot.path}: link {cluster.links[0].name!r}: found {found}, expected mass > 0")
    relative = places(cluster, poses)
    rigid = combine(robot, cluster, relative)
    name, home = cluster.carrier.name, poses[cluster.carrier.name]
    drawn = tuple(shapes(cluster, relative, rigid.center))
    position = home.position + home.rotation @ rigid.center
    mech.add_body(name, rigid.mass, rigid.inertia, position, home.orientation, drawn)
    for link in cluster.links:
        if link.name != name:
            pose = relative[link.name]
            mech.add_frame(link.name, name, pose.position - rigid.center, pose.orientation)
    add_collisions(mech, robot, cluster, relative, rigid, missing_meshes)
    return name


def _add_joint(mech: Mechanism, joint: UrdfJoint, owners: dict[str, str], pose: Pose) -> None:
    """Add a moving joint; `pose` is its frame in the world at zero."""
    if not joint.effort:
        found = "no <limit effort>" if joint.effort is None else "effort 0"
        mech.report.append(Note("passive", f"joint {joint.name!r}", f"{found}: nothing drives it"))
    mech.add_joint(
        joint.name,
        joint.type,
        owners[joint.parent],
        owners[joint.child],
        pose.position,
        pose.rotate_axis(joint.axis),
        limits=joint.limits,
        damping=joint.damping,
        stiffness=joint.stiffness,
        rest=joint.rest,
        effort=joint.effort,
        friction=joint.friction,
        velocity=joint.velocity,
    )


def _add_mimic(mech: Mechanism, robot: Robot, joint: UrdfJoint, mimic: Mimic) -> None:
    if mimic.joint not in robot.joints:
        raise robot.error(mimic.place, f"unknown joint {mimic.joint!r}", "the name of a joint")
    for name in (joint.name, mimic.joint):
        type = robot.joints[name].type
        if JOINT_TYPES[type].dofs != 1:
            raise robot.error(mimic.place, f"the {type} joint {name!r}", "joints of one freedom")
    mech.add_coupling(joint.name, "mimic", joint.name, mimic.joint, mimic.factor, mimic.offset)
