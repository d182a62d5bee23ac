"""Geoms that vigym has no shape for: ellipsoids are balls, walls and tables are bodies."""

import numpy as np
import pytest

pytest.importorskip("mujoco")

from vigym import Simulator, load_mjcf  # noqa: E402
from vigym.mjcf.ellipsoids import balls_of  # noqa: E402

BALL = '<body name="ball" pos="0 0 1"><freejoint name="free"/><geom name="g" size="0.1"/></body>'
FLOOR = '<geom name="floor" type="plane" size="1 1 1"/>'


def read(tmp_path, content, **options):
    path = tmp_path / "robot.xml"
    path.write_text(f"<mujoco><worldbody>{content}</worldbody></mujoco>")
    return load_mjcf(path, **options)


@pytest.mark.parametrize("half_axes", [(1, 1, 1), (1, 2, 1), (0.3, 0.27, 0.2), (0.1, 0.6, 1)])
def test_balls_are_inside_the_ellipsoid_and_reach_its_axes(half_axes):
    half_axes = np.array(half_axes, float)
    centers, radii, missed = balls_of(half_axes)
    normals = np.random.default_rng(1).normal(size=(500, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    normals = np.concatenate([normals, np.eye(3), -np.eye(3)])
    gap = np.linalg.norm(normals * half_axes, axis=1) - (normals @ centers.T + radii).max(axis=1)
    assert gap.min() > -1e-12  # sums of three numbers of order one
    assert np.abs(gap[-6:]).max() < 1e-12
    assert gap.max() < 1.2 * missed + 1e-12  # the greatest of samples
    assert missed < 0.04 * half_axes.max()


def test_an_ellipsoid_rests_on_its_flat_side_and_slides_on(tmp_path):
    """At 1 m/s friction of 0.5 stops it after v^2 / (2 mu g) = 0.102 m."""
    body = '<body name="stone" pos="0 0 0.0501"><freejoint name="free"/>'
    geom = '<geom name="g" type="ellipsoid" size="0.2 0.15 0.05" friction="0.5 0 0"/></body>'
    mech = read(tmp_path, FLOOR.replace("/>", ' friction="0.5 0 0"/>') + body + geom)
    assert [note.element for note in mech.notes][0] == "geom 'g'"
    sim = Simulator(mech, timestep=0.002)
    sim.reset(velocities={"free.vx": 1.0})
    for _ in range(300):
        assert sim.step().converged
    x, _, z = sim.body_position("stone")
    assert z == pytest.approx(0.05, abs=1e-6)
    assert x == pytest.approx(1.0 / (2.0 * 0.5 * 9.81), abs=2e-3)  # to order one in the step


def test_walls_and_tables_stop_bodies_and_do_not_touch_the_ground(tmp_path):
    """A plane across x, a box on the floor, and a rail that the file lets nothing touch."""
    wall = '<geom name="wall" type="plane" size="1 1 1" pos="2 0 0" zaxis="-1 0 0"/>'
    table = '<geom name="table" type="box" size="1 1 0.2" pos="0 0 0.2"/>'
    rail = '<geom name="rail" type="capsule" fromto="-2 0 0.7 2 0 0.7" size="0.05" contype="0" conaffinity="0"/>'
    mech = read(tmp_path, wall + FLOOR + table + rail + BALL)
    assert mech.ground.normal.tolist() == [0.0, 0.0, 1.0]
    assert list(mech.bodies) == ["ball", "wall", "table"]
    assert mech.contact_names == ["g", "g/wall", "g/table"]
    sim = Simulator(mech, timestep=0.005)
    for _ in range(150):
        assert sim.step().converged
    assert sim.body_position("ball") == pytest.approx((0.0, 0.0, 0.5), abs=1e-6)
    sim.reset({"free": (1.5, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)}, {"free.vx": 4.0})
    places = []
    for _ in range(200):
        assert sim.step().converged
        places.append(sim.body_position("ball"))
    x, _, z = np.transpose(places)
    assert x.max() == pytest.approx(1.9, abs=1e-6)
    assert z.min() == pytest.approx(0.1, abs=1e-6)


def test_what_cannot_touch_is_told(tmp_path):
    boxes = '<body name="b" pos="0 0 1"><freejoint/><geom type="box" size="0.1 0.1 0.1"/></body>'
    step = '<geom name="step" type="box" size="1 1 0.2"/>'
    mech = read(tmp_path, FLOOR + step + boxes)
    assert list(mech.bodies) == ["b"]
    assert [note.element for note in mech.notes][0] == "bodies on geom 'step': b"


LOW = '<body name="{0}" pos="{1} 0 1"><freejoint/><geom name="{0}" size="0.1" {2}/></body>'
OFF = 'contype="0" conaffinity="0"'


def read_pairs(tmp_path, content, pairs, flag=""):
    path = tmp_path / "robot.xml"
    more = f"<option>{flag}</option><contact>{pairs}</contact>"
    path.write_text(f"<mujoco><worldbody>{content}</worldbody>{more}</mujoco>")
    mech = load_mjcf(path, self_collision=True)
    return mech, {note.element: note.message for note in mech.notes}


def test_friction_of_pairs_holds_on_the_ground_and_is_noted_elsewhere(tmp_path):
    content = FLOOR + LOW.format("a", 0, "") + LOW.format("b", 1, OFF) + LOW.format("c", 2, OFF)
    pairs = """<pair name="own" geom1="floor" geom2="a" condim="4" friction="0.2 0.2 0.03 0 0"/>
    <pair name="askew" geom1="floor" geom2="b" friction="0.2 0.4 0.03 0 0"/>
    <pair name="masked" geom1="b" geom2="c" friction="0.1 0.1 0 0 0"/>
    <pair name="plain" geom1="a" geom2="c"/>"""
    mech, notes = read_pairs(tmp_path, content, pairs)
    a = mech.collisions["a"]
    assert (a.friction[0], a.torsion) == pytest.approx((0.2, 0.03))
    assert {frozenset(pair) for pair in mech.pairs} == {frozenset("bc"), frozenset("ac")}
    assert {"b/c", "a/c"} <= set(mech.contact_names)
    assert "pairs: askew, masked" in notes
    frictionless = '<pair geom1="floor" geom2="a" condim="1"/>'
    assert read_pairs(tmp_path, content, frictionless)[0].collisions["a"].friction[0] == 0.0
    disabled = '<flag contact="disable"/>'
    assert not read_pairs(tmp_path, content, pairs, disabled)[0].collisions


def test_rolling_friction_and_torsion_between_bodies_are_noted(tmp_path):
    content = FLOOR + LOW.format("a", 0, 'condim="6"') + LOW.format("b", 1, 'condim="4"')
    mech, notes = read_pairs(tmp_path, content, "")
    assert mech.collisions["a"].torsion == pytest.approx(0.005)
    assert "rolling" in notes["geoms: a"]
    assert "torsion" in notes["geoms: a, b"]
    alone, notes = read_pairs(tmp_path, FLOOR + LOW.format("b", 1, 'condim="4"'), "")
    assert alone.collisions["b"].torsion == pytest.approx(0.005)
    assert not [element for element in notes if element.endswith("geoms (b)")]
