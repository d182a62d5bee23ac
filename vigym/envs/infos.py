"""Infos: computed when they are read, and in vector environments with masks.

Those of vector environments are arrays (num_envs, ...). An entry `_key` (num_envs,) tells for which
environments `key` is valid, as in Gymnasium.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from vigym.envs.arrays import Array, Flags

Infos = dict[str, Any]
_NUMPY = (np.ndarray, np.generic)
_set_entry = dict.__setitem__
# methods of a dictionary whose result depends on its entries
_READERS = (
    *("__contains__", "__delitem__", "__eq__", "__getitem__", "__ior__", "__iter__", "__len__"),
    *("__ne__", "__or__", "__repr__", "__reversed__", "__ror__", "__setitem__", "clear", "copy"),
    *("get", "items", "keys", "pop", "popitem", "setdefault", "update", "values"),
)


class Info(Infos):
    """Dictionary whose entries may be computed at its first use, see `Info.unread`.

    Libraries that map nested dictionaries make new ones by its type: it is called as `dict` is.
    """

    __slots__ = ("_compute",)
    _compute: Callable[[], Infos] | None

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Return an info without entries and without any to compute."""
        info = super().__new__(cls)
        info._compute = None
        return info

    def __reduce__(self) -> tuple[Any, ...]:
        return Info, (dict(self),)

    @classmethod
    def unread(cls, compute: Callable[[], Infos]) -> Self:
        """Return an info whose entries are computed at its first use.

        Until then it has one entry, for compiled code that goes past the methods of a dictionary:
        Python's `json` asks whether it is empty, and then for its `items`.

        Args:
            compute: returns the entries, from values that later steps leave as they are.
        """
        info = dict.__new__(cls)
        _set_entry(info, "unread", None)
        info._compute = compute
        return info

    def fill(self) -> None:
        """Compute the entries, unless they are there."""
        if self._compute is None:
            return
        entries = self._compute()
        self._compute = None  # its content is no longer needed
        dict.clear(self)
        dict.update(self, entries)


def _filling(name: str) -> Callable[..., Any]:
    """Return a method of a dictionary that computes the entries first."""
    of_dictionary = getattr(dict, name)

    def method(info: Info, *args: Any, **kwargs: Any) -> Any:
        info.fill()
        return of_dictionary(info, *args, **kwargs)

    return method


for _name in _READERS:
    setattr(Info, _name, _filling(_name))


def with_masks(info: Infos, mask: Flags) -> Infos:
    """Return the info with a mask `_key` (num_envs,) for every key; the keys share one array."""
    return info | dict.fromkeys(_mask_keys(tuple(info)), mask.copy())


def unread_info(read: Callable[[], Infos], keys: Sequence[str] | None, mask: Flags) -> Infos:
    """Return the entries of some keys (None: all) with masks, made when they are read."""
    return Info.unread(lambda: with_masks(selected_info(read(), keys), mask))


def unread_restart_info(
    reads: tuple[Callable[[], Infos], Callable[[], Infos]],
    keys: Sequence[str] | None,
    restarted: Flags,
    observations: Array,
) -> Infos:
    """Return the infos of a step after which environments restarted, made when they are read.

    Args:
        reads: functions that return the infos at the end of the step, and after the restarts.
        keys: of the entries to report; None: all.
        restarted: (num_envs,) environments that restarted; their infos are those of their starts,
            and `final_info` has those of their ends.
        observations: (num_envs, n) at the end of the step.
    """

    def compute() -> Infos:
        final = np.full(len(restarted), None, dtype=object)
        for lane in np.flatnonzero(restarted):
            final[lane] = observations[lane]
        last, first = (selected_info(read(), keys) for read in reads)
        infos = with_masks(merged_info(last, first, restarted), np.ones_like(restarted))
        infos["final_obs"] = final
        infos["_final_obs"] = restarted.copy()
        infos["final_info"] = with_masks(masked_info(last, restarted), restarted)
        infos["_final_info"] = restarted.copy()
        return infos

    return Info.unread(compute)


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


def joined_infos(parts: Sequence[Infos]) -> Infos:
    """Return infos of several vector environments as those of one."""
    infos: Infos = {}
    for key, value in parts[0].items():
        values = [part[key] for part in parts]
        infos[key] = joined_infos(values) if isinstance(value, dict) else np.concatenate(values)
    return infos


def with_no_restart(infos: Infos, count: int) -> Infos:
    """Return infos of `count` environments as after a step in which only others restarted."""
    none = np.zeros(count, dtype=np.bool_)
    final: Infos = {"final_obs": np.full(count, None, dtype=object), "_final_obs": none}
    final["final_info"] = {key: np.zeros_like(value) for key, value in infos.items()}
    return infos | final | {"_final_info": none}


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


def with_plain_numbers(info: Infos) -> Infos:
    """Return the info, with numbers of Python in place of arrays without axes."""
    for key, value in info.items():
        kind = type(value)
        if kind is float:
            continue
        if kind is np.float64:
            info[key] = float(value)  # faster than `item`
        elif isinstance(value, _NUMPY) and not value.shape:
            info[key] = value.item()
    return info


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
