"""Methods of other papers: their tables and figures, our numbers beside the printed ones.

python tests/benchmarks/baselines.py multipliers   Baraff's table, auxiliary rows, drift
python tests/benchmarks/baselines.py variational   Lee's figures 2 to 4
python tests/benchmarks/baselines.py general       Si's table 1
python tests/benchmarks/baselines.py failures      steps without solution by tolerance (MC Fig. 8)
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # scenes of the tests

from scenes.chains import ball_tree, rod_chain
from scenes.linkages import four_bar
from vigym import Mechanism
from vigym.baselines import (
    METHODS,
    GeneralJoint,
    StepError,
    Tree,
    discrete,
    general_tree,
    mechanism_tree,
    recursion,
    sparse,
)
from vigym.baselines.multipliers import Auxiliary, Multipliers
from vigym.evaluation.speed.timing import machine, table
from vigym.spatial import batch_rotation_matrix

REPEATS, SAMPLE = 7, 2e-3  # measurements, and how long each takes [s]


def best(function: Callable[..., Any], *arguments: Any) -> float:
    """Least processor time of a call [ms], over repeats of some milliseconds."""
    function(*arguments)
    begun, count = time.process_time(), 0
    while time.process_time() - begun < SAMPLE:
        function(*arguments)
        count += 1
    found = []
    for _ in range(REPEATS):
        begun = time.process_time()
        for _ in range(count):
            function(*arguments)
        found.append((time.process_time() - begun) / count)
    return 1e3 * min(found)


# multipliers: Baraff's table


def ball_chain(count: int) -> Mechanism:
    """Bodies on ball joints, none in line with the next two."""
    return rod_chain(count, length=0.3, kind="spherical")


def ball_rings(count: int, loops: int) -> Mechanism:
    """A chain of which some bodies are tied to the world by ball joints of three rows."""
    mech = ball_chain(count)
    for k in range(loops):
        i = (k + 1) * count // loops - 1
        place = (0.05, 0.02 * (k + 1), -0.3 * (i + 0.7))
        mech.add_joint(f"tie{k}", "spherical", "world", f"rod{i}", place)
    return mech


def placed(mech: Mechanism) -> tuple[Multipliers, np.ndarray, np.ndarray]:
    """A method that was reset, and its poses."""
    method = Multipliers(mech)
    return method, method._x, batch_rotation_matrix(method._q)


def dense_rows(method: Multipliers) -> tuple[np.ndarray, np.ndarray]:
    """Inverse masses (6 n, 6 n) and rows of the tree (rows, 6 n)."""
    system, rows = method.system, method.system.rows
    count = len(system.mass)
    J = np.zeros((len(rows.a), count, 6))
    every = np.arange(len(rows.a))
    J[every, rows.a] += rows.on_a
    J[every, rows.b] += rows.on_b
    W = np.zeros((count, 6, count, 6))
    for i in range(1, count):
        W[i, :3, i, :3] = np.eye(3) / system.mass[i]
        W[i, 3:, i, 3:] = np.linalg.inv(system.world_inertia[i])
    n = 6 * (count - 1)
    return W[1:, :, 1:].reshape(n, n), J[system.primary][:, 1:].reshape(-1, n)


def multiplier_row(name: str, mech: Mechanism, general: int, printed: str) -> list[str]:
    """Times of one system: rows, factors, solution, auxiliary ones, and the dense matrix."""
    method, x, R = placed(mech)
    system = method.system
    system.place(x, R)
    z = np.ones((len(system.H.parent), 6))
    rows = best(system.rows.place, x, R)
    factor = best(sparse.sparse_factor, system.H)
    solution = best(sparse.sparse_solve, system.factors, z)
    loops = system.rows.matrix(~system.primary)
    draw = np.random.default_rng(0).normal(size=(general, *loops.shape[1:]))
    pushes = np.concatenate([loops, draw])
    auxiliary = best(Auxiliary, system, pushes) if len(pushes) else 0.0
    W, J = dense_rows(method)

    def dense() -> None:
        np.linalg.cholesky(J @ W @ J.T)

    try:
        whole = best(dense)
    except np.linalg.LinAlgError:
        whole = np.nan
    times = [
        rows,
        factor,
        solution,
        factor / solution,
        auxiliary,
        whole,
        whole / (factor + solution),
    ]
    return [
        name,
        f"{int(system.primary.sum())} + {len(pushes)}",
        *(f"{t:.3g}" for t in times),
        printed,
    ]


def multipliers() -> str:
    """Baraff's table, k auxiliary rows over n bodies, and the drift of a loop."""
    cases = [
        ("chain", ball_chain(36), 0, "7.75, 2.75 of it rows"),
        ("chain, 4 ties", ball_rings(32, 4), 0, "about 25"),
        ("chain, 3 rows", ball_chain(32), 3, "18, 4.4 of it rows; x 2"),
        ("binary tree", ball_tree(7), 0, "44.6, 4 of it rows; x 40"),
        ("chain", ball_chain(127), 0, ""),
        ("chain", ball_chain(254), 0, ""),
        ("chain", ball_chain(508), 0, ""),
    ]
    head = ["system", "multipliers", "rows", "factor", "solve", "factor / solve", "auxiliary"]
    head += ["dense", "dense / sparse", "printed [ms]"]
    tables = [table("Multipliers [ms]", head, [multiplier_row(*case) for case in cases])]
    lines = []
    for count in (50, 100, 200, 400):
        method, x, R = placed(ball_chain(count))
        method.system.place(x, R)
        draw = np.random.default_rng(0).normal(size=(48, count + 1, 6))
        cells = [f"{best(Auxiliary, method.system, draw[:k]):.3g}" for k in (1, 3, 12, 48)]
        lines.append([str(count), *cells])
    head = ["bodies", "k = 1", "3", "12", "48"]
    tables.append(table("Auxiliary rows [ms]", head, lines))
    lines = []
    for name in ("multipliers", "baumgarte", "ggl", "vigym"):
        method = METHODS[name](four_bar(), 0.01)
        method.reset(velocities={"j0": 2.0})
        gaps = [name]
        for step in range(1, 10001):
            method.step()
            if step in (100, 1000, 10000):
                gaps.append(f"{method.gap():.1e}")
        lines.append(gaps)
    tables.append(table("Gap of a four-bar, step 10 ms", ["method", "1 s", "10 s", "100 s"], lines))
    return "\n\n".join(tables)


# variational integrators: Lee's figures


def falling(name: str, count: int, guess: str = "IG3", tolerance: float = 1e-10) -> Any:
    """A chain of 10 cm rods that falls from the side, 1 ms a step."""
    method = METHODS[name](rod_chain(count, length=0.1), 1e-3, tolerance)
    if hasattr(method, "guess"):
        method.guess = guess
    method.reset(positions={"hinge0": np.pi / 2})
    return method


def iterations(name: str, guess: str) -> str:
    """Mean and deviation of evaluations in 1000 steps of ten links."""
    method, found = falling(name, 10, guess), []
    for _ in range(1000):
        method.step()
        found.append(1 + method.iterations)
    return f"{np.mean(found):.2f} ± {np.std(found):.2f}"


def step_time(name: str, count: int, steps: int) -> float:
    """Mean processor time of a step [ms], after some that compile."""
    method = falling(name, count, tolerance=1e-8)
    for _ in range(5):
        method.step()
    begun = time.process_time()
    for _ in range(steps):
        method.step()
    return 1e3 * (time.process_time() - begun) / steps


def evaluation_times(count: int) -> tuple[float, float]:
    """Times of the residual by DRNEA and by dense Jacobians [ms], from equal displacements."""
    tree = mechanism_tree(rod_chain(count, length=0.1))
    still = np.zeros(count)
    before, after = tree.joints(still + 0.1, still), tree.joints(still + 0.101, still)
    moved = discrete.displace(tree.links, before, after, 1e-3)
    incoming = np.zeros((count, 6))
    found = [
        best(f, tree.links, before, moved, incoming)
        for f in (discrete.drnea, discrete.dense_residual)
    ]
    return found[0], found[1]


def variational() -> str:
    """Iterations, energies and times of Lee's chain."""
    guesses = ("IG1", "IG2", "IG3")
    names = ("newton", "riqn", "broyden")
    printed = {"newton": "4 ± 0", "riqn": "5.69 ± 1.16", "broyden": ""}
    lines = [[n, *(iterations(n, guess) for guess in guesses), printed[n]] for n in names]
    head = ["method", *guesses, "printed"]
    tables = [table("Evaluations of a step, 10 links, 1e-10", head, lines)]
    lines = []
    for name in ("riqn", "semi-implicit-euler", "vigym"):
        method = falling(name, 10)
        start, errors = method.energy().total, []
        for _ in range(10000):
            method.step()
            errors.append(method.energy().total - start)
        early, late = np.abs(errors[:5000]).max(), np.abs(errors[5000:]).max()
        lines.append([name, f"{early:.2e}", f"{late:.2e}", f"{np.mean(errors[-1000:]):.2e}"])
    head = ["method", "largest in 0 to 5 s", "5 to 10 s", "mean of the last second"]
    tables.append(table("Energy error, 10 links, 10,000 steps of 1 ms [J]", head, lines))
    lines = []
    for count in (10, 20, 50, 100):
        times = [step_time(name, count, 200) for name in ("riqn", "broyden", "newton", "vigym")]
        fast, dense = evaluation_times(count)
        cells = [f"{t:.3g}" for t in times] + [f"{times[2] / times[0]:.2g}"]
        lines.append([str(count), *cells, f"{fast:.3g}", f"{dense:.3g}", f"{dense / fast:.2g}"])
    head = ["links", "riqn", "broyden", "newton", "vigym", "newton / riqn"]
    head += ["drnea", "dense", "dense / drnea"]
    title = "Steps and residuals [ms]; printed: newton / riqn 3.8 and 53, dense / drnea 15 and 32"
    tables.append(table(f"{title} at 10 and 100 links", head, lines))
    return "\n\n".join(tables)


# general joints: Si's table 1


def torus(sympy: Any, u: Any, v: Any, R: float = 1.0, r: float = 0.25) -> Any:
    """Frame on a torus about z: along the circles, and its normal outwards."""
    cu, su = sympy.cos(u), sympy.sin(u)
    cv, sv = sympy.cos(v), sympy.sin(v)
    return sympy.Matrix(
        [
            [-su, -sv * cu, cv * cu, (R + r * cv) * cu],
            [cu, -sv * su, cv * su, (R + r * cv) * su],
            [0, cv, sv, r * sv],
            [0, 0, 0, 1],
        ]
    )


def torus_chain(count: int) -> Tree:
    """Tori that touch with opposite normals: two coordinates on each; the first turns only."""
    import sympy

    flip = sympy.diag(1, -1, -1, 1)

    def back(pose: Any) -> Any:
        result = sympy.eye(4)
        result[:3, :3], result[:3, 3] = pose[:3, :3].T, -pose[:3, :3].T * pose[:3, 3]
        return result

    def touching(q: Any) -> Any:
        return torus(sympy, q[0], q[1]) * flip * back(torus(sympy, q[2], q[3]))

    def pivoted(q: Any) -> Any:
        a, b = sympy.cos(q[0]), sympy.sin(q[0])
        c, d = sympy.cos(q[1]), sympy.sin(q[1])
        one = sympy.Matrix([[a, -b, 0, 0], [b, a, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        return one * sympy.Matrix([[1, 0, 0, 0], [0, c, -d, 0], [0, d, c, 0], [0, 0, 0, 1]])

    contact = GeneralJoint(touching, 4)
    joints = [GeneralJoint(pivoted, 2), *[contact] * (count - 1)]
    inertia = np.diag([0.6, 0.6, 1.1, 1.0, 1.0, 1.0])
    return general_tree(range(-1, count - 1), joints, [inertia] * count, np.array([0, 0, -9.81]))


def pinocchio_time(mech: Mechanism, q: np.ndarray, rates: np.ndarray) -> float | None:
    """Time of Pinocchio's forward dynamics [ms], None without it."""
    try:
        import pinocchio as pin
    except ImportError:
        return None
    from scenes.pinocchio_models import PinocchioModel

    other = PinocchioModel(pin, mech)
    tau = np.zeros(len(rates))
    return best(pin.aba, other.model, other.data, q, rates, tau)


def general() -> str:
    """Forward dynamics of chains of hinges and of tori."""
    printed = {20: ".020", 50: ".050", 100: ".112"}
    lines = []
    for count in (20, 50, 100):
        mech = rod_chain(count, length=0.1)
        tree = mechanism_tree(mech)
        q, rates = np.full(count, 0.1), np.full(count, 0.2)
        own = best(tree.accelerations, q, rates)
        other = pinocchio_time(mech, q, rates)
        cells = [f"{own:.3f}", "" if other is None else f"{other:.4f}", printed[count]]
        lines.append([f"RC{count}", str(count), *cells])
    for count, paper in ((10, ".055"), (20, ".115")):
        tree = torus_chain(count)
        q = np.linspace(0.1, 0.9, tree.dofs)
        rates = np.full(tree.dofs, 0.2)
        own = best(tree.accelerations, q, rates)
        joints = tree.joints(q, rates)
        tau = np.zeros(tree.dofs)
        compiled = best(recursion.aba, tree.links, joints, rates, tau, tree.gravity)
        lines.append([f"TC{count}", str(tree.dofs), f"{own:.3f} ({compiled:.3f})", "", paper])
    head = ["system", "dofs", "ours", "Pinocchio", "printed"]
    return table("Forward dynamics [ms]; in brackets without derivatives of joints", head, lines)


# failures: MC Fig. 8, SIM Fig. 10


def outcome(name: str, count: int, tolerance: float, steps: int = 1000) -> str:
    """Mean iterations of a chain that is let go at half a radian, or the step that failed."""
    method = METHODS[name](rod_chain(count), 0.01, tolerance)
    method.reset(positions={"hinge0": 0.5})
    total = 0
    for step in range(steps):
        try:
            method.step()
        except StepError:
            return f"fails at step {step}"
        total += method.iterations
    return f"{total / steps:.2f}"


def failures() -> str:
    """Iterations and failures by links and tolerance."""
    lines = []
    for count in (2, 5, 10, 20, 50):
        for name in ("vigym", "riqn", "newton", "third-order"):
            cells = [outcome(name, count, tolerance) for tolerance in (1e-6, 1e-8, 1e-10)]
            lines.append([str(count), name, *cells])
    title = "Iterations of a step, links of 1 m from 0.5 rad, 10 ms, 1000 steps, given up after 100"
    return table(title, ["links", "method", "1e-6", "1e-8", "1e-10"], lines)


PARTS = {each.__name__: each for each in (multipliers, variational, general, failures)}


def main() -> None:
    """Print the tables of a part."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=list(PARTS))
    print(f"{machine()}\n\n{PARTS[parser.parse_args().part]()}")


if __name__ == "__main__":
    main()
