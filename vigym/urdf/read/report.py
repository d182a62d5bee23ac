"""What the importer says about elements it does not simulate."""

from vigym.mechanism.elements.bodies import Note
from vigym.urdf.read.xml import Node

# What becomes of an element; all others are named without a reason.
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

_OF_CONTACTS = {
    "rolling_friction": "nothing resists rolling",
    "friction_anchor": "contacts stick without it",
    "stiffness": "contacts are rigid",
    "damping": "contacts are rigid",
    "contact_cfm": "contacts are rigid",
    "contact_erp": "contacts are rigid",
}

# Elements that tie links together, read under <robot> alone. Leaving one out would be another mechanism.
LOOPS = {"loop_joint", "constraint", "ball_constraint"}


def ignored(node: Node, known: set[str]) -> list[Note]:
    """Return a report for every child of `node` that is not known.

    Raises:
        UrdfError: a child that closes a loop, in a place or form that is not read.
    """
    entries, reasons = [], _OF_CONTACTS if node.tag == "contact" else _REASONS
    for child in node.others(known):
        if child.tag in LOOPS or (child.tag == "gazebo" and child.children("joint")):
            raise child.error("a joint that closes a loop", "it as <loop_joint> under <robot>")
        entries.append(Note("ignored", child.place, reasons.get(child.tag, "not known to this importer")))
    return entries
