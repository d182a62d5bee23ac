"""SIM Fig. 7: drift of a loop, energy of a double pendulum, a damped pendulum, a box that drops.

a  loop of three links, 10 ms: vigym, and Runge-Kutta 4 with rows of accelerations.
b  double pendulum, 10 ms: vigym, and Heun's method.
c  pendulum with a damper of 1/2 N m s/rad, 100 ms: vigym, and Euler's method.
d  cube of 0.5 m that drops from 0.4 m, 10 ms: vigym, and MuJoCo with its defaults where installed.
"""

from __future__ import annotations

from importlib.util import find_spec

import _figure as fig
import numpy as np
from _loop_rows import LoopRows
from _mechanisms import Point, chain, linkage
from matplotlib.axes import Axes
from numpy.typing import NDArray

import vigym
from vigym.baselines import Method, Product
from vigym.baselines.compare import Setting, compare
from vigym.mechanism.elements.shapes import Box

SIDE, HEIGHT = 0.5, 0.4  # of the cube, below it at the start [m]
FINE = 5e-3  # [s] step of the reference of c
XML = f"""<mujoco><option timestep="0.01"/><worldbody><geom type="plane" size="2 2 1"/>
<body pos="0 0 {HEIGHT + SIDE / 2}"><freejoint/>
<geom type="box" size="{SIDE / 2} {SIDE / 2} {SIDE / 2}" mass="1"/></body></worldbody></mujoco>"""
Row = tuple[str, str, float, str]  # panel, quantity, here, in the paper


def three_links(crank: float = 0.6) -> list[Point]:
    """Return the hinges of links of 1, 1/sqrt 2 and 1 m between pivots 1 m apart."""
    a, d = np.array([np.sin(crank), -np.cos(crank)]), np.array([1.0, 0.0])
    far = float(np.linalg.norm(d - a))
    ways = (d - a) / far, np.array([a[1] - d[1], d[0] - a[0]]) / far
    along = (0.5 - 1.0 + far**2) / (2.0 * far)
    return [(0.0, 0.0), a, a + along * ways[0] - np.sqrt(0.5 - along**2) * ways[1], (1.0, 0.0)]


def loop(panel: Axes, size: str) -> list[Row]:
    """Draw and return the gap of a loop over time."""
    points, rows = three_links(), []
    methods: dict[str, Method] = {
        "vigym": Product(linkage(points, closed=True), 0.01),
        "Runge-Kutta 4": LoopRows(linkage(points), 0.01),
    }
    for (name, method), color in zip(methods.items(), (fig.OURS, fig.THEIRS), strict=True):
        gaps = []
        for _ in range(200 if size == fig.QUICK else 6000):
            method.step()
            gaps.append(method.gap())
        times = 0.01 * np.arange(1, len(gaps) + 1)
        panel.semilogy(times, np.maximum(gaps, 1e-17), color=color, label=name)
        printed = "zero" if name == "vigym" else "drifts"
        rows.append(("a", f"{name}: gap at the end [m]", gaps[-1], printed))
    panel.set(xlabel="time [s]", ylabel="gap [m]")
    return rows


def energy(panel: Axes, size: str) -> list[Row]:
    """Draw and return energy errors of a double pendulum."""
    setting = Setting(0.01, 30.0 if size == fig.QUICK else 600.0)
    rows: list[Row] = []
    runs = compare(chain(2, np.pi / 2), ["vigym", "heun"], setting)
    for run, color in zip(runs, (fig.OURS, fig.THEIRS), strict=True):
        panel.plot(run.times, run.energies, color=color, label=run.method, linewidth=0.7)
        printed = "bounded" if run.method == "vigym" else "grows"
        late = float(run.energies[-len(run.energies) // 10 :].mean())
        rows.append(("b", f"{run.method}: mean error of the last tenth [J]", late, printed))
    panel.set(xlabel="time [s]", ylabel="energy minus initial energy [J]")
    return rows


def damped() -> vigym.Mechanism:
    """Return a pendulum with a damper."""
    mech = vigym.Mechanism()
    rod = chain(1, np.pi / 2).bodies["rod0"]
    mech.add_body("rod", rod.mass, rod.inertia, rod.position, rod.orientation)
    mech.add_joint("hinge", "revolute", "world", "rod", (0, 0, 0), (0, 1, 0), damping=0.5)
    return mech


def dissipation(panel: Axes) -> list[Row]:
    """Draw energies of a damped pendulum; return the largest differences from small steps."""
    methods = [("runge-kutta 4, 5 ms", "rk4", FINE), ("vigym", "vigym", 0.1)]
    methods.append(("explicit-euler", "explicit-euler", 0.1))
    energies = {}
    for name, key, step in methods:
        (run,) = compare(damped(), [key], Setting(step, 10.0))
        energies[name] = np.interp(np.arange(0.0, 10.05, 0.1), run.times, run.energies)
    reference, *others = energies.values()
    colors = "grey", fig.OURS, fig.THEIRS
    for (name, values), color in zip(energies.items(), colors, strict=True):
        panel.plot(np.arange(len(values)) * 0.1, values, color=color, label=name)
    panel.set(xlabel="time [s]", ylabel="energy minus initial energy [J]")
    errors = [float(np.abs(values - reference).max()) for values in others]
    return [
        ("c", "vigym: largest energy error [J]", errors[0], "small, at first"),
        ("c", "explicit-euler: largest energy error [J]", errors[1], "large, underdamped"),
    ]


def mujoco_drop(steps: int) -> NDArray[np.float64]:
    """Return heights of the cube's bottom [m] in MuJoCo."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(XML)
    data = mujoco.MjData(model)
    heights = []
    for _ in range(steps):
        mujoco.mj_step(model, data)
        heights.append(data.qpos[2] - SIDE / 2)
    return np.array(heights)


def drop(panel: Axes) -> list[Row]:
    """Draw heights of a cube that drops; return the lowest."""
    mech = vigym.Mechanism(ground=True)
    mech.add_body("cube", 1.0, np.full(3, SIDE**2 / 6.0), (0, 0, HEIGHT + SIDE / 2))
    mech.add_collision("cube", "cube", Box((SIDE, SIDE, SIDE)))
    sim, steps = vigym.Simulator(mech, 0.01), 100
    heights = {}
    lowest = []
    for _ in range(steps):
        sim.step()
        lowest.append(sim.body_position("cube")[2] - SIDE / 2)
    heights["vigym"] = np.array(lowest)
    if find_spec("mujoco"):
        heights["MuJoCo"] = mujoco_drop(steps)
    printed = {"vigym": "0.043 mm above", "MuJoCo": "27 mm below"}
    rows: list[Row] = []
    for (name, values), color in zip(heights.items(), (fig.OURS, fig.THEIRS), strict=False):
        panel.plot(0.01 * np.arange(1, steps + 1), values, color=color, label=name)
        rows.append(("d", f"{name}: lowest height [mm]", 1e3 * values.min(), printed[name]))
    panel.axhline(0.0, color="grey", linewidth=0.8)
    panel.set(xlabel="time [s]", ylabel="height of the lowest face [m]")
    return rows


def main(out: str = "sim_7_accuracy.png", size: str = fig.PAGE) -> dict[str, float]:
    """Draw the four panels; print and return the numbers under them."""
    titles = ["a  gap of a loop", "b  energy", "c  dissipation", "d  drop"]
    figure, (a, b, c, d) = fig.panels(2, 2, titles)
    rows = loop(a, size) + energy(b, size) + dissipation(c) + drop(d)
    fig.save(figure, out)
    fig.report("SIM Fig. 7", ["panel", "quantity", "here", "paper"], rows)
    return {quantity: found for _, quantity, found, _ in rows}


if __name__ == "__main__":
    fig.command(main)
