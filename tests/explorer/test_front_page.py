"""The front page of the documentation, built and opened in a browser: the playground is there and works."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
from browser import Page, needs_browser
from explorer_pages import wait_for

import teachconv as tc
from teachconv.explorer.page import frame_of

pytestmark = needs_browser
ROOT = Path(__file__).parents[2]
REQUESTS = "return performance.getEntriesByType('resource').map((e) => e.name).filter((name) => !/^(file|data|blob):/.test(name))"


PLAYGROUND = ".tcx-frame[title*=playground]"


def output_size(page):
    """What the playground in the page's frame says of its output."""
    page.driver.switch_to.frame(page.all(PLAYGROUND)[0])
    try:
        deadline = time.monotonic() + 60
        while not (found := page.run("return document.querySelector('.numbers b')?.textContent")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert page.run(REQUESTS) == []
        return found
    finally:
        page.driver.switch_to.default_content()


def test_without_scripts_a_picture_takes_the_place_of_a_frame(driver, tmp_path):
    (tmp_path / "digits.html").write_text("<p>needs JavaScript</p>")
    picture = (
        '<img src="data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==" alt="a seven">'
    )
    body = frame_of("digits.html", "draw a digit", picture)
    (tmp_path / "index.html").write_text(f"<!DOCTYPE html><meta charset=utf-8><title>t</title>{body}")
    from selenium.common.exceptions import WebDriverException

    def shown(selector):
        """Whether an element has a box; scripts cannot be asked."""
        root = driver.execute_cdp_cmd("DOM.getDocument", {})["root"]["nodeId"]
        node = driver.execute_cdp_cmd("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
        try:
            return bool(node and driver.execute_cdp_cmd("DOM.getBoxModel", {"nodeId": node}))
        except WebDriverException:
            return False

    for disabled in (False, True):
        driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": disabled})
        try:
            driver.get((tmp_path / "index.html").as_uri())
            assert [shown("iframe"), shown("noscript img")] == [not disabled, disabled]
        finally:
            driver.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def set_input(page, size):
    page.driver.switch_to.frame(page.all(PLAYGROUND)[0])
    page.run(
        "const field = document.querySelector('[name=n]'); field.value = arguments[0];"
        "field.dispatchEvent(new Event('change', { bubbles: true }));",
        size,
    )
    page.driver.switch_to.default_content()


def test_a_playground_that_lies_beside_the_page(driver, tmp_path):
    (tmp_path / "explorer").mkdir()
    tc.playground().save(tmp_path / "explorer" / "playground.html")
    body = frame_of("explorer/playground.html", "the playground")
    (tmp_path / "index.html").write_text(f"<!DOCTYPE html><meta charset=utf-8><title>t</title>{body}")
    page = Page(driver, tmp_path / "index.html", width=1016)  # the frame is as wide as on the front page
    assert output_size(page) == "4 × 4"
    page.driver.switch_to.frame(page.all(PLAYGROUND)[0])
    wait_for(page, "return !document.querySelector('.stage.stacked')")
    box = "const box = (name) => document.querySelector(name).getBoundingClientRect();"
    # a line each, once the frame has its width
    wait_for(page, f"{box} return box('.numbers').bottom - box('.call').top < 140")
    wait_for(page, f"{box} return box('.stage').bottom < 680")
    page.run("document.querySelector('details.taps').open = true")
    table = "const { scrollWidth, clientWidth } = document.querySelector('.scroll'); return [scrollWidth, clientWidth]"
    needed, there = page.run(table)
    assert needed <= there  # the running sum is not cut off
    page.driver.switch_to.default_content()
    set_input(page, "10")
    assert output_size(page) == "5 × 5"
    assert page.complaints() == []


def test_a_link_to_the_page_around_opens_the_playground_as_one_set_it(driver, tmp_path):
    (tmp_path / "explorer").mkdir()
    tc.playground().save(tmp_path / "explorer" / "playground.html")
    body = frame_of("explorer/playground.html", "the playground")
    path = tmp_path / "index.html"
    path.write_text(f"<!DOCTYPE html><meta charset=utf-8><title>t</title>{body}")

    class Linked:
        def as_uri(self):
            return path.as_uri() + "#conv2d&n=9&k=3&s=1&p=valid"

    driver.get("about:blank")
    page = Page(driver, Linked(), width=1016)
    deadline = time.monotonic() + 60
    while output_size(page) != "7 × 7":
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert page.run("return location.hash") == "#conv2d&n=9&k=3&s=1&p=valid"  # nobody did anything
    page.driver.switch_to.frame(page.all(PLAYGROUND)[0])
    page.all("[aria-label='stride: increase']")[0].click()
    page.driver.switch_to.default_content()
    wait_for(page, "return location.hash.includes('s=2')")
    assert page.run("return location.hash").startswith("#conv2d&n=9&k=3&s=2&p=valid")
    assert page.complaints() == []


DOORS = {
    "Learn": "learn/index",
    "Find an answer": "answers/index",
    "An assignment?": "answers/how_gradients_are_computed",
    "Your port differs?": "answers/which_layer_differs",
    "Port a network": "howto/port_a_network",
    "Check a kernel": "howto/find_a_bug_in_your_kernel",
    "See how TensorFlow executes": "explanation/how_tensorflow_executes",
    "Understand why": "explanation/index",
    "Teach a course": "teach/index",
}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The front page and the pages behind its doors; make docs builds them all, and runs their code."""
    pytest.importorskip("furo", reason="the docs need furo, myst-parser and Sphinx")
    html = tmp_path_factory.mktemp("docs")
    pages = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.*")]
    others = [
        str(page)
        for page in pages
        if page.suffix in (".md", ".rst", ".ipynb")
        and page.with_suffix("").as_posix() not in {"index", *DOORS.values()}
    ]
    command = [sys.executable, "-m", "sphinx", "-q", "-b", "html", "docs", str(html)]
    command += ["-D", "nb_execution_mode=off", "-D", "autosummary_generate=0"]
    command += ["-D", f"exclude_patterns=_build,{','.join(others)}"]
    subprocess.run(
        command, cwd=ROOT, check=True, stderr=subprocess.DEVNULL
    )  # links to pages that are left out
    return html


# what the network's page in its frame asks for, what is reserved, where it begins and the doors do, and where the maps end
NETWORK = """
const frame = document.querySelector('.tcx-frame[title="draw a digit"]');
const [{ top, bottom }, doors] = [frame, document.querySelector('.doors')].map((e) => e.getBoundingClientRect());
return [parseFloat(frame.style.height), parseFloat(getComputedStyle(frame).minHeight), top, bottom, doors.top];"""
MAPS = "return document.querySelector('.net > canvas')?.getBoundingClientRect().bottom"


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1280, 800), (390, 844)])
def test_the_network_comes_first_and_nothing_moves_as_it_loads(driver, built, width, height, dark):
    page = Page(driver, built / "index.html", width=width, height=height, dark=dark)
    frame = page.all('.tcx-frame[title="draw a digit"]')[0]
    driver.switch_to.frame(frame)
    wait_for(page, "return document.querySelector('header output')?.textContent.startsWith('7, ')")
    end = page.run(MAPS)
    driver.switch_to.default_content()
    wait_for(page, f"{NETWORK.rstrip(';')}[0] > 0")
    asked, reserved, top, bottom, doors = page.run(NETWORK)
    assert asked <= reserved <= asked + 120
    assert top < 150  # below the title
    assert top + end <= height
    assert bottom <= doors
    assert page.complaints() == []


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_the_front_page(driver, built, width, dark):
    page = Page(driver, built / "index.html", width=width, height=800, dark=dark)
    assert output_size(page) == "4 × 4"
    assert page.run(REQUESTS) == []
    assert page.run("return document.documentElement.scrollWidth") <= width
    for door in page.all(".doors a"):
        file = Path(door.get_attribute("href").removeprefix("file://"))
        assert file == built / f"{DOORS[door.text.partition(chr(10))[0]]}.html"
        assert file.exists()
    assert len(page.all(".doors a")) == len(DOORS)
    assert page.contrast(".doors *")[0] >= 4.5
    page.driver.switch_to.frame(page.all(PLAYGROUND)[0])
    assert page.run("return matchMedia('(prefers-color-scheme: dark)').matches") == dark
    assert page.run("return document.documentElement.scrollWidth") <= width
    least, where = page.contrast()
    page.driver.switch_to.default_content()
    assert least >= 4.5, where
    assert page.complaints() == []
    assert (built / "explorer" / "playground.html").exists()
