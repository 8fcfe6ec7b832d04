"""Record what onnxruntime, LiteRT and PyTorch compute for quantized calls: tests/recorded/quantized.npz.

    pip install onnx==1.23.2 onnxruntime==1.32.0 ai-edge-litert==2.3.0 torch==2.13.0 && python record_quantized.py

The calls are those of tests/quantized/drawn.py; of each scheme the first of each op that are small. Run with the package and
tests/ on PYTHONPATH, where `lscpu` lists avx_vnni or avx512_vnni: on other processors onnxruntime saturates in 16 bits.
"""

from pathlib import Path

import numpy as np
from peers.test_quantized_live import MODULES, theirs
from quantized import drawn

import teachconv as tc

EACH, CELLS = 4, 600
found = {}
for scheme in MODULES:
    counts = {}
    for seed in range(400):
        calls = [drawn.convolution(seed, scheme), *((kind, drawn.pool(seed, scheme, kind)) for kind in ("avg_pool", "max_pool"))]
        for op, given in calls:
            shape = getattr(tc.quantized, op)(**given).shape
            kind = op, given["x"].dtype.name, given["w"].dtype.name if "w" in given else "", np.ndim(given.get("w_scale", 0))
            if np.prod(shape) > CELLS or counts.get(kind, 0) == EACH:
                continue
            counts[kind] = counts.get(kind, 0) + 1
            found[f"{scheme} {seed} {op}"] = theirs(scheme, op, given, shape)
np.savez_compressed(Path(__file__).parents[2] / "tests" / "recorded" / "quantized.npz", **found)
print(len(found), "results")
