"""Run the kernels on the host under AddressSanitizer: test_cuda_arithmetic.py starts this, libasan preloaded.

Usage: sanitize.py FOLDER [SOURCE OLD NEW]: where compiled kernels are kept, and a mistake to plant.
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from cuda_host import FLAGS, Host, host_backend

from teachconv.backends.cuda import gemm, ladder, sources
from teachconv.running.dispatch import run_canonical
from teachconv.verification.cases import Case, find_cases

# for pipelined_gemm, by tiles of 128 x 64 and, once they are allowed, 256 x 128
EIGHTS = (
    Case("eights", "conv2d", (1, 9, 8, 16), (3, 3, 16, 24), 2, "SAME"),
    Case("many eights", "conv2d", (1, 9, 8, 72), (3, 3, 72, 136), 1, "SAME"),
)


def main():
    """Run every algorithm over some cases; a fault ends the process."""
    os.environ.pop("LD_PRELOAD", None)  # the compiler runs without it
    mistake = {}
    folder, *planted = sys.argv[1:]
    if planted:
        file, old, new = planted
        text = sources.source_text(file)
        assert old in text
        mistake = {file: text.replace(old, new)}
    names = [a.name for a in ladder.ALGORITHMS if not mistake or a.name.startswith(Path(file).stem)]
    count = 0
    host = Host(
        folder, sources_of=mistake, flags=(*FLAGS, "-fsanitize=address", "-fno-omit-frame-pointer", "-g1")
    )
    module = host_backend(host)
    small = find_cases("small")
    gemm._SHORT_ON, gemm.MULTIPROCESSORS = (), 1
    for dtype, cases in (("float32", (*EIGHTS, *small[1::4])), ("float16", (*EIGHTS, *small[4::24]))):
        for case in cases if dtype == "float32" or not mistake else ():
            for problem in case.problems(dtype):
                call = problem.call
                for algorithm in ladder.ALGORITHMS:
                    if algorithm.name in names and algorithm.fits(call.kind, dtype, call.geometry):
                        run_canonical(call, module, algorithm.name)
                        count += 1
    print(f"{count} results: no fault")


if __name__ == "__main__":
    main()
