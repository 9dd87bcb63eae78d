"""One game as it was dealt and played: taken from a table, replayed by the rules, written as JSON.

>>> record = record_of(simulator.tables[0], simulator.rules)
>>> GameRecord.from_json(record.to_json()) == record
True
>>> replay(record)["winner"]  # ValueError for a move that was not legal

The JSON object of a game has "game", "rules", "hands" (seat -> cards before the first move; the landlord's have the
three bottom cards), "bottom", "moves" (cards or "pass", in the order of turns, the landlord first), "winner",
"bids" ([seat, bid] in the order of the bids, 0 for a pass) of rules with bidding, and "players" (seat -> its player) if
they are known.
"""

from __future__ import annotations

from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from suphx.atomic_file import write_atomically
from suphx.file_tree import files_below
from suphx.games.doudizhu.cards import DECK, PASS_TEXT, cards_text, counts_of, parse_cards
from suphx.games.doudizhu.engine import MAX_BID, start, step
from suphx.games.doudizhu.moves import find_move, list_legal, move_text
from suphx.games.doudizhu.table import (
    GAME_END,
    LANDLORD,
    NO_BID,
    NO_SEAT,
    NUM_SEATS,
    PASS_BID,
    SEAT_NAMES,
    TABLE,
    Rules,
)
from suphx.games.record_tools import json_line
from suphx.json_text import parse_json
from suphx.kernel.record import Records

MAX_GAME_BYTES = 1 << 20
"""Of a line or a text; one with bids, players and all moves has a few thousand."""
Bids: TypeAlias = tuple[tuple[str, int], ...]
"""Seats with their bids, the first bidder first; 0 is a pass."""


def check_bids(bids: Bids, *, is_wanted: bool) -> None:
    """Raise ValueError unless these are the bids of a whole auction that the landlord won, or none are wanted."""
    if not bids and not is_wanted:
        return
    if not is_wanted:
        raise ValueError("there are bids, but the rules have no bidding: set rules.bidding to true")
    shown = ", ".join(f"{seat} {bid}" for seat, bid in bids) or "none"
    first = SEAT_NAMES.index(bids[0][0]) if bids and bids[0][0] in SEAT_NAMES else LANDLORD
    turns = [SEAT_NAMES[(first + turn) % NUM_SEATS] for turn in range(NUM_SEATS)]
    highest, landlord = PASS_BID, None
    for (seat, bid), turn in zip(bids, turns, strict=False):
        is_right = seat == turn and highest < MAX_BID
        if not is_right or (bid != PASS_BID and not highest < bid <= MAX_BID):
            raise ValueError(f"the bids are {shown}: seats bid in turn, 0 (pass) or more than before, up to {MAX_BID}")
        if bid:
            highest, landlord = bid, seat
    is_over = len(bids) == NUM_SEATS or (len(bids) < NUM_SEATS and highest == MAX_BID)
    if not is_over or landlord != SEAT_NAMES[LANDLORD]:
        raise ValueError(f"the bids are {shown}: each seat bids once unless one bids {MAX_BID}, and the landlord most")


def read_bids(values: object) -> Bids:
    """Return the bids of a JSON value; ValueError if it is not a list of seats with whole numbers."""
    pairs: list[Any] = values if isinstance(values, list) else [None]
    if not all(isinstance(pair, list) and list(map(type, pair)) == [str, int] for pair in pairs):
        raise ValueError(f"bids is {values!r:.80}: write a list of a seat and its bid each, such as [['landlord', 3]]")
    return tuple((seat, bid) for seat, bid in pairs)


def bids_of(table: np.void) -> Bids:
    """Return the bids of a TABLE record."""
    if table["first_bidder"] == NO_SEAT:
        return ()
    seats = [(int(table["first_bidder"]) + turn) % NUM_SEATS for turn in range(NUM_SEATS)]
    return tuple((SEAT_NAMES[seat], int(table["bids"][seat])) for seat in seats if table["bids"][seat] != NO_BID)


def set_bids(table: np.void, bids: Bids) -> None:
    """Write ``bids`` to a table whose game has just begun."""
    if not bids:
        return
    for seat, bid in bids:
        table["bids"][SEAT_NAMES.index(seat)] = bid
    table["first_bidder"] = SEAT_NAMES.index(bids[0][0])
    table["stake"] = max(bid for _, bid in bids)


GAME = "doudizhu"
_HAND_SIZES = (20, 17, 17)


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord:
    """A game, perhaps one that was not finished."""

    rules: Rules
    hands: tuple[str, str, str]
    """The cards of each seat before the first move, in ascending order."""
    bottom: str
    """The three public cards, which the landlord has."""
    moves: tuple[str, ...]
    """Cards or "pass", in the order of turns."""
    players: tuple[str, str, str] | None = None
    """Who played at each seat, if that is known."""
    bids: Bids = ()
    """The seats that bid and their bids, in order, 0 for a pass; empty without ``rules.bidding``."""

    def __post_init__(self) -> None:
        check_bids(self.bids, is_wanted=self.rules.bidding)
        packed = [parse_cards(hand) for hand in self.hands]
        sizes = tuple(counts_of(np.array(packed)).sum(axis=1).tolist())
        if sizes != _HAND_SIZES or sum(packed) != DECK:
            raise ValueError(f"the hands {', '.join(self.hands)} are not the deck, dealt as 20, 17 and 17 cards")
        landlord, bottom = counts_of(np.array([packed[LANDLORD], parse_cards(self.bottom)]))
        if bottom.sum() != 3 or (bottom > landlord).any():
            raise ValueError(f"the bottom is {self.bottom}: it is three cards of the landlord, {self.hands[LANDLORD]}")

    @property
    def winner(self) -> str | None:
        """The seat that played its last card; None if nobody has."""
        played = [0] * NUM_SEATS
        for number, move in enumerate(self.moves):
            played[number % NUM_SEATS] += parse_cards(move)
        hands = [parse_cards(hand) for hand in self.hands]
        return next((name for name, had, has in zip(SEAT_NAMES, hands, played, strict=True) if had == has), None)

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object of this game."""
        hands = dict(zip(SEAT_NAMES, self.hands, strict=True))
        values: dict[str, Any] = {"game": GAME, "rules": self.rules.values(), "hands": hands, "bottom": self.bottom}
        values |= {"moves": list(self.moves), "winner": self.winner}
        if self.bids:
            values["bids"] = [list(bid) for bid in self.bids]
        if self.players is not None:
            values["players"] = dict(zip(SEAT_NAMES, self.players, strict=True))
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> GameRecord:
        """Return the game of a JSON object; ValueError says what is wrong with it."""
        try:
            if values["game"] != GAME:
                raise ValueError(f"game is {values['game']!r}: this is not a record of {GAME}")
            players = None
            if "players" in values:
                players = tuple(_player(name, values["players"][name]) for name in SEAT_NAMES)
            record = cls(
                rules=Rules(**values["rules"]),
                hands=tuple(_sorted(values["hands"][name]) for name in SEAT_NAMES),  # type: ignore[arg-type]
                bottom=_sorted(values["bottom"]),
                moves=tuple(_sorted(move) for move in values["moves"]),
                players=players,  # type: ignore[arg-type]
                bids=read_bids(values.get("bids", [])),
            )
        except KeyError as error:
            raise ValueError(f"this is not a record of {GAME}: it has no {error.args[0]}") from error
        except (TypeError, AttributeError) as error:
            raise ValueError(f"this is not a record of {GAME}: {error}") from error
        if values.get("winner", record.winner) != record.winner:
            raise ValueError(f"winner is {values['winner']!r}, but by the moves it is {record.winner!r}")
        return record


def record_of(table: np.void, rules: Rules, players: tuple[str, str, str] | None = None) -> GameRecord:
    """Return the game of a TABLE record, as far as it was played; ``players``: who played at each seat."""
    moves = rules.load_moves()
    numbers = table["moves"][: table["num_moves"]].tolist()
    dealt = (table["hands"] + table["played"]).tolist()
    return GameRecord(
        rules=rules,
        hands=tuple(map(cards_text, dealt)),  # type: ignore[arg-type]
        bottom=cards_text(int(table["bottom"])),
        moves=tuple(move_text(moves, number) for number in numbers),
        players=players,
        bids=bids_of(table),
    )


def seen_by(table: np.void, rules: Rules) -> dict[str, Any]:
    """Return what the seat that is to move at a TABLE record sees, with the words of records, as a JSON object."""
    moves, actor = rules.load_moves(), int(table["actor"])
    values: dict[str, Any] = {
        "game": GAME,
        "rules": rules.values(),
        "seat": SEAT_NAMES[actor],
        "hand": cards_text(int(table["hands"][actor])),
        "bottom": cards_text(int(table["bottom"])),
        "moves": [move_text(moves, number) for number in table["moves"][: table["num_moves"]].tolist()],
    }
    bids = bids_of(table)
    return values | ({"bids": [list(bid) for bid in bids]} if bids else {})


def replay(record: GameRecord) -> Records:
    """Return the table at the end of a record, TABLE records (1,); ValueError names a move that is not legal."""
    return positions(record)[-1:]


def positions(record: GameRecord) -> Records:
    """Return the table before each move of a record and at its end, TABLE records (moves + 1,).

    ValueError names a move that is not legal.
    """
    moves = record.rules.load_moves()
    tables, legal = np.zeros(len(record.moves) + 1, TABLE), np.zeros(moves.num_moves, np.int32)
    table = tables[0]
    table["hands"] = [parse_cards(hand) for hand in record.hands]
    table["bottom"] = parse_cards(record.bottom)
    start(table, moves)
    set_bids(table, record.bids)
    for number, text in enumerate(record.moves):
        seat = SEAT_NAMES[number % NUM_SEATS]
        if table["phase"] == GAME_END:
            raise ValueError(f"move {number + 1}, {seat}: {text} comes after the end of the game")
        move = find_move(moves, text)
        count = list_legal(moves, int(table["hands"][table["actor"]]), int(table["to_beat"]), legal, 0)
        if move not in legal[:count]:
            raise ValueError(f"move {number + 1}, {seat}: {text} is not legal")
        tables[number + 1] = table
        table = tables[number + 1]
        step(table, moves, move)
    return tables


def write_records(path: str | Path, records: Iterable[GameRecord]) -> None:
    """Write games as JSON lines, one game a line, atomically."""
    write_atomically(Path(path), (json_line(record).encode() for record in records))


def read_records(path: str | Path, set_aside: Callable[[str, ValueError], None] | None = None) -> Iterator[GameRecord]:
    """Yield the games of a file of JSON lines.

    ValueError names the file and the line that is not a game; ``set_aside`` gets both instead.
    """
    with Path(path).open("rb") as file:
        for number, line in enumerate(iter(partial(file.readline, MAX_GAME_BYTES + 1), b""), start=1):
            try:
                text = decoded(_bounded(line.removeprefix(BOM_UTF8) if number == 1 else line))
                record = parse_line(text) if text.strip() else None
            except ValueError as error:
                if set_aside is None:
                    raise ValueError(f"{path}, line {number}: {error}") from error
                set_aside(f"{path}, line {number}", error)
                record = None
            if record is not None:
                yield record


def _bounded(data: bytes) -> bytes:
    """Return the bytes of a game; ValueError if they are too many."""
    if len(data) > MAX_GAME_BYTES:
        raise ValueError(f"this is longer than {MAX_GAME_BYTES:,} bytes, the limit for one game")
    return data


def decoded(data: bytes) -> str:
    """Return the text of a file or a line; ValueError names the byte that is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"this is not text in UTF-8: byte {error.start + 1} is {data[error.start]:#04x}") from error


def parse_line(line: str) -> GameRecord:
    """Return the game of a line of JSON; ValueError says what is wrong with it."""
    try:
        values = parse_json(line)
    except ValueError as error:
        raise ValueError(f"this is not JSON ({error}): it is damaged or cut off") from error
    return GameRecord.from_json(values)


def _player(seat: str, name: object) -> str:
    """Return the name of a player; ValueError if it is not a text, or one that cannot be written."""
    try:
        if isinstance(name, str):
            name.encode()
            return name
    except UnicodeEncodeError:  # halves of surrogate pairs
        pass
    raise ValueError(f"the player of {seat} is {name!r:.40}: write a name as text")


def _sorted(text: str) -> str:
    return cards_text(parse_cards(text))


_NAMES = (*SEAT_NAMES, "bottom")
_BIDS = "bids"
_MOVES = "moves:"


def record_text(record: GameRecord) -> str:
    """Return the text of a game; the rules are not part of it."""
    lines = [f"{name}: {cards}" for name, cards in zip(_NAMES, (*record.hands, record.bottom), strict=True)]
    if record.bids:
        lines.append(f"{_BIDS}: {', '.join(f'{seat} {bid or PASS_TEXT}' for seat, bid in record.bids)}")
    rounds = range(0, len(record.moves), NUM_SEATS)
    return "\n".join([*lines, _MOVES, *(" ".join(record.moves[first : first + NUM_SEATS]) for first in rounds)]) + "\n"


def parse_record(text: str, rules: Rules | None = None) -> GameRecord:
    """Return the game of a text, played by ``rules`` (None: the defaults), with bidding if it has bids.

    ValueError says what is wrong with it.
    """
    head, mark, moves = text.partition(_MOVES)
    lines = (line.split(":", 1) for line in head.splitlines() if ":" in line)
    cards = {name.strip().lower(): text for name, text in lines}
    missing = [name for name in _NAMES if name not in cards]
    if missing or not mark:
        raise ValueError(f"this text has no line {(missing or [_MOVES])[0]!r}: docs/doudizhu.md shows a game as text")
    hands = [cards_text(parse_cards(cards[name].strip())) for name in _NAMES]
    pairs = [each.split() for each in cards[_BIDS].split(",")] if _BIDS in cards else []
    if not all(len(pair) == 2 and (pair[1] == PASS_TEXT or pair[1].isdecimal()) for pair in pairs):
        raise ValueError(f"the bids are {cards[_BIDS].strip()!r}: write such as 'landlord_up {PASS_TEXT}, landlord 2'")
    bids = tuple((seat, PASS_BID if bid == PASS_TEXT else int(bid)) for seat, bid in pairs)
    return GameRecord(
        rules=replace(rules or Rules(), bidding=True) if bids else rules or Rules(),
        hands=(hands[0], hands[1], hands[2]),
        bottom=hands[3],
        moves=tuple(cards_text(parse_cards(move)) for move in moves.split()),
        bids=bids,
    )


_SUFFIXES = (".jsonl", ".json", ".txt")
"""Of the files in a folder that are read."""


def find_records(path: Path, set_aside: Callable[[str, ValueError], None] | None = None) -> Iterator[GameRecord]:
    """Yield the games of a file or a folder, file by file in order.

    ValueError names the file that is not a record; ``set_aside`` gets both instead.
    """
    if path.is_dir():
        files = [file for file in files_below(path) if file.suffix in _SUFFIXES]
        if not files:
            raise ValueError(f"{path} has no records: they end in {', '.join(_SUFFIXES)}")
    else:
        files = [path]
    for file in files:
        try:
            yield from _file_records(file, set_aside)
        except ValueError as error:
            if set_aside is None:
                raise
            set_aside(str(file), error)


def _file_records(file: Path, set_aside: Callable[[str, ValueError], None] | None) -> Iterator[GameRecord]:
    with file.open("rb") as opened:
        data = opened.read(MAX_GAME_BYTES + 1).removeprefix(BOM_UTF8)
    if data[:1024].lstrip().startswith(b"{"):
        yield from read_records(file, set_aside)
        return
    try:
        record = parse_record(decoded(_bounded(data)))
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from error
    yield record
