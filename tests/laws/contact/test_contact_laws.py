"""What contact promises: nothing sinks in, sticks when it should or slides, forces stay in cones, no energy gained."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive_joints import rotate
from scenes import touching_scenes as scenes
from scenes.shapes import SOLIDS, thrown
from scenes.touching import DEEPEST, gain, lowest, moving, run, speeds, stepped
from scenes.trees import unit
from vigym import Mechanism, Simulator
from vigym.core.contact.active_set import SINKING
from vigym.mechanism.elements.shapes import Box, Mesh

G = scenes.GRAVITY


def floating(body, velocity=(0.0, 0.0, 0.0), spin=(0.0, 0.0, 0.0)):
    return {f"{body}:floating": (*velocity, *spin)}


@pytest.mark.parametrize("h", [0.1, 0.05, 0.01, 0.005, 0.001])
def test_box_drop_of_the_paper(h):
    """Lower face 0.4 m above the ground; the paper's box comes to rest 43 um above it."""
    sim = moving(scenes.box(0.4 + scenes.EDGE / 2.0), h)
    start = sim.energy().total
    for _ in stepped(sim, round(0.6 / h)):
        assert sim.energy().total <= start + 1e-9
    for _ in stepped(sim, 20):
        assert abs(lowest(sim)) <= 1e-7
        assert speeds(sim) <= 1e-8
    contacts = sim.contacts
    np.testing.assert_allclose(contacts.force.sum(axis=-2), [0.0, 0.0, G], atol=1e-6)
    assert sim.metrics()["penetration"] <= 1e-7


def stopping(speed, friction, h):
    """Where the scheme lets a slide end: exact at knots until the last one before the stop, where it sticks."""
    slower = friction * G
    steps = np.ceil(speed / (slower * h) - 0.5)
    return speed * steps * h - 0.5 * slower * (steps * h) ** 2


@pytest.mark.parametrize("h", [0.1, 0.05, 0.02, 0.01, 0.005, 0.002])
def test_sliding_box_stops_where_the_scheme_says(h):
    sim = moving(scenes.box(friction=0.5), h, floating("box", (3.0, 0.0, 0.0)))
    run(sim, round(0.8 / h))
    travelled = sim.body_position("box")[0]
    assert travelled == pytest.approx(stopping(3.0, 0.5, h), abs=1e-6)
    assert abs(travelled - 9.0 / G) <= 0.5 * G / 8.0 * h**2 + 1e-6
    assert abs(travelled - 9.0 / G) <= 1e-3 or h > 0.05
    assert speeds(sim) <= 1e-8


@pytest.mark.parametrize("h", [0.05, 0.01])
def test_slide_is_uniform_deceleration_at_every_knot(h):
    sim = moving(scenes.box(friction=0.5), h, floating("box", (3.0, 0.0, 0.0)))
    for _ in stepped(sim, round(0.5 / h)):
        t = float(sim.time)
        assert sim.body_position("box")[0] == pytest.approx(3.0 * t - 0.25 * G * t**2, abs=1e-7)
        assert sim.body_velocity("box")[0] == pytest.approx(3.0 - 0.5 * G * t, abs=1e-7)


@pytest.mark.parametrize("h", [0.05, 0.01, 0.002])
@pytest.mark.parametrize("seed", range(4))
def test_tumbling_box_gains_no_energy(seed, h):
    """Flights have the energy of earlier ones, but for what rotation oscillates by, of order two in the step.

    While it lands, an impact takes two steps and the velocities between them are of order one.
    """
    rng = np.random.default_rng(seed)
    mech = scenes.box(0.6, 0.5, orientation=unit(rng.normal(size=4)), size=(0.5, 0.3, 0.2))
    sim = moving(mech, h, floating("box", rng.normal(size=3), 3.0 * rng.normal(size=3)))
    found, flying = [sim.energy().total], [True]
    for _ in stepped(sim, round(1.2 / h)):
        found.append(sim.energy().total)
        flying.append(not sim.contacts.force.any())
    found = np.array(found)
    assert gain(found[flying]) <= 20.0 * h**2 * found[0]
    assert gain(found) <= 0.2 * h * found[0]
    assert found[-1] < 0.7 * found[0]


@pytest.mark.parametrize("h", [0.05, 0.01])
@pytest.mark.parametrize("friction", [0.2, 0.7])
def test_box_sticks_on_a_slope_below_the_angle_of_friction(friction, h):
    sim = moving(scenes.box_on_slope(np.arctan(friction) - 0.01, friction), h)
    before = sim.body_position("box")
    run(sim, round(1.0 / h))
    assert speeds(sim) <= 1e-8
    assert np.abs(sim.body_position("box") - before).max() <= 1e-7


@pytest.mark.parametrize("h", [0.05, 0.01])
@pytest.mark.parametrize("friction", [0.2, 0.7])
def test_box_slides_down_a_slope_above_the_angle_of_friction(friction, h):
    angle = np.arctan(friction) + 0.1
    sim = moving(scenes.box_on_slope(angle, friction), h)
    before = sim.body_position("box")
    run(sim, round(0.5 / h))
    along = G * (np.sin(angle) - friction * np.cos(angle))
    way = np.linalg.norm(sim.body_position("box") - before)
    assert way == pytest.approx(0.5 * along * 0.25, rel=1e-6)
    assert np.linalg.norm(sim.body_velocity("box")) == pytest.approx(0.5 * along, rel=1e-6)


@pytest.mark.parametrize(("past", "tips"), [(-0.02, False), (0.02, True)])
def test_tall_box_tips_when_its_weight_leaves_its_base(past, tips):
    size = (0.2, 0.2, 0.6)
    sim = moving(scenes.box_on_slope(np.arctan(1.0 / 3.0) + past, 1.0, size))
    before = sim.body_orientation("box")
    run(sim, 100)
    turned = 2.0 * np.arccos(min(1.0, abs(sim.body_orientation("box") @ before)))
    assert turned > 0.1 if tips else turned < 1e-7


SCENES = {
    "box": lambda: scenes.box(0.7, orientation=unit(np.array([1.0, 0.3, -0.5, 0.2]))),
    "ball": lambda: scenes.ball(0.4),
    "can": lambda: scenes.cylinder(0.4, unit(np.array([1.0, 0.3, -0.5, 0.2]))),
    "standing can": lambda: scenes.cylinder(0.3),
    "lying can": lambda: scenes.cylinder(0.3, scenes.turned(np.pi / 2.0, (1, 1, 0))),
    "capsule": lambda: scenes.capsule(0.5, orientation=unit(np.array([1.0, 0.4, 0.2, 0.1]))),
    "puck": lambda: scenes.puck((0.2, 0.5, 0.4), torsion=0.01),
    "slope": lambda: scenes.box(
        0.7, 0.3, scenes.tilted(0.5), unit(np.array([1.0, 0.3, -0.5, 0.2]))
    ),
}


@pytest.mark.parametrize("h", [0.1, 0.02, 0.005])
@pytest.mark.parametrize("name", SCENES)
def test_contacts_obey_their_law_at_every_step(name, h):
    """No pull, no force at a distance, friction in its cone, nothing deeper than a micrometre."""
    mech = SCENES[name]()
    body = next(iter(mech.bodies))
    coefficients = next(iter(mech.collisions.values())).friction
    sim = moving(mech, h, floating(body, (1.0, -0.5, 0.0), (1.0, 2.0, -1.5)))
    for _ in stepped(sim, round(1.0 / h)):
        contacts = sim.contacts
        force = np.sum(contacts.force * contacts.normal, axis=-1)
        tangential = contacts.force - force[:, None] * contacts.normal
        assert force.min() >= 0.0
        assert contacts.gap.min() >= -DEEPEST
        assert np.abs(force * contacts.gap).max() * h <= 2e-6
        assert (
            np.linalg.norm(tangential, axis=-1) <= coefficients.max() * force * (1.0 + 1e-6) + 1e-6
        ).all()
        assert sim.metrics()["penetration"] == pytest.approx(max(0.0, -lowest(sim)), abs=1e-9)


@pytest.mark.parametrize("h", [0.1, 0.02, 0.005])
@pytest.mark.parametrize("kind", SOLIDS)
def test_every_shape_lands_and_stays_above_the_ground(kind, h):
    """The ground pushes, rubs within its cone, and gives no energy."""
    sim, touched = (
        moving(thrown(kind), h, floating("thrown", (1.0, -0.5, 0.0), (1.0, 2.0, -1.5))),
        0,
    )
    start = sim.energy().total
    for _ in stepped(sim, round(1.5 / h)):
        contacts = sim.contacts
        force = np.sum(contacts.force * contacts.normal, axis=-1)
        tangential = contacts.force - force[:, None] * contacts.normal
        assert force.min() >= 0.0
        assert (np.linalg.norm(tangential, axis=-1) <= 0.5 * force * (1.0 + 1e-6) + 1e-6).all()
        # in flight the energy of a body of unlike inertias swings with the square of the step
        assert sim.energy().total <= start * (1.0 + 1e-9 + 2e-4 * h * h)
        touched += lowest(sim) <= DEEPEST
    assert touched > 0.2 / h


def octahedron(path):
    """A mesh with its corners on the axes, 0.2, 0.3 and 0.4 m from its centre."""
    corners = np.vstack([np.diag([0.2, 0.3, 0.4]), -np.diag([0.2, 0.3, 0.4])])
    faces = [(i, j, k) for i in (1, 4) for j in (2, 5) for k in (3, 6)]
    lines = [f"v {x} {y} {z}" for x, y, z in corners] + [f"f {i} {j} {k}" for i, j, k in faces]
    path.write_text("\n".join(lines) + "\n")
    return corners


@pytest.mark.parametrize("h", [0.05, 0.01])
def test_mesh_comes_to_rest_on_a_face(h, tmp_path):
    corners = octahedron(tmp_path / "stone.obj")
    mech = Mechanism(ground=True)
    mech.add_body(
        "stone", 1.0, (0.02, 0.018, 0.012), (0.0, 0.0, 0.6), unit(np.array([1.0, 0.3, -0.2, 0.1]))
    )
    mech.add_collision("stone", "stone", Mesh(path=tmp_path / "stone.obj"))
    sim = run(moving(mech, h), round(4.0 / h))
    heights = (sim.body_position("stone") + rotate(sim.body_orientation("stone"), corners))[:, 2]
    np.testing.assert_allclose(np.sort(heights)[:3], 0.0, atol=1e-7)
    assert speeds(sim) <= 1e-6
    assert sim.contacts.force[:, 2].sum() == pytest.approx(G, abs=1e-5)


def test_redundant_forces_are_shared_alike():
    """A box that came down level: a quarter of its weight on each corner, and no corner pulls at another."""
    sim = run(moving(scenes.box(0.3)), 60)
    force = sim.contacts.force
    loaded = force[:, 2] > 0.0
    assert loaded.sum() == 4
    np.testing.assert_allclose(force[loaded], np.tile([0.0, 0.0, G / 4.0], (4, 1)), atol=1e-6)
    np.testing.assert_array_equal(force[~loaded], 0.0)


@pytest.mark.parametrize("h", [0.02, 0.01])
def test_forces_are_what_changes_the_momentum(h):
    """From rest in the air to rest on the ground: impulses of the knots between are the weight's over that time."""
    sim, total = (
        moving(scenes.box(0.6, 0.3, orientation=unit(np.array([1.0, 0.2, 0.1, 0.0]))), h),
        np.zeros(3),
    )
    steps = round(2.0 / h)
    sim.step()
    for _ in stepped(sim, steps - 1):
        total += h * sim.contacts.force.sum(axis=-2)
    assert speeds(sim) <= 1e-8
    np.testing.assert_allclose(total, [0.0, 0.0, G * (steps - 0.5) * h], atol=1e-6)


@pytest.mark.parametrize("name", ["box", "slope", "capsule"])
def test_work_balance_through_impacts(name):
    """What is lost is booked; what is missing falls with the step."""
    found = []
    for h in (0.02, 0.005):
        mech = SCENES[name]()
        mass = sum(body.mass for body in mech.bodies.values())
        sim = moving(mech, h, floating(next(iter(mech.bodies)), (0.5, 0.2, 0.0), (1.0, -2.0, 0.5)))
        start, lost = sim.energy().total, 0.0
        for _ in stepped(sim, round(1.0 / h)):
            now = sim.metrics()["dissipated"]
            assert now >= lost - SINKING * G * mass
            lost = now
        metrics = sim.metrics()
        assert metrics["energy_balance"] == pytest.approx(
            sim.energy().total - start + lost, abs=1e-9
        )
        found.append(abs(metrics["energy_balance"]) / start)
    assert found[1] < max(0.5 * found[0], 1e-6)
    assert found[0] < 0.02


def crawler(seed):
    """A row of boxes on the ground joined by tilted hinges, most with limits, thrown along it."""
    rng = np.random.default_rng(seed)
    mech, count = Mechanism(ground=True), int(rng.integers(4, 10))
    length = 10.0 ** rng.uniform(-1.5, 0.0)
    size = length * np.array([0.9, 0.3, 0.3])
    friction, spread = rng.choice([0.3, 0.5, 1.0, 2.0]), rng.choice([0.0, 0.5])
    for k in range(count):
        name, mass = f"box{k}", 40.0 * length**3 * 10.0 ** (spread * rng.uniform(-1.0, 1.0))
        moments = mass / 12.0 * (size @ size - size**2)
        mech.add_body(name, mass, moments, ((k + 0.5) * length, 0.0, 0.15 * length))
        mech.add_collision(f"{name} shape", name, Box(size), friction=friction)
        place = k * length, 0.0, 0.15 * length
        if k == 0:
            mech.add_joint("base", "floating", "world", name, place)
        else:
            axis = unit(np.eye(3)[rng.integers(1, 3)] + 0.3 * rng.normal(size=3))
            limits = (-0.6, 0.6) if rng.random() < 0.7 else None
            mech.add_joint(f"hinge{k}", "revolute", f"box{k - 1}", name, place, axis, limits=limits)
    sim = Simulator(mech, timestep=rng.choice([2e-3, 5e-3, 1e-2]))
    along, about = (
        np.sqrt(G * length) * rng.normal(size=2),
        0.5 * np.sqrt(G / length) * rng.normal(),
    )
    start = {"base": (*along, 0.0, 0.0, 0.0, about)}
    sim.reset(velocities=start, place_on_ground=True)
    return sim, friction, min(body.mass for body in mech.bodies.values()) * G


@pytest.mark.parametrize("seed", [0, 1, 56, 86, 440])
def test_contacts_that_hold_each_other_stay_in_their_cones(seed):
    """They left them by up to half the weight of the lightest box where a few corners share it."""
    sim, friction, weight = crawler(seed)
    for _ in range(150):
        status = sim.step()
        assert status.converged
        if status.halvings == 0:
            force = sim.contacts.force
            normal, tangent = force[:, 2], np.linalg.norm(force[:, :2], axis=1)
            assert normal.min() >= -1e-6 * weight
            assert np.max(tangent - friction * normal) <= 1e-6 * weight
