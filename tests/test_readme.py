"""The README shows what the code prints."""

import re
from pathlib import Path

import numpy as np

import teachconv as tc
from teachconv.graph import find_source

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
X = np.arange(25, dtype="float32").reshape(1, 5, 5, 1)
W = np.ones((3, 3, 1, 1), "float32")


def without_line_numbers(text):
    return re.sub(r":\d+ *", " ", text)


def test_geometry_and_explanation():
    assert str(tc.conv2d_geometry(X.shape, W.shape, 2, "SAME")) in README
    assert str(tc.explain(tc.conv2d, X, W, 2, "SAME", at=(0, 0, 0, 0))) in README


def test_the_diagnosis():
    x = np.arange(64, dtype="float32").reshape(1, 1, 8, 8)
    w = np.arange(9, dtype="float32").reshape(1, 1, 3, 3)
    port = tc.dialects.torch.conv2d(x, w, stride=2, padding=1)
    ours = x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), 2, "SAME"
    report = tc.diff(tc.conv2d, *ours, backends=(), against={"my port": port.transpose(0, 2, 3, 1)})
    assert f"...  {report.rows[-1].diagnosis}" in README


def test_the_translation():
    text = str(tc.translate(tc.conv2d, (1, 8, 8, 1), (3, 3, 1, 4), 2, "SAME", to="torch"))
    assert text[text.index("def convolve") :].strip() in README


def test_where_it_is_executed():
    shown = README[README.index("public wrapper ") :]
    shown = shown[: shown.index("```")].strip().split("\n")
    found = [without_line_numbers(line) for line in str(find_source("conv2d_transpose")).split("\n")]
    assert len(shown) == 6
    assert all(without_line_numbers(line) in found for line in shown)


def test_every_file_named_is_there():
    package = Path(tc.__file__).parent
    table = README[README.index("| file | what it does |") :]
    names = re.findall(r"`([\w/*]+(?:\.(?:pyx?|h)|/))`", table[: table.index("\n\n")])
    assert len(names) > 15
    assert all(list(package.glob(name.rstrip("/"))) for name in names)
