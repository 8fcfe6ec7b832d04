"""The case table: its tags, what it has of each size, and how check_backend chooses from it."""

import re
import sys

import numpy as np
import pytest
from helpers import Terminal, broken

import teachconv as tc
from teachconv.backends import numpy_backend
from teachconv.support import progress
from teachconv.verification import contract
from teachconv.verification.cases import CASES, find_cases
from teachconv.verification.diffing import check_cases

RIGHT = numpy_backend.conv2d


def test_no_two_cases_have_the_same_name():
    names = [(case.op, case.name) for case in CASES]
    assert len(names) == len(set(names))


def test_tags_follow_from_the_call():
    tags = {(case.op, case.name): case.tags for case in CASES}
    assert tags["conv2d", "groups nchw"] == ("groups", "strided", "nchw", "small")
    assert tags["depthwise_conv2d", "depthwise"] == ("depthwise", "bias", "small")
    assert tags["conv2d", "crop and pad"] == ("padding", "strided", "crop", "small")
    assert tags["conv2d_transpose", "groups"] == ("transposed", "groups", "strided", "small")
    assert tags["conv2d", "no rows"] == ("empty", "small")
    assert tags["convolution", "one axis, dilation"] == ("dilated", "crop", "nchw", "1d")
    assert "crop" not in tags["conv2d_transpose", "8 to 15"]
    for case in find_cases("nchw", slow=True):
        for problem in case.problems():
            for array in (each for each in problem.args if isinstance(each, np.ndarray)):
                assert array.flags.c_contiguous


def test_the_sizes_that_kernels_stumble_over_are_there():
    """Each line is a part of real kernels that small shapes never reach."""
    every = [case.geometry for case in CASES]
    depths = {g.in_channels // g.groups for g in every}
    assert depths >= {near + step for near in (8, 16, 32, 64) for step in (-1, 0, 1)}
    terms = {g.terms_of("output") for g in every}
    assert all(any(limit < number < 1.2 * limit for number in terms) for limit in (256, 1024, 4096))
    assert any(g.terms_of("filters") > 4096 for g in every)
    assert {g.out_channels for g in every} & {129}
    assert {g.batch for g in every} & {9}
    assert any(g.axes[-1].out_size == 130 for g in every)
    unit = {g.filters_shape[:2] for g in every if g.rank == 2 and g.strides == (1, 1)}
    assert unit >= {(5, 5), (7, 7), (11, 11)}
    for limit in (1 << 16, 1 << 20):
        for shape in ("input_shape", "filters_shape", "output_shape"):
            assert any(np.prod(getattr(g, shape)) > limit for g in every), (limit, shape)
    assert max(np.prod(case.geometry.output_shape) for case in find_cases()) > 1 << 16


def test_tags_kinds_and_data_are_chosen():
    rows = tc.check_backend(numpy_backend, "float32", tags=["groups"], kinds="conv2d", data="scaled").rows
    assert {row.name.partition(": ")[2].partition(":")[0] for row in rows} == {"conv2d", "convolution"}
    assert {row.name.rpartition(" ")[2] for row in rows if "scaled" in row.name} == {"scaled"}
    assert not any(row.name.endswith("normal") for row in rows)
    few = {row.name for row in tc.check_backend(numpy_backend, "float32", tags="hand").rows}
    assert {name.split(", ")[0] for name in few} == {
        f"numpy_backend: conv2d{part}: {name}"
        for part in ("", " input gradient", " filter gradient")
        for name in ("the example", "one pixel", "one row", "one column", "1x1", "1x1 stride 2")
    }
    assert not any("slow" in case.tags for case in find_cases())
    assert {case for case in CASES if "slow" in case.tags} == set(find_cases("slow", slow=True))


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        ({"tags": "groupx"}, r"tags must be one of hand, .*; got 'groupx' \(did you mean \"groups\"\?\)"),
        ({"tags": ["groups", 3]}, "tags must be one of .*; got 3"),
        ({"tags": [["groups"]]}, r"tags must be one of .*; got \['groups'\]"),
        ({"kinds": "conv2"}, 'kinds must be one of conv2d, conv2d_backprop_input, .* mean "conv2d"'),
        ({"kinds": 3}, "kinds must be one of conv2d, .*; got 3"),
        ({"data": ["normal", "huges"]}, 'data must be one of normal, .* mean "huge"'),
        ({"data": 0}, "data must be one of normal, .*; got 0"),
    ],
)
def test_what_there_is_not_is_refused_and_named(choice, message):
    with pytest.raises(ValueError, match=message):
        tc.check_backend(numpy_backend, "float32", **choice)


def test_large_cases_are_run_on_data_whose_exact_sums_are_quick():
    large = [case for case in CASES if case.name in ("ResNet, 14x14", "1152 terms")]
    assert len(check_cases(["numpy"], "int32", "integers", large)) == 12
    for dtype, data in (("int32", "normal"), ("float32", "nonfinite"), ("float32", "scaled")):
        assert check_cases(["numpy"], dtype, data, large) == []


@pytest.mark.usefixtures("undiagnosed")
def test_an_algorithm_that_has_failed_is_not_run_on_large_cases():
    def wrong(x, w, geometry, **options):
        return RIGHT(x, w, geometry, **options) + 1

    rows = check_cases([broken(conv2d=wrong)], cases=find_cases("real"))
    forward = [row for row in rows if row.name.startswith("my_backend: conv2d:") and row.algorithm == "taps"]
    assert 4 <= sum(row.passed is False for row in forward) < 10 < len(forward)  # small ones are all run
    assert {row.note for row in forward if row.passed is None} == {"4 cases before it failed"}
    assert all(row.passed for row in rows if "gradient" in row.name)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("9 to 7 channels", lambda g: g.in_channels == 9),
        ("64 to 64 channels", lambda g: g.in_channels == 64),
        ("1152 terms", lambda g: g.terms_of("output") > 1024),
        ("129 channels out", lambda g: g.out_channels > 128),
        ("nine images", lambda g: g.batch > 8),
        ("130 columns", lambda g: g.axes[-1].out_size > 128),
        ("11x11", lambda g: g.axes[0].filter_size > 9),
        ("72,930 cells out", lambda g: np.prod(g.output_shape) > 1 << 16),
    ],
)
@pytest.mark.usefixtures("undiagnosed")
def test_a_kernel_that_fails_at_one_size_fails_there(name, wrong):
    def skips_the_last_cell(x, w, geometry, **options):
        y = RIGHT(x, w, geometry, **options)
        if wrong(geometry):
            y[-1, -1, -1, -1] = 0
        return y

    cases = [case for case in find_cases() if case.name == name]
    assert all(row.passed for row in check_cases([numpy_backend], cases=cases))
    failed = [row for row in check_cases([broken(conv2d=skips_the_last_cell)], cases=cases) if not row.passed]
    assert failed


# ---------------------------------------------------------------------------------------------
# What check_backend leaves to thorough=True
# ---------------------------------------------------------------------------------------------

SMALL, LARGE = "same", "288 terms"


def ran(report, case, dtype):
    """Whether rows of a case in a dtype were compared, and the notes of those that were not."""
    rows = [row for row in report.rows if f"{case}, {dtype} " in row.name]
    return {row.compared for row in rows}, {row.note for row in rows if not row.compared}


def test_large_cases_are_left_to_thorough_in_all_dtypes_but_one(monkeypatch):
    few = [case for case in find_cases() if case.op == "conv2d" and case.name in (SMALL, LARGE)]
    monkeypatch.setattr(contract, "find_cases", lambda *chosen: few)
    left = {"left to thorough=True"}
    report = tc.check_backend("numpy")
    assert report.passed
    assert ran(report, LARGE, "float32") == ({True}, set())
    for dtype in ("float16", "float64", "int32", "int64"):
        assert ran(report, SMALL, dtype) == ({True}, set())
        assert ran(report, LARGE, dtype) == ({False}, left)
    assert re.search(r"\d+ not run \(\d+: left to thorough=True\)", report.summary)
    assert ran(tc.check_backend("numpy", ["int64", "float64"]), LARGE, "int64") == ({True}, set())
    assert ran(tc.check_backend("numpy", require=[LARGE]), LARGE, "int64") == ({True}, set())
    whole = tc.check_backend("numpy", ["float32", "int64"], thorough=True)
    assert whole.passed
    for dtype in ("float32", "int64"):
        assert ran(whole, LARGE, dtype) == ({True}, set())
    assert "thorough" not in whole.summary


def test_the_default_computes_a_third_of_the_products(monkeypatch):
    products = []
    monkeypatch.setattr(contract, "_contract_rows", lambda *arguments: [])
    monkeypatch.setattr(
        contract,
        "check_cases",
        lambda modules, dtype, data, cases, *rest: (
            products.append(sum(case.geometry.macs for case in cases if case.takes(dtype, data))) or []
        ),
    )
    tc.check_backend("numpy")
    default = sum(products)
    products.clear()
    tc.check_backend("numpy", thorough=True)
    assert 0 < 3 * default < sum(products)


def test_progress_is_shown(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(progress, "_PATIENCE", 0)
    monkeypatch.setattr(progress, "_PAUSE", 0)  # a fast machine ends the check within one pause
    tc.check_backend("numpy", "float32", tags="hand", data="integers")
    assert "check_backend of numpy: " in terminal.getvalue()
    assert ", float32 integers" in terminal.getvalue()
