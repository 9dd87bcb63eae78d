"""Reads and writes the JSON of Tenhou's log editor (tenhou.net/6), which many tools write: one game is one object.

Per kyoku it has what each seat was dealt, took and played, the indicators, and the result with its yaku. It has no tile
ids, no shuffle seed and no mark of who disconnected: the moves are put in order (``moves_in_order``) and read as mjai,
whose reader gives tile ids to faces. The fu of a limit hand is not written either.

What a seat takes is a draw or a claim; what it plays is a discard or a kan. Each take tells whose turn was before: that
of the seat which discarded the claimed tile, of the one on the left of a draw, of the seat itself for a rinshan draw.
So only one order fits, and it is found from the end.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from suphx.games.mahjong.tile import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi import table as codes
from suphx.games.riichi.records import quarantine
from suphx.games.riichi.records.game_log import DRAWN_ENDS, END_OF_RESULT, GameLog, KyokuLog, does_tenpai_end_game
from suphx.games.riichi.records.kyoku_builder import FACE_OF_ID, KyokuBuilder, Meld, dealt_hands, play_kyoku
from suphx.games.riichi.records.mjai import EAST_ONLY, TILE_NAMES, TWO_WINDS, JsonObject, read_events
from suphx.games.riichi.records.mjlog import (
    DORA_YAKU,
    RED_YAKU,
    URA_YAKU,
    limit_of_win,
    results_of_game,
    rules_read_back,
    yaku_of_win,
)
from suphx.games.riichi.records.quarantine import ForeignRecord, RecordError
from suphx.games.riichi.rules import refuse_untold_game
from suphx.games.riichi.yaku_number import FIRST_YAKUMAN
from suphx.json_text import parse_json

TSUMOGIRI = 60  # instead of a discarded tile: the one just drawn
AFTER_MINKAN = 0  # among the discards, where an open kan is followed by a rinshan draw
WIN = "和了"
DRAW_NAMES = {end.tenhou6: end.result for end in DRAWN_ENDS}
ALL_TENPAI, ALL_NOTEN = "全員聴牌", "全員不聴"  # other names of an exhaustive draw, at which nobody pays
_OTHER_DRAW_NAMES = {
    ALL_TENPAI: codes.EXHAUSTIVE_DRAW,
    ALL_NOTEN: codes.EXHAUSTIVE_DRAW,
    # of converters of Mahjong Soul's games
    "四開槓": codes.FOUR_KANS_DRAW,
    "三家和": codes.TRIPLE_RON_DRAW,
}
YAKU_NAMES = (
    "門前清自摸和", "立直", "一発", "槍槓", "嶺上開花", "海底摸月", "河底撈魚", "平和", "断幺九", "一盃口",
    "自風 東", "自風 南", "自風 西", "自風 北", "場風 東", "場風 南", "場風 西", "場風 北", "役牌 白", "役牌 發",
    "役牌 中", "両立直", "七対子", "混全帯幺九", "一気通貫", "三色同順", "三色同刻", "三槓子", "対々和", "三暗刻",
    "小三元", "混老頭", "二盃口", "純全帯幺九", "混一色", "清一色", "人和", "天和", "地和", "大三元", "四暗刻",
    "四暗刻単騎", "字一色", "緑一色", "清老頭", "九蓮宝燈", "純正九蓮宝燈", "国士無双", "国士無双１３面", "大四喜",
    "小四喜", "四槓子",
    "ドラ", "裏ドラ", "赤ドラ",
)  # fmt: skip
"""By Tenhou's number of the yaku (mjlog)."""
ROOM_LETTERS = {"": "", "general": "般", "advanced": "上", "expert": "特", "phoenix": "鳳"}
DAN_NAMES = (
    "新人", "９級", "８級", "７級", "６級", "５級", "４級", "３級", "２級", "１級",
    "初段", "二段", "三段", "四段", "五段", "六段", "七段", "八段", "九段", "十段", "天鳳位",
)  # fmt: skip
"""By Tenhou's number of the grade (``GameLog.dans``)."""

_KYOKU_PARTS = 17
_RESULT = 16
_FACE_NAMES = {
    10 * suit + number: f"{number}{letter}" for suit, letter in enumerate("mps", start=1) for number in range(1, 10)
}
_FACE_NAMES |= dict(enumerate("ESWNPFC", start=41)) | {51: "5mr", 52: "5pr", 53: "5sr"}
FACE_NUMBERS = {name: number for number, name in _FACE_NAMES.items()}  # mjai's name of each face -> its number here
_CALL = re.compile(r"((?:[0-9]{2})*)([cpmka])((?:[0-9]{2})+)", re.ASCII)
_RIICHI = re.compile(r"r([0-9]{2})", re.ASCII)
_CALL_NAMES = {"c": "chi", "p": "pon", "m": "daiminkan", "k": "kakan", "a": "ankan"}
_KANS = ("daiminkan", "kakan", "ankan")
_NUM_TILES = {"c": 3, "p": 3, "m": 4, "k": 4, "a": 4}
SOURCE_PLACES = {"c": {0: 3}, "p": {0: 3, 1: 2, 2: 1}, "m": {0: 3, 1: 2, 3: 1}}
"""Letter of a claim -> tiles before the letter -> relative seat that it came from."""
_RULES = re.compile(r"(三?)([般上特鳳]?)([東南])(喰?)(赤?)速?")  # ``disp`` of Tenhou's own games
_YAKU = re.compile(r"(.+)\((?:([0-9]{1,2})[飜翻]|役満)\)")
_POINTS = re.compile(r"(?:([0-9]{1,3})符[0-9]{1,2}[飜翻])?[^0-9]*([0-9]{1,6})(?:-([0-9]{1,6}))?点(∀?)")
_YAKU_NUMBERS = {name: number for number, name in enumerate(YAKU_NAMES)}
_DORA_FIELDS = {DORA_YAKU: "win_dora", URA_YAKU: "win_ura", RED_YAKU: "win_red"}


def parse_tenhou6(text: str, game_id: str, *, is_fragment_allowed: bool = False) -> GameLog:
    """Return the game of one JSON object.

    Without ``sc``, the final scores, the record is refused unless ``is_fragment_allowed``: then ``final_scores`` is
    None. Raises RecordError with reason and position; ForeignRecord for three players or no red fives.
    """
    try:
        value = parse_json(text.lstrip("\ufeff"))
    except ValueError as error:
        raise RecordError(f"not JSON: {error}", "the head") from error
    if not isinstance(value, dict) or not isinstance(value.get("log"), list):
        raise RecordError("the JSON has no log: a list of kyoku", "the head", quarantine.OTHER_FORMAT)
    rows = value["log"]
    if "sc" not in value and not is_fragment_allowed:
        raise RecordError("the record has no final scores: sc is missing", "the head", quarantine.NO_END)
    try:
        for number, row in enumerate(rows, start=1):
            if not isinstance(row, list) or len(row) != _KYOKU_PARTS or not all(isinstance(part, list) for part in row):
                raise ValueError(f"kyoku {number} of log is not a list of {_KYOKU_PARTS} lists")
        is_open_tanyao, room, start = _rules(value, rows)
        log = read_events(_events(value, rows, start), game_id, is_fragment_allowed=is_fragment_allowed)
        log.room = room
        log.rules = replace(log.rules, open_tanyao=is_open_tanyao)
        dans, ratings = value.get("dan"), value.get("rate")
        if isinstance(dans, list) and len(dans) == 4 and all(name in DAN_NAMES for name in dans):  # of other places: ()
            log.dans = tuple(map(DAN_NAMES.index, dans))
        if isinstance(ratings, list) and len(ratings) == 4 and all(type(each) in (int, float) for each in ratings):
            log.ratings = tuple(map(float, ratings)) if any(ratings) else ()
    except ValueError as error:
        raise error if isinstance(error, RecordError) else RecordError(str(error), "the head") from error
    for kyoku, row in zip(log.kyokus, rows, strict=False):
        kyoku.is_result_complete = kyoku.is_ura_known and _read_yaku(kyoku, row[_RESULT])
    return log


# ---- the rules


def _rules(value: JsonObject, rows: Sequence[list[Any]]) -> tuple[bool, str, JsonObject]:
    """Return whether open tanyao counts, the room, and keys of start_game: red fives and winds, as far as told."""
    rule = value.get("rule")
    rule = rule if isinstance(rule, dict) else {}
    disp = rule.get("disp")
    disp = disp if isinstance(disp, str) else ""
    tenhou = _RULES.fullmatch(disp)
    names = value.get("name")
    has_three_names = isinstance(names, list) and len(names) == 3
    if (tenhou and tenhou[1]) or has_three_names or any(not row[13] for row in rows):
        raise ForeignRecord("a game of three players", "rule", quarantine.THREE_PLAYERS)
    reds = {name: rule[name] for name in ("aka", "aka51", "aka52", "aka53") if name in rule}
    is_red = any(reds.values()) if reds else "赤" in disp
    if not is_red and (reds or tenhou):
        raise ForeignRecord("a game without red fives", "rule", quarantine.NO_RED_FIVES)
    if "aka" not in reds and any(number != 1 for number in reds.values()):
        numbers = ", ".join(f"{name} {number!r:.9}" for name, number in reds.items())
        raise ForeignRecord(f"a game with another number of red fives: {numbers}", "rule", quarantine.NO_RED_FIVES)
    start: JsonObject = {"aka_flag": True} if is_red else {}
    winds = {"南": TWO_WINDS, "south": TWO_WINDS, "東": EAST_ONLY, "east": EAST_ONLY}
    start |= next(({"kyoku_first": number} for name, number in winds.items() if name in disp.lower()), {})
    rooms = {letter: room for room, letter in ROOM_LETTERS.items()}
    is_ranked = tenhou is not None and value.get("lobby") == 0
    return not tenhou or bool(tenhou[4]), rooms[tenhou[2]] if tenhou and is_ranked else "", start


# ---- the moves


def _events(value: JsonObject, rows: Sequence[list[Any]], start: JsonObject) -> Iterator[JsonObject]:
    """Yield the game as mjai events; ``start``: keys of the first."""
    yield {"type": "start_game", "names": value.get("name", [""] * 4), **start}
    for number, row in enumerate(rows, start=1):
        events = _kyoku_events(row)
        try:
            first = next(events)
        except ValueError as error:  # the reader is still in the kyoku before
            raise RecordError(str(error), f"kyoku {number} of log") from error
        yield first
        yield from events
    if "sc" in value:
        scores = value["sc"]
        if not isinstance(scores, list) or len(scores) != 8:
            raise ValueError("sc is not a list of 8 numbers: points and result of each seat")
        yield {"type": "end_game", "scores": scores[::2]}


def _kyoku_events(row: Sequence[list[Any]]) -> Iterator[JsonObject]:
    numbers, scores, indicators, ura = row[:4]
    if len(numbers) != 3 or not all(type(number) is int for number in numbers) or numbers[0] not in range(12):
        raise ValueError("a kyoku does not begin with its number (0 to 11), honba and riichi sticks")
    kyoku, honba, kyotaku = numbers
    if not indicators:
        raise ValueError("there is no dora indicator")
    doras = [_face(number) for number in indicators]
    yield {
        "type": "start_kyoku",
        "bakaze": "ESW"[kyoku // 4],
        "kyoku": kyoku % 4 + 1,
        "honba": honba,
        "kyotaku": kyotaku,
        "scores": scores,
        "dora_marker": doras[0],
        "tehais": [[_face(number) for number in row[3 * seat + 4]] for seat in range(4)],
    }
    moves = moves_in_order(row[5::3], row[6::3], kyoku % 4)
    riichi_seats = [event["actor"] for event in moves if event["type"] == "reach"]
    ends = _ends(row[_RESULT], riichi_seats, [_face(number) for number in ura])
    is_claimed = ends[0]["type"] == "hora" or ends[0]["reason"] == END_OF_RESULT[codes.TRIPLE_RON_DRAW].mjai
    yield from _with_payments(moves, is_last_claimed=is_claimed)
    yield from ({"type": "dora", "dora_marker": dora} for dora in doras[1:])  # when does not matter to a GameLog
    yield from ends
    yield {"type": "end_kyoku"}


class _Turn(NamedTuple):
    """What a seat takes and plays, as mjai events, and the seat whose turn was before; -1 for the first turn."""

    before: int
    events: list[JsonObject]


def moves_in_order(takes: Sequence[list[Any]], plays: Sequence[list[Any]], dealer: int) -> list[JsonObject]:
    """Return the moves of all seats as mjai events in the order of the game, which ``dealer`` begins.

    ``takes`` and ``plays``: by seat. The last take of a seat may be without a play: the kyoku ends with it. ValueError
    if the moves do not fit together.
    """
    turns = [_turns(seat, takes[seat], plays[seat], dealer) for seat in range(4)]
    followed = Counter(turn.before for own in turns for turn in own)
    ends = [seat for seat, own in enumerate(turns) if len(own) > followed[seat]]
    backwards: list[list[JsonObject]] = []
    seat = ends[0] if len(ends) == 1 else -1
    while seat >= 0 and turns[seat]:
        seat, events = turns[seat].pop()
        backwards.append(events)
    if seat >= 0 or not backwards or any(turns):
        raise ValueError("the draws, calls and discards of the seats do not fit together")
    return [event for events in reversed(backwards) for event in events]


def _turns(seat: int, takes: list[Any], plays: list[Any], dealer: int) -> list[_Turn]:
    """Return the turns of one seat; an open kan is a turn without a play."""
    turns: list[_Turn] = []
    rest = [item for item in plays if type(item) is not int or item != AFTER_MINKAN]
    for item in takes:
        if isinstance(item, str):
            letter, place, tiles = _call(item, "cpm")
            source = SOURCE_PLACES[letter].get(place)
            if source is None:
                raise ValueError(f"{item:.40} does not tell from which seat the tile is")
            take = _meld(seat, letter, place, tiles) | {"target": (seat + source) % 4}
        else:
            take = {"type": "tsumo", "actor": seat, "pai": _face(item)}
        if turns and turns[-1].events[-1]["type"] in _KANS:
            before = seat
        elif take["type"] != "tsumo":
            before = take["target"]
        else:
            before = (seat - 1) % 4 if turns or seat != dealer else -1
        has_play = rest and take["type"] not in _KANS
        turns.append(_Turn(before, [take, *_play(seat, take, rest.pop(0))] if has_play else [take]))
    if rest:
        raise ValueError(f"seat {seat} plays {len(rest)} tiles more than it takes")
    return turns


def _with_payments(moves: Sequence[JsonObject], *, is_last_claimed: bool) -> Iterator[JsonObject]:
    """Yield the moves; a riichi stick is paid after its discard unless that is claimed for a win."""
    unpaid = None
    for event in moves:
        if unpaid is not None and event["type"] != "dahai":
            yield {"type": "reach_accepted", "actor": unpaid}
            unpaid = None
        yield event
        if event["type"] == "reach":
            unpaid = event["actor"]
    if unpaid is not None and not is_last_claimed:
        yield {"type": "reach_accepted", "actor": unpaid}


def _face(number: object) -> str:
    if type(number) is not int or number not in _FACE_NAMES:
        raise ValueError(f"{number!r:.40} is not a tile: use 11-19, 21-29, 31-39, 41-47, 51-53")
    return _FACE_NAMES[number]


def _play(seat: int, take: JsonObject, item: object) -> list[JsonObject]:
    """Return a discard, with its riichi, or a kan; what is discarded as drawn is the tile of the take before it."""
    riichi = _RIICHI.fullmatch(item) if isinstance(item, str) else None
    if isinstance(item, str) and riichi is None:
        return [_meld(seat, *_call(item, "ka"))]
    number = int(riichi[1]) if riichi else item
    is_tsumogiri = type(number) is int and number == TSUMOGIRI
    if is_tsumogiri and take["type"] != "tsumo":
        raise ValueError(f"seat {seat} discards the tile that it drew ({TSUMOGIRI}) after a {take['type']}")
    face = take["pai"] if is_tsumogiri else _face(number)
    discard = {"type": "dahai", "actor": seat, "pai": face, "tsumogiri": is_tsumogiri}
    return [{"type": "reach", "actor": seat}, discard] if riichi else [discard]


def _meld(seat: int, letter: str, before: int, tiles: list[str]) -> JsonObject:
    consumed = tiles if letter == "a" else [*tiles[:before], *tiles[before + 1 :]]
    return {"type": _CALL_NAMES[letter], "actor": seat, "pai": tiles[before], "consumed": consumed}


def _call(item: str, letters: str) -> tuple[str, int, list[str]]:
    """Return the letter of a call, how many tiles come before it, and all tiles in order."""
    match = _CALL.fullmatch(item)
    if match is None or match[2] not in letters or len(match[1] + match[3]) != 2 * _NUM_TILES[match[2]]:
        raise ValueError(f"{item!r:.40} is not a call")
    digits = match[1] + match[3]
    tiles = [_face(int(digits[start : start + 2])) for start in range(0, len(digits), 2)]
    return match[2], len(match[1]) // 2, tiles


def _ends(result: Sequence[Any], riichi_seats: Sequence[int], ura: Sequence[str]) -> list[JsonObject]:
    """Return the draw or the wins; a win is score changes and a list: winner, loser, liable seat, points and yaku."""
    name = result[0] if result else None
    if name != WIN:
        code = (DRAW_NAMES | _OTHER_DRAW_NAMES).get(name) if isinstance(name, str) else None
        if code is None:
            raise ValueError(f"the result {name!r:.40} is not {WIN} or {', '.join(DRAW_NAMES)}")
        draw: JsonObject = {"type": "ryukyoku", "reason": END_OF_RESULT[code].mjai, "deltas": [0, 0, 0, 0]}
        if name in (ALL_TENPAI, ALL_NOTEN):
            draw["tenpais"] = [name == ALL_TENPAI] * 4
        elif code in (codes.EXHAUSTIVE_DRAW, codes.NAGASHI_MANGAN):
            draw["deltas"] = result[1] if len(result) > 1 else None
        return [draw]
    wins = []
    for index in range(1, max(len(result), 2), 2):
        deltas, win = result[index : index + 2] if len(result) > index + 1 else (None, None)
        if not isinstance(win, list) or len(win) < 3:
            raise ValueError(f"the result {WIN} is not followed by score changes and a list for each win")
        markers = [*ura] if win[0] in riichi_seats else []
        wins.append({"type": "hora", "actor": win[0], "target": win[1], "deltas": deltas, "ura_markers": markers})
    return wins


# ---- the yaku


def _read_yaku(kyoku: KyokuLog, result: Sequence[Any]) -> bool:
    """Write points, han, fu and yaku of the wins into ``kyoku.result``; False if a win has them in words of others."""
    if kyoku.result["result"] != codes.WIN_RESULT:
        return True
    whole = kyoku.result.copy()
    for index, win in enumerate(result[2::2]):
        liable, *texts = win[2:]
        if liable not in (0, 1, 2, 3) or not texts or not all(isinstance(text, str) for text in texts):
            return False
        points, *yaku = [(_YAKU if number else _POINTS).fullmatch(text) for number, text in enumerate(texts)]
        names = [match[1] for match in yaku if match]
        if points is None or not 0 < len(yaku) == len(set(names) & _YAKU_NUMBERS.keys()):
            return False
        first, second = int(points[2]), int(points[3] or 0)
        if points[4]:
            first *= 3  # what each of three pays
        elif win[0] == win[1]:
            first = 2 * first + second  # what the two others and the dealer pay
        whole["win_points"][index] = first
        if liable != win[0]:
            whole["win_liable"][index] = liable
        for match in filter(None, yaku):
            number, han = _YAKU_NUMBERS[match[1]], int(match[2] or 0)
            whole["win_han"][index] += han
            if number in _DORA_FIELDS:
                whole[_DORA_FIELDS[number]][index] += han
            else:
                whole["win_yaku"][index] |= 1 << number
                whole["win_yakuman"][index] += number >= FIRST_YAKUMAN
        if not whole["win_yakuman"][index]:
            whole["win_fu"][index] = int(points[1] or 0)
    kyoku.result = whole
    return True


_LETTERS = {CHI_MELD: "c", PON_MELD: "p", MINKAN_MELD: "m"}
_PLACES = {letter: {source: place for place, source in places.items()} for letter, places in SOURCE_PLACES.items()}
_LIMITS = ("", "満貫", "跳満", "倍満", "三倍満", "数え役満")


def write_tenhou6(log: GameLog) -> str:
    """Return the JSON of a game, on one line that is ended by a newline.

    ValueError if the log cannot be played, if its rules are not Tenhou's, or if a result has no han, fu and yaku (read
    from mjai).
    """
    rules = log.rules
    refuse_untold_game(rules, rules_read_back(rules, tenpai_ends_game=does_tenpai_end_game(log)), log.id)
    disp = ROOM_LETTERS[log.room] + "東南"[rules.num_winds - 1] + ("喰" if rules.open_tanyao else "") + "赤"
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
    indicators = [_number(int(kyoku.wall[codes.DORA_POSITIONS[0]]))]
    playback = play_kyoku(kyoku)
    is_riichi = False
    for kind, seat, tile, is_tsumogiri, meld in playback.events:
        match kind:
            case "draw":
                takes[seat].append(_number(tile))
            case "discard":
                number = TSUMOGIRI if is_tsumogiri else _number(tile)
                plays[seat].append(f"r{number}" if is_riichi else number)
                is_riichi = False
            case "riichi":
                is_riichi = True
            case "call":
                (plays if meld.type in (ANKAN_MELD, KAKAN_MELD) else takes)[seat].append(_call_text(meld))
                if meld.type == MINKAN_MELD:
                    plays[seat].append(AFTER_MINKAN)
            case "dora":
                indicators.append(_number(tile))
    end, ura = playback, []
    winners = kyoku.result["win_seat"][: int(kyoku.result["num_wins"])].tolist()
    if end.riichi_seats.intersection(winners):
        ura = [_number(int(kyoku.wall[place])) for place in codes.URA_POSITIONS[: len(end.indicators)]]
    start = [[kyoku.kyoku, kyoku.honba, kyoku.kyotaku], list(kyoku.scores), indicators, ura]
    hands = [[_number(tile) for tile in sorted(hand)] for hand in dealt_hands(kyoku)]
    return [
        *start,
        *(part for parts in zip(hands, takes, plays, strict=True) for part in parts),
        _result_parts(kyoku, end),
    ]


def _number(tile: int) -> int:
    return FACE_NUMBERS[TILE_NAMES[FACE_OF_ID[tile]]]


def _call_text(meld: Meld) -> str:
    """Return a call; where its letter stands tells which seat gave the tile behind it."""
    called, hand = str(_number(meld.called)) if meld.called >= 0 else "", list(meld.hand_tiles())
    if meld.type == ANKAN_MELD:
        letter, place = "a", 3
    elif meld.type == KAKAN_MELD:
        letter, place = "k", _PLACES["p"][meld.source]
        called = f"{_number(meld.added)}{called}"
        hand = [tile for tile in meld.tiles if tile not in (meld.called, meld.added)]
    else:
        letter = _LETTERS[meld.type]
        place = _PLACES[letter][meld.source]
    texts = [str(_number(tile)) for tile in hand]
    return "".join([*texts[:place], letter, called, *texts[place:]])


def _result_parts(kyoku: KyokuLog, end: KyokuBuilder) -> list[Any]:
    result = kyoku.result
    code = int(result["result"])
    if code != codes.WIN_RESULT:
        tenpai = result["tenpai"].tolist()
        if code == codes.EXHAUSTIVE_DRAW and len(set(tenpai)) == 1:
            return [ALL_TENPAI if tenpai[0] else ALL_NOTEN]
        has_payments = code in (codes.EXHAUSTIVE_DRAW, codes.NAGASHI_MANGAN)
        return [END_OF_RESULT[code].tenhou6, *([result["deltas"].tolist()] if has_payments else [])]
    parts: list[Any] = [WIN]
    for index in range(int(result["num_wins"])):
        seat, loser, liable = (int(result[f"win_{name}"][index]) for name in ("seat", "loser", "liable"))
        is_open = any(meld.type != ANKAN_MELD for meld in end.melds[seat])
        yaku = [
            f"{YAKU_NAMES[number]}({f'{han}飜' if han else '役満'})"
            for number, han in yaku_of_win(result, index, is_open)
            if han or result["win_yakuman"][index]
        ]
        win = [seat, loser, liable if liable >= 0 else seat, _points_text(kyoku, index), *yaku]
        parts += [result["win_deltas"][index].tolist(), win]
    return parts


def _points_text(kyoku: KyokuLog, index: int) -> str:
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
