"""The prose is plain: phrases that slow a reader down stay out of pages, docstrings and comments."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
for folder, patterns in {
    "docs": ("*.md", "*.rst"),
    "notebooks": ("*.ipynb",),
    "examples": ("*.py",),
    "benchmarks": ("*.py",),
    "teachconv": ("*.py", "*.pyx", "*.h", "*.c", "*.cu", "*.cuh", "*.js"),
}.items():
    FILES += sorted(path for pattern in patterns for path in (ROOT / folder).rglob(pattern))

# what a reader stumbles over, and what to write instead
BANNED = {
    "or rather": "say it the right way at once",
    "of course": "leave it out",
    "obviously": "leave it out",
    "basically": "leave it out",
    "needless to say": "leave it out",
    "please note": "leave it out",
    "it should be noted": "leave it out",
    "easy to see": "show it",
    "in order to": "to",
    "utilize": "use",
    "leverage": "use",
    "aforementioned": "name it",
    "thus": "so",
    "wherewith": "with which",
    "whereupon": "then",
    "said once more": "repeated",
    "met by no": "which no ... reaches",
    "does not do": "is not enough",
    "holes included": "including gaps",
    "that is all there is": "leave it out",
    "has leave": "may",
    "numbers are others": "differ",
    "and other numbers": "but different numbers",
    "what stands around": "what surrounds it",
    "to blame": "causes it",
    "picks two integers": "say in what they differ",
    "that is none": "that is not one",
    "whose like": "like one",
    "the like": "name them, or say similar",
    "is another question": "is a separate question",
    "by what means": "how",
    "that it has not": "that it lacks",
    "comes to the same": "is the same",
    "as it always does": "as usual",
    "lies where it lies": "is used as it is",
    "nothing but": "only",
    "wherever they stand": "in any position",
    "which is said once": "with a warning once",
    "the reference aside": "except the reference",
    "may be found out": "say how it shows",
    "is no failure": "is not a failure",
    "for what is no": "for anything else",
    "are there to be read": "are for reading",
    "is free to choose": "say who may choose",
    "numbers part": "numbers diverge",
    "and some more": "a little more than",
    "the way back is": "for the way back",
    "numbers of the channels as they are": "per-channel numbers unchanged",
}
PATTERN = re.compile(r"\b(" + "|".join(map(re.escape, BANNED)) + r")\b", re.IGNORECASE)
# a generated copy, and folders that the build writes
NOT_OURS = (
    "docs/_build",
    "docs/_generated",
    "docs/api/",
    "docs/learn/0",
    "docs/learn/1",
    "docs/learn/2",
    "node_modules",
)


def is_ours(path):
    name = path.relative_to(ROOT).as_posix()
    return not any(part in name for part in NOT_OURS)


@pytest.mark.parametrize("folder", ["docs", "notebooks", "examples", "benchmarks", "teachconv", "."])
def test_no_banned_phrase(folder):
    found = []
    for path in FILES:
        name = path.relative_to(ROOT)
        if is_ours(path) and (name.parts[0] if len(name.parts) > 1 else ".") == folder:
            for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
                found += [f"{name}:{number}: {hit!r}: {BANNED[hit.lower()]}" for hit in PATTERN.findall(line)]
    assert not found, "\n".join(found)


def test_the_pattern_finds_a_phrase():
    assert PATTERN.findall("Of course, it is easy to see.") == ["Of course", "easy to see"]
    assert not PATTERN.findall("an offcourse leveraged enthusiast")
