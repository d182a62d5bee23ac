"""The gait on skates: its rates against the motion of links, its speed against that in closed form."""

import gymnasium as gym
import numpy as np
import pytest

import vigym  # noqa: F401  registers the environments
from vigym.control.skating import INTEGRATION_STEPS, Skating
from vigym.envs.tasks import snake
from vigym.evaluation.evaluate import evaluate

LINK = snake.LENGTH


def bessel(x):
    """J0, the mean of cos(x sin)."""
    return float(np.cos(x * np.sin(np.linspace(0.0, np.pi, 1001)[:-1])).mean())


def middles(head, angles):
    """Middles of the links (n, 2), of the head's middle and all angles."""
    headings = np.cumsum(angles)
    axes = LINK / 2.0 * np.stack((np.cos(headings), np.sin(headings)), axis=1)
    steps = np.concatenate(([head], -axes[:-1] - axes[1:]))
    return np.cumsum(steps, axis=0)


def test_at_its_rates_no_link_slips_sideways_and_the_head_has_the_speed_asked_for():
    rng = np.random.default_rng(0)
    gait = Skating(1.0, LINK, 0.04, speed=0.5, turn=0.7, ramp=2.0)
    tiny = 1e-6
    for time in (0.5, 1.7, 4.3):
        angles = rng.uniform(-0.6, 0.6, 9)
        rates, part = gait.rates(time, angles), min(time / 2.0, 1.0)
        speed = 0.5 * part * part * (3.0 - 2.0 * part)
        ahead = speed * np.array([np.cos(angles[0]), np.sin(angles[0])])
        before, after = (middles(s * tiny * ahead, angles + s * tiny * rates) for s in (-1.0, 1.0))
        headings = np.cumsum(angles)
        velocity = (after - before) / (2.0 * tiny)
        sideways = -velocity[:, 0] * np.sin(headings) + velocity[:, 1] * np.cos(headings)
        np.testing.assert_allclose(sideways, 0.0, atol=1e-8)
        assert velocity[0] @ [np.cos(headings[0]), np.sin(headings[0])] == pytest.approx(
            speed, abs=1e-8
        )


def test_on_skates_it_goes_by_the_speed_in_closed_form_and_prescribed_waves_jam():
    scored = evaluate("vigym/Snake-v0", "skating", episodes=8, options={"skates": True})
    grown = (20.0 - 0.5 * 3.0) / 20.0  # of the episode, 20 s, half the ramp counts
    for row in scored.rows:
        assert row.speed == pytest.approx(0.65 * bessel(0.6) * grown, rel=0.03)
        assert row.constraint_residual < 1e-9
    assert scored.column("power").max() < 1.5
    jammed = evaluate("vigym/Snake-v0", "lateral_undulation", episodes=8, options={"skates": True})
    assert jammed.column("speed").max() < 0.5 * scored.column("speed").min()


def test_it_drives_snakes_with_friction_too_with_less_power_than_waves():
    skating, waves = (
        evaluate("vigym/Snake-v0", name, episodes=2) for name in ("skating", "lateral_undulation")
    )
    assert skating.column("speed").min() > 0.9 * waves.column("speed").mean()
    assert skating.column("power").max() < 0.7 * waves.column("power").mean()


def test_a_batch_is_as_each_by_itself_and_a_new_episode_starts_afresh():
    envs = gym.make_vec("vigym/Snake-v0", num_envs=3, skates=True)
    together, alone = (Skating(snake.ACTION_SCALE, LINK, envs.unwrapped.dt) for _ in range(2))
    for _ in range(2):
        observations, infos = envs.reset(seed=4)
        actions = []
        for _ in range(30):
            actions.append(together(observations, infos))
            observations, _, _, _, infos = envs.step(actions[-1])
        env = gym.make("vigym/Snake-v0", skates=True)
        observation, info = env.reset(seed=5)
        for action in actions:
            np.testing.assert_array_equal(action[1], alone(observation, info))
            observation, _, _, _, info = env.step(action[1])


def test_parts_of_a_step_are_fine_enough():
    """Half as long ones give the same angles to 1e-3 rad after a second."""
    coarse, fine = (Skating(1.0, LINK, step) for step in (0.04, 0.02))
    angles = [np.concatenate(([0.0], 0.1 * np.sin(np.arange(8.0)))) for _ in range(2)]
    for k, gait in enumerate((coarse, fine)):
        h = gait.step / INTEGRATION_STEPS
        for n in range(round(1.0 / h)):
            middle = angles[k] + 0.5 * h * gait.rates(3.0 + n * h, angles[k])
            angles[k] = angles[k] + h * gait.rates(3.0 + (n + 0.5) * h, middle)
    np.testing.assert_allclose(*angles, atol=1e-3)
