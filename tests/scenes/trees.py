"""Random trees of joints, and random states of them, for the tests of the stepper and of its twin."""

from __future__ import annotations

import numpy as np

from oracle.naive_joints import conj, mul, rotate
from vigym.mechanism.elements.joint_types import JOINT_TYPES
from vigym.mechanism.mechanism import Mechanism

TYPES = tuple(JOINT_TYPES)


def unit(vector):
    return vector / np.linalg.norm(vector)


def inertia(rng):
    """A full tensor that a real body can have [kg m^2]: trace(A) 1 - A of a random second moment A."""
    root = rng.normal(size=(3, 3))
    moment = 0.05 * root @ root.T + 0.1 * np.eye(3)
    return np.trace(moment) * np.eye(3) - moment


def differing(kind, value):
    """One number per freedom of a joint type, each another; the same for three rotations."""
    row = JOINT_TYPES[kind]
    turns = [1.0] * 3 if row.has_quaternion else [1.0, 0.8][: len(row.rotations)]
    return value * np.array([*[1.7, 0.5, 2.2][: len(row.translations)], *turns])


def random_tree(
    seed,
    types,
    *,
    damping=0.0,
    springs=True,
    armature=True,
    gravity=(0.3, -0.2, -9.81),
    to_world=True,
    per_freedom=False,
):
    """One body and one joint per entry of `types`: tilted axes, anchors off the centres of mass, actuators everywhere.

    Body i hangs on a random earlier body or the world; with `to_world` False the first body floats
    freely and carries all others. `per_freedom` gives the freedoms of a joint springs and dampers that
    differ.
    """
    rng = np.random.default_rng(seed)
    mech = Mechanism(gravity=gravity)
    if not to_world:
        mech.add_body("root", 1.5, inertia(rng), rng.normal(size=3), unit(rng.normal(size=4)))
    for i, kind in enumerate(types):
        mech.add_body(
            f"b{i}",
            rng.uniform(0.5, 2.0),
            inertia(rng),
            rng.normal(size=3),
            unit(rng.normal(size=4)),
        )
        parents = (["world"] if to_world else ["root"]) + [f"b{k}" for k in range(i)]
        axis = unit(rng.normal(size=3))
        values = {"axis": axis}
        if JOINT_TYPES[kind].needs_second_axis:
            values["axis2"] = unit(np.cross(axis, rng.normal(size=3)))
        if kind != "fixed":
            values |= {"damping": damping * rng.uniform(0.5, 2.0), "effort": np.inf}
            values |= {"stiffness": springs * rng.uniform(2.0, 8.0)}
        if kind != "fixed" and not JOINT_TYPES[kind].has_quaternion:
            values |= {
                "armature": armature * rng.uniform(0.05, 0.3),
                "rest": rng.uniform(-0.3, 0.3),
            }
        if per_freedom and kind != "fixed":
            values |= {name: differing(kind, values[name]) for name in ("damping", "stiffness")}
        mech.add_joint(
            f"j{i}", kind, rng.choice(parents), f"b{i}", 0.7 * rng.normal(size=3), **values
        )
    return mech


def random_positions(seed, mech, scale=0.4):
    """Coordinates near the assembly pose by joint name; quaternions have length one."""
    rng, positions = np.random.default_rng(seed), {}
    for joint in mech.tree_joints:
        joint_type = joint.joint_type
        slides, count = (
            scale * rng.normal(size=len(joint_type.translations)),
            len(joint_type.rotations),
        )
        turns = scale * rng.normal(size=count)
        turns = unit(np.append(1.0, turns)) if count == 3 else turns
        if joint.type == "floating":  # its coordinates alone are not zero at assembly
            position, orientation = assembly(mech, joint)
            slides, turns = position + slides, mul(orientation, turns)
        if joint_type.positions:
            positions[joint.name] = np.append(slides, turns)
    return positions


def assembly(mech, joint):
    """Pose of the joint's child in its parent as the bodies were added."""
    child = mech.bodies[joint.child]
    if joint.parent == "world":
        return child.position, child.orientation
    parent = mech.bodies[joint.parent]
    back = conj(parent.orientation)
    return rotate(back, child.position - parent.position), mul(back, child.orientation)


def random_rates(seed, mech, scale=0.5):
    """Joint rates of all freedoms, (degrees_of_freedom,)."""
    return scale * np.random.default_rng(seed).normal(size=mech.degrees_of_freedom)


def by_joint(mech, rates):
    """Split a rate vector (degrees_of_freedom,) into joint name -> tuple, leaving joints without freedom out."""
    parts, start = {}, 0
    for joint in mech.tree_joints:
        count = joint.dofs
        if count:
            parts[joint.name] = tuple(rates[start : start + count])
        start += count
    return parts
