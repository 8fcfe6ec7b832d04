"""Fuzz the compiled kernels and the calls that reach them; run the kept inputs again; measure what they cover.

Usage: python tools/fuzz/fuzz.py kernels MINUTES | calls MINUTES | regression EXTENSION.so | processors | coverage

``kernels`` builds fuzz_kernels.c and teachconv/backends/kernels with clang, libFuzzer, AddressSanitizer and
UndefinedBehaviorSanitizer, and searches. ``calls`` searches calls.py with atheris, on an extension that clang
instrumented. Both end with the smallest set of inputs that reach what was reached, kept in corpus/, one input a
line in hexadecimal; a fault ends them with the input that shows it. ``regression`` needs neither clang nor atheris:
it runs the kept inputs, the kernels' built with the C compiler's own sanitizers and the calls' on the sanitized
extension at the path given. ``processors`` runs the kernels' on other
processors and compilers. ``coverage`` counts the lines of the kernels that the kept inputs run (gcov).
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
KERNELS = ROOT / "teachconv" / "backends" / "kernels"
BUILD = ROOT / "build" / "fuzz"
CHECKS = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
MOST_BYTES = 96  # of an input: a problem is decoded from fewer
ENVIRONMENT = os.environ | {"ASAN_OPTIONS": "detect_leaks=0"}


def corpus(target):
    """Return the file of the inputs that are kept."""
    return HERE / "corpus" / f"{target}.txt"


def build(compiler, name, flags, link_flags=()):
    """Compile the kernels and their fuzz target, two files at a time, and return the program."""
    folder = BUILD / name
    folder.mkdir(parents=True, exist_ok=True)
    # a thread for every 64 multiply-adds, so that small problems are divided among threads
    common = [
        "-O0",
        "-g1",
        "-w",
        "-pthread",
        "-DTEACHCONV_ENOUGH_MACS=64",
        "-DTEACHCONV_STREAM_BYTES=1024",
        f"-I{KERNELS}",
        *flags,
    ]
    sources = [*sorted(KERNELS.glob("*.c")), HERE / "fuzz_kernels.c"]
    objects = [folder / f"{source.stem}.o" for source in sources]

    def compile_one(source, to):
        run([compiler, *common, "-c", source, "-o", to])

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(compile_one, sources, objects))
    program = folder / "fuzz_kernels"
    run([compiler, "-pthread", *link_flags, *objects, "-o", program, "-lm"])
    return program


def run(command, **options):
    """Run a command and end with its status if it fails."""
    done = subprocess.run(list(map(str, command)), env=options.pop("env", ENVIRONMENT), **options)
    if done.returncode:
        sys.exit(f"fuzz: {Path(command[0]).name} ended with status {done.returncode}")
    return done


def search(target, command, minutes, env=ENVIRONMENT):
    """Run a libFuzzer command on the kept inputs for some minutes, and keep the smallest set that covers as much."""
    with tempfile.TemporaryDirectory() as work:
        found, kept = Path(work) / "found", Path(work) / "kept"
        for folder in (found, kept):
            folder.mkdir()
        for number, line in enumerate(corpus(target).read_text().split()):
            (found / str(number)).write_bytes(bytes.fromhex(line))
        limits = [f"-max_len={MOST_BYTES}", "-len_control=0", "-timeout=60", "-rss_limit_mb=3000"]
        seconds = f"-max_total_time={60 * float(minutes):.0f}"
        faults = BUILD / "faults"
        faults.mkdir(parents=True, exist_ok=True)
        run(
            [
                *command,
                *limits,
                seconds,
                f"-artifact_prefix={faults}/",
                "-print_final_stats=1",
                "-verbosity=0",
                found,
            ],
            env=env,
        )
        smallest = ["-set_cover_merge=1", "-use_counters=0", "-verbosity=0"]
        run([*command, *limits, *smallest, kept, found], env=env)
        lines = sorted(
            {path.read_bytes().hex() for path in kept.iterdir()}, key=lambda line: (len(line), line)
        )
        corpus(target).write_text("\n".join(lines) + "\n")
        print(f"{len(lines)} inputs kept in {corpus(target).relative_to(ROOT)}")


def kernels(minutes):
    """Search for inputs that the kernels fail on."""
    clang = needed("clang", "apt-get install clang libclang-rt-14-dev")
    program = build(clang, "clang", ["-fsanitize=fuzzer-no-link", *CHECKS], ["-fsanitize=fuzzer", *CHECKS])
    search("kernels", [program], minutes)


def calls(minutes):
    """Search for calls of the public API that fail."""
    clang = needed("clang", "apt-get install clang libclang-rt-14-dev")
    atheris = subprocess.run(
        [sys.executable, "-c", "import atheris; print(atheris.path())"], capture_output=True, text=True
    )
    if atheris.returncode:
        sys.exit("fuzz: atheris is not installed: pip install atheris")
    folder = BUILD / "extension"
    flags = {"CC": clang, "LDSHARED": f"{clang} -shared", "TEACHCONV_SANITIZE": "fuzz"}
    command = [
        sys.executable,
        "setup.py",
        "-q",
        "build_ext",
        "--build-lib",
        folder,
        "--build-temp",
        folder / "temp",
    ]
    run(command, cwd=ROOT, env=ENVIRONMENT | flags | {"TEACHCONV_REQUIRE_CYTHON": "1"})
    (extension,) = folder.glob("teachconv/_kernels*.so")
    preload = {"LD_PRELOAD": str(Path(atheris.stdout.strip()) / "asan_with_fuzzer.so")}
    program = BUILD / "fuzz_calls"  # one file, because libFuzzer starts its program again to merge
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{__file__}" atheris "{extension}" "$@"\n')
    program.chmod(0o755)
    search("calls", [program], minutes, env=ENVIRONMENT | preload)


def under_atheris(extension, arguments):
    """Hand `calls.try_one` to atheris: what ``calls`` starts in a process of its own."""
    import atheris

    with atheris.instrument_imports(include=["teachconv"]):
        try_one = load(extension)
    atheris.Setup([str(BUILD / "fuzz_calls"), *arguments], try_one)
    atheris.Fuzz()


def load(extension):
    """Return `calls.try_one` on an extension built elsewhere."""
    sys.path[:0] = [str(ROOT), str(HERE.parent), str(HERE)]
    from sanitize import load as load_extension

    load_extension(str(extension))
    from calls import try_one

    return try_one


def regression(extension):
    """Run the kept inputs of both targets; a fault ends the process."""
    compiler = needed(os.environ.get("CC", "cc"), "a C compiler: gcc or clang")
    program = build(compiler, "regression", ["-DFUZZ_STANDALONE", *CHECKS], CHECKS)
    with corpus("kernels").open() as lines:
        run([program], stdin=lines)
    preload = " ".join(
        subprocess.run([compiler, f"-print-file-name={name}"], capture_output=True, text=True).stdout.strip()
        for name in ("libasan.so", "libubsan.so")
    )
    run([sys.executable, __file__, "replay", extension], env=ENVIRONMENT | {"LD_PRELOAD": preload})


def replay(extension):
    """Run the kept calls."""
    try_one = load(extension)
    lines = corpus("calls").read_text().split()
    for line in lines:
        try:
            try_one(bytes.fromhex(line))
        except BaseException:
            print(f"fuzz: the input is {line}", file=sys.stderr)
            raise
    print(f"{len(lines)} calls: no fault, every number right")


PROCESSORS = {  # name: (compiler, its flags, what runs the program)
    "aarch64, NEON": ("aarch64-linux-gnu-gcc", ["-O2"], ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]),
    "aarch64, plain C": (
        "aarch64-linux-gnu-gcc",
        ["-O2", "-DTEACHCONV_PLAIN_C"],
        ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"],
    ),
    "plain C, -O0": ("cc", ["-O0", "-DTEACHCONV_PLAIN_C"], []),
    "gcc, -O3": ("gcc", ["-O3"], []),
    "clang, -O2": ("clang", ["-O2"], []),
    "Windows": (
        "x86_64-w64-mingw32-gcc-posix",
        ["-O2", "-static", "-Wa,-muse-unaligned-vector-move"],
        [shutil.which("wine64") or "/usr/lib/wine/wine64"],
    ),
}


def processors():
    """Run the kernels' kept inputs on other processors, under qemu, and with other compilers."""
    for name, (compiler, flags, runner) in PROCESSORS.items():
        missing = [program for program in (compiler, *runner[:1]) if not shutil.which(program)]
        if missing:
            print(f"{name}: skipped, {missing[0]} is not installed")
            continue
        name_of_folder = name.replace(", ", "_").replace(" ", "_")
        program = build(compiler, name_of_folder, ["-DFUZZ_STANDALONE", *flags], flags)
        print(f"{name}: ", end="", flush=True)
        with corpus("kernels").open() as lines:
            run([*runner, program], stdin=lines)


def coverage():
    """Print how many lines of each header the kept inputs run, and which lines they do not."""
    compiler = needed(os.environ.get("CC", "cc"), "a C compiler: gcc or clang")
    for old in (BUILD / "coverage").glob("*.gcda"):
        old.unlink()
    program = build(compiler, "coverage", ["-DFUZZ_STANDALONE", "--coverage"], ["--coverage"])
    with corpus("kernels").open() as lines:
        run([program], stdin=lines)
    counts = defaultdict(int)
    for data in sorted(program.parent.glob("*.gcda")):
        command = ["gcov", "--json-format", "--stdout", data]
        text = run(command, cwd=program.parent, capture_output=True, text=True).stdout
        for file in json.loads(text)["files"]:
            for line in file["lines"]:
                counts[Path(file["file"]).name, line["line_number"]] += line["count"]
    files = sorted({file for file, _ in counts if (KERNELS / file).exists()})
    total = [0, 0]
    for file in files:
        lines = [line for name, line in counts if name == file]
        missed = sorted(line for line in lines if not counts[file, line])
        total = [total[0] + len(lines) - len(missed), total[1] + len(lines)]
        print(f"{file:24} {len(lines) - len(missed):4} of {len(lines):4}  missed {missed}")
    print(f"{total[0]} of {total[1]} lines, {100 * total[0] / total[1]:.1f} %")


def needed(program, hint):
    """Return the path of a program, or end and say how to get it."""
    found = shutil.which(program)
    if not found:
        sys.exit(f"fuzz: {program} is not installed: {hint}")
    return found


COMMANDS = {one.__name__: one for one in (kernels, calls, regression, replay, processors, coverage)}

if __name__ == "__main__":
    if sys.argv[1:2] == ["atheris"]:
        under_atheris(sys.argv[2], sys.argv[3:])
    elif len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(__doc__)
    else:
        COMMANDS[sys.argv[1]](*sys.argv[2:])
