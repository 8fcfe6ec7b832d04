"""The C programs of benchmarks/play: each rung is checked and timed without Python, as make kernels-play does."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from teachconv.backends import cython_backend

ROOT = Path(__file__).parent.parent.parent
PLAY, KERNELS = ROOT / "benchmarks" / "play", ROOT / "teachconv" / "backends" / "kernels"
MINGW = "x86_64-w64-mingw32-gcc-posix"
WINE = shutil.which("wine64") or "/usr/lib/wine/wine64"  # where Debian's package wine64 has it
PROGRAMS = sorted(path.stem for path in PLAY.glob("*.c") if path.stem != "ceilings")
# size in_channels out_channels filter stride batch
LAYERS = {
    "depthwise": "9 5 10 3 2 2",
    "depthwise_filter": "9 16 16 3 2 2",
    "depthwise_input": "9 16 16 3 2 2",
    "one_channel": "9 1 33 3 2 2",
    "winograd": "7 5 3 5 1 2",
    "winograd2": "7 5 3 3 1 2",
    "winograd4": "7 5 3 3 1 2",
    "col2im": "9 2 5 3 2 2",
}

pytestmark = [
    pytest.mark.xdist_group("play"),
    pytest.mark.skipif(
        shutil.which("cc") is None or not PLAY.is_dir(), reason="needs a C compiler and a checkout"
    ),
]


def compiled(source, to, compiler="cc", options=("-O0", "-march=native")):
    """Compile a program as make kernels-play does, without optimisation and for a shorter time."""
    flags = [*options, "-pthread", "-DPLAY_MICROSECONDS=1", f"-I{KERNELS}", f"-I{PLAY}"]
    command = [compiler, *flags, source, KERNELS / "process.c", KERNELS / "crew.c", "-o", to, "-lm"]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return to


def run(program, *words, **options):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=60, **options)


@pytest.fixture(scope="module")
def source_together(tmp_path_factory):
    """All programs as one, whose first argument says which to run: the kernels, which each includes, compile once."""
    folder = tmp_path_factory.mktemp("play")
    wrong = (PLAY / "row_gemm.c").read_text().replace("w, want", "x, want")
    wrong = wrong.replace("    /* right? */", "    w[3] += 1;\n    /* right? */")
    (folder / "wrong_row_gemm.c").write_text(wrong)
    paths = [*sorted(PLAY.glob("*.c")), folder / "wrong_row_gemm.c"]
    lines = [f'#define main {path.stem}_main\n#include "{path}"\n#undef main' for path in paths]
    lines += ["int main(int argc, char **argv) {"]
    for path in paths:
        arguments = "" if "main(void)" in path.read_text() else "argc - 1, argv + 1"
        lines += [
            f'    if (argc > 1 && !strcmp(argv[1], "{path.stem}")) return {path.stem}_main({arguments});'
        ]
    (folder / "together.c").write_text("\n".join([*lines, "    return 3;", "}", ""]))
    return folder / "together.c"


@pytest.fixture(scope="module")
def together(source_together):
    return compiled(source_together, source_together.with_suffix(""))


def check_output(name, done):
    """A program says of its rung, and of the rung with a packed filter, that it is right."""
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        assert re.fullmatch(
            rf"{name}(, packed)? +\d x \d, \d+ to \d+ channels: right, \S+ us, \S+ GFLOP/s", line
        )
    assert len(done.stdout.splitlines()) == 1 + ("_pack(" in (PLAY / f"{name}.c").read_text())


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_rung_without_python(name, together):
    check_output(name, run(together, name, *LAYERS.get(name, "9 5 7 3 2 2").split()))
    assert run(together, name, "0", "1").returncode == 2


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which(MINGW) is None or not os.access(WINE, os.X_OK),
    reason=f"needs {MINGW} and wine64, which make windows installs",
)
@pytest.mark.parametrize("isa", ["-msse2", "-march=haswell", "-march=skylake-avx512"])
def test_rungs_on_windows(isa, source_together, tmp_path):
    """By Wine, as setup.py compiles for Windows: the stack is aligned for 16 bytes only, a long has 32 bits."""
    flag = {"-march=haswell": "avx2", "-march=skylake-avx512": "avx512bw"}.get(isa, "")
    if flag not in Path("/proc/cpuinfo").read_text():
        pytest.skip(f"this processor runs no program of {isa}")
    options = ["-O2", isa, "-static", "-Wa,-muse-unaligned-vector-move"]
    program = compiled(source_together, tmp_path / "together.exe", MINGW, options)
    home = {"WINEPREFIX": str(tmp_path / "wine"), "WINEDLLOVERRIDES": "mscoree=;mshtml=", "WINEDEBUG": "-all"}
    subprocess.run([WINE, "wineboot", "--init"], env=os.environ | home, capture_output=True, timeout=120)
    # wineboot may return before what it started has written the folder of Windows
    server = Path(WINE).with_name("wineserver64")
    if server.exists():
        subprocess.run([server, "-w"], env=os.environ | home, timeout=120)
    for name in PROGRAMS:
        words = LAYERS.get(name, "9 5 7 3 2 2").split()
        check_output(name, run(WINE, program, name, *words, env=os.environ | home))


@pytest.mark.slow
def test_a_program_compiles_by_itself(tmp_path):
    """As make kernels-play compiles it; all have the same include, and no other."""
    for path in PLAY.glob("*.c"):
        assert re.findall("^#include.*", path.read_text(), re.M) == ['#include "play.h"']
    done = run(compiled(PLAY / "row_gemm.c", tmp_path / "row_gemm"), "9", "5", "7", "3")
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 2), done.stderr


def test_the_ceilings_of_the_machine(together):
    lines = [
        re.fullmatch(r"(.*): (\S+) (G\S+)", line) for line in run(together, "ceilings").stdout.splitlines()
    ]
    assert [line[3] for line in lines] == ["GFLOP/s", "GB/s", "GB/s", "GB/s"]
    assert all(float(line[2]) > 0 for line in lines)


def test_a_wrong_kernel_is_seen(together):
    done = run(together, "wrong_row_gemm", "9", "5", "7", "3", "2", "2")
    assert done.returncode == 1
    assert re.match(r"row_gemm: cell \d+ is .*, the plain loops give ", done.stderr)


ONE_THREAD = """
#define run_crew no_crew
#include "play.h"
int no_crew(int threads, crew_work work, const void *call) {
    fprintf(stderr, "a crew of %d threads\\n", threads), exit(1);
}
int main(void) {
    for (int channels = 1; channels <= 33; channels += 32)
        for (int depthwise = 0; depthwise < 2; depthwise++) {
            const conv_problem p = layer_from(1, NULL, 9, channels, channels, 3, 1, depthwise);
            real *x = integers(x_count(&p)), *y = integers(y_count(&p)), *w = integers(w_count(&p));
            int status = phases_run(&p, y, w, NULL, NULL, 0, x, 1) | pixel_gemm_run(&p, x, y, w, 1)
                         | small_layer_or_row_gemm_run(&p, x, w, NULL, NULL, 0, y, 1);
            if (p.groups == 1)
                status |= winograd_run(&p, x, w, NULL, NULL, 0, y, 1) | col2im_run(&p, y, w, NULL, NULL, 0, x, 1);
            if (depthwise)
                status |= depthwise_run(&p, x, w, NULL, NULL, 0, y, 1) | depthwise_filter_run(&p, x, y, w, 1)
                          | depthwise_input_run(&p, y, w, NULL, NULL, 0, x, 1);
            if (status) return status;
        }
    return 0;
}
"""


@pytest.mark.slow
def test_one_thread_gathers_no_crew(tmp_path):
    """Gathering one takes about a microsecond; a small call takes a few."""
    source = tmp_path / "one_thread.c"
    source.write_text(ONE_THREAD)
    done = run(compiled(source, tmp_path / "one_thread"))
    assert (done.returncode, done.stderr) == (0, "")


SCRATCH = """
#define new_scratch counted_scratch
#define free_scratch free
#include "play.h"
static ptrdiff_t most = 0, filter_bytes = 0;
void *counted_scratch(ptrdiff_t bytes) {
    if (bytes > most && bytes != filter_bytes) most = bytes;
    return aligned_alloc(64, (size_t)(bytes + 127) / 64 * 64);
}
int main(int argc, char **argv) {
    const conv_problem p = layer_from(argc, argv, 28, 288, 224, 3, 1, 0);
    real *x = integers(x_count(&p)), *y = integers(y_count(&p)), *w = integers(w_count(&p));
    most = 0, filter_bytes = winograd_packed_bytes(&p);
    int status = winograd_run(&p, x, w, NULL, NULL, 0, y, 1);
    filter_bytes = winograd4_packed_bytes(&p);
    if (p.filter_rows == 3 && p.stride_rows == 1) status |= winograd4_run(&p, x, w, NULL, NULL, 0, y, 1);
    printf("%td of %td\\n", most, SCRATCH_BYTES);
    return status;
}
"""


@pytest.mark.slow
def test_the_scratch_of_winograd_is_bounded(tmp_path):
    """The inputs of 28 x 28 x 288 transformed as one block take 3.6 MB, and a part of the filter comes on top."""
    source = tmp_path / "scratch.c"
    source.write_text(SCRATCH)
    program = compiled(source, tmp_path / "scratch")
    for layer in (
        "28 288 224 3 1 1",
        "28 256 224 3 1 1",
        "9 5 7 3 1 2",
        "28 160 96 5 1 1",
        "20 512 64 3 2 3",
    ):
        done = run(program, *layer.split())
        assert (done.returncode, done.stderr) == (0, "")
        used, allowed = map(int, done.stdout.split(" of "))
        assert 0 < used <= allowed


@pytest.mark.parametrize("flags", [(), ("-fsanitize=thread",)], ids=["forks", "races"])
def test_kept_scratch(tmp_path, flags):
    """One block is lent to one thread at a time, also in a forked child; as much is kept as is allowed, or nothing."""
    program, source = tmp_path / "kept_scratch", Path(__file__).parent / "kept_scratch.c"
    done = run("cc", "-O1", "-pthread", *flags, f"-I{KERNELS}", str(source), "-o", str(program))
    if flags and done.returncode:
        pytest.skip(f"no ThreadSanitizer: {done.stderr}")
    assert done.returncode == 0, done.stderr
    done = run(program, *(() if flags else ("fork",)))
    if flags and "unexpected memory mapping" in done.stderr:
        pytest.skip(done.stderr)
    assert (done.returncode, done.stdout, done.stderr) == (0, "right\n", "")


def test_every_rung_has_a_program_and_the_page_names_it():
    others = {"one_channel", "depthwise_input", "depthwise_filter"}
    rungs = {algorithm.name for algorithm in cython_backend.ALGORITHMS} - cython_backend._LOOPS.keys()
    assert rungs | others == set(PROGRAMS)
    assert "make kernels-play" in (ROOT / "docs" / "engine.md").read_text()
