"""The README's diagnosis is today's, and the files that it names are there; test_documents.py has the rest."""

import re
from pathlib import Path

import numpy as np

import teachconv as tc

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_the_diagnosis():
    x = np.arange(64, dtype="float32").reshape(1, 1, 8, 8)
    w = np.arange(9, dtype="float32").reshape(1, 1, 3, 3)
    port = tc.dialects.torch.conv2d(x, w, stride=2, padding=1)
    ours = x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), 2, "SAME"
    report = tc.diff(tc.conv2d, *ours, backends=(), against={"my port": port.transpose(0, 2, 3, 1)})
    assert f"...  {report.rows[-1].diagnosis}" in README


def test_every_file_named_is_there():
    package = Path(tc.__file__).parent
    table = README[README.index("| file | what it does |") :]
    names = re.findall(r"`([\w/*]+(?:\.(?:pyx?|h)|/))`", table[: table.index("\n\n")])
    assert len(names) > 15
    assert all(list(package.glob(name.rstrip("/"))) for name in names)
