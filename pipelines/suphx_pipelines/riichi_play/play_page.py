"""The page of ``suphx play``: the viewer's table, tiles and words, and a person's hand and moves below it.

The page knows no rule: the server sends what the seat sees and the moves that it may make.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from suphx.games.riichi import MAX_SEED, Rules, tenhou
from suphx_pipelines.viewer.riichi_view import VIEW
from suphx_pipelines.viewer.viewer_page import (
    content_policy,
    fill_page,
    joined_script,
    page_file,
    page_json,
    page_words,
    shared_script,
)

Length = Literal["hanchan", "tonpuu"]
WINDS: dict[Length, int] = {"tonpuu": 1, "hanchan": 2}
"""Planned rounds of a game."""
_MAX_NAME = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayConfig:
    """The settings of the games."""

    agent: str
    """Address of the agent, for the names of its seats."""
    name: str = "Player"
    """Of the person."""
    seed: int | None = None
    """Of the walls of the first game; later games have the numbers after it. None: other walls every time."""
    seat: int = 0
    """Of the person, 0-3; 0 is the first dealer."""
    length: Length = "hanchan"
    out: Path = Path("games")
    """Folder of the records of finished games, and of the moves of unfinished ones."""
    continues: bool = True
    """Go on with games of these settings that an earlier command did not finish."""

    def seed_of_game(self, game: int) -> int | None:
        """Return the seed of the walls of game number ``game`` (from 0 on); None if they are other walls every time."""
        return None if self.seed is None else (self.seed + game) % MAX_SEED

    def rules(self) -> Rules:
        """Return Tenhou's rules for this length."""
        return replace(tenhou(), num_winds=WINDS[self.length])


def seat_names(config: PlayConfig) -> tuple[str, str, str, str]:
    """Return the names by seat: the person, and the agent with a number; of a path only its last part."""
    short = config.agent.rstrip("/").split("/")[-1][:_MAX_NAME]
    names = [f"{short} {number}" for number in range(1, 4)]
    names.insert(config.seat, config.name)
    first, second, third, fourth = names
    return first, second, third, fourth


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
