"""Cameras that see the whole mechanism without being told, and follow it."""

import math

import numpy as np
import pytest

from scenes.drawings import assembled, ball, picture_of, poses, reddish
from vigym import Simulator, assets, load_urdf
from vigym.envs.random_start import independent_joints
from vigym.render.backends import software
from vigym.render.make import make_renderer
from vigym.render.scene.camera import Camera
from vigym.render.scene.scene import Scene


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


def test_the_camera_stays_where_a_robot_stands_beside_what_travels():
    """A robot beside a belt: its motors stay, an item passes by."""
    mech = load_urdf(assets.path("delta"))
    positions, _ = assembled(mech)
    positions[list(mech.bodies).index("item")] += (0.0, 0.9, 0.0)
    assert not np.any(Scene(mech, Camera(), 96, 96).shifts(positions)[0])


def swung(mech, value):
    """Poses with hinges at `value`, all the way round, and slides along their travel; loops closed."""

    def coordinate(joint):
        return value if joint.joint_type.rotations else np.clip(value / 4, *joint.limits[0])

    if not mech.closing_joints:
        return poses(mech, coordinate)
    sim = Simulator(mech)
    sim.reset(
        {joint.name: coordinate(joint) for joint in independent_joints(mech) if joint.dofs == 1}
    )
    return sim.body_states[:, :3], sim.body_states[:, 3:7]


# Largest angle; legs that are all stretched to one side are beyond the room of a camera that follows.
# Arms of the delta robot end at 0.9 rad. The room for a linkage is that of random poses, which are hardly ever
# those with all spindles out. The piston of the engine goes a quarter of the angle [m] to either side.
TURNS = {
    **{"quadruped": math.pi / 6.0, "half_cheetah": math.pi / 20.0},
    **{"delta": 0.8, "stewart": 0.5, "engine": 0.3},
}


@pytest.mark.parametrize("size", [(480, 480), (640, 360)])
@pytest.mark.parametrize("name", assets.names())
def test_robots_stay_inside_the_picture_and_fill_it(name, size):
    mech = load_urdf(assets.path(name))
    scene = Scene(mech, Camera(), *size)
    world = np.array([visual.body == len(mech.bodies) for visual in scene.visuals]).repeat(8)
    spans = []
    for value in TURNS.get(name, math.pi) * np.linspace(-1.0, 1.0, 13):
        bodies = swung(mech, value)
        corners = scene.bounding_corners(*scene.visual_poses(*bodies))[~world]
        corners = corners - scene.shifts(bodies[0])[0]
        left, top, width, height = software.bounding_rectangle(scene.view, corners)
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
