"""Random actions for a long time: nothing becomes NaN, and everything stays in its space.

A million steps of each environment take minutes where contact is solved: those do fewer, unless
VIGYM_RANDOM_STEPS tells how many all are to do.
"""

from __future__ import annotations

import os

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

from scenes.env_cases import OF_FILES
from vigym.envs.registry import ENVIRONMENTS, ZOO

COUNT = 500
WALKERS = (
    *("Minitaur-v0", "Quadruped-v1", "QuadrupedCommand-v1", "Snake-v0", "SnakeSidewinding-v0"),
    *("HalfCheetah-v0", "Hopper-v0", "Walker2d-v0", "Ant-v0", "Humanoid-v0"),
)
MOST = 100_000
STEPS = {"vigym/MinitaurLeg-v0": 50_000, "vigym/Exoskeleton-v0": 50_000}
STEPS |= {entry.id: 10_000 for entry in ENVIRONMENTS if entry.task.startswith(ZOO)}
STEPS |= {f"vigym/{name}": 20_000 for name in WALKERS}


@pytest.mark.parametrize("entry", ENVIRONMENTS, ids=lambda entry: entry.id)
def test_random_steps(entry):
    options = OF_FILES.get(entry.id, {})
    envs = gym.make_vec(
        entry.id, COUNT, autoreset_mode=AutoresetMode.SAME_STEP, threads=2, **options
    )
    low, high = envs.observation_space.low, envs.observation_space.high
    draw, shape = np.random.default_rng(0), envs.action_space.shape
    envs.reset(seed=0)
    failed, steps = 0, int(os.environ.get("VIGYM_RANDOM_STEPS", STEPS.get(entry.id, MOST)))
    for k in range(steps // COUNT):
        observed, reward, terminated, _, infos = envs.step(
            draw.uniform(-1.0, 1.0, shape).astype(np.float32)
        )
        assert ((low <= observed) & (observed <= high)).all(), k  # what is NaN is not
        assert np.isfinite(reward).all(), k
        numbers = [
            value
            for value in infos.values()
            if isinstance(value, np.ndarray) and value.dtype == np.float64
        ]
        assert all(np.isfinite(value).all() for value in numbers), k
        last = infos.get("final_info")
        if last is not None:
            unsolved = last["_solver_converged"] & ~last["solver_converged"]
            assert terminated[unsolved].all(), k
            failed += int(unsolved.sum())
    assert failed <= 1e-4 * steps
