"""Three networks with seeded random weights, each ported between Keras and PyTorch, and a mistake planted in each port.

    KERAS_BACKEND=torch python evaluation/ported_networks.py docs/recorded/ported_networks.txt

writes what `compare` says of the ports. Nothing is downloaded. docs/howto/port_a_network.md shows parts of this file.
"""

import sys
from pathlib import Path

import keras
import numpy as np
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 (its usual name)

import teachconv as tc


def seeded(weights, seed=0):
    """Return arrays of the shapes of some weights: variances positive, the others normal and small."""
    random = np.random.default_rng(seed)
    scale = [1 / max(1, np.prod(w.shape[:-1])) ** 0.5 for w in weights]
    made = [random.standard_normal(w.shape) * s for w, s in zip(weights, scale, strict=True)]
    return [
        (abs(array) + 0.5 if "variance" in w.path or "gamma" in w.path else array).astype("float32")
        for array, w in zip(made, weights, strict=True)
    ]


def carry(layer, module):
    """Give a module of PyTorch the weights of a layer of Keras."""
    arrays = layer.get_weights()
    if isinstance(module, nn.BatchNorm2d):
        names = ("weight", "bias", "running_mean", "running_var")
    else:
        names, kind = ("weight", "bias"), type(layer).__name__
        order = {"DepthwiseConv2D": (2, 3, 0, 1), "Dense": (1, 0)}.get(kind, (3, 2, 0, 1))
        arrays[0] = arrays[0].transpose(order)
    for name, array in zip(names, arrays, strict=False):
        getattr(module, name).data.copy_(torch.from_numpy(array.copy()))


# -- A MobileNetV3 of TensorFlow, in torchvision's form -----------------------------------------------


def mobilenet():
    """The first blocks of a MobileNetV3: SAME padding at stride 2, hard swish, squeeze and excitation."""
    layers = keras.layers
    x = image = keras.Input((32, 32, 3))
    for name, make in (
        ("stem", lambda: layers.Conv2D(8, 3, 2, "same", use_bias=False, name="stem")),
        ("depthwise", lambda: layers.DepthwiseConv2D(5, 2, "same", use_bias=False, name="depthwise")),
    ):
        x = layers.BatchNormalization(epsilon=1e-3, name=f"{name}_norm")(make()(x))
        x = layers.Activation("hard_swish", name=f"{name}_swish")(x)
    gate = layers.GlobalAveragePooling2D(keepdims=True, name="squeeze")(x)
    gate = layers.Conv2D(4, 1, activation="relu", name="reduce")(gate)
    gate = layers.Conv2D(8, 1, activation="hard_sigmoid", name="expand")(gate)
    x = layers.Multiply(name="excite")([x, gate])
    x = layers.Conv2D(12, 1, use_bias=False, name="project")(x)
    x = layers.BatchNormalization(epsilon=1e-3, name="project_norm")(x)
    x = layers.Dense(5, name="classes")(layers.GlobalAveragePooling2D(name="pool")(x))
    model = keras.Model(image, x)
    model.set_weights(seeded(model.weights))
    return model


class MobileNet(nn.Module):
    """Its port: torchvision pads (k - 1) // 2 on both sides, which is not SAME at stride 2."""

    def __init__(self, original, padding_of_depthwise):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, 2, bias=False)
        self.depthwise = nn.Conv2d(8, 8, 5, 2, bias=False, groups=8)
        self.reduce, self.expand = nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1)
        self.project = nn.Conv2d(8, 12, 1, bias=False)
        self.stem_norm, self.depthwise_norm, self.project_norm = (nn.BatchNorm2d(n, 1e-3) for n in (8, 8, 12))
        self.classes, self.padding = nn.Linear(12, 5), padding_of_depthwise
        for name, module in self.named_children():
            carry(original.get_layer(name), module)

    def forward(self, x):
        x = F.hardswish(self.stem_norm(self.stem(F.pad(x, (0, 1, 0, 1)))))
        x = F.hardswish(self.depthwise_norm(self.depthwise(F.pad(x, self.padding))))
        gate = F.hardsigmoid(self.expand(F.relu(self.reduce(x.mean((2, 3), keepdim=True)))))
        return self.classes(self.project_norm(self.project(x * gate)).mean((2, 3)))


# -- A U-Net of PyTorch, in Keras -----------------------------------------------------------------


class UNet(nn.Module):
    """One step down and one up, the two joined."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(1)
        self.first, self.below = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 12, 3, padding=1)
        self.up, self.last = nn.ConvTranspose2d(12, 6, 2, 2), nn.Conv2d(12, 2, 3, padding=1)

    def forward(self, x):
        skip = torch.relu(self.first(x))
        below = torch.relu(self.below(F.max_pool2d(skip, 2)))
        return self.last(torch.cat([skip, self.up(below)], 1))


def unet(original, skip_first):
    """Its port; the U-Nets of some repositories join in the other order."""
    layers = keras.layers
    image = keras.Input((16, 16, 3))
    skip = layers.Conv2D(6, 3, padding="same", activation="relu", name="first")(image)
    below = layers.Conv2D(12, 3, padding="same", activation="relu", name="below")(
        layers.MaxPooling2D(2)(skip)
    )
    up = layers.Conv2DTranspose(6, 2, 2, name="up")(below)
    joined = layers.Concatenate(name="join")([skip, up] if skip_first else [up, skip])
    model = keras.Model(image, layers.Conv2D(2, 3, padding="same", name="last")(joined))
    return with_weights(model, original)


def with_weights(model, original, flipped=""):
    """Give a Keras model the weights of the modules of its layers' names; one filter may be flipped."""
    for name, module in original.named_children():
        if isinstance(module, nn.BatchNorm2d):
            arrays = [module.weight, module.bias, module.running_mean, module.running_var]
        else:
            kernel = module.weight.permute(2, 3, 1, 0)  # of both kinds of convolutions
            arrays = [torch.flip(kernel, (0, 1)) if name == flipped else kernel, module.bias]
        given = [array.detach().numpy().copy() for array in arrays if array is not None]
        model.get_layer(name).set_weights(given)
    return model


# -- The generator of a DCGAN, in Keras -----------------------------------------------------------


class Generator(nn.Module):
    """Two transposed convolutions of stride 2 behind one that makes the first image."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.start = nn.ConvTranspose2d(16, 12, 4, 1, 0, bias=False)
        self.grow = nn.ConvTranspose2d(12, 8, 4, 2, 1, bias=False)
        self.image = nn.ConvTranspose2d(8, 3, 4, 2, 1, bias=False)
        self.start_norm, self.grow_norm = nn.BatchNorm2d(12), nn.BatchNorm2d(8)

    def forward(self, x):
        x = torch.relu(self.start_norm(self.start(x)))
        return torch.tanh(self.image(torch.relu(self.grow_norm(self.grow(x)))))


def generator(original, flipped):
    """Its port; "a transposed convolution flips its filter" is a mistake: both frameworks store it alike."""
    layers = keras.layers
    model = keras.Sequential([keras.Input((1, 1, 16))])
    for name, outs, step, padding in (("start", 12, 1, "valid"), ("grow", 8, 2, "same")):
        model.add(layers.Conv2DTranspose(outs, 4, step, padding, use_bias=False, name=name))
        model.add(layers.BatchNormalization(epsilon=1e-5, name=f"{name}_norm"))
        model.add(layers.ReLU())
    model.add(layers.Conv2DTranspose(3, 4, 2, "same", use_bias=False, activation="tanh", name="image"))
    return with_weights(model, original, flipped)


# ---------------------------------------------------------------------------------------------


def ports():
    """Yield (what it is, the original, the right port, the wrong one, its layer, the code, the input)."""
    random = np.random.default_rng(0)
    first = mobilenet()
    right, wrong = (MobileNet(first, (before, after) * 2).eval() for before, after in ((1, 2), (2, 2)))
    x = random.standard_normal((1, 32, 32, 3)).astype("float32")
    yield "MobileNetV3 of Keras in PyTorch", first, right, wrong, "depthwise", "padding", x
    second = UNet().eval()
    x = random.standard_normal((1, 3, 16, 16)).astype("float32")
    yield "U-Net of PyTorch in Keras", second, unet(second, True), unet(second, False), "join", "wiring", x
    third = Generator().eval()
    x = random.standard_normal((1, 16, 1, 1)).astype("float32")
    ported = generator(third, ""), generator(third, "grow")
    yield "DCGAN's generator of PyTorch in Keras", third, *ported, "grow", "flipped_filter", x


def main():
    """Write the verdicts."""
    parts = []
    for what, original, right, wrong, _, _, x in ports():
        texts = [str(tc.compare(original, port, x)) for port in (right, wrong)]
        verdict, found = texts[0].split("\nitself")[0], texts[1].split("\nitself")[0]
        parts.append(f"{what}\n\n{verdict}\n\nwith the mistake:\n\n{found}\n")
    Path(sys.argv[1]).write_text("\n".join(parts), encoding="utf-8")


if __name__ == "__main__":
    main()
