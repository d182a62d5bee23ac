"""Search: methods on a plain function, bounds, merits of failures, batches of candidates, wrong input."""

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

from vigym.evaluation.evaluate import evaluate
from vigym.training.search import METHODS, Climb, Parameter, Search, search_parameters

SCRIPT = Path(__file__).parents[2] / "train" / "search.py"
PUSH = {"gain": Parameter(0.1, 0.5)}
PENDULUM = {"env_id": "vigym/Pendulum-v0", "options": {"max_episode_steps": 20}}


class Push:
    """Torque against the rate of the pendulum."""

    def __init__(self, gain=0.0, other=0.0):
        self.gain = gain

    def __call__(self, observation, info):
        return np.clip([-self.gain * observation[-1]], -1.0, 1.0)


def bowl(points):
    return [(True, -float(np.sum((point - 2.0) ** 2))) for point in points]


@pytest.mark.parametrize("method", METHODS)
def test_methods_climb(method):
    if method == "cma":
        pytest.importorskip("cma")
    found = METHODS[method](3, 8, np.random.default_rng(0))
    merits = []
    for _ in range(60):
        points = found.draw()
        assert points.shape == (8, 3)
        merits += bowl(points)
        found.learn(points, merits[-8:])
    assert merits[0][1] < -4.0
    assert max(merits)[1] > -0.1


def test_a_climb_begins_at_the_start_and_never_goes_to_a_failure():
    climb = Climb(2, 4, np.random.default_rng(0))
    assert climb.draw()[0].tolist() == [0.0, 0.0]
    climb.learn(np.zeros((1, 2)), [(True, 1.0)])
    climb.learn(np.full((2, 2), 50.0), [(False, 9.0), (True, 0.9)])
    assert np.abs(climb.draw()).max() < 10.0
    climb.learn(np.full((1, 2), 50.0), [(True, 1.1)])
    assert np.abs(climb.draw() - 50.0).max() < 10.0


def test_values_are_within_bounds_and_have_six_digits():
    parameter = Parameter(1.0, 2.0, lower=0.0, upper=4.0)
    assert [parameter.value(draw) for draw in (-3.0, 0.0, 0.123456789, 3.0)] == [
        0.0,
        1.0,
        1.24691,
        4.0,
    ]


def test_candidates_of_a_batch_score_as_they_do_alone():
    search = Search(
        controller="test_search:Push", parameters=PUSH, episodes=5, batch=3, seed=4, **PENDULUM
    )
    candidates = search_parameters(search)
    assert len(candidates) == 5
    assert candidates[0].parameters == {"gain": 0.1}
    for one in candidates:
        alone = evaluate(
            search.env_id, one.controller, seed=4, episodes=1, options=search.options
        ).rows[0]
        assert one.score == one.episode.return_ == alone.return_
        assert one.controller == f"test_search:Push,gain={one.parameters['gain']!r}"


def test_a_measure_may_be_small():
    common = {"controller": "test_search:Push", "parameters": PUSH, "episodes": 8, **PENDULUM}
    small, large = (Search(measure=measure, **common) for measure in ("-power", "power"))
    found = [max(search_parameters(each), key=lambda one: one.merit) for each in (small, large)]
    assert found[0].score == -found[0].episode.power
    assert found[0].episode.power < found[1].episode.power


def test_the_quadruped_learns_in_few_episodes():
    search = Search(
        env_id="vigym/Quadruped-v1",
        controller="sine_gait",
        measure="distance",
        episodes=16,
        seed=2,
        options={"max_episode_steps": 100},
    )
    candidates = search_parameters(search)
    best = max(candidates, key=lambda one: one.merit)
    assert best.score > candidates[0].score
    assert not any(one.episode.unconverged_steps for one in candidates)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"method": "walk"}, "method: found 'walk', expected one of"),
        ({"measure": "beauty"}, "measure: found 'beauty', expected one of"),
        ({"batch": 0}, "batch: found 0, expected 1 or more"),
        ({"parameters": {}}, "found none to search, expected parameters, or one that has them"),
    ],
)
def test_wrong_searches_are_refused(change, message):
    given = {"controller": "test_search:Push", "parameters": PUSH, **PENDULUM}
    with pytest.raises(ValueError, match=message):
        Search(**{**given, **change})


def test_a_measure_that_an_environment_has_not_is_refused():
    search = Search(
        controller="test_search:Push",
        parameters=PUSH,
        measure="distance",
        episodes=1,
        batch=1,
        **PENDULUM,
    )
    with pytest.raises(ValueError, match=r"measure: found no 'distance' in vigym/Pendulum-v0"):
        search_parameters(search)


@pytest.mark.parametrize("numbers", [(0.0, 0.0), (0.0, -1.0), (5.0, 1.0, 0.0, 4.0), (np.nan, 1.0)])
def test_wrong_parameters_are_refused(numbers):
    with pytest.raises(ValueError, match="parameter (spread|start): found"):
        Parameter(*numbers)


def test_a_missing_library_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "cma", None)
    with pytest.raises(ImportError, match="pip install cma"):
        METHODS["cma"](2, 8, np.random.default_rng(0))


def run(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["search.py", *arguments])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(SCRIPT), run_name="__main__")
    return ended.value.code


def test_the_script_prints_and_writes_what_it_found(monkeypatch, capsys, tmp_path):
    file = tmp_path / "found.json"
    arguments = ["vigym/Pendulum-v0", "-c", "test_search:Push", "-p", "gain=0.1:0.5:0:2"]
    more = ["-o", "max_episode_steps=20", "--episodes", "3", "--batch", "2", "--out", str(file)]
    assert run(monkeypatch, *arguments, *more) == 0
    printed = capsys.readouterr().out
    assert "3 episodes in" in printed
    assert "-c test_search:Push,gain=" in printed
    assert [0.0 <= one["parameters"]["gain"] <= 2.0 for one in json.loads(file.read_text())] == [
        True
    ] * 3


def test_the_script_refuses_parameters_that_are_no_numbers(monkeypatch, capsys):
    assert run(monkeypatch, "vigym/Pendulum-v0", "-c", "zero", "-p", "gain=much") == 2
    assert "expected NAME=START:SPREAD" in capsys.readouterr().err
