"""One self-contained HTML page that shows a game step by step, from what ``viewer_game`` returns.

The page loads nothing.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from suphx.games.registry import DEFAULT_GAME
from suphx_pipelines.viewer.game_view import find_view
from suphx_pipelines.viewer.page_parts import VIEWER, content_policy, fill_page, joined_script, page_file, page_json

PAGE_FILE = "game.html"
"""How stages call the page of their game."""


def viewer_page(game: Mapping[str, Any], *, title: str, seat: int = 0) -> str:
    """Return the page of a game, seen from ``seat`` (from 0 on) at first; ``title`` may be any text.

    ``game``: what ``viewer_game`` of riichi, or of a ``CandidateGame``, returns; "game" in it names the game, but
    for riichi.
    """
    view = find_view(game.get("game", DEFAULT_GAME))
    script, style = joined_script(view.page_scripts()), view.style()
    parts = {
        "policy": content_policy(script, style),
        "title": html.escape(title),
        "style": style,
        "symbols": view.symbols(),
        "data": page_json({"game": game, "words": view.words(), "seat": seat}),
        "script": script,
    }
    return fill_page(page_file(VIEWER, "viewer.html"), parts)
