"""Run one call of a GPU algorithm on the host, its kernels compiled with coverage.

For tests/inspection/test_compiled_marks.py. Usage: python tests/covered_cuda.py FOLDER CALL, where CALL is JSON:
the op's name, its arguments (an array is given by its shape), the algorithm and the dtype. gcov's files stay in
FOLDER.
"""

import json
import subprocess
import sys
from pathlib import Path

import cuda_host
import numpy as np

import teachconv as tc

FLAGS = [*(flag for flag in cuda_host.FLAGS if flag != "-O1"), "-O0", "-g1", "--coverage"]


def build(folder, file, options, text=None, flags=()):
    """Compile one source, where gcov's files can stay beside it."""
    home = Path(sys.argv[1]) / "-".join([Path(file).stem, *options]).replace("=", "_")
    made = home / "kernels.so"
    if not made.exists():
        home.mkdir(parents=True)
        (home / "kernels.cpp").write_text(cuda_host.host_source(file))
        shim = cuda_host.build_shim(Path(sys.argv[1]))
        command = [cuda_host.COMPILER, *FLAGS, *options, "-o", made.name, "kernels.cpp", str(shim)]
        subprocess.run(command, cwd=home, check=True)
    return made


def array(shape, dtype):
    return (np.arange(np.prod(shape)) % 5 - 2).astype(dtype).reshape(shape)


def main():
    folder, call = Path(sys.argv[1]), json.loads(sys.argv[2])
    cuda_host.build_host = build
    args = [array(a["shape"], call["dtype"]) if isinstance(a, dict) else a for a in call["args"]]
    backend = cuda_host.host_backend(cuda_host.Host(folder))
    options = {"algorithm": call["algorithm"], "precision": call["precision"]}
    getattr(tc, call["op"])(*args, backend=backend, **options)


if __name__ == "__main__":
    main()
