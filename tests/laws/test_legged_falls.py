"""Falls of random legged robots: loops, limits, dry friction and impacts of feet in the same steps."""

import numpy as np
import pytest

from scenes.legged import (
    GRAVITY,
    add_foot_springs,
    add_parallelogram_leg,
    add_torso,
    hip_place,
    random_legged_robot,
)
from vigym import Mechanism, Simulator

TIMESTEPS = 1e-6, 1e-5, 1e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2
STEPS = 400
READ = 4  # knots of an impact, whose energies are read with the mean of two velocities
# Gain of energy that is too large, over weight times size. Large steps of 240 such robots err by up
# to 0.004, and their motion is chaotic: it differs from machine to machine.
GAIN = 0.01


def start(seed, timesteps=TIMESTEPS, springs=False):
    """A robot thrown in a random pose, and the energy of its weight over its size [J]."""
    rng = np.random.default_rng(seed)
    mech, size = random_legged_robot(rng)
    if springs:
        add_foot_springs(mech, size, rng)
    sim = Simulator(mech, timestep=timesteps[seed % len(timesteps)])
    turn = np.array([1.0, 0.0, 0.0, 0.0]) + rng.normal(size=4) * [0.0, 0.4, 0.4, 0.4]
    height = 0.0 if seed % 2 else rng.uniform(0.25, 0.6) * size
    thrown = np.concatenate([rng.normal(size=3), 4.0 * rng.normal(size=3)])
    sim.reset(
        {"base": (0.0, 0.0, height, *turn / np.linalg.norm(turn))},
        {"base": thrown},
        place_on_ground=bool(seed % 2),
    )
    return sim, size * GRAVITY * sum(body.mass for body in mech.bodies.values())


@pytest.mark.parametrize("seed", range(24))
def test_every_step_is_solved_and_none_gains_energy(seed):
    sim, scale = start(seed)
    energies = [sim.energy().total]
    for _ in range(STEPS):
        assert sim.step().converged
        energies.append(sim.energy().total)
        assert energies[-1] - max(energies[-1 - READ : -1]) < GAIN * scale
        assert sim.constraint_residual() <= 1e-10


@pytest.mark.parametrize("seed", [33, 44, 128])
def test_springs_give_back_what_they_stored(seed):
    """Springs pull legs against their limits so fast that a step turns them by a radian and more.

    Bodies flipped in some steps, and knot velocities ignored the limits that held the legs:
    the largest energy appeared once more in a step.
    """
    sim, largest = start(seed, TIMESTEPS[3:], springs=True)
    energies = [sim.energy().total]
    lowest = sim.energy().potential
    for _ in range(300):
        assert sim.step().converged
        kinetic, potential, total = sim.energy()
        energies.append(total)
        lowest = min(lowest, potential)
        largest = max(largest, kinetic, total - lowest)
        assert energies[-1] - max(energies[-1 - READ : -1]) < 0.1 * largest


def test_a_leg_that_swings_into_its_limit_creates_no_energy():
    """A hip hits its limit while the feet slide on ice: the equations of the step have two roots.

    At the wrong one a foot's bar turns over within the step, and the robot gains 14 times its
    weight times its size.
    """
    mech, size = Mechanism(ground=True), 1.41845498
    torso, light = add_torso(mech, size), 0.51654103
    limits = (-0.78848197, 0.77900169), (-0.55105628, 0.4491418), (-0.75757877, 0.79675916)
    dry = 0.0, 0.0, 0.07187691
    for k in range(3):
        hip, knee = {"limits": limits[k]}, {"friction": dry[k]}
        place, foot = hip_place(k, size), {"friction": 0.0}
        add_parallelogram_leg(mech, f"leg{k}", place, size, light, hip, knee, foot)
    hips = [f"leg{k}_front_hip" for k in range(3)]
    sim = Simulator(mech, timestep=0.005)
    pose = (-0.6314, -1.3515, -0.172, 0.0668, 0.6747, 0.735, 0.0042)
    twist = (-1.2975, -2.5234, -4.1289, 1.4551, 5.32, -0.015)
    sim.reset(
        {"base": pose, **dict(zip(hips, (0.779, -0.4603, 0.7949), strict=True))},
        {"base": twist, **dict(zip(hips, (0.0, 10.8078, -0.211), strict=True))},
    )
    scale = size * GRAVITY * (torso + 9 * light)
    energy, halvings = sim.energy().total, 0
    for _ in range(20):
        status = sim.step()
        assert status.converged
        halvings += status.halvings
        assert sim.energy().total < energy + GAIN * scale
    assert halvings > 0
