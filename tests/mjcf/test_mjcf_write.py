"""The law of MJCF files: what is written moves as the mechanism, in vigym and, as steps shrink, in MuJoCo."""

import re
from dataclasses import replace

import numpy as np
import pytest

from scenes.mujoco_states import data_of, loop_gap, state
from scenes.same_mechanism import same_contacts, same_pose
from scenes.shapes import SOLIDS, sample
from scenes.trees import inertia, random_positions, random_tree, unit
from vigym import MINITAUR_MOTOR, Ground, Mechanism, MechanismError, Simulator, Terrain, assets
from vigym.mechanism.elements.joint_types import JOINT_TYPES
from vigym.mechanism.elements.shapes import Mesh
from vigym.mjcf.load import load_mjcf
from vigym.urdf.convert.load import load_urdf

STEP, STEPS = 0.002, 20
TIME = 0.2  # [s]
CLOSING = [row.name for row in JOINT_TYPES.values() if row.can_close_loop]


@pytest.fixture(name="mujoco")
def mujoco_fixture():
    return pytest.importorskip("mujoco")


def robot(name):
    """A robot of the package, on the ground where its friction has no direction, which MJCF lacks."""
    mech = load_urdf(assets.path(name), ground=name not in ("snake", "snake_touching"))
    joints = {key: replace(joint, velocity=None) for key, joint in mech.joints.items()}
    return mech.with_replaced_elements(joints=joints)


def chain(type):
    """Five bodies on balls, which a joint of any type closes, its ends apart and turned before the assembly."""
    rng = np.random.default_rng(5)
    mech = Mechanism(ground=False)
    for k in range(5):
        place = rng.normal(size=3), unit(rng.normal(size=4))
        mech.add_body(f"b{k}", rng.uniform(0.5, 2.0), inertia(rng), *place)
        parent = f"b{k - 1}" if k else "world"
        mech.add_joint(f"j{k}", "spherical", parent, f"b{k}", rng.normal(size=3), damping=0.5)
    ends = {"child_position": rng.normal(size=3), "child_rotation": unit(rng.normal(size=4))}
    axes = {"axis": (0.6, 0.0, 0.8)}
    axes |= {"axis2": (0.8, 0.0, -0.6)} if JOINT_TYPES[type].needs_second_axis else {}
    mech.add_joint("d", type, "b0", "b4", ends["child_position"] + 0.1, **axes, **ends)
    return mech


def tree(types, seed=0):
    """Bodies on joints of these types with springs, dampers, armatures and actuators."""
    return random_tree(seed, types, damping=0.5, per_freedom=True)


def start(mech, timestep=STEP):
    """A simulator that moves at random."""
    sim = Simulator(mech, timestep=timestep)
    free = None if mech.closing_joints or mech.couplings else random_positions(0, mech, 0.1)
    sim.reset(free, place_on_ground=mech.ground is not None)
    rates = np.random.default_rng(0).normal(size=len(mech.velocity_names))
    sim.reset(sim.joint_positions, rates)
    return sim


def put(mujoco, mech, sim, **options):
    """MuJoCo's model and data of what is written, in the state of the simulator."""
    model = mujoco.MjModel.from_xml_string(mech.to_mjcf(**options))
    return model, data_of(model, mech, sim)


def driven():
    """A position motor, a rate motor that reaches its effort, a coupling, and a spring between points."""
    mech = Mechanism(ground=False)
    for k, kind in enumerate(("revolute", "prismatic", "revolute")):
        mech.add_body(f"b{k}", 1.0, (0.02, 0.03, 0.04), (0.3 * k, 0.0, 0.1))
        parent, axis = f"b{k - 1}" if k else "world", (0.0, 0.6, 0.8)
        mech.add_joint(f"j{k}", kind, parent, f"b{k}", (0.3 * k - 0.15, 0.0, 0.0), axis, effort=5.0)
    mech.add_motor("j0", 50.0, 2.0, targets=(-1.0, 1.0))
    mech.add_motor("j1", 0.0, 5.0, effort=2.0)
    mech.add_coupling("belt", "gear", "j2", "j0", -0.5, 0.1)
    mech.add_spring("rope", "world", "b2", (1.0, 0.2, 0.5), (0.1, 0.0, 0.0), 30.0, 0.2, 0.5)
    return mech


MOVING = [name for name in JOINT_TYPES if name != "fixed"]
# the bodies of a gripper touch each other, which is not written
ROBOTS = {name: lambda name=name: robot(name) for name in assets.names() if name != "gripper"}
TREES = {
    "tree": lambda: tree(list(JOINT_TYPES)),
    "floating tree": lambda: random_tree(1, MOVING, to_world=False),
}
CHAINS = {f"chain, {type}": lambda type=type: chain(type) for type in CLOSING}
LOOPS = [f"chain, {type}" for type in ("fixed", "revolute", "universal", "spherical")]
READ = {**ROBOTS, **TREES, **{name: CHAINS[name] for name in LOOPS}}
ALL = {**ROBOTS, **TREES, **CHAINS, "driven": driven}
CONVERGING = {name: ALL[name] for name in (*TREES, "driven", "four_bar", "delta", "chain, planar")}


@pytest.mark.parametrize("case", READ)
def test_a_mechanism_that_is_loaded_again_moves_as_before(case, mujoco, tmp_path):
    mech = READ[case]()
    mech.to_mjcf(tmp_path / "robot.xml")
    loaded = load_mjcf(tmp_path / "robot.xml")
    ours, theirs = start(mech), Simulator(loaded, timestep=STEP)
    given = list(state(mech, ours, {joint.name for joint in loaded.tree_joints}))
    theirs.reset({name: q for name, q, _ in given}, {name: v for name, _, v in given})
    assert loaded.degrees_of_freedom == mech.degrees_of_freedom
    known = [name for name in mech.actuator_names if name in loaded.actuator_names]  # not of balls
    forces = dict(zip(known, 0.3 * np.random.default_rng(1).normal(size=len(known)), strict=True))
    inputs = [[forces.get(name, 0.0) for name in each.actuator_names] for each in (mech, loaded)]
    for _ in range(STEPS):
        assert ours.step(inputs[0]).converged
        assert theirs.step(inputs[1]).converged
    for name, body in mech.bodies.items():
        if body.mass:  # loops of other rows are solved to 1e-10
            assert theirs.body_position(name) == pytest.approx(ours.body_position(name), abs=1e-7)


@pytest.mark.parametrize("case", ALL)
def test_mass_energy_and_loops_are_those_of_mujoco(case, mujoco):
    mech = ALL[case]()
    sim = start(mech)
    model, data = put(mujoco, mech, sim)
    mujoco.mj_energyVel(model, data)
    assert sum(body.mass for body in mech.bodies.values()) == pytest.approx(model.body_mass.sum())
    assert sim.energy().kinetic == pytest.approx(data.energy[1], rel=1e-9)
    assert loop_gap(data) < 1e-9  # loops are closed to 1e-10


@pytest.mark.parametrize("case", CONVERGING)
def test_motions_converge_to_those_of_mujoco(case, mujoco):
    """With forces of all actuators, those of balls too, and targets of motors."""
    mech = CONVERGING[case]()
    rng = np.random.default_rng(2)
    names = [name for name in mech.actuator_names if name not in mech.motors]
    forces, targets = rng.normal(size=len(names)), 0.5 * rng.normal(size=len(mech.motors))
    inputs = dict(zip(names, forces, strict=True))
    torques = [inputs.get(name, 0.0) for name in mech.actuator_names]
    model, data = put(mujoco, mech, start(mech), timestep=5e-5, integrator="RK4")
    model.eq_solref[:], model.eq_solimp[:] = (2e-4, 1.0), (0.9999, 0.99999, 1e-4, 0.5, 2.0)
    for name, value in (inputs | dict(zip(mech.motors, targets, strict=True))).items():
        data.actuator(name).ctrl[:] = value
    mujoco.mj_step(model, data, round(TIME / model.opt.timestep))
    mujoco.mj_kinematics(model, data)
    errors = []
    for h in (0.008, 0.002):
        sim = start(mech, h)
        for _ in range(round(TIME / h)):
            assert sim.step(torques, targets if len(targets) else None).converged
        places = [sim.body_position(name) - data.body(name).xipos for name in mech.bodies]
        errors.append(np.abs(places).max())
    assert errors[0] < 0.02
    # to first order at least; MuJoCo's loops are soft, by 1e-5 m
    assert errors[1] < max(0.6 * errors[0], 2e-5 if model.neq else 0.0)


@pytest.mark.parametrize("kind", SOLIDS)
def test_contacts_are_those_of_mujoco(kind, mujoco, tmp_path):
    mech = Mechanism(ground=Ground(height=0.3, normal=(0.0, 0.6, 0.8)))
    mech.add_body("a", 1.0, (1.0, 1.0, 1.0), orientation=unit(np.array((1.0, 0.2, 0.3, 0.4))))
    mech.add_collision("skin", "a", sample(kind), friction=0.4, torsion=0.01)
    sim = Simulator(mech, timestep=STEP)
    sim.reset(place_on_ground=True)
    sim.reset(base={"a": {"position": sim.body_position("a") - 1e-4 * mech.ground.normal}})
    _, data = put(mujoco, mech, sim)
    assert min(data.contact.dist) == pytest.approx(sim.contacts.gap.min(), abs=1e-9)
    assert data.contact[0].friction[:3] == pytest.approx((0.4, 0.4, 0.01))
    mech.to_mjcf(tmp_path / "robot.xml")
    loaded = load_mjcf(tmp_path / "robot.xml")
    same_contacts(mech, loaded)
    assert loaded.ground.height == pytest.approx(0.3)


def test_meshes_are_hulls_and_points_small_balls(mujoco, tmp_path):
    (tmp_path / "a.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    )
    mech = Mechanism(ground=True)
    mech.add_body("a", 1.0, (1.0, 1.0, 1.0), (0.0, 0.0, 0.5))
    mech.add_collision("mesh", "a", Mesh(path=tmp_path / "a.obj", position=(0.0, 0.0, -0.6)))
    mech.add_contact("point", "a", (2.0, 0.0, -0.55))
    _, data = put(mujoco, mech, Simulator(mech, timestep=STEP))
    assert min(data.contact.dist) == pytest.approx(-0.1, abs=1e-6)
    assert max(data.contact.dist) == pytest.approx(-0.05, abs=1e-5)


def lonely(**more):
    mech = Mechanism(**more)
    mech.add_body("a", 1.0, (1.0, 1.0, 1.0), (0.0, 0.0, 1.0))
    return mech


def hinged(**more):
    mech = lonely(ground=False)
    mech.add_joint("j", "revolute", "world", "a", (0.0, 0.0, 0.0), effort=1.0, **more)
    return mech


def without_mass(kind):
    mech = Mechanism()
    mech.add_body("link", 0.0, (0.0, 0.0, 0.0))
    mech.add_body("a", 1.0, (1.0, 1.0, 1.0), (0.0, 0.0, 1.0))
    mech.add_joint("x", "revolute", "world", "link", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    mech.add_joint("y", kind, "link", "a", (0.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    return mech


FAULTS = {
    "collision 'c': found friction [0.1, 0.2, 0.1]": lambda mech: mech.add_contact(
        "c", "a", (0, 0, 0), friction=(0.1, 0.2)
    ),
    "collision 'c': found restitution 0.5": lambda mech: mech.add_contact(
        "c", "a", (0, 0, 0), restitution=0.5
    ),
    "skate 's'": lambda mech: mech.add_skate("s", "a", (0, 0, 0), (1, 0, 0)),
    "wheel 'w'": lambda mech: mech.add_wheel("w", "a", (0, 0, 0), (0, 1, 0), 0.1),
    "velocity constraint 'v'": lambda mech: mech.add_velocity_constraint(
        "v", {"a": ((1, 0, 0), (0, 0, 0))}
    ),
    "ground: found a terrain": lambda mech: setattr(
        mech, "ground", Ground(terrain=Terrain(np.zeros((2, 2)), 1.0))
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_mjcf_lacks_is_an_error_that_names_it(fault):
    mech = lonely()
    FAULTS[fault](mech)
    with pytest.raises(MechanismError, match=re.escape(f"as MJCF: {fault}")):
        mech.to_mjcf()


def test_a_name_that_the_file_has_for_a_site_of_its_own_is_an_error():
    mech = chain("spherical")
    taken = re.search(r'<site name="([^"]+)"', mech.to_mjcf())[1]
    mech.add_frame(taken, "b0")
    with pytest.raises(MechanismError, match=re.escape(f"site {taken!r}: found 2 of that name")):
        mech.to_mjcf()


def test_joints_that_mujoco_lacks_are_errors():
    for mech, fault in (
        (hinged(limits=(0.5, 0.5)), "joint 'j': found limits"),
        (hinged(), "motor of joint 'j': found an electric motor"),
        (without_mass("spherical"), "body 'link': found no mass"),
    ):
        if "motor" in fault:
            mech.add_motor("j", 1.0, 0.1, model=MINITAUR_MOTOR)
        with pytest.raises(MechanismError, match=re.escape(fault)):
            mech.to_mjcf()
    with pytest.raises(MechanismError, match="integrator: found 'euler', expected one of"):
        lonely().to_mjcf(integrator="euler")
    with pytest.raises(MechanismError, match="timestep"):
        lonely().to_mjcf(timestep=0.0)


def test_comments_tell_what_has_another_form():
    text = without_mass("revolute").to_mjcf()
    assert "<!-- body 'link' has no mass: its joint is one of the next body -->" in text
    mech = hinged(velocity=3.0)
    mech.starts["home"] = {"j": 0.5}
    mech.add_motor("j", 1.0, 0.1)
    text = mech.to_mjcf()
    assert "joint 'j': the velocity limit of its motor is left out" in text
    assert "start 'home' is left out" in text
    assert "carries a part of 'b4', welded to the rest" in chain("planar").to_mjcf()
    assert "<!--" not in chain("spherical").to_mjcf()


def test_the_file_has_the_names_of_the_mechanism(mujoco, tmp_path):
    mech = tree(["planar", "spherical"])
    mech.add_frame("eye", "b1", (0.1, 0.2, 0.3), unit(np.array((1.0, 2.0, 3.0, 4.0))))
    text = mech.to_mjcf(tmp_path / "robot.xml", timestep=0.01, integrator="Euler")
    assert (tmp_path / "robot.xml").read_text() == text
    model = mujoco.MjModel.from_xml_string(text)
    assert [model.jnt(k).name for k in range(model.njnt)] == ["j0.x", "j0.y", "j0.angle", "j1"]
    assert {model.actuator(k).name for k in range(model.nu)} == set(mech.actuator_names)
    assert (model.opt.timestep, model.opt.integrator) == (0.01, mujoco.mjtIntegrator.mjINT_EULER)
    same_pose(load_mjcf(tmp_path / "robot.xml").frames["eye"], mech.frames["eye"])
