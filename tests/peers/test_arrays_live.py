"""PyTorch's tensors and JAX's arrays in the ops, where the two are installed (make test-peers)."""

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import teachconv as tc
import teachconv.tf as tf
from teachconv.data.seeded import make_array

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]  # of the frameworks' own code

X, W = (
    make_array((2, 5, 6, 4), "float32", "integers", "x"),
    make_array((3, 3, 4, 6), "float32", "integers", "w"),
)


@pytest.fixture
def torch():
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    return torch


@pytest.fixture
def jax():
    return pytest.importorskip("jax")


# ---------------------------------------------------------------------------------------------
# PyTorch: values
# ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("first", "second"), [("float32", "float64"), ("float64", "float32")])
@pytest.mark.parametrize("recorded", [False, True])
def test_dtypes_that_differ_advise_what_tensors_have(torch, first, second, recorded):
    """The advice was ``.astype``, which tensors do not have."""
    x = torch.from_numpy(X).to(getattr(torch, first)).requires_grad_(recorded)
    w = torch.from_numpy(W).to(getattr(torch, second))
    with pytest.raises(TypeError, match=rf"got {second}: filters.to\(torch.{first}\)$"):
        tc.conv2d(x, w)
    with pytest.raises(TypeError, match=rf"filters.astype\(.{first}.\)$"):
        tc.conv2d(x.detach(), W.astype(second))
    with pytest.raises(TypeError, match=rf"bias.to\(torch.{first}\)$"):
        tc.dialects.torch.conv2d(x.permute(0, 3, 1, 2), w.to(x.dtype).permute(3, 2, 0, 1), w[0, 0, 0])
    with pytest.raises(TypeError, match=r"convert it with .to\(torch.float32\)$"):
        tc.dialects.torch.avg_pool2d(x.detach().int(), 2)


def test_dtypes_that_differ_advise_what_jax_and_tensorflow_have(jax):
    with pytest.raises(TypeError, match=r'filters.astype\("float32"\)$'):
        tc.conv2d(jax.numpy.asarray(X), jax.numpy.asarray(W, "float16"))
    with pytest.raises(TypeError, match=r"got float64: tf.cast\(filter, tf.float32\)$"):
        tf.nn.conv2d(tf.constant(X), tf.constant(W.astype("float64")), 1, "SAME")


def test_torch_in_and_out_on_one_memory(torch):
    x, w = torch.from_numpy(X.copy()), torch.from_numpy(W)
    y = tc.conv2d(x, w, 2, "SAME")
    assert type(y) is torch.Tensor
    assert np.array_equal(y.numpy(), tc.conv2d(X, W, 2, "SAME"))
    assert tc.arrays.torch.ADAPTER.to_array(x, "x").ctypes.data == x.data_ptr()
    out = torch.empty(y.shape)
    assert tc.conv2d(x, w, 2, "SAME", out=out) is out
    assert torch.equal(out, y)
    assert type(tc.conv2d(X, w)) is np.ndarray


def test_torch_strides_and_dtypes(torch):
    x, w = torch.from_numpy(X), torch.from_numpy(W)
    want = tc.conv2d(X, W)
    views = {
        "channels last": (x.permute(0, 3, 1, 2).contiguous().permute(0, 2, 3, 1), want),
        "every second": (torch.from_numpy(np.repeat(X, 2, 1))[:, ::2], want),
        "expanded": (x[:1].expand(2, -1, -1, -1), tc.conv2d(np.repeat(X[:1], 2, 0), W)),
        "negated lazily": (torch.complex(x, x).conj().imag, tc.conv2d(-X, W)),
    }
    for name, (view, result) in views.items():
        assert np.array_equal(tc.conv2d(view, w).numpy(), result), name
    for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64):
        got = tc.conv2d(x.to(dtype), w.to(dtype))
        assert got.dtype == dtype
        assert torch.equal(got, torch.from_numpy(want).to(dtype))  # small integers: every dtype is exact


def test_torch_refused(torch):
    x, w = torch.from_numpy(X), torch.from_numpy(W)
    for bad, message in (
        (x.to_sparse(), r"dense tensor; got layout torch.sparse_coo: input.to_dense\(\)"),
        (x.to("meta"), r"got one on meta: torch.ones_like\(input, device=.cpu.\)"),
        (torch.complex(x, x), "got torch.complex64: input.real and input.imag"),
        (x.to(torch.uint8), r"must have dtype .*; got torch.uint8: input.to\(torch.float32\)"),
        (x.to(torch.float8_e4m3fn), "must have dtype .*; got torch.float8_e4m3fn"),
        (x[0], "input must have 4 axes"),
    ):
        with pytest.raises((TypeError, ValueError), match=message):
            tc.conv2d(bad, w)
    with pytest.raises(TypeError, match="filters must have the dtype of input"):
        tc.conv2d(x, w.double())
    recorded = w.clone().requires_grad_()
    with pytest.raises(TypeError, match="out must not be given where a derivative is recorded"):
        tc.conv2d(x, recorded, out=torch.empty(2, 3, 4, 6))
    with pytest.raises(TypeError, match=r"filters requires a gradient.*filters.detach\(\)"):
        tc.plan(tc.conv2d, recorded, input_shape=X.shape)
    with pytest.raises(TypeError, match="teachconv.plan has no derivative"):
        tc.plan(tc.conv2d, w, input_shape=X.shape)(x.clone().requires_grad_())
    with pytest.raises(ValueError, match=r"weight must have 4 axes, \[out, in / groups, rows, cols\]"):
        tc.dialects.torch.conv2d(x.permute(0, 3, 1, 2), recorded[0])
    chain = tc.find_source(tc.conv2d, x, recorded, backend="reference")  # looks at values, records nothing
    assert chain.backend == "reference"


def test_torch_on_a_gpu_never_sees_the_host(torch, stand_in, monkeypatch):
    """A tensor on a GPU, as far as the adapter looks; CuPy's stand-in reads it by DLPack."""

    class OnTheGpu(torch.Tensor):
        device = SimpleNamespace(type="cuda")

        def __dlpack_device__(self):
            return 2, 0

        def detach(self):
            return self

    moved = []

    def from_dlpack(array):
        moved.append(array)
        return torch.from_numpy(array.get()).as_subclass(OnTheGpu)

    monkeypatch.setattr(
        stand_in, "from_dlpack", lambda value: stand_in.asarray(np.asarray(value.tolist(), "f4"))
    )
    monkeypatch.setattr(torch, "from_dlpack", from_dlpack)
    x, w = (torch.from_numpy(array).as_subclass(OnTheGpu) for array in (X, W))
    traced = tc.trace(tc.conv2d, x, w)
    assert traced.backend == "cupy"
    assert type(traced.result) is OnTheGpu
    assert type(moved[0]) is stand_in.ndarray
    assert not [stage.name for stage in traced.stages if stage.name.startswith("copy")]
    assert np.array_equal(np.asarray(traced.result.tolist()), tc.conv2d(X, W))


# ---------------------------------------------------------------------------------------------
# PyTorch: derivatives
# ---------------------------------------------------------------------------------------------


def recorded(torch, *shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def image(torch, layout, rows, cols, channels):
    sizes = {"N": 1, "H": rows, "W": cols, "C": channels}
    return recorded(torch, *(sizes[letter] for letter in layout))


OPS = {
    "conv2d": lambda t, f: (
        lambda x, w, b: tc.conv2d(x, w, (2, 1), "SAME", f, bias=b),
        (image(t, f, 4, 3, 4), recorded(t, 2, 3, 2, 2), recorded(t, 2)),
    ),
    "dilated": lambda t, f: (
        lambda x, w: tc.conv2d(x, w, 1, ((2, 0), (-1, 1)), f, 2),
        (image(t, f, 3, 4, 2), recorded(t, 2, 2, 2, 1)),
    ),
    "depthwise": lambda t, f: (
        lambda x, w, b: tc.depthwise_conv2d(x, w, 2, ((1, 0), (0, 1)), f, bias=b),
        (image(t, f, 3, 4, 2), recorded(t, 2, 2, 2, 2), recorded(t, 4)),
    ),
    "transposed": lambda t, f: (
        lambda x, w, b: tc.conv2d_transpose(x, w, None, 2, "SAME", f, bias=b),
        (image(t, f, 2, 3, 2), recorded(t, 3, 2, 1, 2), recorded(t, 1)),
    ),
    "transposed, an output_padding above the stride": lambda t, f: (
        lambda x, w: tc.conv2d_transpose(x, w, None, (2, 1), "VALID", f, 3, output_padding=(2, 1)),
        (image(t, f, 2, 3, 1), recorded(t, 2, 2, 1, 1)),
    ),
    "input gradient": lambda t, f: (
        lambda w, dy: tc.conv2d_backprop_input(image(t, f, 4, 3, 2).shape, w, dy, 2, "SAME", f),
        (recorded(t, 3, 2, 2, 1), image(t, f, 2, 2, 1)),
    ),
    "filter gradient": lambda t, f: (
        lambda x, dy: tc.conv2d_backprop_filter(x, (3, 2, 2, 1), dy, 2, "SAME", f),
        (image(t, f, 4, 3, 2), image(t, f, 2, 2, 1)),
    ),
    "depthwise input gradient": lambda t, f: (
        lambda w, dy: tc.depthwise_conv2d_backprop_input(image(t, f, 4, 3, 2).shape, w, dy, 2, "SAME", f),
        (recorded(t, 3, 2, 2, 2), image(t, f, 2, 2, 4)),
    ),
    "depthwise filter gradient": lambda t, f: (
        lambda x, dy: tc.depthwise_conv2d_backprop_filter(x, (3, 2, 2, 2), dy, 2, "SAME", f),
        (image(t, f, 4, 3, 2), image(t, f, 2, 2, 4)),
    ),
}


@pytest.mark.parametrize("layout", ["NHWC", "NCHW"])
@pytest.mark.parametrize("op", OPS)
def test_gradcheck_and_gradgradcheck(torch, op, layout):
    function, arguments = OPS[op](torch, layout)
    assert torch.autograd.gradcheck(function, arguments, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(function, arguments, check_fwd_over_rev=True)


def test_gradcheck_can_fail(torch, monkeypatch):
    from teachconv.arrays import gradient_rules

    monkeypatch.setattr(gradient_rules, "_gradient", lambda op, name, a, g: 2 * a[name])
    function, arguments = OPS["dilated"](torch, "NHWC")
    with pytest.raises(sys.modules["torch.autograd.gradcheck"].GradcheckError):  # a function hides the module
        torch.autograd.gradcheck(function, arguments)


DIALECTS = {
    "conv2d": (((2, 4, 5, 6), (6, 2, 3, 2), (6,)), {"stride": 2, "padding": (1, 1), "groups": 2}),
    "conv2d, same": (((2, 4, 5, 6), (6, 4, 3, 2)), {"padding": "same"}),
    "conv2d, no batch": (((4, 5, 6), (6, 4, 3, 2)), {"dilation": 2}),
    "conv_transpose2d": (
        ((2, 4, 3, 4), (4, 3, 3, 2), (6,)),
        {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2},
    ),
}


@pytest.mark.parametrize("name", DIALECTS)
def test_torch_derivatives_are_those_of_pytorch(torch, name):
    shapes, kwargs = DIALECTS[name]
    arguments = [recorded(torch, *shape) for shape in shapes]
    op = name.partition(",")[0]
    ours = getattr(tc.dialects.torch, op)(*arguments, **kwargs)
    theirs = getattr(torch.nn.functional, op)(*arguments, **kwargs)
    torch.testing.assert_close(ours, theirs)
    g = torch.randn_like(theirs)
    for mine, yours in zip(
        torch.autograd.grad(ours, arguments, g), torch.autograd.grad(theirs, arguments, g), strict=True
    ):
        torch.testing.assert_close(mine, yours)


def test_torch_func(torch):
    x, w = torch.from_numpy(X), torch.from_numpy(W)
    many = torch.stack([x, 2 * x])

    def loss(w, x):
        return (tc.conv2d(x, w, 2, "SAME") ** 2).sum()

    plain = w.clone().requires_grad_()
    want = torch.autograd.grad(loss(plain, x), plain)[0]
    assert torch.equal(torch.func.grad(loss)(w, x), want)
    assert torch.equal(torch.func.vmap(lambda x: tc.conv2d(x, w))(many)[1], tc.conv2d(2 * x, w))
    each = torch.func.vmap(torch.func.grad(loss), (None, 0))(w, many)
    assert torch.equal(each[1], 4 * want)
    forward = torch.func.jacfwd(loss, 0)(w, x)
    assert torch.equal(forward, want)
    curved = torch.func.hessian(lambda w: loss(w, x[:1, :2, :2]))(w[:2, :2])  # forward over reverse
    assert torch.equal(
        curved, torch.func.jacrev(torch.func.jacrev(lambda w: loss(w, x[:1, :2, :2])))(w[:2, :2])
    )
    pushed = torch.func.vmap(lambda t: torch.func.jvp(lambda w: tc.conv2d(x, w), (w,), (t,))[1])
    assert torch.equal(pushed(torch.stack([w, -w]))[1], -tc.conv2d(x, w))
    mapped = torch.func.jvp(torch.func.vmap(lambda x: tc.conv2d(x, w)), (many,), (many,))
    assert torch.equal(*mapped)


def test_a_dual_tensor_keeps_its_tangent(torch):
    ad = torch.autograd.forward_ad
    x, w, b = torch.from_numpy(X), torch.from_numpy(W), torch.ones(6)
    with ad.dual_level():
        dx, dw = ad.make_dual(x, 2 * x), ad.make_dual(w, 3 * w)
        db = ad.make_dual(b, 7 * b)
        plain = tc.conv2d(x, w)
        for name, result, tangent in (
            ("input", tc.conv2d(dx, w), 2 * plain),
            ("filters, the input from NumPy", tc.conv2d(X, dw), 3 * plain),
            ("all three", tc.conv2d(dx, dw, bias=db), 5 * plain + 7),
            ("bias alone", tc.conv2d(x, w, bias=db), torch.full_like(plain, 7)),
        ):
            assert torch.equal(ad.unpack_dual(result).tangent, tangent), name
        with torch.no_grad():  # which stops backward mode alone
            assert torch.equal(ad.unpack_dual(tc.conv2d(dx, w)).tangent, 2 * plain)
        n, theirs = (torch.permute(one, (0, 3, 1, 2)) for one in (dx, x))
        dialect = tc.dialects.torch.conv2d(n, w.permute(3, 2, 0, 1), padding=1)
        want = tc.dialects.torch.conv2d(2 * theirs, w.permute(3, 2, 0, 1), padding=1)
        assert torch.equal(ad.unpack_dual(dialect).tangent, want)
        infinite = torch.full_like(x, torch.inf)
        moved = ad.unpack_dual(tc.conv2d(infinite, w, bias=db)).tangent
        assert torch.equal(moved, torch.full_like(plain, 7))  # no tangent is not one of zeros: 0 * inf
        with pytest.raises(TypeError, match="out must not be given where a derivative is recorded"):
            tc.conv2d(dx, w, out=torch.empty(2, 3, 4, 6))
        with pytest.raises(TypeError, match="teachconv.plan has no derivative"):
            tc.plan(tc.conv2d, w, input_shape=X.shape)(dx)
        with pytest.raises(TypeError, match="filters requires a gradient, has a tangent"):
            tc.plan(tc.conv2d, dw, input_shape=X.shape)


COMPILED = """
import warnings
warnings.filterwarnings("error", message="Dynamo ")  # given where it traces what it should not
import torch, numpy as np, teachconv as tc

x, w = torch.ones(1, 5, 5, 2), torch.ones(3, 3, 2, 4)
functions = {
    "op": lambda x, w: 2 * tc.conv2d(x + 1, w),
    "itself": tc.conv2d,
    "dialect": lambda x, w: tc.dialects.keras.conv(x + 1, w) / 2,
    "plan": lambda x, w: tc.plan(tc.conv2d, w.detach(), input_shape=(1, 5, 5, 2))(x + 1),
    "trace": lambda x, w: tc.trace(tc.conv2d, x + 1, w).result,
}
for name in [FIRST, *functions]:
    f = functions[name]
    compiled = torch.compile(f, backend="eager")
    for size in (5, 5, 4)[: 2 if name == "plan" else 3]:
        assert torch.equal(compiled(x[:, :size], w), f(x[:, :size], w)), name
    compiled(x, w.clone().requires_grad_()).sum().backward() if name != "plan" else None
    assert type(torch.compile(tc.conv2d, backend="eager")(x.numpy(), w.numpy())) is np.ndarray
try:
    torch.compile(lambda x, w: tc.conv2d(x, w) + 1, backend="eager", fullgraph=True)(x, w)
except Exception as error:
    assert "teachconv computes with NumPy arrays" in str(error), error
else:
    raise AssertionError("no graph can hold the op")
print("done")
"""


@pytest.mark.parametrize("first", ["op", "itself", "plan"])
def test_torch_compile_leaves_the_op_out(torch, first):
    """In a process of its own, whose first call of ours the compiler meets; no wrapper is needed."""
    program = COMPILED.replace("FIRST", repr(first))
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.stdout.strip() == "done", done.stderr


def test_torch_traced_or_without_memory_is_refused(torch):
    """What a trace records of the op is a constant, and DLPack reads any memory for a tensor without its own."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.fx.experimental.proxy_tensor import make_fx

    x, w = torch.from_numpy(X), torch.from_numpy(W)

    def convolve(x):
        return tc.conv2d(x, w) + 1

    with FakeTensorMode() as mode:
        fake = mode.from_tensor(x)
    for name, call in {
        "make_fx": lambda: make_fx(convolve)(x),
        "jit.trace": lambda: torch.jit.trace(convolve, x),
        "linearize": lambda: torch.func.linearize(convolve, x),
        "fake": lambda: convolve(fake),
        "functional": lambda: convolve(torch._to_functional_tensor(x)),
        "masked": lambda: convolve(torch.masked.masked_tensor(x, x > 0)),
    }.items():
        with pytest.raises(TypeError, match="input must be a tensor whose numbers can be read now; got"):
            pytest.fail(f"{name} gave {call()}")
    zeros = torch._efficientzerotensor(X.shape)  # a tangent of PyTorch's own may be one
    assert torch.equal(convolve(zeros), torch.ones(2, 3, 4, 6))
    with pytest.raises(TypeError, match=r"takes no tensors that torch.autograd batches.*torch.func.jacrev"):
        torch.autograd.functional.jacobian(convolve, x, vectorize=True)


def test_only_what_is_wanted_is_computed(torch, monkeypatch):
    from teachconv.arrays import gradient_rules

    right = gradient_rules._gradient

    def of_filters(op, name, a, g):
        assert name == "filters", "nobody wants this gradient"
        return right(op, name, a, g)

    monkeypatch.setattr(gradient_rules, "_gradient", of_filters)
    w = torch.from_numpy(W).requires_grad_()
    tc.conv2d(torch.from_numpy(X), w).sum().backward()
    assert w.grad.shape == W.shape


def test_torch_takes_the_call_over_from_numpy(torch):
    w = torch.from_numpy(W).requires_grad_()
    y = tc.conv2d(X, w, bias=np.ones(6, "float32"), backend="reference")
    assert y.requires_grad
    y.sum().backward()
    want = tc.conv2d_backprop_filter(X, W.shape, np.ones(y.shape, "float32"))
    assert np.array_equal(w.grad.numpy(), want)
    with torch.no_grad():
        assert type(tc.conv2d(X, w)) is np.ndarray
        assert not tc.conv2d(torch.from_numpy(X), w).requires_grad


def test_tools_take_what_requires_a_gradient(torch):
    x, w = torch.from_numpy(X).requires_grad_(), torch.nn.Parameter(torch.from_numpy(W))
    want = tc.conv2d(X, W)
    assert tc.trace(tc.conv2d, x, w).result.requires_grad
    assert tc.explain(tc.conv2d, x, w, at=(0, 1, 2, 3)).value == want[0, 1, 2, 3]
    assert tc.diff(tc.conv2d, x, w, backends="numpy", against={"it": tc.conv2d(x, w)}).passed
    assert tc.explore(tc.conv2d, x, w).beside(tc.conv2d(x, w)).html()
    assert tc.check_gradients(tc.conv2d, x.double(), w.double(), cells=2).passed


# ---------------------------------------------------------------------------------------------
# JAX
# ---------------------------------------------------------------------------------------------


def their_conv(jax, x, w, strides=(2, 2)):
    return jax.lax.conv_general_dilated(x, w, strides, "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def test_jax_in_and_out(jax):
    x, w = jax.numpy.asarray(X), jax.numpy.asarray(W)
    y = tc.conv2d(x, w, 2, "SAME")
    assert isinstance(y, jax.Array)
    assert np.array_equal(y, tc.conv2d(X, W, 2, "SAME"))
    half = tc.conv2d(x.astype("bfloat16"), w.astype("bfloat16"))
    assert half.dtype == jax.numpy.bfloat16
    assert np.array_equal(half.astype("float32"), tc.conv2d(X, W).astype(half.dtype).astype("float32"))
    with pytest.raises(TypeError, match="out must be an array that can be written to"):
        tc.conv2d(x, w, out=y)
    assert type(tc.conv2d(X, w)) is np.ndarray


def test_jit_grad_and_vmap(jax):
    x, w, b = jax.numpy.asarray(X), jax.numpy.asarray(W), jax.numpy.ones(6)

    def ours(x, w, b):
        return (tc.conv2d(x, w, [1, 2, 2, 1], "SAME", bias=b) ** 2).sum()

    def theirs(x, w, b):
        return ((their_conv(jax, x, w) + b) ** 2).sum()

    want = jax.grad(theirs, (0, 1, 2))(x, w, b)
    for gradient in (jax.grad(ours, (0, 1, 2)), jax.jit(jax.grad(ours, (0, 1, 2)))):
        for mine, yours in zip(gradient(x, w, b), want, strict=True):
            assert np.array_equal(mine, yours)  # small integers: every sum is exact
    many = jax.numpy.stack([x, x + 1, 2 * x])
    assert np.array_equal(jax.vmap(ours, (0, None, None))(many, w, b), [ours(one, w, b) for one in many])
    each = jax.jit(jax.vmap(jax.grad(ours, 1), (0, None, None)))(many, w, b)
    assert np.array_equal(each, jax.vmap(jax.grad(theirs, 1), (0, None, None))(many, w, b))
    both = jax.vmap(jax.vmap(lambda x, w: tc.conv2d(x, w), (None, 0)), (0, None))(
        many, jax.numpy.stack([w, -w])
    )
    assert np.array_equal(both[2, 1], tc.conv2d(2 * X, -W))


def test_second_derivatives_in_jax(jax):
    x, w = jax.numpy.asarray(X), jax.numpy.asarray(W)

    def twice(conv):
        inner = jax.grad(lambda w: (conv(x, w) ** 3).sum() / 1e3)
        return jax.grad(lambda w: (inner(w) ** 2).sum())(w)

    mine, yours = twice(lambda x, w: tc.conv2d(x, w, 2, "SAME")), twice(lambda x, w: their_conv(jax, x, w))
    np.testing.assert_allclose(mine, yours, rtol=1e-4)


def test_every_op_under_jit(jax):
    x, w = jax.numpy.asarray(X), jax.numpy.asarray(W)
    y = tc.conv2d(X, W, 2, "SAME")
    d = np.ascontiguousarray(W[:, :, :, :2])
    calls = [
        (tc.conv2d_transpose, (y, W, X.shape, 2, "SAME")),
        (tc.depthwise_conv2d, (X, d, 2, "SAME")),
        (tc.conv2d_backprop_input, (X.shape, W, y, 2, "SAME")),
        (tc.conv2d_backprop_filter, (X, W.shape, y, 2, "SAME")),
        (tc.depthwise_conv2d_backprop_input, (X.shape, d, tc.depthwise_conv2d(X, d))),
        (tc.depthwise_conv2d_backprop_filter, (X, d.shape, tc.depthwise_conv2d(X, d))),
    ]
    for op, args in calls:
        places = [i for i, item in enumerate(args) if isinstance(item, np.ndarray)]

        def traced(*arrays, op=op, args=args, places=places):
            given = dict(zip(places, arrays, strict=True))
            return op(*(given.get(i, item) for i, item in enumerate(args)))

        got = jax.jit(traced)(*(jax.numpy.asarray(args[i]) for i in places))
        assert np.array_equal(got, op(*args)), op.__name__
    dialect = tc.dialects.jax.conv_general_dilated
    layout = ("NHWC", "HWIO", "NHWC")
    loss = jax.grad(lambda w: (dialect(x, w, (2, 2), "SAME", dimension_numbers=layout) ** 2).sum())
    theirs = jax.grad(lambda w: (their_conv(jax, x, w) ** 2).sum())
    assert np.array_equal(jax.jit(loss)(w), theirs(w))


def test_the_default_backend_reaches_the_callback(jax, monkeypatch):
    """JAX runs it in a thread of its own, which does not see the block of `use_backend`."""
    from teachconv.backends import numpy_backend

    calls, plain = [], numpy_backend.conv2d
    monkeypatch.setattr(
        numpy_backend, "conv2d", lambda *args, **kwargs: calls.append(1) or plain(*args, **kwargs)
    )
    with tc.use_backend("numpy"):
        got = jax.jit(lambda x: tc.conv2d(x, W))(jax.numpy.asarray(X))
    assert np.array_equal(got, tc.conv2d(X, W))
    assert calls == [1]


def test_jax_refused(jax):
    x, w = jax.numpy.asarray(X), jax.numpy.asarray(W)

    def convolve(w):
        return tc.conv2d(x, w)

    with pytest.raises(
        TypeError, match=r"conv2d has no forward-mode derivative, which jax.jvp .*use\s+jax.grad"
    ):
        jax.jvp(lambda w: tc.conv2d(x, w), (w,), (w,))
    with pytest.raises(TypeError, match="conv2d has no forward-mode derivative"):
        jax.jacfwd(lambda w: tc.conv2d(x, w))(w)
    for inner in (lambda: jax.jvp(jax.jit(convolve), (w,), (w,)), lambda: jax.linearize(convolve, w)[1](w)):
        with pytest.raises(TypeError, match="forward-mode"):  # JAX's own error: the op has run by then
            inner()
    with pytest.raises(ValueError, match='did you mean "SAME"'):  # while JAX traces, not in the callback
        jax.jit(lambda w: tc.conv2d(x, w, padding="SMAE"))(w)
    with pytest.raises(ValueError, match="algorithm of backend"):
        jax.jit(lambda w: tc.conv2d(x, w, algorithm="fastest"))(w)
    with pytest.raises(TypeError, match="filters must have the dtype of input"):
        jax.jit(lambda w: tc.conv2d(x, w.astype("float16")))(w)
    with pytest.raises(TypeError, match="float64, which JAX has only after"):
        jax.jit(lambda w: tc.conv2d(X.astype("float64"), w))(w)
    with pytest.raises(TypeError, match="has no values while JAX traces"):
        jax.jit(lambda w: tc.explain(tc.conv2d, x, w, at=(0, 0, 0, 0)).value)(w)
    with pytest.raises(TypeError, match="output_shape must be known while JAX traces"):
        jax.jit(lambda s: tc.conv2d_transpose(x, w, s))(jax.numpy.asarray([2, 5, 6, 4]))
    with pytest.raises(TypeError, match="out must not be given"):
        jax.jit(lambda w: tc.conv2d(x, w, out=np.empty((2, 3, 4, 6), "float32")))(w)


ABOVE_A_MEGABYTE = """
import os
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:2])
import jax, jax.numpy as jnp, numpy as np, teachconv as tc
from teachconv.arrays import jax as adapter

x = jnp.asarray(np.random.default_rng(0).integers(-2, 3, (4, 64, 64, 32)), "float32")
w = jnp.asarray(np.random.default_rng(1).integers(-2, 3, (3, 3, 32, 32)), "float32")
assert x.nbytes == 2 << 20

def loss(w, k):
    y = tc.conv2d(x * k, w, padding="SAME")
    z = tc.conv2d(x + k, w, 2) + tc.conv2d(x - k, w, 2)
    return (jnp.tanh(y) ** 2).sum() + (z ** 2).mean()

step = jax.jit(jax.grad(loss))
results = [step(w, k) for k in range(8)]  # all in flight at once
jax.block_until_ready(results)
y = jax.jit(lambda x, w: tc.conv2d(x, w))(x, w)
assert np.array_equal(y, tc.conv2d(np.asarray(x), np.asarray(w)))
print("done")
"""


def test_jax_above_a_megabyte_on_two_cores(jax):
    """A callback that waits for JAX deadlocks for arrays of this size, where all of JAX's threads wait for it."""
    done = subprocess.run(
        [sys.executable, "-c", ABOVE_A_MEGABYTE], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.stdout.strip() == "done", done.stderr


def test_the_callback_calls_no_jax(jax, monkeypatch):
    """The host function runs our op on NumPy arrays alone."""
    from teachconv.arrays import jax as adapter

    seen = []
    wrapped = adapter.Jax.to_array
    monkeypatch.setattr(
        adapter.Jax, "to_array", lambda self, value, name: seen.append(name) or wrapped(self, value, name)
    )
    x, w = jax.numpy.asarray(X), jax.numpy.asarray(W)
    got = jax.jit(lambda x, w: tc.conv2d(x, w, dilations=2))(x, w)
    assert np.array_equal(got, tc.conv2d(X, W, dilations=2))
    assert seen == []
