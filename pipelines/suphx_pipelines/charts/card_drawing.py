"""Playing cards without suits as SVG, drawn here from strokes: 13 ranks, two jokers and the back. No font is needed.

A page has ``card_symbols()`` once, and ``drawing_style`` (svg.py); it uses ``card-0`` (a 3) to ``card-14`` (the red
joker) and ``card-back``.
"""

from __future__ import annotations

import math

from suphx_pipelines.charts import svg

WIDTH, HEIGHT = 30, 42

# Ranks from 3 on as strokes in a rectangle of 10 by 14.
_RANKS = (
    "M1.5 2.2Q3 .8 5 .8Q8.4 .8 8.4 3.8Q8.4 6.6 4.6 6.6Q8.9 6.6 8.9 10Q8.9 13.2 5 13.2Q2.4 13.2 1.1 11.4",
    "M7 13.2V.8L1 9.4H9.2",
    "M8.2 .9H2.6L2 6.4Q3.4 5.2 5 5.2Q8.8 5.2 8.8 9.2Q8.8 13.2 4.8 13.2Q2.4 13.2 1.2 11.6",
    "M7.6 .9Q2 3.4 1.3 8.6Q1 13.2 5 13.2Q8.8 13.2 8.8 9.6Q8.8 6.2 5.2 6.2Q2.2 6.2 1.3 8.8",
    "M1.2 .9H8.8L4 13.2",
    "M5 6.4Q1.8 6.4 1.8 3.6Q1.8 .8 5 .8Q8.2 .8 8.2 3.6Q8.2 6.4 5 6.4Q1.2 6.4 1.2 9.8Q1.2 13.2 5 13.2"
    "Q8.8 13.2 8.8 9.8Q8.8 6.4 5 6.4Z",
    "M2.4 13.1Q8 10.6 8.7 5.4Q9 .8 5 .8Q1.2 .8 1.2 4.4Q1.2 7.8 4.8 7.8Q7.8 7.8 8.7 5.2",
    "M.4 2.8L2 1V13.2M7 .8Q9.6 .8 9.6 7Q9.6 13.2 7 13.2Q4.4 13.2 4.4 7Q4.4 .8 7 .8Z",
    "M5 .9H8.2V10Q8.2 13.2 5 13.2Q2 13.2 1.6 10.2",
    "M5 .8Q9 .8 9 7Q9 13.2 5 13.2Q1 13.2 1 7Q1 .8 5 .8ZM5.8 9.8L9.2 13.8",
    "M1.8 .8V13.2M8.8 .8L1.8 8.2M4.2 5.8L9 13.2",
    "M.9 13.2L5 .8L9.1 13.2M2.4 9H7.6",
    "M1.4 3.8Q1.6 .8 5 .8Q8.6 .8 8.6 4Q8.6 6.2 5.8 8.6L1.2 13.2H8.9",
)
_JOKERS = ("ink", "red")
_BACK = '<path d="M5 5H25V37H5ZM15 11.5L21 21L15 30.5L9 21Z" class="t-line t-lback" stroke-width="1.2"/>'


def card_symbols() -> str:
    """Return the drawings of all cards, which a page shows nowhere itself."""
    faces = [_rank(strokes) for strokes in _RANKS] + [_joker(colour) for colour in _JOKERS]
    drawn = "".join(_symbol(f"card-{rank}", face) for rank, face in enumerate(faces))
    return f'<svg class="hidden" aria-hidden="true">{drawn}{_symbol("card-back", _BACK, "t-back")}</svg>'


def _symbol(name: str, content: str, kind: str = "t-tile") -> str:
    body = f'<rect x=".7" y=".7" width="{WIDTH - 1.4:g}" height="{HEIGHT - 1.4:g}" rx="3" class="t-body {kind}"/>'
    return svg.element("symbol", body + content, id=name, viewBox=f"0 0 {WIDTH} {HEIGHT}")


def _rank(strokes: str) -> str:
    """Return a rank twice: small in the corner that is seen of a card below others, and large."""
    return _strokes(strokes, 2.6, 3.6, 0.78, 2.0) + _strokes(strokes, 12.2, 17.2, 1.42, 2.9)


def _strokes(strokes: str, x: float, y: float, scale: float, thickness: float) -> str:
    return svg.element(
        "path",
        d=strokes,
        transform=f"translate({x:g} {y:g}) scale({scale:g})",
        class_="t-line t-link",
        stroke_width=f"{thickness / scale:.2f}",
    )


def _joker(colour: str) -> str:
    """Return a star in the corner and a large one with a ring."""
    ring = f'<circle cx="18.6" cy="27" r="9" class="t-line t-l{colour}" stroke-width="1.5"/>'
    return _star(7.6, 9, 5.6, colour) + _star(18.6, 27.4, 7, colour) + ring


def _star(x: float, y: float, radius: float, colour: str) -> str:
    corners = []
    for corner in range(10):
        size, angle = radius * (0.45 if corner % 2 else 1), math.pi * corner / 5
        corners.append(f"{x + size * math.sin(angle):.2f} {y - size * math.cos(angle):.2f}")
    return f'<path d="M{"L".join(corners)}Z" class="t-{colour}"/>'
