"""Contacts of two bodies against the slow twin: the same laws and places, found and solved by other means."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive_soft import SINKS
from scenes import pair_scenes as scenes
from scenes.contact_agreement import forces, pair, poses, step_both, velocities
from scenes.touching_scenes import turned

LEANING = turned(np.pi / 2.0 - 0.1, (0, 1, 0.2))


def flying(kinds, **surface):
    mech, rates = scenes.meeting(kinds, **surface)
    return mech, np.concatenate(list(rates.values()))


def at_rest(mech):
    return mech, None


def struck():
    """The four-bar starts at rest: its own weight swings it."""
    return scenes.struck_four_bar(), None


# name: (mechanism and rates, step, steps, targets of step k, torques of step k)
SCENES = {
    "ball-ball": (lambda: flying("ball-ball"), 0.02, 30, None, None),
    "ball-rod": (lambda: flying("ball-rod"), 0.02, 30, None, None),
    "ball-brick": (lambda: flying("ball-brick"), 0.02, 30, None, None),
    "rod-brick": (lambda: flying("rod-brick"), 0.005, 62, None, None),
    "bounce": (lambda: flying("ball-brick", restitution=0.6, friction=0.3), 0.02, 30, None, None),
    "smooth": (lambda: flying("ball-rod", friction=0.0), 0.02, 30, None, None),
    "cradle": (lambda: (scenes.row(3, restitution=1.0), (1.0, *np.zeros(17))), 0.02, 30, None, None),
    "ball on a table": (lambda: at_rest(scenes.laid("ball", height=0.02)), 0.02, 15, None, None),
    "rod on a table": (lambda: at_rest(scenes.laid("rod", height=0.05, orientation=LEANING)), 0.01, 8, None, None),
    "overhanging": (lambda: at_rest(scenes.overhanging(0.01)), 0.01, 10, None, None),
    "three balls": (lambda: at_rest(scenes.three_balls(0.02)), 0.02, 15, None, None),
    "squeezed": (lambda: at_rest(scenes.squeezed()), 0.02, 5, None, lambda k: (20.0, -20.0)),
    "coil": (lambda: at_rest(scenes.coil(4)), 0.02, 9, lambda k: np.full(3, 1.9), None),
    "struck four-bar": (struck, 0.02, 20, None, None),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENES)
def test_steps_are_the_twins(name):
    """With the same small softness: poses, forces and velocities at every knot, as of contacts with the ground.

    Left out is what has several solutions (a rod that falls flat on another may rest on either end
    first), and steps that the simulator halves or solves carefully, with softer anchors.
    """
    build, h, steps, targets, torques = SCENES[name]
    mech, rates = build()
    sim, twin = pair(mech, h, rates)
    touched = 0.0
    for k in range(steps):
        step_both(sim, twin, k, targets, torques)
        # Either lets a body sink by SINKS, 5e-8 m, before its softness counts anew, not always in
        # one iteration: in a step of 10 ms 5e-6 m/s, and 5e-4 N on 1 kg under impacts of 10 N.
        assert poses(sim, twin) <= 4.0 * SINKS, k
        assert forces(sim, twin) <= 1e-4, k
        assert velocities(sim, twin) <= 4.0 * SINKS / h, k
        touched = max(touched, np.abs(twin.touched).max())
    assert touched > 1.0
