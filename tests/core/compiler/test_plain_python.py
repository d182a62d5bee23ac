"""Plain Python (VIGYM_COMPILE=0) runs the kernels' sources, and computes what compiled kernels do."""

import os
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from scenes.features import SCENES, play

TESTS = Path(__file__).parents[2]
PLAIN = os.environ | {"VIGYM_COMPILE": "0", "PYTHONPATH": os.pathsep.join([str(TESTS), *sys.path])}
# Compiled products and sums round once, others twice: twenty steps differ by some 1e-12, and losses
# of impacts, whose forces stop at 1e-8 of the weight, by 1e-10.
AGREEMENT = 3e-10


@pytest.mark.parametrize("make", SCENES, ids=lambda make: make.__name__)
def test_it_computes_what_kernels_do(make, tmp_path, run_python):
    file = tmp_path / "readings"
    code = "import runpy; runpy.run_module('scenes.features', run_name='__main__', alter_sys=True)"
    arguments = f"import sys; sys.argv[1:] = {[str(file), make.__name__]!r}; "
    done = run_python(arguments + code, env=PLAIN)
    assert done.returncode == 0, done.stderr
    found = pickle.loads(file.read_bytes())
    for name, expected in play(make).items():
        size = max(1.0, np.abs(expected).max(initial=0.0))
        np.testing.assert_allclose(
            found[name], expected, rtol=0.0, atol=AGREEMENT * size, err_msg=name
        )


def test_it_imports_no_compiler(run_python):
    """`VIGYM_COMPILE=0 pytest tests/envs/test_golden.py` says whether all environments move as they always did."""
    done = run_python(
        """
import sys
from scenes.golden import trajectory
trajectory("vigym/Pendulum-v0", 1)
print([name for name in ("numba", "llvmlite") if name in sys.modules])
""",
        env=PLAIN,
    )
    assert done.stdout == "[]\n", done.stderr


def test_single_precision_needs_compiled_kernels(run_python):
    done = run_python(
        """
from scenes.moving import pendulum
from vigym import Simulator
Simulator(pendulum(), batch=2, precision="float32")
""",
        env=PLAIN,
    )
    expected = (
        'precision="float32": found plain Python (VIGYM_COMPILE=0); expected compiled kernels'
    )
    assert done.stderr.splitlines()[-1] == f"ValueError: {expected}"


def test_a_row_shows_its_fields(run_python):
    done = run_python(
        """
from scenes.moving import pendulum
from scenes.plain_python import data_of
from vigym import Simulator
d = data_of(Simulator(pendulum()))
print(d.body(1))
try:
    d.body(1).weight = 1.0
except AttributeError as error:
    print(error)
try:
    d.weight
except AttributeError as error:
    print(error)
""",
        env=PLAIN,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "body 1"
    assert "  mass = 1.0 kg" in lines
    assert "'weight'" in lines[-2]
    assert lines[-1] == "data: found 'weight', expected a kind of rows or of the header"
