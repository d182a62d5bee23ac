"""What is in a picture: bodies where they should be, floor and shadow."""

import math

import gymnasium as gym
import numpy as np
import pytest
from scipy.ndimage import binary_erosion
from scipy.spatial import ConvexHull

import vigym  # noqa: F401  registers the environments
from scenes.drawings import RED, assembled, ball, chain, picture_of, poses, reddish
from scenes.shapes import SOLIDS, sample, support
from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.elements.contacts import contact_features
from vigym.mechanism.elements.ground.terrain import Terrain
from vigym.mechanism.elements.shapes import Box, Cylinder, Mesh, Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.render.errors import RenderError
from vigym.render.make import make_renderer
from vigym.render.scene.camera import Camera
from vigym.render.scene.scene import Scene
from vigym.render.scene.surfaces import AROUND, surface_of


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
    eye = 8.0 * np.array(
        [math.cos(-0.8) * math.cos(0.4), math.sin(-0.8) * math.cos(0.4), math.sin(0.4)]
    )
    ahead, right = -eye / 8.0, np.array([-math.sin(-0.8), math.cos(-0.8), 0.0])
    ray = np.array(shift) - eye
    focal = 48.0 / math.tan(camera.field_of_view / 2) / (ray @ ahead)
    expected = 47.5 - focal * (ray @ np.cross(right, ahead)), 47.5 + focal * (ray @ right)
    assert np.allclose(np.mean(np.nonzero(reddish(picture)), axis=1), expected, atol=0.5)


def test_orientations_turn_the_shapes():
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body("bar", 1.0, (0.1, 0.1, 0.1), shapes=[Box((2.0, 0.2, 0.2), rgba=RED)])
    camera = Camera(distance=6.0, azimuth=-math.pi / 2, elevation=0.01)
    for turn, long_axis in (
        ((1.0, 0.0, 0.0, 0.0), 1),
        ((math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0), 0),
    ):
        places = np.nonzero(
            reddish(picture_of(mech, np.zeros((1, 3)), np.array([turn]), camera=camera))
        )
        spans = [np.ptp(place) for place in places]
        assert spans[long_axis] > 5 * spans[1 - long_axis]


def test_a_shape_keeps_its_pose_in_the_body():
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    offset = Sphere(radius=0.1, position=(0.6, 0.0, 0.0), rgba=RED)
    mech.add_body(
        "body", 1.0, (0.1, 0.1, 0.1), shapes=[offset, Sphere(radius=0.3, rgba=(0.1, 0.1, 0.9, 1.0))]
    )
    camera = Camera(target=(0.0, 0.0, 0.0), distance=5.0, azimuth=-math.pi / 2, elevation=0.01)
    quarter = np.array([[math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0]])  # about y: x goes to -z
    row, column = np.mean(
        np.nonzero(reddish(picture_of(mech, np.zeros((1, 3)), quarter, camera=camera))), axis=1
    )
    assert row > 60
    assert abs(column - 47.5) < 1.0


def test_shapes_without_opacity_are_not_drawn():
    clear = (*RED[:3], 0.0)
    pictures = []
    for shapes in (
        [Box((0.2, 0.2, 0.9), rgba=RED)],
        [Box((0.2, 0.2, 0.9), rgba=RED), Box((0.9, 0.2, 0.2), rgba=clear)],
    ):
        mech = Mechanism(gravity=(0.0, 0.0, 0.0))
        mech.add_body("body", 1.0, (0.1, 0.1, 0.1), shapes=shapes)
        pictures.append(picture_of(mech, camera=Camera(distance=5.0)))
    assert reddish(pictures[0]).any()
    assert np.array_equal(*pictures)


def test_shapes_of_the_world_stand_still():
    mech = ball(gravity=(0.0, 0.0, 0.0))
    mech.add_world_shape(Box((0.2, 0.2, 0.2), position=(0.0, 0.0, -1.0), rgba=(0.1, 0.7, 0.1, 1.0)))
    camera = Camera(target=(0.0, 0.0, 0.0), distance=8.0)
    positions, orientations = assembled(mech)
    places = []
    for shift in (0.0, 0.5):
        picture = picture_of(
            mech, positions + [shift, 0.0, 0.0], orientations, camera=camera
        ).astype(int)
        places.append(
            (picture[..., 1] > picture[..., 0] + 40) & (picture[..., 1] > picture[..., 2] + 40)
        )
    assert places[0].any()
    assert np.array_equal(*places)


def test_bodies_without_shapes_are_drawn_between_their_joints():
    mech = chain(2)
    positions, orientations = poses(mech, lambda joint: 0.9)
    with_bodies = picture_of(mech, positions, orientations).astype(int)
    elsewhere = picture_of(mech, *poses(mech, lambda joint: -0.9)).astype(int)
    scene = Scene(mech, Camera(), 96, 96)
    ends = np.array(
        [positions[0] * 2, positions[0], positions[1]]
    )  # the elbow and both centres of mass
    clip = np.column_stack((ends, np.ones(3))) @ scene.view.matrix.T
    columns, rows = ((clip[:, :2] / clip[:, 3:] * [1, -1] + 1) * 48).astype(int).T
    assert (np.abs(with_bodies - elsewhere)[rows, columns].max(axis=1) > 60).all()


def test_a_free_body_without_shapes_is_the_box_of_its_inertia():
    size, mass = np.array([0.3, 0.5, 1.1]), 2.0
    moments = mass / 12 * (np.sum(size**2) - size**2)
    mech = Mechanism()
    mech.add_body("box", mass, moments)
    (visual,) = Scene(mech, Camera(), 8, 8).visuals
    assert np.allclose(np.sort(np.ptp(visual.corners, axis=0)), size)
    assert np.allclose(np.ptp(visual.surface.vertices, axis=0), size)


def test_a_body_without_shapes_shows_what_it_touches_with():
    mech = Mechanism(ground=True)
    mech.add_body("foot", 1.0, (0.1, 0.1, 0.1), position=(0.0, 0.0, 1.0))
    mech.add_contact("toe", "foot", (0.2, 0.0, 0.0), radius=0.3)
    mech.add_contact("heel", "foot", (-0.2, 0.0, 0.0))  # a bare point shows nothing
    mech.add_collision("sole", "foot", Box((0.4, 0.2, 0.1), position=(0.0, 0.5, 0.0)))
    toe, sole = Scene(mech, Camera(), 8, 8).visuals
    assert np.allclose(toe.position, (0.2, 0.0, 0.0))
    assert np.allclose(np.ptp(toe.corners, axis=0), 0.6)
    assert np.allclose(sole.position, (0.0, 0.5, 0.0))
    assert np.allclose(np.ptp(sole.corners, axis=0), (0.4, 0.2, 0.1))


def test_a_body_that_turns_about_its_centre_is_the_box_of_its_inertia():
    mech = Mechanism()
    mech.add_body("wheel", 1.0, (0.01, 0.02, 0.01))
    mech.add_joint("axle", "revolute", "world", "wheel", (0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
    pin, box = Scene(mech, Camera(), 8, 8).visuals
    assert len(box.surface.vertices) == 24
    assert np.ptp(pin.corners) < np.ptp(box.corners)


# Floor and shadow


def test_the_ground_hides_what_is_below_it():
    mech = ball(position=(0.0, 0.0, 0.0), ground=True)
    camera = Camera(target=(0.0, 0.0, 0.0), distance=100.0, elevation=0.5, field_of_view=0.012)
    free = ball(position=(0.0, 0.0, 0.0), gravity=(0.0, 0.0, 0.0))
    half, whole = (reddish(picture_of(kind, camera=camera, shadow=False)) for kind in (mech, free))
    assert not (half & ~whole).any()
    seen = half.sum() / whole.sum()
    assert seen == pytest.approx(
        (1 + math.sin(0.5)) / 2, abs=0.01
    )  # a half ball, rays nearly parallel


def test_a_ball_throws_a_shadow_on_the_ground():
    mech = ball(ground=True)
    camera = Camera(target=(0.0, 0.0, 0.5), distance=8.0, elevation=0.6)
    positions, orientations = assembled(mech)
    here = picture_of(mech, positions, orientations, camera=camera).astype(int)
    away = picture_of(mech, positions + [50.0, 0.0, 0.0], orientations, camera=camera).astype(int)
    darker = (away - here).min(axis=-1) > 20
    assert (darker & ~reddish(here)).sum() > 60
    assert not reddish(away).any()


def test_a_shadow_on_terrain_is_where_it_is_on_the_plane():
    """A plane given as heights: dark at the same pixels, but for the rim."""
    camera = Camera(target=(0.0, 0.0, 0.5), distance=8.0, elevation=0.6)
    flat = Ground(terrain=Terrain(np.zeros((61, 61)), 0.25))
    shadows = []
    for ground in (True, flat):
        mech = ball(ground=ground)
        full, bare = (
            picture_of(mech, camera=camera, shadow=shadow).astype(int) for shadow in (True, False)
        )
        assert (bare >= full).all()
        inside = binary_erosion(reddish(full))
        assert np.array_equal(bare[inside], full[inside])
        shadows.append((bare - full).min(axis=-1) > 20)
    on_plane, on_terrain = shadows
    assert (on_plane ^ on_terrain).sum() < 0.1 * on_plane.sum()


def test_without_shadow_the_ground_stays_as_bright_and_the_rest_as_it_is():
    mech, camera = ball(ground=True), Camera(target=(0.0, 0.0, 0.5), distance=8.0, elevation=0.6)
    full, bare = (
        picture_of(mech, camera=camera).astype(int),
        picture_of(mech, camera=camera, shadow=False).astype(int),
    )
    darker = (bare - full).min(axis=-1) > 20
    assert darker.sum() > 60
    assert (bare >= full).all()
    inside = binary_erosion(reddish(full))  # pixels at the rim show some of the ground
    assert np.array_equal(bare[inside], full[inside])
    env = gym.make(
        "vigym/MinitaurLeg-v0", render_mode="rgb_array", shadow=False, width=160, height=120
    )
    lit = gym.make("vigym/MinitaurLeg-v0", render_mode="rgb_array", width=160, height=120)
    for one in (env, lit):
        one.reset(seed=0)
    assert env.render().astype(int).sum() > lit.render().astype(int).sum()


@pytest.mark.parametrize(
    ("mode", "shadow"), [("human", False), ("browser", False), ("rgb_array", 0), (None, "no")]
)
def test_a_shadow_is_refused_where_none_can_be_left_out(mode, shadow):
    with pytest.raises(ValueError, match="option shadow: found .*, expected True"):
        gym.make("vigym/Pendulum-v0", render_mode=mode, shadow=shadow)


def test_a_tilted_ground_is_drawn():
    mech = ball(ground=Ground(height=0.0, normal=(0.5, 0.0, 1.0)))
    picture = picture_of(mech)
    assert len(np.unique(picture.reshape(-1, 3), axis=0)) > 50
    assert reddish(picture).any()


# Mesh files


def with_mesh(path):
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    mech.add_body(
        "body", 1.0, (1.0, 1.0, 1.0), shapes=[Mesh(path, scale=(2.0, 1.0, 1.0), rgba=RED)]
    )
    return mech


def test_meshes_are_measured_and_drawn(tmp_path):
    file = tmp_path / "tetrahedron.obj"
    file.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n")
    mech = with_mesh(file)
    (visual,) = Scene(mech, Camera(), 8, 8).visuals
    assert np.allclose(visual.corners.min(axis=0), 0.0)
    assert np.allclose(visual.corners.max(axis=0), (2.0, 1.0, 1.0))
    picture = reddish(picture_of(mech))
    assert 0.05 < picture.mean() < 0.6
    assert not picture[[0, -1]].any()
    assert not picture[:, [0, -1]].any()


def test_meshes_that_cannot_be_read_are_named(tmp_path, capfd):
    with pytest.raises(RenderError, match="nowhere.obj: found no readable file"):
        make_renderer(with_mesh(tmp_path / "nowhere.obj"), "rgb_array")
    wrong = tmp_path / "mesh.doc"
    wrong.write_text("no mesh")
    with pytest.raises(RenderError, match=r"mesh.doc: found the format '.doc', expected .obj or"):
        make_renderer(with_mesh(wrong), "rgb_array")
    points = tmp_path / "points.obj"
    points.write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\n")
    with pytest.raises(RenderError, match=r"points.obj: found no triangles, expected a surface"):
        make_renderer(with_mesh(points), "rgb_array")
    assert capfd.readouterr() == ("", "")


def test_a_mesh_is_seen_from_both_sides(tmp_path):
    """An open sheet has no inside: files do not agree on which side of a triangle is in front."""
    file = tmp_path / "triangle.obj"
    file.write_text("v -1 0 -1\nv 1 0 -1\nv 0 0 1\nf 1 2 3\n")
    seen = []
    for azimuth in (-math.pi / 2, math.pi / 2):
        camera = Camera(target=(0.0, 0.0, 0.0), distance=8.0, azimuth=azimuth, elevation=0.01)
        seen.append(reddish(picture_of(with_mesh(file), camera=camera)))
    assert seen[0].any()
    assert np.array_equal(seen[0], seen[1][:, ::-1])


def test_meshes_are_round_where_their_triangles_are_nearly_parallel(tmp_path):
    (tmp_path / "cube.obj").write_text(
        "".join(f"v {x} {y} {z}\n" for x in (0, 1) for y in (0, 1) for z in (0, 1))
        + "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"
    )
    cube = surface_of(Mesh(tmp_path / "cube.obj", (2.0, 1.0, -1.0)))
    assert set(np.abs(cube.normals).max(axis=1).round(9)) == {1.0}  # edges stay sharp
    a, b, c = cube.vertices[cube.triangles].swapaxes(0, 1)
    outwards = np.cross(b - a, c - a)  # the mirror image, too, faces outwards
    assert (np.einsum("ij,ij->i", outwards, a - (1.0, 0.5, -0.5)) > 0.0).all()
    assert (np.einsum("ij,ij->i", outwards, cube.normals[cube.triangles[:, 0]]) > 0.0).all()
    ball = surface_of(Sphere(radius=1.0))
    lines = [f"v {x} {y} {z}\n" for x, y, z in ball.vertices]
    lines += [f"vn {x} {y} {z}\n" for x, y, z in ball.normals]
    lines += [f"f {a}//{a} {b}//{b} {c}//{c}\n" for a, b, c in ball.triangles + 1]
    (tmp_path / "ball.obj").write_text("".join(lines))
    same = surface_of(Mesh(tmp_path / "ball.obj"))
    corners = same.vertices[same.triangles].mean(axis=1) * 1e3
    real = (
        np.linalg.norm(
            np.cross(*np.diff(same.vertices[same.triangles], axis=1).swapaxes(0, 1)), axis=1
        )
        > 1e-9
    )
    assert len(corners) == len(ball.triangles)
    assert np.allclose(
        same.normals[same.triangles[real]], same.vertices[same.triangles[real]], atol=1e-6
    )


# Surfaces


class Blob(Cylinder):
    """A shape that nobody draws."""

    kind = "blob"


def test_a_shape_without_a_surface_is_not_drawn_as_another():
    with pytest.raises(TypeError, match="shape: found a blob, expected box or sphere or .*mesh$"):
        surface_of(Blob(0.1, 0.2))


SIZES = [(kind, sample(kind, seed, placed=False)) for kind in SOLIDS for seed in range(3)]
SIZES += [
    (kind, Cylinder(*size)) for kind, size in {"rod": (0.02, 1.5), "disc": (0.5, 0.1)}.items()
]


@pytest.mark.parametrize("shape", [shape for _, shape in SIZES], ids=[name for name, _ in SIZES])
def test_surfaces_are_closed_and_face_outwards(shape):
    surface = surface_of(shape)
    a, b, c = surface.vertices[surface.triangles].swapaxes(0, 1)
    areas = np.cross(b - a, c - a) / 2
    assert np.allclose(areas.sum(axis=0), 0.0)
    volume = np.einsum("ij,ij->", areas, a) / 3
    assert volume == pytest.approx(ConvexHull(surface.vertices).volume, rel=1e-12)
    assert np.allclose(np.linalg.norm(surface.normals, axis=1), 1.0)
    mean = surface.normals[surface.triangles].mean(axis=1)
    assert (np.einsum("ij,ij->i", areas, mean) >= 0.0).all()


@pytest.mark.parametrize("shape", [shape for _, shape in SIZES], ids=[name for name, _ in SIZES])
def test_surfaces_reach_as_far_as_what_touches(shape):
    """But for the flat sides of circles about the axis and of those through it, and never farther."""
    mech = Mechanism(ground=True)
    mech.add_body("body", 1.0, (1.0, 1.0, 1.0))
    parts = contact_features(mech.add_collision("skin", "body", shape))
    directions = np.random.default_rng(0).normal(size=(500, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    vertices = surface_of(shape).vertices
    missing = support(parts, directions) - (directions @ vertices.T).max(axis=1)
    assert missing.min() > -1e-15
    assert missing.max() < (1.0 - math.cos(math.pi / AROUND) ** 2) * shape.bounding_radius
    assert np.linalg.norm(vertices, axis=1).max() <= shape.bounding_radius * (1.0 + 1e-15)
