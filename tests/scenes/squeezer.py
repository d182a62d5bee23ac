"""Andrews' squeezing mechanism (IFToMM A03, CWI test set): seven planar bodies, three loops, a spring, a drive."""

from __future__ import annotations

import numpy as np

from vigym import Mechanism

MASS = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIA = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
A = np.array([-0.06934, -0.00227])
B = np.array([-0.03635, 0.03273])
C = np.array([0.014, 0.072])
D = 0.028
DA = 0.0115
E = 0.02
EA = 0.01421
RR = 0.007
RA = 0.00092
SS = 0.035
SA = 0.01874
SB = 0.01043
SC = 0.018
SD = 0.02
TA = 0.02308
TB = 0.00916
U = 0.04
UA = 0.01228
UB = 0.00449
ZF = 0.02
ZT = 0.04
FA = 0.01421
STIFFNESS = 4530.0
REST = 0.07785
TORQUE = 0.033
ANGLES = ("beta", "theta", "gamma", "phi", "delta", "omega", "epsilon")
# Published, to ten digits of the angles at least; radians and rad/s in the order of ANGLES.
START = (
    -0.0617138900142765,
    0.0,
    0.455279819163070,
    0.222668390165886,
    0.487364979543843,
    -0.222668390165886,
)
START += (1.230547444549821,)
TIME = 0.03
FINAL = (
    15.81077119629904,
    -15.75637105984298,
    0.04082224013073101,
    -0.5347301163226948,
    0.5244099658805304,
)
FINAL += (0.5347301163226948, 1.048080741042263)
FINAL_RATES = (
    1139.920302151208,
    -1424.379294994111,
    11.03291221937134,
    19.29337464421385,
    0.5735699284790808,
)
FINAL_RATES += (-19.29337464421385, 0.3231791658026955)


def along(angle, x, y):
    """The vector (x, y) turned by an angle."""
    return np.array([x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle)])


def squeezer():
    """The mechanism at its published start; each tree joint turns by the change of the angle it is named after.

    The problem is planar: flat bodies get half of their moment about each axis in the plane, and a
        little thickness.
    """
    beta, theta, gamma, phi, delta, omega, epsilon = START
    second = beta + theta
    fourth = phi + delta
    sixth = omega + epsilon
    pin = along(beta, RR, 0.0)
    point = pin + along(second, -D, 0.0)
    knee, elbow = A + along(delta, ZT, 0.0), A + along(epsilon, 0.0, -U)
    centres = (
        along(beta, RA, 0.0),
        pin + along(second, -DA, 0.0),
        B + along(gamma, SB, -SA),
        knee + along(fourth, 0.0, EA - E),
        A + along(delta, TA, TB),
        elbow + along(sixth, ZF - FA, 0.0),
        A + along(epsilon, -UB, -UA),
    )
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    for i, (mass, moment, centre) in enumerate(zip(MASS, INERTIA, centres, strict=True)):
        mech.add_body(f"K{i + 1}", mass, (0.55 * moment, 0.55 * moment, moment), (*centre, 0.0))

    def hinge(name, parent, child, where, **options):
        mech.add_joint(name, "revolute", parent, child, (*where, 0.0), (0.0, 0.0, 1.0), **options)

    hinge("beta", "world", "K1", (0.0, 0.0), effort=np.inf)
    hinge("theta", "K1", "K2", pin)
    hinge("gamma", "world", "K3", B)
    hinge("delta", "world", "K5", A)
    hinge("phi", "K5", "K4", knee)
    hinge("epsilon", "world", "K7", A)
    hinge("omega", "K7", "K6", elbow)
    for body in ("K3", "K4", "K6"):
        hinge(f"point_{body}", "K2", body, point)
    end = B + along(gamma, SD, -SC) - centres[2]
    mech.add_spring("spring", "K3", "world", (*end, 0.0), (*C, 0.0), STIFFNESS, REST)
    return mech


def changes(joint_positions, mech):
    """Angles of ANGLES from a vector of joint coordinates."""
    index = {name: i for i, name in enumerate(mech.position_names)}
    return np.array([joint_positions[index[name]] for name in ANGLES]) + START


def rates(joint_velocities, mech):
    index = {name: i for i, name in enumerate(mech.velocity_names)}
    return np.array([joint_velocities[index[name]] for name in ANGLES])
