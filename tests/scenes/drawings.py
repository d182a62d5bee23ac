"""Mechanisms, poses and pictures for the tests of rendering."""

import math

import numpy as np

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.shapes import Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.graph import spanning_tree
from vigym.render.make import make_renderer
from vigym.spatial import batch_quaternion_product, batch_rotation_matrix

RED = (0.9, 0.1, 0.1, 1.0)


def assembled(mech):
    bodies = mech.bodies.values()
    return np.array([body.position for body in bodies]), np.array(
        [body.orientation for body in bodies]
    )


def poses(mech, coordinate):
    """Poses of the bodies when every joint with one freedom is at `coordinate`(joint)."""
    moved = {WORLD: (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))}
    for joint, child in spanning_tree(mech):
        shift, turn = moved[joint.parent]
        step, q = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        if joint.joint_type.rotations:
            half = coordinate(joint) / 2
            q = np.concatenate(([math.cos(half)], math.sin(half) * joint.axis))
            step = joint.position - batch_rotation_matrix(q) @ joint.position
        elif joint.joint_type.translations:
            step = coordinate(joint) * joint.axis
        moved[child] = shift + batch_rotation_matrix(turn) @ step, batch_quaternion_product(turn, q)
    bodies = [(body, *moved[name]) for name, body in mech.bodies.items()]
    positions = [
        shift + batch_rotation_matrix(turn) @ body.position for body, shift, turn in bodies
    ]
    return np.array(positions), np.array(
        [batch_quaternion_product(turn, body.orientation) for body, _, turn in bodies]
    )


def ball(position=(0.0, 0.0, 1.0), **options):
    mech = Mechanism(**options)
    mech.add_body(
        "ball", 1.0, (0.1, 0.1, 0.1), position=position, shapes=[Sphere(radius=0.5, rgba=RED)]
    )
    return mech


def chain(links):
    mech = Mechanism()
    for i in range(links):
        mech.add_body(f"link{i}", 1.0, (0.1, 0.1, 0.01), position=(0.0, 0.0, -0.5 - i))
        parent = WORLD if i == 0 else f"link{i - 1}"
        mech.add_joint(
            f"hinge{i}", "revolute", parent, f"link{i}", (0.0, 0.0, -float(i)), axis=(0.0, 1.0, 0.0)
        )
    return mech


def picture_of(mech, positions=None, orientations=None, **options):
    if positions is None:
        positions, orientations = assembled(mech)
    renderer = make_renderer(mech, "rgb_array", **{"width": 96, "height": 96, **options})
    try:
        return renderer.render(positions, orientations)
    finally:
        renderer.close()


def reddish(picture):
    red, green, blue = np.moveaxis(picture.astype(int), -1, 0)
    return (red > green + 60) & (red > blue + 60)
