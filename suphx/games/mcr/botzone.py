"""Botzone's JSON: a referee that sends requests and takes replies as Botzone's does, and logs of whole games.

The messages are those of *Chinese-Standard-Mahjong*; each round, all four seats get a request and reply:

    0 0 1                        seat and round wind
    1 0 0 0 0 W1 W5 …            the hand
    2 W7                         an own draw; reply PLAY W7, GANG W1, BUGANG W1 or HU
    3 1 DRAW                     what another seat does; reply PASS
    3 1 PLAY T5                  reply PASS, HU, GANG, PENG W3 or CHI T4 W3 (the own discard comes last)
    3 1 PENG W3, CHI T4 W3, GANG, BUGANG W1

A reply that is not legal ends the game; one that a better claim beats is not examined. A log is the JSON of a match:
``initdata`` with the walls and the round wind, and ``logs``, in turn what the referee sends and what the seats reply.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from suphx.games.mahjong.claims import claimed_meld
from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import add_meld
from suphx.games.mcr.engine import punish, step
from suphx.games.mcr.record import GameRecord, complete_walls, pass_all, positions, start_game
from suphx.games.mcr.table import (
    CHOW,
    CLAIM,
    ENDED,
    HAND_TILES,
    KIND_NAMES,
    KIND_OF_NAME,
    KONG,
    NO_KIND,
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
from suphx.json_text import parse_json

Replies = Sequence[str]
"""By seat."""
_HOW = {"DRAW": "self", "PLAY": "ron", "PENG": "ron", "CHI": "ron", "BUGANG": "rob"}
UNKNOWN_REPLY = "?"
"""Stands for an illegal reply that a record does not have."""


class Referee:
    """Plays one game by messages.

    >>> while not referee.is_over:
    ...     referee.answer([reply_of(seat, request) for seat, request in enumerate(referee.requests())])
    """

    def __init__(self, table: Any, hands: Sequence[Sequence[int]]) -> None:
        """``table``: a game that begins; ``hands``: the 13 kinds of each seat in the order of its wall."""
        self.table = table
        self._hands = hands
        self._num_rounds = 0
        self.told = ""
        """What ``_teller`` has done and all seats are told, such as ``PLAY T5``; empty before a draw."""
        self._teller = NO_SEAT

    @property
    def is_over(self) -> bool:
        """Whether no request follows."""
        return self._num_rounds >= 2 and not self.told and bool(self.table["phase"] == ENDED)

    @property
    def is_turn(self) -> bool:
        """Whether a seat is asked for its own turn after a draw."""
        return self._num_rounds >= 2 and not self.told and not self.is_over

    def requests(self) -> list[str]:
        """Return the request of each seat."""
        if self._num_rounds == 0:
            return [f"0 {seat} {self.table['round_wind']}" for seat in range(NUM_SEATS)]
        if self._num_rounds == 1:
            return [f"1 0 0 0 0 {' '.join(KIND_NAMES[kind] for kind in hand)}" for hand in self._hands]
        if self.told:
            return [f"3 {self._teller} {self.told}"] * NUM_SEATS
        turn, drawn = int(self.table["turn"]), KIND_NAMES[self.table["drawn"]]
        return [f"2 {drawn}" if seat == turn else f"3 {turn} DRAW" for seat in range(NUM_SEATS)]

    def answer(self, replies: Replies) -> None:
        """Take the reply of each seat and play on to the next requests."""
        self._num_rounds += 1
        told, self.told = self.told, ""
        if self._num_rounds <= 2:
            self._expect_pass(replies, range(NUM_SEATS))
        elif not told:
            self._answer_draw(replies, int(self.table["turn"]))
        elif told.startswith(("GANG", "BUGANG")):
            self._answer_kong(replies, can_rob=told.startswith("BUGANG"))
        else:
            self._answer_discard(replies)

    def _expect_pass(self, replies: Replies, seats: Sequence[int]) -> bool:
        """Punish the first of ``seats`` that does not pass; return whether all do."""
        offender = next((seat for seat in seats if replies[seat] != "PASS"), None)
        if offender is not None:
            punish(self.table, offender)
        return offender is None

    def _tell(self, seat: int, told: str) -> None:
        self._teller, self.told = seat, told

    def _answer_draw(self, replies: Replies, turn: int) -> None:
        if not self._expect_pass(replies, range(turn)):
            return
        word, _, name = replies[turn].partition(" ")
        kind = KIND_OF_NAME.get(name, NO_KIND)
        is_fourth = kind != NO_KIND and self.table["hand"][turn, kind] == 4
        move = {"PLAY": kind, "GANG": KONG + kind, "BUGANG": KONG + kind}.get(word, NO_KIND)
        if replies[turn] == "HU":
            move = WIN
        elif kind == NO_KIND or (word != "PLAY" and is_fourth != (word == "GANG")):
            move = NO_KIND
        if move == NO_KIND or not self.table["legal"][move]:
            punish(self.table, turn)
        elif move == WIN or self._expect_pass(replies, range(turn + 1, NUM_SEATS)):
            step(self.table, load_suits(), move)
            if move != WIN:
                self._tell(turn, word if word == "GANG" else f"{word} {name}")

    def _answer_kong(self, replies: Replies, *, can_rob: bool) -> None:
        robbers = _legal_claims(self.table) if can_rob else {}
        for seat in _in_turn(self._teller):
            if replies[seat] == "HU" and seat in robbers:
                self._play_answers({other: WIN for other in robbers if replies[other] == "HU"})
                return
            if not self._expect_pass(replies, [seat]):
                return
        pass_all(self.table)

    def _answer_discard(self, replies: Replies) -> None:
        """Settle claims: wins in turn order, then pungs and kongs, then chows; an illegal one is punished there."""
        table, masks = self.table, _legal_claims(self.table)
        kind = int(table["claimed"])
        claims = {seat: _claim_of(replies[seat], kind, mask) for seat, mask in masks.items()}
        if not self._expect_pass(replies, [self._teller]):
            return
        ways = [[seat for seat in _in_turn(self._teller) if replies[seat] == "HU"]]
        others = [seat for seat in range(NUM_SEATS) if replies[seat] not in ("PASS", "HU")]
        is_chow = {seat: len(replies[seat].split(" ")) == 3 for seat in others}
        ways += [[seat for seat in others if not is_chow[seat]], [seat for seat in others if is_chow[seat]]]
        for seat in (seat for way in ways for seat in way):
            move = claims.get(seat, PASS)
            discard = KIND_OF_NAME.get(replies[seat].split(" ")[-1], NO_KIND)
            if move == PASS or (CHOW <= move <= PUNG and not _can_discard(table["hand"][seat], kind, move, discard)):
                punish(table, seat)
                return
            self._play_answers(claims)
            if CHOW <= move <= PUNG:
                step(table, load_suits(), discard)
            if move != WIN:
                self._tell(seat, replies[seat])
            return
        pass_all(table)

    def _play_answers(self, claims: Mapping[int, int]) -> None:
        """Answer for all seats that are asked."""
        while self.table["phase"] in (CLAIM, ROB):
            step(self.table, load_suits(), claims.get(int(self.table["actor"]), PASS))


def _in_turn(first: int) -> list[int]:
    return [(first + offset) % NUM_SEATS for offset in range(NUM_SEATS)]


def _legal_claims(table: Any) -> dict[int, Any]:
    """Return the legal moves of each seat that is asked for a claim."""
    masks, own = {}, table.copy()
    while own["phase"] in (CLAIM, ROB):
        masks[int(own["actor"])] = own["legal"].copy()
        step(own, load_suits(), PASS)
    return masks


def _claim_of(reply: str, claimed: int, mask: Any) -> int:
    """Return the move of a claim; PASS for one that is not legal."""
    words = reply.split(" ")
    move = {"HU": WIN, "GANG": KONG + claimed, "PENG": PUNG}.get(words[0], PASS)
    if words[0] == "CHI" and len(words) == 3:
        middle = KIND_OF_NAME.get(words[1], NO_KIND)
        move = CHOW + middle - 1 if 0 < middle < PUNG - CHOW else PASS
    is_whole = len(words) == {"PENG": 2, "CHI": 3}.get(words[0], 1)
    return move if is_whole and mask[move] else PASS


def _hand_after(hand: Any, claimed: int, move: int) -> Any:
    counts = hand.copy()
    counts[claimed] += 1
    meld_type, lowest = claimed_meld(claimed, move, CHOW)
    add_meld(counts, meld_type, lowest, -1)
    return counts


def _can_discard(hand: Any, claimed: int, move: int, kind: int) -> bool:
    return kind != NO_KIND and bool(_hand_after(hand, claimed, move)[kind] > 0)


def new_referee(record: GameRecord) -> Referee:
    """Return the referee of a game that begins with the walls of a record."""
    tables = start_game(record.rules, record.round_wind, record.wall, record.seed)
    hands = [record.wall[WALL_TILES * (s + 1) - HAND_TILES : WALL_TILES * (s + 1)][::-1] for s in range(NUM_SEATS)]
    return Referee(tables[0], hands)


def game_log(record: GameRecord) -> dict[str, Any]:
    """Return Botzone's log of a recorded game; ValueError as ``positions``.

    The discards of claims that lost are unknown: they are the first tile that could be discarded.
    """
    end = positions(record)[-1]
    referee, logs = new_referee(record), list[Any]()
    for replies in _recorded_replies(record, end, referee):
        content = {str(seat): request for seat, request in enumerate(referee.requests())}
        logs.append({"output": {"command": "request", "content": content}})
        logs.append({str(seat): {"response": reply, "verdict": "OK"} for seat, reply in enumerate(replies)})
        referee.answer(replies)
    if end["phase"] == ENDED:
        content = {str(seat): score for seat, score in enumerate(end["score"].tolist())}
        logs.append({"output": {"command": "finish", "content": content}})
    values: dict[str, Any] = {"initdata": {"quan": record.round_wind}}
    if record.is_wall_known:
        values["initdata"]["walltiles"] = " ".join(KIND_NAMES[kind] for kind in record.wall)
    rules = {} if record.rules == Rules() else {"rules": asdict(record.rules)}
    return {"_id": record.id, "players": list(record.players), **rules, **values, "logs": logs}


def _recorded_replies(record: GameRecord, end: Any, referee: Referee) -> Iterator[list[str]]:
    """Yield the replies of each round of a recorded game, as long as ``referee`` has requests and moves follow.

    ``end``: the last position. An illegal reply belongs to the draw of its seat, unless it claims something.
    """
    table, number, moves = referee.table, 0, record.moves
    is_claim = record.reply == "GANG" or record.reply.startswith(("PENG", "CHI"))
    is_at_draw = end["turn"] == record.offender and end["drawn"] != NO_KIND and not is_claim
    while not referee.is_over:
        replies = ["PASS"] * NUM_SEATS
        if referee.is_turn:
            if number < len(moves):
                replies[int(table["turn"])] = _own_reply(table, moves[number])
                number += 1
            elif record.offender is None:
                return
            else:
                replies[record.offender] = record.reply or UNKNOWN_REPLY
        elif referee.told:
            own, claims = table.copy(), {}
            while own["phase"] in (CLAIM, ROB) and number < len(moves):
                claims[int(own["actor"])] = moves[number]
                step(own, load_suits(), moves[number])
                number += 1
            has_meld = own["phase"] == OWN_TURN and own["drawn"] == NO_KIND
            for seat, move in claims.items():
                discard = None
                if has_meld and seat == own["turn"] and number < len(moves):
                    discard, number = moves[number], number + 1
                replies[seat] = _claim_reply(table, seat, move, discard)
            if record.offender is not None and number == len(moves) and not is_at_draw:
                replies[record.offender] = record.reply or UNKNOWN_REPLY
        yield replies


def turn_reply(move: int, held: int) -> str:
    """Return a move after a draw as a reply; ``held``: how many tiles of the kind are in the hand."""
    if move == WIN:
        return "HU"
    word = "PLAY" if move < KONG else "GANG" if held == 4 else "BUGANG"
    return f"{word} {KIND_NAMES[move % NUM_KINDS]}"


def claim_reply(move: int, discard: int) -> str:
    """Return a claim as a reply; ``discard``: the kind that follows a chow or pung."""
    if CHOW <= move <= PUNG:
        name = KIND_NAMES[discard]
        return f"PENG {name}" if move == PUNG else f"CHI {KIND_NAMES[move - CHOW + 1]} {name}"
    return "HU" if move == WIN else "PASS" if move == PASS else "GANG"


def _own_reply(table: Any, move: int) -> str:
    return turn_reply(move, 0 if move == WIN else int(table["hand"][table["turn"], move % NUM_KINDS]))


def _claim_reply(table: Any, seat: int, move: int, discard: int | None) -> str:
    """Return a claim as a reply; ``discard``: what follows a chow or pung, None if nobody knows."""
    if CHOW <= move <= PUNG and discard is None:
        discard = int(np.flatnonzero(_hand_after(table["hand"][seat], int(table["claimed"]), move))[0])
    return claim_reply(move, NO_KIND if discard is None else discard)


def parse_log(values: Mapping[str, Any]) -> GameRecord:
    """Return the game of Botzone's log; ValueError if its requests are not those of the rules.

    Without ``walltiles`` the walls are those that the requests show.
    """
    try:
        logs = list(values.get("logs") or values["log"])
        sent = [each.get("output", each)["content"] for each in logs[::2]]
        requests = [[content[str(seat)] for seat in range(NUM_SEATS)] for content in sent]
        replies = [
            [each["response"] if each.get("verdict", "OK") == "OK" else f"[{each['verdict']}]" for each in round_]
            for round_ in ([entry[str(seat)] for seat in range(NUM_SEATS)] for entry in logs[1::2])
        ]
        given = values.get("initdata") or {}
        given = parse_json(given) if isinstance(given, str) else given  # as Botzone's page gets it
        players = [each["name"] if isinstance(each, dict) else each for each in values.get("players", ())]
        walls = [KIND_OF_NAME[name] for name in given["walltiles"].split()] if "walltiles" in given else None
        wall = complete_walls(_taken(requests), walls)
        record = GameRecord(
            rules=Rules(**values.get("rules", {})),
            id=str(values.get("_id", "")),
            round_wind=int(requests[0][0].split()[2]),
            wall=tuple(wall),
            is_wall_known=walls is not None,
            moves=(),
            players=tuple(map(str, players)),
            judged=_judged([each.get("output", each).get("display") for each in logs[::2]]),
        )
        return _played(record, requests, replies)
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        raise ValueError(f"this is not a log of MCR: {error!r} is missing or wrong") from error


def _judged(displays: Sequence[Any]) -> tuple[tuple[int, int, str], ...] | None:
    """Return ``judged`` of what the referee shows of each round; None if it shows no ``canHu``.

    That has the fan of each seat with the tile of the round, or a number below 0: not complete, or not looked at.
    """
    shown = [each for each in displays if each and "canHu" in each]
    judged = [
        (int(fan), seat, _HOW[each["action"]])
        for each in shown
        if each["action"] in _HOW
        for seat, fan in enumerate(each["canHu"])
        if fan >= 0 and (seat == each["player"]) == (each["action"] == "DRAW")
    ]
    return tuple(judged) if shown else None


def _taken(requests: Sequence[Sequence[Any]]) -> list[list[int]]:
    """Return what each seat takes from its wall: the hand, then its draws."""
    taken: list[list[int]] = [[] for _ in range(NUM_SEATS)]
    for round_ in requests:
        for seat, request in enumerate(round_):
            words = str(request).split()
            if words[0] in ("1", "2") and len(words) > 1:
                taken[seat] += [KIND_OF_NAME[name] for name in words[5 if words[0] == "1" else 1 :]]
    return taken


def _played(record: GameRecord, requests: Sequence[Sequence[Any]], replies: Sequence[Replies]) -> GameRecord:
    """Return the record of the game of these rounds, whose moves ``record`` does not have yet."""
    referee = new_referee(record)
    table = referee.table
    for number, (sent, replied) in enumerate(zip(requests, replies, strict=False)):
        if referee.is_over or referee.requests() != list(sent):
            own = "nothing" if referee.is_over else referee.requests()
            raise ValueError(f"round {number + 1}: the requests are {list(sent)}, by the rules they are {own}")
        referee.answer(replied)
    offender = int(table["offender"])
    has_scores = len(requests) > len(replies) and all(isinstance(each, int) for each in requests[-1])
    return replace(
        record,
        moves=tuple(table["moves"][: table["num_decisions"]].tolist()),
        offender=None if offender == NO_SEAT else offender,
        reply="" if offender == NO_SEAT else replies[-1][offender],
        fan=None if table["winner"] == NO_SEAT else int(table["win_fan"]),
        score=tuple(requests[-1]) if has_scores else None,
    )
