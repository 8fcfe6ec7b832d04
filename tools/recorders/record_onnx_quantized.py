"""Record what onnxruntime answers on the CPU for convolutions of integers: QLinearConv, ConvInteger, and QDQ.

    pip install onnx==1.23.2 onnxruntime==1.31.1 && python record_onnx_quantized.py    # writes onnx_quantized.json

The models are made by tests/translation/quantized_models.py from a seed; the results are listed as integers. Processors
without VNNI add pairs of products in 16 bits where the input is uint8 and the filter int8, and saturate: record where
`lscpu` lists avx_vnni or avx512_vnni.
"""

import json
import sys
from pathlib import Path

import onnxruntime

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "translation"))
import quantized_models  # noqa: E402

options = onnxruntime.SessionOptions()
options.log_severity_level = 4
found = {}
for seed in range(24):
    name, model, x = quantized_models.made(seed)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    y = session.run(None, {"x": x})[0]
    found[f"{seed} {name}"] = {"dtype": str(y.dtype), "output": y.tolist()}
path = Path(__file__).parents[2] / "tests" / "recorded" / "onnx_quantized.json"
path.write_text(json.dumps({"onnxruntime": onnxruntime.__version__, "results": found}) + "\n", encoding="utf-8")
