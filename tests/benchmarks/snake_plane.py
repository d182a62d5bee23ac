"""The planar snake as textbook equations: angles of the links and the centre of mass, Coulomb friction, explicit steps.

No code of the package, no contact solver: every touching point carries the same load and slips
against a force of the ellipse of friction, which falls to zero only below a creep of `creep` m/s.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Array = np.ndarray
GRAVITY = 9.81  # [m/s^2]


@dataclass(frozen=True)
class Plane:
    """A straight chain of equal links, each touching the ground at two points half-way along.

    Attributes:
        links: number of them.
        length: of a link [m].
        half: distance of its points from the middle [m].
        mass: of a link [kg].
        inertia: of a link about the vertical through its middle [kg m^2].
        armature: of a joint [kg m^2].
        kp: of a motor [N m/rad].
        kd: of a motor [N m s/rad].
        effort: of a motor [N m].
        along: coefficient of friction along the links.
        across: the other one.
    """

    links: int
    length: float
    half: float
    mass: float
    inertia: float
    armature: float
    kp: float
    kd: float
    effort: float
    along: float
    across: float


def crawl(
    plane: Plane, targets: Callable[[float], Array], seconds: float, timestep: float, creep: float
) -> tuple[Array, Array]:
    """Return the centre of mass (steps, 2) [m] and the power of the motors (steps,) [W] from rest."""
    n, load = plane.links, 0.5 * plane.mass * GRAVITY
    places = _middles(n, plane.length)
    spread = places.T @ places
    fore, aft = np.eye(n)[:-1], np.eye(n)[1:]
    rotor = plane.armature * (aft - fore).T @ (aft - fore) + plane.inertia * np.eye(n)
    angle = np.zeros(n)
    rate = np.zeros(n)
    centre = np.zeros(2)
    velocity = np.zeros(2)
    path, power = [], []
    for step in range(round(seconds / timestep)):
        ahead = np.column_stack((np.cos(angle), np.sin(angle)))
        left = np.column_stack((-ahead[:, 1], ahead[:, 0]))
        drift = velocity + places @ (rate[:, None] * left)
        slip_along, slip_across = (drift * ahead).sum(axis=1), (drift * left).sum(axis=1)
        force, moment = np.zeros((n, 2)), np.zeros(n)
        for side in (-plane.half, plane.half):
            slip = slip_along - side * rate
            size = np.sqrt(
                (plane.along * slip) ** 2
                + (plane.across * slip_across) ** 2
                + (plane.across * creep) ** 2
            )
            push = -load * plane.along**2 * slip / size
            force += (
                push[:, None] * ahead
                - (load * plane.across**2 * slip_across / size)[:, None] * left
            )
            moment -= side * push
        bend, turn = angle[1:] - angle[:-1], rate[1:] - rate[:-1]
        wanted = plane.kp * (targets(step * timestep) - bend) - plane.kd * turn
        torque = np.clip(wanted, -plane.effort, plane.effort)
        mass = plane.mass * spread * (left @ left.T) + rotor
        inward = plane.mass * (spread * (left @ ahead.T)) @ rate**2
        joints = (aft - fore).T @ torque
        pull = (left * (places.T @ force)).sum(axis=1)
        rate = rate + timestep * np.linalg.solve(mass, inward + pull + moment + joints)
        angle = angle + timestep * rate
        velocity = velocity + timestep * force.sum(axis=0) / (n * plane.mass)
        centre = centre + timestep * velocity
        path.append(centre)
        power.append(np.abs(torque * turn).sum())
    return np.array(path), np.array(power)


def _middles(n: int, length: float) -> Array:
    """Middles of the links from the centre of mass (n, n): the sum over links of the entry times the link's axis."""
    middles = np.zeros((n, n))
    for link in range(1, n):
        middles[link] = middles[link - 1]
        middles[link, link - 1] -= 0.5 * length
        middles[link, link] -= 0.5 * length
    return middles - middles.mean(axis=0)
