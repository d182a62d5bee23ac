"""SI Table 1: forward dynamics of chains of 20, 50 and 100 hinges.

By the recursion for general joints, beside Pinocchio's `aba` on the same chains where installed,
and vigym's whole step. `si_surfaces.py` has the chains of tori and the windmill.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec

import _figure as fig
import numpy as np
from _mechanisms import chain
from numpy.typing import NDArray

import vigym
from vigym.baselines import mechanism_tree, recursion

Array = NDArray[np.float64]
LINKS = {fig.QUICK: (5, 10), fig.PAGE: (20, 50, 100), fig.FULL: (20, 50, 100)}
PRINTED = {20: (0.020, 0.025), 50: (0.050, 0.064), 100: (0.112, 0.127)}  # SI's, Featherstone's
NAMES = ("general joints", "compiled part", "vigym's step", "Pinocchio")
LENGTH, STEPS = 0.1, 50  # of links [m]; steps of a measurement


def peer(count: int, q: Array, rates: Array) -> Callable[[], Array]:
    """Return Pinocchio's forward dynamics of the chain, which hangs along -z at zero."""
    import pinocchio as pin

    model, joint = pin.Model(), 0
    rod = next(iter(chain(1, 0.0, LENGTH, density=10.0).bodies.values()))
    inertia = pin.Inertia(rod.mass, np.array([0.0, 0.0, -LENGTH / 2]), rod.inertia)
    place = pin.SE3.Identity()
    for k in range(count):
        joint = model.addJoint(joint, pin.JointModelRY(), place, f"hinge{k}")
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, -LENGTH]))
    tau, data = np.zeros(count), model.createData()
    return lambda: pin.aba(model, data, q, rates, tau)


def jobs(count: int) -> list[Callable[[], object]]:
    """Return the functions that are timed; check that they find the same accelerations."""
    mech = chain(count, 0.0, LENGTH, density=10.0)
    tree = mechanism_tree(mech)
    q, rates = np.full(count, 0.1), np.full(count, 0.2)
    joints, tau = tree.joints(q, rates), np.zeros(count)
    found: list[Callable[[], object]] = [
        partial(tree.accelerations, q, rates),
        partial(recursion.aba, tree.links, joints, rates, tau, tree.gravity),
    ]
    if find_spec("pinocchio"):
        found.append(peer(count, q, rates))
        own, other = tree.accelerations(q, rates), peer(count, q, rates)()
        assert np.abs(own - other).max() < 1e-9 * np.abs(other).max()
    return found


def main(out: str = "si_table.png", size: str = fig.PAGE) -> dict[str, list[float]]:
    """Draw and print times [ms]; return them by method."""
    columns = []
    for count in LINKS[size]:
        sim = vigym.Simulator(chain(count, 0.0, LENGTH, density=10.0), 1e-3)
        start = partial(sim.reset, np.full(count, 0.1), np.full(count, 0.2))
        runs = [fig.repeated(job) for job in jobs(count)]
        runs.insert(2, (start, partial(sim.step, substeps=STEPS), STEPS))
        columns.append([1e3 * t for t in fig.step_times(runs, 1 if size == fig.QUICK else 20)])
    found = dict(zip(NAMES, (list(row) for row in zip(*columns, strict=True)), strict=False))
    figure, (panel,) = fig.panels(1, 1, ["forward dynamics of chains of hinges"])
    for (name, times), color in zip(
        found.items(), (fig.OURS, "#7fa7d8", fig.THIRD, fig.THEIRS), strict=False
    ):
        panel.plot(LINKS[size], times, "o-", color=color, label=name)
    printed = [PRINTED.get(count, (np.nan, np.nan)) for count in LINKS[size]]
    for k, name in enumerate(("SI, printed", "Featherstone, printed")):
        times = [pair[k] for pair in printed]
        panel.plot(LINKS[size], times, ":", color="grey", marker="+x"[k], label=name)
        found[name] = times
    panel.set_yscale("log")
    fig.over(panel, LINKS[size], "links", "ms")
    fig.save(figure, out)
    head = ["[ms]", *(f"RC{count}" for count in LINKS[size])]
    fig.report("SI Table 1", head, [[name, *times] for name, times in found.items()])
    return found


if __name__ == "__main__":
    fig.command(main)
