"""A recorded game of MCR in memory, and all of its positions, played again by the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from suphx.games.mahjong.hand_record import TableRecord, set_wall
from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import KAKAN_MELD
from suphx.games.mcr.engine import fan_of, punish, start, step, win_circumstances
from suphx.games.mcr.fans import KNITTED_WAITS_2024, MIXED_KONGS, NUM_FANS
from suphx.games.mcr.table import (
    CLAIM,
    DISCARD,
    ENDED,
    HAND_TILES,
    KIND_NAMES,
    KIND_OF_NAME,
    KONG,
    MOVES,
    NO_KIND,
    NO_SEAT,
    NUM_KINDS,
    NUM_SEATS,
    OWN_TURN,
    PASS,
    ROB,
    SEAT_NAMES,
    TABLE,
    WALL_TILES,
    WIN,
    Rules,
)
from suphx.kernel.record import Records

GAME = "mcr"
OUTCOMES = ("wins", "self_drawn", "deal_ins", "decided", "score", "win_fan")
"""Of a seat in a game: 1 or 0, its score, and the fan of its win."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameRecord(TableRecord):
    """A game; its wall is 34 tiles for each seat, which takes them from the end."""

    game = GAME
    title = "game of MCR"
    seat_names = SEAT_NAMES
    new_rules = Rules
    kinds = MappingProxyType(KIND_OF_NAME)
    moves_by_text = MappingProxyType(MOVES)
    step = staticmethod(step)
    id: str = ""
    round_wind: int
    is_wall_known: bool = True
    """False: the tiles that nobody drew are unknown, and have any order here."""
    offender: int | None = None
    """The seat whose illegal reply ended the game."""
    reply: str = ""
    """That reply, if it is known."""
    fan: int | None = None
    """Of the winner, as the record says; None: it does not."""
    score: tuple[int, ...] | None = None
    """Of the seats, as the record says; None: it does not."""
    judged: tuple[tuple[int, int, str], ...] | None = None
    """What a referee has said of complete hands, in the order of the game: fan, seat and ``self``, ``ron`` or ``rob``;
    None: it is not known."""
    seen_by: int | None = None
    """The seat whose requests and replies are all that was recorded; what the others held and drew is made up here."""

    def __post_init__(self) -> None:
        TableRecord.__post_init__(self)
        if not {self.offender, self.seen_by} <= {None, *range(NUM_SEATS)} or not 0 <= self.round_wind < NUM_SEATS:
            seats = f"offender {self.offender}, seen by {self.seen_by}"
            raise ValueError(f"round wind {self.round_wind}, {seats}: seats and winds are 0 to 3")

    def own_values(self) -> dict[str, Any]:
        """Return what the JSON object has besides."""
        return {
            "id": self.id,
            "wind": SEAT_NAMES[self.round_wind],
            "is_wall_known": self.is_wall_known,
            "offender": self.offender,
            "reply": self.reply,
            "fan": self.fan,
            "score": None if self.score is None else list(self.score),
            **({} if self.judged is None else {"judged": [list(value) for value in self.judged]}),
            **({} if self.seen_by is None else {"seen_by": self.seen_by}),
        }

    @classmethod
    def own_fields(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the fields of ``own_values``."""
        score = values["score"]
        seats = {name: values.get(name) for name in ("offender", "seen_by")}
        return {
            "id": str(values["id"]),
            "round_wind": SEAT_NAMES.index(values["wind"]),
            "is_wall_known": bool(values["is_wall_known"]),
            "reply": str(values["reply"]),
            "fan": values["fan"],
            "score": None if score is None else tuple(score),
            "judged": read_judged(values),
            **{name: None if seat is None else int(seat) for name, seat in seats.items()},
        }


def read_judged(values: Mapping[str, Any]) -> tuple[tuple[int, int, str], ...] | None:
    """Return ``judged`` of a JSON object; None if it has none."""
    judged = values.get("judged")
    return None if judged is None else tuple((int(fan), int(seat), str(how)) for fan, seat, how in judged)


def new_tables(num_tables: int, rules: Rules) -> Records:
    """Return empty tables, TABLE (n,), for games with these rules."""
    tables: Records = np.zeros(num_tables, TABLE)
    waits = KNITTED_WAITS_2024 if rules.knitted_straight_waits == "2024" else 0
    tables["options"] = waits | (MIXED_KONGS if rules.mixed_kongs else 0)
    tables["minimum_fan"] = rules.minimum_fan
    return tables


def start_game(rules: Rules, round_wind: int, wall: Sequence[int], seed: int = 0, num_tables: int = 1) -> Records:
    """Return tables of which the first one has a game that begins; ``wall``: 136 kinds."""
    tables = new_tables(num_tables, rules)
    tables[0]["seed"], tables[0]["round_wind"] = seed, round_wind
    set_wall(tables[0], wall)
    start(tables[0], load_suits())
    return tables


def record_of(table: Any, rules: Rules, players: Sequence[str] = (), game_id: str = "") -> GameRecord:
    """Return the record of a game at a table, finished or not."""
    winner, loser, offender = int(table["winner"]), int(table["loser"]), int(table["offender"])
    has_ended, fan = bool(table["phase"] == ENDED), int(table["win_fan"])
    score = tuple(table["score"].tolist())
    is_decided, is_drawn = winner != NO_SEAT, loser == NO_SEAT
    outcomes = tuple(
        (own == winner, own == winner and is_drawn, own == loser, is_decided, score[own], fan if own == winner else 0)
        for own in range(NUM_SEATS)
    )
    return GameRecord(
        rules=rules,
        id=game_id,
        seed=int(table["seed"]),
        round_wind=int(table["round_wind"]),
        wall=tuple((table["wall"] >> 2).tolist()),
        moves=tuple(table["moves"][: table["num_decisions"]].tolist()),
        players=tuple(players),
        offender=None if offender == NO_SEAT else offender,
        fan=fan if winner != NO_SEAT else None,
        score=score if has_ended else None,
        outcomes=outcomes,
    )


def positions(record: GameRecord) -> Records:
    """Return TABLE (moves + 1,): the game before each move, and after the last one and an illegal reply.

    ValueError for an illegal move, and if the fan or the score differ from those that the record has.
    """
    tables = start_game(record.rules, record.round_wind, record.wall, record.seed, len(record.moves) + 1)
    table = record.play(tables)
    if record.offender is not None:
        punish(table, record.offender)
    fan = None if table["winner"] == NO_SEAT else int(table["win_fan"])
    if table["phase"] == ENDED:
        for name, own, found in (("fan", record.fan, fan), ("score", record.score, tuple(table["score"].tolist()))):
            if own is not None and own != found:
                raise ValueError(f"the {name} of the record is {own}, by the rules it is {found}")
    return tables


def winning_fans(table: Any) -> list[tuple[int, int]]:
    """Return the number of each fan that the winner at a table has, with how often it counts; empty without one."""
    winner, kind, found = int(table["winner"]), int(table["win_kind"]), np.zeros(NUM_FANS + 1, np.int8)
    if winner != NO_SEAT:
        own = table.copy()
        own["hand"][winner, kind] -= table["loser"] == NO_SEAT
        fan_of(own, load_suits(), winner, kind, int(table["win_circumstances"]), found)
    return [(int(number), int(found[number])) for number in np.flatnonzero(found)]


def judged_values(record: GameRecord) -> tuple[list[tuple[int, int, str]], int]:
    """Return what a referee says of a game: fan, seat and how, of all who have a complete hand at a tile.

    Also for how many hands it is asked: after a draw for the own one, after a discard and an added kong for the others.
    """
    found, asked = np.zeros(NUM_FANS + 1, np.int8), 0
    values: list[tuple[int, int, str]] = []

    def judge(own: Any, seats: Sequence[int], kind: int, how: str) -> None:
        nonlocal asked
        asked += len(seats)
        bits = win_circumstances(own, kind)
        fans = [(int(fan_of(own, load_suits(), seat, kind, bits, found)), seat, how) for seat in seats]
        values.extend(each for each in fans if each[0])

    for number, table in enumerate(positions(record)[: None if record.offender is None else -1]):
        if table["phase"] != OWN_TURN:
            continue
        turn, own = int(table["turn"]), table.copy()
        others = [seat for seat in range(NUM_SEATS) if seat != turn]
        if table["drawn"] != NO_KIND:
            own["hand"][turn, table["drawn"]] -= 1
            judge(own, [turn], int(table["drawn"]), "self")
        move = record.moves[number] if number < len(record.moves) else WIN
        own = table.copy()
        if move < KONG:
            own["hand"][turn, move - DISCARD] -= 1
            own["drawn"], own["phase"] = NO_KIND, CLAIM
            judge(own, others, move - DISCARD, "ron")
        elif move != WIN and table["hand"][turn, move - KONG] != 4:
            kind = move - KONG
            own["hand"][turn, kind] -= 1
            own["shown"][kind] += 1
            own["phase"] = ROB
            own["meld_type"][turn, own["meld_kind"][turn].tolist().index(kind)] = KAKAN_MELD
            judge(own, others, kind, "rob")
    return values, asked


def complete_walls(taken: Sequence[Sequence[int]], walls: Sequence[int] | None = None) -> list[int]:
    """Return the kinds of four walls from what each seat took in order: 13 tiles, then its draws.

    ``walls``: their 136 kinds if they are known; else all other tiles follow in the order of kinds. ValueError if there
    are more than four of a kind, or if the tiles are not those of ``walls``.
    """
    rest = np.full(NUM_KINDS, 4)
    for own in taken:
        if not HAND_TILES <= len(own) <= WALL_TILES:
            raise ValueError(f"a seat has taken {len(own)} tiles: 13 are dealt, and 21 can be drawn")
        rest -= np.bincount(own, minlength=NUM_KINDS)
    if rest.min() < 0:
        raise ValueError(f"there are more than four {KIND_NAMES[int(rest.argmin())]}")
    if walls is not None:
        for seat, own in enumerate(taken):
            known = list(walls[WALL_TILES * seat : WALL_TILES * (seat + 1)])[::-1][: len(own)]
            if known != list(own):
                raise ValueError(f"the hand or the draws of player {seat} are not those of the walls")
        return list(walls)
    undrawn = iter(np.repeat(np.arange(NUM_KINDS), rest).tolist())
    return [kind for own in taken for kind in [*own, *(next(undrawn) for _ in range(WALL_TILES - len(own)))][::-1]]


def pass_all(table: Any) -> None:
    """Let all who are asked pass."""
    while table["phase"] in (CLAIM, ROB):
        GameRecord.play_move(table, PASS)
