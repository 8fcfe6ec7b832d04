"""What the pages of the reference list: each public name once, and a line at every other module that has it.

docs/api.rst lists the modules, a name's home before others that have it; docs/_templates/listing.rst
writes the pages.
"""

import importlib
import inspect
from functools import cache
from pathlib import Path

import teachconv

PAGES = Path(__file__).parent / "api.rst"


@cache
def listed_modules() -> dict[str, object]:
    """Return the modules that docs/api.rst gives to the template listing.rst, by their public names."""
    found = {}
    for block in PAGES.read_text(encoding="utf-8").split(":template: listing.rst\n")[1:]:
        for line in block.lstrip("\n").split("\n"):
            if not line.startswith("   "):
                break
            name = f"teachconv.{line.strip()}"
            found[name] = teachconv.plot if line.strip() == "plot" else importlib.import_module(name)
    return found


def public_modules() -> dict[str, object]:
    """Return every module whose names are public: teachconv, and those that the pages list."""
    return {"teachconv": teachconv} | listed_modules()


@cache
def homes() -> dict[int, str]:
    """Return where each class and function is described, by its id."""
    found: dict[int, str] = {id(getattr(teachconv, name)): f"teachconv.{name}" for name in teachconv.__all__}
    for module, content in listed_modules().items():
        things = [(name, getattr(content, name)) for name in getattr(content, "__all__", ())]
        for name, thing in sorted(things, key=lambda pair: pair[0] != getattr(pair[1], "__name__", "")):
            if getattr(thing, "__module__", "").startswith("teachconv") and callable(thing):
                found.setdefault(id(thing), f"{module}.{name}")
    return found


def namesake(name: str, thing: object) -> str | None:
    """Return where a function with the last part of a name, but not this one, has its arguments described.

    Args:
        name: the public name of a function of teachconv.tf that forwards to another.
        thing: that function.
    """
    module, _, last = name.rpartition(".")
    for place in (module.replace(".compat.v1", ""), "teachconv.tf", "teachconv.graph", "teachconv"):
        other = getattr(importlib.import_module(place), last, None)
        home = homes().get(id(other))
        if home and other is not thing and "Args:" in (getattr(other, "__doc__", None) or ""):
            return home
    return None


def entries(module: str) -> list[dict[str, str]]:
    """Return what a page says of each public name of a module.

    Args:
        module: the public name of the module.

    Returns:
        For each name the directive that writes it; ``also``: a sentence, or ""; and of a class ``above``: its
        ancestors whose members are described elsewhere.
    """
    content = listed_modules()[module]
    return [_entry(module, name, getattr(content, name)) for name in sorted(getattr(content, "__all__", ()))]


def _entry(module: str, name: str, thing: object) -> dict[str, str]:
    found = {"name": name, "kind": "data", "also": ""}
    if inspect.ismodule(thing):
        page = next((page for page, other in listed_modules().items() if other is thing), "")
        return found | {"kind": "module", "also": page}
    home = homes().get(id(thing))
    if home is None:
        if inspect.isclass(thing):
            return found | {"also": f"The same as ``{thing.__module__}.{thing.__qualname__}``."}
        return found | {"also": f"Its value is ``{thing!r}``."}
    if home != f"{module}.{name}":
        return found | {"also": f"The same as `{home}`."}
    if not inspect.isclass(thing):
        return found | {"kind": "function"}
    bases = [base for base in thing.__mro__[1:] if id(base) in homes()]
    above = [
        ancestor.__name__
        for ancestor in thing.__mro__[1:-1]  # object is the last
        if not ancestor.__module__.startswith("teachconv")
        or any(issubclass(base, ancestor) for base in bases)
    ]
    kind = "exception" if issubclass(thing, BaseException) else "class"
    also = f"It also has what `{homes()[id(bases[0])]}` has." if bases else ""
    return found | {"kind": kind, "also": also, "above": ", ".join(above)}
