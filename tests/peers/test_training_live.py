"""Training beside real Keras and PyTorch, live: the same losses from the same weights, in this process."""

import os

import numpy as np
import pytest
from keras_networks import ADAM, NETWORKS, STEPS, batch, compiled, numbered, samples, train
from torch_weights import load_state, state_of

from teachconv import keras

pytestmark = pytest.mark.peers
IMAGES, LABELS, _, SMALL = samples()


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


def torch_module(torch, name):
    nn = torch.nn
    if name == "digits":
        return nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(256, 10)
        )
    return nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.ConvTranspose2d(8, 1, 4, 2, 1))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", ["digits", "upscaling"])
def test_losses_and_weights_are_those_of_torch(torch, name, dtype):
    module = torch_module(torch, name).to(getattr(torch, dtype))
    model = compiled(name, dtype)
    state = state_of(model, module.state_dict())
    module.load_state_dict({key: torch.from_numpy(value) for key, value in state.items()})
    optimizer = torch.optim.Adam(
        module.parameters(), ADAM["learning_rate"], (ADAM["beta_1"], ADAM["beta_2"]), ADAM["epsilon"]
    )
    x, y = NETWORKS[name][3:]
    theirs = []
    for step in range(STEPS):
        rows = batch(step)
        output = module(torch.tensor(x[rows].transpose(0, 3, 1, 2).copy(), dtype=getattr(torch, dtype)))
        if name == "digits":
            loss = torch.nn.functional.cross_entropy(output, torch.tensor(y[rows], dtype=torch.int64))
        else:
            wanted = torch.tensor(y[rows].transpose(0, 3, 1, 2).copy(), dtype=getattr(torch, dtype))
            loss = torch.nn.functional.mse_loss(output, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        theirs.append(loss.item())
    ours, trained = train(name, dtype)
    np.testing.assert_allclose(ours, theirs, rtol=1e-9 if dtype == "float64" else 2e-6)
    trained_there = {key: value.numpy() for key, value in module.state_dict().items()}
    for key, value in state_of(trained, trained_there).items():
        np.testing.assert_allclose(
            value, trained_there[key], rtol=1e-6, atol=1e-8 if dtype == "float64" else 1e-4
        )


def test_weights_of_a_torch_module_give_its_output(torch):
    torch.manual_seed(0)
    nn = torch.nn
    module = nn.Sequential(
        nn.Conv2d(1, 6, 3, padding=1), nn.BatchNorm2d(6, eps=1e-3), nn.ReLU(), nn.Conv2d(6, 12, 3, groups=6),
        nn.AvgPool2d(2), nn.ConvTranspose2d(12, 5, 3, 2), nn.Flatten(), nn.Linear(5 * 49, 4),
    ).eval()  # fmt: skip
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((8, 8, 1)),
            layers.Conv2D(6, 3, padding="same"),
            layers.BatchNormalization(),
            layers.ReLU(),
            layers.DepthwiseConv2D(3, depth_multiplier=2),
            layers.AveragePooling2D(2),
            layers.Conv2DTranspose(5, 3, 2),
            layers.Flatten(),
            layers.Dense(4),
        ]
    )
    load_state(model, module.state_dict())
    with torch.no_grad():
        theirs = module(torch.tensor(IMAGES.transpose(0, 3, 1, 2).copy(), dtype=torch.float32)).numpy()
    np.testing.assert_allclose(model.predict(IMAGES), theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")  # Keras on PyTorch
def test_losses_are_those_of_keras():
    """With KERAS_BACKEND=torch or jax, whichever the process has loaded; both compute in real float64."""
    real = pytest.importorskip("keras", reason="keras is not installed")
    before = real.config.floatx()
    real.config.set_floatx("float32")
    try:
        model = real.Sequential(
            [
                real.Input((4, 4, 1)),
                real.layers.Conv2D(8, 3, padding="same", activation="relu"),
                real.layers.Conv2DTranspose(1, 4, strides=2, padding="same"),
            ]
        )
        model.set_weights(numbered("upscaling/initial"))
        model.compile(real.optimizers.Adam(**ADAM), loss="mse")
        theirs = []
        for step in range(STEPS):
            model.reset_metrics()
            theirs.append(model.train_on_batch(SMALL[batch(step)].astype("float32"), IMAGES[batch(step)]))
    finally:
        real.config.set_floatx(before)
    ours, mine = train("upscaling", "float32")
    np.testing.assert_allclose(ours, theirs, rtol=2e-6, err_msg=os.environ.get("KERAS_BACKEND", "keras"))
    mine.set_weights(model.get_weights())
    np.testing.assert_allclose(mine.predict(SMALL), model.predict(SMALL, verbose=0), rtol=1e-4, atol=1e-6)
