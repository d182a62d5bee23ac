"""The elements and attributes of URDF that are read, in one table; all others become notes."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from vigym.mechanism.elements.errors import UrdfError
from vigym.mechanism.elements.shapes import SHAPES, size_fields
from vigym.urdf.read.xml import Node

UNSUPPORTED_SHAPES = ("plane", "cdf", "heightmap")  # of other programs
QUATERNION = "quat_xyzw"
_QUATERNION_SINCE = (1, 1)  # version of URDF
_POSE = f"xyz rpy {QUATERNION}"


class Known(NamedTuple):
    """What is read of an element: names of attributes, and tags of children, each as one text."""

    attributes: str = ""
    children: str = ""


TEXT, BODY = "text", "name of a link"
POINT, DIRECTION = "three coordinates", "three components"
ONE, TWO = "one number", "two numbers"
ANY = "numbers"
# Elements that URDF lacks, for reader and writer. Each stands for a call of `Mechanism.add_TAG`:
# attributes are its arguments, of which that for the link or joint around the element is left out.
# Points and directions are those in the frame of a link.
ADDITIONS: dict[str, Mapping[str, str]] = {
    "spring": {
        **{"name": TEXT, "a": BODY, "b": BODY, "point_a": POINT, "point_b": POINT},
        **dict.fromkeys(("stiffness", "rest_length", "damping"), ONE),
    },
    "pair": {"a": BODY, "b": BODY},
    "coupling": {
        **dict.fromkeys(("name", "type", "joint", "other"), TEXT),
        **dict.fromkeys(("ratio", "offset"), ONE),
    },
    "skate": {"name": TEXT, "position": POINT, "direction": DIRECTION},
    "wheel": {"name": TEXT, "position": POINT, "axis": DIRECTION, "radius": ONE},
    "motor": {**dict.fromkeys(("kp", "kd", "effort"), ONE), "targets": TWO},
    "model": {  # of a motor: `vigym.mechanism.elements.motors.DCMotor`
        **dict.fromkeys(("voltage", "resistance", "torque_constant", "viscous"), ONE),
        **dict.fromkeys(("currents", "torques"), ANY),
    },
}
ENDS = {"point_a": "a", "point_b": "b"}  # argument for the link of a point; "body" for all others
# Elements by tag, wherever they are. Those in DRAKE may have the prefix of Drake.
TABLE = {
    "robot": Known(
        "name version",
        "link joint material gazebo mujoco loop_joint constraint ball_constraint "
        "spring pair coupling",
    ),
    "link": Known("name", "inertial visual collision contact skate wheel"),
    "inertial": Known("", "origin mass inertia"),
    "mass": Known("value"),
    "inertia": Known("ixx ixy ixz iyy iyz izz"),
    "visual": Known("name", "origin geometry material"),
    "collision": Known("name touches", "origin geometry contact"),
    "geometry": Known("", " ".join((*SHAPES, *UNSUPPORTED_SHAPES))),
    "material": Known("name", "color"),
    "color": Known("rgba"),
    "contact": Known("", "lateral_friction spinning_friction restitution"),
    "lateral_friction": Known("value across backward direction"),
    "spinning_friction": Known("value"),
    "restitution": Known("value"),
    "origin": Known(_POSE),
    "joint": Known(
        "name type",
        "origin parent child axis axis2 limit dynamics mimic motor screw_thread_pitch",
    ),
    "screw_thread_pitch": Known("value"),
    "parent": Known("link"),
    "child": Known("link"),
    "axis": Known("xyz"),
    "limit": Known("lower upper effort velocity"),
    "dynamics": Known("damping friction spring_stiffness spring_reference armature"),
    "mimic": Known("joint multiplier offset"),
    "gazebo": Known("reference", "mu1 mu2 fdir1"),
    "mu1": Known("value"),
    "mu2": Known("value"),
    "fdir1": Known("value"),
    "mujoco": Known("", "compiler"),
    "compiler": Known("meshdir strippath"),
    "loop_joint": Known("name type", "link1 link2 axis axis2 limit dynamics motor"),
    "link1": Known(f"link {_POSE}"),
    "link2": Known(f"link {_POSE}"),
    "axis2": Known("xyz"),
    "constraint": Known(
        "name type", "parent child parent_origin child_origin parent_axis child_axis"
    ),
    "parent_origin": Known(_POSE),
    "child_origin": Known(_POSE),
    "parent_axis": Known("xyz"),
    "child_axis": Known("xyz"),
    "ball_constraint": Known(
        "name", " ".join(f"ball_constraint_{part}" for part in ("body_A", "body_B", "p_AP", "p_BQ"))
    ),
    "ball_constraint_body_A": Known("name"),
    "ball_constraint_body_B": Known("name"),
    "ball_constraint_p_AP": Known("value"),
    "ball_constraint_p_BQ": Known("value"),
} | {
    kind: Known(" ".join(size.name.replace("path", "filename") for size in size_fields(shape)))
    for kind, shape in SHAPES.items()
}
TABLE |= {
    tag: Known(" ".join(kinds), "model" if tag == "motor" else "")
    for tag, kinds in ADDITIONS.items()
}
DRAKE = {tag for tag in TABLE if tag.startswith("ball_constraint")}
DRAKE |= {"joint", "screw_thread_pitch"}
# Loop joints, read under <robot> only. Ignoring one would change the mechanism.
LOOP_TAGS = {"loop_joint", "constraint", "ball_constraint", "linear_bushing_rpy"}

_UNKNOWN = "not known to this importer"
# Reasons by tag; other unknown tags get a general one.
_REASONS = {
    "transmission": "actuators are the joints with <limit effort>",
    "gazebo": "a simulator's own settings; only the friction in them is read",
    "sensor": "sensors are not simulated",
    "safety_controller": "soft limits are not enforced",
    "calibration": "no meaning for motion",
    "joint_properties": "not part of URDF; damping belongs into <dynamics>",
    "texture": "shapes are drawn in one colour",
    "specular": "shapes are drawn in one colour",
    QUATERNION: 'read only in files that begin with <robot version="1.1"> or a later version',
}
_CONTACT_REASONS = {
    "rolling_friction": "nothing resists rolling",
    "friction_anchor": "contacts stick without it",
    "stiffness": "contacts are rigid",
    "damping": "contacts are rigid",
    "contact_cfm": "contacts are rigid",
    "contact_erp": "contacts are rigid",
}


def note_unknown(node: Node, version: tuple[int, ...]) -> Iterator[UrdfError]:
    """Note all attributes and children of an element that are not read, and so on for its children.

    Attributes that are not read are removed from it.

    Args:
        node: an element of the table.
        version: of URDF.

    Yields:
        Errors of elements that must not be ignored: loop joints in an unsupported place or form,
        elements of xacro.
    """
    known = TABLE[node.tag]
    attributes = set(known.attributes.split())
    if version < _QUATERNION_SINCE:
        attributes.discard(QUATERNION)
    for attribute in [name for name in node.element.attrib if name not in attributes]:
        reason = _REASONS.get(attribute, _UNKNOWN)
        node.note("ignored", f"{attribute}={node.element.attrib.pop(attribute)!r}: {reason}")
    if node.tag == "gazebo":
        node.note("ignored", _REASONS["gazebo"])
    yield from node.unexpanded()
    for child in node.every():
        is_known = child.tag in known.children.split() and (
            child.is_plain or (child.is_drake and child.tag in DRAKE)
        )
        if (child.tag in LOOP_TAGS and not is_known) or (
            child.tag == "gazebo" and child.children("joint")
        ):
            yield child.error("a joint that closes a loop", "it as <loop_joint> under <robot>")
        elif child.tag in UNSUPPORTED_SHAPES and is_known:
            continue  # the reader drops the whole shape
        elif is_known:
            yield from note_unknown(child, version)
        elif node.tag != "gazebo":
            reasons = _CONTACT_REASONS if node.tag == "contact" else _REASONS
            child.note("ignored", reasons.get(child.tag, _UNKNOWN))


def version_of(robot: Node) -> tuple[int, ...]:
    """Return the version of URDF that a file says it has; that without one is 1.0."""
    written = robot.optional_text("version") or "1.0"
    numbers = re.fullmatch(r"([0-9]{1,9})\.([0-9]{1,9})", written)
    if numbers is None:
        robot.note("changed", f"version={written!r} is read as 1.0")
    return tuple(map(int, numbers.groups())) if numbers else (1, 0)
