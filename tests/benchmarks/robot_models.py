"""A vigym mechanism in MuJoCo, and what both are measured by."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from vigym import Mechanism
from vigym.mechanism.elements.contacts import contact_features
from vigym.mechanism.elements.joints import Joint
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
    def attributes(self) -> dict[str, str]:
        return {} if self.solref is None else {"solref": f"{self.solref!r} 1", "solimp": SOLIMP}


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
    def values(self) -> dict[str, str]:
        return {name: str(value) for name, value in asdict(self).items() if name != "disabled"}

    @property
    def attributes(self) -> str:
        return " ".join(f'{name}="{value}"' for name, value in self.values.items())


def mujoco_robot(
    mech: Mechanism, timestep: float, softness: Softness, options: Options
) -> mujoco.MjModel:
    """What the mechanism writes as MJCF, without drawn shapes, which MuJoCo moves, too."""
    import mujoco

    root = ET.fromstring(mech.to_mjcf(timestep=timestep))
    for body in [*root.iter("worldbody"), *root.iter("body")]:
        for geom in body.findall("geom[@contype='0']"):
            body.remove(geom)
    for element in [*root.iter("geom"), *root.iter("connect"), *root.iter("weld")]:
        element.attrib |= softness.attributes
    for joint in root.findall("worldbody//joint"):
        joint.attrib |= {f"{name}limit": value for name, value in softness.attributes.items()}
    off = options.disabled if softness.safe else (*options.disabled, "refsafe")
    for option in root.iter("option"):
        option.attrib |= options.values
        ET.SubElement(option, "flag", dict.fromkeys(off, "disable"))
    return mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))


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
