"""Turn the crank of a closed four-bar to an angle: a PD controller alone sags, with the torque that holds it does not.

python examples/pd_holding.py
"""

import numpy as np

import vigym
from vigym import assets
from vigym.control.pd import Pd, pd
from vigym.control.static_torques import holding_torques

TARGET = 0.8  # [rad]


def reached(controller: Pd, mech: vigym.Mechanism, duration: float) -> float:
    """Return the crank's angle [rad] after a time under a controller."""
    sim = vigym.Simulator(mech, timestep=0.002)
    for _ in range(round(duration / 0.01)):
        info = {"joint_positions": sim.joint_positions, "joint_velocities": sim.joint_velocities}
        sim.step(controller(None, info).astype(float) * mech.joints["drive"].effort, substeps=5)
    assert np.max(sim.constraint_residual()) < 1e-10
    return float(sim.joint_positions[mech.position_names.index("drive")])


def main(duration: float = 10.0) -> dict[str, float]:
    """Print and return how far the crank is from its target, without and with the weight carried."""
    mech = vigym.load_urdf(assets.path("four_bar"))
    there = vigym.Simulator(mech)
    there.reset(positions={"drive": TARGET})
    torques = holding_torques(there)
    gains = {"target": TARGET, "kp": 3.0, "kd": 0.3}
    sag = reached(pd(mech, **gains), mech, duration) - TARGET
    left = reached(pd(mech, torques=torques, **gains), mech, duration) - TARGET
    print(f"the loop's weight takes {torques[0]:.4f} N m at {TARGET} rad")
    print(f"PD alone: {sag:.4f} rad off; with that torque: {left:.1e} rad")
    return {"torque": float(torques[0]), "sag": sag, "left": left}


if __name__ == "__main__":
    main()
