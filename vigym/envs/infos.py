"""Infos of a vector of environments: the info of a batch with masks, of some environments, of two calls in one."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.envs.task import Array, Flags

Infos = dict[str, Any]


def masked(info: Infos, chosen: Flags) -> Infos:
    """Return the info with, for every key, a mask `_key` (num_envs,) of the chosen environments: one array for all."""
    return info | dict.fromkeys(_mask_keys(tuple(info)), chosen.copy())


def only(info: Infos, chosen: Flags) -> Infos:
    """Return the info of the chosen environments, zero elsewhere."""
    names, table = _numbers(info)
    picked = _only(table.T, chosen).T
    return dict(zip(names, picked, strict=True)) | {key: _only(info[key], chosen) for key in info.keys() - set(names)}


def replaced(info: Infos, others: Infos, chosen: Flags) -> Infos:
    """Return the info, of the chosen environments that in `others`."""
    (names, table), (_, fresh) = _numbers(info), _numbers(others, info)
    table[:, chosen] = fresh[:, chosen]
    rest = {key: info[key].copy() for key in info.keys() - set(names)}
    for key, value in rest.items():
        value[chosen] = others[key][chosen]
    return dict(zip(names, table, strict=True)) | rest


def _numbers(info: Infos, like: Infos | None = None) -> tuple[list[str], Array]:
    """Names and values (n_names, num_envs) of what is one number for each environment: most of an info."""
    names = [key for key, value in (like or info).items() if value.ndim == 1 and value.dtype == np.float64]
    return names, np.array([info[name] for name in names])


def _only(values: NDArray[Any], chosen: Flags) -> NDArray[Any]:
    """Return rows of `values` (num_envs, ...) where chosen, zero elsewhere."""
    picked = np.zeros_like(values)
    picked[chosen] = values[chosen]
    return picked


@cache
def _mask_keys(keys: Iterable[str]) -> list[str]:
    return [f"_{key}" for key in keys]
