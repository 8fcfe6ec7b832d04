"""Blurs an image of 20,000 x 20,000 pixels to half its size, and brings it back up, in less than 1 GB.

    python examples/gigapixel.py
    python examples/gigapixel.py --size 4000 --chunk 500 --kill

The image is a zone plate, whose rings become finer towards the border until two pixels are one period. It is
never in memory: each block is computed where it is read. conv2d with a stride of 2 blurs it, so that the
rings that half the size cannot show become grey, and not other rings; conv2d_transpose brings it back up.
Two worker processes of dask compute one chunk at a time each, from the part of the input that it needs, and
write it to a zarr array. The script prints the peak memory of all its processes together, and compares some
windows of the result with a computation in memory.

With --kill one of the workers is killed in the middle. What it had computed is computed again by the others.
The docs show a run of each kind, docs/recorded/gigapixel.txt and docs/recorded/gigapixel_kill.txt: the
output of this script, sent to a file.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np

import teachconv as tc

BINOMIAL = np.float32([1, 4, 6, 4, 1]) / 16
BLUR = np.outer(BINOMIAL, BINOMIAL).reshape(5, 5, 1, 1)  # HWIO
LEVELS = np.cos(2 * np.pi * np.arange(4096) / 4096).astype("float32")


class ZonePlate:
    """cos(pi r² / size), r being the distance from the middle: an array whose parts are made when read.

    Attributes:
        shape: [1, size, size, 1].
        dtype: float32.
        ndim: 4.
    """

    def __init__(self, size: int) -> None:
        self.shape, self.dtype, self.ndim = (1, size, size, 1), np.dtype("float32"), 4

    def __getitem__(self, where: tuple[slice, ...]) -> np.ndarray:
        size = self.shape[1]
        rows, cols = (np.arange(size)[part] - size // 2 for part in where[1:3])
        squares = rows[:, None] ** 2 + cols[None, :] ** 2
        period = squares * len(LEVELS) // (2 * size) % len(LEVELS)  # in integers: the same bits in every part
        return LEVELS[period][None, :, :, None]


def down(image: Any) -> Any:
    """Return an image at half its size, blurred before so that fine rings do not become coarse ones."""
    return tc.conv2d(image, BLUR, 2, "SAME")


def up(image: Any, size: int) -> Any:
    """Return an image at twice its size: each pixel is spread over its neighbours."""
    return tc.conv2d_transpose(image, 4 * BLUR, (1, size, size, 1), 2)


def lazy_result(size: int, chunk: int) -> tuple[da.Array, da.Array]:
    """Return the image and the result as dask arrays of which nothing is computed yet."""
    image = da.from_array(ZonePlate(size), chunks=(1, chunk, chunk, 1), name=False)
    return image, up(down(image), size)


def check(result: Any, size: int, windows: int = 20, side: int = 40) -> None:
    """Compare windows of the result with those of a computation in memory, bit for bit."""
    rng, margin = np.random.default_rng(0), 16
    plate = ZonePlate(size)
    for _ in range(windows):
        top, left = (2 * int(rng.integers(0, (size - side) // 2 + 1)) for _ in range(2))
        # an image of its own around the window: what lies beyond its border reaches 4 pixels far
        lows = [max(0, first - margin) for first in (top, left)]
        highs = [min(size, first + side + margin) for first in (top, left)]
        part = plate[:, lows[0] : highs[0], lows[1] : highs[1], :]
        small = tc.conv2d(part, BLUR, 2, [(0, 0), *((1, 2),) * 2, (0, 0)], algorithm="row_gemm")
        large = tc.conv2d_transpose(small, 4 * BLUR, part.shape, 2, algorithm="phases")
        inside = [
            slice(first - low, first - low + side) for first, low in zip((top, left), lows, strict=True)
        ]
        np.testing.assert_array_equal(
            result[0, top : top + side, left : left + side, 0], large[0, inside[0], inside[1], 0]
        )


@contextmanager
def peak_memory() -> Iterator[dict[int, int]]:
    """Measure the largest resident memory of this process and of each of its children, in bytes.

    Yields:
        A dict from process numbers to bytes. Their sum is at least what all use at any one time.
    """
    import psutil

    peaks: dict[int, int] = {}
    done = threading.Event()

    def look() -> None:
        this = psutil.Process()
        while not done.wait(0.02):
            for process in (this, *this.children(recursive=True)):
                try:
                    peaks[process.pid] = max(peaks.get(process.pid, 0), process.memory_info().rss)
                except psutil.NoSuchProcess:
                    continue

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield peaks
    finally:
        done.set()
        thread.join()


def kill_one_worker(client: Any, folder: Path, chunks: int) -> None:
    """Kill a worker process when a third of the chunks are written."""
    while sum(1 for path in folder.rglob("*") if path.is_file()) < chunks / 3:
        time.sleep(0.05)
    worker, number = next(iter(client.run(os.getpid).items()))
    print(f"killing worker {worker}, process {number}", flush=True)
    os.kill(number, signal.SIGKILL)


def run(size: int, chunk: int, workers: int, folder: Path, kill: bool) -> dict[int, int]:
    """Compute the result on worker processes and write it to ``folder``; return the peak memory of each."""
    import dask
    import distributed

    image, result = lazy_result(size, chunk)
    print(f"{result.npartitions} chunks, none of them computed yet: {result.name}")
    with (
        peak_memory() as peaks,
        dask.config.set({"distributed.worker.daemon": True}),
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, memory_limit="400MiB", dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        if kill:
            killer = threading.Thread(
                target=kill_one_worker, args=(client, folder, result.npartitions), daemon=True
            )
            killer.start()
        stored = client.compute(da.to_zarr(result, str(folder / "result.zarr"), compute=False))
        if sys.stdout.isatty():
            distributed.progress(stored, notebook=False)
            print()  # dask's bar leaves the cursor in its line
        stored.result()
    return peaks


def processor() -> str:
    """Return the name of this machine's processor."""
    if not Path("/proc/cpuinfo").exists():
        return platform.processor()
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")


def main(arguments: list[str] | None = None) -> None:
    """Run the example."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=int, default=20_000, help="rows and columns of the image")
    parser.add_argument("--chunk", type=int, default=1_000, help="rows and columns of a chunk")
    parser.add_argument("--workers", type=int, default=2, help="worker processes")
    parser.add_argument("--kill", action="store_true", help="kill a worker in the middle")
    parser.add_argument("--folder", type=Path, help="where to write; else to a temporary folder")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        start = time.perf_counter()
        peaks = run(options.size, options.chunk, options.workers, folder, options.kill)
        seconds = time.perf_counter() - start
        import zarr

        check(zarr.open_array(str(folder / "result.zarr"), mode="r"), options.size)
        print("windows of the result compared with a computation in memory: the same bits")
        gigabytes, megabytes = 4 * options.size**2 / 1e9, sum(peaks.values()) / 1e6
        print(
            f"{options.size} x {options.size} pixels, {gigabytes:.2f} GB as float32, in {seconds:.0f} s; "
            f"peak memory {megabytes:.0f} MB in {len(peaks)} processes together"
        )
        used = ", ".join(f"{name} {version(name)}" for name in ("dask", "zarr", "numpy"))
        print(f"{datetime.now(UTC):%Y-%m-%d}, {processor()}, {os.cpu_count()} processors, {used}")


if __name__ == "__main__":
    main()
