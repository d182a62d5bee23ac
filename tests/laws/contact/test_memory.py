"""What the solver remembers of former steps makes a step cheaper, not another one.

Left out are spins and stacks: where a jam has more than one solution, another method may find another.
"""

import numpy as np
import pytest

from scenes.random_scenes import KINDS, random_scene
from vigym.core.tables.state import ENVIRONMENT_STATE

REMEMBERED = [
    ENVIRONMENT_STATE.offset(name)
    for name in (
        "missed_starts",
        "interior_steps",
        "unpolished",
        "held_steps",
        "last_held_steps",
        "releases",
    )
]
ONE_SOLUTION = [kind for kind in KINDS if kind not in ("spin", "stack")]
STEPS = 60


def places_after(scene, sim, state, k):
    """Make step k of a scene from a state; return the places of all bodies."""
    sim.state = state
    assert scene.step(sim, k).converged
    return sim.body_states[..., :3].copy()


@pytest.mark.parametrize("kind", ONE_SOLUTION)
def test_steps_without_memory_lead_to_the_same_places(kind):
    """To the tolerance of nonsmooth steps, 1e-7 m."""
    compared = 0
    for seed in range(12):
        scene, h = random_scene(kind, seed)
        sim = scene.simulator(h)
        for k in range(STEPS):
            state = sim.state
            forgotten = state.copy()
            forgotten[..., REMEMBERED] = 0.0
            if (forgotten != state).any():
                compared += 1
                without = places_after(scene, sim, forgotten, k)
                np.testing.assert_allclose(places_after(scene, sim, state, k), without, atol=1e-7)
            else:
                scene.step(sim, k)
    assert compared > 0
