"""Plots of evaluations: panels and legends have room, whatever controllers are called."""

from dataclasses import replace
from itertools import combinations

import pytest
from matplotlib.figure import Figure

from vigym.evaluation.evaluate import evaluate
from vigym.evaluation.plots import TRACES, draw

LONG = "/home/someone/runs/Pendulum-v0-seed{}/checkpoints/best/model.safetensors"
TOLD = "pd{},target=-1.25"
SHORT = {"options": {"max_episode_steps": 5}, "traces": TRACES}


@pytest.fixture
def drawn(monkeypatch, tmp_path):
    """Return the figures that were drawn; their files stay empty."""
    monkeypatch.chdir(tmp_path)
    figures = []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *place, **more: figures.append(figure))
    return figures


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("count", "name"),
    [(1, LONG), (2, TOLD), (7, "zero"), (25, LONG)],
)
def test_panels_and_names_have_room(count, name, drawn):
    one = evaluate("vigym/Pendulum-v0", "zero", 2, **SHORT)
    draw([replace(one, controller=name.format(number)) for number in range(count)], "any.png")
    (figure,) = drawn
    figure.draw_without_rendering()
    assert len(figure.axes) == 4 + count
    for ax in figure.axes:
        box = ax.get_window_extent()
        assert box.width > 0.17 * figure.bbox.width
        assert box.height > 200.0
        assert figure.bbox.x0 < ax.title.get_window_extent().x0
        assert ax.title.get_window_extent().x1 < figure.bbox.x1
    labels = [label.get_window_extent() for label in figure.axes[0].get_xticklabels()]
    titles = [ax.title.get_window_extent() for ax in figure.axes]
    legend = figure.subfigs[0].legends[0]
    places = [*labels, *titles, legend.get_window_extent()]
    assert not any(first.overlaps(second) for first, second in combinations(places, 2))
    assert len(legend.get_texts()) == count
    assert not any(ax.get_legend() for ax in figure.axes[:4])


@pytest.mark.parametrize(("episodes", "spreads"), [(1, 0), (2, 1)])
def test_one_episode_has_no_spread(episodes, spreads, drawn):
    draw([evaluate("vigym/Pendulum-v0", "zero", episodes, **SHORT)], "any.png")
    returns = drawn[0].axes[0]
    assert len(returns.containers) == spreads
    assert ("std" in returns.get_title()) == bool(spreads)


def test_coordinates_that_are_quaternions_are_told(drawn):
    for env_id in ("vigym/Pendulum-v0", "vigym/Exoskeleton-v0"):
        draw([evaluate(env_id, "zero", 1, **SHORT)], "any.png")
    units = [figure.axes[1].get_ylabel() for figure in drawn]
    assert units == ["rad, m", "rad, m; ball joints: quaternions"]


def test_iterations_of_a_control_step_are_those_of_its_physics_steps():
    settings = {"options": {"frame_skip": 5, "max_episode_steps": 4}}
    steps = evaluate("vigym/Acrobot-v0", "zero", 1, **settings).rows[0]
    settings = {"options": {"frame_skip": 1, "max_episode_steps": 20}}
    parts = evaluate("vigym/Acrobot-v0", "zero", 1, **settings).rows[0]
    assert steps.solver_iterations == 5 * parts.solver_iterations
