"""One self-contained HTML page that shows a game step by step, from what ``viewer_game`` returns.

The page loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from suphx.games.registry import DEFAULT_GAME
from suphx.json_text import parse_json

VIEWER, PLAY = "suphx_pipelines.viewer", "suphx_pipelines.play"
"""The packages with the folder ``page``."""
LANGUAGES = ("en", "de", "ja")


def page_file(package: str, name: str) -> str:
    """Return the text of ``page/<name>`` in ``package``."""
    return files(package).joinpath("page", *name.split("/")).read_text(encoding="utf-8")


def page_words(package: str, *, folder: str = "words") -> dict[str, dict[str, Any]]:
    """Return the words of a page by language, from ``page/<folder>``."""
    return {language: parse_json(page_file(package, f"{folder}/{language}.json")) for language in LANGUAGES}


def page_json(values: Mapping[str, Any]) -> str:
    """Return JSON that cannot end the element it is in."""
    text = json.dumps(values, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def filled_page(
    name: str,
    title: str,
    *,
    scripts: Sequence[str],
    style: str,
    symbols: str,
    values: Mapping[str, Any],
    more: str = "",
) -> str:
    """Return the page of the template ``name``, whose names no other script sees; ``title`` may be any text.

    ``values``: plain ones for the scripts. ``more``: what the content security policy allows beside script and style.
    """
    script = '(() => {\n"use strict";\n' + "\n".join(scripts) + "})();\n"
    allowed = [f"script-src {_digest(script)}", f"style-src {_digest(style)}", *([more] if more else [])]
    parts = {
        "policy": f"default-src 'none'; {'; '.join(allowed)}; base-uri 'none'",
        "style": style,
        "symbols": symbols,
        "data": page_json(values),
        "script": script,
    }
    template = _templates().get_template(f"{name}.html.jinja")
    return template.render(title=title, **values, **{part: Markup(text) for part, text in parts.items()})


@cache
def _templates() -> Environment:
    loader = ChoiceLoader([PackageLoader(package, "page") for package in (VIEWER, PLAY)])
    style: dict[str, Any] = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, **style)


def _digest(text: str) -> str:
    """Return the source expression that allows exactly this inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


SCRIPTS_BEFORE = ("dom", "words", "game")
"""Scripts of the page of any game that come before those of the game."""
SCRIPTS_AFTER = ("opinion", "settings", "panels", "lists", "controls", "main")
"""Those that come after; they call the functions of the game's scripts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameView:
    """One game on the page."""

    name: str
    """Key of the registry."""
    folders: tuple[str, ...]
    """In ``page/``: the first has style and drawings; all have words, and a later folder overrides an earlier one."""
    scripts: tuple[str, ...]
    """FOLDER/NAME of the game's scripts; each uses those before it."""
    has_ids: bool = False
    """Its records are found by ids, also in archives; else by their numbers in a file."""
    has_table: bool = False
    """``suphx play`` has a page and a terminal for it (play/server.py); else it is played by its text."""

    def script(self, name: str) -> str:
        """Return one of the game's scripts."""
        folder, file = name.split("/")
        return page_file(VIEWER, f"{folder}/script/{file}.js")

    def page_scripts(self) -> list[str]:
        """Return all scripts of the viewer's page in order."""
        before, after = ([shared_script(name) for name in names] for names in (SCRIPTS_BEFORE, SCRIPTS_AFTER))
        return [*before, *map(self.script, self.scripts), *after]

    def style(self) -> str:
        """Return the style of the page."""
        return "".join(page_file(VIEWER, name) for name in ("pieces.css", "viewer.css", f"{self.folders[0]}/style.css"))

    def symbols(self) -> str:
        """Return the SVG symbols of all pieces; they need no font."""
        return page_file(VIEWER, f"{self.folders[0]}/pieces.svg")

    def words(self) -> dict[str, dict[str, Any]]:
        """Return the words by language: those of any game, and those of this one, which hold where both have one."""
        found = page_words(VIEWER)
        for folder in self.folders:
            for language, own in page_words(VIEWER, folder=f"{folder}/words").items():
                shared = found[language]
                found[language] = shared | own | {kind: shared[kind] | own[kind] for kind in ("words", "keys")}
        return found

    def play_words(self) -> dict[str, dict[str, Any]]:
        """Return the words of the page of ``suphx play``: the viewer's, and its own."""
        own = page_words(PLAY)
        return {
            language: {**viewer, "words": {**viewer["words"], **own[language]["words"]}, "keys": own[language]["keys"]}
            for language, viewer in self.words().items()
        }


_HAND_SCRIPTS = ("mahjong/tiles", "hand/names", "mahjong/table", "hand/middle", "mahjong/step_text", "hand/side")
_RIICHI_SCRIPTS = (
    *("mahjong/tiles", "riichi/names", "mahjong/table", "riichi/middle", "mahjong/step_text"),
    *("riichi/result", "riichi/moves", "riichi/side"),
)
_CARD_SCRIPTS = ("names", "cards", "table", "step_text", "result", "moves", "side")
VIEWS = {
    view.name: view
    for view in (
        GameView(
            name="riichi",
            folders=("mahjong", "riichi"),
            scripts=_RIICHI_SCRIPTS,
            has_ids=True,
            has_table=True,
        ),
        GameView(name="dazhong", folders=("mahjong", "hand"), scripts=_HAND_SCRIPTS),
        GameView(name="mcr", folders=("mahjong", "hand"), scripts=_HAND_SCRIPTS),
        GameView(name="doudizhu", folders=("doudizhu",), scripts=tuple(f"doudizhu/{name}" for name in _CARD_SCRIPTS)),
    )
}
"""The games that have a page of their own, by name."""


def shared_script(name: str) -> str:
    """Return one of the scripts that the page of any game has."""
    return page_file(VIEWER, f"script/{name}.js")


PAGE_FILE = "game.html"
"""How stages call the page of their game."""


def viewer_page(game: Mapping[str, Any], *, title: str, seat: int = 0) -> str:
    """Return the page of a game, seen from ``seat`` (from 0 on) at first; ``title`` may be any text.

    ``game``: what the ``viewer_game`` of a game returns; "game" in it names the game, but for riichi.
    """
    view = VIEWS.get(game.get("game", DEFAULT_GAME))
    if view is None:
        return filled_page("plain", title, scripts=(), style=_PLAIN_STYLE, symbols="", values={"game": game})
    return filled_page(
        "viewer",
        title,
        scripts=view.page_scripts(),
        style=view.style(),
        symbols=view.symbols(),
        values={"game": game, "words": view.words(), "seat": seat},
    )


_PLAIN_STYLE = "body { font-family: sans-serif; margin: 2em } th { text-align: left; vertical-align: top }"
