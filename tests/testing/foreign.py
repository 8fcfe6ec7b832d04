"""Functions that do what nobody hopes for, at the top of a module, so that another process can import them."""

import ctypes
import os
import sys
import time

import numpy as np

import teachconv as tc


def right(x, w, strides):
    """A correct convolution: one image without padding, CHW and OIHW."""
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (1, 2))
    return np.einsum("crsij,ocij->ors", windows[:, :: strides[0], :: strides[1]], w)


def crashes(x, w, strides):
    ctypes.string_at(0)


def crashes_once(x, w, strides):
    """Once for each file of the name that the environment says, as a thread that is not waited for may."""
    if os.path.exists(os.environ["CRASHES_ONCE"]):
        os.remove(os.environ["CRASHES_ONCE"])
        crashes(x, w, strides)
    return right(x, w, strides)


def hangs(x, w, strides):
    while True:
        time.sleep(0.01)


def leaves(x, w, strides):
    os._exit(3)


def is_greedy(x, w, strides):
    return np.ones(1 << 31)


def prints(x, w, strides):
    print("here I am")
    return right(x, w, strides)


_COMPILED: list[int] = []


def prints_once(x, w, strides):
    if not _COMPILED:
        print("compiling the kernel")
        _COMPILED.append(1)
    return right(x, w, strides)


def leaves_politely(x, w, strides):
    sys.exit(4)


def writes(x, w, strides):
    address = x.ctypes.data  # a flag does not hold C back
    ctypes.memset(address, 0, x.nbytes)
    return right(x, w, strides)


def writes_plainly(x, w, strides):
    x *= 0
    return x


_BUFFER = np.zeros(1 << 20, np.float32)


def shares(x, w, strides):
    result = right(x, w, strides)
    part = _BUFFER[: result.size].reshape(result.shape)
    part[...] = result
    return part


def widens(x, w, strides):
    return right(x.astype(np.float64), w.astype(np.float64), strides)


def raises_at_random(x, w, strides):
    if x.size % 3:
        raise RuntimeError("not today")
    return right(x, w, strides)


def answers_nothing(x, w, strides):
    return None


def answers_lists(x, w, strides):
    return right(x, w, strides).tolist()


def answers_objects(x, w, strides):
    return right(x, w, strides).astype(object)


def flattens(x, w, strides):
    return right(x, w, strides).ravel()


def crashes_on_large(x, w, strides):
    return crashes(x, w, strides) if x.shape[1] > 5 else right(x, w, strides)


class NotNow(Exception):
    pass


def declines(x, w, strides):
    raise NotNow("not now")


def takes_everything(x, w, bias, strides, pads, dilations, groups):
    return tc.conv2d(x, w, strides, pads, dilations=dilations, bias=bias, backend="numpy")


def takes_contiguous_alone(x, w, bias, strides, pads, dilations, groups):
    """As what is compiled for contiguous arrays."""
    if not (x.flags.c_contiguous and w.flags.c_contiguous):
        raise ValueError("ndarray is not C-contiguous")
    return takes_everything(x, w, bias, strides, pads, dilations, groups)


def _misread(array):
    """As C code that is handed the memory of an array, and thinks that it is contiguous."""
    return np.frombuffer(array.tobytes("K"), array.dtype).reshape(array.shape)


def misreads_strides(x, w, bias, strides, pads, dilations, groups):
    x, w = (array if array.flags.c_contiguous else _misread(array) + 1 for array in (x, w))
    return takes_everything(x, w, bias, strides, pads, dilations, groups)


def misreads_strides_of_padded(x, w, bias, strides, dilations, groups):
    return misreads_strides(x, w, bias, strides, "VALID", dilations, groups)


def takes_addresses(x, w, bias, strides, pads, dilations, groups):
    x, w = (
        np.frombuffer(ctypes.string_at(array.ctypes.data, array.nbytes), array.dtype).reshape(array.shape)
        for array in (x, w)
    )
    return takes_everything(x, w, bias, strides, pads, dilations, groups)


def reads_behind(x, w, strides):
    if x.flags.c_contiguous:
        ctypes.string_at(x.ctypes.data + x.nbytes, 4)
    return right(x, w, strides)


def reads_16_kib_behind(x, w, strides):
    if x.flags.c_contiguous:
        ctypes.string_at(x.ctypes.data + x.nbytes + (16 << 10), 4)
    return right(x, w, strides)


def reads_before(x, w, strides):
    if w.flags.c_contiguous:
        ctypes.string_at(w.ctypes.data - 4, 4)
    return right(x, w, strides)


def writes_back_what_was_behind(x, w, y, geometry):
    y[...] = takes_everything(x, w, None, geometry.strides, geometry.padding, geometry.dilations, 1)
    if y.size:
        ctypes.memmove(y.ctypes.data + y.nbytes, y.ctypes.data + y.nbytes, 4)


def writes_back_what_was_before(x, w, y, geometry):
    y[...] = takes_everything(x, w, None, geometry.strides, geometry.padding, geometry.dilations, 1)
    if y.size:
        ctypes.memmove(y.ctypes.data - 4, y.ctypes.data - 4, 4)


def loads_16_aligned_bytes(x, w, strides):
    if x.ctypes.data % 16:
        ctypes.string_at(0)
    return right(x, w, strides)
