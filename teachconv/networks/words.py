"""What the frameworks call things: functions, their arguments, and the usual settings."""

import numpy as np

from . import definitions

NORM_WORDS = ("mean", "variance", "gamma", "beta")
BEFORE_11 = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
_CONVOLUTION = ("", "", "", "stride", "padding", "dilation", "groups")
_TRANSPOSED = ("", "", "", "stride", "padding", "output_padding", "groups", "dilation")
# what a call's arguments without a name are called: a framework's words, or of arrays those of Keras
POSITIONAL = dict.fromkeys(("conv1d", "conv2d", "conv3d"), _CONVOLUTION) | {
    **dict.fromkeys(("conv_transpose1d", "conv_transpose2d", "conv_transpose3d"), _TRANSPOSED),
    **dict.fromkeys(("softshrink", "hardshrink"), ("", "lambd")),
    "max_pool2d": ("", "kernel_size", "stride", "padding", "dilation", "ceil_mode"),
    "avg_pool2d": ("", "kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"),
    **dict.fromkeys(("adaptive_avg_pool2d", "adaptive_max_pool2d"), ("", "output_size")),
    **dict.fromkeys(("leaky_relu", "prelu", "PRelu", "PRELU"), ("", "negative_slope")),
    "instance_norm": ("", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps"),
    **dict.fromkeys(
        ("InstanceNormalization", "LayerNormalization", "GroupNormalization"), ("", "weight", "bias")
    ),
    "interpolate": ("", "size", "scale_factor", "mode", "align_corners"),
    "layer_norm": ("", "normalized_shape", "weight", "bias", "eps"),
    "group_norm": ("", "num_groups", "weight", "bias", "eps"),
    **dict.fromkeys(("elu", "celu"), ("", "alpha")),
    "topk": ("", "k", "dim", "largest", "sorted"),
    "softplus": ("", "beta", "threshold"),
    **dict.fromkeys(("hardtanh", "clamp", "Clip"), ("", "min", "max")),
    **dict.fromkeys(("cat", "softmax", "log_softmax", "glu"), ("", "dim")),
    **dict.fromkeys(
        ("mean", "sum", "max", "min", "amax", "amin", "argmax", "argmin", "logsumexp"), ("", "dim", "keepdim")
    ),
    **dict.fromkeys(("ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceLogSumExp"), ("", "axes")),
    **dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceSumSquare"), ("", "axes")),
    "batch_norm": ("", *NORM_WORDS, "training", "momentum", "eps"),
    "BatchNormalization": ("", "gamma", "beta", "mean", "variance"),
    "pad": ("", "pad", "mode", "value"),
    "Pad": ("", "pads", "value"),
    "linear": ("", "weight", "bias"),
    **dict.fromkeys(("Gemm", "MatMul", "CONV_2D", "DEPTHWISE_CONV_2D"), ("", "kernel", "bias")),
    **dict.fromkeys(("matmul", "Matmul", "mm", "bmm", "BATCH_MATMUL"), ("", "kernel")),
    "rms_norm": ("", "normalized_shape", "weight", "eps"),
    "normalize": ("", "p", "dim", "eps"),
    **dict.fromkeys(("norm", "linalg_vector_norm"), ("", "p", "dim", "keepdim")),
    **dict.fromkeys(("var", "std", "var_mean", "std_mean"), ("", "dim", "unbiased", "keepdim")),
    "local_response_norm": ("", "size", "alpha", "beta", "k"),
    "scaled_dot_product_attention": ("", "", "", "attn_mask", "dropout_p", "is_causal"),
    "threshold": ("", "threshold", "value"),
    "TRANSPOSE_CONV": ("output_shape", "kernel", "", "bias"),
    "FULLY_CONNECTED": ("", "weight", "bias"),
    **dict.fromkeys(("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "ARG_MAX", "ARG_MIN"), ("", "axis")),
}
# what the parts of a call that returns two arrays are
PAIRS = {
    **{"var_mean": ("var", "mean"), "std_mean": ("std", "mean")},
    **{"aminmax": ("amin", "amax"), "moments": ("mean", "var")},
}
POINTWISE = {
    **{name: name for name in definitions.POINTWISE},
    **{"mul": "multiply", "sub": "subtract", "rsub": "subtract", "div": "divide", "true_div": "divide"},
    **dict.fromkeys(("truediv", "true_divide", "truedivide", "rdiv", "rtruediv"), "divide"),
    **{"neg": "negative", "round": "rint", "exponential": "exp", "atan": "arctan", "add_n": "add"},
    **{"min": "minimum", "max": "maximum", "pow": "power", "rsqrt": "power", "absolute": "abs"},
}
REDUCED = {
    **{name: name for name in ("sum", "mean", "logsumexp")},
    **{f"reduce{name}": name for name in ("sum", "mean", "max", "min", "logsumexp")},
    **{f"{before}{name}": name for name in ("max", "min") for before in ("", "a", "reduce_")},
    **{f"arg{mark}{name}": f"arg{name}" for name in ("max", "min") for mark in ("", "_")},
}
REFLECTED = ("rsub", "rdiv", "rtruediv")
SMOOTH = {
    **{name: name for name in (*definitions.SOFTMAX, *definitions.SMOOTH, *definitions.SCALED)},
    "logsoftmax": "log_softmax",
    **dict.fromkeys(("silu", "swish"), "silu (swish)"),
    "gelu_tanh": "gelu (tanh)",
    "logistic": "sigmoid",
    "hard_sigmoid": "hardsigmoid",
    **dict.fromkeys(("hard_swish", "hard_silu", "hardsilu"), "hardswish"),
    **{"log_sigmoid": "logsigmoid", "tanh_shrink": "tanhshrink"},
    **{"soft_shrink": "softshrink", "hard_shrink": "hardshrink"},
}
# what the setting of `definitions.USUAL` is called, where that is not "alpha"
SETTING = {"softplus": ("beta",), **dict.fromkeys(("softshrink", "hardshrink"), ("lambd", "threshold"))}
# the other settings with which a function is the one of the table
FIXED = {
    "hardsigmoid": {"beta": 0.5},
    "softmax": {"beta": 1.0},
    "softplus": {"threshold": 20.0},  # PyTorch's
    "selu": {"alpha": 1.67326324, "gamma": 1.05070098},
}
MOVES = (
    *("flatten", "view", "reshape", "permute", "transpose", "contiguous", "squeeze", "unsqueeze", "identity"),
    *("detach", "clone", "getitem", "flip", "roll", "t", "get", "swapaxes", "movedim", "moveaxis", "ravel"),
    *("expand", "expand_dims", "expanddims", "repeat", "tile", "stack", "narrow", "select", "index_select"),
    *("split", "chunk", "unbind", "unpack", "slice", "strided_slice", "gather", "take", "where", "reverse"),
    *("unfold", "pixel_shuffle", "pixel_unshuffle", "channel_shuffle", "depthtospace", "depth_to_space"),
    *("spacetodepth", "space_to_depth", "space_to_batch_nd", "batch_to_space_nd", "upsample_nearest"),
    *("upsampling1d", "upsampling3d", "cropping1d", "cropping2d", "cropping3d"),
    *("repeatvector", "mirror_pad", "unflatten", "broadcastto", "centercrop", "randomcrop", "copy", "fliplr"),
    *("flipud", "rot90", "hstack", "vstack", "dstack", "stopgradient", "tril", "triu", "trilu"),
    *("stop_gradient", "unstack", "pack", "split_v", "broadcast_to", "select_v2", "reverse_v2", "embedding"),
    *("gathernd", "gather_nd", "gatherelements", "take_along_axis", "centercroppad", "scatternd"),
)
MATMUL = ("matmul", "mm", "bmm", "batch_matmul")
CASTS = (
    "to",
    "double",
    "float",
    "half",
    "bfloat16",
    "int",
    "long",
    "type",
    "type_as",
    "cast",
    "castlike",
    "saturatecast",
)
DROPS = (
    *("dropout", "dropout2d", "feature_dropout", "spatialdropout1d", "spatialdropout2d", "spatialdropout3d"),
    *("stochastic_depth", "gaussiandropout", "gaussiannoise", "alphadropout", "activityregularization"),
    *("dropout1d", "dropout3d", "alpha_dropout", "feature_alpha_dropout", "randomflip", "randomrotation"),
    *("randomzoom", "randomtranslation", "randomcontrast", "randombrightness", "randomerasing", "masking"),
)
# the limits that a call need not say; those of other words are a relu's
LIMITS = {
    **dict.fromkeys(("clamp", "clip"), (-np.inf, np.inf)),
    **dict.fromkeys(("hardtanh", "relun1to1"), (-1.0, 1.0)),
    **{"relu6": (0.0, 6.0), "relu0to1": (0.0, 1.0)},
}
