"""Record what PyTorch's CPU build answers: torch.nn.functional's conv2d and conv_transpose2d, and
torch.nn.grad's conv2d_input and conv2d_weight.

    pip install torch==2.13.0 && python record_torch.py       # writes torch.npz

Layouts are PyTorch's: activations NCHW, filters OIHW, transposed filters [in, out/groups, rows, cols].
"""

import torch
import torch.nn.functional
import torch.nn.grad
from recording import Recording

ARRAY_NAMES = {
    "conv2d": ["input", "weight", "bias"],
    "conv_transpose2d": ["input", "weight", "bias"],
    "conv2d_input": ["weight", "grad_output"],
    "conv2d_weight": ["input", "grad_output"],
}


def call(op, arrays, arguments):
    module = torch.nn.grad if op in ("conv2d_input", "conv2d_weight") else torch.nn.functional
    arrays = {name: torch.from_numpy(value) for name, value in arrays.items()}
    return getattr(module, op)(**arrays, **arguments).numpy()


torch.set_num_threads(1)
recording = Recording(__file__, {"torch": torch.__version__}, ARRAY_NAMES, call)
case, refused = recording.case, recording.refused

# --- conv2d ----------------------------------------------------------------------------------------

for k in (1, 2, 3, 4):
    for s in (1, 2, 3):
        for p in (0, 1, 2):
            if p < k:
                case(f"conv2d_k{k}_s{s}_p{p}", "conv2d", (1, 2, 7, 6), (2, 2, k, k), stride=s, padding=p)

x, w = (2, 2, 7, 8), (3, 2, 3, 3)
case("conv2d_defaults", "conv2d", x, w)
case("conv2d_bias", "conv2d", x, w, (3,), stride=2, padding=1)
case("conv2d_unbatched", "conv2d", (2, 7, 8), w, padding=1)
case("conv2d_unbatched_bias", "conv2d", (2, 7, 8), w, (3,), stride=[2, 1])
case("conv2d_stride_1_3_padding_2_0", "conv2d", x, w, stride=[1, 3], padding=[2, 0])
case("conv2d_one_element_lists", "conv2d", x, w, stride=[2], padding=[1], dilation=[2])
case("conv2d_padding_beyond_filter", "conv2d", x, (3, 2, 2, 3), stride=2, padding=[3, 4])
case("conv2d_filter_2x5", "conv2d", x, (3, 2, 2, 5), stride=[2, 1], padding=[1, 2])
case("conv2d_dilation_2", "conv2d", x, w, dilation=2, padding=2)
case("conv2d_dilation_1_3", "conv2d", x, w, dilation=[1, 3], padding=1)
case("conv2d_stride_2_dilation_2", "conv2d", x, w, stride=2, dilation=2, padding=2)
case("conv2d_stride_3_dilation_2_even", "conv2d", x, (3, 2, 2, 4), stride=3, dilation=2, padding=1)
case("conv2d_stride_2_dilation_3", "conv2d", x, w, stride=[2, 1], dilation=[3, 2])
case("conv2d_same", "conv2d", x, w, padding="same")
case("conv2d_same_even", "conv2d", x, (3, 2, 2, 4), padding="same")
case("conv2d_same_dilation_3", "conv2d", x, (3, 2, 3, 2), padding="same", dilation=3)
case("conv2d_same_stride_1_as_list", "conv2d", x, w, padding="same", stride=[1, 1])
case("conv2d_same_bias_groups", "conv2d", (1, 4, 6, 5), (6, 2, 4, 3), (6,), padding="same", groups=2)
case("conv2d_same_unbatched", "conv2d", (2, 7, 8), (3, 2, 4, 3), padding="same")
case("conv2d_valid_stride_2", "conv2d", x, w, padding="valid", stride=2)
case("conv2d_valid_dilation_2", "conv2d", x, w, (3,), padding="valid", stride=2, dilation=2)
case("conv2d_groups_2", "conv2d", (1, 4, 6, 5), (6, 2, 3, 3), groups=2, padding=1)
case("conv2d_groups_3_stride_2", "conv2d", (1, 3, 6, 5), (6, 1, 2, 3), (6,), groups=3, stride=2)
case(
    "conv2d_groups_2_stride_2_dilation_2",
    "conv2d",
    (1, 4, 7, 8),
    (4, 2, 3, 3),
    groups=2,
    stride=2,
    dilation=2,
    padding=2,
)
case("conv2d_depthwise", "conv2d", (1, 3, 6, 5), (3, 1, 3, 3), groups=3, padding=1)
case("conv2d_depthwise_multiplier_2", "conv2d", (1, 3, 6, 5), (6, 1, 3, 3), groups=3, padding=1, stride=2)
case(
    "conv2d_depthwise_multiplier_3_dilation_2",
    "conv2d",
    (1, 2, 7, 6),
    (6, 1, 3, 2),
    groups=2,
    dilation=2,
    stride=[1, 2],
)
case("conv2d_empty_batch", "conv2d", (0, 2, 7, 8), w, stride=2, padding=1)
case("conv2d_1x1_input", "conv2d", (1, 2, 1, 1), w, padding=1)
case("conv2d_one_row", "conv2d", (1, 2, 1, 8), w, padding=[1, 0], stride=[1, 2])
case("conv2d_input_less_than_filter", "conv2d", (1, 2, 2, 2), (3, 2, 5, 4), padding=2)
case("conv2d_int64", "conv2d", x, w, stride=2, padding=1, dtype="int64")
case("conv2d_real", "conv2d", (1, 4, 9, 8), (3, 4, 3, 3), (3,), stride=2, padding=1, real=True)
case("conv2d_real_same", "conv2d", (1, 4, 9, 8), (3, 4, 4, 5), padding="same", real=True)
case("conv2d_real_groups", "conv2d", (1, 4, 9, 8), (4, 2, 3, 3), groups=2, dilation=2, padding=2, real=True)
case(
    "conv2d_real_float64",
    "conv2d",
    (1, 4, 9, 8),
    (3, 4, 3, 3),
    stride=2,
    padding=1,
    real=True,
    dtype="float64",
)

# --- conv_transpose2d ------------------------------------------------------------------------------

for k in (1, 2, 3, 4):
    for s, output_paddings in ((1, (0,)), (2, (0, 1)), (3, (0, 1, 2))):
        for op in output_paddings:
            p = (k - 1) // 2
            case(
                f"transpose_k{k}_s{s}_p{p}_out{op}",
                "conv_transpose2d",
                (1, 2, 3, 4),
                (2, 1, k, k),
                stride=s,
                padding=p,
                output_padding=op,
            )

x, w = (2, 2, 4, 3), (2, 3, 3, 3)
case("transpose_defaults", "conv_transpose2d", x, w)
case("transpose_bias", "conv_transpose2d", x, w, (3,), stride=2, padding=1, output_padding=1)
case("transpose_unbatched", "conv_transpose2d", (2, 4, 3), w, (3,), stride=2, padding=1)
case(
    "transpose_stride_1_3_output_padding_0_2", "conv_transpose2d", x, w, stride=[1, 3], output_padding=[0, 2]
)
case("transpose_padding_2_0", "conv_transpose2d", x, w, stride=2, padding=[2, 0])
case(
    "transpose_padding_beyond_filter",
    "conv_transpose2d",
    x,
    (2, 3, 2, 3),
    stride=2,
    padding=[3, 3],
    output_padding=1,
)
case("transpose_filter_2x4", "conv_transpose2d", x, (2, 3, 2, 4), stride=[2, 3], padding=[0, 1])
case("transpose_dilation_2", "conv_transpose2d", x, w, dilation=2, padding=1)
case(
    "transpose_stride_2_dilation_2",
    "conv_transpose2d",
    x,
    w,
    stride=2,
    dilation=2,
    padding=2,
    output_padding=1,
)
case("transpose_stride_1_dilation_2_output_padding_1", "conv_transpose2d", x, w, dilation=2, output_padding=1)
case("transpose_stride_1_dilation_3_output_padding_2", "conv_transpose2d", x, w, dilation=3, output_padding=2)
case(
    "transpose_stride_2_dilation_3_output_padding_2",
    "conv_transpose2d",
    x,
    w,
    stride=2,
    dilation=3,
    padding=1,
    output_padding=2,
    note="output_padding is legal below max(stride, dilation); no TensorFlow output_shape is this large",
)
case(
    "transpose_stride_3_dilation_2_output_padding_2_1",
    "conv_transpose2d",
    x,
    w,
    stride=3,
    dilation=2,
    output_padding=[2, 1],
)
case(
    "transpose_stride_1_3_dilation_3_1_output_padding_2_2",
    "conv_transpose2d",
    x,
    (2, 3, 2, 3),
    stride=[1, 3],
    dilation=[3, 1],
    output_padding=[2, 2],
)
case(
    "transpose_groups_2",
    "conv_transpose2d",
    (1, 4, 4, 3),
    (4, 3, 3, 3),
    (6,),
    groups=2,
    stride=2,
    padding=1,
    output_padding=1,
)
case(
    "transpose_groups_2_dilation_2",
    "conv_transpose2d",
    (1, 4, 4, 3),
    (4, 1, 3, 2),
    groups=2,
    stride=2,
    dilation=2,
)
case("transpose_depthwise", "conv_transpose2d", (1, 3, 4, 3), (3, 1, 4, 4), groups=3, stride=2, padding=1)
case(
    "transpose_depthwise_multiplier_2",
    "conv_transpose2d",
    (1, 3, 4, 3),
    (3, 2, 3, 3),
    groups=3,
    stride=2,
    padding=1,
)
case("transpose_1x1_input", "conv_transpose2d", (1, 2, 1, 1), w, stride=3, padding=1, output_padding=2)
case("transpose_one_row", "conv_transpose2d", (1, 2, 1, 4), w, stride=2, padding=[1, 0])
case("transpose_empty_batch", "conv_transpose2d", (0, 2, 4, 3), w, stride=2, padding=1)
case("transpose_real", "conv_transpose2d", (1, 4, 5, 4), (4, 3, 4, 4), (3,), stride=2, padding=1, real=True)
case(
    "transpose_real_groups",
    "conv_transpose2d",
    (1, 4, 5, 4),
    (4, 2, 3, 3),
    groups=2,
    stride=3,
    dilation=2,
    output_padding=2,
    real=True,
)

# --- conv2d_input and conv2d_weight ----------------------------------------------------------------

gradients = [  # name, shape of input, of weight, of grad_output, the other arguments
    ("defaults", [2, 2, 5, 4], [3, 2, 3, 3], [2, 3, 3, 2], {}),
    ("padding_1_stride_2", [2, 2, 7, 6], [3, 2, 3, 3], [2, 3, 4, 3], dict(stride=2, padding=1)),
    ("rows_unused", [1, 2, 8, 7], [3, 2, 3, 3], [1, 3, 3, 3], dict(stride=[2, 2])),
    ("filter_less_than_stride", [1, 2, 8, 7], [3, 2, 2, 1], [1, 3, 3, 3], dict(stride=3)),
    ("stride_1_3_padding_2_0", [1, 2, 7, 8], [3, 2, 4, 2], [1, 3, 8, 3], dict(stride=[1, 3], padding=[2, 0])),
    ("dilation_2", [1, 2, 7, 6], [3, 2, 3, 2], [1, 3, 5, 6], dict(dilation=2, padding=1)),
    ("stride_2_dilation_3", [1, 2, 9, 8], [3, 2, 3, 3], [1, 3, 3, 2], dict(stride=2, dilation=3, padding=1)),
    ("groups_2", [1, 4, 6, 5], [6, 2, 3, 3], [1, 6, 6, 5], dict(groups=2, padding=1)),
    ("groups_2_stride_2", [1, 4, 6, 5], [2, 2, 3, 2], [1, 2, 3, 2], dict(groups=2, stride=2, padding=[1, 0])),
    ("depthwise_multiplier_2", [1, 3, 6, 5], [6, 1, 3, 3], [1, 6, 3, 3], dict(groups=3, stride=2, padding=1)),
    ("one_row", [1, 2, 1, 5], [3, 2, 3, 3], [1, 3, 1, 3], dict(padding=[1, 0])),
    ("empty_batch", [0, 2, 5, 4], [3, 2, 3, 3], [0, 3, 3, 2], {}),
    ("real", [1, 4, 8, 7], [3, 4, 3, 3], [1, 3, 4, 4], dict(stride=2, padding=1, real=True)),
]
for name, input_size, weight_size, out_shape, arguments in gradients:
    case(f"input_{name}", "conv2d_input", weight_size, out_shape, input_size=input_size, **arguments)
    case(f"weight_{name}", "conv2d_weight", input_size, out_shape, weight_size=weight_size, **arguments)

# --- calls that PyTorch refuses --------------------------------------------------------------------

x, w = (1, 2, 5, 5), (3, 2, 3, 3)
refused("refused_channels", "conv2d", (1, 3, 5, 5), w)
refused("refused_groups_ratio", "conv2d", (1, 4, 5, 5), (3, 2, 3, 3), groups=2)
refused("refused_groups_0", "conv2d", x, w, groups=0)
refused("refused_same_stride_2", "conv2d", x, w, padding="same", stride=2)
refused("refused_padding_upper_case", "conv2d", x, w, padding="SAME")
refused("refused_padding_negative", "conv2d", x, w, padding=-1)
refused("refused_padding_of_four", "conv2d", x, w, padding=[1, 1, 0, 0])
refused("refused_stride_0", "conv2d", x, w, stride=0)
refused("refused_dilation_0", "conv2d", x, w, dilation=0)
refused("refused_filter_too_large", "conv2d", (1, 2, 2, 2), w)
refused("refused_bias_size", "conv2d", x, w, (2,))
refused("refused_rank_2", "conv2d", (5, 5), w)
refused("refused_no_out_channels", "conv2d", x, (0, 2, 3, 3))
refused("refused_float_stride", "conv2d", x, w, stride=1.5)
x, w = (1, 2, 4, 3), (2, 3, 3, 3)
refused("refused_output_padding_stride_2", "conv_transpose2d", x, w, stride=2, output_padding=2)
refused("refused_output_padding_stride_1", "conv_transpose2d", x, w, output_padding=1)
refused("refused_output_padding_dilation_3", "conv_transpose2d", x, w, stride=2, dilation=3, output_padding=3)
refused("refused_output_padding_negative", "conv_transpose2d", x, w, stride=2, output_padding=-1)
refused("refused_transpose_padding_same", "conv_transpose2d", x, w, padding="same")
refused("refused_transpose_channels", "conv_transpose2d", (1, 3, 4, 3), w)
refused("refused_transpose_output_too_small", "conv_transpose2d", (1, 2, 1, 1), w, padding=2)
refused("refused_input_size", "conv2d_input", (3, 2, 3, 3), (1, 3, 3, 3), input_size=[1, 2, 7, 7])
refused("refused_weight_size", "conv2d_weight", (1, 2, 5, 5), (1, 3, 3, 3), weight_size=[3, 2, 4, 4])

recording.write("torch.npz")
