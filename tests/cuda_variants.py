"""How each CUDA source may be compiled: its dtypes, its other macros, and the cards that it runs on."""

from pathlib import Path

from teachconv.backends.cuda import ladder, wgmma
from teachconv.core.dtypes import FLOATS, INTEGERS
from teachconv.core.geometry import conv2d_geometry
from teachconv.core.kinds import KINDS

KINDS_OF = ("KIND=Forward", "KIND=InputGradient", "KIND=FilterGradient")
TILES = [f"TILE_ROWS={rows} TILE_COLS={cols}" for rows, cols in ((64, 64), (128, 64), (128, 128))]
TALL = ["TILE_ROWS=256 TILE_COLS=128"]  # for tensor cores


IM2COL = ["TO_PATCHES", "TO_GROUPS", "COL2IM", "FROM_GROUPS KIND=Forward", "FROM_GROUPS KIND=FilterGradient"]
DEPTHWISE = (  # batch, rows and columns, channels, filter, stride, dilation
    (8, 112, 32, (3, 3, 1, 32), 1, 1),
    (1, 112, 32, (3, 3, 1, 32), 1, 1),
    (8, 112, 64, (3, 3, 1, 64), 2, 1),
    (8, 28, 256, (3, 3, 1, 256), 2, 1),
    (8, 100, 48, (5, 5, 1, 48), 1, 1),
    (1, 100, 48, (5, 5, 1, 48), 1, 1),
    (1, 10, 24, (7, 7, 1, 24), 1, 1),
    (64, 28, 96, (7, 7, 1, 96), 2, 1),
    (8, 56, 64, (1, 7, 1, 64), 2, 1),
    (8, 56, 64, (3, 3, 1, 64), 1, 2),
    (1, 10, 64, (3, 3, 1, 64), 1, 1),
    (64, 33, 33, (3, 3, 1, 33), 1, 1),
    # of the small cases
    (1, 1, 1, (1, 1, 1, 1), 1, 1),
    (1, 6, 5, (3, 3, 1, 5), 1, 1),
    (1, 8, 19, (3, 3, 1, 19), 2, 1),
    (1, 9, 4, (3, 3, 1, 8), 2, 2),
    (1, 6, 4, (2, 3, 1, 8), 1, 1),
)
WINOGRAD = ["TRANSFORM_FILTER", "TRANSFORM_INPUT", *(f"TRANSFORM_OUTPUT {kind}" for kind in KINDS_OF[:2])]
WINOGRAD_DW = ["TRANSFORM_INPUT TILE=2 OF_GRADIENT", f"TRANSFORM_SUMS {KINDS_OF[2]} TILE=2"]


WGMMA = [
    f"TILE_ROWS={tile.rows} TILE_COLS={tile.cols} STAGES={tile.stages} BLOCKS={tile.blocks}"
    for tile in wgmma.TILES
]


def each(kinds, variants, end=""):
    return [f"{kind} {variant}{end}" for variant in variants for kind in kinds]


def depthwise(dtype):
    """The macros of depthwise, which come from the shapes: those of the layers above."""
    found = {}
    for batch, size, channels, filters, stride, dilation in DEPTHWISE:
        g = conv2d_geometry((batch, size, size, channels), filters, stride, "SAME", dilations=dilation)
        for kind in KINDS:
            scheduled = ladder.schedule(kind, g, dtype, "depthwise", None, False, False)
            found[" ".join(scheduled.steps[0].kernel.defines)] = g
    return list(found)


VARIANTS = {  # how each source may be compiled: (dtypes, other macros)
    "direct.cu": [(FLOATS + INTEGERS, KINDS_OF)],
    "add_splits.cu": [(FLOATS, KINDS_OF)],
    "im2col.cu": [(FLOATS, IM2COL)],
    "tiled.cu": [(FLOATS, KINDS_OF[:1])],
    "registers.cu": [(FLOATS, KINDS_OF[:1])],
    "depthwise.cu": [((dtype,), depthwise(dtype)) for dtype in FLOATS],
    "implicit_gemm.cu": [(FLOATS[:3], each(KINDS_OF, TILES)), (("float64",), each(KINDS_OF, TILES[:1]))],
    "tensor_gemm.cu": [(FLOATS[:3], each(KINDS_OF, TILES))],
    "pipelined_gemm.cu": [
        (FLOATS[:3], each(KINDS_OF, TILES[1:])),
        (FLOATS[:2], each(KINDS_OF, TALL)),
        (("float32",), each(KINDS_OF, TILES[1:] + TALL, " TF32")),
    ],
    "wgmma_gemm.cu": [
        (FLOATS[:2], each([f"WGMMA_GEMM {kind}" for kind in KINDS_OF], WGMMA)),
        (("float32",), each([f"WGMMA_GEMM {kind}" for kind in KINDS_OF[:2]], WGMMA)),
        (("float32",), ["ARRANGE_FILTER"]),
    ],
    "winograd.cu": [(FLOATS, each(WINOGRAD, ["TILE=2", "TILE=4"]) + WINOGRAD_DW)],
}
# the oldest cards that NVRTC knows, and those that a large machine has; TF32 and bfloat16 on tensor cores, and
# asynchronous copies, need sm_80
ARCHS = (75, 80, 90, 100)
ALL = [
    (file, dtype, tuple(defines.split()))
    for file, groups in VARIANTS.items()
    for dtypes, variants in groups
    for dtype in dtypes
    for defines in variants
]


def runs_on(file, dtype, arch):
    """Whether the ladder uses a source on a card; one that is no rung by itself runs on all."""
    tf32 = dtype == "float32" and file in ("tensor_gemm.cu", "wgmma_gemm.cu")
    algorithm = Path(file).stem + ("_tf32" if tf32 else "")
    is_rung = any(rung.name == algorithm for rung in ladder.ALGORITHMS)
    return not (is_rung and ladder.lacks(algorithm, dtype, arch))
