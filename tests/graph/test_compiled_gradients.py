"""The compiled gradients of ReLU and of a maximum: the bits of the NumPy expressions that they replace."""

import numpy as np
import pytest

from teachconv.backends import cython_backend
from teachconv.core.geometry import ConvGeometry
from teachconv.graph.kernels import compiled
from teachconv.graph.kernels.pooling_ops import _pool
from teachconv.windows.pooling import backward, winning_taps
from teachconv.windows.walking import where_or_zero

pytestmark = pytest.mark.skipif(cython_backend._kernels is None, reason="the module is not compiled")
SPECIAL = [np.nan, np.inf, -np.inf, -0.0, 0.0]


def numbers(rng, shape, dtype):
    """Return few different numbers, so that windows have ties, and all special ones."""
    x = rng.integers(-2, 3, shape).astype(dtype)
    return np.where(rng.random(shape) < 0.2, rng.choice(SPECIAL, shape).astype(dtype), x)


def same(a, b):
    """Return whether the bits are the same; of a sum that is NaN only the place."""
    return np.array_equal(a, b, equal_nan=True) and bool(
        (np.isnan(a) | (np.signbit(a) == np.signbit(b))).all()
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_relu_gradient(dtype):
    rng = np.random.default_rng(0)
    for count in (1, 7, 64, 1001):
        gradients, features = (numbers(rng, count, dtype) for _ in range(2))
        result = compiled.relu_gradient(gradients, features)
        assert result.tobytes() == where_or_zero(features > 0, gradients).tobytes()


@pytest.mark.parametrize("channels", [1, 3, 16, 64, 65, 130])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_max_pool_gradient(dtype, channels):
    rng = np.random.default_rng(channels)
    for number in range(40):
        ksize, strides = ((1, *rng.integers(1, 4, 2).tolist(), 1) for _ in range(2))
        attrs = {"ksize": ksize, "strides": strides, "data_format": "NHWC", "explicit_paddings": ()}
        shape = (2, *rng.integers(3, 11, 2).tolist(), channels)
        pool = _pool("max", shape, attrs | {"padding": ("SAME", "VALID")[number % 2]})
        x, gradient = numbers(rng, shape, dtype), numbers(rng, pool.output_shape, dtype)
        geometry = ConvGeometry(len(x), pool.spatial, channels, channels, channels)
        result = compiled.max_pool_gradient(x, gradient, geometry)
        with np.errstate(invalid="ignore"):  # infinities of both signs
            assert same(result, backward(pool, gradient, winning_taps(pool, x)))


@pytest.mark.parametrize("change", [np.float16, np.int32, lambda x: x.transpose(0, 2, 1, 3), lambda x: x[:0]])
def test_other_arrays_are_left_to_numpy(change):
    x = np.ones((2, 4, 4, 3), np.float32)
    gradient = np.ones((2, 2, 2, 3), np.float32)
    windows = {"ksize": (1, 2, 2, 1), "strides": (1, 2, 2, 1), "data_format": "NHWC", "explicit_paddings": ()}
    geometry = ConvGeometry(2, _pool("max", x.shape, windows | {"padding": "SAME"}).spatial, 3, 3, 3)
    assert compiled.relu_gradient(x, x) is not None
    assert compiled.max_pool_gradient(x, gradient, geometry) is not None
    assert compiled.relu_gradient(x, change(x)) is None
    assert compiled.max_pool_gradient(change(x), gradient, geometry) is None
    assert compiled.relu_gradient(x, x[:1]) is None
