"""Right calls, which no type checker may refuse: each argument in all of its forms, and arrays of every kind."""
# pyright: strict

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import teachconv as tc
import teachconv.tf as tf
from teachconv.backends import numpy_backend, reference, report
from teachconv.dialects import jax, keras, onnx, torch
from teachconv.support.argument_types import ArrayLike, PaddingLike

x: np.ndarray[Any, np.dtype[np.float32]] = np.ones((1, 8, 8, 3), "float32")
w: np.ndarray[Any, np.dtype[np.float32]] = np.ones((3, 3, 3, 4), "float32")
y = tc.conv2d(x, w)
two = np.int64(2)


class Foreign:
    """An array of a library that the checker does not know."""

    def __array__(
        self, dtype: object = None, copy: bool | None = None
    ) -> np.ndarray[Any, np.dtype[np.float32]]:
        return x


class OnDevice:
    """An array that NumPy cannot read: on a GPU."""

    def __dlpack__(self, *, stream: int | None = None) -> object: ...

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class Lazy:
    """An array without values, as dask's."""

    def __array_function__(self, func: object, types: object, args: object, kwargs: object) -> object: ...


class MyBackend:
    """A backend that is an object."""

    ALGORITHMS = reference.ALGORITHMS


def same(image: ArrayLike, padding: PaddingLike = "SAME") -> tuple[int, ...]:
    """Return the shape of a convolution, in words of the library's own."""
    return tc.conv2d(image, w, padding=padding).shape


def lends(array: OnDevice, lazy: Lazy) -> None:
    """Pass on arrays that are not here."""
    tc.conv2d(array, lazy)


def run() -> None:
    """Make the calls."""
    # arrays
    tc.conv2d([[[[1], [2]]]], [[[[3]]]], bias=[4])
    tc.conv2d([[[[1.5], [2]]]], (((([3.0],),),)))
    tc.conv2d(Foreign(), w)
    tc.conv2d([x[0], x[0]], w, bias=np.ones(4, "float32"))

    # strides, dilations
    tc.conv2d(x, w, 2)
    tc.conv2d(x, w, two, dilations=1)
    tc.conv2d(x, w, (1, 2), dilations=None)
    tc.conv2d(x, w, [1, 2, 2, 1], dilations=(1, two))

    # padding
    for padding in (1, (1, 2), ((1, 2), (0, 1)), [[0, 0], [1, 2], [3, 4], [0, 0]]):
        tc.conv2d(x, w, 1, padding)
    tc.conv2d(x, w, 1, [(two, two), (two, two)])
    tc.conv2d(x, w, 1, "SAME")
    tc.conv2d(x, w, 1, "SAME_LOWER")
    tc.conv1d(x[0], w[0], padding="CAUSAL")
    tc.convolution(x[0], w[0], padding="CAUSAL")
    same(x, ((0, -1), (0, 0)))

    # the other words
    tc.conv2d(x.transpose(0, 3, 1, 2), w, data_format="NCHW")
    tc.conv2d(x, w, precision="strict", algorithm="auto")
    for info in report():  # teachconv.backends(): no checker knows that a module can be called
        if info.available:
            tc.conv2d(x, w, backend=info.name)
            with tc.use_backend(info.name):
                pass
    tc.conv2d(x, w, backend=numpy_backend, out=np.empty_like(y))

    # shapes
    tc.conv2d_transpose(y, w, [1, 8, 8, 3], padding="VALID")
    tc.conv2d_transpose(y, w, np.array([1, 8, 8, 3]), padding="VALID")
    tc.conv2d_transpose(y, w, padding="VALID", output_padding=0)
    tc.conv2d_backprop_input([-1, 8, 8, 3], w, y)
    tc.conv2d_geometry(x.shape, (3, 3, 3, two), 2, "SAME")

    # other frameworks
    torch.conv2d(x.transpose(0, 3, 1, 2), np.ones((2, 3, 3, 3), "float32"), None, 1, "same")
    torch.pad(x, (1, 2, 0, 0), "reflect")
    jax.conv_general_dilated(x, w, (1, 1), [(0, 0), (1, 1)], dimension_numbers=("NHWC", "HWIO", "NHWC"))
    numbers = jax.ConvDimensionNumbers((0, 3, 1, 2), (3, 2, 0, 1), (0, 3, 1, 2))
    jax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=numbers)
    keras.conv(x, w, (1, 2), "same", data_format="channels_last")
    onnx.conv(x.transpose(0, 3, 1, 2), w.transpose(3, 2, 0, 1), auto_pad="SAME_UPPER", strides=[2, 2])

    # TensorFlow's words
    tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME")
    tf.nn.conv2d(x, w, 1, [[0, 0], [1, 2], [3, 4], [0, 0]])
    tf.keras.layers.Conv2D(4, 3, strides=(2, 2), padding="same")
    tf.keras.layers.Conv1D(4, 3, padding="causal")
    tf.keras.layers.MaxPooling2D(2, strides=None, padding="valid")

    # tools
    tc.trace(tc.conv2d, x, w, 2, padding="SAME", backend="numpy")
    tc.diff(tc.conv2d, x, w, backends="numpy", against={"mine": y}, atol=1)
    tc.diff(tc.conv2d, x, w, backends=["numpy", reference], against=y.tolist())
    tc.plan(tc.conv2d, w, input_shape=x.shape, backend="numpy")
    best = tc.autotune(tc.conv2d, x, w, backends=["numpy"], rounds=1).best
    tc.conv2d(x, w, backend=best.backend, algorithm=best.algorithm)
    tc.translate(tc.conv2d, x, w, to="pytorch")
    tc.convert_filters(w, "tf", "torch")
    tc.receptive_field([("conv", 3, 2)], input_size=(32, 16))


def not_now(folder: Path) -> None:
    """What takes long, or writes a file."""
    tc.check_backend(MyBackend(), np.float32)
    tc.check_backend("numpy", ["float32", np.dtype("float64")])
    tc.to_onnx(tc.conv2d, x, w, path=str(folder))
