"""Vector environment whose environments are stepped in several processes.

Actions, observations, rewards, ends and lengths of episodes are in shared memory. Its file has no
name: it is gone with the last process that maps it, however that process ends.
"""

import pickle
import signal
import traceback
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from time import monotonic
from typing import Any

import numpy as np
from gymnasium.error import ClosedEnvironmentError
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from vigym.envs.arrays import Array, Flags
from vigym.envs.env import Picture
from vigym.envs.infos import Info, Infos, joined_infos, with_no_restart
from vigym.envs.options import require_whole
from vigym.envs.random_start import GivenStart
from vigym.envs.task import Task
from vigym.envs.vector import Step, TaskVectorEnv
from vigym.render.scene.camera import CameraOption

PATIENCE = 5.0  # of a vector that is closed with processes in the middle of a call [s]
_SHARED = ("max_episode_steps", "info_keys")  # attributes that steps read in the processes
_RESULTS = ("observation", "reward", "terminated", "truncated")


def make_vector(
    task: type[Task] | str, num_envs: int = 1, *, processes: int | None = None, **options: Any
) -> TaskVectorEnv:
    """Return a vector environment in this process, or in several ones; `gym.make_vec` calls it.

    Args:
        task: Task class, or its place as "module:class".
        num_envs: number of environments.
        processes: None, or the number of processes.
        options: of `TaskVectorEnv`.

    Raises:
        ValueError, TypeError, MechanismError, MemoryError: as `TaskVectorEnv`; as well for
            `processes` out of range, and options that cannot be sent to another process.
    """
    if processes is None:
        return TaskVectorEnv(task, num_envs, **options)
    return ProcessVectorEnv(task, num_envs, processes=processes, **options)


class ProcessVectorEnv(TaskVectorEnv):
    """Vector environment in several processes, equal to the one in one process bit for bit.

    Each process has a share of the environments, and `threads` of its own. Infos stay in the
    processes until they are read. `sim` and `np_random` are not there. Attributes are set by
    `set_attr`, `episode_steps` in place. `close`, the end of the program and garbage collection end
    the processes.

    Args:
        task: Task class, or its place as "module:class".
        num_envs: number of environments.
        processes: number of processes, at most `num_envs`.
        options: of `TaskVectorEnv`.

    Raises:
        ValueError, TypeError, MechanismError, MemoryError: as `TaskVectorEnv`; as well for
            `processes` out of range, and options that cannot be sent to another process.
        ChildProcessError: a process ended, here or in a later call.
    """

    def __init__(
        self, task: type[Task] | str, num_envs: int = 1, *, processes: int, **options: Any
    ) -> None:
        super().__init__(task, num_envs, **options)  # checks; its simulator is never stepped
        require_whole("processes", processes, 1, self.num_envs)
        count = int(processes)
        ends = [self.num_envs * k // count for k in range(count + 1)]
        self._shares = [slice(*pair) for pair in zip(ends, ends[1:], strict=False)]
        sizes = len(self.observation_names), self._runner.efforts.size
        self._workers = _Workers({"task": task, **options}, sizes, self._shares)
        self._rows = self._workers.rows
        self.episode_steps = self._rows["episode_steps"]
        self._steps = 0  # of all environments
        self._unread: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._read: dict[int, Infos] = {}  # by step, since the processes ended

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in _SHARED and "_read" in vars(self):  # once the vector is made
            self._workers.call_all("set_attr", name, value)

    @property
    def sim(self) -> Any:
        """Raise AttributeError: every process has a simulator."""
        raise self._refusal("sim")

    @property  # type: ignore[misc]
    def np_random(self) -> Any:
        """Raise AttributeError: random streams are in the processes."""
        raise self._refusal("np_random")

    @property
    def np_random_seed(self) -> tuple[int, ...]:  # type: ignore[override]
        """Seed of the random stream of every environment."""
        return self._joined("np_random_seed")

    def start(self, seeds: list[int | None], mask: Flags, given: GivenStart) -> tuple[Array, Infos]:
        """Start episodes in a mask (num_envs,) with checked seeds and values, as `reset` does."""
        mechanism = self.mechanism
        parts = [(seeds[one], mask[one], given.part(one, mechanism)) for one in self._shares]
        infos = joined_infos(self._workers.call("start", parts))
        self._started = True
        self._done = self._done & ~mask
        return self._rows["observation"].copy(), infos

    def step(self, actions: NDArray[np.float32]) -> Step:
        """Apply `actions` (num_envs, n_actuated) for one control step, as `TaskVectorEnv` does.

        An error of a task's hook leaves the environments of the other processes a step ahead.
        """
        self._require_reset()
        self._runner.check_action(actions, self._done)
        self._rows["action"] = actions
        self._steps += 1
        self._workers.call_all("step", self._steps, list(self._unread))
        observation, reward, terminated, truncated = (self._rows[key].copy() for key in _RESULTS)
        done = terminated | truncated
        restarts = self.autoreset_mode is AutoresetMode.SAME_STEP
        self._done = np.zeros_like(done) if restarts else done
        read = partial(self._read_infos, self._steps, restarts and bool(done.any()))
        self._unread[self._steps] = read
        return observation, reward, terminated, truncated, Info.unread(read)

    def render(self) -> tuple[Picture, ...] | None:
        """Return a picture of every environment, see `picture`."""
        return super().render() if self.render_mode is None else self._joined("render")

    def picture(
        self, mode: str = "rgb_array", camera: CameraOption = None, lane: int = 0
    ) -> Picture:
        """Return a picture of the present state of an environment, see `BaseEnv.picture`."""
        place = range(self.num_envs)[lane]
        worker = next(k for k, share in enumerate(self._shares) if place < share.stop)
        calls: list[tuple[Any, ...] | None] = [None] * len(self._shares)
        calls[worker] = ("picture", mode, camera, place - self._shares[worker].start)
        picture: Picture = self._workers.call("call", calls)[worker][0]
        return picture

    def set_attr(self, name: str, values: Any) -> None:
        """Set an attribute that the environments share, see `TaskVectorEnv.set_attr`."""
        if name == "episode_steps":
            raise ValueError(f"attribute {name!r}: found new ones, expected changes in place")
        super().set_attr(name, values)
        self._workers.call_all("set_attr", name, getattr(self, name))

    def set_options(self, **options: Any) -> None:
        """Change options of the task and of perturbations, see `BaseEnv.set_options`."""
        super().set_options(**options)
        self._workers.call_all("set_options", options)

    def close_extras(self, **kwargs: Any) -> None:
        """End the processes; infos can still be read."""
        with suppress(ChildProcessError, ClosedEnvironmentError):
            self._read = {step: read() for step, read in list(self._unread.items())}
        self._workers.close()

    def _joined(self, name: str) -> tuple[Any, ...]:
        """Return an attribute, or the result of a method, that differs by environment."""
        return tuple(each for part in self._workers.call_all("call", name) for each in part)

    def _read_infos(self, step: int, restarts: bool) -> Infos:
        if step in self._read:
            return self._read[step]
        return joined_infos(self._workers.call_all("infos", step, restarts))

    def _refusal(self, name: str) -> AttributeError:
        expected = "a vector made without `processes`"
        return AttributeError(f"{name}: found environments in processes, expected {expected}")

    def __getstate__(self) -> dict[str, Any]:
        raise TypeError(f"copy: found {self!r}, whose processes cannot be copied or pickled")


class _Workers:
    """Processes with environments, and their shared rows.

    Args:
        arguments: of each `TaskVectorEnv`, without the number of environments.
        sizes: of an observation and of an action.
        shares: environments of every process.

    Attributes:
        rows: (num_envs,) a row for each environment.
    """

    def __init__(
        self, arguments: dict[str, Any], sizes: tuple[int, int], shares: list[slice]
    ) -> None:
        _require_pickles(arguments)
        fields: list[Any] = [("action", float, sizes[1]), ("observation", float, sizes[0])]
        fields += [("reward", float), ("episode_steps", np.int64)]
        fields += [("terminated", np.bool_), ("truncated", np.bool_)]
        kind = np.dtype(fields, align=True)
        context = get_context("spawn")  # a process that is forked would share threads and locks
        memory = context.RawArray("b", kind.itemsize * shares[-1].stop)
        self.rows = np.frombuffer(memory, kind)
        self._shares = shares
        self._processes: list[Any] = []
        self._connections: list[Connection] = []
        self.close = weakref.finalize(self, _end, self._processes, self._connections)
        for share in shares:
            here, there = context.Pipe()
            process = context.Process(
                target=_serve, args=(there, memory, kind, share, arguments), daemon=True
            )
            process.start()
            there.close()
            self._processes.append(process)
            self._connections.append(here)
        try:
            self.call_all("call", "num_envs")  # errors of the start come up here
        except ChildProcessError as error:
            error.add_note('A script that starts processes needs `if __name__ == "__main__":`.')
            raise

    def call_all(self, method: str, *arguments: Any) -> list[Any]:
        """Return the results of a method of all shares, with the same arguments."""
        return self.call(method, [arguments] * len(self._shares))

    def call(self, method: str, calls: Sequence[tuple[Any, ...] | None]) -> list[Any]:
        """Return the results of a method of every share, called with arguments for each.

        An interrupt, and a process that has ended, end all processes.

        Args:
            method: of `_Share`.
            calls: arguments for every share; None: it is not called, its result is None.

        Raises:
            ClosedEnvironmentError: the processes have been ended.
            ChildProcessError: a process has ended by itself.
            Exception: what a method raised, with a note that has the traceback.
        """
        if not self.close.alive:
            raise ClosedEnvironmentError(f"{method}: found a vector environment that is closed")
        called = [k for k, arguments in enumerate(calls) if arguments is not None]
        results: list[Any] = [None] * len(calls)
        try:
            for k in called:
                with self._lost_named(k):
                    self._connections[k].send((method, calls[k]))
            for k in called:
                with self._lost_named(k):
                    results[k] = self._connections[k].recv()
        except BaseException:  # results would be taken for those of the next call
            self.close()
            raise
        for error in results:
            if isinstance(error, Exception):
                raise error
        return results

    @contextmanager
    def _lost_named(self, k: int) -> Iterator[None]:
        """Raise ChildProcessError in place of an error of the connection to a process."""
        try:
            yield
        except (EOFError, OSError) as error:
            self._processes[k].join(PATIENCE)  # its connection has ended: it ends, too
            found = f"found it ended with exit code {self._processes[k].exitcode}"
            place = _named(self._shares[k])
            raise ChildProcessError(f"process of {place}: {found}, expected it alive") from error


class _Share:
    """Environments of a process: what the vector environment calls by name.

    Args:
        rows: (num_envs,) shared rows of these environments.
        arguments: of their `TaskVectorEnv`.
    """

    def __init__(self, rows: NDArray[Any], arguments: dict[str, Any]) -> None:
        self._envs = TaskVectorEnv(num_envs=len(rows), **arguments)
        self._envs.episode_steps = rows["episode_steps"]
        self._rows = rows
        self._infos: dict[int, Infos] = {}  # that may be read, by step
        self.call = self._envs.call

    def start(self, seeds: list[int | None], mask: Flags, given: GivenStart) -> Infos:
        self._rows["observation"], infos = self._envs.start(seeds, mask, given)
        return infos

    def step(self, step: int, unread: list[int]) -> None:
        *results, infos = self._envs.step(self._rows["action"])
        for key, values in zip(_RESULTS, results, strict=True):
            self._rows[key] = values
        self._infos = {known: self._infos[known] for known in unread} | {step: infos}

    def infos(self, step: int, restarts: bool) -> Infos:
        infos = self._infos[step]
        missing = restarts and "final_obs" not in infos
        return with_no_restart(infos, len(self._rows)) if missing else infos

    def set_attr(self, name: str, value: Any) -> None:
        setattr(self._envs, name, value)

    def set_options(self, options: dict[str, Any]) -> None:
        self._envs.set_options(**options)


def _serve(
    connection: Connection, memory: Any, kind: Any, share: slice, arguments: dict[str, Any]
) -> None:
    """Answer calls of methods by their results or errors, until the connection ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent is interrupted, and ends this process
    envs: _Share | None = None
    with suppress(EOFError, OSError):
        while True:
            method, given = connection.recv()
            try:
                envs = envs or _Share(np.frombuffer(memory, kind)[share], arguments)
                result = getattr(envs, method)(*given)
            except Exception as error:  # hooks of users may raise any error
                result = _as_message(error, share)
            connection.send(result)


def _as_message(error: Exception, share: slice) -> Exception:
    """Return an error with its traceback as a note, of another type if it cannot be pickled."""
    text = traceback.format_exc()
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = ChildProcessError(f"{type(error).__name__}: {error}")
    error.add_note(f"in the process of {_named(share)}:\n{text}")
    return error


def _named(share: slice) -> str:
    return f"environments {share.start} to {share.stop - 1}"


def _require_pickles(arguments: dict[str, Any]) -> None:
    """Raise ValueError for an option that cannot be sent to another process."""
    for name, value in arguments.items():
        try:
            pickle.dumps(value)
        except Exception as error:  # pickle raises errors of several kinds
            expected = f"what can be pickled: environments are in other processes ({error})"
            found = type(value).__name__
            raise ValueError(f"option {name}: found {found}, expected {expected}") from error


def _end(processes: list[Any], connections: list[Connection]) -> None:
    """End processes: their connections first, then those that are in the middle of a call."""
    for connection in connections:
        connection.close()
    deadline = monotonic() + PATIENCE
    for process in processes:
        process.join(max(0.0, deadline - monotonic()))
        process.kill()
        process.join()
