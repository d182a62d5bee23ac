"""Policies in numpy: their layers, their files, and what is refused."""

import hashlib
import json

import numpy as np
import pytest

import vigym
from vigym.policies.network import Network, read_network, write_network
from vigym.policies.onnx_model import write_onnx

SIZES = [5, 7, 6, 2]


def network(activation="tanh", squashed=False, clip=10.0):
    """Return a policy with random numbers."""
    rng = np.random.default_rng(0)
    pairs = list(zip(SIZES[:-1], SIZES[1:], strict=True))
    return Network(
        weights=[rng.standard_normal((n, m)).astype(np.float32) for m, n in pairs],
        biases=[rng.standard_normal(n).astype(np.float32) for _, n in pairs],
        mean=rng.standard_normal(5),
        scale=rng.uniform(0.5, 2.0, 5),
        clip=clip,
        low=np.array([-1.0, -2.0], np.float32),
        high=np.array([1.0, 0.5], np.float32),
        activation=activation,
        squashed=squashed,
        card={"env_id": "mine/Thing-v0", "training": {"seed": 3}},
    )


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize("squashed", [False, True])
def test_actions_are_those_of_the_layers_in_double_precision(activation, squashed):
    policy = network(activation, squashed, clip=1.0)
    observations = np.random.default_rng(1).standard_normal((50, 5))
    values = np.clip((observations - policy.mean) / policy.scale, -1.0, 1.0)
    for layer, (weights, bias) in enumerate(zip(policy.weights, policy.biases, strict=True)):
        values = values @ weights.astype(float).T + bias
        if layer < 2:
            values = np.tanh(values) if activation == "tanh" else np.maximum(values, 0.0)
    low, high = policy.low.astype(float), policy.high.astype(float)
    if squashed:
        expected = low + 0.5 * (np.tanh(values) + 1.0) * (high - low)
    else:
        expected = np.clip(values, low, high)
    found = policy(observations, {})
    assert found.dtype == np.float32
    # single precision (6e-8) over sums of at most 7 products of some 10 in three layers
    assert np.abs(found - expected).max() < 1e-5
    assert (found >= policy.low).all()
    assert (found <= policy.high).all()


@pytest.mark.parametrize("activation", ["tanh", "relu"])
@pytest.mark.parametrize(("squashed", "clip"), [(False, 1.0), (True, np.inf)])
def test_its_onnx_model_acts_as_it_does(tmp_path, activation, squashed, clip):
    onnx = pytest.importorskip("onnx")
    from onnx.reference import ReferenceEvaluator

    policy, file = network(activation, squashed, clip), tmp_path / "policy.onnx"
    write_onnx(policy, file)
    model = onnx.load(file)
    onnx.checker.check_model(model, full_check=True)
    assert {entry.key: entry.value for entry in model.metadata_props} == {"env_id": "mine/Thing-v0"}
    observations = np.random.default_rng(1).standard_normal((50, 5)).astype(np.float32)
    (found,) = ReferenceEvaluator(model).run(None, {"observation": observations})
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, policy(observations, {}), rtol=0.0, atol=1e-5)


def test_an_action_does_not_depend_on_its_batch():
    policy = network()
    observations = np.random.default_rng(1).standard_normal((37, 5))
    together = policy(observations, {})
    assert np.array_equal(together, [policy(one, {}) for one in observations])
    assert np.array_equal(together[3:8], policy(observations[3:8], {}))
    assert np.array_equal(
        together[:36].reshape(6, 6, 2), policy(observations[:36].reshape(6, 6, 5), {})
    )


@pytest.mark.parametrize("clip", [10.0, np.inf])
def test_files_bring_back_the_policy(tmp_path, clip):
    policy, file = network("relu", True, clip), tmp_path / "mine.safetensors"
    write_network(policy, file)
    back = vigym.load_policy(file)
    observations = np.random.default_rng(1).standard_normal((9, 5))
    assert np.array_equal(back(observations, {}), policy(observations, {}))
    assert (back.sizes, back.clip) == (SIZES, clip)
    assert back.card["training"] == {"seed": 3}
    assert {path.name for path in tmp_path.iterdir()} == {"mine.safetensors", "mine.json"}


def test_observations_of_another_size_are_refused():
    with pytest.raises(ValueError, match=r"observation: found shape \(4,\), expected \(..., 5\)"):
        network()(np.zeros(4), {})


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"format": 2}, "format: found 2, expected the whole number 1"),
        ({"activation": "os.system"}, "activation: found 'os.system', expected one of: tanh, relu"),
        ({"sizes": [5, 2]}, r"found \['bias0'"),
        ({"sizes": [5, 7, 6, 3]}, r"float32 of shape \(2,\), expected finite float32 \(3,\)"),
        ({"sizes": [5, "7", 2]}, "sizes: found"),
        ({"sha256": 64 * "0"}, "found SHA-256 .*, expected 000"),
        ({"squashed": 1}, "squashed: found 1, expected true or false"),
        ({"clip": float("nan")}, "clip: found nan, expected a finite number > 0, or null"),
        ({"clip": 10**400}, "clip: found 10"),
        ({"clip": "1"}, "clip: found '1'"),
        ({"clip": 0}, "clip: found 0, expected"),
        ({"clip": True}, "clip: found True, expected"),
    ],
)
def test_a_card_that_does_not_fit_is_refused(tmp_path, entries, message):
    file = tmp_path / "mine.safetensors"
    write_network(network(), file)
    card = json.loads((tmp_path / "mine.json").read_text())
    (tmp_path / "mine.json").write_text(json.dumps(card | entries))
    with pytest.raises(ValueError, match=message):
        read_network(file)


def test_files_that_are_missing_or_damaged_are_refused(tmp_path):
    file = tmp_path / "mine.safetensors"
    with pytest.raises(ValueError, match="mine.json.*No such file"):
        read_network(file)
    write_network(network(), file)
    card = json.loads((tmp_path / "mine.json").read_text())
    whole = file.read_bytes()
    head = b'{"a": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}'  # numpy has no BF16
    for broken in (whole[:-3], len(head).to_bytes(8, "little") + head + b"12"):
        file.write_bytes(broken)
        card["sha256"] = hashlib.sha256(broken).hexdigest()
        (tmp_path / "mine.json").write_text(json.dumps(card))
        with pytest.raises(ValueError, match="expected safetensors"):
            read_network(file)
    (tmp_path / "mine.json").write_text("[1]")
    with pytest.raises(ValueError, match="found a list, expected a JSON object"):
        read_network(file)
    (tmp_path / "mine.json").write_text("import os")
    with pytest.raises(ValueError, match="found no JSON .*, expected a JSON object"):
        read_network(file)


@pytest.mark.parametrize("name", ["scale", "low", "weights"])
def test_numbers_that_make_actions_of_nothing_are_refused(tmp_path, name):
    """Zero over zero, empty ranges, overflow."""
    policy, file = network("relu", clip=np.inf), tmp_path / "mine.safetensors"
    if name == "weights":
        policy.weights[0][:] = 1e38
        policy.weights[1][:] = -1e38
    else:
        getattr(policy, name)[0] = 0.0 if name == "scale" else policy.high[0] + 1.0
    write_network(policy, file)
    with pytest.raises(ValueError, match=f"mine.safetensors {name}.*: found .*, expected"):
        read_network(file)


def test_numbers_that_are_not_finite_are_refused(tmp_path):
    policy, file = network(), tmp_path / "mine.safetensors"
    policy.weights[1][0, 0] = np.nan
    write_network(policy, file)
    with pytest.raises(ValueError, match="weights1: found float32 .* expected finite float32"):
        read_network(file)
