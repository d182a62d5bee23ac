"""The interior-point solver of contacts: Newton's motion to what it relaxes, and always above the ground."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from scenes import touching_scenes as scenes
from vigym import Simulator

SCENES = {
    "drop": (lambda: scenes.box(0.3), {}, None),
    "slide": (lambda: scenes.puck(0.5), {"velocities": (2.0, 1.0, 0.0, 0.0, 0.0, 4.0)}, None),
    "directed": (
        lambda: scenes.puck((0.2, 0.6, 0.4)),
        {"velocities": (1.0, -1.0, 0.0, 0.0, 0.0, 0.0)},
        None,
    ),
    "spin": (
        lambda: scenes.puck(0.3, torsion=0.02),
        {"velocities": (0.5, 0.0, 0.0, 0.0, 0.0, 4.0)},
        None,
    ),
    "hopper": (lambda: scenes.hopper(clearance=0.02), {}, (0.2, -0.2)),
    "quadruped": (lambda: scenes.quadruped(clearance=0.02), {}, np.full(8, 0.1)),
    "snake": (lambda: scenes.snake(4), {}, (0.3, -0.3, 0.3)),
}


def pair(name, h, **options):
    build, start, targets = SCENES[name]
    sims = [
        Simulator(build(), timestep=h, contact_solver=solver, **options)
        for solver in ("newton", "interior_point")
    ]
    for sim in sims:
        sim.reset(**start)
    return *sims, targets


@pytest.mark.parametrize("name", SCENES)
@pytest.mark.parametrize("h", [0.01, 0.002])
def test_it_moves_as_newton_does(name, h):
    """Both take the same steps from the same states: the reference is off by what it leaves of slip and gaps."""
    newton, inside, targets = pair(name, h)
    for k in range(round(0.3 / h)):
        n = newton.state.shape[0]
        inside.state = newton.state
        assert n == inside.state.shape[0]
        assert newton.step(targets=targets).converged, k
        status = inside.step(targets=targets)
        assert status.converged, k
        assert status.halvings == 0, k
        assert np.abs(newton.body_states[:, :7] - inside.body_states[:, :7]).max() <= 5e-5, k


@pytest.mark.parametrize("name", ["drop", "slide", "quadruped"])
def test_it_stays_above_the_ground_and_inside_the_cone(name):
    _, sim, targets = pair(name, 0.01)
    lowest = np.inf
    for _ in range(60):
        assert sim.step(targets=targets).converged
        contacts = sim.contacts
        lowest = min(lowest, contacts.gap.min())
        normal = contacts.force[:, 2]
        assert (normal >= 0.0).all()
        assert (np.linalg.norm(contacts.force[:, :2], axis=1) <= 0.8 * normal + 1e-12).all()
    assert -1e-12 <= lowest <= 1e-6


def test_it_takes_more_iterations_than_newton():
    newton, inside, _ = pair("slide", 0.01)
    taken = np.array([[sim.step().iterations for sim in (newton, inside)] for _ in range(30)])
    assert (taken[:, 1] >= taken[:, 0]).all()
    assert taken[:, 1].max() <= 30


def test_a_batch_is_its_environments():
    build, _, _ = SCENES["slide"]
    one = Simulator(build(), contact_solver="interior_point")
    many = Simulator(build(), batch=9, contact_solver="interior_point")
    rates = np.random.default_rng(0).uniform(-1.0, 1.0, (9, 6)) * [1, 1, 0, 0, 0, 3]
    many.reset(velocities=rates)
    many.step(substeps=20)
    one.reset(velocities=rates[7])
    one.step(substeps=20)
    assert (many.body_states[7] == one.body_states).all()


def test_the_choice_is_kept_and_checked():
    sim = Simulator(scenes.puck(), contact_solver="interior_point")
    assert pickle.loads(pickle.dumps(sim)).options.contact_solver == "interior_point"
    assert Simulator(scenes.puck()).options.contact_solver == "newton"
    with pytest.raises(ValueError, match="contact_solver: found 'dense', expected"):
        Simulator(scenes.puck(), contact_solver="dense")
    with pytest.raises(
        ValueError, match=r'contact_solver: found "interior_point" with friction_cone="pyramid"'
    ):
        Simulator(scenes.puck(), contact_solver="interior_point", friction_cone="pyramid")


@pytest.mark.parametrize("h", [0.01, 0.06, 0.1])
def test_a_body_at_rest_reads_no_velocity(h):
    """At steps at which what the relaxation leaves open at rest grows to micrometres as well."""
    sim = Simulator(scenes.box(scenes.EDGE / 2.0), timestep=h, contact_solver="interior_point")
    for _ in range(20):
        assert sim.step().converged
    assert 0.0 < sim.contacts.gap.min() <= 1e-5
    assert np.abs(sim.body_velocity("box")).max() <= 1e-8
    assert np.abs(sim.body_angular_velocity("box")).max() <= 1e-8
