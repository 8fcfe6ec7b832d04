"""The table of cases as pytest's parameters, the plugin, and the fuzzer, as a project of somebody else's has them."""

import inspect
import itertools
import os
import random
import re
import subprocess
import sys
import zlib
from contextlib import contextmanager
from dataclasses import replace
from functools import cache, partial
from itertools import chain, count, islice
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from helpers import mostly_slow

import teachconv as tc
from teachconv import testing as T
from teachconv.backends import get
from teachconv.cli.main import main
from teachconv.data.seeded import make_array
from teachconv.testing import covering, fuzzing, layers
from teachconv.testing.covering import Known
from teachconv.verification import contract, diffing
from teachconv.verification.diagnosing import Diagnosis, Found

ROOT = Path(__file__).parents[2]

PROJECT = """
import numpy as np
from teachconv import testing as T

def conv(x, w, stride, pad):
    x = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], (2, 3))[:, :, ::stride, ::stride]
    return np.einsum("ncrsij,ocij->nors", windows, w) {bug}

k = T.kernel(conv, x="NCHW", w="OIHW"{options})

@T.parametrize(k, dtypes=["float32", "int32"], tags=["hand", "odd", "groups", "transposed"])
def test_conv(case):
    case.check(k)

def test_fuzz(conv_fuzz):
    conv_fuzz(k, seed=3).check()
"""


def run(folder, *words, bug="", options=""):
    (folder / "conftest.py").write_text('pytest_plugins = ["teachconv.testing.plugin"]\n')
    (folder / "test_mine.py").write_text(PROJECT.format(bug=bug, options=options))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    (folder / "pytest.ini").write_text("[pytest]\n")
    # plugins of other packages are not part of it, and take half a second
    environment = {"PYTHONPATH": str(ROOT), "PATH": "", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.slow  # a session of pytest, as PROJECT's are
def test_the_lines_of_the_readme_are_a_test_file(tmp_path):
    """With a conv of the reader's own; the time of the fuzzer alone is changed."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    [block] = [
        found for found in re.findall(r"```python\n(.*?)```", readme, re.S) if "T.kernel(my_conv" in found
    ]
    ours = PROJECT[PROJECT.index("def conv(") : PROJECT.index("{bug}")]
    ours = ours.replace("def conv(x, w, stride, pad)", "def my_conv(x, weight, stride, padding)")
    ours = (
        ours.replace("(pad, pad)", "(padding, padding)")
        .replace("w.shape", "weight.shape")
        .replace(", w)", ", weight)")
    )
    text = "import numpy as np\n" + ours + "\n" + block.replace("seconds=20", "seconds=0.5")
    (tmp_path / "test_readme_lines.py").write_text(text)
    code, printed = run(tmp_path, "-rf", "test_readme_lines.py", "-k", "hand or fuzz")
    assert code == 0, printed  # the README asks for float32 and float64 alone: in float16 it sums in float16
    assert re.search(r"convolutions: [1-9]\d* pass, 0 fail", printed)


def test_a_correct_function_passes_and_what_ran_is_said(tmp_path):
    code, printed = run(tmp_path, "--conv-seconds", "0.5")
    assert code == 0, printed
    line = next(line for line in printed.split("\n") if line.startswith("convolutions: "))
    assert " pass, 0 fail, " in line
    assert "no parameter for groups" in line
    assert re.search(r"\d+: one int for pads", line)
    assert line.endswith("; dilations: 0 calls; groups: 0 calls; bias: 0 calls")


def test_tests_are_selected_by_words(tmp_path):
    code, printed = run(tmp_path, "--collect-only", "-k", "groups and not gradient and int32")
    assert code == 0, printed
    chosen = [line for line in printed.split("\n") if "::" in line]
    assert chosen
    assert all("groups" in line and "gradient" not in line and "float32" not in line for line in chosen)


def test_a_failure_is_one_line_to_paste(tmp_path):
    code, printed = run(
        tmp_path,
        "-k",
        "test_conv and hand and int32",
        bug="* np.where(np.arange(len(w)) == 2, 2, 1)[:, None, None].astype(w.dtype)",
    )
    assert code == 1
    line = next(line for line in printed.split("\n") if "AssertionError: T.check(" in line)
    paste = line.partition("AssertionError: ")[2].strip()
    namespace = {}
    exec((tmp_path / "test_mine.py").read_text(), namespace)
    with pytest.raises(AssertionError, match="1 of 1 FAIL"):
        eval(paste, {"T": T, "kernel": namespace["k"]})


def test_nothing_passes_by_refusing_everything(tmp_path):
    code, printed = run(tmp_path, "-k", "test_conv and hand", options=", refuses=lambda geometry: 'too hard'")
    assert code == 1
    assert "convolutions: 0 pass, 0 fail, " in printed
    assert ": too hard" in printed


def test_parametrize_says_what_is_wrong():
    for options in ({"dtypes": "float31"}, {"tags": "nothing"}, {"kinds": "conv4d"}, {"data": "none"}):
        with pytest.raises(ValueError, match="must be one of"):
            T.parametrize("numpy", **options)


def test_a_required_case_must_run():
    kernel = T.kernel(lambda x, w: x, refuses=lambda geometry: True)
    report = tc.check_backend(kernel, tags="hand", require="one pixel")
    assert [row.note for row in report.failed] == ["required, and not run"]
    assert tc.check_backend("numpy", "float32", tags="hand", require=["one pixel", "1x1"]).passed
    with pytest.raises(ValueError, match="require must be one of the example, one pixel"):
        tc.check_backend(kernel, tags="hand", require="no such case")


# ---------------------------------------------------------------------------------------------
# The fuzzer
# ---------------------------------------------------------------------------------------------


@pytest.fixture
def clock(monkeypatch):
    """Time goes on by a hundredth of a second whenever the fuzzer looks: a slow host runs what a fast one does."""
    looks = count()
    clock = SimpleNamespace(clock=lambda: next(looks) / 100)
    monkeypatch.setattr(fuzzing, "record", clock)
    return clock


def planted(change):
    """A convolution with a bug: it changes the result where a condition holds."""

    def function(x, w, strides, pads, dilations, groups):
        y = tc.conv2d(x, w, strides, pads, dilations=dilations, backend="numpy")
        return change(y.copy(), x, w, strides, pads, dilations, groups)

    return T.kernel(function)


def beyond_32_outputs(y, x, w, *rest):
    y[..., 32:] = 0
    return y


def last_of_odd_cols(y, x, w, *rest):
    if y.shape[2] % 8 == 1 and y.shape[2] > 8:
        y[:, :, -1] += 1  # also where it is 0
    return y


def one_number_for_both(y, x, w, strides, *rest):
    if min(strides) != max(strides):
        raise NotImplementedError("one stride")
    return y + (min(strides) > 2)


def stride_3(y, x, w, strides, *rest):
    return y + (strides[1] == 3)


def groups_of_4(y, x, w, strides, pads, dilations, groups):
    return -y if groups == 4 else y


def second_image(y, *rest):
    y[1:] = y[:1]
    return y


def deep_sums(y, x, *rest):
    return y + 1 if x.shape[3] > 100 else y


def pads_after(y, x, w, strides, pads, *rest):
    return y + 1 if pads[1][1] == 5 else y  # also where it is 0


@pytest.mark.parametrize(
    ("bug", "smallest"),
    [
        (beyond_32_outputs, r"filters=\(1, 1, 1, 3[34]\)"),  # a weight of 0 hides the bug
        pytest.param(
            last_of_odd_cols,
            r"input=\(1, 1, \d\d?, 1\), filters=\(1, \d, 1, 1\)",  # 9 outputs
            marks=pytest.mark.slow,
        ),
        pytest.param(stride_3, r"strides=\(1, 3\)", marks=pytest.mark.slow),
        (one_number_for_both, r"strides=\(3, 3\)"),  # neither is reached by one step at a time
        pytest.param(groups_of_4, r"filters=\(1, 1, 1, 4\)", marks=pytest.mark.slow),
        pytest.param(second_image, r"input=\(2, 1, 1, 1\)", marks=pytest.mark.slow),
        pytest.param(deep_sums, r"input=\(1, 1, 1, 10[12]\)", marks=pytest.mark.slow),
        pytest.param(pads_after, r"padding=\(\(0, 0\), \(0, 5\)\)", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("seed", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_a_planted_bug_is_found_and_made_small(bug, smallest, seed, clock):
    report = T.fuzz(planted(bug), seconds=30, seed=seed)
    assert len(report.failed) == 1
    assert re.search(smallest, report.failed[0].note)
    with pytest.raises(AssertionError, match=r"T\.check\("):
        report.check()


@pytest.mark.parametrize("first", [0, 9])
def test_what_makes_a_failure_small_is_held_by_the_limit(first, monkeypatch):
    """Every call of the kernel takes a second: there is time for a few of those that would make it small."""
    calls = count()
    seconds = SimpleNamespace(now=0)
    monkeypatch.setattr(fuzzing, "record", SimpleNamespace(clock=lambda: seconds.now))

    def slow(x, w, strides, pads, dilations, groups):
        seconds.now += 1
        y = tc.conv2d(x, w, strides, pads, dilations=dilations)
        return y + (next(calls) >= first)

    report = T.fuzz(T.kernel(slow), seconds=10, seed=1, kinds="conv2d")
    assert report.failed
    assert "T.check(" in report.failed[0].note
    assert seconds.now < 20


def test_a_function_without_a_bias_is_never_drawn_one(clock):
    def bare(x, w, strides, pads, dilations, groups):
        return tc.conv2d(x, w, strides, pads, dilations=dilations)

    def full(x, w, strides, pads, dilations, groups, bias):
        return tc.conv2d(x, w, strides, pads, dilations=dilations, bias=bias)

    without, with_one = (T.fuzz(T.kernel(function), seconds=3, seed=0) for function in (bare, full))
    assert not any("bias" in row.note or "bias and relu" in row.name for row in without.rows)
    assert any("bias and relu" in row.name and row.compared for row in with_one.rows)


def backend_that(change):
    """numpy's backend with something done around its conv2d."""

    class Backend:
        ALGORITHMS = get("numpy").ALGORITHMS

        @staticmethod
        def conv2d(x, w, geometry, **options):
            return change(get("numpy").conv2d, x, w, geometry, options)

    return Backend


def drops_nan(conv2d, x, w, geometry, options):
    return conv2d(np.nan_to_num(x), w, geometry, **options)


def forgets_relu(conv2d, x, w, geometry, options):
    return conv2d(x, w, geometry, **options | {"activation": None})


def forgets_out(conv2d, x, w, geometry, options):
    return conv2d(x, w, geometry, **options | {"out": None})


@pytest.mark.parametrize(
    ("bug", "way"),
    mostly_slow([(drops_nan, "NaN"), (forgets_relu, "relu"), (forgets_out, "out=")], (forgets_out, "out=")),
)
def test_what_no_case_asks_for_is_found_and_the_line_shows_it(bug, way, clock):
    report = T.fuzz(backend_that(bug), seconds=30, seed=1, dtypes="float32", kinds="conv2d")
    [row, *_] = report.failed
    assert way in row.name.rpartition(", ")[2] or "relu" in row.name
    line = row.note[row.note.index("T.check(") :]
    with pytest.raises(AssertionError, match="FAIL"):
        eval(line, {"T": T, "kernel": backend_that(bug)})


def rounds_what_pixels_give(conv2d, x, w, geometry, options):
    y = conv2d(x, w, geometry, **options)
    return np.rint(y, out=y) if np.array_equal(x, np.rint(x)) else y


def test_whole_images_with_other_weights_are_drawn(clock):
    """Pixels from 0 to 255 as floats: a kernel may take them for a call of integers."""
    report = T.fuzz(
        backend_that(rounds_what_pixels_give), seconds=30, seed=1, dtypes="float32", kinds="conv2d"
    )
    [row, *_] = report.failed
    assert "pixels" in row.name


def test_a_failure_that_does_not_come_again_is_kept(clock):
    calls = []

    def flaky(x, w, strides, pads, dilations, groups):
        calls.append(1)
        return tc.conv2d(x, w, strides, pads, dilations=dilations) + (len(calls) == 7)

    report = T.fuzz(T.kernel(flaky), seconds=20)
    assert "not every time" in report.failed[0].note


def test_what_is_allowed_passes_and_the_line_says_it(clock):
    def coarse(x, w, strides, pads, dilations, groups):
        return tc.conv2d(x, w, strides, pads, dilations=dilations) * np.float32(1 + 1e-5)

    kernel = T.kernel(coarse, dtypes="float32")
    case = T.Case("mine", "conv2d", (1, 5, 5, 2), (3, 3, 2, 4))
    quick = {"tags": "hand", "kinds": "conv2d"}
    for report in (
        T.check(kernel, case, rtol=1e-4),
        T.fuzz(kernel, seconds=0.5, data="normal", rtol=1e-4, atol=1e-30),
        tc.check_backend(kernel, rtol=1e-4, **quick),
    ):
        assert report.passed, report
        assert "with a tolerance of rtol 0.0001" in report.summary
    assert not T.check(kernel, case, rtol=1e-6).passed
    assert not tc.check_backend(kernel, rtol=1e-6, **quick).passed
    assert "rtol=1e-06).check()" in T.fuzz(kernel, seconds=10, rtol=1e-6).failed[0].note
    for function in (
        partial(T.check, kernel, case),
        partial(T.fuzz, kernel),
        partial(tc.check_backend, kernel),
    ):
        with pytest.raises(ValueError, match="rtol must be 0 or a positive finite number; got -1"):
            function(rtol=-1)
    with pytest.raises(ValueError, match="way must be one of None, out=, bias and relu"):
        T.check(kernel, case, way="sideways")


def test_a_backend_that_does_not_crop_is_found(clock):
    def does_not_crop(conv2d, x, w, geometry, options):
        result = conv2d(x, w, geometry, **options)
        result += geometry.cols.pad_after < 0
        return result

    report = T.fuzz(backend_that(does_not_crop), seconds=30, seed=0)
    assert re.search(r"padding=\(\(0, 0\), \([01], -1\)\)", report.failed[0].note)


def test_the_same_seed_gives_the_same_calls(clock):
    found = []
    for _ in range(2):
        calls = []

        def function(x, w, strides, pads, dilations, calls=calls):
            call = x.shape, w.shape, strides, pads, dilations, x.tobytes()
            if call not in calls[-1:]:  # how often a quick one is run again depends on the machine
                calls.append(call)
            return tc.conv2d(x, w, strides, pads, dilations=dilations)

        T.fuzz(T.kernel(function, refuses=lambda geometry: geometry.groups > 1), seconds=0.4, seed=7)
        found.append(calls)
    assert len(found[0]) > 20
    assert found[0] == found[1]


def test_time_is_kept_and_bad_arguments_are_refused(clock):
    start = clock.clock()
    report = T.fuzz("numpy", seconds=0.4, dtypes=["int32", "float16"])
    assert 0.35 < clock.clock() - start < 0.5
    assert report.passed
    for options, words in {
        "seconds": (0, "seconds must be positive; got 0"),
        "dtypes": ("float31", "dtypes must be one of"),
        "kinds": ("conv4d", "kinds must be one of"),
    }.items():
        with pytest.raises(ValueError, match=words[1]):
            T.fuzz("numpy", **{options: words[0]})
    with pytest.raises(TypeError, match="seed must be integers"):
        T.fuzz("numpy", seed="a")


def test_what_is_refused_every_time_is_no_pass():
    report = T.fuzz(T.kernel(lambda x, w: x, refuses=lambda geometry: True), seconds=0.2)
    with pytest.raises(AssertionError, match="nothing was compared"):
        report.check()


@pytest.mark.parametrize("backend", mostly_slow(["numpy", "scipy", "cython"], "cython"))
def test_our_own_backends_stand_it(backend, clock, monkeypatch):
    if backend == "scipy":  # which loops over pairs of channels: of a thousand by a thousand for minutes
        monkeypatch.setattr(fuzzing, "_MOST", 1 << 14)
        monkeypatch.setattr(fuzzing, "_QUICK", 1 << 14)
    report = T.fuzz(backend, seconds=0.4, seed=11, dtypes=["float32", "float16", "int32", "float64"])
    report.check()
    assert len(report.rows) > 30
    assert {"conv2d", "conv2d input gradient", "conv2d filter gradient"} <= {
        row.name.split(": ")[1] for row in report.rows
    }


def test_the_command_line_fuzzes_a_function(tmp_path, monkeypatch, capsys):
    (tmp_path / "mine_to_fuzz.py").write_text(PROJECT.format(bug="", options="").partition("@T")[0])
    monkeypatch.syspath_prepend(tmp_path)
    words = ["fuzz", "mine_to_fuzz:conv", "--x", "NCHW", "--w", "OIHW", "--seconds", "1"]
    assert main(words) == 0
    assert " pass" in capsys.readouterr().out
    assert main(["fuzz", "mine_to_fuzz:k", "--seconds", "1"]) == 0
    assert main([*words[:4], "--w", "HWIO", "--seconds", "1"]) == 1
    printed = capsys.readouterr().out
    assert "FAIL" in printed.split("\n")[0] or "T.check(kernel" in printed
    assert main(["fuzz", "mine_to_fuzz:no"]) == 2
    assert main(["fuzz", "no_such_module:no"]) == 2
    assert "no_such_module" in capsys.readouterr().err


def one_call(monkeypatch, sizes=(9, 9), taps=(3, 3), strides=(1, 1), dilations=(1, 1), **numbers):
    """Let the fuzzer draw one call alone, whatever the seed."""
    axes = zip(sizes, taps, strides, dilations, strict=True)
    words = "size", "taps", "stride", "dilation"
    drawn = dict.fromkeys(("images", "groups", "depth", "outs"), 1) | {"bias": 0, "transposed": 0} | numbers
    for axis, of_axis in enumerate(axes):
        drawn |= {f"{word}{axis}": number for word, number in zip(words, of_axis, strict=True)}
        drawn |= {f"{word}{axis}": 0 for word in ("before", "after", "extra")}
    monkeypatch.setattr(fuzzing, "_calls", lambda *rest: iter([fuzzing._Drawn(drawn, "float32")]))
    monkeypatch.setattr(fuzzing, "_LIES", [None])


def test_the_name_of_the_call_that_was_found_is_kept(clock, monkeypatch):
    """Made small, a stride for the wrong axis is a call of one cell, which other mistakes fit as well."""

    def stride_of_rows(conv2d, x, w, geometry, options):
        columns = replace(geometry.cols, stride=geometry.rows.stride)
        return conv2d(x, w, replace(geometry, axes=(geometry.rows, columns)), **options)

    one_call(monkeypatch, strides=(2, 1), depth=2, outs=3)
    [row, *_] = T.fuzz(backend_that(stride_of_rows), dtypes="float32", kinds="conv2d").failed
    assert "a larger call: one_stride" in row.note


# ---------------------------------------------------------------------------------------------
# What networks have, and what a kernel refuses
# ---------------------------------------------------------------------------------------------


@pytest.fixture
def only_found(monkeypatch, clock, undiagnosed):
    """A failure is not made small, and nobody looks for its name: for tests that ask how soon it is found."""
    monkeypatch.setattr(fuzzing, "_shrunk", lambda run, history, found, *rest: found)


def last_of_odd_depthwise(y, x, w, strides, pads, dilations, groups):
    if groups == w.shape[3] > 1 == w.shape[2] and w.shape[:2] == (3, 3) and strides == (2, 2):
        y[:, :, y.shape[2] - y.shape[2] % 2 :] = 0
    return y


def index_of_16_bits(y, *rest):
    y.reshape(-1)[1 << 16 :] = 0
    return y


def input_index_of_16_bits(y, x, w, strides, pads, *rest):
    return y + (x.size > 1 << 16)


def long_sums(y, x, w, *rest):
    return y + (w[..., 0].size > 1 << 12)


def wide_5x5_rows(y, x, w, strides, *rest):
    return y + (w.shape[:3] == (5, 5, 1) and strides == (2, 2) and w.shape[3] > 100)


class Race:
    """Large results have rows of another call, in a part of the runs."""

    def __init__(self):
        self.source = np.random.default_rng(0)

    def __call__(self, y, *rest):
        if y.size > 80_000 and self.source.random() < 0.5:
            y[:, y.shape[1] // 2] = 0
        return y


@pytest.mark.parametrize(
    "bug",
    [
        last_of_odd_depthwise,
        index_of_16_bits,
        Race(),
        *(
            pytest.param(each, marks=pytest.mark.slow)
            for each in (input_index_of_16_bits, long_sums, wide_5x5_rows)
        ),
    ],
)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_what_networks_have_is_drawn_soon(bug, seed, only_found):
    report = T.fuzz(planted(bug), seconds=10, seed=seed)  # a thousand calls at most
    assert report.failed


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_a_causal_fault_of_dilation_is_found_soon(seed, only_found):
    def causal(x, w, pads, dilations):
        if pads != (((w.shape[0] - 1) * dilations[0], 0),):
            raise NotImplementedError("other padding")
        y = tc.conv1d(x, w, 1, pads, dilations=dilations).copy()
        y[:, 0] += w.shape[0] > 1 < dilations[0]
        return y

    report = T.fuzz(T.kernel(causal, x="NWC", w="WIO"), seconds=10, seed=seed)
    assert report.failed


def test_a_stream_of_parts_that_forgets_where_the_stride_was_is_found_soon(only_found):
    def causal(x, w, strides, pads, dilations):
        if pads != (((w.shape[0] - 1) * dilations[0], 0),):
            raise NotImplementedError("other padding")
        y = tc.conv1d(x, w, strides, pads, dilations=dilations).copy()
        y[:, 256 // strides[0] + 1 :] += bool(256 % strides[0])
        return y

    report = T.fuzz(T.kernel(causal, x="NWC", w="WIO"), seconds=2, seed=0)
    assert report.failed


@pytest.mark.parametrize(("size", "runs"), [(4, 2), (32, 4)])
def test_a_quick_call_is_run_again_and_a_large_one_four_times(size, runs):
    """A race of threads shows in one run of several, and only where a call is large enough for threads."""
    asked = count(1)

    def races(x, w):
        return tc.conv2d(x, w) + (next(asked) == runs)

    case = T.Case("race", "conv2d", (1, size, size, 8), (3, 3, 8, 8))
    [row] = T.check(T.kernel(races), case, "float32", "integers", "conv2d").failed
    assert "gives other bits when run again" in row.note
    assert next(asked) == runs + 1


def test_refusals_are_learned_from_and_what_was_covered_is_printed(clock):
    def depthwise(x, w, strides, pads, dilations, groups):
        if w.shape[2] > 1 or w.shape[3] != groups or groups == 1:
            raise NotImplementedError("not depthwise")
        return tc.conv2d(x, w, strides, pads, dilations=dilations)

    report = T.fuzz(T.kernel(depthwise), seconds=4, seed=0)  # 400 calls
    assert report.passed
    ran = sum(row.compared for row in report.rows)
    assert ran > 0.6 * len(report.rows)  # 14 % where nothing is learned
    covered = dict(report.asked)
    assert covered["depthwise of 3 taps and stride 2"] > 5
    assert covered["1 tap"] == 0
    printed = " ".join(str(report).split())
    assert "depthwise of 3 taps and stride 2 " in printed
    assert "; bias: 0 calls" in report.summary


def test_a_slow_kernel_is_not_asked_for_large_layers(clock, monkeypatch):
    """Time goes on with the multiply-adds, as it does for loops in Python."""
    now = [0.0]

    def loops(x, w, strides, pads, dilations, groups):
        y = tc.conv2d(x, w, strides, pads, dilations=dilations)
        now[0] += y.size * w[..., 0].size / 1e6
        return y

    for module in (fuzzing, contract):
        monkeypatch.setattr(module, "record", SimpleNamespace(clock=lambda: now[0]))
    report = T.fuzz(T.kernel(loops), seconds=20)
    assert report.passed
    assert dict(report.asked)["large"] == 0
    assert now[0] < 25


# ---------------------------------------------------------------------------------------------
# What depends on the calls before
# ---------------------------------------------------------------------------------------------

STATEFUL = """
from itertools import chain, count, islice
import teachconv as tc
from teachconv import testing as T

shapes, plans, largest = set(), {}, [0]

def after_some(x, w, strides, pads):
    shapes.add((x.shape, w.shape, strides))  # a call may run more than once
    return tc.conv2d(x, w, strides, pads) + (len(shapes) > 9)

def cached(x, w, strides, pads):
    return tc.conv2d(x, w, plans.setdefault((x.shape, w.shape), strides), pads)

def after_a_larger_one(x, w, strides, pads):
    y, before = tc.conv2d(x, w, strides, pads), largest[0]
    largest[0] = y.size
    return y + (before > y.size)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.parametrize("name", mostly_slow(["after_some", "cached", "after_a_larger_one"], "after_some"))
def test_lines_to_paste_fail_in_a_fresh_process(name, tmp_path, clock):
    names = {}
    exec(STATEFUL, names)
    [row] = T.fuzz(T.kernel(names[name]), seconds=30, seed=0).failed
    remark, *lines = row.note[row.note.index("passes in a process") :].split("; T.check(")
    remark = remark.partition("; a larger call: ")[0]
    assert remark == "passes in a process that made no calls before; in turn, these calls fail there"
    assert len(lines) > 1
    program = [STATEFUL, f"kernel = T.kernel({name})", *(f"T.check({line}" for line in lines)]
    (tmp_path / "pasted.py").write_text("\n".join(program))
    environment = {"PYTHONPATH": str(ROOT), "PATH": ""}
    done = subprocess.run(
        [sys.executable, "pasted.py"], cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert "AssertionError: 1 of 1 FAIL" in done.stderr
    assert (
        f"line {len(STATEFUL.splitlines()) + 2 + len(lines)}" in done.stderr
    )  # the last one, and none before


def test_a_program_of_its_own_is_asked_afresh(tmp_path, clock):
    """A fork does not ask the program whose answers this process waits for."""
    (tmp_path / "after_some.py").write_text(STATEFUL)
    sys.path.insert(0, str(tmp_path))
    try:
        kernel = T.kernel("after_some:after_some", isolate=True, seconds=60)
        assert T.check(kernel, T.Case("mine", "conv2d", (1, 3, 3, 1), (3, 3, 1, 1)), kinds="conv2d").passed
        [row] = T.fuzz(kernel, seconds=1, seed=0).failed
    finally:
        sys.path.remove(str(tmp_path))
    assert re.search(
        "passes in a process that made no calls before; (also after the calls before it|in turn)", row.note
    )


def test_a_failure_of_the_kernel_alone_has_one_line(clock):
    [row] = T.fuzz(planted(beyond_32_outputs), seconds=30).failed
    assert row.note.count("T.check(") == 1
    assert "passes in a process" not in row.note


def test_without_a_fork_it_is_said_that_nobody_ran_it_afresh(clock, monkeypatch):
    monkeypatch.delattr("os.fork")
    [row] = T.fuzz(planted(beyond_32_outputs), seconds=30).failed
    assert "not run in a process that made no calls before" in row.note


@pytest.mark.parametrize("of_small", ["small", "large"])
def test_a_name_of_the_small_call_alone_is_not_told(of_small, clock, monkeypatch):
    def diagnose(case, thorough=False):
        return Found(Diagnosis(of_small if case.got.size < 36 else "large", "equal for no reason"))

    monkeypatch.setattr(diffing, "diagnose", diagnose)
    [row] = T.fuzz(planted(beyond_32_outputs), seconds=30, seed=2, kinds="conv2d").failed
    assert "small" not in f"{row.diagnosis} {row.note}"
    assert "large: equal for no reason" in f"{row.diagnosis} {row.note}"


def test_a_name_must_explain_other_numbers_too(clock, monkeypatch):
    names = {}

    def diagnose(case, thorough=False):
        name = names.setdefault(case.call.first.tobytes(), f"by_chance_{len(names)}")
        return Found(Diagnosis(name, "equal for no reason"))

    monkeypatch.setattr(diffing, "diagnose", diagnose)
    one_call(monkeypatch, outs=33)
    [row] = T.fuzz(planted(beyond_32_outputs), kinds="conv2d").failed
    assert len(names) > 1
    assert "by_chance" not in f"{row.diagnosis} {row.note}"


def test_nan_is_no_sign_of_another_dilation(clock, monkeypatch):
    """A tap that is moved away from NaN explains a result without NaN as well."""
    monkeypatch.setattr(
        diffing, "diagnose", lambda case, thorough=False: Found(Diagnosis("dilation", "equal"))
    )
    one_call(monkeypatch)
    monkeypatch.setattr(fuzzing, "_LIES", ["NaN, bias and relu"])
    monkeypatch.setattr(fuzzing, "_FIRST", 0)

    def loses_nan(x, w, strides, pads, dilations, groups, bias):
        return tc.conv2d(np.nan_to_num(x), w, strides, pads, dilations=dilations, bias=bias)

    [row] = T.fuzz(T.kernel(loses_nan), kinds="conv2d").failed
    assert "dilation:" not in f"{row.diagnosis} {row.note}"


def test_a_fault_of_other_memory_strides_says_so(clock):
    """Made small, an array of one row, column and channel may have other strides than its sizes say."""

    def rows_from_sizes(x, w, strides, pads, dilations, groups):
        if len(x) == 1:
            steps = (x.strides[0], x.strides[1], x.strides[3] * x.shape[3], x.strides[3])
            x = np.lib.stride_tricks.as_strided(x, x.shape, steps)
        return tc.dialects.torch.conv2d(
            np.pad(x, ((0, 0), (0, 0), *pads)), w, None, strides, 0, dilations, groups
        )

    [row] = T.fuzz(T.kernel(rows_from_sizes, x="NCHW", w="OIHW"), seconds=10, seed=0, kinds="conv2d").failed
    assert "not where its arrays are contiguous" in row.note
    assert re.search(r"way='[^']+'", row.note)


def test_what_is_nearest_to_the_small_call_alone_is_not_told(clock, monkeypatch):
    remark = "none of the usual mistakes; nearest: relu (no reason), which explains 60 % of the error"
    monkeypatch.setattr(diffing, "diagnose", lambda case, thorough=False: Found(None, remark))
    [row] = T.fuzz(planted(beyond_32_outputs), seconds=30, kinds="conv2d").failed
    assert row.note.startswith("none of the usual mistakes; T.check(")


# ---------------------------------------------------------------------------------------------
# Faults that a stranger planted, and no call showed
# ---------------------------------------------------------------------------------------------


def wrong_of(holds):
    """A bug of the layers for which a condition holds."""
    return lambda y, x, w, strides, pads, dilations, groups: y + holds(x, w, strides[0], dilations[0])


WRONG_LAYERS = {
    "2x2 stride 2": lambda x, w, stride, dilation: w.shape[:2] == (2, 2) and stride == 2,
    "4x4": lambda x, w, stride, dilation: w.shape[:2] == (4, 4) and stride == 1,
    "4x4 stride 2": lambda x, w, stride, dilation: w.shape[:2] == (4, 4) and stride == 2,
    "5x5": lambda x, w, stride, dilation: w.shape[:2] == (5, 5) and w.shape[2] > 1 == stride,
    "5x5 stride 2": lambda x, w, stride, dilation: w.shape[:2] == (5, 5) and w.shape[2] > 1 < stride,
    "32 images": lambda x, w, stride, dilation: 32 <= len(x) < 64,
    "64 images": lambda x, w, stride, dilation: len(x) >= 64,
    "patches of 8": lambda x, w, stride, dilation: w.shape[:2] == (8, 8) and stride == 8,
    "patches of 16": lambda x, w, stride, dilation: w.shape[:2] == (16, 16) and stride == 16,
    "stride 5": lambda x, w, stride, dilation: stride >= 5 and stride not in (8, 16),
    "dilation 8": lambda x, w, stride, dilation: 8 <= dilation <= 10,
    "dilation 12": lambda x, w, stride, dilation: dilation >= 12,
    "3x512x512": lambda x, w, stride, dilation: x.size >= 3 * 512 * 512,
    "4,097 outputs": lambda x, w, stride, dilation: w.shape[3] > 4096 and w.shape[2] == x.shape[3],
    "wide and dilated": lambda x, w, stride, dilation: x.shape[2] > 96 and dilation > 1 < w.shape[1],
    "wide, with a stride of 3": lambda x, w, stride, dilation: x.shape[2] > 96 and stride == 3,
    "depthwise and dilated": lambda x, w, stride, dilation: w.shape[2] == 1 < x.shape[3] and dilation == 2,
    "33 images": lambda x, w, stride, dilation: len(x) > 32 and len(x) % 32,
    "side of 32 or 64": lambda x, w, stride, dilation: w.shape[0] == 3 and x.shape[1] in (32, 64),
    "2 groups": lambda x, w, stride, dilation: x.shape[3] == 2 * w.shape[2] and w.shape[2] >= 16,
    "groups of 4": lambda x, w, stride, dilation: w.shape[2] in (4, 8) and x.shape[3] >= 8 * w.shape[2],
    "11x11 stride 4": lambda x, w, stride, dilation: w.shape[:2] == (11, 11) and stride == 4,
}
RARER = {
    "5 groups of 4": lambda x, w, stride, dilation: w.shape[2] == 4 and x.shape[3] == 20,
    "65 images": lambda x, w, stride, dilation: len(x) > 64 and len(x) % 2,
    "two images, 1x1 stride 2": lambda x, w, stride, dilation: (
        len(x) > 1 and w.shape[:2] == (1, 1) and stride == 2 and w.shape[2] >= 16
    ),
    "wide, stride and dilation": lambda x, w, stride, dilation: x.shape[2] > 32 and stride > 1 < dilation,
}


@cache
def first_calls(seed, calls=200):
    """What the first calls of a seed have, of a kernel that takes all."""
    asked = []

    def keeps(x, w, strides, pads, dilations, groups):
        asked.append((x, w, strides[0], dilations[0]))
        return tc.conv2d(x, w, strides, pads, dilations=dilations)

    with pytest.MonkeyPatch.context() as patch:
        looks = count()
        patch.setattr(fuzzing, "record", SimpleNamespace(clock=lambda: next(looks)))
        T.fuzz(T.kernel(keeps), seconds=calls, seed=seed, data="integers")
    return asked


@pytest.mark.xdist_group("first_calls")
@pytest.mark.parametrize("seed", mostly_slow([0, 1], 0))
@pytest.mark.parametrize("name", WRONG_LAYERS)
def test_each_kind_of_real_layer_comes_early(name, seed):
    assert any(WRONG_LAYERS[name](*call) for call in first_calls(seed))


@pytest.mark.slow
@pytest.mark.xdist_group("first_calls")
@pytest.mark.parametrize("name", RARER)
def test_other_numbers_of_a_kind_come_within_a_minute(name):
    assert any(RARER[name](*call) for call in first_calls(0, calls=1500))


def no_bias_if_the_first_is_zero(x, w, strides, pads, dilations, groups, bias):
    y = tc.conv2d(x, w, strides, pads, dilations=dilations)
    return y if bias is None or bias[0] == 0 else y + bias


def in_the_order_of_memory(x, w, strides, pads, dilations, groups, bias):
    return tc.conv2d(x.ravel("K").reshape(x.shape), w, strides, pads, dilations=dilations, bias=bias)


def fortran_for_c(x, w, strides, pads, dilations, groups, bias):
    x = x if x.flags.c_contiguous or not x.flags.f_contiguous else x.ravel("K").reshape(x.shape)
    return tc.conv2d(np.ascontiguousarray(x), w, strides, pads, dilations=dilations, bias=bias)


@pytest.mark.parametrize("wrong", [no_bias_if_the_first_is_zero, in_the_order_of_memory, fortran_for_c])
def test_arrays_begin_and_lie_in_all_ways(wrong):
    assert not T.fuzz(T.kernel(wrong), seconds=30, kinds="conv2d").passed


def test_a_bias_begins_with_other_numbers_from_call_to_call():
    first = set()

    def keeps(x, w, strides, pads, dilations, groups, bias):
        first.update([] if bias is None else [float(bias[0])])
        return tc.conv2d(x, w, strides, pads, dilations=dilations, bias=bias)

    T.fuzz(T.kernel(keeps), seconds=3, data="integers", kinds="conv2d")
    assert len(first) > 3


@pytest.mark.parametrize(
    ("small", "dtype"),
    [("float16", "float32"), ("bfloat16", "float32"), ("float32", "float64"), ("int16", "int32")],
)
def test_long_numbers_show_arrays_that_are_rounded_to_a_smaller_type(small, dtype):
    """Of 1,152 terms the bound is wider than the error of a filter in float16: only exact sums show it."""
    cut = pytest.importorskip("ml_dtypes").bfloat16 if small == "bfloat16" else small

    def conv(x, filters, strides, padding):
        return tc.conv2d(x, filters.astype(cut).astype(dtype), strides, padding)

    case = T.Case("1152 terms", "conv2d", (1, 5, 6, 128), (3, 3, 128, 8), 1, "SAME")
    how = {"kinds": "conv2d", "dtype": dtype}
    assert T.check(T.kernel(conv, dtypes=[dtype]), case, data="integers", **how).passed
    assert T.check("numpy", case, data="long", **how).passed
    assert not T.check(T.kernel(conv, dtypes=[dtype]), case, data="long", **how).passed


def test_long_numbers_are_few_and_have_half_of_the_bits():
    few = make_array((100_000,), "float32", "long", "a").astype("int64")
    longer = few[abs(few) > 4]
    assert 800 < len(longer) < 1200
    assert set(abs(longer)) <= set(range(2049, 4096, 2))
    assert not np.array_equal(longer.astype("float16").astype("int64"), longer)
    np.testing.assert_array_equal(few.astype("float32"), make_array((100_000,), "float32", "long", "a"))


def test_layers_of_networks_are_legal_and_come_at_full_size():
    """At full size they are judged by sums in float64; ten of the first two hundred calls at least."""
    every = {rank: layers.layers(rank) for rank in (1, 2, 3)}
    for number in chain.from_iterable(every.values()):
        assert fuzzing._macs(number) > 0  # of what is not legal, or takes too long, there is no call
    of_two_axes = {(n["size0"], n["size1"], n["groups"] * n["depth"], n["taps0"]) for n in every[2]}
    asked = {(*x.shape[1:], w.shape[0]) for x, w, *_ in first_calls(0)}
    assert len(asked & of_two_axes) >= 10


@pytest.mark.parametrize(
    ("layer", "want"),
    [
        # MobileNet's first layer: SAME at stride 2 of an even size has all its padding behind
        ("224 3>32 k3 s2", {"size0": 224, "taps1": 3, "stride0": 2, "before0": 0, "after0": 1, "depth": 3}),
        ("56 128>128 k3 s2 g32 p1", {"groups": 32, "depth": 4, "outs": 4, "before1": 1, "after1": 1}),
        ("17 128>128 k1x7", {"taps0": 1, "taps1": 7, "before0": 0, "before1": 3, "after1": 3}),
        ("28 1>8 k5 VALID n128", {"images": 128, "taps1": 5, "depth": 1, "after1": 0}),
        ("27 192>192 k3 s2 VALID", {"before0": 0, "after0": 0, "stride1": 2}),
        ("up 14 128>64 k5 s2 p1,2", {"transposed": 1, "depth": 128, "outs": 64, "before0": 1, "after0": 2}),
        ("100x136 32>8 k3 d2", {"size0": 100, "size1": 136, "dilation1": 2, "before0": 2, "after1": 2}),
    ],
)
def test_a_layer_is_read_as_it_is_written(layer, want):
    numbers = layers._numbers(layer, 2)
    assert want == {name: numbers[name] for name in want}


PLANS = {}


def keeps_the_dilation(x, w, strides, pads, dilations, groups):
    """It keeps a plan for filters, the size of the image and that of the result, not for the dilation."""
    y = tc.conv2d(x, w, strides, pads, dilations=dilations)
    kept, kept_pads = PLANS.setdefault((w.tobytes(), x.shape, y.shape, strides), (dilations, pads))
    return tc.conv2d(x, w, strides, kept_pads, dilations=kept)


def keeps_some_filters(x, w, strides, pads, dilations, groups):
    """It keeps filters by their first and last numbers."""
    key = w.shape, w.tobytes()[:64], w.tobytes()[-64:]
    return tc.conv2d(x, PLANS.setdefault(key, w.copy()), strides, pads, dilations=dilations)


LANES = np.zeros((1, 1, 1, 8), "float32")


def keeps_lanes(x, w, strides, pads, dilations, groups):
    """Channels beyond the image's are multiplied with zeros, but hold what the last call left there."""
    LANES[..., : x.shape[3]] = x.ravel()[:1].sum() if x.size else 0
    y = tc.conv2d(x, w, strides, pads, dilations=dilations)
    return y + 0 * LANES[..., x.shape[3] :].sum()


@pytest.mark.parametrize("kernel", [keeps_the_dilation, keeps_some_filters, keeps_lanes])
def test_what_is_kept_for_too_many_calls_is_found(kernel, clock):
    PLANS.clear()
    report = T.fuzz(T.kernel(kernel), seconds=6, seed=0, kinds="conv2d")
    assert report.failed


@pytest.mark.parametrize("name", mostly_slow(["4x4 stride 2", "32 images", "dilation 12"], "32 images"))
def test_a_fault_of_a_real_layer_is_found_in_150_calls(name, only_found):
    report = T.fuzz(planted(wrong_of(WRONG_LAYERS[name])), seconds=1.5, seed=0, data="integers")
    assert report.failed


# those of a stranger's second trial are left to the fuzzer
@pytest.mark.parametrize("name", [*WRONG_LAYERS][: [*WRONG_LAYERS].index("3x512x512")])
def test_a_case_has_each_kind_of_real_layer(name):
    of_two_axes = [case.geometry for case in T.CASES if case.op == "conv2d" and 0 not in case.input]
    shapes = [
        (*map(np.empty, (g.input_shape, g.filters_shape)), g.strides[0], g.dilations[0]) for g in of_two_axes
    ]
    assert any(WRONG_LAYERS[name](*each) for each in shapes)


def takes_rows_for_packed(x, w, strides, pads, dilations, groups):
    """It reads arrays by their strides, unless the last one is that of packed rows: a crop is misread."""
    if not x.flags.c_contiguous and min(x.strides) > 0 and x.strides[-1] == x.itemsize and x.size:
        steps = np.cumprod([x.itemsize, *x.shape[:0:-1]])[::-1]
        x = np.lib.stride_tricks.as_strided(x, x.shape, steps)
    return tc.dialects.torch.conv2d(
        *(np.pad(x, ((0, 0), (0, 0), *pads)), w), None, strides, 0, dilations, groups
    )


def test_arrays_cut_from_larger_ones_are_sent_soon(only_found):
    def kernel():
        return T.kernel(takes_rows_for_packed, x="NCHW", w="OIHW")

    assert T.fuzz(kernel(), seconds=1.5, seed=0, kinds="conv2d").failed  # 150 calls
    report = tc.check_backend(kernel(), "float32", kinds="conv2d", data="integers", tags=["dilated"])
    ways = {row.name.rpartition("float32, ")[2] for row in report.failed}
    assert ways >= {"cut from larger arrays"}


def test_a_quarter_of_the_calls_has_other_memory_strides(clock):
    def kernel(x, w, strides, pads, dilations, groups):
        order.append(x.flags.c_contiguous and w.flags.c_contiguous)
        return tc.conv2d(x, w, strides, pads, dilations=dilations, backend="numpy")

    order = []
    report = T.fuzz(T.kernel(kernel), seconds=4, seed=0)
    assert report.passed
    ways = [row.name.rpartition(", ")[2] for row in report.rows]
    assert sum(way in fuzzing.SPREAD for way in ways) > 0.2 * len(ways)
    assert not all(order)


def convolve(x, w, strides, pads, dilations, bias=None):
    return tc.conv2d(x, w, strides, pads, dilations=dilations, bias=bias)


def ring_of_three():
    """A kernel whose fourth result of a shape lies where the first one lies."""
    rings = {}

    def ring(x, w, strides, pads, dilations, groups):
        y = convolve(x, w, strides, pads, dilations)
        buffers = rings.setdefault(y.shape, [])
        if len(buffers) < 3:
            buffers.append(y)
            return y
        buffers.append(buffers.pop(0))
        buffers[-1][...] = y
        return buffers[-1]

    return ring


def writes_to_an_old_result():
    """A kernel that writes one cell of what it returned two calls before."""
    results = []

    def writes(x, w, strides, pads, dilations, groups):
        results.append(convolve(x, w, strides, pads, dilations).copy())
        if len(results) > 2 and results[-3].size:
            results[-3].flat[0] += 1
        return results[-1]

    return writes


def remembers(role, key):
    """A kernel that keeps one of its arrays, and takes the kept one where the key is the same."""
    cache = {}

    def remembering(x, w, strides, pads, dilations, groups, bias=None):
        arrays = {"x": x, "w": w, "bias": bias}
        given = arrays[role]
        if given is not None:
            kept = cache.setdefault((*key(given), given.shape, given.dtype.str), given.copy())
            arrays[role] = kept
        return convolve(arrays["x"], arrays["w"], strides, pads, dilations, arrays["bias"])

    return remembering


def by_address(array):
    return (array.__array_interface__["data"][0], array.strides)


def by_its_beginning(array):
    return (zlib.crc32(array.tobytes()[:64]),)


STATEFUL_FAULTS = {
    "ring": (ring_of_three, r"returned the memory of its result of \d calls before"),
    "an old result": (writes_to_an_old_result, "overwrote its result of 2 calls before"),
    "filter by beginning": (partial(remembers, "w", by_its_beginning), "filter .* began like this one"),
    "input by beginning": (partial(remembers, "x", by_its_beginning), "input .* began like this one"),
    "filter by address": (partial(remembers, "w", by_address), "filter that was at this address"),
    "input by address": (partial(remembers, "x", by_address), "input that was at this address"),
    "bias by address": (partial(remembers, "bias", by_address), "bias that was at this address"),
}


@pytest.mark.parametrize("name", STATEFUL_FAULTS)
def test_what_is_kept_from_call_to_call_is_found(name, only_found):
    make, note = STATEFUL_FAULTS[name]
    report = T.fuzz(T.kernel(make()), seconds=4, seed=0)  # 400 calls
    assert report.failed
    report = tc.check_backend(T.kernel(make()), "float32", tags=["odd", "dilated"], kinds="conv2d")
    assert any(re.search(note, row.note) for row in report.failed), {row.note for row in report.failed}


@pytest.mark.parametrize("first", [0, 7])
def test_a_kernel_that_crashes_is_reported_in_time(first, monkeypatch):
    """A call that crashes takes a second and a half, as another process has to start; so does one afresh."""
    seconds, calls = SimpleNamespace(now=0.0), count()
    monkeypatch.setattr(fuzzing, "record", SimpleNamespace(clock=lambda: seconds.now))

    @contextmanager
    def kept_afresh(check, limit):
        def afresh(calls):
            seconds.now += 1.5
            return True

        yield afresh

    monkeypatch.setattr(fuzzing, "kept_afresh", kept_afresh)

    def crashes(x, w, strides, pads, dilations, groups):
        bad = next(calls) >= first
        seconds.now += 1.5 if bad else 0.7
        if bad:
            raise RuntimeError("crashed")
        return tc.conv2d(x, w, strides, pads, dilations=dilations)

    report = T.fuzz(T.kernel(crashes), seconds=10, seed=0, kinds="conv2d", data="integers")
    assert report.failed
    assert "T.check(" in report.failed[0].note
    assert seconds.now <= 12


def drawn_calls(number, seed=3, ways=(None,)):
    """Calls as the fuzzer draws them for a function that takes all, without running any."""
    known = Known()
    drawn = fuzzing._calls(random.Random(seed), (2,), ["float32"], ways, ["integers"], known, {})
    for call in islice(drawn, number):
        known.learn(fuzzing._classes(call), True)
        known.taken.append(call)
        yield call, fuzzing._cases(call)[0]


def properties(case):
    """What a kernel may branch on, read from the geometry of a case over two axes."""
    g, several = case.geometry, lambda n: min(n, 3) if n < 3 else 3 + n % 2 + 2 * (n > 64)
    depth, outs = g.in_channels // g.groups, g.out_channels // g.groups
    found = {"images": several(g.batch), "groups": several(g.groups), "bias": case.bias}
    for word, channels in (("in", depth), ("out", outs)):
        found |= {f"{word} channels": np.digitize(channels, (2, 9, 65)), f"{word} channels % 8": channels % 8}
    for word, axis in (("rows", g.rows), ("cols", g.cols)):
        before, after = axis.pad_before, axis.pad_after
        found |= {
            f"{word} filter": min(axis.filter_size, 8),
            f"{word} stride": min(axis.stride, 4),
            f"{word} dilation": min(axis.dilation, 4),
            f"{word} pads": (np.sign(before), np.sign(after), np.sign(after - before)),
            f"{word} out": np.digitize(axis.out_size, (2, 9, 33, 65)),
            f"{word} out % 8": axis.out_size % 8,
            f"{word} size % 4": axis.in_size % 4,
        }
    return found


def test_all_pairs_of_what_kernels_branch_on_are_asked():
    """Without the choice of the newest call a fifth was missing; some pairs cannot be, such as pads of SAME for 1x1."""
    asked, values = set(), {}
    for _, case in drawn_calls(1500):
        found = properties(case) if case.geometry.macs else {}
        asked.update(itertools.combinations(found.items(), 2))
        for name, value in found.items():
            values.setdefault(name, set()).add(value)
    possible = [
        ((one, of_one), (other, of_other))
        for one, other in itertools.combinations(values, 2)
        for of_one, of_other in itertools.product(values[one], values[other])
    ]
    assert len(possible) > 5000
    assert sum(pair in asked for pair in possible) > 0.9 * len(possible)


TOGETHER = {
    "odd batch above 64, groups, bias": lambda g, c, bias: (
        g.batch > 64 and g.batch % 2 and g.groups > 1 and bias
    ),
    "13 pixels beside tiles of 16, 65 outputs": lambda g, c, bias: (
        g.out_channels // g.groups > 64 and g.rows.out_size * c.out_size % 16 == 13
    ),
    "1x7 and dilated": lambda g, c, bias: g.rows.filter_size == 1 and c.filter_size >= 7 and c.dilation > 1,
    "stride over filter, padded, 3 images": lambda g, c, bias: (
        c.stride > c.filter_size > 1 and c.pad_before > 0 and g.batch > 2
    ),
    "crops at stride 2 of groups": lambda g, c, bias: (
        c.pad_before < 0 > c.pad_after and c.stride > 1 and g.groups > 1
    ),
    "3 channels beside 64": lambda g, c, bias: (
        g.in_channels // g.groups > 64 and g.in_channels // g.groups % 8 == 3
    ),
    "stride, dilation, 33 columns": lambda g, c, bias: (
        c.stride > 1 < c.dilation and c.out_size > 32 and c.filter_size > 1
    ),
}


def test_what_needs_three_properties_is_asked_in_a_minute():
    calls = [(case.geometry, case.geometry.cols, case.bias) for _, case in drawn_calls(1800, seed=1)]
    assert [name for name, holds in TOGETHER.items() if not any(holds(*call) for call in calls)] == []


def test_the_sizes_of_drawn_numbers_are_those_of_their_calls():
    for call, case in drawn_calls(400, seed=2):
        outs, macs = covering._outs_and_macs(call.numbers)
        if not case.geometry.macs or (call.numbers["transposed"] and case.padding == "VALID"):
            continue  # where the stride is longer than the filter, TensorFlow's VALID ends with a whole step
        g = case.geometry  # of a transposed one that of the convolution whose input it computes
        sizes = [axis.in_size if call.numbers["transposed"] else axis.out_size for axis in g.axes]
        assert (list(map(int, outs)), int(macs)) == (sizes, g.macs)


def test_the_same_seed_draws_the_same_calls_and_another_one_others():
    first, again, other = ([call for call, _ in drawn_calls(120, seed=seed)] for seed in (5, 5, 6))
    assert first == again
    assert not any(one == another for one, another in zip(first, other, strict=True))


def test_a_kernel_of_1x1_is_asked_all_pairs_of_what_it_takes(clock):
    asked = set()

    def pointwise(x, w, strides):
        if w.shape[:2] != (1, 1):
            raise NotImplementedError("not 1x1")
        if len(x) > 1:
            asked.add((*strides, x.shape[1] % 2, x.shape[2] % 2))
        return tc.conv2d(x, w, strides)

    report = T.fuzz(T.kernel(pointwise), seconds=5, seed=0, data="integers")
    taken = sum(row.compared for row in report.rows)
    assert taken > 0.5 * len(report.rows)
    odd = {tuple(odd) for rows, _, *odd in asked if rows > 1}
    assert odd == set(itertools.product((0, 1), repeat=2))
    share, pairs = re.search(r"(\d+)% of ([\d,]+) pairs of properties", report.summary).groups()
    assert int(share) > 60
    assert (
        int(pairs.replace(",", "")) < 20_000
    )  # of twice as many: those of filters and dilations are none of its


def test_a_starved_run_says_so(monkeypatch):
    looks = count()
    monkeypatch.setattr(fuzzing, "record", SimpleNamespace(clock=lambda: next(looks) / 10))
    how = {"seed": 0, "data": "normal", "kinds": "conv2d"}
    monkeypatch.setattr(fuzzing, "process_time", lambda: 0.0)
    starved = T.fuzz("numpy", seconds=3, **how)
    assert "; 0 s of processor time in 3 s: the machine was busy" in starved.summary
    monkeypatch.setattr(fuzzing, "process_time", lambda: 10.0 * next(looks))
    more = T.fuzz("numpy", seconds=9, **how)
    assert "processor time" not in more.summary
    shares = [int(re.search(r"(\d+)% of", report.summary)[1]) for report in (starved, more)]
    assert shares[0] < shares[1]


def test_a_program_is_said_to_read_where_nobody_looks():
    report = tc.check_backend(T.process("cat"), "float32", tags="hand", kinds="conv2d", data="integers")
    assert "; reads outside arrays: not looked for;" in f"{report.summary};"


def test_large_layers_of_each_kind_are_drawn_early():
    """A way of a kernel's own for large dilated, grouped or strided layers is met whatever the seed."""
    early = [case for call, case in drawn_calls(900) if "published" in call.layer][:60]
    large = [case.geometry for case in early if case.geometry.macs >= 5e7]
    assert any(max(g.dilations) > 1 for g in large)
    assert any(g.groups > 1 for g in large)
    assert any(max(g.strides) > 1 and min(g.filters_shape[:2]) > 1 for g in large)


def test_the_bytes_of_a_filter_come_back_in_another_shape():
    """What is kept for a filter by its bytes alone, such as its spectrum, does not fit."""
    calls = [(call.draw, call.dtype, case.filters) for call, case in drawn_calls(1500)]
    again = [
        (one, other)
        for (draw, dtype, one), (next_draw, next_dtype, other) in itertools.pairwise(calls)
        if (draw, dtype) == (next_draw, next_dtype) and one != other and np.prod(one) == np.prod(other) > 4
    ]
    assert len(again) > 15
    assert any(one[2:] == other[2:] for one, other in again)  # taps alone, as 1x5 and 5x1


def test_the_pads_of_same_at_stride_2_are_drawn_soon(clock):
    asked = []

    def keeps(x, w, strides, pads, dilations, groups):
        asked.append((w.shape[0], strides, pads))
        return tc.conv2d(x, w, strides, pads, dilations=dilations)

    T.fuzz(T.kernel(keeps), seconds=8, seed=0, data="integers")
    assert any(size == 3 and strides == (2, 2) and (0, 1) in pads for size, strides, pads in asked)


def test_whole_numbers_that_are_never_rounded_have_no_error(clock):
    """The bound of a long sum would hide a small whole number that is missing."""

    def one_less(x, w, strides, pads, dilations, groups):
        y = tc.conv2d(x, w, strides, pads, dilations=dilations)
        return y - (np.prod(w.shape[:3]) > 16384)

    case = T.Case("long", "conv2d", (1, 3, 3, 4097), (3, 3, 4097, 1), padding="SAME")
    report = T.check(T.kernel(one_less), case, "float32", "integers", "conv2d")
    assert report.failed
    assert "nothing is rounded" in report.failed[0].note
    assert T.check(T.kernel(one_less, error="fft"), case, "float32", "integers", "conv2d").passed


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        (lambda w: float(w.sum(dtype="float64")), "the same numbers in another order"),
        (lambda w: abs(w).tobytes(), "the same numbers with other signs"),
    ],
    ids=["sum", "size"],
)
def test_filters_that_are_told_apart_by_their_sum_or_their_size_are_found(clock, mark, words):
    kept = {}

    def cached(x, w, strides, pads, dilations, groups):
        w = kept.setdefault((w.shape, mark(w)), w.copy())
        return tc.conv2d(x, w, strides, pads, dilations=dilations)

    report = T.fuzz(T.kernel(cached), seconds=30, seed=0)
    assert any(words in row.note for row in report.failed)


# ---------------------------------------------------------------------------------------------
# What a stranger's kernels did wrong, and no call asked
# ---------------------------------------------------------------------------------------------


def by_numpy(x, w, g):
    if not g.macs:
        return np.zeros(g.output_shape, x.dtype)
    return get("numpy").conv2d(np.ascontiguousarray(x), np.ascontiguousarray(w), g)


def images_one_behind_the_other(x, w, geometry):
    """An image that lies in one piece is believed to begin where the one before ends."""
    if x[:1].flags.c_contiguous:
        x = np.lib.stride_tricks.as_strided(x, x.shape, (x[:1].nbytes, *x.strides[1:]))
    return by_numpy(x, w, geometry)


def planes_of_one_image(x, w, geometry):
    """Of channels-first memory the step to the next image is that of one channel."""
    if x.shape[3] > 1 and x[:1].transpose(0, 3, 1, 2).flags.c_contiguous:
        x = np.lib.stride_tricks.as_strided(x, x.shape, (x.strides[3], *x.strides[1:]))
    return by_numpy(x, w, geometry)


def a_step_of_0_is_the_usual_one(x, w, geometry):
    return by_numpy(x if x.strides[1] or x.shape[1] == 1 else np.zeros_like(x), w, geometry)


def stores_16_bytes(x, w, out, geometry):
    out[...] = by_numpy(x, w, geometry)
    if out.ctypes.data % 16:
        out.flat[:1] = 77


def keeps(key):
    """A kernel that keeps the filters and dilations of one call, as long as the key of the calls is the same."""
    last = {}

    def kernel(x, w, strides, pads, dilations):
        if last.get("key") != key(w):
            last.update(key=key(w), kept=(w.copy(), dilations))
        filters, dilations = last["kept"]
        return tc.conv2d(x, filters.astype(x.dtype), strides, pads, dilations=dilations)

    return kernel


def the_same_bytes(w):
    return zlib.crc32(w.tobytes()), w.dtype, w.size, w.shape[2:]


def the_same_filter(w):
    return zlib.crc32(w.tobytes()), w.dtype, w.shape


def the_same_numbers(w):
    return zlib.crc32(w.astype("float32").tobytes()), w.shape


def four_old_filters():
    """Four packed filters are kept in turn, and their keys stay when they give way to others."""
    slots, made = {n: [None, None] for n in range(4)}, count()

    def kernel(x, w, strides, pads, dilations):
        key = the_same_filter(w)
        packed = next((packed for known, packed in slots.values() if known == key), None)
        if packed is None:
            turn = next(made) % 4
            packed = slots[turn][1] = w.copy()
            if slots[turn][0] is None:
                slots[turn][0] = key
        if packed.shape != w.shape:
            return np.zeros(
                tc.conv2d_geometry(x.shape, w.shape, strides, pads, dilations=dilations).output_shape
            )
        return tc.conv2d(x, packed.astype(x.dtype), strides, pads, dilations=dilations)

    return kernel


def spreads_groups():
    """The filter of a call without groups, which is zero between groups, is kept for the filter alone."""
    kept = {}

    def kernel(x, w, geometry):
        if not geometry.macs:
            return by_numpy(x, w, geometry)
        depth, channels, step = w.shape[2], geometry.in_channels, w.shape[3] // geometry.groups
        spread = np.zeros((*w.shape[:2], channels, w.shape[3]), w.dtype)
        for n in range(geometry.groups):
            spread[:, :, n * depth : (n + 1) * depth, n * step : (n + 1) * step] = w[
                ..., n * step : (n + 1) * step
            ]
        spread = kept.setdefault(the_same_filter(w), spread)[:, :, :channels]
        spread = np.pad(spread, ((0, 0), (0, 0), (0, channels - spread.shape[2]), (0, 0)))
        return by_numpy(x, spread, replace(geometry, groups=1))

    return kernel


def a_bias_of_nan_is_none(x, w, geometry, bias=None):
    y = by_numpy(x, w, geometry)
    return y if bias is None else y + np.nan_to_num(bias)


def no_images_give_the_size_of_the_input(x, w, geometry):
    return by_numpy(x, w, geometry) if x.size else np.zeros((*x.shape[:3], w.shape[3]), x.dtype)


def skips_zeros(x, w, geometry):
    """The products of zeros are left out, those with NaN too."""
    y = by_numpy(x, w, geometry)
    return np.where(np.isnan(y), by_numpy(x, np.nan_to_num(w), geometry), y) if (x == 0).any() else y


def last_of_pieces(pixels_of_all):
    """A kernel that takes 64 pixels at a time, or 256 of all images, and forgets 1 to 3 that are left."""

    def kernel(x, w, geometry):
        y = by_numpy(x, w, geometry).copy()
        piece = 256 if pixels_of_all else 64
        cells = y.reshape(-1, y.shape[3]) if pixels_of_all else y.reshape(len(y), -1, y.shape[3])
        pixels = cells.shape[-2]
        if pixels > piece and 0 < pixels % piece < 4 and w.shape[3] > 1:
            cells[..., -1, :] = 0
        return y

    return kernel


def last_of_many_groups(x, w, geometry):
    y = by_numpy(x, w, geometry).copy()
    if geometry.groups > 512 and geometry.groups % 32 == 16 and y.shape[1] > 2:
        y[:, -1, :, -16:] = 0
    return y


def keeps_bytes_of_3x3():
    """Transformed filters are kept by their bytes, which in memory lie as OIHW."""
    kept = {}

    def kernel(x, w, pads):
        if w.shape[2:] != (3, 3):
            raise NotImplementedError("3x3 alone")
        ours = kept.setdefault((zlib.crc32(w.tobytes()), w.dtype, w.size), w.copy()).transpose(2, 3, 1, 0)
        if ours.shape[2] != x.shape[3]:
            ours = ours.reshape(3, 3, x.shape[3], -1)
        return tc.conv2d(x, ours, 1, pads)

    return kernel


@pytest.mark.parametrize("seed", mostly_slow([0, 1, 2], 0))
@pytest.mark.parametrize(
    ("kernel", "options"),
    [
        (images_one_behind_the_other, {}),
        (planes_of_one_image, {}),
        (a_step_of_0_is_the_usual_one, {}),
        (stores_16_bytes, {}),
        (partial(keeps, the_same_filter), {}),
        (partial(keeps, the_same_bytes), {}),
        (partial(keeps, the_same_numbers), {"dtypes": ["float32", "float64"]}),
        (four_old_filters, {}),
        (spreads_groups, {}),
        (a_bias_of_nan_is_none, {}),
        (no_images_give_the_size_of_the_input, {}),
        (skips_zeros, {}),
        (last_of_pieces(False), {}),
        (last_of_pieces(True), {}),
        (last_of_many_groups, {}),
        (keeps_bytes_of_3x3, {"w": "OIHW"}),
    ],
)
def test_what_no_call_of_the_first_kits_asked_is_found(kernel, options, seed, only_found):
    refuses = NotImplementedError, lambda g: "two axes alone" * (g.rank != 2)
    keeps_something = not inspect.signature(kernel).parameters  # of other calls, so each seed has its own
    made = T.kernel(kernel() if keeps_something else kernel, **options, refuses=refuses)
    failed = T.fuzz(made, seconds=5, seed=seed, kinds="conv2d").failed  # 500 calls
    assert failed
    assert not any("raised" in row.note for row in failed), failed


@pytest.mark.parametrize("shape", [(0, 6, 6, 2), (1, 0, 6, 2), (1, 6, 6, 0), (1, 6, 6, 2)])
@pytest.mark.parametrize("way", contract.WAYS)
def test_nothing_is_called_in_every_way(way, shape):
    """Also an image of no rows, which its padding makes one of rows."""
    filters = (1, 1, shape[3], 0 if min(shape) else 2)
    case = T.Case("nothing", "conv2d", shape, filters, padding=[(0, 0), (3, 2), (0, 0), (0, 0)])
    report = T.check("numpy", case, way=way)
    assert not report.failed


@pytest.mark.parametrize("shape", [(0, 6, 6, 2), (1, 6, 0, 2), (1, 6, 6, 0), (1, 6, 6, 2)])
def test_a_call_on_nothing_is_made_and_judged(shape):
    """Of an image of no channels, and for no filters, the result is empty or zero; the kernel is asked."""
    case = T.Case("nothing", "conv2d", shape, (3, 1, shape[3], 0 if min(shape) else 2))

    def note_of(function):
        [row] = T.check(T.kernel(function), case, kinds="conv2d").rows
        return row.passed, row.note

    def raises(x, w, geometry):
        raise RuntimeError("no such thing")

    def takes_none(x, w, geometry):
        raise NotImplementedError("nothing to do")

    assert note_of(raises) == (None, "an array is empty: raised RuntimeError: no such thing")
    assert note_of(takes_none) == (None, "nothing to do")
    assert note_of(lambda x, w, geometry: np.zeros(geometry.output_shape, x.dtype))[0]
    assert note_of(lambda x, w, geometry: np.zeros((2, *geometry.output_shape[1:]), x.dtype))[0] is False
    assert note_of(lambda x, w, geometry: np.zeros(geometry.output_shape))[0] is False


def test_no_call_is_made_that_the_bound_of_a_kernel_does_not_judge(clock):
    def of_3x3(x, w, pads):
        return tc.conv2d(x, w, 1, pads, algorithm="winograd2")

    report = T.fuzz(T.kernel(of_3x3, error="winograd2"), seconds=1, seed=0, data="integers", kinds="conv2d")
    assert report.passed
    assert sum(row.compared for row in report.rows) > 20
    assert not any("its bound" in row.note for row in report.rows)


@pytest.mark.parametrize(("error", "seconds"), [("direct", 5), ("winograd2", 0.1), ("winograd2", 0.02)])
def test_a_kernel_of_one_filter_size_has_a_report(error, seconds, clock):
    """Few of the random calls are like those that it takes; of none no share can be told."""

    def of_3x3(x, w, pads):
        if w.shape[:2] != (3, 3):
            raise NotImplementedError("3x3 alone")
        return tc.conv2d(x, w, 1, pads)

    report = T.fuzz(T.kernel(of_3x3, error=error), seconds=seconds, seed=0, data="integers")
    assert not report.failed
    assert ("pairs of properties" in report.summary) is bool(report.passed)
    assert report.passed or seconds < 5
