"""Drawing of a mechanism: a picture, and the graph of its bodies and joints."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from vigym.files import whole_file
from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.graph import spanning_tree
from vigym.render.make import make_renderer

PIXELS = 700  # width and height of the picture
ROW, LETTER = 0.32, 0.07  # height of a body in the graph, width of a letter [inch]
SMALLEST = 7.0  # width and height of the picture and of the graph [inch]
BEND = 0.12  # part of an edge between a parent and its bend, in units of depth
CLOSURE = "tab:red"
BULGE = 0.2  # distance of a loop-closing edge from its bodies, in units of depth
DPI = 110
Points = NDArray[np.float64]
Layout = dict[str, tuple[float, float]]  # body: depth and row


def draw(mech: Mechanism, path: str | Path) -> None:
    """Write a picture of a mechanism at its assembly pose beside its graph."""
    layout = _layout(mech)
    rows = 1.0 + max(-row for _, row in layout.values())
    depth = 1.0 + max(depth for depth, _ in layout.values())
    longest = max((len(_label(joint)) for joint in mech.ordered_joints), default=0)
    width = max(SMALLEST, depth * LETTER * longest)
    figure = Figure(figsize=(SMALLEST + width, max(SMALLEST, ROW * rows)), layout="constrained")
    figure.suptitle(
        f"{mech.name}: bodies {len(mech.bodies)}, loops {len(mech.closing_joints)}, "
        f"degrees of freedom {mech.degrees_of_freedom}, "
        f"redundant constraints {mech.redundant_constraints}"
    )
    left, right = figure.subplots(1, 2, width_ratios=(SMALLEST, width))
    left.imshow(_picture(mech))
    left.axis("off")
    _draw_graph(right, mech, layout)
    with whole_file(path) as new:
        figure.savefig(new, dpi=DPI)


def _picture(mech: Mechanism) -> NDArray[np.uint8]:
    renderer = make_renderer(mech, mode="rgb_array", width=PIXELS, height=PIXELS)
    bodies = mech.bodies.values()
    positions = np.reshape([body.position for body in bodies], (-1, 3))
    orientations = np.reshape([body.orientation for body in bodies], (-1, 4))
    try:
        picture = renderer.render(positions, orientations)
    finally:
        renderer.close()
    assert picture is not None
    return picture


def _layout(mech: Mechanism) -> Layout:
    """Return depth and row of each body: leaves below each other, parents at their mean row."""
    children: dict[str, list[str]] = {}
    tree = spanning_tree(mech)
    for joint, child in tree:
        children.setdefault(joint.parent, []).append(child)
    depths = {WORLD: 0}
    rows: dict[str, float] = {} if tree else {WORLD: 0.0}
    for joint, child in tree:
        depths[child] = depths[joint.parent] + 1
        if child not in children:
            rows[child] = -float(len(rows))
    for parent in [child for _, child in reversed(tree)] + [WORLD]:
        if parent in children:
            rows[parent] = float(np.mean([rows[child] for child in children[parent]]))
    return {name: (float(depths[name]), row) for name, row in rows.items()}


def _draw_graph(ax: Axes, mech: Mechanism, layout: Layout) -> None:
    for joint, child in spanning_tree(mech):
        (x0, y0), (x1, y1) = layout[joint.parent], layout[child]
        ax.plot([x0, x0 + BEND, x1], [y0, y1, y1], color="0.6", linewidth=1.0, zorder=0)
        colour, weight = ("tab:green", "bold") if joint.actuated else ("0.35", "normal")
        style: dict[str, Any] = {"fontsize": 7, "color": colour, "weight": weight}
        ax.text(x0 + BEND, y1, _label(joint), va="bottom", **style)
    for joint in mech.closing_joints:
        curve = _curve(np.array(layout[joint.parent]), np.array(layout[joint.child]))
        ax.plot(*curve.T, "--", color=CLOSURE, linewidth=1.2)
        x, y = curve[len(curve) // 2]
        ax.text(x, y, _label(joint), fontsize=7, color=CLOSURE, va="top")
    for name, (x, y) in layout.items():
        marker, colour = ("s", "0.3") if name == WORLD else ("o", "tab:blue")
        ax.plot(x, y, marker, color=colour, markersize=7)
        style = {"fontsize": 8, "ha": "center", "weight": "bold"}
        ax.annotate(name, (x, y), xytext=(0, -12), textcoords="offset points", **style)
    ax.set_title(
        "bodies and tree joints (green: actuated); dashed: loop-closing joints", fontsize=9
    )
    ax.margins(0.14, 0.06)
    ax.axis("off")


def _label(joint: Joint) -> str:
    return f" {joint.name} ({joint.type})"


def _curve(start: Points, end: Points) -> Points:
    """Return points (n, 2) of a parabola from start to end (2,), to the right of both."""
    part = np.linspace(0.0, 1.0, 31)[:, None]
    height = BULGE + max(start[0], end[0]) - (start[0] + end[0]) / 2.0
    bulge = 4.0 * part * (1.0 - part) * height
    curve: Points = start + part * (end - start) + bulge * np.array([1.0, 0.0])
    return curve
