"""Where a mechanism with closed loops can go: what it shows, at many poses in which its loops are closed."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from vigym.mechanism.assembly import CLOSED, close_loops
from vigym.mechanism.closures import System
from vigym.mechanism.halves import split
from vigym.mechanism.kinematics import Poses, Tree
from vigym.mechanism.mechanism import Mechanism
from vigym.render.pieces import travel
from vigym.render.pose import matrix

Array = NDArray[np.float64]

_POSES = 256  # enough to see every side of a linkage; the empty rim of a picture hides what is missed between them


def swept_points(mech: Mechanism, points: dict[str, Array], unlimited: float, still: Collection[str] = ()) -> Array:
    """Return where points of all bodies go (n, 3) [m], in the world.

    Args:
        mech: with loops.
        points: by body (k, 3) [m], in the world at the pose in which the bodies were added.
        unlimited: how far slides without limits go to either side [m].
        still: names of joints that stay as they were then; those that float have to be among them.
    """
    poses = _closed_poses(mech, unlimited, still)
    swept = [np.zeros((0, 3))]
    for number, (name, body) in enumerate(mech.bodies.items(), start=1):
        local = (points[name] - body.position) @ matrix(body.orientation)
        turned = local @ poses.R[:, number].transpose(0, 2, 1)
        swept.append((turned + poses.x[:, number, None]).reshape(-1, 3))
    return np.concatenate(swept)


def _closed_poses(mech: Mechanism, unlimited: float, still: Collection[str]) -> Poses:
    """Return poses with closed loops, next to hinges turned at random and slides at either end."""
    tree, closing, generator = Tree(mech), mech.closing_joints, np.random.default_rng(0)
    rows = [mech.structure.closures[joint.name] for joint in closing]
    system = System(tree, [split(mech, joint) for joint in closing], rows, np.full(len(closing), unlimited))
    rates = generator.uniform(-np.pi, np.pi, (_POSES, tree.freedoms))
    joints = [joint for joint in mech.tree_joints for _ in joint.prototype.velocities]
    moving = np.tile([joint.name not in still for joint in joints], (_POSES, 1))
    for column in np.flatnonzero(moving[0] & ~tree.turns):
        rates[:, column] = generator.choice(travel(joints[column], unlimited), _POSES)
    start = tree.move(np.repeat(tree.zero[None], _POSES, axis=0), rates * moving)
    closed = close_loops(system, start, moving)
    return tree.poses(closed.coordinates[closed.gap < CLOSED])
