"""Every name of teachconv.tf has TensorFlow's signature: names, order, kinds and defaults of the parameters.

tests/recorded/record_tensorflow_signatures.py recorded TensorFlow's side, and has the function that reads a signature.
"""

import importlib.util
import inspect
import json
from pathlib import Path

import numpy as np
import pytest

import teachconv.tf as tf
from teachconv.tf.python.ops import gen_nn_ops

FOLDER = Path(__file__).parents[1] / "recorded"
RECORDED = json.loads((FOLDER / "tensorflow_signatures.json").read_text())["signatures"]
MODULES = ["", "nn", "math", "random", "config", "compat.v1", "compat.v1.nn", "compat.v1.math"]
MODULES += ["compat.v1.random", "compat.v1.train", "keras"]
MODULES += [f"keras.{name}" for name in tf.keras.__all__ if inspect.ismodule(getattr(tf.keras, name))]


def script():
    spec = importlib.util.spec_from_file_location("signatures", FOLDER / "record_tensorflow_signatures.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


SCRIPT, OFFERED = script(), dict(offered())
# made by the runtime, not by the reader's code: TensorFlow lets nobody call them either
NOT_CALLED = {"Tensor", "EagerTensor", "Operation", "compat.v1.Tensor", "compat.v1.Operation"}


def same(name, ours, theirs):
    """Assert that two lists of parameters are the same; a default that JSON does not have is any object."""
    assert [p[:2] for p in ours] == [p[:2] for p in theirs], name
    for mine, other in zip(ours, theirs, strict=True):
        defaults = (mine[2:], other[2:])
        assert defaults[0] == defaults[1] or ["<object>"] in defaults, (name, mine, other)


@pytest.mark.parametrize("name", sorted(set(OFFERED) - NOT_CALLED))
def test_signature(name):
    assert name in RECORDED, f"{name} is not recorded: is it TensorFlow's?"
    same(name, SCRIPT.parameters(OFFERED[name]), RECORDED[name]["parameters"])


GENERATED = sorted(name for name in RECORDED if name.startswith("python.ops.gen_nn_ops."))


@pytest.mark.parametrize("name", GENERATED)
def test_generated_signature(name):
    """As above, but for two attributes: ``use_cudnn_on_gpu`` is TensorFlow's alone, ``_kernel`` ours."""
    ours = SCRIPT.parameters(getattr(gen_nn_ops, name.rpartition(".")[2]))
    theirs = [p for p in RECORDED[name]["parameters"] if p[0] != "use_cudnn_on_gpu"]
    same(name, [p for p in ours if p[0] != "_kernel"], theirs)
