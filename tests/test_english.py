"""The prose is plain: phrases that slow a reader down stay out of pages, docstrings and comments."""

import functools
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
    "course": ("*.md", "*.py", "*.ipynb"),
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
# words that are wrong only in some places, in prose and Python: the words, what finds those places, what to write
CONSTRUCTIONS = [
    (
        " no ",
        r"(?<![Tt]here )\b(?:is|are|was|were|be) no (?!longer|more|less|better|worse|larger|smaller|one\b)[a-z]",
        "is not a",
    ),
    ("anew", r"\banew\b(?!,| =| else)", "again, or name what is reset"),
    ("silence", r"\bin silence\b", "silently"),
    (" not", r"\bha(?:s|ve) not(?=[.;:,\"`)]|$)", "lacks"),
    ("so many", r"\bso many (?!that\b)[a-z]+\b(?! that)", "name the argument: `n` zeros"),
    ("without e", r"\bwithout (?:end|effect)\b", "endlessly; has no effect"),
    ("but for", r"\bbut for\b", "except"),
    (
        "st",
        r"\b(?:stands?|stood) (?:in(?! for)|at|on|under|behind|before|after|below|beside|next|partly|open|around|to the)\b",
        "is",
    ),
    ("what stands", r"\bwhat stands\b(?! for)", "say what it is"),
    ("not there", r"\b(?:is|are) not there\b", "does not exist, or is missing"),
    ("of others", r"\bof others\b", "of other ones; name them"),
    ("teachconv has no other", r"\bteachconv has no others?\.", "must be"),
    ("all the same", r"\ball the same(?= if|\.|,|$)", "still"),
    ("is said", r"\bis said (?:in|once|where)\b", "name what says it"),
    ("nobody can find", r"\bnobody can find\b", "say what does not show it"),
    ("as such", r"\bgiven as such\b", "given as an object"),
    ("with other", r"\bwith other (?:numbers|shapes|words|values)\b", "with different"),
    ("exact but", r"\bexact but\b", "exact up to"),
    ("own affair", r"\bits own affair\b", "say who decides"),
]
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


@functools.cache
def read(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "folder", ["docs", "notebooks", "examples", "benchmarks", "course", "teachconv", "."]
)
def test_no_banned_phrase(folder):
    found = []
    for path in FILES:
        name = path.relative_to(ROOT)
        if is_ours(path) and (name.parts[0] if len(name.parts) > 1 else ".") == folder:
            for number, line in enumerate(read(path).split("\n"), 1):
                found += [f"{name}:{number}: {hit!r}: {BANNED[hit.lower()]}" for hit in PATTERN.findall(line)]
    assert not found, "\n".join(found)


def constructions(text):
    """Yield the line's number and what to write instead, for each construction in a text."""
    for number, line in enumerate(text.split("\n"), 1):
        for words, pattern, better in CONSTRUCTIONS:
            if words in line and re.search(pattern, line):
                yield number, better


def test_no_translated_construction():
    found = []
    for path in FILES:
        if is_ours(path) and path.suffix in (".py", ".md", ".ipynb"):
            found += [f"{path.relative_to(ROOT)}:{n}: {better}" for n, better in constructions(read(path))]
    assert not found, "\n".join(found)


def test_the_pattern_finds_a_phrase():
    assert PATTERN.findall("Of course, it is easy to see.") == ["Of course", "easy to see"]
    assert not PATTERN.findall("an offcourse leveraged enthusiast")


@pytest.mark.parametrize(
    "line",
    [
        "if ``batch_size`` is no positive int",
        "the line is written anew several times a second",
        "TensorFlow would change an integer in silence",
        "raise if it has not.",
        "with so many zeros on every side",
        "parallel_iterations: without effect",
        "the same bits, but for the sign of a NaN",
        "how the ops differ stands in the table",
        "what stands between convolutions",
        "which is made if it is not there",
        "no library of others",
        "conjugate: False; teachconv has no other.",
        "It is dropped all the same if it would begin in the padding",
        "Which op it is said in another file is said once",
        "nobody can find out where they were cut",
        "an initializer by its name, or one that is given as such",
        "two forms of each question, with other numbers",
        "the difference is exact but for rounding",
        "their order is its own affair",
    ],
)
def test_a_construction_is_found(line):
    assert [*constructions(line)]


def test_what_is_not_a_construction():
    assert not [*constructions("there is no padding; it is no longer needed: so many that it stands for n")]
