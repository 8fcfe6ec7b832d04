"""Record the public names of Keras' modules, which teachconv.keras has or answers with what is nearest.

    pip install keras==3.15.1 jax==0.10.2 && python record_keras_names.py

writes keras_names.json: for each module the list of its names.
"""

import json
import os
from pathlib import Path

MODULES = "layers losses metrics optimizers initializers activations callbacks utils models config"


def names(module):
    return sorted(name for name in dir(module) if not name.startswith("_"))


def main():
    os.environ |= {"KERAS_BACKEND": "jax", "CUDA_VISIBLE_DEVICES": "-1"}
    import keras

    found = {"": names(keras)} | {word: names(getattr(keras, word)) for word in MODULES.split()}
    path = Path(__file__).parents[2] / "tests" / "recorded" / "keras_names.json"
    content = {"versions": {"keras": keras.__version__}, "script": Path(__file__).name, "names": found}
    path.write_text(json.dumps(content, separators=(",", ":"), sort_keys=True) + "\n")
    print(f"{path.name}: {sum(map(len, found.values()))} names, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
