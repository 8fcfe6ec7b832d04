"""Train a small network on scikit-learn's digits and on drawn ones with PyTorch, and record it with its answers.

    pip install torch==2.13.0 scikit-learn && python record_digits.py   # writes teachconv/data/digits.npz

The network is small enough that a page can show every cell of it: two convolutions with pools, and one dense layer.
It is trained on 1,400 of scikit-learn's 1,797 digits, and on 600 digits that a simulated hand drew
(record_drawn_digits.py) and examples/drawn_digits.py prepared; all are a little bent in each epoch, and none is
shifted. The file records the shares of right answers for the other 397 digits, and for the 200 recorded drawings, which
are others of the same forms: prepared, and not prepared. A second network, which is trained in the same way without the
last form of each digit, says how new forms are read.

The file holds the weights in TensorFlow's layouts (HWIO filters; the rows of the dense layer in the order in which
NHWC activations are flattened), 100 test images (8 x 8, 0..16, uint8) with their labels, and PyTorch's own float32
logits for them, computed in its own layouts. The digits are those of E. Alpaydin and C. Kaynak, Optical Recognition of
Handwritten Digits, UCI Machine Learning Repository, CC BY 4.0, doi.org/10.24432/C50P49, in the form in which
scikit-learn distributes them.
"""

import json
import sys
from pathlib import Path

import numpy as np
import sklearn
import torch
from sklearn.datasets import load_digits
from torch import nn

ROOT = Path(__file__).resolve().parents[2]
sys.path += [str(ROOT / "examples"), str(Path(__file__).parent)]

from drawn_digits import as_drawn, prepare
from record_drawn_digits import FORMS, PATH, drawings

torch.use_deterministic_algorithms(True)
torch.set_num_threads(1)


def on_the_pad(drawing):
    """Return the strokes of a drawing in fractions of the pad's side."""
    return [[(x / 1000, y / 1000) for x, y in stroke] for stroke in drawing["strokes"]]


def bent(images, random):
    """Return images that are each turned, slanted and scaled a little about their middle."""
    count = len(images)
    turn, slant = random.normal(0, 0.1, count), random.uniform(-0.15, 0.15, count)
    wide, high = 1 + random.uniform(-0.1, 0.1, count), 1 + random.uniform(-0.05, 0.05, count)
    nowhere = np.zeros(count)
    rows = [[np.cos(turn) * wide, slant - np.sin(turn), nowhere], [np.sin(turn), np.cos(turn) * high, nowhere]]
    matrices = torch.from_numpy(np.array(rows, "float32").transpose(2, 0, 1).copy())
    grid = nn.functional.affine_grid(matrices, images.shape, align_corners=False)
    return nn.functional.grid_sample(images, grid, align_corners=False)


def tensor(images):
    """Return counts of ink from 0 to 16, [images, 8, 8], as the network takes them: [images, 1, 8, 8]."""
    return torch.from_numpy((np.asarray(images) / 16).astype("float32"))[:, None]


def trained(images, labels):
    """Return a network that was trained on counts of ink, [images, 8, 8], with their classes."""
    torch.manual_seed(0)
    network = nn.Sequential(
        *(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),  # 8 x 8 -> 4 x 4
        *(nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),  # 4 x 4 -> 2 x 2
        *(nn.Flatten(), nn.Linear(64, 10)),
    )
    x, y = tensor(images), torch.from_numpy(labels)
    optimizer = torch.optim.Adam(network.parameters(), lr=3e-3, weight_decay=1e-4)
    for epoch in range(60):
        random = np.random.default_rng(epoch)
        for batch in torch.from_numpy(random.permutation(len(x))).split(64):
            optimizer.zero_grad()
            nn.functional.cross_entropy(network(bent(x[batch], random)), y[batch]).backward()
            optimizer.step()
    return network.eval()


def right(network, images, labels):
    """Return the share of images that a network reads rightly."""
    with torch.no_grad():
        return float((network(tensor(images)).argmax(1).numpy() == labels).mean())


def read(drawings):
    """Return drawings as prepared, and as drawn, [drawings, 8, 8], and their classes."""
    prepared = np.array([prepare(on_the_pad(drawing)) for drawing in drawings])
    raw = np.array([as_drawn(on_the_pad(drawing), drawing["pen"] / 1000) for drawing in drawings])
    return prepared, raw, np.array([drawing["digit"] for drawing in drawings])


digits = load_digits()
order = np.random.default_rng(0).permutation(len(digits.images))
train, test = order[:1400], order[1400:]


def trained_with(drawings):
    """Return a network that was trained on scikit-learn's digits and on drawings."""
    prepared, _, labels = read(drawings)
    images = np.concatenate([digits.images[train], prepared])
    return trained(images, np.concatenate([digits.target[train], labels]))


network = trained_with(drawings(60, seed=1))
without_last_forms = trained_with(drawings(60, seed=1, all_forms=False))

recorded = json.loads(PATH.read_text(encoding="utf-8"))["digits"]
prepared, raw, labels = read(recorded)
is_last = np.array([drawing["form"] == len(FORMS[drawing["digit"]]) - 1 for drawing in recorded])
accuracy = {
    "test images": right(network, digits.images[test], digits.target[test]),
    "drawn": right(network, prepared, labels),
    "drawn, not prepared": right(network, raw, labels),
    "drawn in a last form, by the network without": right(without_last_forms, prepared[is_last], labels[is_last]),
}

shown = test[:100]
with torch.no_grad():
    logits = network(tensor(digits.images[shown])).numpy()
state = {name: value.numpy() for name, value in network.state_dict().items()}
arrays = {
    "conv1/filters": state["0.weight"].transpose(2, 3, 1, 0),
    "conv1/bias": state["0.bias"],
    "conv2/filters": state["3.weight"].transpose(2, 3, 1, 0),
    "conv2/bias": state["3.bias"],
    "dense/weights": state["7.weight"].reshape(10, 16, 2, 2).transpose(2, 3, 1, 0).reshape(64, 10),  # HWC order
    "dense/bias": state["7.bias"],
    "images": digits.images[shown].astype("uint8")[..., None],
    "labels": digits.target[shown].astype("int32"),
    "logits": logits,
}
meta = {
    "versions": {"torch": torch.__version__, "scikit-learn": sklearn.__version__, "numpy": np.__version__},
    "script": Path(__file__).name,
    "images": {"train": len(train), "drawn to train": 600, "test": len(test), "drawn": len(recorded), "in a last form": int(is_last.sum())},
    "accuracy": accuracy,
}
path = ROOT / "teachconv" / "data" / "digits.npz"
arrays = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
np.savez_compressed(path, meta=np.array(json.dumps(meta)), **arrays)
print(f"{path.name}: {json.dumps(accuracy)}, {path.stat().st_size:,} bytes")
