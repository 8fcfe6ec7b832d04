"""Lays the slides of the course out as a page, for those who look before they teach.

docs/teach/slides.md includes it.
"""

import runpy
import shutil
from pathlib import Path

HERE = Path(__file__).parent
COURSE = HERE.parent / "course"


def as_cards(text: str) -> str:
    r"""Return a lecture as Markdown for Sphinx: a heading, and a card for each slide without its notes.

    >>> print(as_cards("# Convolution 1\n\nSizes\n\nNote: Hi.\n\n---\n\n## Why?\n\nA vote.\n\nNote: No."))
    ## Lecture 1: Sizes
    <BLANKLINE>
    `````{container} slides
    ````{container} slide
    **Why?**
    <BLANKLINE>
    A vote.
    ````
    `````
    """
    first, *slides = [slide.partition("\nNote: ")[0].strip() for slide in text.split("\n---\n")]
    title, about = first.replace("# Convolution", "Lecture").split("\n\n")
    cards = []
    for slide in slides:
        head, _, body = slide.removeprefix("## ").partition("\n")
        body = body.replace("](figures/", "](../_generated/figures/")  # as docs/teach sees them
        cards.append(f"````{{container}} slide\n**{head}**\n{body}\n````")
    return "\n".join([f"## {title}: {about}", "", "`````{container} slides", *cards, "`````"])


def write(folder: Path) -> None:
    """Write the page and its figures, which teachconv draws."""
    shutil.rmtree(folder / "figures", ignore_errors=True)
    runpy.run_path(str(COURSE / "build.py"))["draw"](folder / "figures")
    lectures = sorted((COURSE / "slides").glob("lecture_*.md"))
    text = "\n\n".join(as_cards(path.read_text(encoding="utf-8")) for path in lectures)
    (folder / "lectures.md").write_text(text + "\n", encoding="utf-8")
