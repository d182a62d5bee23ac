"""Chains of linked tori that slide on each other: energy, gap and time of a step for 10 to 80 tori.

Systems TC10 and TC20 of W. Si, B. Guenter, "Linear-Time Dynamics for Multibody Systems with General
Joint Models", and longer ones. Each torus has four degrees of freedom on the one before: where it
touches around both tubes and along both rings; the turn about the normal is locked.

python examples/surface_joints.py
"""

import time

import vigym
from vigym.mechanism.tracks.surfaces import Torus

RING, TUBE = 0.3, 0.06  # [m]
MASS = 1.0  # [kg]
HALF = 0.5**0.5
LYING_ALONG = (HALF, HALF, 0.0, 0.0), (HALF, 0.0, HALF, 0.0)  # axis along -y, along x


def torus_chain(count: int) -> vigym.Mechanism:
    """Return linked tori that hang below each other, across in turns, the first one pinned."""
    mech = vigym.Mechanism(name=f"TC{count}")
    across = MASS * (0.5 * RING**2 + 0.625 * TUBE**2)
    moments = across, across, MASS * (RING**2 + 0.75 * TUBE**2)  # solid tori [kg m^2]
    torus = Torus(RING, TUBE)
    for i in range(count):
        position = 0.0, 0.0, -2.0 * i * (RING - TUBE)
        mech.add_body(f"torus{i}", MASS, moments, position, LYING_ALONG[i % 2])
    for i in range(1, count):
        mech.add_surface_joint(f"link{i}", f"torus{i - 1}", f"torus{i}", torus, torus, spin=False)
    top = 0.0, 0.0, RING
    mech.add_joint("pin", "universal", "world", "torus0", top, axis=(1, 0, 0), axis2=(0, 1, 0))
    return mech


def simulate(count: int, seconds: float, timestep: float = 0.002) -> tuple[float, float, float]:
    """Return the largest energy error [J] and gap [m or rad], and the time of a step [s]."""
    sim = vigym.Simulator(torus_chain(count), timestep=timestep)
    sim.step()  # loads the compiled step
    sim.reset(velocities={"pin": (0.5, 0.3)})
    start, taken = sim.energy().total, 0.0
    errors, gaps = [], []
    for _ in range(round(seconds / 0.1)):
        begin = time.perf_counter()
        status = sim.step(substeps=round(0.1 / timestep))
        taken += time.perf_counter() - begin
        assert status.converged, status
        errors.append(abs(sim.energy().total - start))
        gaps.append(sim.constraint_residual())
    return max(errors), max(gaps), taken / (seconds / timestep)


def main(
    counts: tuple[int, ...] = (10, 20, 40, 80), seconds: float = 10.0
) -> list[tuple[int, float, float, float]]:
    """Print and return (degrees of freedom, energy error, gap, time of a step) of each chain."""
    rows = []
    print(f"{'chain':>6} {'freedoms':>9} {'energy error [J]':>17} {'gap':>9} {'step [us]':>10}")
    for count in counts:
        freedoms = torus_chain(count).degrees_of_freedom
        error, gap, taken = simulate(count, seconds)
        rows.append((freedoms, error, gap, taken))
        print(f"TC{count:<4} {freedoms:9} {error:17.1e} {gap:9.1e} {1e6 * taken:10.0f}")
    return rows


if __name__ == "__main__":
    main()
