"""How much code there is: Python's statements, and lines of the other languages, by folder and group, as a table in Markdown.

Usage: python tools/statements.py [--since REVISION] [--depth 1] [--root .] [folder]. A statement is a node ``ast.stmt``
that is not a docstring, so that nothing depends on how lines are broken. A line of Cython, C, CUDA or JavaScript counts
if it holds more than blanks and comments (of Cython: and docstrings). The files are those that git tracks, and new ones
that it does not ignore. With ``--since``, a cell that differed then reads ``before → now (difference)``.
"""

import argparse
import ast
import io
import re
import subprocess
import tarfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
LANGUAGES = {
    "Python": (".py",),
    "Cython": (".pyx", ".pxd"),
    "C": (".c", ".h"),
    "CUDA": (".cu", ".cuh"),
    "JavaScript": (".js",),
}
# What a newcomer reads, and the rest by whom it is for: each has a row of its own before the total.
GROUPS = {
    "to read first": "core/ support/ running/ backends/",
    "tools for users": "windows/ quantized/ dialects/ arrays/ truth/ inspection/ frameworks/ verification/ testing/ translation/ "
    "networks/ exercises/ cli/ data/",
    "TensorFlow's model": "graph/ keras/ tf/",
    "the pages": "explorer/",
}
LANGUAGE_OF = {ending: language for language, endings in LANGUAGES.items() for ending in endings}
_STRING = r"'(?:\\.|[^'\\\n])*'" + r'|"(?:\\.|[^"\\\n])*"'
# Strings and regular expressions come with the comments: what looks like a comment inside them is none.
_HASH = re.compile(
    rf'(?P<comment>^[ \t]*(?:"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\')|#.*)|"""[\s\S]*?"""|{_STRING}', re.MULTILINE
)
_REGULAR = r"(?<=[(,=:\[!&|?>])\s*/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+/"
_SLASHES = re.compile(rf"(?P<comment>//.*|/\*[\s\S]*?\*/)|{_STRING}|`(?:\\.|[^`\\])*`|{_REGULAR}")


def statements(code):
    """Return the number of statements of a Python file, docstrings apart."""
    return sum(isinstance(node, ast.stmt) and not _is_docstring(node) for node in ast.walk(ast.parse(code)))


def _is_docstring(node):
    return isinstance(node, ast.Expr) and isinstance(getattr(node.value, "value", None), str)


def lines(code, comments):
    """Return the number of lines that hold more than blanks and comments."""

    def without(match):
        return "\n" * match[0].count("\n") if match["comment"] else match[0]

    return sum(bool(line.strip()) for line in comments.sub(without, code).split("\n"))


def size(path, code):
    """Return (language, statements or lines) of a file."""
    language = LANGUAGE_OF[Path(path).suffix]
    if language == "Python":
        return language, statements(code)
    return language, lines(code, _HASH if language == "Cython" else _SLASHES)


def files_now(root, folder):
    """Yield (path, text) of the files in the working tree."""
    listed = ["git", "-C", root, "ls-files", "-z", "-co", "--exclude-standard", "--", folder]
    for path in sorted(
        set(subprocess.run(listed, check=True, capture_output=True).stdout.decode().split("\0"))
    ):
        if Path(path).suffix in LANGUAGE_OF and (root / path).is_file():
            yield path, (root / path).read_text(encoding="utf-8")


def files_of(root, folder, revision):
    """Yield (path, text) of the files of a revision."""
    archive = ["git", "-C", root, "archive", revision, "--", folder]
    found = io.BytesIO(subprocess.run(archive, check=True, stdout=subprocess.PIPE).stdout)
    with tarfile.open(fileobj=found) as tar:
        for member in tar:
            if Path(member.name).suffix in LANGUAGE_OF and member.isfile():
                yield member.name, tar.extractfile(member).read().decode("utf-8")


def count(files, folder, depth=1):
    """Return {row: Counter by language}: a row for each folder, one for the modules above them, and the total."""
    found = {"total": Counter()}
    for path, code in files:
        language, number = size(path, code)
        parents = Path(path).relative_to(folder).parent.parts[:depth]
        for row in ("/".join(parents) + "/" if parents else "*", "total"):
            found.setdefault(row, Counter())[language] += number
    for group, folders in GROUPS.items():
        if there := found.keys() & set(folders.split()):
            found[f"*{group}*"] = sum((found[row] for row in there), Counter())
    return found


def table(now, before=None):
    """Return the counts as a table in Markdown."""
    before = now if before is None else before
    order = [f"*{group}*" for group in GROUPS]
    rows = (
        sorted({*now, *before} - {*order, "total"})
        + [row for row in order if row in now or row in before]
        + ["total"]
    )
    return "\n".join(
        [
            f"| folder | {' | '.join(LANGUAGES)} |",
            f"|---|{'--:|' * len(LANGUAGES)}",
            *(
                f"| {row} | {' | '.join(_cell(now.get(row, {}), before.get(row, {}), one) for one in LANGUAGES)} |"
                for row in rows
            ),
        ]
    )


def _cell(now, before, language):
    new, old = now.get(language, 0), before.get(language, 0)
    return f"{old:,} → {new:,} ({new - old:+,})" if new != old else f"{new:,}" if new else ""


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", default="teachconv")
    parser.add_argument("--since", metavar="REVISION", help="compare with a revision of git")
    parser.add_argument("--depth", type=int, default=1, help="how deep the folders are that have a row")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    given = parser.parse_args()
    before = given.since and files_of(given.root, given.folder, given.since)
    print(
        table(
            count(files_now(given.root, given.folder), given.folder, given.depth),
            before and count(before, given.folder, given.depth),
        )
    )


if __name__ == "__main__":
    main()
