"""Record what onnxruntime answers on the CPU for ONNX's Conv and ConvTranspose, and what the onnx
package's own reference evaluator answers where that is something else.

    pip install onnx==1.23.2 onnxruntime==1.31.1 && python record_onnx.py       # writes onnx.npz

Every call is a model of one node, opset 22. "output" is onnxruntime's. Where the reference evaluator
differs its answer is a second array, "output_reference", or its error text is the case's
"error_reference". Layouts are ONNX's: NCHW, OIHW, and [in, out/group, rows, cols] for ConvTranspose.
"""

import numpy as np
import onnx
import onnxruntime
from onnx import helper
from onnx.reference import ReferenceEvaluator
from recording import Recording, shorten

OPSET = 22
ARRAY_NAMES = {"conv": ["X", "W", "B"], "conv_transpose": ["X", "W", "B"]}
NODES = {"conv": "Conv", "conv_transpose": "ConvTranspose"}

options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
options.log_severity_level = 4


def one_node_model(op, arrays, arguments):
    kind = {name: helper.np_dtype_to_tensor_dtype(value.dtype) for name, value in arrays.items()}
    inputs = [helper.make_tensor_value_info(name, kind[name], value.shape) for name, value in arrays.items()]
    outputs = [helper.make_tensor_value_info("Y", kind["X"], None)]
    node = helper.make_node(NODES[op], list(arrays), ["Y"], **arguments)
    graph = helper.make_graph([node], op, inputs, outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=10)


def by_onnxruntime(op, arrays, arguments):
    model = one_node_model(op, arrays, arguments).SerializeToString()
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, arrays)[0]


def by_reference(op, arrays, arguments):
    # the evaluator may write over what it is given
    arrays = {name: value.copy() for name, value in arrays.items()}
    with np.errstate(all="ignore"):
        return ReferenceEvaluator(one_node_model(op, arrays, arguments)).run(None, arrays)[0]


def call(op, arrays, arguments):
    output = by_onnxruntime(op, arrays, arguments)
    try:
        reference = by_reference(op, arrays, arguments)
    except Exception as error:
        reference_errors.append(shorten(error))
        return {"output": output}
    same = reference.shape == output.shape and np.allclose(reference, output, rtol=1e-4, atol=1e-4)
    return {"output": output} if same else {"output": output, "output_reference": reference}


reference_errors = []
versions = {"onnx": onnx.__version__, "onnxruntime": onnxruntime.__version__, "opset": OPSET}
recording = Recording(__file__, versions, ARRAY_NAMES, call)
refused = recording.refused


def case(name, *args, **kwargs):
    reference_errors.clear()
    recording.case(name, *args, **kwargs)
    if reference_errors:
        recording.cases[-1]["error_reference"] = reference_errors[0]


def refused_for_dilation(name, op, *shapes, **arguments):
    """onnxruntime has no SAME padding for a dilated Conv; the specification and the evaluator have."""
    recording.refused(name, op, *shapes, **arguments)
    case = recording.cases[-1]
    arrays = {key: recording.arrays[f"{name}/{key}"] for key in case["arrays"]}
    case["arrays"].append("output_reference")
    recording.arrays[f"{name}/output_reference"] = by_reference(op, arrays, arguments)


# --- Conv ------------------------------------------------------------------------------------------

for auto_pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
    for k in (1, 2, 3, 4):
        for s in (1, 2, 3):
            case(
                f"conv_{auto_pad}_k{k}_s{s}",
                "conv",
                (1, 2, 7, 6),
                (2, 2, k, k),
                auto_pad=auto_pad,
                kernel_shape=[k, k],
                strides=[s, s],
            )

x, w = (2, 2, 7, 8), (3, 2, 3, 3)
case("conv_defaults", "conv", x, w)
case("conv_bias", "conv", x, w, (3,), kernel_shape=[3, 3], pads=[1, 1, 1, 1])
case("conv_notset_spelled_out", "conv", x, w, auto_pad="NOTSET", strides=[2, 2], pads=[1, 1, 1, 1])
case("conv_no_kernel_shape_same_upper", "conv", x, w, auto_pad="SAME_UPPER", strides=[2, 2])
case("conv_no_kernel_shape_same_lower", "conv", x, (3, 2, 2, 4), auto_pad="SAME_LOWER", strides=[1, 2])
case("conv_pads_uneven", "conv", x, w, pads=[0, 1, 2, 3])
case("conv_pads_uneven_stride_2", "conv", x, w, (3,), pads=[2, 0, 1, 1], strides=[2, 2])
case("conv_pads_beyond_filter", "conv", x, (3, 2, 2, 3), pads=[4, 0, 0, 5], strides=[2, 1])
case("conv_strides_1_3", "conv", x, w, strides=[1, 3], auto_pad="SAME_UPPER")
case("conv_filter_2x5_lower", "conv", x, (3, 2, 2, 5), strides=[2, 1], auto_pad="SAME_LOWER")
case("conv_dilation_2", "conv", x, w, dilations=[2, 2], pads=[2, 2, 2, 2])
case("conv_dilation_3_valid", "conv", x, w, dilations=[3, 2], auto_pad="VALID")
case("conv_dilation_3_stride_2_pads", "conv", x, w, dilations=[3, 3], strides=[2, 2], pads=[1, 2, 3, 0])
case("conv_group_2", "conv", (1, 4, 6, 5), (6, 2, 3, 3), group=2, pads=[1, 1, 1, 1])
case(
    "conv_group_3_stride_2",
    "conv",
    (1, 3, 6, 5),
    (6, 1, 2, 3),
    (6,),
    group=3,
    strides=[2, 2],
    auto_pad="SAME_UPPER",
)
case(
    "conv_group_2_dilation_2",
    "conv",
    (1, 4, 7, 6),
    (4, 2, 3, 3),
    group=2,
    dilations=[2, 2],
    strides=[2, 1],
    pads=[2, 1, 2, 3],
)
case("conv_depthwise", "conv", (1, 3, 6, 5), (3, 1, 3, 3), group=3, pads=[1, 1, 1, 1])
case(
    "conv_depthwise_multiplier_2",
    "conv",
    (1, 3, 6, 5),
    (6, 1, 3, 3),
    group=3,
    strides=[2, 2],
    pads=[1, 1, 1, 1],
)
case("conv_empty_batch", "conv", (0, 2, 7, 8), w, strides=[2, 2], pads=[1, 1, 1, 1])
case("conv_1x1_input", "conv", (1, 2, 1, 1), w, strides=[2, 2], auto_pad="SAME_UPPER")
case("conv_one_row", "conv", (1, 2, 1, 8), w, strides=[1, 2], auto_pad="SAME_LOWER")
case("conv_filter_larger_than_input", "conv", (1, 2, 2, 2), (3, 2, 5, 4), auto_pad="SAME_UPPER")
case("conv_real", "conv", (1, 4, 9, 8), (3, 4, 3, 3), (3,), strides=[2, 2], auto_pad="SAME_LOWER", real=True)
case("conv_real_dilated", "conv", (1, 4, 9, 8), (3, 4, 3, 2), dilations=[2, 3], pads=[1, 0, 2, 3], real=True)
case("conv_real_group", "conv", (1, 4, 9, 8), (4, 2, 5, 5), group=2, auto_pad="SAME_UPPER", real=True)

# --- ConvTranspose ---------------------------------------------------------------------------------

for auto_pad in ("SAME_UPPER", "SAME_LOWER", "VALID"):
    for k in (1, 2, 3, 4):
        for s in (1, 2, 3):
            case(
                f"transpose_{auto_pad}_k{k}_s{s}",
                "conv_transpose",
                (1, 2, 3, 4),
                (2, 1, k, k),
                auto_pad=auto_pad,
                kernel_shape=[k, k],
                strides=[s, s],
            )

x, w = (1, 2, 4, 3), (2, 3, 3, 3)
case("transpose_defaults", "conv_transpose", x, w)
case("transpose_bias", "conv_transpose", x, w, (3,), strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
case("transpose_no_kernel_shape_same_lower", "conv_transpose", x, w, strides=[2, 2], auto_pad="SAME_LOWER")
case("transpose_pads_uneven", "conv_transpose", x, w, strides=[2, 2], pads=[0, 1, 2, 1])
case(
    "transpose_pads_uneven_output_padding",
    "conv_transpose",
    x,
    w,
    strides=[2, 3],
    pads=[1, 0, 0, 2],
    output_padding=[1, 2],
)
case("transpose_pads_beyond_filter", "conv_transpose", x, (2, 3, 2, 3), strides=[3, 3], pads=[3, 0, 0, 4])
case("transpose_strides_1_3", "conv_transpose", x, w, strides=[1, 3], auto_pad="SAME_UPPER")
case("transpose_filter_2x4_lower", "conv_transpose", x, (2, 3, 2, 4), strides=[2, 3], auto_pad="SAME_LOWER")
case("transpose_dilation_2", "conv_transpose", x, w, dilations=[2, 2], pads=[1, 1, 1, 1])
case(
    "transpose_dilation_2_stride_2_same_upper",
    "conv_transpose",
    x,
    w,
    dilations=[2, 2],
    strides=[2, 2],
    auto_pad="SAME_UPPER",
)
case(
    "transpose_dilation_2_stride_3_same_lower",
    "conv_transpose",
    x,
    (2, 3, 2, 2),
    dilations=[2, 3],
    strides=[3, 3],
    auto_pad="SAME_LOWER",
)
case("transpose_dilation_3_valid", "conv_transpose", x, w, dilations=[3, 1], strides=[2, 2], auto_pad="VALID")
case(
    "transpose_output_padding_same_upper",
    "conv_transpose",
    x,
    w,
    strides=[2, 2],
    auto_pad="SAME_UPPER",
    output_padding=[1, 1],
)
case(
    "transpose_output_padding_same_lower",
    "conv_transpose",
    x,
    w,
    strides=[3, 3],
    auto_pad="SAME_LOWER",
    output_padding=[1, 2],
)
case(
    "transpose_output_padding_valid",
    "conv_transpose",
    x,
    w,
    strides=[2, 3],
    auto_pad="VALID",
    output_padding=[1, 2],
)
case("transpose_output_shape_low", "conv_transpose", x, w, strides=[2, 2], output_shape=[7, 5])
case(
    "transpose_output_shape_odd_pad",
    "conv_transpose",
    x,
    w,
    strides=[2, 2],
    output_shape=[8, 6],
    note="NOTSET: the odd pad goes to the beginning",
)
case("transpose_output_shape_full", "conv_transpose", x, w, strides=[2, 2], output_shape=[9, 7])
case("transpose_output_shape_beyond_full", "conv_transpose", x, w, strides=[2, 2], output_shape=[10, 8])
case("transpose_output_shape_stride_1", "conv_transpose", x, w, output_shape=[3, 4])
case(
    "transpose_output_shape_same_upper",
    "conv_transpose",
    x,
    w,
    strides=[2, 2],
    output_shape=[8, 6],
    auto_pad="SAME_UPPER",
)
case(
    "transpose_output_shape_same_upper_low",
    "conv_transpose",
    x,
    w,
    strides=[3, 2],
    output_shape=[9, 5],
    auto_pad="SAME_UPPER",
)
case(
    "transpose_output_shape_same_lower",
    "conv_transpose",
    x,
    w,
    strides=[2, 2],
    output_shape=[8, 6],
    auto_pad="SAME_LOWER",
)
case(
    "transpose_output_shape_valid",
    "conv_transpose",
    x,
    w,
    strides=[2, 2],
    output_shape=[8, 6],
    auto_pad="VALID",
    note="VALID with output_shape crops as NOTSET does",
)
case("transpose_output_shape_far_below", "conv_transpose", x, w, strides=[2, 2], output_shape=[2, 1])
case(
    "transpose_output_padding_below_stride_dilation_3",
    "conv_transpose",
    x,
    w,
    strides=[2, 2],
    dilations=[3, 3],
    output_padding=[1, 1],
)
case(
    "transpose_output_shape_output_padding",
    "conv_transpose",
    x,
    w,
    strides=[2, 2],
    output_shape=[8, 7],
    output_padding=[1, 1],
)
case(
    "transpose_output_shape_pads_ignored",
    "conv_transpose",
    x,
    w,
    strides=[2, 2],
    output_shape=[8, 6],
    pads=[1, 1, 0, 0],
)
case(
    "transpose_output_shape_dilation_2",
    "conv_transpose",
    x,
    w,
    strides=[2, 2],
    dilations=[2, 2],
    output_shape=[8, 6],
)
case(
    "transpose_output_shape_k_less_than_s",
    "conv_transpose",
    x,
    (2, 3, 1, 2),
    strides=[3, 3],
    output_shape=[12, 9],
)
case(
    "transpose_group_2",
    "conv_transpose",
    (1, 4, 4, 3),
    (4, 3, 3, 3),
    (6,),
    group=2,
    strides=[2, 2],
    auto_pad="SAME_UPPER",
)
case(
    "transpose_group_2_dilation_2",
    "conv_transpose",
    (1, 4, 4, 3),
    (4, 1, 3, 2),
    group=2,
    strides=[2, 2],
    dilations=[2, 2],
)
case(
    "transpose_depthwise_multiplier_2",
    "conv_transpose",
    (1, 3, 4, 3),
    (3, 2, 3, 3),
    group=3,
    strides=[2, 2],
    pads=[1, 1, 1, 1],
)
case("transpose_1x1_input", "conv_transpose", (1, 2, 1, 1), w, strides=[2, 3], auto_pad="SAME_UPPER")
case("transpose_one_row", "conv_transpose", (1, 2, 1, 4), w, strides=[2, 2], auto_pad="SAME_LOWER")
case("transpose_empty_batch", "conv_transpose", (0, 2, 4, 3), w, strides=[2, 2])
case(
    "transpose_real",
    "conv_transpose",
    (1, 4, 5, 4),
    (4, 3, 4, 4),
    (3,),
    strides=[2, 2],
    auto_pad="SAME_LOWER",
    real=True,
)
case(
    "transpose_real_output_shape",
    "conv_transpose",
    (1, 4, 5, 4),
    (4, 3, 3, 3),
    strides=[2, 3],
    output_shape=[10, 12],
    real=True,
)

# --- calls that onnxruntime refuses ----------------------------------------------------------------

x, w = (2, 2, 7, 8), (3, 2, 3, 3)
refused_for_dilation("refused_dilation_2_same_upper", "conv", x, w, dilations=[2, 2], auto_pad="SAME_UPPER")
refused_for_dilation(
    "refused_dilation_2_same_lower_even", "conv", x, (3, 2, 2, 4), dilations=[2, 1], auto_pad="SAME_LOWER"
)
refused_for_dilation(
    "refused_dilation_2_stride_2_same_upper",
    "conv",
    x,
    w,
    dilations=[2, 2],
    strides=[2, 2],
    auto_pad="SAME_UPPER",
)
refused_for_dilation(
    "refused_dilation_2_stride_3_same_lower",
    "conv",
    x,
    (3, 2, 3, 2),
    dilations=[2, 3],
    strides=[3, 3],
    auto_pad="SAME_LOWER",
)
x, w = (1, 2, 5, 5), (3, 2, 3, 3)
refused("refused_channels", "conv", (1, 3, 5, 5), w)
refused("refused_group_ratio", "conv", (1, 4, 5, 5), w, group=2)
refused("refused_group_0", "conv", x, w, group=0)
refused("refused_kernel_shape", "conv", x, w, kernel_shape=[2, 2])
refused("refused_kernel_shape_rank", "conv", x, w, kernel_shape=[3])
refused("refused_auto_pad_name", "conv", x, w, auto_pad="SAME")
refused("refused_stride_0", "conv", x, w, strides=[0, 1])
refused("refused_dilation_0", "conv", x, w, dilations=[0, 1])
refused("refused_three_strides", "conv", x, w, strides=[1, 1, 1])
refused("refused_two_pads", "conv", x, w, pads=[1, 1])
refused("refused_pads_negative", "conv", x, w, pads=[-1, 0, 0, 0])
refused("refused_filter_too_large", "conv", (1, 2, 2, 2), w)
refused("refused_bias_size", "conv", x, w, (2,))
refused("refused_float64", "conv", x, w, dtype="float64")
refused("refused_rank_3", "conv", (2, 5, 5), w)
x, w = (1, 2, 4, 3), (2, 3, 3, 3)
refused("refused_transpose_channels", "conv_transpose", (1, 3, 4, 3), w)
refused("refused_transpose_kernel_shape", "conv_transpose", x, w, kernel_shape=[2, 3])
refused("refused_transpose_output_padding", "conv_transpose", x, w, strides=[2, 2], output_padding=[2, 0])
refused(
    "refused_transpose_output_padding_is_stride",
    "conv_transpose",
    x,
    w,
    strides=[2, 2],
    dilations=[3, 3],
    output_padding=[2, 2],
    note="the specification allows output_padding below max(stride, dilation)",
)
refused(
    "refused_transpose_output_padding_stride_1",
    "conv_transpose",
    x,
    w,
    dilations=[3, 3],
    output_padding=[2, 2],
)
refused(
    "refused_transpose_output_shape_too_large",
    "conv_transpose",
    x,
    w,
    strides=[2, 2],
    output_shape=[11, 9],
    note="[10, 8] is answered: the limit is (i - 1) * stride + effective filter + stride - 1",
)
refused("refused_transpose_pads_negative", "conv_transpose", x, w, strides=[2, 2], pads=[-1, 0, 0, 0])
refused("refused_transpose_output_shape_rank", "conv_transpose", x, w, strides=[2, 2], output_shape=[8])
refused("refused_transpose_auto_pad_name", "conv_transpose", x, w, auto_pad="SAME")

recording.write("onnx.npz")
