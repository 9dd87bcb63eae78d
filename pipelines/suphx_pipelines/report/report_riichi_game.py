"""The report's sample game: a fold-out for each deal with hands, melds, rivers, result and score changes.

Reads what riichi_sample_game.py leaves, and links the pages of the best and the worst games of the last match.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from suphx.games.riichi.records.decisions import kyoku_name
from suphx.games.riichi.table import CALLED_FLAG, RIICHI_FLAG, TSUMOGIRI_FLAG
from suphx_pipelines.charts.riichi_tiles import BACK, tile, tiles
from suphx_pipelines.report import report_page
from suphx_pipelines.report.report_page import difference, number
from suphx_platform.console.table_text import count_text

_PLACES = ("1st", "2nd", "3rd", "4th")
WINDS = ("East", "South", "West", "North")
_NOTE = (
    "Each deal opens with a click: the final hands, and under each hand what that seat discarded, in order. A turned "
    "tile is the riichi discard, a darker one was discarded as drawn, a pale one was called by another player."
)


def deal_names(kyokus: Iterable[int], honbas: Iterable[int]) -> list[str]:
    """Return the names of deals, such as ``East 1``."""
    return list(map(kyoku_name, kyokus, honbas))


def section(game: Mapping[str, Any], page: str, match_games: Mapping[str, Any] | None = None) -> str:
    """Return the section, with a link to the game's ``page`` in the report's folder; empty without a game.

    ``match_games``: for ``match_links``.
    """
    if not game.get("deals"):
        return ""
    names = game["names"]
    body = report_page.paragraph(_sentence(game))
    body += report_page.link("Watch it step by step, with the nets' probabilities at each decision", page)
    body += match_links(match_games or {})
    body += report_page.paragraph(_NOTE, is_soft=True)
    return body + "".join(_deal(deal, names, is_open=place == 0) for place, deal in enumerate(game["deals"]))


def match_links(shown: Mapping[str, Any], *, has_links: bool = True) -> str:
    """Return links to the pages of the best and the worst games of a match, all in the report's folder.

    ``shown``: ``{"opponent", "hanchans", "games": what riichi_games.py returns}``; empty without games. Without
    links the files are named.
    """
    if not shown.get("games"):
        return ""
    text = f"The best and the worst games of the last match against {shown['opponent']}"
    text += f" ({count_text(shown['hanchans'], 'hanchan')}), with the nets' probabilities at their own decisions:"
    lines = [_game_line(game, has_links=has_links) for game in shown["games"]]
    return report_page.paragraph(text) + "".join(lines)


def _game_line(game: Mapping[str, Any], *, has_links: bool) -> str:
    text = _game_text(game)
    if has_links:
        return report_page.link(text, game["page"])
    return report_page.paragraph(f"{text}: open {game['page']} beside this page.")


def _game_text(game: Mapping[str, Any]) -> str:
    """Return ``One of the best games: 1st with 52,300 points``."""
    results = [
        f"{_PLACES[place - 1]} with {number(points)} points"
        for place, points in zip(game["places"], game["points"], strict=True)
    ]
    return f"One of the {game['kind']} games: {' and '.join(results)}"


def _sentence(game: Mapping[str, Any]) -> str:
    names = game["names"]
    text = f"One game of the nets that this run made last: {count_text(len(game['deals']), 'deal')}. "
    text += f"At the start {_listed(names)} sit at {_listed(WINDS)}."
    if game["final_scores"] is None:
        return text
    order = sorted(range(len(names)), key=lambda seat: -game["final_scores"][seat])
    return (
        text
        + " Final scores: "
        + ", ".join(f"{names[seat]} {number(game['final_scores'][seat])}" for seat in order)
        + "."
    )


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} and {words[-1]}"


def _deal(deal: Mapping[str, Any], names: Sequence[str], *, is_open: bool) -> str:
    seats = "".join(_seat(deal, seat, name) for seat, name in enumerate(names))
    note = f"Riichi sticks on the table: {deal['sticks']}."
    sticks = report_page.paragraph(note, is_soft=True) if deal["sticks"] else ""
    ura = f"<span>&emsp;ura dora indicators&nbsp;</span>{tiles(deal['ura'])}" if deal["ura"] else ""
    dora = f'<div class="hand soft"><span>Dora indicators&nbsp;</span>{tiles(deal["dora"])}{ura}</div>'
    summary = f"<b>{report_page.escape(deal['name'])}</b><span class=soft>{report_page.escape(deal['result'])}</span>"
    return (
        f'<details class="deal"{" open" if is_open else ""}><summary>{summary}</summary>{dora}'
        f'{sticks}<div class="table4">{seats}</div></details>\n'
    )


def _seat(deal: Mapping[str, Any], seat: int, name: str) -> str:
    held, change = deal["seats"][seat], deal["deltas"][seat]
    wind = WINDS[(seat - deal["dealer"]) % len(WINDS)]
    kind = "up" if change > 0 else "down" if change < 0 else ""
    changed = f'<span class="{kind}">{difference(change, 0)}</span>' if change else ""
    riichi = "<span>riichi</span>" if held["has_riichi"] else ""
    title = (
        f"{report_page.escape(name)} <span>{wind}</span><span>{number(deal['scores'][seat])}</span>{changed}{riichi}"
    )
    won = tile(held["won_with"], "won") if held["won_with"] is not None else ""
    melds = "".join(_meld(meld) for meld in held["melds"])
    hand = f'<div class="hand">{tiles(held["hand"])}{won}{melds}</div>'
    river = "".join(tile(face, _discard_kind(flags)) for face, flags in held["river"])
    return f'<div class="seat"><h4>{title}</h4>{hand}<div class="river">{river}</div></div>'


def _meld(meld: Mapping[str, Any]) -> str:
    faces = [BACK, *meld["faces"][1:3], BACK] if meld["is_hidden"] else meld["faces"]
    drawn = "".join(tile(face, "taken" if place == meld["taken"] else "") for place, face in enumerate(faces))
    return f'<span class="meld">{drawn}</span>'


def _discard_kind(flags: int) -> str:
    kinds = {RIICHI_FLAG: "taken", TSUMOGIRI_FLAG: "drawn", CALLED_FLAG: "called"}
    return " ".join(kind for flag, kind in kinds.items() if flags & flag)
