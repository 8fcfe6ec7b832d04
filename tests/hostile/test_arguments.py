"""Hostile arguments: whatever a function is given, it answers, or raises an error of ours that is short and by name.

Every argument of the public functions below is replaced by each hostile value in turn. Left to itself Python would
raise OverflowError for an integer of 400 digits, RecursionError for a list that holds itself (or search it for ever),
TypeError for what cannot be hashed, and whatever a method of the value raises.
"""

import inspect
import signal
import types
from functools import wraps
from itertools import islice
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import teachconv as tc
import teachconv.tf as tf
from teachconv.support.errors import brief, plain

LONGEST = 600  # characters of a message
SECONDS = 60  # what takes longer has no end, on a slow host too

X, W, Y = np.ones((1, 4, 4, 2), "f4"), np.ones((3, 3, 2, 2), "f4"), np.ones((1, 2, 2, 2), "f4")
NCHW, OIHW = np.ones((1, 2, 4, 4), "f4"), np.ones((2, 2, 3, 3), "f4")


# ---------------------------------------------------------------------------------------------
# The values
# ---------------------------------------------------------------------------------------------


class Silent:
    def __repr__(self):
        raise RuntimeError("no " * 1000)

    __str__ = __repr__


class Loud:
    def __repr__(self):
        return "\x1b[31m" + "y\n" * 100_000


def holds_itself(times):
    found = []
    found += [found] * times
    return found


def holds_itself_by_name():
    found = {}
    found["a"] = found
    return found


def deep():
    found = []
    for _ in range(20_000):
        found = [found]
    return found


VALUES = {
    "None": lambda: None,
    "empty text": lambda: "",
    "long text": lambda: "x" * 100_000,
    "control characters": lambda: "\x1b[31m\n",
    "half a character": lambda: "\ud800",
    "bytes": lambda: b"y" * 100_000,
    "10**400": lambda: 10**400,
    "-10**400": lambda: -(10**400),
    "10**5000": lambda: 10**5000,  # Python refuses to write it
    "-1": lambda: -1,
    "NaN": lambda: float("nan"),
    "inf": lambda: float("inf"),
    "1j": lambda: 1j,
    "empty list": lambda: [],
    "empty list in a list": lambda: [[]],
    "ragged lists": lambda: [[1, 2], [3]],
    "5,000 ints": lambda: list(range(5_000)),
    "1000 long texts": lambda: ["x" * 1000] * 1000,
    "huge ints": lambda: [10**400, 10**400, 10**400, 10**5000],
    "Nones": lambda: [None, None],
    "bools": lambda: [True, True],
    "a list that holds itself": lambda: holds_itself(1),
    "a list that holds itself twice": lambda: holds_itself(2),
    "a dict that holds itself": holds_itself_by_name,
    "20,000 lists in each other": deep,
    "a large dict": lambda: dict.fromkeys(range(10000), "x" * 10),
    "a set": lambda: {"a" * 1000},
    "a generator": lambda: (number for number in range(3)),
    "range(10**12)": lambda: range(10**12),
    "no repr": Silent,
    "no repr in a list": lambda: [Silent()],
    "a long repr": Loud,
    "a large array": lambda: np.arange(10_000),
    "an array of objects": lambda: np.array([Silent(), None], dtype=object),
    "an array of texts": lambda: np.array(["x" * 1000] * 10),
    "a date": lambda: np.datetime64("2020"),
    "a slice": lambda: slice(10**400),
    "...": lambda: ...,
}


# ---------------------------------------------------------------------------------------------
# The functions, with arguments that are right
# ---------------------------------------------------------------------------------------------


def after(tool, *operands, **words):
    """A tool that takes an op and its arguments, with these by name."""

    def function(**arguments):
        return tool(arguments.pop("op"), **arguments)

    return function, {"op": tc.conv2d, "input": operands[0], "filters": operands[1], **words}


def plan(**arguments):
    return tc.plan(arguments.pop("op"), arguments.pop("filters"), **arguments)


def stream(*, chunk, **arguments):
    made = tc.stream(arguments.pop("op"), arguments.pop("filters"), **arguments)
    made.push(chunk)
    assert str(made)
    made.flush()


def stack(*, layers):
    tc.stream(layers).push(X)


GEOMETRY = tc.conv2d_geometry(X.shape, W.shape)
SHAPES = {"input_shape": X.shape, "filters_shape": W.shape}
TWO = np.ones(2, "f4")
POOL = {"ksize": 2, "strides": 2, "padding": "SAME"}
FUNCTIONS = {
    "conv2d": (tc.conv2d, {"input": X, "filters": W}),
    "conv2d_transpose": (tc.conv2d_transpose, {"input": X, "filters": W}),
    "conv1d": (tc.conv1d, {"input": X[0], "filters": W[0]}),
    "conv1d_transpose": (tc.conv1d_transpose, {"input": X[0], "filters": W[0]}),
    "conv3d": (tc.conv3d, {"input": X[None], "filters": W[None]}),
    "depthwise_conv2d": (tc.depthwise_conv2d, {"input": X, "filters": W}),
    "conv2d_backprop_input": (
        tc.conv2d_backprop_input,
        {"input_sizes": X.shape, "filters": W, "out_backprop": Y},
    ),
    "conv2d_backprop_filter": (
        tc.conv2d_backprop_filter,
        {"input": X, "filter_sizes": W.shape, "out_backprop": Y},
    ),
    "max_pool": (tc.max_pool, {"input": X} | POOL),
    "avg_pool": (tc.avg_pool, {"input": X} | POOL),
    "max_pool_grad": (tc.max_pool_grad, {"orig_input": X, "grad": Y} | POOL),
    "avg_pool_grad": (tc.avg_pool_grad, {"orig_input_shape": X.shape, "grad": Y} | POOL),
    "pad": (tc.pad, {"tensor": X, "paddings": [[1, 1]] * 4}),
    "batch_normalization": (
        tc.batch_normalization,
        {"x": X, "mean": TWO, "variance": TWO, "offset": TWO, "scale": TWO, "variance_epsilon": 1e-3},
    ),
    "resize": (tc.resize, {"images": X, "size": (3, 2)}),
    "depth_to_space": (tc.depth_to_space, {"input": np.ones((1, 2, 2, 4), "f4"), "block_size": 2}),
    "space_to_depth": (tc.space_to_depth, {"input": X, "block_size": 2}),
    "fold_batch_norm": (
        tc.fold_batch_norm,
        {"filters": W, "mean": TWO, "variance": TWO, "eps": 1e-3, "bias": TWO, "gamma": TWO, "beta": TWO},
    ),
    "conv2d_geometry": (tc.conv2d_geometry, SHAPES),
    "conv2d_transpose_geometry": (tc.conv2d_transpose_geometry, SHAPES),
    "conv_matrix": (tc.conv_matrix, {"filters": W, "geometry": GEOMETRY}),
    "trace": after(tc.trace, X, W),
    "explain": after(tc.explain, X, W, at=(0, 0, 0, 0)),
    "explain at_input": after(tc.explain, X, W, at_input=(0, 0, 0, 0)),
    "diff": after(tc.diff, X, W, backends=["numpy"], rtol=None, atol=None),
    "check_gradients": after(tc.check_gradients, X, W, cells=1, backend="numpy"),
    "plan": (plan, {"op": tc.conv2d, "filters": W, "input_shape": X.shape, "backend": None}),
    "stream": (
        stream,
        {
            "op": tc.conv2d,
            "filters": W,
            "chunk": X,
            "axis": None,
            "length": None,
            "strides": 1,
            "backend": None,
        },
    ),
    "stream of layers": (stack, {"layers": [(tc.conv2d, W), np.tanh]}),
    "autotune": after(tc.autotune, X, W, backends="numpy", seconds=0.001, rounds=1),
    "translate": after(tc.translate, X.shape, W.shape, to="torch", any_size=False),
    "resolve": after(tc.resolve, X.shape, W.shape),
    "convert_filters": (tc.convert_filters, {"w": W, "from_": "tensorflow", "to": "torch"}),
    "receptive_field": (tc.receptive_field, {"geometries": [GEOMETRY]}),
    "find_source": after(tc.find_source, X, W),
    "explore": after(tc.explore, X, W, at=(0, 0, 0, 0), budget=None),
    "set_num_threads": (tc.set_num_threads, {"num_threads": 1}),
    "set_backend": (tc.set_backend, {"name": None}),
}
DIALECTS = {
    "torch": {"input": NCHW, "weight": OIHW, "pad": (1, 1), "grad_output": Y.transpose(0, 3, 1, 2)}
    | {"kernel_size": 2, "input_size": NCHW.shape, "weight_size": OIHW.shape}
    | {"running_mean": TWO, "running_var": TWO, "upscale_factor": 1, "downscale_factor": 2}
    | {"output_size": 2},
    "onnx": {"X": NCHW, "W": OIHW, "kernel_shape": (2, 2), "data": NCHW, "pads": [1] * 8}
    | {"input": NCHW, "blocksize": 1}
    | dict.fromkeys(("scale", "B", "input_mean", "input_var"), TWO),
    "jax": {"lhs": NCHW, "rhs": OIHW, "window_strides": (1, 1), "strides": (1, 1), "padding": "VALID"}
    | {"operand": X, "init_value": 0, "computation": "max", "window_dimensions": (1, 2, 2, 1)}
    | {"array": X, "pad_width": 1, "image": X, "shape": X.shape, "method": "linear"},
    "keras": {"inputs": X, "kernel": W, "pool_size": 2, "x": X, "pad_width": 1}
    | {"mean": TWO, "variance": TWO, "axis": -1, "images": X, "size": (3, 2), "output_size": 2},
}
OWN = {"torch.interpolate": {"size": 3}, "onnx.resize": {"sizes": [1, 2, 3, 5]}}  # of two one has to be given
OWN |= {"torch.fold": {"input": np.ones((1, 8, 9), "f4"), "output_size": 4}}
KERAS = {"filters": 2, "kernel_size": 3, "units": 3, "rate": 0.5, "target_shape": (32,), "shape": (4, 4, 2)}
KERAS |= {"pool_size": 2, "activation": "relu", "schedule": lambda epoch: 0.1, "learning_rate": 0.1}
KERAS |= {"function": lambda x, **more: x, "dims": (2, 1, 3), "filepath": "best.weights.npz"}
WORDS = KERAS | {
    "a": np.ones((2, 2), "f4"), "b": np.ones((2, 2), "f4"), "axis": 0, "bias": TWO, "depth": 3, "dtype": "float32",
    "features": TWO, "filters": W, "filter": W, "input": X, "images": X, "indices": np.int32([0, 1]),
    "input_tensor": np.float32([[1, 2]]), "labels": np.int32([0]), "limit": 5, "logits": np.float32([[1, 2]]),
    "ksize": 2, "multiples": [1, 1], "num_or_size_splits": 2, "padding": "SAME", "paddings": [[0, 0], [0, 0]],
    "params": TWO, "perm": [1, 0], "shape": [2], "start": 0, "strides": 1, "tensor": np.float32([[1, 2]]),
    "value": X, "values": [TWO, TWO], "x": TWO, "y": TWO,
    "depthwise_filter": W, "pointwise_filter": np.ones((1, 1, 4, 3), "f4"), "rate": 1, "window_shape": [2, 2],
    "pooling_type": "MAX", "mean": TWO, "variance": TWO, "offset": TWO, "scale": TWO, "variance_epsilon": 0.1,
    "tensors": X, "batch_size": 2, "buffer_size": 2, "count": 2,
}  # fmt: skip
ALIASES = {  # where a message has another word for the argument
    ("batch_normalization", "variance_epsilon"): "eps",
    ("onnx.batch_normalization", "epsilon"): "eps",
    ("keras.batch_normalization", "epsilon"): "eps",
    ("autotune", "backends"): "backend",
    ("diff", "backends"): "backend",
    ("set_backend", "name"): "backend",
    ("translate", "op"): "function",
    ("resolve", "op"): "function",
    ("keras.DepthwiseConv1D", "depthwise_initializer"): "kernel initializer",
    ("keras.DepthwiseConv2D", "depthwise_initializer"): "kernel initializer",
    ("keras.compile", "metrics"): "metric",
    ("keras.set_weights", "weights"): "weight",
}


def required(function, words):
    """The arguments that have no default; None if there is no right value for one."""
    names = [
        name
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.default is parameter.empty and parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    return {name: words[name] for name in names} if all(name in words for name in names) else None


def of_dialects():
    for name, words in DIALECTS.items():
        module = getattr(tc.dialects, name)
        for function in (getattr(module, each) for each in module.__all__):
            if isinstance(function, types.FunctionType):
                more = {"lhs": X, "rhs": W} if (name, function.__name__) == ("jax", "conv_transpose") else {}
                if (
                    name == "torch" and (rank := function.__name__[-2]).isdigit()
                ):  # batch, channels, and its axes
                    more = {"input": np.ones((1, 2, 4, 4, 4)[: 2 + int(rank)], "f4")}
                    more["weight"] = np.ones((2, 2, 3, 3, 3)[: 2 + int(rank)], "f4")
                label = f"{name}.{function.__name__}"
                yield label, (function, required(function, words | more) | OWN.get(label, {}))


OF_RANK = {1: X[:, 0], 2: X, 3: np.stack([X] * 4, 1)}  # what a layer takes


def called(kind):
    """A class, and for a layer what it does with an input."""

    def function(**arguments):
        made = kind(**arguments)
        if not isinstance(made, tc.keras.layers.Layer):
            return made
        x = OF_RANK[getattr(made, "_rank", 2)]
        return made([x, x] if made._takes_several else x)

    function.__signature__ = inspect.signature(kind)
    return function


def of_keras():
    keras = tc.keras
    places = keras.layers, keras.optimizers, keras.losses, keras.metrics, keras.initializers, keras.callbacks
    for module in places:
        for name in sorted(module.__all__):
            kind = getattr(module, name)
            if isinstance(kind, type) and name not in ("Layer", "Optimizer") and kind.__name__ == name:
                more = {"save_weights_only": True} if name == "ModelCheckpoint" else {}
                yield f"keras.{name}", (called(kind), required(kind, KERAS) | more)
    model = keras.Sequential([keras.Input((4, 4, 2)), keras.layers.Flatten(), keras.layers.Dense(3)])
    for name, words in {
        "compile": {"optimizer": "sgd", "loss": "mse"},
        "fit": {"x": X, "y": np.ones((1, 3), "f4"), "verbose": 0},
        "evaluate": {"x": X, "y": np.ones((1, 3), "f4"), "verbose": 0},
        "predict": {"x": X, "verbose": 0},
        "set_weights": {"weights": model.get_weights()},
    }.items():
        yield f"keras.{name}", (method(model, name), words)


def method(model, name):
    def function(**arguments):
        model.compile("sgd", "mse")
        return getattr(model, name)(**arguments)

    bound = inspect.signature(getattr(model, name)).parameters.values()
    named = [one for one in bound if one.kind is not one.VAR_KEYWORD]
    function.__signature__ = inspect.Signature([one.replace(kind=one.KEYWORD_ONLY) for one in named])
    return function


def of_runtime():
    modules = {"graph": tc.graph, "graph.nn": tc.graph.nn, "tf": tf, "tf.nn": tf.nn, "tf.math": tf.math}
    for place, module in modules.items():
        for name in sorted(getattr(module, "__all__", None) or dir(module)):
            function = getattr(module, name)
            if isinstance(function, types.FunctionType) and not name.startswith("_"):
                words = required(function, WORDS)
                if words:
                    yield f"{place}.{name}", (function, words)
    dataset = tf.data.Dataset.from_tensor_slices(np.arange(3))
    for name in (
        "from_tensor_slices",
        "from_tensors",
        "batch",
        "shuffle",
        "repeat",
        "take",
        "skip",
        "enumerate",
    ):
        function = elements(getattr(dataset, name))
        yield f"tf.data.{name}", (function, required(function, WORDS))


def elements(function):
    """A method that returns a dataset, as a function of its arguments that returns the first elements."""

    @wraps(function)
    def called(**arguments):
        return list(islice(function(**arguments), 3))

    return called


QUICK = FUNCTIONS | dict(of_dialects()) | dict(of_keras())
RUNTIME = dict(of_runtime())


# ---------------------------------------------------------------------------------------------
# The calls
# ---------------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a text may be a file's name


def fault(function, arguments, words):
    """What is wrong with the answer to a call, or "" if nothing is."""

    def no_end(*_):
        raise AssertionError("no end")

    before = signal.signal(signal.SIGALRM, no_end) if hasattr(signal, "SIGALRM") else None
    try:
        if before is not None:
            signal.setitimer(signal.ITIMER_REAL, SECONDS)
        with np.errstate(all="ignore"):
            function(**arguments)
    except (tc.ArgumentError, tc.ArgumentTypeError, tc.BackendUnavailable, IndexError) as error:
        text = str(error)
        if len(text) > LONGEST:
            return f"{len(text)} characters: {text[:80]}"
        named = all(word in text for word in words.replace("_", " ").split())
        return "" if named else f"does not name it: {text[:160]}"
    except MemoryError:  # of so many items
        return ""
    except BaseException as error:
        return f"{type(error).__name__}: {plain(error)}"
    finally:
        if before is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
    return ""


def faults(label, function, right, skipped, is_named=True, step=1):
    """What is wrong with the answers to values in place of each argument: all, or every fifth of them."""
    parameters = inspect.signature(function).parameters.values()
    named = [one.name for one in parameters if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)]
    for place, name in enumerate(dict.fromkeys([*right, *named])):
        if name not in skipped:
            for value, make in list(VALUES.items())[(place + crc32(label.encode())) % step :: step]:
                words = ALIASES.get((label, name), name) if is_named else ""
                found = fault(function, {**right, name: make()}, words)
                if found:
                    yield f"{name} = {value}: {found}"


# each function has a fifth of the values for each argument, another fifth for the next, and in the slow tests all
steps = pytest.mark.parametrize("step", [5, pytest.param(1, marks=pytest.mark.slow)])


@pytest.mark.filterwarnings("ignore")
@steps
@pytest.mark.parametrize("label", QUICK)
def test_hostile_arguments(label, step):
    function, right = QUICK[label]
    assert right is not None, "an argument without a right value"
    threads = tc.get_num_threads()
    try:
        function(**right)
        assert list(faults(label, function, right, ("unknown", "self"), step=step)) == []
    finally:
        tc.set_backend(None)
        tc.set_num_threads(threads)


@pytest.mark.filterwarnings("ignore")
@steps
@pytest.mark.parametrize("label", RUNTIME)
def test_hostile_arguments_of_the_graph_runtime(label, step):
    """Names of nodes and texts of the caller's are taken as they are; a message may have the op's word."""
    function, right = RUNTIME[label]
    try:
        function(**right)
    except (RuntimeError, ValueError, TypeError):
        pytest.skip("it belongs to graphs, or takes what others do not")
    skipped = ("unknown", "name", "message")
    assert list(faults(label, function, right, skipped, is_named=False, step=step)) == []


@pytest.mark.parametrize("value", VALUES)
def test_a_short_line_whatever_the_value_is(value):
    for write in (brief, plain):
        text = write(VALUES[value]())
        assert len(text) <= 160
        assert text.isprintable()


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda items: st.lists(items) | st.dictionaries(st.text(), items) | st.tuples(items, items),
    max_leaves=60,
)


@settings(max_examples=60)
@given(value=anything)
def test_any_value_is_a_short_line(value):
    text = brief(value)
    assert len(text) <= 160
    assert text.isprintable()


def test_a_value_that_fits_is_whole():
    for value in (None, [1, 2, 2, 1], ((0, 1), (2, 3)), {"a": 1}, "SAME  ", 2.5, -1, b"ab", [[1.0], [2.0]]):
        assert brief(value) == repr(value)
