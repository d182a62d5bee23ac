"""Bases: bodies that move freely in space or in a plane; arms whose files do not fix their base."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from vigym.mechanism.content import Elements
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.checks import Array
from vigym.mechanism.elements.joints import Joint, joint_frame

INDEPENDENT = 1e-6  # sine of angles between axes, above which they are independent


@dataclass(frozen=True, eq=False)
class FreeBase:
    """Body that can move freely in space, or in a plane that is fixed in the world.

    Attributes:
        joints: from the world to the body: a floating or planar joint, or slides and then hinges.
        directions: of the world in which their translations move the body (3, n).
    """

    joints: list[Joint]
    directions: Array

    @property
    def body(self) -> str:
        """Name of the body."""
        return self.joints[-1].child

    @property
    def floats(self) -> bool:
        """Whether one floating joint carries the body."""
        return self.joints[0].type == "floating"

    @property
    def translations(self) -> list[str]:
        """Names of the coordinates (n,) that move the body without turning it."""
        counts = [(joint, len(joint.joint_type.translations)) for joint in self.joints]
        return [name for joint, count in counts for name in joint.position_names[:count]]

    def lift(self, normal: ArrayLike) -> Array | None:
        """Return the changes of these coordinates (n,) that raise the body by 1 [m / m].

        Args:
            normal: direction in which heights are counted (3,).

        Returns:
            Those of the shortest way; None of a body whose plane is at right angles to the normal.
        """
        slopes = np.asarray(normal) @ self.directions
        changes = np.asarray(np.linalg.solve(self.directions.T @ self.directions, slopes))
        rise = float(slopes @ changes)
        return np.asarray(changes / rise, np.float64) if rise > INDEPENDENT else None

    def sets_height(self, names: set[str], normal: ArrayLike) -> bool:
        """Return whether the coordinate that raises the body most, or its joint, is among names."""
        lift = self.lift(normal)
        if lift is None:
            return False
        highest = self.translations[int(np.abs(lift).argmax())]
        (joint,) = (each for each in self.joints if highest in each.position_names)
        return not names.isdisjoint((highest, joint.name))


def free_bases(mechanism: Elements) -> list[FreeBase]:
    """Return all bases: their joints move nothing else, and have no actuator unless they float.

    Their translations have no limits, and nothing is coupled with them.
    """
    hanging: dict[str, list[Joint]] = {}
    for joint in mechanism.tree_joints:
        hanging.setdefault(joint.parent, []).append(joint)
    coupled = {name for each in mechanism.couplings.values() for name in (each.joint, each.other)}
    found = [_base(joint, hanging) for joint in hanging.get(WORLD, [])]
    return [
        base
        for base in found
        if base is not None
        and all(coupled.isdisjoint(joint.position_names) for joint in base.joints)
    ]


def robot_base(mechanism: Elements) -> FreeBase | None:
    """Return the base that carries actuated joints; None of a robot that is fixed to the world."""
    carriers = {joint.child: joint.parent for joint in mechanism.tree_joints}
    above = set()
    for joint in mechanism.actuated_joints:
        body = joint.child
        while body != WORLD:
            above.add(body)
            body = carriers[body]
    return next((base for base in free_bases(mechanism) if base.body in above), None)


def _base(joint: Joint, hanging: dict[str, list[Joint]]) -> FreeBase | None:
    """Return the base that begins with a joint of the world; None without."""
    joints: list[Joint] = []
    slides, turns = np.empty((3, 0)), np.empty((3, 0))
    while joint.type == "floating" or not joint.actuated:
        kind = joint.joint_type
        if kind.translations and turns.size:
            return None  # directions that turn with the body
        count = len(kind.translations)
        if joint.limits is not None and np.isfinite(joint.limits[:count]).any():
            return None  # a gantry's: it cannot be put wherever the ground is
        axes = joint_frame(joint.axis, joint.axis2) if kind.needs_axis else np.eye(3)
        slides = np.hstack((slides, axes[:, list(kind.translations)]))
        turns = np.hstack((turns, axes[:, list(kind.rotations)]))
        joints.append(joint)
        if _is_free(slides, turns):
            return FreeBase(joints, slides)
        following = hanging.get(joint.child, [])
        if len(following) != 1:
            return None
        (joint,) = following
    return None


def _is_free(slides: Array, turns: Array) -> bool:
    """Return whether translations and rotations (3, n) are all of space, or all of a plane."""
    counts = slides.shape[1], turns.shape[1]
    if counts not in ((2, 1), (3, 3)):
        return False
    in_plane = counts == (3, 3) or np.abs(turns.T @ slides).max() < INDEPENDENT
    ranks = [np.linalg.matrix_rank(axes, INDEPENDENT) for axes in (slides, turns)]
    return bool(in_plane and ranks == list(counts))


def looks_like_arm(mechanism: Elements) -> bool:
    """Return whether a robot that floats has one chain on its base, which is below all of it."""
    floating = [joint for joint in mechanism.tree_joints if joint.type == "floating"]
    if len(floating) != 1:
        return False
    children = [each for each in mechanism.tree_joints if each.parent == floating[0].child]
    base = mechanism.bodies[floating[0].child]
    others = [body for body in mechanism.bodies.values() if body is not base]
    above = all(body.position[2] > base.position[2] for body in others)
    return len(children) == 1 and len(others) > 1 and above


def suggest_fixed(mechanism: Elements) -> str:
    """Return advice on a robot that looks like an arm."""
    return (
        f"{mechanism.name!r} floats and looks like an arm: nothing holds its base, which topples "
        "(base='fixed' welds it to the world, base='floating' is silent)"
    )
