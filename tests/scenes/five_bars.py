"""Five-bar legs below a torso on a vertical slide, with motors in both hips."""

import numpy as np

from vigym import Mechanism, Simulator

GRAVITY, TORSO = 9.81, 1.0
ACROSS = 0.0, 1.0, 0.0
THIN = 0.0025  # thickness of limbs squared, over their length squared


def add_rod(mech, name, start, end, mass):
    """Add a thin rod between two points."""
    start, end = np.array(start), np.array(end)
    way = end - start
    square = way @ way
    spread = (square * np.eye(3) - np.outer(way, way)) / 12.0
    mech.add_body(name, mass, mass * (spread + THIN * square * np.eye(3)), (start + end) / 2.0)


def add_five_bar(mech, rng, effort, limits):
    """Add four rods and their joints; the loop closes at the foot, which touches the ground."""
    light = TORSO * 10.0 ** rng.uniform(-4.0, -2.0)
    width, depth = rng.uniform(0.1, 0.25), rng.uniform(0.1, 0.3)
    length = rng.uniform(0.3, 0.5)
    hip, foot = (0.0, 0.0, 0.0), (0.0, 0.0, -length)
    for name, x in (("front", width), ("rear", -width)):
        knee = x, 0.0, -depth
        add_rod(mech, name, hip, knee, light)
        add_rod(mech, f"{name}_shank", knee, foot, light)
        options = {"effort": effort, "limits": limits}
        mech.add_joint(f"{name}_hip", "revolute", "torso", name, hip, ACROSS, **options)
        mech.add_joint(f"{name}_knee", "revolute", name, f"{name}_shank", knee, ACROSS)
    mech.add_joint("ankle", "revolute", "front_shank", "rear_shank", foot, ACROSS)
    place = np.array(foot) - np.array(mech.bodies["front_shank"].position)
    mech.add_contact("foot", "front_shank", place, friction=rng.choice([0.0, 0.5, 1.0]))


def falling_five_bar(seed):
    """A random leg that falls; returns its simulator and ten random targets of its motors [rad]."""
    rng = np.random.default_rng(seed)
    mech = Mechanism(ground=True)
    mech.add_body("torso", TORSO, (0.1, 0.1, 0.1))
    mech.add_joint("base", "prismatic", "world", "torso", (0.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    effort = TORSO * GRAVITY * 10.0 ** rng.uniform(-1.0, 0.7)
    bound = rng.uniform(0.05, 1.0)
    add_five_bar(mech, rng, effort, (-bound, bound) if rng.random() < 0.5 else None)
    for hip in ("front_hip", "rear_hip"):
        damping = 0.3 * effort * 10.0 ** rng.uniform(-2.5, -0.5)
        mech.add_motor(hip, kp=effort * 10.0 ** rng.uniform(0.0, 2.0), kd=damping)
    sim = Simulator(mech, timestep=10.0 ** rng.uniform(-2.7, -1.7))
    sim.reset({"base": rng.uniform(0.4, 0.8)}, {"base": -rng.uniform(0.0, 4.0)})
    return sim, 0.5 * rng.normal(size=(10, 2))
