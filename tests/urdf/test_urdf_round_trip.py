"""The law of files: a mechanism that is written and read is the same, or an error names what has no element."""

from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest

from scenes import sprung
from scenes.env_cases import CASES
from scenes.random_scenes import KINDS, direction, random_scene
from scenes.same_mechanism import compare
from scenes.trees import TYPES, random_tree
from vigym.mechanism.elements.errors import MechanismError
from vigym.mechanism.elements.motors import MINITAUR_MOTOR
from vigym.mechanism.elements.shapes import Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.urdf.convert.load import load_urdf

SEEDS = range(4)
OPTIONS = (
    ("vigym/Snake-v0", {"skates": True}),
    ("vigym/Snake-v0", {"self_collision": True}),
    ("vigym/Minitaur-v0", {"motor": "voltage"}),
)
MOVING = [name for name in TYPES if name != "fixed"]
FLOATING = (
    "found no joint that carries it, and other bodies that float"  # no element for a second one
)


def returned(mech, file):
    """Write a mechanism, read and compare it; return the error of one that no file can have, else nothing."""
    try:
        mech.to_urdf(file)
    except MechanismError as error:
        return str(error)
    loaded = load_urdf(file, ground=mech.ground)
    assert not [note for note in loaded.notes if "not known" in note.message]
    compare(mech, loaded)
    return ""


@pytest.mark.parametrize(
    ("name", "options"),
    [*CASES, *OPTIONS],
    ids=lambda given: given if isinstance(given, str) else " ".join(given),
)
def test_every_environment(name, options, tmp_path):
    fault = returned(gym.make(name, **options).unwrapped.mechanism, tmp_path / "r.urdf")
    # that of MuJoCo's double pendulum has gravity along x, too
    assert ("gravity: found" in fault) if "StandardDouble" in name else not fault


def add_all_else(mech, rng):
    """Add what URDF lacks: motors, couplings, springs, skates, wheels, pairs, directed friction, limits."""
    bodies = list(mech.bodies)
    hinges = [joint.name for joint in mech.joints.values() if joint.dofs == 1]
    for name in hinges:
        effort, model = rng.choice([3.0, np.inf]), rng.choice([None, MINITAUR_MOTOR])
        targets = None if rng.uniform() < 0.5 else np.sort(rng.normal(size=2))
        mech.add_motor(name, rng.uniform(), rng.uniform(), effort, model=model, targets=targets)
    for follower, leader in zip(hinges[1:], hinges, strict=False):
        mech.add_coupling(f"belt {follower}", "gear", follower, leader, rng.normal(), rng.normal())
    for k, body in enumerate(bodies):
        point, axis = rng.normal(size=3), direction(rng)
        mech.add_spring(f"s{k}", "world", body, rng.normal(size=3), point, 5.0, 1.0, rng.uniform())
        mech.add_skate(f"skate {k}", body, point, axis)
        mech.add_wheel(f"wheel {k}", body, point, axis, rng.uniform(0.1, 1.0))
        surface = {"friction": rng.uniform(size=rng.integers(1, 4)), "torsion": rng.uniform()}
        surface |= {"restitution": rng.uniform(), "direction": direction(rng)}
        mech.add_collision(f"skin {k}", body, Sphere(1.0, position=point), **surface)
        mech.add_contact(f"toe {k}", body, rng.normal(size=3), rng.choice([0.0, 0.3]))
    mech.add_pair(bodies[2], bodies[0])
    mech.add_pair(bodies[1], bodies[3])


@pytest.mark.parametrize("seed", SEEDS)
def test_random_trees(seed, tmp_path):
    """Armature, limits, springs and dampers that differ by degree of freedom, and all that URDF lacks."""
    rng = np.random.default_rng(seed)
    types = [*rng.choice(["revolute", "prismatic"], 3), *rng.choice(MOVING, 3)]
    mech = random_tree(seed, types, gravity=(0, 0, -9.81), damping=1.0, per_freedom=True)
    bodies = {
        name: replace(body, orientation=np.copysign(1.0, body.orientation[0]) * body.orientation)
        for name, body in mech.bodies.items()
    }
    joints = dict(mech.joints)
    for name, joint in joints.items():
        count = 0 if joint.type == "continuous" else joint.joint_type.limit_count
        if count:
            limits = np.sort(rng.normal(size=(count, 2)) + (-2.0, 2.0))
            limits[0, rng.integers(2)] *= rng.choice([1.0, np.inf])
            joint = replace(joint, limits=limits)
        if joint.joint_type.has_ball:
            joint = replace(joint, friction=rng.uniform())
        joints[name] = joint
    mech = mech.with_replaced_elements(bodies=bodies, joints=joints)
    add_all_else(mech, rng)
    assert not returned(mech, tmp_path / "r.urdf")


@pytest.mark.parametrize("kind", ["revolute", "spherical", "points"])
def test_sprung_chains(kind, tmp_path):
    for seed in SEEDS:
        mech = sprung.sprung_chain(kind, seed, 1e3, Mechanism())
        assert not returned(mech, tmp_path / "r.urdf")


@pytest.mark.parametrize("kind", KINDS)
def test_random_scenes_of_contact(kind, tmp_path):
    for seed in SEEDS:
        fault = returned(random_scene(kind, seed)[0].mech, tmp_path / "r.urdf")
        assert (FLOATING in fault) == (kind in ("stack", "pair")), fault
