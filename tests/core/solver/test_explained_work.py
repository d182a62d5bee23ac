"""Work that explains a gain of kinetic energy: along a line it is all of it, whatever forces act."""

import numpy as np
import pytest

from scenes.fields import add_bowl
from scenes.plain_python import Fields, data_of, solved_step
from scenes.touching_scenes import ball, point_mass, slider
from scenes.tracks import sliding
from vigym import Mechanism, Simulator
from vigym.core.body.pose import mean_rotation_rate
from vigym.core.solver import explained_work as explained
from vigym.core.tables.plan import BALL_CONTACT, SKATE
from vigym.mechanism.tracks.slides import Slide

H = 0.01


def between_points():
    mech = slider(armature=0.3)
    mech.add_spring("spring", "world", "cart", (-1.0, 0.0, 0.0), (0.0, 0.0, 0.0), 20.0, 0.8)
    return mech


def motorised():
    mech = slider(effort=50.0)
    mech.add_motor("rail", kp=30.0, kd=0.5)
    return mech


def carried():
    """A cart whose coordinate is prescribed."""
    mech = slider()
    mech.add_motion("rail", lambda t: 3.0 * t)
    return mech


def change_of(sim, velocities, **given):
    """Change of energy in the third step."""
    sim.reset(velocities=velocities)
    assert sim.step(substeps=2, **given).converged
    d, step, _ = solved_step(sim, H)
    return explained.measure_energy_change(d, step)


@pytest.mark.parametrize(
    ("make", "velocities"),
    [
        (lambda: ball(5.0), {"ball:floating": (1.0, 0.5, 2.0, 0.0, 0.0, 3.0)}),
        (lambda: slider(stiffness=30.0, rest=0.3, armature=0.2), {"rail": 1.0}),
        (between_points, {"rail": 1.0}),
    ],
)
def test_gravity_springs_and_armatures_explain_all(make, velocities):
    change = change_of(Simulator(make(), timestep=H), velocities)
    assert abs(change.gain) > 1e-3
    assert change.rise == pytest.approx(0.0, abs=1e-9)


def test_held_wrenches_explain_all():
    sim = Simulator(ball(5.0), timestep=H)
    sim.reset()
    sim.forces.apply("ball", (3.0, 1.0, 2.0))
    sim.step(substeps=2)
    d, step, _ = solved_step(sim, H)
    change = explained.measure_energy_change(d, step)
    assert change.rise == pytest.approx(0.0, abs=1e-12)
    assert change.explained >= change.gain > 1e-3


def test_potentials_explain_all():
    mech = ball(5.0)
    add_bowl(mech, "ball")
    sim = Simulator(mech, timestep=H)
    sim.reset(velocities={"ball:floating": (1.0, 0.5, 2.0, 0.3, 0.0, 1.0)})
    assert sim.step(substeps=2).converged
    d, step, _ = solved_step(sim, H)
    change = explained.measure_energy_change(d, step)
    assert abs(change.gain) > 1e-3
    assert change.rise == pytest.approx(0.0, abs=1e-4 * abs(change.gain))  # its force bends


def test_a_spring_along_a_curve_explains_the_gain_along_it():
    sim = Simulator(sliding("line", slide=Slide(stiffness=50.0, rest=0.3)), timestep=H)
    sim.reset()
    assert sim.step(substeps=4).converged
    d, step, _ = solved_step(sim, H)
    change = explained.measure_energy_change(d, step)
    assert abs(change.gain) > 1e-3
    work = explained.work_in_joints(d, step)
    assert change.rise == pytest.approx(0.0, abs=1e-3 * abs(change.gain))
    assert any(abs(part) > 1e-4 for part in work)


@pytest.mark.parametrize("velocity", [1.0, -1.0])
def test_motors_explain_what_they_give_and_take(velocity):
    """Here to 0, or past it: a motor's force in the middle of a knot's steps is that at the knot."""
    change = change_of(Simulator(motorised(), timestep=H), {"rail": velocity}, targets=[5.0])
    assert change.rise == pytest.approx(0.0, abs=1e-9)
    assert change.explained >= change.gain - 1e-12


@pytest.mark.parametrize("way", [-1.0, 1.0])
def test_prescribed_motions_explain_their_work_whatever_its_sign(way):
    sim = Simulator(carried(), timestep=H)
    sim.reset(velocities={"rail": 3.0})
    assert sim.step(substeps=2).converged
    motion = data_of(sim).motion(0)
    motion.start_value, motion.end_value = motion.value, motion.value + (3.0 + way) * H
    d, step, _ = solved_step(sim, H)
    change = explained.measure_energy_change(d, step)
    assert way * change.gain > 1e-4
    assert change.gain - change.rise == pytest.approx(abs(change.gain), rel=1e-6)


@pytest.mark.parametrize(
    ("make", "velocities"),
    [
        (lambda: slider(damping=2.0), {"rail": 1.0}),
        (lambda: slider(friction=3.0), {"rail": 1.0}),
        (lambda: point_mass(0.0, friction=0.3), {"mass:floating": (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)}),
    ],
)
def test_dampers_and_friction_explain_no_gain(make, velocities):
    change = change_of(Simulator(make(), timestep=H), velocities)
    assert change.explained < 1e-5
    assert change.gain < -1e-3


def test_kinetic_energy_and_that_of_the_motion_about_a_common_velocity():
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    for k in range(2):
        mech.add_body(f"b{k}", 1.0 + k, (0.1, 0.2, 0.25), (1.0 * k, 0.0, 0.0))
    sim = Simulator(mech, timestep=H)
    rates = np.random.default_rng(0).normal(size=(2, 6))
    sim.reset(velocities={f"b{k}:floating": rates[k] for k in range(2)})
    sim.step()
    d = data_of(sim)
    knot, expected = d.state_knots + d.knot_size * int(d.environment.present_knot), np.zeros(2)
    base = np.array([0.3, -0.2, 0.1])
    for i in (1, 2):
        pose, J = d.pose(knot, i), np.diag((0.1, 0.2, 0.25))
        w, v = np.array(mean_rotation_rate(pose)), np.array(pose.velocity)
        turning = 0.5 * w @ J @ w
        expected += [0.5 * i * u @ u + turning for u in (v, v - base)]
    assert explained.kinetic_energy(d, knot, tuple(base)) == pytest.approx(tuple(expected))


def test_only_contacts_that_give_energy_count_and_rebounds_apart():
    rows = [
        Fields(kind=kind, power=np.float64(power), rebound_velocity=np.float64(rebound))
        for kind, power, rebound in (
            (BALL_CONTACT, 5.0, 1.0),
            (BALL_CONTACT, -3.0, 1.0),
            (BALL_CONTACT, -2.0, 0.0),
            (SKATE, -7.0, 0.0),
        )
    ]
    d = Fields(contact_count=4, contact=rows.__getitem__, features={"contacts"})
    assert explained.power_of_contacts(d, None) == (3.0, 2.0)
