from __future__ import annotations

import re

import pytest

from suphx_pipelines.charts.svg import chart_style

LEAST_CONTRAST = 4.5
"""Of normal text: WCAG 2.2, success criterion 1.4.3."""


def colours(*, is_dark: bool) -> dict[str, str]:
    """Return variable -> colour of the light or the dark scheme."""
    light, dark = (
        dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", block))
        for block in re.findall(r":root \{(.*?)\}", chart_style(), re.DOTALL)
    )
    return light | dark if is_dark else light


def luminance(colour: str) -> float:
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [share / 12.92 if share <= 0.04045 else ((share + 0.055) / 1.055) ** 2.4 for share in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("is_dark", [False, True])
@pytest.mark.parametrize(
    ("text", "bar"), [("on-place", "place0"), ("text", "place1"), ("text", "place2"), ("on-place", "place3")]
)
def test_the_text_in_a_bar_of_placements_can_be_read(text: str, bar: str, *, is_dark: bool) -> None:
    found = colours(is_dark=is_dark)
    darker, lighter = sorted(luminance(found[name]) for name in (text, bar))
    assert (lighter + 0.05) / (darker + 0.05) >= LEAST_CONTRAST


def test_the_first_and_the_last_place_have_a_colour_of_text_of_their_own() -> None:
    assert ".chart text.in0, .chart text.in3 { fill: var(--on-place); }" in chart_style()
