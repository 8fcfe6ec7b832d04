"""Writes docs/dialect_map.md, the table of dialects and options, by running teachconv.

The docs build runs it (`write` from docs/conf.py); by hand: python docs/dialect_map.py
"""

from pathlib import Path

from teachconv.translation.dialect_map import markdown

PAGE = Path(__file__).parent / "dialect_map.md"


def write() -> None:
    """Write the page, if what it says has changed."""
    intro = (
        "Made by running the code (`python -m teachconv dialects` prints the same). The input is 8 × 8 "
        "with 2 channels, the filter 3 × 3 with 4 output channels, unless the option needs others."
    )
    text = f"# The map of dialects\n\n{intro}\n\n{markdown()}"
    if not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
