"""Random calls over one axis and over three, equal to five frameworks' (make test-peers).

Each call is computed by the framework and by every backend of `RAN`, by conv1d, conv3d and their relatives. The data
are small integers, whose sums are exact in any order. Only calls that the framework can compute are drawn, so none is
skipped. Every run compares the first of ten parts of the 12,000 calls of TensorFlow, PyTorch and JAX, and of those of
onnxruntime and Keras, which have no gradients of their own; `python -m pytest -m "" tests/peers/test_ranks_live.py`
compares all of them.
"""

from itertools import product

import numpy as np
import pytest
from peers import frameworks
from peers.sweeps import Chooser

import teachconv as tc
from teachconv.core.geometry import conv_geometry
from teachconv.core.kinds import layout_of

pytestmark = [pytest.mark.peers, pytest.mark.filterwarnings("ignore")]  # of the frameworks' own code

RAN = ("reference", "numpy", "scipy", "cython")
RANKS = (1, 3)
OPS = ("convolution", "conv_transpose", "convolution_backprop_input", "convolution_backprop_filter")
PARTS, CALLS = 10, 51  # of each op and rank in each framework; a few of rank 1 are equal


class Problem(Chooser):
    """A random call of an op: a convolution that takes x to y with the filters w, and what is computed of it."""

    def __init__(self, framework, op, rank, number):
        super().__init__([list(EVERY).index(framework), OPS.index(op), rank, number])
        self.op, self.rank, self.options, self.extra = op, rank, {}, ()
        self.forward, self.transposed = op == "convolution", op == "conv_transpose"
        EVERY[framework][0](self)

    def draw(self, pads, *, groups=3, strides=3, dilations=3, dtype=None, first=True):
        """Choose sizes and arguments, up to the numbers given; no result is empty.

        ``pads`` is a padding word of teachconv's, or a function that gives (before, after) for an axis of a given
        effective filter. ``first`` allows channels first.
        """
        self.dtype, last = dtype or self.of("float32", "float64"), layout_of("input", self.rank)
        self.layout = self.of(last, last[0] + "C" + last[1:-1]) if first else last
        self.batch, self.groups = self.int(1, 2), self.int(1, groups)
        self.ins, self.outs = (self.groups * self.int(1, 2) for _ in range(2))
        axes = [self._axis(pads, strides, dilations) for _ in range(self.rank)]
        self.sizes, self.taps, self.strides, self.dilations, self.reach, pairs = zip(*axes, strict=True)
        self.padding = pads if isinstance(pads, str) else pairs

    def _axis(self, pads, strides, dilations):
        """An axis: the size of the op's input, taps, stride, dilation, effective filter, pads."""
        while True:
            n, k, s, d = self.int(1, 9), self.int(1, 4), self.int(1, strides), self.int(1, dilations)
            reach = (k - 1) * d + 1
            pair = (0, 0) if isinstance(pads, str) else pads(reach)
            left = (n - 1) * s + reach - sum(pair) if self.transposed else n + sum(pair) - reach + 1
            if left > 0 or pads in ("SAME", "SAME_LOWER"):
                return n, k, s, d, reach, pair

    def fill(self, results=None):
        """Make the arrays; ``results`` are the sizes of a transposed convolution's result."""
        self.x_shape = self.along(results or self.sizes, self.batch, self.ins)
        self.w_shape = (*self.taps, self.ins // self.groups, self.outs)
        if self.transposed:
            y_shape = self.along(self.sizes, self.batch, self.outs)
        else:
            y_shape = conv_geometry(self.x_shape, self.w_shape, **self.words()).output_shape
        self.x, self.w, self.y = (
            self.random.integers(-3, 4, shape).astype(self.dtype)
            for shape in (self.x_shape, self.w_shape, y_shape)
        )

    def along(self, numbers, batch, channels):
        """Numbers for the axes, with those for batch and channels, in the order of the layout."""
        return (batch, channels, *numbers) if self.layout[1] == "C" else (batch, *numbers, channels)

    def least(self):
        """The sizes of a transposed convolution's result, less than a stride of which may be added."""
        if self.padding == "SAME":
            return [(n - 1) * s + 1 for n, s in zip(self.sizes, self.strides, strict=True)]
        pairs = [(0, 0)] * self.rank if self.padding == "VALID" else self.padding
        axes = zip(self.sizes, self.strides, self.reach, pairs, strict=True)
        return [(n - 1) * s + reach - sum(pair) for n, s, reach, pair in axes]

    def words(self):
        """The arguments that all ops have, in teachconv's words."""
        words = {"strides": self.strides, "padding": self.padding, "dilations": self.dilations}
        return words | {"data_format": self.layout}

    def ours(self, backend):
        """The result here."""
        arrays = {
            "convolution": (self.x, self.w),
            "conv_transpose": (self.y, self.w),
            "convolution_backprop_input": (self.x_shape, self.w, self.y),
            "convolution_backprop_filter": (self.x, self.w_shape, self.y),
        }
        name = self.op.replace("convolution", "conv").replace("conv", f"conv{self.rank}d")
        return getattr(tc, name)(*arrays[self.op], **self.words(), **self.options, backend=backend)

    def __str__(self):
        facts = self.words() | self.options
        return f"{self.op} {self.dtype}: x {self.x_shape}, w {self.w_shape}, y {self.y.shape}, {facts}"


# ---------------------------------------------------------------------------------------------
# TensorFlow
# ---------------------------------------------------------------------------------------------


def draw_tensorflow(p):
    """A call of tf.nn or of the tape; pairs by conv2d on one row, because conv1d and conv3d take words only."""
    pairs, double = p.rank == 1 and p.maybe(0.3), p.maybe()
    # on a CPU, float64 has no channels first and no dilated volumes; gradients of float64, or with pairs, have neither
    # channels first nor dilations nor groups; volumes have no groups
    plain = not p.forward and (double or pairs)
    arguments = {
        "pads": (lambda reach: p.two(0, 3)) if pairs else p.of("SAME", "VALID"),
        "groups": 1 if plain or p.rank == 3 else 3,
        "dilations": 1 if plain or (double and p.rank == 3) else 3,
        "dtype": "float64" if double else "float32",
        "first": not (plain or double),
    }
    p.draw(**arguments)
    while p.rank == 3 and p.forward and double and p.padding == "SAME" and frameworks.cropped_by_eigen(p):
        p.draw(**arguments)
    if not p.transposed:
        return p.fill()
    p.fill([size + p.int(0, s - 1) for size, s in zip(p.least(), p.strides, strict=True)])
    p.options = {"output_shape": p.x_shape}


def tensorflow(p):
    tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed")
    kind, layout, padding, row = f"conv{p.rank}d", p.layout, p.padding, None
    x, w, y = tf.constant(p.x), tf.constant(p.w), tf.constant(p.y)
    strides, dilations = (p.along(numbers, 1, 1) for numbers in (p.strides, p.dilations))
    if not isinstance(padding, str):  # one row of an image
        row = layout.index("W")
        kind, layout = "conv2d", layout.replace("W", "HW")
        x, y, w = tf.expand_dims(x, row), tf.expand_dims(y, row), w[None]
        padding = p.along([(0, 0), *padding], (0, 0), (0, 0))
        strides, dilations = (p.along((1, *numbers), 1, 1) for numbers in (p.strides, p.dilations))
    words = strides, padding, layout, dilations
    if p.transposed:
        result = getattr(tf.nn, kind + "_transpose")(y, w, x.shape, *words)
    else:
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            result = getattr(tf.nn, kind)(x, w, *words)
        if not p.forward:
            result = tape.gradient(result, x if p.op.endswith("input") else w, output_gradients=y)
    if row:
        result = tf.squeeze(result, 0 if p.op.endswith("filter") else row)
    return result.numpy()


# ---------------------------------------------------------------------------------------------
# PyTorch
# ---------------------------------------------------------------------------------------------


def draw_torch(p):
    """Padding by a number for both sides of an axis, or by a word, of which "same" knows stride 1 only."""
    word = "" if p.transposed else p.of("", "", "SAME", "VALID")
    p.draw(word or (lambda reach: [p.int(0, 3)] * 2), strides=1 if word == "SAME" else 3)
    if not p.transposed:
        return p.fill()
    # beyond the stride, up to the dilation, by output_padding: with several groups ours asks for output_shape
    wide = p.groups == 1 and p.maybe()
    most = [max(s, d) if wide else s for s, d in zip(p.strides, p.dilations, strict=True)]
    p.extra = [p.int(0, end - 1) for end in most]
    p.fill([size + more for size, more in zip(p.least(), p.extra, strict=True)])
    p.options = {"output_padding": p.extra} if wide else {"output_shape": p.x_shape}


def torch(p):
    torch = pytest.importorskip("torch", reason="torch is not installed")

    def tensor(array):
        return torch.from_numpy(np.ascontiguousarray(array)).requires_grad_()

    last = p.layout[-1] == "C"
    x, y = (tensor(np.moveaxis(array, -1, 1) if last else array) for array in (p.x, p.y))
    w = tensor(p.w.transpose(-1, -2, *range(p.rank)))
    padding = p.padding.lower() if isinstance(p.padding, str) else [before for before, _ in p.padding]
    if p.transposed:
        convolve = getattr(torch.nn.functional, f"conv_transpose{p.rank}d")
        result = convolve(y, w, None, p.strides, padding, p.extra, p.groups, p.dilations)
    else:
        convolve = getattr(torch.nn.functional, f"conv{p.rank}d")
        result = convolve(x, w, None, p.strides, padding, p.dilations, p.groups)
    if p.op.endswith("filter"):
        (gradient,) = torch.autograd.grad(result, w, y)
        return gradient.numpy().transpose(*range(2, p.rank + 2), 1, 0)
    if p.op.endswith("input"):
        (result,) = torch.autograd.grad(result, x, y)
    result = result.detach().numpy()
    return np.moveaxis(result, 1, -1) if last else result


# ---------------------------------------------------------------------------------------------
# JAX
# ---------------------------------------------------------------------------------------------


def draw_jax(p):
    """conv_general_dilated, alone, transformed by vjp or with lhs_dilation, or conv_transpose in both its senses."""
    p.way = p.of("conv_transpose", "consistent", "lhs_dilation") if p.transposed else p.op

    def pads(
        reach,
    ):  # both of one sign, as JAX counts: else it may read past the row, see `frameworks.wrong_in_jax`
        low, high = p.of(p.two(0, 4), p.two(0, 4), p.two(-2, 0))
        return (reach - 1 - low, reach - 1 - high) if p.transposed else (low, high)

    words = ("SAME", "SAME_LOWER", "VALID")
    if p.transposed:
        words = () if p.way == "lhs_dilation" else ("SAME", "VALID")
    p.draw(p.of(pads, *words), groups=1 if p.way in ("conv_transpose", "consistent") else 3)
    if not p.transposed:
        return p.fill()
    sizes = p.least()
    if isinstance(p.padding, str):
        sizes = [max(size, n * s) for size, n, s in zip(sizes, p.sizes, p.strides, strict=True)]
    p.fill(sizes)
    p.options = {"output_shape": p.x_shape} if p.groups > 1 else {}


def jax(p):
    jax = pytest.importorskip("jax", reason="jax is not installed")
    numbers = (p.layout, "DHW"[-p.rank :] + "IO", p.layout)
    more = {"rhs_dilation": p.dilations, "dimension_numbers": numbers}
    padding = p.padding
    if p.way in ("conv_transpose", "lhs_dilation"):
        # the filters of the convolution at stride 1, and the pads that it has
        w = np.flip(p.w, range(p.rank)).reshape(*p.taps, p.w_shape[-2], p.groups, -1)
        w = w.swapaxes(-1, -3).reshape(*p.taps, -1, p.ins)
        if not isinstance(padding, str):
            padding = [(r - 1 - low, r - 1 - high) for r, (low, high) in zip(p.reach, padding, strict=True)]

    def convolve(x, w):
        return jax.lax.conv_general_dilated(x, w, p.strides, padding, feature_group_count=p.groups, **more)

    with jax.enable_x64(p.dtype == "float64"):
        if p.way == "convolution":
            result = convolve(p.x, p.w)
        elif p.way == "conv_transpose":
            result = jax.lax.conv_transpose(p.y, w, p.strides, padding, **more)
        elif p.way == "consistent":
            more |= {"transpose_kernel": True, "use_consistent_padding": True}
            result = jax.lax.conv_transpose(p.y, p.w, p.strides, padding, **more)
        elif p.way == "lhs_dilation":
            more |= {"lhs_dilation": p.strides, "feature_group_count": p.groups}
            result = jax.lax.conv_general_dilated(p.y, w, (1,) * p.rank, padding, **more)
        else:
            wanted = 0 if p.op.endswith("input") else 1
            result = jax.jit(lambda x, w, y: jax.vjp(convolve, x, w)[1](y)[wanted])(p.x, p.w, p.y)
        return np.asarray(result)


# ---------------------------------------------------------------------------------------------
# onnxruntime
# ---------------------------------------------------------------------------------------------


def draw_onnx(p):
    """Conv and ConvTranspose with pads of their own on each side, or Conv by a word, which goes without dilation."""
    word = "" if p.transposed else p.of("", "", "SAME", "SAME_LOWER", "VALID")
    p.draw(word or (lambda reach: p.two(0, 3)), dilations=1 if word else 3, dtype="float32")
    if not p.transposed:
        return p.fill()
    p.extra = [p.int(0, s - 1) for s in p.strides]
    p.fill([size + more for size, more in zip(p.least(), p.extra, strict=True)])
    p.options = {"output_shape": p.x_shape}


def onnx(p):
    last, x = p.layout[-1] == "C", p.y if p.transposed else p.x
    arrays = {"X": np.moveaxis(x, -1, 1) if last else x, "W": p.w.transpose(-1, -2, *range(p.rank))}
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    words = {"strides": p.strides, "dilations": p.dilations, "group": p.groups}
    if isinstance(p.padding, str):
        words["auto_pad"] = {"SAME": "SAME_UPPER"}.get(p.padding, p.padding)
    else:
        words["pads"] = [side for sides in zip(*p.padding, strict=True) for side in sides]
    words |= {"output_padding": p.extra} if p.transposed else {}
    result = frameworks.onnx("conv_transpose" if p.transposed else "conv", arrays, words)
    return np.moveaxis(result, 1, -1) if last else result


# ---------------------------------------------------------------------------------------------
# Keras
# ---------------------------------------------------------------------------------------------


def draw_keras(p):
    """keras.ops on TensorFlow: either strides or dilations, and volumes have no groups."""
    strides, dilations = p.of((3, 1), (1, 3))
    more = {"dtype": "float32", "first": False}
    groups = 1 if p.rank == 3 or p.transposed else 3
    p.draw(p.of("SAME", "VALID"), groups=groups, strides=strides, dilations=dilations, **more)
    if not p.transposed:
        return p.fill()
    sizes = [n * s for n, s in zip(p.sizes, p.strides, strict=True)]
    p.fill(
        [
            max(size, least) if p.padding == "VALID" else size
            for size, least in zip(sizes, p.least(), strict=True)
        ]
    )


def keras(p):
    arrays = {"inputs": p.y if p.transposed else p.x, "kernel": p.w}
    words = {"strides": p.strides, "padding": p.padding.lower(), "dilation_rate": p.dilations}
    words["data_format"] = "channels_last"
    return frameworks.keras("conv_transpose" if p.transposed else "conv", arrays, words)


FRAMEWORKS = {
    "tensorflow": (draw_tensorflow, tensorflow),
    "torch": (draw_torch, torch),
    "jax": (draw_jax, jax),
}
EVERY = FRAMEWORKS | {"onnx": (draw_onnx, onnx), "keras": (draw_keras, keras)}


# ---------------------------------------------------------------------------------------------
# The comparison
# ---------------------------------------------------------------------------------------------

LONG = [pytest.mark.slow, pytest.mark.release]


@pytest.mark.parametrize("part", [pytest.param(part, marks=LONG if part else []) for part in range(PARTS)])
@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize(
    ("framework", "op"), [*product(FRAMEWORKS, OPS), *product(("onnx", "keras"), OPS[:2])]
)
def test_random_calls(framework, op, rank, part):
    compared = constant = 0
    for number in range(part * CALLS, (part + 1) * CALLS):
        p = Problem(framework, op, rank, number)
        theirs = EVERY[framework][1](p)
        constant += theirs.min() == theirs.max()
        for backend in RAN:
            ours = p.ours(backend)
            assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype), f"call {number}: {p}"
            assert np.array_equal(ours, theirs), (
                f"call {number}: {p}\n  {backend} {ours}\n  {framework} {theirs}"
            )
            compared += 1
    assert compared == CALLS * len(RAN)
    assert constant < CALLS / 4


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_the_calls_are_12_000_of_which_each_framework_has_a_third_with_every_option(framework):
    distinct = set()
    for op, rank in product(OPS, RANKS):
        seen = set()
        for number in range(PARTS * CALLS):
            p = Problem(framework, op, rank, number)
            distinct.add(str(p))
            padding = p.padding if isinstance(p.padding, str) else "pairs"
            seen |= {p.dtype, p.layout, p.groups, padding}
            if any(s > 1 < d for s, d in zip(p.strides, p.dilations, strict=True)):
                seen.add("stride and dilation")
            if p.extra and any(more >= s for more, s in zip(p.extra, p.strides, strict=True)):
                seen.add("beyond the stride")
        last = layout_of("input", rank)
        want = {"float32", "float64", last, last[0] + "C" + last[1:-1], 1, "stride and dilation"}
        want |= {"SAME", "VALID", "pairs", 2, 3}
        if framework == "tensorflow" and rank == 3:
            want -= {"pairs", 2, 3}
        if framework == "torch" and op == "conv_transpose":
            want ^= {"SAME", "VALID", "beyond the stride"}
        if framework == "jax" and op != "conv_transpose":
            want.add("SAME_LOWER")
        assert seen == want, (op, rank)
    assert len(distinct) >= 12_000 / len(FRAMEWORKS)


# four taps under each framework's padding word, which shares three cells of padding out: before and after
WORDS = {
    ("tensorflow", "SAME"): (1, 2),
    ("torch", "same"): (1, 2),
    ("jax", "SAME"): (1, 2),
    ("jax", "SAME_LOWER"): (2, 1),
    ("onnx", "SAME_UPPER"): (1, 2),
    ("onnx", "SAME_LOWER"): (2, 1),
    ("keras", "same"): (1, 2),
}


def spelt(framework, word, rank):
    """The op, what it calls input and filters, and the arguments of a padding word of a framework's."""
    return {
        "tensorflow": ("convolution", "input", "filters", {"padding": word}),
        "torch": (f"conv{rank}d", "input", "weight", {"padding": word}),
        "jax": ("conv_general_dilated", "lhs", "rhs", {"window_strides": (1,) * rank, "padding": word}),
        "onnx": ("conv", "X", "W", {"auto_pad": word}),
        "keras": ("conv", "inputs", "kernel", {"padding": word, "data_format": "channels_last"}),
    }[framework]


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize(("framework", "word"), WORDS)
def test_a_padding_word_puts_the_odd_cell_where_ours_does(framework, word, rank, rng):
    x = rng.integers(-3, 4, (2, *(5, 6, 7)[:rank], 2)).astype("float32")
    w = rng.integers(-3, 4, (*(4,) * rank, 2, 3)).astype("float32")
    op, name, filters, arguments = spelt(framework, word, rank)
    first = framework in ("torch", "jax", "onnx")  # channels first, and OI
    arrays = (np.moveaxis(x, -1, 1), w.transpose(-1, -2, *range(rank))) if first else (x, w)
    theirs = frameworks.FRAMEWORKS[framework](op, dict(zip((name, filters), arrays, strict=True)), arguments)
    theirs = np.moveaxis(theirs, 1, -1) if first else theirs
    ours, pads = "SAME_LOWER" if "LOWER" in word else "SAME", WORDS[framework, word]
    for backend in RAN:
        for padding in (ours, [pads] * rank):
            assert np.array_equal(tc.convolution(x, w, padding=padding, backend=backend), theirs), padding
    assert not np.array_equal(tc.convolution(x, w, padding=[pads[::-1]] * rank), theirs)


@pytest.mark.parametrize("strides", [1, 2])
def test_causal_is_all_padding_before(strides, rng):
    keras = pytest.importorskip("keras", reason="keras is not installed")
    x, w = (rng.integers(-3, 4, shape).astype("float32") for shape in ((2, 9, 2), (3, 2, 3)))
    dilations = 3 if strides == 1 else 1
    layer = keras.layers.Conv1D(3, 3, strides, "causal", dilation_rate=dilations, use_bias=False)
    layer.build(x.shape)
    layer.set_weights([w])
    theirs = keras.ops.convert_to_numpy(layer(x))
    for backend in RAN:
        for padding in ("CAUSAL", ((2 * dilations, 0),)):
            ours = tc.conv1d(x, w, strides, padding, dilations=dilations, backend=backend)
            assert np.array_equal(ours, theirs)


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("word", ["SAME", "SAME_LOWER"])
def test_both_words_of_a_transpose_in_jax_are_same(word, rank, rng):
    """SAME_LOWER, which it takes at stride 1 only, pads its input's beginning more, and so crops the end more."""
    y, w = (rng.integers(-3, 4, (2, *(n,) * rank, 2)).astype("float32") for n in (5, 4))
    w = w[0][..., None] * np.float32([1, 2, 3])
    layout = "DHW"[-rank:]
    words = {"strides": (1,) * rank, "padding": word, "transpose_kernel": True}
    words["dimension_numbers"] = (f"N{layout}C", f"{layout}OI", f"N{layout}C")
    theirs = frameworks.jax("conv_transpose", {"lhs": y, "rhs": w}, words)
    for padding in ("SAME", [(1, 2)] * rank):
        for backend in RAN:
            assert np.array_equal(
                tc.conv_transpose(y, w.swapaxes(-1, -2), None, 1, padding, backend=backend), theirs
            )


def test_tensorflow_shifts_a_volume_under_same():
    """The fault of TensorFlow 2.21 that no call above has; once it is mended, this test says so."""
    tf = pytest.importorskip("tensorflow", reason="tensorflow is not installed")
    shifted = []
    for n, k, s in product(range(1, 10), range(1, 5), range(1, 7)):
        x, w = np.arange(1.0, n + 1).reshape(1, n, 1, 1, 1), 2.0 ** np.arange(k).reshape(k, 1, 1, 1, 1)
        eigen, onednn = (
            tf.nn.conv3d(x.astype(dtype), w.astype(dtype), (1, s, 1, 1, 1), "SAME").numpy()
            for dtype in ("float64", "float32")
        )
        ours = tc.convolution(x, w, (s, 1, 1), "SAME")
        assert np.array_equal(onednn, ours)
        total = (-(-n // s) - 1) * s + k - n  # where it is negative there is no padding
        pads = [(int(total / 2), total - int(total / 2)), (0, 0), (0, 0)]
        assert np.array_equal(eigen, tc.convolution(x, w, (s, 1, 1), pads))
        assert np.array_equal(eigen, ours) == (total > -2)
        shifted += [total] * (total < -1)
    assert len(shifted) > 10
