"""Measure how long a page takes to load in Chromium: ``python -m tests.page_checks PAGE.html``.

Prints milliseconds from the start of the navigation, median and largest of several loads in one browser.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path
from typing import NamedTuple

from tests.browser import Browser, Page

SMALL_TEXT, LARGE_TEXT = 4.5, 3.0
"""The least contrast of normal text, and of text from 24 pixels on (bold: 18.66)."""
_FIND = """(() => {
  const context = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const parse = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[3] * top[i] + (1 - top[3]) * below[i]).concat(1);
  const luminance = (colour) => {
    const [red, green, blue] = colour.slice(0, 3).map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (first, second) => {
    const [dark, light] = [luminance(first), luminance(second)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const backgrounds = (element) => {  // all that may be behind its text
    const layers = [];
    for (let each = element; each; each = each.parentElement) {
      const style = getComputedStyle(each);
      const stops = style.backgroundImage.match(/(?:rgba?|color|oklab|oklch)\\([^()]*\\)/g);
      const colours = (stops || [style.backgroundColor]).map(parse);
      layers.push(colours);
      if (colours.every((colour) => colour[3] === 1)) break;
    }
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    let found = [dark ? [18, 18, 18, 1] : [255, 255, 255, 1]];
    for (const colours of layers.reverse()) found = found.flatMap((below) => colours.map((top) => over(top, below)));
    return found;
  };
  const opacity = (element) => element ? Number(getComputedStyle(element).opacity) * opacity(element.parentElement) : 1;
  const isShown = (element) => {
    const box = element.getBoundingClientRect();
    return element.checkVisibility({ visibilityProperty: true }) && box.width > 1 && box.height > 1;
  };
  const judged = new Set(document.querySelectorAll("select"));
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) if (walker.currentNode.data.trim()) judged.add(walker.currentNode.parentElement);
  const found = [];
  for (const element of judged) {
    if (element.closest("svg, script, style, option, :disabled, .sr") || !isShown(element)) continue;
    const style = getComputedStyle(element), colour = parse(style.color);
    colour[3] *= opacity(element);
    const ratios = backgrounds(element).map((below) => contrast(over(colour, below), below));
    const size = parseFloat(style.fontSize), isBold = Number(style.fontWeight) >= 700;
    const name = element.tagName.toLowerCase() + [...element.classList].map((each) => "." + each).join("");
    const text = element.textContent.trim().slice(0, 30);
    found.push([name, text, Math.min(...ratios), size >= 24 || (isBold && size >= 18.66)]);
  }
  return found;
})()"""


class ShownText(NamedTuple):
    """Text that the page shows."""

    element: str
    """Tag and classes."""
    text: str
    contrast: float
    """1 (invisible) to 21 (black on white)."""
    is_large: bool


def shown_texts(page: Page) -> list[ShownText]:
    """Return all texts that the page shows, with their contrast."""
    return [ShownText(*each) for each in page.value(_FIND)]


def unreadable_texts(page: Page) -> list[ShownText]:
    """Return the texts whose contrast is too low. AssertionError if the page shows hardly any text."""
    texts = shown_texts(page)
    assert len(texts) > 10, texts
    return [each for each in texts if each.contrast < (LARGE_TEXT if each.is_large else SMALL_TEXT)]


# Words of a picture that reach beyond its edge, which the browser cuts off.
_CUT_WORDS = """[...document.querySelectorAll('svg.chart')].flatMap((picture) => {
  const edge = picture.getBoundingClientRect();
  return [...picture.querySelectorAll('text')].filter((each) => {
    const box = each.getBoundingClientRect();
    return box.width > 0 && (box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 1);
  }).map((each) => `${picture.getAttribute('aria-label')}: ${each.textContent}`);
})"""
_WIDE_BOXES = """[...document.querySelectorAll('.wide')].filter((each) => each.scrollWidth > each.clientWidth)
  .map((each) => each.innerText)"""


def check_layout(path: Path, width: int, scheme: str, *, tables: int, pictures: int) -> None:
    """Assert that a page fits a window of ``width`` pixels, with all that opens by a click, and cuts off no words.

    ``tables`` and ``pictures``: how many the page has at least.
    """
    with Browser() as browser:
        shown = browser.open(path.as_uri(), width=width, height=800, scheme=scheme)
        shown.wait("document.readyState === 'complete'")
        shown.value("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert shown.value("document.documentElement.scrollWidth") == width
        assert shown.value("document.querySelectorAll('.wide').length") >= tables
        assert shown.value("document.querySelectorAll('svg.chart').length") >= pictures
        assert shown.value(_WIDE_BOXES) == []
        assert shown.value(_CUT_WORDS) == []


_TIMES = """(() => {
  const load = performance.getEntriesByType("navigation")[0];
  const paint = performance.getEntriesByName("first-contentful-paint")[0];
  return load.loadEventEnd > 0 && paint ? [load.loadEventEnd, paint.startTime] : null;
})()"""


class LoadTime(NamedTuple):
    """Of one load, in milliseconds."""

    loaded: float
    """The scripts have drawn the page."""
    painted: float
    """Something is on the screen."""


def measure(page: Path, loads: int) -> list[LoadTime]:
    """Return the times of several loads; FileNotFoundError without Chromium or page."""
    if not page.is_file():
        raise FileNotFoundError(f"{page} does not exist: give an HTML file, such as one of suphx view --out")
    found = []
    with Browser() as browser:
        for _ in range(loads):
            tab = browser.open(page.resolve().as_uri())
            found.append(LoadTime(*tab.wait(_TIMES)))
    return found


def main() -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.page_checks", description="Measure the load of an HTML page."
    )
    parser.add_argument("page", type=Path, help="an HTML file, such as one of suphx view --out")
    parser.add_argument("--loads", type=int, default=9, help="how often (default: %(default)s)")
    given = parser.parse_args()
    try:
        times = measure(given.page, given.loads)
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    result = {"bytes": given.page.stat().st_size, "loads": given.loads}
    for name, values in zip(LoadTime._fields, zip(*times, strict=True), strict=True):
        result |= {f"{name}_ms": round(statistics.median(values)), f"{name}_ms_largest": round(max(values))}
    print(json.dumps(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
