"""Inference with a LeNet-like network that was trained by PyTorch, run by the graph runtime.

After Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, Gradient-based learning applied to document
recognition, 1998: two layers of convolution and pooling, three dense layers. The weights, 100 images and
PyTorch's logits are recorded (`teachconv.data.digits`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..data import digits
from . import nn_ops as nn
from .array_ops import identity, placeholder, reshape
from .config import ConfigProto
from .math_ops import matmul
from .ops import Graph, name_scope
from .run_metadata import RunMetadata
from .session import Session
from .variables import Variable, global_variables_initializer

__all__ = ["build", "run"]


def build(weights: dict[str, np.ndarray]) -> Graph:
    """Build the graph. Run ``init`` first, feed ``images:0`` [batch, 8, 8, 1] and fetch ``logits:0``.

    Args:
        weights: filters (HWIO), dense weights [in, out] and biases, with keys such as "conv1/filters".

    Returns:
        The graph.
    """
    graph = Graph()
    with graph.as_default():
        layer: Any = placeholder("float32", [None, 8, 8, 1], name="images")
        for name in ("conv1", "conv2"):
            with name_scope(name):
                filters = Variable(weights[f"{name}/filters"], name="filters")
                bias = Variable(weights[f"{name}/bias"], name="bias")
                layer = nn.relu(nn.bias_add(nn.conv2d(layer, filters, padding="SAME"), bias))
                layer = nn.max_pool(layer, 2, 2, "VALID")
        layer = reshape(layer, [-1, 64])
        for name in ("dense1", "dense2", "dense3"):
            with name_scope(name):
                matrix = Variable(weights[f"{name}/weights"], name="weights")
                bias = Variable(weights[f"{name}/bias"], name="bias")
                layer = nn.bias_add(matmul(layer, matrix), bias)
                layer = layer if name == "dense3" else nn.relu(layer)
        logits = identity(layer, name="logits")
        nn.softmax(logits, name="probabilities")
        global_variables_initializer()
    return graph


def run(
    backend: str = "", config: ConfigProto | None = None, run_metadata: RunMetadata | None = None
) -> np.ndarray:
    """Compute the logits of the 100 recorded images.

    Args:
        backend: the name of a backend, or "" for the default.
        config: the configuration of the session; replaces ``backend``.
        run_metadata: filled with a log of the run if it is given.

    Returns:
        [100, 10] float32.

    >>> logits = run("numpy")
    >>> int((logits.argmax(axis=1) == digits()["labels"]).sum())          # of 100
    99
    """
    data = digits()
    with Session(build(data), config or ConfigProto(backend=backend)) as session:
        session.run("init")
        images = data["images"].astype(np.float32) / 16
        logits: np.ndarray = session.run("logits:0", {"images:0": images}, run_metadata=run_metadata)
    return logits
