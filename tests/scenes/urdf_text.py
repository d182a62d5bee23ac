"""Pieces of URDF text for the tests."""

INERTIAL = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
LIMIT = '<limit lower="-1" upper="2" effort="3" velocity="4"/>'


def link(name: str, inside: str = INERTIAL) -> str:
    return f'<link name="{name}">{inside}</link>'


def joint(name: str, type: str, parent: str, child: str, inside: str = LIMIT) -> str:
    return f'<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


HINGE = '<axis xyz="0 1 0"/>'
# Loops: two arms of 1 m on the world, 2 m apart, and a bar on the first one that reaches to the
# second one's end.
ARMS = (
    link("world", ""),
    link("left"),
    link("right"),
    link("bar"),
    joint("a", "continuous", "world", "left", HINGE),
    joint("b", "continuous", "world", "right", HINGE + '<origin xyz="2 0 0"/>'),
    joint("c", "continuous", "left", "bar", HINGE + '<origin xyz="0 0 1"/>'),
)


def loop(
    type="revolute",
    first='link="bar" xyz="2 0 0"',
    second='link="right" xyz="0 0 1"',
    inside=HINGE,
    name="d",
):
    return f'<loop_joint name="{name}" type="{type}">{inside}<link1 {first}/><link2 {second}/></loop_joint>'


def constraint(inside, type="revolute"):
    return f'<constraint name="d" type="{type}"><parent link="bar"/><child link="right"/>{inside}</constraint>'


def ball(inside, prefix="drake:"):
    return f"<{prefix}ball_constraint>{inside.replace('<', f'<{prefix}ball_constraint_')}</{prefix}ball_constraint>"
