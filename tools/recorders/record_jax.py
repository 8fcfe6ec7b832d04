"""Record what JAX answers on the CPU: jax.lax.conv_general_dilated and jax.lax.conv_transpose.

    pip install jax==0.10.2 jaxlib==0.10.2 && python record_jax.py       # writes jax.npz

Without dimension_numbers conv_general_dilated means NCHW and OIHW, conv_transpose NHWC and HWIO.
JSON has no tuples. JAX takes lists too, except the pairs of an explicit padding where
use_consistent_padding=True: the script makes them tuples before it calls.
"""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jaxlib
import numpy as np
from recording import Recording

ARRAY_NAMES = {"conv_general_dilated": ["lhs", "rhs"], "conv_transpose": ["lhs", "rhs"]}


def call(op, arrays, arguments):
    arrays = {name: jax.numpy.asarray(value) for name, value in arrays.items()}
    if not isinstance(arguments["padding"], str):
        arguments = arguments | {"padding": tuple(map(tuple, arguments["padding"]))}
    return np.asarray(getattr(jax.lax, op)(**arrays, **arguments))


jax.config.update("jax_enable_x64", True)  # for the float64 case
versions = {"jax": jax.__version__, "jaxlib": jaxlib.__version__}
recording = Recording(__file__, versions, ARRAY_NAMES, call)
case, refused = recording.case, recording.refused

nhwc = dict(dimension_numbers=["NHWC", "HWIO", "NHWC"])

# --- conv_general_dilated --------------------------------------------------------------------------

for padding in ("SAME", "VALID", "SAME_LOWER"):
    for k in (1, 2, 3, 4):
        for s in (1, 2, 3):
            case(
                f"conv_{padding}_k{k}_s{s}",
                "conv_general_dilated",
                (1, 2, 7, 6),
                (2, 2, k, k),
                window_strides=[s, s],
                padding=padding,
            )

x, w = (2, 2, 7, 8), (3, 2, 3, 3)
case("conv_strides_1_3", "conv_general_dilated", x, w, window_strides=[1, 3], padding="SAME")
case("conv_filter_2x5", "conv_general_dilated", x, (3, 2, 2, 5), window_strides=[2, 1], padding="SAME")
case("conv_pairs", "conv_general_dilated", x, w, window_strides=[2, 1], padding=[[0, 2], [1, 0]])
case(
    "conv_pairs_beyond_filter", "conv_general_dilated", x, w, window_strides=[2, 2], padding=[[4, 1], [0, 5]]
)
case("conv_pairs_negative", "conv_general_dilated", x, w, window_strides=[1, 1], padding=[[-1, 0], [0, -2]])
case(
    "conv_pairs_negative_stride_2",
    "conv_general_dilated",
    x,
    w,
    window_strides=[2, 2],
    padding=[[-2, 1], [3, -1]],
)
case(
    "conv_pairs_negative_dilated",
    "conv_general_dilated",
    x,
    (3, 2, 2, 2),
    window_strides=[1, 2],
    padding=[[-1, -1], [-2, 2]],
    rhs_dilation=[2, 3],
)
case(
    "conv_rhs_dilation_2",
    "conv_general_dilated",
    x,
    w,
    window_strides=[1, 1],
    padding="SAME",
    rhs_dilation=[2, 2],
)
case(
    "conv_rhs_dilation_1_3_stride_2",
    "conv_general_dilated",
    x,
    w,
    window_strides=[2, 2],
    padding="SAME",
    rhs_dilation=[1, 3],
)
case(
    "conv_rhs_dilation_2_stride_3_lower",
    "conv_general_dilated",
    x,
    (3, 2, 4, 2),
    window_strides=[3, 3],
    padding="SAME_LOWER",
    rhs_dilation=[2, 2],
)
case(
    "conv_rhs_dilation_3_valid",
    "conv_general_dilated",
    x,
    w,
    window_strides=[1, 1],
    padding="VALID",
    rhs_dilation=[3, 3],
)
small = (1, 2, 4, 3)
case(
    "conv_lhs_dilation_2",
    "conv_general_dilated",
    small,
    w,
    window_strides=[1, 1],
    padding=[[1, 1], [1, 2]],
    lhs_dilation=[2, 2],
)
case(
    "conv_lhs_dilation_3_1",
    "conv_general_dilated",
    small,
    w,
    window_strides=[1, 1],
    padding=[[2, 0], [1, 1]],
    lhs_dilation=[3, 1],
)
case(
    "conv_lhs_dilation_2_negative_padding",
    "conv_general_dilated",
    small,
    w,
    window_strides=[1, 1],
    padding=[[-1, 2], [0, -1]],
    lhs_dilation=[2, 2],
)
case(
    "conv_lhs_dilation_2_window_stride_3",
    "conv_general_dilated",
    small,
    w,
    window_strides=[3, 2],
    padding=[[2, 2], [2, 2]],
    lhs_dilation=[2, 3],
)
case(
    "conv_lhs_dilation_2_rhs_dilation_2",
    "conv_general_dilated",
    small,
    w,
    window_strides=[1, 1],
    padding=[[2, 2], [3, 1]],
    lhs_dilation=[2, 2],
    rhs_dilation=[2, 2],
)
case(
    "conv_lhs_2_rhs_3_window_2",
    "conv_general_dilated",
    small,
    w,
    window_strides=[2, 2],
    padding=[[3, 3], [3, 3]],
    lhs_dilation=[2, 2],
    rhs_dilation=[3, 3],
)
case(
    "conv_lhs_dilation_groups",
    "conv_general_dilated",
    (1, 4, 4, 3),
    (6, 2, 3, 3),
    window_strides=[1, 1],
    padding=[[1, 1], [1, 1]],
    lhs_dilation=[2, 2],
    feature_group_count=2,
)
case(
    "conv_feature_groups_2",
    "conv_general_dilated",
    (1, 4, 6, 5),
    (6, 2, 3, 3),
    window_strides=[1, 1],
    padding="SAME",
    feature_group_count=2,
)
case(
    "conv_feature_groups_3_stride_2",
    "conv_general_dilated",
    (1, 3, 6, 5),
    (6, 1, 2, 3),
    window_strides=[2, 2],
    padding="VALID",
    feature_group_count=3,
)
case(
    "conv_feature_groups_dilation",
    "conv_general_dilated",
    (1, 4, 7, 6),
    (4, 2, 3, 3),
    window_strides=[2, 1],
    padding="SAME",
    rhs_dilation=[2, 2],
    feature_group_count=2,
)
case(
    "conv_depthwise",
    "conv_general_dilated",
    (1, 3, 6, 5),
    (6, 1, 3, 3),
    window_strides=[1, 1],
    padding="SAME",
    feature_group_count=3,
)
case(
    "conv_batch_groups_2",
    "conv_general_dilated",
    (4, 2, 6, 5),
    (6, 2, 3, 3),
    window_strides=[1, 1],
    padding="SAME",
    batch_group_count=2,
)
case(
    "conv_batch_groups_3_stride_2",
    "conv_general_dilated",
    (3, 2, 6, 5),
    (3, 2, 3, 3),
    window_strides=[2, 2],
    padding="VALID",
    batch_group_count=3,
)
x, w = (2, 7, 6, 2), (3, 3, 2, 3)
case("conv_nhwc", "conv_general_dilated", x, w, window_strides=[2, 2], padding="SAME", **nhwc)
case(
    "conv_nhwc_groups",
    "conv_general_dilated",
    (1, 7, 6, 4),
    (3, 3, 2, 6),
    window_strides=[2, 1],
    padding="SAME",
    feature_group_count=2,
    **nhwc,
)
case(
    "conv_nhwc_to_nchw",
    "conv_general_dilated",
    x,
    w,
    window_strides=[1, 2],
    padding="VALID",
    dimension_numbers=["NHWC", "HWIO", "NCHW"],
)
case(
    "conv_nchw_hwio",
    "conv_general_dilated",
    (2, 2, 7, 6),
    w,
    window_strides=[1, 1],
    padding="SAME",
    dimension_numbers=["NCHW", "HWIO", "NCHW"],
)
case(
    "conv_hwnc",
    "conv_general_dilated",
    (7, 6, 2, 2),
    (3, 2, 3, 2),
    window_strides=[2, 1],
    padding=[[1, 0], [0, 2]],
    dimension_numbers=["HWNC", "HIWO", "CNHW"],
)
case(
    "conv_cols_before_rows",
    "conv_general_dilated",
    (1, 6, 7, 2),
    (2, 3, 2, 3),
    window_strides=[1, 2],
    padding="SAME",
    dimension_numbers=["NWHC", "WHIO", "NHWC"],
)
case(
    "conv_empty_batch", "conv_general_dilated", (0, 7, 6, 2), w, window_strides=[2, 2], padding="SAME", **nhwc
)
case("conv_no_rows", "conv_general_dilated", (1, 0, 6, 2), w, window_strides=[1, 1], padding="SAME", **nhwc)
case("conv_1x1_input", "conv_general_dilated", (1, 1, 1, 2), w, window_strides=[2, 2], padding="SAME", **nhwc)
case("conv_one_row", "conv_general_dilated", (1, 1, 6, 2), w, window_strides=[1, 2], padding="SAME", **nhwc)
case(
    "conv_filter_larger_than_input",
    "conv_general_dilated",
    (1, 2, 2, 2),
    (5, 4, 2, 2),
    window_strides=[1, 1],
    padding="SAME",
    **nhwc,
)
case(
    "conv_filter_too_large_is_empty",
    "conv_general_dilated",
    (1, 2, 2, 2),
    w,
    window_strides=[1, 1],
    padding="VALID",
    note="an empty result and no error",
    **nhwc,
)
case(
    "conv_real",
    "conv_general_dilated",
    (1, 9, 8, 4),
    (3, 3, 4, 3),
    window_strides=[2, 2],
    padding="SAME",
    real=True,
    **nhwc,
)
case(
    "conv_real_dilated",
    "conv_general_dilated",
    (1, 9, 8, 4),
    (3, 2, 4, 3),
    window_strides=[1, 1],
    padding="VALID",
    rhs_dilation=[2, 3],
    real=True,
    **nhwc,
)
case(
    "conv_real_lhs_dilation",
    "conv_general_dilated",
    (1, 4, 5, 4),
    (3, 4, 4, 3),
    window_strides=[1, 1],
    padding=[[2, 1], [1, 1]],
    lhs_dilation=[2, 2],
    real=True,
)
case(
    "conv_real_float64",
    "conv_general_dilated",
    (1, 9, 8, 4),
    (3, 3, 4, 3),
    window_strides=[2, 2],
    padding="SAME",
    real=True,
    dtype="float64",
    **nhwc,
)

# --- conv_transpose --------------------------------------------------------------------------------

for padding in ("SAME", "VALID"):
    for k in (1, 2, 3, 4):
        for s in (1, 2, 3):
            case(
                f"transpose_{padding}_k{k}_s{s}",
                "conv_transpose",
                (1, 3, 4, 2),
                (k, k, 2, 1),
                strides=[s, s],
                padding=padding,
            )

x, w = (2, 4, 3, 2), (3, 3, 2, 3)
case(
    "transpose_kernel_same",
    "conv_transpose",
    x,
    (3, 3, 3, 2),
    strides=[2, 2],
    padding="SAME",
    transpose_kernel=True,
)
case(
    "transpose_kernel_valid_even",
    "conv_transpose",
    x,
    (2, 4, 3, 2),
    strides=[2, 3],
    padding="VALID",
    transpose_kernel=True,
)
case(
    "transpose_kernel_k_less_than_s",
    "conv_transpose",
    x,
    (1, 2, 3, 2),
    strides=[3, 3],
    padding="SAME",
    transpose_kernel=True,
)
case(
    "transpose_kernel_pairs",
    "conv_transpose",
    x,
    (3, 3, 3, 2),
    strides=[2, 2],
    padding=[[1, 2], [2, 0]],
    transpose_kernel=True,
)
case("transpose_strides_1_3", "conv_transpose", x, w, strides=[1, 3], padding="SAME")
case("transpose_dilation_2_same", "conv_transpose", x, w, strides=[2, 2], padding="SAME", rhs_dilation=[2, 2])
case(
    "transpose_dilation_1_3_valid",
    "conv_transpose",
    x,
    w,
    strides=[2, 1],
    padding="VALID",
    rhs_dilation=[1, 3],
)
case(
    "transpose_dilation_2_k_less_than_s",
    "conv_transpose",
    x,
    (1, 2, 2, 3),
    strides=[3, 3],
    padding="SAME",
    rhs_dilation=[2, 2],
)
for flag in (False, True):
    suffix = "_consistent" if flag else ""
    use = dict(use_consistent_padding=True) if flag else {}
    case(
        f"transpose_pairs_0{suffix}", "conv_transpose", x, w, strides=[2, 2], padding=[[0, 0], [0, 0]], **use
    )
    case(
        f"transpose_pairs_1{suffix}", "conv_transpose", x, w, strides=[2, 2], padding=[[1, 1], [1, 1]], **use
    )
    case(
        f"transpose_pairs_uneven{suffix}",
        "conv_transpose",
        x,
        w,
        strides=[2, 3],
        padding=[[1, 2], [2, 0]],
        **use,
    )
    case(
        f"transpose_pairs_stride_1{suffix}",
        "conv_transpose",
        x,
        (2, 4, 2, 3),
        strides=[1, 1],
        padding=[[0, 1], [1, 0]],
        **use,
    )
    case(
        f"transpose_pairs_beyond_filter{suffix}",
        "conv_transpose",
        x,
        w,
        strides=[2, 2],
        padding=[[4, 0], [0, 5]],
        **use,
    )
    case(
        f"transpose_pairs_negative{suffix}",
        "conv_transpose",
        x,
        w,
        strides=[2, 2],
        padding=[[-1, 2], [1, -1]],
        **use,
    )
    case(
        f"transpose_pairs_dilation_2{suffix}",
        "conv_transpose",
        x,
        w,
        strides=[2, 2],
        padding=[[1, 2], [0, 1]],
        rhs_dilation=[2, 2],
        **use,
    )
    case(
        f"transpose_pairs_kernel{suffix}",
        "conv_transpose",
        x,
        (3, 4, 3, 2),
        strides=[3, 2],
        padding=[[1, 0], [2, 1]],
        transpose_kernel=True,
        **use,
    )
    case(f"transpose_same_again{suffix}", "conv_transpose", x, w, strides=[2, 2], padding="SAME", **use)
case(
    "transpose_nchw",
    "conv_transpose",
    (2, 2, 4, 3),
    (3, 2, 3, 3),
    strides=[2, 2],
    padding="SAME",
    dimension_numbers=["NCHW", "OIHW", "NCHW"],
)
case(
    "transpose_nchw_iohw",
    "conv_transpose",
    (2, 2, 4, 3),
    (2, 3, 4, 3),
    strides=[2, 1],
    padding="VALID",
    dimension_numbers=["NCHW", "IOHW", "NCHW"],
)
case(
    "transpose_nchw_kernel",
    "conv_transpose",
    (2, 2, 4, 3),
    (2, 3, 3, 3),
    strides=[2, 2],
    padding="VALID",
    dimension_numbers=["NCHW", "OIHW", "NCHW"],
    transpose_kernel=True,
    note="with OIHW and transpose_kernel the filter is PyTorch's [in, out, rows, cols]",
)
case("transpose_1x1_input", "conv_transpose", (1, 1, 1, 2), w, strides=[2, 3], padding="SAME")
case("transpose_one_row", "conv_transpose", (1, 1, 4, 2), w, strides=[2, 2], padding="VALID")
case("transpose_empty_batch", "conv_transpose", (0, 4, 3, 2), w, strides=[2, 2], padding="SAME")
case(
    "transpose_real", "conv_transpose", (1, 5, 4, 4), (4, 4, 4, 3), strides=[2, 2], padding="SAME", real=True
)
case(
    "transpose_real_kernel",
    "conv_transpose",
    (1, 5, 4, 4),
    (3, 3, 3, 4),
    strides=[3, 2],
    padding="VALID",
    transpose_kernel=True,
    real=True,
)

# --- calls that JAX refuses ------------------------------------------------------------------------

x, w = (1, 2, 5, 5), (3, 2, 3, 3)
one = [1, 1]
refused("refused_channels", "conv_general_dilated", (1, 3, 5, 5), w, window_strides=one, padding="SAME")
refused(
    "refused_feature_groups_ratio",
    "conv_general_dilated",
    (1, 4, 5, 5),
    w,
    window_strides=one,
    padding="SAME",
    feature_group_count=2,
)
refused(
    "refused_feature_groups_0",
    "conv_general_dilated",
    x,
    w,
    window_strides=one,
    padding="SAME",
    feature_group_count=0,
)
refused(
    "refused_batch_groups_ratio",
    "conv_general_dilated",
    (3, 2, 5, 5),
    (4, 2, 3, 3),
    window_strides=one,
    padding="SAME",
    batch_group_count=2,
)
refused(
    "refused_both_groups",
    "conv_general_dilated",
    (2, 4, 5, 5),
    (4, 2, 3, 3),
    window_strides=one,
    padding="SAME",
    feature_group_count=2,
    batch_group_count=2,
)
refused("refused_stride_0", "conv_general_dilated", x, w, window_strides=[0, 1], padding="SAME")
refused("refused_stride_int", "conv_general_dilated", x, w, window_strides=2, padding="SAME")
refused("refused_three_strides", "conv_general_dilated", x, w, window_strides=[1, 1, 1], padding="SAME")
refused(
    "refused_rhs_dilation_0",
    "conv_general_dilated",
    x,
    w,
    window_strides=one,
    padding="SAME",
    rhs_dilation=[0, 1],
)
refused(
    "refused_lhs_dilation_0",
    "conv_general_dilated",
    x,
    w,
    window_strides=one,
    padding=[[1, 1], [1, 1]],
    lhs_dilation=[0, 1],
)
refused(
    "refused_lhs_dilation_valid",
    "conv_general_dilated",
    x,
    w,
    window_strides=one,
    padding="VALID",
    lhs_dilation=[2, 2],
)
refused("refused_padding_name", "conv_general_dilated", x, w, window_strides=one, padding="FULL")
refused("refused_padding_one_pair", "conv_general_dilated", x, w, window_strides=one, padding=[[1, 1]])
refused(
    "refused_dimension_numbers",
    "conv_general_dilated",
    x,
    w,
    window_strides=one,
    padding="SAME",
    dimension_numbers=["NCHW", "OIHX", "NCHW"],
)
refused("refused_rank_3", "conv_general_dilated", (2, 5, 5), w, window_strides=one, padding="SAME")
refused(
    "refused_lhs_dilation_same",
    "conv_general_dilated",
    (1, 2, 4, 3),
    w,
    window_strides=one,
    padding="SAME",
    lhs_dilation=[2, 2],
)
refused(
    "refused_transpose_channels", "conv_transpose", (1, 4, 3, 2), (3, 3, 3, 2), strides=[2, 2], padding="SAME"
)
refused(
    "refused_transpose_same_lower",
    "conv_transpose",
    (1, 4, 3, 2),
    (3, 3, 2, 3),
    strides=[2, 2],
    padding="SAME_LOWER",
)
refused(
    "refused_transpose_padding_name",
    "conv_transpose",
    (1, 4, 3, 2),
    (3, 3, 2, 3),
    strides=[2, 2],
    padding="FULL",
)

recording.write("jax.npz")
