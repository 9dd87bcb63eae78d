"""Writes a GameLog as Tenhou's mjlog XML, the inverse of mjlog.py.

Three things of a real record are not in a GameLog and are written in one fixed form: the fu of a yakuman (0), which of
several equal tiles a seat discards (the lowest id), and the fast bit and lobby of GO. The second numbers of ``owari``
are computed: points against the target in thousands, plus 20, 10, -10, -20 by placement and the rest to the first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import assert_never

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD
from suphx.games.riichi import yaku_number
from suphx.games.riichi.records.game_log import GameLog, KyokuLog, does_tenpai_end_game
from suphx.games.riichi.records.kyoku_builder import encode_meld
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
    shown_hands,
)
from suphx.games.riichi.records.mjlog import (
    DORA_YAKU,
    DRAW_TYPES,
    HANCHAN,
    NO_OPEN_TANYAO,
    PLAYED_BY_HUMANS,
    RED_YAKU,
    ROOMS,
    URA_YAKU,
)
from suphx.games.riichi.rules import Rules, refuse_untold_game, refuse_untold_rules
from suphx.games.riichi.table import DORA_POSITIONS, URA_POSITIONS, WIN_RESULT, places_of_scores
from suphx.games.riichi.yaku import han_of

_RESULT_NAMES = {result: name for name, result in DRAW_TYPES.items()}
_ROOM_BITS = {room: bits | PLAYED_BY_HUMANS for bits, room in ROOMS.items()} | {"": 0}

# Yaku numbers about as Tenhou lists them, whose order depends on the year: riichi and chance first, dora last
_YAKU_ORDER = (1, 21, 2, 3, 4, 5, 6, 0, 7, 36, 8, 9, *range(14, 18), *range(10, 14), 18, 19, 20, *range(22, 36))
_RIICHI_YAKU = 1 << yaku_number.RIICHI | 1 << yaku_number.DOUBLE_RIICHI
_FIRST_YAKUMAN, _LAST_YAKUMAN = 37, 51


def write_mjlog(log: GameLog, seed: str = "") -> str:
    """Return the XML of a game; ``seed`` is its SHUFFLE seed if the walls come from one.

    ValueError if the log cannot be played, if its rules are not Tenhou's, if a result has no han, fu and yaku (read
    from mjai or tenhou6), or if points are no multiples of 100.
    """
    rules = log.rules
    refuse_untold_game(rules, _read_back(rules, tenpai_ends_game=does_tenpai_end_game(log)), log.id)
    tags = ['<mjloggm ver="2.3">', f'<SHUFFLE seed="{seed}" ref=""/>']
    kind = _ROOM_BITS[log.room]
    kind |= (HANCHAN if rules.num_winds == 2 else 0) | (0 if rules.open_tanyao else NO_OPEN_TANYAO)
    tags += [f'<GO type="{kind}" lobby="0"/>', _players(log), '<TAIKYOKU oya="0"/>']
    absent: list[int] = []
    for index, kyoku in enumerate(log.kyokus):
        final = log.final_scores if index == len(log.kyokus) - 1 else None
        tags += _KyokuWriter(log, kyoku, final).tags(absent)
    return "".join([*tags, "</mjloggm>"])


def refuse_rules_of_records(rules: Rules) -> None:
    """Raise UntoldRulesError if a match of ``rules`` cannot be written as mjlog, before it is played."""
    read_back = _read_back(rules, tenpai_ends_game=True)  # a game whose id has no hour is read so
    refuse_untold_rules(rules, read_back, "the match is played with", "leave out its records")


def _read_back(rules: Rules, *, tenpai_ends_game: bool) -> Rules:
    """Return the rules that a reader takes a game of ``rules`` for."""
    return Rules(num_winds=min(rules.num_winds, 2), open_tanyao=rules.open_tanyao, tenpai_ends_game=tenpai_ends_game)


def _players(log: GameLog) -> str:
    text = " ".join(f'n{seat}="{_percent(name)}"' for seat, name in enumerate(log.names))
    if log.dans:
        text += f' dan="{_join(log.dans)}"'
    if log.ratings:
        text += f' rate="{",".join(_rating(rating) for rating in log.ratings)}"'
    return f"<UN {text}/>"


class _KyokuWriter:
    def __init__(self, log: GameLog, kyoku: KyokuLog, final_scores: tuple[int, ...] | None) -> None:
        if not kyoku.is_result_complete:
            raise ValueError(f"game {log.id} has no han, fu and yaku (it came from mjai): mjlog needs them")
        self._log = log
        self._kyoku = kyoku
        self._owari = "" if final_scores is None else f' owari="{_owari(final_scores, log.rules.target_points)}"'

    def tags(self, absent: list[int]) -> Iterator[str]:
        """Yield the tags of the kyoku; ``absent`` is the list of disconnected seats and is kept up to date."""
        events = list(play_kyoku(self._kyoku))
        carried = _leading_leaves(events)
        stayed = [seat for seat in absent if seat in carried]
        stayed = stayed if stayed == carried[: len(stayed)] else []
        for seat in [seat for seat in absent if seat not in stayed]:
            yield self._un(seat)
        absent[:] = stayed
        yield self._init()
        for event in events[len(stayed) :]:
            if isinstance(event, Left):
                absent.append(event.seat)
            elif isinstance(event, CameBack):
                absent.remove(event.seat)
            yield from self._event(event)

    def _event(self, event: Event) -> Iterable[str]:
        match event:
            case Drew(seat, tile):
                return [f"<{'TUVW'[seat]}{tile}/>"]
            case Discarded(seat, tile, _):
                return [f"<{'DEFG'[seat]}{tile}/>"]
            case Called(seat, meld):
                return [f'<N who="{seat}" m="{encode_meld(meld)}" />']
            case DeclaredRiichi(seat):
                return [f'<REACH who="{seat}" step="1"/>']
            case PaidStick(seat, scores):
                return [f'<REACH who="{seat}" ten="{_hundreds(scores)}" step="2"/>']
            case TurnedDora(tile):
                return [f'<DORA hai="{tile}" />']
            case Left(seat):
                return [f'<BYE who="{seat}" />']
            case CameBack(seat):
                return [self._un(seat)]
            case Ended():
                return self._end(event)
            case _:
                assert_never(event)

    def _un(self, seat: int) -> str:
        return f'<UN n{seat}="{_percent(self._log.names[seat])}" />'

    def _init(self) -> str:
        kyoku = self._kyoku
        seed = _join((kyoku.kyoku, kyoku.honba, kyoku.kyotaku, *kyoku.dice, int(kyoku.wall[DORA_POSITIONS[0]])))
        text = " ".join(f'hai{seat}="{_join(hand)}"' for seat, hand in enumerate(dealt_hands(kyoku)))
        return f'<INIT seed="{seed}" ten="{_hundreds(kyoku.scores)}" oya="{kyoku.kyoku % 4}" {text}/>'

    def _end(self, end: Ended) -> Iterator[str]:
        result = self._kyoku.result
        if int(result["result"]) != WIN_RESULT:
            yield self._ryuukyoku(end)
            return
        scores = list(end.scores)
        num_wins = int(result["num_wins"])
        for index in range(num_wins):
            deltas: list[int] = result["win_deltas"][index].tolist()
            ba = f"{self._kyoku.honba},{0 if index else end.kyotaku}"
            owari = self._owari if index == num_wins - 1 else ""
            yield f'<AGARI ba="{ba}" {self._win(index, end)} sc="{_changes(scores, deltas)}"{owari} />'
            scores = [score + delta for score, delta in zip(scores, deltas, strict=True)]

    def _ryuukyoku(self, end: Ended) -> str:
        result = self._kyoku.result
        name = _RESULT_NAMES[int(result["result"])]
        kind = f'type="{name}" ' if name else ""
        shown = shown_hands(int(result["result"]), result["tenpai"], end.turn)
        hands = "".join(f' hai{seat}="{_join(end.hands[seat])}"' for seat in shown)
        sc = _changes(end.scores, result["deltas"].tolist())
        return f'<RYUUKYOKU {kind}ba="{self._kyoku.honba},{end.kyotaku}" sc="{sc}"{hands}{self._owari} />'

    def _win(self, index: int, end: Ended) -> str:
        result = self._kyoku.result
        seat, loser = int(result["win_seat"][index]), int(result["win_loser"][index])
        liable = int(result["win_liable"][index])
        machi = end.winning_tile
        hand = end.hands[seat] if seat == loser else sorted([*end.hands[seat], machi])
        parts = [f'hai="{_join(hand)}"']
        melds = end.melds[seat]
        if melds:
            parts.append(f'm="{_join(encode_meld(meld) for meld in reversed(melds))}"')
        is_open = any(meld.type != ANKAN_MELD for meld in melds)
        parts += [f'machi="{machi}" ten="{_ten(result, index, seat == self._kyoku.kyoku % 4)}"']
        parts += [_yaku(result, index, is_open), f'doraHai="{_join(end.indicators)}"']
        if seat in end.riichi_seats:
            ura = [int(self._kyoku.wall[position]) for position in URA_POSITIONS[: len(end.indicators)]]
            parts.append(f'doraHaiUra="{_join(ura)}"')
        parts.append(f'who="{seat}" fromWho="{loser}"' + (f' paoWho="{liable}"' if liable >= 0 else ""))
        return " ".join(parts)


def _leading_leaves(events: Sequence[Event]) -> list[int]:
    """Return the seats that are absent when the kyoku starts."""
    seats: list[int] = []
    for event in events:
        if not isinstance(event, Left):
            break
        seats.append(event.seat)
    return seats


def yaku_of_win(result: np.void, index: int, is_open: bool) -> list[tuple[int, int]]:
    """Return number (mjlog's, dora too) and han of each yaku of a win; ValueError if they are not its han.

    A yakuman has han 0. With riichi the ura dora are listed even if there are none.
    """
    bits = int(result["win_yaku"][index])
    if result["win_yakuman"][index]:
        return [(number, 0) for number in range(_FIRST_YAKUMAN, _LAST_YAKUMAN + 1) if bits >> number & 1]
    pairs = [(number, int(han_of(number, not is_open))) for number in _YAKU_ORDER if bits >> number & 1]
    dora = ((DORA_YAKU, "win_dora"), (RED_YAKU, "win_red"), (URA_YAKU, "win_ura"))
    for number, name in dora:
        han = int(result[name][index])
        if han or (number == URA_YAKU and bits & _RIICHI_YAKU):
            pairs.append((number, han))
    total, recorded = sum(han for _, han in pairs), int(result["win_han"][index])
    if total != recorded:
        raise ValueError(f"a win has {recorded} han, but its yaku {bits:#x} and dora count {total}")
    return pairs


def _yaku(result: np.void, index: int, is_open: bool) -> str:
    pairs = yaku_of_win(result, index, is_open)
    if result["win_yakuman"][index]:
        return f'yakuman="{_join(number for number, _ in pairs)}"'
    return f'yaku="{_join(value for pair in pairs for value in pair)}"'


def limit_of_win(result: np.void, index: int, is_dealer: bool) -> int:
    """Return the limit that a win reaches: 0 none, 1 mangan, 2 haneman, 3 baiman, 4 sanbaiman, 5 yakuman."""
    points, han = int(result["win_points"][index]), int(result["win_han"][index])
    mangan = 12_000 if is_dealer else 8_000
    limits = (mangan, mangan * 3 // 2, mangan * 2, mangan * 3, mangan * 4)
    return 0 if han < 5 and points < mangan else sum(points >= least for least in limits)


def _ten(result: np.void, index: int, is_dealer: bool) -> str:
    """Return fu, points, and the limit."""
    fu = int(result["win_fu"][index])
    if not fu and not result["win_yakuman"][index]:
        raise ValueError("the fu of a limit hand is not known (tenhou6 does not have it): mjlog needs it")
    return f"{fu},{int(result['win_points'][index])},{limit_of_win(result, index, is_dealer)}"


def results_of_game(scores: Sequence[int], target_points: int) -> list[int]:
    """Return what each seat has at the end in tenths of 1,000 points: against the target, and by placement."""
    places: list[int] = places_of_scores(np.array([scores], np.int32))[0].tolist()
    bonus = {1: 0, 2: 10_000, 3: -10_000, 4: -20_000}
    tenths = [(score - target_points + bonus[place]) // 100 for score, place in zip(scores, places, strict=True)]
    first = places.index(1)
    tenths[first] -= sum(tenths)
    return tenths


def _owari(scores: Sequence[int], target_points: int) -> str:
    tenths = results_of_game(scores, target_points)
    return ",".join(f"{_hundred(score)},{tenth / 10:.1f}" for score, tenth in zip(scores, tenths, strict=True))


def _changes(scores: Sequence[int], deltas: Sequence[int]) -> str:
    return ",".join(f"{_hundred(score)},{_hundred(delta)}" for score, delta in zip(scores, deltas, strict=True))


def _hundreds(scores: Sequence[int]) -> str:
    return _join(_hundred(score) for score in scores)


def _hundred(points: int) -> int:
    if points % 100:
        raise ValueError(f"{points} points cannot be written: mjlog counts hundreds")
    return points // 100


def _join(values: Iterable[int]) -> str:
    return ",".join(str(value) for value in values)


def _rating(rating: float) -> str:
    text = f"{rating:.2f}"
    return text if float(text) == rating else repr(rating)


def _percent(name: str) -> str:
    return "".join(f"%{byte:02X}" for byte in name.encode())
