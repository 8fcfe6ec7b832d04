"""What TensorFlow's and Keras' own tests import, with teachconv behind it: only forwarding, nothing is computed.

A test of TensorFlow's imports modules of tensorflow.python, such as ops.nn_ops, whose names are here looked
up among the public names of teachconv.tf. Helpers that need nothing but such names are read from the
checkout: gradient_checker_v2, the bases of tests, and Keras' test_case.py with its `run_layer_test`. What is
written here is the part of test_util.py that stands on TensorFlow's C++: sessions, `evaluate`, decorators.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace

import numpy as np
from absl.testing import absltest
from their_imports import Forward, Replacement

# of the checkout itself, read as they are
OWN = (
    "tensorflow.python.kernel_tests.",
    "tensorflow.python.ops.gradient_checker",
    "keras.src.testing.",
    "keras.src.backend.common.backend_utils",
    "keras.src.layers.convolutional.conv_test",
    "keras.src.layers.convolutional.depthwise_conv_test",
)


class Missing(Forward):
    """A name of theirs that teachconv does not have: whoever uses it is told so."""

    def __init__(self, name):
        super().__init__(name, lambda _: ())

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")


def anything(*arguments):
    """Return a function as it is: a decorator of theirs, with arguments or without, that has no meaning here."""
    return (
        arguments[0] if arguments and (callable(arguments[0]) or isinstance(arguments[0], type)) else anything
    )


def replace_tests_imports(checkout: Path) -> None:
    """Let a test of TensorFlow's or Keras' import teachconv, the helpers below, and helpers of the checkout."""
    Forward.checkout = checkout
    # TensorFlow's own functions have no default graph beside eager execution, as compat.v1 has it here
    v1 = importlib.import_module("teachconv.tf.compat.v1.default_graph")
    v1.set_default_graph = contextlib.nullcontext
    made = {"tensorflow": tensorflow_module, "keras": keras_module}
    made |= {name: made[name.partition(".")[0]] for name in OWN}
    sys.meta_path.insert(0, Replacement({}, made, checkout, OWN))


# TensorFlow


def tensorflow_module(name: str):
    """Return a module of TensorFlow's, of which every name is looked up in teachconv.tf."""
    if name == "tensorflow":
        return importlib.import_module("teachconv.tf")
    own = {
        "tensorflow.python.framework.test_util": TEST_UTIL,
        "tensorflow.python.platform.test": TEST,
        "tensorflow.python.eager.test": TEST,
        "tensorflow.python.platform.googletest": TEST,
        "tensorflow.python.eager.context": CONTEXT,
        "tensorflow.python.ops.variables": VARIABLES,
        "tensorflow.python.util.tf_export": {"tf_export": lambda *_, **__: anything},
        "tensorflow.python.util.deprecation": {"deprecated": lambda *_, **__: anything},
        "tensorflow.python.util.compat": {"collections_abc": importlib.import_module("collections.abc")},
        "tensorflow.python.framework.dtypes": {"bfloat16": bfloat16()},
        "tensorflow.python.util.numpy_compat": {"np_array": np.array, "np_asarray": np.asarray},
        "tensorflow.python.platform.tf_logging": {"vlog": no, **vars(importlib.import_module("logging"))},
    }
    return ForwardTensorFlow(name, own.get(name, {}))


class ForwardTensorFlow(Forward):
    """A module of tensorflow.python. A name that is nowhere is `Missing`, as tests import more than they use."""

    def __init__(self, name, own):
        super().__init__(name, lambda _: places(name), own)

    def __getattr__(self, name):
        if self.has_module(name):
            return importlib.import_module(f"{self.__name__}.{name}")
        for suffix, places_of in (("_v2", V2), ("_v1", V1), ("V1", V1), ("", None)):
            if name.endswith(suffix) and not name.startswith("_"):
                plain = name.removesuffix(suffix).replace("ResourceVariable", "Variable")
                for place in places_of or self._targets(plain):
                    with contextlib.suppress(AttributeError):
                        return getattr(importlib.import_module(place), plain)
        if name.startswith("__"):
            raise AttributeError(name)
        if name.endswith("Error"):
            return type(name, (Exception,), {})
        if self.__name__.endswith(".test_util"):
            return anything  # most are decorators
        return Missing(f"{self.__name__}.{name}")


V1 = ["teachconv.tf.compat.v1.nn", "teachconv.tf.compat.v1", "teachconv.tf.compat.v1.train"]
V2 = [f"teachconv.tf{below}" for below in (".nn", "", ".math", ".random", ".errors", ".dtypes", ".config")]


def places(module: str):
    """Return the modules of teachconv's in which the names of one of TensorFlow's are, the nearest first."""
    if module.endswith("gen_nn_ops"):
        return ["teachconv.graph.ops.gen_nn_ops"]
    behind = ["teachconv.graph", "teachconv.graph.nest", "teachconv.graph.gradients.gradients_util"]
    # TensorFlow's modules have the words of its first version, except where classes replaced them
    newest = module.rpartition(".")[2] in ("variables", "resource_variable_ops", "math_ops", "def_function")
    return [*V2, *V1, *behind] if newest else [*V1, *V2, *behind]


class TestCase(absltest.TestCase):
    """TensorFlowTestCase: compares what tensors evaluate to by NumPy's own checks."""

    _cached = None

    def evaluate(self, tensors):
        from teachconv import graph as tg
        from teachconv.graph import nest

        if tg.executing_eagerly():
            return nest.map_structure(lambda x: x.numpy() if hasattr(x, "numpy") else x, tensors)
        return (tg.get_default_session() or tg.Session(tg.get_default_graph())).run(tensors)

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=True, force_gpu=False):
        from teachconv import graph as tg

        if tg.executing_eagerly() and graph is None:
            yield SimpleNamespace(run=lambda fetches, *_, **__: self.evaluate(fetches), graph=None)
            return
        graph = graph or tg.get_default_graph()
        with graph.as_default(), tg.Session(graph) as session:
            yield session

    test_session = session

    @contextlib.contextmanager
    def cached_session(self, graph=None, config=None, use_gpu=True, force_gpu=False):
        from teachconv import graph as tg

        if tg.executing_eagerly():
            with self.session() as session:
                yield session
            return
        graph = tg.get_default_graph()
        if self._cached is None or self._cached.graph is not graph:
            self._cached = tg.Session(graph)
        with self._cached.as_default():
            yield self._cached

    def _array(self, x):
        return np.asarray(self.evaluate(x) if hasattr(x, "op") or hasattr(x, "numpy") else x)

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        if isinstance(a, dict):
            self.assertEqual(set(a), set(b))
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, msg)
            return
        if isinstance(a, (list, tuple)) and len({np.shape(self._array(x)) for x in a}) > 1:
            self.assertEqual(len(a), len(b))
            for x, y in zip(a, b, strict=True):
                self.assertAllClose(x, y, rtol, atol, msg)
            return
        a, b = self._array(a), self._array(b)
        self.assertEqual(a.shape, b.shape, msg)
        np.testing.assert_allclose(np.float64(a), np.float64(b), rtol, atol, err_msg=str(msg or ""))

    def assertAllCloseAccordingToType(
        self, a, b, rtol=1e-6, atol=1e-6, float_rtol=1e-6, float_atol=1e-6, half_rtol=1e-3, half_atol=1e-3,
        bfloat16_rtol=1e-2, bfloat16_atol=1e-2, msg=None,
    ):  # fmt: skip
        a, b = self._array(a), self._array(b)
        names = {a.dtype.name, b.dtype.name}
        for name, r, t in (
            ("float32", float_rtol, float_atol),
            ("float16", half_rtol, half_atol),
            ("bfloat16", bfloat16_rtol, bfloat16_atol),
        ):
            if name in names:
                rtol, atol = max(rtol, r), max(atol, t)
        self.assertAllClose(a, b, rtol, atol, msg)

    def assertAllEqual(self, a, b, msg=None):
        a, b = self._array(a), self._array(b)
        self.assertEqual(a.shape, b.shape, msg)
        np.testing.assert_array_equal(a, b, err_msg=str(msg or ""))

    def assertNotAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        self.assertFalse(np.allclose(self._array(a), self._array(b), rtol, atol), msg)

    def assertArrayNear(self, farray1, farray2, err, msg=None):
        np.testing.assert_allclose(farray1, farray2, rtol=0, atol=err, err_msg=str(msg or ""))

    def assertNear(self, f1, f2, err, msg=None):
        self.assertLessEqual(abs(f1 - f2), err, msg)

    def assertShapeEqual(self, input_a, input_b, msg=None):
        self.assertEqual(tuple(np.shape(input_a)), tuple(input_b.shape), msg)

    def assertDTypeEqual(self, target, expected_dtype):
        self.assertEqual(self._array(target).dtype, np.dtype(expected_dtype))

    def assertAllInRange(self, target, lower_bound, upper_bound, **_):
        array = self._array(target)
        self.assertTrue(((array >= lower_bound) & (array <= upper_bound)).all())

    def assertRaisesOpError(self, expected):
        from teachconv import tf

        return self.assertRaisesRegex(tf.errors.InvalidArgumentError, expected)

    def get_temp_dir(self):
        return str(Path.cwd())


def in_graph(test):
    """Run a test inside of a graph with its session, as in TensorFlow 1."""

    @functools.wraps(test)
    def run(self, *args, **kwargs):
        from teachconv import graph as tg

        with tg.Graph().as_default():
            return test(self, *args, **kwargs)

    return run


def in_graph_and_eagerly(test=None, **_):
    """Run a test twice: inside of a graph with its session, and eagerly."""
    if test is None:
        return in_graph_and_eagerly

    @functools.wraps(test)
    def run(self, *args, **kwargs):
        from teachconv import graph as tg

        with tg.Graph().as_default() as graph, tg.Session(graph):
            test(self, *args, **kwargs)
        self.tearDown()
        self.setUp()
        return test(self, *args, **kwargs)

    return run


def every_test(decorate):
    """Return a decorator of a class that decorates its tests."""

    def decorated(cls):
        for name, value in list(vars(cls).items()):
            if name.startswith("test") and callable(value):
                setattr(cls, name, decorate(value))
        return cls

    return decorated


def permuted(axes):
    """Return a function that orders the axes of a tensor, or the sizes of a shape."""

    def order(value):
        from teachconv import graph as tg

        if not hasattr(value, "dtype") or isinstance(value, np.ndarray):
            return [value[axis] for axis in axes[len(value)]]
        return tg.transpose(value, axes[len(value.shape)])

    return order


@contextlib.contextmanager
def eager_mode():
    from teachconv.graph.framework.context import set_default_graph

    with set_default_graph(None):
        yield


@contextlib.contextmanager
def graph_mode():
    from teachconv import graph as tg

    with tg.Graph().as_default():
        yield


def initialized_variables():
    """Return what initialises the variables of a graph; eagerly they are when they are made."""
    from teachconv import graph as tg

    return None if tg.executing_eagerly() else tg.global_variables_initializer()


def bfloat16():
    """Return TensorFlow's bfloat16, which teachconv writes as a name, because NumPy has no such dtype."""
    from teachconv import tf

    return tf.as_dtype("bfloat16") if hasattr(tf, "as_dtype") else tf.bfloat16


def no(*_, **__):
    return False


def nothing(*_, **__):
    return contextlib.nullcontext()


TEST_UTIL = {
    **dict.fromkeys(("TensorFlowTestCase", "TestCase"), TestCase),
    **dict.fromkeys(("run_deprecated_v1", "deprecated_graph_mode_only"), in_graph),
    "run_in_graph_and_eager_modes": in_graph_and_eagerly,
    "run_all_in_graph_and_eager_modes": every_test(in_graph_and_eagerly),
    "run_v1_only": lambda *_: unittest.skip("for TensorFlow 1 only"),
    **dict.fromkeys(("run_gpu_only", "run_cuda_only"), unittest.skip("for GPUs only")),
    **dict.fromkeys(
        (
            *("disable_xla", "xla_allow_fallback", "no_xla_auto_jit", "disable_tfrt", "run_v2_only"),
            *("run_all_without_tensor_float_32", "run_without_tensor_float_32", "assert_no_new_tensors"),
            *("assert_no_new_pyobjects_executing_eagerly", "assert_no_garbage_created"),
            *("with_eager_op_as_function", "disable_eager_op_as_function", "disable_mlir_bridge"),
        ),
        anything,
    ),
    **dict.fromkeys(("use_gpu", "force_gpu", "device", "force_cpu"), nothing),
    **dict.fromkeys(
        ("IsMklEnabled", "is_xla_enabled", "is_gpu_available", "GpuSupportsHalfMatMulAndConv"), no
    ),
    "NHWCToNCHW": permuted({3: [0, 2, 1], 4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]}),
    "NCHWToNHWC": permuted({3: [0, 2, 1], 4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]}),
}
TEST = {
    "TestCase": TestCase,
    "Benchmark": object,
    "main": lambda *_, **__: None,
    **dict.fromkeys(
        ("is_gpu_available", "is_built_with_cuda", "is_built_with_rocm", "is_built_with_gpu_support"), no
    ),
    **dict.fromkeys(("is_built_with_xla", "is_built_with_sycl"), no),
    "gpu_device_name": lambda: "",
    "mock": unittest.mock if hasattr(unittest, "mock") else importlib.import_module("unittest.mock"),
    "disable_with_predicate": lambda *_, **__: anything,
}
VARIABLES = {"global_variables_initializer": initialized_variables}
CONTEXT = {
    "context": lambda: importlib.import_module("teachconv.graph"),
    "eager_mode": eager_mode,
    "graph_mode": graph_mode,
}


# Keras


def keras_module(name: str):
    """Return a module of Keras', of which every name is looked up in teachconv.keras and teachconv.graph."""
    if name == "keras":
        return importlib.import_module("teachconv.keras")
    if name == "keras.src.testing":
        case = importlib.import_module("keras.src.testing.test_case")
        case.TestCase = keras_test_case(case.TestCase)
        case.get_seed_generators = lambda layer: []  # reads private names of layers
        return Forward(name, lambda _: (case,), {"TestCase": case.TestCase, "test_case": case})
    plain = name.removeprefix("keras.src").strip(".")
    own = BACKEND if plain.startswith("backend") else {"tree": TREE, "ops": OPS}.get(plain, {})
    return ForwardKeras(name, own, plain)


class ForwardKeras(Forward):
    """A module of keras.src. A name that is nowhere is `Missing`, as tests import more than they use."""

    def __init__(self, name, own, plain):
        super().__init__(name, lambda _: [f"teachconv.keras.{plain}", *KERAS_PLACES], own)

    def __getattr__(self, name):
        if self.has_module(name):
            return importlib.import_module(f"{self.__name__}.{name}")
        if not name.startswith("_"):
            for place in self._targets(name):
                with contextlib.suppress(AttributeError, ModuleNotFoundError):
                    return getattr(importlib.import_module(place), name)
        if name.startswith("__"):
            raise AttributeError(name)
        return Missing(f"{self.__name__}.{name}")


KERAS_PLACES = [
    "teachconv.keras",
    *(f"teachconv.keras.{below}" for below in ("layers", "models", "losses", "utils", "config")),
    "teachconv.tf.keras.backend",
    *("teachconv.tf", "teachconv.tf.nn", "teachconv.tf.math", "teachconv.tf.random"),
    *("teachconv.graph", "teachconv.graph.nest"),
]


def keras_test_case(base):
    """Return Keras' TestCase without the checks of files, masks, mixed precision and random generators."""

    class KerasTestCase(base):
        def setUp(self):
            unittest.TestCase.setUp(self)

        def run_class_serialization_test(self, instance, custom_objects=None):
            config = instance.get_config()
            revived = type(instance).from_config(config)
            self.assertEqual(str(config), str(revived.get_config()))
            return revived

        def run_layer_test(self, *args, **kwargs):
            left_out = {"run_mixed_precision_check": False, "supports_masking": None}
            left_out |= {"assert_built_after_instantiation": False, "expected_num_losses": None}
            return super().run_layer_test(*args, **kwargs | left_out)

    return KerasTestCase


def _standard(dtype):
    return np.dtype(getattr(dtype, "as_numpy_dtype", None) or getattr(dtype, "name", dtype) or "float32").name


def reduced(name):
    """Return what Keras calls sum, mean or such, and TensorFlow reduce_sum, reduce_mean or such."""
    return lambda *args, **kwargs: getattr(importlib.import_module("teachconv.tf"), f"reduce_{name}")(
        *args, **kwargs
    )


def map_shapes(function, shapes):
    """Return what a function gives for each shape in lists, tuples and dictionaries of shapes."""
    if isinstance(shapes, dict):
        return {key: map_shapes(function, shape) for key, shape in shapes.items()}
    if all(size is None or isinstance(size, int) for size in shapes):
        return function(tuple(shapes))
    return type(shapes)(map_shapes(function, shape) for shape in shapes)


def map_up_to(shallow, function, *structures):
    """Return what a function gives for the parts of structures, as deep as the first one is."""
    if isinstance(shallow, dict):
        return {
            key: map_up_to(shallow[key], function, *(each[key] for each in structures)) for key in shallow
        }
    if isinstance(shallow, (list, tuple)):
        return [
            map_up_to(*parts[:1], function, *parts[1:]) for parts in zip(shallow, *structures, strict=True)
        ]
    return function(*structures)


class _Symbolic(type):
    def __instancecheck__(cls, x):
        return hasattr(x, "op") and not hasattr(x, "numpy")

    def __call__(cls, shape, dtype="float32", **_):
        from teachconv import keras

        return keras.Input(shape[1:], batch_size=shape[0], dtype=dtype)


class KerasTensor(metaclass=_Symbolic):
    """A tensor without a value; here it is what keras.Input returns."""


def _uniform(shape, minval=0.0, maxval=1.0, dtype="float32", seed=None):
    from teachconv import tf

    return tf.random.uniform(shape, minval, maxval, dtype)


OPS = {"shape": lambda x: tuple(x.shape)}
OPS |= {name: reduced(name) for name in ("sum", "mean", "max", "min", "prod", "all", "any")}
TREE = {"map_shape_structure": map_shapes, "map_structure_up_to": map_up_to}
BACKEND = {
    "random": SimpleNamespace(uniform=_uniform),
    "backend": lambda: "teachconv",
    "standardize_dtype": _standard,
    "is_float_dtype": lambda dtype: "float" in _standard(dtype),
    "is_tensor": lambda x: hasattr(x, "numpy"),
    "convert_to_numpy": lambda x: np.asarray(x.numpy()),
    "image_data_format": lambda: "channels_last",
    "floatx": lambda: "float32",
    "SUPPORTS_SPARSE_TENSORS": False,
    "SUPPORTS_RAGGED_TENSORS": False,
    "config": SimpleNamespace(image_data_format=lambda: "channels_last", floatx=lambda: "float32"),
    "KerasTensor": KerasTensor,
}
