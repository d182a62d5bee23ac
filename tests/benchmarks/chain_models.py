"""The same chain twice: as a vigym mechanism and as a MuJoCo model.

Links are 1 m, 1 kg bars, 0.1 m thick, hung from the origin and released from rest along x; gravity
9.81 m/s^2 along -z. Hinge chains turn about y, ball chains about anything. Joint coordinates have
the same order, sign and zero in both, so one array of positions starts both.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import vigym

if TYPE_CHECKING:
    import mujoco

# [m], [kg], [m]
LENGTH = 1.0
MASS = 1.0
THICKNESS = 0.1
ACROSS = MASS * (LENGTH**2 + THICKNESS**2) / 12
INERTIA = (MASS * 2 * THICKNESS**2 / 12, ACROSS, ACROSS)
GRAVITY = 9.81
TYPES = {"hinge": "revolute", "ball": "spherical"}

# What a chain without contacts, constraints, actuators, springs and dampers does not use: off, it
# costs no time.
UNUSED = ("contact", "constraint", "equality", "limit", "frictionloss", "spring", "damper")
UNUSED += ("actuation", "clampctrl", "sensor", "warmstart", "eulerdamp", "midphase")


def vigym_chain(links: int, joint: str) -> vigym.Mechanism:
    """A chain of `links` bars; `joint` is "hinge" or "ball"."""
    mech = vigym.Mechanism(gravity=(0.0, 0.0, -GRAVITY))
    parent = "world"
    for i in range(links):
        mech.add_body(f"link{i}", MASS, INERTIA, position=((i + 0.5) * LENGTH, 0.0, 0.0))
        mech.add_joint(
            f"joint{i}",
            TYPES[joint],
            parent,
            f"link{i}",
            (i * LENGTH, 0.0, 0.0),
            axis=(0.0, 1.0, 0.0),
        )
        parent = f"link{i}"
    return mech


def mujoco_chain(
    links: int, joint: str, timestep: float, integrator: str = "Euler"
) -> mujoco.MjModel:
    """The same chain for MuJoCo, without the stages it does not use; `timestep` in [s]."""
    import mujoco

    axis = ' axis="0 1 0"' if joint == "hinge" else ""
    diagonal = " ".join(map(repr, INERTIA))
    content = f'<joint type="{joint}"{axis}/><inertial pos="{LENGTH / 2} 0 0" mass="{MASS}" diaginertia="{diagonal}"/>'
    bodies = (
        "".join(f'<body pos="{LENGTH if i else 0.0} 0 0">{content}' for i in range(links))
        + "</body>" * links
    )
    flags = " ".join(f'{name}="disable"' for name in UNUSED)
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{timestep!r}" integrator="{integrator}" gravity="0 0 {-GRAVITY}">'
        f"<flag {flags}/></option><worldbody>{bodies}</worldbody></mujoco>"
    )


def scattered(links: int, joint: str, batch: int, spread: float = 0.1, seed: int = 0) -> np.ndarray:
    """Starting joint positions of a batch, each coordinate up to `spread` [rad] off the straight chain.

    Returns:
        (batch, links) angles [rad] for hinges, (batch, 4 links) unit quaternions (w, x, y, z) for
        balls.
    """
    rng = np.random.default_rng(seed)
    if joint == "hinge":
        return rng.uniform(-spread, spread, (batch, links))
    vector = np.sin(rng.uniform(-spread, spread, (batch, links, 3)) / 2)
    scalar = np.sqrt(1 - np.sum(vector**2, axis=-1, keepdims=True))
    return np.concatenate([scalar, vector], axis=-1).reshape(batch, 4 * links)
