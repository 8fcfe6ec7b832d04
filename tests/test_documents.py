"""README and docs: their Python runs, their commands run, and the output that they show is today's.

A block without a language shows commands, or the output of the last call in the paragraph before it: code in
backquotes that begins with ``print(``, ``tc.translate(`` or ``python -m teachconv``. Line numbers and times may
differ. A block is a whole part of the output, unless the next paragraph says that rows are omitted.
"""

import re
import shlex
import tomllib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

import teachconv as tc
from teachconv.cli.main import main

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMANDS = ("make ", "python ", "python3 ", ".venv/bin/python ", "pip ", "compute-sanitizer ", "$ ")
CALL = re.compile(r"`((?:print\(|tc\.translate\(|python -m teachconv )[^`]*)`")
TIME = re.compile(r"\b[\d.,]+ (?:ns|µs|ms|s|min)\b")

X, W = np.ones((1, 8, 8, 3), "float32"), np.ones((3, 3, 3, 4), "float32")
# what the blocks of a page name without making it: the reader's own arrays
READERS_OWN = {
    "tour": lambda: {"theirs": tc.conv2d(X, W, 2, "SAME")},
    "explorer": lambda: {
        "x_nchw": np.ones((1, 2, 6, 6), "float32"),
        "w_oihw": np.ones((2, 2, 3, 3), "float32"),
        "their_output": np.zeros((1, 3, 3, 2), "float32"),
        "theirs": np.zeros((1, 3, 3, 2), "float32"),
    },
}


def blocks(page):
    """Yield (language, text, the paragraph before, the text after) of every fenced block."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(r"^```(.*)\n((?:.*\n)*?)```$", text, re.MULTILINE):
        before = text[: found.start()].rstrip().rpartition("\n\n")[2]
        yield found[1], found[2], before, text[found.end() :].lstrip()


def is_commands(text):
    lines = [line for line in text.split("\n") if line.strip()]
    return all(line.startswith(COMMANDS) for line in lines)


def plain(text):
    """The lines of an output, without what differs from run to run."""
    text = TIME.sub("TIME", re.sub(r":\d+\b", ":LINE", text))
    return [" ".join(line.split()) for line in text.strip().split("\n")]


def is_part_of(shown, output):
    return any(output[i : i + len(shown)] == shown for i in range(len(output)))


def is_in_order(shown, output):
    rest = iter(output)
    return all(line in rest for line in shown)


@pytest.fixture
def page(request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return request.param


@pytest.mark.filterwarnings(
    "ignore:.torch.jit.script:DeprecationWarning"
)  # PyTorch's own, at its first tangent
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem, indirect=True)
def test_python_runs_and_outputs_are_todays(page, capsys):
    if "import cupy" in page.read_text(encoding="utf-8") and tc.backends.why_not("cupy"):
        pytest.skip(tc.backends.why_not("cupy"))
    if page.stem == "torch_and_jax":  # make test-peers runs it
        pytest.importorskip("torch")
        pytest.importorskip("jax")
    if page.stem == "explorer":
        pytest.importorskip("matplotlib")
    names, printed = READERS_OWN.get(page.stem, dict)(), ""
    for language, shown, before, after in blocks(page):  # each output belongs to what ran before it
        calls = CALL.findall(before)
        if language == "python" and not calls:
            exec(compile(shown, str(page), "exec"), names)
        if not calls or language not in ("", "python") or is_commands(shown):
            continue
        printed += capsys.readouterr().out
        if calls[-1].startswith("python -m teachconv "):
            assert main(shlex.split(calls[-1])[3:]) == 0
            output = capsys.readouterr().out
        else:
            output = str(eval(calls[-1].removeprefix("print"), names))
        fits = is_in_order if "omitted" in after.partition("\n\n")[0] else is_part_of
        assert fits(plain(shown), plain(output)), f"{page.name}: {calls[-1]} gives\n{output}"
    printed += capsys.readouterr().out
    if page.stem == "graph":  # its comments say which calls print
        assert printed.endswith("tracing\n" * 2)
        assert [record.reason for record in names["edges"].trace_log][-1] == "times: 1 -> 2"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_is_run_or_checked(page):
    for language, shown, before, _ in blocks(page):
        known = language in ("python", "sh", "powershell") or language.startswith("{") or is_commands(shown)
        checked = CALL.search(before) or shown.startswith("my port: ")  # by test_readme.py
        assert known or checked, f"{page.name}: nothing checks\n{shown}"


def commands():
    for page in PAGES:
        for language, text, _, _ in blocks(page):
            if language == "sh" or (not language and is_commands(text)):
                for line in text.split("\n"):
                    words = shlex.split(line.removeprefix("$ "), comments=True)
                    if words[1:3] == ["-m", "teachconv"] and words[3:] != [
                        "demo"
                    ]:  # test_cli.py has the demo
                        yield pytest.param(words[3:], id=" ".join(words[3:])[:60])


@pytest.mark.parametrize("words", list(commands()))
def test_the_commands_run(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", X)
    np.save("w.npy", W)
    if "picture.png" in words:
        from teachconv.inspection.images import png

        Path("picture.png").write_bytes(png(np.full((20, 24, 3), 9, np.uint8)))
    if "model.onnx" in words:
        onnx = pytest.importorskip("onnx")
        pytest.importorskip("onnxruntime")
        helper, values = onnx.helper, onnx.TensorProto.FLOAT
        x = helper.make_tensor_value_info("x", values, (1, 3, 64, 64))
        y = helper.make_tensor_value_info("y", values, (1, 2, 62, 62))
        w = onnx.numpy_helper.from_array(np.ones((2, 3, 3, 3), np.float32), "w")
        graph = helper.make_graph([helper.make_node("Conv", ["x", "w"], ["y"])], "g", [x], [y], [w])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.save(model, "model.onnx")
    assert main(words) == 0
    assert capsys.readouterr().out


def test_the_checks_can_fail():
    shown = plain("a  x.py:12  3.5 ms\nb")
    assert is_part_of(shown, plain("0\na x.py:99 1,200 µs\n b\nc"))
    assert not is_part_of(shown, plain("a x.py:99 1 s\nc\nb"))
    assert is_in_order(shown, plain("a x.py:99 1 s\nc\nb"))
    assert not is_in_order(shown, plain("b\na x.py:99 1 s"))
    assert not is_part_of(plain("a y.py:12"), plain("a x.py:12"))


def test_the_commands_for_windows_are_those_of_the_makefile():
    page, makefile = ((ROOT / name).read_text(encoding="utf-8") for name in ("docs/install.md", "Makefile"))
    (typed,) = re.findall(r"^```powershell\n(.*?)```", page, re.MULTILINE | re.DOTALL)
    assert "@" not in typed
    for words in (
        "-m teachconv demo",
        "course/build.py",
        "-n auto --maxprocesses 4 --dist loadgroup",
        '-m "not slow"',
    ):
        assert words in makefile
        assert words.replace("/", "\\") in typed
    for name in re.findall(r"\$env:(\w+)", typed):
        assert f"{name}=1" in makefile


EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
FOR_DEVELOPERS = {"bench-plans", "cuda-compiler", "dev", "docs", "peers", "release", "test"}


def test_the_front_page_alone_has_its_rules():
    """They hold for the page with the doors; a heading "teachconv" stands on another page, too."""
    assert [page.name for page in PAGES if 'class="doors"' in page.read_text(encoding="utf-8")] == [
        "index.md"
    ]
    rules = (ROOT / "docs" / "_static" / "pages.css").read_text(encoding="utf-8")
    assert rules.count(":has(.doors)") > 2
    assert "#teachconv" not in rules


def test_the_page_of_installation_lists_every_extra_for_users():
    text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    firsts = re.findall(r"^\| (`.*?) \|", text, re.MULTILINE)
    assert {name for first in firsts for name in re.findall(r"`(.+?)`", first)} == set(
        EXTRAS
    ) - FOR_DEVELOPERS


def test_the_page_on_tensorflow_counts_the_published_programs_that_run():
    rows = tomllib.loads((ROOT / "evaluation" / "published_programs.toml").read_text(encoding="utf-8"))[
        "program"
    ]
    text = " ".join((ROOT / "docs" / "tensorflow.md").read_text(encoding="utf-8").split())
    ran = Counter(row["version"] for row in rows if row["now"] == "runs")
    tried = Counter(row["version"] for row in rows)
    assert f"Of {len(rows)} published programs for" in text
    assert f"chosen before they were tried, {ran.total()} run to their end" in text
    assert (
        f"{ran[1]} of {tried[1]} for TensorFlow 1, and {ran[2]} of {tried[2]} for TensorFlow 2 and Keras"
        in text
    )
    for row in rows:
        assert row["compared"] or row["now"] != "runs", row


def test_the_page_on_tensorflow_counts_the_programs_that_run():
    """Of other projects' programs: what the recorded page counts."""
    counts = (ROOT / "docs" / "their_tests.md").read_text(encoding="utf-8").partition("## Counts")[2]
    rows = re.findall(
        r"^\| ([\w-]+/[\w-]+)((?: \| \d+)+) \|$", counts.partition("The same before")[0], re.MULTILINE
    )
    programs = [
        [int(number) for number in re.findall(r"\d+", numbers)]
        for name, numbers in rows
        if name not in ("tensorflow/tensorflow", "keras-team/keras")  # these are tests
    ]
    tried, passed = sum(sum(row[:-1]) for row in programs), sum(row[0] for row in programs)
    text = " ".join((ROOT / "docs" / "tensorflow.md").read_text(encoding="utf-8").split())
    assert len(programs) == 5
    assert (
        f"Of the {tried} of [other projects](their_tests.md) that this repository counts, {passed} do."
        in text
    )


ANSWERS = [page for page in sorted((ROOT / "docs" / "answers").glob("*.md")) if page.stem != "index"]
PICTURES = ("{teachconv}", "plt.show()", "tc.explore(", "tc.explain(", "tc.plot.", "picture_graph(")
SOURCES = ("{literalinclude} ../../teachconv/", "find_source(", "inspect.getsource(")


@pytest.mark.parametrize("page", ANSWERS, ids=lambda page: page.stem)
def test_an_answer_has_a_call_a_picture_the_reason_and_the_source(page):
    _, *sections = re.split(r"^## ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    call, picture, why, source = (section.partition("\n") for section in sections)
    titles = [part[0] for part in (call, picture, why, source)]
    assert titles == ["The call", "The picture", "Why", "The source line"]
    assert "tc." in call[2] or "tf." in call[2]
    assert any(mark in picture[2] for mark in PICTURES)
    assert any(mark in source[2] for mark in SOURCES)
