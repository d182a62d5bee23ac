"""Lane groups of a call: each environment is in one, and has data of its own."""

import numpy as np
import pytest

from scenes.touching_scenes import pendulum
from vigym import Simulator
from vigym.core.compiler.simd import LANES
from vigym.core.kernels import groups
from vigym.core.model.context import knot_buffer


@pytest.mark.parametrize("environments", range(1, 3 * LANES + 2))
def test_groups_hold_all_environments_and_none_is_empty(environments):
    count = groups.group_count(True, environments)
    assert (count - 1) * LANES < environments <= count * LANES
    assert groups.group_count(None, environments) == 1


def test_groups_have_states_of_their_own_and_share_their_plan():
    sim = Simulator(pendulum(), batch=3)
    angles = np.array([[0.1], [0.2], [-0.4]])
    sim.reset(angles)
    plan, model, state, work = sim._plant.groups.tables
    token = sim._plant.groups.features.token

    def group(g):
        return groups.data_of_group(plan, model, state, work, g, 0, token, True)

    for g, angle in enumerate(angles[:, 0]):
        pose = group(g).pose(knot_buffer(group(g), 0), 1)
        assert pose.orientation == pytest.approx((np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0))
        group(g).environment.time = 10.0 + g
        group(g).body(1).mass = 5.0 + g
    assert [group(g).environment.time for g in range(3)] == [10.0, 11.0, 12.0]
    assert [group(g).body(1).mass for g in range(3)] == [7.0] * 3  # constants of all
