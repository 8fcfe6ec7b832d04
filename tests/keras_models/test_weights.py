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


def test_torch_weights_by_hand():
    """Flatten takes [rows, cols, channels] here and [channels, rows, cols] in PyTorch."""
    model = keras.Sequential([keras.Input((2, 2, 3)), layers.Flatten(), layers.Dense(1)])
    state = {"1.weight": np.arange(12.0, dtype="float32").reshape(1, 12), "1.bias": np.zeros(1, "float32")}
    keras.utils.weights_from_torch(model, state)
    x = np.zeros((1, 2, 2, 3), "float32")
    x[0, 1, 0, 2] = 1  # channel 2, row 1, column 0: the eleventh in PyTorch
    assert model.predict(x).tolist() == [[10.0]]
    np.testing.assert_array_equal(keras.utils.weights_to_torch(model, state)["1.weight"], state["1.weight"])


def test_every_layer_goes_to_torch_and_back():
    one, other = compiled("mixed", "float32"), NETWORKS["mixed"][0]()
    state = keras.utils.weights_to_torch(one)
    assert {key.rpartition(".")[2] for key in state} == {"weight", "bias", "running_mean", "running_var"}
    assert next(iter(state.values())).shape == (4, 1, 3, 3)
    keras.utils.weights_from_torch(other, state | {"bn.num_batches_tracked": np.int64(3)})
    for a, b in zip(one.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)


def test_torch_weights_that_do_not_fit_are_named():
    model = compiled("digits", "float32")
    state = keras.utils.weights_to_torch(model)
    wrong = dict(zip(state, [state[key].T for key in state], strict=True))
    with pytest.raises(ValueError, match=r"needs a weight of shape \(16, 1, 3, 3\)"):
        keras.utils.weights_from_torch(model, wrong)
    with pytest.raises(ValueError, match="must have 4 weights"):
        keras.utils.weights_from_torch(model, {})
    with pytest.raises(ValueError, match="like has no weight for"):
        keras.utils.weights_to_torch(model, {})


def test_recorded_keras_weights_go_in_as_they_are():
    """What a trained Keras model's get_weights() returned gives Keras' predictions."""
    _, arrays = recorded()
    model = compiled("upscaling", "float64")
    model.set_weights(numbered("upscaling/final"))
    np.testing.assert_allclose(model.predict(samples()[3][:5]), arrays["upscaling/predicted"], rtol=1e-12)
