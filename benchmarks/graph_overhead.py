"""Measures the overhead of the graph runtime per node, in microseconds, against plain NumPy calls.

    python benchmarks/graph_overhead.py [--nodes 10000] [--repeat 15]

Each row is validated before it is timed: the graph's result must equal that of the plain loop. The two are
timed alternately by processor time, so that other processes do not matter; the best time of each counts.
"overhead" is the difference divided by the number of nodes: the queue, tracking inputs and uses, and
freeing values.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

from teachconv import graph as tg
from teachconv.running import nn_ops

LIMIT = 20.0  # microseconds per node: the aim


def best(function: Callable[[], object], other: Callable[[], object], repeat: int) -> tuple[float, float]:
    """Return the shortest time of each, in seconds; they run alternately."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeat):
        for mine, run in zip(times, (function, other), strict=True):
            start = time.process_time()
            run()
            mine.append(time.process_time() - start)
    return min(times[0]), min(times[1])


def chain(nodes: int) -> tuple[Callable[[], object], Callable[[], object], int]:
    """Repeated x + 1: almost only overhead."""
    one, x = np.float32([1.0]), np.zeros(1, "float32")

    def plain() -> np.ndarray:
        y = x
        for _ in range(nodes):
            y = np.add(y, one)
        return y

    graph = tg.Graph()
    with graph.as_default():
        y = start = tg.placeholder("float32", [1], name="x")
        constant = tg.constant(one)
        for _ in range(nodes):
            y = y + constant
    session = tg.Session(graph)
    return plain, lambda: session.run(y, {start: x}), nodes


def fan(nodes: int) -> tuple[Callable[[], object], Callable[[], object], int]:
    """A tree of sums, in which half of the nodes are ready at once."""
    leaves = [np.full(1, i % 7, "float32") for i in range(nodes // 2 + 1)]
    x = np.zeros(1, "float32")

    def plain() -> np.ndarray:
        layer = [np.add(x, leaf) for leaf in leaves]
        while len(layer) > 1:
            pairs = [np.add(a, b) for a, b in zip(layer[::2], layer[1::2], strict=False)]
            layer = pairs + layer[len(pairs) * 2 :]
        return layer[0]

    graph = tg.Graph()
    with graph.as_default():
        start = tg.placeholder("float32", [1], name="x")
        layer = [start + leaf for leaf in leaves]
        while len(layer) > 1:
            pairs = [a + b for a, b in zip(layer[::2], layer[1::2], strict=False)]
            layer = pairs + layer[len(pairs) * 2 :]
    session = tg.Session(graph, tg.ConfigProto(common_subexpression_elimination=False))
    return plain, lambda: session.run(layer[0], {start: x}), 2 * len(leaves) - 1


def convolutions(nodes: int) -> tuple[Callable[[], object], Callable[[], object], int]:
    """A sequence of tiny convolutions, compared with teachconv.conv2d called in a loop."""
    x, w = np.ones((1, 4, 4, 1), "float32"), np.zeros((3, 3, 1, 1), "float32")
    w[1, 1] = 1

    def plain() -> np.ndarray:
        y = x
        for _ in range(nodes):
            y = nn_ops.conv2d(y, w, padding="SAME")
        return y

    graph = tg.Graph()
    with graph.as_default():
        y = start = tg.placeholder("float32", x.shape, name="x")
        filters = tg.constant(w)
        for _ in range(nodes):
            y = tg.nn.conv2d(y, filters, padding="SAME")
    session = tg.Session(graph)
    return plain, lambda: session.run(y, {start: x}), nodes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=15)
    args = parser.parse_args()
    rows = [
        ("chain of Add", chain(args.nodes)),
        ("tree of Add", fan(args.nodes)),
        ("chain of Conv2D", convolutions(max(1, args.nodes // 10))),
    ]
    print(f"{'graph':<16} {'nodes':>7} {'plain µs':>9} {'graph µs':>9} {'overhead':>9}   (µs a node)")
    slowest = 0.0
    for name, (plain, run, nodes) in rows:
        assert np.array_equal(np.asarray(plain()), np.asarray(run())), name
        plain_seconds, graph_seconds = best(plain, run, args.repeat)
        a, b = plain_seconds / nodes * 1e6, graph_seconds / nodes * 1e6
        slowest = max(slowest, b - a)
        print(f"{name:<16} {nodes:>7,} {a:>9.2f} {b:>9.2f} {b - a:>9.2f}")
    for nodes in (args.nodes // 4, args.nodes):
        start = time.process_time()
        _, run, _ = chain(nodes)
        built = time.process_time()
        run()
        first = time.process_time()
        print(
            f"chain of {nodes:,}: built in {(built - start) / nodes * 1e6:.1f} µs a node; placed, optimised, "
            f"pruned and run for the first time in {(first - built) / nodes * 1e6:.1f} µs a node"
        )
    print(f"{'within' if slowest <= LIMIT else 'ABOVE'} the limit of {LIMIT:.0f} µs a node")
    return 0 if slowest <= LIMIT else 1


if __name__ == "__main__":
    raise SystemExit(main())
