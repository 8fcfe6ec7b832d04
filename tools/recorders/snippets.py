"""Snippets: short programs in TensorFlow's words, run by TensorFlow and by teachconv.tf alike.

The files of tensorflow_words/ hold them. A file begins with the lines that all its snippets share, the import among
them; ``# %% title`` begins a snippet. What a snippet prints and the error that ends it are its outcome.
"""

import contextlib
import importlib
import io
import linecache
import re
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "tests" / "recorded" / "tensorflow_words"
_TITLE = re.compile(r"^# %% (.*)\n", re.MULTILINE)
_IMPORT = re.compile(r"^(import|from) tensorflow\b(?!_)", re.MULTILINE)


@dataclass(frozen=True)
class Snippet:
    """A program: the file it is from, its title, the shared lines before it, and its own lines."""

    file: str
    title: str
    prelude: str
    code: str

    @property
    def name(self):
        return f"{self.file}: {self.title}"

    @property
    def is_version_1(self):
        return "import tensorflow.compat.v1" in self.prelude + self.code


@dataclass(frozen=True)
class Outcome:
    """What a snippet did: the lines it printed, the class of the error that ended it, and its message.

    ``caught_as`` are the names of the error's classes: an ``except`` that names one of them catches it.
    """

    printed: str
    error: str | None = None
    message: str = ""
    caught_as: tuple[str, ...] = ()

    def agrees_with(self, recorded):
        """Whether the same was printed, and an ``except`` for the recorded error would have caught this one."""
        same_error = self.error is None if recorded.error is None else recorded.error in self.caught_as
        return self.printed == recorded.printed and same_error


def snippets():
    """Return every snippet by its name."""
    found = {}
    for path in sorted(FOLDER.glob("*.py")):
        prelude, *parts = _TITLE.split(path.read_text(encoding="utf-8"))
        for title, code in zip(parts[::2], parts[1::2], strict=True):
            snippet = Snippet(path.stem, title, prelude, code.strip() + "\n")
            assert snippet.name not in found, f"two snippets are called {snippet.name}"
            found[snippet.name] = snippet
    return found


def with_teachconv(code):
    """Replace ``tensorflow`` in the import lines, and nothing else."""
    return _IMPORT.sub(r"\1 teachconv.tf", code)


def run(snippet, package="tensorflow"):
    """Run a snippet with TensorFlow, or with teachconv.tf in its place, and return its outcome."""
    code = snippet.prelude + snippet.code
    if package != "tensorflow":
        code = with_teachconv(code)
    _start_anew(importlib.import_module(package), snippet.is_version_1)
    file = f"<{snippet.name}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)  # AutoGraph reads it
    printed, error = io.StringIO(), None
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(compile(code, file, "exec"), {"__name__": "snippet"})
        except Exception as raised:
            error = raised
    text = re.sub(r"0x[0-9a-f]+", "0x...", printed.getvalue())
    if error is None:
        return Outcome(text)
    classes = tuple(kind.__name__ for kind in type(error).__mro__)
    return Outcome(text, type(error).__name__, _gist(str(error)), classes)


def _gist(message):
    """The message on one line, without colours, files and the list of callers."""
    message = re.sub(r"\x1b\[\d*m|\{\{.*?\}\}", "", message)
    message = re.sub(r"(?s)Graph execution error:.*?\nNode: '[^']*'\n", "", message)
    message = re.sub(r"(?s)Original stack trace for .*|in user code:.*?\n\n.*?\n\n", "", message)
    return re.sub(r"\s+", " ", re.sub(r"0x[0-9a-f]+", "0x...", message)).strip()[:200]


def _start_anew(tensorflow, is_version_1):
    if is_version_1:
        tensorflow.compat.v1.reset_default_graph()
    else:
        tensorflow.random.set_seed(0)
