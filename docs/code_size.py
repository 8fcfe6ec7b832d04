"""Writes what how_the_pieces_fit.md includes: how much code there is, and how many functions a call enters.

The docs build runs it (docs/conf.py calls `write`). To run it by hand: python docs/code_size.py
"""

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent


def write(folder: Path) -> None:
    """Write what each tool prints, if it has changed.

    Each runs in a process of its own: the numbers are those of calls that nobody has traced before.
    """
    folder.mkdir(exist_ok=True)
    for tool in ("statements", "count_calls"):
        command = [sys.executable, HERE.parent / "tools" / f"{tool}.py"]
        text = subprocess.run(command, check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout
        path = folder / f"{tool}.txt"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write(HERE / "_generated")
