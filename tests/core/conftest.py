"""Fixtures of the tests of batches."""

import pytest

from vigym.simulation.state import batch


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
