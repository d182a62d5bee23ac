"""The rasteriser: which samples a triangle covers, what is nearest, what is cut off, and equal bytes everywhere."""

import hashlib
import math
import os
import subprocess
import sys
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest

import vigym  # noqa: F401  registers the environments
from scenes.drawings import RED, assembled, ball, chain, picture_of, poses, reddish
from vigym import assets, load_urdf
from vigym.mechanism.elements.shapes import Box, Sphere
from vigym.mechanism.mechanism import Mechanism
from vigym.render.make import make_renderer
from vigym.render.raster.rasterizer import Rasterizer
from vigym.render.scene.camera import UP, Camera, look_at, view_direction
from vigym.render.scene.surfaces import Surface
from vigym.render.scene.visuals import NO_ROTATION, Visual

TESTS = str(Path(__file__).resolve().parents[1])
SIZE = 64


def visual(vertices, triangles, **options):
    vertices = np.asarray(vertices, dtype=float)
    surface = Surface(vertices, np.tile(UP, (len(vertices), 1)), np.asarray(triangles), **options)
    return Visual(0, surface, np.zeros(3), NO_ROTATION, np.array(RED), np.zeros((8, 3)))


def from_above(*visuals, distance=2.0, opening=1.0):
    """What a camera sees that looks down, x to the right but for a small tilt."""
    rasterizer = Rasterizer(visuals)
    rasterizer.set_poses(np.zeros((len(visuals), 3)), np.tile(NO_ROTATION, (len(visuals), 1)))
    direction = view_direction(-math.pi / 2, math.pi / 2 - 1e-4)
    return rasterizer.draw(look_at(np.zeros(3), direction, distance, opening, SIZE, SIZE))


@pytest.mark.parametrize("seed", range(5))
def test_triangles_that_share_edges_cover_every_sample_once(seed):
    """A fan around a point, drawn one by one: no gaps between them, and no sample twice."""
    rng = np.random.default_rng(seed)
    angles = np.sort(rng.uniform(0.0, 2.0 * np.pi, 40))
    rim = 0.5 * np.column_stack((np.cos(angles), np.sin(angles), np.zeros(40)))
    vertices = np.concatenate(([[*rng.uniform(-0.02, 0.02, 2), 0.0]], rim))
    fan = [[0, i, i % 40 + 1] for i in range(1, 41)]
    whole = from_above(visual(vertices, fan)).visual >= 0
    parts = sum((from_above(visual(vertices, [one])).visual >= 0).astype(int) for one in fan)
    assert parts.max() == 1
    assert np.array_equal(parts == 1, whole)
    columns = np.flatnonzero(whole.any(axis=0))
    assert all(np.ptp(np.flatnonzero(whole[:, c])) + 1 == whole[:, c].sum() for c in columns)


def test_triangles_are_seen_from_outside_only_unless_they_have_two_sides():
    corners, triangle = [[0.0, 0.0, 0.0], [0.4, 0.0, 0.0], [0.0, 0.4, 0.0]], [[0, 1, 2]]
    turned = [[0, 2, 1]]
    front = from_above(visual(corners, triangle)).visual
    assert (front == 0).any()
    assert (from_above(visual(corners, turned)).visual == -1).all()
    assert np.array_equal(
        from_above(visual(corners, turned, two_sided=True)).visual == 0, front == 0
    )


def test_the_nearest_is_seen_whatever_the_order():
    square, faces = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]), [[0, 1, 2], [0, 2, 3]]
    low = visual(np.column_stack((0.5 * square, np.zeros(4))), faces)
    high = visual(np.column_stack((0.2 * square, np.full(4, 0.3))), faces)
    first, second = from_above(low, high), from_above(high, low)
    assert (first.visual == 1).sum() > 100
    assert np.array_equal(first.visual == 1, second.visual == 0)
    assert np.allclose(1.0 / first.inverse[first.visual == 1], 1.7, atol=1e-4)
    assert np.allclose(1.0 / first.inverse[first.visual == 0], 2.0, atol=1e-3)


def test_what_is_nearer_than_the_near_plane_is_cut_off():
    """A triangle from below to behind the camera shows the part in front of it, up to the edge."""
    corners = [[-0.3, 0.1, 0.0], [0.3, 0.1, 0.0], [0.0, 0.3, 9.0]]
    seen = from_above(visual(corners, [[0, 1, 2]], two_sided=True))
    rows = np.flatnonzero((seen.visual >= 0).any(axis=1))
    assert rows.min() == 0
    edge = SIZE / 2 * (1.0 - 0.1 / (2.0 * math.tan(0.5)))  # rows above it, from the top
    assert rows.max() == math.floor(edge - 0.5)
    depth = 1.0 / seen.inverse[seen.visual >= 0]
    assert depth.min() >= 0.05 * 2.0 - 1e-6
    assert depth.max() <= 2.0 + 1e-3
    behind = np.array(corners) + [0.0, 0.0, 9.0]
    assert (from_above(visual(behind, [[0, 1, 2]], two_sided=True)).visual == -1).all()


def test_a_camera_inside_a_body_sees_what_is_around_it():
    mech = Mechanism(gravity=(0.0, 0.0, 0.0))
    slab = Box((40.0, 40.0, 0.2), position=(0.0, 0.0, -1.0), rgba=RED)
    mech.add_body("slab", 1.0, (1.0, 1.0, 1.0), shapes=[slab])
    camera = Camera(target=(0.0, 0.0, 0.0), distance=5.0, elevation=0.2)
    seen = reddish(picture_of(mech, camera=camera))
    assert seen[60:].all()
    assert not seen[:20].any()


def test_highlights_and_edges_are_smooth():
    picture = picture_of(ball(gravity=(0.0, 0.0, 0.0))).astype(int)
    row = picture[48, reddish(picture)[48]]
    assert np.abs(np.diff(row, axis=0))[3:-3].max() < 25
    assert len(np.unique(picture[..., 0])) > 60


# Depth and segmentation


def test_depths_are_distances_along_the_view():
    mech = ball(ground=True)
    camera = Camera(target=(0.0, 0.0, 1.0), distance=6.0, azimuth=0.3, elevation=0.4)
    renderer = make_renderer(mech, "depth_array", 96, 96, camera=camera)
    depth = renderer.render(*assembled(mech))
    assert depth.dtype == np.float32
    assert depth.shape == (96, 96)
    middle = depth[47:49, 47:49]
    assert np.allclose(middle, 5.5, atol=0.01)  # the ball's radius is 0.5
    back = view_direction(0.3, 0.4)
    for row in (70, 90):  # the ground: where the ray through a pixel meets z = 0
        up = (47.5 - row) / 48 * math.tan(0.3)
        ray = np.cross(back, np.cross(UP, back) / np.linalg.norm(np.cross(UP, back))) * up - back
        eye = np.array([0.0, 0.0, 1.0]) + 6.0 * back
        corner = depth[row, [0, 95]]
        side = 47.5 / 48 * math.tan(0.3)
        assert eye[2] + ray[2] * corner[0] == pytest.approx(0.0, abs=1e-3)
        assert corner[0] == pytest.approx(corner[1], rel=1e-5)
        assert side > 0.0
    high = make_renderer(
        mech,
        "depth_array",
        96,
        96,
        camera=Camera(target=(0.0, 0.0, 1.0), distance=6.0, elevation=0.1),
    ).render(*assembled(mech))
    assert np.isinf(high[0]).all()
    assert np.isfinite(high[-1]).all()


def test_segmentations_name_bodies_world_and_sky():
    mech = chain(2)
    mech.add_world_shape(Sphere(radius=0.3, position=(1.0, 0.0, 0.0)))
    renderer = make_renderer(mech, "segmentation_array", 160, 160)
    seen = renderer.render(*poses(mech, lambda joint: 0.5))
    assert seen.dtype == np.int32
    assert set(np.unique(seen)) == {-1, 0, 1, 2}
    free = ball(gravity=(0.0, 0.0, 0.0))
    assert set(
        np.unique(make_renderer(free, "segmentation_array", 96, 96).render(*assembled(free)))
    ) == {-1, 0}
    picture = reddish(picture_of(free))
    seen = make_renderer(free, "segmentation_array", 96, 96).render(*assembled(free)) == 0
    assert (picture != seen).sum() < 0.1 * seen.sum()


@pytest.mark.parametrize("mode", ["depth_array", "segmentation_array"])
def test_environments_have_these_modes(mode):
    env = gym.make("vigym/MinitaurLeg-v0", render_mode=mode, width=80, height=60)
    env.reset(seed=0)
    env.step(env.action_space.sample())
    seen = env.render()
    assert seen.shape == (60, 80)
    assert np.array_equal(seen, env.unwrapped.picture(mode))
    colours = env.unwrapped.picture()
    assert colours.shape == (60, 80, 3)
    assert colours.dtype == np.uint8
    with pytest.raises(ValueError, match="picture mode: found 'human', expected one of"):
        env.unwrapped.picture("human")
    vector = gym.make_vec(
        "vigym/MinitaurLeg-v0",
        2,
        render_mode=mode,
        vectorization_mode="vector_entry_point",
        width=80,
        height=60,
    )
    vector.reset(seed=[5, 0])
    first, second = vector.render()
    assert first.shape == (60, 80)
    assert np.array_equal(second, vector.unwrapped.picture(mode, lane=1))
    assert not np.array_equal(first, second)
    env.close()
    vector.close()


def test_environments_have_cameras():
    aside = {"azimuth": 1.0, "elevation": 0.5, "target": [0.0, 0.0, 0.2], "distance": 2.0}
    env = gym.make(
        "vigym/MinitaurLeg-v0", render_mode="rgb_array", camera=aside, width=80, height=60
    )
    env.reset(seed=0)
    picture = env.render()
    other = env.unwrapped.picture(camera=Camera(azimuth=-1.0))
    assert not np.array_equal(picture, other)
    plain = gym.make("vigym/MinitaurLeg-v0", render_mode="rgb_array", width=80, height=60)
    plain.reset(seed=0)
    assert np.array_equal(plain.unwrapped.picture(camera=aside), picture)
    assert np.array_equal(env.unwrapped.picture(camera={"azimuth": -1.0}), other)
    assert len(env.unwrapped._renderers) == 2
    given = Camera(**aside | {"target": np.array(aside["target"])})
    assert np.array_equal(env.unwrapped.picture(camera=given), picture)
    assert len(env.unwrapped._renderers) == 2
    for one in (env, plain):
        one.close()


@pytest.mark.parametrize(
    "camera",
    [
        {"azimut": 1.0},
        3.0,
        {"distance": -1.0},
        {"distance": True},
        {"target": (1.0, 2.0)},
        {"target": ("a", "b", "c")},
        {"azimuth": "left"},
        {"field_of_view": None},
    ],
    ids=str,
)
def test_wrong_cameras_of_environments_are_refused(camera):
    with pytest.raises(ValueError, match=r"camera( \w+)?( \[\w+\])?: found .*, expected"):
        gym.make("vigym/Pendulum-v0", camera=camera)


@pytest.mark.parametrize("size", [{"width": "a"}, {"height": 0}, {"width": 9.5}, {"height": True}])
def test_wrong_sizes_of_pictures_are_refused_when_the_environment_is_made(size):
    with pytest.raises(ValueError, match=r"option \w+: found .*, expected a whole number >= 1"):
        gym.make("vigym/Pendulum-v0", **size)
    with pytest.raises(ValueError, match=r"option \w+: found .*, expected a whole number >= 1"):
        gym.make_vec("vigym/Pendulum-v0", 2, **size)


# Equal pictures everywhere

# Digests of pictures as NumPy arrays; they change with the looks of pictures, and with nothing else.
DIGESTS = {
    "cartpole": "407725ecb5056769",
    "minitaur": "52716cb60a25f685",
}
DRAW = """
import hashlib, sys
from scenes.drawings import picture_of, poses
from vigym import assets, load_urdf
for name in sys.argv[1:]:
    mech = load_urdf(assets.path(name))
    picture = picture_of(mech, *poses(mech, lambda joint: 0.4), width=160, height=120)
    print(name, hashlib.sha256(picture.tobytes()).hexdigest()[:16])
"""
# A processor without wide registers and fused products, for numba, NumPy and its linear algebra.
PLAIN = {
    "NUMBA_CPU_NAME": "generic",
    "NUMBA_CPU_FEATURES": "",
    "OPENBLAS_CORETYPE": "Prescott",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512_SKX X86_V4",
}


@pytest.mark.parametrize("name", DIGESTS)
def test_pictures_are_as_they_were(name):
    mech = load_urdf(assets.path(name))
    picture = picture_of(mech, *poses(mech, lambda joint: 0.4), width=160, height=120)
    assert hashlib.sha256(picture.tobytes()).hexdigest()[:16] == DIGESTS[name]


def test_another_processor_draws_the_same(tmp_path):
    code = f"import sys; sys.path.insert(0, {TESTS!r})\n{DRAW}"
    done = subprocess.run(
        [sys.executable, "-c", code, *DIGESTS],
        cwd=tmp_path,
        env={**os.environ, **PLAIN},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert dict(line.split() for line in done.stdout.splitlines()) == DIGESTS
