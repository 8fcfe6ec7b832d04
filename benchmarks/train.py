"""Times training steps of teachconv.keras, PyTorch and Keras on one thread, interleaved; prints the ratios.

    python benchmarks/train.py --peer-python PATH    # the interpreter that has PyTorch and Keras
    python benchmarks/train.py --quick               # a smoke test: a few steps, teachconv only

Two networks: a VGG-like block on 32 x 32 x 3 images at batch 32, and the digits network of
examples/digits.py at batch 64. All begin with the same weights and see the same batch; before anything is
timed, the losses of three steps must agree. Each competitor has a process of its own and one runs at a
time, a few steps a round. A time is processor time, so that other work on the machine does not count; the
smallest of all rounds counts. "aim" is the ratio aimed at: PyTorch's time divided by teachconv's.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS")
EPSILON = 1e-20  # PyTorch adds it elsewhere than Keras; so small, it makes no difference
TOLERANCE = 1e-4  # of the first three losses, relative: float32 in another order
# a layer is ("conv", channels), ("pool",) or ("dense", units); every convolution is 3 x 3, same, with a ReLU
NETWORKS: dict[str, dict[str, Any]] = {
    "vgg block": {
        "input": (32, 32, 3),
        "batch": 32,
        "layers": [
            ("conv", 32),
            ("conv", 32),
            ("pool",),
            ("conv", 64),
            ("conv", 64),
            ("pool",),
            ("dense", 10),
        ],
        "aim": 1.6,
    },
    "digits": {
        "input": (8, 8, 1),
        "batch": 64,
        "layers": [("conv", 32), ("pool",), ("conv", 64), ("pool",), ("dense", 10)],
        "aim": 1.1,
    },
}


def data(name: str) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return a batch, its labels, and the initial weights in Keras' layout."""
    network = NETWORKS[name]
    rng = np.random.default_rng(0)
    rows, _, channels = network["input"]
    x = rng.random((network["batch"], *network["input"]), dtype=np.float32)
    weights: list[np.ndarray] = []
    for layer, *size in network["layers"]:
        if layer == "pool":
            rows //= 2
            continue
        shape = (3, 3, channels, *size) if layer == "conv" else (rows * rows * channels, *size)
        limit = np.sqrt(6 / (np.prod(shape[:-1]) + np.prod(shape) / np.prod(shape[-2])))
        weights += [rng.uniform(-limit, limit, shape).astype("float32"), np.zeros(size, "float32")]
        channels = size[0]
    return x, rng.integers(0, 10, len(x)), weights


# ---------------------------------------------------------------------------------------------
# Competitors: each returns a function that runs one step and returns the loss
# ---------------------------------------------------------------------------------------------


def keras_model(keras: Any, name: str) -> Any:
    """Return the network in Keras' words, which are teachconv.keras' words too."""
    made = {
        "conv": lambda n: keras.layers.Conv2D(n, 3, padding="same", activation="relu"),
        "pool": lambda: keras.layers.MaxPooling2D(),
        "dense": lambda n: keras.layers.Dense(n),
    }
    layers = [made[layer](*size) for layer, *size in NETWORKS[name]["layers"]]
    layers.insert(-1, keras.layers.Flatten())
    model = keras.Sequential([keras.Input(NETWORKS[name]["input"]), *layers])
    model.set_weights(data(name)[2])
    model.compile(
        keras.optimizers.Adam(epsilon=EPSILON), keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    )
    return model


def ours(name: str) -> tuple[Callable[[], float], dict[str, str]]:
    import teachconv as tc
    from teachconv import keras

    tc.set_num_threads(1)
    model, (x, y, _) = keras_model(keras, name), data(name)

    def step() -> float:
        model.reset_metrics()
        return float(model.train_on_batch(x, y))

    return step, {"teachconv": tc.__version__}


def real_keras(name: str) -> tuple[Callable[[], float], dict[str, str]]:
    os.environ |= {"KERAS_BACKEND": "tensorflow", "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    import keras
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    model, (x, y, _) = keras_model(keras, name), data(name)

    def step() -> float:
        model.reset_metrics()
        return float(model.train_on_batch(x, y))

    return step, {"keras": keras.__version__, "tensorflow": tf.__version__}


def pytorch(name: str) -> tuple[Callable[[], float], dict[str, str]]:
    import torch
    from torch import nn

    torch.set_num_threads(1)
    x, y, weights = data(name)
    rows, _, channels = NETWORKS[name]["input"]
    modules: list[Any] = []
    for layer, *size in NETWORKS[name]["layers"]:
        if layer == "pool":
            modules.append(nn.MaxPool2d(2))
            rows //= 2
            continue
        filters, bias = weights.pop(0), weights.pop(0)
        if layer == "conv":
            module: Any = nn.Conv2d(channels, *size, 3, padding=1)
            modules += [module, nn.ReLU()]
            filters = filters.transpose(3, 2, 0, 1)
        else:
            module = nn.Linear(rows * rows * channels, *size)
            modules += [nn.Flatten(), module]
            filters = filters.reshape(rows, rows, channels, -1).transpose(3, 2, 0, 1).reshape(*size, -1)
        with torch.no_grad():
            module.weight.copy_(torch.from_numpy(filters.copy()))
            module.bias.copy_(torch.from_numpy(bias))
        channels = size[0]
    model = nn.Sequential(*modules)
    optimizer = torch.optim.Adam(model.parameters(), 0.001, eps=EPSILON)
    images, labels = torch.from_numpy(x.transpose(0, 3, 1, 2).copy()), torch.from_numpy(y)

    def step() -> float:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(images), labels)
        loss.backward()
        optimizer.step()
        return loss.item()

    return step, {"torch": torch.__version__}


COMPETITORS = {"teachconv": ours, "pytorch": pytorch, "keras": real_keras}


def serve(competitor: str, network: str) -> None:
    """Be a competitor's process: write the first losses, then time as many steps as each number read says."""
    step, versions = COMPETITORS[competitor](network)
    print(json.dumps({"losses": [step() for _ in range(3)], "versions": versions}), flush=True)
    for line in sys.stdin:
        best = float("inf")
        for _ in range(int(line)):
            start = time.process_time()
            step()
            best = min(best, time.process_time() - start)
        print(json.dumps(best), flush=True)


# ---------------------------------------------------------------------------------------------
# The race
# ---------------------------------------------------------------------------------------------


class Competitor:
    """A competitor's process, from start to end of one network."""

    def __init__(self, name: str, network: str, python: str) -> None:
        self.name, self.seconds = name, float("inf")
        self._process = subprocess.Popen(
            [python, __file__, "--serve", name, network],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | dict.fromkeys(THREADS, "1"),
        )
        self.hello = self._read()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        while line := self._process.stdout.readline():
            if line.startswith(("{", *"0123456789")):
                return json.loads(line)
        raise SystemExit(f"{self.name} ended without an answer")

    def run(self, steps: int) -> None:
        """Time a few steps; keep the shortest."""
        assert self._process.stdin is not None
        print(steps, file=self._process.stdin, flush=True)
        self.seconds = min(self.seconds, self._read())

    def stop(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def race(network: str, names: list[str], options: argparse.Namespace) -> dict[str, float]:
    """Return the shortest step of each competitor in seconds, after their losses were compared."""
    pythons = {"teachconv": sys.executable}
    competitors = [Competitor(name, network, pythons.get(name, options.peer_python)) for name in names]
    try:
        for other in competitors[1:]:
            np.testing.assert_allclose(other.hello["losses"], competitors[0].hello["losses"], rtol=TOLERANCE)
        for _ in range(options.rounds):
            for competitor in competitors:
                competitor.run(options.steps)
        versions = {key: value for each in competitors for key, value in each.hello["versions"].items()}
        print(f"{network}: {', '.join(f'{key} {value}' for key, value in versions.items())}")
        return {competitor.name: competitor.seconds for competitor in competitors}
    finally:
        for competitor in competitors:
            competitor.stop()


def main() -> None:
    parser = argparse.ArgumentParser(description="time training steps against PyTorch and Keras")
    parser.add_argument("--peer-python", help="the interpreter that has PyTorch and Keras (default: none)")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS), metavar="NAME")
    parser.add_argument("--rounds", type=int, default=7, help="interleaved rounds")
    parser.add_argument("--steps", type=int, default=10, help="steps of a competitor in a round")
    parser.add_argument("--quick", action="store_true", help="a smoke test")
    parser.add_argument("--serve", nargs=2, metavar=("COMPETITOR", "NETWORK"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        return serve(*options.serve)
    if options.quick:
        options.rounds, options.steps, options.peer_python = 1, 2, None
    names = list(COMPETITORS) if options.peer_python else ["teachconv"]
    rows = []
    for network in options.networks:
        seconds = race(network, names, options)
        mine = seconds["teachconv"]
        ratios = [seconds[name] / mine for name in names[1:]]
        rows.append((network, [seconds[name] * 1e3 for name in names], ratios, NETWORKS[network]["aim"]))
    print()
    print("| network | " + " | ".join(f"{name}, ms" for name in names) + " | ", end="")
    print(" | ".join(f"{name} / teachconv" for name in names[1:]) + " | aim |")
    print("|---|" + "---:|" * (2 * len(names)))
    for network, times, ratios, aim in rows:
        cells = [
            network,
            *(f"{value:.2f}" for value in times),
            *(f"{value:.2f}" for value in ratios),
            f"{aim}",
        ]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
