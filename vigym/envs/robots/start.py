"""Starts of a robot: of the options, or a keyframe of its file."""

from collections.abc import Mapping, Sequence

import numpy as np

from vigym.envs.options import require
from vigym.envs.random_start import RandomStart, independent_joints
from vigym.envs.robots.floating_base import floating_joint_of, moved_base
from vigym.mechanism.mechanism import Mechanism

Floats = Sequence[float] | None


def random_start(
    mechanism: Mechanism,
    start: Mapping[str, float] | str | None,
    position: Floats,
    orientation: Floats,
) -> RandomStart:
    """Return the random start about given positions, a keyframe, or the file's zero.

    Args:
        mechanism: of the file.
        start: positions by joint, the name of a keyframe, or None: the first keyframe if there is
            one.
        position: of the root link (3,) [m], None as in the keyframe or file.
        orientation: its quaternion (4,), None as in the keyframe or file.

    Raises:
        ValueError: an unknown name, or wrong values.
    """
    joint, base = floating_joint_of(mechanism), None
    if joint is not None:
        base = moved_base(mechanism, joint, position, orientation)
    keyframes = mechanism.starts
    if isinstance(start, str):
        require(start in keyframes, "start", start, f"one of {', '.join(keyframes) or 'none'}")
    elif start is not None or not keyframes:
        return RandomStart(mechanism, start, base)
    keyframe = keyframes[start or next(iter(keyframes))]
    if joint is not None and base is None and joint.name in keyframe:
        base = np.array(keyframe[joint.name], np.float64)
    return RandomStart(mechanism, _within_limits(mechanism, keyframe), base)


def _within_limits(mechanism: Mechanism, keyframe: Mapping[str, object]) -> dict[str, float]:
    """Return the positions of joints of one degree of freedom that set a start."""
    found = {}
    for joint in independent_joints(mechanism):
        value = keyframe.get(joint.name)
        if isinstance(value, float):
            low, high = (-np.inf, np.inf) if joint.limits is None else joint.limits[0]
            found[joint.name] = float(min(max(value, low), high))
    return found
