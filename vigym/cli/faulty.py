"""What `vigym inspect` tells of a file that makes no mechanism, as plain data: what can be read, and every fault."""

from typing import Any

import numpy as np

from vigym.mechanism.errors import MechanismError
from vigym.urdf.faults import fault_of, survey
from vigym.urdf.records import Link, Loop, UrdfJoint


def readable(file: str, base: str | None, error: MechanismError) -> dict[str, Any]:
    """Return what can be read of a file that the importer refuses with `error`, values as written.

    Raises:
        UrdfError: nothing can.
    """
    found = survey(file, base)
    told = fault_of(file, error)
    faults = found.faults if told in found.faults else [told, *found.faults]
    return {
        "name": found.name,
        "mass": sum(link.mass for link in found.links),
        "faults": [{"element": element, "fault": fault} for element, fault in faults],
        "links": [_link(link) for link in found.links],
        "joints": [_joint(one, one.parent, one.child, False) for one in found.joints]
        + [_joint(one, *one.links, True) for one in found.loops],
        "loops": [loop.name for loop in found.loops],
    }


def _link(link: Link) -> dict[str, Any]:
    return {
        "name": link.name,
        "mass": link.mass,
        "position": link.inertial.position.tolist(),
        "principal_moments": np.linalg.eigvalsh(link.inertia).tolist(),
    }


def _joint(joint: UrdfJoint | Loop, parent: str, child: str, closes_loop: bool) -> dict[str, Any]:
    return {
        "name": joint.name,
        "type": joint.type,
        "parent": parent,
        "child": child,
        "axis": joint.axis.tolist(),
        "limits": None if joint.limits is None else [list(joint.limits)],
        "effort": joint.effort,
        "velocity": joint.velocity,
        "damping": joint.damping,
        "friction": joint.friction,
        "closes_loop": closes_loop,
    }
