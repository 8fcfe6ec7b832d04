"""Record the public names of teachconv with their signatures, in public_api.json; tests/test_public_api.py compares.

Public are the names of teachconv and of every module that docs/api.rst lists. A function or class of several
modules is recorded in one, and the others say which.

Usage: python tools/recorders/record_public_api.py, after a change of the public API that is meant.
"""

import inspect
import json
import re
import sys
from pathlib import Path

FILE = Path(__file__).parents[2] / "tests" / "recorded" / "public_api.json"
sys.path.append(str(FILE.parents[2] / "docs"))

import public_names  # noqa: E402


def signature(thing):
    """Return names, kinds and defaults of the parameters, without annotations."""
    try:
        found = inspect.signature(thing)
    except (ValueError, TypeError):
        return ""
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in found.parameters.values()]
    text = str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty))
    return re.sub(r" at 0x[0-9a-f]+", "", text)


def members(kind):
    """Return the public attributes of a class, with the signatures of those that can be called.

    Those that it has from a class of Python or of NumPy are not the library's to keep.
    """
    ours = [base for base in kind.__mro__ if base.__module__.startswith("teachconv")]
    return {
        name: signature(getattr(kind, name)) if callable(getattr(kind, name, None)) else "attribute"
        for name in sorted({name for base in ours for name in (*vars(base), *_annotations(base))})
        if not name.startswith("_")
    }


def _annotations(base):
    return getattr(base, "__annotations__", {})


def public_api():
    """Return {module: {name: signature, or of a class {"()": its signature, attribute: signature}}}."""
    found = {}
    for module_name, module in public_names.public_modules().items():
        found[module_name] = {
            name: _entry(f"{module_name}.{name}", getattr(module, name)) for name in sorted(module.__all__)
        }
    return found


def _entry(name, thing):
    if inspect.ismodule(thing):
        return "module"
    home = public_names.homes().get(id(thing), name)
    if home != name:
        return f"is {home}"
    if inspect.isclass(thing) and not thing.__module__.startswith("teachconv"):
        return f"is {thing.__module__}.{thing.__qualname__}"
    if not inspect.isclass(thing):
        return signature(thing) if callable(thing) else "attribute"
    if issubclass(thing, BaseException):
        return f"exception of {thing.__base__.__name__}"
    return {"()": signature(thing), **members(thing)}


if __name__ == "__main__":
    FILE.write_text(
        json.dumps(public_api(), indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8"
    )
