"""Writes docs/differences.md: every recorded snippet to which teachconv.tf answers otherwise than TensorFlow.

    python docs/differences.py            (tests/tf/test_words.py fails if the page is out of date)

tests/recorded/tensorflow_words/ has the snippets, tensorflow_words.json what TensorFlow answered; this script
runs teachconv's side. Each difference belongs to a reason in docs/differences.toml.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
TARGET = HERE / "differences.md"
sys.path.insert(0, str(HERE.parent / "tools"))
from recorders import snippets  # noqa: E402

INTRO = """# What differs from TensorFlow

<!-- written by docs/differences.py: do not edit -->

Look up here what your TensorFlow program will do differently. `teachconv.tf` answers as TensorFlow does,
apart from what this page lists. {total} short programs
(`tests/recorded/tensorflow_words/`) were run by TensorFlow {tensorflow} with Keras {keras}, and are run by
`teachconv.tf` with only `tensorflow` replaced in the imports. {same} of them print the same, and where
TensorFlow raises an error, an `except` for its class catches ours, too. The other {different} are below, with
both answers. A test fails if a program on this page agrees, or if one that differs is missing here.

| programs | in all | the same answer |
|---|---|---|
"""


def recorded() -> dict[str, Any]:
    """Return what record_tensorflow_words.py wrote."""
    path = snippets.FOLDER.parent / "tensorflow_words.json"
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def reasons() -> list[dict[str, Any]]:
    """Return the reasons for differences: a title, a text, and the names of the snippets."""
    found: list[dict[str, Any]] = tomllib.loads((HERE / "differences.toml").read_text())["reason"]
    return found


def different(outcomes: dict[str, Any]) -> list[str]:
    """Return the names of the snippets whose outcome, by name, is not the recorded one."""
    theirs = recorded()["outcomes"]
    return [name for name, ours in outcomes.items() if not ours.agrees_with(snippets.Outcome(**theirs[name]))]


def page(outcomes: dict[str, Any]) -> str:
    """Return the page for teachconv's outcome of every snippet, by name."""
    found, listed = recorded(), set(different(outcomes))
    counts: dict[str, list[int]] = {}
    for name, snippet in snippets.snippets().items():
        count = counts.setdefault(snippet.file, [0, 0])
        count[0] += 1
        count[1] += name not in listed
    text = INTRO.format(
        total=len(outcomes), same=len(outcomes) - len(listed), different=len(listed), **found["versions"]
    )
    text += "".join(f"| {file} | {total} | {same} |\n" for file, (total, same) in counts.items())
    for reason in reasons():
        text += f"\n## {reason['title']}\n\n{reason['text'].strip()}\n"
        for name in reason["snippets"]:
            text += _entry(snippets.snippets()[name], found["outcomes"][name], outcomes[name])
    return text


def _entry(snippet: Any, theirs: dict[str, Any], ours: Any) -> str:
    code = f"```{{code-block}} python\n{snippet.code}```\n"
    answers = f"- TensorFlow: {_answer(**theirs)}\n- teachconv: {_answer(**vars(ours))}\n"
    return f"\n**{snippet.name}**\n\n{code}\n{answers}"


def _answer(printed: str, error: str | None, message: str, **_: Any) -> str:
    parts = []
    if printed.strip():
        parts.append("prints " + " ⏎ ".join(f"`{line}`" for line in printed.rstrip().split("\n")))
    if error is not None:
        parts.append(f"raises `{error}`: {_plain(message)}")
    return ", then ".join(parts) or "prints nothing, and raises nothing"


def _plain(message: str) -> str:
    """The message without what Markdown would read as markup."""
    return "".join("\\" + letter if letter in "\\`*_[]<>{}#|$" else letter for letter in message[:160])


def outcomes() -> dict[str, Any]:
    """Run every snippet with teachconv.tf and return its outcome by name."""
    from teachconv import graph

    found = {}
    for name, snippet in snippets.snippets().items():
        try:
            found[name] = snippets.run(snippet, "teachconv.tf")
        finally:
            graph.enable_v2_behavior()
    return found


if __name__ == "__main__":
    TARGET.write_text(page(outcomes()), encoding="utf-8")
