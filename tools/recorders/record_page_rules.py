"""Writes the law, and the rules of dialects and translations, as JavaScript for the pages.

    python tools/recorders/record_page_rules.py

The law, Python's core/, becomes the module teachconv/explorer/script/law.js, which people may read; the rules become
rules.json, of which a page has what its call needs. Run it after a change in core/, dialects/, translation/ or what they
use; a test of tests/explorer/test_explorer_javascript.py fails until then. NATIVES says what the pages have in JavaScript
of their own.
"""

import json
import re
import sys
from inspect import Parameter, signature
from itertools import groupby, islice, product
from math import prod
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tools")]

from javascript import written  # noqa: E402

from teachconv.core import arguments, geometry, kinds, law, taps  # noqa: E402
from teachconv.dialects.calls import FUNCTIONS, ConvCall, check_bias  # noqa: E402
from teachconv.explorer.page import compact  # noqa: E402
from teachconv.running import nn_ops  # noqa: E402
from teachconv.support import errors, tables  # noqa: E402
from teachconv.support.errors import ArgumentError, ArgumentTypeError  # noqa: E402
from teachconv.translation import forward, source_text, transposed  # noqa: E402
from teachconv.translation.target_calls import Code  # noqa: E402
from teachconv.translation.targets import TARGETS  # noqa: E402
from teachconv.translation.translating import written_call  # noqa: E402
from teachconv.windows.calls import FUNCTIONS as WINDOWS  # noqa: E402

SCRIPTS = ROOT / "teachconv/explorer/script"
FIRST_LINE = "Made from Python's law by tools/recorders/record_page_rules.py: `make page-rules` makes it again."

# where the law is, in the order of the file that is written; and the functions that the pages call
LAW_MODULES = (errors, kinds, arguments, law, geometry, taps)
LAW = (
    geometry.conv2d_geometry,
    geometry.conv2d_transpose_geometry,
    law.forward_axis,
    law.cropped_axis,
    taps.gather_all,
    taps.scatter_all,
)

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
    **dict.fromkeys((ArgumentError, ArgumentTypeError, AttributeError, ValueError), "Refusal"),
    Code: "Code",
    arguments._is_scalar: "isScalar",
    arguments._items: "list",
    arguments.check_steps: "checkSteps",
    arguments.integer: "integer",
    arguments.normalize_shape: "normalizeShape",
    arguments.normalize_steps: "normalizeSteps",
    arguments.truth: "truth",
    errors.brief: "repr",
    islice: "islice",
    prod: "prod",
    product: "product",
    source_text.folded: "folded",
    tables.count: "count",
    **dict.fromkeys((errors.refuse_unknown, errors.suggestion), "nothing"),
    # what no page asks for: SciPy, a bias, code for any size, the cells of a call
    **dict.fromkeys((forward.of_scipy, transposed.of_scipy, source_text.scipy_section), "null"),
    **dict.fromkeys((check_bias, source_text._rule_lines, ConvCall.name), "nothing"),
    # nor pools, padding and normalisation
    **dict.fromkeys(WINDOWS, "null"),
    **{target.pool: "null" for target in TARGETS.values() if target.pool is not None},
    "sum_panels.js": "listed",  # a name that a page has for something else
    **{function: json.dumps(entry.name) for function, entry in FUNCTIONS.items()},
}


_WITHOUT = "adaptive", "resize", "shuffles"  # of a target; no page asks for these either


def made():
    """Return the text of each file by its name."""
    entries = {name: FUNCTIONS[function] for name, function in PAGE_FUNCTIONS.items()}
    roots = [*(entry.resolver for entry in entries.values()), written_call]
    scripts = [path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.js") if path.name != "law.js"]
    members = _attributes(scripts)
    for _ in range(2):  # which properties of a geometry the rules use is known when they are written
        _, law_parts = written(LAW, NATIVES, members=members, to_read=True)
        names, parts = written(roots, NATIVES, known=law_parts, without=_WITHOUT)
        members |= _attributes(part.text for part in parts)
    rules = {
        "functions": {name: _entry(entries[name], names[number]) for number, name in enumerate(entries)},
        "writtenCall": names[-1],
        "parts": {
            "FRAMEWORKS": f"const FRAMEWORKS={json.dumps(FRAMEWORKS)};",
            **{part.name: compact(part.text).replace("\n", "") for part in parts},
        },
    }
    return {
        "law.js": _law(law_parts),
        "rules.json": json.dumps(rules, indent=1, ensure_ascii=False) + "\n",
    }


def _attributes(scripts):
    """Return the names of properties and methods that scripts use."""
    return {name for script in scripts for name in re.findall(r"\.(\w+)", script)}


def _law(parts):
    """Return the text of law.js: the definitions in the order of Python's modules."""
    order = [module.__name__ for module in LAW_MODULES]
    blocks = []
    for module, own in groupby(
        sorted(parts, key=lambda part: (order.index(part.module), part.line)), lambda part: part.module
    ):
        blocks.append(f"// ---- {module.replace('.', '/')}.py ----")
        blocks += [re.sub(r"^(?=(?:function|class|const) )", "export ", part.text, flags=re.M) for part in own]
    text = "\n\n".join(blocks)
    imports = [_import(name, text) for name in ("python", "arguments")]
    return "\n".join([f"// {FIRST_LINE}", "", *imports, "", text, ""])


def _import(module, text):
    """Return the statement that imports what a text uses of a module."""
    script = (SCRIPTS / f"{module}.js").read_text(encoding="utf-8")
    names = re.findall(r"^export (?:class|const|function) (\w+)", script, flags=re.M)
    used = sorted(name for name in names if re.search(rf"(?<![.\w]){name}(?=[(`,)])", text))
    return f'import {{ {", ".join(used)} }} from "./{module}.js";'


def _entry(entry, resolver):
    """Return the operands of a function, the usual values of its words, and its resolver."""
    arrays = [operand.name for operand in entry.operands]
    parameters = nn_ops.without_options(dict(signature(PAGE_FUNCTIONS[entry.name]).parameters))
    words = {w: p.default for w, p in parameters.items() if w not in (*arrays, "name", "unknown")}
    given = ",".join(
        f"a.{name}" for name in signature(entry.resolver).parameters if name in (*words, *arrays)
    )
    return {
        "operands": [{"name": operand.name, "role": operand.role} for operand in entry.operands],
        "words": {w: "undefined" if d is Parameter.empty else json.dumps(d) for w, d in words.items()},
        "resolver": f"(a)=>{resolver}({given})",
    }


if __name__ == "__main__":
    for name, text in made().items():
        (SCRIPTS / name).write_text(text, encoding="utf-8")
