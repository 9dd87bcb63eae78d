"""How often each player came 1st to 4th, as stacked bars, with dashed lines where equal players would be."""

from __future__ import annotations

from collections.abc import Sequence

from suphx_pipelines import svg

WIDTH = 400.0
_EDGE, _BAR, _ROW, _FOOT = 6.0, 24.0, 50.0, 20.0
_FEWEST_FOR_TEXT = 0.07
PLACES = ("1st", "2nd", "3rd", "4th")


def placement_chart(players: Sequence[tuple[str, Sequence[int]]], label: str) -> str:
    """Return the chart of players, each with counts of places; players without games are left out."""
    rows = [(name, [count / sum(counts) for count in counts]) for name, counts in players if sum(counts)]
    if not rows:
        return ""
    width = WIDTH - 2 * _EDGE
    parts = []
    for number, (name, shares) in enumerate(rows):
        top = _ROW * number
        parts.append(svg.words(_EDGE, top + 14, name, kind="strong"))
        parts += _bar(shares, top + 20, width)
    base = _ROW * len(rows)
    for quarter in (0.25, 0.5, 0.75):
        x = _EDGE + quarter * width
        parts.append(svg.path([(x, 18), (x, base)], "level"))
        parts.append(svg.words(x, base + 13, f"{quarter:.0%}".replace("%", " %"), "middle"))
    return svg.drawing(WIDTH, base + _FOOT, parts, label)


def _bar(shares: Sequence[float], top: float, width: float) -> list[str]:
    parts = []
    left = _EDGE
    for place, share in enumerate(shares):
        text = f"{100 * share:.0f} %"
        hint = svg.hint(f"{PLACES[place]}: {100 * share:.1f} %")
        box = {"x": left, "y": top, "width": share * width, "height": _BAR}
        parts.append(svg.element("rect", hint, **box, class_=f"place{place}"))
        if share >= _FEWEST_FOR_TEXT:
            parts.append(svg.words(left + share * width / 2, top + 16, text, "middle", f"on in{place}"))
        left += share * width
    return parts
