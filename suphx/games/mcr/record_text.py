"""The text form of games that the contests of Botzone publish, games separated by empty lines::

    Match 61602cb45ddc087351c04358
    Wind 1                                      (0 east to 3 north)
    Player 0 Deal T8 B7 …                       (four lines)
    Player 0 Draw J3
    Player 0 Play T6
    Player 1 Chi T5                             (the middle tile)
    Player 2 Peng B9 Ignore Player 1 Chi B8     (claims that lost)
    Player 1 AnGang T4                          (concealed; BuGang: added to a pung; Gang: of a discard)
    Player 1 Hu B2
    Fan 9 混一色*1+箭刻*1+老少副*1
    Score -17 -8 33 -8

A game without a winner ends with ``Huang``, one with an illegal reply with its score alone. The text does not have the
tiles that nobody drew; a record that was read from it has the other tiles in their places, in the order of kinds.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from suphx.games.mcr.engine import ERROR_SCORE, ERROR_SHARE
from suphx.games.mcr.fans import FANS
from suphx.games.mcr.record import (
    GameRecord,
    complete_walls,
    pass_all,
    positions,
    start_game,
    winning_fans,
)
from suphx.games.mcr.table import (
    CHOW,
    CLAIM,
    DISCARD,
    ENDED,
    HAND_TILES,
    KIND_NAMES,
    KIND_OF_NAME,
    KONG,
    NO_SEAT,
    NUM_KINDS,
    NUM_SEATS,
    OWN_TURN,
    PASS,
    PUNG,
    ROB,
    WALL_TILES,
    WIN,
    Rules,
)


def claim_word(move: int, claimed: int) -> str:
    """Return the claim of a tile, or a win with it, as the text form writes it: ``Chi T5``."""
    if CHOW <= move < PUNG:
        return f"Chi {KIND_NAMES[move - CHOW + 1]}"
    return f"{'Hu' if move == WIN else 'Peng' if move == PUNG else 'Gang'} {KIND_NAMES[claimed]}"


def record_text(record: GameRecord) -> str:
    """Return the text form of a game; ValueError as ``positions``."""
    tables = positions(record)
    lines = [f"Match {record.id}", f"Wind {record.round_wind}"]
    for seat in range(NUM_SEATS):
        own = record.wall[WALL_TILES * seat : WALL_TILES * (seat + 1)][: -HAND_TILES - 1 : -1]
        lines.append(f"Player {seat} Deal {' '.join(KIND_NAMES[kind] for kind in own)}")
    lines.append(f"Player 0 Draw {KIND_NAMES[tables[0]['drawn']]}")
    for before, after, move in zip(tables[:-1], tables[1:], record.moves, strict=True):
        lines += _event_lines(before, after, move)
    end = tables[-1]
    if end["winner"] != NO_SEAT:
        names = "+".join(f"{FANS[number - 1][1]}*{count}" for number, count in winning_fans(end))
        lines.append(f"Fan {end['win_fan']} {names}")
    elif end["phase"] == ENDED and record.offender is None:
        lines.append("Huang")
    if end["phase"] == ENDED:
        lines.append(f"Score {' '.join(map(str, end['score']))}")
    return "".join(f"{line}\n" for line in lines)


def _event_lines(before: Any, after: Any, move: int) -> list[str]:
    """Return the lines of a move, of the claims that it settles, and of the draw that follows."""
    lines, seat = [], int(before["turn"])
    if before["phase"] == OWN_TURN:
        kind = move % NUM_KINDS
        if move == WIN:
            lines.append(f"Player {seat} Hu {KIND_NAMES[before['drawn']]}")
        elif move >= KONG:
            lines.append(
                f"Player {seat} {'AnGang' if before['hand'][seat, kind] == 4 else 'BuGang'} {KIND_NAMES[kind]}"
            )
        else:
            lines.append(f"Player {seat} Play {KIND_NAMES[kind]}")
    elif after["phase"] in (OWN_TURN, ENDED):
        order = [(seat + step) % NUM_SEATS for step in range(1, NUM_SEATS)]
        claims = {s: claim_word(int(a), int(before["claimed"])) for s in order if (a := after["answers"][s]) != PASS}
        got = (
            int(after["winner"])
            if after["winner"] != NO_SEAT
            else int((after["num_melds"] - before["num_melds"]).argmax())
        )
        if claims:
            lost = "".join(f" Ignore Player {s} {claim}" for s, claim in claims.items() if s != got)
            lines.append(f"Player {got} {claims[got]}{lost}")
    if after["wall_left"].sum() < before["wall_left"].sum():
        lines.append(f"Player {after['turn']} Draw {KIND_NAMES[after['drawn']]}")
    return lines


_EVENT = re.compile(r"player (\d) (deal|draw|play|chi|peng|gang|angang|bugang|hu)((?: [WTBFJ]\d)*)", re.IGNORECASE)
Event = tuple[int, str, tuple[int, ...]]
"""A seat, a word in lower case, and the kinds after it."""


def parse_text(text: str, walls: Sequence[int] | None = None, rules: Rules | None = None) -> GameRecord:
    """Return the game of a text; ``walls``: the 136 kinds if they are known from elsewhere.

    ValueError for another text, for moves that are not legal, and for hands or draws that are not those of the walls.
    """
    try:
        return _parsed(text, walls, rules or Rules())
    except (KeyError, IndexError, OverflowError) as error:
        raise ValueError(f"this is not a game of MCR: {error!r} is missing or wrong") from error


def _parsed(text: str, walls: Sequence[int] | None, rules: Rules) -> GameRecord:
    values: dict[str, str] = {}
    lines: list[list[Event]] = []
    for line in text.splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "Player":
            found = [(int(s), w.lower(), tuple(KIND_OF_NAME[n] for n in t.split())) for s, w, t in _EVENT.findall(line)]
            if not found or any(seat >= NUM_SEATS for seat, *_ in found):
                raise ValueError(f"{line!r} is not a line of a game")
            lines.append(found)
        elif word:
            values[word] = rest
    if "Wind" not in values:
        raise ValueError("this is not a game of MCR: a line that begins with Wind is missing")
    taken: list[list[int]] = [[] for _ in range(NUM_SEATS)]
    for (seat, word, kinds), *_ in lines:
        if word in ("deal", "draw"):
            taken[seat] += kinds
    wall = complete_walls(taken, walls)
    tables = start_game(rules, int(values["Wind"]), wall)
    for events in lines:
        if events[0][1] != "deal":
            _play_event(tables[0], events)
    score = tuple(map(int, values["Score"].split())) if "Score" in values else None
    is_error = score is not None and min(score) == ERROR_SCORE and max(score) == ERROR_SHARE
    if "Huang" in values:
        pass_all(tables[0])
    return GameRecord(
        rules=rules,
        id=values.get("Match", ""),
        round_wind=int(values["Wind"]),
        wall=tuple(wall),
        is_wall_known=walls is not None,
        moves=tuple(tables[0]["moves"][: tables[0]["num_decisions"]].tolist()),
        offender=score.index(ERROR_SCORE) if score is not None and is_error else None,
        fan=int(values["Fan"].split()[0]) if "Fan" in values else None,
        score=score,
    )


def _play_event(table: Any, events: Sequence[Event]) -> None:
    """Play an event, with the claims that lost against it; ValueError if it is not legal."""
    seat, word, kinds = events[0]
    if word == "draw":
        pass_all(table)
        if table["phase"] != OWN_TURN or (int(table["turn"]), int(table["drawn"])) != (seat, kinds[0]):
            raise ValueError(f"player {seat} does not draw {KIND_NAMES[kinds[0]]} after move {table['num_decisions']}")
    elif table["phase"] in (CLAIM, ROB):
        answers = {other: _claim_move(table, what, own) for other, what, own in events}
        while table["phase"] in (CLAIM, ROB):
            other = int(table["actor"])
            answer = answers.pop(other, PASS)
            GameRecord.play_move(table, answer if other == seat or table["legal"][answer] else PASS)
        if seat in answers:
            raise ValueError(f"player {seat} cannot {word} after move {table['num_decisions']}")
    else:
        moves = {"play": DISCARD, "angang": KONG, "bugang": KONG, "hu": WIN - kinds[0]}
        if word not in moves or table["actor"] != seat:
            raise ValueError(f"player {seat} cannot {word} after move {table['num_decisions']}")
        GameRecord.play_move(table, moves[word] + kinds[0])


def _claim_move(table: Any, word: str, kinds: Sequence[int]) -> int:
    if word == "chi":
        return CHOW + kinds[0] - 1
    return {"peng": PUNG, "hu": WIN, "gang": KONG + int(table["claimed"])}.get(word, PASS)
