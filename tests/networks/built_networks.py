"""Small networks as plain layers, which are built with PyTorch, Keras, teachconv.keras and ONNX; and changes of one.

A network is a list of `Part`: what every framework is given is made from the same numbers.
"""

from dataclasses import dataclass, field, replace

import numpy as np


@dataclass(frozen=True)
class Part:
    """One layer: a kind, what it is called, its arguments by neutral names, and its weights."""

    kind: str  # conv, depthwise, transposed, dense, max_pool, average_pool, global_pool, norm, relu, leaky, flatten
    name: str
    facts: dict = field(default_factory=dict)
    weights: dict = field(default_factory=dict)

    def with_facts(self, **facts):
        return replace(self, facts=self.facts | facts)

    def with_weights(self, **weights):
        return replace(self, weights=self.weights | weights)


class Maker:
    """Makes parts with seeded weights, and follows the shape [rows, cols, channels]."""

    def __init__(self, seed, shape):
        self.random = np.random.default_rng(seed)
        self.shape, self.input_shape, self.parts = shape, shape, []

    def _normal(self, *shape):
        return self.random.standard_normal(shape).astype("float32") / np.float32(
            max(1, np.prod(shape[:-1])) ** 0.5
        )

    def conv(self, outs, size=3, stride=1, padding="same", dilation=1, groups=1, bias=True):
        rows, cols, ins = self.shape
        weights = {"kernel": self._normal(size, size, ins // groups, outs)}
        if bias:
            weights["bias"] = self._normal(outs)
        facts = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
        reach = (size - 1) * dilation
        rows, cols = (
            -(-n // stride) if padding == "same" else (n - reach - 1) // stride + 1 for n in (rows, cols)
        )
        return self._add("conv", (rows, cols, outs), facts, weights)

    def depthwise(self, size=3, stride=1):
        rows, cols, ins = self.shape
        weights = {"kernel": self._normal(size, size, ins, 1), "bias": self._normal(ins)}
        facts = {"stride": stride, "padding": "same", "dilation": 1}
        return self._add("depthwise", (-(-rows // stride), -(-cols // stride), ins), facts, weights)

    def norm(self):
        channels = self.shape[-1]
        weights = {"gamma": 1 + self._normal(channels) / 2, "beta": self._normal(channels)}
        weights |= {"mean": self._normal(channels) / 4, "variance": 0.5 + self._normal(channels) ** 2}
        return self._add("norm", self.shape, {"eps": 1e-3}, weights)

    def relu(self):
        return self._add("relu", self.shape)

    def leaky(self, slope=0.125):
        return self._add("leaky", self.shape, {"slope": slope})

    def pool(self, kind="max_pool", size=2, stride=2, padding="valid"):
        rows, cols, channels = self.shape
        rows, cols = (
            -(-n // stride) if padding == "same" else (n - size) // stride + 1 for n in (rows, cols)
        )
        return self._add(kind, (rows, cols, channels), {"size": size, "stride": stride, "padding": padding})

    def global_pool(self):
        return self._add("global_pool", self.shape[-1:])

    def flatten(self):
        return self._add("flatten", (int(np.prod(self.shape)),))

    def dense(self, outs):
        weights = {"kernel": self._normal(self.shape[-1], outs), "bias": self._normal(outs)}
        return self._add("dense", (outs,), {}, weights)

    def _add(self, kind, shape, facts=None, weights=None):
        facts = (facts or {}) | {"input_shape": self.shape}
        self.parts.append(Part(kind, f"{kind}_{len(self.parts)}", facts, weights or {}))
        self.shape = shape
        return self


def plain(seed):
    """Convolutions, pools and a flattened image."""
    maker = Maker(seed, (22, 20, 3)).conv(6, 3, 2).relu().conv(8, 3, padding="valid").relu().pool()
    return maker.conv(6, 5, dilation=1).leaky().pool("average_pool", 2, 1).flatten().dense(10)


def normed(seed):
    """As a small ResNet without branches: convolution, batch normalisation, ReLU."""
    maker = (
        Maker(seed, (12, 12, 4))
        .conv(8, 3, 2, bias=False)
        .norm()
        .relu()
        .conv(8, 3, groups=2, bias=False)
        .norm()
    )
    return maker.relu().pool("max_pool", 3, 2, "same").conv(12, 1).norm().relu().global_pool().dense(5)


def mobile(seed):
    """Depthwise and dilated convolutions."""
    maker = (
        Maker(seed, (14, 14, 3))
        .conv(6, 3, 2)
        .relu()
        .depthwise(3, 1)
        .relu()
        .conv(8, 1)
        .leaky()
        .depthwise(3, 2)
    )
    return maker.norm().relu().conv(6, 3, 1, "same", 2).relu().global_pool().dense(4)


NETWORKS = {"plain": plain, "normed": normed, "mobile": mobile}


def same_pads(n, size, stride, dilation=1):
    """(before, after) of TensorFlow's SAME."""
    total = max(0, (-(-n // stride) - 1) * stride + (size - 1) * dilation + 1 - n)
    return total // 2, total - total // 2


def pads_of(part):
    """((top, bottom), (left, right)) of a part."""
    padding, facts = part.facts.get("padding", "valid"), part.facts
    if padding == "valid":
        return (0, 0), (0, 0)
    size = part.weights["kernel"].shape[0] if "kernel" in part.weights else facts["size"]
    if padding == "same":
        rows, cols = facts["input_shape"][:2]
        return tuple(same_pads(n, size, facts["stride"], facts.get("dilation", 1)) for n in (rows, cols))
    return padding


# ---------------------------------------------------------------------------------------------
# The frameworks
# ---------------------------------------------------------------------------------------------


def keras_model(parts, shape, keras):
    """A Keras or teachconv.keras model; explicit padding is a ZeroPadding2D, which teachconv.keras lacks."""
    layers, model_layers = keras.layers, [keras.Input(shape)]
    for part in parts:
        facts, name = part.facts, part.name
        padding = facts.get("padding", "valid")
        if not isinstance(padding, str):
            if part.kind == "average_pool":
                raise NotImplementedError
            model_layers.append(layers.ZeroPadding2D(padding, name=f"{name}_pad"))
            padding = "valid"
        words = {"strides": facts.get("stride", 1), "padding": padding, "name": name}
        if "dilation" in facts:
            words["dilation_rate"] = facts["dilation"]
        model_layers.append(_keras_layer(layers, part, words))
    model = keras.Sequential(model_layers)
    for part in parts:
        names = ("kernel", "bias", "gamma", "beta", "mean", "variance")
        weights = [part.weights[name] for name in names if name in part.weights]
        model.get_layer(part.name).set_weights(weights)
    return model


def _keras_layer(layers, part, words):
    facts, name, kernel = part.facts, part.name, part.weights.get("kernel")
    bias = {"use_bias": "bias" in part.weights}
    return {
        "conv": lambda: layers.Conv2D(
            kernel.shape[3], kernel.shape[:2], groups=facts["groups"], **words, **bias
        ),
        "depthwise": lambda: layers.DepthwiseConv2D(kernel.shape[:2], **words, **bias),
        "dense": lambda: layers.Dense(kernel.shape[1], name=name, **bias),
        "norm": lambda: layers.BatchNormalization(epsilon=facts["eps"], name=name),
        "relu": lambda: layers.ReLU(name=name),
        "leaky": lambda: layers.LeakyReLU(negative_slope=facts["slope"], name=name),
        "max_pool": lambda: layers.MaxPooling2D(facts["size"], **words),
        "average_pool": lambda: layers.AveragePooling2D(facts["size"], **words),
        "global_pool": lambda: layers.GlobalAveragePooling2D(name=name),
        "flatten": lambda: layers.Flatten(name=name),
    }[part.kind]()


def torch_model(parts, torch):
    """A torch.nn.Sequential; padding that is not the same on both sides is a ZeroPad2d."""
    nn, found = torch.nn, []
    for part in parts:
        facts, weights = part.facts, part.weights
        (top, bottom), (left, right) = pads_of(part)
        symmetric = top == bottom and left == right
        if not symmetric:
            value = -float("inf") if part.kind == "max_pool" else 0.0
            found.append((f"{part.name}_pad", nn.ConstantPad2d((left, right, top, bottom), value)))
        padding = (top, left) if symmetric else 0
        kernel = weights.get("kernel")
        words = {"stride": facts.get("stride", 1), "padding": padding}
        if part.kind in ("conv", "depthwise"):
            kernel = kernel.transpose(3, 2, 0, 1) if part.kind == "conv" else kernel.transpose(2, 3, 0, 1)
            groups = facts["groups"] if part.kind == "conv" else kernel.shape[0]
            layer = nn.Conv2d(
                kernel.shape[1] * groups, kernel.shape[0], kernel.shape[2:], dilation=facts["dilation"], groups=groups,
                bias="bias" in weights, **words,
            )  # fmt: skip
        elif part.kind == "dense":
            kernel = kernel.T
            layer = nn.Linear(kernel.shape[1], kernel.shape[0], bias="bias" in weights)
        elif part.kind == "norm":
            layer = nn.BatchNorm2d(len(weights["gamma"]), eps=facts["eps"])
            names = {"weight": "gamma", "bias": "beta", "running_mean": "mean", "running_var": "variance"}
            state = {name: torch.from_numpy(weights[ours].copy()) for name, ours in names.items()}
            layer.load_state_dict(state | {"num_batches_tracked": torch.tensor(0)})
        elif part.kind == "average_pool":
            layer = nn.AvgPool2d(facts["size"], count_include_pad=False, **words)
        else:
            layer = _torch_layer(nn, part.kind, facts, words)
        if kernel is not None:
            with torch.no_grad():
                layer.weight.copy_(torch.from_numpy(np.ascontiguousarray(kernel)))
                if "bias" in weights:
                    layer.bias.copy_(torch.from_numpy(weights["bias"].copy()))
        found.append((part.name, layer))
    model = nn.Sequential()
    for name, layer in found:
        model.add_module(name, layer)
    return model.eval()


def _torch_layer(nn, kind, facts, words):
    return {
        "relu": lambda: nn.ReLU(inplace=True),
        "leaky": lambda: nn.LeakyReLU(facts["slope"]),
        "max_pool": lambda: nn.MaxPool2d(facts["size"], **words),
        "global_pool": lambda: nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten()),
        "flatten": lambda: nn.Flatten(),
    }[kind]()


def onnx_model(parts, shape, onnx, batch=2):
    """An onnx.ModelProto; padding is the file's numbers."""
    nodes, initializers, name = [], [], "x"

    def weight(of, value):
        initializers.append(onnx.numpy_helper.from_array(np.ascontiguousarray(value), of))
        return of

    for part in parts:
        facts, weights, kernel = part.facts, part.weights, part.weights.get("kernel")
        (top, bottom), (left, right) = pads_of(part)
        words = {"pads": [top, left, bottom, right], "strides": [facts.get("stride", 1)] * 2}
        inputs, more = [name], []
        if part.kind in ("conv", "depthwise"):
            order = (3, 2, 0, 1) if part.kind == "conv" else (2, 3, 0, 1)
            groups = facts["groups"] if part.kind == "conv" else kernel.shape[2]
            more = [weight(f"{part.name}.kernel", kernel.transpose(order))]
            kind, words = "Conv", words | {"dilations": [facts["dilation"]] * 2, "group": groups}
        elif part.kind == "dense":
            kind, words, more = "Gemm", {"transB": 1}, [weight(f"{part.name}.kernel", kernel.T)]
        elif part.kind == "norm":
            kind, words = "BatchNormalization", {"epsilon": facts["eps"]}
            more = [
                weight(f"{part.name}.{key}", weights[key]) for key in ("gamma", "beta", "mean", "variance")
            ]
        elif part.kind in ("max_pool", "average_pool"):
            kind = "MaxPool" if part.kind == "max_pool" else "AveragePool"
            words |= {"kernel_shape": [facts["size"]] * 2}
        elif part.kind == "global_pool":
            nodes.append(
                onnx.helper.make_node(
                    "ReduceMean", [name], [f"{part.name}_out"], name=part.name, axes=[2, 3], keepdims=0
                )
            )
            name = f"{part.name}_out"
            continue
        else:
            kind, words = {
                "relu": ("Relu", {}),
                "leaky": ("LeakyRelu", {"alpha": facts.get("slope")}),
                "flatten": ("Flatten", {}),
            }[part.kind]
        if "bias" in weights:
            more.append(weight(f"{part.name}.bias", weights["bias"]))
        nodes.append(
            onnx.helper.make_node(kind, inputs + more, [f"{part.name}_out"], name=part.name, **words)
        )
        name = f"{part.name}_out"
    rows, cols, channels = shape
    helper, real = onnx.helper, onnx.TensorProto.FLOAT
    graph = helper.make_graph(
        nodes, "network", [helper.make_tensor_value_info("x", real, [batch, channels, rows, cols])],
        [helper.make_tensor_value_info(name, real, None)], initializers,
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def in_channels_first(parts):
    """The parts for frameworks with channels first: a matrix behind a flattened image has its rows in another order."""
    found = list(parts)
    for at, part in enumerate(parts):
        if part.kind == "dense" and parts[at - 1].kind == "flatten":
            rows, cols, channels = parts[at - 1].facts["input_shape"]
            kernel = part.weights["kernel"].reshape(rows, cols, channels, -1).transpose(2, 0, 1, 3)
            found[at] = part.with_weights(kernel=kernel.reshape(rows * cols * channels, -1))
    return found


def build(framework, parts, shape):
    """A model of a framework from parts, which have TensorFlow's layouts."""
    if framework in ("keras", "teachconv"):
        if framework == "keras":
            import keras
        else:
            from teachconv import keras
        return keras_model(parts, shape, keras)
    if framework == "torch":
        import torch

        return torch_model(in_channels_first(parts), torch)
    import onnx

    return onnx_model(in_channels_first(parts), shape, onnx)


# ---------------------------------------------------------------------------------------------
# One change
# ---------------------------------------------------------------------------------------------


def changes(part):
    """Yield (what changes, the codes that name it, the changed part) for every change of a part."""
    facts, weights = part.facts, part.weights
    if part.kind in ("conv", "depthwise"):
        kernel = weights["kernel"]
        size, stride, dilation = kernel.shape[0], facts["stride"], facts["dilation"]
        if facts["padding"] == "same" and size > 1:
            pads = pads_of(part)
            if any(before != after for before, after in pads):
                other = tuple((after, before) for before, after in pads)
                yield "padding side", {"padding_side"}, part.with_facts(padding=other)
                half = ((size // 2, size // 2),) * 2
                if half != pads:
                    yield "symmetric padding", {"padding", "padding_side"}, part.with_facts(padding=half)
            if dilation == 1 and stride == 1:
                yield "valid", {"padding", "padding_mode"}, part.with_facts(padding="valid")
        if stride == 2:
            yield "stride", {"stride", "stride_and_padding"}, part.with_facts(stride=1, padding=pads_of(part))
        if dilation > 1:
            yield "dilation", {"dilation", "dilation_and_padding"}, part.with_facts(dilation=1)
        if size > 1:
            yield "flipped", {"flipped_filter"}, part.with_weights(kernel=kernel[::-1, ::-1])
            yield (
                "rows and columns",
                {"swapped_filter_axes"},
                part.with_weights(kernel=kernel.transpose(1, 0, 2, 3)),
            )
        if part.kind == "conv" and kernel.shape[2] > 1:
            reshaped = kernel.transpose(3, 2, 0, 1).reshape(kernel.shape)
            yield (
                "reshaped",
                {"layout", "reshaped_filter", "transposed_filter", "swapped_filter_axes"},
                part.with_weights(kernel=reshaped),
            )
        if part.kind == "conv" and kernel.shape[2] == kernel.shape[3]:
            yield "in and out", {"transposed_filter"}, part.with_weights(kernel=kernel.transpose(0, 1, 3, 2))
        if "bias" in weights:
            yield "bias", {"bias", "bias_missing", "weights"}, part.with_weights(bias=0 * weights["bias"])
    if part.kind == "dense":
        yield "bias", {"bias", "bias_missing", "weights"}, part.with_weights(bias=0 * weights["bias"])
    if part.kind == "norm":
        yield "eps", {"eps"}, part.with_facts(eps=0.05)
        yield "mean and beta", {"weights"}, part.with_weights(mean=weights["beta"], beta=weights["mean"])
    if part.kind == "leaky":
        yield "slope", {"slope"}, part.with_facts(slope=0.01)
    if part.kind in ("max_pool", "average_pool"):
        other = "average_pool" if part.kind == "max_pool" else "max_pool"
        yield "kind of pool", {"op_type"}, replace(part, kind=other)
        if facts["size"] > facts["stride"] and any(before != after for before, after in pads_of(part)):
            swapped = tuple((after, before) for before, after in pads_of(part))
            if part.kind == "max_pool":
                yield "padding side", {"padding_side"}, part.with_facts(padding=swapped)


def flattened_wrongly(parts, at):
    """A matrix behind a flattened image whose rows have the order of another layout."""
    rows, cols, channels = parts[at - 1].facts["input_shape"]
    kernel = parts[at].weights["kernel"].reshape(channels, rows, cols, -1).transpose(1, 2, 0, 3)
    return parts[at].with_weights(kernel=kernel.reshape(rows * cols * channels, -1))


def mutants(parts):
    """Yield (name of the layer, what changes, the codes that name it, the changed parts)."""
    for at, part in enumerate(parts):
        for what, codes, changed in changes(part):
            yield part.name, what, codes, [*parts[:at], changed, *parts[at + 1 :]]
        if part.kind == "dense" and parts[at - 1].kind == "flatten":
            made = flattened_wrongly(parts, at)
            yield part.name, "order of a flattened image", _FLATTENED, [*parts[:at], made, *parts[at + 1 :]]
        if part.kind == "relu":
            yield part.name, "relu left out", {"missing"}, [*parts[:at], *parts[at + 1 :]]


_FLATTENED = {
    "layout",
    "reshaped_image",
    "reshaped_filter",
    "swapped_filter_axes",
    "transposed_filter",
    "flattened",
}
