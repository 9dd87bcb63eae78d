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

import json
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from suphx.atomic_file import write_atomically
from suphx.games.doudizhu.cards.card import DECK, cards_text, counts_of, parse_cards
from suphx.games.doudizhu.engine.play import start, step
from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.table import GAME_END, LANDLORD, NUM_SEATS, SEAT_NAMES, TABLE
from suphx.games.doudizhu.moves.legal import list_legal
from suphx.games.doudizhu.moves.move_table import find_move, move_text
from suphx.games.doudizhu.records.bids import Bids, bids_of, check_bids, read_bids, set_bids
from suphx.kernel.record import Records

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
                raise ValueError(f"game is {values['game']!r}: this is no record of {GAME}")
            record = cls(
                rules=Rules(**values["rules"]),
                hands=tuple(_sorted(values["hands"][name]) for name in SEAT_NAMES),  # type: ignore[arg-type]
                bottom=_sorted(values["bottom"]),
                moves=tuple(_sorted(move) for move in values["moves"]),
                players=_players(values["players"]) if "players" in values else None,
                bids=read_bids(values.get("bids", [])),
            )
        except KeyError as error:
            raise ValueError(f"this is no record of {GAME}: it has no {error.args[0]}") from error
        except (TypeError, AttributeError) as error:
            raise ValueError(f"this is no record of {GAME}: {error}") from error
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
    write_atomically(Path(path), ((json.dumps(record.to_json()) + "\n").encode() for record in records))


def read_records(path: str | Path) -> Iterator[GameRecord]:
    """Yield the games of a file of JSON lines; ValueError names the file and the line that is no game."""
    with Path(path).open("rb") as lines:
        for number, line in enumerate(lines, start=1):
            try:
                text = decoded(line.removeprefix(BOM_UTF8) if number == 1 else line)
                record = parse_line(text) if text.strip() else None
            except ValueError as error:
                raise ValueError(f"{path}, line {number}: {error}") from error
            if record is not None:
                yield record


def decoded(data: bytes) -> str:
    """Return the text of a file or a line; ValueError names the byte that is not UTF-8."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"this is not text in UTF-8: byte {error.start + 1} is {data[error.start]:#04x}") from error


def parse_line(line: str) -> GameRecord:
    """Return the game of a line of JSON; ValueError says what is wrong with it."""
    try:
        values = json.loads(line)
    except RecursionError as error:
        raise ValueError(f"this is no record of {GAME}: {error}") from error
    return GameRecord.from_json(values)


def _players(values: Mapping[str, Any]) -> tuple[str, str, str]:
    landlord, down, up = (_player(name, values[name]) for name in SEAT_NAMES)
    return landlord, down, up


def _player(seat: str, name: object) -> str:
    """Return the name of a player; ValueError if it is no text, or one that cannot be written."""
    try:
        if isinstance(name, str):
            name.encode()
            return name
    except UnicodeEncodeError:  # halves of surrogate pairs
        pass
    raise ValueError(f"the player of {seat} is {name!r:.40}: write a name as text")


def _sorted(text: str) -> str:
    return cards_text(parse_cards(text))
