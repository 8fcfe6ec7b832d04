"""Budgets on the machine code of the kernels: no spills, registers that fit, and few instructions beside the arithmetic."""

import importlib.util
from pathlib import Path

import cuda_machine_code as machine
import cuda_variants as compiled
import pytest
from cuda_compilers import Nvrtc, find_nvrtc

import teachconv as tc
from teachconv.backends.cuda import gemm, sources
from teachconv.backends.cuda.job import Job
from teachconv.kinds import FILTER_GRADIENT, FORWARD, INPUT_GRADIENT

DOCS = Path(tc.__file__).parents[1] / "docs"
KINDS = {
    "KIND=Forward": FORWARD,
    "KIND=InputGradient": INPUT_GRADIENT,
    "KIND=FilterGradient": FILTER_GRADIENT,
}
LARGE = ("TILE_ROWS=128", "TILE_COLS=128")
needs_nvrtc = pytest.mark.skipif(find_nvrtc() is None, reason="needs pip install nvidia-cuda-nvrtc")
needs_nvdisasm = pytest.mark.skipif(
    machine.find_nvdisasm() is None, reason="needs pip install nvidia-cuda-nvdisasm"
)
pytestmark = [pytest.mark.slow, needs_nvrtc]


def script():
    """Import docs/gpu_tables.py."""
    spec = importlib.util.spec_from_file_location("gpu_tables", DOCS / "gpu_tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def binary(file, dtype, defines, arch):
    options = [*sources.defines(dtype, defines), f"-arch=sm_{arch}", "-std=c++17"]
    cubin, log = Nvrtc(find_nvrtc()).binary(sources.source_text(file), file, options)
    assert cubin, log
    assert log == ""
    return cubin


@pytest.mark.parametrize("arch", compiled.ARCHS)
@pytest.mark.parametrize("file", compiled.VARIANTS)
def test_every_variant_fits_and_spills_nothing(file, arch):
    for name, dtype, defines in compiled.ALL:
        if name == file and compiled.runs_on(file, dtype, arch):
            for kernel, taken in machine.resources(binary(file, dtype, defines, arch)).items():
                assert taken.stack == 0, (kernel, dtype, defines, taken)
                assert 0 < taken.registers * machine.THREADS <= machine.REGISTERS, (
                    kernel,
                    dtype,
                    defines,
                    taken,
                )
                assert taken.shared <= 48 << 10, (kernel, dtype, defines, taken)


def shared_of(kind, dtype):
    """The shared memory that the launches of pipelined_gemm ask for."""
    job = Job(kind, tc.conv2d_geometry((8, 28, 28, 256), (3, 3, 256, 256)), dtype, None, 0)
    gemm.pipelined_gemm(job)
    return job.steps[0].shared


@needs_nvdisasm
@pytest.mark.parametrize("arch", [80, 90])
@pytest.mark.parametrize("kind", KINDS)
def test_pipelined_gemm_keeps_the_tensor_cores_busy(kind, arch):
    """On sm_80 a scheduler issues 8 instructions while its tensor core works on one HMMA.

    The compiler loads fragments of bfloat16 with more and smaller instructions than those of float16.
    """
    for dtype, most in (("float16", 8), ("bfloat16", 11)):
        cubin = binary("pipelined_gemm.cu", dtype, (kind, *LARGE), arch)
        loop = machine.main_loop(machine.disassemble(cubin), "pipelined_gemm")
        assert loop.counts["HMMA"] == 32
        assert loop.instructions <= most * loop.counts["HMMA"]
        assert set(loop.loads) == {16}
        taken = machine.resources(cubin)["pipelined_gemm"]
        blocks = machine.blocks_per_multiprocessor(
            arch, taken.registers, taken.shared + shared_of(KINDS[kind], dtype)
        )
        assert blocks == 2


@needs_nvdisasm
@pytest.mark.parametrize("arch", [80, 90])
@pytest.mark.parametrize("kind", KINDS)
def test_the_float32_rung_multiplies_and_adds(kind, arch):
    cubin = binary("pipelined_gemm.cu", "float32", (kind, *LARGE), arch)
    loop = machine.main_loop(machine.disassemble(cubin), "pipelined_gemm")
    assert loop.operation == "FFMA"
    assert loop.share >= 0.8
    assert set(loop.loads) == {16}


@needs_nvdisasm
def test_the_tables_of_the_page_are_up_to_date():
    """If this fails, run: python docs/gpu_tables.py"""
    tables = script()
    assert tables.TARGET.read_text(encoding="utf-8") == tables.tables()


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
