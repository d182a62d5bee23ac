"""Text of an MJCF file, in which MuJoCo has the mechanism: the counterpart of `load_mjcf`.

Bodies have the frames of the mechanism, at the centres of mass, and joints the names of its
coordinates. A ball that closes a loop is a <connect>. A hinge without forces is two of them on its
axis, or one where the tree holds the axis already. A closing joint of any other type, or with
forces, carries a part of its child, with half of the mass and inertia, welded to the rest.

An element that MJCF lacks is an error if the motion depends on it, else a comment at the top.
"""

import os
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from vigym.files import write_file
from vigym.mechanism.content import Elements
from vigym.mechanism.elements import checks
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.shapes import Mesh
from vigym.mechanism.topology.analysis import analyse_structure
from vigym.mjcf.write.nested import (
    Nested,
    element,
    friction_of,
    is_cut,
    is_massless,
    meshes,
    part_name,
)
from vigym.spatial import IDENTITY, Pose, rotation_matrix

INTEGRATORS = ("Euler", "implicit", "implicitfast", "RK4")


def to_mjcf(
    mech: Elements,
    path: str | os.PathLike[str] | None = None,
    timestep: float = 0.002,
    integrator: str = "implicitfast",
) -> str:
    """Return the text of a file of a mechanism; see `Mechanism.to_mjcf`."""
    place = f"mechanism {mech.name!r} as MJCF"
    step = checks.require_positive(timestep, f"{place}: timestep [s]")
    checks.require_one_of(integrator, INTEGRATORS, f"{place}: integrator")
    for fault in _faults(mech):
        raise MechanismError(f"{place}: {fault}")
    nested = Nested(mech)
    equalities = [*_loops(nested), *_couplings(mech)]  # sites of loops and springs are in bodies
    tendons = [_spring(nested, name) for name in mech.springs]
    root = element("mujoco", model=mech.name)
    root.extend(ET.Comment(f" {each} ".replace("--", "- -")) for each in _comments(mech))
    root.append(element("compiler", angle="radian", inertiafromgeom="false"))
    root.append(element("option", timestep=step, gravity=mech.gravity, integrator=integrator))
    root.append(element("asset", *meshes(mech)))
    root.append(nested.elements[WORLD])
    root.append(element("equality", *equalities))
    root.append(element("tendon", *tendons))
    root.append(element("actuator", *_actuators(nested)))
    _require_unique_names(root, place)
    ET.indent(root)
    text = ET.tostring(root, encoding="unicode") + "\n"
    if path is not None:
        write_file(path, text)
    return text


def _require_unique_names(root: ET.Element, place: str) -> None:
    """Raise MechanismError for a name of the mechanism that is also one of the file's own."""
    for tag in ("body", "joint", "site"):
        names = Counter(each.get("name") for each in root.iterfind(f".//worldbody//{tag}[@name]"))
        for name, count in names.items():
            if count > 1:
                raise MechanismError(
                    f"{place}: {tag} {name!r}: found {count} of that name in the file, expected "
                    "one; give the element another name"
                )


def _loops(nested: Nested) -> Iterator[ET.Element]:
    """Yield the equalities that close loops, with sites for their ends."""
    mech = nested.mech
    rows = analyse_structure(mech).loop_constraints
    for joint in mech.closing_joints:
        closed = nested.pose(joint.parent).inverse @ nested.closed_pose(joint)
        if is_cut(joint, mech):
            yield _weld(f"{joint.name}:weld", part_name(joint), joint.child, IDENTITY)
        elif not joint.dofs:
            yield _weld(joint.name, joint.parent, joint.child, closed)
        else:
            yield _connect(nested, joint, joint.name, np.zeros(3))
            if joint.type != "spherical" and len(rows[joint.name].rotations):
                lever = mech.bodies[joint.child].gyration
                yield _connect(nested, joint, f"{joint.name}:axis", lever * joint.axis)


def _weld(name: str, first: str, second: str, pose: Pose) -> ET.Element:
    relative = (*pose.position, *pose.orientation)
    return element("weld", name=name, body1=first, body2=second, relpose=relative)


def _connect(nested: Nested, joint: Joint, name: str, shift: Array) -> ET.Element:
    """Return the <connect> of a point that is shifted from the joint in the world (3,) [m]."""
    turned = rotation_matrix(joint.child_rotation) @ shift
    ends = {joint.parent: joint.position + shift, joint.child: joint.child_position + turned}
    own = {}
    for body, point in ends.items():
        pose = nested.pose(body)
        own[body] = pose.rotation.T @ (point - pose.position)
    return element("connect", name=name, **_sites(nested, f"joint {name}", own))


def _sites(nested: Nested, name: str, ends: dict[str, Array]) -> dict[str, str]:
    """Add sites at points of two bodies, in their frames (3,) [m]; return their names."""
    names = {"site1": f"{name}:1", "site2": f"{name}:2"}
    for site, (body, point) in zip(names.values(), ends.items(), strict=True):
        nested.add_site(site, body, point)
    return names


def _spring(nested: Nested, name: str) -> ET.Element:
    """Return the tendon of a spring between two points, with sites for its ends."""
    spring = nested.mech.springs[name]
    ends = {spring.a: spring.point_a, spring.b: spring.point_b}
    sites = [element("site", site=each) for each in _sites(nested, f"spring {name}", ends).values()]
    forces = {"stiffness": spring.stiffness, "damping": spring.damping}
    return element("spatial", *sites, name=name, springlength=spring.rest_length, **forces)


def _couplings(mech: Elements) -> Iterator[ET.Element]:
    for each in mech.couplings.values():
        numbers = (each.offset, each.ratio, 0.0, 0.0, 0.0)
        ends = {"joint1": each.joint, "joint2": each.other}
        yield element("joint", name=each.name, **ends, polycoef=numbers)


def _actuators(nested: Nested) -> Iterator[ET.Element]:
    """Yield actuators of joints without a motor, whose control is a force, then the motors."""
    mech = nested.mech
    for joint in mech.actuated_joints:
        for name in joint.velocity_names if joint.name not in mech.motors else ():
            bound = _range(joint.effort or 0.0)
            yield element("motor", name=name, ctrlrange=bound, **nested.actuators[name])
    for name, motor in mech.motors.items():
        if motor.effort:
            law = {"gainprm": motor.kp or motor.kd, "biasprm": (0.0, -motor.kp, -motor.kd)}
            ranges = {"forcerange": _range(motor.effort), "ctrlrange": motor.targets}
            yield element("general", name=name, joint=name, biastype="affine", **law, **ranges)


def _range(largest: float) -> tuple[float, float] | None:
    return None if np.isinf(largest) else (-largest, largest)


def _faults(mech: Elements) -> Iterator[str]:
    """Yield elements that MJCF lacks, or this module does not write, and the motion depends on."""
    lacking: dict[str, Any] = {
        "potential": mech.potentials,
        "velocity constraint": mech.velocity_constraints,
        "curve, surface or custom joint": mech.tracks,
        "prescribed motion of": mech.motions,
        "skate": mech.skates,
        "wheel": mech.wheels,
        "pair of bodies that touch": mech.pairs,
    }
    for kind, names in lacking.items():
        for name in names:
            yield f"{kind} {name!r}: found one, expected none"
    if mech.ground is not None and mech.ground.terrain is not None:
        yield "ground: found a terrain, expected a plane"
    for each in mech.ground_collisions:
        friction = friction_of(mech, each).tolist()
        if len(set(friction)) > 1:
            yield f"collision {each.name!r}: found friction {friction}, expected one number"
        if each.restitution:
            yield f"collision {each.name!r}: found restitution {each.restitution:g}, expected 0"
    for name, motor in mech.motors.items():
        if motor.model is not None:
            yield f"motor of joint {name!r}: found an electric motor, expected none"
    for joint in mech.joints.values():
        limits = joint.limits
        if limits is not None and (limits[:, 0] == limits[:, 1]).any():
            yield f"joint {joint.name!r}: found limits {limits.tolist()}, expected lower < upper"
    yield from _massless_faults(mech)


def _massless_faults(mech: Elements) -> Iterator[str]:
    """Yield bodies without mass that are more than a link between two joints."""
    ends = Counter(joint.parent for joint in mech.joints.values())
    ends.update(joint.child for joint in mech.closing_joints)
    ends.update(frame.body for frame in mech.frames.values())
    ends.update(body for spring in mech.springs.values() for body in (spring.a, spring.b))
    balls = {
        body
        for joint in mech.joints.values()
        if joint.joint_type.has_quaternion
        for body in (joint.parent, joint.child)
    }
    for name in (joint.child for joint in mech.tree_joints if is_massless(mech, joint)):
        if ends[name] != 1 or name in balls or mech.bodies[name].shapes:
            expected = "mass, or nothing on it but one joint, and neither of its joints a ball"
            yield f"body {name!r}: found no mass, expected {expected}"


def _comments(mech: Elements) -> Iterator[str]:
    """Yield what is left out, and what has another form."""
    for joint in mech.tree_joints:
        if is_massless(mech, joint):
            yield f"body {joint.child!r} has no mass: its joint is one of the next body"
    for joint in mech.closing_joints:
        if is_cut(joint, mech):
            yield f"joint {joint.name!r} carries a part of {joint.child!r}, welded to the rest"
    for name, motor in mech.motors.items():
        if mech.joints[name].velocity is not None:
            yield f"joint {name!r}: the velocity limit of its motor is left out"
        if not motor.effort:
            yield f"joint {name!r}: its motor, without effort, is left out"
    for body in mech.bodies.values():
        if any(isinstance(shape, Mesh) for shape in body.shapes):
            yield f"body {body.name!r}: drawn meshes are left out"
    for name in mech.starts:
        yield f"start {name!r} is left out"
