"""Fixtures of the tests of batches, and of kernels that several processes compile.

Folders named as rooms of the core hold unit tests of functions of kernels, which only plain Python
calls: ``VIGYM_COMPILE=0 pytest tests/core`` runs them and nothing else. Other tests, of compiled
kernels and of their lanes, are those of ``COMPILED``.
"""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest

from vigym.core.compiler import COMPILES
from vigym.simulation.state import batch

COMPILED = [
    "test_*.py",
    "compiler/test_[!p]*.py",
    "compiler/test_packs.py",
    "compiler/test_plain_python.py",
    "contact/test_cone_boundary.py",
    "kernels/test_float32.py",
    "model/test_contact_slots.py",
    "solver/test_first_guess.py",
    "solver/test_predicted_end.py",
    "tree/test_runs.py",
]
HERE = Path(__file__).parent
_compiled = {path for pattern in COMPILED for path in HERE.glob(pattern)}
collect_ignore = sorted(set(HERE.rglob("test_*.py")) - _compiled if COMPILES else _compiled)

MODULE = """
import math
from vigym.core.compiler.kernel import entry, inline, phase

@inline
def half(x):
    return 0.5 * x

@phase
def third(x):
    return half(2.0 * x) / 3.0

@phase
def sixth(x):
    return third(half(x))

@phase
def root(x):
    return math.sqrt(sixth(6.0 * x) * third(3.0 * x))

@entry
def double(x):
    return root(x) + 6.0 * sixth(x)

@entry
def triple(x):
    return root(x) + 12.0 * half(sixth(2.0 * x))
"""


@pytest.fixture(autouse=not COMPILES)
def as_processors_divide():
    """Divide by zero without a warning, as kernels do."""
    with np.errstate(all="ignore"):
        yield


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Use threads for the least work; return the number of threads of each call that used them."""
    used, run_parallel = [], batch.run_parallel

    def counted(work, count):
        used.append(count)
        run_parallel(work, count)

    monkeypatch.setattr(batch, "MIN_WORK_PER_THREAD", 1)
    monkeypatch.setattr(batch, "run_parallel", counted)
    return used


@pytest.fixture
def double(tmp_path, monkeypatch):
    """A kernel in a module of its own, kept below ``tmp_path``."""
    from vigym.core.compiler import cache, events, processes  # import numba

    (tmp_path / "module_of_a_kernel.py").write_text(MODULE)
    monkeypatch.setenv("VIGYM_CACHE_DIR", str(tmp_path))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(processes, "processor_count", lambda: 2)
    monkeypatch.setattr(cache, "_printed", set())
    monkeypatch.setattr(processes, "_running", {})  # those of other tests go on
    monkeypatch.setattr(events, "_listeners", [])  # simulators of other tests made them
    yield importlib.import_module("module_of_a_kernel").double
    processes.stop()
    del sys.modules["module_of_a_kernel"]
