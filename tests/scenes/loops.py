"""Mechanisms with loops by name, and the types of joints that may close one."""

from __future__ import annotations

import numpy as np

from scenes.loops_plane import (
    crossed_ladder,
    double_four_bar,
    five_bar,
    general_four_bars,
    scissor,
    slider_crank,
)
from scenes.loops_space import bricard, hanging_rope, minitaur, spatial_four_bar, twice_hinged
from scenes.trees import TYPES

CLOSING = [kind for kind in TYPES if kind != "floating"]
TILT = np.array([0.8, 0.3, -0.2, 0.4])
BUILDERS = {
    "four-bar": lambda: general_four_bars(1),
    "tilted row": lambda: general_four_bars(3, 1, TILT, damping=0.1),
    "equal bars": lambda: double_four_bar(2),
    "rail closes": slider_crank,
    "hinge closes": lambda: slider_crank("revolute"),
    "five-bar": five_bar,
    "scissor": lambda: scissor(2),
    "ladder": crossed_ladder,
    "Bricard's ring": bricard,
    "balls": spatial_four_bar,
    "ball and universal": lambda: spatial_four_bar("universal"),
    "twice hinged": twice_hinged,
    "rope": hanging_rope,
    "rope and universal": lambda: hanging_rope(3, "universal"),
    "quadruped": minitaur,
}
