"""Infos of vector environments: dictionaries of arrays (num_envs, ...) with masks.

An entry `_key` (num_envs,) tells for which environments `key` is valid, as in Gymnasium.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vigym.envs.arrays import Array, Flags

Infos = dict[str, Any]


def with_masks(info: Infos, mask: Flags) -> Infos:
    """Return the info with a mask `_key` (num_envs,) for every key; the keys share one array."""
    return info | dict.fromkeys(_mask_keys(tuple(info)), mask.copy())


def masked_info(info: Infos, mask: Flags) -> Infos:
    """Return the info of environments in the mask, zero elsewhere."""
    scalars = _scalar_keys(info)
    values = _masked_rows(_rows(info, scalars, mask.size).T, mask).T
    others = {key: _masked_rows(info[key], mask) for key in info.keys() - set(scalars)}
    return dict(zip(scalars, values, strict=True)) | others


def merged_info(info: Infos, replacement: Infos, mask: Flags) -> Infos:
    """Return the info with that of environments in the mask taken from `replacement`."""
    scalars = _scalar_keys(info)
    values = _rows(info, scalars, mask.size)
    values[:, mask] = _rows(replacement, scalars, mask.size)[:, mask]
    others = {key: info[key].copy() for key in info.keys() - set(scalars)}
    for key, value in others.items():
        value[mask] = replacement[key][mask]
    return dict(zip(scalars, values, strict=True)) | others


def selected_info(info: Infos, keys: Sequence[str] | None) -> Infos:
    """Return the entries of some keys; None: all."""
    return info if keys is None else {key: info[key] for key in keys}


def info_of(infos: Mapping[str, Any], lane: int) -> Infos:
    """Return the info of one environment: entries valid for it, without masks and `final_*`."""
    return {
        key: info_of(value, lane) if isinstance(value, Mapping) else plain(value[lane])
        for key, value in infos.items()
        if not (key.startswith("final_") or (key.startswith("_") and key[1:] in infos))
        and (f"_{key}" not in infos or infos[f"_{key}"][lane])
    }


def plain(value: Any) -> Any:
    """Return a number of numpy as one of Python; other values stay."""
    return value.item() if isinstance(value, np.generic) else value


def _scalar_keys(info: Infos) -> list[str]:
    """Return the keys with one float for each environment: most of an info, copied as one array."""
    return [key for key, value in info.items() if value.ndim == 1 and value.dtype == np.float64]


def _rows(info: Infos, keys: list[str], count: int) -> Array:
    return np.array([info[key] for key in keys]).reshape(len(keys), count)


def _masked_rows(values: NDArray[Any], mask: Flags) -> NDArray[Any]:
    """Return rows of `values` (num_envs, ...) in the mask, zero elsewhere."""
    rows = np.zeros_like(values)
    rows[mask] = values[mask]
    return rows


@cache
def _mask_keys(keys: Iterable[str]) -> list[str]:
    return [f"_{key}" for key in keys]
