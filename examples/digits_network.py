"""Inference with a small network that was trained by PyTorch, run by the graph runtime.

After Y. LeCun, L. Bottou, Y. Bengio and P. Haffner, Gradient-based learning applied to document
recognition, 1998, but smaller: two layers of convolution and pooling, one dense layer. The weights, 100
images and PyTorch's logits are recorded (`teachconv.data.digits`).
"""

from __future__ import annotations

from typing import Any

import graph_options
import numpy as np

from teachconv import graph as tg
from teachconv.data import digits

__all__ = ["build", "run"]


def build(weights: dict[str, np.ndarray]) -> tg.Graph:
    """Build the graph. Run ``init`` first, feed ``images:0`` [batch, 8, 8, 1] and fetch ``logits:0``.

    Args:
        weights: filters (HWIO), dense weights [in, out] and biases, with keys such as "conv1/filters".

    Returns:
        The graph.
    """
    graph = tg.Graph()
    with graph.as_default():
        layer: Any = tg.placeholder("float32", [None, 8, 8, 1], name="images")
        for name in ("conv1", "conv2"):
            with tg.name_scope(name):
                filters = tg.Variable(weights[f"{name}/filters"], name="filters")
                bias = tg.Variable(weights[f"{name}/bias"], name="bias")
                layer = tg.nn.relu(tg.nn.bias_add(tg.nn.conv2d(layer, filters, padding="SAME"), bias))
                layer = tg.nn.max_pool(layer, 2, 2, "VALID")
        layer = tg.reshape(layer, [-1, 64])
        with tg.name_scope("dense"):
            matrix = tg.Variable(weights["dense/weights"], name="weights")
            bias = tg.Variable(weights["dense/bias"], name="bias")
            layer = tg.nn.bias_add(tg.matmul(layer, matrix), bias)
        logits = tg.identity(layer, name="logits")
        tg.nn.softmax(logits, name="probabilities")
        tg.global_variables_initializer()
    return graph


def run(
    backend: str = "", config: tg.ConfigProto | None = None, run_metadata: tg.RunMetadata | None = None
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
    98
    """
    data = digits()
    with tg.Session(build(data), config or tg.ConfigProto(backend=backend)) as session:
        session.run("init")
        images = data["images"].astype(np.float32) / 16
        logits: np.ndarray = session.run("logits:0", {"images:0": images}, run_metadata=run_metadata)
    return logits


def main(arguments: list[str] | None = None) -> None:
    """Run the network as the options say, and print the log and how many digits are read rightly."""
    args = graph_options.parse("A small trained network on 100 digits.", arguments)
    metadata = tg.RunMetadata()
    logits = run(config=graph_options.config(args), run_metadata=metadata)
    graph_options.report(args, metadata)
    data = digits()
    right = int((logits.argmax(axis=1) == data["labels"]).sum())
    same = int((logits.argmax(axis=1) == data["logits"].argmax(axis=1)).sum())
    print(f"{right} of {len(logits)} digits are read rightly; PyTorch's answer is the same for {same}")
    if args.html:
        metadata.save_html(args.html)
        print(f"wrote {args.html}")


if __name__ == "__main__":
    main()
