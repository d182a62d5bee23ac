"""The Minitaur's tree and its four closing joints as URDF text, with the dimensions and masses of its published model.

Zero is the standing pose: upper legs level, lower legs together. Every leg is a coaxial five-bar in
the plane of its yawed side chassis; the pin that joins two lower legs bridges the distance of their
planes.
"""

import math

UPPER, LOWER = 0.115, 0.2  # lengths [m]
HIP = 0.21
SIDE = 0.10
YAW = 0.0872665
PLANES = (-0.025, 0.04)  # of the right and the left linkage of a leg, beside its hip
FOLD = math.pi / 2 + math.asin(UPPER / LOWER)  # of the knee in the standing pose
MASS = 6.0


def _link(name, mass, size, center=(0.0, 0.0, 0.0)):
    x, y, z = (mass * (sum(s * s for s in size) - s * s) / 12 for s in size)
    return (
        f'<link name="{name}"><inertial><origin xyz="{_text(center)}"/><mass value="{mass!r}"/>'
        f'<inertia ixx="{x!r}" iyy="{y!r}" izz="{z!r}"/></inertial></link>'
    )


def _joint(name, type, parent, child, xyz, rpy=(0.0, 0.0, 0.0), effort=None):
    limit = "" if effort is None else f'<limit effort="{effort!r}" velocity="167.7"/>'
    axis = '<axis xyz="0 1 0"/>' if type == "continuous" else ""
    return (
        f'<joint name="{name}" type="{type}"><parent link="{parent}"/><child link="{child}"/>'
        f'<origin xyz="{_text(xyz)}" rpy="{_text(rpy)}"/>{axis}{limit}</joint>'
    )


def _text(values):
    return " ".join(repr(float(value)) for value in values)


def _leg(leg, chassis, x, closing):
    """One five-bar: two motors on the chassis, two linkages, the pin between their feet."""
    lines = []
    for side, plane, sign in (("R", PLANES[0], 1.0), ("L", PLANES[1], -1.0)):
        motor, upper, lower = (f"{part}_{leg}{side}" for part in ("motor", "upper", "lower"))
        lines += [
            _link(motor, 0.25, (0.086, 0.05, 0.086)),
            _joint(f"{motor}_mount", "fixed", chassis, motor, (x, plane, 0.0)),
            _link(upper, 0.05, (0.02, 0.01, UPPER), (0.0, 0.0, UPPER / 2)),
            _joint(
                f"{motor}_joint",
                "continuous",
                motor,
                upper,
                (0, 0, 0),
                (0, sign * math.pi / 2, 0),
                effort=3.5,
            ),
            _link(lower, 0.05, (0.02, 0.01, LOWER), (0.0, 0.0, LOWER / 2)),
            _joint(
                f"knee_{leg}{side}", "continuous", upper, lower, (0, 0, UPPER), (0, sign * FOLD, 0)
            ),
        ]
    half = (PLANES[1] - PLANES[0]) / 2
    lines.append(
        f'<loop_joint name="foot_{leg}" type="{closing}"><axis xyz="0 1 0"/>'
        f'<link1 link="lower_{leg}R" xyz="{_text((0, half, LOWER))}"/>'
        f'<link2 link="lower_{leg}L" xyz="{_text((0, -half, LOWER))}" rpy="{_text((0, 2 * FOLD + math.pi, 0))}"/>'
        "</loop_joint>"
    )
    return lines


def minitaur(closing="revolute"):
    """Return the text of a file whose loops are closed by joints of one type."""
    lines = ['<robot name="minitaur">', _link("base", 3.0, (0.33, 0.1, 0.07))]
    for side, sign in (("right", -1.0), ("left", 1.0)):
        chassis = f"chassis_{side}"
        lines.append(_link(chassis, 0.1, (0.54, 0.01, 0.07)))
        lines.append(
            _joint(
                f"{chassis}_mount",
                "fixed",
                "base",
                chassis,
                (0.0, sign * SIDE, 0.0),
                (0, 0, sign * YAW),
            )
        )
        for end, x in (("front", HIP), ("back", -HIP)):
            lines += _leg(f"{end}_{side}_", chassis, x, closing)
    return "\n".join([*lines, "</robot>", ""])
