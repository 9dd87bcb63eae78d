"""Who comes before whom: a table of shares as a picture, with the share in each cell."""

from __future__ import annotations

from collections.abc import Sequence

from suphx_pipelines.charts import svg

_WIDTH, _ROW, _NAMES, _TOP, _LETTER = 400.0, 24.0, 150.0, 20.0, 6.2
_MOST_LETTERS = 21
_FAR = 0.4
"""A share so far from one half has the full colour."""


def pairing_chart(ahead: Sequence[Sequence[int]], names: Sequence[str], label: str) -> str:
    """Return the picture of ``ahead`` [agents][agents]: in how many common games the row came before the column.

    Columns have the numbers of the rows. Empty text for fewer than two agents.
    """
    if len(names) < 2:
        return ""
    size = (_WIDTH - _NAMES) / len(names)
    height = min(_ROW, size)
    parts = []
    for row, name in enumerate(names):
        middle = _TOP + (row + 0.5) * height + 4
        shown = name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}…"
        parts.append(svg.words(0, middle, f"{row + 1}  {shown}", kind="text"))
        parts.append(svg.words(_NAMES + (row + 0.5) * size, _TOP - 6, str(row + 1), "middle"))
        for column, other in enumerate(names):
            won, lost = ahead[row][column], ahead[column][row]
            if row != column and won + lost:
                box = {"x": _NAMES + column * size, "y": _TOP + row * height, "width": size, "height": height}
                hint = f"{name} before {other} in {won:,} of {won + lost:,} games"
                parts += _cell(box, won / (won + lost), hint, has_text=size > 3 * _LETTER)
    return svg.drawing(_WIDTH, _TOP + len(names) * height + 4, parts, label)


def _cell(box: dict[str, float], share: float, hint: str, *, has_text: bool) -> list[str]:
    strength = min(abs(share - 0.5) / _FAR, 1)
    kind = "fill k2" if share > 0.5 else "fill k1"
    parts = [svg.element("rect", svg.hint(hint), **box, class_=kind, fill_opacity=f"{0.85 * strength:.2f}")]
    if has_text:
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2 + 4
        parts.append(svg.words(x, y, f"{100 * share:.0f}", "middle", "cell-text"))
    return parts
