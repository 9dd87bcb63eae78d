"""The table as one seat knows it, from the mjai events that the seat is sent: what an agent needs to answer.

>>> table = MjaiTable()
>>> for event in events:
...     table.see(event)
>>> if (decision := table.decision()) is not None:
...     reply = reply_of_action(decision[0], int(agent.act(decision, np.zeros(1, np.int64))[0]))

The rules engine plays the game along. Other hands are empty, and a tile appears in one just before it is played: so
the engine asks nobody but this seat about a discard. A discard or a kan waits in ``_moves`` until the next event shows
what came of it, because the engine draws the next tile at once, and that tile is not known before.

``action_of_reply`` reads answers of programs: ``{"type": "dahai", "pai": "5mr"}`` discards face 34.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suphx.games.mahjong.shanten import load_suits
from suphx.games.mahjong.tile import ANKAN_MELD, HAKU, NUM_KINDS, PON_MELD
from suphx.games.riichi import table as codes
from suphx.games.riichi.kyoku import start_kyoku, step
from suphx.games.riichi.records.decisions import hand_faces, viewer_move
from suphx.games.riichi.records.kyoku_builder import dealt_places
from suphx.games.riichi.records.mjai import (
    CALL_SIZES,
    EAST_ONLY,
    MAX_STICKS,
    TILE_NAMES,
    check_call,
    face_of_name,
    read_integer,
    read_kyoku,
    read_points,
    seat_of,
)
from suphx.games.riichi.rules import Rules, apply_rules, tenhou, tonpuu
from suphx.games.riichi.table import TABLE, action_name
from suphx.games.riichi.tile import RED_IDS, is_five, is_red, kind_of_face, num_red, red_bit, red_face
from suphx.kernel.record import U8, Records

NO_REPLY: dict[str, Any] = {"type": "none"}


def reply_of_action(table: Any, action: int) -> dict[str, Any]:
    """Return the mjai event for a legal ``action`` (0-119) of the actor of a TABLE record."""
    if action == codes.PASS:
        return dict(NO_REPLY)
    seat, move = int(table["actor"]), viewer_move(table, action)
    faces: list[int] = move["faces"]
    match move["move"]:
        case "discard":
            return {"type": "dahai", "actor": seat, "pai": TILE_NAMES[faces[0]], "tsumogiri": action == codes.TSUMOGIRI}
        case "riichi":
            return {"type": "reach", "actor": seat}
        case "nine terminals":
            return {"type": "ryukyoku", "actor": seat, "reason": "kyushukyuhai"}
        case "tsumo":
            return {"type": "hora", "actor": seat, "target": seat, "pai": TILE_NAMES[faces[0]]}
        case "ankan":
            return {"type": "ankan", "actor": seat, "consumed": _names(faces)}
        case "kakan":
            kind = kind_of_face(faces[-1])
            added = red_face(kind) if num_red(table["red"][seat], kind) else kind
            faces.remove(added)
            return {"type": "kakan", "actor": seat, "pai": TILE_NAMES[added], "consumed": _names(faces)}
    claimed = int(table["claimed_face"])
    faces.remove(claimed)
    event = {"actor": seat, "target": int(table["turn"]), "pai": TILE_NAMES[claimed]}
    name = _CLAIM_NAMES[move["move"]]
    return {"type": name, **event} | ({} if action == codes.RON else {"consumed": _names(faces)})


_CLAIM_NAMES = {"ron": "hora", "chi": "chi", "pon": "pon", "minkan": "daiminkan"}


def _names(faces: list[int]) -> list[str]:
    """Return the names of tiles, a red five before its equals."""
    return [TILE_NAMES[face] for face in sorted(faces, key=lambda face: (kind_of_face(face), -face))]


JsonObject = Mapping[str, Any]

_CLAIMS = ("chi", "pon", "daiminkan")


def action_of_reply(reply: JsonObject, legal: U8 | NDArray[Any], drawn: int, claimed: int) -> int:
    """Return the action (0-119) that ``reply`` means; ``legal`` [120] is not 0 where one is legal.

    ``drawn`` is the face of the tile just drawn, ``claimed`` that of the tile that may be claimed, or -1. Naming the
    drawn tile without ``tsumogiri`` discards it where the hand has no other. ValueError for an answer that is none, or
    that is not legal.
    """
    action = (
        (codes.TSUMO if legal[codes.TSUMO] else codes.RON) if reply.get("type") == "hora" else action_of_event(reply)
    )
    if action < codes.TSUMOGIRI and not legal[action] and action == drawn:
        action = codes.TSUMOGIRI
    if action == codes.TSUMOGIRI and reply.get("pai") not in (None, TILE_NAMES[drawn] if drawn >= 0 else None):
        drew = TILE_NAMES[drawn] if drawn >= 0 else "nothing"
        raise ValueError(f"it discards {reply.get('pai')} as drawn, but drew {drew}")
    is_call = claimed >= 0 and reply.get("type") in _CLAIMS and "pai" in reply
    if is_call and kind_of_face(face_of_name(reply["pai"])) != kind_of_face(claimed):
        raise ValueError(f"it calls {reply['pai']}, but {TILE_NAMES[claimed]} was discarded")
    if not legal[action]:
        allowed = ", ".join(action_name(a) for a in range(len(legal)) if legal[a])
        raise ValueError(f"{action_name(action)} is not legal: {allowed} are")
    return action


def action_of_event(reply: JsonObject) -> int:
    """Return the action (0-119) of an event or an answer other than ``hora``; ValueError for any other."""
    match reply.get("type"):
        case "none":
            return codes.PASS
        case "dahai":
            return codes.TSUMOGIRI if reply.get("tsumogiri") is True else codes.DISCARD + face_of_name(reply.get("pai"))
        case "reach":
            return codes.RIICHI
        case "ryukyoku":
            return codes.NINE_TERMINALS
        case "pon":
            return codes.PON_RED if _has_red(reply) else codes.PON
        case "daiminkan":
            return codes.MINKAN
        case "ankan":
            return codes.ANKAN + kind_of_face(_consumed(reply)[0])
        case "kakan":
            return codes.KAKAN + kind_of_face(face_of_name(reply.get("pai")))
        case "chi":
            called = kind_of_face(face_of_name(reply.get("pai")))
            own = [kind_of_face(face) for face in _consumed(reply)]
            if sorted([*own, called]) != list(range(min(*own, called), min(*own, called) + 3)):
                raise ValueError(f"it calls {reply.get('pai')} with {reply.get('consumed')}, which is not a run")
            position = sum(kind < called for kind in own)
            return (codes.CHI_RED if _has_red(reply) else codes.CHI) + position
    raise ValueError("its type is none of none, dahai, reach, hora, ryukyoku, chi, pon, daiminkan, ankan, kakan")


def _has_red(reply: JsonObject) -> bool:
    return any(face >= NUM_KINDS for face in _consumed(reply))


def _consumed(reply: JsonObject) -> list[int]:
    tiles = reply.get("consumed")
    if not isinstance(tiles, list) or not 2 <= len(tiles) <= 4:
        raise ValueError("consumed is not a list of two to four tiles")
    return [face_of_name(tile) for tile in tiles]


UNKNOWN_TILE = "?"
_WINDOWS = (codes.CLAIM, codes.ROB_KAN)
_OWN = (codes.OWN_TURN, codes.RIICHI_DISCARD, codes.CALL_DISCARD)
_MOVES = ("dahai", "reach", "chi", "pon", "daiminkan", "ankan", "kakan")
_MAX_MELDS = 4
_HAND_SIZE = 13
_NUM_DORA = len(codes.DORA_POSITIONS)
_ENDS = ("hora", "ryukyoku", "end_kyoku", "end_game")


class _Move(NamedTuple):
    seat: int
    action: int
    faces: tuple[int, ...]  # tiles that the seat must hold


class MjaiTable:
    """Consumes: the events of games, one after another. Produces: the decisions of ``seat``."""

    def __init__(self, seat: int | None = None) -> None:
        """``seat`` (0-3) may be None: then ``start_game`` tells it as ``id``, or it is the one whose hand is shown."""
        self.seat = seat
        self._given_seat = seat
        self._suits = load_suits()
        self._tables = np.zeros(1, TABLE)
        self._deal: JsonObject | None = None
        self._moves: list[_Move] = []
        self._num_dora = 1
        self._num_seen = [0] * len(TILE_NAMES)
        self._has_red_fives = True
        self._is_running = False

    def see(self, event: JsonObject) -> None:
        """Follow one event; unknown types change nothing. ValueError if it is damaged or cannot happen now."""
        name = event.get("type")
        try:
            if name == "start_game":
                self._start_game(event)
            elif name == "start_kyoku":
                self._start_kyoku(event)
            elif name in _ENDS:
                if "scores" in event:  # for arenas whose start_kyoku has none
                    self._tables[0]["scores"] = read_points(event, "scores")
                self._is_running = False
            elif name == "dora":
                self._turn_dora(event)
            elif name == "tsumo":
                self._draw(seat_of(event), event.get("pai"))
            elif name in _MOVES:
                self._move(seat_of(event), event)
        except (KeyError, TypeError, IndexError, OverflowError) as error:
            raise ValueError(f"the event {name!r} is incomplete: {type(error).__name__} {error}") from error

    def decision(self) -> Records | None:
        """Return a table (1,) that waits for ``seat``, the other hands empty; None if it has nothing to decide."""
        if not self._is_running or self._deal is not None:
            return None
        tables = self._tables.copy()
        if len(self._moves) > 1 or (self._moves and self._moves[0].seat == self.seat):
            return None
        for move in self._moves:
            self._play(tables, move)
        table = tables[0]
        awaited = _WINDOWS if self._moves else _OWN
        if table["actor"] != self.seat or table["phase"] not in awaited:
            return None
        return tables

    def _start_game(self, event: JsonObject) -> None:
        self.seat = self._given_seat if event.get("id") is None else seat_of(event, "id")
        rules = tonpuu() if event.get("kyoku_first") == EAST_ONLY else tenhou()
        self._has_red_fives = event.get("aka_flag", True) is not False
        self._tables = np.zeros(1, TABLE)
        apply_rules(self._tables, rules if self._has_red_fives else replace(rules, red_fives=""))
        self._tables["scores"] = Rules().start_points
        self._is_running = False

    def _start_kyoku(self, event: JsonObject) -> None:
        if not self._tables["num_winds"][0]:
            raise ValueError("start_kyoku comes before start_game")
        if self.seat is None:
            hands = event["tehais"]
            shown = [s for s, hand in enumerate(hands) if isinstance(hand, list) and hand and UNKNOWN_TILE not in hand]
            if len(shown) != 1 or len(hands) != 4:
                raise ValueError(
                    f"start_game has no id, and start_kyoku shows {len(shown)} hands, so that the seat is not known: "
                    "show the player's hand only, or name the seat on the command line"
                )
            self.seat = shown[0]
        kyoku, honba = read_kyoku(event)
        hands = event["tehais"]
        if not isinstance(hands, list) or len(hands) != 4 or not isinstance(hands[self.seat], list):
            raise ValueError("tehais is not four lists of tiles")
        if len(hands[self.seat]) != _HAND_SIZE:
            raise ValueError(f"seat {self.seat} is dealt {len(hands[self.seat])} tiles instead of {_HAND_SIZE}")
        own, indicator = [face_of_name(name) for name in hands[self.seat]], face_of_name(event["dora_marker"])
        self._num_seen = [0] * len(TILE_NAMES)
        self._see_tiles([*own, indicator])
        table = self._tables[0]
        table["kyoku"] = kyoku
        table["honba"] = honba
        table["kyotaku"] = read_integer(event, "kyotaku", 0, MAX_STICKS)
        if "scores" in event:
            table["scores"] = read_points(event, "scores")
        table["num_kyoku"] += 1
        table["wall_seed"] = zlib.crc32(json.dumps(event, sort_keys=True).encode())  # agents that draw lots use it
        table["wall"] = 0
        table["wall"][codes.DORA_POSITIONS[0]] = _id(indicator)
        table["wall"][dealt_places(self.seat, kyoku % 4)] = [_id(face) for face in own]
        self._deal, self._moves, self._num_dora, self._is_running = event, [], 1, True

    def _see_tiles(self, faces: Iterable[int]) -> None:
        """Count tiles that the seat sees for the first time; ValueError if more of a face than there are."""
        for face in faces:
            num_reds = int(self._has_red_fives and is_five(kind_of_face(face)))
            num_copies = num_reds if is_red(face) else 4 - num_reds
            self._num_seen[face] += 1
            if self._num_seen[face] > num_copies:
                raise ValueError(f"tile {TILE_NAMES[face]} appears too often: there are {num_copies} of it")

    def _turn_dora(self, event: JsonObject) -> None:
        if not self._is_running or self._num_dora == _NUM_DORA:
            raise ValueError(f"a dora indicator is turned over outside a deal, or a sixth one: there are {_NUM_DORA}")
        indicator = face_of_name(event["dora_marker"])
        self._see_tiles([indicator])
        wall = self._tables[0]["wall"]
        others = wall[list(codes.DORA_POSITIONS[: self._num_dora])]
        # Indicators are told apart by their ids (hidden.py).
        ids = [_id(indicator)] if is_red(indicator) else [4 * indicator + copy for copy in (1, 2, 3, 0)]
        wall[codes.DORA_POSITIONS[self._num_dora]] = next(tile for tile in ids if tile not in others)
        self._num_dora += 1
        self._tables[0]["num_dora"] = self._num_dora

    def _draw(self, seat: int, name: object) -> None:
        is_hidden = name == UNKNOWN_TILE and seat != self.seat
        face = HAKU if is_hidden else face_of_name(name)
        table = self._tables[0]
        if not self._is_running or (self._deal is None and not self._moves):
            raise ValueError(f"seat {seat} draws, but it is not its turn")
        if seat == self.seat:
            self._see_tiles([face])
        if self._deal is not None:
            table["wall"][codes.DEALT] = _id(face)
            start_kyoku(self._tables[0], self._suits)
            self._deal = None
            self._hide(self._tables)
        else:
            is_rinshan = bool(self._moves) and self._moves[-1].action in _KANS
            if is_rinshan and table["num_kans"] == len(codes.RINSHAN):
                raise ValueError(f"seat {seat} draws after a fifth kan: there are {len(codes.RINSHAN)} rinshan tiles")
            place = codes.RINSHAN[int(table["num_kans"])] if is_rinshan else int(table["next_draw"])
            table["wall"][place] = _id(face)
            self._play_all()
        if table["phase"] != codes.OWN_TURN or table["actor"] != seat:
            raise ValueError(f"seat {seat} draws, but it is not its turn")

    def _move(self, seat: int, event: JsonObject) -> None:
        action = action_of_event(event)
        if not self._is_running or self._deal is not None:
            raise ValueError(f"seat {seat} plays {action_name(action)!r}, but nobody has drawn in this deal")
        is_claim = event["type"] in _CLAIMS
        if is_claim:
            called = face_of_name(event["pai"])
            last = self._moves[0] if len(self._moves) == 1 and self._moves[0].action <= codes.TSUMOGIRI else None
            is_last = last is not None and last.seat != seat and last.faces[0] == called
            if last is None or not is_last or event.get("target", last.seat) != last.seat:
                what = f"claims {TILE_NAMES[called]}, which is not the last discard"
                raise ValueError(f"{event['type']} of seat {seat} {what}")
        elif self._moves:
            raise ValueError(f"seat {seat} plays {action_name(action)!r}, but nobody has drawn since the last discard")
        faces = self._played(seat, event)
        self._moves.append(_Move(seat, action, faces))
        if action == codes.RIICHI or (is_claim and action != codes.MINKAN):
            self._play_all()

    def _played(self, seat: int, event: JsonObject) -> tuple[int, ...]:
        """Return the faces that a move takes from the hand of ``seat``, which must have them."""
        name = event["type"]
        called = face_of_name(event["pai"]) if name in ("dahai", "kakan", *_CLAIMS) else None
        faces = tuple(face_of_name(tile) for tile in event.get("consumed", ()))
        if name in CALL_SIZES and (faces or name != "kakan"):
            check_call(name, faces, called)
        if name in ("dahai", "kakan") and called is not None:
            faces = (called,)
        if seat != self.seat:
            self._see_tiles(faces)
            return faces
        table = self._tables[0]
        held = hand_faces(table, seat)
        for face in faces:
            if faces.count(face) > held.count(face):
                raise ValueError(f"seat {seat} plays {TILE_NAMES[face]}, which is not in its hand")
        if name == "dahai" and event.get("tsumogiri") is True and faces[0] != table["drawn"]:
            raise ValueError(f"seat {seat} discards {TILE_NAMES[faces[0]]} as drawn, but did not draw it")
        return faces

    def _play_all(self) -> None:
        """Play the moves that wait, now that it is known what comes next."""
        moves, self._moves = self._moves, []
        for later in moves[1:]:
            self._hold(self._tables, later)
        for move in moves:
            self._play(self._tables, move)
        while self._tables[0]["phase"] in _WINDOWS:
            step(self._tables[0], self._suits, codes.PASS)
        self._hide(self._tables)

    def _play(self, tables: Records, move: _Move) -> None:
        table, action = tables[0], move.action
        while table["phase"] in _WINDOWS and table["actor"] != move.seat:
            step(tables[0], self._suits, codes.PASS)
        if move.seat == self.seat and action == table["drawn"] and not table["legal"][action]:
            action = codes.TSUMOGIRI  # of an arena that does not mark it
        is_possible = table["actor"] == move.seat and table["phase"] in (*_OWN, *_WINDOWS)
        is_known = move.seat == self.seat or table["phase"] in _WINDOWS
        if not is_possible or not (table["legal"][action] if is_known else _is_move_of_other(table, move)):
            raise ValueError(f"seat {move.seat} plays {action_name(action)!r}, which the rules do not allow now")
        if table["phase"] in _OWN:
            self._hold(tables, move)
        step(tables[0], self._suits, action)
        table["num_dora"] = self._num_dora

    def _hold(self, tables: Records, move: _Move) -> None:
        """Give another seat the tiles of its move, and for a chi one to discard."""
        table = tables[0]
        if move.seat == self.seat:
            return
        if move.action == codes.TSUMOGIRI:
            table["drawn"] = move.faces[0]
        spare = (HAKU,) if codes.PASS > move.action > codes.MINKAN else ()
        for face in (*move.faces, *spare):
            table["hand"][move.seat, kind_of_face(face)] += 1
            if is_red(face):
                table["red"][move.seat] |= red_bit(face)

    def _hide(self, tables: Records) -> None:
        """Empty the other hands again."""
        others = [seat for seat in range(4) if seat != self.seat]
        for name in ("hand", "red", "waits"):
            tables[0][name][others] = 0


_KANS = (codes.MINKAN, *range(codes.ANKAN, codes.TSUMO))


def _is_move_of_other(table: Any, move: _Move) -> bool:
    """Tell whether a seat whose hand is hidden may make a move of its own turn, as far as its melds tell."""
    seat, action = move.seat, move.action
    if action <= codes.TSUMOGIRI:
        return True
    melds = table["meld_type"][seat][: int(table["num_melds"][seat])].tolist()
    if table["phase"] != codes.OWN_TURN:
        return False
    if action == codes.RIICHI:
        return not table["riichi"][seat] and all(meld == ANKAN_MELD for meld in melds)
    if table["num_kans"] == len(codes.RINSHAN) or table["next_draw"] + table["num_kans"] >= codes.LAST_DRAW:
        return False
    if action < codes.KAKAN:
        return len(melds) < _MAX_MELDS
    kinds = table["meld_kind"][seat].tolist()
    return any(meld == PON_MELD and kind == action - codes.KAKAN for meld, kind in zip(melds, kinds, strict=False))


def _id(face: int) -> int:
    """Return the id of a tile of a face; which of those that are alike does not matter."""
    return RED_IDS[face - 34] if is_red(face) else 4 * face + 1
