"""Where energy goes: vigym beside Runge-Kutta 4, and MuJoCo when installed, on a double pendulum and on a four-bar.

python examples/energy_story.py energy_story.png
"""

import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import mujoco_rods
import numpy as np
from matplotlib.figure import Figure
from runge_kutta import DOUBLE_PENDULUM, FOUR_BAR, Rods

import vigym

STEP, EVERY = 0.01, 5  # of all engines [s]; steps from point to point


def variational(rods: Rods, step: float, every: int) -> Iterator[tuple[float, float]]:
    """Yield energy [J] and widest gap [m] of the rods in vigym."""
    mech, body = vigym.Mechanism(), "world"
    for k, ((x, z), (right, up)) in enumerate(zip(rods.centres, rods.halves, strict=True)):
        parent, body = body, f"rod{k}"
        mech.add_body(body, 1.0, np.full(3, rods.inertia[k]), position=(x, 0, z))
        mech.add_joint(f"pin{k}", "revolute", parent, body, (x - right, 0, z - up), axis=(0, 1, 0))
    if rods.closed:
        mech.add_joint("last", "revolute", "world", body, (rods.ends[-1, 0], 0, rods.ends[-1, 1]), axis=(0, 1, 0))
    sim = vigym.Simulator(mech, timestep=step)
    while True:
        yield sim.energy().total, sim.constraint_residual()
        assert sim.step(substeps=every).converged


ENGINES: dict[str, Callable[[Rods, float, int], Iterator[tuple[float, float]]]]
ENGINES = {"vigym": variational, "Runge-Kutta 4": Rods.run}
if find_spec("mujoco"):
    ENGINES["MuJoCo, RK4"] = mujoco_rods.run


def main(picture: str = "energy_story.png", seconds: float = 40.0) -> dict[tuple[str, str], tuple[float, float]]:
    """Draw energies and gaps; print and return the largest energy error [J] and gap [m] of every run."""
    figure, time = Figure(figsize=(12.0, 7.0), layout="constrained"), np.arange(0.0, seconds, STEP * EVERY)
    systems, largest = {"double pendulum": DOUBLE_PENDULUM, "four-bar": FOUR_BAR}, {}
    for (system, rods), axes in zip(systems.items(), figure.subplots(2, 2).T, strict=True):
        for engine, run in ENGINES.items():
            energies, gaps = np.array([now for now, _ in zip(run(rods, STEP, EVERY), time, strict=False)]).T
            largest[system, engine] = float(np.abs(energies - energies[0]).max()), float(gaps.max())
            print("{:16} {:14} energy off by {:.1e} J, gap {:.1e} m".format(system, engine, *largest[system, engine]))
            axes[0].plot(time, energies - energies[0], label=engine, linewidth=0.8)
            axes[1].semilogy(time, np.maximum(gaps, 1e-17), label=engine, linewidth=0.8)
        axes[0].set(title=system, ylabel="energy less its start [J]")
        axes[1].set(xlabel="time [s]", ylabel="widest gap of the pins [m]")
        axes[0].legend()
    figure.savefig(picture, dpi=110)
    return largest


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "energy_story.png")
