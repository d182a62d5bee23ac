"""Energy and joint gaps of vigym, Runge-Kutta 4 and, if installed, MuJoCo on two linkages.

python examples/energy_story.py energy_story.png
"""

import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from itertools import islice

import mujoco_rods
import numpy as np
from matplotlib.figure import Figure
from runge_kutta import DOUBLE_PENDULUM, FOUR_BAR, Rods

import vigym

STEP, EVERY = 0.01, 5  # of all engines [s]; steps between samples


def variational(rods: Rods, step: float, every: int) -> Iterator[tuple[float, float]]:
    """Yield energy [J] and largest gap [m] of the rods in vigym."""
    mech, body = vigym.Mechanism(), "world"
    axis = (0, 1, 0)
    for k, ((x, z), (right, up)) in enumerate(zip(rods.centres, rods.halves, strict=True)):
        parent, body = body, f"rod{k}"
        mech.add_body(body, 1.0, np.full(3, rods.inertia[k]), position=(x, 0, z))
        mech.add_joint(f"pin{k}", "revolute", parent, body, (x - right, 0, z - up), axis=axis)
    if rods.closed:
        end = (rods.ends[-1, 0], 0, rods.ends[-1, 1])
        mech.add_joint("last", "revolute", "world", body, end, axis=axis)
    sim = vigym.Simulator(mech, timestep=step)
    while True:
        yield sim.energy().total, sim.constraint_residual()
        assert sim.step(substeps=every).converged


ENGINES: dict[str, Callable[[Rods, float, int], Iterator[tuple[float, float]]]]
ENGINES = {"vigym": variational, "Runge-Kutta 4": Rods.run}
if find_spec("mujoco"):
    ENGINES["MuJoCo, RK4"] = mujoco_rods.run


def main(
    picture: str = "energy_story.png", seconds: float = 40.0
) -> dict[tuple[str, str], tuple[float, float]]:
    """Draw energies and gaps; print and return largest energy error [J] and gap [m] of each run."""
    figure = Figure(figsize=(12.0, 7.0), layout="constrained")
    time = np.arange(0.0, seconds, STEP * EVERY)
    systems = {"double pendulum": DOUBLE_PENDULUM, "four-bar": FOUR_BAR}
    largest = {}
    for (system, rods), axes in zip(systems.items(), figure.subplots(2, 2).T, strict=True):
        for engine, run in ENGINES.items():
            energies, gaps = np.array(list(islice(run(rods, STEP, EVERY), len(time)))).T
            error, gap = float(np.abs(energies - energies[0]).max()), float(gaps.max())
            largest[system, engine] = error, gap
            print(f"{system:16} {engine:14} energy error {error:.1e} J, gap {gap:.1e} m")
            axes[0].plot(time, energies - energies[0], label=engine, linewidth=0.8)
            axes[1].semilogy(time, np.maximum(gaps, 1e-17), label=engine, linewidth=0.8)
        axes[0].set(title=system, ylabel="energy minus initial energy [J]")
        axes[1].set(xlabel="time [s]", ylabel="largest gap of the joints [m]")
        axes[0].legend()
    figure.savefig(picture, dpi=110)
    return largest


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "energy_story.png")
