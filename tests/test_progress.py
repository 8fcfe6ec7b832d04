"""How far a long computation is: on a terminal, and in a notebook's cell."""

import io
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from helpers import AtOnce, Terminal

import teachconv as tc
from teachconv.backends import reference
from teachconv.support import progress

CELL = f"""
import sys, threading
sys.path.insert(0, {str(Path(__file__).parent)!r})
from helpers import AtOnce
from teachconv.support import progress
patient, threading.Timer, progress._PAUSE = threading.Timer, AtOnce, 0.0
with progress.during("thinking"):
    pass
for item in progress.track(["a", "b"], "items"):
    pass
threading.Timer = patient
with progress.during("quick"):
    pass
print("done")
"""


@pytest.fixture(autouse=True)
def every_text(monkeypatch):
    monkeypatch.setattr(progress, "_PAUSE", 0.0)


def on_a_terminal(monkeypatch):
    """A terminal in place of the standard error."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    return terminal


def wait_for_text(terminal):
    """Another thread writes it."""
    deadline = time.monotonic() + 60
    while not terminal.getvalue():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_a_terminal_has_one_line(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_PATIENCE", 0)
    with progress.during("thinking"):
        wait_for_text(terminal)
    assert terminal.getvalue() == "\r\x1b[Kthinking …\r\x1b[K"


def test_one_line_says_how_far_what_is_inside_is(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_PATIENCE", 0)
    with progress.during("outer"):
        wait_for_text(terminal)
        with progress.during("inner"):
            progress.say("7 %")
        progress.say("the rest")
    progress.say("nobody hears it")
    texts = terminal.getvalue().split("\r\x1b[K")[1:]
    assert texts == ["outer …", "outer: inner …", "outer: inner: 7 % …", "outer: the rest …", ""]


# 20 million terms, and two channels: one sum after the other
LONG = (np.ones((1, 120, 120, 80), "float32"), np.ones((3, 3, 80, 2), "float32"), 1, "SAME")
SHORT = (LONG[0][:, :9, :9], *LONG[1:])


@pytest.mark.parametrize(
    ("run", "words"),
    [
        (lambda: tc.conv2d(*LONG, backend="reference"), "the reference: "),
        (lambda: tc.diff(tc.conv2d, *LONG, backends="numpy"), "diff: the reference: "),
        (lambda: tc.diff(tc.conv2d, *SHORT, backends="numpy"), "diff: numpy im2col …"),
        (
            lambda: tc.autotune(tc.conv2d, *SHORT, backends="numpy", seconds=0.1),
            "autotune: estimating numpy taps …",
        ),
        (lambda: tc.check_gradients(tc.conv2d, *SHORT, cells=2), "check_gradients: filters, cell 2 of 2 …"),
    ],
)
def test_what_takes_long_shows_how_far_it_is(run, words, monkeypatch):
    monkeypatch.setattr(threading, "Timer", AtOnce)
    monkeypatch.setattr(reference, "_STEP", 1 << 20)
    terminal = on_a_terminal(monkeypatch)
    run()
    said = terminal.getvalue()
    assert words in said
    if "the reference" in words:
        assert len({part for part in said.split("\r\x1b[K") if "%" in part}) > 9
    assert said.endswith("\r\x1b[K")


def test_a_small_call_of_the_reference_looks_for_no_terminal(monkeypatch):
    monkeypatch.setattr(progress, "_line", lambda: pytest.fail("looked for a terminal"))
    tc.conv2d(LONG[0][:, :9], LONG[1][..., :2], backend="reference")


def test_what_is_quick_shows_nothing(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    with progress.during("thinking"):
        pass
    assert list(progress.track(["a", "b"], "items")) == ["a", "b"]
    assert terminal.getvalue() == ""


def test_an_error_clears_the_line(monkeypatch):
    terminal = on_a_terminal(monkeypatch)
    monkeypatch.setattr(progress, "_PATIENCE", 0)
    with pytest.raises(ZeroDivisionError), progress.during("thinking"):  # noqa: PT012
        wait_for_text(terminal)
        raise ZeroDivisionError
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_where_nobody_looks_nothing_is_written(monkeypatch):
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(progress, "_PATIENCE", 0)
    with progress.during("thinking"):
        assert list(progress.track([1], "items")) == [1]
    assert stream.getvalue() == ""


def test_texts_that_follow_at_once_are_not_all_shown(monkeypatch):
    monkeypatch.setattr(progress, "_PAUSE", 60.0)
    monkeypatch.setattr(progress, "_PATIENCE", 0)
    terminal = on_a_terminal(monkeypatch)
    with progress.during("thinking"):
        wait_for_text(terminal)
        for number in range(1000):
            progress.say(str(number))
    assert terminal.getvalue() == "\r\x1b[Kthinking …\r\x1b[K"


@pytest.mark.parametrize("has_a_reader", [True, False])
def test_a_notebooks_cell_has_one_line_that_is_empty_at_the_end(has_a_reader):
    """In a real kernel, whose pages obey a carriage return: each text takes the place of the one before.

    A notebook that is run for a page has no line.
    """
    nbformat = pytest.importorskip("nbformat")
    client = pytest.importorskip("nbclient")
    written = []

    class Client(client.NotebookClient):
        async def async_execute_cell(self, *arguments, **options):
            self.kc.allow_stdin = has_a_reader
            return await super().async_execute_cell(*arguments, **options)

        def process_message(self, message, cell, number):
            if message["msg_type"] == "stream" and message["content"]["name"] == "stderr":
                written.append(message["content"]["text"])
            return super().process_message(message, cell, number)

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(CELL)])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3"}
    Client(notebook, timeout=60).execute()
    outputs = {output["name"]: output["text"] for output in notebook.cells[0].outputs}
    assert outputs["stdout"] == "done\n"
    if not has_a_reader:
        assert written == []
        return
    assert not outputs["stderr"].strip()
    lines = "".join(written).split("\r")
    assert "thinking …" in lines
    assert "items: 1 of 2 …" in lines
    shown = [len(line) for line in lines if line.strip()]
    assert [len(line) for line in lines if line and not line.strip()] == shown  # each is blanked out whole
