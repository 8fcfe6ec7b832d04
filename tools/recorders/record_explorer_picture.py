"""Takes docs/explorer.png and docs/draw_a_digit.png anew: the explorer and the network's page, in Chromium."""

import io
import sys
import tempfile
import time
from base64 import b64decode
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "docs"), str(ROOT / "tests")]

from browser import Page, chromium  # noqa: E402
from explorer_examples import examples  # noqa: E402

from teachconv.explorer.digits import draw_a_digit  # noqa: E402


def record(name, picture, window, shown, click=""):
    """Open a page in a window, click the button with a text, and keep what is shown, with 64 colours."""
    path = picture.save(Path(tempfile.mkdtemp()) / "page.html")
    with chromium() as driver:
        Page(driver, path, *window)
        for button in driver.find_elements("css selector", "button") if click else ():
            if button.text.strip() == click:
                time.sleep(3)  # until the seven is drawn
                button.click()
                time.sleep(2)
                break
        clip = {"x": 0, "y": 0, "width": shown[0], "height": shown[1], "scale": 1}
        taken = driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", "clip": clip})
    image = Image.open(io.BytesIO(b64decode(taken["data"]))).convert("RGB")
    image.quantize(64).save(ROOT / "docs" / name, optimize=True)


if __name__ == "__main__":
    record("explorer.png", dict(examples())["conv2d"], (1280, 800), (1260, 650))
    record("draw_a_digit.png", draw_a_digit(), (1440, 740), (1440, 740), "why?")
