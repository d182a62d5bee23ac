"""Starts of robots by name, and whether a robot that floats looks as one that should not."""

import warnings
from collections.abc import Mapping
from os import PathLike

import numpy as np

from vigym.envs.options import require
from vigym.envs.robots.floating_base import floating_joint_of
from vigym.mechanism.mechanism import Mechanism
from vigym.urdf.read.states import read_states

DEFAULT = "standing"  # state of a robot that floats, where its file has one


def start_of(
    urdf: str | PathLike[str], mechanism: Mechanism, start: Mapping[str, float] | str | None
) -> Mapping[str, float]:
    """Return joint -> position [rad, m] of a start: as given, or of a state of the SRDF file.

    A position of a state that is beyond the joint's limits becomes the limit, with a warning.

    Args:
        urdf: path of the file.
        mechanism: of the file.
        start: positions, the name of a state, or None: "standing" if the robot floats and the file
            has it.

    Raises:
        ValueError: an unknown state.
        UrdfError: an SRDF file that cannot be read.
    """
    if isinstance(start, Mapping):
        return start
    floats = floating_joint_of(mechanism) is not None
    states = read_states(urdf) if start is not None or floats else {}
    if start is None:
        state = states.get(DEFAULT, {})
    else:
        expected = f"positions by joint, or a state: {', '.join(states) or 'the file has none'}"
        require(start in states, "start", start, expected)
        state = states[start]
    followers = {coupling.joint for coupling in mechanism.couplings.values()}
    positions = {}
    for joint in mechanism.tree_joints:
        if joint.name in state and joint.name not in followers and joint.dofs == 1:
            low, high = (-np.inf, np.inf) if joint.limits is None else joint.limits[0]
            positions[joint.name] = float(np.clip(state[joint.name], low, high))
    moved = [name for name, position in positions.items() if position != state[name]]
    if moved:
        warnings.warn(
            f"{mechanism.name!r}: the start has {', '.join(moved)} at a limit; the SRDF file has "
            "positions beyond it",
            stacklevel=2,
        )
    return positions


def looks_like_arm(mechanism: Mechanism) -> bool:
    """Return whether a robot that floats has one chain on its base, which is below all of it."""
    joint = floating_joint_of(mechanism)
    if joint is None:
        return False
    children = [each for each in mechanism.tree_joints if each.parent == joint.child]
    base = mechanism.bodies[joint.child]
    others = [body for body in mechanism.bodies.values() if body is not base]
    floating = [each for each in mechanism.tree_joints if each.type == "floating"]
    above = all(body.position[2] > base.position[2] for body in others)
    return len(children) == 1 and len(others) > 1 and len(floating) == 1 and above


def warn_of_arm(mechanism: Mechanism, base: str | None) -> None:
    """Warn of a robot that looks like an arm and floats, where no `base` is given."""
    if base is None and looks_like_arm(mechanism):
        warnings.warn(suggest_fixed(mechanism), stacklevel=3)


def suggest_fixed(mechanism: Mechanism) -> str:
    """Return advice on a robot that looks like an arm."""
    return (
        f"{mechanism.name!r} floats and looks like an arm: nothing holds its base, which topples "
        "(base='fixed' welds it to the world, base='floating' is silent)"
    )
