"""Simulates the innermost loops of the NEON kernels on processors that are not here.

    python benchmarks/neon.py [--output docs/neon_loops.inc]

The kernels are compiled for AArch64 by GCC and Clang. Of each function, the loop with the densest
multiply-adds goes through LLVM's model of a processor (llvm-mca), which knows the pipes and latencies and
takes every load from the first-level cache. Needs clang-19 and llvm-mca-19, aarch64-linux-gnu-gcc and its
headers.
"""

import argparse
import re
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
PROCESSORS = {
    "neoverse-n1": "Neoverse N1",
    "neoverse-v1": "Neoverse V1",
    "neoverse-v2": "Neoverse V2",
    "apple-m1": "Apple M1",
}
COMPILERS = {
    "gcc": ["aarch64-linux-gnu-gcc"],
    "clang": ["clang-19", "--target=aarch64-linux-gnu", "-isystem", "/usr/aarch64-linux-gnu/include"],
}
LOOPS = {  # by dtype: a function, and what it is
    "f32": {
        "tile_8_two": "register tile",
        "tile_8_copying": "register tile that copies the filter",
        "pixel_tile_8_two": "filter gradient",
        "pixel_tile_8_two_merged": "filter gradient, few channels",
        "depthwise_row_tiles": "depthwise, row by row",
    },
    "f64": {"tile_8_two": "register tile", "pixel_tile_8_two": "filter gradient"},
}
_LABEL = re.compile(r"(\.L\w+):")
_BRANCH = re.compile(r"\s+(?:b|b\.?\w+|cbn?z\s+\w+,|tbn?z\s+.*,)\s+(\.L\w+)")


def multiply_adds(lines):
    return sum("\tfml" in line for line in lines)


def functions(assembly):
    """Return the lines of each function by its name."""
    found, lines = {}, []
    for line in assembly.splitlines():
        if name := re.match(r"([A-Za-z_]\w*):", line):
            lines = found.setdefault(name[1], [])
        lines.append(line)
    return found


def densest_loop(lines):
    """Return the instructions of the loop with the largest share of multiply-adds."""
    labels, loops = {}, [[]]
    for place, line in enumerate(lines):
        if label := _LABEL.match(line):
            labels[label[1]] = place
        elif (branch := _BRANCH.match(line)) and branch[1] in labels:
            loops.append([one for one in lines[labels[branch[1]] : place + 1] if re.match(r"\s+[a-z]", one)])
    return max(loops, key=lambda loop: multiply_adds(loop) / (len(loop) or 1))


def per_cycle(loop, processor, rounds=300):
    """Return the vector multiply-adds of a loop in one cycle of a processor."""
    command = ["llvm-mca-19", "-mtriple=aarch64", f"-mcpu={processor}", f"-iterations={rounds}"]
    said = subprocess.run(command, input="\n".join(loop), capture_output=True, text=True, check=True).stdout
    return multiply_adds(loop) * rounds / int(re.search(r"Total Cycles:\s+(\d+)", said)[1])


def rows():
    with tempfile.TemporaryDirectory() as folder:
        for dtype, names in LOOPS.items():
            for compiler, command in COMPILERS.items():
                target = Path(folder) / "kernels.s"
                source = ROOT / "teachconv" / "backends" / "kernels" / f"{dtype}_base.c"
                subprocess.run([*command, "-O3", "-S", "-o", target, source], check=True)
                found = functions(target.read_text())
                for name, words in names.items():
                    loop = densest_loop(found[name])
                    speeds = [f"{per_cycle(loop, processor):.2f}" for processor in PROCESSORS]
                    yield [words, f"float{dtype[1:]}", compiler, *speeds]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=Path, help="the file to write; without it, the table is printed")
    output = parser.parse_args().output
    head = ["loop", "dtype", "compiler", *PROCESSORS.values()]
    lines = [head, ["---"] * 3 + ["--:"] * len(PROCESSORS), *rows()]
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    output.write_text(text, encoding="utf-8") if output else print(text, end="")


if __name__ == "__main__":
    main()
