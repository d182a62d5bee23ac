"""Random streams of a vector of environments, one for each, as if it were alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium.utils import seeding

from vigym.envs.task import Flags

Seeds = int | Sequence[int | None] | None


class Streams:
    """One random stream per environment, from a random seed until it is given one.

    Args:
        count: number of environments.

    Attributes:
        generators: the streams.
        seeds: where they began.
    """

    def __init__(self, count: int) -> None:
        self.generators: tuple[np.random.Generator, ...] = ()
        self.seeds: tuple[int, ...] = ()
        self._begin([seeding.np_random() for _ in range(count)])

    def seed(self, seeds: Seeds, chosen: Flags) -> None:
        """Begin the streams of the chosen environments afresh; those whose seed is None go on.

        Args:
            seeds: one for each environment, or that of the first, the next being one more; None for all.
            chosen: (count,) environments.

        Raises:
            ValueError: not one seed for each environment, or one that is not a whole number >= 0.
        """
        pairs = list(zip(self.generators, self.seeds, strict=True))
        for lane, seed in enumerate(self._listed(seeds)):
            if seed is not None and chosen[lane]:
                pairs[lane] = seeding.np_random(seed)
        self._begin(pairs)

    def _begin(self, pairs: list[tuple[np.random.Generator, int]]) -> None:
        self.generators, self.seeds = tuple(stream for stream, _ in pairs), tuple(seed for _, seed in pairs)

    def _listed(self, seeds: Seeds) -> list[int | None]:
        count = len(self.generators)
        if seeds is None:
            return [None] * count
        if isinstance(seeds, Sequence | np.ndarray):
            listed: list[Any] = list(seeds)
        else:
            listed = [seeds + lane if _is_seed(seeds) else seeds for lane in range(count)]
        if len(listed) != count:
            raise ValueError(f"seed: found {len(listed)} seeds, expected one for each of {count} environments")
        for seed in listed:
            if seed is not None and not _is_seed(seed):
                raise ValueError(f"seed: found {seed!r}, expected a whole number >= 0")
        return [None if seed is None else int(seed) for seed in listed]


def _is_seed(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0
