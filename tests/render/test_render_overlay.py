"""Forces and energies over a picture: where they belong, as long as they should be, and only when asked for."""

import sys

import gymnasium as gym
import numpy as np
import pytest

from scenes.drawings import assembled, ball, chain
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.shapes import Box
from vigym.render.errors import RenderError
from vigym.render.make import make_renderer
from vigym.render.overlay.marks import ARROW, LONGEST, Marks, force_arrows, read_marks
from vigym.render.overlay.overlay import BAR_COLOURS, FORCE_COLOUR
from vigym.render.scene.camera import Camera
from vigym.render.scene.scene import Scene


def standing_box():
    """A box of 2 kg on its four corners, after it has come to rest."""
    mech = Mechanism(ground=True)
    shape = Box((0.4, 0.2, 0.2))
    mech.add_body("box", 2.0, (0.02, 0.02, 0.02), position=(0.0, 0.0, 0.1), shapes=[shape])
    mech.add_collision("hull", "box", shape)
    sim = Simulator(mech)
    sim.reset(place_on_ground=True)
    sim.step(substeps=20)
    return sim


def drawn(mech, marks, *bodies, camera=None):
    renderer = make_renderer(mech, "rgb_array", 160, 120, camera=camera)
    pictures = [renderer.render(*(bodies or assembled(mech)), *given) for given in ((), (marks,))]
    renderer.close()
    return pictures


def coloured(picture, colour):
    return (np.abs(picture.astype(int) - colour) < 25).all(axis=-1)


def test_the_contacts_of_a_box_carry_its_weight_at_its_corners():
    marks = read_marks(standing_box(), ("contacts",))
    assert marks.energies is None
    np.testing.assert_allclose(marks.forces.sum(axis=0), (0.0, 0.0, 2.0 * 9.81), atol=1e-6)
    np.testing.assert_allclose(np.abs(marks.points), np.tile((0.2, 0.1, 0.0), (4, 1)), atol=1e-6)


def test_forces_that_do_not_press_are_left_out():
    mech = ball(ground=True)
    mech.add_contact("foot", "ball", (0.0, 0.0, -0.5))
    marks = read_marks(Simulator(mech), ("contacts", "energy"))
    assert marks.forces.shape == marks.points.shape == (0, 3)
    assert marks.energies == {
        "kinetic": 0.0,
        "potential": pytest.approx(9.81),
        "total": pytest.approx(9.81),
    }
    assert read_marks(Simulator(mech), ()) is None


def test_marks_of_a_lane_are_those_of_the_same_single_one():
    mech = standing_box().mechanism
    many, one = Simulator(mech, batch=3), Simulator(mech)
    for sim, height in ((many, [0.3, 0.1, 0.2]), (one, 0.1)):
        sim.reset(base={"box": {"position": np.multiply.outer(height, (0.0, 0.0, 1.0))}})
        sim.step(substeps=5)
    (ours, theirs) = (
        read_marks(many, ("contacts", "energy"), lane=1),
        read_marks(one, ("contacts", "energy")),
    )
    assert len(theirs.forces) > 0
    assert np.array_equal(ours.forces, theirs.forces)
    assert np.array_equal(ours.points, theirs.points)
    assert ours.energies == theirs.energies


def test_an_arrow_runs_from_the_contact_along_the_force():
    mech = ball(ground=True)
    camera = Camera(target=(0.0, 0.0, 0.5), distance=8.0, azimuth=-np.pi / 2, elevation=0.01)
    weight = 9.81
    marks = Marks(forces=np.array([[0.0, 0.0, weight]]), points=np.array([[1.2, 0.0, 0.0]]))
    scene = Scene(mech, camera, 160, 120)
    plain, marked = drawn(mech, marks, camera=camera)
    rows, columns = np.nonzero(coloured(marked, FORCE_COLOUR))
    assert not coloured(plain, FORCE_COLOUR).any()
    ends = (
        np.array([[1.2, 0.0, 0.0, 1.0], [1.2, 0.0, ARROW * scene.size, 1.0]]) @ scene.view.matrix.T
    )
    x, y = ((ends[:, :2] / ends[:, 3:] * [1.0, -1.0] + 1.0) / 2 * [160, 120]).T
    assert abs(columns.mean() + 0.5 - x[0]) < 1.0
    assert abs(rows.max() + 1 - y[0]) < 2.0
    assert abs(rows.min() - y[1]) < 4.0  # the point of the head is thin


def test_arrows_go_with_a_camera_that_follows():
    mech = ball(ground=True)
    marks = Marks(forces=np.array([[0.0, 0.0, 9.81]]), points=np.array([[0.0, 0.0, 0.0]]))
    here = drawn(mech, marks)[1]
    positions, orientations = assembled(mech)
    tile = Scene(mech, Camera(), 160, 120).floor.tile
    way = np.array([4 * tile, 2 * tile, 0.0])
    there = drawn(
        mech, Marks(forces=marks.forces, points=marks.points + way), positions + way, orientations
    )[1]
    assert coloured(here, FORCE_COLOUR).sum() > 30
    assert np.array_equal(coloured(here, FORCE_COLOUR), coloured(there, FORCE_COLOUR))


@pytest.mark.parametrize("point", [(0.0, 0.0, 50.0), (0.0, -300.0, 0.0), (1e6, 1e6, 0.0)])
def test_arrows_out_of_sight_draw_nothing(point):
    mech = ball(gravity=(0.0, 0.0, 0.0))
    camera = Camera(target=(0.0, 0.0, 1.0), distance=8.0, azimuth=-np.pi / 2, elevation=0.1)
    marked = drawn(
        mech, Marks(forces=np.array([[0.0, 0.0, 1.0]]), points=np.array([point])), camera=camera
    )[1]
    assert not coloured(marked, FORCE_COLOUR).any()


def test_arrows_have_the_length_of_the_force_over_the_weight():
    forces = np.array([[0.0, 0.0, 10.0], [0.0, 5.0, 0.0], [1e4, 0.0, 0.0]])
    lengths = np.linalg.norm(force_arrows(forces, 10.0, 2.0), axis=1)
    np.testing.assert_allclose(lengths, (2.0 * ARROW, ARROW, 2.0 * LONGEST))
    weightless = np.linalg.norm(force_arrows(forces[:2], 0.0, 2.0), axis=1)
    np.testing.assert_allclose(weightless, (2.0 * ARROW, ARROW))
    assert force_arrows(np.zeros((0, 3)), 0.0, 2.0).shape == (0, 3)


def test_bars_are_as_long_as_the_energies_and_share_a_scale_that_grows():
    mech = chain(1)
    renderer = make_renderer(mech, "rgb_array", 640, 480)
    bodies = assembled(mech)

    def areas(kinetic, potential):
        marks = Marks(
            energies={"kinetic": kinetic, "potential": potential, "total": kinetic + potential}
        )
        picture = renderer.render(*bodies, marks)
        return [coloured(picture[:100, :300], colour).sum() for colour in BAR_COLOURS[:2]]

    kinetic, potential = areas(2.0, -4.0)
    assert potential == pytest.approx(2 * kinetic, rel=0.1)
    assert areas(4.0, -2.0)[0] == pytest.approx(potential, rel=0.1)
    areas(40.0, 0.0)
    assert areas(20.0, 0.0)[0] == pytest.approx(kinetic, rel=0.1)
    renderer.close()


def test_an_overlay_leaves_the_rest_of_the_picture_alone():
    plain, marked = drawn(
        chain(2), Marks(energies={"kinetic": 1.0, "potential": -1.0, "total": 0.0})
    )
    assert np.array_equal(plain[60:], marked[60:])
    assert not np.array_equal(plain[:60], marked[:60])
    assert marked.flags.writeable


def test_environments_have_the_option():
    env = gym.make(
        "vigym/MinitaurLeg-v0", render_mode="rgb_array", overlay=("energy", "contacts")
    ).unwrapped
    plain = gym.make("vigym/MinitaurLeg-v0", render_mode="rgb_array").unwrapped
    for made in (env, plain):
        made.reset(seed=0)
        for _ in range(10):  # it starts a little above the ground
            made.step(np.zeros(2, dtype=np.float32))
    assert env.sim.contacts.force.any()
    assert coloured(env.render(), FORCE_COLOUR).any()
    assert not coloured(plain.render(), FORCE_COLOUR).any()
    env.close(), plain.close()
    for given, kinds in (
        ("energy", ("energy",)),
        ("energy,contacts", ("energy", "contacts")),
        ([], ()),
    ):
        assert gym.make("vigym/Pendulum-v0", overlay=given).unwrapped.overlay == kinds


def test_vectors_of_environments_have_the_option():
    many = gym.make_vec(
        "vigym/Pendulum-v0", 2, render_mode="rgb_array", width=160, height=120, overlay="energy"
    )
    many.reset(seed=0)
    many.step(np.zeros((2, 1), dtype=np.float32))
    one = gym.make(
        "vigym/Pendulum-v0", render_mode="rgb_array", width=160, height=120, overlay="energy"
    )
    one.reset(seed=0)
    one.step(np.zeros(1, dtype=np.float32))
    assert np.array_equal(many.render()[0], one.render())
    many.close(), one.close()


@pytest.mark.parametrize("overlay", ["heat", "", "energy,", ("contacts", "heat"), 3, None, (1,)])
def test_unknown_overlays_are_refused(overlay):
    with pytest.raises(
        ValueError, match="option overlay: found .* expected a tuple of names out of"
    ):
        gym.make("vigym/Pendulum-v0", overlay=overlay)


def test_a_window_shows_no_overlay():
    with pytest.raises(ValueError, match="option overlay: found 'energy', expected none"):
        gym.make("vigym/Pendulum-v0", render_mode="human", overlay="energy")


def test_without_pillow_the_error_tells_what_is_missing(monkeypatch):
    for name in ("PIL", "vigym.render.overlay.overlay"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(RenderError, match="pip install pillow"):
        drawn(chain(1), Marks(energies={"kinetic": 1.0}))
