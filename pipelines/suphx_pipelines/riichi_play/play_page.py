"""The page of ``suphx play``: the viewer's table, tiles and words, and a person's hand and moves below it.

The page knows no rule: the server sends what the seat sees and the moves that it may make.
"""

from __future__ import annotations

from typing import Any

from suphx_pipelines.viewer.game_view import shared_script
from suphx_pipelines.viewer.page_parts import (
    content_policy,
    fill_page,
    joined_script,
    page_file,
    page_json,
    page_words,
)
from suphx_pipelines.viewer.riichi_view import VIEW

PLAY = "suphx_pipelines.riichi_play"
SHARED_SCRIPTS = ("opinion", "settings")
"""Those for any game, beside ``dom`` and ``words``."""
SCRIPTS = ("hand", "moves", "panels", "pace", "socket", "controls", "main")
"""The page's own, beside ``seat``, which has the place of the viewer's ``game``."""


def play_page(*, host: str, language: str | None = None) -> str:
    """Return the page for a server at ``host`` (name and port); ``language`` at first, None for the browser's."""
    first = [shared_script("dom"), shared_script("words"), page_file(PLAY, "script/seat.js")]
    shared = [*map(VIEW.script, VIEW.scripts), *map(shared_script, SHARED_SCRIPTS)]
    script = joined_script([*first, *shared, *(page_file(PLAY, f"script/{name}.js") for name in SCRIPTS)])
    style = VIEW.style() + page_file(PLAY, "play.css")
    parts = {
        "policy": content_policy(script, style, f"connect-src ws://{host}", "img-src data:"),
        "style": style,
        "symbols": VIEW.symbols(),
        "data": page_json({"words": play_words(), "language": language}),
        "script": script,
    }
    return fill_page(page_file(PLAY, "play.html"), parts)


def play_words() -> dict[str, dict[str, Any]]:
    """Return the words by language: the viewer's, and those that only this page needs."""
    own = page_words(PLAY)
    return {
        language: {**viewer, "words": {**viewer["words"], **own[language]["words"]}, "keys": own[language]["keys"]}
        for language, viewer in VIEW.words().items()
    }
