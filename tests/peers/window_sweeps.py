"""Seeded random calls of pools, patches, padding, batch normalisation and resizes in each framework's words, the real functions, and ours.

`FUNCTIONS` has, for each framework, the names of its functions. A call is a shape, a dtype and arguments; `data` gives
its numbers, small integers. Averages are of multiples of 5040, so that most means are integers too.
"""

import numpy as np
from peers.sweeps import Chooser

import teachconv as tc

FUNCTIONS = {
    "tensorflow": (
        *("max_pool", "avg_pool", "max_pool_grad", "avg_pool_grad", "pad", "batch_normalization"),
        *("resize", "depth_to_space", "space_to_depth"),
    ),
    "torch": (
        *(f"{name}_pool{rank}d" for name in ("max", "avg") for rank in (1, 2, 3)),
        "pad",
        "pad_backward",
        "batch_norm",
        *("interpolate", "pixel_shuffle", "pixel_unshuffle"),
        *(f"adaptive_{name}_pool{rank}d" for name in ("avg", "max") for rank in (1, 2, 3)),
        *("unfold", "fold"),
    ),
    "onnx": (
        *("max_pool", "average_pool", "pad", "batch_normalization"),
        *("resize", "depth_to_space", "space_to_depth"),
    ),
    "jax": ("reduce_window", "pad", "resize"),
    "keras": (
        *("max_pool", "average_pool", "pad", "batch_normalization", "resize"),
        *("adaptive_average_pool", "adaptive_max_pool"),
    ),
}
RESIZES, SHUFFLES = ("resize", "interpolate"), ("depth", "space", "pixel")  # how their names begin


def ints(c, rank, low, high, single=True):
    return c.int(low, high) if single and c.maybe() else [c.int(low, high) for _ in range(rank)]


def per_axis(value, rank):
    return [value] * rank if isinstance(value, int) else list(value) * (rank if len(value) == 1 else 1)


def tensorflow(c, function):
    rank = c.of(1, 2, 2, 3)
    sizes = [c.int(1, 7) for _ in range(rank)]
    k, same = ints(c, rank, 1, 4), c.maybe(0.6)
    if not same:  # TensorFlow 2.21 stops the process for a window that is larger than the input
        sizes = [max(n, size) for n, size in zip(sizes, per_axis(k, rank), strict=True)]
    padding = "SAME" if same else "VALID"
    if rank == 2 and function == "max_pool" and c.maybe(0.3):
        padding = [[0, 0], *([c.int(0, 3), c.int(0, 3)] for _ in range(2)), [0, 0]]
        sizes = [max(n, size) for n, size in zip(sizes, per_axis(k, rank), strict=True)]
    arguments = {"ksize": k, "strides": ints(c, rank, 1, 3), "padding": padding}
    dtype = "float32"
    if function == "max_pool" and rank < 3:
        dtype = c.of("float32", "int32", "float64", "float16")
    return [c.int(1, 2), *sizes, c.int(1, 2)], dtype, arguments


def torch(c, function):
    rank = int(function[-2])
    shape = [c.int(1, 2), c.int(1, 2), *(c.int(1, 7 if rank < 3 else 5) for _ in range(rank))]
    k = ints(c, rank, 1, 4 if rank < 3 else 3)
    arguments = {"kernel_size": k, "ceil_mode": c.maybe()}
    if c.maybe(0.8):
        arguments["stride"] = ints(c, rank, 1, 4)
    if c.maybe(0.7):
        arguments["padding"] = [min(c.int(0, 2), size // 2 + c.maybe(0.1)) for size in per_axis(k, rank)]
    if "max" in function:
        if c.maybe(0.4):
            arguments["dilation"] = ints(c, rank, 1, 3)
        if c.maybe(0.4):
            arguments["return_indices"] = True
    else:
        arguments["count_include_pad"] = c.maybe()
        if rank > 1 and c.maybe(0.2):
            arguments["divisor_override"] = c.of(1, 2, 5, -3, 0)
    dtype = "float32"
    if "max" in function and rank > 1:
        dtype = c.of("float32", "int64", "float64")
    return shape[1:] if c.maybe(0.2) else shape, dtype, arguments


def onnx(c, function):
    rank = c.of(1, 2, 2, 3)
    auto_pad = c.of("NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
    k = ints(c, rank, 1, 4, single=False)
    arguments = {"kernel_shape": k, "auto_pad": auto_pad, "ceil_mode": c.int(0, 1)}
    if c.maybe(0.8):
        arguments["strides"] = ints(c, rank, 1, 4, single=False)
    if auto_pad == "NOTSET" and c.maybe(0.8):
        arguments["pads"] = [min(c.int(0, 3), size - 1 + c.maybe(0.05)) for size in k + k]
    if c.maybe(0.3):
        arguments["dilations"] = ints(c, rank, 1, 3, single=False)
    if function == "average_pool":
        arguments["count_include_pad"] = c.int(0, 1)
    elif c.maybe(0.5):
        arguments |= {"indices": True, "storage_order": c.int(0, 1)}
    arguments["opset"] = (
        c.of(10, 11, 12, 18, 19, 21, 22) if "average" in function else c.of(10, 11, 12, 21, 22)
    )
    if function == "average_pool" and arguments["opset"] < 19:
        arguments.pop("dilations", None)
    return [c.int(1, 2), c.int(1, 2), *(c.int(1, 7) for _ in range(rank))], "float32", arguments


def jax(c, function):
    rank = c.int(1, 4)
    shape = [c.int(1, 6) for _ in range(rank)]
    pooled = [axis >= rank - 3 and c.maybe(0.8) for axis in range(rank)]
    computation = c.of("max", "add")

    def each(low, high, rest):
        return [c.int(low, high) if use else rest for use in pooled]

    arguments = {"init_value": 0.0, "computation": computation, "window_dimensions": each(1, 4, 1)}
    if computation == "max":
        arguments["init_value"] = c.of(float("-inf"), float("-inf"), 0.0, -2.0)
    if c.maybe(0.8):
        arguments["window_strides"] = each(1, 3, 1)
    if c.maybe(0.3):
        arguments["window_dilation"] = each(1, 3, 1)
    arguments["padding"] = c.of("SAME", "VALID", "SAME_LOWER")
    if "window_strides" not in arguments and arguments["padding"] != "VALID":
        arguments["window_strides"] = [1] * rank  # without them JAX 0.10.2 knows no SAME
    if max(arguments["window_dimensions"]) == 1:  # XLA stops the process where no window has two cells
        arguments |= {"padding": "VALID", "window_strides": [1] * rank}
    elif c.maybe():
        arguments["padding"] = [[c.int(-1, 4), c.int(-1, 4)] if use else [0, 0] for use in pooled]
    return shape, "float32", arguments


def keras(c, function):
    rank = c.of(1, 2, 2, 3)
    k, padding = ints(c, rank, 1, 4), c.of("valid", "same", "same")
    sizes = [c.int(1, 7) for _ in range(rank)]
    if padding == "valid":
        sizes = [max(n, size) for n, size in zip(sizes, per_axis(k, rank), strict=True)]
    arguments = {"pool_size": k if isinstance(k, int) else tuple(k), "padding": padding}
    if c.maybe(0.7):
        strides = ints(c, rank, 1, 3)
        arguments["strides"] = strides if isinstance(strides, int) else tuple(strides)
    return [c.int(1, 2), *sizes, c.int(1, 2)], "float32", arguments


def pad(c, framework, function):
    """Sides of every axis, in each framework's order, a few of them wider than the mode allows or negative."""
    rank = c.int(1, 4)
    modes = {
        "tensorflow": ("CONSTANT", "REFLECT", "SYMMETRIC"),
        "torch": ("constant", "reflect", "replicate", "circular"),
        "onnx": ("constant", "reflect", "edge", "wrap"),
        "jax": ("constant", "reflect", "symmetric", "edge", "wrap"),
        "keras": ("constant", "reflect", "symmetric"),
    }
    mode = c.of(*modes[framework])
    if framework == "torch" and mode != "constant":
        rank = c.int(2, 4)
    shape = [c.int(1, 6) for _ in range(rank)]
    low = -1 if framework in ("torch", "onnx") and c.maybe(0.3) else 0

    def side(size):
        return c.int(low, 5) if c.maybe(0.05) else min(c.int(low, 3), max(size - 1, 0))

    sides = [[side(size), side(size)] for size in shape]
    arguments = {"mode": mode}
    if mode.lower() == "constant" and c.maybe():
        word = {"torch": "value", "onnx": "constant_value"}.get(framework, "constant_values")
        arguments[word] = c.of(-3.0, 2.5, float("-inf"))
    if framework == "torch":
        count = c.int(1, rank)
        if mode != "constant":
            count = max(1, min(rank - c.int(1, 2), 3))
        arguments["pad"] = [size for pair in sides[::-1][:count] for size in pair]
    elif framework == "onnx":
        axes = sorted(range(rank), key=lambda axis: c.int(0, 9))[: c.int(1, rank)] if c.maybe() else None
        chosen = range(rank) if axes is None else axes
        arguments["pads"] = [sides[axis][end] for end in (0, 1) for axis in chosen]
        if axes is not None:
            arguments["axes"] = [axis - rank * c.maybe() for axis in axes]
    else:
        name = "paddings" if framework == "tensorflow" else "pad_width"
        arguments[name] = c.of(sides[0], sides[0][0]) if framework == "jax" and c.maybe(0.2) else sides
    return shape, "float32", arguments


def norm(c, framework, function):
    """Channels of numbers with few bits, so that statistics are exact; the roots are not."""
    rank = c.int(2, 5) if framework in ("torch", "onnx") else c.int(1, 4)
    shape = [c.int(1, 4) for _ in range(rank)]
    axis = {"torch": 1, "onnx": 1, "tensorflow": rank - 1}.get(framework, c.int(0, rank - 1))

    def channel(*values):
        return [c.of(*values) for _ in range(shape[axis])]

    mean, variance = channel(-2.0, 0.0, 0.5, 3.0), channel(0.0, 0.25, 1.0, 2.0, 9.0)
    gamma, beta = channel(-1.0, 0.0, 0.5, 2.0), channel(-3.0, 0.0, 1.0, 10.0)
    eps = c.of(1e-3, 1e-5, 0.0625)
    if framework == "torch":
        arguments = {"running_mean": mean, "running_var": variance, "eps": eps}
        arguments |= {"weight": gamma if c.maybe() else None, "bias": beta if c.maybe() else None}
        arguments |= {"training": c.maybe(), "momentum": c.of(0.1, 0.25, 1.0)}
    elif framework == "onnx":
        arguments = {"scale": gamma, "B": beta, "input_mean": mean, "input_var": variance, "epsilon": eps}
        arguments |= {"training_mode": c.int(0, 1), "momentum": c.of(0.9, 0.25, 0.0)}
    else:
        arguments = {"mean": mean, "variance": variance, "offset": beta, "scale": gamma}
        arguments |= {name: None for name in ("offset", "scale") if c.maybe(0.3)}
        arguments |= {"epsilon": eps, "axis": axis} if framework == "keras" else {"variance_epsilon": eps}
    return shape, "float32", arguments


def resize(c, framework, function):
    """Sizes, or factors whose products are whole numbers or not; the nearest by every rule that there is."""
    rank = {"tensorflow": 2, "keras": 2}.get(framework) or c.of(1, 2, 2, 3)
    sizes = [c.int(1, 24 if rank == 1 else 9) for _ in range(rank)]
    new = [c.of(size, 2 * size, c.int(1, 12)) for size in sizes]
    factors = [c.of(0.3, 0.5, 0.7, 1.0, 1.2, 1.5, 2.0, 2.3, 3.0) for _ in sizes]
    ends, linear = [c.int(1, 2), c.int(1, 2)], c.maybe()
    if framework == "tensorflow":
        word = c.of("half_pixel", "half_pixel", "asymmetric", "align_corners")
        arguments = {"size": new, "method": "bilinear" if linear else "nearest", "coordinates": word}
        return [ends[0], *sizes, ends[1]], "float32", arguments
    if framework == "keras":
        return (
            [ends[0], *sizes, ends[1]],
            "float32",
            {
                "size": new,
                "interpolation": "bilinear" if linear else "nearest",
            },
        )
    if framework == "jax":  # any axes, as there are no layouts
        shape = [*ends, *sizes] if c.maybe() else [ends[0], *sizes, ends[1]]
        if not linear and c.maybe(0.3):  # fifths, where the nearest has a rule of its own
            size = 5 * c.int(1, 12)
            new = [c.int(1, 2), c.of(5 * size // 2, 5 * c.int(1, 22))]
            return [c.int(1, 2), size], "float32", {"shape": new, "method": "nearest"}
        new = [*ends, *new] if c.maybe() else [c.of(size, 2 * size, c.int(1, 12)) for size in shape[:3]]
        words = {"shape": new, "method": c.of("linear", "bilinear", "triangle") if linear else "nearest"}
        shape = shape[: len(new)]
        is_plain = c.maybe() and all(n >= size for n, size in zip(new, shape, strict=True))
        return shape, "float32", words if is_plain else words | {"antialias": False}
    if framework == "torch":
        words = ("linear", "bilinear", "trilinear")
        arguments = {"mode": words[rank - 1] if linear else c.of("nearest", "nearest-exact")}
        arguments |= {"size": new} if c.maybe() else {"scale_factor": factors}
        if linear or c.maybe(0.05):
            arguments["align_corners"] = c.maybe()
        if c.maybe(0.2):
            arguments["recompute_scale_factor"] = c.maybe()
        return [*ends, *sizes], "float32", arguments
    arguments = {"mode": "linear"} if linear else {"nearest_mode": c.of("round_prefer_floor", "floor")}
    if not linear and c.maybe():
        arguments["nearest_mode"] = c.of("round_prefer_ceil", "ceil")
    arguments["coordinate_transformation_mode"] = c.of(
        "half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"
    )
    arguments |= {"sizes": [*ends, *new]} if c.maybe() else {"scales": [1.0, 1.0, *factors]}
    if c.maybe(0.3):
        arguments |= {name: arguments[name][2:] for name in ("sizes", "scales") if name in arguments}
        arguments["axes"] = [axis - (rank + 2) * c.maybe() for axis in range(2, rank + 2)]
    return [*ends, *sizes], "float32", arguments


def shuffle(c, framework, function):
    """Blocks of two or three rows, with channels, rows or columns that are multiples of them, or not."""
    block, to_depth = c.int(2, 3), function in ("space_to_depth", "pixel_unshuffle")
    rows, cols = (c.int(1, 3) * (block if to_depth else 1) for _ in range(2))
    channels = c.int(1, 3) * (1 if to_depth else block**2) + c.maybe(0.05)
    name = {"torch": f"{'down' if to_depth else 'up'}scale_factor", "onnx": "blocksize"}.get(
        framework, "block_size"
    )
    arguments = {name: block}
    if framework == "onnx" and not to_depth and c.maybe(0.7):
        arguments["mode"] = c.of("DCR", "CRD")
    if framework == "tensorflow":
        return [c.int(1, 2), rows, cols, channels], "float32", arguments
    batch = [c.int(1, 2) for _ in range(c.int(0, 2))] if framework == "torch" else [c.int(1, 2)]
    return [*batch, channels, rows, cols], "float32", arguments


def adaptive(c, framework, function):
    """Sizes that divide the input's, that do not, and that are larger; PyTorch keeps a size for None."""
    rank = int(function[-2]) if framework == "torch" else c.of(1, 2, 2, 3)
    sizes = [c.int(1, 9 if rank < 3 else 5) for _ in range(rank)]
    new = c.int(1, 6) if c.maybe(0.3) else [c.of(1, size, c.int(1, 7)) for size in sizes]
    if framework == "keras":
        if "max" in function:  # TensorFlow 2.21 stops the process for a size of 1 or more than the input's
            sizes = [max(2, size) for size in sizes]
            new = [max(2, min(n, size)) for n, size in zip(per_axis(new, rank), sizes, strict=True)]
        return [c.int(1, 2), *sizes, c.int(1, 2)], "float32", {"output_size": new}
    if rank > 1 and isinstance(new, list) and c.maybe(0.3):
        new[c.int(0, rank - 1)] = None
    outer = [c.int(1, 2), c.int(1, 2)][c.maybe(0.2) :]
    return [*outer, *sizes], "float32", {"output_size": new}


def patches(c, framework, function):
    """Patches that fit, with gaps between them or overlaps; and columns that belong to no such image."""
    sizes = [c.int(1, 7) for _ in range(2)]
    words = {"kernel_size": ints(c, 2, 1, 3), "stride": ints(c, 2, 1, 3)}
    words |= {"padding": ints(c, 2, 0, 2)} if c.maybe() else {}
    words |= {"dilation": ints(c, 2, 1, 2)} if c.maybe(0.4) else {}
    outer = [c.int(1, 2), c.int(1, 2)][c.maybe(0.2) :]
    if function == "unfold":
        return [*outer, *sizes], "float32", words
    usual = {"padding": 0, "dilation": 1} | words
    facts = zip(
        sizes,
        *(per_axis(usual[name], 2) for name in ("kernel_size", "stride", "padding", "dilation")),
        strict=True,
    )
    count = int(np.prod([max(1, (n + 2 * p - d * (k - 1) - 1) // s + 1) for n, k, s, p, d in facts]))
    rows = outer[-1] * int(np.prod(per_axis(words["kernel_size"], 2)))
    return [*outer[:-1], rows, count + c.maybe(0.05)], "float32", {"output_size": sizes} | words


def call(framework, function, seed):
    """Return shape, dtype and arguments of a seeded call."""
    names = sorted(FUNCTIONS)
    number = 1_000_000 * names.index(framework) + 10_000 * FUNCTIONS[framework].index(function) + seed
    others = ("adaptive", adaptive), (("fold", "unfold"), patches)
    for start, made in (("pad", pad), ("batch", norm), (RESIZES, resize), (SHUFFLES, shuffle), *others):
        if function.startswith(start):
            return made(Chooser(number), framework, function)
    return globals()[framework](Chooser(number), function)


def data(shape, dtype, function, seed):
    """Return the input of a call: small integers with ties, none of them 0; for means multiples of 5040.

    For a gradient over three axes there are no ties: TensorFlow gives the gradient to all of them there.
    """
    rng = np.random.default_rng(seed)
    if function == "max_pool_grad" and len(shape) == 5:
        return rng.permutation(int(np.prod(shape))).reshape(shape).astype(dtype)
    scale = 5040 if "av" in function else 1
    return (scale * rng.choice([-4, -3, -2, -1, 1, 2, 3, 4, 5], shape)).astype(dtype)


def gradient_of(result, seed):
    """Return a gradient of the shape of a result; for the seed None of ones."""
    if seed is None:
        return 4 * 5040 * np.ones_like(result)
    return (5040 * np.random.default_rng(seed + 1).integers(-3, 4, result.shape)).astype(result.dtype)


def as_arrays(arguments, dtype):
    """Return the arguments with the lists of numbers of the channels as arrays."""
    return {
        name: np.array(value, dtype) if isinstance(value, list) else value
        for name, value in arguments.items()
    }


# ---------------------------------------------------------------------------------------------
# Ours
# ---------------------------------------------------------------------------------------------


def ours(framework, function, x, arguments, seed):
    """Return what teachconv gives, as a list of arrays."""
    arguments = {name: value for name, value in arguments.items() if name != "opset"}
    if function.startswith("batch"):
        arguments = as_arrays(arguments, x.dtype)
    if function == "pad_backward":
        made = tc.resolve(tc.dialects.torch.pad, x, **arguments)
        return [made.backward(gradient_of(made(x), seed))]
    if function.endswith("grad"):
        grad = gradient_of(getattr(tc, function.removesuffix("_grad"))(x, **arguments), seed)
        result = getattr(tc, function)(x if "max" in function else x.shape, grad, **arguments)
    else:
        place = tc if framework == "tensorflow" else getattr(tc.dialects, framework)
        result = getattr(place, function)(x, **arguments)
    return [np.asarray(part) for part in (result if isinstance(result, tuple) else (result,))]


# ---------------------------------------------------------------------------------------------
# Theirs: each raises what the framework raises
# ---------------------------------------------------------------------------------------------


def by_tensorflow(function, x, arguments, seed):
    import tensorflow as tf

    if function == "pad":
        return [tf.pad(x, **arguments).numpy()]
    if function == "resize":  # that of TensorFlow 1 has the other coordinates
        size, method, word = arguments.values()
        if word == "half_pixel":
            return [tf.image.resize(x, size, method).numpy()]
        old = getattr(
            tf.compat.v1.image,
            f"resize_{'bilinear' if method == 'bilinear' else 'nearest_neighbor'}",
        )
        return [old(x, size, align_corners=word == "align_corners").numpy()]
    if not function.endswith("grad"):
        return [getattr(tf.nn, function)(x, **arguments).numpy()]
    if x.ndim == 5:  # without the word, the gradient of TensorFlow 2.21 fails
        arguments = arguments | {"data_format": "NDHWC"}
    with tf.GradientTape() as tape:
        given = tf.constant(x)
        tape.watch(given)
        result = getattr(tf.nn, function.removesuffix("_grad"))(given, **arguments)
    return [tape.gradient(result, given, gradient_of(result.numpy(), seed)).numpy()]


def by_torch(function, x, arguments, seed):
    import torch

    given = torch.from_numpy(x)
    if function == "pad_backward":
        given.requires_grad_()
        result = torch.nn.functional.pad(given, **arguments)
        result.backward(torch.from_numpy(gradient_of(result.detach().numpy(), seed)))
        return [given.grad.numpy()]
    arguments = {
        name: torch.from_numpy(value) if isinstance(value, np.ndarray) else value
        for name, value in arguments.items()
    }
    result = getattr(torch.nn.functional, function)(given, **arguments)
    if arguments.get("training"):  # PyTorch writes the moving averages into its arguments
        result = (result, arguments["running_mean"], arguments["running_var"])
    return [part.numpy() for part in (result if isinstance(result, tuple) else (result,))]


def onnx_node(kind, inputs, outputs, arguments, reference=False):
    """Return the outputs of a node by onnxruntime, or by the reference evaluator; an input of None is left out."""
    import onnx
    import onnx.reference
    import onnxruntime

    helper, names = onnx.helper, [name if value is not None else "" for name, value in inputs.items()]
    while not names[-1]:
        names.pop()
    feeds = {name: np.asarray(value) for name, value in inputs.items() if value is not None}
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in feeds.items()
    ]
    made = [
        helper.make_tensor_value_info(name, given[0].type.tensor_type.elem_type, None) for name in outputs
    ]
    graph = helper.make_graph([helper.make_node(kind, names, outputs, **arguments)], "layer", given, made)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    if reference:
        return onnx.reference.ReferenceEvaluator(model).run(None, feeds)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, feeds)


def by_onnx(function, x, arguments, seed):
    import onnx
    import onnxruntime

    if function == "pad":
        pads, axes = np.int64(arguments["pads"]), arguments.get("axes")
        value = arguments.get("constant_value")
        value = None if value is None else np.float32(value)
        inputs = {"X": x, "p": pads, "v": value, "a": None if axes is None else np.int64(axes)}
        return onnx_node("Pad", inputs, ["Y"], {"mode": arguments["mode"]})
    if function == "batch_normalization":  # onnxruntime cannot train
        arrays = {name: arguments[name] for name in ("scale", "B", "input_mean", "input_var")}
        attributes = {name: value for name, value in arguments.items() if name not in arrays}
        training = bool(arguments["training_mode"])
        outputs = ["Y", "M", "V"][: 3 if training else 1]
        return onnx_node("BatchNormalization", {"X": x} | arrays, outputs, attributes, training)
    if function.startswith(RESIZES):
        dtypes = {"scales": np.float32, "sizes": np.int64}
        rest = {name: value for name, value in arguments.items() if name not in dtypes}
        arrays = {name: np.array(arguments[name], dtypes[name]) for name in dtypes if name in arguments}
        inputs = {"X": x, "roi": None, "scales": arrays.get("scales"), "sizes": arrays.get("sizes")}
        return onnx_node("Resize", inputs, ["Y"], rest)
    if function.startswith(SHUFFLES):
        name = "DepthToSpace" if function == "depth_to_space" else "SpaceToDepth"
        return onnx_node(name, {"X": x}, ["Y"], arguments)
    arguments = dict(arguments)
    opset, indices = arguments.pop("opset"), arguments.pop("indices", False)
    helper, outputs = onnx.helper, ["Y", "I"][: 1 + indices]
    kind = helper.np_dtype_to_tensor_dtype(x.dtype)
    node = helper.make_node(
        {"max_pool": "MaxPool", "average_pool": "AveragePool"}[function], ["X"], outputs, **arguments
    )
    made = [
        helper.make_tensor_value_info(name, code, None)
        for name, code in zip(outputs, (kind, 7), strict=False)
    ]
    graph = helper.make_graph([node], "pool", [helper.make_tensor_value_info("X", kind, x.shape)], made)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    return session.run(None, {"X": x})


def by_jax(function, x, arguments, seed):
    from jax import lax

    if function == "pad":
        import jax.numpy as jnp

        return [np.asarray(jnp.pad(x, **arguments))]
    if function == "resize":
        import jax

        return [np.asarray(jax.image.resize(x, **arguments))]
    arguments = dict(arguments)
    arguments["computation"] = getattr(lax, arguments["computation"])
    return [np.asarray(lax.reduce_window(x, **arguments))]


def by_keras(function, x, arguments, seed):
    import keras

    if function == "resize":
        return [np.asarray(keras.ops.image.resize(x, **arguments))]
    return [np.asarray(getattr(keras.ops, function)(keras.ops.convert_to_tensor(x), **arguments))]


def theirs(framework, function, x, arguments, seed):
    """Return what the framework gives, as a list of arrays."""
    if function.startswith("batch"):
        arguments = as_arrays(arguments, x.dtype)
    return globals()[f"by_{framework}"](function, x, arguments, seed)


# ---------------------------------------------------------------------------------------------
# Where the two may differ
# ---------------------------------------------------------------------------------------------


def known(framework, function, shape, arguments, ours, theirs):
    """Whether two answers, each a list of arrays or an exception, differ in a way that is known."""
    if function.startswith("pad"):
        # PyTorch checks only the axes together, onnxruntime only modes: an axis may be cropped to nothing there
        left = isinstance(ours, Exception) and "must leave a cell" in str(ours)
        return left or (framework == "onnx" and isinstance(ours, list) and ours[0].size == 0)
    if function == "resize":  # onnxruntime lets a size be 0
        return isinstance(ours, Exception) and "must be at least 1" in str(ours) and theirs[0].size == 0
    # the index of a window without cells lies outside the input there, and is -1 here
    both = not isinstance(ours, Exception) and isinstance(theirs, list)
    if both and len(theirs) == 2 and np.array_equal(ours[0], theirs[0]):
        return bool(((ours[1] == theirs[1]) | (ours[1] == -1)).all())
    if framework == "onnx":
        # onnxruntime divides sizes towards zero, so that a window may be larger than the padded input
        if isinstance(ours, Exception):
            return "needs in_" in str(ours)
        # with SAME and strides beyond the window it takes negative pads: it crops, or refuses them
        facts = zip(shape[2:], arguments["kernel_shape"], arguments.get("strides", [1] * 3), strict=False)
        return "SAME" in arguments["auto_pad"] and any((-(-n // s) - 1) * s + k < n for n, k, s in facts)
    return False
