"""Bodies beyond a bound: for how many steps they are held, and which count as beyond."""

import numpy as np
import pytest

from scenes.pair_scenes import meeting, started
from scenes.plain_python import Fields, data_of, solved_step
from scenes.touching_scenes import ball, puck, slider
from vigym import Simulator
from vigym.core.contact import held
from vigym.core.contact.kinematics import detect_contacts
from vigym.core.joint.forces import assemble_constant_loads
from vigym.core.model.context import knot_buffer

H = np.float64(0.01)
NO = np.False_


def counted(monkeypatch, stuck_at, slides, count=140):
    """Steps left that hold bodies, after each step; those that could not lead back are ``stuck_at``."""
    monkeypatch.setattr(held, "find_lanes_that_slide", lambda d, step: np.bool_(slides))
    environment = Fields(
        held_steps=np.float64(0.0), last_held_steps=np.float64(0.0), releases=NO, leads_back=0.0
    )
    d = Fields(environment=environment)
    d.wide = d
    left = []
    for number in range(count):
        held.start_leading_back(d, np.float64(1.0))
        assert bool(held.find_lanes_led_back(d)) == (environment.held_steps == 0.0)
        if held.find_lanes_led_back(d) and stuck_at(number):
            held.hold_lanes(d, np.True_)
        held.remember_held_lanes(d, None, np.True_, np.True_)
        left.append(float(environment.held_steps))
    return left


def test_as_long_as_bodies_are_stuck_they_are_held_longer_and_longer(monkeypatch):
    left = counted(monkeypatch, lambda number: True, False)
    tops = [after for before, after in zip([0.0, *left], left, strict=False) if after > before]
    assert tops[:6] == [1.0, 3.0, 7.0, 15.0, 31.0, 31.0]
    assert all(
        before - after == 1.0
        for before, after in zip(left, left[1:], strict=False)
        if after < before
    )


def test_where_they_slide_they_are_held_for_few_steps(monkeypatch):
    assert max(counted(monkeypatch, lambda number: True, True)) == held.MOST_SLIDING_STEPS


def test_a_step_that_leads_back_ends_it(monkeypatch):
    left = counted(monkeypatch, lambda number: number in (0, 2, 30), False, 40)
    assert (left[0], left[2]) == (1.0, 3.0)
    assert left[30] == 1.0


def test_bodies_beyond_a_limit_or_below_the_ground_are_found():
    for place, beyond in ((0.0, False), (0.3, True), (-0.3, True)):
        sim = Simulator(slider(limits=(-0.2, 0.2)), timestep=H)
        sim.reset([place])
        d = data_of(sim)
        assemble_constant_loads(d, 0.5, 0.5)
        assert bool(held.find_lanes_beyond_bounds(d)) == beyond
    for height, beyond in ((0.1, False), (0.0999, True)):
        d = data_of(started(ball(height)))
        detect_contacts(d, knot_buffer(d, 0), H, np.True_)
        assert bool(held.find_lanes_beyond_bounds(d)) == beyond


@pytest.mark.parametrize(("apart", "overlaps"), [(0.2001, False), (0.1, True)])
def test_bodies_that_overlap_may_be_released(apart, overlaps):
    sim = started(meeting("ball-ball", apart=apart)[0])
    d = data_of(sim)
    detect_contacts(d, knot_buffer(d, 0), H, np.True_)
    d.contact(0).active = True
    assert bool(held.find_lanes_to_release(d)) == overlaps
    held.release_overlaps(d, np.bool_(overlaps))
    detect_contacts(d, knot_buffer(d, 0), H, np.True_)
    assert bool(d.contact(0).active) == (not overlaps)


@pytest.mark.parametrize(("speed", "slides"), [(0.0, False), (1.0, True)])
def test_contacts_with_a_force_that_move_slide(speed, slides):
    sim = started(puck(), rates={"puck:floating": (speed, 0.0, 0.0, 0.0, 0.0, 0.0)})
    d, step, _ = solved_step(sim, H)
    assert bool(held.find_lanes_that_slide(d, step)) == slides
    for c in range(d.contact_count):
        d.contact(c).converged_force = (0.0,) * 4
    assert not held.find_lanes_that_slide(d, step)
