"""The rules of dialects and translations on the pages: Python's functions as JavaScript, from rules.json.

tools/recorders/record_page_rules.py writes the file, and law.js beside it; a test compares. A page has what
its call needs.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any


@lru_cache(maxsize=1)
def _written() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files(__package__) / "script/rules.json").read_text(encoding="utf-8"))
    return found


def words_of(name: str) -> Collection[str] | None:
    """Return the arguments of a function besides arrays and options; None if the pages do not know it."""
    function = _written()["functions"].get(name)
    return None if function is None else function["words"].keys()


def rules(names: Sequence[str] | None = None) -> str:
    """Return JavaScript that defines ``FRAMEWORKS``, ``FUNCTIONS`` and ``writtenCall``.

    Args:
        names: the functions that the page resolves and translates; None for all, and there may be none.
    """
    written = _written()
    functions = {n: one for n, one in written["functions"].items() if names is None or n in names}
    last = f"const writtenCall={written['writtenCall'] if functions else 'null'};"
    entries = ",".join(
        f'"{name}":{{operands:{json.dumps(one["operands"])},'
        f"words:{{{','.join(f'{word}:{usual}' for word, usual in one['words'].items())}}},"
        f"resolver:{one['resolver']}}}"
        for name, one in functions.items()
    )
    parts, needed, waiting = written["parts"], {"FRAMEWORKS"}, [entries, last]
    while waiting:
        found = (parts.keys() & re.findall(r"\w+", waiting.pop())) - needed
        needed |= found
        waiting += [parts[name] for name in found]
    kept = [text for name, text in parts.items() if name in needed]
    return "\n".join([*kept, f"const FUNCTIONS={{{entries}}};", last])
