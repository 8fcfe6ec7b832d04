"""Record what tf.GradientTape.jacobian returns for a small network.

    pip install tensorflow-cpu==2.21.0 && python record_tensorflow_jacobians.py

`jacobians` is what both sides run: the test calls it with ``teachconv.tf``. All numbers are small integers in
float64, so every result is exact and must be equal.
"""

import json
import os
from pathlib import Path

import numpy as np


def jacobians(tf):
    """Return the Jacobians by name, as nested lists."""
    numbers = np.random.default_rng(0)
    x = tf.constant(numbers.integers(-3, 4, (2, 3, 4, 2)).astype("float64"))
    w = tf.Variable(numbers.integers(-2, 3, (2, 2, 2, 3)).astype("float64"))
    found = {}

    def network():
        y = tf.nn.relu(tf.nn.conv2d(x, w, [1, 2], "SAME"))
        return tf.reduce_sum(y * y, axis=[1]) - tf.nn.max_pool2d(y, 2, 2, "VALID")[:, 0]

    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = network()
        scalar = tf.reduce_sum(y)
    found["of a network by its input"], found["of a network by its filters"] = tape.jacobian(y, [x, w])
    found["of a number"] = tape.jacobian(scalar, w)
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            total = tf.reduce_sum(tf.nn.conv2d(x, w, [1, 2], "SAME") ** 2)  # relu and pools have no second order here
        slope = inner.gradient(total, w)
    found["a Hessian"] = outer.jacobian(slope, w)

    @tf.function
    def traced(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x * x
        return tape.jacobian(y, x)

    found["in a function"] = traced(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    return {name: value.numpy().tolist() for name, value in found.items()}


if __name__ == "__main__":
    os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
    import tensorflow

    target = Path(__file__).parents[2] / "tests" / "recorded" / "tensorflow_jacobians.json"
    versions = {"tensorflow": tensorflow.__version__, "numpy": np.__version__}
    recorded = {"script": Path(__file__).name, "versions": versions, "jacobians": jacobians(tensorflow)}
    target.write_text(json.dumps(recorded, separators=(",", ":")) + "\n")
