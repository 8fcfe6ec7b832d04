"""Writes the rules of dialects and translations as JavaScript, for the pages: teachconv/explorer/script/rules.json.

    python tools/recorders/record_page_rules.py

Run it after a change in dialects/, translation/ or what they use; a test of tests/explorer/test_explorer_javascript.py
fails until then. The law itself is arithmetic, which the pages have in law.js: NATIVES says what stands for what.
"""

import json
import re
import sys
from inspect import Parameter, signature
from itertools import islice
from math import prod
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from javascript import written  # noqa: E402

from teachconv.core import geometry, law
from teachconv.running import nn_ops
from teachconv.support import tables  # noqa: E402
from teachconv.core.arguments import (check_steps, integer, normalize_shape, truth)  # noqa: E402
from teachconv.dialects.calls import FUNCTIONS, ConvCall, check_bias  # noqa: E402
from teachconv.support.errors import (ArgumentError, ArgumentTypeError, brief, suggestion)  # noqa: E402
from teachconv.windows.calls import FUNCTIONS as WINDOWS  # noqa: E402
from teachconv.translation import forward, source_text, transposed  # noqa: E402
from teachconv.translation.target_calls import Code  # noqa: E402
from teachconv.translation.targets import TARGETS  # noqa: E402
from teachconv.translation.translating import written_call  # noqa: E402

RECORDED = ROOT / "teachconv/explorer/script/rules.json"

# what the pages offer, by their names: what has functions for pools, too
FRAMEWORKS = {name: target.title for name, target in TARGETS.items() if target.pool is not None}

# what the pages resolve and translate: what is over rows and columns, and has a resolver of its own, which can be
# written as JavaScript
PAGE_FUNCTIONS = {
    entry.name: function
    for function, entry in sorted(FUNCTIONS.items(), key=lambda pair: pair[1].name)
    if [operand.role for operand in entry.operands][:2] == ["input", "filters"]
    and entry.resolver.__closure__ is None
    and 4 in entry.operands[1].ranks
}

NATIVES = {
    **dict.fromkeys((ArgumentError, ArgumentTypeError, ValueError), "Refusal"),
    law.AxisGeometry: "Axis",
    geometry.Conv2DGeometry: "Geometry",
    geometry.conv2d_geometry: "conv2dGeometry",
    geometry.conv2d_transpose_geometry: "conv2dTransposeGeometry",
    law.cropped_axis: "croppedAxis",
    law.forward_axis: "forwardAxis",
    geometry.forward_geometry: "forwardGeometry",
    law.split_padding: "splitPadding",
    Code: "Code",
    brief: "repr",
    integer: "integer",
    islice: "islice",
    normalize_shape: "tupleOf",
    prod: "product",
    source_text.folded: "folded",
    tables.count: "count",
    truth: "truth",
    **dict.fromkeys((check_steps, suggestion), "nothing"),
    # what no page asks for: SciPy, a bias, code for any size, the cells of a call
    **dict.fromkeys((forward.of_scipy, transposed.of_scipy, source_text.scipy_section), "null"),
    **dict.fromkeys((check_bias, source_text._rule_lines, ConvCall.name), "nothing"),
    # nor pools, padding and normalisation
    **dict.fromkeys(WINDOWS, "null"),
    **{target.pool: "null" for target in TARGETS.values() if target.pool is not None},
    "sum_panels.js": "listed",  # a name that a page has for something else
    **{function: json.dumps(entry.name) for function, entry in FUNCTIONS.items()},
}


def made():
    """Return what rules.json holds: the functions, what they are made of, and the name of the one that writes a call."""
    entries = {name: FUNCTIONS[function] for name, function in PAGE_FUNCTIONS.items()}
    names, text = written([*(entry.resolver for entry in entries.values()), written_call], NATIVES)
    parts = re.split(r"\n(?=(?:function\*?|const|class) )", f"const FRAMEWORKS={json.dumps(FRAMEWORKS)};\n{text}")
    return {
        "functions": {name: _entry(entries[name], names[number]) for number, name in enumerate(entries)},
        "writtenCall": names[-1],
        "parts": {re.match(r"(?:function\*?|const|class) (\w+)", part)[1]: part for part in parts},
    }


def _entry(entry, resolver):
    """Return the operands of a function, the usual values of its words, and its resolver."""
    arrays = [operand.name for operand in entry.operands]
    parameters = nn_ops.without_options(dict(signature(PAGE_FUNCTIONS[entry.name]).parameters))
    words = {w: p.default for w, p in parameters.items() if w not in (*arrays, "name", "unknown")}
    given = ",".join(f"a.{name}" for name in signature(entry.resolver).parameters if name in (*words, *arrays))
    return {
        "operands": [{"name": operand.name, "role": operand.role} for operand in entry.operands],
        "words": {w: "undefined" if d is Parameter.empty else json.dumps(d) for w, d in words.items()},
        "resolver": f"(a)=>{resolver}({given})",
    }


def recorded(found):
    """Return the text of the file."""
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    RECORDED.write_text(recorded(made()), encoding="utf-8")
