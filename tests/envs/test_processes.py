"""Vectors in several processes: equal to one process bit for bit, errors at once, nothing left behind."""

import gc
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
from contextlib import closing

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode

import vigym
from scenes.env_cases import assert_same
from vigym.envs.processes import make_vector
from vigym.envs.registry import Entry
from vigym.envs.tasks.pendulum import Pendulum

ID = "vigym/Pendulum-v0"
SHORT = 5  # control steps of an episode, so that many end


class BrokenPendulum(Pendulum):
    """A task whose hook fails when the pendulum is pulled to one side with all force."""

    def rewards(self, quantities, action):
        if (action <= -1.0).any():
            raise ArithmeticError("too strong")
        return super().rewards(quantities, action)


def made(count, processes, name=ID, **options):
    vector = gym.make_vec(name, count, processes=processes, max_episode_steps=SHORT, **options)
    return closing(vector)


def children():
    return {process.pid for process in multiprocessing.active_children()}


@pytest.mark.parametrize(
    ("mode", "count", "processes", "name", "options"),
    [
        (
            AutoresetMode.NEXT_STEP,
            5,
            2,
            "vigym/Minitaur-v0",
            {"randomization": {"mass": (0.8, 1.2)}, "pushes": (1.0, 0.05), "action_latency": 1},
        ),
        (
            AutoresetMode.SAME_STEP,
            3,
            2,
            "vigym/Reacher-v0",
            {"observation_noise": 0.01, "history": 2, "info_keys": ("distance",)},
        ),
        (AutoresetMode.DISABLED, 3, 2, "vigym/QuadrupedCommand-v1", {"terrain": "mixed"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_processes_change_nothing(mode, count, processes, name, options):
    options = {"autoreset_mode": mode, **options}
    with made(count, processes, name, **options) as many, made(count, None, name, **options) as one:
        assert_same(many.reset(seed=3), one.reset(seed=3))
        draw = np.random.default_rng(0)
        later = []
        for k in range(3 * SHORT):
            action = draw.uniform(-1.2, 1.2, many.action_space.shape).astype(np.float32)
            found, expected = many.step(action), one.step(action)
            assert_same(found[:4], expected[:4])
            later.append((found[4], expected[4]))
            if k % 2:  # others are read after later steps, or after the end
                assert_same(*later.pop())
            done = expected[2] | expected[3]
            if k == 7:  # all in one process
                done[0] = True
            if k == 7 or (mode == AutoresetMode.DISABLED and done.any()):
                again = {"seed": [k] * count, "options": {"reset_mask": done}}
                assert_same(many.reset(**again), one.reset(**again))
            if k == 9:
                for envs in (many, one):
                    envs.unwrapped.set_options(reset_noise_scale=0.02, pushes=(0.1, 0.02))
        for infos in later[:2]:
            assert_same(*infos)
        assert many.np_random_seed == one.np_random_seed
        assert_same(many.reset(), one.reset())
        many.close()
        for infos in later[2:]:
            assert_same(*infos)
        with pytest.raises(ClosedEnvironmentError, match="step: found a vector .* that is closed"):
            many.step(action)


def test_starts_attributes_and_pictures():
    options = {"render_mode": "rgb_array", "width": 32, "height": 24}
    with made(3, 2, **options) as many, made(3, None, **options) as one:
        with pytest.raises(ResetNeeded, match="never reset"):
            many.step(np.zeros((3, 1)))
        one.reset(seed=0)
        states = one.unwrapped.sim.state
        joint = one.unwrapped.mechanism.position_names[0]
        each = np.linspace(-1.0, 1.0, 3)
        for start in (
            {"state": states},
            {"state": states[1]},
            {"positions": {joint: each}, "velocities": [0.5]},
            {"positions": each[:, None]},
        ):
            assert_same(many.reset(seed=1, options=start), one.reset(seed=1, options=start))
        for envs in (many, one):
            envs.set_attr("width", 40)
            envs.unwrapped.episode_steps[:] = [4, 3, 0]
            envs.unwrapped.max_episode_steps = 5
        action = np.full((3, 1), 0.5, np.float32)
        assert_same(many.step(action), one.step(action))
        assert_same(many.step(action), one.step(action))
        assert_same(many.render(), one.render())
        depths = [envs.unwrapped.picture("depth_array", lane=-2) for envs in (many, one)]
        assert_same(*depths)
        for name in ("np_random_seed", "observation_names", "width"):
            assert_same(many.get_attr(name), one.get_attr(name))
        wrapped = [vigym.wrappers.EnergyReward(envs, 0.1) for envs in (many, one)]
        assert_same(*(envs.step(action) for envs in wrapped))
        for envs in (many, one):
            envs.unwrapped.info_keys = ("solver_converged",)
        assert_same(many.step(action), one.step(action))


def test_what_processes_have_not_is_refused_and_a_forgotten_vector_leaves_none():
    before = children()
    envs = gym.make_vec(ID, 2, processes=1)
    envs.reset(seed=0)
    for name in ("sim", "np_random"):
        found = f"{name}: found environments in processes, expected a vector made without"
        with pytest.raises(AttributeError, match=found):
            getattr(envs, name)
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        pickle.dumps(envs)
    with pytest.raises(ValueError, match="'episode_steps': found new ones, expected changes"):
        envs.set_attr("episode_steps", 3)
    with pytest.raises(ValueError, match="action of environment 1: found .*nan"):
        envs.step([[0.0], [np.nan]])
    assert len(children() - before) == 1
    del envs
    gc.collect()
    assert children() == before


def test_what_no_process_can_have_is_refused():
    for processes, message in (
        (3, "option processes: found 3, expected a whole number of at most 2"),
        (0, "option processes: found 0, expected a whole number >= 1"),
    ):
        with pytest.raises(ValueError, match=message):
            made(2, processes)
    with pytest.raises(
        ValueError, match="option task: found ABCMeta, expected what can be pickled"
    ):
        make_vector(type("Local", (Pendulum,), {}), 2, processes=1)


def test_an_error_of_a_process_comes_up_and_a_killed_process_too():
    Entry("BrokenPendulum-v0", BrokenPendulum).register()
    before = children()
    with made(4, 2, "BrokenPendulum-v0") as envs:
        envs.reset(seed=0)
        with pytest.raises(ArithmeticError, match="too strong") as caught:
            envs.step([[0.0], [0.0], [-1.0], [0.0]])
        assert "process of environments 2 to 3" in caught.value.__notes__[0]
        assert 'raise ArithmeticError("too strong")' in caught.value.__notes__[0]
        envs.reset(seed=0)  # they go on
        envs.step(np.zeros((4, 1)))
        last = max(children() - before)
        os.kill(last, signal.SIGKILL)
        with pytest.raises(ChildProcessError, match="found it ended with exit code -9, expected"):
            envs.step(np.zeros((4, 1)))
        assert children() == before


PROGRAM = f"""
import multiprocessing
import gymnasium as gym
import vigym
if __name__ == "__main__":
    envs = gym.make_vec("{ID}", 2, processes=1)
    envs.reset(seed=0)
    print(multiprocessing.active_children()[0].pid)
"""


def test_the_end_of_the_program_leaves_no_process(tmp_path):
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)
    ended = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert ended.stderr == ""
    with pytest.raises(ProcessLookupError):
        os.kill(int(ended.stdout), 0)
