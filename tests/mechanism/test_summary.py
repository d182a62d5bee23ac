"""What a summary tells of loops, springs between points, contacts, motors and couplings."""

import numpy as np

from scenes.linkages import Y, four_bar, quadruped
from vigym.mechanism.elements.bodies import Ground
from vigym.mechanism.elements.shapes import Box, Sphere
from vigym.mechanism.mechanism import Mechanism


def lines(mech, title):
    """The lines of one table."""
    rows = mech.summary().splitlines()
    rows = rows[rows.index(f"{title}:") + 1 :]
    return [
        row.strip()
        for row in rows[: next((i for i, row in enumerate(rows) if row[0] != " "), len(rows))]
    ]


def test_freedoms_and_loops_are_told():
    text = four_bar().summary()
    assert "3 bodies, 4 joints" in text
    assert "degrees of freedom: 1\nredundant constraints: 3" in text
    assert lines(four_bar(), "joints")[-1].startswith("close  revolute  world -> c")
    assert lines(four_bar(), "loops") == ["close closes a loop  3 of 5 rows redundant, not imposed"]


def test_open_loops_are_marked():
    rows = lines(quadruped(spread=0.1), "loops")
    assert len(rows) == 4
    assert all("closes a loop  open as described, 3 of 5 rows redundant" in row for row in rows)


def test_what_redundant_rows_hide_is_told():
    rng = np.random.default_rng(3)
    mech = four_bar(axes=[np.add(Y, 1e-6 * rng.uniform(-1.0, 1.0, 3)) for _ in range(4)])
    distance, angle = mech.structure.loop_constraints["close"].misfit
    assert lines(mech, "loops")[0].endswith(
        f"they are off by up to {distance:.1e} m and {angle:.1e} rad"
    )


def test_a_mechanism_that_cannot_be_assembled_has_a_summary():
    mech = four_bar(ground=(8.0, 0.0, 0.0))
    assert "cannot be assembled: joint 'close': found its two joint frames 3.36 m" in mech.summary()
    assert lines(mech, "loops") == ["close closes a loop  open as described"]


def test_springs_are_listed():
    mech = four_bar()
    mech.add_spring("pull", "a", "world", (0, 0, 0.1), (1, 0, 0), 100.0, 0.3, damping=2.0)
    mech.add_spring("rope", "b", "c", (0, 0, 0), (0.5, 0, 0), 2500.0, 0.0)
    first, second = lines(mech, "springs")
    assert (
        first
        == "pull  a (0, 0, 0.1) - world (1, 0, 0)  stiffness 100 N/m   rest length 0.3 m  damping 2 N s/m"
    )
    assert second == "rope  b (0, 0, 0) - c (0.5, 0, 0)      stiffness 2500 N/m  rest length 0 m"


def test_what_touches_drives_and_couples_is_listed():
    mech = Mechanism(ground=Ground(0.1, friction=(0.5, 0.2)), name="cart")
    for name in "abc":
        mech.add_body(name, 0.5, (1, 1, 1))
    mech.add_joint(
        "hinge",
        "revolute",
        "a",
        "b",
        (0, 0, 0),
        (0, 1, 0),
        limits=(-1, 2),
        friction=0.3,
        velocity=4,
    )
    mech.add_joint("slide", "prismatic", "a", "c", (0, 0, 0), effort=2.0)
    mech.add_contact(
        "foot", "b", (0, 0, -1), 0.1, friction=(1, 0.5), torsion=0.01, direction=(0, 1, 0)
    )
    mech.add_contact("tip", "b", (0, 0, 1), restitution=0.3)
    mech.add_collision("trunk", "a", Box((1, 2, 3), position=(0, 0, 0.5)))
    mech.add_collision("ball", "c", Sphere(0.1))
    mech.add_pair("a", "c")
    mech.add_motor("hinge", 20.0, 0.5, effort=np.inf)
    mech.add_motor("slide", kd=3.0, effort=1.0)
    mech.add_coupling("belt", "gear", "slide", "hinge", ratio=-0.05, offset=0.2)
    mech.add_skate("blade", "a", (1, 0, 0), (0, 1, 0))
    mech.add_wheel("tyre", "c", (0, 1, 0), (0, 1, 0), 0.2)
    text = mech.summary()
    assert "cart: 3 bodies, 3 joints, 1.5 kg" in text
    assert "\nground: height 0.1 m, normal (0, 0, 1), friction (0.5, 0.2, 0.5)\n" in text
    assert "axis (0, 1, 0)  limits (-1, 2), friction 0.3, velocity 4" in text
    assert [" ".join(line.split()) for line in lines(mech, "motors")] == [
        "hinge to a position kp 20 kd 0.5 effort inf",
        "slide to a rate kp 0 kd 3 effort 1",
    ]
    assert lines(mech, "couplings") == ["belt  gear  slide = -0.05 hinge + 0.2"]
    assert [" ".join(line.split()) for line in lines(mech, "contacts")] == [
        "foot ball of b at (0, 0, -1) friction (1, 0.5, 1), torsion 0.01, along (0, 1, 0)",
        "tip point of b at (0, 0, 1) friction 0.8, restitution 0.3",
        "trunk box of a at (0, 0, 0.5) friction 0.8",
        "ball sphere of c at (0, 0, 0) friction 0.8",
    ]
    assert lines(mech, "pairs") == ["a  c"]
    assert lines(mech, "skates") == ["blade  a  at (1, 0, 0)  held along (0, 1, 0)"]
    assert lines(mech, "wheels") == ["tyre  c  at (0, 1, 0)  axis (0, 1, 0)  radius 0.2 m"]
