"""Compare the models of the programs of published_programs.toml with Keras: outputs from the same weights and inputs.

    python evaluation/published_models.py here CHECKOUTS FOLDER [--only WORD]      # with teachconv
    python evaluation/published_models.py keras CHECKOUTS FOLDER [--only WORD]     # with TensorFlow and Keras

Each program of TensorFlow 2 that runs is run whole, by the rules of their_tests.py. Afterwards the first call writes the
weights of every model that a global name of the program leads to, a seeded input and the outputs into FOLDER; the second gives
the weights and the input to Keras' model of the same name, and prints the largest difference. CHECKOUTS is the folder of
published_programs.py.
"""

from __future__ import annotations

import argparse
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import published_programs
import their_imports
import their_tests


def models_of(names, kind):
    """Return the models among a program's global names, in lists and as attributes of what these names stand for."""
    found = {}
    for name, value in names.items():
        inside = {name: value}
        if isinstance(value, (list, tuple)):
            inside |= {f"{name}[{number}]": item for number, item in enumerate(value)}
        elif hasattr(value, "__dict__") and not isinstance(value, (type, type(sys))):
            inside |= {f"{name}.{key}": item for key, item in vars(value).items()}
        for path, item in inside.items():
            if isinstance(item, kind) and item not in found.values():
                found[path] = item
    return found


def outputs(model, inputs):
    """Return the outputs of a model outside of training, as arrays."""
    found = model(inputs if len(inputs) > 1 else inputs[0], training=False)
    return [np.asarray(each) for each in (found if isinstance(found, (list, tuple)) else [found])]


def seeded(shape):
    """Return an input of a shape: two samples, and 32 for another size that is open."""
    sizes = [2, *(32 if size is None else size for size in shape[1:])]
    return np.random.default_rng(7).random(sizes).astype("float32")


def keep(models, path):
    """Write weights, inputs and outputs."""
    kept = {}
    for name, model in models.items():
        if model.built and model.weights and model.input_shape is not None:
            shapes = model.input_shape if isinstance(model.input_shape, list) else [model.input_shape]
            inputs = [seeded(shape) for shape in shapes]
            kept[name] = model.get_weights(), inputs, outputs(model, inputs)
    path.write_bytes(pickle.dumps(kept))
    print(f"{path.stem}: {', '.join(kept) or 'no model'}", flush=True)


def compare(models, path):
    """Print how much the outputs of Keras' models differ from those that were written here."""
    for name, (weights, inputs, here) in pickle.loads(path.read_bytes()).items():
        outputs(models[name], inputs)  # builds it
        models[name].set_weights(weights)
        for ours, theirs in zip(here, outputs(models[name], inputs), strict=True):
            print(
                f"{path.stem} {name}: {abs(ours - theirs).max():.2g} of {abs(theirs).max():.2g}", flush=True
            )


def run(which, program, path):
    """Run a program in this process, and look at its models."""
    source = their_tests.source_of(program)
    sys.path.insert(0, str(program.parent))
    sys.argv = [str(program)]
    code, names, _ = their_imports.short_loops(source, str(program))
    if which == "here":
        their_imports.replace_imports(False)
    else:
        import tensorflow

        sys.modules["tensorflow.keras"] = tensorflow.keras
        their_imports.stand_ins()
    module = type(sys)("__main__")
    sys.modules["__main__"] = module
    vars(module).update(names, __file__=str(program))
    exec(code, vars(module))
    import keras

    found = models_of(vars(module), keras.Model)
    (keep if which == "here" else compare)(found, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("which", choices=("here", "keras"))
    parser.add_argument("checkouts", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="the programs whose source or file contains this")
    parser.add_argument("--alone", type=Path, help="run this program in this process")
    options = parser.parse_args()
    folder = options.folder.resolve()
    if options.alone:
        run(options.which, options.alone, folder / f"{options.alone.stem}.pickle")
        return
    os.environ |= {"MPLBACKEND": "Agg", "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    for row in published_programs.programs():
        if row["version"] == 2 and row["now"] == "runs" and options.only in f"{row['source']}/{row['file']}":
            checkout = published_programs.checkout_of(options.checkouts, row)
            command = [sys.executable, __file__, options.which, str(options.checkouts.resolve()), str(folder)]
            (folder / "work").mkdir(parents=True, exist_ok=True)
            subprocess.run(
                [*command, "--alone", str(checkout / row["file"])], cwd=folder / "work", check=False
            )


if __name__ == "__main__":
    main()
