"""Mechanisms with loops in one plane, as people draw them: bars are uniform rods, hinges stand on the plane."""

from __future__ import annotations

import numpy as np

from oracle.naive_joints import mul, rotate
from vigym import Mechanism

DOWN = (0.0, -9.81, 0.0)
UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


class Drawing:
    """A mechanism drawn in the plane z = 0 and put into space by a rotation; gravity stays along -y of the world.

    Args:
        turn: quaternion (4,) that takes the drawing's plane into the world.
        wobble: how far the axes of hinges are off the plane's normal [rad].
    """

    def __init__(self, turn=UPRIGHT, wobble=0.0):
        self.mech = Mechanism(gravity=DOWN)
        self.turn = turn / np.linalg.norm(turn)
        self.wobble = wobble
        self.rng = np.random.default_rng(0)

    def place(self, point):
        """Point of the drawing (2,) in the world."""
        return rotate(self.turn, np.append(point, 0.0))

    def bar(self, name, start, end, mass=None, thickness=0.05):
        """A slender bar between two points of the drawing, its long axis the body's x."""
        way = np.subtract(end, start)
        length, half = np.linalg.norm(way), 0.5 * np.arctan2(way[1], way[0])
        mass = length if mass is None else mass  # 1 kg/m
        along, across = mass * thickness**2 / 6.0, mass * length**2 / 12.0
        orientation = mul(self.turn, np.array([np.cos(half), 0.0, 0.0, np.sin(half)]))
        centre = self.place(np.add(start, end) / 2.0)
        self.mech.add_body(name, mass, (along, across, across), centre, orientation)

    def hinge(self, name, parent, child, point, **options):
        axis = rotate(self.turn, np.append(self.wobble * self.rng.normal(size=2), 1.0))
        self.mech.add_joint(name, "revolute", parent, child, self.place(point), axis, **options)

    def rail(self, name, child, point, direction, parent="world", **options):
        axis = rotate(self.turn, np.append(direction, 0.0))
        self.mech.add_joint(name, "prismatic", parent, child, self.place(point), axis, **options)


def hinged_chain(drawing, feet, tops, **options):
    """Uprights on the ground and couplers between their tops; windows share their uprights. One freedom."""
    for i, (foot, top) in enumerate(zip(feet, tops, strict=True)):
        drawing.bar(f"upright{i}", foot, top)
        drawing.hinge(f"ground{i}", "world", f"upright{i}", foot, **(options if i == 0 else {}))
    for i, (left, right) in enumerate(zip(tops, tops[1:], strict=False)):
        drawing.bar(f"coupler{i}", left, right)
        drawing.hinge(f"left{i}", f"upright{i}", f"coupler{i}", left)
    for i, right in enumerate(tops[1:]):
        drawing.hinge(f"right{i}", f"upright{i + 1}", f"coupler{i}", right)
    return drawing.mech


def general_four_bars(windows, seed=0, turn=UPRIGHT, spread=0.15, wobble=0.0, **options):
    """Windows in a row with bars of generic lengths; `turn` tilts their plane against gravity."""
    rng = np.random.default_rng(seed)
    feet = np.column_stack([np.arange(windows + 1.0), np.zeros(windows + 1)])
    feet = feet + spread * rng.uniform(-1.0, 1.0, feet.shape)
    tops = feet + [0.3, 0.9] + spread * rng.uniform(-1.0, 1.0, feet.shape)
    return hinged_chain(Drawing(turn, wobble), feet, tops, effort=np.inf, **options)


def crank_and_rockers(windows):
    """A crank that can go round and the rockers it swings: nowhere near a pose where the freedoms jump."""
    feet = np.column_stack([np.arange(windows + 1.0), np.zeros(windows + 1)])
    tops = [(0.0, 0.3)] + [
        (i + 0.1 * (-1) ** i, 0.9 + 0.1 * (i % 2)) for i in range(1, windows + 1)
    ]
    return hinged_chain(Drawing(), feet, np.array(tops), effort=np.inf)


def double_four_bar(windows, turn=UPRIGHT, **options):
    """IFToMM A02: equal uniform bars of 1 m and 1 kg; all bars fall in line twice a turn, where freedoms jump.

    All hinges have the options.
    """
    feet = np.column_stack([np.arange(windows + 1.0), np.zeros(windows + 1)])
    return hinged_chain(Drawing(turn), feet, feet + [0.0, 1.0], **options)


def parallel_motion(windows, angle=0.0, rate=1.0):
    """Positions and rates by joint with which all uprights of `double_four_bar` lean by `angle` from the vertical."""
    names = [f"ground{i}" for i in range(windows + 1)], [f"left{i}" for i in range(windows)]
    positions = dict.fromkeys(names[0], -angle) | dict.fromkeys(names[1], angle)
    return positions, dict.fromkeys(names[0], -rate) | dict.fromkeys(names[1], rate)


def slider_crank(closing="prismatic"):
    """Crank, rod and a slider on a rail in the world; the loop is closed by the rail, or by the slider's hinge."""
    drawing = Drawing()
    drawing.bar("crank", (0.0, 0.0), (0.2, 0.3))
    drawing.bar("rod", (0.2, 0.3), (1.1, 0.0))
    drawing.bar("slider", (1.0, 0.0), (1.2, 0.0), mass=0.5)
    drawing.hinge("motor", "world", "crank", (0.0, 0.0), effort=np.inf)
    drawing.hinge("wrist", "crank", "rod", (0.2, 0.3), damping=0.05)
    if closing == "prismatic":
        drawing.hinge("pin", "rod", "slider", (1.1, 0.0))
        drawing.rail("rail", "slider", (1.1, 0.0), (1.0, 0.0), stiffness=3.0, rest=0.1, damping=0.2)
    else:
        drawing.rail("rail", "slider", (1.1, 0.0), (1.0, 0.0))
        drawing.hinge("pin", "rod", "slider", (1.1, 0.0), stiffness=1.0, damping=0.1)
    return drawing.mech


def five_bar(damping=0.01):
    """Two driven upper bars on a hip in the world and two lower ones that meet at the foot: two freedoms."""
    drawing = Drawing()
    for side, x in (("left", -1.0), ("right", 1.0)):
        hip, knee = (0.05 * x, 0.0), (0.15 * x, -0.05 - 0.02 * x)
        drawing.bar(f"{side}_upper", hip, knee)
        drawing.hinge(
            f"{side}_hip",
            "world",
            f"{side}_upper",
            hip,
            effort=np.inf,
            damping=damping,
            armature=0.001,
        )
        drawing.bar(f"{side}_lower", knee, (0.0, -0.22))
        drawing.hinge(f"{side}_knee", f"{side}_upper", f"{side}_lower", knee)
    drawing.hinge("foot", "left_lower", "right_lower", (0.0, -0.22))
    return drawing.mech


def scissor(stages):
    """A lift of crossed bars that share their links: pinned at the left, on a rail at the right. One freedom."""
    drawing = Drawing()
    drawing.bar("foot", (0.9, 0.0), (1.1, 0.0), mass=0.3)
    drawing.rail("rail", "foot", (1.0, 0.0), (1.0, 0.0), effort=np.inf, damping=0.5)
    for i in range(stages):
        low, high = 0.7 * i, 0.7 * (i + 1)
        drawing.bar(f"rise{i}", (0.0, low), (1.0, high))
        drawing.bar(f"fall{i}", (1.0, low), (0.0, high))
    drawing.hinge("corner", "world", "rise0", (0.0, 0.0))
    drawing.hinge("shoe", "foot", "fall0", (1.0, 0.0))
    for i in range(1, stages):
        drawing.hinge(f"left{i}", f"fall{i - 1}", f"rise{i}", (0.0, 0.7 * i))
        drawing.hinge(f"right{i}", f"rise{i - 1}", f"fall{i}", (1.0, 0.7 * i))
    for i in range(stages):
        drawing.hinge(f"cross{i}", f"rise{i}", f"fall{i}", (0.5, 0.7 * i + 0.35))
    return drawing.mech


def crossed_ladder():
    """Bars joined three times: a loop inside a loop, both through the world."""
    drawing = Drawing()
    feet, tops = (
        np.array([[0.0, 0.0], [1.0, 0.0], [2.1, 0.1]]),
        np.array([[0.2, 0.9], [1.1, 1.1], [2.4, 0.8]]),
    )
    mech = hinged_chain(drawing, feet, tops, effort=np.inf, damping=0.1)
    for i in range(2):  # a second storey on the couplers
        low, high = (tops[i] + tops[i + 1]) / 2.0, (tops[i] + tops[i + 1]) / 2.0 + [0.1 * i, 0.7]
        drawing.bar(f"post{i}", low, high)
        drawing.hinge(f"sole{i}", f"coupler{i}", f"post{i}", low)
    ends = [mech.bodies[f"post{i}"].position[:2] + np.array([0.05 * i, 0.35]) for i in range(2)]
    drawing.bar("beam", *ends)
    for i, end in enumerate(ends):
        drawing.hinge(f"head{i}", f"post{i}", "beam", end)
    return mech
