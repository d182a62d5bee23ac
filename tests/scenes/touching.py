"""Runs of mechanisms that touch, and what is measured of them without asking the simulator's own contacts."""

from __future__ import annotations

import numpy as np

from oracle.naive_joints import conj, rotate
from scenes.shapes import support
from vigym import Simulator
from vigym.mechanism.elements.contacts import contact_features

DEEPEST = 1e-6  # no step may end with a point deeper in the ground than this [m]


def lowest(sim):
    """Signed distance to the ground of the lowest point of any collision shape [m]."""
    ground, found = sim.mechanism.ground, []
    for collision in sim.mechanism.collisions.values():
        x, q = sim.body_position(collision.body), sim.body_orientation(collision.body)
        (reach,) = support(contact_features(collision), -rotate(conj(q), ground.normal)[None])
        found.append(x @ ground.normal - ground.height - reach)
    return min(found)


def moving(mech, h=0.01, velocities=None, positions=None, **options):
    """A simulator of `mech` at the assembly pose with these rates."""
    sim = Simulator(mech, timestep=h, **options)
    sim.reset(positions, velocities)
    return sim


def stepped(sim, steps, targets=None, torques=None):
    """Step one by one, each converged and no point in the ground; yields the simulator at every knot."""
    for k in range(steps):
        given = (
            {"targets": targets(k) if callable(targets) else targets} if targets is not None else {}
        )
        assert sim.step(torques=torques(k) if callable(torques) else torques, **given).converged
        if sim.mechanism.collisions:
            assert lowest(sim) >= -DEEPEST, k
        yield sim


def run(sim, steps, targets=None, torques=None):
    """The same without a look at every knot."""
    for _ in stepped(sim, steps, targets, torques):
        pass
    return sim


def speeds(sim):
    """Largest velocity of a centre of mass or angular velocity of a body at the knot [m/s, rad/s]."""
    return np.abs(sim.body_states[..., 7:]).max()


def energies(sim, steps, targets=None, torques=None):
    """Total energy at the start and at every knot (steps + 1,) [J]."""
    first = sim.energy().total
    return np.array(
        [first, *(knot.energy().total for knot in stepped(sim, steps, targets, torques))]
    )


def gain(energy):
    """Largest rise of the energy above an earlier value [J]."""
    return (energy - np.minimum.accumulate(energy)).max()
