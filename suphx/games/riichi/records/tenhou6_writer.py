"""Writes a GameLog as the JSON of Tenhou's log editor (tenhou.net/6), on one line; the inverse of tenhou6.py.

tenhou6 has no tile ids, no seeds, no word for a seat that disconnects, and no fu of a limit hand: these are left out.
"""

from __future__ import annotations

import json
from typing import Any, assert_never

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
    Left,
    PaidStick,
    TurnedDora,
    dealt_hands,
    play_kyoku,
)
from suphx.games.riichi.records.mjai import TILE_NAMES
from suphx.games.riichi.records.mjlog_writer import limit_of_win, results_of_game, yaku_of_win
from suphx.games.riichi.records.tenhou6 import (
    AFTER_MINKAN,
    ALL_NOTEN,
    ALL_TENPAI,
    DAN_NAMES,
    DRAW_NAMES,
    FACE_NUMBERS,
    ROOM_LETTERS,
    SOURCE_PLACES,
    TSUMOGIRI,
    WIN,
    YAKU_NAMES,
)
from suphx.games.riichi.rules import Rules, refuse_untold_game
from suphx.games.riichi.table import DORA_POSITIONS, EXHAUSTIVE_DRAW, NAGASHI_MANGAN, URA_POSITIONS, WIN_RESULT

_RESULT_NAMES = {result: name for name, result in DRAW_NAMES.items()}
_LETTERS = {CHI_MELD: "c", PON_MELD: "p", MINKAN_MELD: "m"}
_PLACES = {letter: {source: place for place, source in places.items()} for letter, places in SOURCE_PLACES.items()}
_LIMITS = ("", "満貫", "跳満", "倍満", "三倍満", "数え役満")


def write_tenhou6(log: GameLog) -> str:
    """Return the JSON of a game, on one line that is ended by a newline.

    ValueError if the log cannot be played, if its rules are not Tenhou's, or if a result has no han, fu and yaku (read
    from mjai).
    """
    rules = log.rules
    num_winds = min(rules.num_winds, 2)
    read_back = Rules(num_winds=num_winds, open_tanyao=rules.open_tanyao, tenpai_ends_game=does_tenpai_end_game(log))
    refuse_untold_game(rules, read_back, log.id)
    disp = ROOM_LETTERS[log.room] + "東南"[num_winds - 1] + ("喰" if rules.open_tanyao else "") + "赤"
    game: dict[str, Any] = {
        "title": ["", ""],
        "name": list(log.names),
        "rule": {"disp": disp, "aka51": 1, "aka52": 1, "aka53": 1},
        "ref": log.id,
        "lobby": 0,
    }
    if log.dans and max(log.dans) < len(DAN_NAMES):
        game["dan"] = [DAN_NAMES[dan] for dan in log.dans]
    if log.ratings:
        game["rate"] = list(log.ratings)
    game["log"] = [_kyoku(kyoku, log.id) for kyoku in log.kyokus]
    if log.final_scores is not None:
        tenths = results_of_game(log.final_scores, rules.target_points)
        game["sc"] = [
            value for score, tenth in zip(log.final_scores, tenths, strict=True) for value in (score, tenth / 10)
        ]
    return json.dumps(game, ensure_ascii=False, separators=(",", ":")) + "\n"


def _kyoku(kyoku: KyokuLog, game_id: str) -> list[Any]:
    """Return the 17 parts of a kyoku."""
    if not kyoku.is_result_complete:
        raise ValueError(f"game {game_id} has no han, fu and yaku (it came from mjai): tenhou6 needs them")
    takes: list[list[int | str]] = [[], [], [], []]
    plays: list[list[int | str]] = [[], [], [], []]
    indicators = [_number(int(kyoku.wall[DORA_POSITIONS[0]]))]
    result: list[Any] = []
    ura: list[int] = []
    is_riichi = False
    for event in play_kyoku(kyoku):
        match event:
            case Drew(seat, tile):
                takes[seat].append(_number(tile))
            case Discarded(seat, tile, is_tsumogiri):
                number = TSUMOGIRI if is_tsumogiri else _number(tile)
                plays[seat].append(f"r{number}" if is_riichi else number)
                is_riichi = False
            case DeclaredRiichi():
                is_riichi = True
            case Called(seat, meld):
                (plays if meld.type in (ANKAN_MELD, KAKAN_MELD) else takes)[seat].append(_call(meld))
                if meld.type == MINKAN_MELD:
                    plays[seat].append(AFTER_MINKAN)
            case TurnedDora(tile):
                indicators.append(_number(tile))
            case PaidStick() | Left() | CameBack():
                pass
            case Ended():
                result, ura = _result(kyoku, event), _ura(kyoku, event)
            case _:
                assert_never(event)
    start = [[kyoku.kyoku, kyoku.honba, kyoku.kyotaku], list(kyoku.scores), indicators, ura]
    hands = [[_number(tile) for tile in sorted(hand)] for hand in dealt_hands(kyoku)]
    return [*start, *(part for parts in zip(hands, takes, plays, strict=True) for part in parts), result]


def _number(tile: int) -> int:
    return FACE_NUMBERS[TILE_NAMES[FACE_OF_ID[tile]]]


def _call(meld: Meld) -> str:
    """Return a call; where its letter stands tells which seat gave the tile behind it."""
    if meld.type == ANKAN_MELD:
        first, second, third, fourth = map(_number, meld.tiles)
        return f"{first}{second}{third}a{fourth}"
    if meld.type == KAKAN_MELD:
        hand = [tile for tile in meld.tiles if tile not in (meld.called, meld.added)]
        place = _PLACES["p"][meld.source]
        return _joined(hand[:place]) + f"k{_number(meld.added)}{_number(meld.called)}" + _joined(hand[place:])
    letter, hand = _LETTERS[meld.type], list(meld.hand_tiles())
    place = _PLACES[letter][meld.source]
    return _joined(hand[:place]) + f"{letter}{_number(meld.called)}" + _joined(hand[place:])


def _joined(tiles: list[int]) -> str:
    return "".join(str(_number(tile)) for tile in tiles)


def _ura(kyoku: KyokuLog, end: Ended) -> list[int]:
    result = kyoku.result
    winners = set(result["win_seat"][: int(result["num_wins"])].tolist())
    if not winners & end.riichi_seats:
        return []
    return [_number(int(kyoku.wall[position])) for position in URA_POSITIONS[: len(end.indicators)]]


def _result(kyoku: KyokuLog, end: Ended) -> list[Any]:
    result = kyoku.result
    code = int(result["result"])
    if code == WIN_RESULT:
        wins = [[result["win_deltas"][w].tolist(), _win(kyoku, end, w)] for w in range(int(result["num_wins"]))]
        return [WIN, *(part for win in wins for part in win)]
    tenpai = result["tenpai"].tolist()
    if code == EXHAUSTIVE_DRAW and len(set(tenpai)) == 1:
        return [ALL_TENPAI if tenpai[0] else ALL_NOTEN]
    has_payments = code in (EXHAUSTIVE_DRAW, NAGASHI_MANGAN)
    return [_RESULT_NAMES[code], *([result["deltas"].tolist()] if has_payments else [])]


def _win(kyoku: KyokuLog, end: Ended, index: int) -> list[int | str]:
    result = kyoku.result
    seat, loser = int(result["win_seat"][index]), int(result["win_loser"][index])
    liable = int(result["win_liable"][index])
    is_open = any(meld.type != ANKAN_MELD for meld in end.melds[seat])
    yaku = [
        f"{YAKU_NAMES[number]}({f'{han}飜' if han else '役満'})"
        for number, han in yaku_of_win(result, index, is_open)
        if han or result["win_yakuman"][index]
    ]
    return [seat, loser, liable if liable >= 0 else seat, _points(kyoku, index), *yaku]


def _points(kyoku: KyokuLog, index: int) -> str:
    """Return the points as Tenhou words them: fu and han or the limit, and what one payer gives."""
    result, dealer = kyoku.result, kyoku.kyoku % 4
    seat, points = int(result["win_seat"][index]), int(result["win_points"][index])
    limit = limit_of_win(result, index, seat == dealer)
    grade = _LIMITS[limit] or f"{result['win_fu'][index]}符{result['win_han'][index]}飜"
    if result["win_yakuman"][index]:
        grade = "役満"
    if seat != int(result["win_loser"][index]):
        return f"{grade}{points}点"
    if seat == dealer:
        return f"{grade}{points // 3}点∀"
    base = int(result["win_fu"][index]) << 2 + int(result["win_han"][index])
    low = points // 4 if limit else -(-base // 100) * 100  # points are paid in whole hundreds
    return f"{grade}{low}-{points - 2 * low}点"
