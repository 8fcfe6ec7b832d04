"""Record what frameworks answer to calls that they get wrong, in processes of their own, because some crash.

    the frameworks' Python:  python tools/recorders/record_framework_bugs.py

docs/explanation/what_frameworks_get_wrong.md shows the file beside teachconv's answers, and asserts that they
differ. Run it again with new versions: an answer that has become right makes the page fail, and leaves the list.
"""

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

TARGET = Path(__file__).parents[2] / "tests" / "recorded" / "framework_bugs.json"
SETUP = {
    "tensorflow": "import numpy as np, tensorflow as tf; ones = lambda *s: np.ones(s, 'float32')",
    "jax": "import numpy as np; from jax import lax; ones = lambda *s: np.ones(s, 'float32')",
    "torch": "import numpy as np, torch, torch.nn.functional as F; ones, zeros = torch.ones, torch.zeros\n"
             "torch.backends.quantized.engine, q = 'fbgemm', torch.ops.quantized\n"
             "quantized = lambda array: torch._make_per_tensor_quantized_tensor(array, 1.0, 0)",
    "keras on torch": "import numpy as np, keras; ones = lambda *s: np.ones(s, 'float32')",
}
# (framework, what is wrong, its call, teachconv's call or why there is none)
BUGS = (
    ("tensorflow", "A filter larger than the input: the result has the input's shape, with contents of unused memory.",
     "tf.nn.conv2d(ones(1, 2, 2, 1), ones(3, 3, 1, 1), 1, 'VALID').shape",
     "tc.conv2d(ones(1, 2, 2, 1), ones(3, 3, 1, 1), 1, 'VALID').shape"),
    ("tensorflow", "An empty batch: the result has the input's shape.",
     "tf.nn.conv2d(ones(0, 5, 5, 1), ones(3, 3, 1, 2), 1, 'VALID').shape",
     "tc.conv2d(ones(0, 5, 5, 1), ones(3, 3, 1, 2), 1, 'VALID').shape"),
    ("tensorflow", "Stride and dilation together: wrong size and values, and only a warning.",
     "tf.nn.depthwise_conv2d(ones(1, 7, 7, 1), ones(3, 3, 1, 1), [1, 2, 2, 1], 'SAME', dilations=[2, 2]).shape",
     "tc.depthwise_conv2d(ones(1, 7, 7, 1), ones(3, 3, 1, 1), 2, 'SAME', dilations=2).shape"),
    ("tensorflow", "A gradient with a dilation: the message, of oneDNN, names no argument.",
     "tf.nn.depthwise_conv2d_backprop_input([1, 5, 5, 1], ones(3, 3, 1, 1), ones(1, 1, 1, 1), [1, 1, 1, 1], 'VALID', "
     "dilations=[2, 2])[0, :, :, 0]",
     "tc.depthwise_conv2d_backprop_input([1, 5, 5, 1], ones(3, 3, 1, 1), ones(1, 1, 1, 1), 1, 'VALID', dilations=2)"
     "[0, :, :, 0]"),
    ("tensorflow", "The same gradient ignores the dilation where the shapes fit without it.",
     "tf.nn.depthwise_conv2d_backprop_input([1, 5, 5, 1], ones(3, 3, 1, 1), ones(1, 3, 3, 1), [1, 1, 1, 1], 'VALID', "
     "dilations=[2, 2]).shape",
     "tc.depthwise_conv2d_backprop_input([1, 5, 5, 1], ones(3, 3, 1, 1), ones(1, 3, 3, 1), 1, 'VALID', dilations=2).shape"),
    ("tensorflow", "Padding of the batch is ignored without a word.",
     "tf.nn.conv2d(ones(1, 3, 3, 1), ones(3, 3, 1, 1), 1, [[1, 0], [1, 1], [1, 1], [0, 0]]).shape",
     "tc.conv2d(ones(1, 3, 3, 1), ones(3, 3, 1, 1), 1, [[1, 0], [1, 1], [1, 1], [0, 0]]).shape"),
    ("tensorflow", "An output_shape that no convolution has: accepted, and the result cropped.",
     "tf.nn.conv2d_transpose(ones(1, 1, 1, 1), ones(5, 5, 1, 1), [1, 3, 3, 1], 3, 'VALID').shape",
     "tc.conv2d_transpose(ones(1, 1, 1, 1), ones(5, 5, 1, 1), [1, 3, 3, 1], 3, 'VALID').shape"),
    ("tensorflow", "An image without a batch ends the whole process.",
     "tf.nn.conv2d(ones(5, 5, 2), ones(3, 3, 2, 3), 1, 'SAME')",
     "tc.conv2d(ones(5, 5, 2), ones(3, 3, 2, 3), 1, 'SAME')"),
    ("tensorflow", "SAME padding of a volume in float64, or in float32 without oneDNN: with a stride longer than the filter, "
     "padding that comes out negative crops the input. Its gradient is that of the right result.",
     "tf.nn.conv3d(np.arange(3.0).reshape(1, 3, 1, 1, 1), np.ones((1, 1, 1, 1, 1)), [1, 3, 1, 1, 1], 'SAME')",
     "tc.convolution(np.arange(3.0).reshape(1, 3, 1, 1, 1), np.ones((1, 1, 1, 1, 1)), (3, 1, 1), 'SAME')"),
    ("jax", "Padding on one side, cropping on the other: it reads past the row. Every product is 1, and 6 cells are seen.",
     "lax.conv_general_dilated(ones(1, 3, 4, 2), ones(2, 3, 2, 2), (1, 1), [(0, 0), (-1, 1)], "
     "dimension_numbers=('NCHW', 'OIHW', 'NCHW'))",
     "tc.dialects.jax.conv_general_dilated(ones(1, 3, 4, 2), ones(2, 3, 2, 2), (1, 1), [(0, 0), (-1, 1)])"),
    ("jax", "Padding by pairs is accepted as tuples only; the message speaks of a mode.",
     "lax.conv_transpose(ones(1, 3, 3, 1), ones(3, 3, 1, 1), (2, 2), [[1, 1], [1, 1]], use_consistent_padding=True).shape",
     "tc.dialects.jax.conv_transpose(ones(1, 3, 3, 1), ones(3, 3, 1, 1), (2, 2), [[1, 1], [1, 1]], "
     "use_consistent_padding=True).shape"),
    ("torch", "A transposed result without cells is an empty array, but an error where output_padding reaches the stride.",
     "tuple(F.conv_transpose2d(ones(1, 1, 1, 1), ones(1, 1, 1, 1), padding=1, dilation=2, output_padding=1).shape)",
     "tc.dialects.torch.conv_transpose2d(ones(1, 1, 1, 1), ones(1, 1, 1, 1), padding=1, dilation=2, output_padding=1).shape"),
    ("jax", "A stride of 0 is found by the compiler, not by the function.",
     "lax.conv_general_dilated(ones(1, 1, 4, 4), ones(1, 1, 2, 2), (0, 1), 'VALID').shape",
     "tc.dialects.jax.conv_general_dilated(ones(1, 1, 4, 4), ones(1, 1, 2, 2), (0, 1), 'VALID').shape"),
    ("torch", "No input channels: one output channel per filter is lost.",
     "tuple(F.conv2d(zeros(1, 0, 4, 4), zeros(3, 0, 3, 3), padding=1).shape)",
     "tc.dialects.torch.conv2d(zeros(1, 0, 4, 4), zeros(3, 0, 3, 3), padding=1).shape"),
    ("torch", "fbgemm adds pairs of products in 16 bits, which saturate, in depthwise filters of 3x3 with padding.",
     "q.conv2d(quantized(torch.full((1, 8, 3, 3), 255, dtype=torch.uint8)), q.conv2d_prepack(quantized(torch.full((8, 1, 3, 3), "
     "127, dtype=torch.int8)), None, [1, 1], [1, 1], [1, 1], 8), 2000.0, 0).int_repr()[0, 0]",
     "tc.quantized.depthwise_conv2d(np.full((1, 3, 3, 8), 255, 'uint8'), np.full((3, 3, 8, 1), 127, 'int8'), x_scale=1.0, "
     "x_zero_point=0, w_scale=1.0, y_scale=2000.0, y_zero_point=0, padding=1, scheme='torch')[0, :, :, 0]"),
    ("torch", "fbgemm takes the stride of rows as 1 where a transposed filter has two rows and both numbers of channels are "
     "multiples of 8. It saturates there, too.",
     "q.conv_transpose2d(quantized(torch.ones((1, 8, 2, 1), dtype=torch.uint8)), q.conv_transpose2d_prepack(quantized("
     "torch.ones((8, 8, 2, 1), dtype=torch.int8)), None, [2, 1], [0, 0], [0, 0], [1, 1], 1), 1.0, 0).int_repr()[0, 0]",
     "tc.quantized.conv2d_transpose(np.ones((1, 2, 1, 8), 'uint8'), np.ones((2, 1, 8, 8), 'int8'), x_scale=1.0, x_zero_point=0, "
     "w_scale=1.0, y_scale=1.0, y_zero_point=0, strides=(2, 1), padding='VALID', scheme='torch')[0, :, :, 0]"),
    ("keras on torch", "An unknown padding word is accepted, and means \"valid\".",
     "tuple(keras.ops.conv(ones(1, 5, 5, 1), ones(3, 3, 1, 1), padding='full').shape)",
     "tc.dialects.keras.conv(ones(1, 5, 5, 1), ones(3, 3, 1, 1), padding='full').shape"),
    ("keras on torch", "A number as padding: the message names neither the argument nor what is legal.",
     "keras.ops.conv(ones(1, 5, 5, 1), ones(3, 3, 1, 1), padding=1).shape",
     "tc.dialects.keras.conv(ones(1, 5, 5, 1), ones(3, 3, 1, 1), padding=1).shape"),
)  # fmt: skip
PROGRAM = """
{setup}
for call in {calls}:
    try:
        got = eval(call)
        got = got.numpy() if hasattr(got, "numpy") else got
        text = str(tuple(got)) if type(got).__name__ in ("TensorShape", "tuple") else str(np.asarray(got).tolist())
    except Exception as error:
        text = type(error).__name__ + ": " + str(error).strip().split(chr(10))[0][:300]
    print("ANSWER", text, flush=True)
"""


def answers(framework, calls, **more):
    """Return what calls give, as text. One that ends the process is followed by a new process for the rest."""
    env = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "torch", "JAX_PLATFORMS": "cpu"} | more
    found = []
    while len(found) < len(calls):
        program = PROGRAM.format(setup=SETUP[framework], calls=calls[len(found) :])
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, env=env, check=False
        )
        lines = done.stdout.split("\n")
        found += [line.removeprefix("ANSWER ") for line in lines if line.startswith("ANSWER ")]
        if len(found) < len(calls):
            found.append(f"the process ends with signal {-done.returncode}")
    return found


def main():
    """Write the file."""
    bugs = []
    for framework in SETUP:
        chosen = [bug for bug in BUGS if bug[0] == framework]
        calls = [call for _, _, call, _ in chosen]
        got = {"answer": answers(framework, calls)}
        if framework == "tensorflow":
            got["without oneDNN"] = answers(framework, calls, TF_ENABLE_ONEDNN_OPTS="0")
        for number, (_, wrong, call, ours) in enumerate(chosen):
            given = {name: texts[number] for name, texts in got.items()}
            bugs.append({"framework": framework, "wrong": wrong, "call": call, "ours": ours} | given)
    packages = {"tensorflow": "tensorflow_cpu", "jax": "jax", "torch": "torch", "keras": "keras"}
    versions = {name: version(package) for name, package in packages.items()}
    recorded = {"script": Path(__file__).name, "versions": versions, "bugs": bugs}
    TARGET.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
