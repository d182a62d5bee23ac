"""Fixtures of several folders of tests."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run_python(tmp_path: Path) -> Run:
    """Run a program in a new interpreter, in an empty folder."""

    def run(code: str, **settings: object) -> "subprocess.CompletedProcess[str]":
        settings = {"cwd": tmp_path, "timeout": 120} | settings
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, **settings
        )

    return run
