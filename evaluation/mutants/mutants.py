"""Changes every bound, stride, tile size and offset of three tiled kernels by one, and runs check_backend on each.

A mutant that check_backend passes is a survivor: it is compared with the right kernel on random calls of small
integers. One that differs there shows a hole in the case table. ``PYTHONPATH=.:evaluation python
evaluation/mutants/mutants.py`` runs all, and names the smallest call that shows each hole; ``--kernel``,
``--every`` and ``--calls`` run a part.
"""

import argparse
import ctypes
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import ModuleType

from planted import child
from planted.kernels import Conv, Wrapper, compile_c
from planted.score import passes

import teachconv as tc
from teachconv.backends import Algorithm
from teachconv.core.kinds import FORWARD, INPUT_GRADIENT

HERE = Path(__file__).parent
KERNELS = {"rows": FORWARD, "panels": FORWARD, "phases": INPUT_GRADIENT}
FIELDS = [
    "batch",
    "in_rows",
    "in_cols",
    "in_channels",
    "out_rows",
    "out_cols",
    "out_channels",
    "groups",
    "filter_rows",
    "filter_cols",
    "stride_rows",
    "stride_cols",
    "dilation_rows",
    "dilation_cols",
    "pad_top",
    "pad_left",
    "pad_bottom",
    "pad_right",
]
# names that stand for a size, an offset or an index; of those that are assigned the right side is changed
NAMES = [
    "depth",
    "width",
    "pixels",
    "lanes",
    "terms",
    "places",
    "all",
    "count",
    "PIXELS",
    "LANES",
    "TERMS",
    "from",
    "to",
    "start",
    "block",
    "first",
    "channel",
    "group",
    "tap",
    "row",
    "col",
    "in_row",
    "in_col",
    "out_col",
    "down",
    "along",
    "image",
]
TOKEN = re.compile(
    rf"c->(?:{'|'.join(FIELDS)})\b|(?<![\w>])(?:{'|'.join(NAMES)})\b|(?<![\w.])\d+\b|(?<=\s)[<>]=?(?=\s)"
)
DECLARED = re.compile(r"\s*(?:=[^=]|\+\+|\+=)")


@dataclass(frozen=True)
class Mutant:
    """One change of a kernel.

    Attributes:
        kernel: its name.
        line: the number of the line.
        text: the line with the change.
        source: the whole source with the change.
    """

    kernel: str
    line: int
    text: str
    source: str


def mutants_of(kernel):
    """Every mutant of a kernel: each number and name one more and one less, each < a <=, and so on."""
    lines = (HERE / f"{kernel}.c").read_text().split("\n")
    inside = False
    for number, line in enumerate(lines):
        inside = (inside or "/* mutate */" in line) and "/* end */" not in line
        if not inside and not re.match(r"#define \w+ \d+$", line):
            continue
        for found in TOKEN.finditer(line):
            token = found[0]
            if DECLARED.match(line, found.end()):
                continue
            if token in "<=>=":
                changed = [token.rstrip("=") if "=" in token else f"{token}="]
            elif token.isdigit():
                changed = [str(int(token) + 1), f"({int(token) - 1})"]
            elif line.startswith("#define"):
                continue
            else:
                changed = [f"({token} + 1)", f"({token} - 1)"]
            for change in changed:
                text = line[: found.start()] + change + line[found.end() :]
                source = "\n".join([*lines[:number], text, *lines[number + 1 :]])
                yield Mutant(kernel, number + 1, text.strip(), source)


class Entry(Wrapper):
    """The function of a kernel that was compiled."""

    def __init__(self, path):
        super().__init__("tiled", 0, "conv2d")
        self.path = path

    def entry(self, dtype):
        """The C function."""
        return loaded(self.path).run


@lru_cache
def loaded(path):
    """A compiled kernel."""
    return ctypes.CDLL(str(path))


def module(kernel, path):
    """The backend of a compiled kernel; it has one of the three functions."""
    made, kind = ModuleType(kernel), KERNELS[kernel]
    made.ALGORITHMS = (Algorithm(kernel, f"{kernel}.c", (kind,), ("float32",), why="the only one"),)
    for name in ("conv2d", "conv2d_backprop_input", "conv2d_backprop_filter"):
        setattr(made, name, Entry(path))
    made.conv2d_backprop_input.name = "conv2d_backprop_input"
    return made


def compile_mutant(source, folder, name):
    """Compile a source, quickly."""
    file = folder / f"{name}.c"
    file.write_text(source)
    return compile_c(file, "-DTYPE=3", "-O1", folder=folder)


def compare(kernel, path, right, calls):
    """Compare a compiled kernel with the right one: None if all calls agree, else the integers of one."""
    random = loaded(compile_c(HERE / "random_calls.c", "-DTYPE=3"))
    call, transposed = Conv(), KERNELS[kernel] is INPUT_GRADIENT
    functions = loaded(right).run, loaded(path).run
    done = random.compare(*functions, transposed, ctypes.c_ssize_t(calls), ctypes.byref(call))
    named = dict(zip(FIELDS, call.integers, strict=True)) | {"bias": call.has_bias, "relu": call.relu}
    return None if done == calls else f"after {done} calls: {named}"


def run(mutant, calls, folder, number):
    """What becomes of a mutant, and a note."""
    path = compile_mutant(mutant.source, folder, f"{mutant.kernel}{number}")
    outcome, value = child.run(
        lambda: passes(module(mutant.kernel, path), "float32", **options_of(mutant.kernel)), 60
    )
    if outcome != "done":
        return f"killed: {outcome}", value
    if not value:
        return "killed", ""
    right = compile_mutant((HERE / f"{mutant.kernel}.c").read_text(), folder, f"right-{mutant.kernel}")
    outcome, value = child.run(lambda: compare(mutant.kernel, path, right, calls), 600, 3600)
    if outcome != "done":
        return "SURVIVED", f"the comparison {outcome} {value}"
    return ("equal", "") if value is None else ("SURVIVED", value)


def run_all(kernels=tuple(KERNELS), every=1, calls=10**5, say=print):
    """Run every mutant, or each ``every``-th of them; returns the survivors, and how many had which end."""
    survivors, ends = [], Counter()
    with TemporaryDirectory() as name:
        folder = Path(name)
        for kernel in kernels:
            right = compile_mutant((HERE / f"{kernel}.c").read_text(), folder, f"right-{kernel}")
            report = tc.check_backend(module(kernel, right), "float32", **options_of(kernel))
            assert report.passed, report  # and the caches are full that the processes inherit
            for number, mutant in enumerate(mutants_of(kernel)):
                if number % every:
                    continue
                end, note = run(mutant, calls, folder, number)
                ends[f"{kernel} {end}"] += 1
                if end in ("SURVIVED", "equal"):
                    say(f"{end} {kernel}.c:{mutant.line}: {mutant.text}\n    {note}")
                if end == "SURVIVED":
                    survivors.append(mutant)
    return survivors, ends


def options_of(kernel):
    """The options of check_backend: the one function of a kernel, on numbers that sum exactly."""
    return {"kinds": str(KERNELS[kernel]), "data": "integers"}


def main():
    """Run the mutants of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--kernel", choices=KERNELS)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--calls", type=int, default=10**5)
    options = parser.parse_args()
    kernels = [options.kernel] if options.kernel else [*KERNELS]
    survivors, ends = run_all(kernels, options.every, options.calls, lambda text: print(text, flush=True))
    print("\n".join(f"{count} {end}" for end, count in sorted(ends.items())))
    print(f"{sum(ends.values())} mutants, {len(survivors)} of them survived and differ")


if __name__ == "__main__":
    main()
