"""Reads evaluation/questions.txt, whose head says how it is written."""

from dataclasses import dataclass, field
from pathlib import Path

PATH = Path(__file__).parent / "questions.txt"


@dataclass
class Question:
    """One block: where it was read, the page that answers it, what is searched for, names and their ops."""

    source: str
    page: str
    searches: list[str] = field(default_factory=list)
    names: list[tuple[str, str]] = field(default_factory=list)


def read():
    """Return the blocks in order."""
    blocks = []
    for line in PATH.read_text(encoding="utf-8").split("\n"):
        word, _, rest = line.partition(" ")
        if word == "source":
            blocks.append(Question(rest.strip(), ""))
        elif word == "page":
            blocks[-1].page = rest.strip()
        elif word == "?":
            blocks[-1].searches.append(rest)
        elif word == ">":
            name, _, op = rest.rpartition(" = ")
            blocks[-1].names.append((name, op))
    return blocks


def queries():
    """Return what is typed and the pages that are wanted, of evaluation/queries.txt."""
    lines = (PATH.parent / "queries.txt").read_text(encoding="utf-8").splitlines()
    typed = [line.rpartition(" = ") for line in lines if line and not line.startswith("#")]
    return [(words, pages.split()) for words, _, pages in typed]
