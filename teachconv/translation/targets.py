"""The frameworks that calls are translated to, a record for each; and from a geometry back to a call of one.

`target_call` uses the framework's padding strings where they fit at every size, explicit numbers where those
do, and otherwise pads or crops before or after the call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..core.arguments import begins_then_ends
from ..dialects import jax, keras, onnx, torch
from ..dialects.calls import FUNCTIONS, ConvCall
from ..running import nn_ops
from ..support.errors import ArgumentError, brief, check_word, suggestion
from ..windows import normalization, padding, resizing
from ..windows.calls import FUNCTIONS as WINDOWS
from . import forward, transposed, window_targets
from .source_text import onnx_section, scipy_section
from .target_calls import Family, Target, TargetCall, torch_order, without_none


def _pointwise(text: str) -> dict[str, str]:
    """Return the functions in a text, one a line, by the words before them."""
    return dict(line.strip().split(" ", 1) for line in text.strip().split("\n"))


TARGETS: dict[Any, Target] = {
    target.name: target
    for target in (
        Target(
            name="tensorflow",
            title="TensorFlow",
            aliases=("tf", "tf.nn", "tensorflow.nn", "tc", "teachconv"),
            packages=("tensorflow",),
            imports=("import tensorflow as tf",),
            forward=forward.of_tensorflow,
            transposed=transposed.of_tensorflow,
            result="{}.numpy()",
            filter_gradient="tf.raw_ops.Conv2DBackpropFilter",
            pool=window_targets.tensorflow_pool,
            pool_words=("SAME", ""),
            pad=(
                padding.pad,
                "tf.pad",
                "paddings",
                "constant_values",
                list,
                {mode: mode.upper() for mode in padding.RULES},
            ),
            resize=(
                resizing.resize,
                "tf.image.resize",
                "NHWC",
                ("size",),
                ({"method": "bilinear"}, {"method": "nearest"}),
            ),
            shuffles=(
                (False, resizing.depth_to_space, "tf.nn.depth_to_space", "block_size", {}, "NHWC"),
                (True, resizing.space_to_depth, "tf.nn.space_to_depth", "block_size", {}, "NHWC"),
            ),
            norm=(
                normalization.batch_normalization,
                "tf.nn.batch_normalization",
                "variance_epsilon",
                "x mean variance beta gamma",
                "{first}{rest}C",
            ),
            pointwise=_pointwise("""
                relu tf.nn.relu
                leaky_relu tf.nn.leaky_relu alpha={slope}
                clip tf.clip_by_value
                silu tf.nn.silu
                gelu tf.nn.gelu approximate={is_tanh}
                elu tf.nn.elu
                sigmoid tf.nn.sigmoid
                tanh tf.nn.tanh
                softplus tf.nn.softplus
                softmax tf.nn.softmax
                matmul tf.linalg.matmul
            """),
        ),
        Target(
            name="torch",
            title="PyTorch",
            aliases=("pytorch", "f", "torch.nn.functional", "torch.nn.grad"),
            packages=("torch",),
            imports=("import torch", "import torch.nn.functional as F"),
            forward=forward.of_torch,
            transposed=transposed.of_torch,
            of_tensors=True,
            takes_bias=True,
            filter_layouts=("OIHW", "IOHW"),
            filter_gradient="torch.nn.grad.conv2d_weight",
            pool=window_targets.torch_pool,
            pool_words=("",),
            ceils=True,
            pad=(
                torch.pad,
                "F.pad",
                "pad",
                "value",
                torch_order,
                {"edge": "replicate", "wrap": "circular"},
            ),
            resize=(
                torch.interpolate,
                "F.interpolate",
                "NC{own}",
                ("scale_factor", "size"),
                (
                    {"mode": "nearest"},
                    {"mode": "nearest-exact"},
                    {"mode": "{linear}"},
                    {"mode": "{linear}", "align_corners": True},
                ),
            ),
            shuffles=(
                (False, torch.pixel_shuffle, "F.pixel_shuffle", "upscale_factor", {}, "NCHW"),
                (True, torch.pixel_unshuffle, "F.pixel_unshuffle", "downscale_factor", {}, "NCHW"),
            ),
            adaptive=tuple(
                (reduce, rank, getattr(torch, name), f"F.{name}", "NC{own}")
                for reduce, word in (("average", "avg"), ("max", "max"))
                for rank in (1, 2, 3)
                for name in (f"adaptive_{word}_pool{rank}d",)
            ),
            norm=(
                torch.batch_norm,
                "F.batch_norm",
                "eps",
                "x mean variance gamma beta",
                "{first}C{rest}",
            ),
            pointwise=_pointwise("""
                relu F.relu
                leaky_relu F.leaky_relu negative_slope={slope}
                clip torch.clamp
                silu F.silu
                gelu F.gelu approximate={tanh_or_none!r}
                elu F.elu
                sigmoid torch.sigmoid
                tanh torch.tanh
                hardswish F.hardswish
                hardsigmoid F.hardsigmoid
                softplus F.softplus
                mish F.mish
                softmax F.softmax dim=-1
                matmul torch.matmul
            """),
        ),
        Target(
            name="jax",
            title="JAX",
            aliases=("lax", "jax.lax"),
            packages=("jax",),
            imports=("import jax",),
            forward=forward.of_jax,
            transposed=transposed.of_jax,
            last=("y = np.asarray(y)",),
            takes_empty=True,
            stuffs=True,
            filter_layouts=("OIHW", "HWIO"),
            filter_gradient="jax.vjp of conv_general_dilated",
            pool=window_targets.jax_pool,
            pool_words=("", "SAME", "SAME_LOWER"),
            pad=(jax.pad, "jax.numpy.pad", "pad_width", "constant_values", list, {}),
            resize=(
                jax.resize,
                "jax.image.resize",
                "{all}",
                ("shape",),
                ({"method": "linear", "antialias": False}, {"method": "nearest"}),
            ),
            no_norm="JAX has no batch normalisation; layers of Flax have",
            no_window_of_one="XLA stops the process for a window of one cell",
            pointwise=_pointwise("""
                relu jax.nn.relu
                leaky_relu jax.nn.leaky_relu negative_slope={slope}
                clip jax.numpy.clip
                silu jax.nn.silu
                gelu jax.nn.gelu approximate={is_tanh}
                elu jax.nn.elu
                sigmoid jax.nn.sigmoid
                tanh jax.numpy.tanh
                hardswish jax.nn.hard_swish
                hardsigmoid jax.nn.hard_sigmoid
                softplus jax.nn.softplus
                mish jax.nn.mish
                softmax jax.nn.softmax
                matmul jax.numpy.matmul
            """),
        ),
        Target(
            name="onnx",
            title="ONNX",
            aliases=("onnxruntime", "ort"),
            packages=("onnx", "onnxruntime"),
            imports=("import onnxruntime", "from onnx import helper"),
            forward=forward.of_onnx,
            transposed=transposed.of_onnx,
            section=onnx_section,
            takes_bias=True,
            filter_layouts=("OIHW", "IOHW"),
            filter_gradient="no operator",
            pool=window_targets.onnx_pool,
            pool_words=("", "SAME_UPPER", "SAME_LOWER"),
            ceils=True,
            pad=(onnx.pad, "Pad", "pads", "constant_value", begins_then_ends, {}),
            resize=(
                onnx.resize,
                "Resize",
                "NC{own}",
                ("scales", "sizes"),
                tuple(
                    {"mode": mode, "coordinate_transformation_mode": place, "axes": "{axes}"} | words
                    for place in resizing.SHIFTS
                    for mode, words in (
                        ("linear", {}),
                        *(("nearest", {"nearest_mode": reads}) for reads in resizing.NEAREST),
                    )
                ),
            ),
            shuffles=(
                (False, onnx.depth_to_space, "DepthToSpace", "blocksize", {"mode": "DCR"}, "NCHW"),
                (False, onnx.depth_to_space, "DepthToSpace", "blocksize", {"mode": "CRD"}, "NCHW"),
                (True, onnx.space_to_depth, "SpaceToDepth", "blocksize", {}, "NCHW"),
            ),
            norm=(
                onnx.batch_normalization,
                "BatchNormalization",
                "epsilon",
                "x gamma beta mean variance",
                "{first}C{rest}",
            ),
            pointwise=_pointwise("""
                relu Relu
                leaky_relu LeakyRelu alpha={slope}
                clip Clip
                gelu Gelu approximate={tanh_or_none!r}
                elu Elu
                sigmoid Sigmoid
                tanh Tanh
                hardswish HardSwish
                hardsigmoid HardSigmoid alpha=0.16666666666666666 beta=0.5
                softplus Softplus
                mish Mish
                softmax Softmax
                matmul MatMul
            """),
        ),
        Target(
            name="keras",
            title="Keras",
            aliases=("keras.ops", "tf.keras"),
            packages=("keras",),
            imports=("import keras",),
            forward=forward.of_keras,
            transposed=transposed.of_keras,
            result="keras.ops.convert_to_numpy({})",
            filter_gradient="no function; use the automatic differentiation of its backend",
            pool=window_targets.keras_pool,
            pool_words=("same", ""),
            pad=(keras.pad, "keras.ops.pad", "pad_width", "constant_values", list, {}),
            resize=(
                keras.resize,
                "keras.ops.image.resize",
                "NHWC",
                ("size",),
                tuple(
                    {"interpolation": word, "data_format": "channels_last"}
                    for word in ("bilinear", "nearest")
                ),
            ),
            adaptive=tuple(  # TensorFlow 2.21 stops the process for some sizes of Keras' maximum
                ("average", rank, keras.adaptive_average_pool, "keras.ops.adaptive_average_pool", "N{own}C")
                for rank in (1, 2, 3)
            ),
            norm=(
                keras.batch_normalization,
                "keras.ops.batch_normalization",
                "epsilon",
                "x mean variance {axis} beta gamma",
                "{own}",
            ),
            pointwise=_pointwise("""
                relu keras.ops.relu
                leaky_relu keras.ops.leaky_relu negative_slope={slope}
                clip keras.ops.clip
                silu keras.ops.silu
                gelu keras.ops.gelu approximate={is_tanh}
                elu keras.ops.elu
                sigmoid keras.ops.sigmoid
                tanh keras.ops.tanh
                hardswish keras.ops.hard_silu
                hardsigmoid keras.ops.hard_sigmoid
                softplus keras.ops.softplus
                softmax keras.ops.softmax
                matmul keras.ops.matmul
            """),
        ),
        Target(
            name="scipy",
            title="SciPy",
            aliases=("scipy.signal",),
            packages=("scipy",),
            imports=("from scipy import signal",),
            forward=forward.of_scipy,
            transposed=transposed.of_scipy,
            section=scipy_section,
            filter_gradient="no function",
        ),
    )
}
_ALIASES = {alias: target.name for target in TARGETS.values() for alias in target.aliases}


def framework(word: Any) -> Any:
    """Return the framework that a word means, or the word itself.

    >>> framework("pytorch"), framework("tf.nn"), framework("torch"), framework("caffe")
    ('torch', 'tensorflow', 'torch', 'caffe')
    """
    return _ALIASES.get(word.lower(), word) if isinstance(word, str) else word


def target_named(word: Any) -> Target:
    """Return the target that a word means."""
    name = framework(word)
    check_word(name, "to", TARGETS)
    return TARGETS[name]


def function_named(name: str) -> Callable[..., Any]:
    """Return a function by its name, with or without its framework; a bare name is TensorFlow's first.

    >>> function_named("F.conv2d").__module__, function_named("conv2d").__module__
    ('teachconv.dialects.torch', 'teachconv.running.nn_ops')

    Raises:
        ArgumentError: if there is no such function, or several frameworks other than TensorFlow have one.
    """
    known = known_functions()
    module, _, last = name.rpartition(".")
    word = f"{framework(module) if module else 'tensorflow'}.{last}"
    if word in known:
        return known[word]
    found = [] if module else [full for full in known if full.endswith("." + name)]
    if len(found) == 1:
        return known[found[0]]
    near = f" (one of {', '.join(found)}?)" if found else _near(name, known)
    raise ArgumentError(f"function must be one of {nn_ops.listed(FUNCTIONS)}; got {brief(name)}{near}")


def known_functions() -> dict[str, Callable[..., Any]]:
    """Return the functions that can be resolved and translated, by names such as "torch.conv2d"."""
    known = {entry.name: function for function, entry in FUNCTIONS.items()}
    for function in WINDOWS:
        package, _, place = function.__module__.rpartition(".")
        known[f"{'tensorflow' if package.endswith('windows') else place}.{function.__name__}"] = function
    return known


def _near(name: str, known: dict[str, Any]) -> str:
    """Return a hint at the nearest function; without a framework, teachconv's own before another's."""
    if "." in name:
        return suggestion(name, known)
    from difflib import get_close_matches  # needed only where something went wrong

    own_first = sorted(known, key=lambda full: not full.startswith(_OWN))
    words = {full.rpartition(".")[2]: full.removeprefix(_OWN) for full in reversed(own_first)}
    found = get_close_matches(name.lower(), words, 1)
    return f' (did you mean "{words[found[0]]}"?)' if found else suggestion(name, known)


_OWN = "tensorflow."  # teachconv's ops have TensorFlow's words


def target_call(family: Family, to: str, any_size: bool = False) -> TargetCall:
    """Return the call of a framework that computes a convolution.

    Args:
        family: the convolution, and the same on images of other sizes.
        to: one of `TARGETS`.
        any_size: whether the call has to hold for images of any size.

    Returns:
        A `TargetCall`; its ``why_not`` is set if the framework has no such call.

    Raises:
        ArgumentError: if the call has to hold for any size and its padding follows no rule.
    """
    conv, target = family[0], TARGETS[to]
    problem = _impossible(conv, target)
    if problem:
        return TargetCall(why_not=problem, target=target)
    last, scatters = conv.geometry.data_format, conv.kind.scatters
    # full[a : a + o] of a transposed convolution has the same a at every size
    found = target.transposed(family) if scatters else target.forward(family, any_size)
    return replace(
        found,
        target=target,
        arguments=without_none(found.arguments),
        layout=found.layout or last,
        out_layout=found.out_layout or last,
        filter_layout=found.filter_layout or conv.spatial + ("OI" if scatters else "IO"),
    )


def _impossible(conv: ConvCall, target: Target) -> str:
    """Return why a framework has no call for a convolution, or ""."""
    if conv.kind.sums_images:
        return (
            "the call computes a filter, so there is no filter that convolve(x, w) could take; "
            f"for this {target.name} has {target.filter_gradient}"
        )
    g = conv.geometry
    if 0 in (*g.input_shape, *g.output_shape, *g.filters_shape) and not target.takes_empty:
        return (
            f"the result or an input is empty ({list(conv.input_shape)} -> {list(conv.output_shape)}): "
            f"{target.name} refuses that, or returns something else"
        )
    return ""
