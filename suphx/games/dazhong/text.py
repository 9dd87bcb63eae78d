"""A hand of Dazhong as people read and type it: in the terminal, and turn by turn on the page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suphx.games.dazhong.records import GAME, HandRecord, positions
from suphx.games.dazhong.table import (
    CLAIM,
    ENDED,
    HAND_TILES,
    MOVES,
    NO_KIND,
    NO_SEAT,
    NUM_KINDS,
    NUM_SEATS,
    OWN_TURN,
    PASS,
    SEAT_NAMES,
    START,
    Rules,
    move_text,
)
from suphx.games.dazhong.tables import DazhongTables
from suphx.games.mahjong.tile import add_meld, join_names, kind_name


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
    """Return recorded hands for the page, which lists their turns; ValueError names the hand with an illegal move."""
    deals = []
    for number, record in enumerate(records, first):
        try:
            deals.append({"number": number, **_deal(record)})
        except ValueError as error:
            raise ValueError(f"hand {number}: {error}") from error
    return {"game": GAME, "names": list(SEAT_NAMES), "agent": None, "deals": deals}


def _deal(record: HandRecord) -> dict[str, Any]:
    """Return a hand, turn by turn: what a seat draws and does, and who claims its discard."""
    tables = positions(record)
    values: dict[str, Any] = {"dealer": SEAT_NAMES[record.dealer], "ting": record.rules.ting}
    for seat, name in enumerate(record.players or [""] * NUM_SEATS):
        hand = sorted(record.wall[HAND_TILES * seat : HAND_TILES * (seat + 1)])
        values[SEAT_NAMES[seat]] = f"{name} {join_names(map(kind_name, hand))}"
    turns: list[list[str]] = []
    for table, move in zip(tables[:-1], record.moves, strict=True):
        has_drawn = table["phase"] == OWN_TURN and table["drawn"] != NO_KIND
        draw = f" draws {kind_name(int(table['drawn']))}" if has_drawn else ""
        if table["phase"] == OWN_TURN or not turns:
            turns.append([])
        if move != PASS:
            turns[-1].append(f"{SEAT_NAMES[table['actor']]}{draw}: {move_text(move)};")
    values |= {f"turn {number}": texts for number, texts in enumerate(turns, 1)}
    return {
        **values,
        "end": end_text(tables[-1]),
        "fan": dict(zip(SEAT_NAMES, tables[-1]["fan"].tolist(), strict=True)),
    }


def _meld(table: np.void, seat: int, place: int) -> str:
    meld_type, kind = int(table["meld_type"][seat, place]), int(table["meld_kind"][seat, place])
    counts = np.zeros(NUM_KINDS, np.int64)
    add_meld(counts, meld_type, kind, 1)
    return f"[{tiles_text(counts)}]"
