"""What three tools say of one planted mistake: `compare`, Polygraphy, and PyTorch's own verification; as a table.

    python tests/peers/comparing_tools.py docs/comparing_tools.inc

It needs PyTorch, onnx, onnxruntime, onnxscript and polygraphy. A small network is exported to ONNX, and one thing in the
file is changed. PyTorch's ``verify_onnx_program`` and `compare` get the module and the file, Polygraphy the file as it was
exported and the changed one: it compares ONNX files.
"""

import copy
import sys
import warnings
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import numpy as np

import teachconv as tc


def network():
    """A network with two branches, as a module in evaluation mode with seeded weights."""
    import torch
    from torch import nn

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.down = nn.Conv2d(3, 8, 3, 2, 1)
            self.norm = nn.BatchNorm2d(8)
            self.left = nn.Conv2d(8, 8, 3, padding=1)
            self.right = nn.Conv2d(8, 8, (1, 3), padding=(0, 1))
            self.last = nn.Linear(16, 5)

        def forward(self, x):
            x = nn.functional.leaky_relu(self.norm(self.down(x)), 0.125)
            x = torch.cat([self.left(x), self.right(x)], 1)
            return self.last(torch.relu(x).mean((2, 3)))

    torch.manual_seed(0)
    model = Network()
    with torch.no_grad():
        for part in (model.norm.running_mean, model.norm.running_var):
            part.copy_(torch.rand(8) + 0.5)
    return model.eval()


def attribute(op_type, name, value, which=0):
    """Return a change of an attribute of the node of a kind."""

    def change(proto, onnx):
        node = [node for node in proto.graph.node if node.op_type == op_type][which]
        for item in [item for item in node.attribute if item.name == name]:
            node.attribute.remove(item)
        node.attribute.append(onnx.helper.make_attribute(name, value))

    return change


def weights(name, function):
    """Return a change of the weights of a name."""

    def change(proto, onnx):
        (tensor,) = (tensor for tensor in proto.graph.initializer if tensor.name == name)
        array = np.ascontiguousarray(function(onnx.numpy_helper.to_array(tensor)))
        tensor.CopyFrom(onnx.numpy_helper.from_array(array, name))

    return change


def swapped(proto, onnx):
    (node,) = (node for node in proto.graph.node if node.op_type == "Concat")
    node.input[:] = [*node.input][::-1]


PLANTED = {
    "padding on the other side": ("down", attribute("Conv", "pads", [0, 0, 2, 2])),
    "epsilon 0.001": ("norm", attribute("BatchNormalization", "epsilon", 1e-3)),
    "slope 0.01": ("leaky_relu", attribute("LeakyRelu", "alpha", 0.01)),
    "filters flipped": ("left", weights("left.weight", lambda w: w[:, :, ::-1, ::-1])),
    "in and out exchanged": ("left", weights("left.weight", lambda w: w.transpose(1, 0, 2, 3))),
    "no bias": ("right", weights("right.bias", lambda b: 0 * b)),
    "branches joined in the other order": ("cat", swapped),
}


def export(model, x):
    """Return the exported program of a module, its names kept."""
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return torch.onnx.export(model, (torch.from_numpy(x),), dynamo=True, optimize=False, verbose=False)


def said_by_polygraphy(right, wrong, x):
    """Which of all values of the two files Polygraphy finds to differ."""
    from polygraphy import constants
    from polygraphy.backend.onnx import BytesFromOnnx, ModifyOutputs
    from polygraphy.backend.onnxrt import OnnxrtRunner, SessionFromOnnx
    from polygraphy.comparator import Comparator
    from polygraphy.logger import G_LOGGER

    G_LOGGER.severity = G_LOGGER.CRITICAL
    runners = []
    for name, proto in (("right", right), ("wrong", wrong)):
        everything = ModifyOutputs(copy.deepcopy(proto), outputs=constants.MARK_ALL)
        runners.append(OnnxrtRunner(SessionFromOnnx(BytesFromOnnx(everything)), name=name))
    name = right.graph.input[0].name
    with redirect_stdout(StringIO()):
        (compared,) = Comparator.compare_accuracy(Comparator.run(runners, data_loader=[{name: x}])).lst
    found = compared["right", "wrong"][0]
    bad = [output for output, result in found.items() if not result]
    return f"{len(bad)} of {len(found)} outputs differ: {', '.join(bad[:3])}{', ...' * (len(bad) > 3)}"


def said_by_torch(program, wrong, x):
    """How far each value of the file is from PyTorch's, from the first that is more than 1e-5 away."""
    import onnx_ir
    import torch
    from torch.onnx.verification import verify_onnx_program

    program.model = onnx_ir.serde.deserialize_model(wrong)
    found = verify_onnx_program(program, (torch.from_numpy(x),), compare_intermediates=True)
    bad = [info for info in found if info.max_abs_diff > 1e-5]
    texts = [f"{info.name} by {info.max_abs_diff:.2g}" for info in bad[:3]]
    return f"{len(bad)} of {len(found)} values differ: {', '.join(texts)}{', ...' * (len(bad) > 3)}"


def said_by_compare(model, wrong, x):
    """The first line of a comparison, and the row that it is about."""
    report = tc.compare(model, wrong, x)
    return report.first_parting, " ".join(str(report).split("\nitself:")[0].split())


def findings():
    """Yield (what was planted, in which layer, what each tool says; the row of `compare`)."""
    import onnx

    model, x = network(), np.random.default_rng(0).standard_normal((2, 3, 16, 16)).astype("float32")
    for what, (layer, change) in PLANTED.items():
        program = export(model, x)
        right = program.model_proto
        wrong = copy.deepcopy(right)
        change(wrong, onnx)
        row, ours = said_by_compare(model, wrong, x)
        yield what, layer, row, (ours, said_by_polygraphy(right, wrong, x), said_by_torch(program, wrong, x))


def main():
    """Write the table."""
    heads = ("planted", "`compare`", "Polygraphy", "`verify_onnx_program`")
    lines = [f"| {' | '.join(heads)} |", f"|{'---|' * len(heads)}"]
    for what, layer, _, said in findings():
        cells = (text.replace("|", "\\|") for text in (f"{layer}: {what}", *said))
        lines.append(f"| {' | '.join(cells)} |")
    Path(sys.argv[1]).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
