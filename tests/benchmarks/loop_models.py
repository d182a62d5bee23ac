"""Chains of four-bar windows: their geometry, what their motion is measured by, and the model for vigym and MuJoCo.

A window hangs on a base, the first on the world, every other on the bar of the window before. Its
left and its right rod hang on the ends of the base, its bar joins their lower ends. All joints are
hinges about y; the one between bar and right rod closes the loop. Bars are uniform boxes of 1 kg,
0.1 m thick, moving in the x-z plane; gravity 9.81 m/s^2 along -z. Coordinates of the tree are
(right, left, bar) of each window in turn, zero at the assembly pose, with the same order and sign
in all engines.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from chain_models import GRAVITY, MASS, THICKNESS
from robot_models import Options, Softness, mujoco_robot

import vigym

if TYPE_CHECKING:
    import mujoco

BASE = 1.0  # [m] between the hinges in the world
# Left rod, bar, right rod [m]; two and more "wild" windows whirl. "open" ones have no closing joint.
SHAPES = {
    "parallelogram": (1.0, 1.0, 1.0),
    "general": (1.0, 0.9, 1.1),
    "wild": (1.2, 0.8, 0.9),
    "open": (1.0, 0.9, 1.1),
}
START = 0.7  # [rad] left rods at the assembly pose, from the perpendicular of their base

# Stages of MuJoCo that such a chain does not use.
UNUSED = (
    "contact",
    "limit",
    "frictionloss",
    "spring",
    "damper",
    "actuation",
    "clampctrl",
    "sensor",
)
UNUSED += ("midphase", "eulerdamp", "refsafe")
# Fastest settings found for these chains: the problem is quadratic, one Newton iteration solves it
# from anywhere.
TUNED = ("warmstart", "island")


@dataclass(frozen=True)
class Bar:
    """A bar at the assembly pose; points are (x, z) [m].

    Attributes:
        name: unique.
        parent: index of the bar it hangs on, -1 for the world.
        start, end: its ends; it hangs by the first.
        arm: where it hangs, in the parent's axes from the parent's start.
        length: [m].
        angle: of its long axis [rad], about +y from x.
        closes: index of the bar whose end a loop joins to its own, -1 without a loop.
    """

    name: str
    parent: int
    start: np.ndarray
    end: np.ndarray
    arm: np.ndarray
    length: float
    angle: float
    closes: int = -1

    @property
    def centre(self) -> np.ndarray:
        return (self.start + self.end) / 2

    @property
    def inertia(self) -> tuple[float, float, float]:
        """About the long axis and across it [kg m^2]."""
        across = MASS * (self.length**2 + THICKNESS**2) / 12
        return MASS * THICKNESS**2 / 6, across, across


@dataclass(frozen=True)
class Motion:
    """A chain at an instant: energies [J], widest loop gap [m], centre of the last bar (x, z) [m]."""

    kinetic: float
    total: float
    gap: float
    tip: np.ndarray


def direction(angle: float | np.ndarray) -> np.ndarray:
    """Unit vector(s) (..., 2) of the x axis turned by an angle about +y."""
    return np.stack([np.cos(angle), -np.sin(angle)], axis=-1)


def chain(windows: int, shape: str, starts: float | np.ndarray = START) -> list[Bar]:
    """Bars (right, left, bar of each window in turn) of an assembled chain; `starts` (windows,) turns the left rods."""
    bars: list[Bar] = []
    left = np.zeros(2)
    right = np.array([BASE, 0.0])
    base = -1
    for i, start in enumerate(np.broadcast_to(starts, windows)):
        low_left, low_right = _lower_ends(left, right, SHAPES[shape], float(start))
        bars.append(_bar(f"right{i}", right, low_right, base, bars))
        bars.append(_bar(f"left{i}", left, low_left, base, bars))
        bar = _bar(f"bar{i}", low_left, low_right, 3 * i + 1, bars)
        bars.append(bar if shape == "open" else replace(bar, closes=3 * i))
        left = low_left
        right = low_right
        base = 3 * i + 2
    return bars


def loops_of(bars: list[Bar]) -> list[tuple[int, int]]:
    """Pairs (right rod, bar) of indices whose ends a loop joins."""
    return [(bar.closes, i) for i, bar in enumerate(bars) if bar.closes >= 0]


def _lower_ends(
    left: np.ndarray, right: np.ndarray, lengths: tuple[float, ...], start: float
) -> list[np.ndarray]:
    """Where the two rods of a window end: the left one is turned, the right one closes the triangle outwards."""
    rod, bar, other = lengths
    along = (right - left) / np.linalg.norm(right - left)
    down = np.array([along[1], -along[0]])
    end = left + rod * (np.sin(start) * along + np.cos(start) * down)
    way = right - end
    far = float(np.linalg.norm(way))
    part = (bar**2 - other**2 + far**2) / (2 * far)
    outwards = np.array([way[1], -way[0]]) / far
    return [end, end + part * way / far + np.sqrt(bar**2 - part**2) * outwards]


def _bar(name: str, start: np.ndarray, end: np.ndarray, parent: int, bars: list[Bar]) -> Bar:
    way = end - start
    arm = start
    if parent >= 0:  # at the parent's start or at its end
        arm = np.array(
            [0.0 if np.allclose(start, bars[parent].start) else bars[parent].length, 0.0]
        )
    return Bar(
        name,
        parent,
        start,
        end,
        arm,
        float(np.linalg.norm(way)),
        float(np.arctan2(-way[1], way[0])),
    )


def relative(bars: list[Bar]) -> np.ndarray:
    """Angle of each bar from its parent's (n,) [rad]."""
    return np.array(
        [bar.angle - (bars[bar.parent].angle if bar.parent >= 0 else 0.0) for bar in bars]
    )


def turned(windows: int, shape: str, starts: np.ndarray) -> np.ndarray:
    """Coordinates of the tree (3 windows,) [rad] that take the assembly pose to other angles `starts` (windows,)."""
    away = relative(chain(windows, shape, starts)) - relative(chain(windows, shape))
    return (away + np.pi) % (2 * np.pi) - np.pi


def motion(bars: list[Bar], q: np.ndarray, rates: np.ndarray) -> Motion:
    """Of a chain with coordinates q (n,) [rad] and their rates [rad/s]."""
    n, zero = len(bars), np.zeros(2)
    offsets = relative(bars) + q
    starts = np.zeros((n, 2))
    speeds = np.zeros((n, 2))
    angles = np.zeros(n)
    spins = np.zeros(n)
    for i, bar in enumerate(bars):
        j = bar.parent
        angle, spin, start, speed = (
            (angles[j], spins[j], starts[j], speeds[j]) if j >= 0 else (0.0, 0.0, zero, zero)
        )
        x, z = direction(angle), direction(angle - np.pi / 2)
        starts[i] = start + bar.arm[0] * x + bar.arm[1] * z
        speeds[i] = speed - spin * (bar.arm[0] * z - bar.arm[1] * x)
        angles[i], spins[i] = angle + offsets[i], spin + rates[i]
    half = np.array([bar.length for bar in bars])[:, None] / 2
    sideways = -direction(angles - np.pi / 2) * spins[:, None]
    return absolute(
        bars, starts + half * direction(angles), angles, speeds + half * sideways, spins
    )


def absolute(
    bars: list[Bar], centres: np.ndarray, angles: np.ndarray, speeds: np.ndarray, spins: np.ndarray
) -> Motion:
    """Of bars with centres (n, 2) [m], angles (n,) [rad], their rates [m/s, rad/s]."""
    inertia = np.array([bar.inertia[1] for bar in bars])
    kinetic = float(MASS * np.sum(speeds**2) + np.sum(inertia * spins**2)) / 2
    ends = centres + direction(angles) * np.array([bar.length for bar in bars])[:, None] / 2
    gaps = [float(np.linalg.norm(ends[i] - ends[j])) for i, j in loops_of(bars)]
    gap = max(gaps, default=0.0)
    return Motion(
        kinetic, kinetic + MASS * GRAVITY * float(np.sum(centres[:, 1])), gap, centres[-1]
    )


def vigym_chain(bars: list[Bar]) -> vigym.Mechanism:
    """The chain as a mechanism; loops are closed by a fourth hinge of each window."""
    mech = vigym.Mechanism(gravity=(0.0, 0.0, -GRAVITY))
    for bar in bars:
        x, z = bar.centre
        half = bar.angle / 2
        turn = (np.cos(half), 0.0, np.sin(half), 0.0)
        mech.add_body(bar.name, MASS, bar.inertia, position=(x, 0.0, z), orientation=turn)
        carrier = bars[bar.parent].name if bar.parent >= 0 else "world"
        mech.add_joint(
            f"hinge_{bar.name}",
            "revolute",
            carrier,
            bar.name,
            _spatial(bar.start),
            axis=(0.0, 1.0, 0.0),
        )
    for right, bar in [(bars[i], bars[j]) for i, j in loops_of(bars)]:
        mech.add_joint(
            f"close_{bar.name}",
            "revolute",
            bar.name,
            right.name,
            _spatial(bar.end),
            axis=(0.0, 1.0, 0.0),
        )
    return mech


def mujoco_chain(
    bars: list[Bar],
    timestep: float,
    integrator: str,
    factor: float | None = None,
    tuned: bool = False,
) -> mujoco.MjModel:
    """The chain for MuJoCo, each loop closed by one `connect` (enough: the tree cannot leave the plane).

    Args:
        bars: the chain.
        timestep: [s].
        integrator: "Euler", "implicitfast" or "RK4".
        factor: time constant of the constraints in steps, or MuJoCo's defaults.
        tuned: use the fastest options found instead of MuJoCo's defaults.
    """
    softness = Softness(None if factor is None else factor * timestep)
    disabled = (*UNUSED, *(TUNED if tuned else ()))
    jacobian = "dense" if tuned else "auto"
    options = Options(integrator=integrator, jacobian=jacobian, disabled=disabled)
    return mujoco_robot(vigym_chain(bars), timestep, softness, options)


def _spatial(point: np.ndarray) -> tuple[float, float, float]:
    return float(point[0]), 0.0, float(point[1])
