"""A scene for every set of features that kernels are compiled for, and what a simulator tells of it.

``python -m scenes.features FILE SCENE`` plays one and pickles the readings.
"""

import pickle
import sys
from pathlib import Path

import numpy as np

from scenes.fields import add_bowl
from scenes.loops_space import random_loops
from scenes.touching_scenes import hopper
from scenes.tracks import random_tracks
from scenes.trees import TYPES, random_positions, random_tree
from vigym import MINITAUR_MOTOR, Mechanism, Simulator, Terrain
from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.elements.shapes import Box, Capsule, Cylinder, Sphere
from vigym.mechanism.tracks.slides import Slide

STEPS = 20
Y, UP = (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
NONE = (0.0, 0.0, 0.0)
READ = ("body_states", "joint_positions", "joint_velocities", "actuator_torques", "time")
SOLIDS = {
    "box": Box(size=(0.2, 0.3, 0.1)),
    "can": Cylinder(radius=0.1, length=0.2),
    "pill": Capsule(radius=0.05, length=0.2),
    "ball": Sphere(radius=0.1),
}


def tree():
    """Joints of every type with springs and dampers; motors, limits and dry friction."""
    mech = random_tree(3, TYPES, damping=0.3, per_freedom=True)
    for name, parent, x in (("arm", "b1", 0.5), ("hand", "arm", 1.0), ("finger", "hand", 1.5)):
        mech.add_body(name, 0.5, (0.2, 0.3, 0.25), (x, 0.0, 0.0))
        values = {"limits": (-0.5, 0.5), "friction": 0.2, "effort": 3.0}
        mech.add_joint(name, "revolute", parent, name, (x - 0.5, 0.0, 0.0), Y, **values)
    mech.add_motor("hand", kp=20.0, kd=1.0, effort=3.0)
    mech.add_motor("finger", kp=1.0, kd=0.02, model=MINITAUR_MOTOR)
    return mech


def loops():
    """A tree closed by joints, with springs between points, and a gear."""
    types = ("revolute", "spherical", "prismatic", "universal", "spherical")
    mech = random_loops(1, types, ("spherical", "revolute"), damping=0.2)
    for name in ("driving", "driven"):
        mech.add_body(name, 1.0, (0.1, 0.2, 0.15))
        mech.add_joint(name, "revolute", "world", name, (0.0, 0.0, 0.1), Y)
    mech.add_coupling("gear", "gear", "driven", "driving", -2.0)
    return mech


def contacts():
    """A closed leg with motors; solids that land, one on another; a wheel and a skate."""
    mech = hopper()
    for k, (name, shape) in enumerate(SOLIDS.items()):
        mech.add_body(
            name, 1.0, (0.01, 0.012, 0.015), (1.0 + 0.5 * k, 0.0, 0.16), (0.95, 0.2, 0.1, 0.05)
        )
        mech.add_collision(name, name, shape, friction=0.5, restitution=0.3 * (name == "ball"))
    mech.add_body("top", 0.5, (0.002, 0.002, 0.002), (1.0, 0.0, 0.4))
    mech.add_collision("top", "top", Sphere(radius=0.1))
    mech.add_pair("top", "box")
    for name, y in (("wheel", 2.0), ("skate", 3.0)):
        mech.add_body(name, 1.0, (0.02, 0.02, 0.03), (0.0, y, 0.1))
        mech.add_joint(name, "planar", "world", name, (0.0, y, 0.1), UP)
    mech.add_wheel("tyre", "wheel", NONE, Y, 0.1)
    mech.add_skate("blade", "skate", (-0.1, 0.0, 0.0), Y)
    return mech


def imposed():
    """Solids on terrain; a potential, a motion and a velocity constraint."""
    x, y = np.meshgrid(np.linspace(-2.0, 2.0, 17), np.linspace(-2.0, 2.0, 17), indexing="ij")
    mech = Mechanism(ground=Ground(terrain=Terrain(0.1 * np.sin(3.0 * x) * np.cos(2.0 * y), 0.25)))
    for k, (name, shape) in enumerate(SOLIDS.items()):
        mech.add_body(
            name, 1.0, (0.01, 0.012, 0.015), (0.5 * k - 1.0, 0.0, 0.3), (0.95, 0.2, 0.1, 0.05)
        )
        mech.add_collision(name, name, shape, friction=0.5)
    for name, parent, z in (("upper", "world", 2.0), ("lower", "upper", 1.5)):
        mech.add_body(name, 1.0, (0.02, 0.03, 0.025), (0.0, 1.0, z))
        mech.add_joint(name, "revolute", parent, name, (0.0, 1.0, z + 0.25), Y)
    add_bowl(mech, "lower")
    mech.add_motion("upper", lambda t: 0.4 * np.sin(5.0 * t))
    mech.add_body("rider", 2.0, (0.2, 0.25, 0.15), (1.0, 1.0, 1.5))
    terms = {"rider": ((2.0, 0.0, 0.3), NONE), "lower": ((-1.0, 0.0, 0.0), (0.0, 0.5, 0.0))}
    mech.add_velocity_constraint("twice as fast", terms)
    return mech


def tracks():
    """A tree tied by a curve with a slide, two surfaces and a joint of one's own, whose forces are determined."""
    return random_tracks(2, Slide(stiffness=3.0, damping=0.2))


SCENES = (tree, loops, contacts, imposed, tracks)


def start(make, batch=None):
    """Return a simulator of a scene that moves."""
    mech = make()
    sim = Simulator(mech, timestep=0.01, batch=batch)
    if make is tree:
        sim.reset(random_positions(5, mech, 0.1))
    if make is contacts:
        spins = {f"{name}:floating": (0.3, -0.1, 0.2, 1.0, 2.0, -1.5) for name in SOLIDS}
        sim.reset(velocities=spins | {"wheel": (0.5, 0.0, 0.8), "skate": (0.5, 0.0, 0.8)})
    return sim


def play(make, batch=None):
    """Drive a scene, push its bodies and go on; return all readings by name."""
    sim = start(make, batch)
    rows = 1.0 if batch is None else 1.0 + 0.1 * np.arange(batch)
    torques = np.multiply.outer(rows, np.sin(np.arange(len(sim.mechanism.actuator_names))))
    bodies = list(sim.mechanism.bodies)
    readings = {}
    for part in ("first", "second"):
        given = {"status": sim.step(torques=torques, substeps=STEPS // 2)._asdict()}
        given |= {"metrics": sim.metrics(), "contacts": sim.contacts._asdict()}
        given["energy"] = sim.energy()._asdict()
        given["sim"] = {name: getattr(sim, name) for name in READ}
        given["sim"] |= {"forces": sim.joint_forces(), "power": sim.readings.power}
        if make is loops and batch is None:
            given["linear"] = dict(zip("AB", sim.linearize(), strict=True))
        for kind, values in given.items():
            readings |= {f"{part} {kind} {name}": value for name, value in values.items()}
        if make in (imposed, tracks):
            sim.forces.apply(bodies[0], (1.0, 0.5, 0.2), (0.1, 0.0, 0.3))
        sim.push(np.multiply.outer(rows, 0.1 * np.sin(np.arange(3.0 * len(bodies))).reshape(-1, 3)))
    return {name: np.asarray(value, float) for name, value in readings.items()}


if __name__ == "__main__":
    file, name = sys.argv[1:]
    (scene,) = (make for make in SCENES if make.__name__ == name)
    Path(file).write_bytes(pickle.dumps(play(scene)))
