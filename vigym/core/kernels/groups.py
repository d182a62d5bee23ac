"""Lane groups of a call: how many there are, and their data."""

from vigym.core.compiler.kernel import inline
from vigym.core.compiler.rows import group_data
from vigym.core.compiler.simd import LANES
from vigym.core.tables.plan import HEADER

STATE_SIZE = HEADER.offset("state_size")


@inline
def group_count(batch, environments):
    """Count the lane groups of a batch in double precision; a single environment is one group."""
    if batch is None:
        return 1
    return (environments + LANES - 1) // LANES


@inline
def data_of_group(plan, model, state, work, g, model_stride, features, batch):
    """Find the data of lane group g; its scratch memory starts at the beginning of ``work``."""
    state_start = g * plan[STATE_SIZE]
    return group_data(plan, model, state, work, g * model_stride, state_start, 0, features, batch)
