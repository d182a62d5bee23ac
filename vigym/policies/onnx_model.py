"""A policy of dense layers as an ONNX model, for the computer of a robot or another program."""

import math
from pathlib import Path
from typing import Any

import numpy as np

from vigym.files import write_file
from vigym.policies.network import Array, Network

INPUT, OUTPUT = "observation", "action"
OPERATORS = {"tanh": "Tanh", "relu": "Relu"}  # by the activation of a network
OPSET, IR = 13, 8  # the oldest versions with all that is used: older runtimes read them, too


class _Graph:
    """Operators in a row, each applied to the values of the one before.

    Attributes:
        nodes: operators so far.
        constants: their parameters.
        values: name of the values after the last operator.
    """

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.values = INPUT

    def apply(self, operator: str, *parameters: Array, output: str = "", **attributes: Any) -> None:
        """Append an operator with constant parameters."""
        from onnx import helper, numpy_helper

        output = output or f"values{len(self.nodes)}"
        names = [f"{output}_{k}" for k in range(len(parameters))]
        for name, array in zip(names, parameters, strict=True):
            self.constants.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        inputs = [self.values, *names]
        self.nodes.append(helper.make_node(operator, inputs, [output], **attributes))
        self.values = output


def write_onnx(network: Network, file: Path) -> None:
    """Write a policy as an ONNX model; it needs ``pip install "vigym[onnx]"``.

    Input ``observation`` (n, n_observations) and output ``action`` (n, n_actions) are float32, for
    any n. The model normalises observations and scales actions, as the policy does, which it equals
    to rounding. Its property ``env_id`` is that of the policy's card.

    Raises:
        ImportError: the package onnx is missing.
    """
    try:
        from onnx import TensorProto, helper
    except ImportError as error:
        raise ImportError("an ONNX model needs onnx: pip install 'vigym[onnx]'") from error
    graph = _Graph()
    _normalise(graph, network, TensorProto.DOUBLE, TensorProto.FLOAT)
    hidden = len(network.weights) - 1
    for layer, (weights, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
        graph.apply("Gemm", weights, bias, transB=1)
        if layer < hidden:
            graph.apply(OPERATORS[network.activation])
    if network.squashed:
        graph.apply("Tanh")
        graph.apply("Add", np.array(1.0, np.float32))
        graph.apply("Mul", np.float32(0.5) * (network.high - network.low))
        graph.apply("Add", network.low)
    graph.apply("Max", network.low)
    graph.apply("Min", network.high, output=OUTPUT)
    first, last = (
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size])]
        for name, size in ((INPUT, network.sizes[0]), (OUTPUT, network.sizes[-1]))
    )
    drawn = helper.make_graph(graph.nodes, "policy", first, last, graph.constants)
    opsets = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(drawn, producer_name="vigym", opset_imports=opsets, ir_version=IR)
    helper.set_model_props(model, {"env_id": str(network.card["env_id"])})
    write_file(file, model.SerializeToString())


def _normalise(graph: _Graph, network: Network, double: int, single: int) -> None:
    """Apply mean, scale and clip of the observations, in double precision as the policy does."""
    graph.apply("Cast", to=double)
    graph.apply("Sub", network.mean)
    graph.apply("Div", network.scale)
    if math.isfinite(network.clip):
        graph.apply("Clip", np.array(-network.clip), np.array(network.clip))
    graph.apply("Cast", to=single)
