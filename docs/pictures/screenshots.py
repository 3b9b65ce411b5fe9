"""Draw the pictures of the site: `python docs/pictures/screenshots.py [SITE]`, after it is built.

Five pages, each as wide as a desk's screen and as a phone's, go to docs/pictures/screens/.
"""

import io
import shutil
import sys
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
SCREENS = Path(__file__).parent / "screens"
SIZES = {"desk": (1280, 800), "phone": (390, 844)}
PAGES = {
    "start": ("index.html", "light"),
    "tutorial": ("tutorial/03-a-folder.html", "light"),
    "how-to": ("how-to/extract.html", "dark"),
    "name": ("reference/names/par-map.html", "light"),
    "search": ("index.html", "dark"),
}
"""The pages, each with its colours; the last one with the search open."""

COLOURS = 96


def main(site: Path) -> None:
    """Draw all of them."""
    SCREENS.mkdir(exist_ok=True)
    with sync_playwright() as player:
        browser = player.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for size, (width, height) in SIZES.items():
            for name, (address, scheme) in PAGES.items():
                page = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                page.goto(f"{site.resolve().as_uri()}/{address}")
                if name == "search":
                    page.click("[data-search-open]")
                    page.wait_for_selector("dialog[data-ready]")
                    page.fill("dialog input", "retry a failed call")
                page.wait_for_timeout(500)
                picture = Image.open(io.BytesIO(page.screenshot()))
                few = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
                few.save(SCREENS / f"{name}-{size}.png", optimize=True)
                page.close()
        browser.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "site")
