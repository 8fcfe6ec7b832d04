"""Functions of tensors in Keras 3's words; each is the one of `teachconv.graph` with the name on its line.

Keras: keras/src/ops. Tensors of `teachconv.graph` go in and come out.

>>> from teachconv.keras import ops
>>> ops.mean(ops.concatenate([ops.ones((1, 2)), ops.zeros((1, 2))], axis=0), axis=0).numpy().tolist()
[0.5, 0.5]
"""

from ..graph import (
    abs,
    add,
    argmax,
    cast,
    convert_to_tensor,
    equal,
    exp,
    expand_dims,
    greater,
    less,
    log,
    matmul,
    maximum,
    minimum,
    multiply,
    ones,
    ones_like,
    pad,
    reshape,
    shape,
    sigmoid,
    sign,
    sqrt,
    square,
    squeeze,
    stack,
    stop_gradient,
    subtract,
    tanh,
    tile,
    transpose,
    where,
    zeros,
    zeros_like,
)
from ..graph import concat as concatenate
from ..graph import pow as power
from ..graph import reduce_max as max
from ..graph import reduce_mean as mean
from ..graph import reduce_min as min
from ..graph import reduce_sum as sum
from ..graph.ops.math_ops import truediv as divide
from ..graph.ops.nn_impl import clip_by_value as clip
from ..graph.ops.nn_impl import leaky_relu
from ..graph.ops.nn_ops import log_softmax, relu, softmax

__all__ = [
    "abs",
    "add",
    "argmax",
    "cast",
    "clip",
    "concatenate",
    "convert_to_tensor",
    "divide",
    "equal",
    "exp",
    "expand_dims",
    "greater",
    "leaky_relu",
    "less",
    "log",
    "log_softmax",
    "matmul",
    "max",
    "maximum",
    "mean",
    "min",
    "minimum",
    "multiply",
    "ones",
    "ones_like",
    "pad",
    "power",
    "relu",
    "reshape",
    "shape",
    "sigmoid",
    "sign",
    "softmax",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "stop_gradient",
    "subtract",
    "sum",
    "tanh",
    "tile",
    "transpose",
    "where",
    "zeros",
    "zeros_like",
]
