"""The law of the pages that run without Python: whole documents against Python's.

Calls are drawn at random from a seed, refused ones included. What is compared is all that a page shows:
geometry and derivation, every tap, the values of all cells, the errors, the legal output shapes and the call
translated to every framework.
"""

import json
import random
import re
from collections import Counter
from inspect import Parameter, signature
from math import prod

import numpy as np
import pytest
from explorer_tables import with_tables
from helpers import mostly_release, mostly_slow
from node import answers, needs_node

import teachconv as tc
from teachconv.core.arguments import PADDING_WORDS
from teachconv.core.law import forward_axis
from teachconv.dialects.onnx import _AUTO_PAD
from teachconv.explorer import document
from teachconv.explorer.packing import dumps
from teachconv.explorer.page import MODULES, PLAYGROUND_MODULES
from teachconv.explorer.variants import Variants
from teachconv.verification.cases import find_cases
from teachconv.windows.walking import counts

pytestmark = needs_node

CASES = find_cases("small")
FUNCTIONS = {
    "tensorflow.conv2d": tc.conv2d,
    "tensorflow.conv2d_transpose": tc.conv2d_transpose,
    "torch.conv2d": tc.dialects.torch.conv2d,
    "torch.conv_transpose2d": tc.dialects.torch.conv_transpose2d,
    "jax.conv_general_dilated": tc.dialects.jax.conv_general_dilated,
    "jax.conv_transpose": tc.dialects.jax.conv_transpose,
    "onnx.conv": tc.dialects.onnx.conv,
    "onnx.conv_transpose": tc.dialects.onnx.conv_transpose,
    "keras.conv": tc.dialects.keras.conv,
    "keras.conv_transpose": tc.dialects.keras.conv_transpose,
}
DIALECTS = ("tensorflow", "torch", "jax", "onnx", "keras")
TARGETS = ("tensorflow", "torch", "jax", "onnx", "keras")

# the page's document of each call, with its result summed from the taps, or the error
_DOCUMENTS = """
const value = (salt) => ([a, b, c, d]) => ((7 * a + 13 * b + 5 * c + 11 * d + salt) % 17 - 8) / 4;
const result = (made, call) => {
  const view = new View(made, made.base);
  const { transposed } = call.op;
  const part = partOf(call.geometry, transposed, made.at);
  const { images, inRows, inCols, inChannels, outRows, outCols, outChannels } = part;
  const axes = transposed ? [images, inRows, inCols, inChannels] : [images, outRows, outCols, outChannels];
  const [first, second, third, fourth] = axes.map(([start, stop]) => range(start, stop));
  const cells = first.flatMap((n) => second.flatMap((r) => third.flatMap((q) => fourth.map((o) => [n, r, q, o]))));
  return { axes: axes.toSpliced(3, 0, [0, 1]), values: cells.map((cell) => view.value(cell) ?? "not on the page") };
};
const given = ({ name, words }) => Object.fromEntries(Object.entries(words).map(([word, v]) => [word, fromJson(v, name.startsWith("onnx."))]));
const translations = ({ name, shapes, words, targets }) =>
  targets.map((to) => translate(name, shapes, given({ name, words }), to)).map(({ code, why }) => code || why);
const each = (answer) => (calls) => calls.map((call) => {
  try {
    return answer(call);
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
});
const documents = each((call) => {
  const made = callDocument(call.name, call.shapes, given(call), { source: value(3), filter: value(6) }, call.at);
  return { document: { ...made, result_values: result(made, resolve(call.name, call.shapes, given(call))) }, calls: translations(call) };
});
const resolved = each((call) => {
  const { axes } = resolve(call.name, call.shapes, given(call)).geometry;
  return axes.map(({ in_size, out_size, pad_before, pad_after }) => [in_size, out_size, pad_before, pad_after]);
});
const more = each((call) => {
  const { steps, geometry: g } = resolve(call.name, call.shapes, given(call));
  return [steps, g.rows.formulas, g.cols.formulas, [g.batch, g.in_channels, g.out_channels], translations(call)];
});
const pools = each(([n, k, s, d, before, after, ceil]) => {
  const axis = forward_axis("rows", n, k, s, d, "EXPLICIT", [before, after], false, ceil);
  const divisors = [false, true].map((padded) => range(0, axis.out_size).map((o) => countedCells(axis, o, padded)));
  return [axis.out_size, axis.pad_before, axis.pad_after, axis.formulas, ...divisors];
});
const geometries = each(([name, [x, w], words]) => {
  const { strides, dilations, padding, output_shape } = given({ name, words });
  const g = name === "conv2d"
    ? conv2d_geometry(x, w, strides, padding, "NHWC", dilations)
    : conv2d_transpose_geometry(x, w, output_shape, strides, padding, "NHWC", dilations);
  const axes = g.axes.map(({ formulas, legal_sizes: legal }) => [formulas, legal.length, legal[0] ?? 0]);
  return [g.input_shape, g.filters_shape, g.output_shape, g._facts(), ...axes];
});
const words = () => JSON.parse(JSON.stringify(FUNCTIONS, (name, value) => (value === undefined ? "required" : value)));
const unpack = (text) => unpacked(JSON.parse(text));
"""


@pytest.fixture(scope="module")
def law():
    """A function that calls a function of the page."""
    return answers((*MODULES, *PLAYGROUND_MODULES), _DOCUMENTS)


@pytest.fixture
def documents(law, monkeypatch):
    """A function from calls to the page's documents; Python runs each call once, since no time is compared."""
    monkeypatch.setattr(document, "_QUICK", 0)
    return lambda calls: law("documents", calls)


# ---------------------------------------------------------------------------------------------
# Seeded calls
# ---------------------------------------------------------------------------------------------


def drawn_call(dialect, number):
    """A call of a dialect: {"name", "shapes", "words", "at", "targets"}; arrays in the words stand for tuples.

    The first hundred are translated to every framework, the others to one in turn: translating takes longest.
    """
    rng = random.Random(f"{dialect} {number}")
    transposed = rng.random() < 0.5
    n, rows, cols = rng.choice([1, 1, 2]), rng.randint(1, 8), rng.randint(1, 8)
    if rng.random() < 0.02:
        rows = rng.randint(42, 60)  # larger than what a page shows
    k = [rng.randint(1, 4), rng.randint(1, 5)]
    s = [rng.randint(1, 4)] * 2 if rng.random() < 0.6 else [rng.randint(1, 4), rng.randint(1, 3)]
    d = [1, 1] if rng.random() < 0.6 else [rng.randint(1, 3), rng.randint(1, 3)]
    if rng.random() < 0.02:
        s = [0, 1]
    groups = rng.choice([1, 1, 1, 2, 3])
    depth, outs = rng.randint(1, 2), groups * rng.randint(1, 2)
    if rng.random() < 0.03:
        outs += 1
    draw = {
        "tensorflow": _tensorflow,
        "torch": _torch,
        "jax": _jax,
        "onnx": _onnx,
        "keras": _keras,
    }[dialect]
    name, shapes, words = draw(rng, transposed, (n, rows, cols), k, s, d, groups, depth, outs)
    targets = TARGETS if number < 100 else (TARGETS[number % len(TARGETS)],)
    return {"name": name, "shapes": shapes, "words": words, "at": None, "targets": targets}


def _pair(rng, pair):
    """A pair of equal numbers, sometimes as one."""
    return pair[0] if pair[0] == pair[1] and rng.random() < 0.5 else pair


def _channels(rng, groups, depth, outs):
    """The input's channels: those of the filter, sometimes of none that fits."""
    return groups * depth + (rng.random() < 0.03)


def _tensorflow(rng, transposed, x, k, s, d, groups, depth, outs):
    n, rows, cols = x
    words = {"strides": _pair(rng, s), "padding": rng.choice([*PADDING_WORDS, None])}
    if words["padding"] is None:
        sides = [rng.randint(-2, 3) for _ in range(4)]
        words["padding"] = rng.choice([sides[0], sides[:2], [sides[:2], sides[2:]]])
    if d != [1, 1] or rng.random() < 0.3:
        words["dilations"] = _pair(rng, d)
    channels = _channels(rng, groups, depth, outs)
    if not transposed:
        return "tensorflow.conv2d", [[n, rows, cols, channels], [*k, depth, outs]], words
    name, shapes = "tensorflow.conv2d_transpose", [[n, rows, cols, outs], [*k, depth, outs]]
    if rng.random() < 0.5:
        try:
            g = tc.conv2d_transpose_geometry(*shapes, **{**words, "strides": tuple(s)})
            _, rows, cols, _ = rng.choice(g.legal_output_shapes)
        except (ValueError, TypeError):
            pass
        words["output_shape"] = [n, rows + (rng.random() < 0.1), cols, channels]
    if rng.random() < 0.2:
        words["output_padding"] = _pair(rng, [rng.randint(0, 2), rng.randint(0, 2)])
    return name, shapes, words


def _torch(rng, transposed, x, k, s, d, groups, depth, outs):
    n, rows, cols = x
    words = {"stride": _pair(rng, s)}
    if rng.random() < 0.8:
        words["padding"] = _pair(rng, [rng.randint(0, 3), rng.randint(0, 3)])
    if rng.random() < 0.1:
        words["padding"] = rng.choice(["same", "valid", -1])
    if d != [1, 1]:
        words["dilation"] = _pair(rng, d)
    if groups > 1:
        words["groups"] = groups
    channels = _channels(rng, groups, depth, outs)
    if not transposed:
        return "torch.conv2d", [[n, channels, rows, cols], [outs, depth, *k]], words
    if rng.random() < 0.6:
        words["output_padding"] = _pair(rng, [rng.randint(0, 2), rng.randint(0, 2)])
    inputs = outs + (rng.random() < 0.03)
    return "torch.conv_transpose2d", [[n, inputs, rows, cols], [outs, depth, *k]], words


def _jax(rng, transposed, x, k, s, d, groups, depth, outs):
    n, rows, cols = x
    words = {"window_strides" if not transposed else "strides": s}
    words["padding"] = rng.choice([*PADDING_WORDS, None])
    if words["padding"] is None:
        words["padding"] = [[rng.randint(-2, 4), rng.randint(-2, 4)] for _ in range(2)]
    if d != [1, 1]:
        words["rhs_dilation"] = d
    channels = _channels(rng, groups, depth, outs)
    if not transposed:
        if groups > 1:
            words["feature_group_count"] = groups
        if rng.random() < 0.5:
            words["dimension_numbers"] = ["NHWC", "HWIO", "NHWC"]
            return "jax.conv_general_dilated", [[n, rows, cols, channels], [*k, depth, outs]], words
        return "jax.conv_general_dilated", [[n, channels, rows, cols], [outs, depth, *k]], words
    if rng.random() < 0.5:
        words["transpose_kernel"] = True
        return "jax.conv_transpose", [[n, rows, cols, outs], [*k, depth, outs]], words
    return "jax.conv_transpose", [[n, rows, cols, depth], [*k, depth, outs]], words


def _onnx(rng, transposed, x, k, s, d, groups, depth, outs):
    n, rows, cols = x
    words = {"strides": s, "auto_pad": rng.choice(["NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"])}
    if words["auto_pad"] == "NOTSET" or rng.random() < 0.05:
        words["pads"] = [rng.randint(0, 3) for _ in range(4)]
    if rng.random() < 0.03:
        words["pads"] = [-1, 0, 0, 0]
    if d != [1, 1]:
        words["dilations"] = d
    if groups > 1:
        words["group"] = groups
    if not transposed:
        channels = _channels(rng, groups, depth, outs)
        return "onnx.conv", [[n, channels, rows, cols], [outs, depth, *k]], words
    if rng.random() < 0.5:
        words["output_padding"] = [rng.randint(0, 2), rng.randint(0, 2)]
    if rng.random() < 0.3:
        words["output_shape"] = [rows * s[0] + rng.randint(-1, 2) or 1, cols * s[1] + rng.randint(-1, 2) or 1]
    return "onnx.conv_transpose", [[n, outs, rows, cols], [outs, depth, *k]], words


def _keras(rng, transposed, x, k, s, d, groups, depth, outs):
    n, rows, cols = x
    words = {"strides": _pair(rng, s), "padding": rng.choice(["same", "valid"])}
    if d != [1, 1]:
        words["dilation_rate"] = _pair(rng, d)
    if not transposed:
        channels = _channels(rng, groups, depth, outs)
        return "keras.conv", [[n, rows, cols, channels], [*k, depth, outs]], words
    if rng.random() < 0.5:
        words["output_padding"] = _pair(rng, [rng.randint(-1, 3), rng.randint(0, 3)])
    return "keras.conv_transpose", [[n, rows, cols, outs], [*k, depth, outs]], words


# ---------------------------------------------------------------------------------------------
# The comparison
# ---------------------------------------------------------------------------------------------


def tuples(value):
    return tuple(map(tuples, value)) if isinstance(value, list) else value


def words_of(call):
    """The words of a call as Python takes them: ONNX has lists, all others have tuples."""
    is_onnx = call["name"].startswith("onnx.")
    return call["words"] if is_onnx else {name: tuples(value) for name, value in call["words"].items()}


def by_index(shape, salt):
    """The values that the page gives to a canonical array."""
    n, rows, cols, channels = np.indices(shape)
    return (((7 * n + 13 * rows + 5 * cols + 11 * channels + salt) % 17 - 8) / 4).astype("float32")


def python_document(call):
    """What Python shows of a call: its document and its translations, or its error."""
    function = FUNCTIONS[call["name"]]
    words = words_of(call)
    shapes = [tuple(shape) for shape in call["shapes"]]
    try:
        conv = tc.resolve(function, *shapes, **words)
    except (ValueError, TypeError) as error:
        return str(error).partition("; the input [")[0]  # the page does not guess at other layouts
    g = conv.geometry
    x = by_index(g.output_shape if conv.op.transposed else g.input_shape, 3)
    w = by_index(g.filters_shape, 6)
    w = w[::-1, ::-1] if conv.flip else w
    x = x.transpose(["NHWC".index(letter) for letter in conv.input_layout])
    w = w.transpose(np.argsort(conv.filter_permutation))
    assert [x.shape, w.shape] == shapes
    made = json.loads(dumps(with_tables(document.Document(function, (x, w), words, call["at"]).base())))
    legal = ()
    if call["name"] == "tensorflow.conv2d_transpose":
        legal = tc.conv2d_transpose_geometry(*shapes, **words).legal_output_shapes
    made |= {"steps": list(conv.steps), "legal_output_shapes": [list(shape) for shape in legal]}
    made["result_values"] = made["arrays"].pop(made["base"]["arrays"].pop(made["result"]))
    # of the Python process, and a PNG of the whole input where only a part is shown
    made |= {"trace": [], "backend": None, "algorithm": None, "overview": None}
    made["base"].pop("call")  # the page makes this text when it is asked for
    made.pop("lines"), made.update(function=None)
    calls = [tc.translate(function, *shapes, to=to, **words) for to in call["targets"]]
    return {"document": made, "calls": [t.code if t.possible else t.why for t in calls]}


def differing(got, want, path=""):
    """The first place at which two documents differ."""
    if isinstance(got, dict) and isinstance(want, dict):
        if set(got) != set(want):
            return f"{path}: keys {sorted(set(got) ^ set(want))}"
        return next((d for k in want if (d := differing(got[k], want[k], f"{path}.{k}"))), "")
    if isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        return next((d for i, w in enumerate(want) if (d := differing(got[i], w, f"{path}[{i}]"))), "")
    return "" if got == want else f"{path}: page {got!r}, Python {want!r}"


def compare(documents, dialect, numbers):
    calls = [drawn_call(dialect, number) for number in numbers]
    refused = 0
    for call, got in zip(calls, documents(calls), strict=True):
        want = python_document(call)
        if (
            not isinstance(want, str) and want["document"]["shown"]
        ):  # a sum with terms outside the part that is shown
            known = got["document"]["result_values"]["values"]
            values = want["document"]["result_values"]["values"]
            assert not known or not all(isinstance(value, str) for value in known)
            values[:] = [k if isinstance(k, str) else value for k, value in zip(known, values, strict=True)]
        assert not (where := differing(got, want)), (call, where)
        refused += isinstance(want, str)
    assert 0 < refused < 0.7 * len(calls)


def test_the_page_knows_the_functions_and_arguments_that_python_leaves_to_it(law):
    page = law("words")
    assert [*page] == sorted(FUNCTIONS)
    for name, entry in page.items():
        arrays = [operand["name"] for operand in entry["operands"]]
        parameters = signature(FUNCTIONS[name]).parameters.items()
        assert [word for word, _ in parameters if word in arrays] == arrays
        defaults = {word: p.default for word, p in parameters if p.kind is not Parameter.VAR_KEYWORD}
        for word in (*arrays, "backend", "algorithm", "precision", "out", "name"):
            defaults.pop(word, None)
        want = {word: "required" if d is Parameter.empty else d for word, d in defaults.items()}
        assert [*entry["words"].items()] == [*want.items()]


# a word for padding that is legal in one function may be unknown in another
IN_ANY_CASE = ("SAME", "VALID", "SAME_LOWER")  # in Keras and JAX
LEGAL_WORDS = {*PADDING_WORDS, *_AUTO_PAD, *map(str.lower, IN_ANY_CASE), *map(str.title, IN_ANY_CASE)}
UNKNOWN_WORDS = {
    "",
    "EXPLICIT",
    "FULL",
    "causal",
    "SMAE",
    "raw",
    "forward SAME_LOWER",
    "constructor",
    "toString",
}


def test_words_for_padding_are_pythons_and_others_are_refused(law):
    shapes = {"NHWC": [1, 5, 7, 4], "NCHW": [1, 4, 5, 7], "HWIO": [3, 3, 4, 4], "OIHW": [4, 4, 3, 3]}
    calls = []
    for name, arguments in ((name, entry["words"]) for name, entry in law("words").items()):
        planar = name.startswith(("torch", "onnx")) or name == "jax.conv_general_dilated"
        arrays = [shapes[layout] for layout in (("NCHW", "OIHW") if planar else ("NHWC", "HWIO"))]
        steps, pad = (next(word for word in arguments if part in word) for part in ("stride", "pad"))
        calls += [
            {"name": name, "shapes": arrays, "words": {steps: [step, step], pad: word}}
            for word in sorted(LEGAL_WORDS | UNKNOWN_WORDS)
            for step in (1, 2)
        ]
    taken = {}
    for call, got in zip(calls, law("resolved", calls), strict=True):
        try:
            g = tc.resolve(FUNCTIONS[call["name"]], *map(tuple, call["shapes"]), **words_of(call)).geometry
        except (ValueError, TypeError) as error:
            # what was meant is found by a part of Python's library that the page has not
            want = re.sub(r" \(did you mean.*\)$", "", str(error))
        else:
            want = [[a.in_size, a.out_size, a.pad_before, a.pad_after] for a in (g.rows, g.cols)]
            taken.setdefault(call["name"], set()).update(map(str, call["words"].values()))
        assert got == want, call
    assert len(taken) == len(FUNCTIONS) - 1  # PyTorch's transposed convolution takes no word
    assert not UNKNOWN_WORDS & set.union(*taken.values())
    assert LEGAL_WORDS & set.union(*taken.values()) == LEGAL_WORDS


@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("dialect", mostly_slow(DIALECTS, "tensorflow", "torch", "jax"))
def test_documents_are_pythons(documents, dialect, step):
    compare(documents, dialect, range(0, 100, step))


# arguments that a saved page may have and the playground has not; arrays stand for tuples
LAYOUTS = ["NWHC", "WHIO", "NCHW"]
MORE_CALLS = [
    ("tensorflow.conv2d", [[1, 4, 7, 6], [3, 2, 2, 4]], {"data_format": "NCHW", "padding": "SAME", "strides": 2}),
    ("tensorflow.conv2d", [[1, 4, 7, 6], [3, 2, 4, 4]], {"data_format": "NCWH"}),
    ("tensorflow.conv2d_transpose", [[1, 2, 4, 5], [3, 3, 1, 2]],
     {"data_format": "NCHW", "strides": 2, "output_shape": [1, 1, 7, 10]}),
    ("torch.conv2d", [[4, 6, 7], [2, 2, 3, 3]], {"groups": 2, "stride": 2, "padding": 1}),
    ("torch.conv_transpose2d", [[2, 5, 5], [2, 3, 3, 3]], {"stride": 2, "output_padding": 1}),
    ("jax.conv_general_dilated", [[1, 2, 5, 5], [4, 2, 3, 3]],
     {"window_strides": [1, 1], "padding": [[2, 2], [1, 2]], "lhs_dilation": [2, 3]}),
    ("jax.conv_general_dilated", [[1, 2, 5, 5], [4, 2, 3, 3]],
     {"window_strides": [2, 2], "padding": [[2, 2], [1, 2]], "lhs_dilation": [2, 1]}),
    ("jax.conv_general_dilated", [[1, 2, 5, 5], [4, 2, 3, 3]],
     {"window_strides": [1, 1], "padding": "SAME", "lhs_dilation": [2, 3]}),
    ("jax.conv_general_dilated", [[4, 2, 5, 6], [6, 2, 3, 3]],
     {"window_strides": [1, 2], "padding": "SAME", "batch_group_count": 2}),
    ("jax.conv_general_dilated", [[4, 4, 5, 6], [6, 2, 3, 3]],
     {"window_strides": [1, 2], "padding": "SAME", "feature_group_count": 2, "batch_group_count": 2}),
    ("jax.conv_general_dilated", [[2, 6, 7, 2], [3, 2, 2, 4]],
     {"window_strides": [1, 2], "padding": [[1, 0], [2, 1]], "dimension_numbers": LAYOUTS}),
    ("jax.conv_general_dilated", [[2, 6, 7, 2], [3, 2, 2, 4]],
     {"window_strides": [1, 2], "padding": "VALID", "dimension_numbers": ["NXYC", "XYIO", "NCXY"]}),
    ("jax.conv_general_dilated", [[2, 6, 7, 2], [3, 2, 2, 4]],
     {"window_strides": [1, 2], "padding": "VALID", "dimension_numbers": ["NXYC", "HWIO", "NCXY"]}),
    ("jax.conv_general_dilated", [[2, 6, 7, 2], [3, 2, 2, 4]],
     {"window_strides": [1, 1], "padding": "VALID", "dimension_numbers": [[0, 3, 1, 2], [3, 2, 0, 1], [0, 1, 2, 3]]}),
    ("jax.conv_transpose", [[1, 5, 4, 2], [3, 3, 2, 4]],
     {"strides": [2, 2], "padding": [[1, 1], [0, 1]], "use_consistent_padding": True}),
    ("onnx.conv", [[1, 2, 8, 8], [4, 2, 3, 3]], {"kernel_shape": [3, 3], "auto_pad": "SAME_LOWER"}),
    ("onnx.conv", [[1, 2, 8, 8], [4, 2, 3, 3]], {"kernel_shape": [3, 2]}),
    ("keras.conv", [[1, 4, 8, 7], [3, 3, 2, 4]], {"data_format": "channels_first", "padding": "same", "strides": 2}),
    ("keras.conv", [[1, 8, 7, 4], [3, 3, 4, 4]], {"data_format": "NCHW"}),
    ("keras.conv_transpose", [[1, 4, 8, 7], [3, 3, 2, 4]], {"data_format": "channels_first", "strides": 2}),
]  # fmt: skip


def test_other_arguments_of_a_saved_call_are_read_as_python_reads_them(law):
    calls = [
        {"name": name, "shapes": shapes, "words": words, "targets": TARGETS}
        for name, shapes, words in MORE_CALLS
    ]
    refused = 0
    for call, got in zip(calls, law("more", calls), strict=True):
        given = [tuple(shape) for shape in call["shapes"]]
        try:
            conv = tc.resolve(call["name"], *given, **words_of(call))
        except (ValueError, TypeError) as error:
            refused += 1
            want = re.sub(r" \(did you mean.*\)$", "", str(error))
        else:
            g, written = conv.geometry, []
            for to in TARGETS:
                made = tc.translate(call["name"], *given, to=to, **words_of(call))
                written.append(made.code if made.possible else made.why)
            sizes = [g.batch, g.in_channels, g.out_channels]
            want = [[*conv.steps], [*g.rows.formulas], [*g.cols.formulas], sizes, written]
        assert got == want, call
    assert refused == 6


@pytest.mark.parametrize("op", sorted({case.op for case in CASES}))
def test_a_page_makes_anew_what_is_left_out_of_it(law, op):
    """The tables of all axes, and the call and the facts of every variant, are those that Python has."""
    for case in [case for case in CASES if case.op == op][:12]:
        problem = next(iter(case.problems("float32", "integers")))
        explorer = tc.explore(problem.op, *problem.args, budget=230_000, **problem.kwargs)
        data = explorer.data()
        got = law("unpack", dumps(data))
        want = data | {"call": with_tables(data["call"])}
        choices = Variants(explorer._document)
        for key, made in want["variants"]["table"].items():
            if "call" in made:
                call, *_, arguments = choices._resolve(tuple(map(int, key.split(","))))
                made |= {"code": document.code(choices.op, (), arguments), "facts": document.facts(call)}
        want = json.loads(dumps(want))
        assert not differing(got, want), case.name


@pytest.mark.slow
@pytest.mark.parametrize("block", mostly_release(range(1, 20), *range(1, 10)))
@pytest.mark.parametrize("dialect", DIALECTS)
def test_two_thousand_documents_are_pythons(documents, dialect, block):
    compare(documents, dialect, range(100 * block, 100 * block + 100))


def test_the_axes_of_pools(law):
    """ceil_mode, and what a mean is divided by: the page's copy of walking.counts."""
    rng = random.Random(39)
    cases = []
    for _ in range(2000):
        n, k, s, d = rng.randint(1, 12), rng.randint(1, 5), rng.randint(1, 5), rng.choice([1, 1, 2, 3])
        cases.append([n, k, s, d, rng.randrange(k), rng.randrange(k), rng.random() < 0.7])
    seen = set()
    for case, got in zip(cases, law("pools", cases), strict=True):
        *facts, before, after, ceil = case
        try:
            axis = forward_axis("rows", *facts, "EXPLICIT", (before, after), ceil=ceil)
        except tc.ArgumentError as error:
            assert got == str(error)  # noqa: PT017
            seen.add("refused")
            continue
        divisors = [counts([axis], padded).tolist() for padded in (False, True)]
        assert got == [axis.out_size, axis.pad_before, axis.pad_after, list(axis.formulas), *divisors], case
        seen.add("dropped" if any("ceil_mode" in line for line in axis.formulas) else "kept")
    assert seen == {"refused", "dropped", "kept"}


# ---------------------------------------------------------------------------------------------
# Numbers of any size
# ---------------------------------------------------------------------------------------------

EXACT = 2**53  # JavaScript has every whole number below it
GEOMETRIES = {"conv2d": tc.conv2d_geometry, "conv2d_transpose": tc.conv2d_transpose_geometry}


def drawn_geometry(number):
    """A call of conv2d_geometry or of conv2d_transpose_geometry; some numbers are near to 2**31 or 2**53."""
    rng = random.Random(number)
    transposed = rng.random() < 0.5

    def size(most, far, often=0.9):
        return rng.randint(*((1, most) if rng.random() < often else (far - 3, far + 3)))

    x = [size(3, EXACT), size(40, EXACT), size(2**40, EXACT, 0.7), 4]
    w = [size(5, EXACT), size(9, 2**30), 4, 4]
    # a transposed call lists its legal sizes, as many as the stride
    words = {"strides": [size(9, 99_999 if transposed else 2**31), size(3, 99_999)]}
    words |= {"dilations": [size(3, 2**31), size(3, 2**22)], "padding": rng.choice(PADDING_WORDS)}
    if rng.random() < 0.3:
        words["padding"] = [[rng.randint(-9, 9), size(5, 2**31)], [0, rng.randint(-9, 9)]]
    if transposed and rng.random() < 0.5:
        words["output_shape"] = [
            x[0],
            *(n * s - rng.randint(-1, s) for n, s in zip(x[1:3], words["strides"], strict=True)),
            4,
        ]
    return [f"conv2d{'_transpose' * transposed}", [x, w], words]


def python_geometry(op, shapes, words):
    """What Python says of such a call, or its error."""
    try:
        g = GEOMETRIES[op](*map(tuple, shapes), **{name: tuples(value) for name, value in words.items()})
    except tc.ArgumentError as error:
        return str(error)
    axes = [(axis.formulas, len(axis.legal_sizes), axis.legal_sizes.start) for axis in g.axes]
    return json.loads(json.dumps([g.input_shape, g.filters_shape, g.output_shape, g._facts(), *axes]))


def test_a_geometry_is_pythons_or_has_numbers_that_javascript_has_not(law):
    """Floor division and remainders of large and of negative numbers; what is not exact is refused."""
    calls = [drawn_geometry(number) for number in range(3000)]
    kinds = Counter()
    for call, got in zip(calls, law("geometries", calls), strict=True):
        want = python_geometry(*call)
        if isinstance(got, str) and got.startswith("a page has whole numbers below 2**53 only"):
            assert prod(int(number) + 1 for number in re.findall(r"\d+", json.dumps(call[1:]))) >= EXACT, call
            kinds["not exact"] += 1
            continue
        assert got == want, call
        numbers = [
            int(number.replace(",", ""))
            for number in re.findall(r"\d[\d,]*", json.dumps(want, ensure_ascii=False))
        ]
        assert max(numbers) < EXACT, call
        kinds["refused" if isinstance(got, str) else "exact"] += 1
    assert len(kinds) == 3
    assert min(kinds.values()) > 100, kinds


@pytest.mark.parametrize("field", ["n", "k", "s", "d", "c", "o", "g", "p", "op_pad", "size", "at"])
def test_the_playground_takes_no_number_that_javascript_has_not(law, field):
    """Its calls come from its controls and its address, which have a range for each number."""
    text = {"p": "{0}", "at": "{0},{0}"}.get(field, "{0}")
    for number in (2**53, 2**53 + 1, 2**64, -(2**53)):
        [problem] = law(
            "(address) => fromAddress(address).problems", f"#conv2d&{field}={text.format(number)}"
        )
        assert str(number) in problem
