"""Find text on a page that is hard to read: its contrast as WCAG 2.2 computes it (success criterion 1.4.3).

A background is that of the elements around the text, laid over each other; of a gradient the worst colour counts.
Tiles, which are drawings, and what is disabled are not judged.
"""

from __future__ import annotations

from typing import NamedTuple

from tests.browser import Page

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
