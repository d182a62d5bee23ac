"""What a summary tells of loops and of springs between points."""

import numpy as np
from linkages import Y, four_bar, quadruped


def lines(mech, title):
    """The lines of one table."""
    rows = mech.summary().splitlines()
    rows = rows[rows.index(f"{title}:") + 1 :]
    return [row.strip() for row in rows[: next((i for i, row in enumerate(rows) if row[0] != " "), len(rows))]]


def test_freedoms_and_loops_are_told():
    text = four_bar().summary()
    assert "3 bodies, 4 joints" in text
    assert "degrees of freedom: 1\nredundant constraints: 3" in text
    assert lines(four_bar(), "joints")[-1].startswith("close  revolute  world -> c")
    assert lines(four_bar(), "loops") == ["close closes a loop  3 of 5 rows implied by the tree and not imposed"]


def test_open_loops_are_marked():
    rows = lines(quadruped(spread=0.1), "loops")
    assert len(rows) == 4
    assert all("closes a loop  open as described, 3 of 5 rows implied" in row for row in rows)


def test_what_implied_rows_hide_is_told():
    rng = np.random.default_rng(3)
    mech = four_bar(axes=[np.add(Y, 1e-6 * rng.uniform(-1.0, 1.0, 3)) for _ in range(4)])
    distance, angle = mech.structure.closures["close"].misfit
    assert lines(mech, "loops")[0].endswith(f"they are off by up to {distance:.1e} m and {angle:.1e} rad")


def test_a_mechanism_that_cannot_be_assembled_has_a_summary():
    mech = four_bar(ground=(8.0, 0.0, 0.0))
    assert "cannot be assembled: joint 'close': found its two halves 3.36 m" in mech.summary()
    assert lines(mech, "loops") == ["close closes a loop  open as described"]


def test_springs_are_listed():
    mech = four_bar()
    mech.add_spring("pull", "a", "world", (0, 0, 0.1), (1, 0, 0), 100.0, 0.3, damping=2.0)
    mech.add_spring("rope", "b", "c", (0, 0, 0), (0.5, 0, 0), 2500.0, 0.0)
    first, second = lines(mech, "springs")
    assert first == "pull  a (0, 0, 0.1) - world (1, 0, 0)  stiffness 100 N/m   rest length 0.3 m  damping 2 N s/m"
    assert second == "rope  b (0, 0, 0) - c (0.5, 0, 0)      stiffness 2500 N/m  rest length 0 m"
