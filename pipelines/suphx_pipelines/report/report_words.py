"""Words of the game and of statistics that a report uses, explained in it: the page has no other page to link to.

The meanings are those of docs/glossary.md.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from suphx_pipelines.report.report_page import escape

_WORDS = {
    "placement": "Place at the end of a game, 1 to 4; lower is better, and 2.5 is the average of equal players.",
    "interval": "The true value lies in a 95 % interval in 95 of 100 cases. If 0 is in it, nobody is clearly better.",
    "hanchan": "One whole game: East and South rounds.",
    "wall": "The shuffled tiles that are drawn. On shared walls each agent plays the same tiles at every seat, so that "
    "a part of the luck cancels.",
    "riichi": "To declare that a closed hand is one tile away from complete: it costs 1,000 points, and the hand no "
    "longer changes.",
    "chow": "To take another player's discard for a run (chi).",
    "pong": "To take another player's discard for three equal tiles (pon).",
    "kong": "Four equal tiles (kan).",
    "deal-in": "To discard the tile with which another player wins, and pay for it.",
    "dora": "Kinds of tiles that are worth a han each, which doubles a small hand. Ura dora are turned over after a "
    "win with riichi.",
    "tenpai": "A hand that is one tile away from complete.",
    "shanten": "Number of tiles to exchange until tenpai; 0 = tenpai.",
    "ukeire": "Tiles that bring a hand closer to tenpai; also the scripted agent that always keeps most of them.",
    "entropy": "How undecided a policy is, in nats; 0 = it always does the same.",
    "calibration": "Whether of the decisions to which a net gives 70 % also 70 % come true.",
}
"""In the order in which they are explained; a word may have an ending in the text."""


def explained(sections: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return ``sections`` (heading, HTML; empty ones stay) with links to their words, and one that explains these."""
    found: set[str] = set()
    shown = []
    for heading, body in sections:
        text = html.unescape(re.sub(r"<[^>]*>", " ", f"{heading} {body}")) if body else ""
        own = [word for word in _WORDS if re.search(rf"\b{word}", text, re.IGNORECASE)]
        found.update(own)
        links = ", ".join(f'<a href="#word-{word}">{word}</a>' for word in own)
        shown.append((heading, f'{body}<p class="soft">Words: {links}</p>\n' if own else body))
    meanings = (
        f'<div class="whole"><dt id="word-{word}">{word}</dt><dd>{escape(meaning)}</dd></div>'
        for word, meaning in _WORDS.items()
        if word in found
    )
    return [*shown, ("Words", f'<dl class="facts">{"".join(meanings)}</dl>\n')] if found else shown
