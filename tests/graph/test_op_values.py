"""The ops of arithmetic, arrays and random numbers beside NumPy, eagerly and in graphs; static shapes."""

import subprocess
import sys

import numpy as np
import pytest

import teachconv as tc
from teachconv.graph.framework.op_def import get_op_def
from teachconv.graph.ops import gen_nn_ops as gen
from teachconv.truth import bounds

tg = tc.graph
RNG = np.random.default_rng(0)
X, Y = RNG.integers(-4, 5, (3, 1, 4)), RNG.integers(1, 5, (2, 1))
MATRIX = np.arange(12).reshape(3, 4)

EXACT = {  # name: ours, NumPy's, arguments; whatever the dtype, the results are equal
    "negative": (tg.negative, np.negative, X),
    "abs": (tg.abs, np.abs, X),
    "sign": (tg.sign, np.sign, X),
    "square": (tg.square, np.square, X),
    "floordiv": (tg.floordiv, np.floor_divide, X, Y),
    "floormod": (tg.floormod, np.mod, X, Y),
    "pow": (tg.pow, np.power, X, Y),
    "maximum": (tg.maximum, np.maximum, X, Y),
    "minimum": (tg.minimum, np.minimum, X, Y),
    "greater": (tg.greater, np.greater, X, Y),
    "greater_equal": (tg.greater_equal, np.greater_equal, X, Y),
    "less": (tg.less, np.less, X, Y),
    "less_equal": (tg.less_equal, np.less_equal, X, Y),
    "equal": (tg.equal, np.equal, X, Y),
    "not_equal": (tg.not_equal, np.not_equal, X, Y),
    "where": (lambda x, y: tg.where(x > y, x, y), lambda x, y: np.where(x > y, x, y), X, Y),
    "add_n": (lambda x: tg.add_n([x, x, x]), lambda x: x + x + x, X),
    "reduce_max": (lambda x: tg.reduce_max(x, [0, -1]), lambda x: x.max((0, 2)), X),
    "reduce_min": (lambda x: tg.reduce_min(x, 1, True), lambda x: x.min(1, keepdims=True), X),
    "reduce_prod": (tg.reduce_prod, lambda x: x.prod(dtype=x.dtype), X),
    "argmax": (lambda x: tg.argmax(x, 2), lambda x: x.argmax(2), X),
    "cast": (lambda x: tg.cast(x, "int32"), lambda x: x.astype("int32"), X),
    "range": (lambda x: tg.range(x[0, 0], 20, 3), lambda x: np.arange(0, 20, 3, x.dtype), MATRIX),
    "shape": (tg.shape, lambda x: np.int32(x.shape), X),
    "size": (tg.size, lambda x: np.int32(x.size), X),
    "rank": (tg.rank, lambda x: np.int32(x.ndim), X),
    "zeros_like": (tg.zeros_like, np.zeros_like, X),
    "ones_like": (tg.ones_like, np.ones_like, X),
    "fill": (lambda x: tg.fill([2, 3], x[0, 1]), lambda x: np.full((2, 3), x[0, 1]), MATRIX),
    "squeeze": (tg.squeeze, np.squeeze, X),
    "squeeze axis": (lambda x: tg.squeeze(x, -2), lambda x: x[:, 0], X),
    "expand_dims": (lambda x: tg.expand_dims(x, -1), lambda x: x[..., None], X),
    "slice": (lambda x: tg.slice(x, [1, 1], [-1, 2]), lambda x: x[1:, 1:3], MATRIX),
    "tile": (lambda x: tg.tile(x, [2, 3]), lambda x: np.tile(x, (2, 3)), MATRIX),
    "broadcast_to": (lambda x: tg.broadcast_to(x, [3, 2, 4]), lambda x: np.broadcast_to(x, (3, 2, 4)), X),
    "gather": (lambda x: tg.gather(x, [[3], [0]], axis=1), lambda x: x[:, [[3], [0]]], MATRIX),
    "stack": (lambda x, y: tg.stack([y, y], 1), lambda x, y: np.stack([y, y], 1), X, Y),
    "unstack": (lambda x: tg.unstack(x, 4, 1)[2], lambda x: x[:, 2], MATRIX),
    "concat": (lambda x: tg.concat([x, x], 1), lambda x: np.concatenate([x, x], 1), MATRIX),
    "stop_gradient": (tg.stop_gradient, np.array, X),
    "one_hot": (
        lambda x: tg.one_hot([2, 0, 5, -1], 3, x[2, 0], x[0, 2]),
        lambda x: np.where(np.eye(6, 3, dtype=bool)[[2, 0, 5, 5]], x[2, 0], x[0, 2]),
        MATRIX,
    ),
    "one_hot axis": (
        lambda x: tg.one_hot([2, 0], 3, x[1, 1], x[0, 0], axis=0),
        lambda x: np.where(np.eye(3, dtype=bool)[[2, 0]].T, x[1, 1], x[0, 0]),
        MATRIX,
    ),
    "permutation": (lambda x: gen.invert_permutation([2, 0, 1]), lambda x: np.int32([1, 2, 0]), X),
    "stitch": (
        lambda x: gen.dynamic_stitch([[0, 2], [2, 1]], [x[:2], x[1:]]),
        lambda x: np.stack([x[0], x[2], x[1]]),
        MATRIX,
    ),
}


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_values_dtypes_and_static_shapes_are_numpy_s(name, dtype):
    ours, numpys, *arrays = EXACT[name]
    arrays = [array.astype(dtype) for array in arrays]
    if name == "pow":
        arrays[1] = np.abs(arrays[1])
    want = numpys(*arrays)
    eager = ours(*map(tg.constant, arrays))
    assert eager.dtype == want.dtype
    assert np.array_equal(eager, want)
    for known in (True, False):
        with tg.Graph().as_default() as graph:
            xs = [tg.placeholder(a.dtype, a.shape if known else [None] * a.ndim) for a in arrays]
            result = ours(*xs)
        if known and name not in ("range", "fill"):  # their sizes depend on values
            assert result.shape == want.shape
        assert result.shape.is_compatible_with(want.shape)
        with tg.Session(graph) as session:
            assert np.array_equal(session.run(result, dict(zip(xs, arrays, strict=True))), want)


SMOOTH = {  # name: ours, NumPy's in long double, and how many units in the last place the result may be off
    "sqrt": (tg.sqrt, np.sqrt, 1),
    "rsqrt": (tg.rsqrt, lambda x: 1 / np.sqrt(x), 2),
    "exp": (tg.exp, np.exp, 4),
    "log": (tg.log, np.log, 4),
    "tanh": (tg.tanh, np.tanh, 4),
    "sigmoid": (tg.sigmoid, lambda x: 1 / (1 + np.exp(-x)), 8),
    "log_softmax": (tg.nn.log_softmax, lambda x: x - np.log(np.exp(x).sum(-1, keepdims=True)), 16),
}


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_functions_keep_their_bounds(name, dtype):
    ours, exactly, ulps = SMOOTH[name]
    x = np.linspace(0.25, 6, 24).reshape(4, 6).astype(dtype)
    exact = np.asarray(exactly(x.astype("longdouble")), "longdouble")
    size = np.abs(exact) + (np.abs(x) + 2 if name in ("log", "log_softmax") else 0)  # where terms cancel
    bound = bounds.direct(size.astype("float64"), ulps, dtype)
    assert bounds.judge(ours(x).numpy(), exact.astype(dtype), bound).passed


def test_functions_do_not_overflow_on_the_way():
    x = np.float32([-1000, -100, 0, 100, 1000])
    assert tg.sigmoid(x).numpy().tolist() == [0, np.exp(np.float32(-100)), 0.5, 1, 1]
    loss = tg.nn.sparse_softmax_cross_entropy_with_logits([0], [[1000.0, 0.0]])
    assert loss.numpy().tolist() == [0]
    assert np.isfinite(tg.nn.log_softmax(x).numpy()).all()
    assert tg.nn.softmax_cross_entropy_with_logits([[1.0, 0.0]], [[0.0, -np.inf]]).numpy().tolist() == [0]


def test_losses_take_any_number_of_axes():
    logits, labels = RNG.standard_normal((2, 3, 4)), RNG.integers(0, 4, (2, 3))
    rows = tg.nn.sparse_softmax_cross_entropy_with_logits(labels.ravel(), logits.reshape(6, 4))
    losses = tg.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    assert np.array_equal(losses, np.reshape(rows, (2, 3)))
    dense = tg.nn.softmax_cross_entropy_with_logits(tg.one_hot(labels, 4, dtype="float64"), logits)
    wide = logits.astype("longdouble")
    exact = np.log(np.exp(wide).sum(-1)) - np.take_along_axis(wide, labels[..., None], -1)[..., 0]
    # the terms that cancel; exp and log are off by 4 units in the last place, 4 + 8 terms are added
    sizes = np.abs(exact) + 2 * np.abs(wide).max(-1) + 2
    bound = bounds.direct(sizes.astype("float64"), 16, "float64")
    for ours in (losses, dense):
        assert bounds.judge(ours.numpy(), exact.astype("float64"), bound).passed
    for bad in (4, -1):
        with pytest.raises(ValueError, match=f"labels must be class numbers from 0 to 3.*; got {bad}"):
            tg.nn.sparse_softmax_cross_entropy_with_logits([bad], logits[0, :1])


@pytest.mark.parametrize("backend", ["numpy", "cython", "reference", "scipy"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_matrix_products_run_on_every_backend(backend, dtype):
    a, b = RNG.integers(-9, 9, (5, 7)), RNG.integers(-9, 9, (7, 3))
    for transpose_a in (False, True):
        for transpose_b in (False, True):
            left, right = (a.T if transpose_a else a).astype(dtype), (b.T if transpose_b else b).astype(dtype)
            got = gen.mat_mul(left, right, transpose_a, transpose_b, _kernel=backend).numpy()
            assert got.dtype == dtype
            assert np.array_equal(got, (a @ b).astype(dtype))
    assert gen.mat_mul(np.ones((0, 3), dtype), np.ones((3, 2), dtype), _kernel=backend).shape == (0, 2)
    assert not gen.mat_mul(np.ones((2, 0), dtype), np.ones((0, 2), dtype), _kernel=backend).numpy().any()


def test_matrix_products_do_not_depend_on_the_number_of_threads():
    program = """
import numpy as np, teachconv as tc, zlib
from teachconv.graph.ops import gen_nn_ops as gen
rng = np.random.default_rng(0)
a, b = (rng.standard_normal(shape).astype("float32") for shape in ((257, 129), (129, 65)))
for threads in (1, 2, 3):
    tc.set_num_threads(threads)
    bits = b"".join(gen.mat_mul(x, y, i, j).numpy().tobytes() for x, y, i, j in (
        (a, b, False, False), (a.T.copy(), b, True, False), (a, b.T.copy(), False, True)))
    print(zlib.crc32(bits))
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert len(set(run.stdout.split())) == 1


def test_random_numbers_are_reproducible_and_distributed_as_they_say():
    def draw(graph_seed, op_seed, runs=1):
        with tg.Graph().as_default():
            tg.set_random_seed(graph_seed)
            x = tg.random_normal([3], seed=op_seed)
            with tg.Session() as session:
                return [session.run(x).tolist() for _ in range(runs)]

    assert draw(1, 2) == draw(1, 2) != draw(1, 3)
    assert draw(1, None) == draw(1, None) != draw(2, None)
    assert draw(None, 5) == draw(None, 5)
    assert draw(None, None) != draw(None, None)
    first, second, third = draw(1, 2, runs=3)
    assert len({*first, *second, *third}) == 9  # each run continues the sequence
    with tg.Graph().as_default():
        x = tg.random_normal([3], 0.0, 1.0, seed=2)
        y = tg.identity(x)
        tg.set_random_seed(1)
        with tg.Session() as session:  # also where other tensors are fetched
            values = [session.run(x), session.run(y), session.run([x, y])[1]]
    assert len({*np.ravel(values).tolist()}) == 9
    normal = tg.random_normal([20_000], 3.0, 2.0, "float64", seed=1).numpy()
    assert abs(normal.mean() - 3) < 6 * 2 / np.sqrt(20_000)  # six standard errors
    assert abs(normal.std() - 2) < 6 * 2 / np.sqrt(2 * 20_000)
    cut = tg.truncated_normal([20_000], 3.0, 2.0, "float64", seed=1).numpy()
    assert np.abs(cut - 3).max() <= 4
    assert np.abs(cut - 3).max() > 3.9
    uniform = tg.random_uniform([20_000], -1.0, 3.0, "float64", seed=1).numpy()
    assert -1 <= uniform.min() < -0.99 < 2.99 < uniform.max() < 3
    assert tg.random_normal(tg.constant([2, 3]), dtype="float16", seed=1).dtype == np.float16
    tg.set_random_seed(7)
    one = [tg.random_uniform([2]).numpy().tolist() for _ in range(2)]
    tg.set_random_seed(7)
    assert one == [tg.random_uniform([2]).numpy().tolist() for _ in range(2)]
    assert one[0] != one[1]
    tg.set_random_seed(None)


def test_sizes_known_before_the_run():
    """Those that TensorFlow 2.21 knows, too: through Shape, slices, Pack, ConcatV2 and products of sizes."""
    with tg.Graph().as_default():
        x = tg.placeholder("float32", [None, 4, 6, 3])
        sizes = tg.shape(x)
        half = sizes[1:3] // 2
        assert tg.reshape(x, [sizes[0], sizes[1] * sizes[2], 3]).shape == (None, 24, 3)
        assert tg.reshape(x, tg.concat([sizes[:1], [-1]], 0)).shape == (None, None)
        assert tg.fill(tg.concat([half, sizes[3:]], 0), 1.0).shape == (None, None, 3)
        assert tg.zeros(tg.stack([sizes[0], half[0]])).shape == (None, None)
        assert tg.tile(x, [2, 1, 1, sizes[3]]).shape == (None, 4, 6, 9)
        assert tg.broadcast_to(1.0, sizes).shape == (None, 4, 6, 3)
        assert tg.slice(x, [0, 1, 1, 0], [-1, 2, 3, -1]).shape == (None, 2, 3, 3)
        up = tg.nn.conv2d_transpose(x, tg.ones([3, 3, 5, 3]), [sizes[0], 8, 12, 5], 2)
        assert up.shape == (None, 8, 12, 5)
        assert tg.nn.conv2d_backprop_filter(x, [3, 3, 3, 2], tg.ones([1, 4, 6, 2]), 1, "SAME").shape == (
            3,
            3,
            3,
            2,
        )
        unknown = tg.placeholder("float32")
        assert tg.reshape(unknown, tg.shape(unknown)).shape.rank is None
        vector = tg.placeholder("int32", [3])
        assert tg.reshape(unknown, vector).shape == (None, None, None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: tg.squeeze([[1, 2]], 1), r"axis 1 of \[1, 2\] has size 2"),
        (lambda: tg.expand_dims([1], 3), "dim of ExpandDims must be from -2 to 1"),
        (lambda: tg.slice([1, 2, 3], [2], [2]), r"must lie inside \[3\]; got \[2\] and \[2\]"),
        (lambda: tg.slice([1, 2, 3], [0, 0], [1, 1]), "one element for each axis"),
        (lambda: tg.tile([1], [1, 2]), "one number for each axis"),
        (lambda: tg.broadcast_to([1, 2], [3]), r"cannot expand \[2\] to \[3\]"),
        (lambda: tg.gather([1, 2], [2]), "indices of GatherV2 must be from 0 to 1; got 2"),
        (lambda: tg.stack([tg.constant([1]), tg.constant([1, 2])]), "the inputs of Pack must have one shape"),
        (lambda: tg.unstack([1, 2], 3), "num of Unpack must be 2"),
        (lambda: tg.concat([[[1]], [[1, 2]]], 0), "equal sizes except along axis 0"),
        (lambda: tg.add_n([]), "inputs of AddN must hold at least one tensor"),
        (lambda: tg.add_n([[1], [1, 2]]), "the inputs of AddN must have one shape"),
        (lambda: tg.floordiv(1, 0), "y of FloorDiv must not be 0 for integers"),
        (lambda: tg.pow(2, -1), "y of Pow must not be negative for integers"),
        (lambda: tg.range(1, 5, 0), "delta of Range must not be 0"),
        (lambda: gen.invert_permutation([0, 2]), r"x must be a permutation of 0, 1, ...; got \[0, 2\]"),
        (lambda: gen.broadcast_gradient_args([2, 3], [2]), "s0 and s1 .* must fit each other"),
        (lambda: gen.relu_grad([1.0], [1.0, 2.0]), "the inputs of ReluGrad must have one shape"),
        (lambda: gen.avg_pool_grad([1, 4, 4, 1], np.ones((1, 3, 2, 1)), [1, 2, 2, 1], [1, 2, 2, 1], "SAME"),
         r"grad of AvgPoolGrad must have shape \[1, 2, 2, 1\]; got \[1, 3, 2, 1\]"),
        (lambda: tg.nn.sparse_softmax_cross_entropy_with_logits([1, 2], [[1.0, 2.0]]), "one class for each row"),
    ],
)  # fmt: skip
def test_bad_arguments_are_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_definitions_print_their_gradient():
    assert "grad    _conv2d_grad" in str(get_op_def("Conv2D"))
    assert "grad    none" in str(get_op_def("Shape"))
    assert "input   values: N * T" in str(get_op_def("Pack"))
