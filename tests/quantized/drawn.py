"""Quantized calls drawn from a seed, for each scheme those that its runtime computes in integers.

A third of the calls have multipliers that are powers of two, so that many sums are halfway between two
integers; another third has one that is nearly so, where the order of the scales' product matters. There are
zero points at the ends of the types, sums that saturate, and scales over several decades.
"""

import numpy as np

import teachconv as tc

LITERT = ("tflite", "tflite_builtin", "xnnpack")
TORCH = ("torch", "torch_qnnpack")
OPS = {
    "onnx": ("conv1d", "conv2d", "conv2d", "conv3d", "depthwise_conv2d"),
    **dict.fromkeys(LITERT, ("conv2d", "depthwise_conv2d", "conv2d_transpose")),
    **dict.fromkeys(TORCH, ("conv1d", "conv2d", "conv3d", "depthwise_conv2d", "conv2d_transpose")),
}
TYPES = {
    "onnx": (("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")),
    **dict.fromkeys(LITERT, (("int8", "int8"), ("int8", "int8"), ("int16", "int8"))),
    "xnnpack": (("int8", "int8"),),
    **dict.fromkeys(TORCH, (("uint8", "int8"),)),
}


def whole(rng, low, high, shape=None):
    """Integers from low to high, both included."""
    return rng.integers(low, high + 1, shape)


def stored(rng, dtype, shape):
    """Integers of a type; one array in four holds only the two ends of the type."""
    limits = np.iinfo(dtype)
    if rng.random() < 0.25:
        return rng.choice([limits.min, limits.max], shape).astype(dtype)
    return whole(rng, limits.min, limits.max, shape).astype(dtype)


def zero_point(rng, dtype):
    limits = np.iinfo(dtype)
    return int(rng.choice([limits.min, limits.max, *whole(rng, limits.min, limits.max, 6)]))


def scales(rng, sums, channels, per_channel, limits, large):
    """x_scale, w_scale and y_scale, with which the sums fill the result's type, or more; of a few calls far more."""
    size = max(1.0, float(np.abs(sums).std()))
    wanted = (int(limits.max) - int(limits.min)) / rng.uniform(4, 16) / size  # the multiplier
    count = channels if per_channel else None
    kind = rng.integers(3)
    if kind == 0:
        x_scale, w_scale = np.float32(2.0**-4), np.float32(2.0 ** whole(rng, -6, -4, count))
    else:
        x_scale, w_scale = np.float32(rng.uniform(0.01, 0.1)), np.float32(rng.uniform(0.01, 0.1, count))
    if kind == 2:
        w_scale = np.float32(w_scale * 10.0 ** rng.uniform(-1, 1, count))
        y_scale = np.float32(x_scale * np.median(w_scale) / wanted)
    else:
        y_scale = np.float32(
            np.float32(x_scale * np.max(w_scale)) * np.float32(2.0 ** -np.round(np.log2(wanted)))
        )
    if large and rng.random() < 0.05:  # a multiplier above 1, with which integers of 32 bits wrap around
        y_scale = np.float32(y_scale / 2.0 ** whole(rng, 5, 25))
    return x_scale, w_scale, y_scale


def convolution(seed, scheme):
    """Return the name of a function of `teachconv.quantized`, and arguments for it, by name."""
    rng = np.random.default_rng(seed)
    op = str(rng.choice(OPS[scheme]))
    rank = int(op[4]) if op[4].isdigit() else 2
    x_type, w_type = TYPES[scheme][0 if scheme in TORCH else rng.integers(3) % len(TYPES[scheme])]
    sizes, taps = whole(rng, 5, 9, rank), whole(rng, 1, 3, rank)
    ins, outs = int(rng.choice([1, 3, 8, 11, 16])), int(rng.choice([1, 5, 8, 13, 16]))
    stride = int(whole(rng, 1, 2))
    dilation = int(whole(rng, 1, 2)) if stride == 1 and op != "conv2d_transpose" and scheme in LITERT else 1
    groups = int(rng.choice([1, 1, 2])) if op.endswith("d") and op != "depthwise_conv2d" else 1
    if scheme == "xnnpack" and op == "conv2d_transpose":
        taps = np.maximum(taps, stride)  # XNNPACK does not compute smaller filters
    if scheme == "torch" and op == "conv2d_transpose":
        taps[0] |= 1  # fbgemm ignores the stride of filters with two rows
    multiplier = int(whole(rng, 1, 3))
    shape, channels = (ins, outs * groups), outs * groups
    if op == "depthwise_conv2d":
        shape, channels = (ins, multiplier), ins * multiplier
    if op == "conv2d_transpose":
        shape, channels = (outs, ins), outs
    x = stored(rng, x_type, (int(whole(rng, 1, 2)), *sizes, ins * groups))
    w = stored(rng, w_type, (*taps, *shape))
    padding = str(rng.choice(["SAME", "VALID"]))
    if scheme in TORCH:
        padding = tuple((int(pad), int(pad)) for pad in whole(rng, 0, taps // 2))
        if set(taps) == {3}:
            w //= 2  # fbgemm's kernels for these add pairs of products in 16 bits, which saturate
    per_channel = bool(rng.integers(2)) and (scheme, op) != ("torch", "conv2d_transpose")
    w_zero = 0 if scheme in LITERT else zero_point(rng, w_type)
    if scheme not in LITERT and per_channel:
        limits = np.iinfo(w_type)
        w_zero = whole(rng, limits.min, limits.max, channels)
    symmetric = x_type == "int16"
    x_zero, y_zero = (0 if symmetric else zero_point(rng, x_type) for _ in "xy")
    more = {"strides": stride, "padding": padding, "dilations": dilation}
    less = np.asarray(w_zero)
    if less.ndim:
        less = less.reshape({"depthwise_conv2d": shape, "conv2d_transpose": (-1, 1)}.get(op, -1))
    if op == "conv2d_transpose" and scheme in TORCH:
        more["output_padding"] = 0
    sums = getattr(tc, op)(x.astype("int64") - x_zero, w.astype("int64") - less, **more)
    limits = np.iinfo(x_type)
    x_scale, w_scale, y_scale = scales(
        rng, sums, channels, per_channel, limits, not symmetric and scheme != "xnnpack"
    )
    size = int(np.abs(sums).std()) + 1
    bias = whole(rng, -size, size, channels).astype("int32")
    if symmetric and (op == "depthwise_conv2d" or rng.integers(2)):
        bias = bias.astype("int64")
    if scheme in TORCH:
        bias = (bias * np.float32(x_scale * w_scale)).astype("float32")
        if rng.integers(2):
            bias = (bias * rng.uniform(0.9, 1.1, channels)).astype("float32")  # between two integers
    if scheme not in LITERT and rng.random() < 0.2:
        bias = None  # LiteRT's kernels want one
    words = [None, "relu", "relu6"]
    if scheme == "onnx" or scheme in TORCH:  # they have no relu6, and onnxruntime's QLinearConv no relu
        words = [None, "relu"] if scheme in TORCH and op != "conv2d_transpose" else [None]
    activation = words[rng.integers(len(words))]
    return op, {
        "x": x,
        "w": w,
        "bias": bias,
        "x_scale": x_scale,
        "x_zero_point": x_zero,
        "w_scale": w_scale,
        "w_zero_point": w_zero,
        "y_scale": y_scale,
        "y_zero_point": y_zero,
        "scheme": scheme,
        **more,
        "activation": activation,
    }


def pool(seed, scheme, kind):
    """Return arguments of `avg_pool` or `max_pool`, by name."""
    rng = np.random.default_rng(seed)
    types = {"onnx": ("int8", "uint8"), "xnnpack": ("int8",)}.get(scheme, ("int8", "int16"))
    x_type = "uint8" if scheme in TORCH else str(rng.choice(types))
    sizes = whole(rng, 4, 8, 2)
    x = stored(rng, x_type, (1, *sizes, int(rng.choice([1, 4, 8, 17, 32]))))
    ksize = int(whole(rng, 2, 3))
    padding = str(rng.choice(["SAME", "VALID"]))
    if scheme in TORCH:
        pad = int(whole(rng, 0, ksize // 2))
        padding = ((pad, pad), (pad, pad))
    given = {"x": x, "ksize": ksize, "strides": int(whole(rng, 1, 2)), "padding": padding}
    zero = 0 if x_type == "int16" else zero_point(rng, x_type)
    if kind == "max_pool":
        return given
    given |= {"x_scale": np.float32(rng.uniform(0.01, 0.1)), "x_zero_point": zero, "scheme": scheme}
    if scheme == "onnx":
        ratio = np.float32(rng.choice([0.5, 1.0, 1.0, 2.0, rng.uniform(0.5, 2)]))
        given |= {"y_scale": np.float32(given["x_scale"] * ratio), "y_zero_point": zero_point(rng, x_type)}
    if scheme in LITERT:
        given["activation"] = [None, "relu", "relu6"][rng.integers(3)]
    return given
