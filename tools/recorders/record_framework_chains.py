"""Record what find_source says of the frameworks' own functions, for the pages that show it.

    a Python with TensorFlow, PyTorch, JAX, onnxruntime and teachconv:  python tools/recorders/record_framework_chains.py

docs/explanation/how_tensorflow_executes.md, docs/answers/the_three_steps.md and
docs/answers/where_do_pytorch_jax_onnxruntime_compute.md show docs/recorded/framework_chains.json: the documentation is built without the frameworks. Times are left out of
TensorFlow's steps, which stand in a table; those of the other texts are of the recorded run.
"""

import json
import os
import re
import sys
from pathlib import Path

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
import onnxruntime
import teachconv as tc
import tensorflow as tf
import torch

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from machine import processor  # noqa: E402

TARGET = Path(__file__).parents[2] / "docs" / "recorded" / "framework_chains.json"


def main():
    """Write the file."""
    x, w = np.ones((1, 8, 8, 2), "float32"), np.ones((3, 3, 2, 2), "float32")
    image = np.float32([[4, 3, 1, 0], [2, 1, 0, 1], [1, 2, 4, 1], [3, 1, 0, 2]]).reshape(1, 4, 4, 1)
    filters = np.float32([[1, 0, 1], [2, 1, 0], [0, 0, 1]]).reshape(3, 3, 1, 1)
    calls = {
        "float32": (tf.nn.conv2d, x, w, 2, "SAME"),
        "float64": (tf.nn.conv2d, x.astype("float64"), w.astype("float64"), 2, "SAME"),
        "the three steps": (tf.nn.conv2d, image, filters, 1, "VALID"),
        "the input's gradient": (tf.nn.conv2d_transpose, x, w, (1, 16, 16, 2), 2, "SAME"),
    }
    chains = {}
    for name, (op, *args) in calls.items():
        chain = tc.find_source(op, *args)
        chains[name] = {
            "query": chain.query,
            "ran": chain.algorithm,
            "steps": [
                {
                    "what": step.what,
                    "name": step.name,
                    "where": step.where,
                    "note": re.sub(r"(, |^)[\d.,]+ (µs|ms|s)( on \S+, by the profiler)?$", "", step.note),
                    "known": step.known,
                }
                for step in chain.steps
            ],
        }
    recorded = {"script": Path(__file__).name, "processor": processor(), "chains": chains, "texts": texts()}
    modules = (tf, torch, jax, onnxruntime)
    recorded["versions"] = {module.__name__: module.__version__ for module in modules}
    TARGET.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def texts():
    """Return what is printed for an ordinary 3 x 3 layer in PyTorch, JAX and onnxruntime."""
    x, w = np.ones((1, 64, 56, 56), "float32"), np.ones((64, 64, 3, 3), "float32")
    image, filters = torch.from_numpy(x), torch.from_numpy(w)
    layer = torch.nn.Conv2d(64, 64, 3, padding=1)
    loss = layer(image.requires_grad_()).sum()
    doubles = image.double(), filters.double()
    model = tc.to_onnx(tc.dialects.torch.conv2d, x, w, padding=1)  # NCHW, as ONNX has it
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    feed = {session.get_inputs()[0].name: x}
    chains = {
        "torch": tc.find_source(torch.nn.functional.conv2d, image, filters, None, 1, 1),
        "torch, float64": tc.find_source(torch.nn.functional.conv2d, *doubles, None, 1, 1),
        "torch, gradients": tc.find_source(loss.backward),
        "jax": tc.find_source(jax.lax.conv_general_dilated, x, w, (1, 1), "SAME"),
        "onnxruntime": tc.find_source(session.run, None, feed),
    }
    return {name: str(chain.all).split("\n") for name, chain in chains.items()}


if __name__ == "__main__":
    main()
