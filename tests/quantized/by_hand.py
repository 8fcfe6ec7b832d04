"""An int8 convolution of TFLite as one writes it by hand, SAME with a stride of 1; each mistake is an argument."""

import math

import numpy as np


def fixed_point(real):
    """The 31 bits and the power of two of a number: real is about bits / 2**31 * 2**power."""
    fraction, power = math.frexp(real)
    bits = math.floor(fraction * 2**31 + 0.5)
    return (bits // 2, power + 1) if bits == 2**31 else (bits, power)


def half_up(numbers, bits):
    return (numbers + (1 << bits >> 1)) >> bits


def half_away(numbers, bits):
    return np.sign(numbers) * ((np.abs(numbers) + (1 << bits >> 1)) >> bits)


def rescale(total, multiplier, first=half_up, last=half_away, more=0):
    """Multiply each channel: to the high half of a product of 63 bits, and then the shift, each rounded."""
    columns = []
    for channel, real in enumerate(np.broadcast_to(multiplier, total.shape[-1])):
        bits, power = fixed_point(float(real))
        high = first(total[..., channel] * bits, 31)
        columns.append(last(high, -power - more))
    return np.stack(columns, -1)


def add(total, product):
    return total + product


def wrap16(total, product):
    return (total + product + 2**15) % 2**16 - 2**15


def clip16(total, product):
    return np.clip(total + product, -(2**15), 2**15 - 1)


def saturate(numbers, low=-128, high=127):
    return np.clip(numbers, low, high)


def convolve(
    x,
    w,
    bias,
    x_scale,
    x_zero_point,
    w_scale,
    y_scale,
    y_zero_point,
    border=None,
    minus=None,
    minus_w=0,
    plus=None,
    accumulate=add,
    rescale=rescale,
    finish=saturate,
    scheme=None,
):
    """Return what such a kernel computes.

    Args:
        x, w, bias, x_scale, x_zero_point, w_scale, y_scale, y_zero_point: as in `teachconv.quantized.conv2d`.
        border: the integer with which x is padded, x_zero_point if None.
        minus: what is taken off x, x_zero_point if None.
        minus_w: what is taken off w.
        plus: what is added at the end, y_zero_point if None.
        accumulate: adds a product to a sum.
        rescale: multiplies sums by numbers of each channel.
        finish: saturates.
        scheme: not used.
    """
    rows, cols = x.shape[1:3]
    up, left = (w.shape[0] - 1) // 2, (w.shape[1] - 1) // 2
    sides = ((0, 0), (up, w.shape[0] - 1 - up), (left, w.shape[1] - 1 - left), (0, 0))
    wide = np.pad(x.astype("int64"), sides, constant_values=x_zero_point if border is None else border)
    wide -= x_zero_point if minus is None else minus
    total = np.broadcast_to(np.int64(bias), (*x.shape[:3], w.shape[3])).copy()
    for r, c, i in np.ndindex(w.shape[:3]):
        product = wide[:, r : r + rows, c : c + cols, i, None] * (w[r, c, i].astype("int64") - minus_w)
        total = accumulate(total, product)
    multiplier = np.float64(np.float32(x_scale)) * np.float32(w_scale) / np.float64(np.float32(y_scale))
    return finish(rescale(total, multiplier) + (y_zero_point if plus is None else plus))
