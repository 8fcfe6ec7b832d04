"""Networks that compute the same function in other words, each with a twin in which one thing differs.

    PYTHONPATH=. python evaluation/equal_networks.py

prints how many pairs `compare` judges equal, different and not at all, and at how many twins it finds the layer
that differs. Every pair is a function of ``change``, which is `same` or changes an array a little. It returns two
models, their input, and the names of the layers that hold the change, in either model.
"""

import os
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")

import numpy as np
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn
from torch.nn import functional as F  # noqa: N812 (its usual name)

import teachconv as tc

PAIRS = {}


def pair(function):
    """Enter a pair into the table."""
    PAIRS[function.__name__] = function
    return function


def same(array):
    return array


def changed(array):
    """The last filter, or number, times 1.25."""
    array = np.array(array, copy=True)
    array[-1] = array[-1] * np.float32(1.25) if array.dtype.kind == "f" else array[-1] + 1
    return array


def noise(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype("float32")


def weights(outs, ins, *window, seed=1):
    return noise(outs, ins, *window, seed=seed) / np.float32((ins * np.prod(window)) ** 0.5)


X = noise(2, 4, 9, 8)
W, V, B = weights(6, 4, 3, 3), weights(5, 6, 3, 3, seed=2), noise(6, seed=3)
GAMMA, BETA, MEAN = 1 + noise(6, seed=4) / 4, noise(6, seed=5), noise(6, seed=6)
VARIANCE = 0.5 + noise(6, seed=7) ** 2
FACTOR = (GAMMA / np.sqrt(VARIANCE + np.float32(1e-5))).astype("float32")


def tensor(array):
    return torch.from_numpy(np.array(array, "float32"))


def holding(module, weight, bias=None):
    """Return a module with these weights."""
    with torch.no_grad():
        module.weight.copy_(tensor(weight))
        if bias is not None:
            module.bias.copy_(tensor(bias))
    return module


def conv(w, b=None, *args, **named):
    kind = getattr(nn, f"Conv{w.ndim - 2}d")
    ins = w.shape[1] * named.get("groups", 1)
    return holding(kind(ins, len(w), w.shape[2:], *args, bias=b is not None, **named), w, b)


def transposed(w, b=None, *args, **named):
    kind = getattr(nn, f"ConvTranspose{w.ndim - 2}d")
    outs = w.shape[1] * named.get("groups", 1)
    return holding(kind(len(w), outs, w.shape[2:], *args, bias=b is not None, **named), w, b)


def linear(w, b=None):
    return holding(nn.Linear(w.shape[1], len(w), bias=b is not None), w, b)


def norm(gamma=GAMMA, beta=BETA, mean=MEAN, variance=VARIANCE, eps=1e-5, rank=2):
    layer = holding(getattr(nn, f"BatchNorm{rank}d")(len(gamma), eps=eps), gamma, beta)
    layer.running_mean.copy_(tensor(mean))
    layer.running_var.copy_(tensor(variance))
    return layer


class Net(nn.Module):
    """Modules by name, and a function of the network and its input."""

    def __init__(self, run, **parts):
        super().__init__()
        self.run = run
        for name, part in parts.items():
            if isinstance(part, nn.Module):
                self.add_module(name, part)
            else:
                self.register_buffer(name, tensor(part))
        self.eval()

    def forward(self, x):
        return self.run(self, x)


def chain(**parts):
    model = nn.Sequential()
    for name, part in parts.items():
        model.add_module(name, part)
    return model.eval()


def last(w=V):
    return {"relu": nn.ReLU(), "last": conv(w)}


# ---------------------------------------------------------------------------------------------
# Batch normalisation, scales and biases
# ---------------------------------------------------------------------------------------------


def folded(w=W, bias=0.0):
    return w * FACTOR[:, None, None, None], (np.float32(bias) - MEAN) * FACTOR + BETA


@pair
def norm_folded(change):
    w, b = folded()
    return chain(conv=conv(W), norm=norm(), **last()), chain(conv=conv(change(w), b), **last()), X, ["conv"]


@pair
def norm_folded_and_a_later_change(change):
    w, b = folded()
    return chain(conv=conv(W), norm=norm(), **last()), chain(conv=conv(w, b), **last(change(V))), X, ["last"]


@pair
def norm_as_mul_and_add(change):
    shift = (BETA - MEAN * FACTOR)[:, None, None]

    def run(net, x):
        return net.last(F.relu(net.conv(x) * net.scale + net.shift))

    b = Net(run, conv=conv(W), scale=change(FACTOR)[:, None, None], shift=shift, last=conv(V))
    return chain(conv=conv(W), norm=norm(), **last()), b, X, ["mul", "norm"]


@pair
def norm_as_sub_and_div(change):
    def run(net, x):
        y = (net.conv(x) - net.mean) / net.deviation * net.gamma + net.beta
        return net.last(F.relu(y))

    arrays = [MEAN, np.sqrt(VARIANCE + np.float32(1e-5)), change(GAMMA), BETA]
    named = dict(zip(("mean", "deviation", "gamma", "beta"), (a[:, None, None] for a in arrays), strict=True))
    b = Net(run, conv=conv(W), last=conv(V), **named)
    return chain(conv=conv(W), norm=norm(), **last()), b, X, ["mul", "norm"]


def before(w):
    """Weights of a convolution, valid, with the batch normalisation before it folded in."""
    shift = BETA - MEAN * FACTOR
    return w * FACTOR[:, None, None], (w * shift[:, None, None]).sum((1, 2, 3))


@pair
def norm_folded_forward(change):
    w, b = before(V)
    x = noise(2, 6, 9, 8)
    a = chain(norm=norm(), conv=conv(V), relu=nn.ReLU())
    return a, chain(conv=conv(change(w), b), relu=nn.ReLU()), x, ["conv"]


@pair
def norm_folded_forward_with_a_border(change):
    w, b = before(V)
    x, border = noise(2, 6, 9, 8), (MEAN - BETA / FACTOR)[:, None, None]

    def run(net, x):
        framed = net.border.expand(6, 11, 10).clone().repeat(len(x), 1, 1, 1)
        framed = torch.where(F.pad(torch.ones_like(x), (1, 1, 1, 1)) > 0, F.pad(x, (1, 1, 1, 1)), framed)
        return F.relu(net.conv(framed))

    a = chain(norm=norm(), conv=conv(V, None, padding=1), relu=nn.ReLU())
    return a, Net(run, conv=conv(change(w), b), border=border), x, ["conv", "norm"]


@pair
def bias_in_the_mean_of_the_norm(change):
    a = chain(conv=conv(W, B), norm=norm(), **last())
    return a, chain(conv=conv(W), norm=norm(mean=change(MEAN - B)), **last()), X, ["norm"]


@pair
def scale_through_a_relu(change):
    s = (1 + np.abs(FACTOR))[:, None, None, None]
    b = chain(conv=conv(change(W * s), B * s.ravel()), relu=nn.ReLU(), last=conv(V / s[:, 0]))
    return chain(conv=conv(W, B), **last()), b, X, ["conv"]


@pair
def mean_and_scale_in_the_first_layer(change):
    image = np.random.default_rng(0).integers(0, 256, (2, 3, 9, 8)).astype("float32")
    mean, std, w = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225]), weights(6, 3, 3, 3)
    bias = -(w * (mean / std)[:, None, None]).sum((1, 2, 3))

    def run(net, x):
        return net.last(F.relu(net.conv((x / 255 - net.mean) / net.std)))

    a = Net(run, conv=conv(w), mean=mean[:, None, None], std=std[:, None, None], last=conv(V))
    b = chain(conv=conv(change(w / (std * 255)[:, None, None]), bias), **last())
    return a, b, image, ["conv"]


@pair
def division_by_255(change):
    image = np.random.default_rng(0).integers(0, 256, (2, 4, 9, 8)).astype("float32")
    a = Net(lambda net, x: net.last(F.relu(net.conv(x / 255))), conv=conv(W), last=conv(V))
    return a, chain(conv=conv(change(W / 255)), **last()), image, ["conv"]


@pair
def instance_norm_by_hand(change):
    def run(net, x):
        y = net.conv(x)
        centred = y - y.mean((2, 3), keepdim=True)
        variance = (centred * centred).mean((2, 3), keepdim=True)
        return net.last(F.relu(centred / torch.sqrt(variance + 1e-5) * net.gamma + net.beta))

    layer = holding(nn.InstanceNorm2d(6, affine=True), GAMMA, BETA)
    arrays = {"gamma": change(GAMMA)[:, None, None], "beta": BETA[:, None, None]}
    b = Net(run, conv=conv(W), last=conv(V), **arrays)
    return chain(conv=conv(W), norm=layer, **last()), b, X, ["norm", "mul"]


@pair
def layer_norm_by_hand(change):
    """Its weights are buffers of one axis, which the model reshapes."""

    def run(net, x):
        y = net.conv(x)
        centred = y - y.mean(1, keepdim=True)
        y = centred / torch.sqrt((centred**2).mean(1, keepdim=True) + 1e-5)
        return net.last(net.gamma[:, None, None] * y + net.beta[:, None, None])

    def normed(net, x):
        return net.last(net.norm(net.conv(x).permute(0, 2, 3, 1)).permute(0, 3, 1, 2))

    layer = holding(nn.LayerNorm(6), GAMMA, BETA)
    b = Net(run, conv=conv(W), gamma=change(GAMMA), beta=BETA, last=conv(V))
    return Net(normed, conv=conv(W), norm=layer, last=conv(V)), b, X, ["norm", "mul"]


@pair
def gates_of_one_number_each(change):
    """Behind the gates a change hardly shows: the models' numbers are nearly equal again."""
    w = weights(6, 6, 1, 1)

    def run(net, x):
        y = net.conv(x)
        return net.last(y * torch.sigmoid(net.gate(y.mean((2, 3), keepdim=True))))

    def linear_gate(net, x):
        y = net.conv(x)
        return net.last(y * torch.sigmoid(net.gate(y.mean((2, 3))))[:, :, None, None])

    small = B if change is same else B + np.float32(0.001)
    a = Net(run, conv=conv(W), gate=conv(w, B), last=conv(V))
    return a, Net(linear_gate, conv=conv(W), gate=linear(w[:, :, 0, 0], small), last=conv(V)), X, ["gate"]


@pair
def several_branches_as_one_convolution(change):
    """As RepVGG's: 3x3, 1x1 and identity, each with batch normalisation."""
    w3, w1 = weights(6, 6, 3, 3), weights(6, 6, 1, 1)
    x = noise(2, 6, 9, 8)

    def run(net, x):
        return net.last(F.relu(net.norm(net.three(x)) + net.norm(net.one(x)) + net.norm(x)))

    a = Net(run, three=conv(w3, None, padding=1), one=conv(w1), norm=norm(), last=conv(V))
    merged = w3 + np.pad(w1 + np.eye(6, dtype="f4")[:, :, None, None], ((0, 0), (0, 0), (1, 1), (1, 1)))
    w, b = folded(merged)
    b = b + 2 * (BETA - MEAN * FACTOR)
    return a, chain(conv=conv(change(w), b, padding=1), **last()), x, ["conv"]


@pair
def norm_folded_in_a_transposed_convolution_with_groups(change):
    w = weights(4, 3, 2, 2)
    a = chain(up=transposed(w, None, 2, groups=2), norm=norm(), **last())
    factors = FACTOR.reshape(2, 1, 3, 1, 1)
    scaled = (w.reshape(2, 2, 3, 2, 2) * factors).reshape(w.shape)
    b = chain(up=transposed(change(scaled), BETA - MEAN * FACTOR, 2, groups=2), **last())
    return a, b, X, ["up"]


# ---------------------------------------------------------------------------------------------
# Padding, crops and strides
# ---------------------------------------------------------------------------------------------


@pair
def padding_as_a_layer(change):
    b = chain(pad=nn.ZeroPad2d(1), conv=conv(change(W)), **last())
    return chain(conv=conv(W, None, padding=1), **last()), b, X, ["conv"]


@pair
def too_much_padding_and_a_crop(change):
    def run(net, x):
        return net.last(F.relu(net.conv(x)[:, :, 1:-1, 1:-1]))

    b = Net(run, conv=conv(change(W), None, padding=2), last=conv(V))
    return chain(conv=conv(W, None, padding=1), **last()), b, X, ["conv"]


@pair
def causal_as_both_sides_and_a_chop(change):
    w, x, v = weights(6, 4, 3), noise(2, 4, 12), weights(5, 6, 3, seed=2)
    a = Net(
        lambda net, x: net.last(F.relu(net.conv(F.pad(x, (4, 0))))), conv=conv(w, B, dilation=2), last=conv(v)
    )
    b = Net(
        lambda net, x: net.last(F.relu(net.conv(x)[:, :, :-4])),
        conv=conv(change(w), B, padding=4, dilation=2),
        last=conv(v),
    )
    return a, b, x, ["conv"]


@pair
def a_crop_on_the_wrong_side(change):
    side = slice(0, -2) if change is same else slice(2, None)
    a = Net(lambda net, x: net.last(F.relu(net.conv(F.pad(x, (0, 0, 2, 0))))), conv=conv(W), last=conv(V))
    b = Net(lambda net, x: net.last(F.relu(net.conv(x)[:, :, side, 1:-1])), conv=conv(W), last=conv(V))
    b.conv.padding = (2, 1)
    return a, b, X, ["conv"]


@pair
def negative_padding(change):
    a = Net(lambda net, x: net.last(F.relu(net.conv(x[:, :, 1:, :-1]))), conv=conv(W), last=conv(V))
    b = Net(
        lambda net, x: net.last(F.relu(net.conv(F.pad(x, (0, -1, -1, 0))))),
        conv=conv(change(W)),
        last=conv(V),
    )
    return a, b, X, ["conv"]


@pair
def transposed_and_a_slice(change):
    w = weights(4, 6, 3, 3)
    a = chain(up=transposed(w, B, 2, padding=1, output_padding=1), **last())
    b = Net(
        lambda net, x: net.last(F.relu(net.up(x)[:, :, 1:, 1:])), up=transposed(change(w), B, 2), last=conv(V)
    )
    return a, b, X, ["up"]


@pair
def stride_as_slicing(change):
    b = Net(
        lambda net, x: net.last(F.relu(net.conv(x)[:, :, ::2, ::2])), conv=conv(change(W), B), last=conv(V)
    )
    x = noise(2, 4, 13, 12)
    return chain(conv=conv(W, B, 2), **last()), b, x, ["conv"]


@pair
def stride_as_slicing_from_the_wrong_row(change):
    start = 0 if change is same else 1
    b = Net(lambda net, x: net.last(F.relu(net.conv(x)[:, :, start::2, ::2])), conv=conv(W, B), last=conv(V))
    return chain(conv=conv(W, B, 2), **last()), b, noise(2, 4, 14, 12), ["conv"]


@pair
def reflected_padding_as_a_layer(change):
    b = chain(pad=nn.ReflectionPad2d(1), conv=conv(change(W)), **last())
    return chain(conv=conv(W, None, padding=1, padding_mode="reflect"), **last()), b, X, ["conv"]


@pair
def circular_padding_as_concatenation(change):
    def run(net, x):
        x = torch.cat([x[:, :, -1:], x, x[:, :, :1]], 2)
        return net.last(F.relu(net.conv(torch.cat([x[..., -1:], x, x[..., :1]], 3))))

    a = chain(conv=conv(W, None, padding=1, padding_mode="circular"), **last())
    return a, Net(run, conv=conv(change(W)), last=conv(V)), X, ["conv"]


@pair
def replicated_or_reflected(change):
    kind = nn.ReplicationPad2d if change is same else nn.ReflectionPad2d
    a = chain(conv=conv(W, None, padding=1, padding_mode="replicate"), **last())
    return a, chain(pad=kind(1), conv=conv(W), **last()), X, ["conv", "pad"]


@pair
def space_to_depth_and_a_convolution(change):
    w = weights(6, 4, 2, 2)
    w2 = w.transpose(0, 1, 2, 3).reshape(6, 16, 1, 1)  # of pixel_unshuffle: channels, rows, cols
    b = chain(down=nn.PixelUnshuffle(2), conv=conv(change(w2), B), **last())
    return chain(conv=conv(w, B, 2), **last()), b, noise(2, 4, 12, 10), ["conv"]


@pair
def space_to_depth_in_the_other_order(change):
    w = weights(6, 4, 2, 2)
    w2 = w.reshape(6, 16, 1, 1)

    def run(net, x):
        n, c, h, v = x.shape
        y = x.reshape(n, c, h // 2, 2, v // 2, 2)
        y = y.permute(0, 1, 3, 5, 2, 4) if change is same else y.permute(0, 3, 5, 1, 2, 4)
        return net.last(F.relu(net.conv(y.reshape(n, 4 * c, h // 2, v // 2))))

    b = Net(run, conv=conv(w2, B), last=conv(V))
    return chain(conv=conv(w, B, 2), **last()), b, noise(2, 4, 12, 10), ["conv"]


@pair
def transposed_as_zeros_in_between(change):
    w = weights(4, 6, 3, 3)

    def run(net, x):
        y = x.new_zeros(len(x), 4, 2 * x.shape[2] - 1, 2 * x.shape[3] - 1)
        y[:, :, ::2, ::2] = x
        return net.last(F.relu(net.conv(y)))

    flipped = w.transpose(1, 0, 2, 3)[:, :, ::-1, ::-1]
    b = Net(run, conv=conv(change(flipped), B, padding=2), last=conv(V))
    return chain(up=transposed(w, B, 2), **last()), b, X, ["conv"]


@pair
def transposed_as_one_tap_and_pixel_shuffle(change):
    w = weights(4, 6, 2, 2)
    taps = w.transpose(1, 2, 3, 0).reshape(24, 4, 1, 1)
    b = chain(conv=conv(change(taps), np.repeat(B, 4)), shuffle=nn.PixelShuffle(2), **last())
    return chain(up=transposed(w, B, 2), **last()), b, X, ["conv"]


# ---------------------------------------------------------------------------------------------
# Split, merged, and other ranks
# ---------------------------------------------------------------------------------------------


@pair
def groups_as_split_and_concatenation(change):
    w = weights(6, 2, 3, 3)

    def run(net, x):
        one, two = x.chunk(2, 1)
        return net.last(F.relu(torch.cat([net.first(one), net.second(two)], 1)))

    b = Net(run, first=conv(w[:3], B[:3]), second=conv(change(w[3:]), B[3:]), last=conv(V))
    return chain(conv=conv(w, B, groups=2), **last()), b, X, ["second"]


@pair
def concatenation_as_a_sum(change):
    w2 = weights(6, 6, 3, 3, seed=9)

    def run(net, x):
        y = F.relu(net.one(x))
        return net.last(F.relu(net.conv(torch.cat([x, y], 1))))

    def summed(net, x):
        y = F.relu(net.one(x))
        return net.last(F.relu(net.left(x) + net.right(y)))

    one = weights(6, 4, 1, 1)
    a = Net(run, one=conv(one), conv=conv(np.concatenate([W, w2], 1), B), last=conv(V))
    return a, Net(summed, one=conv(one), left=conv(W, B), right=conv(change(w2)), last=conv(V)), X, ["right"]


@pair
def depthwise_as_a_full_convolution(change):
    w = weights(4, 1, 3, 3)
    full = np.zeros((4, 4, 3, 3), "f4")
    full[range(4), range(4)] = w[:, 0]
    v = {"relu": nn.ReLU(), "last": conv(weights(5, 4, 3, 3))}
    return chain(conv=conv(w, None, groups=4), **v), chain(conv=conv(change(full)), **v), X, ["conv"]


@pair
def one_tap_as_a_linear_layer(change):
    w = weights(6, 4, 1, 1)

    def run(net, x):
        return net.last(F.relu(net.linear(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)))

    b = Net(run, linear=linear(change(w[:, :, 0, 0]), B), last=conv(V))
    return chain(conv=conv(w, B), **last()), b, X, ["linear"]


@pair
def one_tap_as_a_product_of_matrices(change):
    w = weights(6, 4, 1, 1)

    def run(net, x):
        y = (net.matrix @ x.flatten(2)).reshape(len(x), 6, *x.shape[2:])
        return net.last(F.relu(y))

    return chain(conv=conv(w), **last()), Net(run, matrix=change(w[:, :, 0, 0]), last=conv(V)), X, ["matmul"]


@pair
def unfold_and_a_product(change):
    def run(net, x):
        y = net.matrix @ F.unfold(x, 3, padding=1) + net.bias
        return net.last(F.relu(y.view(len(x), 6, *x.shape[2:])))

    b = Net(run, matrix=change(W.reshape(6, -1)), bias=B[:, None], last=conv(V))
    return chain(conv=conv(W, B, padding=1), **last()), b, X, ["matmul"]


@pair
def two_linear_convolutions_merged(change):
    one, two = weights(6, 4, 1, 1), weights(6, 6, 3, 3)
    merged = np.einsum("ojhw,ji->oihw", two, one[:, :, 0, 0])
    a = chain(one=conv(one), two=conv(two, B), **last())
    return a, chain(conv=conv(change(merged), B), **last()), X, ["conv"]


@pair
def separable_as_one(change):
    depth, point = weights(4, 1, 3, 3), weights(6, 4, 1, 1)
    merged = point * depth.transpose(1, 0, 2, 3)
    a = chain(depth=conv(depth, None, groups=4, padding=1), point=conv(point, B), **last())
    return a, chain(conv=conv(change(merged), B, padding=1), **last()), X, ["conv"]


@pair
def a_row_and_a_column_as_one(change):
    row, column = weights(6, 4, 1, 3), weights(6, 6, 3, 1)
    merged = np.einsum("ojh,jiw->oihw", column[..., 0], row[:, :, 0])
    a = chain(row=conv(row), column=conv(column, B), **last())
    return a, chain(conv=conv(change(merged), B), **last()), X, ["conv"]


@pair
def channels_shuffled(change):
    order = [3, 0, 5, 1, 4, 2]
    b = chain(conv=conv(W[order], B[order]), relu=nn.ReLU(), last=conv(change(V[:, order])))
    return chain(conv=conv(W, B), **last()), b, X, ["last"]


@pair
def channel_shuffle_as_a_permuted_filter(change):
    def run(net, x):
        y = net.conv(x)
        n, c, h, w = y.shape
        return net.last(F.relu(y.view(n, 2, 3, h, w).transpose(1, 2).reshape(n, c, h, w)))

    order = [0, 3, 1, 4, 2, 5]
    return (
        Net(run, conv=conv(W, B), last=conv(V)),
        chain(conv=conv(change(W[order]), B[order]), **last()),
        X,
        ["conv"],
    )


@pair
def one_axis_as_two(change):
    w, v, x = weights(6, 4, 3), weights(5, 6, 3), noise(2, 4, 12)

    def run(net, x):
        return net.last(F.relu(net.conv(x.unsqueeze(2)))).squeeze(2)

    a = chain(conv=conv(w, B, padding=1), relu=nn.ReLU(), last=conv(v))
    b = Net(run, conv=conv(change(w[:, :, None]), B, padding=(0, 1)), last=conv(v[:, :, None]))
    return a, b, x, ["conv"]


@pair
def three_axes_as_two(change):
    w, v, x = weights(6, 4, 1, 3, 3), weights(5, 6, 1, 3, 3), noise(2, 4, 3, 8, 7)

    def run(net, x):
        n, c, d, *size = x.shape
        y = net.last(F.relu(net.conv(x.transpose(1, 2).reshape(n * d, c, *size))))
        return y.reshape(n, d, *y.shape[1:]).transpose(1, 2)

    a = chain(conv=conv(w, B), relu=nn.ReLU(), last=conv(v))
    return a, Net(run, conv=conv(change(w[:, :, 0]), B), last=conv(v[:, :, 0])), x, ["conv"]


@pair
def flipped_image_and_filter(change):
    b = Net(
        lambda net, x: net.last(F.relu(net.conv(x.flip(3)).flip(3))),
        conv=conv(change(W[..., ::-1]), B),
        last=conv(V),
    )
    return chain(conv=conv(W, B), **last()), b, X, ["conv"]


@pair
def rows_and_columns_transposed(change):
    def run(net, x):
        return net.last(F.relu(net.conv(x.transpose(2, 3)).transpose(2, 3)))

    b = Net(run, conv=conv(change(W.swapaxes(2, 3)), B), last=conv(V))
    return chain(conv=conv(W, B), **last()), b, X, ["conv"]


# ---------------------------------------------------------------------------------------------
# Dense layers
# ---------------------------------------------------------------------------------------------

IMAGE = 6 * 7 * 6


@pair
def dense_behind_the_other_layout(change):
    w = weights(3, IMAGE)

    def run(net, x):
        return net.dense(F.relu(net.conv(x)).permute(0, 2, 3, 1).flatten(1))

    moved = w.reshape(3, 6, 7, 6).transpose(0, 2, 3, 1).reshape(3, -1)
    a = chain(conv=conv(W, B), relu=nn.ReLU(), flat=nn.Flatten(), dense=linear(w))
    return a, Net(run, conv=conv(W, B), dense=linear(change(moved))), X, ["dense"]


@pair
def dense_as_a_convolution_over_the_image(change):
    w = weights(3, IMAGE)
    a = chain(conv=conv(W, B), relu=nn.ReLU(), flat=nn.Flatten(), dense=linear(w))
    b = chain(conv=conv(W, B), relu=nn.ReLU(), over=conv(change(w.reshape(3, 6, 7, 6))), flat=nn.Flatten())
    return a, b, X, ["over"]


@pair
def one_sample_and_one_output(change):
    w = weights(1, IMAGE)
    moved = w.reshape(1, 6, 7, 6).transpose(0, 2, 3, 1).reshape(1, -1)

    def run(net, x):
        return net.dense(F.relu(net.conv(x)).permute(0, 2, 3, 1).flatten(1))

    a = chain(conv=conv(W, B), relu=nn.ReLU(), flat=nn.Flatten(), dense=linear(w))
    return a, Net(run, conv=conv(W, B), dense=linear(change(moved))), X[:1], ["dense"]


@pair
def two_linear_layers_merged(change):
    one, two, x = weights(8, 10), weights(4, 8), noise(3, 10)
    v = {"relu": nn.ReLU(), "last": linear(weights(3, 4))}
    a = chain(one=linear(one), two=linear(two), **v)
    return a, chain(dense=linear(change(two @ one)), **v), x, ["dense"]


# ---------------------------------------------------------------------------------------------
# Pools and activations
# ---------------------------------------------------------------------------------------------


@pair
def average_pool_as_depthwise(change):
    w = np.full((6, 1, 2, 2), 0.25, "f4")
    a = chain(conv=conv(W, B), pool=nn.AvgPool2d(2), **last(weights(5, 6, 1, 1)))
    b = chain(conv=conv(W, B), depth=conv(change(w), None, 2, groups=6), **last(weights(5, 6, 1, 1)))
    return a, b, X, ["depth"]


@pair
def max_pool_five_as_two_of_three(change):
    size = 3 if change is same else 2
    a = chain(conv=conv(W, B), pool=nn.MaxPool2d(5, 1, 2), **last())
    pools = {"three": nn.MaxPool2d(3, 1, 1), "again": nn.MaxPool2d(size, 1, 1)}
    if change is not same:
        pools["crop"] = nn.ZeroPad2d((0, -1, 0, -1))
    return a, chain(conv=conv(W, B), **pools, **last()), X, ["pool", "three", "again"]


@pair
def adaptive_maximum_as_a_pool(change):
    a = chain(conv=conv(W, padding=1), pool=nn.AdaptiveMaxPool2d((3, 4)))
    b = chain(conv=conv(change(W), padding=1), pool=nn.MaxPool2d((3, 2)))
    return a, b, X, ["conv"]


@pair
def patches_added_as_a_transposed_convolution(change):
    w = weights(18, 6, 1, 1, seed=4)
    a = chain(
        conv=conv(W, padding=1), patches=conv(w), rows=nn.Flatten(2), add=nn.Fold((19, 17), 3, stride=2)
    )
    filters = change(w).reshape(2, 3, 3, 6).transpose(3, 0, 1, 2)
    b = chain(conv=conv(W, padding=1), up=transposed(filters, stride=2))
    return a, b, X, ["patches", "add", "up"]


@pair
def global_pool_as_a_mean(change):
    w = weights(3, 6)
    a = chain(conv=conv(W, B), pool=nn.AdaptiveAvgPool2d(1), flat=nn.Flatten(), dense=linear(w))
    b = Net(lambda net, x: net.dense(net.conv(x).mean((2, 3))), conv=conv(W, B), dense=linear(change(w)))
    return a, b, X, ["dense"]


@pair
def global_pool_as_a_sum(change):
    def run(net, x):
        return net.dense(
            net.conv(x).sum((2, 3)) / np.prod(x.shape[2:]) * float(change(np.float32([9 * 8 / 42]))[0])
        )

    w = weights(3, 6)
    a = chain(conv=conv(W, B), pool=nn.AdaptiveAvgPool2d(1), flat=nn.Flatten(), dense=linear(w))
    return a, Net(run, conv=conv(W, B), dense=linear(w)), X, ["mul", "div", "truediv", "sum"]


@pair
def relu6_as_min_and_max(change):
    top = float(change(np.float32([6]))[0])

    def run(net, x):
        y = net.conv(x) * 8
        return net.last(torch.minimum(torch.maximum(y, torch.zeros(())), torch.tensor(top)))

    a = Net(lambda net, x: net.last(F.relu6(net.conv(x) * 8)), conv=conv(W, B), last=conv(V))
    return a, Net(run, conv=conv(W, B), last=conv(V)), X, ["relu6", "minimum"]


@pair
def hard_swish_by_hand(change):
    three = float(change(np.float32([3]))[0])

    def run(net, x):
        y = net.conv(x) * 2
        return net.last(y * F.relu6(y + three) / 6)

    a = Net(lambda net, x: net.last(F.hardswish(net.conv(x) * 2)), conv=conv(W, B), last=conv(V))
    return a, Net(run, conv=conv(W, B), last=conv(V)), X, ["hardswish", "add", "relu6"]


@pair
def silu_by_hand(change):
    def run(net, x):
        y = net.conv(x)
        return net.last(y * torch.sigmoid(y * float(change(np.float32([1]))[0])))

    a = chain(conv=conv(W, B), silu=nn.SiLU(), last=conv(V))
    return a, Net(run, conv=conv(W, B), last=conv(V)), X, ["silu", "sigmoid", "mul"]


@pair
def prelu_with_equal_slopes(change):
    slopes = change(np.full(6, 0.25, "f4"))
    a = chain(conv=conv(W, B), leaky=nn.LeakyReLU(0.25), last=conv(V))
    return a, chain(conv=conv(W, B), prelu=holding(nn.PReLU(6), slopes), last=conv(V)), X, ["prelu"]


@pair
def leaky_relu_by_hand(change):
    slope = float(change(np.float32([0.25]))[0])
    a = chain(conv=conv(W, B), leaky=nn.LeakyReLU(0.25), last=conv(V))
    b = Net(
        lambda net, x: net.last(torch.maximum(y := net.conv(x), y * slope)), conv=conv(W, B), last=conv(V)
    )
    return a, b, X, ["leaky", "maximum", "mul"]


@pair
def gelu_by_hand(change):
    two = float(change(np.float32([2]))[0])

    def run(net, x):
        y = net.conv(x)
        return net.last(0.5 * y * (1 + torch.erf(y / two**0.5)))

    a = chain(conv=conv(W, B), gelu=nn.GELU(), last=conv(V))
    return a, Net(run, conv=conv(W, B), last=conv(V)), X, ["gelu", "erf", "div", "truediv"]


@pair
def log_softmax_by_hand(change):
    def run(net, x):
        y = net.conv(x)
        return y - y.logsumexp(1 if change is same else 2, keepdim=True)

    a = Net(lambda net, x: F.log_softmax(net.conv(x), 1), conv=conv(W, B))
    return a, Net(run, conv=conv(W, B)), X, ["log_softmax", "logsumexp", "sub"]


@pair
def softmax_less_the_largest(change):
    def run(net, x):
        y = net.conv(x)
        e = torch.exp(y - y.amax(1, keepdim=True))
        return e / e.sum(1 if change is same else 2, keepdim=True)

    a = Net(lambda net, x: net.conv(x).softmax(1), conv=conv(W, B))
    return a, Net(run, conv=conv(W, B)), X, ["softmax", "sum", "div", "truediv"]


@pair
def clip_as_hardtanh(change):
    top = float(change(np.float32([0.5]))[0])
    a = chain(conv=conv(W, B), clip=nn.Hardtanh(-0.25, 0.5), last=conv(V))
    b = Net(lambda net, x: net.last(net.conv(x).clamp(-0.25, top)), conv=conv(W, B), last=conv(V))
    return a, b, X, ["clip", "clamp"]


@pair
def softmax_by_hand(change):
    def run(net, x):
        e = torch.exp(net.conv(x) * float(change(np.float32([1]))[0]))
        return e / e.sum(1, keepdim=True)

    return Net(lambda net, x: net.conv(x).softmax(1), conv=conv(W, B)), Net(run, conv=conv(W, B)), X, [
        *("softmax", "mul", "exp", "sum", "div", "truediv")
    ]  # fmt: skip


# ---------------------------------------------------------------------------------------------
# What changes no number, and other precisions
# ---------------------------------------------------------------------------------------------


@pair
def dropout_and_identity_in_between(change):
    b = chain(
        conv=conv(W, B),
        drop=nn.Dropout(0.5),
        id=nn.Identity(),
        relu=nn.ReLU(),
        drop2=nn.Dropout2d(),
        last=conv(change(V)),
    )
    return chain(conv=conv(W, B), **last()), b, X, ["last"]


@pair
def double_beside_single(change):
    class Double(nn.Module):
        def __init__(self, inner):
            super().__init__()
            self.inner = inner

        def forward(self, x):
            return self.inner(x.double()).float()

    b = Double(chain(conv=conv(W, B), **last(change(V))).double()).eval()
    return chain(conv=conv(W, B), **last()), b, X, ["inner.last"]


@pair
def residual_with_another_order(change):
    w = weights(4, 4, 3, 3)

    def run(net, x):
        return net.last(F.relu(net.conv(x) + x))

    def other(net, x):
        return net.last(F.relu(x + net.conv(x)))

    v = weights(5, 4, 3, 3)
    return (
        Net(run, conv=conv(w, None, padding=1), last=conv(v)),
        Net(other, conv=conv(change(w), None, padding=1), last=conv(v)),
        X,
        ["conv"],
    )


@pair
def identity_in_the_filter(change):
    w = weights(4, 4, 3, 3)
    merged = w.copy()
    merged[range(4), range(4), 1, 1] += 1
    v = weights(5, 4, 3, 3)
    a = Net(lambda net, x: net.last(F.relu(net.conv(x) + x)), conv=conv(w, None, padding=1), last=conv(v))
    return a, chain(conv=conv(change(merged), None, padding=1), **last(v)), X, ["conv"]


@pair
def nearest_as_a_transposed_convolution(change):
    w = np.zeros((6, 1, 2, 2), "f4") + 1
    a = chain(conv=conv(W, B), up=nn.Upsample(scale_factor=2), **last())
    return a, chain(conv=conv(W, B), up=transposed(change(w), None, 2, groups=6), **last()), X, ["up"]


@pair
def bilinear_or_nearest(change):
    kind = "bilinear" if change is same else "nearest"
    a = chain(conv=conv(W, B), up=nn.Upsample(scale_factor=2, mode="bilinear"), last=conv(V))
    b = Net(
        lambda net, x: net.last(F.interpolate(net.conv(x), size=[14, 12], mode=kind)),
        conv=conv(W, B),
        last=conv(V),
    )
    return a, b, X, ["up", "interpolate"]


@pair
def bilinear_or_with_aligned_corners(change):
    scale = 1 if change is same else 1.25

    def run(net, x):
        y = net.conv(x)
        size = [2 * n for n in y.shape[2:]]
        return net.last(F.interpolate(y, size, mode="bilinear", align_corners=scale > 1))

    a = chain(conv=conv(W, B), up=nn.Upsample(scale_factor=2, mode="bilinear"), last=conv(V))
    return a, Net(run, conv=conv(W, B), last=conv(V)), X, ["up", "interpolate"]


# ---------------------------------------------------------------------------------------------
# ONNX
# ---------------------------------------------------------------------------------------------


def onnx_model(nodes, shape, **arrays):
    ends = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", shape), ("y", None))]
    nodes = [
        helper.make_node(kind, ins.split(), outs.split(), name=outs.split()[0], **named)
        for kind, ins, outs, named in nodes
    ]
    held = [numpy_helper.from_array(np.array(a, order="C"), n) for n, a in arrays.items()]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def onnx_tail(start="c"):
    return [("Relu", start, "r", {}), ("Conv", "r v", "y", {})]


@pair
def onnx_one_axis_as_two(change):
    w, v = weights(6, 4, 3), weights(5, 6, 3)
    a = onnx_model([("Conv", "x w", "c", {"pads": [1, 1]}), *onnx_tail()], [2, 4, 10], w=w, v=v)
    nodes = [
        ("Unsqueeze", "x k", "u", {}),
        ("Conv", "u w", "c", {"pads": [0, 1, 0, 1]}),
        ("Relu", "c", "r", {}),
    ]
    nodes += [("Conv", "r v", "d", {}), ("Squeeze", "d k", "y", {})]
    b = onnx_model(nodes, [2, 4, 10], w=change(w)[:, :, None], v=v[:, :, None], k=np.int64([2]))
    return a, b, noise(2, 4, 10), ["c"]


@pair
def onnx_norm_folded_beside_torch(change):
    w, b = folded()
    model = onnx_model([("Conv", "x w b", "c", {}), *onnx_tail()], [2, 4, 9, 8], w=change(w), b=b, v=V)
    return chain(conv=conv(W), norm=norm(), **last()), model, X, ["c"]


@pair
def onnx_split_and_concatenation(change):
    w = weights(6, 2, 3, 3)
    nodes = [
        ("Split", "x", "s t", {"axis": 1, "num_outputs": 2}),
        ("Conv", "s w", "d", {}),
        ("Conv", "t u", "e", {}),
    ]
    nodes += [("Concat", "d e", "c", {"axis": 1}), *onnx_tail()]
    b = onnx_model(nodes, [2, 4, 9, 8], w=w[:3], u=change(w[3:]), v=V)
    return chain(conv=conv(w, None, groups=2), **last()), b, X, ["e"]


@pair
def onnx_slice_and_pad(change):
    nodes = [("Pad", "x p", "a", {}), ("Conv", "a w", "d", {}), ("Slice", "d s e k", "c", {}), *onnx_tail()]
    arrays = {"p": np.int64([0, 0, 2, 2, 0, 0, 2, 2]), "s": np.int64([1, 1]), "e": np.int64([-1, -1])}
    b = onnx_model(nodes, [2, 4, 9, 8], w=change(W), v=V, k=np.int64([2, 3]), **arrays)
    return chain(conv=conv(W, None, padding=1), **last()), b, X, ["d"]


@pair
def onnx_mul_add_clip(change):
    nodes = [
        ("Conv", "x w", "d", {}),
        ("Mul", "d m", "e", {}),
        ("Add", "e n", "c", {}),
        ("Clip", "c l h", "r", {}),
        ("Conv", "r v", "y", {}),
    ]
    shift = (BETA - MEAN * FACTOR)[None, :, None, None]
    arrays = {"m": change(FACTOR)[None, :, None, None], "n": shift, "l": np.float32(0), "h": np.float32(6)}
    b = onnx_model(nodes, [2, 4, 9, 8], w=W, v=V, **arrays)
    return chain(conv=conv(W), norm=norm(), relu=nn.ReLU6(), last=conv(V)), b, X, ["e", "norm"]


@pair
def onnx_depth_to_space(change):
    mode = "CRD" if change is same else "DCR"
    w = weights(24, 4, 1, 1)
    nodes = [
        ("Conv", "x w", "d", {}),
        ("DepthToSpace", "d", "c", {"blocksize": 2, "mode": mode}),
        *onnx_tail(),
    ]
    return (
        chain(conv=conv(w), shuffle=nn.PixelShuffle(2), **last()),
        onnx_model(nodes, [2, 4, 9, 8], w=w, v=V),
        X,
        ["c", "shuffle"],
    )


@pair
def onnx_constants(change):
    """As an exporter writes them: nodes in place of initializers."""
    nodes = [
        ("Constant", "", "l", {"value_float": 0.0}),
        ("Constant", "", "h", {"value_float": float(change(np.float32([0.5]))[0])}),
        ("Conv", "x w b", "c", {}),
        ("Clip", "c l h", "r", {}),
        ("Conv", "r v", "y", {}),
    ]
    a = chain(conv=conv(W, B), clip=nn.Hardtanh(0.0, 0.5), last=conv(V))
    return a, onnx_model(nodes, [2, 4, 9, 8], w=W, b=B, v=V), X, ["clip", "r"]


@pair
def onnx_gemm_and_transposes(change):
    w = weights(6, 4, 1, 1)
    nodes = [
        ("Transpose", "x", "t", {"perm": [0, 2, 3, 1]}),
        ("MatMul", "t m", "d", {}),
        ("Add", "d b", "e", {}),
        ("Transpose", "e", "c", {"perm": [0, 3, 1, 2]}),
    ]
    b = onnx_model([*nodes, *onnx_tail()], [2, 4, 9, 8], m=change(w[:, :, 0, 0]).T, b=B, v=V)
    return chain(conv=conv(w, B), **last()), b, X, ["d"]


@pair
def onnx_reduce_mean(change):
    nodes = [
        ("Conv", "x w b", "c", {}),
        ("ReduceMean", "c k", "m", {"keepdims": 0}),
        ("Gemm", "m d", "y", {"transB": 1}),
    ]
    w = weights(3, 6)
    b = onnx_model(nodes, [2, 4, 9, 8], w=W, b=B, d=change(w), k=np.int64([2, 3]))
    a = chain(conv=conv(W, B), pool=nn.AdaptiveAvgPool2d(1), flat=nn.Flatten(), dense=linear(w))
    return a, b, X, ["y", "dense"]


# ---------------------------------------------------------------------------------------------
# Keras and TFLite
# ---------------------------------------------------------------------------------------------


def keras():
    import keras

    return keras


def keras_conv(w, b=None, **named):
    """A layer of Keras with a filter of PyTorch's order, made by its first call."""
    layer = keras().layers.Conv2D(len(w), w.shape[2:], use_bias=b is not None, **named)
    layer.held = [w.transpose(2, 3, 1, 0)] + [b] * (b is not None)
    return layer


def keras_model(shape, *layers):
    model = keras().Sequential([keras().Input(shape), *layers])
    for layer in layers:
        if hasattr(layer, "held"):
            layer.set_weights(layer.held)
    return model


def keras_norm(name="norm", eps=1e-5):
    layer = keras().layers.BatchNormalization(epsilon=eps, name=name)
    layer.held = [GAMMA, BETA, MEAN, VARIANCE]
    return layer


def lite(model):
    """The TFLite file of a Keras model, of a batch of one."""
    import tensorflow as tf

    converter = tf.lite.TFLiteConverter.from_keras_model(model)
    path, data = os.path.join(tempfile.mkdtemp(), "model.tflite"), converter.convert()
    with open(path, "wb") as file:
        file.write(data)
    return path


NHWC = np.ascontiguousarray(X.transpose(0, 2, 3, 1))


@pair
def keras_norm_folded_beside_torch(change):
    w, b = folded()
    layers = keras().layers
    a = keras_model(
        (9, 8, 4), keras_conv(W, name="conv"), keras_norm(), layers.ReLU(), keras_conv(V, name="last")
    )
    return a, chain(conv=conv(change(w), b), **last()), NHWC, ["conv"]


@pair
def keras_rescaling(change):
    image = np.random.default_rng(0).integers(0, 256, (2, 9, 8, 4)).astype("float32")
    layers = keras().layers
    tail = keras_conv(V, name="last")
    a = keras_model(
        (9, 8, 4), layers.Rescaling(1 / 127.5, -1), keras_conv(W, name="conv"), layers.ReLU(), tail
    )
    w = change(W / np.float32(127.5))
    return a, chain(conv=conv(w, -W.sum((1, 2, 3))), **last()), image, ["conv"]


@pair
def keras_normalization_layer(change):
    layers = keras().layers
    mean, variance = noise(4, seed=8), 0.5 + noise(4, seed=9) ** 2
    std = np.sqrt(variance)
    tail = keras_conv(V, name="last")
    a = keras_model(
        (9, 8, 4),
        layers.Normalization(mean=mean, variance=variance),
        keras_conv(W, name="conv"),
        layers.ReLU(),
        tail,
    )
    w = W / std[:, None, None]
    return a, chain(conv=conv(change(w), -(w * mean[:, None, None]).sum((1, 2, 3))), **last()), NHWC, ["conv"]


@pair
def keras_same_as_padding(change):
    layers = keras().layers
    a = keras_model(
        (9, 8, 4),
        keras_conv(W, B, strides=2, padding="same", name="conv"),
        layers.ReLU(),
        keras_conv(V, name="last"),
    )
    b = chain(pad=nn.ZeroPad2d((0, 1, 1, 1)), conv=conv(change(W), B, 2), **last())
    return a, b, NHWC, ["conv"]


@pair
def keras_dense_behind_flatten(change):
    layers = keras().layers
    w = weights(3, IMAGE)
    dense = layers.Dense(3, use_bias=False, name="dense")
    dense.held = [w.reshape(3, 6, 7, 6).transpose(2, 3, 1, 0).reshape(-1, 3)]
    a = keras_model((9, 8, 4), keras_conv(W, B, name="conv"), layers.ReLU(), layers.Flatten(), dense)
    b = chain(conv=conv(W, B), relu=nn.ReLU(), flat=nn.Flatten(), dense=linear(change(w)))
    return a, b, NHWC, ["dense"]


@pair
def keras_separable(change):
    layers = keras().layers
    depth, point = weights(4, 1, 3, 3), weights(6, 4, 1, 1)
    first = layers.SeparableConv2D(6, 3, use_bias=False, name="separable")
    first.held = [depth.transpose(2, 3, 0, 1), point.transpose(2, 3, 1, 0)]
    a = keras_model((9, 8, 4), first, layers.ReLU(), keras_conv(V, name="last"))
    b = chain(depth=conv(depth, None, groups=4), point=conv(change(point)), **last())
    return a, b, NHWC, ["separable", "point"]


@pair
def tflite_norm_folded(change):
    layers = keras().layers

    def model(w):
        return keras_model(
            (9, 8, 4), keras_conv(w, name="conv"), keras_norm(), layers.ReLU(), keras_conv(V, name="last")
        )

    return model(W), lite(model(change(W))), NHWC[:1], ["conv"]


@pair
def tflite_one_axis(change):
    layers = keras().layers

    def one(w, name):
        layer = layers.Conv1D(len(w), 3, padding="same", name=name)
        layer.held = [w.transpose(2, 1, 0), B[: len(w)]]
        return layer

    def model(w):
        return keras_model((12, 4), one(w, "conv"), layers.ReLU(), one(weights(5, 6, 3), "last"))

    x = np.ascontiguousarray(noise(1, 4, 12).transpose(0, 2, 1))
    w = weights(6, 4, 3)
    return model(w), lite(model(change(w))), x, ["conv"]


@pair
def tflite_causal_with_dilation(change):
    layers = keras().layers
    w, x = weights(6, 4, 3), noise(1, 4, 12)
    one = layers.Conv1D(6, 3, dilation_rate=2, padding="causal", name="conv")
    one.held = [change(w).transpose(2, 1, 0), B]
    a = Net(lambda net, x: F.relu(net.conv(F.pad(x, (4, 0)))), conv=conv(w, B, dilation=2))
    return a, lite(keras_model((12, 4), one, layers.ReLU())), x, ["conv"]


@pair
def tflite_dense_and_pools(change):
    layers = keras().layers

    def model(w):
        dense = layers.Dense(3, name="dense")
        dense.held = [w.T, B[:3]]
        parts = (
            keras_conv(W, B, padding="same", name="conv"),
            layers.ReLU(max_value=6.0),
            layers.MaxPooling2D(2),
        )
        return keras_model((9, 8, 4), *parts, layers.Flatten(), dense)

    w = weights(3, 4 * 4 * 6)
    return model(w), lite(model(change(w))), NHWC[:1], ["dense"]


@pair
def tflite_beside_torch(change):
    layers = keras().layers
    w, b = folded()
    model = keras_model(
        (9, 8, 4),
        keras_conv(change(w), b, name="conv"),
        layers.LeakyReLU(negative_slope=0.25),
        keras_conv(V, name="last"),
    )
    a = chain(conv=conv(W), norm=norm(), leaky=nn.LeakyReLU(0.25), last=conv(V))
    return a, lite(model), X[:1], ["conv"]


# ---------------------------------------------------------------------------------------------
# What is counted
# ---------------------------------------------------------------------------------------------


def outputs(model, x):
    """What a model returns, its channels first."""
    from teachconv.networks.walking import walk_beside

    return walk_beside(model, x, 1 if x.ndim > 2 and x.shape[1] in (3, 4, 6) else -1).outputs()[0]


def run(name, change):
    a, b, x, places = PAIRS[name](change)
    start = time.perf_counter()
    report = tc.compare(a, b, x)
    return report, places, time.perf_counter() - start


def found(report, places):
    """Whether the first parting is at one of the layers."""
    row = report.first_parting
    if row is None or report.passed is not False:
        return False
    names = [each for side in (row.a, row.b) if side for each in side.split(" + ")]
    return any(
        place == name.partition(" (")[0] or place in name.split("/") for place in places for name in names
    )


def main(wanted):
    counts = dict.fromkeys(("True", "False", "None", "crash", "found", "seen", "not seen", "twin crash"), 0)
    for name in wanted or PAIRS:
        for change in (same, changed):
            try:
                report, places, seconds = run(name, change)
            except Exception as error:
                counts["crash" if change is same else "twin crash"] += 1
                print(f"{name:52} {change.__name__:8} raised {type(error).__name__}: {str(error)[:120]}")
                continue
            if change is same:
                key, right = str(report.passed), report.passed is True
            else:
                right = found(report, places)
                key = "found" if right else "seen" if report.passed is False else "not seen"
            counts[key] += 1
            if not right or wanted or seconds > 3:
                text = " ".join(str(report).split())[:230]
                print(f"{name:52} {change.__name__:8} {key:9} {seconds:4.1f} s {text}")
            if wanted:
                print(report)
    print(len(wanted or PAIRS), "pairs:", ", ".join(f"{count} {name}" for name, count in counts.items()))


if __name__ == "__main__":
    main(sys.argv[1:])
