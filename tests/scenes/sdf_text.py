"""One robot as URDF text and as SDF text of several styles."""

from dataclasses import dataclass

import numpy as np

from vigym.spatial import Pose, roll_pitch_yaw, rotation_from_rpy


@dataclass(frozen=True)
class Part:
    """Link, whose frame is that of the joint above it, and the joint; poses in the world."""

    name: str
    parent: str
    type: str
    place: tuple[float, ...]
    rpy: tuple[float, ...] = (0.0, 0.0, 0.0)
    axis: tuple[float, ...] = (0.0, 1.0, 0.0)
    limit: tuple[float, float] | None = None
    center: tuple[float, ...] = (0.02, -0.03, 0.2)
    mass: float = 1.5

    @property
    def pose(self) -> Pose:
        return Pose(np.array(self.place), rotation_from_rpy(np.array(self.rpy)))


INERTIA = {"ixx": 0.02, "ixy": 0.001, "ixz": 0.0, "iyy": 0.03, "iyz": -0.002, "izz": 0.015}
TURN = (0.3, -0.2, 0.5)  # of the inertia's axes
ARM = (
    Part("upper", "world", "revolute", (0.1, 0.2, 1.0), (0.3, 0.1, -0.4), limit=(-2.0, 2.5)),
    Part("rail", "upper", "prismatic", (0.2, 0.2, 1.4), (0, 1, 0), (0, 0, 1), limit=(-1.0, 1.0)),
    Part("lower", "rail", "continuous", (0.5, 0.1, 1.3), (1, 2, 3), (0.6, 0, 0.8)),
    Part("tool", "lower", "fixed", (0.6, 0.1, 1.2), (0, 0, 1)),
    Part("ball", "tool", "spherical", (0.7, 0.1, 1.1), (1, 0, 0)),
)
FLOATING = (Part("trunk", "", "", (0, 0, 0)), *ARM[1:])
FLOATING = (
    FLOATING[0],
    Part("rail", "trunk", "prismatic", (0.2, 0.2, 0.4), limit=(-1, 1)),
    *ARM[2:],
)
# a crank, a coupler and a rocker in one plane; the coupler's end is on the rocker
BARS = (
    Part("crank", "world", "revolute", (0, 0, 0), limit=(-9.0, 9.0)),
    Part("coupler", "crank", "continuous", (0, 0, 0.2), (0, 1.2, 0)),
    Part("rocker", "world", "continuous", (0.45, 0, 0)),
)
PIN = np.array([0.4, 0.0, 0.35])


def text(values) -> str:
    return " ".join(repr(float(value)) for value in values)


def pose_text(pose: Pose) -> str:
    return f"{text(pose.position)} {text(roll_pitch_yaw(pose.rotation))}"


def urdf(parts, loop=False) -> str:
    poses = {part.name: part.pose for part in parts} | {"world": Pose(np.zeros(3), np.eye(3))}
    lines = ['<link name="world"/>'] if parts[0].parent else []
    for part in parts:
        inertia = " ".join(f'{key}="{value}"' for key, value in INERTIA.items())
        lines.append(
            f'<link name="{part.name}"><inertial><origin xyz="{text(part.center)}" rpy="{text(TURN)}"/>'
            f'<mass value="{part.mass}"/><inertia {inertia}/></inertial></link>'
        )
        if not part.parent:
            continue
        pose = poses[part.parent].inverse @ part.pose
        low, high = part.limit or (0, 0)
        limit = (
            f'<limit lower="{low}" upper="{high}" effort="3" velocity="4"/>' if part.limit else ""
        )
        dynamics = '<dynamics damping="0.1"/>' if part.type != "fixed" else ""
        lines.append(
            f'<joint name="to {part.name}" type="{part.type}"><parent link="{part.parent}"/>'
            f'<child link="{part.name}"/><axis xyz="{text(part.axis)}"/>{limit}{dynamics}'
            f'<origin xyz="{text(pose.position)}" rpy="{text(roll_pitch_yaw(pose.rotation))}"/></joint>'
        )
    if loop:
        first, second = (
            poses[name].inverse @ Pose(PIN, np.eye(3)) for name in ("coupler", "rocker")
        )
        ends = (
            f'<link{k} link="{name}" xyz="{text(end.position)}" rpy="{text(roll_pitch_yaw(end.rotation))}"/>'
            for k, name, end in ((1, "coupler", first), (2, "rocker", second))
        )
        lines.append(
            f'<loop_joint name="pin" type="continuous"><axis xyz="0 1 0"/>{"".join(ends)}</loop_joint>'
        )
    return f'<robot name="r">{"".join(lines)}</robot>'


@dataclass(frozen=True)
class Style:
    """How an SDF file says the same.

    Attributes:
        version: of SDF.
        model: pose of the model; the robot stays where it is.
        shift: of every link's frame from the joint's.
        relative: whether poses of links are relative to the link above, by a frame.
        axes: "joint", "flag" (<use_parent_model_frame>), "expressed_in", or "old" (of the model).
    """

    version: str = "1.6"
    model: Pose = Pose(np.zeros(3), np.eye(3))
    shift: Pose = Pose(np.zeros(3), np.eye(3))
    relative: bool = False
    axes: str = "joint"


MOVED = Pose(np.array([1.0, -2.0, 0.5]), rotation_from_rpy(np.array([0.1, 0.2, 2.0])))
SHIFT = Pose(np.array([0.1, 0.2, -0.3]), rotation_from_rpy(np.array([1.0, -0.4, 0.3])))
STYLES = {
    "1.6": Style(),
    "joint pose": Style(shift=SHIFT),
    "model pose": Style(model=MOVED, shift=SHIFT, axes="flag"),
    "1.4": Style("1.4", MOVED, SHIFT, axes="old"),
    "relative": Style("1.9", MOVED, SHIFT, relative=True, axes="expressed_in"),
}
SDF_TYPES = {"spherical": "ball"}


def sdf(parts, style=STYLES["1.6"], loop=False) -> str:
    links = {part.name: part.pose @ style.shift for part in parts}
    lines = [f"<pose>{pose_text(style.model)}</pose>"]
    for part in parts:
        lines += [_link(part, links, style)]
        if part.parent:
            lines.append(_joint(part, style, f"to {part.name}", part.parent, part.pose, links))
    if loop:
        pin = Part("rocker", "coupler", "continuous", tuple(PIN))
        lines.append(_joint(pin, style, "pin", "coupler", pin.pose, links, dynamics=""))
    return f'<sdf version="{style.version}"><model name="r">{"".join(lines)}</model></sdf>'


def _link(part, links, style) -> str:
    pose = style.model.inverse @ links[part.name]
    attribute, frame = "", ""
    if style.relative and part.parent in links:
        offset = Pose(np.array([0.0, 0.1, 0.0]), np.eye(3))
        pose = offset.inverse @ links[part.parent].inverse @ links[part.name]
        frame = f'<frame name="f {part.name}" attached_to="{part.parent}"><pose>{pose_text(offset)}</pose></frame>'
        attribute = f' relative_to="f {part.name}"'
    center = style.shift.inverse @ Pose(np.array(part.center), rotation_from_rpy(np.array(TURN)))
    inertia = "".join(f"<{key}>{value}</{key}>" for key, value in INERTIA.items())
    return (
        f'{frame}<link name="{part.name}"><pose{attribute}>{pose_text(pose)}</pose><inertial>'
        f"<pose>{pose_text(center)}</pose><mass>{part.mass}</mass><inertia>{inertia}</inertia></inertial></link>"
    )


def _joint(
    part, style, name, parent, pose, links, dynamics="<dynamics><damping>0.1</damping></dynamics>"
) -> str:
    axis = np.array(part.axis)
    flag, attribute = "", ""
    if style.axes != "joint":
        axis = style.model.rotation.T @ part.pose.rotation @ axis
    if style.axes == "flag":
        flag = "<use_parent_model_frame>1</use_parent_model_frame>"
    if style.axes == "expressed_in":
        attribute = ' expressed_in="__model__"'
    low, high = part.limit or (-1e16, 1e16)
    limit = f"<limit><lower>{low}</lower><upper>{high}</upper>"
    limit += "<effort>3</effort><velocity>4</velocity></limit>" if part.limit else "</limit>"
    inside = f"<axis><xyz{attribute}>{text(axis)}</xyz>{limit}{dynamics}{flag}</axis>"
    if part.type == "spherical":
        inside = inside.replace(limit, "")
    return (
        f'<joint name="{name}" type="{SDF_TYPES.get(part.type, part.type)}"><parent>{parent}</parent>'
        f"<child>{part.name}</child><pose>{pose_text(links[part.name].inverse @ pose)}</pose>"
        f"{'' if part.type == 'fixed' else inside}</joint>"
    )
