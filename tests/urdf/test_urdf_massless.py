"""Links without mass in URDF files: between joints, at the ends, and files of kinematics alone."""

import numpy as np
import pytest

from vigym import Simulator, UrdfError, load_urdf

INERTIAL = (
    '<inertial><origin xyz="0 0 -0.25"/><mass value="0.8"/>'
    '<inertia ixx="0.02" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.001"/></inertial>'
)
BOX = '<collision><origin xyz="0 0 0.1"/><geometry><box size="0.1 0.2 0.3"/></geometry></collision>'


def link(name, content=""):
    return f'<link name="{name}">{content}</link>'


def joint(name, parent, child, axis, kind="continuous", more=""):
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis}"/>{more}</joint>'
    )


def read(tmp_path, *elements, **options):
    path = tmp_path / "robot.urdf"
    path.write_text(f'<robot name="r">{link("world")}{"".join(elements)}</robot>')
    return load_urdf(path, **options)


def test_hinges_with_links_without_mass_are_a_ball_joint(tmp_path):
    ball = read(tmp_path, link("bob", INERTIAL), joint("b", "world", "bob", "1 0 0", "spherical"))
    # away from the pose in which the first and the last axis are parallel
    hinges = read(
        tmp_path,
        *(link("ring_a"), link("ring_b"), link("bob", INERTIAL)),
        joint("x", "world", "ring_a", "1 0 0"),
        joint("y", "ring_a", "ring_b", "0 1 0"),
        joint("z", "ring_b", "bob", "0 0 1"),
    )
    assert hinges.bodies["ring_a"].mass == 0.0
    places = []
    for mech, velocities in ((ball, (1.0, 0.5, 0.3)), (hinges, (1.0, 0.5, 0.3))):
        sim = Simulator(mech, timestep=0.005)
        sim.reset(velocities=velocities)
        for _ in range(60):
            assert sim.step().converged
        places.append(sim.body_position("bob"))
    np.testing.assert_allclose(*places, rtol=0.0, atol=1e-7)


def test_joints_of_a_planar_base_keep_limits_and_actuators(tmp_path):
    limit = '<limit lower="-2" upper="2" effort="3" velocity="8"/>'
    mech = read(
        tmp_path,
        *(link("along", BOX), link("across"), link("cart", INERTIAL)),
        joint("x", "world", "along", "1 0 0", "prismatic", limit),
        joint("y", "along", "across", "0 1 0", "prismatic", limit),
        joint("yaw", "across", "cart", "0 0 1", more='<limit effort="3" velocity="8"/>'),
    )
    assert (mech.degrees_of_freedom, mech.actuator_names) == (3, ["x", "y", "yaw"])
    assert "a link without mass touches nothing" in [note.message for note in mech.notes]


LEAF = (
    link("arm", INERTIAL),
    joint("shoulder", "world", "arm", "0 1 0"),
    joint(
        "finger",
        "arm",
        "tip",
        "0 1 0",
        "revolute",
        '<limit lower="0" upper="1" effort="1" velocity="1"/>',
    ),
)


def test_ends_without_mass_take_that_of_their_shapes_in_water(tmp_path):
    with pytest.raises(UrdfError, match="link 'tip': found no mass .*'finger', nor beyond.*report"):
        read(tmp_path, *LEAF, link("tip", BOX))
    mech = read(tmp_path, *LEAF, link("tip", BOX), inertias="report")
    tip = mech.bodies["tip"]
    assert tip.mass == pytest.approx(1000.0 * 0.1 * 0.2 * 0.3)
    np.testing.assert_allclose(tip.position, (0.0, 0.0, 0.1))
    # that of the uniform box
    moments = tip.mass / 12.0 * np.array([0.13, 0.10, 0.05])
    np.testing.assert_allclose(np.diag(tip.inertia), moments)
    assert "link 'tip'" in [note.element for note in mech.notes]


def test_ends_without_mass_and_shape_are_fixed(tmp_path):
    mech = read(tmp_path, *LEAF, link("tip"), inertias="report")
    assert list(mech.bodies) == ["arm"]
    assert mech.frames["tip"].body == "arm"
    assert "joint 'finger'" in [note.element for note in mech.notes if note.action == "changed"]


def test_files_of_kinematics_alone_have_the_masses_of_their_shapes(tmp_path):
    chain = joint("a", "world", "upper", "0 1 0"), joint("b", "upper", "lower", "0 1 0")
    mech = read(tmp_path, link("upper", BOX), link("lower", BOX), *chain, inertias="report")
    assert [body.mass for body in mech.bodies.values()] == pytest.approx([6.0, 6.0])


def test_axes_that_leave_a_link_without_inertia_are_named(tmp_path):
    links = link("ring"), link("bob", INERTIAL)
    with pytest.raises(UrdfError, match="motion along 'a', 'b' moves no mass"):
        read(
            tmp_path,
            *links,
            joint("a", "world", "ring", "0 1 0"),
            joint("b", "ring", "bob", "0 1 0"),
        )
