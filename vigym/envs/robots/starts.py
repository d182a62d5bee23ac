"""Starts of a robot: of the options, or by a name of its file; robots that should not float."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from vigym.envs.options import require
from vigym.envs.random_start import RandomStart, independent_joints
from vigym.envs.robots.floating_base import moved_base
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.bases import looks_like_arm, robot_base, suggest_fixed
from vigym.mjcf.source import is_mjcf
from vigym.urdf.read.states import read_states

DEFAULT = "standing"  # state of a robot that floats, where a URDF file has one beside it

Floats = Sequence[float] | None


def random_start(
    file: str | Path,
    mechanism: Mechanism,
    start: Mapping[str, float] | str | None,
    position: Floats,
    orientation: Floats,
) -> RandomStart:
    """Return the random start about given positions, a named state, or the file's zero.

    States are keyframes of MJCF and group states of the SRDF file beside a URDF file. A position
    of a state that is beyond the joint's limits becomes the limit, with a warning; one
    of an unknown joint is ignored, with a warning.

    Args:
        file: of the robot.
        mechanism: of the file.
        start: positions by joint, the name of a state, or None: the first keyframe, or the state
            "standing" of a robot that floats.
        position: of the root link (3,) [m], None as in the state or file.
        orientation: its quaternion (4,), None as in the state or file.

    Raises:
        ValueError: an unknown name, or wrong values.
        UrdfError: an SRDF file that cannot be read.
    """
    base = robot_base(mechanism)
    poses = {} if base is None else moved_base(mechanism, base.joints[0], position, orientation)
    if isinstance(start, Mapping):
        return RandomStart(mechanism, start, poses)
    states: Mapping[str, Mapping[str, object]] = mechanism.starts
    if not is_mjcf(Path(file)) and (start is not None or base is not None):
        states = read_states(file)
    name = start
    if start is None:
        first = next(iter(mechanism.starts), None)
        name = DEFAULT if DEFAULT in states else first
    else:
        expected = f"positions by joint, or a state: {', '.join(states) or 'the file has none'}"
        require(isinstance(start, str) and start in states, "start", start, expected)
    if name is None:
        return RandomStart(mechanism, None, poses)
    state = states[name]
    unknown = [each for each in state if each not in mechanism.joints]
    if unknown:
        found = f"no moving joint has the name {', '.join(map(repr, unknown))}"
        warnings.warn(f"{mechanism.name!r}: state {name!r}: {found}; ignored", stacklevel=2)
    floating = [joint.name for joint in mechanism.tree_joints if joint.type == "floating"]
    own = {name: np.array(state[name], np.float64) for name in floating if name in state}
    return RandomStart(mechanism, _within_limits(mechanism, state), own | poses)


def _within_limits(mechanism: Mechanism, state: Mapping[str, object]) -> dict[str, float]:
    """Return the positions of joints of one degree of freedom that set a start."""
    found, moved = {}, []
    for joint in independent_joints(mechanism):
        value = state.get(joint.name)
        if isinstance(value, float):
            low, high = (-np.inf, np.inf) if joint.limits is None else joint.limits[0]
            found[joint.name] = float(min(max(value, low), high))
            if found[joint.name] != value:
                moved.append(joint.name)
    if moved:
        warnings.warn(
            f"{mechanism.name!r}: the start has {', '.join(moved)} at a limit; the state of the "
            "file has positions beyond it",
            stacklevel=2,
        )
    return found


def warn_of_arm(mechanism: Mechanism, base: str | None) -> None:
    """Warn of a robot that looks like an arm and floats, where no `base` is given."""
    if base is None and looks_like_arm(mechanism):
        warnings.warn(suggest_fixed(mechanism), stacklevel=3)
