"""Contacts in batches, in saved states and copies; their readings; starts below the ground; what is refused."""

from __future__ import annotations

import copy
import pickle
from operator import attrgetter

import numpy as np
import pytest

from scenes import touching_scenes as scenes
from scenes.touching import lowest, moving, run, speeds, stepped
from scenes.trees import unit
from vigym import Mechanism, Simulator
from vigym.mechanism.elements.shapes import Mesh

SCENES = {
    "box": lambda: scenes.box(0.45, (0.4, 0.6, 0.5), torsion=0.02, restitution=0.3),
    "slope": lambda: scenes.box(0.5, 0.3, scenes.tilted(0.3)),
    "can": lambda: scenes.cylinder(0.25, unit(np.array([1.0, 0.3, -0.5, 0.2]))),
    "double pendulum": lambda: scenes.double_pendulum((-0.4, 0.4), (-0.3, 0.5), friction=0.1),
    "hopper": lambda: scenes.hopper(clearance=0.02),
    "quadruped": lambda: scenes.quadruped(clearance=0.01),
    "snake": scenes.snake,
    "sleigh": scenes.sleigh,
    "unicycle": scenes.unicycle,
    "DC motor": scenes.dc_drive,
}


def starts(mech, count):
    """Different rates at the assembly pose (count, n_velocities), such as loops and blades allow after projection."""
    rates = np.zeros((count, len(mech.velocity_names)))
    free = [
        i
        for i, name in enumerate(mech.velocity_names)
        if ":floating" in name or not mech.closing_joints
    ]
    rates[:, free] = np.random.default_rng(0).normal(size=(count, len(free)))
    return rates


def signals(mech, steps, shape=()):
    rng = np.random.default_rng(1)
    torques = 0.3 * rng.normal(size=(steps, *shape, len(mech.actuator_names)))
    targets = 0.3 * rng.normal(size=(steps, *shape, len(mech.motor_names)))
    return torques, targets


def drive(sim, torques, targets):
    for u, aim in zip(torques, targets, strict=True):
        assert np.all(sim.step(torques=u, targets=aim).converged)


READINGS = ("joint_positions", "joint_velocities", "body_states", "readings.scalars")


@pytest.mark.parametrize(
    ("name", "count"), [(n, c) for n in SCENES for c in (1, 3, 9) if (n, c) != ("snake", 9)]
)
def test_every_environment_moves_as_it_would_alone(name, count):
    mech = SCENES[name]()
    rates = starts(mech, count)
    torques, targets = signals(mech, 40, (count,))
    batch = Simulator(mech, batch=count)
    batch.reset(velocities=rates)
    drive(batch, torques, targets)
    for e in range(count):
        single = Simulator(mech)
        single.reset(velocities=rates[e])
        drive(single, torques[:, e], targets[:, e])
        np.testing.assert_array_equal(batch.state[e], single.state, err_msg=f"environment {e}")
        for what in READINGS:
            np.testing.assert_array_equal(
                np.ravel(attrgetter(what)(batch)[e]), np.ravel(attrgetter(what)(single))
            )
        for here, there in zip(batch.contacts, single.contacts, strict=True):
            np.testing.assert_array_equal(here[e], there)


@pytest.mark.parametrize("way", ["state", "pickle", "deepcopy"])
@pytest.mark.parametrize("batch", [None, 3])
@pytest.mark.parametrize("name", SCENES)
def test_a_copy_continues_bit_for_bit(name, batch, way):
    mech, shape = SCENES[name](), () if batch is None else (batch,)
    sim = Simulator(mech, batch=batch)
    sim.reset(velocities=starts(mech, 3)[0 if batch is None else slice(None)])
    torques, targets = signals(mech, 60, shape)
    drive(sim, torques[:40], targets[:40])
    if way == "state":
        other = Simulator(mech, batch=batch)
        other.state = sim.state
    else:
        other = pickle.loads(pickle.dumps(sim)) if way == "pickle" else copy.deepcopy(sim)
    for here, there in zip(sim.contacts, other.contacts, strict=True):
        np.testing.assert_array_equal(here, there)
    for each in (sim, other):
        drive(each, torques[40:], targets[40:])
    np.testing.assert_array_equal(sim.state, other.state)
    for here, there in zip(sim.metrics().values(), other.metrics().values(), strict=True):
        np.testing.assert_array_equal(here, there)


def test_pyramid_is_kept_by_copies():
    sim = Simulator(scenes.puck(), friction_cone="pyramid")
    assert pickle.loads(pickle.dumps(sim)).options.friction_cone == "pyramid"


def test_masked_reset_leaves_the_others_alone():
    mech = scenes.box(0.45)
    sim = Simulator(mech, batch=3)
    sim.reset(velocities=starts(mech, 3))
    for _ in range(40):
        sim.step()
    before = sim.state
    sim.reset(mask=np.array([False, True, False]))
    np.testing.assert_array_equal(sim.state[[0, 2]], before[[0, 2]])
    fresh = Simulator(mech)
    for _ in range(40):
        sim.step()
        fresh.step()
    np.testing.assert_array_equal(sim.body_states[1], fresh.body_states)


def test_readings_of_contacts():
    mech = scenes.box(
        friction=0.5, ground=scenes.tilted(0.3), orientation=scenes.turned(0.3, (0, 1, 0))
    )
    mech.add_contact("tip", "box", (0.0, 0.0, 0.4), 0.05)
    sim, normal = run(Simulator(mech), 5), np.array([np.sin(0.3), 0.0, np.cos(0.3)])
    contacts = sim.contacts
    assert (
        mech.contact_names == tuple(f"box:{i}" for i in range(8)) + ("tip",)
        or list(mech.contact_names)[-1] == "tip"
    )
    assert len(contacts.gap) == len(mech.contact_names) == 9
    np.testing.assert_allclose(contacts.normal, np.tile(normal, (9, 1)), atol=1e-12)
    np.testing.assert_allclose(contacts.gap, contacts.position @ normal, atol=1e-12)
    assert contacts.gap[-1] == pytest.approx(0.25 + 0.4 - 0.05, abs=1e-6)
    np.testing.assert_allclose(contacts.force.sum(axis=0), [0.0, 0.0, scenes.GRAVITY], atol=1e-6)
    np.testing.assert_array_equal(contacts.force[-1], 0.0)
    np.testing.assert_allclose(contacts.slip[contacts.gap < 1e-6], 0.0, atol=1e-8)
    corners = sorted(map(tuple, contacts.position[:8].round(9)))
    from oracle.naive_joints import rotate

    signs = (
        np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * scenes.EDGE / 2.0
    )
    expected = sim.body_position("box") + rotate(sim.body_orientation("box"), signs)
    np.testing.assert_allclose(corners, sorted(map(tuple, expected.round(9))), atol=1e-8)


def test_metrics_of_a_slide():
    sim = moving(scenes.box(friction=0.5), 0.01, {"box:floating": (2.0, 0, 0, 0, 0, 0)})
    run(sim, 10)
    metrics = sim.metrics()
    assert metrics["slip"] == pytest.approx(sim.body_velocity("box")[0], rel=1e-6)
    assert metrics["penetration"] <= 1e-9
    assert metrics["power_dissipated"] == pytest.approx(
        0.5 * scenes.GRAVITY * metrics["slip"], rel=0.05
    )
    assert metrics["dissipated"] == pytest.approx(2.0 - 0.5 * metrics["slip"] ** 2, rel=1e-6)


@pytest.mark.parametrize("h", [0.05, 0.01])
@pytest.mark.parametrize("depth", [1e-3, 0.1])
def test_start_below_the_ground_is_pushed_out_slowly(depth, h):
    """A micrometre a step at most, never deeper, without energy."""
    sim = moving(scenes.box(scenes.EDGE / 2.0 - depth), h)
    last, start = lowest(sim), sim.energy().total
    assert last == pytest.approx(-depth, abs=1e-12)
    for _ in range(100):
        assert sim.step().converged
        now = lowest(sim)
        assert -1e-9 <= now - last <= 1.01e-6
        last = now
    assert sim.energy().kinetic <= 1e-6
    assert sim.energy().total - start <= 1.1e-4 * scenes.GRAVITY


def test_thrown_down_from_below_the_ground_goes_no_deeper():
    sim = moving(scenes.box(0.2), 0.01, {"box:floating": (0.0, 0.0, -3.0, 0.0, 0.0, 0.0)})
    for _ in range(20):
        assert sim.step().converged
        assert lowest(sim) >= -0.05 - 1e-6


FLAT = {
    "triangle": ((0.2, 0.0, 0.0), (-0.1, 0.2, 0.0), (-0.1, -0.2, 0.0)),
    "square": ((0.2, 0.2, 0.0), (-0.2, 0.2, 0.0), (-0.2, -0.2, 0.0), (0.2, -0.2, 0.0)),
    "line": ((0.2, 0.0, 0.0), (-0.2, 0.0, 0.0)),
}


@pytest.mark.parametrize("points", FLAT.values(), ids=FLAT)
def test_a_flat_mesh_touches_as_its_corners_do(points, tmp_path):
    (tmp_path / "flat.obj").write_text("".join("v {} {} {}\n".format(*point) for point in points))
    sims = []
    for as_mesh in (True, False):
        mech = Mechanism(ground=True)
        mech.add_body(
            "plate", 1.0, (0.01, 0.01, 0.02), (0, 0, 0.3), unit(np.array([1.0, 0.3, 0.2, 0.1]))
        )
        if as_mesh:
            corners = mech.add_collision("plate", "plate", Mesh(tmp_path / "flat.obj")).corners
            assert sorted(map(tuple, corners.tolist())) == sorted(points)
        for index, corner in enumerate(() if as_mesh else corners):
            mech.add_contact(f"corner {index}", "plate", corner)
        sims.append(Simulator(mech, timestep=0.01))
    for _ in range(100):
        assert all(sim.step().converged for sim in sims)
        np.testing.assert_array_equal(sims[0].body_states, sims[1].body_states)
    assert -1e-6 < lowest(sims[0]) < 1e-6


@pytest.mark.parametrize(
    "build",
    [
        scenes.box,
        lambda: scenes.pendulum(limits=(-1, 1)),
        lambda: scenes.pendulum(friction=0.1),
        scenes.dc_drive,
    ],
    ids=["contact", "limits", "dry friction", "motor"],
)
def test_fourth_order_is_refused(build):
    with pytest.raises(ValueError, match="order"):
        Simulator(build(), order=4)


@pytest.mark.parametrize("height", [1.0, -2.0])
def test_height_of_the_ground(height):
    from vigym.mechanism.elements.bodies import Ground

    mech = scenes.box(0.5, ground=Ground(height=height))
    sim = Simulator(mech)
    sim.reset({"box:floating": (0.0, 0.0, height + 0.4, 1.0, 0.0, 0.0, 0.0)})
    run(sim, 60)
    assert sim.body_position("box")[2] == pytest.approx(height + scenes.EDGE / 2.0, abs=1e-8)
    assert speeds(sim) <= 1e-8


def test_friction_of_the_ground_replaces_that_of_contacts():
    from vigym.mechanism.elements.bodies import Ground

    sim = moving(
        scenes.box(friction=0.0, ground=Ground(friction=0.5)),
        0.01,
        {"box:floating": (2.0, 0, 0, 0, 0, 0)},
    )
    for _ in stepped(sim, 10):
        pass
    assert sim.body_velocity("box")[0] == pytest.approx(2.0 - 0.5 * scenes.GRAVITY * 0.1, abs=1e-7)
