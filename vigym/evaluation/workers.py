"""Workers that share the blocks of an evaluation: processes of this machine, or tasks of Ray."""

import os
import pickle
import signal
import sys
import traceback
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import gymnasium

from vigym.evaluation.blocks import Block, Player, Schedule
from vigym.evaluation.controllers import name_of
from vigym.evaluation.environments import spec_of
from vigym.evaluation.episodes import Progress

BACKENDS = ("processes", "ray")
RETRIES = 3  # of blocks whose worker was lost
_players: dict[bytes, Player] = {}  # of a worker: the environments of its last schedule


@dataclass(frozen=True)
class Failure:
    """Error of a worker as texts, which travel where exceptions may not.

    Attributes:
        message: kind and text of the error, with its place.
        seed: "seed 3" where one episode failed, else empty.
        traceback: of the worker.
    """

    message: str
    seed: str
    traceback: str


Result = Block | Failure
Results = Generator[tuple[int, Result], None, None]


@dataclass(frozen=True)
class Job:
    """Schedule on its way to workers.

    Attributes:
        payload: pickled spec of the environment and schedule.
        folder: in which workers look for modules and files.
        path: of further folders with modules.
    """

    payload: bytes
    folder: str
    path: tuple[str, ...]


def play_on_workers(
    schedule: Schedule, workers: int, backend: str, progress: Progress
) -> list[Block]:
    """Play all blocks; blocks of a lost worker are played again, at most `RETRIES` times.

    Args:
        schedule: of the evaluation.
        workers: largest number of blocks played at a time.
        backend: "processes" or "ray".
        progress: called with the finished part, in [0, 1].

    Raises:
        ValueError: a controller or an option that cannot be pickled.
        ImportError: Ray is not installed.
        ChildProcessError: an error in a worker, or workers that were lost too often.
    """
    results = (_on_ray if backend == "ray" else _on_processes)(schedule, workers)
    blocks: dict[int, Block] = {}
    try:
        for index, result in results:
            if isinstance(result, Failure):
                seeds = result.seed or _seeds_text(schedule, [index])
                text = f"controller {name_of(schedule.controller)!r}, {seeds}: {result.message}"
                error = ChildProcessError(text)
                error.add_note(f"in a worker:\n{result.traceback}")
                raise error
            blocks[index] = result
            progress(len(blocks) / schedule.blocks)
    finally:
        results.close()
    return [blocks[index] for index in range(schedule.blocks)]


def play_block(job: Job, index: int) -> Result:
    """Play a block in a worker; errors are returned."""
    try:
        return _player(job).play(index)
    except Exception as error:
        notes = [note for note in getattr(error, "__notes__", ()) if note.startswith("seed ")]
        frame = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{os.path.basename(frame.filename)}, line {frame.lineno}"
        message = f"{type(error).__name__}: {error} ({place})"
        return Failure(message, notes[0] if notes else "", traceback.format_exc())


def _player(job: Job) -> Player:
    """Return the environments of this worker; environments of an earlier schedule are closed."""
    if job.payload not in _players:
        for player in _players.values():
            player.close()
        _players.clear()
        if os.path.isdir(job.folder):  # on another machine it may be missing
            os.chdir(job.folder)
        sys.path += [folder for folder in job.path if folder not in sys.path]
        spec, schedule = pickle.loads(job.payload)
        gymnasium.registry[spec.id] = spec
        _players[job.payload] = Player(schedule)
    return _players[job.payload]


def _job(schedule: Schedule, dumps: Callable[[Any], bytes]) -> Job:
    """Pack a schedule for workers.

    Raises:
        ValueError: a controller or an option that cannot be pickled.
    """
    spec = spec_of(schedule.env_id)
    elements: list[tuple[str, Any]] = [
        (f"controller {name_of(schedule.controller)!r}", schedule.controller)
    ]
    elements += [(f"option {name}", value) for name, value in schedule.options.items()]
    elements += [(f"environment {schedule.env_id!r}", spec)]
    for element, found in elements:
        try:
            dumps(found)
        except Exception as error:  # pickle raises errors of several kinds
            expected = 'a name, a file, "module:name" or an object that can be pickled'
            reason = f"workers are other processes ({error})"
            raise ValueError(
                f"{element}: found {type(found).__name__}, expected {expected}: {reason}"
            ) from error
    return Job(dumps((spec, schedule)), os.getcwd(), tuple(sys.path))


def _seeds_text(schedule: Schedule, blocks: list[int]) -> str:
    """Return the seeds of blocks as a text."""
    ranges = []
    for index in blocks:
        seeds = schedule.seeds(index)
        ranges.append(f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 1 else f"{seeds[0]}")
    text = ", ".join(ranges)
    return f"seed {text}" if text.isdigit() else f"seeds {text}"


def _lost(schedule: Schedule, blocks: list[int], workers: str) -> ChildProcessError:
    """Return the error for blocks whose workers were lost too often."""
    element = f"controller {name_of(schedule.controller)!r}, {_seeds_text(schedule, blocks)}"
    found = f"found {workers} that ended before the episodes, {1 + RETRIES} times"
    return ChildProcessError(f"{element}: {found}, expected some that live on (memory?)")


def _on_processes(schedule: Schedule, workers: int) -> Results:
    """Yield the results of all blocks, in the order in which processes finish them."""
    job = _job(schedule, pickle.dumps)
    missing = set(range(schedule.blocks))
    for _ in range(1 + RETRIES):
        futures = {}
        with _pool(min(workers, len(missing))) as pool:
            with suppress(BrokenProcessPool):
                for index in sorted(missing):
                    futures[pool.submit(play_block, job, index)] = index
            for future in as_completed(futures):
                try:
                    result = future.result()
                except BrokenProcessPool:
                    continue
                missing.remove(futures[future])
                yield futures[future], result
        if not missing:
            return
    error = _lost(schedule, sorted(missing), "processes")
    error.add_note('A script that starts workers needs `if __name__ == "__main__":`.')
    raise error


@contextmanager
def _pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Start processes; at the end running blocks are finished, and no further block begins."""
    # a process that is forked would share threads and locks of this one
    pool = ProcessPoolExecutor(workers, get_context("spawn"), initializer=_end_at_interrupt)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _end_at_interrupt() -> None:
    """Let Ctrl-C end this process in silence."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _task(job: Job) -> Callable[[int], Any]:
    """Return the function of an index with which Ray plays a block.

    Ray's workers look for modules in the working folder first. The function moves that folder to
    the end before it imports vigym, so that the sources of a checkout do not stand in for the
    package that is installed, unless this process runs them, too. It is nested, so that Ray sends
    its code in place of its name.
    """
    data, folder = pickle.dumps(job), job.folder
    runs_checkout = str(Path(__file__).parents[2]) == folder

    def play(index: int) -> Any:
        import pickle
        import sys

        if not runs_checkout:
            sys.path.sort(key=lambda entry: entry == folder)
        from vigym.evaluation.workers import play_block

        return play_block(pickle.loads(data), index)

    return play


def _on_ray(schedule: Schedule, workers: int) -> Results:
    """Yield the results of all blocks, in the order in which tasks of Ray finish them."""
    try:
        import ray
    except ImportError as error:
        raise ImportError('backend="ray" needs Ray: pip install ray') from error
    job = _job(schedule, ray.cloudpickle.dumps)
    if not ray.is_initialized():
        ray.init(log_to_driver=False)
    play = ray.remote(max_retries=RETRIES)(_task(job))
    waiting = list(range(schedule.blocks))
    running: dict[Any, int] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                index = waiting.pop(0)
                running[play.remote(index)] = index
            (done, *_), _ = ray.wait(list(running))
            index = running[done]
            try:
                result = ray.get(done)
            except ray.exceptions.RayError as error:
                raise _lost(schedule, [index], "tasks of Ray") from error
            del running[done]
            yield index, result
    finally:
        for task in running:
            ray.cancel(task, force=True)
