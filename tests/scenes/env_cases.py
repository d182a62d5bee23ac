"""What tests of all environments share: every registered one with options it needs, and exact comparison."""

import gymnasium as gym
import numpy as np
from gymnasium.vector import AutoresetMode

from vigym import assets
from vigym.envs.registry import ENVIRONMENTS

URDF = {"urdf": str(assets.path("acrobot"))}
# Commands that are drawn are no part of the state: that given here continues with any state.
ROBOT = {"robot": URDF["urdf"]}
OF_FILES = {"vigym/Robot-v0": ROBOT, "vigym/Urdf-v0": URDF}  # ids that need a file
COMMAND, SPEED = {"command": (0.5, 0.1, -0.3)}, {"speed": 0.5}
NEEDED = OF_FILES | dict.fromkeys(("vigym/CassieWalk-v0", "vigym/Biped-v0"), SPEED)
NEEDED |= dict.fromkeys(("vigym/QuadrupedCommand-v1", "vigym/BennettQuadruped-v0"), COMMAND)
CASES = [(entry.id, NEEDED.get(entry.id, {})) for entry in ENVIRONMENTS]
CASES.append(("vigym/PendulumChain-v0", {"joint": "spherical", "links": 2}))
CASES.append(("vigym/Urdf-v0", {"urdf": str(assets.path("four_bar"))}))


def random_steps(name, count, together=50):
    """Yield infos of so many control steps with random actions, of environments side by side; none is left out."""
    envs = gym.make_vec(name, together, autoreset_mode=AutoresetMode.DISABLED)
    draw = np.random.default_rng(0)
    envs.reset(seed=0)
    for _ in range(count // together):
        moves = draw.uniform(-1.0, 1.0, envs.action_space.shape).astype(np.float32)
        _, _, terminated, truncated, info = envs.step(moves)
        yield info
        if (terminated | truncated).any():
            envs.reset(options={"reset_mask": terminated | truncated})


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
