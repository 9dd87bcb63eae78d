"""How agents play: a polygon for each on common axes from the middle outwards."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from suphx_pipelines.charts import svg

_WIDTH, _HEIGHT, _RADIUS = 400.0, 270.0, 95.0
_RINGS = (0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoke:
    """One axis: ``inner`` is the value in the middle of the picture, ``outer`` the one at its edge."""

    name: str
    inner: float
    outer: float

    def at(self, value: float) -> float:
        """Return 0 (middle) to 1 (edge)."""
        return min(max((value - self.inner) / (self.outer - self.inner), 0.0), 1.0)


def radar_chart(spokes: Sequence[Spoke], agents: Sequence[tuple[str, Sequence[float]]], label: str) -> str:
    """Return the picture of ``agents``: name and a value for each spoke; values that are not a number count as inner.

    Empty text without agents. The colour of agent i is that of the CSS class ``k<i>``.
    """
    if not agents:
        return ""
    parts = [svg.path(_polygon([ring] * len(spokes)), "grid") for ring in _RINGS]
    for number, spoke in enumerate(spokes):
        end = _point(number, len(spokes), 1.0)
        parts.append(svg.path([_point(0, 1, 0.0), end], "grid"))
        x, y = _point(number, len(spokes), 1.12)
        anchor = "middle" if abs(x - _WIDTH / 2) < 10 else "start" if x > _WIDTH / 2 else "end"
        parts.append(svg.words(x, y + 4, spoke.name, anchor))
    for number, (name, values) in enumerate(agents):
        reach = [0.0 if math.isnan(value) else spoke.at(value) for spoke, value in zip(spokes, values, strict=True)]
        line = svg.path(_polygon(reach), f"line k{number}")
        parts.append(svg.element("g", svg.hint(name) + line))
    return svg.drawing(_WIDTH, _HEIGHT, parts, label)


def _polygon(reach: Sequence[float]) -> list[tuple[float, float]]:
    points = [_point(number, len(reach), value) for number, value in enumerate(reach)]
    return [*points, points[0]]


def _point(number: int, count: int, reach: float) -> tuple[float, float]:
    angle = 2 * math.pi * number / count - math.pi / 2
    return _WIDTH / 2 + _RADIUS * reach * math.cos(angle), _HEIGHT / 2 + 6 + _RADIUS * reach * math.sin(angle)
