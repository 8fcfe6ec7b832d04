"""Record what MLX and PaddlePaddle answer for the code that `teachconv.translate` writes for them.

    python record_text_targets.py codes                          # with teachconv: writes the code of every case
    pip install "mlx[cpu]==0.32.4" && python record_text_targets.py mlx            # each in an environment of its own:
    pip install paddlepaddle==3.3.1 setuptools && python record_text_targets.py paddle  # fills in the results

The cases are the forward and transposed convolutions of `teachconv.translation.dialect_map.OPTIONS` and one chain of
layers, on small integers, whose sums are exact; and each activation, on a few numbers.
"""

import json
import sys
from pathlib import Path

import numpy as np

PATH = Path(__file__).parents[1] / "recorded" / "text_targets.json"


def arrays(shapes):
    """Seeded small integers of these shapes."""
    random = np.random.default_rng(0)
    return [random.integers(-3, 4, shape).astype("float32") for shape in shapes]


def numbers():
    return np.linspace(-4, 4, 12, dtype="float32").reshape(2, 6)


def codes(to):
    """Yield (name, code, shapes of its arrays) of each convolution."""
    import teachconv as tc
    from teachconv.dialects.calls import ConvCall
    from teachconv.translation.dialect_map import OPTIONS

    for number, probe in enumerate(OPTIONS):
        try:
            call = tc.resolve(probe.function, *probe.shapes, **probe.arguments)
        except (ValueError, TypeError):
            continue
        if isinstance(call, ConvCall):
            found = tc.translate(probe.function, *probe.shapes, to=to, **probe.arguments)
            if found.possible:
                yield f"{number} {probe.dialect} {probe.option}", found.code, [list(shape) for shape in probe.shapes]


def chain(to):
    """The code of a chain of layers, and its weights as lists."""
    import teachconv as tc
    from teachconv import keras

    layers = [keras.layers.Conv2D(4, 3, 2, "same", activation="relu", name="conv"), keras.layers.Flatten()]
    model = keras.Sequential([keras.Input((7, 6, 2)), *layers, keras.layers.Dense(3, name="dense")])
    model.set_weights(arrays([w.shape for w in model.get_weights()]))
    found = tc.translate(model, (2, 7, 6, 2), to=to)
    return found.code, {name: [w.tolist() for w in each] for name, each in found.weights.items()}


def activations(to):
    """Yield (name, the lines of its code) of each activation that the framework has."""
    from teachconv.translation.pointwise import NAMES, pointwise_lines

    given = {"leaky_relu": {"slope": 0.25}, "clip": {"low": -1.0, "high": 2.0}}
    for name in (*NAMES, "gelu (tanh)"):
        lines = pointwise_lines(name, given.get(name, {}), to)
        if lines and name != "matmul":
            yield name, lines


def run(code, *given):
    names = {}
    exec(code, names)
    return np.asarray([*names.values()][-1](*given))


def made(to):
    code, weights = chain(to)
    cases = {name: {"code": text, "shapes": shapes} for name, text, shapes in codes(to)}
    return {"cases": cases, "chain": {"code": code, "weights": weights}, "activations": dict(activations(to))}


def main(what):
    if what == "codes":
        PATH.write_text(json.dumps({to: made(to) for to in ("mlx", "paddle")}) + "\n", encoding="utf-8")
        return
    from importlib.metadata import version

    whole = json.loads(PATH.read_text(encoding="utf-8"))
    found = whole[what]
    found["version"] = version({"paddle": "paddlepaddle"}.get(what, what))
    for case in found["cases"].values():
        case["output"] = run(case["code"], *arrays(case["shapes"])).astype(int).tolist()  # whole numbers, each exact
    kept = {name: [np.array(w, "float32") for w in each] for name, each in found["chain"]["weights"].items()}
    found["chain"]["output"] = run(found["chain"]["code"], *arrays([(2, 7, 6, 2)]), kept).astype(int).tolist()
    imports = found["chain"]["code"].split("\n\n\n")[0]
    found["values"] = {
        name: run("\n    ".join([imports + "\ndef f(x):", *lines, "return y"]), numbers()).tolist()
        for name, lines in found["activations"].items()
    }
    PATH.write_text(json.dumps(whole, separators=(",", ":")) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
