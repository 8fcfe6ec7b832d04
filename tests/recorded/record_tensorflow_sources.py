"""Record where an installed TensorFlow has the steps of a conv2d call: files, lines and names, no code.

    TensorFlow's Python:  python tests/recorded/record_tensorflow_sources.py

The Python files are in the package, and so are the headers of the CPU kernel. The definitions of ops and the
registrations of kernels are in .cc files, which the package does not have; TensorFlow itself is asked for them.
docs/explanation/how_tensorflow_executes.md shows the file beside teachconv's own steps.
"""

import json
import re
from pathlib import Path

TARGET = Path(__file__).with_name("tensorflow_sources.json")
KERNELS = "include/tensorflow/core/kernels/conv_ops_impl.h"
MAPPER = "include/xla/tsl/framework/convolution/eigen_spatial_convolutions-inl.h"
# (step, name, file, the line that is looked for)
STEPS = (
    ("public wrapper", "conv2d_v2", "python/ops/nn_ops.py", r"def conv2d_v2\("),
    ("generated wrapper", "conv2d", "python/ops/gen_nn_ops.py", r"def conv2d\("),
    ("eager call", "TFE_Py_FastPathExecute", "python/ops/gen_nn_ops.py", r".*FastPathExecute\($"),
    ("node of a graph", "_apply_op_helper", "python/framework/op_def_library.py", r"def _apply_op_helper\("),
    ("kernel", "Conv2DOp::Compute", KERNELS, r"  void Compute\("),
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


def line_of(path, pattern):
    """Return the number of the first line that a pattern matches; of gen_nn_ops, after its conv2d."""
    lines = path.read_text(encoding="utf-8").split("\n")
    start = next((n for n, line in enumerate(lines) if line.startswith("def conv2d(")), 0)
    start = start if path.name == "gen_nn_ops.py" else 0
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
    TARGET.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
