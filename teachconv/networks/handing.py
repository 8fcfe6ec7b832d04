"""Hands a layer of PyTorch or Keras to `translate`, as the call that it makes on an input of some shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arguments import is_shape
from ..dialects.calls import FUNCTIONS
from ..errors import ArgumentError, brief, is_one_of
from ..translation.translating import LAYERS, Call, translate
from .walking import framework_of, walk

__all__ = ["call_of_layer", "translate"]


def call_of_layer(layer: Any, *shapes: Any) -> Call | None:
    """Return the convolution of a layer; None for what is no layer of PyTorch or Keras.

    Args:
        layer: a ``torch.nn.Module`` or a Keras layer, with one convolution.
        *shapes: the shape of its input, alone.

    Raises:
        ValueError, TypeError: if it has another number of convolutions; the message lists them.
    """
    if framework_of(layer) not in ("torch", "keras", "teachconv") or not callable(layer):
        return None
    if len(shapes) != 1 or not is_shape(shapes[0]):
        raise ArgumentError(f"the shape of the layer's input, alone, must follow it; got {brief(shapes)}")
    x = np.zeros(shapes[0], "float32")
    if framework_of(layer) != "torch":
        layer(x)  # its weights are made by its first call
    layers = walk(layer, x).layers
    found = [one for one in layers if is_one_of(one.op, FUNCTIONS) and "conv" in one.word.lower()]
    if len(found) != 1 or found[0].pads or layers[-1].error:
        names = [f"{one.name!r} of input {list(one.inputs[0].shape)}" for one in found]
        names += [f"raised {layers[-1].error}"] * bool(layers[-1].error)
        raise ArgumentError(
            "function must be a layer with one convolution, and no padding before it; this "
            f"{type(layer).__name__} has {', '.join(names) or 'none'}"
        )
    (one,) = found
    assert one.op is not None
    takes_bias = any(operand.role == "bias" for operand in FUNCTIONS[one.op].operands)
    bias = {"bias": one.bias} if one.bias is not None and takes_bias else {}
    return one.op, (one.inputs[0].shape,), {**one.arguments, **bias}


LAYERS.append(call_of_layer)
