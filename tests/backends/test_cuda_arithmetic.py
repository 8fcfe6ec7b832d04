"""The GPU's kernels, thread by thread on the host: the same .cu files and the same launches, judged by the bounds."""

import ctypes
import dataclasses
import os
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from cuda_host import COMPILER, FLAGS, SHIM, Host, build_host, host_backend
from helpers import mostly_slow

import teachconv as tc
from teachconv import backends
from teachconv.backends.cuda import gemm, im2col, job, ladder, launches, sources, winograd
from teachconv.core.geometry import conv2d_geometry
from teachconv.core.kinds import FILTER_GRADIENT, FORWARD, KINDS
from teachconv.data.seeded import make_array
from teachconv.truth import bounds
from teachconv.verification import diffing
from teachconv.verification.cases import CASES, Case, find_cases

pytestmark = [
    pytest.mark.xdist_group("gpu_on_the_host"),
    pytest.mark.skipif(
        COMPILER is None or sys.platform == "win32", reason="needs a C++ compiler and ucontext.h"
    ),
]
# for pipelined_gemm: channels in multiples of 8, more than one tile, chunk and stage, and every edge of the index law
EIGHTS = (
    Case("eights", "conv2d", (2, 9, 8, 16), (3, 3, 16, 24), 1, "SAME", bias=True),
    Case("eights, stride and dilation", "conv2d", (1, 11, 12, 8), (3, 2, 8, 72), 2, "SAME", (3, 1)),
    Case("eights, groups", "conv2d", (1, 9, 10, 24), (2, 3, 8, 48), (1, 2), ((2, 0), (1, 3))),
    Case("eights, crop", "conv2d", (1, 7, 7, 40), (3, 3, 40, 8), 1, ((-1, 2), (0, -1))),
    Case("eights, many places", "conv2d", (2, 13, 12, 8), (1, 1, 8, 136)),
    Case("eights, transposed", "conv2d_transpose", (1, 6, 5, 24), (4, 4, 16, 24), 2, "SAME", bias=True),
)
SMALL = find_cases("small")
NAMES = {algorithm.name: algorithm for algorithm in ladder.ALGORITHMS}
TESTS = Path(__file__).parents[1]


@pytest.fixture
def small_blocks(monkeypatch):
    """Small grids, little scratch and the largest tiles, to exercise what otherwise only large problems do."""
    ladder.schedule.cache_clear()
    monkeypatch.setattr(job, "MOST_BLOCKS", 3)
    monkeypatch.setattr(im2col, "_BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(winograd, "_BLOCK_BYTES", 1 << 12)
    monkeypatch.setattr(gemm, "ENOUGH_BLOCKS", 1)
    yield
    ladder.schedule.cache_clear()


def failures(host, names, dtype, data="normal", cases=SMALL):
    """Run cases with the algorithms that take the dtype; return the rows that failed, and how many ran."""
    module = host_backend(host, [NAMES[name] for name in names if dtype in NAMES[name].dtypes])
    rows = [row for row in diffing.check_cases([module], dtype, data, cases) if row.algorithm]
    return [
        (row.name, row.algorithm, row.bound_fraction, row.note) for row in rows if row.passed is False
    ], len(rows)


@pytest.mark.parametrize("step", mostly_slow([6, 1], 6))
@pytest.mark.parametrize("name", [name for name in NAMES if "float32" in NAMES[name].dtypes])
def test_cases_in_float32(name, step, kernel_folder):
    """All of them, and in every run another sixth for each kernel."""
    cases = SMALL[list(NAMES).index(name) % step :: step] + EIGHTS
    failed, count = failures(Host(kernel_folder), [name], "float32", cases=cases)
    assert not failed
    assert count >= 18 // step


@pytest.mark.parametrize(
    ("axes", "names"),
    [("1d", ["direct"]), ("3d", ["direct"]), pytest.param("1d", list(NAMES), marks=pytest.mark.slow)],
    ids=["sequences", "volumes", "sequences-every-rung"],
)
def test_sequences_as_one_row_and_volumes_as_planes(axes, names, kernel_folder):
    failed, count = failures(Host(kernel_folder), names, "float32", cases=find_cases(axes))
    assert not failed
    assert count >= 10


@pytest.mark.parametrize(
    ("order", "dtype", "data", "cases"),
    [
        (False, "float16", "normal", EIGHTS[1:2]),
        pytest.param(False, "float16", "nonfinite", EIGHTS, marks=pytest.mark.slow),
        pytest.param(True, "float16", "normal", EIGHTS, marks=pytest.mark.slow),
        pytest.param(False, "bfloat16", "normal", EIGHTS, marks=pytest.mark.slow),
    ],
)
def test_pipelined_halves(kernel_folder, order, dtype, data, cases):
    """Asynchronous copies land as late as they may, or with the other order of threads at once."""
    failed, count = failures(Host(kernel_folder, order), ["pipelined_gemm"], dtype, data, cases)
    assert not failed
    few = 10 if data == "nonfinite" else 16  # large cases have ordinary numbers alone
    assert count == (few if cases is EIGHTS else 3)


FEW = {"float16": ["direct", "tensor_gemm"], "bfloat16": ["direct"], "float64": ["im2col", "implicit_gemm"]}


@pytest.mark.parametrize(
    "dtype", mostly_slow(["float16", "bfloat16", "float64", "int32", "int64"], "float16", "int32")
)
def test_cases_in_other_dtypes(dtype, kernel_folder):
    data = "integers" if dtype == "int64" else "normal"
    failed, count = failures(Host(kernel_folder), FEW.get(dtype, NAMES), dtype, data, SMALL[2::5])
    assert not failed
    assert count > 25


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FEW)
def test_cases_in_other_dtypes_by_every_algorithm(dtype, kernel_folder):
    for data in ("normal", "scaled", "nonfinite"):
        failed, count = failures(Host(kernel_folder), NAMES, dtype, data, SMALL[2::3])
        assert not failed
        assert count > 40


@pytest.mark.parametrize(
    "data", mostly_slow(["integers", "scaled", "tiny", "huge", "nonfinite"], "nonfinite")
)
def test_odd_data(data, kernel_folder):
    failed, count = failures(Host(kernel_folder), NAMES, "float32", data, SMALL[::3] + EIGHTS[:2])
    assert not failed
    assert count > 100


def test_small_integers_are_exact(kernel_folder):
    """Products and sums of small integers are exact, also on tensor cores and with TF32."""
    x, w = (
        make_array((2, 9, 8, 8), "float32", "integers", "x"),
        make_array((3, 2, 8, 16), "float32", "integers", "w"),
    )
    for dtype in ("float32",):
        want = tc.conv2d(x.astype(dtype), w.astype(dtype), 2, "SAME", backend="reference")
        module = host_backend(Host(kernel_folder))
        for algorithm in ladder.ALGORITHMS:
            if algorithm.fits(FORWARD, dtype, conv2d_geometry(x.shape, w.shape, 2, "SAME")):
                got = tc.conv2d(
                    x.astype(dtype), w.astype(dtype), 2, "SAME", backend=module, algorithm=algorithm.name
                )
                assert np.array_equal(got, want), algorithm.name


@pytest.mark.slow
def test_blocks_tiles_and_grids_as_of_large_problems(kernel_folder, small_blocks):
    host = Host(kernel_folder)
    chosen = [
        case for case in CASES if case.name in ("many channels", "groups", "3x3 mid network", "7x7 stride 2")
    ]
    chosen += [
        case for case in CASES if case.name in ("same", "crop and pad", "depthwise stride 2", "explicit")
    ]
    failed, count = failures(host, NAMES, "float32", "normal", chosen)
    assert not failed
    assert count > 80
    assert not failures(host, ["tensor_gemm"], "float16", "nonfinite", chosen[:4])[0]
    # these have a block for each tile
    tiles = ("gemm", "tiled", "registers", "depthwise_filter_gradient", "arrange_filter")
    assert max(grid for name, grid, _ in host.launched if not name.endswith(tiles)) == 3


LARGE = {
    "implicit_gemm": ("KIND=Forward", "TILE_ROWS=128", "TILE_COLS=128"),
    "tensor_gemm_tf32": ("KIND=Forward", "TILE_ROWS=128", "TILE_COLS=128"),
    "pipelined_gemm_float32": ("KIND=Forward", "TILE_ROWS=128", "TILE_COLS=128"),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_tiles_are_used(name, kernel_folder, small_blocks):
    """8 x 8 sums per thread, 2 x 4 fragments per warp, and several chunks in every stage."""
    g = conv2d_geometry((1, 14, 14, 20), (3, 3, 20, 132), 1, "SAME")
    scheduled = ladder.schedule(FORWARD, g, "float32", name, None, False, False)
    assert scheduled.steps[0].kernel.defines == LARGE[name]
    x, w = (
        make_array(g.input_shape, "float32", "integers", "x"),
        make_array(g.filters_shape, "float32", "integers", "w"),
    )
    want = tc.conv2d(x, w, padding="SAME", backend="numpy")
    got = tc.conv2d(x, w, padding="SAME", backend=host_backend(Host(kernel_folder)), algorithm=name)
    assert np.array_equal(got, want)


# of pipelined_gemm with tiles of 256 x 128: more than one tile and two warps across; bias or strides; one share or several
TALL = {
    "one share": conv2d_geometry((3, 19, 17, 32), (3, 2, 16, 272), 2, "SAME"),
    "shares": conv2d_geometry((2, 13, 12, 136), (3, 3, 136, 136), 1, "SAME"),
}


def tall(kind, name, dtype, data="integers", reverse=False, *, folder, mistake=None):
    """What a call gives by tiles of 256 rows, and what numpy gives."""
    g = TALL[name]
    first, second = (make_array(g.shape_of(role), dtype, data, role) for role in (kind.first, kind.second))
    work = job.Job(kind, g, dtype, None, 0)
    gemm.pipelined_gemm(work, ("TF32",) if dtype == "float32" else (), 256)
    result = np.full(g.shape_of(kind.result), 7, dtype)
    arrays = {"first": first, "second": second, "result": result}
    launches.execute(work.finish("pipelined_gemm", ""), arrays, Host(folder, reverse, mistake))
    options = {"algorithm": None, "precision": None}
    return result, getattr(backends.get("numpy"), kind.name)(first, second, g, **options)


@pytest.mark.parametrize("reverse", [False, pytest.param(True, marks=pytest.mark.slow)])
@pytest.mark.parametrize("dtype", mostly_slow(["float16", "bfloat16", "float32"], "float16", "float32"))
@pytest.mark.parametrize("name", TALL)
def test_tiles_of_256_rows(name, dtype, reverse, kernel_folder):
    """Exact on small integers; infinities and NaNs are where IEEE arithmetic puts them."""
    for kind in KINDS if name == "shares" else (FORWARD,):
        assert np.array_equal(*tall(kind, name, dtype, reverse=reverse, folder=kernel_folder)), kind
    got, want = tall(FORWARD, "one share", dtype, "nonfinite", reverse, folder=kernel_folder)
    for test in (np.isnan, np.isposinf, np.isneginf):
        assert np.array_equal(test(got), test(want))
        assert 0 < test(got).sum() < got.size


@pytest.mark.parametrize(
    ("kind", "dtype", "old", "new"),
    [
        (FORWARD, "float16", "(Engine::row(i) - part) * PITCH", "Engine::row(i) % 64 * PITCH"),
        (FORWARD, "float16", "tile.row_at(part + row)", "tile.row_at(row)"),
        (FORWARD, "float16", "stage ? stage - SIZE :", "stage ? stage :"),
        (FILTER_GRADIENT, "float32", "j / 8 * 32 + line * 4 + j / 2 % 4", "line * 4 + j / 2"),
    ],
    ids=["the second part over the first", "stored twice", "a stale stage", "columns by fours"],
)
def test_a_mistake_in_tiles_of_256_rows_is_found(kind, dtype, old, new, kernel_folder):
    mistake = broken("pipelined_gemm.cu", old, new)
    assert not np.array_equal(*tall(kind, "shares", dtype, folder=kernel_folder, mistake=mistake))


def test_tiles_of_256_rows_are_for_large_layers_on_other_cards_than_hoppers():
    """There 128 rows were measured, and wgmma_gemm is the usual one."""

    def rows(arch, dtype="float16", precision=None, kind=FORWARD, size=56, channels=256):
        g = conv2d_geometry((8, size, size, channels), (3, 3, channels, channels), 1, "SAME")
        name = "pipelined_gemm_tf32" if precision == "tf32" else "pipelined_gemm"
        scheduled = ladder.schedule(kind, g, dtype, name, precision, False, False, arch)
        return [define for define in scheduled.steps[0].kernel.defines if "ROWS" in define]

    for kind in KINDS:
        for arch in (80, 86, 89, 100, 120):
            assert rows(arch, kind=kind) == rows(arch, "float32", "tf32", kind) == ["TILE_ROWS=256"]
        assert rows(90, kind=kind) == rows(80, kind=kind, channels=64) == ["TILE_ROWS=128"]
    assert rows(80, size=14) == ["TILE_ROWS=128"]


def test_the_taps_that_read_a_phase(kernel_folder):
    """For strides and dilations with and without a common factor, and filters shorter than the taps' distance."""
    module = host_backend(Host(kernel_folder))
    for stride, dilation, size in product((1, 2, 4, 6), (1, 2, 3, 4), (1, 2, 5)):
        g = conv2d_geometry((1, 25, 3, 4), (size, 1, 4, 8), (stride, 1), "SAME", dilations=(dilation, 1))
        w = make_array(g.filters_shape, "float32", "integers", "w")
        dy = make_array(g.output_shape, "float32", "integers", "dy")
        want = backends.get("numpy").conv2d_backprop_input(dy, w, g, algorithm=None, precision=None)
        got = module.conv2d_backprop_input(dy, w, g, algorithm="implicit_gemm", precision=None)
        assert np.array_equal(got, want), (stride, dilation, size)


STRIPS = {  # of depthwise: dtype, x, w, strides, padding, dilations, and the multiprocessors of the card
    "3x3, threads with all rows": ("float32", (2, 9, 11, 12), (3, 3, 1, 12), 1, "SAME", 1, 132),
    "3x3, threads with longer strips": ("float32", (2, 9, 11, 12), (3, 3, 1, 12), 1, "SAME", 1, 1),
    "stride 2, an odd pad": ("float16", (1, 9, 10, 16), (3, 3, 1, 16), 2, ((1, 1), (1, 2)), 1, 1),
    "crop at stride 2": ("float32", (1, 9, 13, 8), (3, 3, 1, 8), 2, ((-1, 2), (-3, 1)), 1, 1),
    "5x5, several splits": ("float32", (1, 12, 43, 20), (5, 5, 1, 20), 1, "SAME", 1, 132),
    "7x7, halves by fours": ("bfloat16", (1, 8, 9, 8), (7, 7, 1, 8), 1, ((0, 5), (4, 3)), 1, 1),
    "7x5 at two strides": ("float64", (1, 11, 12, 6), (7, 5, 1, 6), (1, 2), "SAME", 1, 1),
    "a multiplier": ("float32", (1, 7, 9, 5), (3, 3, 1, 15), 2, "SAME", 1, 1),
    "any dilation": ("float16", (1, 9, 19, 8), (2, 7, 1, 8), 1, "SAME", (1, 3), 132),
    "any stride": ("float32", (1, 10, 11, 4), (3, 6, 1, 4), 3, ((2, 0), (1, 4)), 1, 132),
    "a long filter": ("float32", (1, 1, 40, 4), (1, 9, 1, 4), 1, "SAME", 1, 132),
}


@pytest.mark.parametrize("case", STRIPS.values(), ids=list(STRIPS))
def test_depthwise_is_exact_on_small_integers(case, kernel_folder, monkeypatch):
    """For filters that the compiler knows and others, at every edge of a strip, of a block and of a split."""
    dtype, shape, filters, strides, padding, dilations, multiprocessors = case
    monkeypatch.setattr(job, "MULTIPROCESSORS", multiprocessors)
    ladder.schedule.cache_clear()
    g = conv2d_geometry(shape, filters, strides, padding, dilations=dilations)
    for kind in KINDS:
        first, second = (
            make_array(g.shape_of(role), "float64", "integers", role) for role in (kind.first, kind.second)
        )
        want = getattr(backends.get("numpy"), kind.name)(first, second, g, algorithm=None, precision=None)
        for reverse in (False, True):
            run = getattr(host_backend(Host(kernel_folder, reverse)), kind.name)
            got = run(first.astype(dtype), second.astype(dtype), g, algorithm="depthwise", precision=None)
            assert np.array_equal(got, want.astype(dtype)), kind
    ladder.schedule.cache_clear()


def test_depthwise_by_the_size_of_a_layer():
    """Many small blocks for few results; a second pass over a filter gradient only for many."""

    def steps(kind, batch, size, channels, dtype="float32"):
        g = conv2d_geometry((batch, size, size, channels), (3, 3, 1, channels), 1, "SAME")
        return ladder.schedule(kind, g, dtype, "depthwise", None, False, False).steps

    (small,), (large,) = steps(FORWARD, 1, 14, 512), steps(FORWARD, 8, 112, 32)
    assert (small.grid, small.block, large.grid, large.block) == (
        14 * 8 * 128 // 64,
        64,
        8 * 112 * 29 * 8 // 256,
        256,
    )
    assert {"STRIP=2", "TAP_ROWS=3", "TAPS=3"} <= set(small.kernel.defines)
    assert {"STRIP=4", "TAP_ROWS=1", "TAPS=3"} <= set(large.kernel.defines)
    (halves,) = steps(FORWARD, 1, 14, 512, "float16")
    assert "CHANNELS=8" in halves.kernel.defines
    assert len(steps(FILTER_GRADIENT, 1, 14, 512)) == 1
    gradient, added = steps(FILTER_GRADIENT, 8, 112, 32)
    assert (gradient.grid, added.kernel.name) == (132, "add_splits")


@pytest.mark.parametrize("name", ["implicit_gemm", "pipelined_gemm_float32", "tensor_gemm_tf32"])
def test_the_depth_is_split_where_there_are_few_tiles(name, kernel_folder):
    """At batch 1 one layer has fewer tiles than a card has multiprocessors; blocks then share each tile."""
    g = conv2d_geometry((1, 7, 7, 32), (3, 3, 32, 32), 1, "SAME")
    x, w, dy = (
        make_array(shape, "float32", "nonfinite", role)
        for role, shape in (("x", g.input_shape), ("w", g.filters_shape), ("dy", g.output_shape))
    )
    module = host_backend(Host(kernel_folder))
    for kind, operands in zip(KINDS, ((x, w), (dy, w), (x, dy)), strict=True):
        scheduled = ladder.schedule(kind, g, "float32", name, None, False, False)
        # a filter gradient's depth, 49 places, is too short
        assert ("partial" in scheduled.buffers) == (kind is not FILTER_GRADIENT)
        got = getattr(module, kind.name)(*operands, g, algorithm=name, precision=None)
        want = getattr(backends.get("reference"), kind.name)(*operands, g, algorithm=None, precision=None)
        for test in (np.isnan, np.isposinf, np.isneginf):
            assert np.array_equal(test(got), test(want))


@pytest.mark.parametrize("bits", [0x7FFFFFFF, 0xFFFFFFFF, 0x7FC00000, 0x7F800000, 0xFF800000])
@pytest.mark.parametrize("where", ["first", "second"])
@pytest.mark.parametrize("groups", [1, 2])
def test_rounding_to_tf32_loses_no_nan(bits, where, groups, kernel_folder):
    """Half a unit of the last place, added to a NaN of all ones, gives a finite number."""
    g = conv2d_geometry((1, 7, 7, 16), (3, 3, 16 // groups, 64), 1, "SAME")
    x, w = (
        make_array(shape, "float32", "integers", role)
        for role, shape in (("x", g.input_shape), ("w", g.filters_shape))
    )
    (x if where == "first" else w).view(np.uint32)[0, 1, 1, 5] = bits
    options = {"algorithm": "pipelined_gemm_tf32", "precision": None}
    got = host_backend(Host(kernel_folder)).conv2d(x, w, g, **options)
    want = backends.get("reference").conv2d(x, w, g, algorithm=None, precision=None)
    assert np.array_equal(got, want, equal_nan=True)
    assert not np.isfinite(want).all()
    assert np.isfinite(want).any()


@pytest.mark.slow
def test_offsets_of_64_bits(kernel_folder, monkeypatch):
    """Arrays of 2**30 elements and more: the same kernels, compiled with wider offsets."""
    ladder.schedule.cache_clear()
    monkeypatch.setattr(job, "_WIDE", 1)
    g = conv2d_geometry((1, 9, 9, 8), (3, 3, 8, 8), 1, "SAME")
    assert (
        "WIDE" in ladder.schedule(FORWARD, g, "float32", "im2col", None, False, False).steps[0].kernel.defines
    )
    failed, count = failures(Host(kernel_folder), NAMES, "float32", cases=[EIGHTS[0], SMALL[40]])
    ladder.schedule.cache_clear()
    assert not failed
    assert count >= 20


def test_the_last_chunk_ends_within_the_range_of_offsets():
    """It may be deeper than the operands: 64 lines of 2**24 channels are beyond what offsets of 32 bits reach."""
    for channels, wide in ((1 << 24, True), ((1 << 24) - 8, False)):
        g = conv2d_geometry((1, 1, 1, 8), (1, 1, 8, channels))
        for kind in KINDS:
            for name in ("implicit_gemm", "pipelined_gemm_float32"):
                step = ladder.schedule(kind, g, "float32", name, None, False, False).steps[0]
                assert ("WIDE" in step.kernel.defines) == wide


@pytest.mark.parametrize("name", NAMES)
def test_bits_do_not_depend_on_the_order_of_threads(name, kernel_folder):
    """Both thread orders agree; a missing barrier or two threads adding to one cell would differ."""
    algorithm = NAMES[name]
    dtype = "float32" if "float32" in algorithm.dtypes else "float16"
    g = conv2d_geometry((2, 9, 11, 8), (3, 3, 1 if name == "depthwise" else 8, 16), 1, "SAME")
    arrays = [
        make_array(s, dtype, "normal", s_name)
        for s, s_name in ((g.input_shape, "x"), (g.filters_shape, "w"), (g.output_shape, "dy"))
    ]
    for kind, operands in zip(KINDS, ((0, 1), (2, 1), (0, 2)), strict=True):
        if kind in algorithm.kinds:
            first, second = (arrays[i] for i in operands)
            options = {"algorithm": name, "precision": None}
            runs = [
                getattr(host_backend(Host(kernel_folder, reverse)), kind.name)(first, second, g, **options)
                for reverse in (False, True)
            ]
            assert runs[0].tobytes() == runs[1].tobytes()


def test_the_images_of_a_batch_are_done_again_one_by_one(kernel_folder):
    """One image with a NaN is recomputed by direct; the bits of the others do not change."""
    g = conv2d_geometry((3, 7, 6, 4), (3, 3, 4, 5), 1, "SAME")
    x, w = (
        make_array(g.input_shape, "float32", "normal", "x"),
        make_array(g.filters_shape, "float32", "normal", "w"),
    )
    module = host_backend(Host(kernel_folder))
    clean = tc.conv2d(x, w, padding="SAME", backend=module, algorithm="winograd4")
    x[1, 3, 2, 1] = np.nan
    got = tc.conv2d(x, w, padding="SAME", backend=module, algorithm="winograd4")
    assert np.array_equal(got[[0, 2]], clean[[0, 2]])
    want = tc.conv2d(x, w, padding="SAME", backend="reference")
    assert np.array_equal(np.isnan(got), np.isnan(want))
    assert 0 < np.isnan(got).sum() < got[1].size


WINOGRAD_DW = {  # x, w, padding, dtype, the bytes of a block, and the fewest tiles of a slice
    "one block, one slice": ((2, 8, 6, 8), (3, 3, 8, 16), "SAME", "float32", 1 << 28, 128),
    "odd sizes, a slice with tiles of zeros": ((3, 7, 5, 3), (3, 3, 3, 5), "SAME", "float32", 1 << 28, 8),
    "blocks of slices": ((2, 9, 11, 4), (3, 3, 4, 4), "VALID", "float32", 1 << 13, 3),
    "a tile a block": ((2, 5, 4, 2), (3, 3, 2, 3), "SAME", "float64", 1, 1),
    "asymmetric pads": ((2, 6, 5, 5), (3, 3, 5, 2), ((2, 0), (1, 4)), "float32", 1 << 12, 2),
    "crop and pad": ((1, 8, 9, 4), (3, 3, 4, 4), ((-1, 2), (0, -2)), "float16", 1 << 28, 2),
    "halves": ((2, 5, 6, 3), (3, 3, 3, 2), "SAME", "bfloat16", 1 << 28, 4),
    "taps that read padding alone": ((2, 2, 2, 3), (3, 3, 3, 2), ((2, 0), (0, 2)), "float32", 1 << 28, 1),
    "other taps that do": ((2, 2, 2, 3), (3, 3, 3, 2), ((0, 2), (2, 0)), "float32", 1 << 28, 1),
}


@pytest.fixture
def winograd_dw(kernel_folder, monkeypatch):
    """The filter gradient by winograd2, for arrays, with blocks and slices of a given size."""

    def run(geometry, x, dy, block_bytes, shortest, algorithm="winograd2", reverse=False):
        monkeypatch.setattr(winograd, "_BLOCK_BYTES", block_bytes)
        monkeypatch.setattr(winograd, "_SHORTEST", shortest)
        ladder.schedule.cache_clear()
        module = host_backend(Host(kernel_folder, reverse))
        return module.conv2d_backprop_filter(x, dy, geometry, algorithm=algorithm, precision=None)

    yield run
    ladder.schedule.cache_clear()


@pytest.mark.parametrize("case", WINOGRAD_DW.values(), ids=list(WINOGRAD_DW))
def test_winograd_filter_gradient(case, winograd_dw):
    """Exact on small integers, within the bound on other numbers; in any order of threads the same bits."""
    shape, filters, padding, dtype, *how = case
    g = conv2d_geometry(shape, filters, 1, padding)
    numpy = backends.get("numpy").conv2d_backprop_filter
    for data in ("integers", "normal", "scaled", "tiny"):
        x, dy = (make_array(s, dtype, data, role) for s, role in ((shape, "x"), (g.output_shape, "dy")))
        wide = [array.astype("float64") for array in (x, dy)]
        want = numpy(*wide, g, algorithm=None, precision=None)
        got = winograd_dw(g, x, dy, *how)
        assert got.tobytes() == winograd_dw(g, x, dy, *how, reverse=True).tobytes()
        if data == "integers":
            assert np.array_equal(got, want.astype(dtype))
        if dtype == "float32":
            assert (np.abs(got - want) <= bounds.winograd2(FILTER_GRADIENT, x, dy, g, dtype)).all(), data
        assert (got[want == 0] == 0).all()  # such as taps that read padding alone


def test_each_step_of_winograds_filter_gradient_is_needed(kernel_folder, winograd_dw):
    """Blocks of slices: a step left out, or sums of a block that replace those before it, give something else."""
    g = conv2d_geometry((2, 9, 11, 4), (3, 3, 4, 4))
    x, dy = (
        make_array(s, "float32", "integers", role)
        for s, role in ((g.input_shape, "x"), (g.output_shape, "dy"))
    )
    want = winograd_dw(g, x, dy, 1 << 13, 3)
    whole = ladder.schedule(FILTER_GRADIENT, g, "float32", "winograd2", None, False, False)
    assert len(whole.steps) == 3 * 3 + 1

    def gives(*steps):
        result = np.full(g.filters_shape, np.nan, "float32")
        arrays = {"first": x, "second": dy, "result": result}
        launches.execute(dataclasses.replace(whole, steps=steps), arrays, Host(kernel_folder))
        return result

    assert np.array_equal(gives(*whole.steps), want)
    assert not np.array_equal(
        gives(
            *(
                dataclasses.replace(s, accumulate=False) if hasattr(s, "accumulate") else s
                for s in whole.steps
            )
        ),
        want,
    )
    for i in range(len(whole.steps)):
        assert not np.array_equal(gives(*whole.steps[:i], *whole.steps[i + 1 :]), want), i


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(Index)e * slices + slice)", "(Index)e * slices)"),
        ("const Index tile = first_tile + cell / channels;", "const Index tile = cell / channels;"),
        ("    d[3 * step] = -d1;", "    d[3 * step] = d1;"),
        ("narrow(reached ? dw[tap] : (Sum)0)", "narrow(dw[tap])"),
        ("is_unfit(x_marks) || is_unfit(dy_marks)", "false"),
    ],
    ids=["one slice for all", "the first block again", "a sign", "a tap that reads padding alone", "marks"],
)
def test_a_mistake_in_winograds_filter_gradient_is_found(old, new, kernel_folder, winograd_dw):
    """By the exact sum, the same pixels with an infinity, and taps that read padding alone."""
    mistake, wrong = broken("winograd.cu", old, new), 0
    for shape, padding, data in (
        ((2, 9, 11, 4), "VALID", "integers"),
        ((2, 2, 2, 4), ((2, 0), (0, 2)), "normal"),
        ((1, 6, 6, 4), "SAME", "infinite"),
    ):
        g = conv2d_geometry(shape, (3, 3, 4, 4), 1, padding)
        x, dy = (
            make_array(g.shape_of(role), "float32", data.replace("infinite", "integers"), role)
            for role in ("input", "output")
        )
        if data == "infinite":
            x[0, 2, 3, 1] = np.inf
        want = winograd_dw(g, x, dy, 1 << 13, 3)
        host = host_backend(Host(kernel_folder, False, mistake))
        got = host.conv2d_backprop_filter(x, dy, g, algorithm="winograd2", precision=None)
        wrong += not np.array_equal(got, want, equal_nan=True)
    assert wrong


@pytest.mark.parametrize("number", [np.inf, np.nan, 1e30, 1e-30])
@pytest.mark.parametrize("where", ["x", "dy"])
def test_a_filter_gradient_is_done_again_as_a_whole(number, where, winograd_dw):
    """Its cells sum over the images: one number that a transform would spread is in all of them."""
    g = conv2d_geometry((3, 7, 6, 4), (3, 3, 4, 5), 1, "SAME")
    arrays = {
        role: make_array(shape, "float32", "normal", role)
        for role, shape in (("x", g.input_shape), ("dy", g.output_shape))
    }
    x, dy, array = arrays["x"], arrays["dy"], arrays[where]
    if number < 1:
        array *= np.float32(number)
    else:
        array[1, 3, 2, 1] = number
    want = winograd_dw(g, x, dy, 1 << 28, 2, "direct")
    for block_bytes in (1 << 28, 1 << 12):
        assert np.array_equal(winograd_dw(g, x, dy, block_bytes, 2), want, equal_nan=True)
    array[...] = make_array(array.shape, "float32", "normal", "again")
    assert not np.array_equal(winograd_dw(g, x, dy, 1 << 28, 2), winograd_dw(g, x, dy, 1 << 28, 2, "direct"))


def test_the_filter_gradients_of_a_small_filter_fill_the_card():
    """16 products of 128 x 128 cells are 16 blocks of cuBLAS, so their depth is cut."""

    def product(batch, size, channels):
        g = conv2d_geometry((batch, size, size, channels), (3, 3, channels, channels), 1, "SAME")
        scheduled = ladder.schedule(FILTER_GRADIENT, g, "float32", "winograd2", None, False, False)
        return [step.left.shape for step in scheduled.steps if hasattr(step, "left")]

    assert product(8, 28, 512) == [(16, 1568, 512)]
    assert product(8, 56, 256) == [(16 * 4, 1568, 256)]
    assert product(8, 28, 128) == [(16 * 13, 121, 128)]
    assert product(8, 112, 128) == [(16 * 16, 784, 128)] * 2


def test_relu_and_bias(kernel_folder):
    x, w = (
        make_array((1, 5, 6, 4), "float32", "integers", "x"),
        make_array((3, 3, 4, 8), "float32", "integers", "w"),
    )
    bias, module = make_array((8,), "float32", "integers", "b"), host_backend(Host(kernel_folder))
    call, _ = tc.nn_ops.call_of(tc.conv2d, (x, w), {"padding": "SAME", "bias": bias})
    want = tc.running.dispatch.run_canonical(call, "reference", activation="relu")
    for algorithm in ladder.ALGORITHMS:
        if algorithm.fits(FORWARD, "float32", call.geometry) and algorithm.name != "winograd4":
            got = tc.running.dispatch.run_canonical(call, module, algorithm.name, activation="relu")
            assert np.array_equal(got, want), algorithm.name


# ---------------------------------------------------------------------------------------------
# The shim itself: it can fail, and its half types are right
# ---------------------------------------------------------------------------------------------


def broken(file, old, new):
    """A source with one mistake made on purpose."""
    text = sources.source_text(file)
    assert old in text
    return {file: text.replace(old, new, 1)}


def test_a_barrier_that_some_threads_miss_is_found(kernel_folder):
    mistake = broken("depthwise.cu", "    __syncthreads();\n", "    if (threadIdx.x) __syncthreads();\n")
    g = conv2d_geometry((1, 4, 4, 3), (3, 3, 1, 3), 1, "SAME")
    x = np.ones(g.input_shape, np.float32)
    with pytest.raises(AssertionError, match="part at a barrier"):
        host_backend(Host(kernel_folder, False, mistake)).conv2d_backprop_filter(
            x, x, g, algorithm="depthwise", precision=None
        )


def test_half_types_of_the_shim(tmp_path):
    """Every 16-bit pattern and every midpoint converts as in NumPy and ml_dtypes."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    source = f"""#include "{SHIM}"
#define EXPORTED extern "C" __attribute__((visibility("default")))
EXPORTED void there(const unsigned short *from, float *to, int n, int is_bfloat) {{
    for (int i = 0; i < n; i++) to[i] = is_bfloat ? (float)__nv_bfloat16{{from[i]}} : (float)__half{{from[i]}};
}}
EXPORTED void back(const float *from, unsigned short *to, int n, int is_bfloat) {{
    for (int i = 0; i < n; i++) to[i] = is_bfloat ? __float2bfloat16_rn(from[i]).bits : __float2half_rn(from[i]).bits;
}}
EXPORTED void tf32(const float *from, float *to, int n) {{
    for (int i = 0; i < n; i++) to[i] = nvcuda::wmma::__float_to_tf32(from[i]);
}}
"""
    (tmp_path / "half.cpp").write_text(source)
    library = tmp_path / "half.so"
    subprocess.run([COMPILER, *FLAGS, "-o", str(library), str(tmp_path / "half.cpp")], check=True)
    shim = ctypes.CDLL(str(library))

    def call(function, array, dtype, *more):
        out = np.empty(array.shape, dtype)
        getattr(shim, function)(
            ctypes.c_void_p(array.ctypes.data), ctypes.c_void_p(out.ctypes.data), array.size, *more
        )
        return out

    patterns = np.arange(1 << 16, dtype=np.uint16)
    for is_bfloat, half in ((0, np.float16), (1, ml_dtypes.bfloat16)):
        with np.errstate(invalid="ignore", over="ignore"):
            wide = patterns.view(half).astype(np.float32)
            assert np.array_equal(call("there", patterns, np.float32, is_bfloat), wide, equal_nan=True)
            finite = np.sort(wide[np.isfinite(wide)]).astype(np.float64)
            midpoints = ((finite[1:] + finite[:-1]) / 2).astype(np.float32)
            for near in (
                midpoints,
                np.nextafter(midpoints, np.float32(np.inf)),
                np.float32([65519, 65520, 1e9, 3.4e38, -np.inf]),
            ):
                got = call("back", near, np.uint16, is_bfloat).view(half)
                assert np.array_equal(got, near.astype(half))
    numbers = make_array((1000,), "float32", "scaled", "tf32")
    rounded = call("tf32", numbers, np.float32)
    assert (np.abs(rounded - numbers) <= 2.0**-11 * np.abs(numbers)).all()
    assert (rounded.view(np.uint32) & 0x1FFF == 0).all()


# ---------------------------------------------------------------------------------------------
# AddressSanitizer
# ---------------------------------------------------------------------------------------------


def sanitized(folder, *mistake):
    """Run tests/cuda/sanitize.py under AddressSanitizer; skip where the compiler has none."""
    found = subprocess.run(
        [COMPILER, "-print-file-name=libasan.so"], capture_output=True, text=True
    ).stdout.strip()
    if not os.path.isabs(found):
        pytest.skip("the compiler has no libasan.so")
    environment = os.environ | {"LD_PRELOAD": found, "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=0"}
    environment["OPENBLAS_NUM_THREADS"] = "1"
    return subprocess.run(
        [sys.executable, str(TESTS / "cuda" / "sanitize.py"), str(folder), *mistake],
        capture_output=True,
        text=True,
        env=environment,
    )


@pytest.mark.slow
def test_no_access_out_of_bounds(kernel_folder):
    done = sanitized(kernel_folder)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "no fault" in done.stdout


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        pytest.param("direct.cu", "if (!p.has_input(in_row, in_col)) continue;", "", marks=pytest.mark.slow),
        ("depthwise.cu", "shared[TAPS * CHANNELS][", "shared[TAPS * CHANNELS - 1]["),
        pytest.param("pipelined_gemm.cu", "? 4 : 3)\n", "? 5 : 4)\n", marks=pytest.mark.slow),
    ],
)
def test_access_out_of_bounds_is_found(file, old, new, kernel_folder):
    done = sanitized(kernel_folder, file, old, new)
    assert done.returncode != 0
    assert "AddressSanitizer" in done.stderr


def test_bounds_of_tensor_cores_are_larger():
    assert bounds.tensor(np.ones(()), 9, "float16") > bounds.direct(np.ones(()), 9, "float16")
    assert bounds.tf32(np.ones(()), 9, 1.0) > bounds.tensor(np.ones(()), 9, "float32")


def test_a_source_is_compiled_once(tmp_path):
    first, other = (sources.defines(dtype) for dtype in ("float32", "float64"))
    first, other = ((*options, "-DKIND=Forward") for options in (first, other))
    assert build_host(tmp_path, "direct.cu", first) == build_host(tmp_path, "direct.cu", first)
    assert build_host(tmp_path, "direct.cu", first) != build_host(tmp_path, "direct.cu", other)
