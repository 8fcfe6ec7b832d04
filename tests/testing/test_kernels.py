"""A plain function, a program and a module with a part of the functions as backends, and code that misbehaves."""

import ctypes
import inspect
import re
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import scipy.fft
from helpers import mostly_slow

import teachconv as tc
from teachconv import testing as T
from teachconv.backends import numpy_backend
from teachconv.core.kinds import FORWARD
from teachconv.running import dispatch
from teachconv.testing.checking import Checked
from teachconv.verification import contract

sys.path.insert(0, str(Path(__file__).parent))
import cheating
import foreign

EXAMPLES = Path(__file__).parents[2] / "examples" / "kernels"


def quick(kernel, **options):
    return tc.check_backend(kernel, **({"tags": "hand", "data": "integers"} | options))


def with_all_arguments(layout, filters):
    """conv2d and its gradients in the words of a framework, with every argument."""

    def forward(input, weight, bias, strides, pads, dilations, groups):
        return call(tc.conv2d, input, hwio(weight), strides, pads, dilations, bias=bias)

    def input_gradient(grad_output, weight, strides, pads, dilations, groups, input_size):
        sizes = arranged(input_size)
        return back(
            tc.conv2d_backprop_input, sizes, hwio(weight), nhwc(grad_output), strides, pads, dilations
        )

    def filter_gradient(input, grad_output, strides, pads, dilations, groups, weight_size):
        sizes = tuple(weight_size[filters.index(letter)] for letter in "HWIO")
        got = tc.conv2d_backprop_filter(
            nhwc(input), sizes, nhwc(grad_output), strides, pads, "NHWC", dilations
        )
        return got.transpose(["HWIO".index(letter) for letter in filters])

    def nhwc(array):
        return array.transpose([layout.index(letter) for letter in "NHWC"])

    def hwio(array):
        return array.transpose([filters.index(letter) for letter in "HWIO"])

    def arranged(sizes):
        return tuple(sizes[layout.index(letter)] for letter in "NHWC")

    def back(op, *args):
        result = op(*args[:3], args[3], args[4], "NHWC", args[5])
        return result.transpose(["NHWC".index(letter) for letter in layout])

    def call(op, x, w, strides, pads, dilations, bias):
        result = op(nhwc(x), w, strides, pads, "NHWC", dilations, bias=bias)
        return result.transpose(["NHWC".index(letter) for letter in layout])

    return forward, input_gradient, filter_gradient


LAYOUTS = list(product(["NHWC", "NCHW", "CHWN"], ["HWIO", "OIHW", "IOHW"]))


@pytest.mark.usefixtures("undiagnosed")
@pytest.mark.parametrize(("layout", "filters"), mostly_slow(LAYOUTS, ("NCHW", "OIHW"), ("CHWN", "HWIO")))
def test_every_layout_gives_the_same_numbers(layout, filters):
    forward, input_gradient, filter_gradient = with_all_arguments(layout, filters)
    kernel = T.kernel(
        forward, x=layout, w=filters, input_gradient=input_gradient, filter_gradient=filter_gradient
    )
    report = tc.check_backend(kernel, tags=["hand", "groups", "strided", "bias"], data="integers")
    small = {row.note.partition(":")[0] for row in report.rows if not row.compared}
    assert small <= {"no parameter for a bias", "pads that crop"}, small
    # a transposed output that no forward convolution has is not tf's input gradient
    wrong = [row for row in report.failed if "output padding" not in row.name and "longest" not in row.name]
    assert not wrong, [(row.name, row.note, str(row.diagnosis)) for row in wrong]


def test_the_form_of_numbers_follows_the_name():
    seen = {}

    def singular(x, w, stride, padding, dilation):
        seen["singular"] = stride, padding, dilation
        return np.zeros((1, 1, 4, 4), np.float32)

    def plural(x, w, strides, pads, dilations):
        seen["plural"] = strides, pads, dilations
        return np.zeros((1, 1, 4, 4), np.float32)

    x, w = np.zeros((1, 8, 8, 1), np.float32), np.zeros((3, 3, 1, 1), np.float32)
    for function in (singular, plural):
        kernel = T.kernel(function, x="NCHW", w="OIHW")
        assert tc.diff(tc.conv2d, x, w, 2, 1, backends=[kernel]).passed
    assert seen == {"singular": (2, 1, 1), "plural": ((2, 2), ((1, 1), (1, 1)), (1, 1))}
    for form, want in {"int": 1, "pair": (1, 1), "pairs": ((1, 1), (1, 1)), "flat": (1, 1, 1, 1)}.items():
        tc.diff(tc.conv2d, x, w, 2, 1, backends=[T.kernel(singular, x="NCHW", w="OIHW", pads=form)])
        assert seen["singular"][1] == want


def test_what_cannot_be_said_is_refused_with_a_reason():
    def plain(x, w, stride, pad):
        raise AssertionError("never called")

    x, w = np.zeros((1, 8, 8, 4), np.float32), np.zeros((3, 3, 4, 2), np.float32)
    kernel = T.kernel(plain)
    for arguments, note in {
        ((2, 1), 0): "one int for strides: (2, 1)",
        (2, "SAME"): "one int for pads: ((0, 1), (0, 1))",
        (1, -1): "pads that crop: ((-1, -1), (-1, -1))",
        (1, 0, "NHWC", 2): "no parameter for dilations: (2, 2)",
    }.items():
        report = tc.diff(tc.conv2d, x, w, *arguments, backends=[kernel])
        assert (report.rows[0].passed, report.rows[0].note) == (None, note)
        assert report.passed is None
        with pytest.raises(AssertionError, match="nothing was compared, 1 not run"):
            report.check()
    report = tc.diff(tc.conv2d, x, w[:, :, :2], backends=[kernel])
    assert report.rows[0].note == "no parameter for groups: 2"
    report = tc.diff(tc.conv2d, x, w, backends=[kernel], bias=np.zeros(2, np.float32))
    assert report.rows[0].note == "no parameter for a bias"


def test_a_transposed_convolution_is_an_input_gradient():
    def transposed(x, weight, strides, output_padding):
        full = tc.conv2d_transpose(
            x, weight.transpose(2, 3, 1, 0), None, strides, 0, output_padding=output_padding
        )
        return full

    kernel = T.kernel(None, input_gradient=transposed, w="OIHW", pads="applied")
    report = quick(kernel, tags="transposed")
    assert report.passed, report
    assert sum(row.compared for row in report.rows) >= 12


def test_a_function_of_one_image_without_padding_runs_padded_batches():
    report = quick(T.kernel(foreign.right, x="CHW", w="OIHW"), tags=["padding", "odd", "crop"])
    assert report.passed, report
    ran = [row for row in report.rows if row.compared]
    assert len(ran) > 20
    planes = T.kernel(lambda x, w: foreign.right(x[None], w[None, None], (1, 1))[0], x="HW", w="HW")
    report = quick(planes)
    assert report.passed
    assert "axes that HW lacks" in report.summary


def test_refuses_takes_reasons_predicates_and_exceptions():
    def no_groups(geometry):
        return "groups" if geometry.groups > 1 else ""

    def no_strides(geometry):
        return max(geometry.strides) > 1

    def call(x, w, strides, pads, groups):
        return tc.conv2d(x, w, strides, pads)

    report = quick(T.kernel(call, refuses=[no_groups, no_strides]), tags=["groups", "strided", "hand"])
    assert report.passed
    assert ": groups" in report.summary
    assert ": refused by no_strides" in report.summary
    report = quick(T.kernel(foreign.declines, x="CHW", w="OIHW", refuses=foreign.NotNow))
    assert report.passed is None
    assert ": not now)" in report.summary


def test_what_is_not_implemented_is_refused_and_groups_may_be_in_the_shapes():
    def call(x, w, strides, pads):
        if max(strides) > 1:
            raise NotImplementedError("strides")
        return tc.conv2d(x, w, strides, pads)

    report = quick(T.kernel(call, groups=True), tags=["groups", "hand"], kinds="conv2d")
    assert report.passed, report
    assert ": strides)" in report.summary
    assert "groups" not in report.summary.partition("(")[2].partition(")")[0]
    assert any(": groups 1x1, " in row.name and row.passed for row in report.rows)


def test_an_out_parameter_is_written_to():
    def into(x, w, y):
        y[...] = foreign.right(x, w, (1, 1))

    def forgets(x, w, out):
        out[..., :-1] = foreign.right(x, w, (1, 1))[..., :-1]

    assert quick(T.kernel(into, x="CHW", w="OIHW")).passed
    assert not quick(T.kernel(forgets, x="CHW", w="OIHW")).passed


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [
        (lambda x, w, what: None, {}, "parameter 'what' of <lambda> has no known name: call it one of"),
        (lambda x, strides: None, {}, "<lambda> must have a parameter for filters?"),
        (3, {}, 'of one, "module:function"; got 3'),
        ("foreign:right", {}, "function must be a function of arrays, or with isolate=True the name"),
        (None, {}, "function must be a function of arrays; got None, and no gradient"),
        (max, {}, "max does not tell its parameters: wrap it"),
        (foreign.right, {"x": "NHCC"}, 'x must be a layout such as "NHWC", "NCHW" or "CHW"; got \'NHCC\''),
        (foreign.right, {"w": "NCHW"}, 'w must be a layout such as "HWIO" or "OIHW"; got \'NCHW\''),
        (foreign.right, {"x": "NWC"}, "x, w and y must have the same axes"),
        (foreign.right, {"pads": "both"}, "pads must be one of int, pair, pairs, flat, applied; got 'both'"),
        (
            foreign.right,
            {"refuses": "groups"},
            "refuses must be functions or types of exceptions; got 'groups'",
        ),
        (foreign.right, {"error": "none"}, "error of algorithm 'right' must be"),
        (foreign.right, {"dtypes": "float31"}, "dtypes must be one of"),
        (
            lambda x, w: None,
            {"isolate": True},
            "isolate=True needs a function that another process can import",
        ),
        (
            foreign.right,
            {"isolate": True, "refuses": lambda g: ""},
            "so must be each function in refuses",
        ),
    ],
)
def test_what_is_not_understood_is_said(function, options, words):
    with pytest.raises((ValueError, TypeError), match=words if "?" in words else re.escape(words)):
        T.kernel(function, **options)


def test_a_module_may_lack_functions():
    part = ModuleType("part")
    part.conv2d, part.ALGORITHMS = numpy_backend.conv2d, numpy_backend.ALGORITHMS
    report = quick(part)
    assert report.passed
    assert re.search(r"\d+: has no conv2d_backprop_input; \d+: has no conv2d_backprop_filter", report.summary)
    with pytest.raises(ValueError, match="backend 'part' has no conv2d_backprop_filter"):
        tc.conv2d_backprop_filter(np.ones((1, 3, 3, 1)), (3, 3, 1, 1), np.ones((1, 1, 1, 1)), backend=part)
    del part.ALGORITHMS
    with pytest.raises(ValueError, match="or a module with a tuple ALGORITHMS .*got <module 'part'"):
        tc.check_backend(part)
    with pytest.raises(
        ValueError, match="or a module with conv2d, .* or conv2d_backprop_filter, and a tuple"
    ):
        tc.check_backend(inspect)


@pytest.mark.usefixtures("undiagnosed")
@pytest.mark.parametrize(
    ("function", "note"),
    {
        foreign.prints: "printed 'here I am'",
        foreign.leaves_politely: "called exit(4)",
        foreign.writes: "wrote to its input",
        foreign.writes_plainly: "read-only",
        foreign.shares: "returned the memory of its last result, which another call changes",
        foreign.widens: "float64, not",
        foreign.raises_at_random: "raised RuntimeError: not today",
        foreign.answers_nothing: "returned None, not an array",
        foreign.answers_lists: "returned a list, not an array",
        foreign.flattens: "not an array of CHW",
        foreign.answers_objects: "object, not",
    }.items(),
)
@pytest.mark.parametrize("isolate", [False, True])
def test_misbehaviour_is_a_failed_row_with_a_sentence(function, note, isolate, capsys):
    report = quick(
        T.kernel(function, x="CHW", w="OIHW", isolate=isolate), tags=["hand", "odd"], kinds="conv2d"
    )
    assert report.failed
    if function is not foreign.writes or not isolate:  # there it writes to a copy of a copy
        assert any(note in row.note for row in report.failed), [row.note for row in report.failed]
    assert capsys.readouterr().out == ""
    with pytest.raises(AssertionError) as raised:
        report.check()
    assert "FAIL" in str(raised.value).split("\n")[0]
    assert " pass " not in str(raised.value)


def test_a_result_in_memory_of_an_earlier_one_is_not_named_as_a_layout():
    """It was judged in the kernel's layout, where the right numbers look transposed."""
    results = {}

    def keeps_one(x, w):  # NCHW
        y = np.einsum("nchw,ocij->nohw", x, w)
        result = results.setdefault((y.shape, y.dtype), y)
        result[...] = y
        return result

    case = T.Case("1x1", "conv2d", (3, 5, 5, 8), (1, 1, 8, 10))
    checked = T.check(T.kernel(keeps_one, x="NCHW", w="OIHW"), case)
    assert [(row.diagnosis, row.note) for row in checked.failed] == [
        (None, "returned the memory of its last result, which another call changes")
    ]


@pytest.mark.parametrize("isolate", [False, True])
def test_a_print_at_the_first_call_fails_no_row(isolate, capsys, monkeypatch):
    monkeypatch.setattr(foreign, "_COMPILED", [])
    report = quick(T.kernel(foreign.prints_once, x="CHW", w="OIHW", isolate=isolate), kinds="conv2d")
    assert report.passed, report
    assert isolate or foreign._COMPILED
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("function", "note", "options"),
    [
        (foreign.crashes, "crashed: SIGSEGV", {}),
        (foreign.hangs, "took more than 0.5 seconds, and was stopped", {"seconds": 0.5}),
        (foreign.leaves, "ended its process with exit status 3", {}),
        (foreign.is_greedy, "raised .*MemoryError", {"nbytes": 1 << 30}),
    ],
)
def test_what_would_end_python_ends_another_process(function, note, options):
    x, w = np.ones((1, 4, 4, 1), np.float32), np.ones((3, 3, 1, 1), np.float32)
    kernel = T.kernel(function, x="CHW", w="OIHW", isolate=True, **options)
    row = tc.diff(tc.conv2d, x, w, backends=[kernel]).rows[0]
    assert row.passed is False
    assert re.search(note, row.note)


def test_a_process_is_started_again():
    kernel = T.kernel(foreign.crashes_on_large, x="CHW", w="OIHW", isolate=True)
    report = quick(kernel, kinds="conv2d")
    notes = {row.note for row in report.rows if row.passed is False}
    assert notes == {"crashed: SIGSEGV"}
    assert sum(row.passed is True for row in report.rows) >= 4


def test_a_module_is_isolated_by_its_name():
    kernel = T.kernel(numpy_backend, isolate=True)
    assert tc.check_backend(kernel, "float32", tags="hand", data="integers").passed


# ---------------------------------------------------------------------------------------------
# Programs
# ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The C program of the documentation, compiled."""
    made = tmp_path_factory.mktemp("program") / "conv"
    subprocess.run(["cc", "-O2", str(EXAMPLES / "conv.c"), "-o", str(made)], check=True)
    return str(made)


def test_a_program_in_c_is_checked(program):
    kernel = T.process(program, x="NCHW", w="OIHW")
    report = tc.check_backend(kernel, tags="small")
    assert any(": crop, " in row.name and row.passed for row in report.rows)
    assert report.passed, report
    assert sum(row.compared for row in report.rows) > 60
    assert repr(kernel) == "<kernel conv>"


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_a_program_in_javascript_is_checked():
    kernel = T.process(["node", str(EXAMPLES / "conv.js")])
    report = tc.check_backend(kernel, tags="small")
    assert report.passed, report
    assert re.search(r"\d+: groups", report.summary)


@pytest.mark.parametrize(
    ("code", "note"),
    [
        ("import sys; sys.exit('cannot')", "ended its process with exit status 1; it said 'cannot'"),
        ("import os; os.abort()", "crashed: SIGABRT"),
        ("input(); print('hello')", "printed 'hello' where a line such as {\"nbytes\":16} was due"),
        ("import time; time.sleep(60)", "took more than 1 seconds, and was stopped"),
        ("input(); print('{\"nbytes\":8}'); print('1234567')", "answered 8 bytes, not the 16 of its result"),
        ('input(); print(\'{"error":"no luck"}\')', "no luck"),
        ("print('[]')", "printed '[]' where a line such as"),
    ],
)
def test_a_program_that_does_not_answer_fails(code, note):
    kernel = T.process([sys.executable, "-c", code], seconds=1 if "sleep" in code else 60)
    x, w = np.ones((1, 4, 4, 1), np.float32), np.ones((3, 3, 1, 1), np.float32)
    row = tc.diff(tc.conv2d, x, w, backends=[kernel]).rows[0]
    assert row.passed is False
    assert note in row.note


def test_a_program_that_is_not_there_is_refused():
    with pytest.raises(
        ValueError, match=r"command must be a program that can be run; got './no such program'"
    ):
        T.process("./no such program")


# ---------------------------------------------------------------------------------------------
# Other reports on the same runner
# ---------------------------------------------------------------------------------------------


def gradient_of_wrong_shape(dy, w, strides, pads):
    return np.zeros((1, 2, 2, 1), dy.dtype)


@pytest.mark.parametrize(
    ("input_gradient", "passed", "note"),
    [
        (None, None, "has no conv2d_backprop_input"),
        (gradient_of_wrong_shape, False, "returned [1, 2, 2, 1] float32, not [1, 4, 4, 1] float32"),
        (lambda dy, w, strides, pads: 1 / 0, False, "raised ZeroDivisionError: division by zero"),
    ],
)
def test_check_gradients_has_a_row_for_what_goes_wrong(input_gradient, passed, note):
    def right(x, w, strides, pads):
        return tc.conv2d(x, w, strides, pads)

    def filter_gradient(x, dy, strides, pads, filter_sizes):
        return tc.conv2d_backprop_filter(x, filter_sizes, dy, strides, pads)

    kernel = T.kernel(right, input_gradient=input_gradient, filter_gradient=filter_gradient)
    x, w = np.ones((1, 4, 4, 1), np.float32), np.ones((3, 3, 1, 1), np.float32)
    report = tc.check_gradients(tc.conv2d, x, w, backend=kernel)
    rows = {row.name: row for row in report.rows}
    for name in ("adjoint identity, input", "central differences, input"):
        assert rows[name].passed is passed
        assert note in rows[name].note
    assert rows["adjoint identity, filters"].passed
    assert rows["central differences, filters"].passed


def test_check_invariance_has_a_row_for_what_is_refused():
    kernel = T.kernel(foreign.right, x="CHW", w="OIHW", contiguous=True)  # einsum's bits depend on strides
    report = T.check_invariance(kernel, tags="hand", kinds="conv2d")
    assert not report.failed
    assert "no parameter for a bias" in report.summary


# ---------------------------------------------------------------------------------------------
# Where arrays lie in memory
# ---------------------------------------------------------------------------------------------


def failed_ways(function, **options):
    """The ways of `check_backend`, by the words at the end of a row, of which a row failed; and the summary."""
    report = quick(T.kernel(function, **options), tags=None, kinds="conv2d", dtypes="int32")
    return {row.name.rpartition("int32, ")[2] for row in report.failed}, report.summary


@pytest.fixture
def few(monkeypatch):
    """The cases that are run in many ways alone."""
    cases = [case for case in T.CASES if case.op == "conv2d" and case.name in ("same", "1x1", "default")]
    monkeypatch.setattr(contract, "find_cases", lambda *chosen: cases)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("isolate", mostly_slow([False, True], False))
def test_arrays_of_other_memory_strides_are_sent(isolate):
    assert failed_ways(foreign.takes_everything, isolate=isolate)[0] == set()
    other = {*contract.SPREAD}
    for function in (foreign.misreads_strides, foreign.misreads_strides_of_padded):
        assert failed_ways(function, isolate=isolate)[0] == other | {"new numbers at an old address, strided"}
    ways, summary = failed_ways(foreign.takes_contiguous_alone, isolate=isolate)
    assert ways == set()
    assert re.search(r"\d+: no arrays of other memory strides", summary)


@pytest.mark.usefixtures("few")
def test_a_function_that_takes_addresses_is_sent_contiguous_arrays_alone():
    ways, summary = failed_ways(foreign.takes_addresses)
    assert ways == set()
    assert re.search(r"\d+: no arrays of other memory strides", summary)
    ways, summary = failed_ways(foreign.misreads_strides, contiguous=True)
    assert (ways, "memory strides" in summary) == (set(), False)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pages")
@pytest.mark.parametrize("where", ["behind", "before"])
def test_a_read_outside_an_array_crashes_and_is_said(where):
    """What is read there is discarded: no number is wrong."""
    function = getattr(foreign, f"reads_{where}")
    assert quick(T.kernel(function, x="CHW", w="OIHW"), tags="hand", kinds="conv2d").passed
    report = quick(T.kernel(function, x="CHW", w="OIHW", isolate=True), tags="hand", kinds="conv2d")
    notes = {row.note for row in report.failed}
    want = f"read or wrote outside its arrays: where there is no memory {where} them, it crashed: SIG"
    assert any(note.startswith(want) for note in notes), notes


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pages")
def test_a_read_far_outside_an_array_crashes():
    kernel = T.kernel(foreign.reads_16_kib_behind, x="CHW", w="OIHW", isolate=True)
    notes = {row.note for row in quick(kernel, tags="hand", kinds="conv2d").failed}
    assert any(note.startswith("read or wrote outside its arrays") for note in notes), notes


@pytest.mark.parametrize("which", [0, 1])
def test_each_array_of_a_gradient_has_huge_numbers(which):
    def clips(x, dy, geometry):
        arrays = [x, dy]
        arrays[which] = np.clip(arrays[which], -65504, 65504)
        return numpy_backend.conv2d_backprop_filter(*arrays, geometry)

    report = tc.check_backend(T.kernel(None, filter_gradient=clips), "float32", tags="odd")
    assert {row.name.rpartition("float32, ")[2] for row in report.failed} == {"huge numbers"}


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pages")
@pytest.mark.parametrize("where", ["behind", "before"])
def test_what_is_written_back_outside_the_result_crashes(where):
    """No number is wrong, but where another thread writes there at the same time its number is lost."""
    function = getattr(foreign, f"writes_back_what_was_{where}")
    assert quick(T.kernel(function), tags="hand", kinds="conv2d").passed
    report = quick(T.kernel(function, isolate=True), tags="hand", kinds="conv2d")
    notes = {row.note for row in report.failed}
    assert any(f"where there is no memory {where} them, it crashed: SIG" in note for note in notes), notes


def test_an_aligned_load_elsewhere_in_an_array_is_no_read_outside():
    kernel = T.kernel(foreign.loads_16_aligned_bytes, x="CHW", w="OIHW", isolate=True)
    notes = {row.note for row in quick(kernel, tags="hand", kinds="conv2d").failed}
    assert notes == {
        "crashed: SIGSEGV, where arrays begin at other addresses than multiples of 16, and not at those"
    }


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pages")
def test_a_crash_that_does_not_come_again_is_not_laid_to_where_arrays_lie(tmp_path, monkeypatch):
    monkeypatch.setenv("CRASHES_ONCE", str(tmp_path / "once"))
    (tmp_path / "once").touch()
    kernel = T.kernel(foreign.crashes_once, x="CHW", w="OIHW", isolate=True)
    [row] = T.check(kernel, T.Case("mine", "conv2d", (1, 4, 4, 1), (3, 3, 1, 1)), kinds="conv2d").rows
    assert row.note == "crashed: SIGSEGV, not every time"


@pytest.mark.parametrize("op", ["conv1d", "conv3d", "convolution"])
def test_the_data_format_of_a_case_is_one_of_its_axes(op):
    sizes = (5, 6, 7)[: 1 if op == "conv1d" else 3]
    case = T.Case("mine", op, (1, *sizes, 2), (*(2 for _ in sizes), 2, 3))
    assert T.check("numpy", case, kinds="conv2d").passed
    line = str(Checked(case, FORWARD, "float32", "integers"))
    assert "data_format" not in line
    assert eval(line.partition("kernel, ")[2].partition(', "float32"')[0], {"T": T}) == case


def test_whole_numbers_are_not_summed_in_python_for_every_change(monkeypatch):
    """Of filters of zeros each result is that of before, as it has to be; 28 exact sums of 200,000 cells took 40 s."""
    asked, run = [], dispatch.run_canonical

    def counted(call, module, *rest, **options):
        asked.append(module)
        return run(call, module, *rest, **options)

    monkeypatch.setattr(dispatch, "run_canonical", counted)
    kernel = T.kernel(lambda x, w, geometry: np.zeros(geometry.output_shape, x.dtype))
    case = T.Case("mine", "conv2d", (1, 70, 70, 1), (1, 1, 1, 1))
    assert not T.check(kernel, case, kinds="conv2d", way="new numbers at an old address").passed
    assert "reference" not in asked


# ---------------------------------------------------------------------------------------------
# An array to write to
# ---------------------------------------------------------------------------------------------


def of_windows(x, w):
    """A convolution of an input that is padded already."""
    if 0 in x.shape:
        raise NotImplementedError("an empty image")
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))
    return np.einsum("ncrsij,ocij->nors", windows, w)


def test_rows_that_no_tap_reads_are_given_to_a_function_that_does_not_pad():
    """A 1x1 filter at stride 2 reads 5 of 6 rows; of a padded image the last row may be left over, too."""
    asked = []

    def keeps(x, w, stride):
        asked.append(x.shape[1:3])
        return tc.conv2d(x, w, stride, "VALID")

    T.check(T.kernel(keeps), T.Case("1x1", "conv2d", (2, 6, 7, 3), (1, 1, 3, 4), 2), kinds="conv2d").check()
    padded = T.Case("3x3", "conv2d", (1, 6, 6, 3), (3, 3, 3, 4), 2, ((1, 1), (0, 1)))
    T.check(T.kernel(keeps), padded, kinds="conv2d").check()
    assert {*asked} == {(6, 7), (8, 7)}


def writes_before(x, w, y):
    y[...] = of_windows(x, w)
    ctypes.memset(y.ctypes.data - y.itemsize, 0, 1)


def writes_behind(x, w, y):
    y[...] = of_windows(x, w)
    ctypes.memset(y.ctypes.data + y.nbytes, 0, 1)


def all_but_the_last_channel(x, w, y):
    y[:, :-1] = of_windows(x, w)[:, :-1]


def adds(x, w, y):
    y += of_windows(x, w)


def failed_of(function, **options):
    kernel = T.kernel(function, x="NCHW", w="OIHW", **options)
    return tc.check_backend(
        kernel, tags=["hand", "odd"], kinds="conv2d", dtypes=list(options.get("dtypes", ["float32"]))
    ).failed


@pytest.mark.parametrize("function", [writes_before, writes_behind])
def test_a_write_beside_the_result_is_seen(function):
    rows = failed_of(function, dtypes=("float32", "int32"))
    assert len(rows) > 10
    assert {row.note for row in rows} == {"wrote outside y: 1 cell around it changed"}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cells_that_nobody_writes_are_named(dtype):
    rows = [row for row in failed_of(all_but_the_last_channel, dtypes=(dtype,)) if row.where]
    assert len(rows) > 10
    for row in rows:
        assert row.where.endswith(": never written, or added to")
        assert not row.note
    assert "channel 2 of 3 (last): never written, or added to" in {row.where for row in rows}
    rows = failed_of(adds, dtypes=(dtype,))
    assert "every cell: never written, or added to" in {row.where for row in rows}
    assert not any("read outside" in row.note or "at this address" in row.note for row in rows)


def test_what_is_left_in_memory_says_where():
    random = np.random.default_rng(0)

    def last_column_of_what_was_there(x, w):
        y = of_windows(x, w)
        y[..., -1] = random.standard_normal(y.shape[:-1])
        return y

    notes = [row.note for row in failed_of(last_column_of_what_was_there)]
    assert "gives other bits when run again: column 1 of 2 (last)" in notes


def test_nothing_is_no_array():
    assert {row.note for row in failed_of(lambda x, w: None)} == {"returned None, not an array"}


def test_a_bound_that_does_not_hold_judges_nothing():
    """A transform of 3 by 3 windows has no bound for other filters: such calls are not run."""
    kernel = T.kernel(of_windows, x="NCHW", w="OIHW", error="winograd2")
    report = tc.check_backend(kernel, tags="small", kinds="conv2d", data="integers")
    assert report.passed
    assert "its bound, 'winograd2', does not hold for such a call" in str(report.summary)
    assert 0 < sum(row.compared for row in report.rows) < 40


def test_a_right_transform_is_not_failed_for_its_overflow():
    """FFT of huge numbers: its sums overflow where those of the products do not."""

    def by_fft(x, w):
        sizes = x.shape[2:]
        fx, fw = scipy.fft.rfft2(x), scipy.fft.rfft2(w[:, :, ::-1, ::-1], sizes)
        y = scipy.fft.irfft2(np.einsum("ncrs,ocrs->nors", fx, fw), sizes)
        return y[:, :, w.shape[2] - 1 :, w.shape[3] - 1 :].astype(x.dtype)

    kernel = T.kernel(by_fft, x="NCHW", w="OIHW", error="fft")
    report = tc.check_backend(kernel, kinds="conv2d", tags="hand")
    assert report.passed, report
    assert not any("huge" in row.name for row in report.rows if row.compared)


def test_zeros_that_are_skipped_are_found():
    """0 times NaN is NaN; a kernel that leaves zeros of the input out gives a number."""

    def skips_zeros(x, w):
        windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))[:, None]
        filters = w[None, :, :, None, None]
        return np.where(windows == 0, 0, windows * filters).sum((2, 5, 6)).astype(x.dtype)

    right = T.kernel(of_windows, x="NCHW", w="OIHW")
    wrong = T.kernel(skips_zeros, x="NCHW", w="OIHW")
    for kernel, passes in ((right, True), (wrong, False)):
        rows = [
            row for row in tc.check_backend(kernel, kinds="conv2d", tags="hand").rows if "times 0" in row.name
        ]
        assert [row.passed for row in rows] == [passes]


# ---------------------------------------------------------------------------------------------
# What a kernel is told of
# ---------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("undiagnosed")
@pytest.mark.parametrize(
    ("replaced", "by", "case"),
    [("- pad[0] ", "", ": same, "), ("- pad[2] ", "", ": explicit, "), ("bias[o] : 0", "0 : 0", ": 1x1, ")],
)
def test_a_program_that_leaves_out_padding_or_a_bias_fails(tmp_path, replaced, by, case):
    """A program is sent images without padding: what it does not do with pads shows."""
    code = (EXAMPLES / "conv.c").read_text(encoding="utf-8")
    assert code.count(replaced) == 1
    (tmp_path / "conv.c").write_text(code.replace(replaced, by), encoding="utf-8")
    subprocess.run(["cc", "-O2", "conv.c", "-o", "conv"], cwd=tmp_path, check=True)
    kernel = T.process(str(tmp_path / "conv"), x="NCHW", w="OIHW")
    report = quick(kernel, tags=["hand", "odd", "padding"], kinds="conv2d")
    assert any(case in row.name for row in report.failed)
    assert any(row.passed for row in report.rows if "the example" in row.name)


def test_a_program_is_told_of_everything(program):
    kernel = T.process(program, x="NCHW", w="OIHW")
    report = quick(kernel, tags=["small"], kinds="conv2d")
    assert dict(report.asked).keys() == {"padding", "strides", "dilations", "groups", "bias"}
    assert min(dict(report.asked).values()) > 10
    assert "0 calls" not in report.summary


def told_all(x, w, geometry, bias=None):
    """The geometry has pads, strides and dilations in it."""
    return tc.conv2d(x, w, geometry.strides, geometry.padding, dilations=geometry.dilations, bias=bias)


def forgets_pads(x, w, geometry, bias=None):
    return tc.conv2d(x, w, geometry.strides, 0, dilations=geometry.dilations, bias=bias)


def test_a_function_of_the_geometry_pads_itself():
    report = quick(T.kernel(told_all), tags="small", kinds="conv2d")
    assert report.passed
    assert "0 calls" not in report.summary
    assert quick(T.kernel(forgets_pads), tags="padding", kinds="conv2d").failed
    padded = T.kernel(forgets_pads, pads="applied")
    assert quick(padded, tags="padding", kinds="conv2d").summary.endswith(
        "; padding: 0 calls; dilations: 0 calls; groups: 0 calls"
    )


@pytest.mark.parametrize(
    ("function", "lacks"),
    [
        (lambda x, w: of_windows(x, w), ["padding", "strides", "dilations", "groups", "bias"]),
        (
            lambda x, w, stride, pad: tc.dialects.torch.conv2d(x, w, None, stride, pad),
            ["dilations", "groups", "bias"],
        ),
        (lambda x, w, b, pad: tc.dialects.torch.conv2d(x, w, b, 1, pad), ["strides", "dilations", "groups"]),
    ],
)
def test_the_first_line_says_what_a_kernel_was_never_told_of(function, lacks):
    kernel = T.kernel(function, x="NCHW", w="OIHW", refuses=(ValueError, NotImplementedError))
    report = quick(kernel, tags="small", kinds="conv2d")
    assert report.passed
    assert re.findall(r"; (\w+): 0 calls", report.summary) == lacks
    assert re.search(r"\d+: no parameter for groups", report.summary)


def test_pairs_that_one_int_cannot_say_are_counted():
    def conv(x, w, stride, padding):
        return tc.dialects.torch.conv2d(x, w, None, stride, padding)

    report = quick(T.kernel(conv, x="NCHW", w="OIHW"), tags=["hand", "odd", "padding"], kinds="conv2d")
    skipped = [row for row in report.rows if row.note.startswith("one int for pads")]
    assert len(skipped) > 5
    assert f"{len(skipped)}: one int for pads" in report.summary


def test_what_another_process_alone_knows_is_said():
    kernel = T.kernel("foreign:right", x="CHW", w="OIHW", isolate=True)
    assert "; padding: 0 calls" in quick(kernel, tags=["hand", "odd"], kinds="conv2d").summary


@pytest.mark.parametrize("words", ["x, w, output_shape", "dy, w, out_shape", "dy, w, input_sizes"])
def test_a_transposed_convolution_is_told_the_shape_that_it_returns(words):
    names = {}
    exec(
        f"def tr({words}, strides, pads, output_padding):\n"
        f"    y = tc.conv2d_transpose({words[: words.index(',')]}, w, None, strides, pads,"
        " output_padding=output_padding)\n"
        f"    assert {words.rpartition(', ')[2]} == y.shape\n"
        "    return y",
        {"tc": tc},
        names,
    )
    kernel = T.kernel(None, input_gradient=names["tr"])
    case = T.Case("mine", "conv2d_transpose", (1, 4, 5, 2), (3, 3, 3, 2), 2, 1)
    T.check(kernel, case).check()


def takes_its_address(x, w, strides, pads, dilations, groups):
    return tc.conv2d(x, w, strides, pads, dilations=dilations) + 0 * (x.ctypes.data == 0)


@pytest.mark.parametrize("options", [{}, {"contiguous": True}, {"isolate": True}])
def test_the_first_line_says_how_far_it_went_and_what_was_not_looked_for(options):
    reports = [
        tc.check_backend(T.kernel(takes_its_address, **options), tags="hand", kinds="conv2d"),
        T.fuzz(T.kernel(takes_its_address, **options), seconds=5, kinds="conv2d"),
    ]
    for report in reports:
        assert re.search(
            r"; at most batch [\d,]+, size [\d,]+, in_channels [\d,]+, out_channels [\d,]+, channel groups [\d,]+, filter [\d,]+, stride \d+, dilation \d+, elements [\d,]+;",
            report.summary,
        )
        seen = "; reads outside arrays: not looked for (isolate=True does)" in report.summary
        assert seen == ("isolate" not in options)
    assert (
        "; at most batch 2, size 7, in_channels 5, out_channels 5, channel groups 1, filter 3, stride 2, dilation 1, elements 200;"
        in reports[0].summary
    )
    # nobody can tell from a function's text: it may call a helper that takes the address
    assert "reads outside" in T.fuzz(T.kernel(foreign.takes_everything), seconds=0.1).summary


def causal_alone(x, w, pads, dilations, groups):
    if pads != (((w.shape[0] - 1) * dilations[0], 0),):
        raise NotImplementedError("other padding")
    return tc.conv1d(x, w, 1, pads, dilations=dilations)


def test_a_causal_kernel_is_run_by_the_table():
    report = quick(T.kernel(causal_alone, x="NWC", w="WIO"), tags="1d", kinds="conv2d", dtypes="float32")
    assert report.passed
    ran = {row.name.rpartition("float32, ")[2] for row in report.rows if row.compared}
    assert ran >= {*contract.SPREAD, "new numbers at an old address", "a new array"}
    names = {row.name for row in report.rows if row.compared}
    for name in ("causal", "causal, dilation 2", "WaveNet, dilation 16"):
        assert any(f": {name}, float32 integers" in each for each in names)


def test_a_causal_fault_is_found_by_the_table():
    def forgets(x, w, pads, dilations, groups):
        y = causal_alone(x, w, pads, dilations, groups).copy()
        y[:, 0] += w.shape[0] > 1 < dilations[0]
        return y

    assert quick(T.kernel(forgets, x="NWC", w="WIO"), tags="1d", kinds="conv2d").failed


def test_a_single_cell_read_backwards_is_no_array_in_order():
    """PyTorch refuses a stride below 0, also where NumPy calls the array contiguous: an axis of one cell."""

    def refuses(x, w, strides, pads, dilations, groups, bias):
        if min(stride for array in (x, w, bias) if array is not None for stride in array.strides) < 0:
            raise ValueError("At least one stride is negative")
        return tc.conv2d(x, w, strides, pads, dilations=dilations, bias=bias)

    report = tc.check_backend(T.kernel(refuses), ["float32"], tags=["hand", "odd"], kinds="conv2d")
    assert report.passed, str(report)
    refused = {row.name.partition("float32, ")[2] for row in report.rows if "memory strides" in row.note}
    assert "new numbers at an old address, strided" in refused


def test_tags_without_a_case_of_these_axes_are_refused():
    kernel = T.kernel(lambda x, w: tc.conv1d(x, w), x="NWC", w="WIO")
    with pytest.raises(
        tc.ArgumentError, match=r"^tags 'small': no case .* over 1 spatial axes; leave tags out"
    ):
        tc.check_backend(kernel, tags="small")


@pytest.mark.parametrize("isolate", [False, True])
@pytest.mark.parametrize(("function", "name"), [(cheating.doubles_x, "x"), (cheating.doubles_w, "w")])
def test_a_kernel_that_writes_to_its_arrays_by_their_address_fails(function, name, isolate):
    kernel = T.kernel(function, x="NHWC", w="HWIO", isolate=isolate)
    case = T.Case("mine", "conv2d", (2, 5, 5, 3), (2, 2, 3, 4))
    [row] = T.check(kernel, case, "float32", "integers", "conv2d").failed
    assert f"wrote to its input: {name} was changed" in row.note


@pytest.mark.parametrize(("error", "fails"), [("winograd2", False), ("direct", True)])
def test_a_transform_may_spread_nan_over_its_tile(error, fails):
    def one_tile(x, w, bias):
        return tc.conv2d(x, w, bias=bias) * (np.nan if np.isnan(x).any() else 1)

    report = tc.check_backend(T.kernel(one_tile, error=error), "float32", kinds="conv2d", data="nonfinite")
    assert any("NaN, bias and relu" in row.name for row in report.failed) == fails
