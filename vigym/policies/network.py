"""Policies of dense layers in numpy, and their two files: weights and a card.

`NAME.safetensors` has the numbers. `NAME.json`, the card, has the sizes and the activation, how
observations and actions are scaled, the SHA-256 of the weights, the recipe, the seeds and the
returns. Reading them runs no code.
"""

import hashlib
import json
import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from vigym.files import read_file, read_json, whole_file, write_file

Array = NDArray[Any]
FORMAT = 1  # of the files; a reader refuses others
ENDING = ".safetensors"
ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "tanh": np.tanh,
    "relu": lambda values: np.maximum(values, np.float32(0.0)),
}
_USUAL = 1e6  # absolute value of normalised observations without a clip, on the safe side
# entry of a card: its type, and its description in errors
_ENTRIES: dict[str, tuple[type, str]] = {
    "format": (int, f"the whole number {FORMAT}"),
    "env_id": (str, "the id of an environment"),
    "sha256": (str, "the SHA-256 of the weights"),
    "sizes": (list, "numbers of observations, of units of each hidden layer, and of actions"),
    "activation": (str, f"one of: {', '.join(ACTIVATIONS)}"),
    "squashed": (bool, "true or false"),
}


@dataclass(frozen=True, eq=False)
class Network:
    """Deterministic policy: dense layers on normalised observations.

    It is a controller: `policy(observation, info)`, for one observation or a batch. An action does
    not depend on the rest of its batch, bit for bit.

    Attributes:
        weights: of each layer (n_out, n_in), float32.
        biases: of each layer (n_out,), float32.
        mean: of the observations (n_observations,), float64.
        scale: of the observations (n_observations,), float64; they are divided by it.
        clip: largest absolute value of a normalised observation.
        low: smallest actions (n_actions,), float32.
        high: largest actions (n_actions,), float32.
        activation: after each layer but the last: "tanh" or "relu".
        squashed: whether actions are tanh of the last layer, scaled to the bounds; else they are
            clipped to them.
        card: recipe, seeds, returns and all other entries of the card.
    """

    weights: list[Array]
    biases: list[Array]
    mean: Array
    scale: Array
    clip: float
    low: Array
    high: Array
    activation: str
    squashed: bool
    card: dict[str, Any]

    batched: ClassVar[bool] = True

    @property
    def sizes(self) -> list[int]:
        """Numbers of observations, of units of each hidden layer, and of actions."""
        return [len(self.mean), *(len(bias) for bias in self.biases)]

    def __call__(self, observation: Any, info: Mapping[str, Any]) -> Array:
        """Return the actions (..., n_actions) of observations (..., n_observations).

        `info` is not read.

        Raises:
            ValueError: another number of observations.
        """
        observation = np.asarray(observation)
        if observation.shape[-1:] != self.mean.shape:
            expected = f"expected (..., {len(self.mean)})"
            raise ValueError(f"observation: found shape {observation.shape}, {expected}")
        normalised = (observation - self.mean) / self.scale
        values = np.clip(normalised, -self.clip, self.clip).astype(np.float32)[..., np.newaxis]
        activate, last = ACTIVATIONS[self.activation], len(self.weights) - 1
        for layer, (weights, bias) in enumerate(zip(self.weights, self.biases, strict=True)):
            # a column for each observation: matrix times vector, whatever the size of the batch
            values = weights @ values + bias[:, np.newaxis]
            if layer < last:
                values = activate(values)
        actions: Array = values[..., 0]
        if self.squashed:
            half = np.float32(0.5) * (self.high - self.low)
            actions = self.low + (np.tanh(actions) + 1) * half
        return np.clip(actions, self.low, self.high)


def write_network(network: Network, file: Path) -> None:
    """Write the weights to `file`, which ends in .safetensors, and the card beside it."""
    from safetensors.numpy import save

    arrays = {name: getattr(network, name) for name in ("mean", "scale", "low", "high")}
    for layer, (weights, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        arrays |= {f"weights{layer}": weights, f"bias{layer}": bias}
    data = save({name: np.ascontiguousarray(array) for name, array in arrays.items()})
    head = {
        "format": FORMAT,
        "sizes": network.sizes,
        "activation": network.activation,
        "squashed": network.squashed,
        "clip": None if math.isinf(network.clip) else network.clip,
        "sha256": hashlib.sha256(data).hexdigest(),
    }
    text = json.dumps({**network.card, **head}, indent=2, allow_nan=False)
    with whole_file(file.with_suffix(".json")) as card:  # it changes after the weights, or not
        card.write_text(text + "\n", encoding="utf-8")
        write_file(file, data)


def read_network(file: Path) -> Network:
    """Return the policy in a file that ends in .safetensors, with its card beside it.

    Raises:
        ValueError: the file is missing, or does not fit its card.
    """
    card = _read_card(file.with_suffix(".json"))
    data = read_file(file, f"a file {ENDING}", "policy")
    digest = hashlib.sha256(data).hexdigest()
    if digest != card["sha256"]:
        expected = f"expected {card['sha256']}, as its card says"
        raise ValueError(f"policy {file}: found SHA-256 {digest}, {expected}")
    arrays = _arrays(file, data, card["sizes"])
    count = len(card["sizes"]) - 1
    network = Network(
        weights=[arrays[f"weights{layer}"] for layer in range(count)],
        biases=[arrays[f"bias{layer}"] for layer in range(count)],
        mean=arrays["mean"],
        scale=arrays["scale"],
        clip=math.inf if card.get("clip") is None else float(card["clip"]),
        low=arrays["low"],
        high=arrays["high"],
        activation=card["activation"],
        squashed=card["squashed"],
        card=card,
    )
    _check_range(network, file)
    return network


def _check_range(network: Network, file: Path) -> None:
    """Raise ValueError for weights with which an action could overflow."""
    checks = (
        ("scale", (network.scale > 0.0).all(), "numbers > 0"),
        ("low", (network.low <= network.high).all(), "numbers <= high"),
    )
    for name, fits, expected in checks:
        if not fits:
            found = getattr(network, name)
            raise ValueError(f"policy {file} {name}: found {found}, expected {expected}")
    # absolute value of the inputs of a layer
    largest = network.clip if np.isfinite(network.clip) else _USUAL
    for layer, (weights, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        rows = np.abs(weights).sum(axis=1, dtype=np.float64) * largest + np.abs(bias)
        largest = float(rows.max())
        if largest > float(np.finfo(np.float32).max):
            found = (
                f"numbers up to {np.abs(weights).max():g}, of which values up to {largest:g} come"
            )
            raise ValueError(f"policy {file} weights{layer}: found {found}, expected smaller ones")
        if network.activation == "tanh":
            largest = 1.0


def _read_card(file: Path) -> dict[str, Any]:
    """Return the checked entries of a card."""
    card = read_json(file, "a JSON object, as vigym export writes it", "card")
    for name, (kind, expected) in _ENTRIES.items():
        found: Any = card.get(name)
        fits = type(found) is kind
        if name == "format":
            fits = fits and found == FORMAT
        if name == "activation":
            fits = fits and found in ACTIVATIONS
        if name == "sizes":
            fits = fits and len(found) >= 2 and all(type(one) is int and one > 0 for one in found)
        if not fits:
            raise ValueError(f"card {file} {name}: found {found!r}, expected {expected}")
    clip: Any = card.get("clip")
    fits = type(clip) in (int, float) and 0.0 < clip <= sys.float_info.max
    if not (clip is None or fits):
        expected = "a finite number > 0, or null"
        raise ValueError(f"card {file} clip: found {clip!r}, expected {expected}")
    return card


def _arrays(file: Path, data: bytes, sizes: list[int]) -> dict[str, Array]:
    """Return the arrays by name; raise ValueError for one of another shape or type."""
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays: dict[str, Array] = load(data)
    except (SafetensorError, KeyError) as error:  # the second for types that numpy has not
        raise ValueError(f"policy {file}: found {error}, expected safetensors") from error
    shapes: dict[str, tuple[int, ...]] = {"mean": (sizes[0],), "scale": (sizes[0],)}
    shapes |= {"low": (sizes[-1],), "high": (sizes[-1],)}
    for layer, (inside, outside) in enumerate(zip(sizes[:-1], sizes[1:], strict=True)):
        shapes |= {f"weights{layer}": (outside, inside), f"bias{layer}": (outside,)}
    if set(arrays) != set(shapes):
        raise ValueError(f"policy {file}: found {sorted(arrays)}, expected {sorted(shapes)}")
    for name, shape in shapes.items():
        kind = "float64" if name in ("mean", "scale") else "float32"
        found = arrays[name]
        if found.shape != shape or found.dtype != kind or not np.isfinite(found).all():
            seen = f"{found.dtype} of shape {found.shape}"
            raise ValueError(f"policy {file} {name}: found {seen}, expected finite {kind} {shape}")
    return arrays
