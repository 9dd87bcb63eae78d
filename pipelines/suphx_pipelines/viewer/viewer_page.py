"""One self-contained HTML page that shows a game step by step, from what ``viewer_game`` returns.

The page loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from suphx.games.registry import DEFAULT_GAME
from suphx.json_text import parse_json

VIEWER = "suphx_pipelines.viewer"
LANGUAGES = ("en", "de", "ja")


def page_file(package: str, name: str) -> str:
    """Return the text of ``page/<name>`` in ``package``."""
    return files(package).joinpath("page", *name.split("/")).read_text(encoding="utf-8")


def page_words(package: str, *, folder: str = "words") -> dict[str, dict[str, Any]]:
    """Return the words of a page by language, from ``page/<folder>``."""
    return {language: parse_json(page_file(package, f"{folder}/{language}.json")) for language in LANGUAGES}


def joined_script(scripts: Sequence[str]) -> str:
    """Return scripts as one, whose names no other script sees."""
    return '(() => {\n"use strict";\n' + "\n".join(scripts) + "})();\n"


def content_policy(script: str, style: str, *more: str) -> str:
    """Return the content security policy that allows exactly this inline script and style, and ``more``."""
    allowed = (f"script-src {_digest(script)}", f"style-src {_digest(style)}", *more)
    return f"default-src 'none'; {'; '.join(allowed)}; base-uri 'none'"


def page_json(values: Mapping[str, Any]) -> str:
    """Return JSON that cannot end the element it is in."""
    text = json.dumps(values, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def fill_page(page: str, parts: Mapping[str, str]) -> str:
    """Return ``page`` with each ``{{name}}`` replaced by that part; what a part contains is not replaced again."""
    pieces = page.split("{{")
    return pieces[0] + "".join(parts[name] + rest for name, _, rest in (piece.partition("}}") for piece in pieces[1:]))


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
    """Key of the registry, and the folder in ``page/`` with the game's words, style, scripts and pieces."""
    scripts: tuple[str, ...]
    """Names of the game's scripts; each uses those before it."""
    has_ids: bool = False
    """Its records are found by ids, also in archives; else by their numbers in a file."""
    table: str | None = None
    """Module with the game's own table for ``suphx play`` (``play_at_table``); None: it is played by its text."""

    def script(self, name: str) -> str:
        """Return one of the game's scripts."""
        return page_file(VIEWER, f"{self.name}/script/{name}.js")

    def page_scripts(self) -> list[str]:
        """Return all scripts of the viewer's page in order."""
        before, after = ([shared_script(name) for name in names] for names in (SCRIPTS_BEFORE, SCRIPTS_AFTER))
        return [*before, *map(self.script, self.scripts), *after]

    def style(self) -> str:
        """Return the style of the page."""
        return "".join(page_file(VIEWER, name) for name in ("pieces.css", "viewer.css", f"{self.name}/style.css"))

    def symbols(self) -> str:
        """Return the SVG symbols of all pieces; they need no font."""
        return page_file(VIEWER, f"{self.name}/pieces.svg")

    def words(self) -> dict[str, dict[str, Any]]:
        """Return the words by language: those of any game, and those of this one, which come first."""
        shared, own = page_words(VIEWER), page_words(VIEWER, folder=f"{self.name}/words")
        return {language: _joined(shared[language], own[language]) for language in LANGUAGES}


VIEWS = {
    view.name: view
    for view in (
        GameView(
            name="riichi",
            scripts=("names", "tiles", "table", "step_text", "result", "moves", "side"),
            has_ids=True,
            table="suphx_pipelines.play.riichi_server",
        ),
        GameView(
            name="doudizhu",
            scripts=("names", "cards", "table", "step_text", "result", "moves", "side"),
        ),
    )
}
"""The games that have a page of their own, by name."""


def shared_script(name: str) -> str:
    """Return one of the scripts that the page of any game has."""
    return page_file(VIEWER, f"script/{name}.js")


def _joined(shared: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    joined = {name: {**shared[name], **own[name]} for name in shared}
    return {**own, **joined}


PAGE_FILE = "game.html"
"""How stages call the page of their game."""


def viewer_page(game: Mapping[str, Any], *, title: str, seat: int = 0) -> str:
    """Return the page of a game, seen from ``seat`` (from 0 on) at first; ``title`` may be any text.

    ``game``: what ``viewer_game`` of riichi, or of a ``CandidateGame``, returns; "game" in it names the game, but
    for riichi.
    """
    view = VIEWS.get(game.get("game", DEFAULT_GAME))
    if view is None:
        return _plain_page(game, title)
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


_PLAIN_STYLE = "body { font-family: sans-serif; margin: 2em } th { text-align: left; vertical-align: top }"


def _plain_page(game: Mapping[str, Any], title: str) -> str:
    """Return the page of a game without a view of its own: what its deals say, such as the moves, one after another."""
    deals = [
        f"<h2>{number}</h2><table>"
        + "".join(f"<tr><th>{html.escape(name)}</th><td>{_plain(value)}</td></tr>" for name, value in deal.items())
        + "</table>"
        for number, deal in enumerate(game["deals"], 1)
    ]
    policy, escaped = content_policy("", _PLAIN_STYLE), html.escape(title)
    head = f'<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="{policy}">'
    head += f"<title>{escaped}</title><style>{_PLAIN_STYLE}</style>"
    body = f"<h1>{escaped}</h1>{''.join(deals)}"
    return f'<!DOCTYPE html><html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def _plain(value: Any) -> str:
    """Return a value as text: lists with spaces between their values."""
    if isinstance(value, Mapping):
        return ", ".join(f"{html.escape(str(name))} {_plain(own)}" for name, own in value.items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(map(_plain, value))
    return html.escape(str(value))
