"""Looks at the built documentation as a reader without network does: python tools/built_pages.py docs/_build/html

Each page is opened in headless Chromium, 1280 and 390 pixels wide, light and dark: no message on the console, no
request that fails, no scrolling sideways, and texts with a contrast of at least 4.5 (WCAG AA). Then the
search is asked for what people look for, of the founding questions each, whose page must be the first, and every
link is looked up. `make docs` runs it.
"""

import functools
import sys
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "evaluation")]

import built_links  # noqa: E402
import questions  # noqa: E402
from browser import Page, chromium, why_no_browser  # noqa: E402

WIDTHS = ((1280, 800, False), (390, 844, True))  # pixels, and whether dark
SEARCHES = {  # a word, and pages that it must find
    "SAME": {"answers/same_or_valid", "arguments/geometry"},
    "VALID": {"answers/same_or_valid"},
    "stride": {"arguments/geometry", "answers/four_strides"},
    "output_padding": {"answers/output_padding", "arguments/geometry"},
}
# whether the search page says that it has finished
_SEARCHED = "return /finished|did not match/.test(document.querySelector('#search-results')?.textContent)"
_WITHOUT_EXCERPT = """return [...document.querySelectorAll('.search a')]
    .find((a) => !a.hash && !a.parentElement.querySelector('p'))?.href"""


def pages_of(folder):
    """The pages that people wrote, and a sample of the generated reference."""
    for path in sorted(folder.rglob("*.html")):
        name = path.relative_to(folder).with_suffix("").as_posix()
        if name.startswith(("_modules", "_static", "explorer/", "lite/")) or name in (
            "genindex",
            "search",
            "py-modindex",
        ):
            continue
        if not name.startswith("api/") or name.endswith(("conv2d", "explain", "Trace", "diff")):
            yield name, path


def faults(driver, path, width, height, dark):
    """Yield what is wrong with one page at one width."""
    page = Page(driver, path, width, height, dark)
    for entry in driver.get_log("browser"):
        yield entry["message"]
    wide = driver.execute_script(
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    if wide > 1:
        yield f"scrolls sideways by {wide} pixels"
    requests = driver.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)")
    yield from (f"asks for {name}" for name in requests if not name.startswith(("file:", "data:", "blob:")))
    stills = "return [...document.querySelectorAll('.tcx-frame ~ img')].some((e) => e.checkVisibility())"
    if driver.execute_script(stills):
        yield "shows an explorer and the picture that stands in for it"
    if page.all("[role=heading]:not([aria-level])"):
        yield "a heading without a level"
    least, where = page.contrast()
    if least < 4.5:
        yield f"contrast {least:.2f} at {where[:120]}"


def faults_at(folder, window):
    """Return what is wrong with the pages in a window of one width and theme."""
    with chromium() as driver:
        return [
            f"{name}, {window[0]} wide: {fault}"
            for name, path in pages_of(folder)
            for fault in faults(driver, path, *window)
        ]


def search_faults(driver, folder):
    """Yield what is wrong when the search page is asked for each word, as a reader asks it."""
    from selenium.webdriver.support.ui import WebDriverWait

    def search(words):
        driver.get(f"{(folder / 'search.html').as_uri()}?q={urllib.parse.quote(words)}")
        WebDriverWait(driver, 20).until(lambda driver: driver.execute_script(_SEARCHED))
        links = driver.execute_script("return [...document.querySelectorAll('.search a')].map((a) => a.href)")
        return [link.partition("#")[0] for link in links]

    Page(driver, folder / "search.html")
    for question in questions.read():
        for words in question.searches:
            if search(words)[:1] != [(folder / f"{question.page}.html").as_uri()]:
                yield f"search for {words}: {question.page} is not the first"
    missed = []
    for words, pages in (queries := questions.queries()):
        wanted = {(folder / f"{page}.html").as_uri() for page in pages}
        if wanted.isdisjoint(search(words)[:3]):
            missed.append(words)
    if 50 * len(missed) > 3 * len(queries):
        yield f"searches without a wanted page among the first three: {'; '.join(missed)}"
    for word, wanted in SEARCHES.items():
        found = search(word)
        if name := driver.execute_script(_WITHOUT_EXCERPT):
            yield f"search for {word}: {name} has no excerpt"
        for name in wanted:
            if (folder / f"{name}.html").as_uri() not in found:
                yield f"search for {word}: {name} is missing"
        yield from (f"search for {word}: {entry['message']}" for entry in driver.get_log("browser"))


def main(folder):
    """Print every fault and return how many there are."""
    pages = built_links.read_all(folder)
    wrong = list(built_links.faults(folder, pages))
    wrong += [f"no page describes {name}" for name in built_links.missing_names(folder)]
    print(f"{len(built_links.external(pages))} links lead outside; they are not followed")
    if why_no_browser():
        print(f"pages are not opened: {why_no_browser()}")
    else:
        with chromium() as driver:
            wrong += search_faults(driver, folder)
        with ThreadPoolExecutor(len(WIDTHS)) as pool:  # a browser for each width
            for found in pool.map(functools.partial(faults_at, folder), WIDTHS):
                wrong += found
    print("\n".join(map(urllib.parse.unquote, wrong)) or "all pages are well")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]).resolve()) > 0)
