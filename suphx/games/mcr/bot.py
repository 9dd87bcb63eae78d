"""A player for Botzone as one file of plain Python: it reads requests, keeps what its seat knows, and replies.

The file has the rules and the agents of this platform (suphx/kernel/plain_source.py); ``Player`` and ``main`` run there
only. The table of a player has its own hand and what all see. What is hidden has fixed values that no agent reads:
hands of others are empty, a tile that another seat has drawn is NO_KIND, and a concealed kong of another seat is of the
first kind.
"""

from __future__ import annotations

import json
import os
import select
import sys
import zlib
from typing import Any

from suphx.games.mahjong.shanten import SUITS, Suits
from suphx.games.mahjong.tile import ANKAN_MELD, KAKAN_MELD, PON_MELD
from suphx.games.mcr.agents import choose_scripted
from suphx.games.mcr.botzone import claim_reply, turn_reply
from suphx.games.mcr.engine import claim, draw, lay_claimed, lay_meld, list_claims, wait_for
from suphx.games.mcr.record import new_tables
from suphx.games.mcr.table import (
    CHOW,
    CLAIM,
    HAND_TILES,
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
    TABLE,
    WALL_TILES,
    Rules,
)
from suphx.kernel.plain_source import field_types, fill, new_record, unpack_record

KEEP_RUNNING = ">>>BOTZONE_REQUEST_KEEP_RUNNING<<<"
SUITS_FILE = "suits.bin"
AGENT = 0
"""Place of the scripted agent in AGENTS; the file has another value."""
_RULES = new_tables(1, Rules())[0]
_OPTIONS, _MINIMUM_FAN = int(_RULES["options"]), int(_RULES["minimum_fan"])
_SUITS_FIELDS = field_types(SUITS)


class Player:
    """One seat in one game.

    >>> player.read("2 W7")
    >>> player.reply()
    'PLAY J1'
    """

    def __init__(self, suits: Suits) -> None:
        self._suits = suits
        self._own = 0
        self._has_choice = False
        self._kong_seat = NO_SEAT
        self._reply = ""
        self.table = t = new_record(TABLE)
        t.options, t.minimum_fan = _OPTIONS, _MINIMUM_FAN
        t.drawn = t.claimed = t.win_kind = NO_KIND
        t.loser = t.winner = t.offender = NO_SEAT
        fill(t.river, slice(None), NO_KIND)

    def read(self, request: str, reply: str | None = None) -> None:
        """Take a request; ``reply``: to the request before, None if it is what ``reply`` returned."""
        t, words = self.table, request.split()
        self._reply = self._reply if reply is None else reply
        self._has_choice = False
        if words[0] == "0":
            self._own, t.round_wind = int(words[1]), int(words[2])
        elif words[0] == "1":
            for name in words[5 : 5 + HAND_TILES]:
                t.hand[self._own][KIND_OF_NAME[name]] += 1
            fill(t.wall_left, slice(None), WALL_TILES - HAND_TILES)
        elif words[0] == "2":
            self._draw(self._own, KIND_OF_NAME[words[1]])
        elif words[2] == "DRAW":
            self._draw(int(words[1]), NO_KIND)
        elif words[2] in ("PLAY", "PENG", "CHI"):
            self._play(int(words[1]), words[2:])
        elif words[2] == "GANG":
            self._kong(int(words[1]))
        elif words[2] == "BUGANG":
            self._add_to_pung(int(words[1]), KIND_OF_NAME[words[3]])

    def reply(self) -> str:
        """Return the reply to the last request."""
        t, own, discard = self.table, self._own, NO_KIND
        if not self._has_choice:
            self._reply = "PASS"
        elif t.phase == OWN_TURN:
            move = choose_scripted(t, self._suits, AGENT)
            self._reply = turn_reply(move, t.hand[own][move % NUM_KINDS])
        else:
            move = choose_scripted(t, self._suits, AGENT)
            if CHOW <= move <= PUNG:
                after = t.copy()
                claim(after, self._suits, own, move)
                discard = choose_scripted(after, self._suits, AGENT)
            self._reply = claim_reply(move, discard)
        return self._reply

    def _draw(self, seat: int, kind: int) -> None:
        t = self.table
        if t.claimed != NO_KIND and t.drawn == NO_KIND:
            t.shown[t.claimed] += 1
        after_kong = self._kong_seat == seat
        self._kong_seat = NO_SEAT
        if seat == self._own:
            t.wall[WALL_TILES * seat + t.wall_left[seat] - 1] = 4 * kind
            draw(t, self._suits, seat, after_kong)
            self._has_choice = True
            return
        t.turn, t.drawn, t.claimed, t.after_kong = seat, NO_KIND, NO_KIND, int(after_kong)
        t.wall_left[seat] -= 1
        wait_for(t, OWN_TURN, seat)

    def _play(self, seat: int, words: list[str]) -> None:
        t, kind = self.table, KIND_OF_NAME[words[-1]]
        if words[0] != "PLAY":
            self._lay_claimed(seat, PUNG if words[0] == "PENG" else CHOW + KIND_OF_NAME[words[1]] - 1)
        if seat == self._own:
            t.hand[seat][kind] -= 1
        t.river[seat][t.num_discards[seat]] = kind
        t.num_discards[seat] += 1
        t.turn, t.drawn, t.claimed = seat, NO_KIND, kind
        self._ask(CLAIM)

    def _lay_claimed(self, seat: int, move: int) -> None:
        lay_claimed(self.table, seat, move)
        if seat != self._own:
            fill(self.table.hand[seat], slice(None), 0)

    def _kong(self, seat: int) -> None:
        """A kong of the last discard or, after a draw, a concealed one."""
        t = self.table
        self._kong_seat = seat
        if t.claimed != NO_KIND:
            self._lay_claimed(seat, KONG + t.claimed)
            t.claimed = NO_KIND
        elif seat == self._own:
            kind = KIND_OF_NAME[self._reply.split()[-1]]
            t.hand[seat][kind] = 0
            lay_meld(t, seat, ANKAN_MELD, kind)
        else:
            lay_meld(t, seat, ANKAN_MELD, 0)
        wait_for(t, OWN_TURN, seat)

    def _add_to_pung(self, seat: int, kind: int) -> None:
        t = self.table
        for i in range(t.num_melds[seat]):
            if t.meld_kind[seat][i] == kind and t.meld_type[seat][i] == PON_MELD:
                t.meld_type[seat][i] = KAKAN_MELD
        if seat == self._own:
            t.hand[seat][kind] -= 1
        t.shown[kind] += 1
        t.turn, t.drawn, t.claimed = seat, kind, kind  # what others have drawn is hidden: any kind tells of a kong
        self._kong_seat = seat
        self._ask(ROB)

    def _ask(self, phase: int) -> None:
        """Find out what the own seat can do with the tile of ``turn``."""
        t, own = self.table, self._own
        if t.turn == own:
            return
        fill(t.answers, slice(None), PASS)
        wait_for(t, phase, own)
        is_next = (t.turn + 1) % NUM_SEATS == own
        self._has_choice = bool(list_claims(t, self._suits, own, is_next, phase == ROB))
        t.legal[PASS] = 1


class Session:
    """What comes in, a line a request, or all requests and replies of a game in one; and what goes out."""

    def __init__(self, suits: Suits) -> None:
        self._suits = suits
        self._player = Player(suits)
        self._is_json = False

    def answer(self, line: str) -> str:
        """Return the line that answers a line."""
        self._is_json = self._is_json or line[0] in '{"'
        given = json.loads(line) if line[0] in '{"' else line  # noqa: TID251  (the file stands alone)
        requests, replies = [given], []
        if isinstance(given, dict):
            requests, replies = given.get("requests") or [given.get("request")], given.get("responses") or []
        if requests[0].split()[0] == "0":
            self._player = Player(self._suits)
        for number, request in enumerate(requests):
            self._player.read(request, replies[number - 1] if 0 < number <= len(replies) else None)
        reply = self._player.reply()
        return json.dumps({"response": reply}) if self._is_json else reply


def read_file(name: str) -> bytes:
    """Return a file beside the program, in a folder or in its zip."""
    loader: Any = globals()["__loader__"]
    data: bytes = loader.get_data(os.path.join(os.path.dirname(os.path.abspath(__file__)), name))  # noqa: PTH100, PTH118, PTH120
    return data


def is_kept_running() -> bool:
    """Tell whether more requests may come: the standard input is open."""
    return not select.select([sys.stdin], [], [], 0)[0] or bool(sys.stdin.buffer.peek(1))  # type: ignore[attr-defined]


def main() -> None:
    """Answer each line of the standard input, until it ends."""
    session = Session(unpack_record(zlib.decompress(read_file(SUITS_FILE)), _SUITS_FIELDS))
    for line in iter(sys.stdin.readline, ""):
        if line.strip():
            print(session.answer(line.strip()))
            if is_kept_running():
                print(KEEP_RUNNING)
            sys.stdout.flush()
