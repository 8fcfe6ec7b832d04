"""Every CUDA source compiles for every dtype it is used with, for four generations, without a warning. No GPU is needed."""

import hashlib
from functools import lru_cache

import pytest
from cuda_compilers import NVCC, Nvrtc, compile_by_nvcc, find_nvrtc
from cuda_variants import ALL, VARIANTS

from teachconv.backends.cuda import ladder, launches, sources
from teachconv.backends.planes import flat_geometry
from teachconv.core.geometry import conv2d_geometry
from teachconv.core.kinds import KINDS
from teachconv.running.nn_ops import call_of
from teachconv.verification.cases import find_cases

pytestmark = pytest.mark.xdist_group("cuda")


@lru_cache(maxsize=1)
def nvrtc():
    found = find_nvrtc()
    return None if found is None else Nvrtc(found)


def compile_source(text, file, dtype, defines, arch):
    options = [*sources.defines(dtype, defines), f"-arch={arch}{sources.arch_suffix(file)}"]
    if nvrtc() is not None:
        return nvrtc().compile(text, file, options)
    return compile_by_nvcc(text, file, options)


needs_a_compiler = pytest.mark.skipif(
    find_nvrtc() is None and NVCC is None,
    reason="needs nvcc, or pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-crt",
)


def firsts():
    """The first variant of each source; test_cuda_machine_code.py compiles all of them for all cards."""
    return [next(entry for entry in ALL if entry[0] == file) for file in VARIANTS]


@needs_a_compiler
@pytest.mark.parametrize(("file", "dtype", "defines"), firsts(), ids=list(VARIANTS))
def test_compiles_without_a_warning(file, dtype, defines):
    succeeded, log = compile_source(sources.source_text(file), file, dtype, defines, "sm_90")
    assert succeeded, log
    assert log == ""


@pytest.mark.slow
@pytest.mark.skipif(NVCC is None, reason="nvcc is not on the path")
@pytest.mark.parametrize("file", VARIANTS)
def test_nvcc_compiles_without_a_warning(file):
    _, dtype, defines = next(entry for entry in ALL if entry[0] == file)
    arch = "90a" if sources.arch_suffix(file) else "80"
    gencode = [
        f"-gencode=arch=compute_{arch},code=sm_{arch}",
        "-Xptxas=-warn-spills",
        *sources.defines(dtype, defines),
    ]
    succeeded, log = compile_by_nvcc(sources.source_text(file), file, gencode)
    assert succeeded, log
    assert log == ""


@pytest.mark.slow
@pytest.mark.skipif(NVCC is None, reason="nvcc is not on the path")
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_nvcc_compiles_what_sequences_and_volumes_run(arch):
    """The rung that takes every rank: one row, or the planes of a volume as channels."""
    seen = set()
    for case in (*find_cases("1d"), *find_cases("3d")):
        for problem in case.problems():
            call, _ = call_of(problem.op, problem.args, problem.kwargs)
            flat = flat_geometry(call.kind, call.geometry)
            if 0 not in (*flat.input_shape, *flat.output_shape, *flat.filters_shape):
                steps = ladder.schedule(call.kind, flat, "float32", "direct", None, False, False).steps
                seen |= {step.kernel.defines for step in steps}
    assert seen == {("KIND=Forward",), ("KIND=InputGradient",), ("KIND=FilterGradient",)}
    for defines in sorted(seen):
        options = [*sources.defines("float32", defines), f"-arch={arch}", "-Xptxas=-warn-spills"]
        succeeded, log = compile_by_nvcc(sources.source_text("direct.cu"), "direct.cu", options)
        assert succeeded, log
        assert log == ""


@needs_a_compiler
def test_a_warning_and_an_error_are_found():
    text = sources.source_text("direct.cu")
    for bad in ("__device__ void f() { int unused; }", "__device__ int f() { return x; }"):
        succeeded, log = compile_source(text + bad, "direct.cu", "float32", ("KIND=Forward",), "sm_80")
        assert not succeeded or log
        assert "direct.cu" in log  # the #line directives hold


def test_every_source_is_compiled():
    assert set(VARIANTS) == {path.name for path in sources.FOLDER.glob("*.cu")}


def test_schedules_use_what_is_compiled():
    """Everything that the ladder compiles for the cases and for large layers is in the list above."""
    geometries = [
        conv2d_geometry((batch, size, size, channels), (k, k, channels, outs), stride, "SAME")
        for batch in (1, 64)
        for size, channels, k, outs, stride in (
            (224, 3, 7, 64, 2),
            (56, 64, 1, 256, 1),
            (14, 256, 3, 256, 1),
            (7, 512, 3, 512, 1),
        )
    ]
    for case in find_cases("small"):
        for problem in case.problems():
            call, _ = call_of(problem.op, problem.args, problem.kwargs)
            if call.first.size and call.second.size and 0 not in call.backend_shape:
                geometries.append(call.geometry)
    seen = set()
    for g in geometries:
        for algorithm in ladder.ALGORITHMS:
            for dtype in algorithm.dtypes:
                for kind in KINDS:
                    if algorithm.fits(kind, dtype, g):
                        scheduled = ladder.schedule(kind, g, dtype, algorithm.name, None, False, False)
                        seen |= {step.kernel for step in scheduled.steps if isinstance(step, launches.Launch)}
    assert {(kernel.file, kernel.dtype, tuple(kernel.defines)) for kernel in seen} <= set(ALL)
    assert {(kernel.file, kernel.name) for kernel in seen} == {
        (file, name) for file in VARIANTS for name in sources.kernel_names(file)
    }


@pytest.mark.parametrize(
    "folders",
    [("cu13",), ("cuda_runtime", "cuda_nvcc")],
    ids=["as-CUDA-13-packs-them", "as-CUDA-12-packs-them"],
)
def test_headers_from_packages_are_found(tmp_path, monkeypatch, folders):
    for name in sources._HEADERS:
        folder = folders[-1] if "crt" in name else folders[0]
        path = tmp_path / "nvidia" / folder / "include" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    for name in ("CUDA_PATH", "CUDA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    want = tuple(str(tmp_path / "nvidia" / folder / "include") for folder in folders)
    assert sources._header_places.__wrapped__()[0][1] == want
    (tmp_path / "nvidia" / folders[-1] / "include" / "crt" / "mma.h").unlink()
    assert want not in [folders for _, folders in sources._header_places.__wrapped__()]


def test_the_tables_of_the_page_belong_to_these_sources():
    """Without a compiler only the digest can be compared; test_cuda_machine_code.py makes the tables again."""
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(sources.FOLDER.glob("*.cu*")))
    page = sources.FOLDER.parents[2] / "docs" / "gpu_tables.inc"
    if not page.exists():
        pytest.skip("installed without the documentation")
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    assert f"from sources {digest};" in page.read_text(encoding="utf-8"), "run python docs/gpu_tables.py"


def test_nothing_is_added_atomically_and_assembly_has_one_place():
    """Results are repeatable without atomics; what CUDA C++ has no function for is in two small files."""
    for path in sources.FOLDER.glob("*.cu*"):
        text = path.read_text()
        assert "atomic" not in text.replace("added atomically", "")
        assert ("asm" in text) == (path.name in ("instructions.cuh", "hopper.cuh"))
        assert text.startswith("/* "), f"{path.name} opens with what it is"
