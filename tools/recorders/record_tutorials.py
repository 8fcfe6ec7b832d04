"""Records what TensorFlow computes for the networks of tests/tutorials.py, after those of its tutorials.

    pip install tensorflow-cpu==2.21.0 keras==3.15.1 && python tools/recorders/record_tutorials.py

writes tests/recorded/tutorials.json: the versions, and of each program its numbers by name.
"""

import json
import os
import sys
from pathlib import Path

os.environ |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow"}
sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

import keras
import tensorflow as tf
from tutorials import TUTORIALS

if __name__ == "__main__":
    versions = {"tensorflow": tf.__version__, "keras": keras.__version__}
    found = {name: program(tf) for name, program in TUTORIALS.items()}
    path = Path(__file__).parents[2] / "tests" / "recorded" / "tutorials.json"
    path.write_text(json.dumps({"versions": versions, "programs": found}, indent=1) + "\n", encoding="utf-8")
    for name, numbers in found.items():
        print(
            name, {key: values[-1] if isinstance(values, list) else values for key, values in numbers.items()}
        )
