"""wgmma_gemm on the host: its own source on tests/cuda/hopper.h, which has the copy engine and wgmma by their definition."""

import ctypes
import re
from itertools import product

import numpy as np
import pytest
from cuda_host import COMPILER, FaultError, Host
from helpers import mostly_slow

import teachconv as tc
from teachconv import backends
from teachconv.backends.cuda import ladder, launches, sources, wgmma
from teachconv.backends.cuda.job import Job
from teachconv.core.geometry import conv2d_geometry
from teachconv.core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT, KINDS
from teachconv.data.seeded import make_array

pytestmark = [
    pytest.mark.xdist_group("gpu_on_the_host"),
    pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler"),
]
# x, w, strides, padding, dilations: more than one tile, chunk and stage, and every edge of the index law
SAME = conv2d_geometry((2, 9, 8, 72), (3, 3, 72, 24), 1, "SAME")
GEOMETRIES = {
    "same": SAME,
    "stride 2": conv2d_geometry((3, 9, 12, 64), (3, 3, 64, 136), 2, ((0, 1), (0, 1))),
    "stride and dilation": conv2d_geometry(
        (2, 11, 14, 8), (3, 2, 8, 64), (1, 3), ((2, 1), (0, 2)), dilations=(2, 1)
    ),
    "many places and columns": conv2d_geometry((3, 10, 10, 128), (1, 1, 128, 264)),
    "groups": conv2d_geometry((2, 8, 9, 48), (3, 3, 24, 80), 1, "SAME"),
    "pads larger than the filter": conv2d_geometry((1, 5, 4, 16), (2, 2, 16, 16), 1, ((3, 2), (4, 5))),
    "large dilation": conv2d_geometry((1, 16, 15, 16), (5, 5, 16, 16), 1, ((6, 6), (5, 7)), dilations=(3, 3)),
    "crop": conv2d_geometry((2, 9, 9, 16), (3, 3, 16, 16), 1, ((-1, 0), (1, -2))),
}
SMALL, SQUARE = wgmma.TILES[:2]


def results(kind, g, dtype, tile, splits=1, reverse=False, *, folder, mistake=None, infinite=False):
    """What a call gives, and what numpy gives."""
    x, w, dy = (
        make_array(shape, dtype, "integers", role)
        for role, shape in (("x", g.input_shape), ("w", g.filters_shape), ("dy", g.output_shape))
    )
    first, second = (x, dy) if kind.sums_images else (x, w) if kind.gathers else (dy, w)
    if infinite:
        first.reshape(-1)[5], second.reshape(-1)[7] = np.inf, -np.inf
    job = Job(kind, g, dtype, None, 0)
    wgmma.wgmma_gemm(job, tile, splits)
    result = np.full(g.shape_of(kind.result), np.nan, first.dtype)
    arrays = {"first": first, "second": second, "result": result}
    launches.execute(job.finish("wgmma_gemm", ""), arrays, Host(folder, reverse, mistake))
    want = getattr(backends.get("numpy"), kind.name)(first, second, g, algorithm=None, precision=None)
    return result, want


def is_right(*call, **options):
    """Whether a call on small integers, of which every sum is exact, gives what numpy gives."""
    return np.array_equal(*results(*call, **options))


RUNS = list(product(("float16", "bfloat16", "float32"), wgmma.TILES, GEOMETRIES))


@pytest.mark.parametrize(
    ("dtype", "tile", "name"),
    mostly_slow(RUNS, *RUNS[::27]),
    ids=lambda value: f"{value.rows}x{value.cols}" if isinstance(value, wgmma.Tile) else value,
)
def test_integers_are_exact(dtype, tile, name, kernel_folder):
    """In both orders of threads, and where blocks share the depth of a tile."""
    g, vector = GEOMETRIES[name], 4 if dtype == "float32" else 8
    for kind in KINDS[:2] if dtype == "float32" else KINDS:
        if not wgmma.wgmma_needs(vector, kind, g):
            for splits, reverse in ((1, False), (3, True)):
                assert is_right(kind, g, dtype, tile, splits, reverse, folder=kernel_folder), (kind, splits)


@pytest.mark.parametrize("splits", [1, 3])
@pytest.mark.parametrize("name", ["groups", "crop"])
def test_infinity_and_nan_are_where_ieee_puts_them(name, splits, kernel_folder):
    """Zeros of the padding, and channels of the next group, are multiplied; such cells are computed again."""
    for kind in KINDS:
        g, options = GEOMETRIES[name], {"folder": kernel_folder, "infinite": True}
        got, want = results(kind, g, "float16", SMALL, splits, **options)
        assert np.isfinite(want).any()
        assert not np.isfinite(want).all()
        assert np.array_equal(got, want, equal_nan=True)


# 10 chunks: more than two rounds of 3 stages, and the last is in the stage where the finished tile begins
TENTH = conv2d_geometry((2, 9, 8, 24), (2, 5, 24, 136), 1, ((1, 2), (0, 3)))
MISTAKES = {  # what is wrong: kind, dtype, old, new
    "barriers are used before they begin": (
        FORWARD,
        "float16",
        "    __syncthreads();\n\n    float sums",
        "\n    float sums",
    ),
    "a chunk is multiplied before it lands": (
        FORWARD,
        "float16",
        "        wait(&landed[stage], parity);\n",
        "",
    ),
    "the parity stays": (FORWARD, "float16", ", parity ^= 1", ""),
    "products are not waited for": (FORWARD, "float16", "        wait_for_products<1>();\n", ""),
    "nor are the last ones": (FORWARD, "float16", "    wait_for_products<0>();\n", ""),
    "a stage is overwritten while others read": (
        FORWARD,
        "float16",
        "        __syncthreads();\n        if (thread == 0 && chunk",
        "        if (thread == 0 && chunk",
    ),
    "the tile is written while others multiply": (
        FORWARD,
        "float16",
        "    __syncthreads();\n    if (partial) leave",
        "    if (partial) leave",
    ),
    "the tile is stored before it is written": (
        FORWARD,
        "float16",
        "        __syncthreads();\n#pragma unroll 1",
        "#pragma unroll 1",
    ),
    "a wrong stage": (FORWARD, "float16", "stage ? stage - 1 :", "stage ? stage :"),
    "too few bytes": (FORWARD, "float16", "arrive(barrier, SIZE)", "arrive(barrier, A_SIZE)"),
    "the distance of 64 columns": (FORWARD, "float16", ": 64 * LINE, stride", ": 32 * LINE, stride"),
    "the distance of 8 lines": (FORWARD, "float16", "stride = 8 * LINE", "stride = 4 * LINE"),
    "the step of the depth": (FORWARD, "float16", ": 32 / (int)sizeof", ": 16 / (int)sizeof"),
    "another swizzle": (FORWARD, "float16", "1ull << 62", "2ull << 62"),
    "a filter that is not flipped": (INPUT_GRADIENT, "float16", "p.taps() - 1 - tap", "tap"),
    "the first tap of a cell": (
        INPUT_GRADIENT,
        "float16",
        "p.pad_top - (p.filter_rows - 1)",
        "p.pad_top - (0)",
    ),
    "all parts of one tap": (FILTER_GRADIENT, "float16", ": part / parts_of_tap;", ": 0;"),
    "the filter is read before it is arranged": (
        FORWARD,
        "float32",
        "    __syncthreads();\n    for (int line",
        "    for (int line",
    ),
}


@pytest.mark.parametrize(
    "name", mostly_slow(list(MISTAKES), "the parity stays", "another swizzle", "a filter that is not flipped")
)
def test_a_mistake_is_found(name, kernel_folder):
    """Each wait, barrier, distance and offset is needed: without it the result is wrong, or the launch fails."""
    kind, dtype, old, new = MISTAKES[name]
    text = sources.source_text("wgmma_gemm.cu")
    assert text.count(old) == 1
    mistake = {"wgmma_gemm.cu": text.replace(old, new)}
    for reverse in (False, True):
        try:
            if not is_right(kind, TENTH, dtype, SQUARE, 1, reverse, folder=kernel_folder, mistake=mistake):
                return
        except FaultError:
            return
    pytest.fail(f"{name}: unnoticed")


def test_each_barrier_and_wait_is_among_the_mistakes():
    text = sources.source_text("wgmma_gemm.cu").split("/* wgmma_gemm:")[1]
    for what in ("__syncthreads();", "wait_for_products<", " wait(&"):
        planted = [old for _, _, old, new in MISTAKES.values() if what in old and what not in new]
        assert text.count(what) == len(planted)


@pytest.mark.parametrize(
    ("kind", "x", "w", "strides", "padding", "dilations", "reason"),
    [
        (FORWARD, (1, 9, 9, 12), (3, 3, 12, 16), 1, "SAME", 1, "in multiples of 8"),
        (FORWARD, (1, 40, 40, 8), (1, 1, 8, 8), (9, 1), "SAME", 1, "strides of at most 8.* got \\(9, 1\\)"),
        (FORWARD, (1, 9, 600, 8), (1, 3, 8, 8), 1, "SAME", (1, 128), "taps at most 255 apart.* got 256"),
        (
            FORWARD,
            (1, 9, 9, 8),
            (1, 1, 8, 8),
            1,
            ((0, 0), (0, 128)),
            1,
            "between -128 and 127.* got \\(0, 0\\) and \\(128, 0\\)",
        ),
        (INPUT_GRADIENT, (1, 9, 9, 8), (3, 3, 8, 8), 2, "SAME", 1, "strides of 1.* got \\(2, 2\\)"),
        (
            FORWARD,
            (1 << 29, 2, 2, 8),
            (1, 1, 8, 8),
            1,
            "SAME",
            1,
            "fewer than 2\\*\\*31 places; got 2147483648",
        ),
    ],
)
def test_what_the_copy_engine_cannot_is_refused(kind, x, w, strides, padding, dilations, reason):
    g = conv2d_geometry(x, w, strides, padding, dilations=dilations)
    assert re.search(reason, wgmma.wgmma_needs(8, kind, g))
    name, _ = ladder.choose(kind, g, "float16", None)
    assert name == ("tensor_gemm" if "multiples" in reason else "pipelined_gemm")


def test_the_farthest_that_the_copy_engine_reaches(kernel_folder):
    """Pads of 127 on either side, taps 255 apart and strides of 8."""
    for g in (
        conv2d_geometry((1, 3, 4, 8), (1, 1, 8, 8), 8, ((127, 120), (0, 127))),
        conv2d_geometry((1, 2, 300, 8), (1, 2, 8, 8), 1, ((0, 0), (127, 127)), dilations=(1, 255)),
    ):
        assert is_right(FORWARD, g, "float16", SMALL, folder=kernel_folder)


def built(g, tile=None, splits=0):
    """The job of a forward call in float16."""
    job = Job(FORWARD, g, "float16", None, 0)
    wgmma.wgmma_gemm(job, tile, splits)
    return job


def test_the_tile_depends_on_the_shapes_alone():
    """Large layers take large tiles; where tiles are few, blocks share their depth; a benchmark may ask for one."""
    (launch,) = built(conv2d_geometry((8, 28, 28, 512), (3, 3, 512, 512), 1, "SAME")).steps
    assert launch.kernel.defines[2:4] == ("TILE_ROWS=128", "TILE_COLS=256")
    few = conv2d_geometry((1, 7, 7, 512), (3, 3, 512, 512), 1, "SAME")
    assert [step.kernel.name for step in built(few).steps] == ["wgmma_gemm", "add_splits"]
    job = built(few, SMALL, 5)
    assert job.steps[0].grid == 8 * 5
    assert job.buffers["partial"].size == 5 * 49 * 512


def test_every_share_of_the_depth_has_a_chunk():
    """72 channels are 2 chunks of each of 9 taps; of 7 shares, 3 chunks each, the last would have none."""
    for wanted, shares in ((4, 4), (7, 6), (11, 9), (18, 18), (100, 18)):
        assert built(SAME, SMALL, wanted).steps[0].grid == 2 * shares


def test_the_driver_is_asked_as_its_manual_says(monkeypatch):
    """Hand-worked for stride 2: the last place begins at row 5 of 9 and column 10 of 12."""
    asked = {}

    class Driver:
        def __getattr__(self, name):
            def encode(*arguments):
                asked[name] = [list(a) if isinstance(a, ctypes.Array) else a.value for a in arguments]
                ctypes.memset(arguments[0], 7, 128)
                return 0

            return encode

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Driver())
    wgmma.encode.cache_clear()
    (launch,) = built(conv2d_geometry((3, 9, 12, 64), (3, 3, 64, 136), 2, ((1, 0), (0, 1))), SMALL, 1).steps
    first, second = (wgmma.encode(tensor, 512) for tensor in launch.arguments[-2:])
    wgmma.encode.cache_clear()
    assert first.dtype == second.dtype == launches.TENSOR_MAP
    assert first["bits"].tolist() == [7] * 128
    address, *rest = asked["cuTensorMapEncodeIm2col"]
    assert address % 64 == 0
    assert rest == [
        6,  # CU_TENSOR_MAP_DATA_TYPE_FLOAT16
        4,
        512,
        [64, 12, 9, 3],
        [128, 12 * 128, 9 * 12 * 128],
        [0, -1],  # columns before rows
        [-1, -3],
        64,
        128,
        [1, 2, 2, 1],
        0,
        3,
        3,
        0,
    ]
    assert asked["cuTensorMapEncodeTiled"][1:] == [
        6,
        4,
        512,
        [136, 1, 64, 9],
        [272, 272, 64 * 272],
        [64, 1, 64, 1],
        [1, 1, 1, 1],
        0,
        3,
        3,
        0,
    ]


def test_a_driver_that_refuses(monkeypatch):
    class Driver:
        def __getattr__(self, name):
            return lambda *arguments: 1

    monkeypatch.setattr(ctypes, "CDLL", lambda name: Driver())
    wgmma.encode.cache_clear()
    with pytest.raises(RuntimeError, match=r"no tensor map of TensorMap\(array='x'.* CUDA error 1"):
        wgmma.encode(launches.TensorMap("x", "float16", (8, 1, 1, 1), (64, 1, 1, 1)), 512)


def test_a_plan_keeps_the_arranged_filter(stand_in):
    x, w = (make_array(s, "float32", "integers", str(s)) for s in ((1, 6, 6, 8), (3, 3, 8, 16)))
    plan = tc.plan(tc.conv2d, w, input_shape=x.shape, backend="cupy", precision="tf32")
    assert plan.algorithm == "wgmma_gemm_tf32"
    assert plan.nbytes == w.nbytes
    with tc.support.record.recording() as stages:
        got = plan(x)
    names = [stage.name for stage in stages]
    assert "launch wgmma_gemm" in names
    assert "launch arrange_filter" not in names
    assert np.array_equal(got, tc.conv2d(x, w))
