"""The native vector environment: each environment of it is, bit for bit, the single one with its seed and actions."""

import copy
import pickle

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from scenes.env_cases import CASES, assert_same
from vigym.envs.vector import TaskVectorEnv

ID = "vigym/InvertedDoublePendulum-v0"
SHORT = 12  # control steps of an episode, so that many end
MODES = list(AutoresetMode)

every = pytest.mark.parametrize(
    ("name", "options"), CASES, ids=lambda value: value if isinstance(value, str) else ""
)
each_mode = pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.value)


def native(name, count, mode=AutoresetMode.NEXT_STEP, limit=SHORT, **options):
    return gym.make_vec(name, count, max_episode_steps=limit, autoreset_mode=mode, **options)


def copies(name, count, mode=AutoresetMode.NEXT_STEP, limit=SHORT, **options):
    """The reference: single environments side by side."""
    one = gym.make(name, max_episode_steps=limit, **options)
    return SyncVectorEnv([lambda: copy.deepcopy(one)] * count, autoreset_mode=mode)


def moves(env, count, seed=0):
    return (
        np.random.default_rng(seed)
        .uniform(-1.2, 1.2, (count, *env.action_space.shape))
        .astype(np.float32)
    )


def play(env, actions):
    """Steps, and in mode DISABLED the resets between them."""
    seen = []
    for action in actions:
        seen.append(env.step(action))
        done = seen[-1][2] | seen[-1][3]
        if env.metadata["autoreset_mode"] == AutoresetMode.DISABLED and done.any():
            seen.append(env.reset(options={"reset_mask": done}))
    return seen


@every
@pytest.mark.parametrize(
    ("mode", "count", "threads"),
    [
        (AutoresetMode.NEXT_STEP, 11, 2),
        (AutoresetMode.SAME_STEP, 5, 1),
        (AutoresetMode.DISABLED, 1, 1),
    ],
)
def test_each_environment_is_the_single_one(name, options, mode, count, threads):
    many, alone = (
        native(name, count, mode, threads=threads, **options),
        copies(name, count, mode, **options),
    )
    assert_same(many.reset(seed=3), alone.reset(seed=3))
    actions = moves(many, 2 * SHORT + 6)
    actions[:, 0] = 0.0  # one of them falls later than the others
    for found, expected in zip(play(many, actions), play(alone, actions), strict=True):
        assert_same(found, expected)
    assert_same(many.reset(), alone.reset())


@every
def test_order_and_neighbours_change_nothing(name, options):
    count, seeds = 7, [11, 5, 3, 2, 19, 8, 0]
    one, other = native(name, count, **options), native(name, count, **options)
    one.reset(seed=seeds), other.reset(seed=seeds[::-1])
    actions = moves(one, 2 * SHORT)
    for step, mirrored in zip(play(one, actions), play(other, actions[:, ::-1]), strict=True):
        for found, expected in zip(mirrored[:4], step[:4], strict=True):
            np.testing.assert_array_equal(found[::-1], expected)
        for key in step[4]:
            np.testing.assert_array_equal(mirrored[4][key][::-1], step[4][key])


@pytest.mark.parametrize("seed", [7, [4, None, 4], (2, 1, 0), None])
def test_seeds(seed):
    many, alone = native(ID, 3), copies(ID, 3)
    assert_same(many.reset(seed=0), alone.reset(seed=0))
    assert_same(many.reset(seed=seed), alone.reset(seed=seed))
    assert [stream.random() for stream in many.np_random] == [
        stream.random() for stream in alone.np_random
    ]
    assert many.np_random_seed == alone.np_random_seed


def test_without_a_seed_every_start_differs():
    one, other = native(ID, 2), native(ID, 2)
    starts = np.vstack([one.reset()[0], other.reset()[0]])
    assert len(np.unique(starts[:, 0])) == 4


@each_mode
def test_parts_can_be_reset_at_any_time(mode):
    many, alone = native(ID, 6, mode), copies(ID, 6, mode)
    many.reset(seed=1), alone.reset(seed=1)
    actions, mask = moves(many, 40), np.array([True, False, False, True, False, False])
    for k, action in enumerate(actions[:30]):
        found, expected = many.step(action), alone.step(action)
        assert_same(found, expected)
        ended = found[2] | found[3] if mode == AutoresetMode.DISABLED else False
        chosen = ended | (np.roll(mask, k) & (k % 7 == 0))
        if chosen.any():
            seed = 100 + k if k % 2 else None
            options = {"reset_mask": chosen}
            assert_same(
                many.reset(seed=seed, options=options),
                alone.reset(seed=seed, options=dict(options)),
            )
            assert np.array_equal(
                options["reset_mask"], chosen
            )  # still there: wrappers look at it too


# poles that fall within ten steps, unless starts and actions are small
UNSTABLE = ("vigym/InvertedPendulum-v0", "vigym/StandardDoublePendulum-v0")


@every
def test_restored_states_continue_bit_for_bit(name, options):
    size = 1.0
    if name in UNSTABLE:
        options, size = {**options, "reset_noise_scale": 0.01}, 0.1
    many, again = native(name, 3, **options), native(name, 3, **options)
    single = gym.make(name, **options)
    many.reset(seed=6)
    play(many, size * moves(many, 5))
    states = many.unwrapped.sim.state
    again.reset(seed=9, options={"state": states})
    single.reset(seed=1, options={"state": states[1]})
    actions = size * moves(many, 5, seed=1)
    for expected, found, action in zip(
        play(many, actions), play(again, actions), actions, strict=True
    ):
        assert_same(found, expected)
        observation, reward, *_ = single.step(action[1])
        assert np.array_equal(observation, found[0][1])
        assert reward == found[1][1]


def test_one_state_for_some_environments():
    many = native(ID, 3)
    many.reset(seed=0)
    states = many.unwrapped.sim.state
    chosen = np.array([True, False, True])
    observations, _ = many.reset(options={"state": states[1], "reset_mask": chosen})
    assert np.array_equal(observations, observations[[1, 1, 1]])


@every
def test_copies_continue_bit_for_bit(name, options):
    many = native(name, 3, **options)
    many.reset(seed=5)
    play(many, moves(many, SHORT + 2))
    twins = pickle.loads(pickle.dumps(many)), copy.deepcopy(many)
    actions = moves(many, SHORT + 2, seed=1)
    expected = play(many, actions), many.reset()
    for twin in twins:
        assert_same((play(twin, actions), twin.reset()), expected)


def test_time_limits():
    for limit in (None, -1):
        many = native("vigym/Pendulum-v0", 2, limit=limit)
        many.reset(seed=0)
        assert not any(step[3].any() for step in play(many, moves(many, 320)))
    registered = gym.make_vec("vigym/Pendulum-v0", 2)
    registered.reset(seed=0)
    truncated = [step[3].tolist() for step in play(registered, moves(registered, 300))]
    assert truncated == [[False, False]] * 299 + [[True, True]]


def test_the_spec_makes_it_again():
    many = gym.make_vec(ID, 4, autoreset_mode="SameStep", max_episode_steps=9, alive_weight=2.0)
    again = gym.make_vec(many.spec)
    assert isinstance(again.unwrapped, TaskVectorEnv)
    assert again.num_envs == 4
    assert again.metadata == many.metadata
    assert again.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert_same(many.reset(seed=0), again.reset(seed=0))
    actions = moves(many, 12)
    assert_same(play(many, actions), play(again, actions))


@every
@each_mode
def test_what_is_returned_is_fresh(name, options, mode):
    many = native(name, 3, mode, limit=2, **options)
    seen = [many.reset(seed=0)]
    seen += play(many, moves(many, 5))
    before = copy.deepcopy(seen)
    arrays = [arrays_of(returned) for returned in seen]
    play(many, moves(many, 3, seed=1))
    assert_same(seen, before)
    for k, later in enumerate(arrays):
        for array in later:
            assert array.flags.writeable
            assert not any(
                np.shares_memory(array, other) for earlier in arrays[:k] for other in earlier
            )


def arrays_of(value):
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, tuple):
        return [array for part in value for array in arrays_of(part)]
    if value.dtype == object:
        return [array for array in value if array is not None]
    return [value]


def test_a_lane_that_fails_ends_its_episode_and_no_other():
    name = "vigym/PendulumChain-v0"
    count = 6
    wild = 2
    many, alone = native(name, count), native(name, count)
    many.reset(seed=0), alone.reset(seed=0)
    sim = many.unwrapped.sim
    sim.reset(velocities=np.array([1e6, -1e6, 1e6]), mask=np.arange(count) == wild)
    state, others = sim.state, np.arange(count) != wild
    actions = moves(many, 5)
    found, expected = play(many, actions), play(alone, actions)
    assert found[0][2].tolist() == (~others).tolist()
    assert found[0][4]["solver_converged"].tolist() == others.tolist()
    np.testing.assert_array_equal(
        found[0][4]["joint_positions"][wild], state_positions(many, state)[wild]
    )
    for step, other in zip(found, expected, strict=True):
        assert np.isfinite(step[0]).all()
        assert not step[2][others].any()
        for one, two in zip(step[:4], other[:4], strict=True):
            np.testing.assert_array_equal(one[others], two[others])
    assert found[1][1][wild] == 0.0  # started afresh


def state_positions(env, state):
    twin = copy.deepcopy(env.unwrapped.sim)
    twin.state = state
    return twin.joint_positions


def test_pictures_of_every_environment():
    many = native("vigym/Pendulum-v0", 3, render_mode="rgb_array", width=96, height=64)
    single = gym.make("vigym/Pendulum-v0", render_mode="rgb_array", width=96, height=64)
    many.reset(seed=[0, 1, 2]), single.reset(seed=1)
    actions = np.ones((8, 3, 1), dtype=np.float32)
    actions[:, 2] = -1.0
    play(many, actions)
    for action in actions[:, 1]:
        single.step(action)
    pictures = many.render()
    assert isinstance(pictures, tuple)
    assert [(picture.shape, picture.dtype) for picture in pictures] == [((64, 96, 3), np.uint8)] * 3
    assert np.array_equal(pictures[1], single.render())
    assert not np.array_equal(pictures[1], pictures[2])
    many.close()
    many.close()
