"""Controllers of robots with loops reach the goals of their tasks, from several starts."""

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


def test_a_governor_runs_an_engine_at_the_speed_that_is_asked_for():
    scores = vigym.evaluate("vigym/Engine-v0", "governor", EPISODES, 100)
    assert (scores.column("return_") >= 0.8 * scores.column("length")).all()
    assert scores.unconverged_episodes == 0


def test_balanced_wheels_drive_at_the_speed_and_height_that_are_asked_for():
    scores = vigym.evaluate("vigym/WheelLeg-v0", "balance", EPISODES, 100)
    assert (scores.column("length") == 400).all()  # no fall
    largest = (1.0 + 0.5) * 400  # of speed and height
    assert (scores.column("return_") >= 0.9 * largest).all()
    assert scores.unconverged_episodes == 0


def test_a_biped_stands_and_squats_at_the_height_that_is_asked_for():
    scores = vigym.evaluate("vigym/Cassie-v0", "stand", EPISODES, 100)
    assert (scores.column("length") == 400).all()  # no fall
    largest = (1.0 + 0.5) * 400  # of height and uprightness
    assert (scores.column("return_") >= 0.8 * largest).all()
    assert scores.unconverged_episodes == 0


def test_a_steady_crank_walks_at_the_speed_that_is_asked_for():
    scores = vigym.evaluate("vigym/Jansen-v0", "steady", EPISODES, 100)
    assert scores.column("speed") == pytest.approx(np.full(EPISODES, 0.6), rel=0.05)
    assert (scores.column("cost_of_transport") < 0.15).all()
    assert scores.unconverged_episodes == 0
