"""Small deviations of a motion, and what steps make of them by central differences, for the tests of linearisation."""

from __future__ import annotations

import numpy as np

from oracle.naive_joints import conj, mul
from scenes.trees import unit
from vigym import Simulator
from vigym.core.model import snapshot
from vigym.core.tables.state import DOF_STATE
from vigym.simulation.compile.layout import Rows

# How far half a difference over SIZE is from a derivative. A step rounds rates by 2e-16 times the
# ratio of a body's inertias, 343 for the most slender bar, so by 1e-13; over SIZE that is 3e-9.
# Third derivatives add SIZE squared times at most 3, as measured at larger sizes: 3e-9 as well.
# Where both are alike the sum is least.
SIZE = 3e-5
PAIRS = 4  # of neighbours: a random deviation has a part along each coordinate, so one shows any wrong derivative
FOLLOWS = 1e-7  # of the largest derivative: more than ten times that, for other ways to round


def difference(mech, after, before):
    """Displacement (n_velocities,) from coordinates to coordinates; of quaternions the small rotation."""
    parts = [np.zeros(0)]
    for kind, q, _ in columns(mech):
        a, b = after[q], before[q]
        if kind.has_quaternion:
            turn = mul(conj(b[-4:]), a[-4:])
            parts += [a[:-4] - b[:-4], 2.0 * np.sign(turn[0]) * turn[1:]]
        else:
            parts.append(a - b)
    return np.concatenate(parts)


def displaced(mech, positions, displacement):
    """Coordinates after a small displacement (n_velocities,)."""
    result = positions.copy()
    for kind, q, v in columns(mech):
        if kind.has_quaternion:
            slides = len(kind.translations)
            result[q][:slides] += displacement[v][:slides]
            result[q][slides:] = mul(
                positions[q][slides:], unit(np.append(1.0, 0.5 * displacement[v][slides:]))
            )
        else:
            result[q] += displacement[v]
    return result


def columns(mech):
    """JointType, columns of the positions and of the velocities of every joint."""
    q = v = 0
    for joint in mech.ordered_joints:
        kind = joint.joint_type
        yield kind, slice(q, q + len(kind.positions)), slice(v, v + len(kind.velocities))
        q, v = q + len(kind.positions), v + len(kind.velocities)


def differenced(sim, torques, size=SIZE, push=1e-2):
    """A and B of the first step after a reset to the present coordinates, of a mechanism without loops."""
    mech = sim.mechanism
    q = sim.joint_positions
    v = sim.joint_velocities
    other = Simulator(mech, sim.timestep, sim.options.order, tolerance=1e-13)

    def led_to(q, v, u):
        other.reset(q, v)
        assert other.step(u).converged
        return other.joint_positions, other.joint_velocities

    def slope(ends, size):
        (q3, v3), (q2, v2) = ends
        return np.append(difference(mech, q3, q2), v3 - v2) / (2.0 * size)

    ways, pushes = np.eye(len(v)), np.eye(len(torques))
    by_q = [
        slope([led_to(displaced(mech, q, s * size * d), v, torques) for s in (1, -1)], size)
        for d in ways
    ]
    by_v = [slope([led_to(q, v + s * size * d, torques) for s in (1, -1)], size) for d in ways]
    by_u = [slope([led_to(q, v, torques + s * push * d) for s in (1, -1)], push) for d in pushes]
    return np.array(by_q + by_v).T, np.array(by_u).reshape(-1, 2 * len(v)).T


class Neighbours:
    """Two motions on either side of one: started with other velocities, pushed by other torques, loops closed.

    Args:
        sim: at the start of the motion in the middle.
        velocities: deviation of its velocities at the start.
        torques: deviation of its torques in every step.
        targets: the same of its motors' targets.
    """

    def __init__(self, sim, velocities, torques, targets=0.0):
        self.mech = sim.mechanism
        self.torques = torques
        self.targets = targets
        self.sims = [
            Simulator(
                sim.mechanism, sim.timestep, sim.options.order, tolerance=sim.options.tolerance
            )
            for _ in range(2)
        ]
        for other, sign in zip(self.sims, (1.0, -1.0), strict=True):
            other.reset(sim.joint_positions, sim.joint_velocities + sign * velocities)

    def step(self, torques, substeps=1, targets=None):
        """Torques and targets of the motion in the middle; its neighbours deviate."""
        for other, sign in zip(self.sims, (1.0, -1.0), strict=True):
            aims = None if targets is None else targets + sign * self.targets
            assert other.step(torques + sign * self.torques, aims, substeps).converged

    def share_slow_rates(self, sim):
        """Give both the slow rates of springs of another motion, in all degrees of freedom."""
        dofs = np.arange(Rows(self.mech).dof_count) * DOF_STATE.width
        column = snapshot.SCALARS + dofs + DOF_STATE.offset("slow_rate")
        for other in self.sims:
            state = other.state
            state[column] = sim.state[column]
            other.state = state

    def deviation(self):
        """Half their difference, (2 n_velocities,)."""
        a, b = self.sims
        v = a.joint_velocities - b.joint_velocities
        return 0.5 * np.append(difference(self.mech, a.joint_positions, b.joint_positions), v)
