"""Chains of any number of links from files: repeated links are those of the file."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

from scenes.same_mechanism import compare
from vigym import assets
from vigym.envs.robots.chains import repeat_links
from vigym.envs.tasks.pendulum_chain import PendulumChain
from vigym.envs.tasks.snake import Snake
from vigym.envs.tasks.snake_sidewinding import SnakeSidewinding
from vigym.urdf.convert.load import load_urdf

TASKS = {"pendulum_chain": PendulumChain, "snake": Snake, "snake_sidewinding": SnakeSidewinding}


@pytest.mark.parametrize("name", TASKS)
def test_the_task_of_a_file_has_the_mechanism_of_the_file(name):
    mech = TASKS[name]().mechanism()
    compare(mech, load_urdf(assets.path(name), ground=mech.ground))


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("more", [1, 2, 5])
def test_a_chain_that_grows_and_shrinks_is_as_before(name, more):
    text = assets.path(name).read_text()
    robot, links = ET.fromstring(text), len(ET.fromstring(text).findall("joint")) + 1
    links -= name == "pendulum_chain"  # which hangs on one
    parts = sorted(map(ET.tostring, robot))
    repeat_links(robot, links + more)
    assert len(robot.findall("joint")) == len(ET.fromstring(text).findall("joint")) + more
    repeat_links(robot, links)
    assert sorted(map(ET.tostring, robot)) == parts


@pytest.mark.parametrize("links", [2, 5, 11, 20])
@pytest.mark.parametrize("task", [Snake, SnakeSidewinding])
def test_links_of_a_snake_are_all_the_same(task, links):
    for options in ({}, {"self_collision": True}):
        mech = task(links=links, **options).mechanism()
        places = np.array([body.position for body in mech.bodies.values()])
        np.testing.assert_allclose(np.ptp(np.diff(places, axis=0), axis=0), 0.0, atol=1e-14)
        assert list(mech.bodies) == [f"link{k}" for k in range(1, links + 1)]
        assert len(mech.motors) == links - 1
        touching = {}
        for each in mech.collisions.values():
            touching.setdefault(each.body, []).append((type(each.shape), each.radius))
        assert len({*map(tuple, touching.values())}) == 1
        assert len(mech.pairs) == (links - 1) * (links - 2) // 2 * bool(options)


@pytest.mark.parametrize("links", [1, 2, np.int64(3), 4, 10])
@pytest.mark.parametrize("joint", ["revolute", "spherical"])
def test_rods_of_a_chain_are_solid_and_as_long_and_heavy_as_one(links, joint):
    mech = PendulumChain(links=links, joint=joint).mechanism()
    length, mass = 1.0 / links, 1.0 / links
    radius = 0.05 * length
    across = mass * (length**2 / 12.0 + radius**2 / 4.0)
    assert mech.notes == []
    for number, body in enumerate(mech.bodies.values()):
        assert body.mass == pytest.approx(mass, rel=1e-15)
        assert body.position == pytest.approx([0.0, 0.0, -length * (number + 0.5)], abs=1e-15)
        inertia = (across, across, mass * radius**2 / 2.0)
        assert np.diag(body.inertia) == pytest.approx(inertia, rel=1e-14)
        rod, *tip = body.shapes
        assert (rod.radius, rod.length) == pytest.approx((radius, length), rel=1e-14)
        assert len(tip) == (number == links - 1)
    for number, each in enumerate(mech.joints.values()):
        below = 1.0 - length * number  # of chain, in m and in kg
        assert each.effort == pytest.approx(1.5 * 9.81 * below**2 / 2.0, rel=1e-14)
        assert each.damping == pytest.approx(0.1 * each.effort)
        assert each.position == pytest.approx([0.0, 0.0, -length * number], abs=1e-15)
