"""Train a LeNet-shaped network on scikit-learn's digits with PyTorch, and record it with its answers.

    pip install torch==2.13.0 scikit-learn && python record_digits.py   # writes teachconv/data/digits.npz

The file holds the weights in TensorFlow's layouts (HWIO filters; the rows of the first dense layer in
the order in which NHWC activations are flattened), 100 test images (8 x 8, 0..16, uint8) with their
labels, and PyTorch's own float32 logits for them, computed in its own layouts. The digits are those of
E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine Learning Repository,
CC BY 4.0, doi.org/10.24432/C50P49, in the form in which scikit-learn distributes them.
"""

import json
from pathlib import Path

import numpy as np
import sklearn
import torch
from sklearn.datasets import load_digits
from torch import nn

torch.manual_seed(0)
torch.use_deterministic_algorithms(True)
torch.set_num_threads(1)

digits = load_digits()
images = (digits.images / 16).astype("float32")[:, None]  # [images, 1, 8, 8]
order = np.random.default_rng(0).permutation(len(images))
train, test = order[:1400], order[1400:]

network = nn.Sequential(
    *(nn.Conv2d(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),  # 8 x 8 -> 4 x 4
    *(nn.Conv2d(6, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)),  # 4 x 4 -> 2 x 2
    *(nn.Flatten(), nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 32), nn.ReLU(), nn.Linear(32, 10)),
)
optimizer = torch.optim.Adam(network.parameters(), lr=3e-3, weight_decay=1e-4)
x, y = torch.from_numpy(images), torch.from_numpy(digits.target)
for epoch in range(40):
    for batch in torch.from_numpy(np.random.default_rng(epoch).permutation(train)).split(64):
        optimizer.zero_grad()
        nn.functional.cross_entropy(network(x[batch]), y[batch]).backward()
        optimizer.step()

network.eval()
with torch.no_grad():
    accuracy = float((network(x[test]).argmax(1) == y[test]).float().mean())
    shown = test[:100]
    logits = network(x[shown]).numpy()

state = {name: value.numpy() for name, value in network.state_dict().items()}
dense1 = state["7.weight"].reshape(48, 16, 2, 2).transpose(2, 3, 1, 0).reshape(64, 48)  # HWC order
arrays = {
    "conv1/filters": state["0.weight"].transpose(2, 3, 1, 0),
    "conv1/bias": state["0.bias"],
    "conv2/filters": state["3.weight"].transpose(2, 3, 1, 0),
    "conv2/bias": state["3.bias"],
    "dense1/weights": dense1,
    "dense1/bias": state["7.bias"],
    "dense2/weights": state["9.weight"].T,
    "dense2/bias": state["9.bias"],
    "dense3/weights": state["11.weight"].T,
    "dense3/bias": state["11.bias"],
    "images": digits.images[shown].astype("uint8")[..., None],
    "labels": digits.target[shown].astype("int32"),
    "logits": logits,
}
meta = {
    "versions": {"torch": torch.__version__, "scikit-learn": sklearn.__version__, "numpy": np.__version__},
    "script": Path(__file__).name,
    "test images": len(test),
    "accuracy": accuracy,
}
path = Path(__file__).resolve().parents[2] / "teachconv" / "data" / "digits.npz"
arrays = {name: np.ascontiguousarray(value) for name, value in arrays.items()}
np.savez_compressed(path, meta=np.array(json.dumps(meta)), **arrays)
print(f"{path.name}: accuracy {accuracy:.3f} on {len(test)} images, {path.stat().st_size:,} bytes")
