"""Write the index of error messages: teachconv's, made now, and the frameworks', as recorded."""

import json
import tomllib
from pathlib import Path

import numpy as np

import teachconv as tc

HERE = Path(__file__).parent
RECORDED = HERE.parent / "tests" / "recorded" / "errors.json"
ADVICE = tomllib.loads((HERE / "error_advice.toml").read_text(encoding="utf-8"))
HEAD = """# Error messages, and where each is explained

Search this page for a part of the message that you got, without its numbers: each has its cause, what to do,
and the page that explains it. The frameworks' messages were recorded from real calls ({versions});
teachconv's, which say themselves what would be right, were made when this page was built.
"""

X, W = np.ones((1, 8, 8, 3), "float32"), np.ones((3, 3, 3, 4), "float32")
WT, NCHW, OIHW = W.transpose(0, 1, 3, 2), X.transpose(0, 3, 1, 2), W.transpose(3, 2, 0, 1)
NAMES = {"np": np, "tc": tc, "X": X, "W": W, "WT": WT, "NCHW": NCHW, "OIHW": OIHW}
NAMES["ONES"] = np.ones(4, "float32")
# (the page that explains it, the call)
OURS = [
    ("four_strides", "tc.conv2d(X, W, [1, 2, 2, 2])"),
    ("clicks_at_chunk_borders", 'tc.stream(tc.conv2d, W, strides=2, padding="SAME")'),
    ("clicks_at_chunk_borders", 'tc.stream(tc.conv2d, W, backend="numpy")'),
    ("same_or_valid", 'tc.conv2d(X, W, 1, "SMAE")'),
    ("dilated_grouped_depthwise", "tc.conv2d(X, W[:, :, :2])"),
    ("sizes_parameters_flops", "tc.conv2d(X[:, :2, :2], W)"),
    ("quantized_convolution", "tc.conv2d(X.astype('int8'), W)"),
    ("padding_codes", "tc.resolve(tc.conv2d, X, W, 2, -233)"),
    ("nhwc_or_nchw", "tc.conv2d(NCHW, W)"),
    ("why_output_shape", 'tc.conv2d_transpose(X, WT, [1, 17, 17, 4], 2, "SAME")'),
    ("why_output_shape", 'tc.conv2d_transpose(X, WT, [2, 16, 16, 4], 2, "SAME")'),
    ("why_output_shape", 'tc.conv2d_transpose(X, WT, [None, 16, 16, 4], 2, "SAME")'),
    ("nhwc_or_nchw", "tc.dialects.torch.conv2d(X, OIHW)"),
    ("converting_transposed_filters", 'tc.conv2d_transpose(X, W, [1, 16, 16, 4], 2, "SAME")'),
    ("output_padding", "tc.dialects.torch.conv_transpose2d(NCHW, OIHW[:3], stride=2, output_padding=2)"),
    ("padding_same_with_stride_in_pytorch", 'tc.dialects.torch.conv2d(NCHW, OIHW, stride=2, padding="same")'),
    ("how_an_autotuner_chooses", 'tc.conv2d(X, W, algorithm="winograd3")'),
    ("winograd", 'tc.conv2d(X, W, 2, algorithm="winograd2")'),
    ("where_is_conv2d_executed", 'tc.conv2d(X, W, backend="cyton")'),
    ("why_ceil_mode_gives_one_more", "tc.max_pool(X, 9, 1, 'VALID')"),
    ("does_a_pool_pad_with_zeros", "tc.max_pool(X, 2, 1, 2)"),
    ("does_a_pool_pad_with_zeros", "tc.dialects.torch.max_pool2d(NCHW, 3, padding=2)"),
    ("average_pool_at_the_border", "tc.avg_pool(X.astype('int32'), 2, 2, 'SAME')"),
    ("average_pool_at_the_border", "tc.dialects.torch.avg_pool2d(NCHW, 2, divisor_override=0)"),
    ("folding_batch_normalisation", "tc.fold_batch_norm(W, None, None, None, ONES, -ONES, 1e-3)"),
    (
        "folding_batch_normalisation",
        "tc.batch_normalization(X, -ONES[:3], -ONES[:3], None, None, 1e-3)",
    ),
    (
        "which_eps_and_momentum",
        "tc.dialects.torch.batch_norm(NCHW[:, :, :1, :1], ONES[:3], ONES[:3], training=True)",
    ),
    ("the_order_of_the_sides", 'tc.pad(X, [[0, 0], [8, 0], [0, 0], [0, 0]], "REFLECT")'),
    ("the_order_of_the_sides", "tc.pad(X, [[1, 1], [1, 1]])"),
    ("the_order_of_the_sides", 'tc.pad(X, [[0, 0], [1, 1], [1, 1], [0, 0]], "circular")'),
    ("the_order_of_the_sides", 'tc.dialects.torch.pad(NCHW, (1, 1), "reflect")'),
    ("the_order_of_the_sides", 'tc.dialects.torch.pad(NCHW, (9, 0, 0, 0), "circular")'),
    ("the_order_of_the_sides", "tc.dialects.onnx.pad(NCHW, [1, 1, 1, 1])"),
    ("the_order_of_the_sides", "tc.dialects.jax.pad(X, -1)"),
    ("how_gradients_are_computed", "tc.conv2d_backprop_input(X.shape, W, np.ones((1, 9, 9, 4), 'float32'))"),
]


def our_message(call: str) -> tuple[str, str]:
    """Return the class and the text of the error that a call raises."""
    try:
        eval(call, NAMES)
    except Exception as error:
        return type(error).__name__, str(error)
    raise AssertionError(f"{call} raises nothing")


def advice(message: str) -> str:
    """Return what a framework's message means and what to do, or "" for a message of teachconv."""
    return next((text + "\n" for part, text in ADVICE.items() if part in message), "")


def page() -> str:
    """Return the page as Markdown."""
    recorded = json.loads(RECORDED.read_text(encoding="utf-8"))
    versions = ", ".join(f"{name} {number}" for name, number in recorded["versions"].items())
    lines = [HEAD.format(versions=versions)]
    groups = {"teachconv": [(page, call, *our_message(call)) for page, call in OURS]}
    for entry in recorded["errors"]:
        group = groups.setdefault(entry["framework"], [])
        group.append((entry["page"], entry["call"], entry["error"], entry["message"]))
    for framework, entries in groups.items():
        lines.append(f"## {framework}\n")
        for answer, call, error, message in entries:
            lines.append(f"```{{code-block}} text\n{error}: {message}\n```\n")
            place = answer if "/" in answer else f"answers/{answer}"
            lines += [advice(message), f"Raised by `{call}`. See {{doc}}`{place}`\n"]
    return "\n".join(lines)


def write() -> None:
    """Write the page beside this file."""
    (HERE / "error_index.md").write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write()
