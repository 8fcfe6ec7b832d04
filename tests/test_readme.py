"""The README's Python runs as printed, its diagnosis and chain are today's, its lists of files and commands complete.

test_documents.py checks its other outputs.

``python tests/test_readme.py`` writes the chain, where a call is executed, anew.
"""

import contextlib
import io
import re
from pathlib import Path

import numpy as np
import pytest
from test_documents import blocks

import teachconv as tc
from teachconv import tf
from teachconv.backends import why_not
from teachconv.cli.main import main

pytestmark = pytest.mark.xdist_group("readme")

PATH = Path(__file__).parents[1] / "README.md"
README = PATH.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def snippets(tmp_path_factory):
    """What the page's Python defines and prints, as printed: block after block, with nothing given beforehand."""
    names, printed = {}, io.StringIO()
    with contextlib.chdir(tmp_path_factory.mktemp("readme")), contextlib.redirect_stdout(printed):
        for language, text, before, _ in blocks(PATH):
            if language == "python" and "`tc.translate(" not in before:  # else it is that call's output
                exec(compile(text, str(PATH), "exec"), names)
        assert Path("page.html").stat().st_size > 10_000
    return names, printed.getvalue()


def test_the_diagnosis(snippets):
    _, printed = snippets
    assert printed.startswith("1 of ")
    assert "\n".join(printed.split("\n")[1:3]) in README


def test_the_kernel_of_the_page_is_checked_as_the_page_says(snippets, monkeypatch):
    names, _ = snippets
    (parametrize,) = names["test_conv"].pytestmark
    outcomes = {}
    for case in parametrize.args[1][::6]:
        try:
            names["test_conv"](getattr(case, "values", [case])[0])
            reason = "passed"
        except pytest.skip.Exception as error:
            reason = re.match(r"one int for \w+|no parameter for (?:a )?\w+|", str(error))[0]
        outcomes[reason] = outcomes.get(reason, 0) + 1
    assert outcomes.pop("passed") > 10
    skipped = {
        "one int for strides",
        "one int for pads",
        *(f"no parameter for {it}" for it in ("groups", "dilations", "a bias")),
    }
    assert skipped <= outcomes.keys()
    fuzz = names["T"].fuzz
    monkeypatch.setattr(
        names["T"], "fuzz", lambda kernel, *, seconds, seed: fuzz(kernel, seconds=seconds / 20, seed=seed)
    )
    names["test_fuzz"]()


def test_a_wrong_kernel_on_the_page_would_fail(snippets):
    """The checks above pass because the kernel is right, not because nothing ran."""
    names, _ = snippets
    T, right = names["T"], names["my_conv"]
    flipped = T.kernel(
        lambda x, weight, stride, padding: right(x, weight[:, :, ::-1], stride, padding), x="NCHW", w="OIHW"
    )
    with pytest.raises(AssertionError, match="flipped"):
        T.fuzz(flipped, seconds=10, seed=0).check()


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
    assert {f"core/{path.name}" for path in package.glob("core/[!_]*.py")} <= set(names)


def test_the_table_of_commands_is_complete(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    listed = re.findall(r"^  ([a-z-]+)  ", capsys.readouterr().out.partition("commands:")[2], re.MULTILINE)
    assert set(re.findall(r"`([a-z-]+)`", rows("command_line.md", "what it does |"))) == set(listed)


if __name__ == "__main__":
    PATH.write_text(CHAIN.sub(lambda _: chain(), README), encoding="utf-8")
