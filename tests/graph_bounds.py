"""Error bounds through a whole graph: how far a float32 run may lie from exact arithmetic, cell by cell.

Each node's value is computed in float64, together with a bound e on the distance of any float32 run from
it. A linear op with inputs off by e_x and e_w is off by at most its own image of
|x| e_w + e_x |w| + e_x e_w, plus the error of its own sum (`bounds.direct`, over |x| + e_x and |w| + e_w,
each taken as large as the float32 run may have it). Relu, pooling by maximum, and everything that only
moves values pass e on. The float64 values are themselves off by some 2^-29 of that, far less than the
second-order terms in which gamma_K exceeds what K roundings can do.
"""

import numpy as np

import teachconv as tc
from teachconv.truth import bounds


def propagate(graph, feeds, fetch, variables=None):
    """Return the float64 value of a tensor and the bound of a float32 run's error, per cell."""
    known = {}
    for op in graph.get_operations():
        if f"{op.name}:0" in feeds:
            value = np.asarray(feeds[f"{op.name}:0"], "float64")
            known[op.name] = value, np.zeros(value.shape)
        elif op.type == "Variable":
            value = np.asarray(variables[op.name], "float64")
            known[op.name] = value, np.zeros(value.shape)
        elif op.type == "Const":
            value = op.get_attr("value")
            value = value if value.dtype.kind == "i" else value.astype("float64")
            known[op.name] = value, np.zeros(value.shape)
        elif all(tensor.op.name in known for tensor in op.inputs) and op.type in RULES:
            known[op.name] = RULES[op.type](op, *(known[tensor.op.name] for tensor in op.inputs))
    return known[fetch.removesuffix(":0")]


def bilinear(apply, terms, x, w):
    """The rule for every op that is linear in each of two inputs; ``apply(x, w)`` computes it."""
    (x, e_x), (w, e_w) = x, w
    inherited = apply(abs(x), e_w) + apply(e_x, abs(w)) + apply(e_x, e_w)
    return apply(x, w), inherited + bounds.direct(apply(abs(x) + e_x, abs(w) + e_w), terms, "float32")


def windows(op):
    attrs = {name: op.get_attr(name) for name in ("strides", "padding", "data_format", "dilations")}
    attrs["strides"], attrs["dilations"] = list(attrs["strides"]), list(attrs["dilations"])
    return attrs | {"backend": "numpy"}


def conv2d(op, x, w):
    terms = int(np.prod(w[0].shape[:3]))
    return bilinear(lambda x, w: tc.conv2d(x, w, **windows(op)), terms, x, w)


def depthwise(op, x, w):
    terms = int(np.prod(w[0].shape[:2]))
    return bilinear(lambda x, w: tc.depthwise_conv2d(x, w, **windows(op)), terms, x, w)


def backprop_input(op, sizes, w, dy):
    terms = int(np.prod(w[0].shape[:2])) * w[0].shape[3]
    sizes = sizes[0].tolist()
    return bilinear(lambda w, dy: tc.conv2d_backprop_input(sizes, w, dy, **windows(op)), terms, w, dy)


def matmul(op, a, b):
    return bilinear(np.matmul, a[0].shape[1], a, b)


def add(op, x, y):
    value, inherited = x[0] + y[0], x[1] + y[1]
    return value, inherited + bounds.direct(abs(x[0]) + x[1] + abs(y[0]) + y[1], 1, "float32")


def pool(op, x):
    arguments = [list(op.get_attr(name)) for name in ("ksize", "strides")]
    return tuple(tc.graph.nn.max_pool(cells, *arguments, op.get_attr("padding")).numpy() for cells in x)


RULES = {
    "Conv2D": conv2d,
    "DepthwiseConv2dNative": depthwise,
    "Conv2DBackpropInput": backprop_input,
    "MatMul": matmul,
    "BiasAdd": add,
    "Add": add,
    "Mul": lambda op, x, y: bilinear(np.multiply, 1, x, y),
    "MaxPool": pool,
    "Relu": lambda op, x: (np.maximum(x[0], 0), x[1]),
    "Identity": lambda op, x: x,
    "Reshape": lambda op, x, shape: tuple(cells.reshape(shape[0].tolist()) for cells in x),
    "Transpose": lambda op, x, perm: tuple(cells.transpose(perm[0].tolist()) for cells in x),
}
