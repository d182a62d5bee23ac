"""How a walk of the Minitaur went, from the poses of its bodies, whichever engine they come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from robot_models import Ruler, heading

import vigym

SETTLED = 0.2  # of the run is over before speed and power are measured

Note = tuple[
    np.ndarray, float, int
]  # after a step: poses of the bodies (bodies, 7), power [W], work


@dataclass(frozen=True)
class Walk:
    """How a run went.

    Attributes:
        speed: along the robot's own heading, mean over the settled part [m/s].
        turned: heading at the end [rad].
        power: mean of the sum of |torque * rate| over the motors at every step, settled part [W].
        gap_mean, gap: of the loops, mean over the steps of the widest, and the widest [m].
        depth: of the deepest contact [m].
        upright: least cosine between body and world vertical.
        work: factorisations or solver iterations of each step (steps,).
        healthy: it converged, stayed upright, and the engine did not warn.
    """

    speed: float
    turned: float
    power: float
    gap_mean: float
    gap: float
    depth: float
    upright: float
    work: np.ndarray
    healthy: bool


def judge(mech: vigym.Mechanism, notes: Sequence[Note], timestep: float, fine: bool) -> Walk:
    """Figures of a run from what was noted after every step: poses of the bodies (bodies, 7), power, work."""
    ruler = Ruler(mech)
    base = np.array([poses[0] for poses, _, _ in notes])
    gaps = [ruler.gap(poses) for poses, _, _ in notes]
    first = round(SETTLED * len(notes))
    angle = heading(base[:, 3:7])
    ways = np.diff(base[first:, :2], axis=0)
    ahead = ways[:, 0] * np.cos(angle[first + 1 :]) + ways[:, 1] * np.sin(angle[first + 1 :])
    upright = 1 - 2 * (base[:, 4] ** 2 + base[:, 5] ** 2)
    return Walk(
        speed=float(ahead.sum() / (len(ahead) * timestep)),
        turned=float(angle[-1]),
        power=float(np.mean([power for _, power, _ in notes[first:]])),
        gap_mean=float(np.mean(gaps)),
        gap=max(gaps),
        depth=max(ruler.depth(poses) for poses, _, _ in notes),
        upright=float(upright.min()),
        work=np.array([work for _, _, work in notes]),
        healthy=fine and bool(np.isfinite(base).all()) and float(upright.min()) > 0.85,
    )
