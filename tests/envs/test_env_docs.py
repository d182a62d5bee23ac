"""The docstring of every environment is its page: headings in Gymnasium's order, tables that match the spaces."""

import re
from dataclasses import fields

import gymnasium as gym
import numpy as np
import pytest

from scenes.env_cases import OF_FILES
from vigym.envs.env import task_class
from vigym.envs.perturbations import Perturbations
from vigym.envs.registry import ENVIRONMENTS

HEADINGS = [
    "Description", "Notes", "Action Space", "Observation Space", "Rewards", "Starting State", "Episode End",
    "Arguments", "Version History",
]  # fmt: skip
NUMBERED = [entry for entry in ENVIRONMENTS if entry.id not in OF_FILES]  # those depend on the file

every = pytest.mark.parametrize("entry", ENVIRONMENTS, ids=lambda entry: entry.id)
numbered = pytest.mark.parametrize("entry", NUMBERED, ids=lambda entry: entry.id)


def section(entry, heading):
    text = task_class(entry.task).__doc__
    return re.search(
        rf"^## {heading}\n(.*?)(?=^## |\Z)", text, flags=re.MULTILINE | re.DOTALL
    ).group(1)


def rows(entry, heading):
    lines = [line for line in section(entry, heading).splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def numbers(cell):
    first, _, last = cell.partition("-")
    return list(range(int(first), int(last or first) + 1))


def make(entry):
    return gym.make(entry.id, **OF_FILES.get(entry.id, {}))


@every
def test_headings(entry):
    assert re.findall(r"^## (.*)$", task_class(entry.task).__doc__, flags=re.MULTILINE) == HEADINGS
    assert make(entry).unwrapped.__doc__ == task_class(entry.task).__doc__


@numbered
def test_space_tables(entry):
    env = make(entry)
    for heading, space in (
        ("Action Space", env.action_space),
        ("Observation Space", env.observation_space),
    ):
        listed = [(number, row) for row in rows(entry, heading) for number in numbers(row[0])]
        assert [number for number, _ in listed] == list(range(space.shape[0]))
        assert np.array_equal([float(row[2]) for _, row in listed], space.low)
        assert np.array_equal([float(row[3]) for _, row in listed], space.high)


@numbered
def test_joints_of_the_action_table(entry):
    listed = " ".join(row[4] for row in rows(entry, "Action Space"))
    names = make(entry).unwrapped.mechanism.actuator_names
    assert names[0] in listed
    assert names[-1] in listed


@every
def test_arguments(entry):
    shared = {
        "render_mode": "None",
        "width": "640",
        "height": "480",
        "overlay": "()",
        "shadow": "True",
        "camera": "None",
    }
    listed = {}
    for name, _, default, _ in rows(entry, "Arguments"):
        names, default = name.replace("`", "").split(", "), default.strip('"')
        values = [default] if len(names) == 1 else default.split(", ")
        listed |= dict(zip(names, values, strict=True))
    options = {
        field.name: field.default
        for owner in (task_class(entry.task), Perturbations)
        for field in fields(owner)
    }
    expected = {name: str(value) for name, value in options.items()} | shared
    for name in set().union(*OF_FILES.values()) & set(expected):
        expected[name] = "required"
    if "urdf" in expected:  # in place of that option
        del expected["robot"]
    assert listed == expected


@every
def test_rewards_and_episode_end(entry):
    env = make(entry)
    text = section(entry, "Rewards")
    task = env.unwrapped.task
    for term in task.weights:
        assert f"reward_{term}" in text
        assert f"`{task.weight_names.get(term, f'{term}_weight')}`" in text
    steps = entry.max_episode_steps
    assert f"after {steps} control steps, {steps * env.unwrapped.dt:g} s" in section(
        entry, "Episode End"
    )


@numbered
def test_efforts_named_in_the_action_table(entry):
    stated = re.search(r"effort of (\S+) N", section(entry, "Action Space"))
    if stated:
        joints = make(entry).unwrapped.mechanism.joints.values()
        assert float(stated.group(1)) in [joint.effort for joint in joints]


@numbered
def test_what_info_tells_is_in_the_notes(entry):
    env = make(entry)
    _, info = env.reset(seed=0)
    told = env.unwrapped.task.quantities(env.unwrapped.sim).keys() & info.keys()
    assert told
    assert told - set(re.findall(r"`(\w+)`", section(entry, "Notes"))) == set()


@numbered
def test_every_row_has_a_unit(entry):
    for heading in ("Action Space", "Observation Space"):
        for row in rows(entry, heading):
            assert re.fullmatch(r"\w+ \((\S.*)\)|ratio", row[5]), row


@every
def test_starting_state_names_its_noise(entry):
    assert "`reset_noise_scale`" in section(entry, "Starting State")
