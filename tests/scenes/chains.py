"""Chains of equal rods on hinges, for the tests of baselines and their benchmarks."""

from __future__ import annotations

import numpy as np

from vigym.mechanism.mechanism import Mechanism


def rod_chain(count, length=1.0, mass=1.0, kind="revolute", gravity=(0.0, 0.0, -9.81)):
    """`count` rods one below the other, the first on the world, hinges along y."""
    mech = Mechanism(gravity=gravity)
    moment = mass * length**2 / 12.0
    for i in range(count):
        middle = (0.0, 0.0, -(i + 0.5) * length)
        mech.add_body(f"rod{i}", mass, (moment, moment, moment / 50.0 + 1e-4), middle)
        parent = "world" if i == 0 else f"rod{i - 1}"
        mech.add_joint(f"hinge{i}", kind, parent, f"rod{i}", (0, 0, -i * length), (0, 1, 0))
    return mech


def ball_tree(levels, length=0.5):
    """A binary tree of rods on ball joints, 2^levels - 1 of them (BAR Fig. 3)."""
    mech = Mechanism()
    moment = length**2 / 12.0
    for i in range(2**levels - 1):
        level = int(np.log2(i + 1))
        side = (i + 1 - 2**level + 0.5) / 2**level - 0.5
        start = (4.0 * side, 0.0, -level * length)
        mech.add_body(
            f"rod{i}", 1.0, (moment, moment, 0.01), (4.0 * side, 0.0, start[2] - length / 2)
        )
        parent = "world" if i == 0 else f"rod{(i - 1) // 2}"
        mech.add_joint(f"ball{i}", "spherical", parent, f"rod{i}", start)
    return mech
