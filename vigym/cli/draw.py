"""A mechanism as a picture, and as a graph: its tree of bodies, and the joints that close loops."""

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from vigym.mechanism.elements.bodies import WORLD
from vigym.mechanism.elements.joints import Joint
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.topology.graph import spanning_tree
from vigym.render.make import make_renderer

PIXELS = 700  # of the picture
ROW, LETTER = 0.32, 0.07  # height of a body of the graph, width of a letter [inch]
SMALLEST = 7.0  # width and height of the picture and of the graph [inch]
BEND = 0.12  # how far behind its parent an edge has reached the row of its child, in units of depth
CLOSURE = "tab:red"
BULGE = 0.2  # how far to the right of both its bodies the edge of a closing joint runs, in units of depth
Points = NDArray[np.float64]
Places = dict[str, tuple[float, float]]


def draw(mech: Mechanism, path: str | Path) -> None:
    """Write a picture of a mechanism at its assembly pose beside its graph."""
    places = _places(mech)
    rows = 1.0 + max(-y for _, y in places.values())
    longest = max(len(_label(joint)) for joint in mech.ordered_joints)
    width = max(SMALLEST, (1.0 + max(x for x, _ in places.values())) * LETTER * longest)
    figure = Figure(figsize=(SMALLEST + width, max(SMALLEST, ROW * rows)), layout="constrained")
    figure.suptitle(
        f"{mech.name}: bodies {len(mech.bodies)}, loops {len(mech.closing_joints)}, degrees of freedom "
        f"{mech.degrees_of_freedom}, redundant constraints {mech.redundant_constraints}"
    )
    left, right = figure.subplots(1, 2, width_ratios=(SMALLEST, width))
    left.imshow(_picture(mech))
    left.axis("off")
    _graph(right, mech, places)
    figure.savefig(path, dpi=110)


def _picture(mech: Mechanism) -> NDArray[np.uint8]:
    renderer = make_renderer(mech, mode="rgb_array", width=PIXELS, height=PIXELS)
    bodies = mech.bodies.values()
    try:
        picture = renderer.render([body.position for body in bodies], [body.orientation for body in bodies])
    finally:
        renderer.close()
    assert picture is not None
    return picture


def _places(mech: Mechanism) -> Places:
    """Return where the graph has each body: depth to the right, leaves below each other, parents at their middle."""
    children: dict[str, list[str]] = {}
    tree = spanning_tree(mech)
    for joint, child in tree:
        children.setdefault(joint.parent, []).append(child)
    depth, leaves, rows = {WORLD: 0}, 0, dict[str, float]()
    for joint, child in tree:
        depth[child] = depth[joint.parent] + 1
        if child not in children:
            rows[child], leaves = -float(leaves), leaves + 1
    for parent in [child for _, child in reversed(tree)] + [WORLD]:
        if parent in children:
            rows[parent] = float(np.mean([rows[child] for child in children[parent]]))
    return {name: (float(depth[name]), row) for name, row in rows.items()}


def _graph(ax: Axes, mech: Mechanism, places: Places) -> None:
    for joint, child in spanning_tree(mech):
        (x0, y0), (x1, y1) = places[joint.parent], places[child]
        ax.plot([x0, x0 + BEND, x1], [y0, y1, y1], color="0.6", linewidth=1.0, zorder=0)
        colour, weight = ("tab:green", "bold") if joint.actuated else ("0.35", "normal")
        ax.text(x0 + BEND, y1, _label(joint), fontsize=7, color=colour, weight=weight, va="bottom")
    for joint in mech.closing_joints:
        curve = _curve(np.array(places[joint.parent]), np.array(places[joint.child]))
        ax.plot(*curve.T, "--", color=CLOSURE, linewidth=1.2)
        x, y = curve[len(curve) // 2]
        ax.text(x, y, _label(joint), fontsize=7, color=CLOSURE, va="top")
    for name, (x, y) in places.items():
        ax.plot(x, y, "s" if name == WORLD else "o", color="0.3" if name == WORLD else "tab:blue", markersize=7)
        ax.annotate(name, (x, y), xytext=(0, -12), textcoords="offset points", fontsize=8, ha="center", weight="bold")
    ax.set_title("bodies and the joints that carry them (green: actuated); dashed: joints that close loops", fontsize=9)
    ax.margins(0.14, 0.06)
    ax.axis("off")


def _label(joint: Joint) -> str:
    return f" {joint.name} ({joint.type})"


def _curve(start: Points, end: Points) -> Points:
    """Return points (n, 2) from start to end (2,) that keep to the right of both: a parabola."""
    part = np.linspace(0.0, 1.0, 31)[:, None]
    bulge = 4.0 * part * (1.0 - part) * (BULGE + max(start[0], end[0]) - (start[0] + end[0]) / 2.0)
    curve: Points = start + part * (end - start) + bulge * np.array([1.0, 0.0])
    return curve
