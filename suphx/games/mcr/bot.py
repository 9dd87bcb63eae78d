"""A player for Botzone as one file of plain Python: it reads requests, keeps what its seat knows, and replies.

The file has the rules and the agents of this platform (suphx/kernel/plain_source.py); ``Player`` and ``main`` run there
only. The table of a player has its own hand and what all see. What is hidden has fixed values that no agent reads:
hands of others are empty, a tile that another seat has drawn is NO_KIND, and a concealed kong of another seat is of the
first kind.
"""

from __future__ import annotations

import hashlib
import json
import os
import select
import sys
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from suphx.games.game import BotFiles
from suphx.games.mahjong.claims import add_to_pung, lay_meld
from suphx.games.mahjong.plain_net import PlainNet, load_nets, pack_nets
from suphx.games.mahjong.shanten import SUITS, Suits, load_suits
from suphx.games.mahjong.tile import ANKAN_MELD
from suphx.games.mcr.agents import choose_scripted
from suphx.games.mcr.botzone import claim_reply, turn_reply
from suphx.games.mcr.engine import claim, draw, lay_claimed, list_claims, wait_for
from suphx.games.mcr.features import LAYOUT, PLAN_LAYOUT, encode, fill_mask, forced_move, kind_of, move_of_choice
from suphx.games.mcr.names import AGENTS, DECISIONS
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
from suphx.kernel.plain_arrays import (
    field_shapes,
    field_types,
    fill_part,
    new_record,
    pack_record,
    unpack_record,
    zeros,
)
from suphx.kernel.plain_source import carry

KEEP_RUNNING = ">>>BOTZONE_REQUEST_KEEP_RUNNING<<<"
DATA_FOLDER = "data"
"""Botzone's user storage, where a program runs."""
_SUITS_FILE = "suits.bin"
_AGENT, _NETS_FILE = 0, ""  # a program has its own: the place of its agent in AGENTS, or its nets
_RULES = new_tables(1, Rules())[0]
_OPTIONS, _MINIMUM_FAN = int(_RULES["options"]), int(_RULES["minimum_fan"])
_TABLE_FIELDS, _SUITS_FIELDS = field_shapes(TABLE), field_types(SUITS)
_ROW_BYTES = LAYOUT.observation_bytes  # a program with nets has that of its nets
_NUM_CHOICES = tuple(kind.num_choices for kind in DECISIONS)

Choose: TypeAlias = Callable[[Any], int]
"""(table) -> a legal move of its actor."""


class Player:
    """One seat in one game.

    >>> player.read("2 W7")
    >>> player.reply()
    'PLAY J1'
    """

    def __init__(self, suits: Suits, choose: Choose) -> None:
        self._suits, self._choose = suits, choose
        self._own = 0
        self.has_choice = False
        """Whether the last request asks for more than PASS."""
        self._kong_seat = NO_SEAT
        self._reply = ""
        self.table = t = new_record(_TABLE_FIELDS)
        t.options, t.minimum_fan = _OPTIONS, _MINIMUM_FAN
        t.drawn = t.claimed = t.win_kind = NO_KIND
        t.loser = t.winner = t.offender = NO_SEAT
        fill_part(NO_KIND, t.river, slice(None))

    def read(self, request: str, reply: str | None = None) -> None:
        """Take a request; ``reply``: to the request before, None if it is what ``reply`` returned."""
        t, words = self.table, request.split()
        self._reply = self._reply if reply is None else reply
        self.has_choice = False
        if words[0] == "0":
            self._own, t.round_wind = int(words[1]), int(words[2])
        elif words[0] == "1":
            for name in words[5 : 5 + HAND_TILES]:
                t.hand[self._own][KIND_OF_NAME[name]] += 1
            fill_part(WALL_TILES - HAND_TILES, t.wall_left, slice(None))
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
        if not self.has_choice:
            self._reply = "PASS"
            return self._reply
        t.num_decisions += 1
        move = self._choose(t)
        if t.phase == OWN_TURN:
            self._reply = turn_reply(move, t.hand[own][move % NUM_KINDS])
            return self._reply
        if CHOW <= move <= PUNG:
            after = t.copy()
            claim(after, self._suits, own, move)
            discard = self._choose(after)
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
            self.has_choice = True
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
        self._hide_hand(seat)

    def _hide_hand(self, seat: int) -> None:
        """Take back the tiles of another seat, which were not in its hand here."""
        if seat != self._own:
            fill_part(0, self.table.hand[seat], slice(None))

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
        add_to_pung(t, seat, kind)
        self._hide_hand(seat)
        t.turn, t.drawn, t.claimed = seat, kind, kind  # what others have drawn is hidden: any kind tells of a kong
        self._kong_seat = seat
        self._ask(ROB)

    def _ask(self, phase: int) -> None:
        """Find out what the own seat can do with the tile of ``turn``."""
        t, own = self.table, self._own
        if t.turn == own:
            return
        fill_part(PASS, t.answers, slice(None))
        wait_for(t, phase, own)
        is_next = (t.turn + 1) % NUM_SEATS == own
        self.has_choice = bool(list_claims(t, self._suits, own, is_next, phase == ROB))
        t.legal[PASS] = 1


class Session:
    """The games that come in, one after another, and the replies that go out.

    In Botzone's JSON or in its simple form: the number of requests, and all requests and replies in turn, a line each.
    A program that is kept running then gets one request a line.
    """

    def __init__(self, suits: Suits, choose: Choose) -> None:
        self._suits, self._choose = suits, choose
        self._player = Player(suits, choose)
        self._is_json = False

    def answer(self, line: str, next_line: Callable[[], str]) -> str:
        """Return the line that answers a line and, in the simple form, those that follow it."""
        requests: list[str] = [line]
        replies: list[str] = []
        if line[0] in '{"':
            self._is_json = True
            given = json.loads(line)  # noqa: TID251  (the file stands alone)
            requests, replies = [given], []
            if isinstance(given, dict):
                requests, replies = given.get("requests") or [given.get("request")], given.get("responses") or []
        elif line.isdigit():
            lines = [next_line().strip() for _ in range(2 * int(line) - 1)]
            requests, replies = lines[::2], lines[1::2]
        if requests[0].split()[0] == "0":
            self._player = Player(self._suits, self._choose)
        for number, request in enumerate(requests):
            self._player.read(request, replies[number - 1] if 0 < number <= len(replies) else None)
        reply = self._player.reply()
        return json.dumps({"response": reply}) if self._is_json else reply


def scripted(suits: Suits) -> Choose:
    """Return what a scripted agent chooses."""
    return lambda table: choose_scripted(table, suits, _AGENT)


def with_nets(suits: Suits) -> Choose:
    """Return what nets choose, which are beside the program or in the user storage."""
    try:
        data = _read_file(_NETS_FILE)
    except OSError:
        with open(os.path.join(DATA_FOLDER, _NETS_FILE), "rb") as file:  # noqa: PTH118, PTH123
            data = file.read()
    nets = load_nets(data)
    return lambda table: choose_by_nets(table, suits, nets)


def choose_by_nets(t: Any, suits: Suits, nets: Sequence[PlainNet]) -> int:
    """Return the move that needs no net, or the one that the nets find most probable."""
    move = forced_move(t)
    while move < 0:
        kind = kind_of(t)
        row, mask = zeros(_ROW_BYTES), zeros(_NUM_CHOICES[kind])
        encode(t, suits, row)
        fill_mask(t, kind, mask)
        logits = nets[kind](row)
        choice = max((each for each in range(len(mask)) if mask[each]), key=lambda each: logits[each])
        move = move_of_choice(t, kind, choice)
        if move < 0:
            t.kong_declined = 1
    return move


def _read_file(name: str) -> bytes:
    """Return a file beside the program, in a folder or in its zip."""
    loader: Any = globals()["__loader__"]
    data: bytes = loader.get_data(os.path.join(os.path.dirname(__file__), name))  # noqa: PTH118, PTH120
    return data


def _is_kept_running() -> bool:
    """Tell whether more requests may come: the standard input is open."""
    source: Any = sys.stdin.buffer
    return not select.select([source], [], [], 0)[0] or bool(source.peek(1))


new_choose = scripted


def main() -> None:
    """Answer each line of the standard input, until it ends."""
    suits = unpack_record(zlib.decompress(_read_file(_SUITS_FILE)), _SUITS_FIELDS)
    session = Session(suits, new_choose(suits))
    for line in iter(sys.stdin.readline, ""):
        if line.strip():
            try:
                reply = session.answer(line.strip(), sys.stdin.readline)
            except (IndexError, KeyError, TypeError, ValueError) as error:
                sys.exit("this is not a request of Botzone (" + repr(error) + "): " + line.strip()[:200])
            print(reply)
            if _is_kept_running():
                print(KEEP_RUNNING)
            sys.stdout.flush()


class BotzoneBot:
    """The ``Bot`` of games/game.py: a zip that Botzone starts as a program of Python 3.6, in both of its modes."""

    max_bytes = 4_000_000

    def files(self, agent: str, checkpoints: Sequence[Path]) -> BotFiles:
        """Return the program, its tables and the nets of ``checkpoints``; a scripted agent has none."""
        suits = zlib.compress(pack_record(load_suits()), 9)  # type: ignore[arg-type]
        if not checkpoints:
            program = carry(main, {"_AGENT": AGENTS.index(agent)}).encode()
            return BotFiles({"__main__.py": program, _SUITS_FILE: suits}, {})
        nets, layout = pack_nets(checkpoints, (LAYOUT, PLAN_LAYOUT))
        name = f"nets-{hashlib.sha256(nets).hexdigest()[:8]}.npz"  # the user storage is that of several bots
        constants = {"new_choose": with_nets, "_NETS_FILE": name, "_ROW_BYTES": layout.observation_bytes}
        program = carry(main, constants).encode()
        return BotFiles({"__main__.py": program, _SUITS_FILE: suits}, {name: nets})


BOT = BotzoneBot()
