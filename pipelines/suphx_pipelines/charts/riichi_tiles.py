"""Tiles as SVG, drawn here from strokes and circles: 34 kinds, three red fives and the back. No font is needed.

A page has ``tile_symbols()`` once; ``tile(face)`` then refers to one of them. Colours are those of chart_style.css.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from suphx.games.mahjong.tile import NUM_KINDS
from suphx.games.riichi.tile import NUM_FACES, face_name, kind_of_face
from suphx_pipelines.charts import svg

WIDTH, HEIGHT = 30, 40
BACK = -1

# Characters as strokes in a square of 10 by 10.
_NUMERALS = (
    "M1 5H9",
    "M2 3H8M1 8H9",
    "M2 2H8M2.5 5H7.5M1 8.5H9",
    "M1.5 2H8.5V8.5H1.5ZM4 2V4.5Q4 6 2.5 6.5M6 2V5.5Q6 6.5 8.3 6.3",
    "M1.5 1.8H8.5M4.5 1.8L3.6 8.6M2 5H7.2V8.6M1 8.7H9",
    "M5 .6L5.4 2.2M1 3.6H9M3.8 5.2L1.6 8.8M6.2 5.2L8.6 8.8",
    "M1 4.8L9 3.2M4.6 1V7.6Q4.6 8.8 6 8.8H8V7.6",
    "M4 2Q3.6 6 1 8.8M6 1.8Q6.6 6.4 9 8.6",
    "M1.2 3.6H6.6V7.6Q6.6 8.8 8 8.8H9V7.2M3.8 .8Q4 6 1.2 9",
)
_TEN_THOUSAND = (
    "M1 1.6H9M3.4 .4V2.8M6.6 .4V2.8M2.4 3.6H7.6V6.2H2.4ZM2.4 4.9H7.6M5 3.6V8.4"
    "M1.4 9.8V7.4H8.6V9.2L7.8 9.6M3.4 8.8L6.6 8.4"
)
_WINDS = (
    "M1 2H9M5 .4V9.8M2.4 3.6H7.6V6.6H2.4ZM2.4 5.1H7.6M4.8 6.8L1 9.4M5.2 6.8L9 9.4",
    "M1 1.8H9M5 .3V3.5M1.6 9.6V3.6H8.4V9.4M3.5 4.6L4 5.6M6.5 4.6L6 5.6M3 6.3H7M3 7.8H7M5 6.3V9.4",
    "M1 1.6H9M1.6 3.8H8.4V9.2H1.6ZM4 1.6V5Q4 6.6 2.2 7M6 1.6V5.6Q6 6.4 8.2 6.4",
    "M3.8 .8V9.2M1.2 3.6H3.8M.8 8.2L3.8 7M6 .8V8Q6 9 7 9H9V7.4M6 4.8L8.8 3.2",
)
_HATSU = (
    "M4.4 1Q3.6 3.6 .8 4.6M1.2 1.2L3 2.6M5.6 .8Q6.6 3.6 9.2 4.6M8.4 1L6.6 2.4M9 2.6L7.2 3.6"
    "M1.4 5.4H4.2V6.8H1.6V8.2H4.4V9.4L3.2 9.7"
    "M6 5.2H7.9V6.5H9M6 5.2V6L5.2 6.8M5.4 7.5H8.4Q7.6 9.2 5 9.8M6 7.7Q7.2 9.2 9.2 9.8"
)
_CHUN = "M1.8 2.8H8.2V6.4H1.8ZM5 .4V9.8"

_CIRCLES: tuple[Sequence[tuple[float, float]], ...] = (
    ((15, 20),),
    ((15, 11), (15, 29)),
    ((8, 9), (15, 20), (22, 31)),
    ((9, 11), (21, 11), (9, 29), (21, 29)),
    ((8, 9), (22, 9), (15, 20), (8, 31), (22, 31)),
    ((9.5, 8), (20.5, 8), (9.5, 21), (20.5, 21), (9.5, 32), (20.5, 32)),
    ((7, 7), (15, 10.5), (23, 14), (9.5, 23), (20.5, 23), (9.5, 32.5), (20.5, 32.5)),
    tuple((x, y) for y in (7, 15.7, 24.3, 33) for x in (9.5, 20.5)),
    tuple((x, y) for y in (8, 20, 32) for x in (7, 15, 23)),
)
_RADII = (9.5, 6.2, 5.0, 4.8, 4.6, 4.4, 3.8, 3.8, 3.8)
_CIRCLE_COLOURS = (
    ("red",),
    ("green", "blue"),
    ("blue", "red", "green"),
    ("blue", "green", "green", "blue"),
    ("blue", "green", "red", "green", "blue"),
    ("green", "green", "red", "red", "red", "red"),
    ("green", "green", "green", "red", "red", "red", "red"),
    ("blue",) * 8,
    ("blue",) * 3 + ("red",) * 3 + ("green",) * 3,
)

# Bamboo: middle, half of its length, lean.
_STICKS: tuple[Sequence[tuple[float, float, float, float]], ...] = (
    (),
    ((15, 12, 6.5, 0), (15, 28, 6.5, 0)),
    ((15, 12, 6.5, 0), (9, 28, 6.5, 0), (21, 28, 6.5, 0)),
    ((9, 12, 6.5, 0), (21, 12, 6.5, 0), (9, 28, 6.5, 0), (21, 28, 6.5, 0)),
    ((8, 11, 5.8, 0), (22, 11, 5.8, 0), (15, 20, 6.2, 0), (8, 29, 5.8, 0), (22, 29, 5.8, 0)),
    tuple((x, y, 6.2, 0) for y in (12, 28) for x in (7, 15, 23)),
    ((15, 8, 4, 0), *((x, y, 4, 0) for y in (20, 31.5) for x in (7, 15, 23))),
    (
        *((6, 12, 6, 0), (12, 12, 6, 2.6), (18, 12, 6, -2.6), (24, 12, 6, 0)),
        *((6, 28, 6, 0), (12, 28, 6, -2.6), (18, 28, 6, 2.6), (24, 28, 6, 0)),
    ),
    tuple((x, y, 4.2, 0) for y in (8.5, 20, 31.5) for x in (7, 15, 23)),
)
_RED_STICKS = {4: (2,), 6: (0,), 8: (1, 4, 7)}

_BIRD = (
    '<path d="M9 33Q5 24 12 18Q10 12 15 10Q21 9 21 15Q20 18 18 19Q24 24 19 31Q14 35 9 33Z" class="t-green"/>'
    '<circle cx="16.5" cy="13.5" r="1.5" class="t-tile"/><path d="M21 13L25 14.5L21 16Z" class="t-red"/>'
    '<path d="M12 22Q17 24 16 30M9.5 25Q13 27 12.5 31M9 33L5 36M11.5 33.5L9 37M14.5 33L14 37" '
    'class="t-line t-lred" stroke-width="1.3"/>'
)

_BACK = '<path d="M5 5H25V35H5ZM15 11L21 20L15 29L9 20Z" class="t-line t-lback" stroke-width="1.2"/>'


def tile_symbols() -> str:
    """Return the drawings of all tiles, which a page shows nowhere itself."""
    faces = "".join(_symbol(_name(face), _face(face)) for face in range(NUM_FACES))
    return f'<svg class="hidden" aria-hidden="true">{faces}{_symbol(_name(BACK), _BACK, "t-back")}</svg>'


def tile(face: int, kind: str = "") -> str:
    """Return one tile (face 0-36, or BACK) of a page with the symbols; ``kind``: CSS classes such as ``turned``."""
    known = "tile face down" if face == BACK else face_name(face)
    use = svg.element("use", href=f"#{_name(face)}")
    return svg.element(
        "svg", svg.hint(known) + use, class_=f"tile {kind}".strip(), viewBox=f"0 0 {WIDTH} {HEIGHT}", role="img"
    )


def tiles(faces: Iterable[int], kind: str = "") -> str:
    """Return several tiles side by side."""
    return "".join(tile(face, kind) for face in faces)


def _name(face: int) -> str:
    return "tile-back" if face == BACK else f"tile-{face_name(face)}"


def _symbol(name: str, content: str, kind: str = "t-tile") -> str:
    body = f'<rect x=".7" y=".7" width="28.6" height="38.6" rx="3.5" class="t-body {kind}"/>'
    return svg.element("symbol", body + content, id=name, viewBox=f"0 0 {WIDTH} {HEIGHT}")


def _face(face: int) -> str:
    kind, is_red = kind_of_face(face), face >= NUM_KINDS
    suit, number = divmod(kind, 9)
    if suit == 3:
        return _honour(number)
    drawn = (_character, _circles, _bamboo)[suit](number)
    return svg.element("g", drawn, class_="t-allred") if is_red else drawn


def _strokes(strokes: str, x: float, y: float, width: float, height: float, colour: str, thickness: float) -> str:
    """Return a character in a rectangle; its lines keep their thickness whatever the rectangle."""
    size = f"translate({x:g} {y:g}) scale({width / 10:g} {height / 10:g})"
    return svg.element(
        "path",
        d=strokes,
        transform=size,
        class_=f"t-line t-l{colour}",
        stroke_width=f"{thickness / math.sqrt(width * height / 100):.2f}",
    )


def _character(number: int) -> str:
    numeral = _strokes(_NUMERALS[number], 6, 3.5, 18, 14, "ink", 2.3)
    return numeral + _strokes(_TEN_THOUSAND, 7, 19.5, 16, 17, "red", 1.4)


def _honour(number: int) -> str:
    if number < 4:
        return _strokes(_WINDS[number], 4.5, 8, 21, 24, "ink", 2.1)
    if number == 4:
        return '<rect x="6" y="7" width="18" height="26" rx="1.5" class="t-line t-lblue" stroke-width="1.6"/>'
    return _strokes(*((_HATSU, 4, 8, 22, 24, "green", 1.8) if number == 5 else (_CHUN, 5, 7, 20, 26, "red", 2.4)))


def _circles(number: int) -> str:
    parts = []
    radius = _RADII[number]
    for (x, y), colour in zip(_CIRCLES[number], _CIRCLE_COLOURS[number], strict=True):
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" class="t-{colour}"/>')
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius * 0.62:g}" class="t-tile"/>')
        parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius * 0.34:g}" class="t-{colour}"/>')
    return "".join(parts)


def _bamboo(number: int) -> str:
    if number == 0:
        return _BIRD
    red = _RED_STICKS.get(number, ())
    return "".join(_stick(*stick, "red" if place in red else "green") for place, stick in enumerate(_STICKS[number]))


def _stick(x: float, y: float, half: float, lean: float, colour: str) -> str:
    gap = 1.6
    at = gap / half
    ends = ((-1, -at), (at, 1))
    lines = "".join(f"M{x + a * lean:g} {y + a * half:g}L{x + b * lean:g} {y + b * half:g}" for a, b in ends)
    return f'<path d="{lines}" class="t-line t-l{colour}" stroke-width="3.5"/>'
