"""Acrobot handstand: simulate a thousand swing-up controllers at once, replay one that balances.

The motor is too weak to hold the lower rod level, so a swing rarely passes the upright pose slowly
enough for the regulator to catch it. A batch finds one that does, and its replay is bit for bit the
same.

python examples/acrobot_stand.py
"""

import numpy as np

import vigym
from vigym import assets
from vigym.control.energy_swing_up import EnergySwingUp, energy_swing_up, resting_energy
from vigym.control.lqr import lqr

MECH = vigym.load_urdf(assets.path("acrobot"))
UPRIGHT, EFFORT = {"shoulder": np.pi}, 3.0
STEPS, SUBSTEPS = 500, 5  # 25 s
BALANCE, CATCH = lqr(MECH, UPRIGHT, substeps=SUBSTEPS), 20.0


def swing_up(random: np.ndarray) -> EnergySwingUp:
    """Return controllers with random parameters, one for each row (n, 3) of numbers in [0, 1]."""
    energy = resting_energy(MECH, UPRIGHT) + 6.0 * random[..., 0]
    gains = {"push": -2.0 - random[..., 1], "pump": 0.2 * 10.0 ** random[..., 2]}
    catch = {"balance": BALANCE, "catch": CATCH}
    return energy_swing_up(MECH, energy=energy, swing="shoulder", **catch, **gains)


def play(act: EnergySwingUp, start: np.ndarray, batch: int | None) -> tuple[np.ndarray, float]:
    """Return times since which acrobots stand [s], or inf, and the least final deviation."""
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
    """Find a controller for a random start near hanging and replay it; print and return results."""
    rng = np.random.default_rng(seed)
    start = rng.uniform(-0.1, 0.1, (2, 2))
    tried, times = 0, np.array([np.inf])
    while not np.isfinite(times).any():
        random = rng.uniform(size=(candidates, 3))
        tried += candidates
        times, _ = play(swing_up(random), start, candidates)
    best = int(np.argmin(times))
    replayed, deviation = play(swing_up(random[best]), start, None)
    print(f"{np.isfinite(times).sum()} of {candidates} acrobots stand at 25 s; {tried} were tried")
    print(f"the fastest stands after {times[best]:.2f} s, its replay after {replayed:.2f} s")
    print(f"deviation of the replay at 25 s: {deviation:.0e} rad")
    found = {"batch": float(times[best]), "replayed": float(replayed)}
    return found | {"deviation": deviation, "tried": tried}


if __name__ == "__main__":
    main()
