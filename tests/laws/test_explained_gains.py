"""Motion whose energy forces give: its steps are not halved for it."""

from __future__ import annotations

import numpy as np
import pytest

from scenes.shapes import box_inertia
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.shapes import Box, Sphere


def arm_beside_a_puck(armature=0.0):
    """A puck lies on the ground, so that the step is nonsmooth; an arm with dry friction turns above."""
    mech = Mechanism(ground=True)
    mech.add_body("puck", 1.0, (0.01, 0.01, 0.01), (2.0, 0.0, 0.1))
    mech.add_collision("puck", "puck", Sphere(0.1), friction=0.5)
    mech.add_body("arm", 1.0, (0.02, 0.02, 0.02), (0.0, 0.0, 1.0))
    hinge = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)
    drive = {"effort": 10.0, "friction": 1e-3, "armature": armature}
    mech.add_joint("hinge", "revolute", "world", "arm", *hinge, **drive)
    return mech


@pytest.mark.parametrize("torque", [0.5, 2.0, 5.0])
def test_a_torque_that_is_switched_off_explains_the_step_after(torque):
    """Half of its impulse belongs to that step."""
    sim = Simulator(arm_beside_a_puck(), timestep=0.01)
    for k in range(40):
        status = sim.step([torque if k % 2 == 0 else 0.0])
        assert status.converged
        assert status.halvings == 0


@pytest.mark.parametrize("stiffness", [1e2, 1e3])
def test_a_preloaded_spring_explains_the_first_step(stiffness):
    """A box with a weight on a spring inside falls on its corner: the spring has no force before the first step."""
    mech = Mechanism(ground=True)
    place = (0.0, 0.0, 0.2)
    mech.add_body("box", 1.0, box_inertia(1.0, (0.3, 0.25, 0.2)), place)
    mech.add_body("weight", 0.2, (1e-3, 1e-3, 1e-3), place)
    spring = {"stiffness": stiffness, "rest": 0.1}
    mech.add_joint("slide", "prismatic", "box", "weight", place, (1.0, 0.0, 0.0), **spring)
    mech.add_collision("box", "box", Box((0.3, 0.25, 0.2)), friction=0.6)
    sim = Simulator(mech, timestep=0.01)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        turn = rng.normal(size=4)
        fall = {"orientation": turn / np.linalg.norm(turn), "velocity": (0.0, 0.0, -1.0)}
        sim.reset(base={"box": fall}, place_on_ground=True)
        status = sim.step()
        assert status.converged
        assert status.halvings == 0, seed


@pytest.mark.parametrize("armature", [0.0, 0.02, 0.5])
def test_an_armature_gives_back_what_it_stored(armature):
    """A motor that turns the arm to and fro brakes the armature, and the arm goes on."""
    mech = arm_beside_a_puck(armature)
    mech.add_motor("hinge", kp=20.0, kd=0.1)
    sim = Simulator(mech, timestep=0.01)
    for k in range(100):
        status = sim.step(targets=[0.5 if k % 20 < 10 else -0.5])
        assert status.converged
        assert status.halvings == 0


@pytest.mark.parametrize(
    ("rate", "effort"), [(1.0, 0.5), (1.0, 10.0), (5.0, 2.0), (20.0, 10.0), (50.0, 10.0)]
)
def test_a_contact_gives_what_a_motor_takes_in_the_same_step(rate, effort):
    """A motor turns a rising rod round and thrusts its tip into the ground, all in one step.

    Both impulses act at one knot, at the mean of the rates before and after it.
    """
    mech, height = Mechanism(ground=True), 0.1
    length, mass = 0.3, 0.01
    moment = mass * length**2 / 12.0
    mech.add_body("rod", mass, (1e-6, moment, moment), (length / 2.0, 0.0, height))
    hinge = (0.0, 0.0, height), (0.0, 1.0, 0.0)
    mech.add_joint("hinge", "revolute", "world", "rod", *hinge, effort=effort)
    mech.add_motor("hinge", kp=100.0 * effort, kd=0.1 * effort)
    mech.add_contact("tip", "rod", (length / 2.0, 0.0, 0.0), friction=0.5)
    sim = Simulator(mech, timestep=0.01)
    sim.reset({"hinge": np.arcsin((height - 1e-3) / length)}, {"hinge": -rate})
    for _ in range(3):
        status = sim.step(targets=[0.6])
        assert status.converged
        assert status.halvings == 0
    assert abs(sim.contacts.gap[0]) < 1e-8
