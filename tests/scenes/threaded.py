"""Threaded batches in every kind of process and thread, to be run as a script with a KIND: a digest of each result.

Every job, wherever it runs, is the same batch stepped with two threads; the parent has stepped one
with its own threads before it starts any process. So all digests are the same, those of one thread
too.
"""

from __future__ import annotations

import atexit
import hashlib
import multiprocessing
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import gymnasium as gym
import numpy as np

from vigym import Simulator
from vigym.simulation.state import batch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from scenes.trees import random_tree  # noqa: E402

batch.MIN_WORK_PER_THREAD = 1  # threads for the least work
COUNT, STEPS = 20, 5


class Batch(gym.Env):
    """A batch behind the face of one environment: a worker process that uses threads itself."""

    observation_space = gym.spaces.Box(-np.inf, np.inf, (COUNT,))
    action_space = gym.spaces.Box(-1.0, 1.0, (1,))

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.sim = started(2)
        return self.observed(), {}

    def step(self, action):
        self.sim.step(substeps=STEPS)
        return self.observed(), 0.0, False, False, {}

    def observed(self):
        return self.sim.joint_positions[:, 0].astype(np.float32)


def started(threads):
    mech = random_tree(1, ["revolute", "universal", "prismatic", "spherical"], damping=0.1)
    sim = Simulator(mech, batch=COUNT, threads=threads)
    sim.reset({mech.position_names[0]: np.linspace(-1.0, 1.0, COUNT)})
    sim.step(substeps=STEPS)  # a first call of a kernel is for one thread
    return sim


def digest(threads=2):
    sim = started(threads)
    for _ in range(20):
        sim.step(substeps=STEPS)
    return hashlib.sha256(sim.state.tobytes()).hexdigest()[:16]


def processes(method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        return pool.map(digest, [2, 3, 2, 1])


def fork_while_stepping():
    """Fork in the midst of calls that other threads of the parent make."""
    stop = threading.Event()

    def busy():
        sim = started(2)
        while not stop.is_set():
            sim.step(substeps=50)

    crowd = [threading.Thread(target=busy) for _ in range(2)]
    for thread in crowd:
        thread.start()
    found = [digest for _ in range(5) for digest in processes("fork")]
    stop.set()
    for thread in crowd:
        thread.join()
    return found


def python_threads():
    with ThreadPoolExecutor(4) as pool:
        return list(pool.map(digest, [2, 3, 2, 4, 1, 2, 2, 3]))


def vector(envs):
    """Two environments side by side; the digest of each one's observations."""
    seen = [np.array(envs.reset()[0] if isinstance(envs, gym.vector.VectorEnv) else envs.reset())]
    for _ in range(10):
        seen.append(envs.step(np.zeros((2, 1), np.float32))[0])
    envs.close()
    return [
        hashlib.sha256(rows.tobytes()).hexdigest()[:16]
        for rows in np.array(seen).swapaxes(0, 1).copy()
    ]


def subprocesses():
    from stable_baselines3.common.vec_env import SubprocVecEnv

    return vector(SubprocVecEnv([Batch] * 2))


def at_exit():
    """An interpreter that is ending starts no thread any more; steps go on."""
    sim = started(2)
    atexit.register(lambda: (sim.step(substeps=STEPS), print(digest())))
    return []


KINDS = {
    "fork": lambda: processes("fork"), "spawn": lambda: processes("spawn"),
    "forkserver": lambda: processes("forkserver"), "fork_while_stepping": fork_while_stepping,
    "python_threads": python_threads, "at_exit": at_exit,
    "AsyncVectorEnv": lambda: vector(gym.vector.AsyncVectorEnv([Batch] * 2)),
    "SyncVectorEnv": lambda: vector(gym.vector.SyncVectorEnv([Batch] * 2)), "SubprocVecEnv": subprocesses,
}  # fmt: skip

if __name__ == "__main__":
    mine = digest()
    found = KINDS[sys.argv[1]]()
    print(
        *([mine] if "VecEnv" not in sys.argv[1] and "VectorEnv" not in sys.argv[1] else []),
        *found,
        sep="\n",
    )
