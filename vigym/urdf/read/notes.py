"""Notes about elements of a URDF file that are not simulated."""

from vigym.urdf.read.xml import Node

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
}

_CONTACT_REASONS = {
    "rolling_friction": "nothing resists rolling",
    "friction_anchor": "contacts stick without it",
    "stiffness": "contacts are rigid",
    "damping": "contacts are rigid",
    "contact_cfm": "contacts are rigid",
    "contact_erp": "contacts are rigid",
}

# Loop joints, read under <robot> only. Ignoring one would change the mechanism.
LOOP_TAGS = {"loop_joint", "constraint", "ball_constraint"}


def note_ignored(node: Node, known: set[str]) -> None:
    """Add a note about every child of `node` whose tag is not `known`.

    Raises:
        UrdfError: a loop joint in an unsupported place or form, or an element of xacro.
    """
    node.check_expanded()
    reasons = _CONTACT_REASONS if node.tag == "contact" else _REASONS
    for child in node.others(known):
        if child.tag in LOOP_TAGS or (child.tag == "gazebo" and child.children("joint")):
            raise child.error("a joint that closes a loop", "it as <loop_joint> under <robot>")
        child.note("ignored", reasons.get(child.tag, "not known to this importer"))
