"""Balance of a trunk on a closed five-bar leg: two motors, three degrees of freedom.

The model of the regulator is `sim.linearize()`: the derivative of the step with the loop closed.

python examples/leg_balance.py
"""

import numpy as np

import vigym
from vigym.control.lqr import lqr

UPPER, LOWER = 0.115, 0.2  # lengths of the bars [m]
EFFORT, Y = 3.5, (0.0, 1.0, 0.0)


def pinned_leg() -> vigym.Mechanism:
    """Return a leg whose foot is a hinge on the ground, with level upper bars and a trunk above."""
    hip = np.array([0.0, 0.0, np.sqrt(LOWER**2 - UPPER**2)])
    mech, foot = vigym.Mechanism(name="pinned leg"), np.zeros(3)
    knees = {"front": hip + [UPPER, 0.0, 0.0], "rear": hip - [UPPER, 0.0, 0.0]}
    for side, knee in knees.items():
        mech.add_body(f"lower_{side}", 0.05, (1.7e-4, 1.7e-4, 1e-5), position=0.5 * (foot + knee))
        mech.add_body(f"upper_{side}", 0.05, (1e-5, 5.5e-5, 5.5e-5), position=0.5 * (knee + hip))
    mech.add_body("trunk", 1.3, (0.01, 0.01, 0.004), position=hip + [0.0, 0.0, 0.1])
    mech.add_joint("foot", "revolute", "world", "lower_front", foot, Y)
    mech.add_joint("knee_front", "revolute", "lower_front", "upper_front", knees["front"], Y)
    mech.add_joint("hip_front", "revolute", "upper_front", "trunk", hip, Y, effort=EFFORT)
    mech.add_joint("hip_rear", "revolute", "trunk", "upper_rear", hip, Y, effort=EFFORT)
    mech.add_joint("knee_rear", "revolute", "upper_rear", "lower_rear", knees["rear"], Y)
    mech.add_joint("toe", "revolute", "lower_front", "lower_rear", foot, Y)  # closes the loop
    return mech


def main(duration: float = 5.0) -> dict[str, float]:
    """Release the leg at one degree of lean; print and return final angles, balanced and not."""
    mech, angles = pinned_leg(), []
    balance = lqr(mech, timestep=0.002, substeps=5)
    for gain in (balance.gain, 0.0 * balance.gain):
        balance.gain = gain
        sim = vigym.Simulator(mech, timestep=0.002)
        sim.reset(positions={"foot": 0.02, "hip_front": 0.0, "hip_rear": 0.0})
        for _ in range(round(duration / 0.01)):
            info = {
                "joint_positions": sim.joint_positions,
                "joint_velocities": sim.joint_velocities,
            }
            sim.step(EFFORT * balance(None, info).astype(float), substeps=5)
        angles.append(float(np.abs(sim.joint_positions).max()))
    print(f"{mech.degrees_of_freedom} degrees of freedom, 2 motors")
    print(f"torques that hold the trunk: {balance.torques.round(3)} N m")
    print(f"after {duration:.0f} s {angles[0]:.1e} rad from the pose with feedback")
    print(f"after {duration:.0f} s {angles[1]:.1f} rad from the pose with these torques alone")
    return {"balanced": angles[0], "alone": angles[1], "gap": float(sim.constraint_residual())}


if __name__ == "__main__":
    main()
