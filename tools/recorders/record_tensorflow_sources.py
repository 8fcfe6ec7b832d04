"""Record where an installed TensorFlow has the steps of conv2d and of its transpose: files, lines, names, no code.

    TensorFlow's Python:  python tools/recorders/record_tensorflow_sources.py

The Python files are in the package, and so are the headers of the CPU kernel. The definitions of ops and the
registrations of kernels are in .cc files, which the package does not have; TensorFlow itself is asked for them, and
its libraries for the names of the .cc files that they were compiled from.
docs/explanation/how_tensorflow_executes.md and docs/answers/where_is_conv2d_executed.md show the file.
"""

import json
import re
from pathlib import Path

TARGET = Path(__file__).parents[2] / "tests" / "recorded" / "tensorflow_sources.json"
KERNELS = "include/tensorflow/core/kernels/conv_ops_impl.h"
MAPPER = "include/xla/tsl/framework/convolution/eigen_spatial_convolutions-inl.h"
# (step, name, file, the line that is looked for)
STEPS = (
    ("public wrapper", "conv2d_v2", "python/ops/nn_ops.py", r"def conv2d_v2\("),
    ("generated wrapper", "conv2d", "python/ops/gen_nn_ops.py", r"def conv2d\("),
    ("eager call", "TFE_Py_FastPathExecute", "python/ops/gen_nn_ops.py", r".*FastPathExecute\($"),
    ("node of a graph", "_apply_op_helper", "python/framework/op_def_library.py", r"def _apply_op_helper\("),
    ("kernel", "Conv2DOp", KERNELS, r"class Conv2DOp\b"),
    ("launch", "LaunchGeneric", KERNELS, r"struct LaunchGeneric"),
    (
        "loops",
        "Eigen::SpatialConvolution",
        "include/tensorflow/core/kernels/conv_2d.h",
        r".*= Eigen::Spatial",
    ),
    ("stride and padding", "m_row_strides, m_rowPaddingTop", MAPPER, r".*\* m_row_strides - m_rowPaddingTop"),
    ("dilation", "m_in_row_strides", MAPPER, r".*\+ rowOffset \* m_in_row_strides"),
    ("in the padding?", "origInputRow", MAPPER, r".*origInputRow < 0 \|\|"),
)

GRADIENT = "include/tensorflow/core/kernels/conv_grad_input_ops.h"
TRANSPOSED_STEPS = (
    ("public wrapper", "conv2d_transpose_v2", "python/ops/nn_ops.py", r"def conv2d_transpose_v2\("),
    ("which calls", "gen_nn_ops.conv2d_backprop_input", "python/ops/nn_ops.py", r".*gen_nn_ops.conv2d_backprop_input"),
    ("generated wrapper", "conv2d_backprop_input", "python/ops/gen_nn_ops.py", r"def conv2d_backprop_input\("),
    ("kernel", "Conv2DCustomBackpropInputOp", GRADIENT, r"class Conv2DCustomBackpropInputOp"),
    ("its Compute", "Conv2DCustomBackpropInputOp::Compute", GRADIENT, r"  void Compute\("),
    ("registration", "REGISTER_CONV_2D_BACKPROP_CPU_KERNELS", GRADIENT, r"#define REGISTER_CONV_2D_BACKPROP_CPU"),
)
COMPILED = (  # below tensorflow/; the package has what the compiler made of them
    "core/ops/nn_ops.cc",
    "core/kernels/conv_grad_input_ops_float.cc",
    "core/kernels/mkl/mkl_conv_grad_input_ops.cc",
    "python/framework/python_op_gen.cc",
)


def compiled(folder):
    """Return those of COMPILED whose initialisers are in the libraries of the package."""
    libraries = [path.read_bytes() for path in sorted(folder.rglob("*.so*")) if path.is_file()]
    names = {file: f"_GLOBAL__sub_I_{file.rpartition('/')[2]}".encode() for file in COMPILED}
    return [file for file, name in names.items() if any(name in library for library in libraries)]


def places(folder, steps):
    """Return the steps with their lines; each is looked for after the one before it in the same file."""
    found, at = [], {}
    for step, name, file, pattern in steps:
        at[file] = line_of(folder / file, pattern, at.get(file, 0))
        found.append({"step": step, "name": name, "file": file, "line": at[file]})
    return found


def line_of(path, pattern, after=0):
    """Return the number of the first line that a pattern matches; of gen_nn_ops, after its conv2d."""
    lines = path.read_text(encoding="utf-8").split("\n")
    start = next((n for n, line in enumerate(lines) if line.startswith("def conv2d(")), 0)
    start = start if path.name == "gen_nn_ops.py" else after
    return next(n for n, line in enumerate(lines[start:], start + 1) if re.match(pattern, line))


def definition():
    """Return inputs, attributes and outputs of the op, and the devices and types of its kernels."""
    from tensorflow.python.framework import kernels, op_def_registry

    op = op_def_registry.get("Conv2D")
    found = {}
    for kernel in kernels.get_registered_kernels_for_op("Conv2D").kernel:
        types = [t for c in kernel.constraint if c.name == "T" for t in c.allowed_values.list.type]
        found.setdefault(kernel.device_type, []).extend(types)
    from tensorflow import dtypes

    return {
        "inputs": [arg.name for arg in op.input_arg],
        "outputs": [arg.name for arg in op.output_arg],
        "attributes": [attr.name for attr in op.attr],
        "kernels": {
            device: sorted(dtypes.as_dtype(t).name for t in types) for device, types in found.items()
        },
    }


def main():
    """Write the file."""
    import tensorflow

    folder = Path(tensorflow.__file__).parent
    steps = [
        {"step": step, "name": name, "file": file, "line": line_of(folder / file, pattern)}
        for step, name, file, pattern in STEPS
    ]
    recorded = {"script": Path(__file__).name, "versions": {"tensorflow": tensorflow.__version__}}
    recorded |= {"definition": definition(), "steps": steps}
    recorded |= {"transposed": places(folder, TRANSPOSED_STEPS), "compiled": compiled(folder)}
    TARGET.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
