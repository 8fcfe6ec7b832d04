"""Quantize a network with TensorFlow's converter, ruin one scale, and let `compare` say which layer's quantization hurts.

    KERAS_BACKEND=tensorflow python evaluation/quantized_layers.py docs/recorded/quantized_layers.txt

tests/peers/test_quantized_networks_live.py checks the same files.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

import teachconv as tc

KINDS = ("int8", "float ends", "16x8")


def built():
    """A network with every layer that has integers of its own, and one with dilation."""
    from keras import Input, Model, Sequential, layers, utils

    utils.set_random_seed(0)
    start = Input((16, 16, 3))
    y = layers.Conv2D(8, 3, padding="same", activation="relu", name="stem")(start)
    y = layers.DepthwiseConv2D(3, 2, padding="same", name="depthwise")(y)
    y = layers.BatchNormalization(name="norm")(y)
    y = layers.ReLU(6.0, name="relu6")(y)
    y = layers.Add(name="sum")([y, layers.Conv2D(8, 1, name="pointwise")(y)])
    y = layers.MaxPooling2D(2, name="pool")(y)
    y = layers.Conv2DTranspose(6, 3, 2, padding="same", activation="relu", name="up")(y)
    y = layers.AveragePooling2D(2, name="average")(y)
    y = layers.Dense(10, kernel_initializer="random_normal", name="dense")(layers.Flatten()(y))
    model = Model(start, layers.Softmax(name="softmax")(y))
    model.get_layer("dense").set_weights([40 * array for array in model.get_layer("dense").get_weights()])
    layer = layers.Conv2D(8, 3, padding="same", dilation_rate=2, name="dilated")
    return model, Sequential([Input(batch_shape=(1, 16, 16, 3)), layer])


def image(seed):
    """A seeded input."""
    return np.random.default_rng(seed).standard_normal((1, 16, 16, 3)).astype("float32")


def converted(network, kind):
    """The network as float, as full int8, as int8 with floats at both ends, or as 16x8."""
    import tensorflow

    converter, operations = tensorflow.lite.TFLiteConverter.from_keras_model(network), tensorflow.lite.OpsSet
    if kind != "float":
        converter.optimizations = [tensorflow.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([image(seed)] for seed in range(20))
    if kind == "int8":
        converter.target_spec.supported_ops = [operations.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tensorflow.int8
    if kind == "16x8":
        wide = operations.EXPERIMENTAL_TFLITE_BUILTINS_ACTIVATIONS_INT16_WEIGHTS_INT8
        converter.target_spec.supported_ops = [wide]
    return converter.convert()


def write(folder):
    """Write the networks, and the files of TensorFlow's converter."""
    network, dilated = built()
    network.save(folder / "network.keras")
    dilated.save(folder / "dilated.keras")
    for kind in ("float", *KINDS):
        (folder / f"{kind}.tflite").write_bytes(converted(network, kind))
    (folder / "dilated.tflite").write_bytes(converted(dilated, "int8"))


def changed(path, operator, change):
    """Write a file in which the first operator of a kind has another weight, scale or zero point.

    Returns the file, and the name of the operator's result.
    """
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    model = schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)
    graph, number = model.subgraphs[0], getattr(schema.BuiltinOperator, operator)
    codes = [max(code.builtinCode, code.deprecatedBuiltinCode) for code in model.operatorCodes]
    first = next(one for one in graph.operators if codes[one.opcodeIndex] == number)
    weights, y = (graph.tensors[at] for at in (first.inputs[1], first.outputs[0]))
    if change == "weight":
        data = np.array(model.buffers[weights.buffer].data, "uint8")
        data[0] += 64
        model.buffers[weights.buffer].data = data
    elif change == "weight scale":
        weights.quantization.scale = np.array(weights.quantization.scale) * np.float32(1.5)
    elif change == "zero point":
        y.quantization.zeroPoint = np.array(y.quantization.zeroPoint) + 9
    elif change == "scale":  # eight times too small
        y.quantization.scale = np.array(y.quantization.scale) / 8
    builder = flatbuffers.Builder(0)
    builder.Finish(model.Pack(builder), b"TFL3")
    (other := path.with_name("changed.tflite")).write_bytes(bytes(builder.Output()))
    return other, y.name.decode().split(";")[0]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        network, _ = built()
        good = Path(name) / "int8.tflite"
        good.write_bytes(converted(network, "int8"))
        bad, _ = changed(good, "DEPTHWISE_CONV_2D", "scale")
        text = "\n\n".join(str(tc.compare(network, path, image(99))) for path in (good, bad))
    Path(sys.argv[1]).write_text(text + "\n", encoding="utf-8")
