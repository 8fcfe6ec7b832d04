"""Two networks of PyTorch as layers for `teachconv.stream`: a causal TCN and the generator of HiFi-GAN.

    python examples/streamed_networks.py

streams both with seeded weights and compares with the whole. A state dict of the original, as NumPy arrays,
goes in where the seeded one does. evaluation/networks_to_stream.py compares with PyTorch.
"""

import numpy as np

import teachconv as tc


def fold_weight_norm(state):
    """Return a state dict without weight normalisation: every filter is its direction times its length."""
    folded = {name: array for name, array in state.items() if not name.endswith(("_g", "_v"))}
    for name, direction in state.items():
        if name.endswith("_v"):
            length = np.sqrt((direction**2).sum((1, 2), keepdims=True))
            folded[name.removesuffix("_v")] = state[name[:-1] + "g"] * direction / length
    return folded


def relu(x):
    """Return the larger of each number and 0."""
    return np.maximum(x, 0)


def tcn(weights, levels=4):
    """A temporal convolutional network: Bai, Kolter and Koltun 2018, github.com/locuslab/TCN."""

    def conv(name, dilation=1):
        w = weights[f"{name}.weight"].transpose(2, 1, 0)  # [out, in, taps] -> [taps, in, out]
        return tc.conv1d, w, {"padding": "CAUSAL", "dilations": dilation, "bias": weights[f"{name}.bias"]}

    layers = []
    for level in range(levels):
        block, dilation = f"network.{level}", 2**level
        main = [conv(f"{block}.conv1", dilation), relu, conv(f"{block}.conv2", dilation), relu]
        skip = [conv(f"{block}.downsample")] if f"{block}.downsample.weight" in weights else []
        layers += [(np.add, main, skip), relu]
    return [*layers, conv("linear")]


def leaky(slope):
    """Return the function that multiplies negative numbers by a slope."""
    return lambda x: np.where(x > 0, x, np.float32(slope) * x)


def mean(*branches):
    """Return the mean of what branches give, added from the first to the last."""
    return sum(branches[1:], branches[0]) / np.float32(len(branches))


def generator(weights, rates=(8, 8, 2, 2), dilations=(1, 3, 5), kernels=3):
    """The generator of HiFi-GAN V1: Kong, Kim and Bae 2020, github.com/jik876/hifi-gan."""

    def conv(name, dilation=1):
        w = weights[f"{name}.weight"].transpose(2, 1, 0)  # [out, in, taps] -> [taps, in, out]
        return tc.conv1d, w, {"padding": "SAME", "dilations": dilation, "bias": weights[f"{name}.bias"]}

    def residual(block, number):
        convs = conv(f"{block}.convs1.{number}", dilations[number]), conv(f"{block}.convs2.{number}")
        return (np.add, [leaky(0.1), convs[0], leaky(0.1), convs[1]], [])

    layers = [conv("conv_pre")]
    for level, rate in enumerate(rates):
        w = weights[f"ups.{level}.weight"].transpose(2, 1, 0)  # [in, out, taps] -> [taps, out, in]
        crop = (len(w) - rate) // 2
        words = {"strides": rate, "padding": ((crop, crop),), "bias": weights[f"ups.{level}.bias"]}
        blocks = (f"resblocks.{level * kernels + number}" for number in range(kernels))
        fusion = [[residual(block, number) for number in range(len(dilations))] for block in blocks]
        layers += [leaky(0.1), (tc.conv1d_transpose, w, words), (mean, *fusion)]
    return [*layers, leaky(0.01), conv("conv_post"), np.tanh]


# -- Seeded weights of their shapes ---------------------------------------------------------------


def tcn_shapes(inputs=1, channels=16, outputs=10, taps=3, levels=4):
    """Return the shapes of the filters of a TCN by name, [out, in, taps]."""
    shapes = {"linear": (outputs, channels, 1)}
    for level in range(levels):
        block, ins = f"network.{level}", channels if level else inputs
        shapes[f"{block}.conv1"], shapes[f"{block}.conv2"] = (channels, ins, taps), (channels, channels, taps)
        if ins != channels:
            shapes[f"{block}.downsample"] = (channels, ins, 1)
    return shapes


def generator_shapes(channels=32, mels=80, rates=(8, 8, 2, 2), taps=(3, 7, 11)):
    """Return the shapes of the filters of a generator by name; V1 has 512 channels."""
    shapes = {"conv_pre": (channels, mels, 7)}
    for level, rate in enumerate(rates):
        shapes[f"ups.{level}"] = (channels, channels // 2, 2 * rate)
        channels //= 2
        for number, k in enumerate(taps):
            for part in range(6):
                name = f"resblocks.{level * len(taps) + number}.convs{1 + part // 3}.{part % 3}"
                shapes[name] = (channels, channels, k)
    return {**shapes, "conv_post": (1, channels, 7)}


PLAIN = ("linear", "downsample")  # the layers of a TCN that have no weight normalisation


def seeded(shapes):
    """Return a state dict with weight normalisation, as PyTorch's ``torch.nn.utils.weight_norm`` names it."""
    rng, state = np.random.default_rng(0), {}
    for name, shape in shapes.items():
        v = rng.normal(0, 1, shape).astype("float32")
        outs = shape[1] if name.startswith("ups") else shape[0]
        state[f"{name}.bias"] = rng.normal(0, 0.1, outs).astype("float32")
        if name.endswith(PLAIN):
            state[f"{name}.weight"] = v / np.float32(shape[1] ** 0.5)
        else:
            state[f"{name}.weight_v"] = v
            state[f"{name}.weight_g"] = np.ones((shape[0], 1, 1), "float32")
    return state


def whole(layers, x):
    """Return what a list of layers gives for a whole input, each op with the algorithm that a stream has."""
    for layer in layers:
        if callable(layer):
            x = layer(x)
        elif isinstance(layer[1], list):
            x = layer[0](*(whole(branch, x) for branch in layer[1:]))
        else:
            op, w, words = layer
            x = op(x, w, algorithm="phases" if op is tc.conv1d_transpose else "row_gemm", **words)
    return x


def main():
    """Stream both, and compare."""
    rng = np.random.default_rng(1)
    for make, shapes, length in ((tcn, tcn_shapes(), 300), (generator, generator_shapes(), 24)):
        layers = make(fold_weight_norm(seeded(shapes)))
        ins = next(shape for name, shape in shapes.items() if name in ("conv_pre", "network.0.conv1"))[1]
        x = rng.normal(0, 1, (1, length, ins)).astype("float32")
        stream, cuts = tc.stream(layers), np.sort(rng.integers(0, length, 12))
        parts = [stream.push(chunk) for chunk in np.split(x, cuts, axis=1)]
        head = str(stream).split("\n")[0]
        result = np.concatenate([*parts, stream.flush()], axis=1)
        same = np.array_equal(result, whole(layers, x))
        print(f"{make.__name__}: {len(parts)} chunks of {length} inputs, the bits of the whole: {same}")
        print(f"  {stream.rate} outputs for each input; {head}")


if __name__ == "__main__":
    main()
