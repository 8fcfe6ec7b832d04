"""Sphinx configuration. `make docs` treats warnings as errors."""

import builtins
import hashlib
import importlib.metadata
import os
import re
import sys
from pathlib import Path

from docutils import nodes
from jupyter_cache import get_cache
from jupyter_cache.cache.main import JupyterCacheBase
from myst_nb.sphinx_ import HideCodeCellNode
from sphinx import addnodes
from sphinx.util.inspect import TypeAliasForwardRef

import teachconv
from teachconv.support import argument_types

sys.path.insert(0, str(Path(__file__).parent))
import code_size
import dialect_map
import error_index
import explorer_examples
import finding
import lectures
import lite
import notebook_copies
import public_names
import recorded_runs

HERE = Path(__file__).parent
sys.modules["teachconv.plot"] = teachconv.plot  # autodoc imports the public name

code_size.write(HERE / "_generated")  # included by how_the_pieces_fit.md
dialect_map.write()
error_index.write()
explorer_examples.write(HERE / "_generated")  # embedded by index.md and explorer.md
lectures.write(HERE / "_generated")  # included by teach/slides.md
recorded_runs.write(HERE / "_generated")  # included by explanation/
notebook_copies.write(HERE / "learn")
# To host Pyodide oneself, change this line or set the variable. The kernel in pyproject.toml goes with 0.27.
pyodide = os.environ.get("TEACHCONV_PYODIDE", "https://cdn.jsdelivr.net/pyodide/v0.27.7/full/pyodide.js")
lite.write(HERE / "_generated" / "lite", pyodide)
os.environ["PYTHONPATH"] = os.pathsep.join(  # the notebooks' kernels import from there
    filter(None, [str(HERE.parent / "examples"), os.environ.get("PYTHONPATH")])
)


def fingerprint():
    """Return a name for what the pages run and read: library, examples, recorded files, packages."""
    found = hashlib.sha256()
    files = [path for folder in ("teachconv", "examples") for path in (HERE.parent / folder).rglob("*")]
    files += [HERE.parent / "CITATION.cff", *(HERE.parent / "tests" / "recorded").glob("*.json")]
    # what the notebook on a GPU reads
    files += [
        HERE / "recorded" / "framework_chains.json",
        HERE / "gpu_tables.inc",
        *HERE.parent.glob("tests/cuda_host.py"),
    ]
    files += HERE.parent.glob("tests/cuda/shim.*")
    for path in sorted(path for path in files if path.is_file() and path.suffix != ".pyc"):
        found.update(path.relative_to(HERE.parent).as_posix().encode() + path.read_bytes())
    packages = sorted(f"{one.name} {one.version}" for one in importlib.metadata.distributions())
    found.update("\n".join([sys.version, *packages]).encode())
    return found.hexdigest()[:16]


project = "teachconv"
author = "the teachconv authors"
copyright = author
release = teachconv.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
extensions += ["myst_nb", "sphinx_copybutton", "teachconv.explorer.sphinx_directive"]
extensions += ["sphinx.ext.intersphinx", "framework_tabs", "mathml", "finding"]
html_math_renderer = "mathml"
autosummary_generate = True
autosummary_context = {
    "entries": {module: public_names.entries(module) for module in public_names.listed_modules()}
}
templates_path = ["_templates"]
autodoc_typehints = "description"  # beside the words of Args and Returns
autodoc_typehints_description_target = "documented_params"  # no lists of arguments without words
autodoc_type_aliases = {name: name for name in argument_types.__all__}  # api.rst says what they are
TypeAliasForwardRef.__repr__ = lambda alias: alias.name  # as in the signature
python_use_unqualified_type_names = True
strip_signature_backslash = True  # or napoleon makes a link of an argument such as from_
napoleon_numpy_docstring = False
napoleon_use_ivar = False  # each attribute has an anchor; a property is described in its own docstring
myst_enable_extensions = ["dollarmath"]
nb_execution_mode = "cache"  # a page whose code has not changed is not run again, unless the library has
nb_execution_cache_path = str(HERE / "_build" / ".jupyter_cache" / fingerprint())
# several processes fill it: its tables are made before, and none deletes what another has just begun to add
get_cache(nb_execution_cache_path).db.dispose()
JupyterCacheBase.truncate_caches = lambda cache: None
nb_execution_raise_on_error = True
nb_execution_timeout = 300  # seconds a cell may take on a busy machine
nb_merge_streams = True
nb_code_prompt_show, nb_code_prompt_hide = "Show the lines", "Hide the lines"
nb_render_markdown_format = "myst"  # with tables
html_theme = "furo"
html_title = "teachconv"
html_baseurl = finding.ADDRESS
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_search_scorer = str(HERE / "search_ranking.js")
html_show_search_summary = False  # a page opened from disk may not fetch the others
html_extra_path = ["_generated/extra"]  # explorer/playground.html, a page that can be linked to
exclude_patterns = ["_build", "_generated"]
nitpicky = False
default_role = "py:obj"
suppress_warnings = ["mystnb.unknown_mime_type"]
# words that the search ignores: they say nothing about the subject
STOP_WORDS = """a an and are as at be by can for from i in is it my not of on or so that the this through to
was with you"""
LONG = 24  # lines of source that stand open on a page
copybutton_exclude = ".linenos, .gp, .go"


def setup(app):
    """Let the search find every word that people look for; Sphinx's stop words have "same" among them."""
    from sphinx.search.en import SearchEnglish

    SearchEnglish.stopwords = frozenset(STOP_WORDS.split())
    app.connect("autodoc-process-docstring", keep_sentences_whole, priority=400)  # before napoleon
    app.connect("autodoc-process-docstring", lead_to_namesake)
    app.connect("autodoc-process-signature", leave_out_private_arguments)
    app.connect("autodoc-skip-member", skip_tuple_fields)
    app.connect("object-description-transform", tidy_fields, priority=600)  # after the types are added
    app.connect("doctree-read", leave_builtins)
    app.connect("doctree-read", fold_long_sources)
    app.connect("missing-reference", look_further_out)
    app.connect("html-page-context", lite.lead_there)
    app.connect("build-finished", lite.build_beside_the_pages)
    app.connect("html-page-context", correct_ways_back)
    # after the theme has made its trees
    app.connect("html-page-context", give_captions_a_level, priority=900)


def keep_sentences_whole(app, what, name, thing, options, lines):
    """Keep napoleon from taking the words before a colon for a type; the types are in the annotations.

    This concerns the first line of "Returns:" and of a property. A colon before it leaves the type empty.
    """
    firsts = [i + 1 for i, line in enumerate(lines) if line.strip() == "Returns:"]
    if lines and what in ("attribute", "data", "property"):
        firsts.append(0)
    for i in firsts:
        words = lines[i].lstrip()
        lines[i] = f"{' ' * (len(lines[i]) - len(words))}: {words}"


def lead_to_namesake(app, what, name, thing, options, lines):
    """Lead from a function of teachconv.tf that forwards to its namesake, whose arguments are described."""
    if (
        what != "function"
        or not name.startswith("teachconv.tf.")
        or any(line.startswith(":") for line in lines)
    ):
        return
    if home := public_names.namesake(name, thing):
        lines += ["", f"For the arguments see :py:obj:`{home}`."]


def leave_out_private_arguments(app, what, name, thing, options, signature, returned):
    """Leave out what a dataclass keeps for itself, and a default that only has an address."""
    if signature is None:
        return None
    signature = re.sub(r", _\w+(=('[^']*'|[^,()]*))?(?=[,)])", "", signature)
    return re.sub(r"=<[^>]*>", "=...", signature), returned


_ANY = ("Any", "~typing.Any", "~typing.~P")  # P: the arguments of an op that is itself an argument


def tidy_fields(app, domain, kind, content):
    """Leave out a type that says nothing, such as Any; and list arguments in the order of the signature."""
    signature = [] if content.parent is None else content.parent[0].findall(addnodes.desc_sig_name)
    places = [one.astext().strip("*") for one in signature]

    def says_nothing(field):
        return field[0].astext().split()[0] in ("type", "rtype") and field[1].astext() in _ANY

    def is_argument(field):
        return field[0].astext().split()[0] == "param"

    def place(field):
        name = field[0].astext().split()[-1].strip("*")
        return places.index(name) if name in places else len(places)

    for fields in [child for child in content if isinstance(child, nodes.field_list)]:
        kept = [field for field in fields if not says_nothing(field)]
        arguments = iter(sorted(filter(is_argument, kept), key=place))
        fields.children = [next(arguments) if is_argument(field) else field for field in kept]
        if not kept:
            content.remove(fields)


def leave_builtins(app, doctree):
    """Leave types such as bool and slice without a link, which would lead to tf.bool and tf.slice."""
    from sphinx.util.nodes import find_pending_xref_condition

    for node in list(doctree.findall(addnodes.pending_xref)):
        if node["reftype"] == "class" and hasattr(builtins, node["reftarget"]):
            shown = find_pending_xref_condition(node, "resolved") or node
            node.replace_self(shown.children)


def fold_long_sources(app, doctree):
    """Put each long piece of source that a page includes behind a button, as myst-nb does with cells."""
    for block in list(doctree.findall(nodes.literal_block)):
        if "source" in block and block.astext().count("\n") >= LONG:  # of literalinclude
            cell = nodes.container(classes=["cell"])  # myst-nb's style sheet asks for it
            button = HideCodeCellNode(prompt_show=nb_code_prompt_show, prompt_hide=nb_code_prompt_hide)
            button["classes"].append("above-input")
            block.replace_self(cell)
            cell += button
            button += block


def look_further_out(app, env, node, shown):
    """Lead from a name that its page's module does not have to what the packages around it call so."""
    module, python = node.get("py:module"), env.domains["py"]
    while module and node["reftype"] == "obj":
        first, *rest = node["reftarget"].split(".")
        thing = getattr(importlib.import_module(module), first, None)
        name = ".".join([public_names.homes().get(id(thing), ""), *rest])
        if name in python.objects:
            return python.resolve_xref(env, node["refdoc"], app.builder, "obj", name, node, shown)
        module = module.rpartition(".")[0]
    return None


def give_captions_a_level(app, page, template, context, doctree):
    """Give the captions of tables of contents, which Sphinx calls headings, a level."""
    for part in ("body", "toctree", "furo_navigation_tree"):
        if isinstance(context.get(part), str):
            context[part] = context[part].replace('role="heading"', 'role="heading" aria-level="2"')


def correct_ways_back(app, page, template, context, doctree):
    """Lead from a source to where each name is described; viewcode knows one module for a whole file."""
    if not page.startswith("_modules/teachconv"):
        return
    module = importlib.import_module(page.removeprefix("_modules/").replace("/", "."))
    described = app.env.domains["py"].objects

    def corrected(found):
        first, _, rest = found[2].partition(".")
        home = public_names.homes().get(id(getattr(module, first, None)), "")
        place = described.get(f"{home}.{rest}" if rest else home)
        if place is None:
            return found[1]
        address = f"{app.builder.get_relative_uri(page, place.docname)}#{place.node_id}"
        return f'{found[1]}<a class="viewcode-back" href="{address}">[docs]</a>'

    block = r'(<div class="viewcode-block" id="([^"]+)">\n)<a class="viewcode-back" href="[^"]*">[^<]*</a>'
    context["body"] = re.sub(block, corrected, context["body"])


def skip_tuple_fields(app, what, name, thing, skip, options):
    """Skip the fields of a named tuple, which the docstring of its class describes."""
    return True if type(thing).__name__ == "_tuplegetter" else None
