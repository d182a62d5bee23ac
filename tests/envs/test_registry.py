"""Entries of the registry: once, again, replaced, with options, and refused."""

import gymnasium as gym
import numpy as np
import pytest

from vigym import assets
from vigym.envs.registry import ENVIRONMENTS, Entry
from vigym.envs.tasks.pendulum import Pendulum

CHAIN = "vigym.envs.tasks.pendulum_chain:PendulumChain"
ID = "me/Chain-v0"


@pytest.fixture(autouse=True)
def _own_ids():
    """Forget the ids of a test."""
    before = dict(gym.registry)
    yield
    gym.registry.clear()
    gym.registry.update(before)


def test_options_of_an_entry_are_those_of_its_environment():
    Entry(ID, CHAIN, kwargs={"links": 2}).register()
    assert gym.make(ID).action_space.shape == (2,)
    assert gym.make(ID, links=3).action_space.shape == (3,)
    assert gym.make_vec(ID, 4).action_space.shape == (4, 2)
    Entry(
        "me/Arm-v0", "vigym.envs.tasks.urdf:Urdf", 50, kwargs={"urdf": str(assets.path("acrobot"))}
    ).register()
    assert gym.make("me/Arm-v0").spec.max_episode_steps == 50


def test_a_task_may_be_a_class():
    Entry("me/Rod-v0", Pendulum, 10).register()
    assert isinstance(gym.make("me/Rod-v0").unwrapped.task, Pendulum)


def test_the_same_entry_may_be_registered_again():
    mine = (
        Entry(ID, CHAIN, 10, kwargs={"links": 2}),
        Entry("me/Start-v0", CHAIN, 10, kwargs={"start": {"joint": np.zeros(3)}}),
    )
    for entry in (*mine, *ENVIRONMENTS):
        entry.register()
        known = gym.spec(entry.id)
        entry.register()
        assert gym.spec(entry.id) is known


@pytest.mark.parametrize(
    "other",
    [
        Entry(ID, Pendulum, 10),
        Entry(ID, CHAIN, 11),
        Entry(ID, CHAIN, 10, kwargs={"links": 2}),
        Entry(ID, CHAIN, 10, kwargs={"start": np.zeros(3)}),
    ],
    ids=["task", "steps", "options", "arrays"],
)
def test_another_environment_is_replaced_only_if_asked_for(other, recwarn):
    Entry(ID, CHAIN, 10).register()
    known = gym.spec(ID)
    with pytest.raises(
        ValueError, match="environment 'me/Chain-v0': found it registered, as vigym.envs.tasks.pend"
    ):
        other.register()
    assert gym.spec(ID) is known
    other.register(replace=True)
    assert gym.spec(ID).kwargs == {"task": other.task, **other.kwargs}
    assert gym.spec(ID).max_episode_steps == other.max_episode_steps
    assert len(recwarn) == 0


def test_other_people_s_ids_are_safe_too():
    with pytest.raises(
        ValueError, match=r"'CartPole-v1': found it registered, as gymnasium\.envs\.classic"
    ):
        Entry("CartPole-v1", Pendulum).register()


def test_entries_can_be_collected():
    assert len({Entry(ID, CHAIN), Entry(ID, CHAIN), Entry(ID, CHAIN, kwargs={"links": 2})}) == 2
