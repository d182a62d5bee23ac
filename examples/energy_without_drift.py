"""Double pendulum of 1000 s: its energy error is of second order in the step and does not drift.

python examples/energy_without_drift.py
"""

import numpy as np

import vigym


def double_pendulum() -> vigym.Mechanism:
    """Return two uniform rods of 1 m and 1 kg, hanging at zero."""
    mech = vigym.Mechanism(name="double pendulum")
    inertia = (1.0 / 12.0, 1.0 / 12.0, 1e-4)  # slender, along z [kg m^2]
    mech.add_body("upper", 1.0, inertia, position=(0, 0, -0.5))
    mech.add_body("lower", 1.0, inertia, position=(0, 0, -1.5))
    mech.add_joint("shoulder", "revolute", "world", "upper", position=(0, 0, 0), axis=(0, 1, 0))
    mech.add_joint("elbow", "revolute", "upper", "lower", position=(0, 0, -1), axis=(0, 1, 0))
    return mech


def energy_error(timestep: float, duration: float = 1000.0) -> tuple[np.ndarray, np.ndarray]:
    """Return times [s] and energy errors [J], from rest with both rods 1 rad from hanging."""
    sim = vigym.Simulator(double_pendulum(), timestep=timestep)
    sim.reset(positions={"shoulder": 1.0, "elbow": 0.0})
    start, substeps = sim.energy().total, round(0.05 / timestep)
    errors = []
    for _ in range(round(duration / 0.05)):
        status = sim.step(substeps=substeps)
        assert status.converged, status
        errors.append(sim.energy().total - start)
    return 0.05 * np.arange(1, len(errors) + 1), np.array(errors)


def main(duration: float = 1000.0) -> list[tuple[float, float, float]]:
    """Print and return (step [s], amplitude [J], trend over the duration [J]) of three steps."""
    rows = []
    print(f"{'step [s]':>9} {'amplitude [J]':>14} {'trend [J]':>10}   over {duration:g} s")
    for timestep in (0.01, 0.005, 0.0025):
        times, errors = energy_error(timestep, duration)
        amplitude = float(np.abs(errors - errors.mean()).max())
        trend = float(np.polyfit(times, errors, 1)[0]) * duration
        rows.append((timestep, amplitude, trend))
        print(f"{timestep:9.4f} {amplitude:14.2e} {trend:10.1e}")
    return rows


if __name__ == "__main__":
    main()
