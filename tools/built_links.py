"""Links and names of the built documentation: every one leads somewhere, and every public name is described.

`built_pages.py` calls it. External addresses are read for their form only: nothing here uses the network.
"""

import functools
import importlib.util
import inspect
import re
import sys
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).parents[1]
_EMPTY = {
    "area",
    "base",
    "br",
    "col",
    "embed",
    "hr",
    "img",
    "input",
    "link",
    "meta",
    "source",
    "track",
    "wbr",
}
_TYPE = re.compile(r"<dt[^>]*>(?:Return type|Type)<.*?</dt>\s*<dd[^>]*><p>(.*?)</p>", re.DOTALL)
_ATTRIBUTES = ("href", "src", "data-src", "poster")


class _Reader(HTMLParser):
    """What one page points at, what can be pointed at in it, and what Sphinx left without a target."""

    def __init__(self):
        super().__init__()
        self.links, self.anchors, self.dead = [], set(), []
        self.pictures_without_text = []
        self.torn = []  # sentences of which Sphinx made a type, because they have a colon
        self._open = []  # the elements around the place, as (name, class)
        self._unresolved = None

    def handle_starttag(self, name, attributes):
        found = dict(attributes)
        kind = found.get("class") or ""
        self.anchors.update(value for key, value in attributes if key in ("id", "name") and value)
        self.links += [value for key, value in attributes if key in _ATTRIBUTES and value is not None]
        if name == "img" and found.get("alt") in (None, found.get("src")):
            self.pictures_without_text.append(found.get("src"))
        in_link = any(outer == "a" for outer, _ in self._open)
        if name == "cite" or (name == "code" and "py-obj" in kind.split() and not in_link):
            self._unresolved = ""
        if name not in _EMPTY:
            self._open.append((name, kind))

    def handle_data(self, data):
        if self._unresolved is not None:
            self._unresolved += data

    def handle_endtag(self, name):
        while self._open and self._open.pop()[0] != name:
            pass
        if name in ("cite", "code") and self._unresolved is not None:
            self.dead.append(self._unresolved)
            self._unresolved = None


def read(path):
    reader, text = _Reader(), path.read_text(encoding="utf-8")
    reader.feed(text)
    types = [re.sub(r"<[^>]*>", "", found) for found in _TYPE.findall(text)]
    reader.torn = [words for words in types if re.match(r"[\w.]+ \w+", words)]
    return reader


def read_all(folder):
    """Return what each page of the documentation holds, by its path; JupyterLite's own are not ours."""
    ours = [path for path in folder.rglob("*.html") if path.relative_to(folder).parts[0] != "lite"]
    return {path: read(path) for path in sorted(ours)}


def faults(folder, pages):
    """Yield links without a target, dead references, pictures without a text, and sentences taken for types."""
    for path, page in pages.items():
        name = path.relative_to(folder).as_posix()
        yield from (f"{name}: nothing is found for `{text}`" for text in page.dead)
        yield from (f"{name}: picture without alt: {source}" for source in page.pictures_without_text)
        yield from (f"{name}: a sentence as a type: {words}" for words in page.torn)
        for link in page.links:
            yield from (f"{name}: {link}: {why}" for why in _why_not(path, link, pages))


def _why_not(path, link, pages):
    """Yield why a link leads nowhere, if it does."""
    try:
        parts = urllib.parse.urlsplit(link)
    except ValueError as error:
        yield str(error)
        return
    if parts.scheme in ("http", "https"):
        if not parts.hostname or " " in link:
            yield "not an address"
    elif parts.scheme in ("mailto", "data", "javascript", "blob") or parts.netloc:
        return
    else:
        target = _target(path.parent, parts.path) if parts.path else path
        fragment = urllib.parse.unquote(parts.fragment)
        if target is None:
            yield "no such file"
        elif {"explorer", "stories"} & {*parts.path.split("/")} or target not in pages:
            # on an explorer's page it is what was set
            return
        elif fragment and fragment not in pages[target].anchors:
            yield "no such anchor"


@functools.cache
def _target(folder, path):
    """Return the file that a relative path leads to, or None if there is none; every page has the same menu."""
    target = (folder / urllib.parse.unquote(path)).resolve()
    target = target / "index.html" if target.is_dir() else target
    return target if target.exists() else None


def external(pages):
    """Return the addresses outside that the pages link to."""
    links = {link for page in pages.values() for link in page.links}
    return sorted(link for link in links if link.startswith(("http://", "https://")))


# --- the names of the reference --------------------------------------------------------------------------


def missing_names(folder):
    """Yield the public names, and attributes of public classes, that no page describes."""
    from sphinx.util.inventory import InventoryFile

    record, reference = (
        module_at("record_public_api", ROOT / "tools/recorders"),
        module_at("public_names", ROOT / "docs"),
    )
    inventory = InventoryFile.loads((folder / "objects.inv").read_bytes(), uri="").data
    described = {name for kind, names in inventory.items() if kind.startswith("py:") for name in names}
    for module, content in reference.public_modules().items():
        for name in getattr(content, "__all__", ()):
            thing = getattr(content, name)
            if inspect.ismodule(thing):
                continue
            if f"{module}.{name}" not in described:
                yield f"{module}.{name}"
            elif (
                id(thing) in reference.homes()
                and inspect.isclass(thing)
                and not issubclass(thing, BaseException)
            ):
                home = reference.homes()[id(thing)]
                yield from (f"{home}.{one}" for one in _undescribed(thing, record, reference, described))


def _undescribed(kind, record, reference, described):
    """Yield the attributes that neither the page of a class nor that of a base describes."""
    bases = [base for base in kind.__mro__ if id(base) in reference.homes()]
    pages = [reference.homes()[id(base)] for base in bases]
    # an attribute named as a parameter is described there, on the page of the class that has it
    parameters = {name for base in bases for name in inspect.signature(base).parameters}
    for name in record.members(kind):
        if name not in parameters and not any(f"{page}.{name}" in described for page in pages):
            yield name


def module_at(name, folder):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]
