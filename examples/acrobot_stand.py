"""Stand an acrobot on its hands: of a thousand ways to pump energy, simulated at once, play one that ends in balance.

The motor is too weak to hold the lower rod level, so that a swing rarely comes by the upright pose slowly enough for
the regulator to catch it. A batch tells which one does, and what it tells happens, bit for bit.

python examples/acrobot_stand.py
"""

import numpy as np

import vigym
from vigym import assets
from vigym.control.energy_swing_up import EnergySwingUp, energy_swing_up, resting_energy
from vigym.control.lqr import lqr

MECH = vigym.load_urdf(assets.path("acrobot"))
UPRIGHT, EFFORT, STEPS, SUBSTEPS = {"shoulder": np.pi}, 3.0, 500, 5  # 25 s
BALANCE, CATCH = lqr(MECH, UPRIGHT, substeps=SUBSTEPS), 20.0


def swing_up(random: np.ndarray) -> EnergySwingUp:
    """Return controllers, one for each row (n, 3) of random numbers in [0, 1], that differ in how they pump."""
    energy = resting_energy(MECH, UPRIGHT) + 6.0 * random[..., 0]
    constants = {"push": -2.0 - random[..., 1], "pump": 0.2 * 10.0 ** random[..., 2]}
    return energy_swing_up(MECH, energy=energy, swing="shoulder", balance=BALANCE, catch=CATCH, **constants)


def play(act: EnergySwingUp, start: np.ndarray, batch: int | None) -> tuple[np.ndarray, float]:
    """Return since when acrobots stand [s], inf: they do not, and how far the nearest is from upright in the end."""
    sim = vigym.Simulator(MECH, batch=batch)
    sim.reset(positions=start[0], velocities=start[1])
    since = np.full(batch or (), np.inf)
    for _ in range(STEPS):
        info = {"joint_positions": sim.joint_positions, "joint_velocities": sim.joint_velocities}
        info["energy_total"] = np.asarray(sim.energy().total)
        since = np.where(BALANCE.cost(info) < CATCH, np.minimum(since, sim.time), np.inf)
        sim.step(EFFORT * act(None, info).astype(float), substeps=SUBSTEPS)
    info = {"joint_positions": sim.joint_positions, "joint_velocities": sim.joint_velocities}
    return since, float(np.abs(BALANCE.deviation(info)).max(axis=-1).min())


def main(seed: int = 0, candidates: int = 1024) -> dict[str, float]:
    """Find a way to stand from a random start next to hanging, play it; print and return since when it stands."""
    rng, tried, told = np.random.default_rng(seed), 0, np.array([np.inf])
    start = rng.uniform(-0.1, 0.1, (2, 2))
    while not np.isfinite(told).any():
        random, tried = rng.uniform(size=(candidates, 3)), tried + candidates
        told, _ = play(swing_up(random), start, candidates)
    best = int(np.argmin(told))
    played, left = play(swing_up(random[best]), start, None)
    print(f"{np.isfinite(told).sum()} of {candidates} ways stand in the end; {tried} were tried")
    print(
        f"the quickest stands after {told[best]:.2f} s; played alone after {played:.2f} s, {left:.0e} rad off at 25 s"
    )
    return {"told": float(told[best]), "played": float(played), "left": left, "tried": tried}


if __name__ == "__main__":
    main()
