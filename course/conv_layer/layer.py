"""A convolution layer, forwards and backwards: fill in the five functions. Only NumPy is needed.

Arrays are in PyTorch's layout: images [batch, channels, rows, cols], filters [out, in, filter_rows,
filter_cols]. Every function is checked by itself: python check_layer.py
"""

import numpy as np


def conv_forward(x: np.ndarray, w: np.ndarray, b: np.ndarray, stride: int, pad: int) -> np.ndarray:
    """Return the layer's output [batch, out, out_rows, out_cols], with `pad` zeros on every side."""
    raise NotImplementedError


def conv_backward_input(dout: np.ndarray, w: np.ndarray, shape: tuple, stride: int, pad: int) -> np.ndarray:
    """Return the gradient in x, an array of this shape, from dout, the gradient in the output."""
    raise NotImplementedError


def conv_backward_filter(x: np.ndarray, dout: np.ndarray, shape: tuple, stride: int, pad: int) -> np.ndarray:
    """Return the gradient in w, an array of this shape."""
    raise NotImplementedError


def conv_backward_bias(dout: np.ndarray) -> np.ndarray:
    """Return the gradient in b, one number for each output channel."""
    raise NotImplementedError


def conv_forward_fast(x: np.ndarray, w: np.ndarray, b: np.ndarray, stride: int, pad: int) -> np.ndarray:
    """Return what conv_forward returns, without a loop over cells: im2col and one matrix product."""
    raise NotImplementedError
