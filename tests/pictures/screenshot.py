"""Take a picture of an HTML page: ``python -m tests.pictures.screenshot PAGE OUT.png --width 1400 --scheme dark``.

Needs Chromium (Debian: ``apt-get install chromium``), which runs without a window. The page is shown in a frame of the
wanted width, because Chromium's own window cannot be as narrow as a phone.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
SCHEMES = ("dark", "light")  # by Chromium's own numbers
MAX_HEIGHT = 15_000

_MIN_WINDOW = 600
_SECONDS = 60
_OPTIONS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--hide-scrollbars"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions"),
    *("--allow-file-access-from-files", "--virtual-time-budget=3000"),
)
_FRAME = """<!DOCTYPE html><meta charset="utf-8"><body style="margin:0"><p id="size"></p>
<style>iframe {{ position: absolute; left: 0; top: 0; border: 0; width: {width}px; height: {height}px }}</style>
<iframe id="page" src="{address}"></iframe>
<script>
const frame = document.getElementById("page");
frame.onload = () => {{
  const root = frame.contentDocument.documentElement;
  document.getElementById("size").textContent = `size ${{root.scrollWidth}} ${{root.scrollHeight}}`;
}};
</script>"""


def find_chromium() -> str:
    """Return the path of Chromium; FileNotFoundError that says what to install if there is none."""
    for name in PROGRAMS:
        path = shutil.which(name)
        if path:
            return path
    raise FileNotFoundError(f"Chromium not found (looked for {', '.join(PROGRAMS)}): run apt-get install chromium")


def page_size(page: Path, width: int) -> tuple[int, int]:
    """Return the width and the height of a page laid out for ``width`` pixels; it fits if both widths are equal."""
    with tempfile.TemporaryDirectory() as folder:
        done = _chromium(_frame(page, Path(folder), width, 100), Path(folder), ["--dump-dom"], width, 100)
    found = re.search(r"size (\d+) (\d+)", done)
    if found is None:
        raise RuntimeError(f"Chromium did not lay out {page}: open it in a browser to see what is wrong")
    return int(found[1]), int(found[2])


def page_content(page: Path) -> str:
    """Return the HTML of a page after its scripts have run."""
    with tempfile.TemporaryDirectory() as folder:
        return _chromium(page, Path(folder), ["--dump-dom"], _MIN_WINDOW, _MIN_WINDOW)


def take(
    page: Path, picture: Path, *, width: int = 1400, height: int = 0, scheme: str = "light", colours: int = 0
) -> None:
    """Write a PNG of ``page`` as it looks ``width`` pixels wide in a ``scheme``.

    ``height``: from the top of the page; 0 = the whole page, at most 15,000 pixels. ``colours``: reduce to so many,
    for a smaller file; 0 = keep all. Raises FileNotFoundError without Chromium or page, RuntimeError if Chromium fails.
    """
    if not page.is_file():
        raise FileNotFoundError(f"{page} does not exist: give an HTML file, such as runs/NAME/report/report.html")
    tall = height or min(page_size(page, width)[1], MAX_HEIGHT)
    with tempfile.TemporaryDirectory() as folder:
        raw = Path(folder) / "raw.png"
        options = [f"--screenshot={raw}", f"--blink-settings=preferredColorScheme={SCHEMES.index(scheme)}"]
        _chromium(_frame(page, Path(folder), width, tall), Path(folder), options, width, tall)
        if not raw.is_file():
            raise RuntimeError(f"Chromium wrote no picture of {page}: open it in a browser to see what is wrong")
        with Image.open(raw) as image:
            cut = image.convert("RGB").crop((0, 0, width, tall))
    if colours:
        cut = cut.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    picture.parent.mkdir(parents=True, exist_ok=True)
    cut.save(picture, optimize=True)


def _frame(page: Path, folder: Path, width: int, height: int) -> Path:
    frame = folder / "frame.html"
    text = _FRAME.format(address=page.resolve().as_uri(), width=width, height=height)
    frame.write_text(text, encoding="utf-8")
    return frame


def _chromium(page: Path, folder: Path, options: list[str], width: int, height: int) -> str:
    window = [f"--window-size={max(width, _MIN_WINDOW)},{height}", f"--user-data-dir={folder / 'profile'}"]
    command = [find_chromium(), *_OPTIONS, *window, *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)
    if done.returncode:
        raise RuntimeError(f"Chromium ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def main() -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.pictures.screenshot", description="Take a picture of an HTML page."
    )
    parser.add_argument("page", type=Path, help="an HTML file, such as runs/NAME/report/report.html")
    parser.add_argument("picture", type=Path, help="the PNG to write")
    parser.add_argument("--width", type=int, default=1400, help="pixels; 400 is a phone (default: %(default)s)")
    parser.add_argument("--height", type=int, default=0, help="pixels from the top (default: the whole page)")
    parser.add_argument("--scheme", choices=SCHEMES, default="light", help="colours of the page (default: %(default)s)")
    parser.add_argument(
        "--colours", type=int, default=0, help="reduce the picture to so many colours (default: keep all)"
    )
    given = parser.parse_args()
    try:
        take(
            given.page,
            given.picture,
            width=given.width,
            height=given.height,
            scheme=given.scheme,
            colours=given.colours,
        )
    except (OSError, RuntimeError, subprocess.TimeoutExpired) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
