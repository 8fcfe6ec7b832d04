"""What runs without a graph: eager tensors, static shapes, who listens, several outputs, lists of inputs."""

import copy
import pickle

import numpy as np
import pytest

import teachconv as tc
from teachconv.graph.common_runtime.execute import execute, recorded_by
from teachconv.graph.framework.op_def import define_op, register_ops
from teachconv.graph.framework.op_def_library import apply_op
from teachconv.graph.framework.op_kernel import OpKernel, register_kernel
from teachconv.graph.ops import gen_nn_ops

tg = tc.graph

# Two ops of the tests' own: several outputs, each with its own shape, and lists of inputs and outputs.
register_ops(
    [
        define_op(
            "_TestSplit",
            inputs=["value: T"],
            outputs=["head: T", "tail: T"],
            attrs=["T: type"],
            shape_fn=lambda c: [(), (c.shapes[0][0] - 1,) if c.shapes[0] else None],
            summary="Returns the first element and the others.",
        ),
        define_op(
            "_TestReversed",
            inputs=["values: N * T"],
            outputs=["reversed: N * T"],
            attrs=["N: int", "T: type"],
            shape_fn=lambda c: list(c.shapes)[::-1],
            summary="Returns a list of tensors in the opposite order.",
        ),
    ]
)


@register_kernel("_TestSplit")
class Split(OpKernel):
    def compute(self, context, *inputs):
        return inputs[0][0], inputs[0][1:]


@register_kernel("_TestReversed")
class Reversed(OpKernel):
    def compute(self, context, *inputs):
        return inputs[0] if len(inputs) == 1 else inputs[::-1]


# --- eager tensors: text as TensorFlow 2.21 prints it ----------------------------------------------------


def test_eager_tensors_print_as_tensorflow_s():
    t, s = tg.constant([1.0, 2.0]), tg.constant(1.5)
    assert str(t) == "tf.Tensor([1. 2.], shape=(2,), dtype=float32)"
    assert repr(t) == "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([1., 2.], dtype=float32)>"
    assert str(s) == "tf.Tensor(1.5, shape=(), dtype=float32)"
    assert repr(s) == "<tf.Tensor: shape=(), dtype=float32, numpy=1.5>"
    assert repr(tg.constant(True)) == "<tf.Tensor: shape=(), dtype=bool, numpy=True>"
    assert repr(tg.constant(1.1)) == "<tf.Tensor: shape=(), dtype=float32, numpy=1.100000023841858>"
    lines = "numpy=\narray([[1., 1.],\n       [1., 1.]], dtype=float32)>"
    assert repr(tg.ones([2, 2])) == f"<tf.Tensor: shape=(2, 2), dtype=float32, {lines}"
    assert (
        repr(tg.Variable(tg.ones([2, 2]))) == f"<tf.Variable 'Variable:0' shape=(2, 2) dtype=float32, {lines}"
    )
    assert f"{t} {s:.2f}" == "[1. 2.] 1.50"
    assert t.device == "/job:localhost/replica:0/task:0/device:CPU:0"


def test_eager_tensors_are_values():
    t, s = tg.constant([[1.0, 2.0], [3.0, 4.0]]), tg.constant(3)
    assert (t.shape, t.dtype, t.ndim, len(t)) == ((2, 2), "float32", 2, 2)
    assert isinstance(s.numpy(), np.int32)
    assert (int(s), float(s), bool(s), [0, 1, 2, 3][s]) == (3, 3.0, True, 3)
    assert [row.numpy().tolist() for row in t] == [[1, 2], [3, 4]]
    assert float(t[1, 0]) == 3
    assert np.maximum(t, 2).tolist() == [[2, 2], [3, 4]]
    assert (t == 2.0).numpy().tolist() == [[False, True], [False, False]]
    assert (t != 2.0).numpy().tolist() == [[True, False], [True, True]]
    assert {t: 1}[t] == 1  # hashed by identity
    assert copy.copy(t) is copy.deepcopy(t) is t
    assert pickle.loads(pickle.dumps(t)).numpy().tolist() == t.numpy().tolist()
    for bad, error, message in (
        (lambda: len(s), TypeError, r"Scalar tensor has no `len\(\)`"),
        (lambda: list(s), TypeError, "Cannot iterate over a scalar tensor"),
        (lambda: bool(t), ValueError, "truth value of an array"),
        (lambda: t.op, AttributeError, "Tensor.op is undefined when eager execution is enabled"),
        (lambda: t.tolist(), AttributeError, r"no attribute 'tolist': .numpy\(\) gives an array"),
        (lambda: t.nonsense, AttributeError, "no attribute 'nonsense'$"),
    ):
        with pytest.raises(error, match=message):
            bad()


def test_operators_run_with_arrays_and_numbers_on_either_side():
    t, array = tg.constant([1.0, 2.0]), np.float32([3, 5])
    for got, want in (
        (t + 1, [2, 3]),
        (1 - t, [0, -1]),
        (array - t, [2, 3]),
        (t * array, [3, 10]),
        (np.float32(2) * t, [2, 4]),
        (np.ones(2) * t, [1, 2]),  # an array beside a tensor takes the tensor's dtype, as in TensorFlow
        (t / 2, [0.5, 1]),
        (2 / t, [2, 1]),
        (t**2, [1, 4]),
        (2**t, [2, 4]),
        (t // 2, [0, 1]),
        (t % 2, [1, 0]),
        (-t, [-1, -2]),
        (abs(-t), [1, 2]),
        (t > 1, [False, True]),
        (t >= 2, [False, True]),
        (t < 2, [True, False]),
    ):
        assert isinstance(got, tg.EagerTensor)
        assert got.numpy().tolist() == want


KEYS = [
    0, -1, slice(None), slice(1, None), slice(None, -1), slice(None, None, -1), slice(3, 0, -2), slice(2, 9),
    Ellipsis, None, (0, 1), (Ellipsis, 2), (slice(None), None, 1), (None, 0, Ellipsis, None), (slice(0, 2), -2),
    (0, 1, 2), (slice(1, 1),), (Ellipsis, slice(None, None, 2), 0),
]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_key_means_what_it_means_in_numpy(key):
    """Eagerly, in a graph with a known shape and with an unknown one, and so does its gradient."""
    array = np.arange(60, dtype="float32").reshape(4, 3, 5)
    assert np.array_equal(tg.constant(array)[key].numpy(), array[key])
    for static in (array.shape, [None, 3, None], None):
        with tg.Graph().as_default() as graph:
            x = tg.placeholder("float32", static, name="x")
            y = x[key]
            (dx,) = tg.gradients(y * y, x)
        assert y.shape.is_compatible_with(array[key].shape)
        if static == array.shape:
            assert y.shape == array[key].shape
        with tg.Session(graph) as session:
            value, gradient = session.run([y, dx], {x: array})
        assert np.array_equal(value, array[key])
        expected = np.zeros_like(array)
        expected[key] = 2 * array[key]
        assert np.array_equal(gradient, expected)


@pytest.mark.parametrize("axes", [1, 2, 3])
def test_a_mask_takes_parts_as_in_numpy(axes):
    """The parts for which it is true, eagerly and in a graph with an unknown last size, and their gradient."""
    array = np.arange(60, dtype="float32").reshape(4, 3, 5)
    mask = (array > 20)[(..., *(0,) * (3 - axes))]
    tensor = tg.constant(array)
    assert np.array_equal(tensor[mask].numpy(), array[mask])
    assert np.array_equal(tensor[tg.constant(mask)].numpy(), array[mask])
    with tg.Graph().as_default() as graph:
        x = tg.placeholder("float32", [4, 3, 5 if axes == 3 else None], name="x")
        (dx,) = tg.gradients(x[mask] * x[mask], x)
    with tg.Session(graph) as session:
        gradient = session.run(dx, {x: array})
    expected = np.zeros_like(array)
    expected[mask] = 2 * array[mask]
    assert np.array_equal(gradient, expected)


def test_keys_that_are_no_keys_are_refused():
    t = tg.constant([1.0, 2.0])
    for bad, error, message in (
        (lambda: t[2], ValueError, "slice index 2 of dimension 0 out of bounds"),
        (lambda: t[0, 0], ValueError, "Index out of range using input dim 1; input has only 1 dims"),
        (lambda: t["a"], TypeError, "Only integers, slices .* are valid indices, got 'a'"),
        (
            lambda: t[np.array([True])],
            ValueError,
            r"mask must have the shape of the first axes of \[2\]; got \[1\]",
        ),
        (lambda: t[np.array([1, 0])], TypeError, "Only integers, slices"),
        (lambda: t[1.0], TypeError, "Only integers, slices"),
        (lambda: t[::0], ValueError, r"strides\[0\] must be non-zero"),
    ):
        with pytest.raises(error, match=message):
            bad()
    with tg.Graph().as_default() as graph:
        x, i = tg.placeholder("float32", [3], name="x"), tg.placeholder("int32", [], name="i")
        y = x[i]
        assert y.op.name == "strided_slice"
        assert [tensor.op.name for tensor in y.op.inputs[1:]] == [
            "strided_slice/stack",
            "strided_slice/stack_1",
            "strided_slice/stack_2",
        ]
        with tg.Session(graph) as session:
            assert session.run([y, x[i:]], {x: [1, 2, 3], i: 1})[1].tolist() == [2, 3]
            with pytest.raises(tg.InvalidArgumentError, match="node 'strided_slice' .*out of bounds"):
                session.run(y, {x: [1, 2, 3], i: 3})


# --- static shapes: what TensorFlow 2.21 answered --------------------------------------------------------


def test_static_shapes():
    shape, unknown = tg.TensorShape([None, 4]), tg.TensorShape(None)
    assert (str(shape), repr(shape)) == ("(None, 4)", "TensorShape([None, 4])")
    assert (str(unknown), repr(unknown), str(tg.TensorShape([3]))) == (
        "<unknown>",
        "TensorShape(None)",
        "(3,)",
    )
    assert shape == (None, 4) == shape
    assert shape == [None, 4]
    assert shape != [4, None]
    assert shape != "text"
    assert hash(shape) == hash(tg.TensorShape((None, 4)))
    assert (shape.rank, shape.ndims, len(shape), unknown.rank) == (2, 2, 2, None)
    assert (list(shape), shape[-1], shape[:1], unknown[0], unknown[:1]) == ([None, 4], 4, (None,), None, None)
    assert shape.merge_with([3, None]) == (3, 4)
    assert shape.is_compatible_with((3, 4))
    assert not shape.is_compatible_with((3, 5))
    assert (shape.num_elements(), tg.TensorShape([2, 3]).num_elements()) == (None, 6)
    assert tg.TensorShape([])
    assert not unknown
    for bad, message in (
        (unknown.as_list, r"as_list\(\) is not defined on an unknown TensorShape"),
        (lambda: len(unknown), "Cannot take the length of a shape with unknown rank"),
        (lambda: list(unknown), "Cannot iterate over a shape with unknown rank"),
        (lambda: shape.merge_with([3, 5]), r"Shapes \(None, 4\) and \(3, 5\) are not compatible"),
        (lambda: tg.TensorShape([-1]), "dims must have no negative size"),
    ):
        with pytest.raises(ValueError, match=message):
            bad()
    with pytest.raises(TypeError, match="dims must be"):
        tg.TensorShape([2.5])


# --- who listens -----------------------------------------------------------------------------------------


class Log:
    def __init__(self):
        self.operations = []

    def record(self, operation):
        self.operations.append(operation)


def test_a_recorder_sees_every_op_as_it_would_see_nodes():
    x, v, log = tg.constant([1.0, 2.0]), tg.Variable([3.0, 4.0], name="v"), Log()
    with recorded_by(log):
        y = tg.nn.relu(x + v)
        v.assign_add(np.ones(2, "float32"))
    tg.square(y)
    read, add, relu, *assignment = log.operations
    assert [op.type for op in log.operations] == ["Identity", "Add", "Relu", "AssignAdd"]
    assert read.inputs == (v,)
    assert add.inputs[0] is x
    assert add.inputs[1] is read.outputs[0]
    assert relu.inputs == add.outputs
    assert relu.outputs[0] is y
    assert relu.get_attr("T") == relu.inputs[0].dtype
    assert relu.op_def.name == relu.name == "Relu"
    with pytest.raises(ValueError, match="Relu has no attribute 'U'; it has T"):
        relu.get_attr("U")
    assert assignment[-1].inputs[0] is v
    assert v.numpy().tolist() == [4, 5]


def test_what_is_recorded_does_not_change_with_the_caller_s_array():
    array, log = np.float32([1, 2]), Log()
    with recorded_by(log):
        tg.square(array)
    array[...] = 9
    assert log.operations[0].inputs[0].numpy().tolist() == [1, 2]


# --- references, several outputs, lists ------------------------------------------------------------------


def test_an_eager_variable_goes_where_an_op_takes_a_reference():
    v, array = tg.Variable([1.0, 2.0], name="v"), np.float32([5, 6])
    assert gen_nn_ops.assign(v, array) is v
    array[...] = 0
    assert v.numpy().tolist() == [5, 6]
    with pytest.raises(ValueError, match=r"must have the variable's shape"):
        gen_nn_ops.assign(v, [1.0])
    with pytest.raises(TypeError, match="ref of Assign must be a variable made eagerly; got <tf.Tensor"):
        gen_nn_ops.assign(tg.constant(1.0), 2.0)


def test_an_op_may_have_several_outputs():
    head, tail = execute("_TestSplit", [np.int32([1, 2, 3])], {})
    assert (int(head), tail.numpy().tolist()) == (1, [2, 3])
    with tg.Graph().as_default() as graph:
        x = tg.placeholder("float32", [4], name="x")
        head, tail = apply_op("_TestSplit", "split", [x], {})
        y = head * tail
        twice = apply_op("_TestSplit", "again", [x], {})
    assert [tensor.name for tensor in (head, tail)] == ["split:0", "split:1"]
    assert (head.shape, tail.shape, y.shape) == ((), (3,), (3,))
    with tg.Session(graph) as session:
        metadata = tg.RunMetadata()
        got = session.run([y, tail, twice[1]], {x: [2, 3, 4, 5]}, run_metadata=metadata)
        assert [value.tolist() for value in got] == [[6, 8, 10], [3, 4, 5], [3, 4, 5]]
        assert {node.op: node.shapes for node in metadata.nodes}["_TestSplit"] == ((), (3,))
        assert session.run(y, {"split:1": [1, 1, 1], x: [2, 0, 0, 0]}).tolist() == [2, 2, 2]


def test_an_input_may_be_a_list_of_tensors():
    got = execute("_TestReversed", [[1.0, tg.constant([2.0, 3.0])]], {})
    assert [value.numpy().tolist() for value in got] == [[2, 3], 1]
    with tg.Graph().as_default() as graph:
        x = tg.placeholder("float32", [2], name="x")
        outputs = apply_op("_TestReversed", "r", [[x, 5.0, x]], {})
        assert [output.shape for output in outputs] == [(2,), (), (2,)]
        assert outputs[0].op.get_attr("N") == 3
        (single,) = apply_op("_TestReversed", "s", [[x]], {})
        with pytest.raises(ValueError, match="values of _TestReversed must hold at least one tensor"):
            apply_op("_TestReversed", None, [[]], {})
        with pytest.raises(TypeError, match="must be a list of tensors"):
            apply_op("_TestReversed", None, [x], {})
        with pytest.raises(TypeError, match="must have one dtype, that of the first, float32; got int32"):
            apply_op("_TestReversed", None, [[x, tg.placeholder("int32")]], {})
    with tg.Session(graph) as session:
        got = session.run([*outputs, single], {x: [1, 2]})
    assert [value.tolist() for value in got] == [[1, 2], 5, [1, 2], [1, 2]]


def test_a_kernel_is_registered_once():
    with pytest.raises(ValueError, match=r"registered already: Reversed \(_TestReversed, CPU, default\)"):
        register_kernel("_TestReversed")(Reversed)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: tg.random_normal([-1]), ValueError, r"shape of RandomStandardNormal .* got \[-1\]"),
        (lambda: tg.random_uniform([2, -1]), ValueError, r"shape of RandomUniform .* got \[2, -1\]"),
        (
            lambda: tg.random_uniform([-1], 0, 3, "int32"),
            ValueError,
            r"shape of RandomUniformInt .* got \[-1\]",
        ),
        (lambda: tg.truncated_normal([-1]), ValueError, r"shape of TruncatedNormal .* got \[-1\]"),
        (lambda: tg.random_normal("a"), TypeError, "shape must be ints or a vector; got 'a'"),
        (
            lambda: tg.random_normal([1.5]),
            TypeError,
            "shape of RandomStandardNormal.* int32, int64; got float32",
        ),
        (
            lambda: tg.tile([1.0], [-1]),
            ValueError,
            r"multiples of Tile must have no negative number; got \[-1\]",
        ),
        (lambda: tg.tile([1.0], None), TypeError, "multiples must be ints or a vector; got None"),
        (lambda: tg.fill([-1], 1.0), ValueError, r"dims of Fill must have no negative number; got \[-1\]"),
        (lambda: tg.one_hot([1], -1), ValueError, "depth of OneHot must be at least 0; got -1"),
        (lambda: tg.one_hot([1], [3]), ValueError, r"depth of OneHot must have 0 axes; got shape \[1\]"),
        (
            lambda: tg.zeros([10**12] * 2),
            MemoryError,
            r"result of Fill of shape \[1000000000000, 1000000000000\]",
        ),
        (
            lambda: tg.zeros([10**6, 10**7]),
            MemoryError,
            "the result of Fill .* needs 36.4 TiB; at most .* is legal",
        ),
        (lambda: tg.constant(1.0, shape=[10**6, 10**7]), MemoryError, "value of shape .* needs 36.4 TiB"),
        (lambda: tg.random_normal([10**6, 10**7]), MemoryError, "result of RandomStandardNormal .* 36.4 TiB"),
        (
            lambda: tg.ones([10**6, 1]) + tg.ones([1, 10**7]),
            MemoryError,
            r"(?s)result of Add .* 36.4 TiB|36.4 TiB.*\(Add,",
        ),
    ],
)
def test_sizes_that_no_array_has(call, kind, message):
    """By name, as an op runs eagerly, and in a function."""
    for run in (call, lambda: tc.function(call)()):
        with pytest.raises(kind, match=message):
            run()


def test_variables_are_compared_by_value_outside_a_graph():
    v, w = tg.Variable([1.0, 2.0]), tg.Variable([1.0, 2.0])
    assert (v == 1.0).numpy().tolist() == [True, False]
    assert (v != w).numpy().tolist() == [False, False]
    assert (v is None) is False
    assert (v is not None) is True
    with pytest.raises(TypeError, match=r"Variable is unhashable. Instead, use variable.ref\(\) as the key"):
        hash(v)
    assert {v.ref(): 1}[v.ref()] == 1
    assert v.ref() != w.ref()
    assert v.ref().deref() is v

    @tg.function
    def compare(x):
        return x == 1.0, v == x

    assert [t.numpy().tolist() for t in compare(np.float32([1, 3]))] == [[True, False], [True, False]]


def test_variables_and_tensors_of_a_graph_are_compared_by_identity():
    with tg.Graph().as_default():
        v, x = tg.Variable(1.0), tg.placeholder("float32", [])
        assert (v == 1.0, v == v, x == 1.0, x != v, {v: 1, x: 2}[x]) == (False, True, False, True, 2)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_the_largest_of_numbers_with_nan_is_that_of_tensorflow_on_a_cpu(dtype):
    """TensorFlow 2.21 returned these: NaN never replaces what was there before, and -inf isn't the first."""
    nan, inf = np.nan, np.inf
    for row, want in [
        ([1, nan, 2], 2), ([nan, nan, nan], 0), ([nan, 1, 2], 2), ([3, nan, 2], 0), ([-inf, nan, -inf], 0)
    ]:  # fmt: skip
        assert tg.argmax(tg.cast([row], dtype), 1).numpy() == [want]
    for window, largest, at in [
        ([nan, 1, 2, -1], 2, 0), ([1, nan, nan, nan], 1, 0), ([1, 2, 3, nan], 3, 2), ([nan] * 4, None, 0),
        ([-inf] * 4, None, 0), ([nan, nan, nan, -inf], None, 0),
    ]:  # fmt: skip
        x = tg.cast(np.reshape(np.float32(window), [1, 2, 2, 1]), dtype)
        with tg.GradientTape() as tape:
            tape.watch(x)
            y = tg.nn.max_pool(x, 2, 2, "VALID")
        got = float(y.numpy().ravel()[0])
        assert got == largest if largest is not None else (np.isfinite(got) and got < -6e4)
        assert tape.gradient(y, x).numpy().ravel().tolist() == np.eye(4)[at].tolist()


def test_messages_for_what_holds_no_numbers():
    x = tg.constant([1.0, 2.0, 3.0, 4.0])
    for call, error, message in [
        (lambda: x + None, ValueError, "y of add must be numbers; got None: None values not supported"),
        (lambda: x + "a", TypeError, "y of add must have dtype .*; got 'a'$"),
        (
            lambda: tg.reshape(x, [None, 2]),
            TypeError,
            r"shape of reshape must .*; got object, which holds None \(of a shape, tf.shape\(x\)\[0\] is the size",
        ),
        (lambda: tg.Variable(1.0).assign(None), ValueError, "value must be numbers; got None"),
        (
            lambda: tg.constant([1, None]),
            TypeError,
            "value of constant must have .*; got object, which holds None$",
        ),
        (lambda: x[0].assign(1.0), AttributeError, "only a variable as a whole"),
        (lambda: tg.random_normal(3), ValueError, r"must have 1 axes; got shape \[\]"),  # TensorFlow's, too
        (lambda: tg.random_uniform(3), ValueError, r"must have 1 axes; got shape \[\]"),
        (lambda: tg.truncated_normal(3), ValueError, r"must have 1 axes; got shape \[\]"),
    ]:
        with pytest.raises(error, match=message):
            call()


def test_the_op_comes_first():
    for call in (tc.trace, tc.diff):
        with pytest.raises(TypeError, match="give the op first, then its arguments.*got a EagerTensor"):
            call(tg.ones([1, 2, 2, 1]), tg.ones([1, 1, 1, 1]))
