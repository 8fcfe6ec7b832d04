"""The page around the picture, one self-contained file, and the frame in which a notebook shows it."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from functools import lru_cache
from html import escape
from importlib.resources import files

import numpy as np

from ..data import photo
from ..support import palette
from ..verification.diagnoses import DIAGNOSES
from .rules import rules

# the page contains all it needs and may load nothing
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"

_BODY = (
    palette.scheme_rules(":root")
    + f"body {{ margin: 0; padding: 1em; background: light-dark({', '.join(palette.COLOURS['paper'])}) }}"
)

# a framed page reports its height and takes the theme of its frame's host, which may be any page; if the host
# runs no scripts, the frame scrolls
_IN_A_FRAME = """
addEventListener("message", ({ data }) => {
  if (data?.explorerTheme) document.documentElement.dataset.theme = data.explorerTheme;
});
let height = 0; // while it plays it only grows, so that the text below the frame stays in its place
const tell = () => {
  const all = Math.ceil(document.body.getBoundingClientRect().height);
  height = Math.max(all, document.querySelector(".playing") ? height : 0);
  parent.postMessage({ explorerHeight: height }, "*");
};
// a bar that was needed before makes the page narrower, and could then be needed again
if (parent !== window) addEventListener("resize", () => {
  document.documentElement.style.overflowY = innerHeight >= height ? "hidden" : "";
});
if (parent !== window) addEventListener("load", () => {
  document.body.style.padding = ".4em .1em"; // the document around has a margin, and more below the frame
  for (const e of document.querySelectorAll("[data-section=calls]")) e.open = false;
  setTimeout(tell);
  new ResizeObserver(tell).observe(document.body);
});
"""
# the host's side, as the frame's onload
_AROUND_A_FRAME = (
    "window.addEventListener('message', ({ source, data }) => {"
    " if (source === this.contentWindow && data.explorerHeight > 0)"
    " { this.style.maxHeight = 'none'; this.style.height = `${data.explorerHeight}px`; } });"
    # a page that says nothing is as light as its ground, whatever the system's theme is
    "const theme = () => { const said = getComputedStyle(this).colorScheme;"
    " if (said !== 'light dark') return said;"
    " for (let e = this; (e = e.parentElement);) {"
    " const [r, g, b, a = 1] = getComputedStyle(e).backgroundColor.match(/[\\d.]+/g).map(Number);"
    " if (a > 0.5) return 0.3 * r + 0.6 * g + 0.1 * b < 128 ? 'dark' : 'light'; }"
    " return getComputedStyle(document.documentElement).colorScheme.includes('dark') ? said : 'light'; };"
    "const tell = () => this.contentWindow?.postMessage({ explorerTheme: theme() }, '*');"
    "matchMedia('(prefers-color-scheme: dark)').addEventListener('change', tell);"
    "for (const e of [document.documentElement, document.body])"
    " new MutationObserver(tell).observe(e, { attributes: true });"
    "tell()"
)
# a framed page without the front-end gets it from its host: it may load no file itself
_HANDED_ON = """addEventListener("message", ({{ source, data }}) => {{
  if (source !== parent || !data?.explorerScript || document.querySelector("script[data-handed]")) return;
  const script = document.createElement("script");
  Object.assign(script, {{ type: "module", textContent: data.explorerScript + {run} }});
  script.dataset.handed = "";
  document.body.append(script);
}});"""
_HANDING_ON = ";this.contentWindow.postMessage({ explorerScript: teachconvExplorer }, '*')"
# a page of its own in a frame: the document around has its address, and a link opens both as they were left
_ADDRESS_OF_A_FRAME = (
    ";if (location.hash.includes('&') && !this.dataset.linked) {"
    " this.dataset.linked = true; this.src = this.src.split('#')[0] + location.hash; }"
    "window.addEventListener('message', ({ source, data }) => {"
    " if (source === this.contentWindow && data.explorerAddress)"
    " history.replaceState(null, '', data.explorerAddress) })"
)


# the front-end's modules in the order in which they are joined: each imports only from those before it
MODULES = (
    "python",
    "arguments",
    "law",
    "rules",
    "calls",
    "axis_tables",
    "numbers",
    "elements",
    "held_arrays",
    "quantized",
    "view",
    "grids",
    "sum_panels",
    "matrix_panel",
    "transposed_panels",
    "panels",
    "pointing",
    "sections",
    "parts",
    "take_away",
    "channels",
    "stage",
    "flight",
    "motion",
    "stamping",
    "present",
    "controls",
    "shown",
    "tour",
    "mistakes",
    "slips",
    "quiz",
    "call_quiz",
    "keyboard",
    "app",
    "moving",
    "main",
)
# what the playground adds: whole images, which other pages have only if their call is one of an image, and
# documents made on the page
_LENS = ("weights", "lens")
PLAYGROUND_MODULES = (
    *_LENS,
    "call_document",
    "playground_numbers",
    "playground_state",
    "overhang",
    "playground",
)

# what the page of a network adds: a call of it opens as the picture of that call
NETWORK_MODULES = (
    "weights",
    "call_document",
    "pad",
    "network_numbers",
    "network_reach",
    "network_why",
    "network_plane",
    "network_marks",
    "network_panels",
    "network_story",
    "network_quiz",
    "network",
)


@lru_cache(maxsize=16)
def script(modules: tuple[str, ...] = MODULES, functions: tuple[str, ...] | None = None) -> str:
    """Return the front-end as the text of one JavaScript module, which exports nothing.

    The modules of ``script/`` are joined without a bundler: their imports are left out, since every name is
    unique among them, which a test checks, and so are comments and indents. "rules" is written by `rules`.

    Args:
        modules: their names, in an order in which each imports only from those before it.
        functions: the functions that the page resolves and translates; None for all.

    Returns:
        The text.
    """
    written = {"rules": lambda: rules(functions), "mistakes": mistakes}
    return "\n".join(
        written[name]() if name in written else compact(_without_imports(_asset(f"script/{name}.js")))
        for name in modules
    )


@lru_cache(maxsize=1)
def shared_script() -> str:
    """Return a script that holds the front-end of all pictures as text, for pages to hand on."""
    modules = tuple(dict.fromkeys((*MODULES, *_LENS, *NETWORK_MODULES)))
    return f"var teachconvExplorer = {json.dumps(script(modules))};\n"


def mistakes() -> str:
    """Return JavaScript that defines ``MISTAKES``: the slips of the table of diagnoses, in its order."""
    rows = [
        [known.code, known.changes, words, change] for known in DIAGNOSES for words, change in known.slips
    ]
    return f"const MISTAKES={json.dumps(rows, separators=(',', ':'))};"


@lru_cache(maxsize=1)
def style() -> str:
    """Return the front-end's style sheet: the palette's colours, and how the page uses them."""
    return palette.css(".tcx") + _asset("explorer.css")


def _asset(name: str) -> str:
    return (files("teachconv.explorer") / name).read_text(encoding="utf-8")


def _without_imports(module: str) -> str:
    """Return the text of a JavaScript module without its import and export statements."""
    return re.sub(r"^export ", "", re.sub(r"^import [^;]*;\n+", "", module, flags=re.M), flags=re.M)


def compact(module: str) -> str:
    """Return the text of a JavaScript module without comments, indents and most spaces around signs."""
    code = re.sub(r"^[ \t]*(?:/\*\*.*?\*/|//[^\n]*)\n", "", module, flags=re.M | re.S)
    code = re.sub(r" // [^\n\"'`]*$", "", code, flags=re.M)  # one with a quote may be in a text
    code = re.sub(r"\n[ \t\n]+", "\n", code)
    # other lines may have a text with quotes in it, or a regular expression
    return re.sub(r"^[^'`/\n]+$", lambda line: _without_spaces(line[0]), code, flags=re.M)


def _without_spaces(line: str) -> str:
    """Return a line of JavaScript, all texts of which are in double quotes, without spaces around signs."""
    parts = re.split(r'("(?:\\.|[^"\\])*")', line)
    parts[::2] = [re.sub(r" ?([=<>!&|?:,*{}();]) ?", r"\1", part) for part in parts[::2]]
    parts[::2] = [re.sub(r"(?<![+-]) ([+-]) (?![+-])", r"\1", part) for part in parts[::2]]
    return "".join(parts)


def playground_page(home: str = "") -> str:
    """Return the playground: a page on which the reader sets the call, without Python.

    Args:
        home: the address of the page that it belongs to, if any.

    Returns:
        HTML text.
    """
    still = "<p>The playground needs JavaScript: this browser has it disabled.</p>"
    modules = script((*MODULES, *PLAYGROUND_MODULES))
    grey = photo()[::2, ::2].mean(axis=2).astype(np.uint8)
    picture = dict(zip(("rows", "cols"), grey.shape, strict=True)) | {"bytes": b64encode(grey).decode()}
    run = f'playground(document.getElementById("explorer"), {json.dumps(home)}, {json.dumps(picture)});'
    return _document("The convolution playground", still, f"{modules}\n{run}")


def page(
    title: str,
    data: str,
    still: str,
    function: str | None = None,
    *,
    whole: bool = False,
    shared: bool = False,
    quantized: bool = False,
) -> str:
    """Return the whole page.

    Args:
        title: the page's title.
        data: the call as JSON, escaped for a script element.
        still: HTML that is shown if scripts are disabled.
        function: the function whose calls the page translates, if any.
        whole: whether the page has all numbers of an image, which it then shows whole.
        shared: whether the page gets the front-end from the document around it, by `frame`.
        quantized: whether the call is quantized: other pages do not have that module.

    Returns:
        HTML text.
    """
    holder = f'<script type="application/json" id="explorer-data">{data}</script>\n'
    run = (
        'const data = JSON.parse(document.getElementById("explorer-data").textContent);\n'
        f'open(document.getElementById("explorer"), data{", lens" if whole else ""});'
    )
    own = tuple(name for name in MODULES if quantized or name != "quantized")
    modules, functions = (*own, *_LENS) if whole else own, (function,) if function else ()
    module = _module(run, shared, modules, functions)
    return _document(f"{title}: the conv explorer", still, module, holder)


def network_page(title: str, data: str, shared: bool = False) -> str:
    """Return the page of a network.

    Args:
        title: the page's title.
        data: the network as JSON, escaped for a script element.
        shared: as of `page`.

    Returns:
        HTML text.
    """
    still = "<p>The picture of a network needs JavaScript: this browser has it disabled.</p>"
    holder = f'<script type="application/json" id="explorer-data">{data}</script>\n'
    run = (
        'const data = JSON.parse(document.getElementById("explorer-data").textContent);\n'
        'openNetwork(document.getElementById("explorer"), data);'
    )
    module = _module(run, shared, (*MODULES, *NETWORK_MODULES), ("tensorflow.conv2d",))
    return _document(title, still, module, holder, _asset("network.css"))


def _module(run: str, shared: bool, *front_end: tuple[str, ...]) -> str:
    """Return the JavaScript of a page: a line that runs on the front-end, its own or that of its host."""
    return _HANDED_ON.format(run=json.dumps(run)) if shared else f"{script(*front_end)}\n{run}"


def _document(title: str, still: str, module: str, data: str = "", more_style: str = "") -> str:
    """Return an HTML document with the style sheet, more of it, and one JavaScript module."""
    return (
        "<!DOCTYPE html>\n"
        '<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>"
        f"<style>{_BODY}\n{style()}{more_style}</style></head><body>"
        f'<main id="explorer">{still}</main>{data}'
        f'<script type="module">\n{module}\n{_IN_A_FRAME}</script></body></html>\n'
    )


def frame(html: str, still: str, label: str, image: str = "", shared: str = "") -> str:
    """Return a page in a sandboxed frame, which runs scripts but has no access to the document around it.

    Args:
        html: the page.
        still: HTML that is shown if scripts are disabled.
        label: the frame's title.
        image: the address of an image that is shown in places that remove frames, such as GitHub.
        shared: the address of a file with `shared_script`, for a page made with ``shared``.

    Returns:
        HTML text.
    """
    source = f'sandbox="allow-scripts allow-downloads" srcdoc="{escape(html)}"'
    if not shared:
        return _frame(source, _AROUND_A_FRAME, still, label, image)
    framed = _frame(source, _AROUND_A_FRAME + _HANDING_ON, still, label, image)
    return f'<script src="{escape(shared)}"></script>{framed}'


def frame_of(address: str, label: str, still: str = "") -> str:
    """Return a page that lies in a file beside the document, in a frame; both have one address after "#".

    Args:
        address: the file's address, as the document has it.
        label: the frame's title.
        still: HTML that takes the frame's place if scripts are disabled.

    Returns:
        HTML text.
    """
    source = f'src="{escape(address)}"'
    instead = still and f"<style>.tcx-frame[{source}] {{ display: none }}</style>{still}"
    return _frame(source, _AROUND_A_FRAME + _ADDRESS_OF_A_FRAME, instead, label)


def _frame(source: str, around: str, still: str, label: str, image: str = "") -> str:
    """Return a frame that takes its height from its page, and tells it the theme of the document around."""
    # where frames are removed, so are styles
    instead = f'<img src="{image}" alt="{escape(label)}">' if image else ""
    return (
        f"<style>{palette.scheme_rules('.tcx-frame')}.tcx-frame ~ img {{ display: none }}</style>"
        f'<iframe class="tcx-frame" {source} title="{escape(label)}" allow="clipboard-write" '
        'style="width:100%;height:52rem;max-height:95vh;border:0;resize:vertical" '
        f'onload="{escape(around)}" loading="lazy"></iframe><noscript>{still}</noscript>{instead}'
    )
