"""Forward and inverse dynamics, mass matrix and point Jacobians: laws, and numbers of Pinocchio."""

from __future__ import annotations

import numpy as np
import pytest

from oracle.naive import Twin
from scenes import touching_scenes
from scenes.closing import closed_state, loop_rows, moved
from scenes.fields import add_bowl
from scenes.linkages import ladder
from scenes.loops import BUILDERS, CLOSING
from scenes.loops_space import closed_by, minitaur
from scenes.pinocchio_models import PinocchioModel
from scenes.trees import TYPES, by_joint, random_positions, random_rates, random_tree
from vigym import Mechanism, MechanismError, Simulator
from vigym.mechanism.elements.motors import MINITAUR_MOTOR

MOVING = [kind for kind in TYPES if kind != "fixed"]
ROUNDING = 1e-10  # of a few hundred operations, times ratios of inertias of up to 1e4
TREES = {kind: lambda kind=kind: random_tree(1, [kind], damping=0.3) for kind in MOVING}
TREES |= {f"tree {k}": lambda k=k: random_tree(k, TYPES, damping=0.5) for k in (3, 4)}
TREES["floating tree"] = lambda: random_tree(5, TYPES, damping=0.5, to_world=False)
TREES["in potentials"] = lambda: in_bowls(random_tree(6, TYPES, damping=0.5))
LOOPS = BUILDERS | {
    f"by {kind}": lambda kind=kind: closed_by(kind, damping=0.3) for kind in CLOSING
}
ALL = TREES | LOOPS


def in_bowls(mech):
    """The mechanism with potentials of two of its bodies."""
    add_bowl(mech, "b1")
    add_bowl(mech, "b3")
    return mech


def started(mech, seed=0, h=0.01):
    """A simulator in a random state in which all loops are closed."""
    sim = Simulator(mech, timestep=h, tolerance=1e-13)
    if mech.closing_joints:
        positions, rates = closed_state(mech, seed)
    else:
        positions, rates = random_positions(seed, mech), random_rates(seed, mech)
    sim.reset(positions, by_joint(mech, rates))
    return sim


def tree_dofs(mech):
    return sum(joint.dofs for joint in mech.tree_joints)


def tree_rates(sim):
    return sim.joint_velocities[..., : tree_dofs(sim.mechanism)]


def torques_of(mech, seed=0):
    return np.random.default_rng(seed).normal(size=len(mech.actuator_names))


def assert_close(found, expected, relative=ROUNDING):
    largest = np.abs(expected).max(initial=0.0)
    assert np.abs(found - expected).max(initial=0.0) <= relative * max(1.0, largest)


def changes(sim, torques, h, targets=None):
    """Change of velocity in a step of size h from the present coordinates, divided by h."""
    other = Simulator(sim.mechanism, timestep=h, tolerance=1e-13)
    other.reset(sim.joint_positions, sim.joint_velocities)
    before = tree_rates(other)
    assert other.step(torques, targets).converged
    return (tree_rates(other) - before) / h


def assert_limit_of_steps(sim, torques, targets=None, h=1e-4):
    """The change of velocity in ever smaller steps tends to the acceleration, by order one.

    Twice the error at h/2 is that at h but for order two, which is left of an extrapolation.
    """
    a = sim.dynamics.forward(torques, targets)
    large, small = (changes(sim, torques, size, targets) for size in (h, h / 2))
    error = np.abs(large - a).max()
    scale = max(1.0, np.abs(a).max())
    assert error <= 0.02 * scale
    assert np.abs(2.0 * small - large - a).max() <= 0.05 * error + 1e-6 * scale


@pytest.mark.parametrize("name", ALL)
def test_acceleration_is_the_limit_of_steps(name):
    sim = started(ALL[name]())
    assert_limit_of_steps(sim, torques_of(sim.mechanism))


@pytest.mark.parametrize("name", ALL)
def test_inverse_dynamics_finds_the_torques(name):
    sim = started(ALL[name]())
    mech = sim.mechanism
    u = torques_of(mech)
    a = sim.dynamics.forward(u)
    at = [mech.velocity_names.index(actuator) for actuator in mech.actuator_names]
    found = sim.dynamics.inverse(a, actuated=True)
    if len(u) <= mech.degrees_of_freedom:
        assert_close(found, u, 1e-8)
    else:  # less would do the same
        assert np.linalg.norm(found) <= np.linalg.norm(u) + 1e-9
    assert_close(sim.dynamics.forward(found), a, 1e-8)
    everywhere = sim.dynamics.inverse(a, actuated=False)
    assert everywhere.shape == (tree_dofs(mech),)
    assert np.linalg.norm(everywhere) <= np.linalg.norm(u) + 1e-9
    if tree_dofs(mech) == mech.degrees_of_freedom:
        assert_close(np.delete(everywhere, at), 0.0)
        assert_close(sim.dynamics.inverse(a), everywhere, 0.0)


@pytest.mark.parametrize("name", ALL)
def test_kinetic_energy_is_that_of_the_mass_matrix(name):
    sim = started(ALL[name]())
    M, v = sim.dynamics.mass_matrix(), tree_rates(sim)
    assert_close(0.5 * v @ M @ v, sim.energy().kinetic, 1e-12)
    assert_close(M, M.T, 1e-14)
    assert np.linalg.eigvalsh(M).min() > 0.0


@pytest.mark.parametrize("name", LOOPS)
def test_accelerations_keep_loops_closed(name):
    """K v stays zero along the motion of these accelerations, by the twin's rows K."""
    mech = LOOPS[name]()
    sim = started(mech)
    positions, v = closed_state(mech, 0)
    a = sim.dynamics.forward(torques_of(mech))
    twin, h = Twin(mech), 1e-5
    slips = []
    for t in (-h, h):
        twin.place(moved(twin, positions, t * v + 0.5 * t * t * a))
        slips.append(loop_rows(twin)[1] @ (v + t * a))
    scale = max(1.0, np.abs(a).max(), np.abs(v).max() ** 2)
    # rounding over h, and third derivatives times h^2
    assert np.abs(slips[1] - slips[0]).max() / (2 * h) <= 1e-6 * scale**2


@pytest.mark.parametrize("name", ["tree 3", "floating tree", "quadruped", "by spherical"])
def test_jacobian_of_every_body(name):
    sim = started(ALL[name]())
    point, v = np.array([0.3, -0.2, 0.5]), tree_rates(sim)
    bodies = list(sim.mechanism.bodies)
    jacobians = {body: sim.dynamics.point_jacobian(body, point) for body in bodies}
    places = [placed(sim, body, point) for body in bodies]
    for body in bodies:
        velocity = sim.body_velocity(body)
        R = rotation(sim.body_orientation(body))
        turning = R @ sim.body_angular_velocity(body)
        expected = np.append(velocity + np.cross(turning, R @ point), turning)
        assert_close(jacobians[body] @ v, expected, 1e-9)
    h = 1e-6
    sim = started(ALL[name](), h=h)
    assert sim.step().converged
    moves = [placed(sim, body, point) - start for body, start in zip(bodies, places, strict=True)]
    for body, move in zip(bodies, moves, strict=True):
        assert_close(jacobians[body][:3] @ v, move / h, 1e-3)  # accelerations of 1000 times h
    assert not sim.dynamics.point_jacobian("world").any()


def rotation(q):
    w, x, y, z = q
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def placed(sim, body, point):
    return sim.body_position(body) + rotation(sim.body_orientation(body)) @ point


def test_forces_at_a_frame():
    mech = touching_scenes.double_pendulum()
    body = list(mech.bodies)[-1]
    turn = np.array([np.cos(0.4), 0.0, np.sin(0.4), 0.0])
    mech.add_frame("tool", body, (0.1, 0.2, 0.3), turn)
    sim = started(mech)
    inside = np.array([0.1, 0.2, 0.3]) + rotation(turn) @ [0.0, 0.0, 0.5]
    assert_close(
        sim.dynamics.point_jacobian("tool", (0, 0, 0.5)),
        sim.dynamics.point_jacobian(body, inside),
        1e-14,
    )


def test_couplings_and_motors():
    mech = touching_scenes.double_pendulum()
    mech.add_coupling("gear", "gear", "elbow", "shoulder", -0.7)
    mech.add_motor("shoulder", kp=40.0, kd=3.0, effort=np.inf)
    sim = Simulator(mech, tolerance=1e-13)
    sim.reset({"shoulder": 1.0}, {"shoulder": 2.0})
    names = mech.velocity_names
    a = sim.dynamics.forward(targets=[1.3])
    assert_close(a[names.index("elbow")], -0.7 * a[names.index("shoulder")], 1e-14)
    assert_limit_of_steps(sim, None, [1.3])
    idle = sim.dynamics.forward()
    angle, rate = 40.0 * (1.3 - 1.0), 3.0 * 2.0
    work = np.array([1.0, -0.7])[[names.index("shoulder"), names.index("elbow")]]
    assert_close(work @ sim.dynamics.mass_matrix() @ (a - idle), angle - rate)
    with pytest.raises(ValueError, match=r"open a loop or a coupling by"):
        sim.dynamics.inverse([1.0, 1.0])


def test_a_batch_is_its_environments():
    rng = np.random.default_rng(0)
    mech, n = minitaur(), 22
    sim = Simulator(mech, batch=3, tolerance=1e-13)
    alone = [Simulator(mech, tolerance=1e-13) for _ in range(3)]
    sim.set_parameters({"mass": np.array([1.0, 1.3, 1.0])})
    alone[1].set_parameters({"mass": 1.3})
    torques = rng.normal(size=(3, len(mech.actuator_names)))
    sim.step(torques, substeps=5)
    a = sim.dynamics.forward(torques)
    points = rng.normal(size=(3, 3))
    answers = sim.dynamics.mass_matrix(), sim.dynamics.point_jacobian("back_lower2", points), a
    answers = *answers, sim.dynamics.inverse(a), sim.dynamics.inverse(a, actuated=False)
    shapes = [(3, n, n), (3, 6, n), (3, n), torques.shape, (3, n)]
    assert [answer.shape for answer in answers] == shapes
    for e, each in enumerate(alone):
        each.step(torques[e], substeps=5)
        own = each.dynamics.forward(torques[e])
        found = (
            each.dynamics.mass_matrix(),
            each.dynamics.point_jacobian("back_lower2", points[e]),
            own,
        )
        found = *found, each.dynamics.inverse(own), each.dynamics.inverse(own, actuated=False)
        for batched, single in zip(answers, found, strict=True):
            assert_close(batched[e], single, 1e-8)


def test_bad_input():
    sim = started(BUILDERS["five-bar"]())
    a = sim.dynamics.forward()
    with pytest.raises(ValueError, match=r"accelerations: found shape \(3,\), expected \(4,\)"):
        sim.dynamics.inverse(a[:3])
    with pytest.raises(ValueError, match=r"accelerations: found nan for a joint"):
        sim.dynamics.inverse(a * np.nan)
    with pytest.raises(ValueError, match=r"accelerations: found ones that open a loop"):
        sim.dynamics.inverse(a + [1.0, 0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match=r"point: found shape \(2,\)"):
        sim.dynamics.point_jacobian("left_upper", (0.0, 1.0))
    with pytest.raises(ValueError, match=r"point: found .* expected finite"):
        sim.dynamics.point_jacobian("left_upper", (0.0, 1.0, np.inf))
    with pytest.raises(MechanismError, match="body: found 'foot'"):
        sim.dynamics.point_jacobian("foot")
    with pytest.raises(ValueError, match="torques: found shape"):
        sim.dynamics.forward([1.0])
    with pytest.warns(UserWarning, match="depend on each other"):
        folded = Simulator(ladder(1, up=(1.0, 0.0, 0.0)))
    with pytest.raises(ValueError, match="singular pose of the loops"):
        folded.dynamics.forward()


def test_forces_that_actuators_lack():
    mech = random_tree(2, ["floating", "revolute"])
    sim = started(mech)
    assert_close(sim.dynamics.forward(sim.dynamics.inverse(np.ones(7))), 1.0)
    passive = Mechanism()
    passive.add_body("ball", 1.0, (1.0, 1.0, 1.0))
    falling = Simulator(passive)
    assert_close(falling.dynamics.forward(), [0, 0, -9.81, 0, 0, 0], 1e-14)
    assert_close(falling.dynamics.inverse(np.zeros(6)), [0, 0, 9.81, 0, 0, 0], 1e-14)
    with pytest.raises(ValueError, match=r"lack 9\.81 N or N m of the actuators"):
        falling.dynamics.inverse(np.zeros(6), actuated=True)


def test_targets_of_electric_motors_are_refused():
    mech = touching_scenes.double_pendulum()
    mech.add_motor("shoulder", kp=1.0, kd=0.1, effort=3.5, model=MINITAUR_MOTOR)
    sim = started(mech)
    assert np.isfinite(sim.dynamics.forward()).all()
    with pytest.raises(ValueError, match="'shoulder', which has an electric model"):
        sim.dynamics.forward(targets=[0.5])


def small_arm():
    """A universal, a spherical and a prismatic joint, with armatures."""
    mech = Mechanism(gravity=(0.3, -0.2, -9.81))
    mech.add_body("a", 1.2, (0.03, 0.05, 0.04), (0.1, 0.2, 0.3), (0.8, 0.0, 0.6, 0.0))
    mech.add_body("b", 0.7, (0.02, 0.02, 0.03), (0.5, 0.1, 0.4), (0.6, 0.8, 0.0, 0.0))
    mech.add_body("c", 0.4, (0.01, 0.02, 0.015), (0.9, 0.0, 0.6), (0.0, 0.0, 0.6, 0.8))
    axes = {"axis": (0.0, 0.6, 0.8), "axis2": (1.0, 0.0, 0.0)}
    free = {"effort": np.inf}
    mech.add_joint("u", "universal", "world", "a", (0, 0, 0.1), **axes, **free, armature=0.02)
    mech.add_joint("s", "spherical", "a", "b", (0.3, 0.1, 0.3), **free)
    along = (0.8, 0.0, 0.6)
    mech.add_joint("p", "prismatic", "b", "c", (0.7, 0.0, 0.5), along, **free, armature=0.1)
    return mech


TORQUES = (0.2, -0.3, 0.1, 0.4, -0.2, 0.5)


def test_numbers_of_pinocchio():
    """Of pinocchio 4.1: aba, rnea, crba and computeFrameJacobian, whose rounding is below 1e-12."""
    sim = Simulator(small_arm())
    sim.reset(
        {"u": (0.3, -0.2), "s": (0.8, 0.2, -0.4, 0.4), "p": 0.1},
        {"u": (0.5, -0.7), "s": (0.3, -1.1, 0.4), "p": 0.2},
    )
    aba = [1.1022292028200027, -19.449563433591926, 15.902148541109195]
    aba += [-19.868389305772894, -17.557461445469915, 0.1505766021225804]
    assert_close(sim.dynamics.forward(TORQUES), aba)
    rnea = [-3.0214966365167335, 0.3188504024615735, -1.1515903855391203]
    rnea += [2.4977109447229604, 2.509061211641167, 3.1736344543814363]
    assert_close(sim.dynamics.inverse(TORQUES), rnea)
    crba = [0.48059112814886984, -0.10976864821104018, -0.075746235108769]
    crba += [0.13915303965028497, -0.26847588553797147, -0.12355498080082895]
    crba += [0.5404918020096005, 0.12516673280000004, -0.2503381657600001]
    crba += [-0.16056888832000019, 0.02448281600000002, 0.09284, -0.1150592, 0.0052256, -0.024]
    crba += [0.253518016, 0.00259891200000001, 0.04416, 0.320241984, 0.03712, 0.5]
    assert_close(sim.dynamics.mass_matrix()[np.triu_indices(6)], crba)
    jacobian = [
        [0.7557541686246029, 0.03582418977142017, -0.06837411724595768],
        [0.1101723881331309, -0.550266238840971, -0.31040575854794994],
        [-0.08262929109984818, -0.5406718742851649, -0.5613672996809739],
        [0.0, 0.955336489125606, 0.6148272069498903],
        [0.6, 0.23641616532907173, -0.7195026043184419],
        [0.8, -0.1773121239968038, 0.3229605362473514],
    ]
    assert_close(sim.dynamics.point_jacobian("c", (0.1, 0.2, -0.3))[:, :3], np.array(jacobian))


def test_numbers_of_pinocchio_for_a_loop():
    """Of pinocchio 4.1, constraintDynamics, with a ball joint that closes the loop."""
    mech = small_arm()
    mech.add_joint("close", "spherical", "world", "c", (1.0, 0.1, 0.7))
    sim = Simulator(mech)
    v = [3.015730315814292, -0.6826966526042738, 1.045455646951512]
    v += [-2.5938585524090523, 3.372178766400564, 0.2]
    sim.reset(velocities={"u": v[:2], "s": v[2:5], "p": v[5]})
    found = [2.54941388503768, -16.794210326238606, 34.21866012342108]
    found += [0.8859143822932172, -1.194499236801681, 5.675832179747653]
    assert_close(sim.dynamics.forward(TORQUES), found)


def dampers(mech):
    return np.array([joint.damping for joint in mech.tree_joints for _ in range(joint.dofs)])


def all_forces(mech, u):
    """Forces along the velocities of the tree by torques of actuators."""
    found = np.zeros(tree_dofs(mech))
    found[[mech.velocity_names.index(name) for name in mech.actuator_names]] = u
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("types", [*([kind] for kind in MOVING), TYPES], ids="-".join)
def test_trees_as_pinocchio(types, seed):
    pin = pytest.importorskip("pinocchio")
    mech = random_tree(seed, types, damping=0.4, springs=False, to_world=seed % 2 == 0)
    sim, model = started(mech, seed), PinocchioModel(pin, mech)
    q, v = sim.joint_positions, sim.joint_velocities
    u = torques_of(mech, seed)
    a = model.aba(q, v, all_forces(mech, u) - dampers(mech) * v)
    assert_close(sim.dynamics.forward(u), a)
    wish = random_rates(seed + 9, mech)
    assert_close(sim.dynamics.inverse(wish), model.rnea(q, v, wish) + dampers(mech) * v)
    assert_close(sim.dynamics.mass_matrix(), model.crba(q))
    body, point = f"b{len(types) - 1}", (0.1, 0.7, -0.3)
    assert_close(sim.dynamics.point_jacobian(body, point), model.point_jacobian(q, body, point))


@pytest.mark.parametrize("kind", ["spherical", "fixed", "four-bar", "balls", "quadruped"])
def test_loops_as_pinocchio(kind):
    pin = pytest.importorskip("pinocchio")
    mech = BUILDERS[kind]() if kind in BUILDERS else closed_by(kind, springs=0)
    for joint in mech.joints.values():
        object.__setattr__(joint, "stiffness", 0.0)
    sim, model = started(mech), PinocchioModel(pin, mech)
    u = torques_of(mech)
    n = len(model.q)
    q, v = sim.joint_positions[:n], tree_rates(sim)
    a = model.aba(q, v, all_forces(mech, u) - dampers(mech) * v)
    assert_close(sim.dynamics.forward(u), a)
