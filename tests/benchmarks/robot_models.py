"""A vigym mechanism of hinges and slides written as a MuJoCo model, and what both are measured by."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from vigym import Mechanism
from vigym.mechanism.elements.contacts import contact_features
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.elements.shapes import Box, Sphere
from vigym.mechanism.topology.joint_frames import relative_pose
from vigym.spatial import batch_rotation_matrix

if TYPE_CHECKING:
    import mujoco

SOLIMP = "0.9999 0.9999 0.001 0.5 2"  # the highest impedance MuJoCo takes


@dataclass(frozen=True)
class Softness:
    """MuJoCo's constraints, contacts too: time constant `solref` [s] of critical damping; None: its defaults."""

    solref: float | None = None
    safe: bool = True  # time constants below two steps are raised to two

    @property
    def attributes(self) -> str:
        return "" if self.solref is None else f'solref="{self.solref!r} 1" solimp="{SOLIMP}"'


@dataclass(frozen=True)
class Options:
    """How MuJoCo solves."""

    cone: str = "pyramidal"
    integrator: str = "Euler"
    jacobian: str = "auto"
    disabled: tuple[str, ...] = ()
    iterations: int = 100
    solver: str = "Newton"

    @property
    def attributes(self) -> str:
        return (
            f'cone="{self.cone}" integrator="{self.integrator}" jacobian="{self.jacobian}" '
            f'iterations="{self.iterations}" solver="{self.solver}"'
        )


def mujoco_robot(
    mech: Mechanism, timestep: float, softness: Softness, options: Options
) -> mujoco.MjModel:
    """The same bodies, hinges, motors (position, clipped) and collisions; every loop is closed by one `connect`."""
    import mujoco

    inside = "".join(
        _mjcf(mech, joint, softness) for joint in mech.tree_joints if joint.parent == "world"
    )
    loops = "".join(_connect(mech, joint, softness) for joint in mech.closing_joints)
    motors = "".join(
        f'<general joint="{m.joint}" gainprm="{m.kp!r}" biastype="affine" biasprm="0 {-m.kp!r} {-m.kd!r}" '
        f'forcelimited="true" forcerange="{-m.effort!r} {m.effort!r}"/>'
        for m in (mech.motors[name] for name in mech.motor_names)
    )
    off = options.disabled if softness.safe else (*options.disabled, "refsafe")
    flags = " ".join(f'{name}="disable"' for name in off)
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{timestep!r}" gravity="{_text(mech.gravity)}" {options.attributes}>'
        f"<flag {flags}/></option><worldbody>"
        f'<geom type="plane" size="0 0 1" contype="2" conaffinity="1" friction="0 0 0" '
        f"{softness.attributes}/>{inside}</worldbody>"
        f"<equality>{loops}</equality><actuator>{motors}</actuator></mujoco>"
    )


def _mjcf(mech: Mechanism, joint: Joint, softness: Softness) -> str:
    body = mech.bodies[joint.child]
    pose, turn = (
        relative_pose(mech, joint.parent, joint.child),
        batch_rotation_matrix(body.orientation),
    )
    i = body.inertia
    moments = i[0, 0], i[1, 1], i[2, 2], i[0, 1], i[0, 2], i[1, 2]
    place, axis = turn.T @ (joint.position - body.position), turn.T @ joint.axis
    kind = "slide" if joint.type == "prismatic" else "hinge"
    hinge = f'<joint name="{joint.name}" type="{kind}" pos="{_text(place)}" axis="{_text(axis)}"/>'
    inside = "".join(
        _mjcf(mech, each, softness) for each in mech.tree_joints if each.parent == body.name
    )
    geoms = "".join(
        _geom(one, softness) for one in mech.collisions.values() if one.body == body.name
    )
    return (
        f'<body name="{body.name}" pos="{_text(pose[:3])}" quat="{_text(pose[3:])}">'
        f"{'<freejoint/>' if joint.type == 'floating' else hinge}"
        f'<inertial pos="0 0 0" mass="{body.mass!r}" fullinertia="{_text(moments)}"/>{geoms}{inside}</body>'
    )


def _geom(collision, softness: Softness) -> str:
    shape = collision.shape
    assert isinstance(shape, Box | Sphere)
    size = np.asarray(shape.size) / 2 if isinstance(shape, Box) else [shape.radius]
    return (
        f'<geom type="{shape.kind}" size="{_text(size)}" pos="{_text(shape.position)}" contype="1" conaffinity="2" '
        f'quat="{_text(shape.orientation)}" friction="{float(collision.friction[0])!r} 0 0" condim="3" '
        f"{softness.attributes}/>"
    )


def _connect(mech: Mechanism, joint: Joint, softness: Softness) -> str:
    anchor = anchors(mech, joint)[0]
    return f'<connect body1="{joint.parent}" body2="{joint.child}" anchor="{_text(anchor)}" {softness.attributes}/>'


def anchors(mech: Mechanism, joint: Joint) -> tuple[np.ndarray, np.ndarray]:
    """Anchor of a joint in the frames of its two bodies (3,) [m]."""
    parent, child = mech.bodies[joint.parent], mech.bodies[joint.child]
    near, far = joint.position - parent.position, joint.child_position - child.position
    return batch_rotation_matrix(parent.orientation).T @ near, batch_rotation_matrix(
        child.orientation
    ).T @ far


class Ruler:
    """Loop gaps and penetration of the poses of all bodies, whichever engine they come from."""

    def __init__(self, mech: Mechanism) -> None:
        index = {name: i for i, name in enumerate(mech.bodies)}
        self._loops = [
            (index[j.parent], index[j.child], *anchors(mech, j)) for j in mech.closing_joints
        ]
        parts = [
            (index[one.body], part)
            for one in mech.collisions.values()
            for part in contact_features(one)
        ]
        self._points = [(body, part.point, part.radius) for body, part in parts]

    def gap(self, poses: np.ndarray) -> float:
        """Widest distance of two anchors that should be one [m]; `poses` (bodies, 7), quaternions (w, x, y, z)."""
        return max(
            float(np.linalg.norm(_at(poses[a], p) - _at(poses[b], q))) for a, b, p, q in self._loops
        )

    def depth(self, poses: np.ndarray) -> float:
        """How deep the deepest point is in the ground z = 0 [m]."""
        return max(
            0.0,
            max(radius - float(_at(poses[body], point)[2]) for body, point, radius in self._points),
        )


def _at(pose: np.ndarray, point: np.ndarray) -> np.ndarray:
    return pose[:3] + batch_rotation_matrix(pose[3:]) @ point


def heading(turns: np.ndarray) -> np.ndarray:
    """Angle about the vertical (n,) [rad], without jumps, of orientations (n, 4)."""
    w, x, y, z = turns.T
    return np.unwrap(np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)))


def _text(values: Iterable[float]) -> str:
    return " ".join(repr(float(value)) for value in values)
