"""The elements and attributes of SDF that are read, in one table; all others become notes."""

from vigym.mechanism.elements.shapes import SHAPES, size_fields
from vigym.urdf.read.dialect import Known
from vigym.urdf.read.xml import Node

BALL = "drake:ball_constraint"
BALL_PARTS = [f"{BALL}_{part}" for part in ("body_A", "body_B", "p_AP", "p_BQ")]
OTHER_SHAPES = ("plane", "ellipsoid", "cone", "polyline", "heightmap", "image", "empty")
_AXIS = Known("", "xyz use_parent_model_frame limit dynamics mimic")

# Elements by tag, or by the tags of parent and element; those without a row hold a value alone.
TABLE = {
    "sdf": Known("version", "model world"),
    "world": Known("name", "model"),
    "model": Known("name", f"pose static link joint frame {BALL}"),
    "frame": Known("name attached_to", "pose"),
    "pose": Known("relative_to frame degrees rotation_format"),
    "link": Known("name", "pose inertial visual collision"),
    "inertial": Known("", "pose mass inertia"),
    "inertia": Known("", "ixx ixy ixz iyy iyz izz"),
    "visual": Known("name", "pose geometry material"),
    "collision": Known("name", "pose geometry surface"),
    "geometry": Known("", " ".join((*SHAPES, *OTHER_SHAPES))),
    "material": Known("", "diffuse ambient"),
    "surface": Known("", "friction bounce"),
    "surface/friction": Known("", "ode"),
    "friction/ode": Known("", "mu mu2 fdir1"),
    "bounce": Known("", "restitution_coefficient"),
    "joint": Known(
        "name type",
        "pose parent child axis axis2 gearbox_ratio gearbox_reference_body thread_pitch "
        "screw_thread_pitch",
    ),
    "axis": _AXIS,
    "axis2": _AXIS,
    "xyz": Known("expressed_in"),
    "limit": Known("", "lower upper effort velocity"),
    "dynamics": Known("", "damping friction spring_stiffness spring_reference"),
    "mimic": Known("joint", "multiplier offset reference"),
    BALL: Known("", " ".join(BALL_PARTS)),
} | {
    kind: Known("", " ".join(size.name.replace("path", "uri") for size in size_fields(shape)))
    for kind, shape in SHAPES.items()
}
# Elements without which the mechanism would be another one: what to write instead.
_REFUSED = {
    "model/model": "one model: join its links and joints to those of the outer one",
    "model/include": "the links and joints themselves, in one model",
    "world/joint": "a joint of a model",
    "model/drake:joint": "a <joint>",
    "model/drake:linear_bushing_rpy": "a <joint> to a link that has another parent",
    "inertial@auto": "the mass and the inertia as numbers",
}
_UNKNOWN = "not known to this importer"
# Reasons by tag or attribute; others get a general one.
_REASONS = {
    "canonical_link": "the root is the link that is no joint's child",
    "contact": "contacts are rigid",
    "gravity": "gravity acts on all bodies, along -z",
    "include": "other files are not read",
    "physics": "settings of other simulators",
    "placement_frame": "the pose is that of the model's own frame",
    "plugin": "programs of other simulators are not run",
    "self_collide": "self_collision=True makes bodies touch each other",
    "sensor": "sensors are not simulated",
    "submesh": "all of the mesh is read",
}


def note_unknown(node: Node, parent: str = "") -> None:
    """Note attributes and children that are not read, remove them, and go on with the others.

    Args:
        node: an element that is read.
        parent: tag of the element around it.

    Raises:
        UrdfError: an element without which the mechanism would be another one.
    """
    known = TABLE.get(f"{parent}/{node.tag}") or TABLE.get(node.tag, Known())
    if node.tag == "friction" and parent == "dynamics":
        known = Known()
    for attribute in [name for name in node.element.attrib if name not in known.attributes.split()]:
        value = node.element.attrib.pop(attribute)
        _check_refused(node, f"{node.tag}@{attribute}", f"{attribute}={value!r}")
        reason = _REASONS.get(attribute, _UNKNOWN)
        node.note("ignored", f"{attribute}={value!r}: {reason}")
    for child in node.every():
        tag = str(child.element.tag)
        _check_refused(child, f"{node.tag}/{tag}", "an element that is not read")
        if tag not in known.children.split():
            child.note("ignored", _REASONS.get(child.tag, _UNKNOWN))
            node.element.remove(child.element)
        elif tag not in OTHER_SHAPES:  # the reader drops the whole shape
            note_unknown(child, node.tag)


def _check_refused(node: Node, key: str, found: str) -> None:
    if key in _REFUSED:
        raise node.error(found, _REFUSED[key])
