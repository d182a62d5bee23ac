"""Forward dynamics of chains of tori by joints of any transform (SI Table 1).

python tests/benchmarks/tori.py

Chains of hinges are in `examples/papers/si_table.py`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from vigym.baselines import GeneralJoint, Tree, general_tree, recursion
from vigym.evaluation.speed.timing import machine, table

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


def main() -> None:
    """Print the table."""
    lines = []
    for count, printed in ((10, ".055"), (20, ".115")):
        tree = torus_chain(count)
        q = np.linspace(0.1, 0.9, tree.dofs)
        rates = np.full(tree.dofs, 0.2)
        own = best(tree.accelerations, q, rates)
        joints = tree.joints(q, rates)
        compiled = best(recursion.aba, tree.links, joints, rates, np.zeros(tree.dofs), tree.gravity)
        lines.append([f"TC{count}", str(tree.dofs), f"{own:.3f}", f"{compiled:.3f}", printed])
    head = ["system", "dofs", "ours", "without derivatives of joints", "printed"]
    print(f"{machine()}\n\n{table('Forward dynamics [ms]', head, lines)}")


if __name__ == "__main__":
    main()
