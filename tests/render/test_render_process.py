"""Renderers as citizens of a process: same input, same picture; forks, noise, memory and errors."""

import math
import multiprocessing

import numpy as np
import pytest

from scenes.drawings import assembled, ball, chain, picture_of, poses
from vigym import assets, load_urdf
from vigym.mechanism.mechanism import Mechanism
from vigym.render.backends import software
from vigym.render.make import make_renderer
from vigym.render.scene.camera import Camera


def test_pictures_are_fresh_and_depend_on_nothing_but_the_poses():
    mech = load_urdf(assets.path("cartpole"))
    some, others = poses(mech, lambda joint: 0.3), poses(mech, lambda joint: -1.1)
    renderer = make_renderer(mech, "rgb_array", 96, 96)
    first = renderer.render(*some)
    kept = first.copy()
    renderer.render(*others)
    assert np.array_equal(first, kept)
    again = renderer.render(*some)
    assert again is not first
    assert np.array_equal(again, first)
    renderer.close()
    assert np.array_equal(picture_of(mech, *some), first)


def test_the_cut_out_rectangle_changes_nothing(monkeypatch):
    mech = chain(3)
    bodies = poses(mech, lambda joint: 0.7)
    cut = picture_of(mech, *bodies)
    monkeypatch.setattr(
        software, "bounding_rectangle", lambda view, corners: (0, 0, view.width, view.height)
    )
    assert np.array_equal(picture_of(mech, *bodies), cut)


def _child(renderer, bodies, expected, answer):
    same = np.array_equal(renderer.render(*bodies), expected)
    renderer.close()
    answer.send(same)


@pytest.mark.parametrize("drawn_before", [True, False])
def test_a_forked_process_draws_with_the_parents_renderer(drawn_before):
    mech = chain(2)
    bodies = assembled(mech)
    expected = picture_of(mech)
    renderer = make_renderer(mech, "rgb_array", 96, 96)
    if drawn_before:
        renderer.render(*bodies)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=_child, args=(renderer, bodies, expected, theirs))
    child.start()
    assert ours.poll(60)
    assert ours.recv()
    child.join(60)
    assert child.exitcode == 0
    assert np.array_equal(renderer.render(*bodies), expected)
    renderer.close()


def test_closing_twice_is_fine_and_drawing_starts_anew():
    mech = chain(1)
    renderer = make_renderer(mech, "rgb_array", 96, 96)
    renderer.close()
    first = renderer.render(*assembled(mech))
    renderer.close()
    renderer.close()
    assert np.array_equal(renderer.render(*assembled(mech)), first)
    renderer.close()


def test_nothing_is_printed_and_pictures_do_without_pybullet(run_python):
    code = """
import sys
import numpy as np
from vigym.mechanism.mechanism import Mechanism
from vigym.render.make import make_renderer
mech = Mechanism()
mech.add_body("b", 1.0, (1.0, 1.0, 1.0))
renderer = make_renderer(mech, "rgb_array", 32, 32)
renderer.render(np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]))
renderer.close()
assert "pybullet" not in sys.modules
"""
    done = run_python(code)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_empty_mechanism_is_an_empty_picture():
    picture = picture_of(Mechanism(), np.zeros((0, 3)), np.zeros((0, 4)))
    assert picture.shape == (96, 96, 3)
    assert picture.min() > 100


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"mode": "ansi"},
            "render mode: found 'ansi', expected one of .'rgb_array', 'depth_array', .* 'human', 'browser'",
        ),
        ({"width": 0}, "picture size: found 0 x 96, expected at least 1 x 1 pixels"),
        ({"height": 96.5}, "picture size: found 96 x 96.5, expected whole numbers of pixels"),
        ({"rate": 0.0}, "render rate: found 0.0"),
        ({"rate": math.nan}, "render rate: found nan"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        make_renderer(ball(), **{"mode": "rgb_array", "width": 96, "height": 96, **options})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": (0.0, 1.0)}, "camera target: found"),
        ({"target": (0.0, 1.0, math.inf)}, "camera target: found"),
        ({"distance": 0.0}, "camera distance"),
        ({"elevation": math.pi / 2}, "camera elevation"),
        ({"azimuth": math.nan}, "camera azimuth"),
        ({"field_of_view": math.pi}, "camera field_of_view"),
    ],
)
def test_wrong_cameras_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        Camera(**options)


def test_wrong_poses_are_refused_and_the_renderer_goes_on():
    mech = ball()
    positions, orientations = assembled(mech)
    renderer = make_renderer(mech, "rgb_array", 96, 96)
    first = renderer.render(positions, orientations)
    with pytest.raises(ValueError, match=r"positions: found shape \(2, 3\), expected \(1, 3\)"):
        renderer.render(np.zeros((2, 3)), orientations)
    with pytest.raises(ValueError, match=r"orientations: found shape \(4,\), expected \(1, 4\)"):
        renderer.render(positions, orientations[0])
    with pytest.raises(ValueError, match="positions: found nan or infinity"):
        renderer.render(positions * math.nan, orientations)
    assert np.array_equal(renderer.render(positions, orientations), first)
    renderer.close()
