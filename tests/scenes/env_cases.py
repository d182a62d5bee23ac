"""What tests of all environments share: every registered one with options it needs, and exact comparison."""

import numpy as np

from vigym import assets
from vigym.envs.registry import ENVIRONMENTS

URDF = {"urdf": str(assets.path("acrobot"))}
# Commands that are drawn are no part of the state: that given here continues with any state.
ROBOT = {"robot": URDF["urdf"]}
OF_FILES = {"vigym/Robot-v0": ROBOT, "vigym/Urdf-v0": URDF}  # ids that need a file
NEEDED = OF_FILES | {"vigym/QuadrupedCommand-v0": {"command": (0.5, 0.1, -0.3)}}
CASES = [(entry.id, NEEDED.get(entry.id, {})) for entry in ENVIRONMENTS]
CASES.append(("vigym/PendulumChain-v0", {"joint": "spherical", "links": 2}))
CASES.append(("vigym/Urdf-v0", {"urdf": str(assets.path("four_bar"))}))


def assert_same(found, expected, where=""):
    """Same keys, types, shapes and bits, dictionaries and arrays of objects included."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys(), where
        for key in expected:
            assert_same(found[key], expected[key], f"{where} {key}")
        return
    if isinstance(expected, tuple | list) or (
        isinstance(expected, np.ndarray) and expected.dtype == object
    ):
        assert len(found) == len(expected), where
        for k, (one, other) in enumerate(zip(found, expected, strict=True)):
            assert_same(one, other, f"{where} {k}")
        return
    assert type(found) is type(expected), where
    if expected is not None:
        found, expected = np.asarray(found), np.asarray(expected)
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape), where
        np.testing.assert_array_equal(found, expected, err_msg=where)
