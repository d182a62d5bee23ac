"""Snakes of vigym in MuJoCo: masses, joints, motors and contacts are read from the mechanism itself."""

from __future__ import annotations

from typing import Any

from robot_models import Options

from vigym import Mechanism
from vigym.evaluation.speed.mujoco_snakes import (
    write_capsule,
    write_chain,
    write_model,
    write_pair,
    write_snake,
)
from vigym.mechanism.elements.bodies import Body

SOFT = "0.02 1"  # MuJoCo's own time constant [s] and damping ratio of contacts
PRECISE = Options("elliptic", "implicitfast")
SIDES = {"left": 1.0, "right": -1.0}
NOTHING = (
    1e-6  # a mass [kg], inertia [kg m^2] or length [m] that changes nothing, where MuJoCo wants one
)


def mujoco_snake(
    mech: Mechanism, timestep: float, solref: str = SOFT, options: Options = PRECISE
) -> Any:
    """MuJoCo's model of a snake; elliptic cones tell friction along from that across."""
    return write_snake(mech, timestep, solref, options.attributes, _flags(options))


def mujoco_suspended(mech: Mechanism, timestep: float, solref: str) -> Any:
    """MuJoCo's model of a planar snake that stands on all its points with the same load, whatever the engine.

    In the plane it is the same snake. Half the mass of a link slides up and down above each of its
    two points, and the link's inertia about the vertical is less by what that mass adds; the links
    themselves stay level. A flat rigid snake's loads are undetermined: there MuJoCo, whose contacts
    lift what slides, takes them from the links that do.
    """
    names = [f"{name}:{side}" for name in mech.collisions for side in SIDES]
    pairs = "".join(
        write_pair(mech.collisions[name.partition(":")[0]], name, solref) for name in names
    )
    option = f'<option timestep="{timestep!r}" {PRECISE.attributes}/>'
    return write_model(mech, option, write_chain(mech, _suspended), pairs)


def _flags(options: Options) -> str:
    flags = " ".join(f'{name}="disable"' for name in options.disabled)
    return f"<flag {flags}/>"


def _suspended(mech: Mechanism, body: Body) -> str:
    """A link that moves in the plane, without mass of its own, and two masses that slide up and down on it."""
    (collision,) = (touching for touching in mech.collisions.values() if touching.body == body.name)
    half = collision.shape.length / 2
    left = float(body.inertia[2, 2]) - body.mass * half**2
    text = ""
    if body.name not in {joint.child for joint in mech.joints.values()}:
        text += '<joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><joint type="hinge" axis="0 0 1"/>'
    text += f'<inertial pos="0 0 0" mass="{NOTHING}" diaginertia="{left!r} {left!r} {left!r}"/>'
    for side, sign in SIDES.items():
        ball = write_capsule(
            f"{collision.name}:{side}", collision.shape, NOTHING
        )  # a ball has no axis to tell along by
        text += (
            f'<body pos="0 {sign * half!r} 0"><joint type="slide" axis="0 0 1"/><inertial pos="0 0 0" '
            f'mass="{body.mass / 2!r}" diaginertia="{NOTHING} {NOTHING} {NOTHING}"/>{ball}</body>'
        )
    return text
