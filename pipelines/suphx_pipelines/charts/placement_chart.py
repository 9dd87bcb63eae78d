"""How often each player came 1st to 4th, as stacked bars, with dashed lines where equal players would be."""

from __future__ import annotations

from collections.abc import Sequence

from suphx_pipelines.charts import svg

WIDTH = 400.0
_EDGE, _BAR, _ROW, _FOOT = 6.0, 24.0, 50.0, 20.0
_FEWEST_FOR_TEXT = 0.07
_QUARTERS = (0.25, 0.5, 0.75)
PLACES = ("1st", "2nd", "3rd", "4th")


def placement_chart(players: Sequence[tuple[str, Sequence[int]]], label: str) -> str:
    """Return the chart of players, each with counts of places; players without games are left out."""
    rows = [(name, [count / sum(counts) for count in counts]) for name, counts in players if sum(counts)]
    if not rows:
        return ""
    width = WIDTH - 2 * _EDGE
    base = _ROW * len(rows)
    parts = []
    for quarter in _QUARTERS:
        text = f"{quarter:.0%}".replace("%", " %")
        parts.append(svg.words(_EDGE + quarter * width, base + 13, text, "middle"))
    for number, (name, shares) in enumerate(rows):
        parts.append(svg.words(_EDGE, _ROW * number + 14, name, kind="strong"))
        parts += _bar(shares, _ROW * number + 20, width)
    return svg.drawing(WIDTH, base + _FOOT, parts, label)


def _bar(shares: Sequence[float], top: float, width: float) -> list[str]:
    parts, texts = [], []
    left = _EDGE
    for place, share in enumerate(shares):
        text = f"{100 * share:.0f} %"
        hint = svg.hint(f"{PLACES[place]}: {100 * share:.1f} %")
        box = {"x": left, "y": top, "width": share * width, "height": _BAR}
        parts.append(svg.element("rect", hint, **box, class_=f"place{place}"))
        if share >= _FEWEST_FOR_TEXT:
            texts.append(svg.words(left + share * width / 2, top + 16, text, "middle", f"on in{place}"))
        left += share * width
    for quarter in _QUARTERS:
        x = _EDGE + quarter * width
        parts.append(svg.path([(x, top - 3), (x, top + _BAR + 3)], "level"))
    return [*parts, *texts]
