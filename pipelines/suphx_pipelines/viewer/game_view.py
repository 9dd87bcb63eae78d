"""What the viewer's page needs of one game: its scripts, style, words and drawings.

A game has a module ``<name>_view.py`` beside this one with ``VIEW``, and a folder ``page/<name>/``.

>>> find_view("riichi").script("tiles")
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

from suphx.games.registry import find_game
from suphx_pipelines.viewer.page_parts import LANGUAGES, VIEWER, page_file, page_words

SCRIPTS_BEFORE = ("dom", "words", "game")
"""Scripts of the page of any game that come before those of the game."""
SCRIPTS_AFTER = ("opinion", "settings", "panels", "lists", "controls", "main")
"""Those that come after; they call the functions of the game's scripts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameView:
    """One game on the page."""

    name: str
    """Key of the registry, and the folder in ``page/``."""
    scripts: tuple[str, ...]
    """Names of the game's scripts; each uses those before it."""
    symbols: Callable[[], str]
    """Returns the SVG symbols of all pieces."""
    drawing_style: Callable[[], str]
    """Returns the CSS of the symbols."""

    def script(self, name: str) -> str:
        """Return one of the game's scripts."""
        return page_file(VIEWER, f"{self.name}/script/{name}.js")

    def page_scripts(self) -> list[str]:
        """Return all scripts of the viewer's page in order."""
        before, after = ([shared_script(name) for name in names] for names in (SCRIPTS_BEFORE, SCRIPTS_AFTER))
        return [*before, *map(self.script, self.scripts), *after]

    def style(self) -> str:
        """Return the style of the page."""
        return self.drawing_style() + page_file(VIEWER, "viewer.css") + page_file(VIEWER, f"{self.name}/style.css")

    def words(self) -> dict[str, dict[str, Any]]:
        """Return the words by language: those of any game, and those of this one, which come first."""
        shared, own = page_words(VIEWER), page_words(VIEWER, folder=f"{self.name}/words")
        return {language: _joined(shared[language], own[language]) for language in LANGUAGES}


def find_view(game: str) -> GameView:
    """Return the view of a game by its name in the registry; ValueError for an unknown one."""
    module = importlib.import_module(f"suphx_pipelines.viewer.{find_game(game).name}_view")
    return cast("GameView", module.VIEW)


def shared_script(name: str) -> str:
    """Return one of the scripts that the page of any game has."""
    return page_file(VIEWER, f"script/{name}.js")


def _joined(shared: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    joined = {name: {**shared[name], **own[name]} for name in shared}
    return {**own, **joined}
