"""Laws of motors, limits and dry friction: the solution of each, and its derivative by the motion."""

import numpy as np
import pytest

from scenes.plain_python import Fields, data_of, derivative
from scenes.touching_scenes import dc_drive
from vigym import MINITAUR_MOTOR, Simulator
from vigym.core.joint import bounded_laws as laws
from vigym.core.tables.plan import DC_MOTOR, PD_MOTOR

D = Fields()
RHO, PROX = 50.0, 0.2
PER_H = 100.0
SLOPE = 30.0  # of the rate by the motion


def fixed_point(law):
    """The force that a law of (force, motion) gives back, and its values there; errors shrink to 1 - PROX."""

    def solved(motion):
        force = 0.0
        for _ in range(300):
            force, affine, slope = law(force, motion)
        return force, affine, slope

    return solved


def assert_affine(law):
    """At the solution the affine force is the force, and the slope is minus its derivative by the motion."""
    solved = fixed_point(law)
    force, affine, slope = solved(0.0)
    assert affine == pytest.approx(force, rel=1e-9, abs=1e-9)
    found = derivative(lambda motion: solved(motion[0])[0], (1.0,), 1e-7)
    assert -slope == pytest.approx(found, rel=1e-5, abs=1e-4)
    return force


def test_numbers_are_clamped():
    assert [laws.clamp(z, -1.0, 2.0) for z in (-3.0, 0.5, 4.0)] == [-1.0, 0.5, 2.0]
    assert laws.clamp(0.0, 1.0, -1.0) == 1.0  # the low bound wins


@pytest.mark.parametrize(("rate", "expected"), [(3.0, -2.0), (-3.0, 2.0), (1e-4, None)])
def test_dry_friction(rate, expected):
    """Its full force against a motion, less at rest."""
    dof = Fields(seen_rate=rate, seen_slope=SLOPE)
    force = assert_affine(
        lambda f, motion: laws.coulomb_law(D, dof, f, 0.0, motion, RHO, 2.0, PROX)
    )
    if expected is None:
        assert abs(force) < 2.0
        assert force * rate < 0.0
    else:
        assert force == expected


@pytest.mark.parametrize(
    ("lower", "upper", "sign"), [(-0.01, 1.0, 1.0), (1.0, -0.01, -1.0), (1.0, 1.0, 0.0)]
)
def test_limits(lower, upper, sign):
    """A force where a clearance is used up, away from the limit; none in between."""

    def law(force, motion):
        clearances = np.float64(lower + PER_H * motion), np.float64(upper - PER_H * motion)
        dof = Fields(lower_clearance=clearances[0], upper_clearance=clearances[1])
        return laws.limit_law(D, dof, force, 0.0, 0.0, PER_H, RHO, PROX)

    assert np.sign(assert_affine(law)) == sign


def motor(**values):
    given = {"seen_rate": 0.5, "seen_slope": SLOPE, "motor_command": 3.0, "motor_stiffness": 20.0}
    return Fields(**(given | {"velocity_limit": np.inf} | values))


@pytest.mark.parametrize(("bound", "expected"), [(10.0, 3.0), (2.0, 2.0)])
def test_motors_give_their_command_up_to_their_largest_force(bound, expected):
    def law(force, motion):
        return laws.motor_law(D, motor(), force, 0.0, motion, RHO, bound, PROX)

    assert assert_affine(law) == pytest.approx(expected)


@pytest.mark.parametrize("way", [1.0, -1.0])
def test_motors_are_braked_at_their_largest_rate(way):
    """The brake takes as much force as its proximal part lets it: less than the command, the other way in the end."""
    dof = motor(seen_rate=way * 2.0, motor_command=way * 3.0, velocity_limit=1.9)

    def law(force, motion):
        return laws.motor_law(D, dof, force, 0.0, motion, RHO, 100.0, PROX)

    force, affine, slope = fixed_point(law)(0.0)
    assert force == pytest.approx(-way * RHO / PROX * 0.1)
    assert (affine, slope) == pytest.approx((force, RHO / PROX * SLOPE))


def electric():
    """Row of a joint with the Minitaur's motor, that holds a position."""
    dof = data_of(Simulator(dc_drive(kd=0.02))).dof(0)
    dof.target = 0.4
    return dof


def test_torques_of_electric_motors_lie_on_their_curve():
    dof = electric()
    for current, torque in zip(MINITAUR_MOTOR.currents, MINITAUR_MOTOR.torques, strict=True):
        assert laws.dc_motor_torque(dof, current)[0] == pytest.approx(torque, abs=1e-12)
        assert laws.dc_motor_torque(dof, -current)[0] == pytest.approx(-torque, abs=1e-12)
    assert laws.dc_motor_torque(dof, 2.0 * dof.currents[-1]) == pytest.approx(
        (dof.torques[-1], 0.0)
    )
    for current in (0.3 * dof.currents[1], -0.5 * (dof.currents[2] + dof.currents[3])):
        found = derivative(
            lambda change, i=current: laws.dc_motor_torque(dof, i + change[0])[0], (1.0,)
        )
        assert laws.dc_motor_torque(dof, current)[1] == pytest.approx(found)


@pytest.mark.parametrize("kind", [PD_MOTOR, DC_MOTOR])
def test_commands_and_their_stiffness(kind):
    """Of a motor that holds a position, by force or by voltage."""
    dof = electric()
    d = Fields(body=lambda i: Fields(motor_kind=kind))

    def command(change):
        return laws.motor_command(d, 1, dof, 0.3 + change[0], 0.2 + SLOPE * change[0], SLOPE)

    force, stiffness = command((0.0,))
    assert -stiffness == pytest.approx(
        derivative(lambda change: command(change)[0], (1.0,)), rel=1e-7
    )
    dof.target = np.nan  # idle
    assert command((0.0,)) == (0.0, 0.0)
