"""Options of all environments that nothing can have: an error that says what was found, or a task."""

import sys
from dataclasses import fields
from functools import cache
from importlib import import_module

import gymnasium as gym
import numpy as np
import pytest

from scenes.env_cases import OF_FILES
from vigym import assets
from vigym.envs.options import MOST_LINKS
from vigym.envs.registry import ENVIRONMENTS

LEG = {"vigym/Robot-v0": {"robot": assets.path("minitaur_leg")}}  # with a loop; Urdf-v0 is the same
VALUES = (10**9, 10**30, -(10**30), -1, 1e300, 1e-320, np.nan, np.inf, "x", "a\0b", "", None, [],
          {}, (1, 2), True, 3 + 4j, object())  # fmt: skip


def task_class(entry):
    module, _, name = entry.task.partition(":")
    return getattr(import_module(module), name)


@pytest.mark.parametrize("entry", ENVIRONMENTS, ids=lambda entry: entry.id)
def test_each_option_is_refused_with_what_was_found_or_makes_a_mechanism(entry, monkeypatch):
    monkeypatch.setitem(sys.modules, "pybullet", None)  # it would read the same file each time
    made, faults = task_class(entry), {}
    module = sys.modules[made.__module__]
    if hasattr(module, "load_urdf") and not entry.id.startswith(("vigym/Robot", "vigym/Urdf")):
        monkeypatch.setattr(
            module, "load_urdf", cache(module.load_urdf)
        )  # of a file of the package
    needed = (OF_FILES | LEG).get(entry.id, {})
    for option in [field.name for field in fields(made) if field.init]:
        for value in VALUES:
            try:
                made(**needed | {option: value}).mechanism()
            except ValueError as error:
                if "found" not in str(error):
                    faults[option, repr(value)[:20]] = repr(error)
            except Exception as error:
                faults[option, repr(value)[:20]] = repr(error)
    assert faults == {}


@pytest.mark.parametrize("option", ["observation_noise", "action_latency", "pushes", "width",
                                    "height", "overlay", "shadow", "camera", "randomization",
                                    "timestep", "frame_skip"])  # fmt: skip
def test_options_of_all_environments(option):
    faults = {}
    for value in VALUES:
        try:
            env = gym.make("vigym/Pendulum-v0", **{option: value})
            env.reset(seed=0)
            env.close()
        except ValueError as error:
            if "found" not in str(error):
                faults[repr(value)[:20]] = repr(error)
        except Exception as error:
            faults[repr(value)[:20]] = repr(error)
    assert faults == {}


@pytest.mark.parametrize("name", ["PendulumChain", "Snake", "SnakeSidewinding"])
@pytest.mark.parametrize("links", [MOST_LINKS + 1, 10**9, 10**30])
def test_chains_without_end_are_refused(name, links):
    with pytest.raises(ValueError, match=f"links: found {links}, expected a whole number of at"):
        gym.make(f"vigym/{name}-v0", links=links)
