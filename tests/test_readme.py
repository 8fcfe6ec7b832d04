"""The README's diagnosis and chain are today's, and the lists of files and commands are complete.

test_documents.py checks its other outputs.

``python tests/test_readme.py`` writes the chain, where a call is executed, anew.
"""

import re
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv import tf
from teachconv.backends import why_not
from teachconv.cli.main import main

PATH = Path(__file__).parents[1] / "README.md"
README = PATH.read_text(encoding="utf-8")


def test_the_diagnosis():
    x = np.arange(64, dtype="float32").reshape(1, 1, 8, 8)
    w = np.arange(9, dtype="float32").reshape(1, 1, 3, 3)
    port = tc.dialects.torch.conv2d(x, w, stride=2, padding=1)
    ours = x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), 2, "SAME"
    report = tc.diff(tc.conv2d, *ours, backends=(), against={"my port": port.transpose(0, 2, 3, 1)})
    assert f"my port: {report.rows[-1].diagnosis}" in " ".join(README.split())
    assert "\n".join(str(report).split("\n")[1:3]) in README


CHAIN = re.compile(r"(?<=are applied\.\n\n```\n)[^`]*(?=```\n)")


def chain():
    x, w = np.ones((1, 8, 8, 2), "float32"), np.ones((3, 3, 2, 2), "float32")
    return f"{tc.find_source(tf.nn.conv2d, x, w, 2, 'SAME')}\n"


@pytest.mark.skipif(bool(why_not("cython")), reason=why_not("cython") or "compiled")
def test_where_it_is_executed():
    assert CHAIN.search(README)[0] == chain(), f"run python {Path(__file__).name}"


def rows(page, head):
    """The first cells of the rows of a table on a page."""
    table = (PATH.parent / "docs" / page).read_text(encoding="utf-8").partition(head)[2].partition("\n\n")[0]
    return "\n".join(re.findall(r"^\| (.*?) \|", table, re.MULTILINE))


def test_the_table_of_files_is_complete():
    package = Path(tc.__file__).parent
    names = re.findall(r"`([\w/*]+(?:\.(?:pyx?|h)|/))`", rows("how_the_pieces_fit.md", "| file |"))
    assert all(list(package.glob(name.rstrip("/"))) for name in names)
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    assert folders <= {name.partition("/")[0] for name in names} | {"data"}


def test_the_table_of_commands_is_complete(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = re.findall(r"^  ([a-z-]+)  ", capsys.readouterr().out.partition("commands:")[2], re.MULTILINE)
    assert set(re.findall(r"`([a-z-]+)`", rows("command_line.md", "what it does |"))) == set(listed)


if __name__ == "__main__":
    PATH.write_text(CHAIN.sub(lambda _: chain(), README), encoding="utf-8")
