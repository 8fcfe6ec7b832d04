"""The networks of examples/streamed_networks.py in PyTorch, as their repositories write them.

    PYTHONPATH=examples python evaluation/networks_to_stream.py docs/recorded/streamed_networks.txt

writes how each layer of the ports agrees with PyTorch, and what their streams give, for docs/howto/stream_a_network.md.
"""

import sys
from pathlib import Path

import numpy as np
import streamed_networks as ports
import torch
from torch import nn
from torch.nn import functional as F  # noqa: N812 (its usual name)
from torch.nn.utils import weight_norm  # the older of two, which both repositories use

import teachconv as tc


class TemporalBlock(nn.Module):
    """Two dilated convolutions that are padded on both sides and cut, and a residual connection."""

    def __init__(self, ins, outs, k, dilation):
        super().__init__()
        self.chomp = (k - 1) * dilation
        self.conv1 = weight_norm(nn.Conv1d(ins, outs, k, padding=self.chomp, dilation=dilation))
        self.conv2 = weight_norm(nn.Conv1d(outs, outs, k, padding=self.chomp, dilation=dilation))
        self.downsample = nn.Conv1d(ins, outs, 1) if ins != outs else None

    def forward(self, x):
        out = torch.relu(self.conv1(x)[..., : -self.chomp])
        out = torch.relu(self.conv2(out)[..., : -self.chomp])
        return torch.relu(out + (x if self.downsample is None else self.downsample(x)))


class TCN(nn.Module):
    """Blocks of growing dilation, and a linear layer at each time step."""

    def __init__(self, inputs=1, channels=16, outputs=10, taps=3, levels=4):
        super().__init__()
        ins = [inputs, *[channels] * (levels - 1)]
        blocks = [TemporalBlock(n, channels, taps, 2**level) for level, n in enumerate(ins)]
        self.network, self.linear = nn.Sequential(*blocks), nn.Conv1d(channels, outputs, 1)

    def forward(self, x):
        return self.linear(self.network(x))


class ResBlock(nn.Module):
    """Three pairs of a dilated convolution and one without gaps, each with a residual connection."""

    def __init__(self, channels, k, dilations=(1, 3, 5)):
        super().__init__()
        self.convs1, self.convs2 = (
            nn.ModuleList(
                weight_norm(nn.Conv1d(channels, channels, k, 1, padding=(k - 1) * d // 2, dilation=d))
                for d in several
            )
            for several in (dilations, (1, 1, 1))
        )

    def forward(self, x):
        for first, second in zip(self.convs1, self.convs2, strict=True):
            x = second(F.leaky_relu(first(F.leaky_relu(x, 0.1)), 0.1)) + x
        return x


class Generator(nn.Module):
    """Transposed convolutions, behind each the mean of three residual blocks of different reach."""

    def __init__(self, channels=32, mels=80, rates=(8, 8, 2, 2), taps=(3, 7, 11)):
        super().__init__()
        self.conv_pre = weight_norm(nn.Conv1d(mels, channels, 7, 1, padding=3))
        self.ups, self.resblocks = nn.ModuleList(), nn.ModuleList()
        for rate in rates:
            up = nn.ConvTranspose1d(channels, channels // 2, 2 * rate, rate, padding=rate // 2)
            self.ups.append(weight_norm(up))
            channels //= 2
            self.resblocks.extend(ResBlock(channels, k) for k in taps)
        self.conv_post = weight_norm(nn.Conv1d(channels, 1, 7, 1, padding=3))

    def forward(self, x):
        x = self.conv_pre(x)
        several = len(self.resblocks) // len(self.ups)
        for level, up in enumerate(self.ups):
            x = up(F.leaky_relu(x, 0.1))
            blocks = self.resblocks[level * several : (level + 1) * several]
            x = sum(block(x) for block in blocks) / several
        return torch.tanh(self.conv_post(F.leaky_relu(x)))


def networks():
    """Yield (name, PyTorch's network, the port's layers, an input [batch, time, channels])."""
    rng = np.random.default_rng(1)
    for name, module, port, shapes, size in (
        ("TCN", TCN(), ports.tcn, ports.tcn_shapes(), (1, 300, 1)),
        ("HiFi-GAN's generator", Generator(), ports.generator, ports.generator_shapes(), (1, 24, 80)),
    ):
        state = ports.seeded(shapes)
        module.load_state_dict({key: torch.from_numpy(array.copy()) for key, array in state.items()})
        layers = port(ports.fold_weight_norm(state))
        yield name, module.eval(), layers, rng.normal(0, 1, size).astype("float32")


def run(module, x):
    """Return what PyTorch gives, and (input, output) of each convolution in the order in which they ran."""
    seen = []

    def keep(_, inputs, output):
        seen.append(tuple(one.detach().numpy().transpose(0, 2, 1) for one in (inputs[0], output)))

    for layer in module.modules():
        if isinstance(layer, (nn.Conv1d, nn.ConvTranspose1d)):
            layer.register_forward_hook(keep)
    with torch.no_grad():
        return module(torch.from_numpy(x.transpose(0, 2, 1))).numpy().transpose(0, 2, 1), seen


def convolutions(layers):
    """Yield the convolutions of a port in the order in which they run."""
    for layer in layers:
        if isinstance(layer, tuple) and isinstance(layer[1], list):
            for branch in layer[1:]:
                yield from convolutions(branch)
        elif isinstance(layer, tuple):
            yield layer


def judged(layers, seen):
    """Yield the row of `teachconv.diff` of each layer on its own input, with PyTorch's result against the bound."""
    for (op, w, words), (x, y) in zip(convolutions(layers), seen, strict=True):
        y = y[:, : x.shape[1]] if op is tc.conv1d else y  # a TCN cuts what it padded behind
        report = tc.diff(op, x, w, **words, backends=[], against={"PyTorch": y})
        (row,) = (row for row in report.rows if row.name == "PyTorch")
        yield row


def main():
    """Write how the layers agree."""
    lines = []
    for name, module, layers, x in networks():
        result, seen = run(module, x)
        rows = list(judged(layers, seen))
        stream = tc.stream(layers)
        parts = [stream.push(chunk) for chunk in np.split(x, [1, 2, 9], axis=1)]
        streamed = np.concatenate([*parts, stream.flush()], axis=1)
        assert np.array_equal(streamed, ports.whole(layers, x))
        passed = sum(bool(row.passed) for row in rows)
        largest = max(row.bound_fraction for row in rows)
        lines += [
            f"{name}: {passed} of {len(rows)} convolutions agree with PyTorch {torch.__version__}",
            f"  the largest error is {largest:.0%} of its bound",
            f"  streamed, {streamed.shape[1]} outputs: at most {abs(streamed - result).max():.0e} from PyTorch's",
            f"  {stream.rate} outputs for each input, lookahead {stream.lookahead}",
        ]
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
