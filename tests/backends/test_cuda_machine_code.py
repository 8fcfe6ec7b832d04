"""Budgets on the machine code of the kernels: no spills, registers that fit, and few instructions beside the arithmetic."""

import importlib.util
import re
from itertools import product
from pathlib import Path

import cuda_machine_code as machine
import cuda_variants as compiled
import pytest
from cuda_compilers import Kept, find_nvrtc

import teachconv as tc
from teachconv.backends.cuda import gemm, ladder, sources, wgmma
from teachconv.backends.cuda.job import Job
from teachconv.core.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT

DOCS = Path(tc.__file__).parents[1] / "docs"
KINDS = {
    "KIND=Forward": FORWARD,
    "KIND=InputGradient": INPUT_GRADIENT,
    "KIND=FilterGradient": FILTER_GRADIENT,
}
needs_nvrtc = pytest.mark.skipif(find_nvrtc() is None, reason="needs pip install nvidia-cuda-nvrtc")
needs_nvdisasm = pytest.mark.skipif(
    machine.find_nvdisasm() is None, reason="needs pip install nvidia-cuda-nvdisasm"
)
pytestmark = [pytest.mark.xdist_group("cuda"), pytest.mark.slow, needs_nvrtc]


# These take long, and the other architecture has the same variants, so they are compiled before a release only.
# Every source is still compiled for both each time: test_the_tables_of_the_page_are_up_to_date compiles some variants
# of the slowest ones.
RARELY = {
    ("implicit_gemm.cu", 90),
    ("tensor_gemm.cu", 80),
    ("KIND=InputGradient", 90),
    ("KIND=FilterGradient", 80),
}


def with_archs(found, *names):
    """Each name with each architecture: sm_80 and sm_90 are compiled for each time, the others before a release."""
    return [
        pytest.param(*pair, marks=[pytest.mark.release] * (pair[-1] not in (80, 90) or pair in RARELY))
        for pair in product(*names, found)
    ]


def script():
    """Import docs/gpu_tables.py."""
    spec = importlib.util.spec_from_file_location("gpu_tables", DOCS / "gpu_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def nvrtc(kernel_folder):
    """The compiler; what one test has compiled, the others find."""
    return Kept(kernel_folder)


def binary(nvrtc, file, dtype, defines, arch):
    suffix = sources.arch_suffix(file)
    options = [*sources.defines(dtype, defines), f"-arch=sm_{arch}{suffix}", "-std=c++17"]
    cubin, log = nvrtc.binary(sources.source_text(file), file, options)
    assert cubin, log
    assert log == ""
    return cubin


@pytest.mark.parametrize(("file", "arch"), with_archs(compiled.ARCHS, compiled.VARIANTS))
def test_every_variant_fits_and_spills_nothing(file, arch, nvrtc):
    for name, dtype, defines in compiled.ALL:
        if name == file and compiled.runs_on(file, dtype, arch):
            (taken,) = machine.resources(binary(nvrtc, file, dtype, defines, arch)).values()
            case = file, dtype, defines, taken
            assert taken.stack == 0, case
            assert 0 < taken.registers * machine.THREADS <= machine.REGISTERS, case
            assert taken.shared <= 48 << 10, case


def shared_of(dtype, defines):
    """The shared memory that the launches of pipelined_gemm ask for, with a size of tile."""
    rows, cols = (int(define.split("=")[1]) for define in defines[1:3])
    g = tc.conv2d_geometry((8, 28, 28, cols), (3, 3, cols, cols))
    job = Job(KINDS[defines[0]], g, dtype, None, 0)
    gemm.pipelined_gemm(job, defines[3:], rows)
    assert job.steps[0].kernel.defines == defines
    return job.steps[0].shared


PIPELINED = [entry[1:] for entry in compiled.ALL if entry[0] == "pipelined_gemm.cu"]
TALL = [entry for entry in PIPELINED if "TILE_ROWS=256" in entry[1]]
ON_TENSOR_CORES = [entry for entry in PIPELINED if entry[0] != "float32" or "TF32" in entry[1]]


def names(value):
    """Name a test by a dtype or by macros."""
    return value if isinstance(value, str) else "-".join(value)


@pytest.mark.parametrize("arch", with_archs([80, 90, 100]))
@pytest.mark.parametrize(("dtype", "defines"), [entry for entry in PIPELINED if entry not in TALL], ids=names)
def test_two_blocks_of_pipelined_gemm_share_a_multiprocessor(dtype, defines, arch, nvrtc):
    """By the registers of their threads and by their shared memory, dynamic and static."""
    taken = machine.resources(binary(nvrtc, "pipelined_gemm.cu", dtype, defines, arch))["pipelined_gemm"]
    assert taken.registers <= 128
    shared = taken.shared + shared_of(dtype, defines)
    assert machine.blocks_per_multiprocessor(arch, taken.registers, shared) == 2


@pytest.mark.parametrize("arch", [80, 86, 89, 90])
@pytest.mark.parametrize(("dtype", "defines"), TALL, ids=names)
def test_a_block_with_256_rows_fits_on_every_card(dtype, defines, arch, nvrtc):
    """Also on cards with 99 KiB for a block; its 128 sums a thread stay in registers."""
    taken = machine.resources(binary(nvrtc, "pipelined_gemm.cu", dtype, defines, arch))["pipelined_gemm"]
    assert (taken.stack, taken.registers <= 255) == (0, True)
    shared = taken.shared + shared_of(dtype, defines)
    assert machine.blocks_per_multiprocessor(arch, taken.registers, shared) == 1


def test_the_budgets_below_are_for_all_tiles_that_are_chosen():
    chosen = set()
    for algorithm, dtypes in (
        ("pipelined_gemm", ("float16", "bfloat16")),
        ("pipelined_gemm_float32", ("float32",)),
    ):
        for channels in range(8, 520, 8):
            for size in (1, 7, 112):
                g = tc.conv2d_geometry((2, size, size, channels), (3, 3, channels, 520 - channels), 1, "SAME")
                for kind, dtype, arch in product(KINDS.values(), dtypes, (80, 90)):
                    step = ladder.schedule(kind, g, dtype, algorithm, None, False, False, arch).steps[0]
                    assert arch == 80 or "TILE_ROWS=128" in step.kernel.defines
                    chosen.add((dtype, step.kernel.defines))
    assert chosen == {variant for variant in PIPELINED if "TF32" not in variant[1]}


@pytest.mark.parametrize(("kind", "arch"), with_archs([80, 90, 100], KINDS))
def test_offsets_of_64_bits_spill_nothing_either(kind, arch, nvrtc):
    large = tc.conv2d_geometry((64, 512, 512, 128), (3, 3, 128, 128), 1, "SAME")
    for dtype, more in (("float32", ()), ("float32", ("TF32",)), ("float16", ()), ("bfloat16", ())):
        job = Job(KINDS[kind], large, dtype, None, 0)
        gemm.pipelined_gemm(job, more)
        kernel = job.finish("", "").steps[0].kernel
        assert "WIDE" in kernel.defines
        (taken,) = machine.resources(binary(nvrtc, "pipelined_gemm.cu", dtype, kernel.defines, arch)).values()
        assert taken.stack == 0, (kernel, taken)


@needs_nvdisasm
@pytest.mark.parametrize("arch", [80, 90])
@pytest.mark.parametrize(("dtype", "defines"), ON_TENSOR_CORES, ids=names)
def test_pipelined_gemm_keeps_the_tensor_cores_busy(dtype, defines, arch, nvrtc):
    """On sm_80 a scheduler issues 8 instructions while its tensor core works on one HMMA."""
    cubin = binary(nvrtc, "pipelined_gemm.cu", dtype, defines, arch)
    loop = machine.main_loop(nvrtc.text(cubin), "pipelined_gemm")
    assert loop.counts["HMMA"] == (64 if (dtype, defines) in TALL else 32)
    assert loop.macs == (1024 if "TF32" in defines else 2048)
    assert loop.instructions <= 8 * loop.counts["HMMA"]
    assert set(loop.loads) == {16}


@needs_nvdisasm
@pytest.mark.parametrize(("dtype", "defines"), PIPELINED, ids=names)
def test_pipelined_gemm_stores_16_bytes(dtype, defines, nvrtc):
    """Beside two stores of its own for a cell that is computed again and its count, and what is said below."""
    stores = re.findall(r"STG\.E\S*", nvrtc.text(binary(nvrtc, "pipelined_gemm.cu", dtype, defines, 90)))
    wide = stores.count("STG.E.128")
    rows, cols = (int(define.split("=")[1]) for define in defines[1:3])
    sums = rows * cols // machine.THREADS  # of a thread
    if defines[0] == "KIND=FilterGradient" and "TF32" in defines:  # no register is left for more
        assert (wide, len(stores) - wide) == (0, 2 * sums + 2)
    elif (dtype, defines) in ON_TENSOR_CORES:
        # partial sums by four, of which halves have two
        assert (wide, len(stores) - wide) == (3 if dtype != "float32" else 2, 2)
    elif "KIND=InputGradient" in defines:  # 8 neighbouring lanes store 32 bytes
        assert (wide, len(stores) - wide) == (0, 2 * sums + 2)
    elif "KIND=Forward" in defines:  # partial sums singly: four registers in a row would leave too few others
        assert (wide, len(stores) - wide) == (sums // 4, sums + 2)
    else:
        assert (wide, len(stores) - wide) == (sums // 2, 2)


@needs_nvdisasm
@pytest.mark.parametrize("arch", [80, 90])
@pytest.mark.parametrize(
    "defines", [entry[1] for entry in PIPELINED if entry not in ON_TENSOR_CORES], ids=names
)
def test_the_float32_rung_multiplies_and_adds(defines, arch, nvrtc):
    """In the filter gradient a chunk is unrolled, otherwise it is multiplied in a loop of 4 rounds."""
    cubin = binary(nvrtc, "pipelined_gemm.cu", "float32", defines, arch)
    rounds = 1 if "KIND=FilterGradient" in defines else 4
    loop = machine.main_loop(nvrtc.text(cubin), "pipelined_gemm", rounds)
    assert (loop.operation, loop.counts["FFMA"]) == ("FFMA", 1024)
    assert loop.share >= 0.8
    assert set(loop.loads) == {16}


@needs_nvdisasm
@pytest.mark.parametrize("tile", wgmma.TILES, ids=lambda tile: f"{tile.rows}x{tile.cols}")
@pytest.mark.parametrize(
    ("dtype", "kind"),
    [
        ("float16", "Forward"),
        ("bfloat16", "InputGradient"),
        ("float16", "FilterGradient"),
        ("float32", "Forward"),
    ],
)
def test_wgmma_gemm_begins_all_products_of_a_chunk_at_once(dtype, kind, tile, nvrtc):
    """HGMMA, 4 steps of 64 x 64 or 64 x 128, for which the compiler waits once; and as many blocks as planned fit."""
    job = Job(KINDS[f"KIND={kind}"], tc.conv2d_geometry((8, 28, 28, 128), (3, 3, 128, 128)), dtype, None, 0)
    wgmma.wgmma_gemm(job, tile, 1)
    step = job.steps[-1]
    cubin = binary(nvrtc, "wgmma_gemm.cu", dtype, step.kernel.defines, 90)
    (taken,) = machine.resources(cubin).values()
    assert machine.blocks_per_multiprocessor(90, taken.registers, step.shared + taken.shared) >= tile.blocks
    products = re.findall(r"HGMMA\.64x(64|128)x\d+\S* .*;", nvrtc.text(cubin))
    assert len(products) == 4 * tile.rows // 128 * max(1, tile.cols // 128)
    assert set(products) == {str(min(tile.cols, 128))}
    loop = nvrtc.text(cubin).split("HGMMA", 1)[1].rsplit("HGMMA", 1)[0]
    assert "WARPGROUP.DEPBAR" not in loop


def test_sums_that_are_read_too_early_are_said(nvrtc):
    """The compiler then waits for products itself, and says so: a variant without a remark reads none too early."""
    wait = "    wait_for_products<0>();\n"
    assert sources.source_text("wgmma_gemm.cu").count(wait) == 1
    text = sources.source_text("wgmma_gemm.cu").replace(wait, "")
    _, dtype, defines = next(entry for entry in compiled.ALL if entry[0] == "wgmma_gemm.cu")
    options = [*sources.defines(dtype, defines), "-arch=sm_90a", "-std=c++17"]
    assert "wgmma.wait_group is injected" in nvrtc.binary(text, "wgmma_gemm.cu", options)[1]


@needs_nvdisasm
@pytest.mark.parametrize("arch", [80, 90])
def test_depthwise_loads_the_numbers_of_a_row_once(arch, nvrtc):
    """A row of 3 taps and 4 outputs: 6 inputs and 3 weights instead of 12 of each; 4 channels a load."""
    g = tc.conv2d_geometry((8, 112, 112, 32), (3, 3, 1, 32), 1, "SAME")
    for kind, loads, products in ((FORWARD, 6 + 3, 4 * 3), (FILTER_GRADIENT, 4 + 3 * 6, 4 * 9)):
        kernel = ladder.schedule(kind, g, "float32", "depthwise", None, False, False).steps[0].kernel
        loop = machine.main_loop(
            nvrtc.text(binary(nvrtc, kernel.file, "float32", kernel.defines, arch)), kernel.name
        )
        assert (loop.counts["FFMA"], loop.loads) == (4 * products, (16,) * loads)


@needs_nvdisasm
def test_the_tables_of_the_page_are_up_to_date(nvrtc):
    """If this fails, run: python docs/gpu_tables.py"""
    tables = script()
    assert tables.TARGET.read_text(encoding="utf-8") == tables.tables(nvrtc)


def test_a_loop_is_found_in_the_text():
    text = """
.text.kernel:
        /*0000*/                   MOV R1, c[0x0][0x28] ;
.L_x_1:
        /*0010*/                   LDG.E.128 R4, [R2] ;
.L_x_2:
        /*0020*/                   IADD3 R5, R5, 0x1, RZ ;
        /*0030*/              @!P0 BRA `(.L_x_2) ;
        /*0040*/                   FFMA R6, R4, R5, R6 ;
        /*0050*/               @P1 BRA `(.L_x_1) ;
.L_x_3:
        /*0060*/                   BRA `(.L_x_3);
"""
    loop = machine.main_loop(text, "kernel")
    assert (loop.operation, loop.instructions, loop.loads) == ("FFMA", 5, (16,))
    assert loop.share == 0.2
    inner = text.replace("IADD3 R5, R5, 0x1, RZ", "HMMA.1688.F32.TF32 R8, R4, R5, R8")
    loop = machine.main_loop(inner, "kernel")
    assert (loop.operation, loop.instructions, loop.macs, loop.loads) == ("HMMA", 2, 1024, ())
    loop = machine.main_loop(inner, "kernel", 3)
    assert (loop.counts["HMMA"], loop.instructions, loop.loads) == (3, 9, (16,))
