"""Controllers of robots with loops reach the goals of their tasks, from several starts."""

import gymnasium as gym
import numpy as np
import pytest

import vigym

EPISODES = 2


@pytest.mark.parametrize(
    ("name", "share"), [("Delta", 0.88), ("Stewart", 0.94), ("Excavator", 0.82), ("Gripper", 0.95)]
)
@pytest.mark.parametrize("seed", [100, 200])
def test_inverse_kinematics_follow_a_command(name, share, seed):
    scores = vigym.evaluate(f"vigym/{name}-v0", "inverse", EPISODES, seed)
    assert (scores.column("return_") >= share * scores.column("length")).all()
    assert scores.unconverged_episodes == 0


# share of the largest reward, which is that of each control step
@pytest.mark.parametrize(
    ("name", "controller", "share", "largest"),
    [
        ("Engine", "governor", 0.8, 1.0),
        ("WheelLeg", "balance", 0.9, 1.5),  # of speed and height
        ("Cassie", "stand", 0.8, 1.5),  # of height and uprightness
        ("Biped", "squat", 0.95, 0.6),  # of heading and uprightness
    ],
)
def test_controllers_do_what_is_asked_for_without_a_fall(name, controller, share, largest):
    scores = vigym.evaluate(f"vigym/{name}-v0", controller, EPISODES, 100)
    steps = gym.spec(f"vigym/{name}-v0").max_episode_steps
    assert (scores.column("length") == steps).all()
    assert (scores.column("return_") >= share * largest * steps).all()
    assert scores.unconverged_episodes == 0


def test_a_steady_crank_walks_at_the_speed_that_is_asked_for():
    scores = vigym.evaluate("vigym/Jansen-v0", "steady", EPISODES, 100)
    assert scores.column("speed") == pytest.approx(np.full(EPISODES, 0.6), rel=0.05)
    assert (scores.column("cost_of_transport") < 0.15).all()
    assert scores.unconverged_episodes == 0
