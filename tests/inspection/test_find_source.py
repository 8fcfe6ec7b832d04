"""find_source: the chain of a call names the lines that the call ran."""

import dataclasses
import importlib
import inspect
import json
import re
import sys
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from helpers import backend_algorithms, mostly_slow

import teachconv as tc
from teachconv.backends import TABLE, numpy_backend, why_not
from teachconv.core import taps
from teachconv.core.kinds import FORWARD, KINDS
from teachconv.inspection import marks
from teachconv.quantized.schemes import SCHEMES
from teachconv.running import nn_ops

ROOT = Path(tc.__file__).parents[1]
PYTHON = ("reference", "numpy", "scipy")
# a new backend may do without marks at first; those of "quantized" are of no backend
MARKED = {mark.backend for mark in marks.read()} - {"quantized"}
X = np.arange(2 * 8 * 9 * 4, dtype="float32").reshape(2, 8, 9, 4) % 7 - 3
W = np.arange(3 * 3 * 4 * 6, dtype="float32").reshape(3, 3, 4, 6) % 5 - 2
DY = np.ones((2, 4, 5, 6), "float32")
CALLS = {
    "conv2d": (tc.conv2d, (X, W, 2, "SAME", "NHWC", (2, 2))),
    "conv2d_backprop_input": (tc.conv2d_backprop_input, (X.shape, W, DY, 2, "SAME", "NHWC", (2, 2))),
    "conv2d_backprop_filter": (tc.conv2d_backprop_filter, (X, W.shape, DY, 2, "SAME", "NHWC", (2, 2))),
    "conv2d at stride 1": (tc.conv2d, (X, W, 1, "SAME")),
    "conv2d_transpose": (tc.conv2d_transpose, (DY, W, (2, 8, 9, 4), 2)),
    "depthwise_conv2d": (tc.depthwise_conv2d, (X, W, 2, "SAME")),
}


def lines_run(run):
    """Every (file, line) of the package that ``run`` executes."""
    seen, ours = set(), str(ROOT / "teachconv")

    def look(frame, event, arg):
        if not frame.f_code.co_filename.startswith(ours):
            return None
        seen.add((frame.f_code.co_filename, frame.f_lineno))
        return look

    taps.gather.cache_clear()
    taps.scatter.cache_clear()
    before = sys.gettrace()
    sys.settrace(look)
    try:
        run()
    finally:
        sys.settrace(before)
    return {(marks.place(file), line) for file, line in seen}


def fits(op, args, algorithm):
    call, _ = nn_ops.call_of(op, args, {})
    return algorithm.fits(call.kind, "float32", call.geometry)


@pytest.mark.parametrize(("backend", "algorithm"), list(backend_algorithms()))
@pytest.mark.parametrize("name", CALLS)
def test_the_chain_of_every_algorithm_is_in_the_sources(name, backend, algorithm):
    op, args = CALLS[name]
    if not fits(op, args, algorithm):
        return
    chain = tc.find_source(op, *args, backend=backend, algorithm=algorithm.name)
    assert (chain.backend, chain.algorithm) == (backend, algorithm.name)
    what = [step.what for step in chain.steps]
    if backend not in MARKED:
        assert what[:4] == ["public function", "geometry", "dispatch", "backend"]
        return
    assert what[:5] == ["public function", "geometry", "dispatch", "backend", "choice"]
    assert "kernel" in what
    transforms = {line.mark for line in chain.lines} & set(marks.TRANSFORMS)
    assert len(transforms) == 3 * ("winograd" in algorithm.name)
    assert what[-1] in ("kernel",) * bool(transforms) + ("innermost loop", "library")
    for step in chain.steps:
        if step.what != "library":
            text = (ROOT / step.file).read_text().splitlines()[step.line - 1]
            assert step.what in ("choice", "fallback", "innermost loop") or step.name in text, step
    if not transforms:
        assert {line.mark for line in chain.lines} == set(marks.APPLIED)
    for line in chain.lines:
        if line.file:
            assert line.text in (ROOT / line.file).read_text().splitlines()[line.line - 1]
            assert "mark:" not in line.text
    present = {line.mark for line in chain.lines if line.file}
    assert "multiply-add" in present
    geometry = nn_ops.call_of(op, args, {})[0].geometry
    if geometry.strides == (2, 2):
        assert {"stride", "padding"} <= present
    assert ("dilation" in present) == (geometry.dilations == (2, 2))


@pytest.mark.parametrize("backend", PYTHON)
@pytest.mark.parametrize("name", ["conv2d", "conv2d_backprop_input", "conv2d_backprop_filter"])
def test_the_lines_named_are_those_that_run(name, backend):
    if why_not(backend):
        pytest.skip(why_not(backend))
    op, args = CALLS[name]
    kind = nn_ops.call_of(op, args, {})[0].kind
    ran, marked = {}, {}
    for one in sys.modules[TABLE[backend]].ALGORITHMS:
        options = {"backend": backend, "algorithm": one.name}
        chain = tc.find_source(op, *args, **options)
        seen = lines_run(lambda options=options: op(*args, **options))
        for line in chain.lines:
            assert (line.file, line.line) in seen, line
        of_algorithm = marks.find(backend, [one.name], kind)
        for mark in of_algorithm:
            assert (mark.file, mark.line) in seen, mark
        ran[one.name] = seen
        marked[one.name] = {(mark.file, mark.line) for mark in of_algorithm}
    for name, lines in marked.items():
        others = set().union(*(seen for other, seen in ran.items() if other != name))
        assert lines - others, f"no marked line is {name}'s alone"


def test_the_reference_multiplies_as_often_as_the_geometry_says():
    """In plain loops the marked line runs once for each multiply-add that is not in the padding."""
    line = next(m for m in marks.find("reference", ["loops"]) if (m.mark, m.result) == ("multiply-add", "y"))
    times = 0

    def look(frame, event, arg):
        nonlocal times
        times += event == "line" and frame.f_lineno == line.line
        return look if frame.f_code.co_name == "conv2d_loops" else None

    sys.settrace(look)
    try:
        tc.conv2d(X[:1], W[..., :2], 2, backend="reference", algorithm="loops")
    finally:
        sys.settrace(None)
    assert times == tc.conv2d_geometry(X[:1].shape, W[..., :2].shape, 2).macs


def test_every_algorithm_has_its_marks():
    for backend in MARKED:
        module = __import__(TABLE[backend], fromlist=["x"])
        for one in module.ALGORITHMS:
            for kind in one.kinds:
                names = {mark.mark for mark in marks.find(backend, [one.name], kind)}
                assert {"kernel", "multiply-add", "padding"} <= names, (backend, one.name, kind)
                if "winograd" not in one.name:
                    assert {"stride", "dilation"} <= names, (backend, one.name, kind)
    known = {
        (backend, one.name)
        for backend in MARKED
        for one in __import__(TABLE[backend], fromlist=["x"]).ALGORITHMS
    }
    known |= {("quantized", scheme.rescale.__name__) for scheme in SCHEMES.values()}
    known.add(("quantized", "by_16_bits"))
    assert {(mark.backend, mark.algorithm) for mark in marks.read()} == known


def test_every_mark_is_read():
    """A mark with a mistake in it would be a comment like any other."""
    for path in sorted((ROOT / "teachconv").rglob("*")):
        if path.suffix in (".py", ".pyx", ".h", ".cu", ".cuh") and path.name != "marks.py":
            for line in path.read_text(encoding="utf-8").splitlines():
                assert not re.search(r"(#|/\*) mark:", line) or marks._TAG.search(line), f"{path}: {line}"
    names = {"kernel", "choice", "fallback", "own", "rounding", *marks.IN_ORDER}
    assert {mark.mark for mark in marks.read()} == names


FACTS = {"x_scale": 0.5, "x_zero_point": 3, "w_scale": 0.25, "y_scale": 2.0, "y_zero_point": 1}


@pytest.mark.parametrize("scheme", [*SCHEMES, "16 bits"])
def test_the_lines_of_a_quantized_call_are_those_that_run(scheme):
    facts = FACTS | {"scheme": scheme}
    dtype = "uint8" if scheme.startswith("torch") else "int8"
    if scheme == "16 bits":
        dtype, facts = "int16", FACTS | {"scheme": "tflite", "x_zero_point": 0, "y_zero_point": 0}
    x, w = abs(X).astype(dtype), W.astype("int8")
    words = {"strides": 2, "padding": "SAME", "dilations": 2, "backend": "reference", **facts}
    chain = tc.find_source(tc.quantized.conv2d, x, w, **words)
    what = [step.what for step in chain.steps]
    assert what[:4] == ["public function", "geometry", "dispatch", "backend"]
    assert what[-1] == "rescaling"
    assert chain.steps[0].file == "teachconv/quantized/__init__.py"
    assert {line.mark for line in chain.lines} == {*marks.APPLIED, "rounding"}
    seen = lines_run(lambda: tc.quantized.conv2d(x, w, **words))
    for line in chain.lines:
        assert (line.file, line.line) in seen, line
    assert "rounding" in str(chain)
    traced = tc.trace(tc.quantized.conv2d, x, w, **words)
    assert np.array_equal(traced.result, tc.quantized.conv2d(x, w, **words))
    names = [stage.name for stage in traced.stages]
    assert names.index("take the zero points off") < names.index("dispatch") < names.index("rescale")
    assert "innermost loop" in traced.stages[-2].note
    assert "round" in traced.stages[-1].note


def test_one_of_two_last_roundings_is_named():
    """Of LiteRT's builtin kernels vectors round half up; the loop over channels that are left rounds half away."""
    for channels, names in (
        (8, ["shift_half_up"]),
        (4, ["shift_half_away"]),
        (9, ["shift_half_away", "shift_half_up"]),
    ):
        x, w = np.ones((1, 2, 2, channels), "int8"), np.ones((1, 1, channels, 1), "int8")
        chain = tc.find_source(tc.quantized.depthwise_conv2d, x, w, **FACTS, scheme="tflite_builtin")
        lines = [line for line in chain.lines if line.mark == "rounding"]
        found = [marks.function_at(line.file, line.line)[0] for line in lines]
        assert found == ["high_multiply", *names]


def test_a_quantized_op_alone_has_every_scheme():
    chain = tc.find_source("quantized.conv2d_transpose")
    assert chain.steps == tc.find_source(tc.quantized.conv2d_transpose).steps
    assert [step.name for step in chain.steps if step.what == "rescaling"] == [
        scheme.rescale.__name__ for scheme in SCHEMES.values()
    ]


def test_a_quantized_kernel_of_the_caller_is_the_last_step():
    def mine(x, w, x_zero_point, y_zero_point, multiplier, shift, act_min, act_max):
        return np.zeros((1, 8, 9, 6), "int8")

    kernel = tc.testing.kernel(mine, scheme="tflite")
    words = {"backend": kernel, "scheme": "tflite", **FACTS}
    x, w = X[:1].astype("int8"), W[:1, :1].astype("int8")
    assert [step.what for step in tc.find_source(tc.quantized.conv2d, x, w, **words).steps] == [
        "public function",
        "geometry",
        "backend",
    ]
    assert tc.trace(tc.quantized.conv2d, x, w, **words).result.shape == (1, 8, 9, 6)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  # mark: kernel of loops/y", ""),
        ("  # mark: choice of loops/y direct/y slices/y", ""),
        ("  # mark: multiply-add of direct", "  # mark: multiply-add of direct by magic"),
        ("  # mark: multiply-add of direct", "  # mark: Multiplies."),
        ("  # mark: kernel of loops/dx", "  # mark: fallback of loops/dx by nothing"),
        ("def _overlaps", "def _moved"),
        (None, ""),
        (None, "# mark: kernel of loops/y"),
        (None, "# mark: kernel of loops"),
    ],
)
def test_a_call_is_followed_through_a_reference_that_a_reader_has_edited(monkeypatch, old, new):
    """The reference is there to be changed: a mark that is gone, or has no line or no sense, is left out."""
    read, path = marks._lines, ROOT / "teachconv/backends/reference.py"
    text = "\n".join(read(path))
    assert old is None or old in text
    edited = (new if old is None else text.replace(old, new, 1)).split("\n")
    monkeypatch.setattr(marks, "_lines", lambda file: edited if file == path else read(file))
    marks.read.cache_clear()
    try:
        for algorithm in ("loops", "direct"):
            for op, args in CALLS.values():
                chain = tc.find_source(op, *args, backend="reference", algorithm=algorithm)
                assert f"algorithm {algorithm}" in str(chain.all)
                assert "where" in str(chain)
                assert chain._repr_html_()
        assert "multiply-add" in str(tc.find_source(tc.conv2d, X, W, backend="numpy"))
        assert str(tc.trace(tc.conv2d, X, W, backend="reference"))
        with tc.use_backend("reference"):
            assert str(tc.find_source(tc.graph.nn.conv2d, X, W))
            assert str(tc.find_source("tf.nn.conv2d").all)
    finally:
        marks.read.cache_clear()


def test_the_depthwise_loop_of_neon_has_a_line_of_its_own():
    """Which of the two ran is known by the way that the kernel notes; all other lines are the same."""
    of_way = {}
    for way in ("rows", "neon_rows"):
        found = marks.find("cython", ["depthwise"], FORWARD, [way])
        of_way[way] = {mark.mark: mark.text for mark in found}
    assert of_way["rows"].pop("multiply-add") == "sum[p] += one * weight;"
    assert of_way["neon_rows"].pop("multiply-add") == "sum[c - t] += value * weight[t];"
    assert of_way["rows"] == of_way["neon_rows"]
    assert {"kernel", "stride", "padding", "dilation"} <= of_way["rows"].keys()


def test_a_file_that_was_edited_while_python_runs_is_still_shown(monkeypatch):
    """The lines of code objects are then those of the old file: they may be blank now, or behind the end."""
    read, path = marks._lines, ROOT / "teachconv/running/nn_ops.py"
    chain = tc.find_source(tc.conv2d, X, W)
    at = next(step for step in chain.steps if step.file.endswith("nn_ops.py"))
    lines = read(path)
    blank = [*lines[: at.line - 1], "", *lines[at.line :]]
    for edited in (blank, lines[: at.line - 3], []):
        monkeypatch.setattr(
            marks, "_lines", lambda file, edited=edited: edited if file == path else read(file)
        )
        assert bool(marks.source(at.file, at.line, 2, 2)) == bool(edited)
        assert isinstance(marks.function_at(at.file, at.line)[0], str)
        assert str(chain.all)
        assert chain._repr_html_()


def test_the_sample_of_the_design():
    x, w = np.ones((1, 8, 8, 2), "float32"), np.ones((3, 3, 2, 2), "float32")
    chain = tc.find_source(tc.conv2d, x, w, 2, "SAME", backend="reference", algorithm="loops")
    text = str(chain.all)
    assert text.startswith(
        "where is conv2d [1, 8, 8, 2] * [3, 3, 2, 2] -> [1, 4, 4, 2] executed?\n"
        "backend reference, algorithm loops\n"
    )
    assert chain.steps[1].note == "SAME at stride 2: pad_before 0, pad_after 1"
    assert re.search(r"\ndilation +1 here: the taps are neighbours\n", text)
    assert re.search(r"> +terms.append\(x\[n, \*in_indices, in_channel\]", text)
    html = chain._repr_html_()
    assert html.count("<mark>") == sum(bool(line.file) for line in chain.lines)
    assert re.search(r"<mark> *\d+ +out_index \* axis.stride - axis.pad_before", html)
    assert re.search(
        r"<summary>1 public function <b>conv2d</b>.*?</summary><pre[^>]*> *\d+ def conv2d\(", html
    )


def test_where_an_algorithm_gives_way_the_chain_says_so():
    w = W.copy()
    w[0, 0, 0, 0] = np.nan
    chain = tc.find_source(tc.conv2d, X, w, 2, "SAME", backend="numpy", algorithm="im2col")
    assert chain.algorithm == "taps"
    assert any("gives way" in step.note for step in chain.steps)
    assert all(line.algorithm in ("", "taps") for line in chain.lines)


@pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")
def test_where_a_compiled_kernel_gives_way_the_chain_says_so():
    x, w = np.ones((1, 12, 20, 16), "float32"), np.ones((3, 3, 16, 64), "float32")

    def chain(*more, **options):
        found = tc.find_source(tc.conv2d, x, w, 1, "SAME", backend="cython", **options)
        return [step.what for step in found.steps], {(line.mark, line.file) for line in found.lines}

    what, lines = chain(algorithm="winograd2")
    assert "fallback" not in what
    assert ("padding", "teachconv/backends/kernels/left_matrix.h") not in lines
    x[0, 0, 0, 0] = 1e30  # too large for the transform
    what, lines = chain(algorithm="winograd2")
    assert "fallback" in what
    assert {
        ("padding", f"teachconv/backends/kernels/{file}.h") for file in ("winograd_stages", "left_matrix")
    } <= lines
    w[0, 0, 0, 0] = np.inf  # padding would be multiplied
    found = tc.find_source(tc.conv2d, x, w, 1, "SAME", backend="cython")
    assert found.algorithm == "direct"
    assert [step.name for step in found.steps if step.what == "kernel"] == ["direct_conv2d"]


WINOGRAD_STEPS = {  # the functions of the kernels in which the steps are, in their order
    tc.conv2d: {
        "input-transform": "winograd_transform_vector",
        "filter-transform": "winograd_transform_taps",
        "multiply-add": "register_tile",
        "output-transform": "winograd_transform_outputs",
    },
    tc.conv2d_backprop_filter: {
        "input-transform": "winograd_transform_vector",
        "gradient-transform": "winograd_transform_gradients",
        "multiply-add": "pixel_tile",
        "output-transform": "winograd_finish_gradient",
    },
}


@pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")
@pytest.mark.parametrize(
    ("algorithm", "size", "saving"),
    [
        ("winograd2", 3, "16 products for 2 x 2 outputs, instead of 36"),
        ("winograd4", 3, "36 products for 4 x 4 outputs, instead of 144"),
        ("winograd", 5, "49 products for 2 x 2 outputs, instead of 100"),
        ("winograd4", 5, "121 products for 4 x 4 outputs, instead of 400"),
    ],
)
@pytest.mark.parametrize("op", WINOGRAD_STEPS)
def test_winograds_steps_are_shown_with_their_lines_and_what_they_save(op, algorithm, size, saving):
    if op is tc.conv2d_backprop_filter and algorithm == "winograd2":
        return
    x, w = np.ones((1, 12, 12, 4), "float32"), np.ones((size, size, 4, 8), "float32")
    args = (x, w) if op is tc.conv2d else (x, w.shape, np.ones((1, 12, 12, 8), "float32"))
    chain = tc.find_source(op, *args, 1, "SAME", algorithm=algorithm, backend="cython")
    steps = WINOGRAD_STEPS[op]
    lines = {line.mark: marks.function_at(line.file, line.line)[0] for line in chain.lines}
    assert {mark: lines[mark] for mark in lines if mark in steps} == steps
    assert [mark for mark in lines if mark in steps] == list(steps)
    assert next(step for step in chain.steps if step.what == "kernel").note == saving
    printed = str(chain).splitlines()
    assert len(printed) <= 15
    assert any(saving in line for line in printed)
    assert all(any(line.startswith(mark) and ".h:" in line for line in printed) for mark in steps)
    note = tc.trace(op, *args, 1, "SAME", algorithm=algorithm, backend="cython").stages[-1].note
    assert note.endswith(saving)
    assert all(function in note for function in steps.values())
    assert "output transform: " in note


@pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")
def test_the_way_through_the_kernel_is_the_one_that_was_taken():
    """Rows of seven outputs and more are padded and read in place, shorter ones copied; few filters have a way of their own."""
    ways = (8, 20, "fill_patches"), (20, 20, "fill_padded_rows"), (20, 2, "copy_small_layer")
    for size, filters, function in ways:
        x, w = np.ones((1, size, size, 2), "float32"), np.ones((3, 3, 2, filters), "float32")
        chain = tc.find_source(tc.conv2d, x, w, 2, "SAME", backend="cython")
        (line,) = (line for line in chain.lines if line.mark == "stride")
        assert marks.function_at(line.file, line.line)[0] == function


def test_a_default_is_not_said_of_what_was_chosen_for_its_padding():
    """numpy takes patches by default, and taps where patches would be little but padding."""
    chosen = {
        dilation: tc.find_source(tc.conv2d, X, W, 1, "SAME", dilations=dilation, backend="numpy").steps
        for dilation in (1, 600)
    }
    notes = {
        dilation: [step.note for step in steps if step.what == "choice"] for dilation, steps in chosen.items()
    }
    assert notes == {
        1: ["im2col, the default"],
        600: ["taps, im2col would multiply little but padding"],
    }


def test_a_backend_may_hold_any_callable():
    def backend_step(function):
        functions = {kind.name: staticmethod(getattr(numpy_backend, kind.name)) for kind in KINDS}
        own = type("Own", (), {**functions, "conv2d": staticmethod(function)})
        own.ALGORITHMS = numpy_backend.ALGORITHMS
        return next(
            step for step in tc.find_source(tc.conv2d, X, W, backend=own).steps if step.what == "backend"
        )

    plain = backend_step(numpy_backend.conv2d)
    assert plain.file.endswith("numpy_backend.py")
    assert backend_step(partial(numpy_backend.conv2d)) == plain
    lambda_ = backend_step(lambda *args, **options: numpy_backend.conv2d(*args, **options))
    assert lambda_.name == "<lambda>"
    assert "backend_step(lambda *args" in lambda_.code(0)[0][1]
    called = backend_step(
        type("Called", (), {"__call__": lambda self, *a, **o: numpy_backend.conv2d(*a, **o)})()
    )
    assert called.name == "Called"
    made = {"conv2d": numpy_backend.conv2d}
    exec("def made(*args, **options):\n    return conv2d(*args, **options)", made)
    assert (backend_step(made["made"]).file, backend_step(made["made"]).line) == ("<string>", 1)


def test_a_chain_can_be_written_as_json():
    chain = tc.find_source(tc.conv2d, X, W, 2, "SAME")
    assert json.loads(json.dumps(dataclasses.asdict(chain)))["lines"][0]["mark"] == "stride"


def test_an_empty_call_ends_before_the_backend():
    chain = tc.find_source(tc.conv2d, X[:0], W, 1, "SAME")
    assert chain.steps[-1].note == "an array is empty: there is nothing to sum"
    assert chain.lines == ()


def test_an_op_alone_lists_every_algorithm():
    chain = tc.find_source("conv2d_transpose")
    kinds = nn_ops.call_of(tc.conv2d_transpose, (DY, W), {})[0].kind
    wanted = {
        (backend, one.name)
        for backend in TABLE
        for one in __import__(TABLE[backend], fromlist=["x"]).ALGORITHMS
        if kinds in one.kinds
    }
    assert {(line.backend, line.algorithm) for line in chain.lines} == wanted
    assert chain.steps[1].name == "transposed_geometry"
    text = " ".join(str(chain.all).split())
    for part in ("register_tile.h:", "scipy_backend.py:", "winograd2 has no stride: it is for stride 1"):
        assert part in text
    assert "<mark>" in chain._repr_html_()


@pytest.mark.parametrize(
    ("name", "op"),
    [
        ("conv2d", tc.conv2d),
        ("tf.nn.conv2d", tc.graph.nn.conv2d),
        ("tf.nn.conv2d_transpose", tc.graph.nn.conv2d_transpose),
        ("tc.depthwise_conv2d", tc.depthwise_conv2d),
        ("torch.conv_transpose2d", tc.dialects.torch.conv_transpose2d),
    ],
)
def test_names(name, op):
    named, own = tc.find_source(name), tc.find_source(op)
    assert (named.steps, named.lines, named.shown) == (own.steps, own.lines, own.shown)
    of_framework = name.startswith(("tf.", "torch."))  # the installed framework's own function is another
    assert named.query == (f"{name}, as teachconv has it," if of_framework else own.query)
    file, line = inspect.getsourcefile(op), tc.find_source(op).steps[0].line
    assert f"def {op.__name__}(" in Path(file).read_text().splitlines()[line - 1]


def test_a_dialects_function_resolves_by_its_own_resolver():
    x, w = np.ones((1, 2, 8, 8), "float32"), np.ones((2, 2, 3, 3), "float32")
    chain = tc.find_source(tc.dialects.torch.conv2d, x, w, stride=2, padding=1, backend="numpy")
    assert chain.steps[1].file == "teachconv/dialects/torch.py"
    assert chain.backend == "numpy"
    assert "loops" in {line.algorithm for line in tc.find_source("torch.conv2d_weight").lines}


def offered():
    """Yield the dotted name and the object of each public function and class, as users write them."""
    packages = {"tf": "teachconv.tf", "keras": "teachconv.keras", "tc": "teachconv"}
    packages |= {name: f"teachconv.dialects.{name}" for name in tc.dialects.__all__ if name not in packages}
    waiting = [(name, importlib.import_module(module)) for name, module in packages.items()]
    for prefix, module in waiting:
        for name in module.__all__:
            try:
                found = getattr(module, name)
            except ModuleNotFoundError:  # a layer's base is PyTorch's class
                continue
            if inspect.ismodule(found):
                waiting.append((f"{prefix}.{name}", found))
            elif callable(found) and not isinstance(found, np.dtype):
                yield f"{prefix}.{name}", found


OFFERED = dict(offered())


def begins_at(step, found):
    """Whether a step names the file and line where a function or class begins."""
    text = Path(inspect.getsourcefile(found)).read_text(encoding="utf-8").splitlines()[step.line - 1]
    written = f"class {found.__name__}" if inspect.isclass(found) else f"def {found.__code__.co_name}"
    return Path(step.file).name == Path(inspect.getsourcefile(found)).name and (
        text.split("(")[0].split(":")[0].strip() == written
    )


def definitions(chain):
    return {step.name for step in chain.steps if step.what == "op definition"}


def test_there_are_many_public_functions_and_classes():
    assert len(OFFERED) > 1000
    assert {"tf.nn.relu6", "tf.keras.layers.Conv2D", "tc.explain", "torch.max_pool2d", "jax.pad"} <= {
        *OFFERED
    }


@pytest.mark.parametrize("part", mostly_slow(range(10), 3, 8))
def test_every_public_function_and_class_is_followed_by_name_and_as_an_object(part):
    for name in sorted(OFFERED)[part::10]:
        own, named = tc.find_source(OFFERED[name]), tc.find_source(name)
        plain = inspect.unwrap(OFFERED[name])
        if inspect.isclass(plain) or not plain.__module__.startswith("teachconv.graph.ops."):
            if name != "tc.arrays.torch.Convolution":  # a function makes it, and Python cannot find its line
                assert begins_at(own.steps[0], plain), name
            assert own.steps[0].file, name
        for step in (*own.steps, *named.steps):
            assert not step.line or 1 <= step.line <= lines_of(step.file), (name, step)
        assert definitions(own) == definitions(named), name


@cache
def lines_of(file):
    root = Path(tc.__file__).parents[1]
    return len((root / file).read_text(encoding="utf-8").splitlines())


@pytest.mark.parametrize(
    ("name", "ops"),
    [
        ("tf.nn.separable_conv2d", {"DepthwiseConv2dNative", "Conv2D"}),
        ("tf.nn.convolution", {"Conv2D", "Conv3D"}),
        ("tf.nn.atrous_conv2d", {"Conv2D"}),
        ("tf.nn.relu6", {"Relu", "Minimum"}),
        ("tf.nn.batch_normalization", {"Rsqrt", "Mul", "Sub", "Add"}),
        ("tf.nn.max_pool2d", {"MaxPool"}),
        ("max_pool2d", {"MaxPool"}),
        ("separable_conv2d", {"DepthwiseConv2dNative", "Conv2D"}),
        ("tf.keras.layers.Conv2D", {"Conv2D", "BiasAdd"}),
        ("keras.layers.Conv3DTranspose", {"Conv3DBackpropInputV2", "BiasAdd"}),
        ("keras.layers.SeparableConv2D", {"DepthwiseConv2dNative", "Conv2D", "BiasAdd"}),
        ("keras.layers.MaxPooling2D", {"MaxPool"}),
        ("tf.keras.layers.Dense", {"MatMul", "BiasAdd"}),
        ("keras.optimizers.Adam", {"ApplyAdam"}),
        ("keras.losses.MeanSquaredError", {"Mean"}),
    ],
)
def test_the_ops_of_a_name_are_those_that_its_code_calls(name, ops):
    assert ops <= definitions(tc.find_source(name))


def test_a_layer_of_two_axes_calls_no_op_of_three():
    assert not any(
        "3D" in op or "Transpose" in op for op in definitions(tc.find_source("keras.layers.Conv2D"))
    )


def test_a_pool_of_teachconv_ends_in_its_own_sum_over_windows():
    for name in ("tc.max_pool", "torch.avg_pool2d", "jax.reduce_window"):
        kinds = [step.what for step in tc.find_source(name).steps]
        assert kinds == ["public function", "geometry", "computes"], name
    chain = tc.find_source(tc.avg_pool, np.ones((1, 5, 4, 3)), 3, 2, "SAME")
    assert chain.query == "windows.pooling.avg_pool [1, 5, 4, 3] -> [1, 3, 2, 3]"
    with pytest.raises(ValueError, match="ksize"):
        tc.find_source(tc.avg_pool, np.ones((1, 5, 4, 3)), 0, 2, "SAME")


def test_a_quantized_pool_ends_in_the_lines_that_round_its_average():
    x, scale = np.zeros((1, 4, 4, 1), "int8"), {"x_scale": 0.5, "x_zero_point": 1}
    chain = tc.find_source(tc.quantized.avg_pool, x, 2, 2, "VALID", scheme="tflite", **scale)
    assert chain.query == "quantized.avg_pool [1, 4, 4, 1] -> [1, 2, 2, 1]"
    assert [step.what for step in chain.steps] == ["public function", "geometry", "computes", "rescaling"]
    assert (chain.steps[-1].name, chain.steps[-1].file) == (
        "average_of_stored",
        "teachconv/quantized/schemes.py",
    )
    alone = tc.find_source("quantized.avg_pool").steps
    assert len(alone) == 3 + len(tc.quantized.schemes.SCHEMES)
    largest = tc.find_source(tc.quantized.max_pool, x, 2, 2, "VALID")
    assert [step.what for step in largest.steps] == ["public function", "geometry", "computes"]
    with pytest.raises(ValueError, match="scheme"):
        tc.find_source(tc.quantized.avg_pool, x, 2, 2, "VALID", scheme="tensorrt", **scale)


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("conv2dd", "conv2d"),
        ("max_pool2dd", "max_pool2d"),
        ("tf.nn.max_pool2dd", "tf.nn.max_pool2d"),
        ("tf.nn.seperable_conv2d", "tf.nn.separable_conv2d"),
        ("tf.keras.layers.Conv2DTransposed", "tf.keras.layers.Conv2DTranspose"),
        ("keras.layers.MaxPoolin2D", "keras.layers.MaxPooling2D"),
        ("tc.explainn", "tc.explain"),
        ("torch.max_pool4d", "torch.max_pool"),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest_that_resolves(name, near):
    with pytest.raises(ValueError, match=f'did you mean "{near}') as refused:
        tc.find_source(name)
    tc.find_source(str(refused.value).rpartition('did you mean "')[2].partition('"')[0])


def test_what_is_no_op_is_refused():
    with pytest.raises(
        TypeError, match="op must be an op of teachconv, or a function, layer or method of tensorflow"
    ):
        tc.find_source(len)
    with pytest.raises(ValueError, match="strides"):
        tc.find_source(tc.conv2d, X, W, 0)
