"""Record which ops TensorFlow runs on a CPU for convolutions and products, with oneDNN and without.

    TensorFlow's Python:  python tools/recorders/record_tensorflow_kernels.py

oneDNN is on by default; TF_ENABLE_ONEDNN_OPTS=0 switches it off. It is read when TensorFlow is imported, so the
script starts itself once for each. All of TensorFlow's optimisers are on, as they are by default.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).parents[2] / "tests" / "recorded" / "tensorflow_kernels.json"
PROGRAMS = {
    "Conv2D": "plain",
    "Conv2D + BiasAdd + Relu": "layer",
    "MatMul": "product",
    "MatMul + BiasAdd + Relu": "dense",
}


def ran():
    """Return the op that ran for the last node of each program."""
    import numpy as np
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    tf.disable_resource_variables()
    images = tf.placeholder(tf.float32, [None, 16, 16, 8], name="images")
    rows = tf.placeholder(tf.float32, [None, 64], name="rows")
    filters, matrix = (tf.Variable(np.ones(shape, "float32")) for shape in ((3, 3, 8, 16), (64, 16)))
    bias = tf.Variable(np.ones(16, "float32"))
    tf.nn.conv2d(images, filters, 1, "SAME", name="plain")
    tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(images, filters, 1, "SAME"), bias), name="layer")
    tf.matmul(rows, matrix, name="product")
    tf.nn.relu(tf.nn.bias_add(tf.matmul(rows, matrix), bias), name="dense")
    found = {}
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for program, node in PROGRAMS.items():
            metadata = tf.RunMetadata()
            session.run(
                f"{node}:0",
                {images: np.ones((2, 16, 16, 8)), rows: np.ones((2, 64))},
                options=tf.RunOptions(output_partition_graphs=True),
                run_metadata=metadata,
            )
            nodes = [each for graph in metadata.partition_graphs for each in graph.node]
            (found[program],) = (each.op for each in nodes if each.name == node)
    return {"tensorflow": tf.__version__, "ops": found}


def main():
    """Write the file, or with ``--ran`` print what this process ran."""
    if "--ran" in sys.argv:
        print(json.dumps(ran()))
        return
    recorded = {"script": Path(__file__).name}
    for name, variable in (("default", {}), ("without oneDNN", {"TF_ENABLE_ONEDNN_OPTS": "0"})):
        environment = {key: value for key, value in os.environ.items() if key != "TF_ENABLE_ONEDNN_OPTS"}
        environment |= {"CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3", **variable}
        done = subprocess.run(
            [sys.executable, __file__, "--ran"], env=environment, capture_output=True, text=True, check=True
        )
        result = json.loads(done.stdout.splitlines()[-1])
        recorded |= {"versions": {"tensorflow": result["tensorflow"]}, name: result["ops"]}
    TARGET.write_text(json.dumps(recorded, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
