"""Record the public names of teachconv with their signatures, in public_api.json; tests/test_public_api.py compares.

Usage: python tests/recorded/record_public_api.py, after a change of the public API that is meant.
"""

import inspect
import json
import re
from pathlib import Path

import teachconv as tc
from teachconv import dialects, graph
from teachconv.arrays import dask
from teachconv.inspection import plotting

FILE = Path(__file__).with_name("public_api.json")
MODULES = {
    "teachconv": tc,
    "teachconv.arrays.dask": dask,
    "teachconv.dialects": dialects,
    "teachconv.graph": graph,
    "teachconv.plot": plotting,
}


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
    """Return the public attributes of a class, with the signatures of those that can be called."""
    return {
        name: signature(getattr(kind, name)) if callable(getattr(kind, name, None)) else "attribute"
        for name in sorted({name for base in kind.__mro__[:-1] for name in (*vars(base), *_annotations(base))})
        if not name.startswith("_")
    }


def _annotations(base):
    return getattr(base, "__annotations__", {})


def public_api():
    """Return {module: {name: signature, or of a class {"()": its signature, attribute: signature}}}."""
    found = {}
    for module_name, module in MODULES.items():
        names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
        found[module_name] = {}
        for name in sorted(names):
            thing = getattr(module, name)
            if inspect.ismodule(thing):
                found[module_name][name] = "module"
            elif inspect.isclass(thing) and not issubclass(thing, BaseException):
                found[module_name][name] = {"()": signature(thing), **members(thing)}
            elif inspect.isclass(thing):
                found[module_name][name] = f"exception of {thing.__base__.__name__}"
            else:
                found[module_name][name] = signature(thing) if callable(thing) else "attribute"
    return found


if __name__ == "__main__":
    FILE.write_text(json.dumps(public_api(), indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8")
