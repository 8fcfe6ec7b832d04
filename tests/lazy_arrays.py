"""Arrays in chunks for tests: seeded numbers, random chunks, and a source that knows what was read of it."""

import numpy as np
import pytest

da = pytest.importorskip("dask.array")


def numbers(shape, dtype="float32", seed=0):
    array = np.random.default_rng(seed).standard_normal(shape)
    return (array * 50 if np.dtype(dtype).kind == "i" else array).astype(dtype)


def chunked(rng, array, channels=3, largest=9):
    """Return an array in random chunks, its channels in one."""
    sizes = []
    for axis, size in enumerate(array.shape):
        parts, left = [], size
        while left:
            parts.append(left if axis == channels else rng.randint(1, min(left, largest)))
            left -= parts[-1]
        sizes.append(tuple(parts) or (0,))
    return da.from_array(array, chunks=tuple(sizes))


def same_bits(got, want):
    """Of finite numbers; for others see `helpers.assert_same_bits`."""
    return got.dtype == want.dtype and got.shape == want.shape and got.tobytes() == want.tobytes()


def algorithm_of(array):
    """Return the algorithm that the name of a lazy result gives."""
    return array.name.split("-")[1]


class Source:
    """An array that knows what was read of it, and refuses to be read whole."""

    def __init__(self, array):
        self.array, self.shape, self.dtype, self.ndim = array, array.shape, array.dtype, array.ndim
        self.read = []

    def chunked(self):
        array = da.from_array(self, chunks=(1, 10, 10, 1))
        self.read.clear()  # dask looks at an empty part for the dtype
        return array

    def __getitem__(self, where):
        self.read.append(tuple((s.start, s.stop) for s in where[1:3]))
        return self.array[where]
