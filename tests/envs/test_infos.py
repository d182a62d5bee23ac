"""Infos that are computed when they are read: dictionaries like any other, of their own step."""

import copy
import json
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode

import vigym.envs  # noqa: F401
from scenes.env_cases import CASES, assert_same
from vigym.envs.infos import Info

ENTRIES = {"a": 1.0, "b": [2.0]}
READERS = {
    "item": lambda info: info["a"],
    "get": lambda info: info.get("a"),
    "contains": lambda info: "a" in info,
    "length": len,
    "truth": bool,
    "list": list,
    "reversed": lambda info: list(reversed(info)),
    "keys": lambda info: list(info.keys()),
    "values": lambda info: list(info.values()),
    "items": lambda info: list(info.items()),
    "equal": lambda info: info == ENTRIES,
    "equal from the left": lambda info: info == {},
    "unequal": lambda info: info != ENTRIES,
    "repr": repr,
    "dict": dict,
    "unpacked": lambda info: {**info},
    "keywords": lambda info: dict(**info),
    "updating another": lambda info: ({}).update(info),
    "union": lambda info: info | {"c": 0},
    "union from the left": lambda info: {"c": 0} | info,
    "copy": lambda info: info.copy(),
    "copied": copy.copy,
    "deep copy": copy.deepcopy,
    "pickle": lambda info: pickle.loads(pickle.dumps(info)),
    "json": json.dumps,
    "pop": lambda info: info.pop("a"),
    "popitem": lambda info: info.popitem(),
    "setdefault": lambda info: info.setdefault("a", 5.0),
}
WRITERS = {
    "item": lambda info: info.__setitem__("c", 3.0),
    "update": lambda info: info.update(c=3.0),
    "in place": lambda info: info.__ior__({"c": 3.0}),
    "delete": lambda info: info.__delitem__("a"),
    "clear": lambda info: info.clear(),
}


@pytest.mark.parametrize("name", READERS)
def test_an_unread_info_reads_as_its_entries(name):
    """Every way to read a dictionary finds the entries."""
    info = Info.unread(lambda: dict(ENTRIES))
    assert READERS[name](info) == READERS[name](dict(ENTRIES))


@pytest.mark.parametrize("name", WRITERS)
def test_an_unread_info_takes_entries(name):
    """Every way to change a dictionary leaves the other entries."""
    info, expected = Info.unread(lambda: dict(ENTRIES)), dict(ENTRIES)
    WRITERS[name](info)
    WRITERS[name](expected)
    assert dict(info) == expected


def test_entries_are_computed_once_and_when_read():
    """Nothing is computed before the first use, and nothing twice."""
    calls = []
    info = Info.unread(lambda: calls.append(0) or dict(ENTRIES))
    assert not calls
    assert info == ENTRIES
    assert info["a"] == 1.0
    assert len(calls) == 1


def test_copies_are_of_the_same_type():
    """Gymnasium takes infos of different types for different, whether read or not."""
    info = Info.unread(lambda: dict(ENTRIES))
    for copied in (copy.copy(info), copy.deepcopy(info), pickle.loads(pickle.dumps(info))):
        assert data_equivalence(copied, info)
        assert data_equivalence(info, Info.unread(lambda: dict(ENTRIES)))


@pytest.mark.parametrize("mode", [None, AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("name", ["vigym/InvertedDoublePendulum-v0", "vigym/Snake-v0"])
def test_infos_read_later_are_of_their_own_step(name, mode):
    """Infos read at the end of a run, with restarts, equal those read at every step."""
    runs, count = [], None if mode is None else 3
    for at_once in (True, False):
        env = gym.make(name) if mode is None else gym.make_vec(name, count, autoreset_mode=mode)
        env.reset(seed=0)
        env.action_space.seed(0)
        kept = []
        for _ in range(30):
            _, _, terminated, truncated, info = env.step(env.action_space.sample())
            kept.append(copy.deepcopy(info) if at_once else info)
            if count is None and (terminated or truncated):
                env.reset()
        runs.append(kept)
    for now, later in zip(*runs, strict=True):
        assert_same(dict(later), dict(now))


def test_it_is_made_as_a_dictionary_is():
    """As libraries do that map nested dictionaries: by its type, from pairs or another dictionary."""
    unread = Info.unread(lambda: dict(ENTRIES))
    pairs = ((key, value) for key, value in unread.items())
    for info in (type(unread)(pairs), Info(Info.unread(lambda: dict(ENTRIES))), Info(**ENTRIES)):
        assert dict(info) == ENTRIES
    assert dict(Info()) == {}


def test_quantities_with_an_underscore_are_for_the_hooks_alone():
    """They are in no info: in those of a vector, names with an underscore are masks."""
    env, many = (make("vigym/InvertedDoublePendulum-v0") for make in (gym.make, gym.make_vec))
    env.reset(seed=0)
    many.reset(seed=0)
    task, sim = env.unwrapped.task, env.unwrapped.sim
    assert any(name.startswith("_") for name in task.quantities(sim))
    info = env.step(np.zeros(1, np.float32))[-1]
    assert not any(name.startswith("_") for name in info)
    assert set(many.step(np.zeros((1, 1), np.float32))[-1]) == {*info, *(f"_{key}" for key in info)}


@pytest.mark.parametrize(("name", "options"), CASES)
def test_no_quantity_of_a_task_has_the_name_of_a_metric(name, options):
    """The metric would take its place in `info`."""
    env = gym.make(name, **options)
    _, info = env.reset(seed=0)
    own = env.unwrapped.task.quantities(env.unwrapped.sim)
    shared = {*env.unwrapped.sim.metrics(), "torque_squared", "action_clipped"}
    assert not shared & own.keys()
    assert shared & info.keys()
