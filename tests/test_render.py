"""Pictures of mechanisms: the bodies are where they should be, well seen, and nothing of the process suffers."""

import math
import multiprocessing
import subprocess
import sys

import numpy as np
import pytest

from vigym import assets, load_urdf
from vigym.mechanism.graph import spanning_tree
from vigym.mechanism.mechanism import Mechanism
from vigym.mechanism.parts import WORLD
from vigym.mechanism.shapes import Box, Mesh, Sphere
from vigym.render import software
from vigym.render.bullet import RenderError, bullet
from vigym.render.camera import Camera
from vigym.render.pose import matrix, product
from vigym.render.scene import Scene, make_renderer

RED = (0.9, 0.1, 0.1, 1.0)


def assembled(mech):
    bodies = mech.bodies.values()
    return np.array([body.position for body in bodies]), np.array([body.orientation for body in bodies])


def poses(mech, coordinate):
    """Poses of the bodies when every joint with one freedom is at `coordinate`(joint)."""
    moved = {WORLD: (np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]))}
    for joint, child in spanning_tree(mech):
        shift, turn = moved[joint.parent]
        step, q = np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])
        if joint.prototype.rotations:
            half = coordinate(joint) / 2
            q = np.concatenate(([math.cos(half)], math.sin(half) * joint.axis))
            step = joint.position - matrix(q) @ joint.position
        elif joint.prototype.translations:
            step = coordinate(joint) * joint.axis
        moved[child] = shift + matrix(turn) @ step, product(turn, q)
    bodies = [(body, *moved[name]) for name, body in mech.bodies.items()]
    positions = [shift + matrix(turn) @ body.position for body, shift, turn in bodies]
    return np.array(positions), np.array([product(turn, body.orientation) for body, _, turn in bodies])


def ball(position=(0.0, 0.0, 1.0), **options):
    mech = Mechanism(**options)
    mech.add_body("ball", 1.0, (0.1, 0.1, 0.1), position=position, shapes=[Sphere(radius=0.5, rgba=RED)])
    return mech


def chain(links):
    mech = Mechanism()
    for i in range(links):
        mech.add_body(f"link{i}", 1.0, (0.1, 0.1, 0.01), position=(0.0, 0.0, -0.5 - i))
        parent = WORLD if i == 0 else f"link{i - 1}"
        mech.add_joint(f"hinge{i}", "revolute", parent, f"link{i}", (0.0, 0.0, -float(i)), axis=(0.0, 1.0, 0.0))
    return mech


def picture_of(mech, positions=None, orientations=None, **options):
    if positions is None:
        positions, orientations = assembled(mech)
    renderer = make_renderer(mech, "rgb_array", **{"width": 96, "height": 96, **options})
    try:
        return renderer.render(positions, orientations)
    finally:
        renderer.close()


def reddish(picture):
    red, green, blue = np.moveaxis(picture.astype(int), -1, 0)
    return (red > green + 60) & (red > blue + 60)


# What is in the picture


def test_a_ball_is_a_disc_in_the_middle_on_a_bright_ground():
    picture = picture_of(ball(gravity=(0.0, 0.0, 0.0)))
    assert picture.shape == (96, 96, 3)
    assert picture.dtype == np.uint8
    disc = reddish(picture)
    rows, columns = np.nonzero(disc)
    assert np.allclose([rows.mean(), columns.mean()], 47.5, atol=1.0)
    width, height = np.ptp(columns) + 1, np.ptp(rows) + 1
    assert abs(width - height) <= 2
    assert 0.4 * 96 < width < 0.9 * 96
    assert abs(disc.sum() - math.pi / 4 * width * height) < 0.06 * width * height
    assert picture[~disc].min() > 100  # the background is never dark


@pytest.mark.parametrize("shift", [(0.3, 0.0, 0.0), (0.0, 0.0, 0.3), (0.0, -0.3, -0.2)])
def test_bodies_are_drawn_where_the_camera_projects_them(shift):
    mech = ball(gravity=(0.0, 0.0, 0.0))
    camera = Camera(target=(0.0, 0.0, 1.0), distance=8.0, azimuth=-0.8, elevation=0.4)
    positions, orientations = assembled(mech)
    picture = picture_of(mech, positions + shift, orientations, camera=camera)
    eye = 8.0 * np.array([math.cos(-0.8) * math.cos(0.4), math.sin(-0.8) * math.cos(0.4), math.sin(0.4)])
    ahead, right = -eye / 8.0, np.array([-math.sin(-0.8), math.cos(-0.8), 0.0])
    ray = np.array(shift) - eye
    focal = 48.0 / math.tan(camera.field_of_view / 2) / (ray @ ahead)
    expected = 47.5 - focal * (ray @ np.cross(right, ahead)), 47.5 + focal * (ray @ right)
    assert np.allclose(np.mean(np.nonzero(reddish(picture)), axis=1), expected, atol=0.5)


def test_orientations_turn_the_shapes():
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("bar", 1.0, (0.1, 0.1, 0.1), shapes=[Box((2.0, 0.2, 0.2), rgba=RED)])
    camera = Camera(distance=6.0, azimuth=-math.pi / 2, elevation=0.01)
    for turn, long_axis in (((1.0, 0.0, 0.0, 0.0), 1), ((math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0), 0)):
        places = np.nonzero(reddish(picture_of(mech, np.zeros((1, 3)), np.array([turn]), camera=camera)))
        spans = [np.ptp(place) for place in places]
        assert spans[long_axis] > 5 * spans[1 - long_axis]


def test_a_shape_keeps_its_pose_in_the_body():
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    offset = Sphere(radius=0.1, position=(0.6, 0.0, 0.0), rgba=RED)
    mech.add_body("body", 1.0, (0.1, 0.1, 0.1), shapes=[offset, Sphere(radius=0.3, rgba=(0.1, 0.1, 0.9, 1.0))])
    camera = Camera(target=(0.0, 0.0, 0.0), distance=5.0, azimuth=-math.pi / 2, elevation=0.01)
    quarter = np.array([[math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0]])  # about y: x goes to -z
    row, column = np.mean(np.nonzero(reddish(picture_of(mech, np.zeros((1, 3)), quarter, camera=camera))), axis=1)
    assert row > 60
    assert abs(column - 47.5) < 1.0


def test_shapes_of_the_world_stand_still():
    mech = ball(gravity=(0.0, 0.0, 0.0))
    mech.add_world_shape(Box((0.2, 0.2, 0.2), position=(0.0, 0.0, -1.0), rgba=(0.1, 0.7, 0.1, 1.0)))
    camera = Camera(target=(0.0, 0.0, 0.0), distance=8.0)
    positions, orientations = assembled(mech)
    places = []
    for shift in (0.0, 0.5):
        picture = picture_of(mech, positions + [shift, 0.0, 0.0], orientations, camera=camera).astype(int)
        places.append((picture[..., 1] > picture[..., 0] + 40) & (picture[..., 1] > picture[..., 2] + 40))
    assert places[0].any()
    assert np.array_equal(*places)


def test_bodies_without_shapes_are_drawn_between_their_joints():
    mech = chain(2)
    positions, orientations = poses(mech, lambda joint: 0.9)
    with_bodies = picture_of(mech, positions, orientations).astype(int)
    elsewhere = picture_of(mech, *poses(mech, lambda joint: -0.9)).astype(int)
    scene = Scene(mech, Camera(), 96, 96)
    ends = np.array([positions[0] * 2, positions[0], positions[1]])  # the elbow and both centres of mass
    clip = np.column_stack((ends, np.ones(3))) @ scene.view.matrix.T
    columns, rows = ((clip[:, :2] / clip[:, 3:] * [1, -1] + 1) * 48).astype(int).T
    assert (np.abs(with_bodies - elsewhere)[rows, columns].max(axis=1) > 60).all()


def test_a_free_body_without_shapes_is_the_box_of_its_inertia():
    size, mass = np.array([0.3, 0.5, 1.1]), 2.0
    moments = mass / 12 * (np.sum(size**2) - size**2)
    mech = Mechanism()
    mech.add_body("box", mass, moments)
    (piece,) = Scene(mech, Camera(), 8, 8).pieces
    assert np.allclose(np.sort(np.ptp(piece.corners, axis=0)), size)
    assert np.allclose(np.ptp(piece.surface.vertices, axis=0), size)


# Floor and shadow


def test_the_ground_hides_what_is_below_it():
    mech = ball(position=(0.0, 0.0, 0.0), ground=True)
    camera = Camera(target=(0.0, 0.0, 0.0), distance=100.0, elevation=0.5, field_of_view=0.012)
    free = ball(position=(0.0, 0.0, 0.0), gravity=(0.0, 0.0, 0.0))
    half, whole = (reddish(picture_of(kind, camera=camera)) for kind in (mech, free))
    assert not (half & ~whole).any()
    seen = half.sum() / whole.sum()
    assert seen == pytest.approx((1 + math.sin(0.5)) / 2, abs=0.01)  # a half ball, rays nearly parallel


def test_a_ball_throws_a_shadow_on_the_ground():
    mech = ball(ground=True)
    camera = Camera(target=(0.0, 0.0, 0.5), distance=8.0, elevation=0.6)
    positions, orientations = assembled(mech)
    here = picture_of(mech, positions, orientations, camera=camera).astype(int)
    away = picture_of(mech, positions + [50.0, 0.0, 0.0], orientations, camera=camera).astype(int)
    darker = (away - here).min(axis=-1) > 20
    assert (darker & ~reddish(here)).sum() > 60
    assert not reddish(away).any()


def test_a_tilted_ground_is_drawn():
    from vigym.mechanism.parts import Ground

    mech = ball(ground=Ground(height=0.0, normal=(0.5, 0.0, 1.0)))
    picture = picture_of(mech)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50
    assert reddish(picture).any()


# The view


def test_the_camera_follows_what_floats():
    free = ball(gravity=(0.0, 0.0, 0.0))
    positions, orientations = assembled(free)
    first = picture_of(free, positions, orientations)
    assert np.array_equal(first, picture_of(free, positions + [64.0, -32.0, 16.0], orientations))
    grounded = ball(position=(0.0, 0.0, 0.5), ground=True)
    positions, orientations = assembled(grounded)
    tile = Scene(grounded, Camera(), 96, 96).floor.tile
    here = picture_of(grounded, positions, orientations).astype(int)
    glided = picture_of(grounded, positions + [8 * tile, 4 * tile, 0.0], orientations).astype(int)
    half = picture_of(grounded, positions + [tile, 0.0, 0.0], orientations).astype(int)
    assert np.abs(here - glided).max() <= 3
    assert np.abs(here - half).max() > 15  # bright squares have become dark ones
    assert reddish(picture_of(grounded, positions + [0.0, 0.0, 30.0], orientations)).any()


@pytest.mark.parametrize("name", assets.names())
@pytest.mark.parametrize("size", [(480, 480), (640, 360)])
def test_robots_stay_inside_the_picture_and_fill_it(name, size):
    mech = load_urdf(assets.path(name))
    scene = Scene(mech, Camera(), *size)
    world = np.array([piece.body == len(mech.bodies) for piece in scene.pieces]).repeat(8)
    spans = []
    for value in np.linspace(-math.pi, math.pi, 13):
        # sliding joints along their whole travel, hinges all the way round
        bodies = poses(mech, lambda joint, v=value: v if joint.prototype.rotations else v / 4)
        corners = scene.corners(*scene.place(*bodies))[~world] - scene.shifts(bodies[0])[0]
        left, top, width, height = software.rectangle(scene.view, corners)
        assert left > 0
        assert top > 0
        assert left + width < size[0]
        assert top + height < size[1]
        spans.append(max(width, height))
    assert max(spans) > 0.25 * min(size)


@pytest.mark.parametrize("name", assets.names())
def test_robots_have_pictures(name):
    mech = load_urdf(assets.path(name))
    renderer = make_renderer(mech, "rgb_array", 120, 90)
    up, down = (renderer.render(*poses(mech, lambda joint, v=value: v)) for value in (0.2, 2.8))
    renderer.close()
    assert up.shape == down.shape == (90, 120, 3)
    assert (np.abs(up.astype(int) - down.astype(int)).max(axis=-1) > 40).sum() > 50


# Same input, same picture; whatever happened before


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
    monkeypatch.setattr(software, "rectangle", lambda view, corners: (0, 0, view.width, view.height))
    assert np.array_equal(picture_of(mech, *bodies), cut)


def test_a_pybullet_without_numpy_gives_the_same_picture(monkeypatch):
    mech = ball(ground=True)
    monkeypatch.setattr(software, "SAMPLES", 1)
    expected = picture_of(mech)
    p = bullet()
    arrays = p.getCameraImage

    def tuples(*args, **options):
        width, height, *images = arrays(*args, **options)
        return width, height, *(tuple(np.ravel(image).tolist()) for image in images)

    monkeypatch.setattr(p, "getCameraImage", tuples)
    monkeypatch.setattr(p, "isNumpyEnabled", lambda: 0)
    monkeypatch.setattr(software, "SAMPLES", 2)
    assert np.array_equal(picture_of(mech), expected)


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


# Manners


def test_closing_twice_is_fine_and_drawing_starts_anew():
    mech = chain(1)
    renderer = make_renderer(mech, "rgb_array", 96, 96)
    renderer.close()
    first = renderer.render(*assembled(mech))
    renderer.close()
    renderer.close()
    assert np.array_equal(renderer.render(*assembled(mech)), first)
    renderer.close()


def test_forgotten_renderers_give_their_client_back():
    p, mech = bullet(), chain(1)
    renderer = make_renderer(mech, "rgb_array", 16, 16)
    renderer.render(*assembled(mech))
    client = renderer._stage.client()
    assert p.isConnected(client)
    del renderer
    assert not p.isConnected(client)


def test_nothing_is_printed_and_pybullet_comes_with_the_first_picture(tmp_path):
    code = """
import sys
import numpy as np
from vigym.mechanism.mechanism import Mechanism
from vigym.render.scene import make_renderer
mech = Mechanism()
mech.add_body("b", 1.0, (1.0, 1.0, 1.0))
renderer = make_renderer(mech, "rgb_array", 32, 32)
assert "pybullet" not in sys.modules
renderer.render(np.zeros((1, 3)), np.array([[1.0, 0.0, 0.0, 0.0]]))
renderer.close()
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_an_empty_mechanism_is_an_empty_picture():
    picture = picture_of(Mechanism(), np.zeros((0, 3)), np.zeros((0, 4)))
    assert picture.shape == (96, 96, 3)
    assert picture.min() > 100


# Errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mode": "ansi"}, "render mode: found 'ansi', expected 'rgb_array' or 'human'"),
        ({"width": 0}, "picture size: found 0 x 96, expected at least 1 x 1 pixels"),
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


def with_mesh(path):
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("body", 1.0, (1.0, 1.0, 1.0), shapes=[Mesh(path, scale=(2.0, 1.0, 1.0), rgba=RED)])
    return mech


def test_meshes_are_measured_and_drawn(tmp_path):
    file = tmp_path / "tetrahedron.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    mech = with_mesh(file)
    (piece,) = Scene(mech, Camera(), 8, 8).pieces
    assert np.allclose(piece.corners.min(axis=0), 0.0)
    assert np.allclose(piece.corners.max(axis=0), (2.0, 1.0, 1.0))
    picture = reddish(picture_of(mech))
    assert 0.05 < picture.mean() < 0.6
    assert not picture[[0, -1]].any()
    assert not picture[:, [0, -1]].any()


def test_meshes_that_cannot_be_read_are_named(tmp_path, capfd):
    with pytest.raises(RenderError, match="nowhere.obj': found no such file"):
        make_renderer(with_mesh(tmp_path / "nowhere.obj"), "rgb_array")
    wrong = tmp_path / "mesh.doc"
    wrong.write_text("no mesh")
    with pytest.raises(RenderError, match=r"mesh.doc': pybullet cannot read it: [^$]*extension"):
        make_renderer(with_mesh(wrong), "rgb_array")
    assert capfd.readouterr() == ("", "")
