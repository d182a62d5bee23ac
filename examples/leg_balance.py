"""A closed five-bar leg balances its trunk on a point foot: two hip motors, three freedoms, an unstable pose.

The regulator's model is `sim.linearize()`: the derivative of the step with the loop closed.

python examples/leg_balance.py
"""

import numpy as np

import vigym
from vigym.control.lqr import lqr

UPPER, LOWER, EFFORT, Y = 0.115, 0.2, 3.5, (0.0, 1.0, 0.0)


def pinned_leg() -> vigym.Mechanism:
    """A leg whose foot is a hinge on the ground; its upper bars are level, and two motors hold the trunk above."""
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
    """Let it go leaning by a degree; print and return how far it is from the pose in the end, balanced and not."""
    mech, far = pinned_leg(), []
    balance = lqr(mech, timestep=0.002, substeps=5)
    for gain in (balance.gain, 0.0 * balance.gain):
        balance.gain = gain
        sim = vigym.Simulator(mech, timestep=0.002)
        sim.reset(positions={"foot": 0.02, "hip_front": 0.0, "hip_rear": 0.0})
        for _ in range(round(duration / 0.01)):
            info = {"joint_positions": sim.joint_positions, "joint_velocities": sim.joint_velocities}
            sim.step(EFFORT * balance(None, info).astype(float), substeps=5)
        far.append(float(np.abs(sim.joint_positions).max()))
    print(f"{mech.degrees_of_freedom} freedoms, 2 motors; {balance.torques.round(3)} N m carry the trunk")
    print(f"after {duration:.0f} s balanced {far[0]:.1e} rad from the pose, with those torques alone {far[1]:.1f} rad")
    return {"balanced": far[0], "alone": far[1], "gap": float(sim.constraint_residual())}


if __name__ == "__main__":
    main()
