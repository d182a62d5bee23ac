"""PD control of the crank of a closed four-bar, with and without the static torque of its target.

python examples/pd_holding.py
"""

import numpy as np

import vigym
from vigym import assets
from vigym.control.pd import Pd, pd
from vigym.control.static_torques import holding_torques

TARGET = 0.8  # [rad]


def final_angle(controller: Pd, mech: vigym.Mechanism, duration: float) -> float:
    """Return the crank angle [rad] after some time of control."""
    sim = vigym.Simulator(mech, timestep=0.002)
    for _ in range(round(duration / 0.01)):
        info = {"joint_positions": sim.joint_positions, "joint_velocities": sim.joint_velocities}
        sim.step(controller(None, info).astype(float) * mech.joints["drive"].effort, substeps=5)
    assert np.max(sim.constraint_residual()) < 1e-10
    return float(sim.joint_positions[mech.position_names.index("drive")])


def main(duration: float = 10.0) -> dict[str, float]:
    """Print and return the static error of the crank, without and with the static torque."""
    mech = vigym.load_urdf(assets.path("four_bar"))
    sim = vigym.Simulator(mech)
    sim.reset(positions={"drive": TARGET})
    torques = holding_torques(sim)
    gains = {"target": TARGET, "kp": 3.0, "kd": 0.3}
    sag = final_angle(pd(mech, **gains), mech, duration) - TARGET
    error = final_angle(pd(mech, torques=torques, **gains), mech, duration) - TARGET
    print(f"static torque {torques[0]:.4f} N m at {TARGET} rad")
    print(f"error of PD control {sag:.4f} rad, with the static torque {error:.1e} rad")
    return {"torque": float(torques[0]), "sag": sag, "error": error}


if __name__ == "__main__":
    main()
