"""Fair timing: jobs take turns, each from a fresh start, measured in CPU time of their thread."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vigym.files import read_file

SHORTEST = 0.02  # [s] shorter samples consist of several rounds


@dataclass(frozen=True)
class Job:
    """Piece of work to time.

    Attributes:
        prepare: restores the start; not timed.
        run: makes `steps` steps; timed.
        steps: number of steps.
        wall: whether to take the wall clock, for work on several threads.
    """

    prepare: Callable[[], object]
    run: Callable[[], object]
    steps: int
    wall: bool = False


@dataclass(frozen=True)
class Cost:
    """Seconds per step over the repeats."""

    best: float
    median: float


def interleaved(jobs: Sequence[Job], repeats: int) -> list[Cost]:
    """Time the jobs in turn, `repeats` times each, after an untimed round of each."""
    rounds = [_rounds(job) for job in jobs]
    samples: list[list[float]] = [[] for _ in jobs]
    for _ in range(repeats):
        for job, n, seconds in zip(jobs, rounds, samples, strict=True):
            seconds.append(sum(_time_once(job) for _ in range(n)) / (n * job.steps))
    return [Cost(min(s), statistics.median(s)) for s in samples]


def _rounds(job: Job) -> int:
    """Return the number of rounds of a sample."""
    _time_once(job)
    return max(1, round(SHORTEST / max(_time_once(job), 1e-6)))


def _time_once(job: Job) -> float:
    """Return the time of one round [s].

    Raises:
        RuntimeError: other threads did the work of a job timed by its thread's CPU time.
    """
    job.prepare()
    if job.wall:
        start = time.perf_counter()
        job.run()
        return time.perf_counter() - start
    whole, cpu = time.process_time(), time.thread_time()
    job.run()
    cpu, whole = time.thread_time() - cpu, time.process_time() - whole
    if whole > 0.01 and cpu < 0.5 * whole:
        found = f"{whole:.2g} s of CPU time, {cpu:.2g} s of it in this thread"
        raise RuntimeError(f"other threads did the work: {found}")
    return cpu


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a text table with right-aligned columns."""
    lines = [list(head), *[list(row) for row in rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    text = [
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
        for line in lines
    ]
    return "\n".join([title, text[0], "-" * len(text[0]), *text[1:]])


def machine(*packages: str) -> str:
    """Return processor, cores and Python in one line, versions of packages in the next."""
    names = ("vigym", "numpy", "numba", "mujoco", "gymnasium", *packages)
    versions = ", ".join(f"{name} {_version(name)}" for name in names)
    system = f"{platform.system()}, Python {platform.python_version()}"
    return f"{_processor()}, {os.cpu_count()} cores, {system}\n{versions}"


def _processor() -> str:
    info = "/proc/cpuinfo"
    text = read_file(info, "a text").decode(errors="replace") if os.path.exists(info) else ""
    lines = text.splitlines()
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
