"""Inertias of files: valid ones are read to the last bit, impossible ones are refused or mended and told."""

import re

import numpy as np
import pytest

from scenes.urdf_text import joint, link
from vigym.envs.tasks.urdf import Urdf
from vigym.mechanism.elements.checks import inertia_fault
from vigym.mechanism.elements.errors import UrdfError
from vigym.urdf.convert.survey import survey

BOX = '<collision><geometry><box size="0.1 0.2 0.3"/></geometry></collision>'
NO_MESH = '<collision><geometry><mesh filename="gone.obj"/></geometry></collision>'
ORIGIN = '<origin xyz="0 0 2"/>'


def inertial(tensor, mass: float = 2.0, origin: str = "") -> str:
    entries = np.diag(tensor) if np.ndim(tensor) == 1 else np.asarray(tensor)
    names = (
        ("ixx", 0, 0),
        ("ixy", 0, 1),
        ("ixz", 0, 2),
        ("iyy", 1, 1),
        ("iyz", 1, 2),
        ("izz", 2, 2),
    )
    written = " ".join(f'{name}="{float(entries[i, j])!r}"' for name, i, j in names)
    return f'<inertial>{origin}<mass value="{mass}"/><inertia {written}/></inertial>'


def changed(mech) -> list[str]:
    return [f"{note.element}: {note.message}" for note in mech.notes if note.action == "changed"]


def star(tensors) -> list[str]:
    """Return a file's elements: links with the tensors, all hinged to the first."""
    links = [link(f"l{k}", inertial(tensor)) for k, tensor in enumerate(tensors)]
    return links + [joint(f"j{k}", "continuous", "l0", f"l{k}") for k in range(1, len(tensors))]


def near_symmetric(rng) -> np.ndarray:
    """Return a valid inertia with two nearly equal moments, whose axes pybullet finds inexactly."""
    noise = rng.normal(size=(3, 3)) * 10 ** rng.uniform(-7, -2)
    moments = np.diag([1, 1 + 10 ** rng.uniform(-8, -1), 1.5])
    return (moments + noise + noise.T) * 10 ** rng.uniform(-5, 0)


def rotation(rng) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(3, 3)))[0]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("inertias", ["error", "report"])
def test_valid_inertias_are_those_of_the_file_to_the_last_bit(load, seed, inertias):
    rng = np.random.default_rng(seed)
    tensors = [near_symmetric(rng) for _ in range(100)]
    mech = load(*star(tensors), inertias=inertias)
    for body, tensor in zip(mech.bodies.values(), tensors, strict=True):
        np.testing.assert_array_equal(body.inertia, tensor)
    assert changed(mech) == []


def test_impossible_inertias_are_refused_and_the_option_is_named(load):
    hint = re.escape("(inertias='report' mends it)")
    with pytest.raises(UrdfError, match=f"the sum of the other two {hint}"):
        load(link("a", inertial((1, 1, 100))))
    with pytest.raises(UrdfError, match=f"expected all > 0 {hint}"):
        load(link("a", inertial((0, 1, 1))))
    with pytest.raises(UrdfError, match="inertias: found 'mend', expected 'error' or 'report'"):
        load(link("a", inertial((1, 1, 1))), inertias="mend")


def test_the_largest_moment_stays_and_the_others_grow_by_half_of_what_they_lack(load):
    mech = load(link("a", inertial((1, 2, 100))), inertias="report")
    np.testing.assert_allclose(mech.bodies["a"].inertia, np.diag([49.5, 50.5, 100]), rtol=1e-15)
    told = "no rigid body has principal moments (1, 2, 100): taken as (49.5, 50.5, 100)"
    assert changed(mech) == [f"link 'a' <inertial> <inertia>: {told}"]


@pytest.mark.parametrize("seed", range(5))
def test_any_symmetric_tensor_is_mended_to_a_valid_one_with_the_same_axes(load, seed):
    """Moments of either sign and any scale; one moment is positive, else there is nothing to keep."""
    rng = np.random.default_rng(seed)
    moments = rng.normal(size=(50, 3)) * 10 ** rng.uniform(-9, 3, size=(50, 1))
    moments[:, 0] = np.abs(moments).sum(axis=1)  # the sum of second moments stays positive
    axes = [rotation(rng) for _ in moments]
    tensors = [turn @ np.diag(row) @ turn.T for turn, row in zip(axes, moments, strict=True)]
    tensors = [(tensor + tensor.T) / 2 for tensor in tensors]
    mech = load(*star(tensors), inertias="report")
    told = "\n".join(changed(mech))
    for body, tensor, turn in zip(mech.bodies.values(), tensors, axes, strict=True):
        assert inertia_fault(body.inertia) == ""
        largest = np.abs(body.inertia).max()
        inner = turn.T @ body.inertia @ turn
        # a few roundings of the products of three matrices
        np.testing.assert_allclose(inner - np.diag(np.diag(inner)), 0, atol=1e-14 * largest)
        if inertia_fault(tensor):
            assert f"'{body.name}' " in told
        else:
            np.testing.assert_array_equal(body.inertia, tensor)


def test_an_impossible_sensor_does_not_refuse_the_body_that_it_is_fixed_to(load):
    """Many files have 1e-6 in all six entries of a sensor's inertia, which is that of no body."""
    heavy = np.diag([1.0, 2.0, 2.5])
    file = (
        link("trunk", inertial(heavy, mass=20.0)),
        link("imu", inertial(np.full((3, 3), 1e-6), mass=1e-6)),
        joint("weld", "fixed", "trunk", "imu"),
    )
    np.testing.assert_allclose(load(*file).bodies["trunk"].inertia, heavy, atol=3e-6)
    mech = load(*file, inertias="report")
    np.testing.assert_allclose(mech.bodies["trunk"].inertia, heavy, atol=3e-6)
    assert len(changed(mech)) == 1
    assert "(1.5e-06, 1.5e-06, 3e-06)" in changed(mech)[0]


def test_inertias_of_links_that_do_not_move_stay(load):
    bad = inertial((1, 1, 100))
    file = (link("a", bad), link("b", bad), joint("j", "continuous", "a", "b"))
    mech = load(*file, base="fixed", inertias="report")
    assert [text.partition(":")[0] for text in changed(mech)] == ["link 'b' <inertial> <inertia>"]


def test_a_line_becomes_a_thin_rod(load):
    turn = rotation(np.random.default_rng(0))
    for tensor in (np.diag([0.0, 1.0, 1.0]), turn @ np.diag([0.0, 1.0, 1.0]) @ turn.T):
        mech = load(link("a", inertial((tensor + tensor.T) / 2)), inertias="report")
        moments = np.linalg.eigvalsh(mech.bodies["a"].inertia)
        # rounding of eigenvalues is relative to the largest
        np.testing.assert_allclose(moments, [2e-4, 1.0001, 1.0001], rtol=0.0, atol=1e-14)
        assert changed(mech)[-1].endswith("those of a line: taken as (0.0002, 1.0001, 1.0001), "
                                          "a rod a hundredth as thick as long")  # fmt: skip


def test_points_on_a_line_become_a_thin_rod(load):
    point = inertial((0, 0, 0), mass=1.0)
    file = (link("a", point), link("b", point), joint("j", "fixed", "a", "b", ORIGIN))
    with pytest.raises(UrdfError, match=r"fixed links merged: found principal moments \(0, 2, 2\)"):
        load(*file)
    mech = load(*file, inertias="report")
    np.testing.assert_allclose(np.diag(mech.bodies["a"].inertia), [2.0002, 2.0002, 4e-4])


def test_points_that_coincide_but_for_rounding_are_one_point(load):
    """0.1 + 0.2 differs from 0.3 by a rounding: the links are no rod of that length."""
    point = inertial((0, 0, 0), mass=6.0)
    away = inertial((0, 0, 0), mass=6.0, origin='<origin xyz="0 0 0.3"/>')
    weld = joint("j", "fixed", "a", "b", f'<origin xyz="0 0 {0.1 + 0.2!r}"/>')
    mech = load(link("a", away + BOX), link("b", point), weld, inertias="report")
    np.testing.assert_allclose(np.diag(mech.bodies["a"].inertia), [0.13, 0.10, 0.05])


@pytest.mark.parametrize("shape", [BOX, BOX.replace("collision", "visual"), NO_MESH + BOX])
def test_a_body_without_inertia_gets_that_of_the_box_about_its_shapes(load, shape):
    file = link("a", inertial((0, 0, 0), mass=12.0) + shape)
    mech = load(file, inertias="report", missing_meshes="report")
    np.testing.assert_allclose(np.diag(mech.bodies["a"].inertia), [0.13, 0.10, 0.05])
    assert "a uniform box of its shapes' size, 0.1 x 0.2 x 0.3 m" in "".join(changed(mech))


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ('<sphere radius="0.5"/>', (1, 1, 1)),
        ('<cylinder radius="0.5" length="3"/>', (3, 1, 1)),
        ('<capsule radius="0.5" length="3"/>', (4, 1, 1)),
    ],
)
def test_the_box_about_round_shapes_touches_them(load, shape, size):
    along_x = '<origin rpy="0 1.5707963267948966 0" xyz="7 0 0"/>'
    collision = f"<collision>{along_x}<geometry>{shape}</geometry></collision>"
    mech = load(link("a", inertial((0, 0, 0), mass=12.0) + collision), inertias="report")
    second = np.array(size) ** 2
    np.testing.assert_allclose(np.diag(mech.bodies["a"].inertia), second.sum() - second)


def test_a_body_denser_than_matter_is_a_point(load):
    """A public humanoid has thighs of 2 kg with 2e-18 kg m^2: valid, but none is built so."""
    small = link("a", inertial((2e-18, 2e-18, 3e-18), mass=12.0) + BOX)
    np.testing.assert_array_equal(np.diag(load(small).bodies["a"].inertia), [2e-18, 2e-18, 3e-18])
    mech = load(small, inertias="report")
    np.testing.assert_allclose(np.diag(mech.bodies["a"].inertia), [0.13, 0.10, 0.05])
    assert "(2e-18, 2e-18, 3e-18) are those of a point: taken as" in "".join(changed(mech))


@pytest.mark.parametrize("shapes", ["", NO_MESH])
def test_a_body_with_neither_inertia_nor_shapes_is_a_ball_of_water(load, shapes):
    file = link("a", inertial((0, 0, 0)) + shapes)
    mech = load(file, inertias="report", missing_meshes="report")
    radius = (2.0 / 1000.0 * 3.0 / (4.0 * np.pi)) ** (1.0 / 3.0)
    expected = np.full(3, 0.4 * 2.0 * radius**2)
    np.testing.assert_allclose(np.diag(mech.bodies["a"].inertia), expected)
    assert f"a ball of water of its mass, {radius:.3g} m in radius" in "".join(changed(mech))


def test_a_link_whose_file_gives_no_inertia_is_a_point(load):
    mass_alone = '<inertial><mass value="12"/></inertial>'
    with pytest.raises(UrdfError, match="link 'a' <inertial>: found no <inertia>.*'report' mends"):
        load(link("a", mass_alone + BOX))
    mech = load(link("a", mass_alone + BOX), inertias="report")
    np.testing.assert_allclose(np.diag(mech.bodies["a"].inertia), [0.13, 0.10, 0.05])
    assert "link 'a' <inertial>: no <inertia>: a point" in changed(mech)


def test_the_environment_of_files_has_the_option(tmp_path):
    file = tmp_path / "robot.urdf"
    parts = (
        link("a", inertial((1, 1, 1))),
        link("b", inertial((1, 1, 9))),
        joint("j", "revolute", "a", "b"),
    )
    file.write_text(f'<robot name="r">{"".join(parts)}</robot>')
    with pytest.raises(UrdfError, match="link 'b'"):
        Urdf(urdf=file).mechanism()
    assert len(Urdf(urdf=file, inertias="report").mechanism().bodies) == 2


def test_parts_are_judged_by_their_body(load):
    """Impossible parts add up as written where the sum is possible, and are told."""
    trunk = np.diag([0.1, 0.2, 0.25])
    parts = {
        "six_equal": (np.full((3, 3), 2e-6), "no rigid body has principal moments (-"),
        "too_long": (np.diag([1e-6, 1e-6, 9e-6]), "no rigid body has principal moments (1e-06, 1"),
        "negative": (np.diag([-1e-6, 1e-6, 1e-6]), "no rigid body has principal moments (-1e-06"),
        "bare": (np.zeros((3, 3)), "no <inertia>: a point"),
    }
    links = [link("trunk", inertial(trunk, 9.0))]
    for name, (tensor, _) in parts.items():
        text = inertial(tensor, 0.002)
        links.append(link(name, text if tensor.any() else re.sub("<inertia [^>]*>", "", text)))
    welds = [joint(f"{name} weld", "fixed", "trunk", name, "") for name in parts]
    mech = load(*links, *welds)
    expected = trunk + sum(tensor for tensor, _ in parts.values())
    np.testing.assert_allclose(mech.bodies["trunk"].inertia, expected, rtol=0, atol=1e-16)
    notes = [str(note) for note in mech.notes]
    for name, (_, told) in parts.items():
        assert sum(f"link {name!r} <inertial>" in note and told in note for note in notes) == 1


def test_a_survey_lists_every_body_that_is_impossible_and_no_part_of_a_possible_one(tmp_path):
    long = np.diag([1e-6, 1e-6, 9e-6])
    links = [link("trunk", inertial([1, 1, 1])), link("tag", inertial(long))]
    links += [link(name, inertial(long)) for name in ("left", "right", "tip")]
    joints = [joint("weld", "fixed", "trunk", "tag", ""), joint("end", "fixed", "right", "tip", "")]
    joints += [joint(f"{name} hip", "continuous", "trunk", name) for name in ("left", "right")]
    file = tmp_path / "robot.urdf"
    file.write_text(f'<robot name="r">{"".join(links + joints)}</robot>')
    faulty = {element.split("'")[1] for element, _ in survey(file).faults}
    assert faulty == {"left", "right"}
