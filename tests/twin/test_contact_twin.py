"""Contact, limits, friction and drives against the slow twin: the same laws, solved by other means."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive_soft import SINKS
from scenes import touching_scenes as scenes
from scenes.contact_agreement import forces, pair, poses, step_both, velocities
from scenes.trees import unit

TUMBLE = unit(np.array([1.0, 0.3, -0.5, 0.2]))
THROWN = (1.0, -0.5, 0.0, 1.0, 2.0, -1.5)


def motors(mech, **gains):
    for joint, (kp, kd) in gains.items():
        mech.add_motor(joint, kp, kd)
    return mech


# name: (mechanism, step, steps, rates, targets of step k, torques of step k)
SCENES = {
    "drop": (lambda: scenes.box(0.65), 0.05, 12, None, None, None),
    "slide": (scenes.box, 0.05, 14, (3.0, 0, 0, 0, 0, 0), None, None),
    "tumble": (lambda: scenes.box(0.55, orientation=TUMBLE, size=(0.5, 0.3, 0.2)), 0.01, 80, THROWN, None, None),
    "sticks": (lambda: scenes.box_on_slope(0.4), 0.02, 10, None, None, None),
    "slides off": (lambda: scenes.box_on_slope(0.6), 0.02, 10, None, None, None),
    "rolls": (scenes.ball, 0.02, 20, (2.0, 0, 0, 0, 3.0, 0), None, None),
    "spins": (lambda: scenes.ball(0.15, torsion=0.02), 0.02, 20, (1.0, 0.3, 0, 0, 3.0, 5.0), None, None),
    "capsule": (lambda: scenes.capsule(0.25, orientation=TUMBLE), 0.005, 120, THROWN, None, None),
    "can": (lambda: scenes.cylinder(0.25, TUMBLE), 0.01, 50, THROWN, None, None),
    "bounces": (lambda: scenes.ball(0.2, restitution=0.7), 0.02, 30, (0.5, 0, -1.0, 0, 0, 4.0), None, None),
    "stops": (lambda: scenes.pendulum(limits=(-0.5, 0.4)), 0.02, 40, (3.0,), None, None),
    "two stops": (lambda: scenes.double_pendulum((-0.5, 0.5), (-0.3, 0.9)), 0.02, 40, (3.0, 1.0), None, None),
    "dry": (lambda: scenes.double_pendulum(friction=0.5), 0.02, 40, (3.0, 1.0), None, None),
    "dry stops": (lambda: scenes.double_pendulum((-0.4, 0.4), (-0.3, 0.5), friction=0.1), 0.01, 40, (0.1, -0.1),
                  None, None),
    "springs": (lambda: scenes.double_pendulum(stiffness=50.0), 0.02, 40, (3.0, 1.0), None, None),
    "velocity limit": (lambda: motors(scenes.wheel_drive(effort=5.0, velocity=3.0), axle=(0.0, 1e3)), 0.02, 30, None,
                       lambda k: (10.0,), lambda k: (np.sin(k),)),
    "position motor": (lambda: motors(scenes.wheel_drive(effort=5.0), axle=(50.0, 0.1)), 0.02, 30, None,
                       lambda k: (1.0,), lambda k: (np.sin(k),)),
    "saturates": (lambda: motors(scenes.wheel_drive(effort=2.0), axle=(20.0, 1.0)), 0.02, 30, None,
                  lambda k: (1.0,), None),
    "limited leg": (lambda: scenes.fixed_leg(50.0, 0.1, 3.0, (-0.3, 0.3)), 0.01, 60, None,
                    lambda k: (0.5, 0.5) if k < 30 else (-0.6, 0.2), None),
    "hopper": (lambda: scenes.hopper(clearance=0.02), 0.01, 40, None,
               lambda k: (0.3 * np.sin(k / 5.0), -0.3 * np.sin(k / 5.0)), None),
    "quadruped": (lambda: scenes.quadruped(clearance=0.01), 0.01, 18, None,
                  lambda k: 0.3 * np.sin(0.3 * k + np.arange(8)), None),
    "snake": (lambda: scenes.snake(4), 0.01, 20, None, lambda k: 0.3 * np.sin(0.2 * k + np.arange(3)), None),
    "gear": (scenes.geared, 0.02, 20, (1.0, -2.0), None, lambda k: (0.3, -0.2)),
    "screw": (lambda: scenes.screw(0.05), 0.02, 10, None, None, None),
    "sleigh": (scenes.sleigh, 0.02, 30, (1.0, 0.2, 1.0), None, None),
    "wheel": (scenes.unicycle, 0.02, 20, (0.3, 0.0, 1.0, 3.0), None, lambda k: (0.1,)),
    "leaning wheel": (scenes.leaning_wheel, 0.02, 20, scenes.leaning_rates((0.0, 6.0, 2.0)), None, None),
}  # fmt: skip


@pytest.mark.parametrize("name", SCENES)
def test_steps_are_the_twins(name):
    """With the same small softness for changes of force: poses, forces and velocities at every knot.

    A step may leave 5e-8 m of softness to where its solver ends, and steps add up.
    """
    build, h, steps, rates, targets, torques = SCENES[name]
    sim, twin = pair(build(), h, rates)
    for k in range(steps):
        step_both(sim, twin, k, targets, torques)
        assert poses(sim, twin) <= max(2e-7, SINKS * (k + 1)), k
        assert forces(sim, twin) <= 1e-4, k
        assert velocities(sim, twin) <= 3e-5, k  # the read-out's own softness shows at impacts


@pytest.mark.parametrize("name", ["drop", "slide", "sticks", "slides off", "stops"])
def test_softness_changes_nothing_that_is_unique(name):
    """Against the laws as they are."""
    build, h, steps, rates, targets, torques = SCENES[name]
    sim, twin = pair(build(), h / 2.0, rates, prox=0.0)
    for k in range(2 * steps):
        step_both(sim, twin, k, targets, torques)
        assert poses(sim, twin) <= 1e-7, k
