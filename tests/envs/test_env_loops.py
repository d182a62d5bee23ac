"""Environments with closed loops: what starts, what is commanded, what the linkages do."""

import gymnasium as gym
import numpy as np
import pytest

from vigym import assets, load_urdf
from vigym.envs.random_start import independent_joints

PUSH = np.ones(1, dtype=np.float32)


@pytest.mark.parametrize(
    ("name", "expected"),
    [("four_bar", ["drive"]), ("minitaur_leg", ["slide", "hip_front", "hip_rear"])],
)
def test_independent_joints(name, expected):
    mech = load_urdf(assets.path(name))
    assert [joint.name for joint in independent_joints(mech)] == expected
    assert mech.degrees_of_freedom == len(expected)
    assert mech.redundant_constraints == 3


def test_loops_follow_the_joints_that_a_start_sets():
    env = gym.make("vigym/Urdf-v0", urdf=str(assets.path("minitaur_leg")))
    starts = [env.reset(seed=seed)[1] for seed in range(5)]
    for info in starts:
        assert info["constraint_residual_max"] <= 1e-10
        assert np.abs(info["joint_positions"][:3]).max() <= 0.1
    assert np.ptp([info["joint_positions"][1] for info in starts]) > 0.05


def test_a_start_about_a_file_that_is_open_at_zero(tmp_path):
    text = (
        assets.path("four_bar")
        .read_text()
        .replace('link2 link="rocker" xyz="0 0 0.3"', 'link2 link="rocker" xyz="0 0 0.31"')
    )
    (tmp_path / "open.urdf").write_text(text)
    env = gym.make("vigym/Urdf-v0", urdf=str(tmp_path / "open.urdf"))
    assembly = env.unwrapped.mechanism.structure.assembly
    assert 1e-3 < np.abs(assembly).max() < 0.1
    _, info = env.reset(seed=0)
    assert info["constraint_residual_max"] <= 1e-10
    assert 0.0 < abs(info["joint_positions"][0] - assembly[0]) <= 0.1
    _, still = gym.make(env.spec, reset_noise_scale=0.0).reset()
    assert still["joint_positions"][:3] == pytest.approx(assembly, abs=1e-9)


def test_of_more_motors_than_freedoms_the_first_ones_set_the_start(tmp_path):
    text = assets.path("four_bar").read_text()
    pivot = text.index('<joint name="pivot"')
    both = text[:pivot] + text[pivot:].replace(
        "</joint>", '<limit effort="1" velocity="1"/></joint>', 1
    )
    (tmp_path / "both.urdf").write_text(both)
    env = gym.make("vigym/Urdf-v0", urdf=str(tmp_path / "both.urdf"))
    starts = [env.reset(seed=seed)[1]["joint_positions"] for seed in range(5)]
    assert 0.05 < np.ptp(starts, axis=0)[0] <= 0.2
    assert env.reset(seed=0)[1]["constraint_residual_max"] <= 1e-10
    assert env.step(np.ones(2, dtype=np.float32))[4]["solver_converged"]
    assert [joint.name for joint in independent_joints(env.unwrapped.mechanism)] == ["drive"]
    named = independent_joints(env.unwrapped.mechanism, ["pivot"])
    assert [joint.name for joint in named] == ["pivot"]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("FourBar", {"speed": 0.0}),
        ("FourBar", {"period": np.inf}),
        ("MinitaurLeg", {"apex": -1.0}),
        ("Minitaur", {"friction": 0.0}),
        ("Minitaur", {"motor": "steam"}),
    ],
)
def test_options_out_of_range_are_refused(name, options):
    (option,) = options
    with pytest.raises(ValueError, match=f"option {option}: found"):
        gym.make(f"vigym/{name}-v0", **options)


def test_the_crank_goes_through_the_line_once_in_a_turn_both_ways():
    """Full torque one way, then the other: the sign of the transmission angle flips where the crank points away."""
    env = gym.make("vigym/FourBar-v0", reset_noise_scale=0.0)
    for push in (PUSH, -PUSH):
        _, before = env.reset()
        turned, flips = 0.0, 0
        for _ in range(100):
            _, _, _, _, now = env.step(push)
            assert now["constraint_residual_max"] <= 1e-10
            step = (
                np.remainder(now["crank_angle"] - before["crank_angle"] + np.pi, 2.0 * np.pi)
                - np.pi
            )
            line = abs(now["crank_angle"]) + 0.5 * abs(step) > np.pi - abs(step)
            flip = (before["transmission_angle"] > 0.0) != (now["transmission_angle"] > 0.0)
            assert line or not flip
            turned = turned + step
            flips = flips + flip
            before = now
        assert flips == round(abs(turned) / (2.0 * np.pi)) > 3
        assert np.sign(turned) == push[0]


def test_the_crank_s_command():
    env = gym.make("vigym/FourBar-v0", speed=3.0, period=2.0)
    _, info = env.reset(seed=0)
    assert env.observation_space.high[env.unwrapped.observation_names.index("command")] == 3.0
    for step in range(100):
        assert info["command"] == pytest.approx(3.0 * np.sin(np.pi * 0.02 * step), abs=1e-12)
        assert info["speed_error"] == info["crank_speed"] - info["command"]
        info = env.step(0.0 * PUSH)[4]
