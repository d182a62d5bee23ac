"""Threads over the lane groups of a batch: the same results for every number of them, and safe in every process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np
import pytest

import vigym  # noqa: F401  registers the environments
from scenes.batches import batch_of, signals, starts
from scenes.linkages import four_bar
from scenes.trees import TYPES, random_tree
from vigym import Simulator
from vigym.simulation.state import batch

SCRIPT = Path(__file__).parents[1] / "scenes" / "threaded.py"


def assert_same(one, many):
    np.testing.assert_array_equal(many.state, one.state)
    np.testing.assert_array_equal(many.readings.scalars, one.readings.scalars)
    np.testing.assert_array_equal(many.joint_forces(), one.joint_forces())
    for ours, theirs in zip(many.readings.status, one.readings.status, strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("count", [1, 9, 17, 40])
@pytest.mark.parametrize("threads", [2, 3, 5])
def test_results_do_not_depend_on_the_number_of_threads(count, threads, eager):
    mech = random_tree(count, TYPES, damping=0.2)
    given = starts(mech, count)
    one, many = batch_of(mech, given), batch_of(mech, given, threads=threads)
    mask = np.arange(count) % 3 == 1
    for k, torques in enumerate(signals(mech, 10, count)):
        one.step(torques, substeps=3)
        many.step(torques, substeps=3)
        if k == 5:
            one.reset(mask=mask)
            many.reset(mask=mask)
        assert_same(one, many)
    groups = -(-count // batch.LANES)
    assert set(eager) == ({min(threads, groups)} if groups > 1 else set())


@pytest.mark.parametrize("environment", ["MinitaurLeg", "Snake"])
def test_loops_motors_and_contact(environment, eager):
    env = gymnasium.make(f"vigym/{environment}-v0").unwrapped
    one, many = (Simulator(env.mechanism, timestep=0.005, batch=20, threads=k) for k in (1, 3))
    targets = np.random.default_rng(0).uniform(-0.3, 0.3, (20, len(env.mechanism.motor_names)))
    for sim in (one, many):
        sim.reset(place_on_ground=True)
        for _ in range(10):
            sim.step(targets=targets, substeps=4)
    assert_same(one, many)
    assert eager


def test_environments_that_differ(eager):
    mech, count = random_tree(4, TYPES, damping=0.1), 20
    one, many = (batch_of(mech, starts(mech, count), threads=k) for k in (1, 3))
    mass = np.linspace(0.5, 2.0, count)
    for sim in (one, many):
        sim.set_parameters({"mass": mass, "length": mass**0.2})
        for torques in signals(mech, 5, count):
            sim.step(torques, substeps=3)
    assert_same(one, many)
    assert len(set(one.energy().total)) == count


def test_a_failed_environment_fails_alone(eager):
    mech, count = random_tree(2, TYPES), 20
    one, many = (batch_of(mech, starts(mech, count), threads=k) for k in (1, 3))
    for torques in signals(mech, 5, count):
        torques[11] = 1e9
        one.step(torques)
        many.step(torques)
        assert many.readings.status.converged.tolist() == [e != 11 for e in range(count)]
        assert_same(one, many)


def test_resets_close_the_loops_of_those_that_are_reset(eager):
    mech, count = four_bar(), 40
    one, many = (Simulator(mech, batch=count, threads=k) for k in (1, 4))
    name, mask = mech.tree_joints[0].name, np.isin(np.arange(count), (3, 17, 18, 39))
    for sim in (one, many):
        sim.step(substeps=7)
        before = sim.state
        sim.reset({name: np.linspace(0.0, 0.5, count)}, mask=mask)
        np.testing.assert_array_equal(sim.state[~mask], before[~mask])
        np.testing.assert_allclose(
            sim.joint_positions[mask, 0], np.linspace(0.0, 0.5, count)[mask], rtol=1e-15
        )
        assert sim.constraint_residual().max() < 1e-9
    assert_same(one, many)


def test_little_work_is_not_shared(monkeypatch):
    monkeypatch.setattr(
        batch, "run_parallel", lambda work, count: pytest.fail("shared among threads")
    )
    sim = Simulator(random_tree(1, TYPES), batch=9, threads=2)
    sim.step()
    sim.step()


def test_an_error_in_a_thread_reaches_the_caller_after_all_have_ended():
    done = []

    def work(part):
        if part == 2:
            raise ArithmeticError("of part 2")
        done.append(part)

    with pytest.raises(ArithmeticError, match="of part 2"):
        batch.run_parallel(work, 4)
    assert sorted(done) == [0, 1, 3]


@pytest.mark.parametrize(("groups", "threads"), [(1, 4), (5, 2), (8, 3), (7, 7), (3, 100)])
def test_shares_are_even_and_complete(groups, threads):
    parts = batch.split_groups(groups, threads)
    assert [g for start, stop in parts for g in range(start, stop)] == list(range(groups))
    sizes = [stop - start for start, stop in parts]
    assert len(sizes) == min(groups, threads)
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("threads", [0, -1, 10**6, True, 1.5, None, "2", np.nan])
def test_absurd_numbers_of_threads(threads):
    with pytest.raises(ValueError, match=f"threads: found {threads!r}, expected"):
        Simulator(random_tree(1, TYPES), batch=4, threads=threads)


def test_threads_without_a_batch():
    with pytest.raises(ValueError, match="threads: found 2 for one environment, expected 1"):
        Simulator(random_tree(1, TYPES), threads=2)


KINDS = ["fork", "spawn", "forkserver", "fork_while_stepping", "python_threads", "at_exit"]
VECTORS = ["SyncVectorEnv", "AsyncVectorEnv", "SubprocVecEnv"]


@pytest.mark.parametrize("kind", [*KINDS, *VECTORS])
def test_no_process_hangs_or_dies(kind):
    if kind == "SubprocVecEnv":
        pytest.importorskip("stable_baselines3", reason="needs vigym[train]")
    done = subprocess.run(
        [sys.executable, str(SCRIPT), kind], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    digests = done.stdout.split()
    assert len(digests) == {"at_exit": 2, "python_threads": 9, "fork_while_stepping": 21}.get(
        kind, 2 if kind in VECTORS else 5
    )
    assert len(set(digests)) == 1, digests
