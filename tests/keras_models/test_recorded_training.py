"""Training as real Keras and PyTorch train: the same losses from the same weights, step by step."""

import numpy as np
import pytest
from keras_networks import NETWORKS, numbered, recorded, samples, train

import teachconv as tc
from teachconv import keras
from teachconv.backends import why_not

BACKENDS = [
    pytest.param(name, marks=pytest.mark.skipif(bool(why_not(name)), reason=str(why_not(name))))
    for name in ("cython", "numpy")
]
IN_TORCH = ("digits", "upscaling")


@pytest.mark.parametrize("name", NETWORKS)
def test_float64_losses_are_those_of_keras_and_torch(name):
    losses, model = train(name, "float64")
    _, arrays = recorded()
    peers = ["keras"] + ["torch"] * (name in IN_TORCH)
    for peer in peers:
        np.testing.assert_allclose(losses, arrays[f"{name}/{peer}_float64"], rtol=1e-9)
    for ours, theirs in zip(model.get_weights(), numbered(f"{name}/final"), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-12)
    predicted = model.predict(NETWORKS[name][3][:5])
    np.testing.assert_allclose(predicted, arrays[f"{name}/predicted"], rtol=1e-7)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", NETWORKS)
def test_float32_losses_are_as_near_to_float64_as_keras_own(name, backend):
    _, arrays = recorded()
    exact = arrays[f"{name}/keras_float64"]
    own = abs(arrays[f"{name}/keras_float32"] - exact).max()
    losses, _ = train(name, "float32", backend)
    assert abs(losses - exact).max() <= 2 * own


@pytest.mark.parametrize("name", NETWORKS)
def test_numpy_and_cython_train_alike(name):
    if why_not("cython"):
        pytest.skip(why_not("cython"))
    np.testing.assert_allclose(
        train(name, "float64", "numpy")[0], train(name, "float64", "cython")[0], rtol=1e-9
    )


@pytest.mark.parametrize("backend", ["reference", "scipy"])
def test_every_backend_trains(backend):
    _, arrays = recorded()
    for name in ("upscaling", "mixed") if backend == "scipy" else ("upscaling",):
        losses, _ = train(name, "float64", backend, steps=2)
        np.testing.assert_allclose(losses, arrays[f"{name}/keras_float64"][:2], rtol=1e-9)


def test_the_cupy_backend_trains(stand_in):
    """With the stand-in for CuPy: the arithmetic of the GPU kernels, on the host."""
    _, arrays = recorded()
    losses, _ = train("upscaling", "float32", "cupy", steps=2)
    np.testing.assert_allclose(losses, arrays["upscaling/keras_float64"][:2], rtol=1e-6)


def test_use_backend_chooses_the_backend_of_a_run():
    """The traced step asks for the default backend when it runs."""
    with tc.use_backend("numpy"):
        inside, _ = train("upscaling", "float32", steps=3)
    np.testing.assert_array_equal(inside, train("upscaling", "float32", "numpy", steps=3)[0])


@pytest.mark.skipif(bool(why_not("cython")), reason=str(why_not("cython")))
def test_a_seeded_run_repeats_bit_for_bit_for_any_number_of_threads():
    images, labels, _, _ = samples()

    def run(threads):
        before = tc.get_num_threads()
        tc.set_num_threads(threads)
        try:
            keras.utils.set_random_seed(5)
            model = keras.Sequential(
                [
                    keras.Input((8, 8, 1)),
                    keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
                    keras.layers.MaxPooling2D(),
                    keras.layers.Dropout(0.25),
                    keras.layers.Flatten(),
                    keras.layers.Dense(10),
                ]
            )
            model.compile(
                "adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True), backend="cython"
            )
            history = model.fit(images, labels, batch_size=16, epochs=2, verbose=0)
            return history.history["loss"], model.get_weights()
        finally:
            tc.set_num_threads(before)

    losses, weights = run(1)
    again, same = run(1)
    other, with_two = run(2)
    assert losses == again == other
    for a, b, c in zip(weights, same, with_two, strict=True):
        assert a.tobytes() == b.tobytes() == c.tobytes()
