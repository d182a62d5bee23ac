"""Random states of mechanisms with loops, closed here by plain Newton on the twin's rows."""

from __future__ import annotations

import numpy as np

from oracle.naive import Twin
from oracle.naive_joints import increment, mul

DEPENDENT = 1e-8


def start_positions(twin):
    """Coordinates of the assembly pose by tree joint."""
    values = {}
    for joint in twin.tree:
        s, _, e = joint.coordinates(twin.x, twin.q)
        if joint.n_free:
            values[joint.name] = np.append(s, e if joint.ball else twin.angles[joint.name])
    return values


def moved(twin, positions, rates):
    """Tree coordinates after rates (tree freedoms,) over one unit of time."""
    found, start = {}, 0
    for joint in (joint for joint in twin.tree if joint.n_free):
        rate, value = rates[start : start + joint.n_free], positions[joint.name]
        slides = len(joint.slides)
        turned = (
            mul(value[slides:], unit_increment(rate[slides:]))
            if joint.ball
            else value[slides:] + rate[slides:]
        )
        found[joint.name] = np.append(value[:slides] + rate[:slides], turned)
        start += joint.n_free
    return found


def unit_increment(rate):
    length = np.linalg.norm(rate)
    return increment(2.0 * np.sin(min(length, 3.0) / 2.0) * rate / max(length, 1e-300), 1.0)


def loop_rows(twin):
    """(gaps, their derivatives along the tree's freedoms) of all closing joints."""
    count = sum(len(joint.rows(twin.x, twin.q)[0]) for joint in twin.tree)
    G_tree, J_tree = twin.rows(twin.x, twin.q, twin.tree)
    motion = np.linalg.solve(np.vstack([G_tree, J_tree]), np.eye(6 * twin.n)[:, count:])
    return twin.constraint(twin.x, twin.q)[count:], twin.rows()[0][count:] @ motion


def closed_state(mech, seed, scale=0.3, speed=0.5):
    """(positions by tree joint, rates (tree freedoms,)) of a random assembled motion near the assembly pose."""
    twin = Twin(mech)
    positions, wish = start_positions(twin), random_rates_of(twin, seed)
    for k in range(40):
        close = twin.place(positions)
        gap, rows = loop_rows(twin)
        push = scale / 10.0 * free_part(rows, wish) if k < 10 else np.zeros(twin.n_tree)
        if k >= 10 and close and np.abs(gap).max(initial=0.0) < 1e-14:
            break
        back = np.linalg.lstsq(rows, -gap, rcond=DEPENDENT)[0] if len(gap) else 0.0
        positions = moved(twin, positions, push + back)
    assert twin.place(positions), "the loops do not close"
    return positions, speed * free_part(loop_rows(twin)[1], random_rates_of(twin, seed + 1))


def random_rates_of(twin, seed):
    return np.random.default_rng(seed).normal(size=twin.n_tree)


def free_part(rows, rates):
    """TreeKinematics rates (n,) projected onto those the loops allow."""
    return rates - np.linalg.lstsq(rows, rows @ rates, rcond=DEPENDENT)[0] if len(rows) else rates
