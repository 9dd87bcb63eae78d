"""Looks at a page in Chromium as a person does: is anything wider than the window, or cut off?"""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.browser import Browser
from tests.pictures import screenshot

HAS_CHROMIUM = any(shutil.which(name) for name in screenshot.PROGRAMS)
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
