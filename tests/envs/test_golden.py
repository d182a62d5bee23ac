"""Every id keeps the motion, rewards and observations that it had when it was new.

In plain Python, some thousand times as slow, the first steps alone.
"""

import json

import pytest

from scenes.golden import FILE, OPTIONS, STEPS, trajectory
from vigym.core.compiler import COMPILES

GOLDEN = json.loads(FILE.read_text())
# Machines round differently: a state that differs by 1e-13 moves these trajectories by 1e-7 at most
# (the snake's), solvers stop at residuals of 1e-10. A change of a task is larger by far.
TOLERANCE = 1e-6
PLAYED = STEPS if COMPILES else 2
MEND = "register a new version of it, or see tests/scenes/golden.py"


def test_every_id_has_one():
    assert GOLDEN.keys() == OPTIONS.keys()


@pytest.mark.parametrize("name", OPTIONS)
def test_an_id_moves_as_it_always_did(name):
    found, expected = trajectory(name, PLAYED), dict(GOLDEN[name])
    expected["rewards"] = expected["rewards"][:PLAYED]
    if PLAYED < STEPS:
        del expected["last"]
    for key, values in expected.items():
        assert found[key] == pytest.approx(values, rel=TOLERANCE, abs=TOLERANCE), (key, MEND)


@pytest.mark.parametrize("options", [{"timestep": 0.0101}, {"control_weight": 0.011}], ids=str)
def test_a_change_is_seen(options):
    name = "vigym/Pendulum-v0"
    rewards = trajectory(name, **options)["rewards"]
    assert rewards != pytest.approx(GOLDEN[name]["rewards"], rel=TOLERANCE, abs=TOLERANCE)
