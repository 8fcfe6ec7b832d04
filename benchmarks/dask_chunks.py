"""Compares conv2d on a dask array with dask-image's ndfilters.convolve and with SciPy on one channel.

    python benchmarks/dask_chunks.py [--size 4096] [--chunk 1024] [--rounds 5] [--workers 2]

One image of one channel, float32, chunked over rows and columns, and one square filter; beyond the border
there are zeros. dask-image and scipy.ndimage flip the filter and have one channel, so that is all they can be
compared on. Every result is first compared with a float64 one, within the bound of direct summation. Then all
take turns in one process, and the table shows the median of each one's time divided by teachconv's of the
same round. scipy.ndimage and "whole" compute the image in one piece; the others chunk by chunk in threads.
Last it builds the graph of 100,000 chunks, which computes nothing.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import time
from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import machine
import numpy as np
from scipy import ndimage, signal

import teachconv as tc
from teachconv.truth import bounds

FILTERS = (3, 5, 9)  # rows and columns


def competitors(image: np.ndarray, filters: np.ndarray, chunk: int) -> dict[str, Callable[[], np.ndarray]]:
    """Return functions of no arguments that compute the same [rows, cols], by name."""
    x, w = image[None, :, :, None], filters[:, :, None, None]
    chunks, flipped = da.from_array(image, chunks=chunk), filters[::-1, ::-1].copy()
    lazy = tc.conv2d(chunks[None, :, :, None], w, padding="SAME")
    found = {
        "teachconv, dask": lambda: lazy.compute()[0, :, :, 0],
        "teachconv, whole": lambda: tc.conv2d(x, w, padding="SAME")[0, :, :, 0],
        "scipy.ndimage": lambda: ndimage.convolve(image, flipped, mode="constant"),
        "scipy.signal": lambda: signal.oaconvolve(image, flipped, mode="same"),
    }
    try:
        from dask_image import ndfilters
    except ImportError:
        print("dask-image is not installed: pip install dask-image")
    else:
        theirs = ndfilters.convolve(chunks, flipped, mode="constant")
        found["dask-image"] = theirs.compute
    return found


def check(name: str, got: np.ndarray, image: np.ndarray, filters: np.ndarray) -> None:
    """Raise unless every cell is within its bound; an FFT is held to its own, which is that of the image."""
    wide, taps = image.astype("float64"), filters.astype("float64")[::-1, ::-1]
    want = ndimage.convolve(wide, taps, mode="constant")
    sizes = ndimage.convolve(abs(wide), abs(taps), mode="constant")
    limit = bounds.direct(sizes, filters.size, image.dtype)
    if name == "scipy.signal":
        limit = limit.max() * np.log2(image.size)
    if not (abs(got - want) <= limit).all():
        raise SystemExit(f"{name} is wrong: {abs(got - want).max()} from the result in float64")


def race(found: dict[str, Callable[[], Any]], rounds: int) -> dict[str, list[float]]:
    """Return the seconds of each, one call after the other in each round."""
    times: dict[str, list[float]] = {name: [] for name in found}
    for number in range(rounds):
        names = list(found) if number % 2 == 0 else list(reversed(found))
        for name in names:
            start = time.perf_counter()
            found[name]()
            times[name].append(time.perf_counter() - start)
    return times


def graph(chunks: int) -> str:
    """Return how long a graph of about ``chunks`` chunks takes, in processor time, and its tasks for each."""
    rows = round(chunks**0.5)
    image = da.zeros((1, rows * 10, -(-chunks // rows) * 10, 1), chunks=(1, 10, 10, 1), dtype="float32")
    start = time.process_time()
    y = tc.conv2d(image, np.ones((3, 3, 1, 1), "float32"), padding="SAME")
    seconds = time.process_time() - start
    tasks = len(y.dask.layers[y.name]) / y.npartitions
    return f"{y.npartitions:,} chunks: {seconds:.2f} s to build the graph, {tasks:.1f} tasks a chunk"


def main(arguments: list[str] | None = None) -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=4096, help="rows and columns of the image")
    parser.add_argument("--chunk", type=int, default=1024, help="rows and columns of a chunk")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2, help="threads of dask")
    parser.add_argument("--graph", type=int, default=100_000, help="chunks of the graph that is built")
    options = parser.parse_args(arguments)
    print(f"{machine.describe()['processor']}; Python {platform.python_version()}, dask {dask.__version__}")
    print(f"{options.size} x {options.size}, chunks of {options.chunk}, {options.workers} threads of dask\n")
    rng = np.random.default_rng(0)
    image = rng.standard_normal((options.size, options.size), dtype="float32")
    with dask.config.set(scheduler="threads", num_workers=options.workers):
        for size in FILTERS:
            filters = rng.standard_normal((size, size), dtype="float32")
            found = competitors(image, filters, options.chunk)
            for name, run in found.items():
                check(name, run(), image, filters)
            times = race(found, options.rounds)
            ours = times["teachconv, dask"]
            for name, seconds in times.items():
                ratio = statistics.median(s / our for s, our in zip(seconds, ours, strict=True))
                print(f"{size} x {size}  {name:<17} {statistics.median(seconds):8.3f} s  {ratio:6.2f} x")
    print(f"\n{graph(options.graph)}")


if __name__ == "__main__":
    main()
