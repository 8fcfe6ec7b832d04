"""Weights to files and back, and to PyTorch and back."""

import numpy as np
import pytest
from keras_networks import NETWORKS, compiled, numbered, recorded, samples

from teachconv import keras
from teachconv.keras import layers


@pytest.mark.parametrize("ending", [".weights.npz", ".safetensors"])
def test_a_file_gives_the_weights_back(tmp_path, ending):
    if ending == ".safetensors":
        pytest.importorskip("safetensors")
    one, other = compiled("mixed", "float32"), NETWORKS["mixed"][0]()
    one.save_weights(tmp_path / f"w{ending}")
    other.load_weights(tmp_path / f"w{ending}")
    for a, b in zip(one.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(FileExistsError):
        one.save_weights(tmp_path / f"w{ending}", overwrite=False)
    another = NETWORKS["digits"][0]()
    before = another.get_weights()
    with pytest.raises(ValueError, match=r"it lacks conv2d/bias and has also .*batch_normalization/gamma"):
        another.load_weights(tmp_path / f"w{ending}")
    assert all((a == b).all() for a, b in zip(before, another.get_weights(), strict=True))


def test_other_files_are_refused(tmp_path):
    model = NETWORKS["digits"][0]()
    with pytest.raises(ValueError, match=r"must end in '\.weights\.npz' or '\.safetensors'"):
        model.save_weights(tmp_path / "w.h5")
    with pytest.raises(ValueError, match="has no weights yet"):
        keras.Sequential([layers.Dense(3)]).save_weights(tmp_path / "w.weights.npz")
    other = keras.Sequential(
        [keras.Input((8, 8, 1)), layers.Conv2D(4, 3, padding="same"), layers.MaxPooling2D()]
    )
    other.add(layers.Flatten())
    other.add(layers.Dense(10))
    other.save_weights(tmp_path / "w.weights.npz")
    with pytest.raises(ValueError, match=r"has shape \(3, 3, 1, 16\); got \(3, 3, 1, 4\)"):
        model.load_weights(tmp_path / "w.weights.npz")


def test_the_removed_converters_name_their_successor():
    with pytest.raises(AttributeError, match=r"nearest: get_weights .*convert_filters.*removed in 0\.2"):
        keras.utils.weights_to_torch  # noqa: B018


def test_recorded_keras_weights_go_in_as_they_are():
    """What a trained Keras model's get_weights() returned gives Keras' predictions."""
    _, arrays = recorded()
    model = compiled("upscaling", "float64")
    model.set_weights(numbered("upscaling/final"))
    np.testing.assert_allclose(model.predict(samples()[3][:5]), arrays["upscaling/predicted"], rtol=1e-12)
