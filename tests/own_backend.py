"""A backend as CONTRIBUTING describes it, to copy: one matrix product for each tap of the filter."""

import numpy as np

from teachconv.backends import QUIET, Algorithm, finish, to_accumulator
from teachconv.core.taps import overlap

ALGORITHMS = (Algorithm("products", "one matrix product for each tap of the filter", why="the only one"),)


@QUIET
def conv2d(x, w, geometry, *, algorithm=None, precision=None, bias=None, activation=None, out=None):
    """Gather: every output collects, tap by tap, the input that the tap meets."""
    a, b = to_accumulator(x), to_accumulator(w)
    y = np.zeros(geometry.output_shape, a.dtype)
    for tap, outs, ins in taps(geometry):
        y[:, *outs] += product("nrcgi,igo->nrcgo", by_group(a[:, *ins], geometry), by_group(b[tap], geometry))
    return finish(y, x.dtype, bias, activation, out)


@QUIET
def conv2d_backprop_input(
    dy, w, geometry, *, algorithm=None, precision=None, bias=None, activation=None, out=None
):
    """Scatter: every output is stamped, tap by tap, onto the input that the tap meets."""
    a, b = to_accumulator(dy), to_accumulator(w)
    dx = np.zeros(geometry.input_shape, a.dtype)
    for tap, outs, ins in taps(geometry):
        dx[:, *ins] += product(
            "nrcgo,igo->nrcgi", by_group(a[:, *outs], geometry), by_group(b[tap], geometry)
        )
    return finish(dx, dy.dtype, bias, activation, out)


@QUIET
def conv2d_backprop_filter(x, dy, geometry, *, algorithm=None, precision=None, out=None):
    """Sum: every tap takes all pairs of an input and an output that it brings together."""
    a, b = to_accumulator(x), to_accumulator(dy)
    dw = np.zeros(geometry.filters_shape, a.dtype)
    for tap, outs, ins in taps(geometry):
        dw[tap] = product("nrcgi,nrcgo->igo", by_group(a[:, *ins], geometry), by_group(b[:, *outs], geometry))
    return finish(dw, x.dtype, None, None, out)


def taps(geometry):
    """Yield each tap with the outputs and the inputs that it brings together; padding is left out."""
    for tap in np.ndindex(*geometry.filters_shape[:2]):
        pairs = [
            overlap(axis, index) for axis, index in zip((geometry.rows, geometry.cols), tap, strict=True)
        ]
        if all(outs.start < outs.stop for outs, _ in pairs):
            yield tap, [outs for outs, _ in pairs], [ins for _, ins in pairs]


def by_group(array, geometry):
    """Split the last axis into [groups, channels of a group]."""
    return array.reshape(*array.shape[:-1], geometry.groups, -1)


def product(axes, left, right):
    """Multiply, sum over what the axes say, and join groups and channels again."""
    made = np.einsum(axes, left, right)
    return made.reshape(*made.shape[:-2], -1)
