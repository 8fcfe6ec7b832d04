"""The errors of the modules of teachconv.tf for names that they do not have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from operator import attrgetter
from typing import Any

from ..graph.options import no_name

__all__ = ["module_getattr"]

_TF = __name__.rpartition(".")[0]
_OF_KERAS = {  # names of tf's root -> those in tf.keras
    **{name: name for name in ("initializers", "losses", "metrics", "optimizers")},
    "random_normal_initializer": "initializers.RandomNormal",
}
_ARRAYS = "NumPy arrays, which fit and functions take"
# what is nearest to names of TensorFlow's that many programs use, by their last part
_INSTEAD = {
    **dict.fromkeys(("io", "image_dataset_from_directory"), _ARRAYS),
    **dict.fromkeys(("strings", "ragged", "sparse", "SparseTensor", "RaggedTensor", "TensorArray"), _ARRAYS),
    **dict.fromkeys(("saved_model", "lite"), "teachconv.to_onnx"),
    **dict.fromkeys(("while_loop", "scan", "foldl"), "a Python loop, whose rounds a traced function holds"),
    **dict.fromkeys(("map_fn", "vectorized_map"), "an op on the whole batch"),
    **dict.fromkeys(("cond", "case", "switch_case"), "tf.where, which takes both results"),
    **dict.fromkeys(("py_function", "numpy_function", "py_func"), "eager tensors and their numpy()"),
    **dict.fromkeys(("einsum", "tensordot", "linalg"), "tf.matmul, tf.transpose and tf.reshape"),
    **dict.fromkeys(("swish", "silu"), "x * tf.sigmoid(x)"),
    **dict.fromkeys(("selu", "gelu"), "tf.nn.elu"),
    **dict.fromkeys(("reverse", "roll"), "slices, such as x[:, ::-1]"),
    **dict.fromkeys(("eye", "linspace"), "tf.constant of NumPy's array"),
    **dict.fromkeys(("local_response_normalization", "lrn"), "tf.nn.l2_normalize"),
    **dict.fromkeys(("atan2", "cos", "sin"), "NumPy's function, for values that are fed"),
    "norm": "tf.sqrt(tf.reduce_sum(tf.square(x)))",
    "clip_by_global_norm": "tf.clip_by_norm, for each gradient",
    "flags": "Python's argparse",
    "gfile": "Python's open and pathlib",
    "in_top_k": "tf.equal(tf.argmax(predictions, 1), targets)",
    "orthogonal_initializer": "tf.compat.v1.glorot_uniform_initializer",
    "placeholder_with_default": "tf.compat.v1.placeholder",
    **dict.fromkeys(
        ("print", "debugging", "Assert"), "Python's own, where tensors have values: outside of a tf.function"
    ),
    "custom_gradient": "tf.RegisterGradient, and gradient_override_map of a graph",
    "Module": "tf.keras.layers.Layer",
    "raw_ops": "teachconv.graph.gen_nn_ops",
    "distribute": "tf.device",
    "feature_column": "tf.one_hot",
    "contrib": "tf.compat.v1.layers",
    "v2": "teachconv.tf, which has the names of TensorFlow 2",
}


def module_getattr(module: str, known: Iterable[str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a module: it refuses names, or imports a module on demand.

    Args:
        module: the module's name.
        known: the names that are public in the module.

    Returns:
        A function of the name, which raises ``AttributeError`` with the nearest name that exists.

    >>> module_getattr("tf.nn", ["relu"])("relu7")
    Traceback (most recent call last):
        ...
    AttributeError: tf.nn has no 'relu7', only what convolutional networks need (did you mean "relu"?)
    """

    def look_up(name: str) -> Any:
        if name in known:
            of_keras = _OF_KERAS.get(name)
            if of_keras is None:
                return import_module(f"{_TF}.{name}")
            return attrgetter(of_keras)(import_module(f"{_TF}.keras"))
        instead = _INSTEAD.get(name) or _elsewhere(name)
        no_name(module, name, known, instead, why=", only what convolutional networks need")

    return look_up


def _elsewhere(name: str) -> str:
    """Return where another module of teachconv.tf has a name, or "" if none has it.

    >>> _elsewhere("softmax"), _elsewhere("placeholder"), _elsewhere("softermax")
    ('tf.nn.softmax', 'tf.compat.v1.placeholder', '')
    """
    version_1 = (f".compat.v1{below}" for below in ("", ".train", ".image", ".losses"))
    places = ("", ".nn", ".math", ".random", ".image", ".keras.layers", *version_1)
    return next((f"tf{at}.{name}" for at in places if name in import_module(f"{_TF}{at}").__all__), "")
