"""Record what find_source says of TensorFlow's own functions, for the page that shows both columns.

    TensorFlow's Python, with teachconv:  python tests/recorded/record_tensorflow_chain.py

docs/explanation/how_tensorflow_executes.md shows docs/recorded/tensorflow_chain.json: the documentation is built
without TensorFlow. Times are left out: they change from run to run.
"""

import json
import os
import re
from pathlib import Path

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import numpy as np
import teachconv as tc
import tensorflow as tf
from teachconv.tuning_file import processor

TARGET = Path(__file__).parents[2] / "docs" / "recorded" / "tensorflow_chain.json"


def main():
    """Write the file."""
    x, w = np.ones((1, 8, 8, 2), "float32"), np.ones((3, 3, 2, 2), "float32")
    calls = {
        "float32": (tf.nn.conv2d, x, w, 2, "SAME"),
        "float64": (tf.nn.conv2d, x.astype("float64"), w.astype("float64"), 2, "SAME"),
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
    recorded = {"script": Path(__file__).name, "versions": {"tensorflow": tf.__version__}}
    recorded |= {"processor": processor(), "chains": chains}
    TARGET.write_text(json.dumps(recorded, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
