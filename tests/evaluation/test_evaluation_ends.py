"""What ends episodes; speeds, costs and spreads of scores; a pose that is held."""

import gymnasium as gym
import numpy as np
import pytest

import vigym  # noqa: F401  registers the environments
from vigym.envs.registry import Entry
from vigym.envs.tasks.pendulum import Pendulum
from vigym.evaluation.episodes import PLACES
from vigym.evaluation.evaluate import evaluate
from vigym.evaluation.tables import summary_of, table_of


def test_an_aim_that_ends_an_episode_is_no_failure_and_its_table_tells():
    scored = evaluate("vigym/Acrobot-v0", "energy_swing_up", episodes=3)
    assert [(row.terminated, row.failed, row.reached_goal) for row in scored.rows] == [
        (True, False, True)
    ] * 3
    lines = {line[0]: line[1:] for line in table_of([scored])}
    assert lines["goal reached"] == ["episodes", "3"]
    assert lines["failed before the time limit"] == ["episodes", "0"]
    idle = evaluate("vigym/Acrobot-v0", "zero", episodes=2)
    assert [(row.terminated, row.failed, row.reached_goal) for row in idle.rows] == [
        (False, False, False)
    ] * 2
    lost = evaluate("vigym/Acrobot-v0", "zero", episodes=2, options={"timestep": 1e4})
    assert [(row.unconverged_steps, row.failed, row.reached_goal) for row in lost.rows] == [
        (1, True, False)
    ] * 2
    assert lost.unconverged_episodes == 2
    assert "goal reached" not in {
        line[0] for line in table_of([evaluate("vigym/Pendulum-v0", "zero", 1)])
    }


class Short(Pendulum):
    """A pendulum whose episodes end by themselves, after a tenth of a second."""

    def terminated(self, quantities):
        return quantities["time"] > 0.1


def test_an_id_without_a_limit_whose_episodes_end_is_evaluated():
    entry = Entry("me/Short-v0", Short)
    entry.register()
    lengths = [row.length for row in evaluate(entry.id, "zero", episodes=2).rows]
    assert lengths == [3, 3]
    with pytest.raises(ValueError, match="'me/Short-v0': found episodes without a limit, expected"):
        evaluate(entry.id, "zero", options={"max_episode_steps": -1})
    endless = Entry("me/Endless-v0", Pendulum)
    endless.register()
    with pytest.raises(ValueError, match="'me/Endless-v0': found episodes without a limit"):
        evaluate(endless.id, "zero")


def test_an_id_without_a_vector_of_its_own_is_evaluated():
    """Gymnasium makes a vector of separate environments then."""
    gym.register(
        "me/Single-v0",
        entry_point="vigym.envs.env:TaskEnv",
        max_episode_steps=5,
        kwargs={"task": "vigym.envs.tasks.minitaur:Minitaur"},
    )
    alone, batched = (
        evaluate(name, "zero", episodes=2, options=options).rows
        for name, options in (
            ("me/Single-v0", {}),
            ("vigym/Minitaur-v0", {"max_episode_steps": 5}),
        )
    )
    assert [row.cost_of_transport for row in alone] == [row.cost_of_transport for row in batched]


@pytest.mark.parametrize("factors", [{"mass": (2.0, 2.0)}, {"gravity": (0.5, 0.9)}])
def test_costs_of_transport_are_over_the_weight_of_each_episode(factors):
    options = {"randomization": factors}
    for row in evaluate("vigym/Minitaur-v0", "trot", episodes=2, options=options).rows:
        env = gym.make("vigym/Minitaur-v0", **options).unwrapped
        env.reset(seed=row.seed)
        sim = env.sim
        weight = sim.body_inertias[0].sum() * np.linalg.norm(sim.parameters.gravity)
        assert abs(weight / (6.0 * 9.81) - 1.0) > 0.05
        expected = row.power / (weight * abs(row.speed))
        assert row.cost_of_transport == pytest.approx(expected, rel=1e-9)


def test_the_forward_speed_is_along_the_command():
    """Sideways, on a circle, on the spot; the Minitaur trots along x whatever its command."""
    walks = [
        evaluate("vigym/QuadrupedCommand-v1", "trained", 1, options={"command": command}).rows[0]
        for command in ((0.0, 0.4, 0.0), (0.4, 0.0, 1.0), (0.0, 0.0, 1.0))
    ]
    assert [row.speed for row in walks[:2]] == pytest.approx([0.4, 0.4], abs=0.05)
    row = walks[2]
    assert np.isnan([row.distance, row.speed, row.cost_of_transport]).all()
    options = {"commands": True}
    (row,) = evaluate("vigym/Minitaur-v0", "trot", 1, options=options, traces=PLACES).rows
    goal = gym.make("vigym/Minitaur-v0", **options).reset(seed=0)[1]
    along = np.sign(goal["command_speed"]) * np.array(
        [np.cos(goal["command_heading"]), np.sin(goal["command_heading"])]
    )
    gone = [row.traces[name][-1] - row.traces[name][0] for name in PLACES]
    assert row.distance == pytest.approx(along @ gone, rel=1e-9)
    assert row.distance != pytest.approx(gone[0], rel=1e-3)


@pytest.mark.parametrize(("links", "target"), [(1, 0.0), (3, 0.0), (3, 0.5), (8, 0.0)])
def test_the_pose_of_the_chain_is_held(links, target):
    """Rods at rest, not actions that jump between the largest torques in every step."""
    settings = {"options": {"links": links}, "traces": ("joint_velocities",)}
    (row,) = evaluate("vigym/PendulumChain-v0", f"pd,target={target}", 1, **settings).rows
    assert np.abs(row.traces["joint_velocities"][300:]).max() < 0.05


@pytest.mark.parametrize("episodes", [1, 2])
def test_one_episode_has_no_spread(episodes):
    scored = evaluate("vigym/Pendulum-v0", "random", episodes, options={"max_episode_steps": 5})
    several = episodes > 1
    texts = {label: text for label, _, text in table_of([scored])}
    assert ("±" in texts["return"], "±" in texts["solver iterations, mean"]) == (several, several)
    deviations = [one["std"] for one in summary_of(scored).values() if isinstance(one, dict)]
    assert any(deviations) == several
    assert several or set(deviations) == {None}
