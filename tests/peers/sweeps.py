"""Seeded random calls in each framework's words, legal and illegal: (op, shapes by name, arguments)."""

import numpy as np


class Chooser:
    """A seeded source of choices."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)

    def int(self, low, high):
        return int(self.random.integers(low, high + 1))

    def of(self, *values):
        return values[self.int(0, len(values) - 1)]

    def maybe(self, probability=0.5):
        return bool(self.random.random() < probability)

    def pair(self, low, high):
        """An int, or two that differ."""
        return self.int(low, high) if self.maybe() else [self.int(low, high), self.int(low, high)]

    def two(self, low, high):
        return [self.int(low, high), self.int(low, high)]


def torch(seed):
    c = Chooser(seed)
    op = c.of("conv2d", "conv2d", "conv_transpose2d", "conv_transpose2d", "conv2d_input", "conv2d_weight")
    groups, depth, outs, k = c.int(1, 3), c.int(1, 2), c.int(1, 2), c.two(1, 4)
    image = [c.int(1, 8), c.int(1, 8)]
    arguments = {"stride": c.pair(1, 3), "dilation": c.pair(1, 3), "groups": groups}
    arguments["padding"] = c.pair(0, 3) if c.maybe(0.9) else c.of("same", "valid", -1, [0, -1])
    channels = groups * depth if c.maybe(0.95) else groups * depth + 1
    shapes = {"input": [c.int(1, 2), channels, *image], "weight": [groups * outs, depth, *k]}
    if op == "conv_transpose2d":
        arguments["output_padding"] = c.pair(0, 2)
        shapes["weight"] = [channels, outs, *k]
    if op in ("conv2d", "conv_transpose2d"):
        if c.maybe(0.2):
            shapes["input"] = shapes["input"][1:]
        if c.maybe(0.3):
            shapes["bias"] = [groups * outs]
        return op, shapes, arguments
    two = {name: _both(arguments[name]) for name in ("stride", "dilation", "padding")}
    sizes = [
        _out(*facts) for facts in zip(image, k, two["stride"], two["dilation"], two["padding"], strict=True)
    ]
    gradient = [shapes["input"][0], groups * outs, *sizes]
    if op == "conv2d_input":
        arguments["input_size"] = shapes.pop("input")
    else:
        arguments["weight_size"] = shapes.pop("weight")
    return op, shapes | {"grad_output": gradient}, arguments


def _both(value):
    return [0, 0] if isinstance(value, str) else [value, value] if isinstance(value, int) else value


def _out(n, k, s, d, p):
    return max(0, (n + 2 * p - (k - 1) * d - 1) // s + 1)


def onnx(seed):
    c = Chooser(seed)
    op = c.of("conv", "conv_transpose")
    group, depth, outs, k = c.int(1, 3), c.int(1, 2), c.int(1, 2), c.two(1, 4)
    channels = group * depth if c.maybe(0.95) else group * depth + 1
    auto_pad = c.of("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    arguments = {"auto_pad": auto_pad, "group": group, "strides": c.two(1, 3)}
    if c.maybe():
        arguments["kernel_shape"] = k
    if c.maybe(0.4):
        arguments["dilations"] = c.two(1, 3)
    if auto_pad == "NOTSET" and c.maybe(0.8):
        arguments["pads"] = [*c.two(0, 3), *c.two(0, 3)]
    image = [c.int(1, 8), c.int(1, 8)]
    shapes = {"X": [c.int(1, 2), channels, *image], "W": [group * outs, depth, *k]}
    if op == "conv_transpose":
        shapes["W"] = [channels, outs, *k]
        if c.maybe(0.3):
            arguments["output_padding"] = c.two(0, 2)
        if c.maybe(0.4):
            arguments["output_shape"] = [
                n * s + c.int(-2, 3) for n, s in zip(image, arguments["strides"], strict=True)
            ]
    if c.maybe(0.3):
        shapes["B"] = [group * outs]
    return op, shapes, arguments


def jax(seed):
    c = Chooser(seed)
    op = c.of("conv_general_dilated", "conv_general_dilated", "conv_transpose")
    groups, depth, outs, k = c.int(1, 3), c.int(1, 2), c.int(1, 2), c.two(1, 4)
    batch_groups = 1
    if op == "conv_transpose":
        groups = 1
    elif c.maybe(0.2):
        groups, batch_groups = 1, c.int(1, 3)
    spatial = [c.int(1, 7), c.int(1, 7)]
    lhs = {"N": c.int(1, 2) * batch_groups, "C": groups * depth, "H": spatial[0], "W": spatial[1]}
    rhs = {"O": groups * outs * batch_groups, "I": depth, "H": k[0], "W": k[1]}
    numbers = [
        c.of("NHWC", "NCHW", "HWNC", "WCNH"),
        c.of("HWIO", "OIHW", "WHIO", "IHOW"),
        c.of("NHWC", "CHWN"),
    ]
    if c.maybe(0.3):
        numbers = None
    default = ["NCHW", "OIHW"] if op == "conv_general_dilated" else ["NHWC", "HWIO"]
    padding = c.of("SAME", "VALID", "SAME_LOWER") if c.maybe() else [c.two(-2, 4), c.two(-2, 4)]
    arguments = {"padding": padding, "dimension_numbers": numbers}
    if c.maybe(0.4):
        arguments["rhs_dilation"] = c.two(1, 3)
    if op == "conv_general_dilated":
        arguments |= {
            "window_strides": c.two(1, 3),
            "feature_group_count": groups,
            "batch_group_count": batch_groups,
        }
        if c.maybe(0.3):
            arguments |= {"lhs_dilation": c.two(1, 3), "window_strides": c.of([1, 1], c.two(1, 3))}
    else:
        arguments |= {"strides": c.two(1, 3), "transpose_kernel": c.maybe()}
        if c.maybe(0.3):
            arguments["use_consistent_padding"] = True
        if arguments["transpose_kernel"]:
            rhs["O"], rhs["I"] = rhs["I"], rhs["O"]
    layouts = (numbers or default)[:2]
    shapes = {"lhs": [lhs[letter] for letter in layouts[0]], "rhs": [rhs[letter] for letter in layouts[1]]}
    if not isinstance(padding, str):
        arguments["padding"] = tuple(tuple(side) for side in padding)
    return op, shapes, arguments


def keras(seed):
    c = Chooser(seed)
    op = c.of("conv", "conv_transpose")
    groups, depth, outs, k = c.int(1, 3), c.int(1, 2), c.int(1, 2), c.two(1, 4)
    data_format = c.of(None, "channels_last", "channels_first")
    image = [c.int(1, 8), c.int(1, 8)]
    arguments = {"strides": c.pair(1, 3), "padding": c.of("same", "valid"), "data_format": data_format}
    if c.maybe(0.4):
        arguments["dilation_rate"] = c.pair(1, 3)
    if op == "conv_transpose":
        groups = 1
        if c.maybe():
            arguments["output_padding"] = c.pair(0, 2)
    channels = groups * depth if c.maybe(0.95) else groups * depth + 1
    inputs = [c.int(1, 2), *image, channels]
    kernel = [*k, depth, groups * outs] if op == "conv" else [*k, outs, depth]
    if data_format == "channels_first":
        inputs = [inputs[0], inputs[3], *inputs[1:3]]
    return op, {"inputs": inputs, "kernel": kernel}, arguments


def tensorflow(seed):
    c = Chooser(seed)
    op = c.of("conv2d", "conv2d_transpose")
    depth, outs, k = c.int(1, 2), c.int(1, 2), c.two(1, 4)
    image, n = [c.int(2, 8), c.int(2, 8)], c.int(1, 2)
    pads = [[0, 0], c.two(0, 2), c.two(0, 2), [0, 0]]
    padding = c.of("SAME", "VALID", pads)
    strides = c.two(1, 3)
    arguments = {"strides": strides, "padding": padding}
    if op == "conv2d":
        groups = c.int(1, 2)
        if c.maybe(0.4):
            arguments["dilations"] = c.two(1, 2)
        return op, {"input": [n, *image, groups * depth], "filters": [*k, depth, groups * outs]}, arguments
    sizes = [(i - 1) * s + 1 + c.int(0, s + 1) for i, s in zip(image, strides, strict=True)]
    if padding == "VALID":
        sizes = [size + filter_size - 1 for size, filter_size in zip(sizes, k, strict=True)]
    arguments["output_shape"] = [n, *sizes, outs]
    return op, {"input": [n, *image, depth], "filters": [*k, outs, depth]}, arguments
