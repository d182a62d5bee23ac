"""SI Table 1: forward dynamics of chains of hinges, chains of tori and a windmill.

By the recursion for general joints, beside Pinocchio's `aba` on the chains of hinges where it is
installed, and vigym's whole step. Joints of tori, spheres and ellipsoids are transforms of four
parameters, from which SymPy derives screws and their rates, once for each pair of surfaces: half a
minute for the windmill. `si_surfaces.py` simulates these systems.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import NamedTuple

import _figure as fig
import numpy as np
from _general import difference_to_multipliers
from _mechanisms import chain
from _surfaces import torus_chain, windmill
from numpy.typing import NDArray

import vigym
from vigym.baselines import Tree, mechanism_tree, recursion, surface_tree

Array = NDArray[np.float64]
LINKS = {fig.QUICK: (5, 10), fig.PAGE: (20, 50, 100), fig.FULL: (20, 50, 100)}
TORI = {fig.QUICK: (3,), fig.PAGE: (10, 20), fig.FULL: (10, 20)}
# SI's two methods, generated code and a mixed one; Featherstone's
PRINTED = {
    "RC20": (0.020, 1.0, 0.025),
    "RC50": (0.050, 2.4, 0.064),
    "RC100": (0.112, 4.9, 0.127),
    "TC10": (0.055, 1.05, np.nan),
    "TC20": (0.115, 2.2, np.nan),
    "WM": (0.108, 2.4, np.nan),
}
NAMES = ("general joints", "compiled part", "vigym's step", "Pinocchio")
OTHERS = ("SI I, printed", "SI II, printed", "Featherstone, printed")
LENGTH, STEPS = 0.1, 50  # of links [m]; steps of a measurement


class Case(NamedTuple):
    """Mechanism, its tree in joint coordinates, and the state that is timed."""

    name: str
    mechanism: vigym.Mechanism
    tree: Tree
    q: Array
    rates: Array


def cases(size: str) -> list[Case]:
    """Return the systems of the table."""
    found = []
    for count in LINKS[size]:
        mech = chain(count, 0.0, LENGTH, density=10.0)
        state = np.full(count, 0.1), np.full(count, 0.2)
        found.append(Case(f"RC{count}", mech, mechanism_tree(mech), *state))
    others = {f"TC{count}": torus_chain(count) for count in TORI[size]}
    if size != fig.QUICK:
        others["WM"] = windmill()
    for name, mech in others.items():
        tree, q = surface_tree(mech)
        assert tree.dofs == mech.degrees_of_freedom
        found.append(Case(name, mech, tree, q, np.full(tree.dofs, 0.2)))
    return found


def peer(case: Case) -> Callable[[], Array]:
    """Return Pinocchio's forward dynamics of a chain of hinges, which hangs along -z at zero."""
    import pinocchio as pin

    model, joint = pin.Model(), 0
    rod = next(iter(chain(1, 0.0, LENGTH, density=10.0).bodies.values()))
    inertia = pin.Inertia(rod.mass, np.array([0.0, 0.0, -LENGTH / 2]), rod.inertia)
    place = pin.SE3.Identity()
    for k in range(case.tree.dofs):
        joint = model.addJoint(joint, pin.JointModelRY(), place, f"hinge{k}")
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
        place = pin.SE3(np.eye(3), np.array([0.0, 0.0, -LENGTH]))
    tau, data = np.zeros(case.tree.dofs), model.createData()
    return lambda: pin.aba(model, data, case.q, case.rates, tau)


def times(case: Case, repeats: int) -> list[float]:
    """Return the times [ms] of a case; check that all find the same accelerations."""
    tree, state = case.tree, (case.q, case.rates)
    joints, tau = tree.joints(*state), np.zeros(tree.dofs)
    sim = vigym.Simulator(case.mechanism, 1e-3)
    runs: list[fig.Run] = [
        fig.repeated(partial(tree.accelerations, *state)),
        fig.repeated(partial(recursion.aba, tree.links, joints, case.rates, tau, tree.gravity)),
        (sim.reset, partial(sim.step, substeps=STEPS), STEPS),
    ]
    if case.name.startswith("RC"):
        runs[2] = (partial(sim.reset, *state), *runs[2][1:])
        if find_spec("pinocchio"):
            other = peer(case)
            runs.append(fig.repeated(other))
            own = tree.accelerations(*state)
            assert np.abs(own - other()).max() < 1e-9 * np.abs(own).max()
    else:
        assert difference_to_multipliers(case.mechanism, tree, *state) < 1e-6
    found = [1e3 * t for t in fig.step_times(runs, repeats)]
    return found + [np.nan] * (len(NAMES) - len(found))


def main(out: str = "si_table.png", size: str = fig.PAGE) -> dict[str, list[float]]:
    """Draw and print times [ms]; return them by method."""
    played = cases(size)
    columns = [times(case, 1 if size == fig.QUICK else 20) for case in played]
    columns = [
        [*column, *PRINTED.get(case.name, (np.nan,) * len(OTHERS))]
        for case, column in zip(played, columns, strict=True)
    ]
    rows = [list(row) for row in zip(*columns, strict=True)]
    found = dict(zip((*NAMES, *OTHERS), rows, strict=True))
    figure, panels = fig.panels(1, 2, ["chains of hinges", "chains of tori, windmill"])
    colors = fig.OURS, "#7fa7d8", fig.THIRD, fig.THEIRS, "black", "grey", "grey"
    for panel, is_chain in zip(panels, (True, False), strict=True):
        kept = [k for k, case in enumerate(played) if case.name.startswith("RC") == is_chain]
        kept.sort(key=lambda k: played[k].tree.dofs)
        dofs = [played[k].tree.dofs for k in kept]
        for (name, row), color, mark in zip(found.items(), colors, "oooo+xv", strict=True):
            style = {"color": color, "label": name, "linestyle": ":" if mark in "+xv" else "-"}
            if not np.isnan([row[k] for k in kept]).all():
                panel.loglog(dofs, [row[k] for k in kept], marker=mark, **style)
        fig.over(panel, dofs, "degrees of freedom", "ms")
    fig.save(figure, out)
    head = ["[ms]", *(case.name for case in played)]
    fig.report("SI Table 1: forward dynamics", head, [[name, *r] for name, r in found.items()])
    return found


if __name__ == "__main__":
    fig.command(main)
