"""Record what the frameworks say of common mistakes: python tools/recorders/record_errors.py (needs all of them).

Each entry is what a person typed, what the framework answered, and the page of `docs/answers` that explains it.
`docs/error_index.py` makes the index of error messages of it.
"""

import json
import re
from importlib.metadata import version
from pathlib import Path

import jax
import numpy as np
import onnxruntime
import tensorflow as tf
import torch
import torch.nn.functional as F
from ai_edge_litert.interpreter import Interpreter, OpResolverType
from onnx import TensorProto, helper

x, w = tf.ones([1, 8, 8, 3]), tf.ones([3, 3, 3, 4])
tx, tw = torch.ones(1, 3, 8, 8), torch.ones(4, 3, 3, 3)
jx, jw = np.ones((1, 3, 8, 8), np.float32), np.ones((4, 3, 3, 3), np.float32)


def onnx_conv(op="Conv", **attributes):
    """Run one node of ONNX on ones [1, 3, 8, 8] and a filter [4, 3, 3, 3]."""
    value = helper.make_tensor_value_info
    filters = (3, 4, 3, 3) if op == "ConvTranspose" else (4, 3, 3, 3)
    inputs = [value("x", TensorProto.FLOAT, (1, 3, 8, 8)), value("w", TensorProto.FLOAT, filters)]
    node = helper.make_node(op, ["x", "w"], ["y"], **attributes)
    graph = helper.make_graph([node], "g", inputs, [value("y", TensorProto.FLOAT, None)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": np.ones((1, 3, 8, 8), np.float32), "w": np.ones(filters, np.float32)})


def onnx_pool(op="MaxPool", **attributes):
    """Run one pool of ONNX on ones [1, 3, 8, 8]."""
    value = helper.make_tensor_value_info
    node = helper.make_node(op, ["x"], ["y"], kernel_shape=[2, 2], **attributes)
    ends = [value("x", TensorProto.FLOAT, (1, 3, 8, 8))], [value("y", TensorProto.FLOAT, None)]
    model = helper.make_model(helper.make_graph([node], "g", *ends), opset_imports=[helper.make_opsetid("", 22)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": np.ones((1, 3, 8, 8), np.float32)})


def onnx_pad(pads, mode):
    """Run Pad of ONNX on ones [1, 3, 8, 8]."""
    value = helper.make_tensor_value_info
    ends = [value("x", TensorProto.FLOAT, (1, 3, 8, 8))], [value("y", TensorProto.FLOAT, None)]
    sides = helper.make_tensor("p", TensorProto.INT64, [len(pads)], pads)
    graph = helper.make_graph([helper.make_node("Pad", ["x", "p"], ["y"], mode=mode)], "g", *ends, [sides])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": np.ones((1, 3, 8, 8), np.float32)})


def onnx_run(feed, shape=(1, 3, 8, 8), type=TensorProto.FLOAT, ir_version=8):
    """Run one Conv of ONNX, whose filter [4, 3, 3, 3] is in the file, with a feed."""
    value = helper.make_tensor_value_info
    filters = helper.make_tensor("w", type, (4, 3, 3, 3), np.ones(108))
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    graph = helper.make_graph([node], "g", [value("x", type, shape)], [value("y", type, None)], [filters])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=ir_version)
    return onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, feed)


def tflite_model(function, select=False):
    """Convert a function of an image [1, 8, 8, 3] to TFLite."""
    concrete = tf.function(function, autograph=False).get_concrete_function(tf.TensorSpec([1, 8, 8, 3]))
    converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete])
    if select:
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS]
    model = converter.convert()
    return Interpreter(model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)


def tflite_run(value, function=lambda x: tf.nn.conv2d(x, w, 1, "SAME"), shape=None, allocate=True, invoke=False):
    """Run a function in LiteRT, after its input was resized."""
    interpreter = tflite_model(function)
    if shape:
        interpreter.resize_tensor_input(0, shape)
    if allocate:
        interpreter.allocate_tensors()
    if not invoke:
        interpreter.set_tensor(0, value)
    interpreter.invoke()


def dilated_transpose(x):
    words = {"strides": [1] * 4, "padding": "VALID", "dilations": [1, 2, 2, 1]}
    return tf.raw_ops.Conv2DBackpropInput(input_sizes=[1, 12, 12, 4], filter=tf.ones([3, 3, 4, 3]), out_backprop=x, **words)


def keras_conv():
    """Return a Conv2D of Keras that was built for three channels."""
    layer = tf.keras.layers.Conv2D(4, 3, name="conv")
    layer.build((None, 8, 8, 3))
    return layer


ones, layers = np.ones((1, 8, 8, 3), np.float32), tf.keras.layers

CALLS = [
    ("PyTorch", "padding_same_with_stride_in_pytorch", lambda: torch.nn.Conv2d(3, 4, 3, stride=2, padding="same")),
    ("PyTorch", "padding_same_with_stride_in_pytorch", lambda: F.conv2d(tx, tw, stride=2, padding="same")),
    ("PyTorch", "nhwc_or_nchw", lambda: F.conv2d(torch.ones(1, 4, 8, 8), tw)),
    ("PyTorch", "dilated_grouped_depthwise", lambda: torch.nn.Conv2d(3, 4, 3, groups=2)),
    ("PyTorch", "sizes_parameters_flops", lambda: F.conv2d(torch.ones(1, 3, 2, 2), tw)),
    ("PyTorch", "output_padding", lambda: F.conv_transpose2d(tx, torch.ones(3, 4, 3, 3), output_padding=1)),
    ("PyTorch", "converting_transposed_filters", lambda: F.conv_transpose2d(tx, tw)),
    ("PyTorch", "nhwc_or_nchw", lambda: F.conv2d(torch.ones(1, 8, 8, 3), tw)),
    ("PyTorch", "does_a_pool_pad_with_zeros", lambda: F.max_pool2d(tx, 3, padding=2)),
    ("PyTorch", "does_a_pool_pad_with_zeros", lambda: F.max_pool1d(torch.ones(1, 3, 8), 3, padding=2)),
    ("PyTorch", "why_ceil_mode_gives_one_more", lambda: F.max_pool2d(tx, 9)),
    ("PyTorch", "average_pool_at_the_border", lambda: F.avg_pool2d(tx, 2, divisor_override=0)),
    ("PyTorch", "average_pool_at_the_border", lambda: F.avg_pool2d(tx.int(), 2)),
    ("PyTorch", "which_eps_and_momentum", lambda: torch.nn.BatchNorm2d(3)(torch.ones(1, 3, 1, 1))),
    ("PyTorch", "which_eps_and_momentum", lambda: torch.nn.BatchNorm2d(4)(tx)),
    ("PyTorch", "the_order_of_the_sides", lambda: F.pad(tx, (8, 0, 0, 0), "reflect")),
    ("PyTorch", "the_order_of_the_sides", lambda: F.pad(tx, (9, 0, 0, 0), "circular")),
    ("PyTorch", "the_order_of_the_sides", lambda: F.pad(tx, (1, 1), "reflect")),
    ("PyTorch", "the_order_of_the_sides", lambda: F.pad(tx, (1, 1), "symmetric")),
    ("PyTorch", "circular_transposed", lambda: torch.nn.ConvTranspose2d(3, 4, 3, padding_mode="circular")),
    ("PyTorch", "mat1_and_mat2_shapes", lambda: F.linear(tx, torch.ones(5, 192))),
    ("PyTorch", "nhwc_or_nchw", lambda: F.conv2d(torch.ones(8, 8), tw)),
    ("PyTorch", "one_dimensional", lambda: F.conv1d(tx, torch.ones(4, 3, 3))),
    ("PyTorch", "howto/port_a_network", lambda: F.conv2d(tx.double(), tw)),
    ("PyTorch", "howto/port_a_network", lambda: F.conv2d(tx.double(), tw, torch.ones(4))),
    ("PyTorch", "howto/layer_by_layer", lambda: F.conv2d(tx.byte(), tw, torch.ones(4))),
    ("PyTorch", "float16_nan", lambda: F.conv2d(tx.half(), tw, torch.ones(4))),
    ("PyTorch", "mat1_and_mat2_shapes", lambda: F.linear(tx.double(), torch.ones(5, 8))),
    ("PyTorch", "dilated_grouped_depthwise", lambda: F.conv2d(tx, tw, torch.ones(3))),
    ("PyTorch", "the_order_of_the_sides", lambda: F.conv2d(tx, tw, padding=(1, 1, 1, 1))),
    ("PyTorch", "padding_same_with_stride_in_pytorch", lambda: torch.nn.Conv2d(3, 4, 3, padding="SAME")),
    ("PyTorch", "converting_filters", lambda: torch.nn.Conv2d(3, 4, 3).load_state_dict({"weight": torch.ones(3, 3, 3, 4), "bias": torch.ones(4)})),
    ("PyTorch", "converting_filters", lambda: torch.nn.Conv2d(3, 4, 3).load_state_dict({"kernel": tw})),
    ("PyTorch", "howto/layer_by_layer", lambda: torch.from_numpy(ones[..., ::-1])),
    ("PyTorch", "howto/port_a_network", lambda: torch.nn.Conv2d(3, 4, 3)(jx)),
    ("PyTorch", "nhwc_or_nchw", lambda: tx.permute(2, 0, 1)),
    ("PyTorch", "dense_after_flatten", lambda: tx.permute(0, 2, 3, 1).view(1, -1)),
    ("PyTorch", "u_net_one_pixel_short", lambda: torch.cat([tx, tx[..., :7]], 1)),
    ("PyTorch", "u_net_one_pixel_short", lambda: tx + tx[..., :7]),
    ("PyTorch", "output_padding", lambda: torch.nn.ConvTranspose2d(3, 4, 3, 2, 1)(tx, output_size=(20, 20))),
    ("PyTorch", "which_eps_and_momentum", lambda: torch.nn.BatchNorm2d(3)(tx[0])),
    ("PyTorch", "howto/layer_by_layer", lambda: torch.nn.LayerNorm(3)(tx)),
    ("PyTorch", "howto/layer_by_layer", lambda: F.group_norm(tx, 2)),
    ("PyTorch", "howto/layer_by_layer", lambda: F.prelu(tx, torch.ones(4))),
    ("PyTorch", "resize", lambda: F.interpolate(tx, scale_factor=2, mode="nearest", align_corners=True)),
    ("PyTorch", "depth_to_space_or_pixelshuffle", lambda: F.pixel_shuffle(tx, 2)),
    ("PyTorch", "why_is_my_gradient_none", lambda: tx.sum().backward()),
    ("PyTorch", "why_is_my_gradient_none", lambda: torch.nn.Conv2d(3, 4, 3)(tx).numpy()),
    ("TensorFlow", "four_strides", lambda: tf.nn.conv2d(x, w, [1, 2, 2, 2], "SAME")),
    ("TensorFlow", "four_strides", lambda: tf.nn.conv2d(x, w, [2, 2, 2], "SAME")),
    ("TensorFlow", "same_or_valid", lambda: tf.nn.conv2d(x, w, 1, "same")),
    ("TensorFlow", "dilated_grouped_depthwise", lambda: tf.nn.conv2d(x, tf.ones([3, 3, 2, 4]), 1, "SAME")),
    ("TensorFlow", "why_output_shape", lambda: tf.nn.conv2d_transpose(x, tf.ones([3, 3, 4, 3]), [1, 17, 17, 4], 2)),
    ("TensorFlow", "why_output_shape", lambda: tf.nn.conv2d_transpose(x, tf.ones([3, 3, 4, 3]), strides=2)),
    ("TensorFlow", "converting_transposed_filters", lambda: tf.nn.conv2d_transpose(x, w, [1, 16, 16, 4], 2)),
    ("TensorFlow", "sizes_parameters_flops", lambda: tf.nn.conv2d(tf.ones([1, 2, 2, 3]), tf.ones([4, 4, 3, 4]), 1, "VALID")),
    ("TensorFlow", "does_a_pool_pad_with_zeros", lambda: tf.nn.max_pool(x, 2, 1, [[0, 0], [2, 0], [0, 0], [0, 0]])),
    ("TensorFlow", "average_pool_at_the_border", lambda: tf.nn.avg_pool(x, 2, 1, [[0, 0], [1, 1], [1, 1], [0, 0]])),
    ("TensorFlow", "average_pool_at_the_border", lambda: tf.nn.avg_pool(tf.ones([1, 4, 4, 1], tf.int32), 2, 2, "SAME")),
    ("TensorFlow", "the_order_of_the_sides", lambda: tf.pad(x, [[0, 0], [8, 0], [0, 0], [0, 0]], "REFLECT")),
    ("TensorFlow", "the_order_of_the_sides", lambda: tf.pad(x, [[1, 1], [1, 1]])),
    ("TensorFlow", "the_order_of_the_sides", lambda: tf.pad(x, [[0, 0], [1, 1], [1, 1], [0, 0]], "EDGE")),
    ("TensorFlow", "sizes_parameters_flops", lambda: tf.function(tf.nn.conv2d)(tf.ones([1, 2, 2, 3]), w, 1, "VALID")),
    ("TensorFlow", "nhwc_or_nchw", lambda: tf.nn.conv2d(tf.ones([1, 3, 8, 8], "float64"), tf.cast(w, "float64"), 1, "SAME", "NCHW")),
    ("TensorFlow", "why_output_shape", lambda: tf.zeros(tf.TensorShape([None, 3]))),
    ("TensorFlow", "four_strides", lambda: tf.nn.depthwise_conv2d(tf.cast(x, "float64"), tf.ones([3, 3, 3, 1], "float64"), [1, 1, 2, 1], "SAME")),
    ("TensorFlow", "howto/port_a_network", lambda: tf.nn.conv2d(tf.cast(x, "float64"), w, 1, "SAME")),
    ("TensorFlow", "howto/layer_by_layer", lambda: tf.nn.conv2d(tf.ones([1, 8, 8, 3], "uint8"), w, 1, "SAME")),
    ("TensorFlow", "sizes_parameters_flops", lambda: tf.nn.bias_add(x, tf.ones([4]))),
    ("TensorFlow", "u_net_one_pixel_short", lambda: tf.concat([x, x[:, :7]], 3)),
    ("TensorFlow", "u_net_one_pixel_short", lambda: x + x[:, :7]),
    ("TensorFlow", "dense_after_flatten", lambda: tf.reshape(x, [1, 100])),
    ("TensorFlow", "howto/port_from_tensorflow_1", lambda: tf.contrib.layers.conv2d(x, 4, 3)),
    ("TensorFlow", "howto/port_from_tensorflow_1", lambda: tf.placeholder("float32", [None, 8, 8, 3])),
    ("TensorFlow", "howto/port_from_tensorflow_1", lambda: tf.compat.v1.placeholder("float32", [None, 8, 8, 3])),
    ("TensorFlow", "howto/port_from_tensorflow_1", lambda: tf.compat.v1.layers.conv2d(x, 4, 3)),
    ("TensorFlow", "howto/port_from_tensorflow_1", lambda: tf.image.resize_bilinear(x, [16, 16])),
    ("Keras", "nhwc_or_nchw", lambda: keras_conv()(tf.ones([1, 3, 8, 8]))),
    ("Keras", "mat1_and_mat2_shapes", lambda: tf.keras.Sequential([tf.keras.Input((192,)), layers.Dense(5, name="dense")])(tf.ones([1, 243]))),
    ("Keras", "converting_filters", lambda: keras_conv().set_weights([np.ones((4, 3, 3, 3)), np.ones(4)])),
    ("Keras", "converting_filters", lambda: keras_conv().set_weights([np.ones((3, 3, 3, 4))])),
    ("Keras", "u_net_one_pixel_short", lambda: layers.Concatenate()([tf.keras.Input((8, 8, 3)), tf.keras.Input((7, 8, 3))])),
    ("Keras", "u_net_one_pixel_short", lambda: layers.Add()([tf.keras.Input((8, 8, 3)), tf.keras.Input((7, 8, 3))])),
    ("Keras", "howto/layer_by_layer", lambda: layers.PReLU(name="prelu")(tf.keras.Input((None, None, 3)))),
    ("Keras", "what_does_tf_function_change", lambda: tf.nn.relu(tf.keras.Input((8, 8, 3)))),
    ("Keras", "same_or_valid", lambda: tf.keras.layers.Conv2D(4, 3, padding=1)),
    ("Keras", "dilated_grouped_depthwise", lambda: tf.keras.layers.Conv2D(4, 3, strides=2, dilation_rate=2)),
    ("Keras", "output_padding", lambda: tf.keras.layers.Conv2DTranspose(4, 3, strides=2, output_padding=2)),
    ("Keras", "dilated_grouped_depthwise", lambda: tf.keras.layers.Conv2D(4, 3, groups=3)),
    ("Keras", "sizes_parameters_flops", lambda: tf.keras.Sequential([tf.keras.Input((2, 2, 3)), tf.keras.layers.Conv2D(4, 3)])),
    ("Keras", "nhwc_or_nchw", lambda: tf.keras.layers.Conv2D(4, 3, name="conv")(tf.ones([28, 28]))),
    ("JAX", "jax_conv_transpose_padding", lambda: jax.lax.conv_transpose(np.ones((1, 5, 5, 3), np.float32), np.ones((3, 3, 2, 3), np.float32), (2, 2), "SAME")),
    ("JAX", "nhwc_or_nchw", lambda: jax.lax.conv_general_dilated(np.ones((1, 8, 8, 3), np.float32), jw, (1, 1), "SAME")),
    ("JAX", "four_strides", lambda: jax.lax.conv_general_dilated(jx, jw, (1, 2, 2, 1), "SAME")),
    ("JAX", "same_or_valid", lambda: jax.lax.conv_general_dilated(jx, jw, (1, 1), "SMAE")),
    ("JAX", "does_a_pool_pad_with_zeros", lambda: jax.lax.reduce_window(jx, -np.inf, jax.lax.max, (2, 2), (2, 2), "SAME")),
    ("JAX", "the_order_of_the_sides", lambda: jax.numpy.pad(jx, -1)),
    ("ONNX Runtime", "the_order_of_the_sides", lambda: onnx_pad([0, 0, 8, 0, 0, 0, 0, 0], "reflect")),
    ("ONNX Runtime", "the_order_of_the_sides", lambda: onnx_pad([1, 1, 1, 1], "edge")),
    ("ONNX Runtime", "does_a_pool_pad_with_zeros", lambda: onnx_pool(pads=[2, 0, 0, 0])),
    ("ONNX Runtime", "why_ceil_mode_gives_one_more", lambda: onnx_pool(strides=[2, 2], pads=[1, 1])),
    ("ONNX Runtime", "onnx_auto_pad", lambda: onnx_conv(auto_pad="SAME_UPPER", dilations=[2, 2])),
    ("ONNX Runtime", "onnx_auto_pad", lambda: onnx_conv(auto_pad="SAME")),
    ("ONNX Runtime", "dilated_grouped_depthwise", lambda: onnx_conv(group=2)),
    ("ONNX Runtime", "output_padding", lambda: onnx_conv("ConvTranspose", output_padding=[1, 1], strides=[1, 1])),
    ("ONNX Runtime", "nhwc_or_nchw", lambda: onnx_run({"x": jx[0]})),
    ("ONNX Runtime", "nhwc_or_nchw", lambda: onnx_run({"x": ones})),
    ("ONNX Runtime", "nhwc_or_nchw", lambda: onnx_run({"x": ones}, shape=("n", "c", "h", "w"))),
    ("ONNX Runtime", "howto/port_a_network", lambda: onnx_run({"x": jx.astype("float64")})),
    ("ONNX Runtime", "howto/port_a_network", lambda: onnx_run({"input": jx})),
    ("ONNX Runtime", "howto/port_a_network", lambda: onnx_run({"x": jx.astype("float64")}, type=TensorProto.DOUBLE)),
    ("ONNX Runtime", "howto/port_a_network", lambda: onnx_run({"x": jx}, ir_version=99)),
    ("TFLite", "howto/port_to_tflite", lambda: tflite_run(ones, shape=[1, 8, 8, 4])),
    ("TFLite", "howto/port_to_tflite", lambda: tflite_run(ones, lambda x: tf.nn.depthwise_conv2d(x, tf.ones([3, 3, 3, 1]), [1] * 4, "SAME"), [1, 8, 8, 4])),
    ("TFLite", "howto/port_to_tflite", lambda: tflite_run(ones, lambda x: tf.nn.conv2d_transpose(x, tf.ones([3, 3, 4, 3]), [1, 16, 16, 4], 2), [1, 8, 8, 4])),
    ("TFLite", "u_net_one_pixel_short", lambda: tflite_run(ones, lambda x: tf.concat([x, tf.ones([1, 8, 8, 2])], 3), [1, 7, 8, 3])),
    ("TFLite", "howto/port_to_tflite", lambda: tflite_run(ones[0])),
    ("TFLite", "howto/port_to_tflite", lambda: tflite_run(jx)),
    ("TFLite", "howto/port_to_tflite", lambda: tflite_run(ones.astype("float64"))),
    ("TFLite", "howto/port_to_tflite", lambda: tflite_run(ones, allocate=False)),
    ("TFLite", "howto/port_to_tflite", lambda: tflite_run(ones, allocate=False, invoke=True)),
    ("TFLite", "howto/port_to_tflite", lambda: tflite_model(dilated_transpose)),
    ("TFLite", "howto/port_to_tflite", lambda: tflite_model(dilated_transpose, select=True).allocate_tensors()),
]


def source_of(call, lines):
    """Return the text of a call as it stands in CALLS."""
    return re.search(r"lambda: (.*)\),$", lines[call.__code__.co_firstlineno - 1])[1]


def message(error):
    """Return an error's text without addresses, paths and repeated blanks, at most 400 characters."""
    text = re.sub(r"\x1b\[[\d;]*m", "", str(error))  # colours of a terminal
    text = re.sub(r"0x[0-9a-f]+", "0x…", " ".join(text.split()))
    return re.sub(r"(?:\b[a-z_]+)?(?:/\.?\w[\w.-]*)+/", "", text)[:400]


def main():
    """Write errors.json."""
    lines = Path(__file__).read_text(encoding="utf-8").split("\n")
    entries = []
    for framework, page, call in CALLS:
        entry = {"framework": framework, "page": page, "call": source_of(call, lines)}
        try:
            call()
        except Exception as error:
            entries.append({**entry, "error": type(error).__name__, "message": message(error)})
        else:
            print("no error:", entry)
    names = ("torch", "tensorflow-cpu", "keras", "jax", "onnxruntime", "ai-edge-litert")
    recorded = {"versions": {name: version(name) for name in names}, "errors": entries}
    text = json.dumps(recorded, indent=1, ensure_ascii=False)
    (Path(__file__).parents[2] / "tests" / "recorded" / "errors.json").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
