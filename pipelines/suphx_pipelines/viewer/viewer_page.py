"""One self-contained HTML page that shows a game step by step, from what ``viewer_game`` returns.

The page loads nothing. Names come from records that strangers wrote: the data is JSON that contains no ``<``, scripts
write text only, and the page's content security policy allows no script but ours.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from suphx_pipelines.charts.tile_drawing import tile_style, tile_symbols

LANGUAGES = ("en", "de", "ja")
SCRIPTS = ("dom", "words", "game", "tiles", "table", "panels", "lists", "controls", "main")
"""Names of the page's scripts; each uses those before it."""

_PACKAGE = "suphx_pipelines.viewer"


def viewer_page(game: Mapping[str, Any], *, title: str, seat: int = 0) -> str:
    """Return the page of a game (``viewer_game``), seen from ``seat`` (0-3) at first; ``title`` may be any text."""
    script = '(() => {\n"use strict";\n' + "\n".join(_file(f"script/{name}.js") for name in SCRIPTS) + "})();\n"
    style = tile_style() + _file("viewer.css")
    words = {language: json.loads(_file(f"words/{language}.json")) for language in LANGUAGES}
    parts = {
        "policy": f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; base-uri 'none'",
        "title": html.escape(title),
        "style": style,
        "symbols": tile_symbols(),
        "data": _json({"game": game, "words": words, "seat": seat}),
        "script": script,
    }
    page = _file("viewer.html")
    pieces = page.split("{{")
    return pieces[0] + "".join(parts[name] + rest for name, _, rest in (piece.partition("}}") for piece in pieces[1:]))


def _file(name: str) -> str:
    return files(_PACKAGE).joinpath("page", *name.split("/")).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    """Return the source expression that allows exactly this inline script or style."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _json(values: Mapping[str, Any]) -> str:
    """Return JSON that cannot end the element it is in."""
    text = json.dumps(values, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
