"""One self-contained HTML page that shows a game step by step, from what ``viewer_game`` returns.

The page loads nothing.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from suphx_pipelines.charts.tile_drawing import tile_style, tile_symbols
from suphx_pipelines.viewer.page_parts import (
    VIEWER,
    content_policy,
    fill_page,
    joined_script,
    page_file,
    page_json,
    page_words,
)

SCRIPTS = (
    *("dom", "words", "game", "names", "tiles", "table", "step_text", "result", "opinion", "settings"),
    *("panels", "lists", "controls", "main"),
)
"""Names of the page's scripts; each uses those before it."""


def viewer_page(game: Mapping[str, Any], *, title: str, seat: int = 0) -> str:
    """Return the page of a game (``viewer_game``), seen from ``seat`` (0-3) at first; ``title`` may be any text."""
    script = joined_script([viewer_script(name) for name in SCRIPTS])
    style = viewer_style()
    parts = {
        "policy": content_policy(script, style),
        "title": html.escape(title),
        "style": style,
        "symbols": tile_symbols(),
        "data": page_json({"game": game, "words": page_words(VIEWER), "seat": seat}),
        "script": script,
    }
    return fill_page(page_file(VIEWER, "viewer.html"), parts)


def viewer_script(name: str) -> str:
    """Return one of the page's scripts."""
    return page_file(VIEWER, f"script/{name}.js")


def viewer_style() -> str:
    """Return the page's style, with that of the tiles."""
    return tile_style() + page_file(VIEWER, "viewer.css")
