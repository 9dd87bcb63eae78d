"""A hand of Dazhong as people read and type it: in the terminal, and step by step on the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suphx.games.dazhong.records import GAME, HandRecord, positions
from suphx.games.dazhong.table import (
    CLAIM,
    DECLARE,
    ENDED,
    KONG,
    MOVES,
    NO_KIND,
    NO_SEAT,
    NUM_KINDS,
    NUM_SEATS,
    OWN_TURN,
    SEAT_NAMES,
    START,
    TING,
    Rules,
    move_text,
)
from suphx.games.dazhong.tables import DazhongTables
from suphx.games.mahjong.tile import add_meld, join_names, kind_name
from suphx.games.mahjong.viewer import shown_steps


class DazhongText:
    """The game in the terminal: tiles are 1-9m (characters), 1-9p (dots), 1-9s (bamboo)."""

    help = (
        "Tiles: 1-9m are characters, 1-9p dots, 1-9s bamboo.",
        "Moves: a tile discards it, 'ting 5m' declares a ready hand and discards it; 'kong 5m', 'chow 345m', 'pung',",
        "'win', 'pass'.",
    )

    def move_text(self, rules: Rules, move: int) -> str:
        """Return a move as people write it."""
        return move_text(move)

    def read_move(self, rules: Rules, text: str) -> int:
        """Return the move that a person typed; ValueError for another text."""
        move = MOVES.get(" ".join(text.lower().split()))
        if move is None:
            raise ValueError(f"{text!r} is no move: type one of those in the list")
        return move

    def seat_lines(self, tables: DazhongTables, index: int, seat: int) -> list[str]:
        """Return what a seat sees at a table, as lines of text: nothing that is hidden from it."""
        t = tables.state[index]
        lines = [f"{t['wall_left']} tiles in the wall"]
        for other in range(NUM_SEATS):
            parts = [f"{SEAT_NAMES[other]}{' (you)' if other == seat else ''}:"]
            parts += ["ready"] * bool(t["ready"][other])
            parts += [_meld(t, other, place) for place in range(t["num_melds"][other])]
            river = [kind_name(int(kind)) for kind in t["river"][other, : t["num_discards"][other]]]
            lines.append(" ".join([*parts, "discards", *river, f"({t['fan'][other]:+d} fan)"]))
        if t["phase"] not in (OWN_TURN, ENDED, START):
            what = "discards" if t["phase"] == CLAIM else "adds to a pung"
            lines.append(f"{SEAT_NAMES[t['turn']]} {what} {kind_name(int(t['claimed']))}")
        is_own_draw = t["drawn"] != NO_KIND and t["turn"] == seat
        drawn = f", drawn {kind_name(int(t['drawn']))}" if is_own_draw else ""
        lines.append(f"Your hand: {tiles_text(t['hand'][seat])}{drawn}")
        if t["phase"] != ENDED and t["actor"] == seat:
            lines.append("Your moves: " + ", ".join(move_text(int(move)) for move in np.flatnonzero(t["legal"])))
        return lines

    def end_lines(self, tables: DazhongTables, index: int) -> list[str]:
        """Return how a hand ended, as lines of text."""
        return [end_text(tables.state[index])]


def tiles_text(counts: np.typing.NDArray[np.integer]) -> str:
    """Return counts by kind as text: ``123m55p``."""
    return join_names(kind_name(kind) for kind in range(NUM_KINDS) for _ in range(counts[kind]))


def end_text(table: np.void) -> str:
    """Return how a hand ended."""
    if table["phase"] != ENDED:
        return "not finished"
    if table["win_kind"] == NO_KIND:
        return "draw: the wall is empty"
    loser = int(table["loser"])
    how = "drawn" if loser == NO_SEAT else f"from {SEAT_NAMES[loser]}"
    winners = [
        f"{SEAT_NAMES[seat]} wins {table['win_fan'][seat]} fan with {tiles_text(table['hand'][seat])}"
        for seat in range(NUM_SEATS)
        if table["win_fan"][seat]
    ]
    return f"{'; '.join(winners)}: {kind_name(int(table['win_kind']))}, {how}"


def viewer_game(records: Sequence[HandRecord], opinions: Any = None, *, first: int = 1) -> dict[str, Any]:
    """Return recorded hands for the page; ValueError names the hand with an illegal move."""
    deals = []
    for number, record in enumerate(records, first):
        try:
            deals.append({"number": number, **_deal(record)})
        except ValueError as error:
            raise ValueError(f"hand {number}: {error}") from error
    return {"game": GAME, "names": list(SEAT_NAMES), "agent": None, "deals": deals}


def _deal(record: HandRecord) -> dict[str, Any]:
    tables = positions(record)
    start, steps = shown_steps(tables, [_told(move) for move in record.moves], _more)
    last = tables[-1]
    won, loser = _winners(last), int(last["loser"])
    wins = [
        {"seat": seat, "loser": seat if loser == NO_SEAT else loser, "face": face, "fan": int(fan), "fans": []}
        for (seat, face), fan in zip(won, last["win_fan"][[seat for seat, _ in won]], strict=True)
    ]
    kind = "win" if wins else "empty wall" if last["phase"] == ENDED else "not finished"
    return {
        "dealer": record.dealer,
        "players": list(record.players) or None,
        "start": start,
        "steps": steps,
        "result": {"kind": kind, "wins": wins},
        "after": last["fan"].tolist(),
    }


def _told(move: int) -> tuple[str, int] | None:
    """Return kind and tile of a move that is a step of its own: a discard, perhaps with ting, or ting alone."""
    if move == DECLARE:
        return "ready", NO_KIND
    return None if move >= KONG else ("ting" if move >= TING else "discard", move % NUM_KINDS)


def _more(table: Any) -> dict[str, Any]:
    more = {
        "scores": table["fan"].tolist(),
        "riichi": table["ready"].tolist(),
        "is_ended": bool(table["phase"] == ENDED),
        "open": [seat for seat, _ in _winners(table)],
    }
    return more | ({"drawn": list(map(list, _winners(table)))} if more["open"] else {})


def _winners(table: Any) -> list[tuple[int, int]]:
    """Return the seats that have won, each with the tile of its win."""
    return [(seat, int(table["win_kind"])) for seat in range(NUM_SEATS) if table["win_fan"][seat]]


def _meld(table: np.void, seat: int, place: int) -> str:
    meld_type, kind = int(table["meld_type"][seat, place]), int(table["meld_kind"][seat, place])
    counts = np.zeros(NUM_KINDS, np.int64)
    add_meld(counts, meld_type, kind, 1)
    return f"[{tiles_text(counts)}]"
