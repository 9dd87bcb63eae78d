"""The parts of a page: scripts, styles and words in files, put together so that the page runs nothing else.

Values come from strangers: they are JSON that contains no ``<``, scripts write text only, and the content security
policy of a page allows no script and no style but its own.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

VIEWER = "suphx_pipelines.viewer"
LANGUAGES = ("en", "de", "ja")


def page_file(package: str, name: str) -> str:
    """Return the text of ``page/<name>`` in ``package``."""
    return files(package).joinpath("page", *name.split("/")).read_text(encoding="utf-8")


def page_words(package: str, *, folder: str = "words") -> dict[str, dict[str, Any]]:
    """Return the words of a page by language, from ``page/<folder>``."""
    return {language: json.loads(page_file(package, f"{folder}/{language}.json")) for language in LANGUAGES}


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
