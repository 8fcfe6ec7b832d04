"""Seeded random calls in each framework's words over 1 to 3 axes, legal and illegal: (op, shapes by name, arguments)."""

import numpy as np


class Chooser:
    """A seeded source of choices for calls over ``rank`` axes."""

    def __init__(self, seed, rank=2):
        self.random, self.rank = np.random.default_rng(seed), rank
        self.axes = "DHW"[-rank:]

    def letters(self, layouts):
        """One of some layouts, written for two axes: another rank has other letters in the place of HW or WH."""
        found = self.of(*layouts)
        if self.rank == 1:
            return found.replace("H", "")
        return found.replace("HW", self.axes).replace("WH", self.axes[::-1]) if self.rank == 3 else found

    def int(self, low, high):
        return int(self.random.integers(low, high + 1))

    def of(self, *values):
        return values[self.int(0, len(values) - 1)]

    def maybe(self, probability=0.5):
        return bool(self.random.random() < probability)

    def some(self, low, high):
        """An int, or one for each axis."""
        return self.int(low, high) if self.maybe() else self.each(low, high)

    def each(self, low, high):
        return [self.int(low, high) for _ in range(self.rank)]

    def two(self, low, high):
        return [self.int(low, high), self.int(low, high)]

    def taps(self):
        return self.each(1, 4 if self.rank < 3 else 3)

    def image(self, least, most):
        """Sizes of an image, which are smaller over three axes."""
        return self.each(least, most if self.rank < 3 else most - 2)


def torch(seed, rank=2):
    c = Chooser(seed, rank)
    conv, transpose = f"conv{rank}d", f"conv_transpose{rank}d"
    gradients = ("conv2d_input", "conv2d_weight") if rank == 2 else ()
    op = c.of(conv, conv, transpose, transpose, *gradients)
    groups, depth, outs, k = c.int(1, 3), c.int(1, 2), c.int(1, 2), c.taps()
    image = c.image(1, 8)
    arguments = {"stride": c.some(1, 3), "dilation": c.some(1, 3), "groups": groups}
    arguments["padding"] = (
        c.some(0, 3) if c.maybe(0.9) else c.of("same", "valid", -1, [0] * (rank - 1) + [-1])
    )
    channels = groups * depth if c.maybe(0.95) else groups * depth + 1
    shapes = {"input": [c.int(1, 2), channels, *image], "weight": [groups * outs, depth, *k]}
    if op == transpose:
        arguments["output_padding"] = c.some(0, 2)
        shapes["weight"] = [channels, outs, *k]
    if op in (conv, transpose):
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


def onnx(seed, rank=2):
    c = Chooser(seed, rank)
    op = c.of("conv", "conv_transpose")
    group, depth, outs, k = c.int(1, 3), c.int(1, 2), c.int(1, 2), c.taps()
    channels = group * depth if c.maybe(0.95) else group * depth + 1
    auto_pad = c.of("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    arguments = {"auto_pad": auto_pad, "group": group, "strides": c.each(1, 3)}
    if c.maybe():
        arguments["kernel_shape"] = k
    if c.maybe(0.4):
        arguments["dilations"] = c.each(1, 3)
    if auto_pad == "NOTSET" and c.maybe(0.8):
        arguments["pads"] = [*c.each(0, 3), *c.each(0, 3)]
    image = c.image(1, 8)
    shapes = {"X": [c.int(1, 2), channels, *image], "W": [group * outs, depth, *k]}
    if op == "conv_transpose":
        shapes["W"] = [channels, outs, *k]
        if c.maybe(0.3):
            arguments["output_padding"] = c.each(0, 2)
        if c.maybe(0.4):
            arguments["output_shape"] = [
                n * s + c.int(-2, 3) for n, s in zip(image, arguments["strides"], strict=True)
            ]
    if c.maybe(0.3):
        shapes["B"] = [group * outs]
    return op, shapes, arguments


def jax(seed, rank=2):
    c = Chooser(seed, rank)
    op = c.of("conv_general_dilated", "conv_general_dilated", "conv_transpose")
    groups, depth, outs, k = c.int(1, 3), c.int(1, 2), c.int(1, 2), c.taps()
    batch_groups = 1
    if op == "conv_transpose":
        groups = 1
    elif c.maybe(0.2):
        groups, batch_groups = 1, c.int(1, 3)
    spatial = c.image(1, 7)
    lhs = {"N": c.int(1, 2) * batch_groups, "C": groups * depth} | dict(zip(c.axes, spatial, strict=True))
    rhs = {"O": groups * outs * batch_groups, "I": depth} | dict(zip(c.axes, k, strict=True))
    numbers = [
        c.letters(["NHWC", "NCHW", "HWNC", "WCNH" if rank < 3 else "CWHN"]),
        c.letters(["HWIO", "OIHW", "WHIO", "IHOW" if rank < 3 else "IWHO"]),
        c.letters(["NHWC", "CHWN"]),
    ]
    if c.maybe(0.3):
        numbers = None
    default = [f"NC{c.axes}", f"OI{c.axes}"]
    if op == "conv_transpose":
        default = [f"N{c.axes}C", f"{c.axes}IO"]
    padding = (
        c.of("SAME", "VALID", "SAME_LOWER")
        if c.maybe()
        else [[c.int(-2, 4), c.int(-2, 4)] for _ in range(rank)]
    )
    arguments = {"padding": padding, "dimension_numbers": numbers}
    if c.maybe(0.4):
        arguments["rhs_dilation"] = c.each(1, 3)
    if op == "conv_general_dilated":
        arguments |= {
            "window_strides": c.each(1, 3),
            "feature_group_count": groups,
            "batch_group_count": batch_groups,
        }
        if c.maybe(0.3):
            arguments |= {"lhs_dilation": c.each(1, 3), "window_strides": c.of([1] * rank, c.each(1, 3))}
    else:
        arguments |= {"strides": c.each(1, 3), "transpose_kernel": c.maybe()}
        if c.maybe(0.3):
            arguments["use_consistent_padding"] = True
        if arguments["transpose_kernel"]:
            rhs["O"], rhs["I"] = rhs["I"], rhs["O"]
    layouts = (numbers or default)[:2]
    shapes = {"lhs": [lhs[letter] for letter in layouts[0]], "rhs": [rhs[letter] for letter in layouts[1]]}
    if not isinstance(padding, str):
        arguments["padding"] = tuple(tuple(side) for side in padding)
    return op, shapes, arguments


def keras(seed, rank=2):
    c = Chooser(seed, rank)
    op = c.of("conv", "conv_transpose")
    groups, depth, outs, k = c.int(1, 3), c.int(1, 2), c.int(1, 2), c.taps()
    data_format = c.of(None, "channels_last", "channels_first")
    image = c.image(1, 8)
    arguments = {"strides": c.some(1, 3), "padding": c.of("same", "valid"), "data_format": data_format}
    # XLA of JAX 0.10.2 ends the process for some transposed calls with a dilation over three axes
    if c.maybe(0.4) and (op, rank) != ("conv_transpose", 3):
        arguments["dilation_rate"] = c.some(1, 3)
    if op == "conv_transpose":
        groups = 1
        if c.maybe():
            arguments["output_padding"] = c.some(0, 2)
    channels = groups * depth if c.maybe(0.95) else groups * depth + 1
    inputs = [c.int(1, 2), *image, channels]
    kernel = [*k, depth, groups * outs] if op == "conv" else [*k, outs, depth]
    if data_format == "channels_first":
        inputs = [inputs[0], inputs[-1], *inputs[1:-1]]
    return op, {"inputs": inputs, "kernel": kernel}, arguments


def tensorflow(seed, rank=2):
    c = Chooser(seed, rank)
    forward, transpose = ("conv2d", "conv2d_transpose") if rank == 2 else ("convolution", "conv_transpose")
    op = c.of(forward, transpose)
    depth, outs, k = c.int(1, 2), c.int(1, 2), c.taps()
    image, n = c.image(2, 8), c.int(1, 2)
    pads = [[0, 0], *([c.int(0, 2), c.int(0, 2)] for _ in range(rank)), [0, 0]]
    padding = c.of(
        "SAME", "VALID", pads, *["CAUSAL"] * (rank == 1 and op == forward)
    )  # TensorFlow has no CAUSAL
    strides = c.each(1, 3)
    arguments = {"strides": strides, "padding": padding}
    if op == forward:
        groups = c.int(1, 2)
        if c.maybe(0.4):
            arguments["dilations"] = c.each(1, 2)
        return op, {"input": [n, *image, groups * depth], "filters": [*k, depth, groups * outs]}, arguments
    sizes = [(i - 1) * s + 1 + c.int(0, s + 1) for i, s in zip(image, strides, strict=True)]
    if padding == "VALID":
        sizes = [size + filter_size - 1 for size, filter_size in zip(sizes, k, strict=True)]
    arguments["output_shape"] = [n, *sizes, outs]
    return op, {"input": [n, *image, depth], "filters": [*k, outs, depth]}, arguments
