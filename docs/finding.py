"""A Sphinx extension: how readers and other sites find a page. conf.py lists it.

- The search page gets the words of each page, in `_static/excerpts.js`: a page opened from disk may not
  read others.
- The first mention of one of the glossary's words on a page is a link to the glossary.
- Names of Python, NumPy and others are links to their pages: `other_projects.txt` lists them, so that
  intersphinx needs no network.
- The address of a page that was merged into another leads there (`MOVED`).
- Each page has Open Graph tags, which chats and social networks show as a card. Its picture and
  `sitemap.xml` need the address of the pages: set `TEACHCONV_DOCS_ADDRESS` where they are published.
"""

import functools
import html
import json
import os
import posixpath
import re
import zlib
from pathlib import Path

from docutils import nodes
from sphinx import addnodes

HERE = Path(__file__).parent
ADDRESS = os.environ.get("TEACHCONV_DOCS_ADDRESS", "")  # such as https://example.org/teachconv/
CARD = "_images/explorer.png"  # README's picture
MOST = 6000  # characters of a page from which an excerpt is taken
# pages that were merged into others, and where their text is now
MOVED = {
    "answers/as_a_matrix_product": "answers/the_three_steps.html#the-filter-as-a-matrix",
    "answers/choosing_atol_and_rtol": "howto/choose_a_tolerance.html#why-not-allclose",
    "answers/where_is_gen_nn_ops": "answers/where_is_conv2d_executed.html#where-is-gen-nn-ops",
    "answers/why_are_loops_slow": "explanation/ladders.html#why-are-my-loops-10-000-times-slower",
    "arguments/data_format": "arguments/geometry.html#data-format",
    "arguments/dilations": "arguments/geometry.html#dilations",
    "arguments/groups": "arguments/geometry.html#groups",
    "arguments/index": "arguments/geometry.html#strides",
    "arguments/output_padding": "arguments/geometry.html#output-padding",
    "arguments/output_shape": "arguments/geometry.html#output-shape",
    "arguments/padding": "arguments/geometry.html#padding",
    "arguments/precision": "arguments/algorithm.html#precision",
    "arguments/strides": "arguments/geometry.html#strides",
    "benchmarks_cpu": "benchmarks.html#how-fast-benchmarks",
    "benchmarks_cpu_epyc": "benchmarks.html#how-fast-benchmarks",
    "benchmarks_gpu": "benchmarks.html#how-fast-benchmarks",
    "benchmarks_plans": "benchmarks.html#how-fast-benchmarks",
    "benchmarks_plans_epyc": "benchmarks.html#how-fast-benchmarks",
    "benchmarks_ranks": "benchmarks.html#how-fast-benchmarks",
    "benchmarks_ranks_epyc": "benchmarks.html#how-fast-benchmarks",
    "benchmarks_threads": "benchmarks.html#how-fast-benchmarks",
    "explanation/speed": "benchmarks.html#how-fast-benchmarks",
    "gallery": "take_these.html#gallery",
    "gradients": "explanation/autodiff.html#in-a-graph",
    "howto/diff_your_framework": "howto/find_a_bug_in_your_kernel.html#compare-an-output-with-the-reference",
    "howto/embed_an_explorer": "explorer.html#in-your-own-documentation",
    "howto/measure": "benchmarks.html#how-to-measure",
    "howto/work_larger_than_memory": "larger_than_memory.html#in-four-steps",
    "stories": "explorer.html#stories",
    "statement_of_need": "cite.html#statement-of-need",
}
# words of the glossary that are too common to be links, or have a second meaning on some pages
_COMMON = "algorithm backend block cell crop filter gather kernel padding phase scale scatter stride window"
COMMON = frozenset(_COMMON.split())
# pages without such links: the glossary, and lists and tables
_WITHOUT = re.compile(r"(api|arguments)(/|$)|glossary|changelog|differences|error_index|dialect_map")


def setup(app):
    """Register what this module does."""
    app.connect("config-inited", write_inventories)
    app.connect("doctree-read", link_first_mentions)
    app.connect("html-page-context", add_card)
    app.connect("build-finished", write_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


# --- excerpts --------------------------------------------------------------------------------------------


def prose(doctree):
    """Return the words of a page's paragraphs, a line for each, without tables and arguments."""
    kept = []
    for paragraph in doctree.findall(nodes.paragraph):
        links = paragraph.findall(addnodes.pending_xref)
        if any(link["refdomain"] != "py" and link.astext() == link["reftarget"] for link in links):
            continue  # a page's title is not known before it is resolved
        around = paragraph.parent
        while around is not None and not isinstance(around, nodes.table | nodes.field_list):
            around = around.parent
        if around is None and (words := " ".join(paragraph.astext().split())):
            kept.append(words)
    return "\n".join(kept)


def write_files(app, error):
    """Write the excerpts, a page at each old address, and the sitemap if the address is known."""
    if error or app.builder.name != "html":
        return
    names = sorted(app.env.found_docs)
    words = {name: prose(app.env.get_doctree(name))[:MOST] for name in names}
    text = json.dumps(words, ensure_ascii=False, separators=(",", ":"))
    (Path(app.outdir) / "_static" / "excerpts.js").write_text(f"const EXCERPTS={text};\n", encoding="utf-8")
    for old, new in MOVED.items():
        page = Path(app.outdir) / f"{old}.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        page.write_text(moved(old, new), encoding="utf-8")
    if ADDRESS:
        addresses = [ADDRESS + app.builder.get_target_uri(name) for name in names]
        (Path(app.outdir) / "sitemap.xml").write_text(sitemap(addresses), encoding="utf-8")


def sitemap(addresses):
    """Return a sitemap as https://www.sitemaps.org/protocol.html describes it."""
    lines = [f"  <url><loc>{html.escape(address)}</loc></url>" for address in addresses]
    head = (
        '<?xml version="1.0" encoding="utf-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    )
    return "\n".join([head, *lines, "</urlset>", ""])


def moved(old, new):
    """Return a page that leads from an old address to a new one, from disk as well.

    Args:
        old: the name of a page that no longer exists, such as "answers/winograd".
        new: an address from the root of the pages.
    """
    address = posixpath.relpath(new, posixpath.dirname(old) or ".")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8" />
<meta name="viewport" content="width=device-width, initial-scale=1" />
<meta http-equiv="refresh" content="0; url={address}" />
<title>This page has moved</title>
</head>
<body><p><a href="{address}">This page has moved.</a></p></body>
</html>
"""


def add_card(app, page, template, context, doctree):
    """Add the tags of Open Graph; the search page also gets the excerpts."""
    if page == "search":
        app.add_js_file("excerpts.js")
    if doctree is None:
        return
    about = prose(doctree).partition("\n")[0]
    title = re.sub(r"<[^>]*>", "", context.get("title", ""))
    context["metatags"] = context.get("metatags", "") + card(page, title, about)


def card(page, title, about):
    """Return the tags of one page; https://ogp.me says what they mean.

    Args:
        page: its name, such as "answers/winograd".
        title: as HTML, without tags.
        about: its first paragraph.
    """
    about = html.escape(about if len(about) <= 200 else about[:200].rsplit(" ", 1)[0] + " …")
    tags = {"og:title": title, "og:type": "article", "og:site_name": "teachconv", "og:description": about}
    if ADDRESS:
        tags |= {"og:url": f"{ADDRESS}{page}.html", "og:image": f"{ADDRESS}{CARD}"}
    lines = [f'<meta property="{name}" content="{value}" />' for name, value in tags.items() if value]
    return "\n".join(["", f'<meta name="description" content="{about}" />', *lines, ""])


# --- the glossary ----------------------------------------------------------------------------------------


def glossary_words(text):
    """Return the words that a glossary's Markdown explains, without those that are too common."""
    block = re.search(r"^```\{glossary\}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)[1]
    return [line for line in re.findall(r"^(\S.*)$", block, re.MULTILINE) if line not in COMMON]


def mention(word):
    """Return a pattern for a word, which may be in the plural or begin with a capital letter."""
    begin = word[0] if word[0].isupper() else f"[{word[0]}{word[0].upper()}]"
    return re.compile(rf"(?<![\w.`-]){begin}{re.escape(word[1:])}s?(?![\w`-])")


@functools.cache
def mentions():
    """Return the pattern of each of the glossary's words."""
    return {
        word: mention(word) for word in glossary_words((HERE / "glossary.md").read_text(encoding="utf-8"))
    }


def link_first_mentions(app, doctree):
    """Make links of the first mentions of the glossary's words in the paragraphs of a page."""
    page = app.env.docname
    if _WITHOUT.match(page):
        return
    missing = dict(mentions())
    for paragraph in doctree.findall(nodes.paragraph):
        for text in [child for child in paragraph.children if isinstance(child, nodes.Text)]:
            found = first_mentions(text.astext(), missing)
            if found:
                paragraph.replace(text, list(linked(text.astext(), found, page)))
                for _, word in found:
                    del missing[word]


def first_mentions(text, missing):
    """Return (match, word) for the missing words in a text, in order and without overlaps."""
    matches = [(match, word) for word, pattern in missing.items() if (match := pattern.search(text))]
    kept, end = [], 0
    for match, word in sorted(matches, key=lambda pair: (pair[0].start(), -pair[0].end())):
        if match.start() >= end:
            kept.append((match, word))
            end = match.end()
    return kept


def linked(text, found, page):
    """Yield the nodes of a text in which matches are links."""
    end = 0
    for match, word in found:
        yield nodes.Text(text[end : match.start()])
        attributes = {"refdomain": "std", "reftype": "term", "reftarget": word, "refexplicit": True}
        yield addnodes.pending_xref(
            "", nodes.inline("", match[0], classes=["word"]), refdoc=page, refwarn=True, **attributes
        )
        end = match.end()
    yield nodes.Text(text[end:])


# --- other projects --------------------------------------------------------------------------------------


def inventories(text):
    """Return for each project its address and its inventory in Sphinx's format, version 2.

    Args:
        text: a line "project address", and below it lines "name role page", as in other_projects.txt.
    """
    found = {}
    for part in re.split(r"\n(?=\w)", re.sub(r"^#.*", "", text, flags=re.MULTILINE)):
        if part.strip():
            head, *lines = part.split("\n")
            project, address = head.split()
            found[project] = (address, inventory(project, [line.split() for line in lines if line.strip()]))
    return found


def inventory(project, entries):
    """Return the bytes of an objects.inv."""
    lines = [f"{name} {role} 1 {page} -\n" for name, role, page in entries]
    head = f"# Sphinx inventory version 2\n# Project: {project}\n# Version: \n"
    head += "# The remainder of this file is compressed using zlib.\n"
    return head.encode() + zlib.compress("".join(lines).encode())


def write_inventories(app, config):
    """Give intersphinx the inventories, as files."""
    folder = HERE / "_generated" / "inventories"
    folder.mkdir(parents=True, exist_ok=True)
    text = (HERE / "other_projects.txt").read_text(encoding="utf-8")
    for project, (address, data) in inventories(text).items():
        path = folder / f"{project}.inv"
        path.write_bytes(data)
        config.intersphinx_mapping[project] = (address, str(path))
