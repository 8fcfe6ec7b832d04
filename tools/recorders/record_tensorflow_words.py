"""Record what TensorFlow answers to each snippet of tensorflow_words/: the lines printed, the error, its message.

    pip install tensorflow-cpu==2.21.0 keras==3.15.1 && python record_tensorflow_words.py   # writes tensorflow_words.json

The snippets of TensorFlow 1 switch eager execution off, which cannot be undone: they run in a process of their own.
"""

import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

from snippets import FOLDER, run, snippets


def outcomes(is_version_1):
    """The outcome of each snippet of one of the two kinds."""
    if is_version_1:
        import tensorflow.compat.v1 as tf

        tf.disable_v2_behavior()
    return {s.name: asdict(run(s)) for s in snippets().values() if s.is_version_1 == is_version_1}


def main():
    os.environ |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    if len(sys.argv) > 1:
        print(json.dumps(outcomes(sys.argv[1] == "1")))
        return
    import keras
    import numpy
    import tensorflow

    found = {}
    for kind in ("1", "2"):
        done = subprocess.run([sys.executable, __file__, kind], capture_output=True, text=True, check=True)
        found |= json.loads(done.stdout.splitlines()[-1])
    versions = {module.__name__: module.__version__ for module in (tensorflow, keras, numpy)}
    recorded = {"versions": versions, "script": Path(__file__).name, "outcomes": found}
    path = FOLDER.with_name("tensorflow_words.json")
    path.write_text(json.dumps(recorded, indent=1, sort_keys=True) + "\n")
    errors = sum(outcome["error"] is not None for outcome in found.values())
    print(f"{path.name}: {len(found)} snippets, {errors} end in an error, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
