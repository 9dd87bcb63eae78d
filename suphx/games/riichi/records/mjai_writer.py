"""Writes a GameLog in the mjai protocol, one JSON object a line; the inverse of mjai.py.

mjai has no tile ids, no han, fu and yaku, and no word for a seat that disconnects: these are left out. Beside the
protocol's own keys a drawn kyoku has its ``reason`` and ``tenpais``, and the last line the final ``scores``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi.records.game_log import GameLog, KyokuLog, does_tenpai_end_game
from suphx.games.riichi.records.kyoku_builder import FACE_OF_ID, Meld
from suphx.games.riichi.records.kyoku_playback import (
    Called,
    CameBack,
    DeclaredRiichi,
    Discarded,
    Drew,
    Ended,
    Event,
    Left,
    PaidStick,
    TurnedDora,
    dealt_hands,
    play_kyoku,
    play_running_kyoku,
)
from suphx.games.riichi.records.mjai import EAST_ONLY, REASONS, TILE_NAMES, TWO_WINDS
from suphx.games.riichi.rules import (
    OPEN_TANYAO,
    RIICHI_NEEDS_POINTS,
    RULE_VALUES,
    Rules,
    UntoldRulesError,
    apply_rules,
    refuse_untold_game,
)
from suphx.games.riichi.table import DORA_POSITIONS, URA_POSITIONS, WIN_RESULT
from suphx.kernel.record import Records

_REASON_OF_RESULT = {result: reason for reason, result in REASONS.items()}
_CALL_NAMES = {CHI_MELD: "chi", PON_MELD: "pon", MINKAN_MELD: "daiminkan", ANKAN_MELD: "ankan", KAKAN_MELD: "kakan"}

_JsonObject = dict[str, Any]


def write_mjai(log: GameLog) -> str:
    """Return the lines of a game, each ended by a newline.

    ValueError if the log cannot be played, or its rules are not Tenhou's with open tanyao: mjai cannot say others.
    """
    read_back = Rules(num_winds=min(log.rules.num_winds, 2), tenpai_ends_game=does_tenpai_end_game(log))
    refuse_untold_game(log.rules, read_back, log.id)
    return "".join(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n" for event in _events(log))


def refuse_untold_tables(tables: Records) -> None:
    """Raise UntoldRulesError if deals of TABLE records follow other rules than Tenhou's with red fives.

    Programs that follow a running game in mjai do not learn of them. When a game ends they need not know, nor that
    riichi is legal without 1,000 points.
    """
    tenhou = np.zeros(1, RULE_VALUES)
    apply_rules(tenhou, Rules())
    flags = (tables["rule_flags"] ^ tenhou["rule_flags"]) & ~RIICHI_NEEDS_POINTS
    is_told = (tables["num_winds"] <= 2) & (flags < OPEN_TANYAO)
    for name in ("red_fives", "noten_payment", "max_rons", "riichi_min_tiles"):
        is_told &= tables[name] == tenhou[name]
    if not np.all(is_told):
        raise UntoldRulesError(
            "the deals do not follow Tenhou's rules with red fives, and mjai has no words for others: use "
            "tenhou() or tonpuu() with programs"
        )


def _events(log: GameLog) -> Iterator[_JsonObject]:
    yield start_event(log.names, log.rules.num_winds)
    for kyoku in log.kyokus:
        yield from kyoku_events(kyoku)
    if log.final_scores is not None:
        yield {"type": "end_game", "scores": list(log.final_scores)}


def start_event(names: Sequence[str], num_winds: int) -> _JsonObject:
    """Return the first event of a game of one wind (1) or two (2), with the names of the seats."""
    kyoku_first = EAST_ONLY if num_winds == 1 else TWO_WINDS
    return {"type": "start_game", "names": list(names), "kyoku_first": kyoku_first, "aka_flag": True}


def kyoku_events(kyoku: KyokuLog) -> Iterator[_JsonObject]:
    """Yield the events of a finished kyoku, from start_kyoku to end_kyoku."""
    yield _start(kyoku)
    for event in play_kyoku(kyoku):
        yield from _written(event, kyoku)
    yield {"type": "end_kyoku"}


def running_kyoku_events(kyoku: KyokuLog, actor: int, *, is_own_turn: bool) -> Iterator[_JsonObject]:
    """Yield the events of a kyoku that goes on, up to what ``actor`` has to decide (play_running_kyoku)."""
    yield _start(kyoku)
    for event in play_running_kyoku(kyoku, actor, is_own_turn=is_own_turn):
        yield from _written(event, kyoku)


def seen_by(seat: int, event: _JsonObject) -> _JsonObject:
    """Return an event as a seat sees it: hands and draws of the others are ``?``."""
    if event["type"] == "start_kyoku":
        hands = [hand if owner == seat else ["?"] * len(hand) for owner, hand in enumerate(event["tehais"])]
        return event | {"tehais": hands}
    if event["type"] == "tsumo" and event["actor"] != seat:
        return event | {"pai": "?"}
    return event


def _start(kyoku: KyokuLog) -> _JsonObject:
    return {
        "type": "start_kyoku",
        "bakaze": "ESW"[kyoku.kyoku // 4],
        "dora_marker": _name(int(kyoku.wall[DORA_POSITIONS[0]])),
        "kyoku": kyoku.kyoku % 4 + 1,
        "honba": kyoku.honba,
        "kyotaku": kyoku.kyotaku,
        "oya": kyoku.kyoku % 4,
        "scores": list(kyoku.scores),
        "tehais": [_names(hand) for hand in dealt_hands(kyoku)],
    }


def _written(event: Event, kyoku: KyokuLog) -> list[_JsonObject]:
    match event:
        case Drew(seat, tile):
            return [{"type": "tsumo", "actor": seat, "pai": _name(tile)}]
        case Discarded(seat, tile, is_tsumogiri):
            return [{"type": "dahai", "actor": seat, "pai": _name(tile), "tsumogiri": is_tsumogiri}]
        case DeclaredRiichi(seat):
            return [{"type": "reach", "actor": seat}]
        case PaidStick(seat, _):
            return [{"type": "reach_accepted", "actor": seat}]
        case Called(seat, meld):
            return [_call(seat, meld)]
        case TurnedDora(tile):
            return [{"type": "dora", "dora_marker": _name(tile)}]
        case Left() | CameBack():
            return []
        case Ended():
            return _end(event, kyoku)
        case _:
            assert_never(event)


def _call(seat: int, meld: Meld) -> _JsonObject:
    event: _JsonObject = {"type": _CALL_NAMES[meld.type], "actor": seat}
    if meld.type == ANKAN_MELD:
        return event | {"consumed": _names(meld.tiles)}
    if meld.type == KAKAN_MELD:
        pon = [tile for tile in meld.tiles if tile != meld.added]
        return event | {"pai": _name(meld.added), "consumed": _names(pon)}
    target = (seat + meld.source) % 4
    return event | {"target": target, "pai": _name(meld.called), "consumed": _names(meld.hand_tiles())}


def _end(end: Ended, kyoku: KyokuLog) -> list[_JsonObject]:
    result = kyoku.result
    code = int(result["result"])
    if code != WIN_RESULT:
        draw = {"type": "ryukyoku", "reason": _REASON_OF_RESULT[code], "deltas": result["deltas"].tolist()}
        return [draw | {"tenpais": [bool(value) for value in result["tenpai"]]}]
    ura = [int(kyoku.wall[position]) for position in URA_POSITIONS[: len(end.indicators)]]
    return [
        {
            "type": "hora",
            "actor": seat,
            "target": int(result["win_loser"][index]),
            "deltas": result["win_deltas"][index].tolist(),
        }
        | ({"ura_markers": _names(ura) if seat in end.riichi_seats else []} if kyoku.is_ura_known else {})
        for index, seat in enumerate(result["win_seat"][: int(result["num_wins"])].tolist())
    ]


def _name(tile: int) -> str:
    return TILE_NAMES[FACE_OF_ID[tile]]


def _names(tiles: list[int] | tuple[int, ...]) -> list[str]:
    return [_name(tile) for tile in tiles]
