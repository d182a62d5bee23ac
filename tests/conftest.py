"""Fixtures of several folders of tests, and the marker of slow tests.

`tests/slow.txt` lists the tests that take more than 0.25 s of processor time with compiled kernels.
They have the marker `slow`. `pytest --record-slow` runs all tests and writes the list anew.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# Small networks learn several times faster on one thread, above all where tests share the cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

Run = Callable[..., "subprocess.CompletedProcess[str]"]

SLOW = Path(__file__).with_name("slow.txt")
QUICK = 0.25  # processor time of a test that is not slow [s]
RECORDED = "processor time"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes the list of slow tests."""
    parser.addoption("--record-slow", action="store_true", help=f"write {SLOW.name} anew")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of the list."""
    slow = set(SLOW.read_text(encoding="utf-8").splitlines())
    for item in items:
        if item.nodeid in slow:
            item.add_marker(pytest.mark.slow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Note the processor time of a test, of the processes that it waits for too."""
    before = sum(os.times()[:4])
    try:
        return (yield)
    finally:
        item.user_properties.append((RECORDED, sum(os.times()[:4]) - before))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Write the list, if asked for it."""
    if not terminalreporter.config.getoption("--record-slow"):
        return
    if terminalreporter.config.args_source is not pytest.Config.ArgsSource.TESTPATHS:
        raise pytest.UsageError("--record-slow: found a selection of tests, expected all of them")
    kinds = ("passed", "failed")
    reports = [report for kind in kinds for report in terminalreporter.stats.get(kind, [])]
    times = {report.nodeid: dict(report.user_properties).get(RECORDED, 0.0) for report in reports}
    slow = sorted(name for name, seconds in times.items() if seconds > QUICK)
    SLOW.write_text("".join(f"{name}\n" for name in slow), encoding="utf-8")
    terminalreporter.write_line(f"{len(slow)} of {len(times)} tests are slow: {SLOW}")


@pytest.fixture
def run_python(tmp_path: Path) -> Run:
    """Run a program in a new interpreter, in an empty folder."""

    def run(code: str, **settings: object) -> "subprocess.CompletedProcess[str]":
        settings = {"cwd": tmp_path, "timeout": 120} | settings
        command = [sys.executable, "-c", code]
        return subprocess.run(command, capture_output=True, text=True, **settings)

    return run
