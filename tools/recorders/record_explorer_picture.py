"""Takes docs/explorer.png anew: the explorer that docs/explorer.md embeds, in Chromium."""

import sys
import tempfile
from base64 import b64decode
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "docs"), str(ROOT / "tests")]

from browser import Page, chromium  # noqa: E402
from explorer_examples import examples  # noqa: E402

WIDTH, HEIGHT = 1280, 650

if __name__ == "__main__":
    path = dict(examples())["conv2d"].save(Path(tempfile.mkdtemp()) / "page.html")
    with chromium() as driver:
        Page(driver, path, WIDTH, 800)
        clip = {"x": 0, "y": 0, "width": WIDTH - 20, "height": HEIGHT, "scale": 1}
        taken = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip})
    (ROOT / "docs" / "explorer.png").write_bytes(b64decode(taken["data"]))
