"""Record what each layer of a small network computes in TFLite: tests/recorded/tflite_network.npz.

    pip install tensorflow==2.21.0 keras==3.15.1 ai-edge-litert==2.3.0 && python record_tflite_network.py

The network is `own_network` of tests/networks/test_comparing.py; TensorFlow's converter folds its batch normalisation into
the convolution before it. Run with the package and tests/ on PYTHONPATH.
"""

import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf
from networks import built_networks as nets
from networks.test_comparing import image, own_network

from teachconv.networks import recorder

RECORDED = Path(__file__).parents[2] / "tests" / "recorded"


def convert(model, path):
    """Write a Keras model as a TFLite file."""
    Path(path).write_bytes(tf.lite.TFLiteConverter.from_keras_model(model).convert())


if __name__ == "__main__":
    maker = own_network()
    file = str(Path(tempfile.mkdtemp()) / "network.tflite")
    convert(nets.build("keras", maker.parts, maker.input_shape), file)
    x = image(maker, "keras")
    recorder.save(RECORDED / "tflite_network.npz", recorder.record_tflite(file, np.ascontiguousarray(x)))
