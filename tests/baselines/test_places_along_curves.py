"""Multipliers with curve, surface and custom joints: rows, motion, trees of such joints, ends."""

import numpy as np
import pytest

from scenes.custom_joints import held
from scenes.tracks import SI, hanging, sliding, torus_chain, turning, windmill
from vigym import Mechanism, MechanismError
from vigym.baselines import METHODS, StepError, recursion, surface_tree
from vigym.baselines.compare import able_methods, bare
from vigym.baselines.multipliers import Multipliers, elimination_order
from vigym.mechanism.tracks.curves import Bezier
from vigym.mechanism.tracks.slides import Slide
from vigym.spatial import batch_rotation_matrix

MECHANISMS = {
    "ball on ball": lambda: hanging("ball on ball", False),
    "torus on ellipsoid": lambda: hanging("torus on ellipsoid", False),
    "board on patch": lambda: hanging("board on patch", False),
    "axis on ellipsoid": lambda: hanging("axis on ellipsoid"),
    "ball on barrel": lambda: hanging("ball on barrel"),
    "point on cylinder": lambda: hanging("point on cylinder"),
    "helix": lambda: sliding("helix"),
    "Bezier with axis": lambda: sliding("Bezier", (0.0, 0.0, 1.0)),
    "skewed": lambda: held("skewed"),
    "five": lambda: held("five"),
}


def moving(name, mech, timestep=0.01, seed=1):
    """A method at random velocities that the joints allow."""
    rng = np.random.default_rng(seed)
    method = METHODS[name](mech, timestep)
    method.reset(velocities=0.5 * rng.normal(size=len(mech.velocity_names)))
    return method


def walk(method, steps):
    for _ in range(steps):
        method.step()


@pytest.mark.parametrize("case", MECHANISMS)
def test_derivatives_of_rows_are_differences_of_gaps(case):
    """Along a motion that leaves the constraints: central differences of gaps and of J V.

    Errors of a time e = 1e-4 are e^2 of third derivatives of order one, and rounding over e.
    """
    mech = MECHANISMS[case]()
    method = moving("multipliers", mech)
    rows, R = method.system.rows, batch_rotation_matrix(method._q)
    V = np.zeros_like(method._V)
    V[1:] = 0.3 * np.random.default_rng(0).normal(size=V[1:].shape)
    rows.place(method._x, R)
    rates, drift = rows.rates(V), rows.drift(V)
    e, found = 1e-4, []
    for t in (-e, e):
        spin = 0.5 * t * np.hstack([np.zeros((len(V), 1)), V[:, 3:]])
        q = method._q + np.array([_product(*pair) for pair in zip(spin, method._q, strict=True)])
        q /= np.linalg.norm(q, axis=1, keepdims=True)
        x = method._x + t * V[:, :3]
        gaps = rows.place_gaps(x, batch_rotation_matrix(q))[0]
        found.append((gaps, x, q))
    assert (found[1][0] - found[0][0]) / (2.0 * e) == pytest.approx(rates, abs=1e-6)
    later = [_rates_along(rows, x, q, V) for _, x, q in found]
    assert (later[1] - later[0]) / (2.0 * e) == pytest.approx(drift, abs=1e-5)


def _product(p, q):
    w = p[0] * q[0] - p[1:] @ q[1:]
    return np.append(w, p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))


def _rates_along(rows, x, q, V):
    """J V at another pose, of the rows chosen before."""
    (held,) = rows.places
    ends = rows._ends_at(0, x, batch_rotation_matrix(q))
    places = held.find(ends, held.place[None])
    a, b = rows.ends[-1]
    return held.rates(ends, places, V[a][None], V[b][None])[0]


@pytest.mark.parametrize("case", MECHANISMS)
def test_motion_is_that_of_the_product(case):
    mech = MECHANISMS[case]()
    exact, found = moving("vigym", mech, 1e-3), moving("multipliers", mech, 5e-3)
    start = found.energy().total
    walk(exact, 100)
    walk(found, 20)
    # the product's second order: h^2 of third derivatives of a few hundred, at most
    assert found.positions == pytest.approx(exact.positions, abs=2e-4)
    assert found.velocities == pytest.approx(exact.velocities, abs=2e-3)
    assert found.energy().total == pytest.approx(start, abs=1e-5)  # of fourth order
    assert found.gap() < 1e-6


@pytest.mark.parametrize("mech", [torus_chain(4), windmill(1)], ids=["tori", "windmill"])
def test_chains_of_such_joints_are_trees(mech):
    """None of their rows is auxiliary, and the solution satisfies the whole system."""
    method = Multipliers(mech)
    system = method.system
    system.place(method._x, batch_rotation_matrix(method._q))
    assert system.primary.all()
    rng = np.random.default_rng(0)
    F, c = rng.normal(size=method._V.shape), rng.normal(size=len(system.rows.a))
    V, multipliers = system.solve(F, c)
    assert system.rows.rates(V) == pytest.approx(-c, abs=1e-10)
    push = np.einsum("k,knc->nc", multipliers, system.rows.matrix())
    needed = np.zeros_like(V)
    needed[:, :3] = system.mass[:, None] * V[:, :3]
    needed[:, 3:] = np.einsum("nij,nj->ni", system.world_inertia, V[:, 3:])
    assert (needed - push)[1:] == pytest.approx(F[1:], abs=1e-10)


def test_earlier_joints_go_into_the_tree_and_later_ones_close_it():
    order = elimination_order({3: (1, 2), 5: (0, 1), 7: (0, 2)}, 4)
    assert {joint for joint, _, _ in order} == {3, 5, -1}
    assert sorted(body for _, _, body in order) == [1, 2, 3]
    places = {body: k for k, (_, _, body) in enumerate(order)}
    assert places[1] < places[2]


def test_ggl_holds_the_windmill():
    mech = windmill(1)
    method = METHODS["ggl"](mech, 0.01)
    method.reset(velocities=turning(mech, 4.0))
    start = method.energy().total
    walk(method, 10)
    assert method.gap() <= 1e-10
    assert method.energy().total == pytest.approx(start, abs=1e-3)


def two_tori(**options):
    """Two linked tori, the first on a slider."""
    mech = Mechanism()
    SI.add_tori(mech, 2, **options)
    mech.add_joint("slide", "prismatic", "world", "t0", (0.0, 0.0, 0.3), (0.0, 0.0, 1.0))
    return mech


def test_trees_of_surface_joints_start_where_the_mechanism_does():
    """Joints as transforms, derived without the rows, satisfy them; falling they do not turn."""
    pytest.importorskip("sympy")
    mech = two_tori()
    tree, q = surface_tree(mech)
    assert tree.dofs == mech.degrees_of_freedom == 5
    _, x = recursion.poses(tree.links, tree.joints(q, np.zeros(tree.dofs)))
    assert x == pytest.approx(np.array([b.position for b in mech.bodies.values()]), abs=1e-12)
    falling = tree.accelerations(q, np.zeros(tree.dofs))
    expected = np.append(mech.gravity[2], np.zeros(4))
    assert falling == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("mech", "text"),
    [
        (two_tori(spin=True), "joint 'c0': found Torus of t1 on Torus of t0, expected spheres"),
        (SI.spline_chain(1), "joint 'rail': found Point of t0 on Bezier of world, expected"),
        (hanging("board on patch", False), "joint 'touch': found Plane of body on Patch"),
        (held("hinge"), "joint 'own': found body in world by hinge of 1, expected spheres"),
    ],
    ids=["spin", "curve", "patch", "own"],
)
def test_trees_of_surface_joints_say_what_they_do_not_know(mech, text):
    pytest.importorskip("sympy")
    with pytest.raises(MechanismError, match=text):
        surface_tree(mech)


def test_a_tree_of_surface_joints_has_a_joint_for_each_body():
    pytest.importorskip("sympy")
    mech = two_tori()
    mech.add_body("loose", 1.0, (0.1, 0.1, 0.1), (1.0, 0.0, 0.0))
    with pytest.raises(MechanismError, match="body 'loose': found it on no joint, expected one"):
        surface_tree(mech)


def rail(ends=None, **slide):
    mech = Mechanism()
    mech.add_body("bead", 1.0, (0.01, 0.01, 0.01), (0.1, 0.0, 0.0))
    curve = Bezier([(0.0, 0.0, 0.0), (0.5, 0.0, -0.5)])
    forces = Slide(limits=ends, **slide) if slide or ends else None
    mech.tracks.add_curve("rail", "world", "bead", curve, slide=forces)
    return mech


def test_ends_of_a_curve_are_an_error():
    method = METHODS["multipliers"](rail(), 0.01)
    with pytest.raises(StepError, match="found joint 'rail' beyond an end of its Bezier"):
        walk(method, 200)


@pytest.mark.parametrize("slide", [{"damping": 1.0}, {"stiffness": 1.0}, {"ends": (0.0, 0.3)}])
def test_forces_along_a_curve_are_known_to_the_product_alone(slide):
    mech = rail(**slide)
    assert able_methods(mech) == ["vigym"]
    with pytest.raises(MechanismError, match="found force along a curve or coordinate 'rail'"):
        METHODS["multipliers"](mech)
    assert able_methods(bare(mech)) == ["vigym", "multipliers", "baumgarte", "ggl"]


@pytest.mark.parametrize(
    ("mech", "kind"),
    [
        (SI.spline_chain(1), "curve joint 'rail'"),
        (hanging("ball on ball"), "surface joint 'touch'"),
        (held("hinge"), "joint of your own 'own'"),
    ],
    ids=["curve", "surface", "own"],
)
def test_joint_coordinates_say_which_joint_they_do_not_know(mech, kind):
    for name in ("rk4", "riqn", "third-order"):
        with pytest.raises(MechanismError) as error:
            METHODS[name](mech)
        assert f"method {name!r}: found " in str(error.value)
        assert str(error.value).endswith(": multipliers, baumgarte, ggl, vigym")
        assert kind in str(error.value) or "three free rotations" in str(error.value)


def test_a_bare_mechanism_keeps_joints_with_places():
    mech = SI.spline_chain(2)
    found = bare(mech)
    assert list(found.tracks) == list(mech.tracks)
    assert found.degrees_of_freedom == mech.degrees_of_freedom
