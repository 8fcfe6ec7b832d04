"""Small whole files of each format that teachconv reads, and seeded damage to them."""

import io
import json
import zipfile

import numpy as np

import teachconv as tc
from teachconv import keras
from teachconv.networks import recorder

VALUES = (
    None,
    True,
    -1,
    0,
    3,
    2**40,
    2**70,
    1e308,
    "",
    "x",
    "\0",
    [],
    {},
    [[]],
    [1, 2, 3],
    {"array": "none"},
)


def damaged(data, rng):
    """The bytes with one to four changes: cut, a bit flipped, repeated, spliced, or a number made enormous."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place, way = rng.randrange(len(data) + 1), rng.randrange(6)
        if way == 0:
            del data[place:]
        elif way == 1 and place < len(data):
            data[place] ^= 1 << rng.randrange(8)
        elif way == 2:
            data[place:place] = data[place : place + rng.randrange(64)]
        elif way == 3:
            data[place : place + rng.randrange(16)] = rng.randbytes(rng.randrange(16))
        elif way == 4:
            data[place : place + 1] = b"\xff" * rng.randint(1, 9) + b"\x01"  # a varint of up to 64 bits
        else:
            del data[place : place + rng.randrange(32)]
    return bytes(data)


def flipped(data, rng):
    """The bytes with one bit flipped."""
    data = bytearray(data)
    data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def places(value):
    """Every (container, key) of nested lists and dictionaries."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield value, key
        yield from places(item)


def with_wrong_fields(text, rng):
    """JSON with one to three fields left out, exchanged, or of another type."""
    value = json.loads(text)
    for _ in range(rng.randint(1, 3)):
        known = [*places(value)]
        if not known:
            break
        container, key = rng.choice(known)
        other, from_ = rng.choice(known)
        way = rng.randrange(3)
        if way == 0:
            del container[key]
        elif way == 1:
            container[key] = rng.choice(VALUES)
        else:
            container[key] = json.loads(json.dumps(other[from_]))
    return json.dumps(value)


# ---------------------------------------------------------------------------------------------
# Whole files
# ---------------------------------------------------------------------------------------------

X = np.random.default_rng(0).standard_normal((1, 6, 6, 2), dtype="float32")


def network():
    """A small network of teachconv.keras, with seeded weights."""
    model = keras.Sequential(
        [
            keras.Input((6, 6, 2)),
            keras.layers.Conv2D(3, 3, padding="same", activation="relu", name="first"),
            keras.layers.MaxPooling2D(2, name="pool"),
            keras.layers.BatchNormalization(name="norm"),
            keras.layers.Flatten(name="flat"),
            keras.layers.Dense(2, name="last"),
        ]
    )
    rng = np.random.default_rng(1)
    model.set_weights([abs(rng.standard_normal(w.shape)).astype("float32") for w in model.get_weights()])
    return model


def recording(path):
    """Write a recording of the network."""
    recorder.save(path, recorder.record_keras(network(), X))


def repacked(data, change):
    """An .npz archive whose members are what ``change`` makes of their names and arrays."""
    made = io.BytesIO()
    with np.load(io.BytesIO(data)) as file, zipfile.ZipFile(made, "w") as archive:
        for name in file.files:
            with archive.open(f"{name}.npy", "w") as member:
                np.lib.format.write_array(member, change(name, file[name]))
    return made.getvalue()


def recording_with_wrong_fields(data, rng):
    """A recording that is a whole archive, in which calls or arrays are of other forms."""
    chosen = rng.randrange(3)

    def change(name, array):
        if name == "layers":
            return np.array(with_wrong_fields(str(array), rng)) if chosen else array
        ways = (
            array.T,
            array.ravel(),
            array.astype("U3"),
            array.astype("int8"),
            array[:0],
            array.astype("M8[s]"),
        )
        return rng.choice(ways) if chosen != 1 and rng.random() < 0.3 else array

    return repacked(data, change)


def onnx_network():
    """The network as ONNX."""
    return tc.to_onnx(network()).SerializeToString()


def tflite():
    """A TFLite file of one convolution with a relu, written with the schema alone."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    def tensor(name, shape, buffer):
        made = schema.TensorT()
        made.name, made.shape, made.buffer, made.type = name.encode(), list(shape), buffer, 0
        return made

    filters = np.random.default_rng(2).standard_normal((3, 3, 3, 2), dtype="float32")
    model, graph, operator, code = (
        schema.ModelT(),
        schema.SubGraphT(),
        schema.OperatorT(),
        schema.OperatorCodeT(),
    )
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.CONV_2D
    options = schema.Conv2DOptionsT()
    options.padding, options.strideH, options.strideW, options.fusedActivationFunction = 0, 1, 1, 1
    options.dilationHFactor = options.dilationWFactor = 1
    operator.opcodeIndex, operator.inputs, operator.outputs = 0, [0, 1, 2], [3]
    operator.builtinOptionsType, operator.builtinOptions = schema.BuiltinOptions.Conv2DOptions, options
    graph.tensors = [
        tensor("x", X.shape, 0),
        tensor("w", filters.shape, 1),
        tensor("b", (3,), 2),
        tensor("y", (1, 6, 6, 3), 0),
    ]
    graph.inputs, graph.outputs, graph.operators = [0], [3], [operator]
    buffers = []
    for array in (None, filters, np.float32([1, 2, 3])):
        buffer = schema.BufferT()
        buffer.data = None if array is None else list(array.tobytes())
        buffers.append(buffer)
    model.version, model.subgraphs, model.operatorCodes, model.buffers = 3, [graph], [code], buffers
    builder = flatbuffers.Builder(0)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())
