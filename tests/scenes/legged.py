"""Random robots on parallelogram legs: closed loops, joint limits, dry friction and contacts at once."""

import numpy as np

from vigym import Mechanism
from vigym.mechanism.elements.shapes import Box, Sphere

GRAVITY = 9.81


def add_parallelogram_leg(mech, name, place, size, mass, hip, knee, foot):
    """A leg of two cranks and a bar, and a sphere as foot; options of its hip, knee and foot."""
    x, y = place
    length, width = 0.2 * size, 0.1 * size
    moment = mass * length**2 / 12.0
    crank = (moment, moment, 0.05 * moment)
    front, rear, bar = (f"{name}_{part}" for part in ("front", "rear", "bar"))
    mech.add_body(front, mass, crank, (x, y, -length / 2.0))
    mech.add_body(rear, mass, crank, (x + width, y, -length / 2.0))
    moment = mass * width**2 / 12.0
    mech.add_body(bar, mass, (0.05 * moment, moment, moment), (x + width / 2.0, y, -length))
    across = (0.0, 1.0, 0.0)
    mech.add_joint(f"{front}_hip", "revolute", "torso", front, (x, y, 0.0), across, **hip)
    mech.add_joint(f"{rear}_hip", "revolute", "torso", rear, (x + width, y, 0.0), across)
    mech.add_joint(f"{name}_knee", "revolute", front, bar, (x, y, -length), across, **knee)
    mech.add_joint(f"{name}_loop", "revolute", rear, bar, (x + width, y, -length), across)
    mech.add_collision(f"{name}_foot", bar, Sphere(0.02 * size), **foot)


def add_torso(mech, size):
    """A floating torso of 10 kg at a size of 1 m; returns its mass [kg]."""
    mass = 10.0 * size**3
    mech.add_body("torso", mass, mass * size**2 * np.array([0.02, 0.03, 0.04]))
    mech.add_joint("base", "floating", "world", "torso", (0.0, 0.0, 0.0))
    return mass


def hip_place(k, size):
    """Place (x, y) of hip k of four."""
    return (-0.15 + 0.3 * (k % 2)) * size, (-0.1 + 0.2 * (k // 2)) * size


def random_legged_robot(rng, restitution=None):
    """A floating torso on one to four legs; returns the mechanism and its size [m].

    Without ``restitution`` feet have one of 0 or 0.5.
    """
    mech = Mechanism(ground=True)
    size = 10.0 ** rng.uniform(-1.0, 0.3)
    friction = rng.choice([0.0, 0.3, 0.8, 1.4, 5.0])
    mass = add_torso(mech, size)
    light = mass / 10.0 ** rng.uniform(0.0, 2.5)
    if rng.random() < 0.7:
        mech.add_collision(
            "trunk", "torso", Box((0.4 * size, 0.3 * size, 0.1 * size)), friction=friction
        )
    for k in range(rng.integers(1, 5)):
        foot = {"friction": friction, "restitution": rng.choice([0.0, 0.5])}
        if restitution is not None:
            foot["restitution"] = restitution
        limits = -rng.uniform(0.1, 1.0), rng.uniform(0.1, 1.0)
        hip = {"limits": limits, "damping": rng.choice([0.0, 0.01 * light * (0.2 * size) ** 2])}
        knee = {"friction": rng.choice([0.0, 0.05 * light * 0.2 * size * GRAVITY])}
        add_parallelogram_leg(mech, f"leg{k}", hip_place(k, size), size, light, hip, knee, foot)
    return mech, size


def robot_on_light_legs(rng):
    """A floating torso on legs of 1e-5 to 1e-4 of its mass, whose hips and knees have limits.

    Returns the mechanism and its size [m].
    """
    mech = Mechanism(ground=True)
    size = 10.0 ** rng.uniform(-1.0, 0.0)
    light = add_torso(mech, size) * 10.0 ** rng.uniform(-5.0, -4.0)
    play = rng.choice([1e-3, 0.05, 0.3])
    friction = rng.choice([0.0, 0.5, 1.0])
    for k in range(rng.integers(1, 4)):
        hip = {"limits": (-play * rng.uniform(), play * rng.uniform())}
        knee = {"limits": (-play - 0.01, play + 0.01)}
        foot = {"friction": friction}
        add_parallelogram_leg(mech, f"leg{k}", hip_place(k, size), size, light, hip, knee, foot)
    return mech, size


def throw_on_ground(sim, size, rng):
    """Start a robot on the ground, tilted, with random velocities."""
    fast = np.sqrt(GRAVITY * size)
    velocity = np.concatenate([0.3 * rng.normal(size=3), 0.5 * rng.normal(size=3) / size]) * fast
    velocity[2] = -abs(velocity[2])
    tilt = 1.0, 0.1 * rng.normal(), 0.1 * rng.normal(), 0.0
    sim.reset({"base": (0.0, 0.0, 0.0, *tilt)}, {"base": velocity}, place_on_ground=True)


def add_foot_springs(mech, size, rng):
    """Springs between the torso and most feet, up to a thousand weights over the size in stiffness."""
    mass = sum(body.mass for body in mech.bodies.values())
    for name in [name for name in mech.bodies if name.endswith("_bar")]:
        if rng.random() < 0.8:
            stiffness = 10.0 ** rng.uniform(0.0, 3.0) * mass * GRAVITY / size
            length = rng.uniform(0.1, 0.4) * size
            damping = rng.choice([0.0, 0.1]) * np.sqrt(stiffness * mass)
            ends = "torso", name, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
            mech.add_spring(f"{name}_spring", *ends, stiffness, length, damping)
