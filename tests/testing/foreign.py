"""Functions that do what nobody hopes for, at the top of a module, so that another process can import them."""

import ctypes
import os
import sys
import time

import numpy as np


def right(x, w, strides):
    """A correct convolution: one image without padding, CHW and OIHW."""
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (1, 2))
    return np.einsum("crsij,ocij->ors", windows[:, :: strides[0], :: strides[1]], w)


def crashes(x, w, strides):
    ctypes.string_at(0)


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
