"""Record what PyTorch, JAX, onnxruntime and Keras answer over one and over three axes.

    pip install torch==2.13.0 jax==0.10.2 onnx==1.23.2 onnxruntime==1.32.0 keras==3.15.1
    python record_axes.py       # writes torch_axes.npz, jax_axes.npz, onnx_axes.npz and keras_axes.npz

The other scripts record two axes, rows and columns. Layouts are each framework's; Keras runs on its JAX backend.
"""

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from peers.frameworks import FRAMEWORKS
from recording import Recording

SIZES = {1: (9,), 3: (5, 4, 6)}  # of images,
SMALL = {1: (4,), 3: (2, 3, 2)}  # of those of a transposed convolution,
ODD, EVEN = {1: (3,), 3: (3, 1, 3)}, {1: (4,), 3: (2, 4, 2)}  # of filters
RANKS = (1, 3)


def recording_of(framework, *package_names, arrays):
    """A recording of one framework, whose ops take these arrays."""
    versions = {name: metadata.version(name) for name in package_names}

    def call(op, arrays, arguments):
        if framework == "jax" and not isinstance(arguments["padding"], str):
            arguments = arguments | {"padding": tuple(map(tuple, arguments["padding"]))}
        return FRAMEWORKS[framework](op, arrays, arguments)

    return Recording(__file__, versions, dict.fromkeys(OPS, arrays), call)


OPS = ["conv", "conv_transpose", "conv_general_dilated"]
OPS += [f"conv{rank}d" for rank in RANKS] + [f"conv_transpose{rank}d" for rank in RANKS]


def steps(rank):
    """Numbers that differ from axis to axis."""
    return [2, 1, 3][:rank]


# --- PyTorch -----------------------------------------------------------------------------------------

recording = recording_of("torch", "torch", arrays=["input", "weight", "bias"])
case, refused = recording.case, recording.refused
for rank in RANKS:
    n, small, k, even = SIZES[rank], SMALL[rank], ODD[rank], EVEN[rank]
    op, x, w = f"conv{rank}d", (2, 2, *n), (3, 2, *k)
    case(f"{op}_defaults", op, x, w)
    case(f"{op}_bias", op, x, w, (3,), stride=2, padding=1)
    case(f"{op}_unbatched", op, x[1:], w, padding=1)
    case(f"{op}_unbatched_bias", op, x[1:], w, (3,), stride=steps(rank))
    case(f"{op}_lists", op, x, w, stride=steps(rank), padding=[1, 0, 2][:rank], dilation=[1, 2, 1][:rank])
    case(f"{op}_one_element_lists", op, x, w, stride=[2], padding=[1], dilation=[1])
    case(f"{op}_stride_2_dilation_2", op, x, w, stride=2, dilation=2, padding=2)
    case(f"{op}_padding_beyond_filter", op, x, w, stride=2, padding=4)
    case(f"{op}_same_even", op, x, (3, 2, *even), padding="same")
    case(f"{op}_same_dilation_2", op, x, (3, 2, *even), padding="same", dilation=2)
    case(f"{op}_same_unbatched", op, x[1:], (3, 2, *even), padding="same")
    case(f"{op}_valid_stride_2", op, x, w, padding="valid", stride=2)
    case(f"{op}_groups_2", op, (1, 4, *n), (6, 2, *k), groups=2, padding=1)
    case(f"{op}_depthwise_multiplier_2", op, (1, 3, *n), (6, 1, *k), (6,), groups=3, stride=2)
    case(f"{op}_empty_batch", op, (0, 2, *n), w, padding=1)
    case(f"{op}_input_less_than_filter", op, (1, 2, *small), (3, 2, *(5,) * rank), padding=2)
    case(f"{op}_int64", op, x, w, stride=2, padding=1, dtype="int64")
    case(f"{op}_real", op, (1, 4, *n), (3, 4, *k), (3,), stride=2, padding=1, real=True)
    refused(f"{op}_refused_channels", op, (1, 3, *n), w)
    refused(f"{op}_refused_groups", op, (1, 4, *n), (3, 2, *k), groups=2)
    refused(f"{op}_refused_same_stride_2", op, x, w, padding="same", stride=2)
    refused(f"{op}_refused_padding_negative", op, x, w, padding=-1)
    refused(f"{op}_refused_padding_of_two", op, x, w, padding=[1, 1])
    refused(f"{op}_refused_stride_of_four", op, x, w, stride=[1] * 4)
    refused(f"{op}_refused_filter_too_large", op, (1, 2, *(2,) * rank), (3, 2, *(4,) * rank))
    refused(f"{op}_refused_bias_size", op, x, w, (2,))
    refused(f"{op}_refused_image", op, (1, 2, 5, 5) if rank == 1 else (2, 5, 5), w)
    refused(f"{op}_refused_filter_of_an_image", op, x, (3, 2, 3, 3))

    op, x, w = f"conv_transpose{rank}d", (2, 2, *small), (2, 3, *k)
    case(f"{op}_defaults", op, x, w)
    case(f"{op}_bias", op, x, w, (3,), stride=2, padding=[1, 0, 1][:rank], output_padding=1)
    case(f"{op}_unbatched", op, x[1:], w, (3,), stride=2)
    case(f"{op}_lists", op, x, w, stride=steps(rank), output_padding=[1, 0, 2][:rank])
    case(f"{op}_padding_beyond_filter", op, x, (2, 3, *even), stride=3, padding=2, output_padding=2)
    case(f"{op}_output_padding_2_dilation_3", op, x, w, stride=2, dilation=3, padding=1, output_padding=2)
    case(f"{op}_groups_2", op, (1, 4, *small), (4, 3, *k), (6,), groups=2, stride=2, dilation=2)
    case(f"{op}_depthwise_multiplier_2", op, (1, 3, *small), (3, 2, *even), groups=3, stride=2)
    case(f"{op}_empty_batch", op, (0, 2, *small), w, stride=2)
    case(f"{op}_real", op, (1, 4, *small), (4, 3, *even), (3,), stride=2, real=True)
    refused(f"{op}_refused_output_padding", op, x, w, stride=2, output_padding=2)
    refused(f"{op}_refused_padding_same", op, x, w, padding="same")
    refused(f"{op}_refused_channels", op, (1, 3, *small), w)
    refused(f"{op}_refused_image", op, (1, 2, 5, 5) if rank == 1 else (2, 5, 5), w)
recording.write("torch_axes.npz")

# --- JAX ---------------------------------------------------------------------------------------------

recording = recording_of("jax", "jax", "jaxlib", arrays=["lhs", "rhs"])
case, refused = recording.case, recording.refused
for rank in RANKS:
    n, small, k, even, axes = SIZES[rank], SMALL[rank], ODD[rank], EVEN[rank], "DHW"[-rank:]
    one, last = [1] * rank, [f"N{axes}C", f"{axes}IO", f"N{axes}C"]
    turned = [f"{axes[::-1]}NC", f"I{axes[::-1]}O", f"C{axes}N"]
    others = [text.translate(str.maketrans("DHW", "XYZ")) for text in turned]
    op, x, w = "conv_general_dilated", (2, 2, *n), (3, 2, *k)
    for padding in ("SAME", "VALID", "SAME_LOWER"):
        case(f"conv{rank}_{padding}", op, x, (3, 2, *even), window_strides=steps(rank), padding=padding)
    pairs = [[0, 2], [1, 0], [2, 1]][:rank]
    case(f"conv{rank}_pairs", op, x, w, window_strides=steps(rank), padding=pairs)
    case(f"conv{rank}_pairs_negative", op, x, w, window_strides=one, padding=[[-1, 0]] * rank)
    case(f"conv{rank}_dilation", op, x, w, window_strides=one, padding="SAME", rhs_dilation=[2, 1, 2][:rank])
    case(f"conv{rank}_lhs_dilation", op, x, w, window_strides=one, padding=pairs, lhs_dilation=steps(rank))
    both = dict(window_strides=[2] * rank, padding=pairs, lhs_dilation=[3] * rank)
    case(f"conv{rank}_lhs_dilation_stride_2", op, x, w, **both)
    words = dict(window_strides=one, padding="SAME")
    case(f"conv{rank}_groups", op, (1, 4, *n), (6, 2, *k), **words, feature_group_count=2)
    case(f"conv{rank}_groups_of_images", op, (4, 2, *n), (6, 2, *k), **words, batch_group_count=2)
    case(f"conv{rank}_channels_last", op, (2, *n, 2), (*k, 2, 3), **words, dimension_numbers=last)
    order = dict(window_strides=steps(rank), padding=pairs)
    shapes = (*n[::-1], 2, 3), (3, *k[::-1], 2)
    case(f"conv{rank}_turned", op, *shapes, **order, dimension_numbers=turned)
    case(f"conv{rank}_other_letters", op, *shapes, **order, dimension_numbers=others)
    case(
        f"conv{rank}_empty_result",
        op,
        (1, 2, *small),
        (3, 2, *(5,) * rank),
        window_strides=one,
        padding="VALID",
    )
    case(f"conv{rank}_real", op, (1, 4, *n), (3, 4, *k), window_strides=[2] * rank, padding="SAME", real=True)
    refused(f"conv{rank}_refused_strides", op, x, w, window_strides=[1, 1], padding="SAME")
    refused(f"conv{rank}_refused_pairs", op, x, w, window_strides=one, padding=[[0, 0]] * 2)
    refused(f"conv{rank}_refused_layouts", op, x, w, **words, dimension_numbers=["NHWC", "HWIO", "NHWC"])
    refused(f"conv{rank}_refused_filter_of_an_image", op, x, (3, 2, 3, 3), **words)
    refused(f"conv{rank}_refused_groups", op, x, w, **words, feature_group_count=2)

    op, x, w = "conv_transpose", (2, *small, 2), (*k, 2, 3)
    for padding in ("SAME", "VALID"):
        case(f"transpose{rank}_{padding}", op, x, (*even, 2, 3), strides=steps(rank), padding=padding)
    words = dict(strides=steps(rank), padding=pairs)
    case(f"transpose{rank}_pairs", op, x, w, **words)
    case(f"transpose{rank}_consistent", op, x, w, **words, use_consistent_padding=True)
    case(f"transpose{rank}_kernel", op, x, (*k, 3, 2), **words, transpose_kernel=True)
    case(f"transpose{rank}_dilation", op, x, w, strides=one, padding="SAME", rhs_dilation=[2] * rank)
    first = [f"NC{axes}", f"OI{axes}", f"NC{axes}"]
    case(f"transpose{rank}_first", op, (2, 2, *small), (3, 2, *k), **words, dimension_numbers=first)
    case(
        f"transpose{rank}_real",
        op,
        (1, *small, 4),
        (*even, 4, 3),
        strides=[2] * rank,
        padding="SAME",
        real=True,
    )
    refused(f"transpose{rank}_refused_channels", op, x, (*k, 3, 2), strides=one, padding="SAME")
    refused(f"transpose{rank}_refused_same_lower", op, x, w, strides=[2] * rank, padding="SAME_LOWER")
recording.write("jax_axes.npz")

# --- ONNX --------------------------------------------------------------------------------------------

recording = recording_of("onnx", "onnx", "onnxruntime", arrays=["X", "W", "B"])
case, refused = recording.case, recording.refused
for rank in RANKS:
    n, small, k, even = SIZES[rank], SMALL[rank], ODD[rank], EVEN[rank]
    x, w, two = (2, 2, *n), (3, 2, *k), [2] * rank
    pads = [1, 0, 2, 0, 1, 3][: 2 * rank]
    case(f"conv{rank}_defaults", "conv", x, w)
    case(f"conv{rank}_bias", "conv", x, w, (3,), strides=steps(rank), pads=pads, kernel_shape=k)
    case(f"conv{rank}_dilations", "conv", x, w, dilations=[2, 1, 1][:rank], pads=pads)
    for auto_pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        case(f"conv{rank}_{auto_pad}", "conv", x, (3, 2, *even), auto_pad=auto_pad, strides=steps(rank))
    case(f"conv{rank}_groups", "conv", (1, 4, *n), (6, 2, *k), group=2)
    case(f"conv{rank}_depthwise", "conv", (1, 3, *n), (6, 1, *k), group=3, strides=two)
    case(f"conv{rank}_real", "conv", (1, 4, *n), (3, 4, *k), (3,), pads=pads, real=True)
    refused(f"conv{rank}_refused_channels", "conv", (1, 3, *n), w)
    refused(f"conv{rank}_refused_kernel_shape", "conv", x, w, kernel_shape=[5] * rank)
    refused(f"conv{rank}_refused_strides", "conv", x, w, strides=[1, 1])
    refused(f"conv{rank}_refused_pads", "conv", x, w, pads=[0, 0, 0, 0])
    refused(f"conv{rank}_refused_filter_of_an_image", "conv", x, (3, 2, 3, 3))
    refused(f"conv{rank}_refused_pads_negative", "conv", x, w, pads=[-1] + [0] * (2 * rank - 1))

    x, w = (2, 2, *small), (2, 3, *k)
    case(f"transpose{rank}_defaults", "conv_transpose", x, w)
    case(
        f"transpose{rank}_bias",
        "conv_transpose",
        x,
        w,
        (3,),
        strides=two,
        pads=[1, 0, 1, 0, 0, 1][: 2 * rank],
    )
    case(f"transpose{rank}_output_padding", "conv_transpose", x, w, strides=two, output_padding=[1] * rank)
    for auto_pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
        words = dict(auto_pad=auto_pad, strides=steps(rank))
        case(f"transpose{rank}_{auto_pad}", "conv_transpose", x, (2, 3, *(4,) * rank), **words)
    case(
        f"transpose{rank}_output_shape",
        "conv_transpose",
        x,
        w,
        strides=two,
        output_shape=[2 * m for m in small],
    )
    case(f"transpose{rank}_groups", "conv_transpose", (1, 4, *small), (4, 3, *k), group=2, strides=two)
    case(
        f"transpose{rank}_real", "conv_transpose", (1, 4, *small), (4, 3, *even), (3,), strides=two, real=True
    )
    refused(f"transpose{rank}_refused_channels", "conv_transpose", (1, 3, *small), w)
    refused(f"transpose{rank}_refused_output_shape", "conv_transpose", x, w, output_shape=[8, 8])
recording.write("onnx_axes.npz")

# --- Keras -------------------------------------------------------------------------------------------

recording = recording_of("keras", "keras", "jax", arrays=["inputs", "kernel"])
case, refused = recording.case, recording.refused
for rank in RANKS:
    n, small, k, even = SIZES[rank], SMALL[rank], ODD[rank], EVEN[rank]
    x, w = (2, *n, 2), (*k, 2, 3)
    case(f"conv{rank}_defaults", "conv", x, w)
    for padding in ("same", "valid"):
        case(f"conv{rank}_{padding}", "conv", x, (*even, 2, 3), strides=2, padding=padding)
        case(
            f"transpose{rank}_{padding}",
            "conv_transpose",
            (2, *small, 2),
            (*even, 3, 2),
            strides=3,
            padding=padding,
        )
    case(f"conv{rank}_lists", "conv", x, w, strides=steps(rank), padding="same")
    case(f"conv{rank}_dilation", "conv", x, w, dilation_rate=[2, 1, 2][:rank], padding="same")
    case(f"conv{rank}_stride_2_dilation_2", "conv", x, w, strides=2, dilation_rate=2, padding="same")
    case(f"conv{rank}_groups", "conv", (1, *n, 4), (*k, 2, 6), padding="same")
    case(f"conv{rank}_first", "conv", (2, 2, *n), w, data_format="channels_first", strides=2)
    case(f"conv{rank}_real", "conv", (1, *n, 4), (*k, 4, 3), padding="same", real=True)
    refused(f"conv{rank}_refused_channels", "conv", (1, *n, 3), w)
    refused(f"conv{rank}_refused_filter_of_an_image", "conv", x, (3, 3, 2, 3))
    refused(f"conv{rank}_refused_strides", "conv", x, w, strides=[1, 1])
    refused(f"conv{rank}_refused_causal", "conv", x, w, padding="causal")

    x, w = (2, *small, 2), (*k, 3, 2)
    case(f"transpose{rank}_defaults", "conv_transpose", x, w)
    case(
        f"transpose{rank}_output_padding", "conv_transpose", x, w, strides=2, padding="same", output_padding=0
    )
    case(
        f"transpose{rank}_first", "conv_transpose", (2, 2, *small), w, strides=2, data_format="channels_first"
    )
    case(f"transpose{rank}_real", "conv_transpose", (1, *small, 4), (*even, 3, 4), strides=2, real=True)
    refused(f"transpose{rank}_refused_channels", "conv_transpose", x, (*k, 2, 3), strides=2)
recording.write("keras_axes.npz")
