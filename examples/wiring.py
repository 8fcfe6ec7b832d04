"""Thirteen convolutions of other people, each wired to the verification kit in at most ten lines.

``python examples/wiring.py torch opencv`` checks some of them, ``python examples/wiring.py`` all that are
installed, and prints a verdict for each. Two are not packages of Python: ``DARKNET`` is the folder of a
checkout of darknet, such as ``tests/recorded/darknet``, and ``NODE_PATH`` one with ``@tensorflow/tfjs``.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import teachconv as tc
from teachconv import testing as T


class NotHereError(Exception):
    """What a convolution needs is not on this machine."""


def numpy_ml():
    """numpy-ml, written for Python 3.9; it counts the gaps between taps, so that its dilation 0 is our 1."""
    import collections.abc

    collections.Hashable = collections.abc.Hashable
    from numpy_ml.neural_nets.utils import conv2D

    def wired(X, W, stride, pad, dilation):
        return conv2D(X, W, stride, pad, dilation - 1)

    return T.kernel(wired, dtypes="float64")


def naive_loops():
    """The exercise of courses such as CS231n: a dict of parameters, loops, and a cache beside the result."""

    def wired(x, w, b, stride, pad):
        return conv_forward_naive(x, w, 0 if b is None else b, {"stride": stride, "pad": pad})

    return T.kernel(wired, x="NCHW", w="OIHW", dtypes="float64")


def darknet():
    """im2col.c and gemm.c of darknet, through ctypes."""
    library = darknet_library()

    def wired(x, w, y, stride, pad):
        (outs, depth, size, cols), pixels = w.shape, y.shape[1] * y.shape[2]
        if size != cols:
            raise NotImplementedError("filters that are not square")
        matrix, y[...] = np.empty((depth * size * size, pixels), np.float32), 0
        library.im2col_cpu(x.ctypes, *x.shape, size, stride, pad, matrix.ctypes)
        one, terms = library.one, len(matrix)
        library.gemm_nn(outs, pixels, terms, one, w.ctypes, terms, matrix.ctypes, pixels, y.ctypes, pixels)

    return T.kernel(wired, x="CHW", w="OIHW")


def tfjs():
    """TensorFlow.js on node, as a program."""
    if not has_tfjs():
        raise NotHereError("node has no @tensorflow/tfjs")
    return T.process(["node", str(Path(__file__).parent / "kernels" / "tfjs.js")])


def opencv():
    """OpenCV's filter2D: a correlation of one plane; its result is as large as the image."""
    import cv2

    def wired(x, w):
        whole = cv2.filter2D(x, -1, w, anchor=(0, 0), borderType=cv2.BORDER_CONSTANT)
        return whole[: x.shape[0] - w.shape[0] + 1, : x.shape[1] - w.shape[1] + 1]

    return T.kernel(wired, x="HW", w="HW", dtypes=["float32", "float64"])


def scipy():
    """SciPy's correlate of one image with one filter over all channels."""
    from scipy.signal import correlate

    return T.kernel(lambda x, w: correlate(x, w, "valid", "direct"), x="HWC", w="HWI")


def torch():
    """PyTorch."""
    from torch import tensor
    from torch.nn.functional import conv2d

    def wired(input, weight, bias, strides, padding, dilations, groups):
        bias = None if bias is None else tensor(bias)
        return conv2d(tensor(input), tensor(weight), bias, strides, padding, dilations, groups)

    return T.kernel(wired, x="NCHW", w="OIHW", pads="pair")


def jax():
    """JAX: its function as it is."""
    from jax.lax import conv_general_dilated

    return T.kernel(conv_general_dilated, x="NCHW", w="OIHW", pads="pairs", dilations="pair")


def onnxruntime():
    """A model of one Conv for each call, on onnxruntime."""
    import onnxruntime
    from onnx import parser

    def wired(x, w, strides, pads, dilations, groups):
        names = "g (float[N,C,H,W] x, float[O,I,R,S] w) => (float[N,P,Q,T] y)"
        words = f"pads={[*pads]}, strides={[*strides]}, dilations={[*dilations]}, group={groups}"
        text = f'<ir_version: 8, opset_import: ["": 17]> {names} {{ y = Conv <{words}> (x, w) }}'
        model = parser.parse_model(text).SerializeToString()
        session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        return session.run(None, {"x": x, "w": w})[0]

    return T.kernel(wired, x="NCHW", w="OIHW", pads="flat")


def tensorflow():
    """TensorFlow."""
    import tensorflow as tf

    def wired(x, w, strides, pads, dilations):
        return tf.nn.conv2d(x, w, strides, [(0, 0), *pads, (0, 0)], dilations=dilations)

    return T.kernel(wired, groups=True)


def keras():
    """Keras: its function as it is, on images that are padded already."""
    from keras.ops import conv

    def refuses(geometry):
        return "strides with dilations" if max(geometry.strides) > 1 < max(geometry.dilations) else ""

    return T.kernel(conv, pads="applied", dilations="pair", groups=True, refuses=refuses)


def numba():
    """Plain loops, compiled by numba."""
    from numba import njit

    @njit
    def conv(x, w, y, strides):
        for r, c, o in np.ndindex(y.shape):
            total = x[0, 0, 0] * 0
            for a, b, i in np.ndindex(w.shape[:3]):
                total += x[r * strides[0] + a, c * strides[1] + b, i] * w[a, b, i, o]
            y[r, c, o] = total

    return T.kernel(conv, x="HWC", w="HWIO", dtypes=["float32", "float64", "int32"])


def tinygrad():
    """tinygrad."""
    from tinygrad import Tensor

    def wired(x, w, groups, stride, dilations, pad):
        return Tensor(x).conv2d(Tensor(w), None, groups, stride, dilations, pad).numpy()

    return T.kernel(wired, x="NCHW", w="OIHW")


ALL = (numpy_ml, naive_loops, darknet, tfjs, opencv, scipy, torch)
ALL += (jax, onnxruntime, tensorflow, keras, numba, tinygrad)


def conv_forward_naive(x, w, b, conv_param):
    """Loops, as a student writes them."""
    stride, pad = conv_param["stride"], conv_param["pad"]
    padded = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    rows = (padded.shape[2] - w.shape[2]) // stride + 1
    cols = (padded.shape[3] - w.shape[3]) // stride + 1
    out = np.zeros((len(x), len(w), rows, cols))
    for r in range(rows):
        for c in range(cols):
            top, left = r * stride, c * stride
            window = padded[:, None, :, top : top + w.shape[2], left : left + w.shape[3]]
            out[:, :, r, c] = (window * w).sum((2, 3, 4)) + b
    return out, (x, w, b, conv_param)


def darknet_library():
    """Compile two files of a checkout."""
    import ctypes

    if "DARKNET" not in os.environ:
        raise NotHereError("DARKNET is not set to a checkout of darknet")
    made = Path(tempfile.mkdtemp()) / "darknet.so"
    words = "cc -O2 -shared -fPIC -Iinclude -Isrc src/im2col.c src/gemm.c -o"
    subprocess.run([*words.split(), str(made)], cwd=os.environ["DARKNET"], check=True)
    library = ctypes.CDLL(str(made))
    library.one = ctypes.c_float(1)
    return library


def has_tfjs():
    """Whether node finds TensorFlow.js."""
    command = ["node", "-e", "require.resolve('@tensorflow/tfjs')"]
    return bool(shutil.which("node")) and subprocess.run(command, capture_output=True).returncode == 0


def main(names):
    """Check those of these names, or all."""
    for wire in ALL:
        if names and wire.__name__ not in names:
            continue
        start = time.perf_counter()
        try:
            kernel = wire()
        except (ImportError, NotHereError) as missing:
            print(f"{wire.__name__}: not here ({missing})")
            continue
        report = tc.check_backend(kernel, tags="small")
        print(f"{wire.__name__}: {report.summary} [{time.perf_counter() - start:.1f} s]")
        for row in report.failed[:3]:
            print(f"    {row.name} {row.where}: {row.diagnosis or row.note}")


if __name__ == "__main__":
    main(sys.argv[1:])
