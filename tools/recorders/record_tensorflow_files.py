"""Record where TensorFlow's sources have the kernels of convolutions, the definitions of ops, and what logs.

    TensorFlow's Python:  python tools/recorders/record_tensorflow_files.py

No installed package has the .cc files, but the library has the names of those that check or log something, and
the headers of some kernels are installed. Which .cc file has the Compute() of a class was read in TensorFlow's
repository (`IN_CC`); the script refuses a file or a class that the library does not name. When tests/peers run,
the table is compared with the file that a running kernel names in the log.
"""

import json
import re
from pathlib import Path

TARGET = Path(__file__).parents[2] / "teachconv" / "frameworks" / "tensorflow_files.json"
KERNELS = "tensorflow/core/kernels/"
IN_CC = {
    "mkl/mkl_conv_ops.cc": "MklConvOp MklFusedConvOp MklFusedConv3DOp MklFusedDepthwiseConvOp MklQuantizedConvOp",
    "mkl/mkl_conv_grad_input_ops.cc": "MklConvCustomBackpropInputOp",
    "mkl/mkl_conv_grad_filter_ops.cc": "MklConvCustomBackpropFilterOp",
    "conv_grad_filter_ops.cc": "Conv2DBackpropFilterOp Conv2DCustomBackpropFilterOp",
    "conv_ops_3d.cc": "Conv3DOp",
    "conv_grad_input_ops_3d.cc": "Conv3DBackpropInputOp Conv3DCustomBackpropInputOp",
    "conv_grad_filter_ops_3d.cc": "Conv3DBackpropFilterOp Conv3DCustomBackpropFilterOp",
    "depthwise_conv_op.cc": "DepthwiseConv2dNativeOp",
    "depthwise_conv_grad_op.cc": "DepthwiseConv2dNativeBackpropInputOp DepthwiseConv2dNativeBackpropFilterOp",
    "conv_ops_fused_image_transform.cc": "FusedResizeConv2DUsingGemmOp",
    "quantized_conv_ops.cc": "QuantizedConv2DOp",
    "uniform_quant_ops/uniform_quantized_convolution_ops.cc": "UniformQuantizedConvolutionOp UniformQuantizedConvolutionHybridOp",
}
# the files that define the ops, by the module that the build generates from each
DEFINITIONS = {
    "gen_nn_ops": "tensorflow/core/ops/nn_ops.cc",
    "gen_uniform_quant_ops": "tensorflow/core/ops/uniform_quant_ops.cc",
}
# the files that log what find_source reads, and those of helpers whose checks the kernels call
LOGGING = (
    "placer graph_partition mkl_layout_pass remapper generic_layout_optimizer executor conv_grad_shape_utils"
)


def main():
    """Write the file."""
    import tensorflow

    package = Path(tensorflow.__file__).parent
    library = b"".join(path.read_bytes() for path in package.glob("libtensorflow_*.so.*"))
    pattern = rb"\0(?:\./)?((?:tensorflow|xla)/[\w/]+\.(?:cc|h))(?=\0)"
    named = {match[1].decode() for match in re.finditer(pattern, library)}
    classes = {name: KERNELS + file for file, names in IN_CC.items() for name in names.split()}
    for name, file in classes.items():
        assert file in named, f"the library names no {file}"
        assert re.search(
            rb"tensorflow\d*(?:_GLOBAL__N_1|12_GLOBAL__N_1)?%d%sI" % (len(name), name.encode()), library
        ), name
    for header in sorted((package / "include" / KERNELS).rglob("*.h")):
        for name in re.findall(
            r"^class (\w*Conv\w*Op|MklDummyOp) ", header.read_text(encoding="utf-8"), re.MULTILINE
        ):
            classes[name] = header.relative_to(package / "include").as_posix()
    files = {file.rpartition("/")[2]: file for file in classes.values()}
    files |= {
        path.rpartition("/")[2]: path
        for path in sorted(named)
        if path.rpartition("/")[2] in [f"{name}.cc" for name in LOGGING.split()]
    }
    recorded = {"script": Path(__file__).name, "versions": {"tensorflow": tensorflow.__version__}}
    recorded |= {"definitions": DEFINITIONS, "classes": classes, "files": files}
    TARGET.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
