"""Long calls of the step: ctrl-C ends them at once, with the state before; the steps are the same."""

import os
import signal
import threading

import numpy as np
import pytest

from scenes.linkages import four_bar
from scenes.trees import TYPES, random_tree
from vigym import Simulator
from vigym.simulation.state import batch

WAIT = 0.2  # [s] before the signal
FOREVER = 10**9  # steps: hours


def simulator(kind: str) -> Simulator:
    """Return one of the simulators whose steps differ: single or not, with loops, threads, float32."""
    if kind == "one":
        return Simulator(random_tree(1, TYPES), timestep=1e-3)
    if kind == "loop":
        return Simulator(four_bar(), timestep=1e-3)
    if kind == "batch":
        return Simulator(random_tree(1, TYPES), timestep=1e-3, batch=19)
    if kind == "threads":
        return Simulator(random_tree(1, TYPES), timestep=1e-3, batch=40, threads=2)
    return Simulator(random_tree(1, TYPES), timestep=1e-3, batch=19, precision="float32")


KINDS = ["one", "loop", "batch", "threads", "float32"]


@pytest.fixture(autouse=True)
def interrupt():
    """Let signals of ctrl-C raise KeyboardInterrupt: shells start background jobs that ignore them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("kind", KINDS)
def test_an_interrupted_call_leaves_everything_as_it_was(kind):
    sim, other = simulator(kind), simulator(kind)
    for each in (sim, other):
        each.step(substeps=3)
    before, status = sim.state, sim.readings.status
    timer = threading.Timer(WAIT, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sim.step(substeps=FOREVER)
    np.testing.assert_array_equal(sim.state, before)
    for ours, theirs in zip(sim.readings.status, status, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    sim.step(substeps=5)
    other.step(substeps=5)
    np.testing.assert_array_equal(sim.state, other.state)


@pytest.mark.parametrize("kind", KINDS)
def test_steps_are_the_same_whether_they_can_be_interrupted_or_not(kind, monkeypatch):
    plain = simulator(kind)
    used, run = [], batch.run_interruptible

    def counted(work, count, stop):
        used.append(count)
        run(work, count, stop)

    monkeypatch.setattr(batch, "run_interruptible", counted)
    monkeypatch.setattr(batch, "INTERRUPTIBLE_WORK", 1)
    sim = simulator(kind)
    for each in (plain, sim):
        each.step(substeps=batch.MIN_INTERRUPTIBLE_STEPS + 1)
    assert len(used) == 1
    np.testing.assert_array_equal(sim.state, plain.state)
    for ours, theirs in zip(sim.readings.status, plain.readings.status, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_an_impatient_second_signal_is_no_harm():
    ended, calls = threading.Event(), []

    def stop():
        calls.append("stop")
        threading.Timer(WAIT, os.kill, (os.getpid(), signal.SIGINT)).start()
        threading.Timer(2.0 * WAIT, ended.set).start()

    def work(part):
        ended.wait()
        calls.append("work")

    threading.Timer(WAIT, os.kill, (os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        batch.run_interruptible(work, 1, stop)
    assert calls == ["stop", "work"]
