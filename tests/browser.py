"""A headless Chromium for tests: the saved pages as a reader sees them."""

import itertools
import os
import shutil
import time
from contextlib import contextmanager

import pytest


def why_no_browser():
    """Return what is missing, or ""."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "selenium is not installed: pip install selenium"
    for names in (("chromium", "chromium-browser", "google-chrome"), ("chromedriver",)):
        if not any(map(shutil.which, names)):
            return f"no {names[0]} found: apt install chromium chromium-driver"
    return ""


needs_browser = pytest.mark.skipif(bool(why_no_browser()), reason=why_no_browser() or "found")


@contextmanager
def chromium(offline=True):
    """A browser without network, whose console is kept; Chromium's *offline* cuts off 127.0.0.1, too."""
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = next(
        filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome")))
    )
    # kiosk: without tabs and an address bar, which are drawn anew as a page loads
    switches = "headless=new kiosk no-sandbox disable-gpu disable-dev-shm-usage no-first-run disable-sync"
    for switch in (switches + " disable-background-networking disable-component-update").split():
        options.add_argument(f"--{switch}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    os.environ.setdefault("SE_AVOID_STATS", "true")
    service = webdriver.ChromeService(shutil.which("chromedriver"))
    driver = webdriver.Chrome(options=options, service=service)
    try:
        if offline:
            cut_off(driver)
        yield driver
    finally:
        driver.quit()


def cut_off(driver):
    """Take the network from the browser's tab."""
    driver.execute_cdp_cmd("Network.enable", {})
    offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)


@contextmanager
def new_tab(driver):
    """A tab of its own: what its pages keep and how it is emulated end with it."""
    before = driver.current_window_handle
    driver.switch_to.new_window("tab")
    try:
        cut_off(driver)
        yield driver
    finally:
        driver.close()
        driver.switch_to.window(before)


# what a reader sees, gathered in one go
_LOOK = """
const text = (e) => e.textContent;
const grid = (figure) => ({
  title: text(figure.querySelector("figcaption b")),
  cells: [...figure.querySelectorAll("[role=gridcell]")].map((e) => ({
    row: Number(e.dataset.row), col: Number(e.dataset.col), text: text(e), classes: [...e.classList], label: e.getAttribute("aria-label"),
  })),
});
return {
  headline: document.querySelector(".headline")?.textContent ?? "",
  value: document.querySelector(".headline output")?.textContent ?? "",
  rows: [...document.querySelectorAll(".sum tbody tr")].map((tr) => [...tr.children].map(text)),
  products: [...document.querySelectorAll(".product")].map((e) => e.title),
  partial: [...document.querySelectorAll(".partial")].map(text),
  grids: [...document.querySelectorAll(".stage .grid")].map(grid),
  spoken: document.querySelector("[data-role=spoken]").textContent,
  message: document.querySelector(".message").hidden ? "" : document.querySelector(".message").textContent,
  position: document.querySelector(".position").textContent,
  summary: document.querySelector(".summary").textContent,
};
"""


# choose a cell as a reader would: its channels and image, then a click on it
_GO = """
const [channels, grid, row, col] = arguments[0];
for (const [name, value] of Object.entries(channels)) {
  const select = document.querySelector(`[data-channel="${name}"]`);
  if (select && select.value !== String(value)) { select.value = value; select.dispatchEvent(new Event("change")); }
}
document.querySelector(`.stage .grid:nth-of-type(${grid + 1}) [data-row="${row}"][data-col="${col}"]`).click();
"""


# the least contrast of the texts that a selector finds, each with its own ground (WCAG 2), and that text
_CONTRAST = """
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const light = (...colours) => { // the luminance of colours that lie on each other
  canvas.clearRect(0, 0, 1, 1);
  for (const fill of colours) { canvas.fillStyle = fill; canvas.fillRect(0, 0, 1, 1); }
  const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].map((v) => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const grounds = (e) => e ? [...grounds(e.parentElement), getComputedStyle(e).backgroundColor] : [getComputedStyle(document.documentElement).colorScheme === "dark" ? "black" : "white"];
const shown = (e) => e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !e.closest(".hidden");
const found = [...document.querySelectorAll(arguments[0])]
  .filter((e) => shown(e) && [...e.childNodes].some((c) => c.nodeType === 3 && c.textContent.trim()))
  .filter((e) => !/^rgba.*, 0\\)$/.test(getComputedStyle(e).color)) // a number that is still to come
  .map((e) => { const [a, b] = [light(...grounds(e), getComputedStyle(e).color), light(...grounds(e))]; return [(Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), e.outerHTML.slice(0, 200)]; })
  .filter(([, text]) => !text.includes('disabled'));
return found.reduce((a, b) => (b[0] < a[0] ? b : a), [21, ""]);
"""


# the fonts are there, and observers have seen the sizes of the first frame
_SETTLED = """return document.fonts.ready.then(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));"""
_opened = itertools.count(1)


class Page:
    """One saved page, opened from disk."""

    def __init__(self, driver, path, width=1200, height=1000, dark=False, motion=False):
        self.driver = driver
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        still = {"name": "prefers-reduced-motion", "value": "no-preference" if motion else "reduce"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme, still]})
        driver.get_log("browser")
        driver.get(path.as_uri())
        if next(_opened) % 10 == 0:  # the pages before take memory until then
            driver.execute_cdp_cmd("HeapProfiler.collectGarbage", {})
        self.settle()

    def look(self):
        return self.driver.execute_script(_LOOK)

    def tour(self, places, look=_LOOK):
        """Go to each place, (channels, grid, row, col), and look: one answer for each of them."""
        script = f"const go = function () {{{_GO}}}, look = function () {{{look}}};"
        return self.run(script + "return arguments[0].map((place) => { go(place); return look(); });", places)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def settle(self):
        """Wait until observers have seen the sizes of the next frame, after those or the media were changed."""
        self.run(_SETTLED)

    def contrast(self, selector="body *"):
        """The least contrast of a text with its ground, and the element."""
        return self.run(_CONTRAST, selector)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def hover(self, grid, row, col):
        """Move the mouse over a cell of one of the stage's three grids."""
        from selenium.webdriver import ActionChains

        cell = f".stage .grid:nth-of-type({grid + 1}) [data-row='{row}'][data-col='{col}']"
        ActionChains(self.driver, duration=0).move_to_element(self.all(cell)[0]).perform()

    def press(self, *keys):
        from selenium.webdriver import ActionChains

        ActionChains(self.driver).send_keys(*keys).perform()

    def choose(self, control, label):
        """Click one choice of a control."""
        found = self.run(
            """const set = document.querySelector(`[data-control="${arguments[0]}"]`);
            const label = [...set.querySelectorAll("label")].find((l) => l.textContent === arguments[1]);
            label.querySelector("input").click(); return label.textContent;""",
            control,
            label,
        )
        assert found == label
        time.sleep(0.02)

    def open(self, section):
        self.run("document.querySelector(`[data-section='${arguments[0]}']`).open = true", section)
        time.sleep(0.05)

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]
