"""Every name of teachconv.tf has TensorFlow's signature: names, order, kinds and defaults of the parameters.

tools/recorders/record_tensorflow_signatures.py recorded TensorFlow's side, and has the function that reads a signature.
"""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest
from recorders import record_tensorflow_signatures as script

import teachconv.tf as tf
from teachconv.tf.python.ops import gen_nn_ops

FOLDER = Path(__file__).parents[1] / "recorded"
RECORDED = json.loads((FOLDER / "tensorflow_signatures.json").read_text())["signatures"]
MODULES = ["", "nn", "math", "random", "config", "compat.v1", "compat.v1.nn", "compat.v1.math"]
MODULES += ["compat.v1.app", "compat.v1.random", "compat.v1.train", "compat.v1.image", "compat.v1.losses"]
MODULES += ["compat.v1.metrics", "compat.v1.summary", "image", "keras"]
MODULES += [f"keras.{name}" for name in tf.keras.__all__ if inspect.ismodule(getattr(tf.keras, name))]


def offered():
    """Yield the full name and the object of every function and class that a module of teachconv.tf offers."""
    for path in MODULES:
        module = tf
        for part in path.split(".") if path else []:
            module = getattr(module, part)
        for name in module.__all__:
            thing = getattr(module, name)
            if callable(thing) and not isinstance(thing, np.dtype):
                yield f"{path}.{name}".strip("."), thing


OFFERED = dict(offered())
# Classes whose objects the runtime makes (Tensor), that are protocol buffers or enumerations in TensorFlow, or NumPy's
NOT_CALLED = {"DType", "EagerTensor", "Operation", "Tensor", "UnconnectedGradients"}
NOT_CALLED |= {"ConfigProto", "GPUOptions", "GraphKeys", "RunMetadata", "RunOptions"}
CALLED = {name: thing for name, thing in OFFERED.items() if name.removeprefix("compat.v1.") not in NOT_CALLED}
# Keras's base classes take any arguments, ours say which; `get` of metrics here needs the shapes, as compile has them
BASES = {
    "keras.Model",
    "keras.models.Model",
    "keras.layers.Layer",
    "keras.losses.Loss",
    "keras.metrics.Metric",
}
BASES |= {
    "keras.metrics.get",
    "compat.v1.train.Optimizer",
    "keras.metrics.Mean",
    "keras.optimizers.Optimizer",
    "keras.callbacks.Callback",
}
# what teachconv.keras has and tf.keras has not
OURS = {f"keras.losses.{name}" for name in ("kl_divergence", "mean_absolute_error", "mean_squared_error")}
NO_PLACE_HERE = ("<AUTO>", "<NONE>")  # defaults of options that can only be left out, and are None here


def same(name, ours, theirs):
    """Assert that two lists of parameters are the same; a default that JSON does not have is any object."""
    assert [p[:2] for p in ours] == [p[:2] for p in theirs], name
    for mine, other in zip(ours, theirs, strict=True):
        assert len(mine) == len(other), (name, mine, other)
        if mine != other and "<object>" not in (mine[2], other[2]):
            assert other[2] in (f"<dtype {mine[2]}>", *(NO_PLACE_HERE if mine[2] is None else ())), (
                name,
                mine,
                other,
            )


def is_keras(name):
    return name.startswith("keras.")


def test_signatures():
    for name in sorted(name for name in set(CALLED) - BASES if not is_keras(name)):
        assert name in RECORDED, f"{name} is not recorded: is it TensorFlow's?"
        same(name, script.parameters(CALLED[name]), RECORDED[name]["parameters"])


@pytest.mark.parametrize("name", sorted(set(filter(is_keras, CALLED)) - BASES - OURS))
def test_signature_of_keras(name):
    """What can be given by position is Keras's beginning; what can be given by name is Keras's, with its default."""
    assert name in RECORDED, f"{name} is not recorded: is it Keras's?"
    theirs = [p for p in RECORDED[name]["parameters"] if not p[1].startswith("VAR_")]
    ours = [p for p in script.parameters(CALLED[name]) if not p[1].startswith("VAR_")]
    positional = [p[0] for p in ours if p[1] == "POSITIONAL_OR_KEYWORD"]
    assert positional == [p[0] for p in theirs][: len(positional)]
    defaults = {p[0]: p[2:] for p in theirs}
    for parameter, _, *default in ours:
        assert parameter in defaults, (name, parameter)
        same = ([], defaults[parameter], [one_for_all_axes(value) for value in defaults[parameter]])
        if (parameter, default) == ("name", [None]) and name.split(".")[1] in ("losses", "metrics"):
            default = [CALLED[name]().name]  # None stands for it
        assert default in same, (name, parameter)


def one_for_all_axes(value):
    """(1, 1) and (1, 1, 1) as 1, which means the same: layers of all ranks have one signature here."""
    return value[0] if isinstance(value, list) and len({*map(str, value)}) == 1 else value


def test_keras_is_teachconv_keras():
    import teachconv.keras
    import teachconv.tf.keras.layers
    from teachconv.tf.keras import layers

    assert layers.Conv2D is teachconv.keras.layers.Conv2D
    assert teachconv.tf.keras.layers is layers


GENERATED = sorted(name for name in RECORDED if name.startswith("python.ops.gen_nn_ops."))


@pytest.mark.parametrize("name", GENERATED)
def test_generated_signature(name):
    """As above, but for attributes that one side has: ``use_cudnn_on_gpu``, and ``_kernel`` and Conv3D's padding."""
    ours = script.parameters(getattr(gen_nn_ops, name.rpartition(".")[2]))
    theirs = [p for p in RECORDED[name]["parameters"] if p[0] != "use_cudnn_on_gpu"]
    names = {p[0] for p in theirs}
    ours = [p for p in ours if p[0] not in {"_kernel", "explicit_paddings"} - names]
    same(name, ours, theirs)
