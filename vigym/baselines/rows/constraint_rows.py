"""Constraint rows of all joints of a mechanism, in maximal coordinates (BAR 3)."""

from typing import Any

import numpy as np

from vigym.baselines.rows.places import PlaceRows, place_rows
from vigym.baselines.rows.tangents import Ends
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.joint_frames import assembly_pose, body_numbers, joint_frames
from vigym.mechanism.topology.loop_constraints import joint_type_constraints
from vigym.spatial import Array, cross, rotate


class Rows:
    """Constraint rows of joints, each between a body a and a body b; the world is body 0.

    A translation row keeps the anchor of b at that of a along u, fixed in a; a rotation row keeps
    u, fixed in a, and w, fixed in b, perpendicular. Rows of curve, surface and custom joints, which
    come last, depend on places.

    Args:
        mechanism: the mechanism.

    Attributes:
        a, b: bodies of each row (rows,).
        joint: number of its joint among `Mechanism.ordered_joints` and then tracks (rows,).
        slot: number among the rows of its joint (rows,).
        ends: bodies of each joint.
        places: rows of the joints that have places.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        loops = mechanism.structure.loop_constraints
        self.ends: list[tuple[int, int]] = []
        table = []
        for number, joint in enumerate(mechanism.ordered_joints):
            frames = joint_frames(mechanism, joint)
            held = loops[joint.name] if joint.name in loops else joint_type_constraints(frames)
            self.ends.append((frames.a, frames.b))
            ends = number, frames.a, frames.b, frames.anchor_a, frames.anchor_b
            vectors = [(True, t, t) for t in held.translations]
            vectors += [(False, u, w) for u, w in held.rotations]
            table += [(*ends, slot, *each) for slot, each in enumerate(vectors)]
        self._bodies, self._own = len(mechanism.bodies) + 1, len(table)
        columns: list[Any] = list(zip(*table, strict=True)) or [[]] * 9
        self.joint, self.a, self.b, self.slot = (np.array(columns[k], int) for k in (0, 1, 2, 5))
        self.places: list[PlaceRows] = []
        self._add_places(mechanism)
        self._at_a, self._at_b = (np.array(columns[k]).reshape(-1, 3) for k in (3, 4))
        self._moves = np.array(columns[6], bool)
        self._u, self._w = (np.array(columns[k]).reshape(-1, 3) for k in (7, 8))

    def _add_places(self, mechanism: Mechanism) -> None:
        """Add the rows of joints with places."""
        numbers = body_numbers(mechanism)
        for track in mechanism.tracks.values():
            poses = assembly_pose(mechanism, track.a), assembly_pose(mechanism, track.b)
            held = place_rows(track, poses)
            self.places.append(held)
            each = np.ones(held.count, int)
            a, b = numbers[track.a], numbers[track.b]
            self.joint = np.append(self.joint, len(self.ends) * each)
            self.a, self.b = np.append(self.a, a * each), np.append(self.b, b * each)
            self.slot = np.append(self.slot, np.arange(held.count))
            self.ends.append((a, b))

    def restart(self) -> None:
        """Take all places at the assembly."""
        for held in self.places:
            held.restart()

    def place(self, x: Array, R: Array) -> None:
        """Set the poses of all bodies (n + 1, 3) and (n + 1, 3, 3) at which rows are evaluated."""
        moves = self._moves[:, None]
        a, b = self.a[: self._own], self.b[: self._own]
        self._U = rotate(R[a], self._u)
        self._r = rotate(R[b], self._at_b)
        self._d = x[b] + self._r - x[a]
        self._W = rotate(R[b], self._w)
        offset = self._d - rotate(R[a], self._at_a)
        gaps = [np.sum(self._U * np.where(moves, offset, self._W), axis=1)]
        force = np.where(moves, self._U, 0.0)
        on_a = np.where(moves, cross(self._U, self._d), cross(self._U, self._W))
        on_b = np.where(moves, cross(self._r, self._U), cross(self._W, self._U))
        before, after = [np.hstack([-force, on_a])], [np.hstack([force, on_b])]
        self._poses = [self._ends_at(k, x, R) for k in range(len(self.places))]
        for held, ends in zip(self.places, self._poses, strict=True):
            values, wrenches = held.set_pose(ends)
            gaps.append(values)
            moments = wrenches[:, 3:] + cross(ends.x_b - ends.x_a, wrenches[:, :3])
            before.append(-np.hstack([wrenches[:, :3], moments]))
            after.append(wrenches)
        self.gaps = np.concatenate(gaps)
        self.on_a, self.on_b = np.concatenate(before), np.concatenate(after)

    def place_gaps(self, x: Array, R: Array) -> list[Array]:
        """Return the gaps (rows,) of each joint with a place at poses next to those set last."""
        return [held.gaps(self._ends_at(k, x, R)) for k, held in enumerate(self.places)]

    def _ends_at(self, k: int, x: Array, R: Array) -> Ends:
        a, b = self.ends[len(self.ends) - len(self.places) + k]
        return Ends(x[a][None], R[a][None], x[b][None], R[b][None])

    def rates(self, V: Array) -> Array:
        """Return J V (rows,) of velocities V (n + 1, 6), linear and angular, world axes."""
        result: Array = np.sum(self.on_a * V[self.a] + self.on_b * V[self.b], axis=1)
        return result

    def matrix(self, which: Any = slice(None)) -> Array:
        """Return J of some rows, dense (k, n + 1, 6); the world's part is zero."""
        a, b = self.a[which], self.b[which]
        result = np.zeros((len(a), self._bodies, 6))
        each = np.arange(len(a))
        result[each, a] += self.on_a[which]
        result[each, b] += self.on_b[which]
        result[:, 0] = 0.0
        return result

    def drift(self, V: Array) -> Array:
        """Return c = (dJ/dt) V (rows,)."""
        a, b = self.a[: self._own], self.b[: self._own]
        w_a, w_b = V[a, 3:], V[b, 3:]
        dU, dW = cross(w_a, self._U), cross(w_b, self._W)
        dr = cross(w_b, self._r)
        dd = V[b, :3] + dr - V[a, :3]
        moves = self._moves[:, None]
        found = cross(w_a, dU) * np.where(moves, self._d, self._W)
        found += 2.0 * dU * np.where(moves, dd, dW)
        found += self._U * np.where(moves, cross(w_b, dr), cross(w_b, dW))
        ends = self.ends[len(self.ends) - len(self.places) :]
        parts = [found.sum(axis=1)]
        for held, poses, (one, other) in zip(self.places, self._poses, ends, strict=True):
            parts.append(held.drift(poses, V[one], V[other]))
        return np.concatenate(parts)
