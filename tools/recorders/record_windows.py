"""Record what the real frameworks answer for seeded random calls of pools: windows.npz.

    pip install tensorflow-cpu==2.21.0 torch==2.13 jax==0.10.2 onnx==1.23.2 onnxruntime==1.32.0 keras==3.15.1
    python record_windows.py       # writes windows.npz; some minutes

The calls are those of tests/peers/window_sweeps.py, until each function has answered 300. `meta` is a JSON text: the
versions, and the cases with their function, seed, arguments and, where the framework refused, its error. The input
follows from the seed (`window_sweeps.data`). The outputs of all cases follow each other in `outputs`, in float64.
"""

import json
import os
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

os.environ |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu"}
os.environ |= {"KERAS_BACKEND": "tensorflow"}
from peers import window_sweeps as sweeps  # noqa: E402
from recording import shorten  # noqa: E402

cases, outputs = [], []
for framework, functions in sweeps.FUNCTIONS.items():
    for function in functions:
        answered = seed = 0
        while answered < 300:
            shape, dtype, arguments = sweeps.call(framework, function, seed)
            case = {
                "framework": framework,
                "function": function,
                "seed": seed,
                "shape": shape,
                "dtype": dtype,
            }
            case |= {"arguments": arguments, "error": None}
            try:
                found = sweeps.theirs(
                    framework, function, sweeps.data(shape, dtype, function, seed), arguments, seed
                )
                case["outputs"] = [[list(part.shape), part.dtype.name] for part in found]
                outputs += [part.astype(np.float64).ravel() for part in found]
                answered += 1
            except Exception as error:
                case["error"] = shorten(error)
            cases.append(case)
            seed += 1
        print(framework, function, seed, flush=True)

names = ("tensorflow-cpu", "torch", "jax", "onnxruntime", "keras", "numpy")
versions = {name.removesuffix("-cpu"): version(name) for name in names}
meta = json.dumps({"script": Path(__file__).name, "versions": versions, "cases": cases})
np.savez_compressed(ROOT / "tests" / "recorded" / "windows.npz", meta=np.array(meta), outputs=np.concatenate(outputs))
