"""Reads and writes Tenhou's mjlog XML: one text is one game (docs/records.md).

Strict about tags, tiles, turns and scores, indifferent to unknown attributes. Tags of the connection and of chat, and
names that cannot be read, are left out and counted (``GameLog.ignored``). The wins of a triple ron are not
in the record: ``ron3`` follows the discard with no AGARI, so the log has TRIPLE_RON_DRAW and no RON moves (all
three others won). A seat that is absent when a kyoku starts has a LEAVE mark first of all.

Three things of a real record are not in a GameLog and are written in one fixed form: the fu of a yakuman (0), which of
several equal tiles a seat discards (the lowest id), and the fast bit and lobby of GO. The second numbers of ``owari``
are computed: points against the target in thousands, plus 20, 10, -10, -20 by placement and the rest to the first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from suphx.games.mahjong.tile import ANKAN_MELD
from suphx.games.riichi import table as codes
from suphx.games.riichi import yaku_number
from suphx.games.riichi.records import mjlog_xml as xml
from suphx.games.riichi.records import quarantine
from suphx.games.riichi.records.game_log import DRAWN_ENDS, END_OF_RESULT, GameLog, KyokuLog, does_tenpai_end_game
from suphx.games.riichi.records.kyoku_builder import STICK, KyokuBuilder, Win, dealt_hands, play_kyoku, shown_hands
from suphx.games.riichi.records.quarantine import ForeignRecord, RecordError, kind_of
from suphx.games.riichi.records.shuffle_seed import SeededWalls
from suphx.games.riichi.rules import Rules, refuse_untold_game, refuse_untold_rules
from suphx.games.riichi.table import places_of_scores
from suphx.games.riichi.yaku import han_of

DRAW_TYPES = {end.mjlog: end.result for end in DRAWN_ENDS}

ROOMS = {0: "general", 0x80: "advanced", 0x20: "expert", 0xA0: "phoenix"}
"""Bits 0x20 and 0x80 of the GO type -> room, of games of people in the lobby 0; others are played in no room."""

PLAYED_BY_HUMANS = 0x01
NO_RED, NO_OPEN_TANYAO, HANCHAN, SANMA = 0x02, 0x04, 0x08, 0x10
ROOM_MASK = 0xA0
DORA_YAKU, URA_YAKU, RED_YAKU = 52, 53, 54

_TILE_TAG = re.compile(r"([DEFGTUVW])([0-9]{1,3})", re.ASCII)
_LIVE_TAGS = frozenset((
    xml.SCENE, "CHAT", "FURITEN", "GOK", "HELO", "JOIN", "LN", "NEXTREADY", "PROF", "PXR", "RANKING", "REJOIN", "Z",
))  # fmt: skip
"""Tags that a game does not need: of programs that keep the live connection, and those that wrap each deal."""
_ONCE = ("GO", "SHUFFLE", "TAIKYOKU")
_MAX_KYOKU = 11  # West 4
_NUM_SC, _NUM_SC_WITH_CHIPS = 8, 16
_MAX_POINTS = 1_000_000  # hundreds
_SEAT_NAMES = ("n0", "n1", "n2", "n3")
_HAND_NAMES = ("hai0", "hai1", "hai2", "hai3")


def parse_mjlog(text: str, game_id: str, seed: str | None = None, *, is_fragment_allowed: bool = False) -> GameLog:
    """Return the game of one mjlog text (from ``<mjloggm`` to ``</mjloggm>``).

    ``seed`` is the SHUFFLE seed if it is stored apart from the text; with one, every wall is the computed wall and
    ``deal`` and ``draws`` keep what the record shows, so that the replay can compare. A seed that cannot be used is
    named in ``seed_problem``. A record that is closed properly but has no final score is refused unless
    ``is_fragment_allowed``: then its finished kyokus are returned.
    Raises RecordError with reason and position; ForeignRecord for three players, no red fives or chips.
    """
    reader = _GameReader(game_id, seed, is_fragment_allowed)
    number = place = 0
    try:
        for number, (place, name, attributes) in enumerate(xml.read_tags(text), start=1):  # noqa: B007 (the position)
            reader.read(name, attributes)
        return reader.finish()
    except RecordError:
        raise
    except ValueError as error:
        position = f"{reader.position}, tag {number}, byte {place}"
        raise RecordError(str(error), position, kind_of(error)) from error


class _GameReader:
    """Consumes tags in order; ``finish`` gives the game."""

    def __init__(self, game_id: str, seed: str | None, is_fragment_allowed: bool) -> None:
        self.position = "the head"
        self._is_fragment_allowed = is_fragment_allowed
        self._log = GameLog(id=game_id, rules=Rules(), names=("", "", "", ""))
        self._walls = SeededWalls(seed)
        self._builder: KyokuBuilder | None = None
        self._absent: list[int] = []
        self._seen: set[str] = set()
        self._is_closed = False

    def read(self, name: str, attributes: xml.Attributes) -> None:
        """Read one tag."""
        if match := _TILE_TAG.fullmatch(name):
            letter, tile = match[1], int(match[2])
            if self._builder is None or self._is_closed:
                raise ValueError(f"tag {letter}{tile} is outside a kyoku")
            move = self._builder.draw if letter >= "T" else self._builder.discard
            move("DEFGTUVW".index(letter) % 4, tile)
            return
        if name in _LIVE_TAGS and self._seen and not self._is_closed:
            self._log.ignored[f"tag {name}"] += 1
            return
        if self._is_closed or (name == "mjloggm") == bool(self._seen):
            raise ValueError(f"tag {name:.40} is outside the record")
        if name in _ONCE and name in self._seen:
            raise ValueError(f"tag {name} comes twice")
        if self._log.final_scores is not None and name not in ("BYE", "UN", "/mjloggm"):
            raise ValueError(f"tag {name:.40} follows the end of the game")
        self._read_named(name, attributes)
        self._seen.add(name)

    def _read_named(self, name: str, attributes: xml.Attributes) -> None:
        match name:
            case "mjloggm":
                pass  # its version does not matter
            case "SHUFFLE":
                self._walls.read_seed(attributes.get("seed", ""))
            case "GO":
                self._read_go(attributes)
            case "UN":
                self._read_un(attributes)
            case "TAIKYOKU":
                if xml.number_in(attributes, "oya", 0, 3) != 0:
                    raise ValueError("the first dealer is not seat 0")
            case "BYE":
                seat = xml.seat_in(attributes, "who")
                if seat not in self._absent:  # twice in a row happens and means nothing more
                    self._absent.append(seat)
                    if self._builder is not None and not self._builder.is_over:
                        self._builder.leave(seat)
            case "INIT":
                self._read_init(attributes)
            case "N":
                call, seat = self._playing.call, xml.seat_in(attributes, "who")
                call(seat, xml.decode_meld(xml.number_in(attributes, "m", 0, 0xFFFF)))
            case "DORA":
                self._playing.reveal(xml.number_in(attributes, "hai", 0, 135))
            case "REACH":  # step 1 stands before the discard, step 2 where the stick is paid
                seat = xml.seat_in(attributes, "who")
                if xml.number_in(attributes, "step", 1, 2) == 1:
                    self._playing.declare_riichi(seat)
                    return
                self._playing.pay_stick(seat)
                if "ten" in attributes:
                    self._compare_scores(xml.points_in(attributes, "ten"))
            case "AGARI":
                self._read_agari(attributes)
                self._read_owari(attributes)
            case "RYUUKYOKU":
                self._read_ryuukyoku(attributes)
                self._read_owari(attributes)
            case "/mjloggm":
                if self._builder is not None and not self._builder.is_over:
                    if not self._is_fragment_allowed:
                        reason = "the record ends before the game: the last kyoku has no end"
                        raise RecordError(reason, self.position, quarantine.NO_END)
                    self._builder = None
                self._finish_kyoku()
                self._is_closed = True
            case _:
                raise ValueError(f"unknown tag {name:.40}")

    def finish(self) -> GameLog:
        """Return the game, or raise if it is not whole."""
        if not self._is_closed:
            raise RecordError("the record ends without </mjloggm>: it is truncated", self.position, quarantine.NO_END)
        if self._log.final_scores is None and not self._is_fragment_allowed:
            reason = "the record ends before the game: the last kyoku has no owari"
            raise RecordError(reason, self.position, quarantine.NO_END)
        if not self._log.kyokus:
            raise RecordError("the record has no finished kyoku", self.position, quarantine.NO_KYOKU)
        self._log.seed_problem = self._walls.problem
        self._log.rules = replace(self._log.rules, tenpai_ends_game=does_tenpai_end_game(self._log))
        return self._log

    def _read_go(self, attributes: xml.Attributes) -> None:
        kind = xml.number_in(attributes, "type", 0, 0xFFFF)
        if kind & SANMA:
            raise ForeignRecord("a game of three players", "tag GO", quarantine.THREE_PLAYERS)
        if kind & NO_RED:
            raise ForeignRecord("a game without red fives", "tag GO", quarantine.NO_RED_FIVES)
        is_ranked = kind & PLAYED_BY_HUMANS and attributes.get("lobby", "0").strip() == "0"
        self._log.room = ROOMS[kind & ROOM_MASK] if is_ranked else ""
        self._log.rules = Rules(num_winds=2 if kind & HANCHAN else 1, open_tanyao=not kind & NO_OPEN_TANYAO)

    def _read_un(self, attributes: xml.Attributes) -> None:
        """Read UN: all players at the head, later the one who comes back."""
        if not self._seen & {"UN", "INIT"}:
            names = []
            for text in [xml.attribute(attributes, name) for name in _SEAT_NAMES]:
                try:
                    names.append(xml.name_in(text))
                except ValueError:
                    names.append("")
                    self._log.ignored["a name that is not UTF-8"] += 1
            self._log.names = (names[0], names[1], names[2], names[3])
            if "dan" in attributes:
                self._log.dans = tuple(xml.numbers_in(attributes, "dan", 0, 1000, 4))
            if "rate" in attributes:
                self._log.ratings = xml.ratings_in(attributes["rate"])
            return
        back = [seat for seat, name in enumerate(_SEAT_NAMES) if name in attributes]
        if not back:
            raise ValueError("tag UN names no seat that comes back")
        for seat in back:
            if seat not in self._absent:
                raise ValueError(f"seat {seat} comes back without having left")
            self._absent.remove(seat)
            if self._builder is not None and not self._builder.is_over:
                self._builder.come_back(seat)

    def _read_init(self, attributes: xml.Attributes) -> None:
        if "GO" not in self._seen:
            raise ValueError("tag INIT comes before GO, which has the rules of the game")
        self._finish_kyoku()
        kyoku, honba, kyotaku, first_die, second_die, indicator = xml.numbers_in(attributes, "seed", 0, 999, 6)
        if kyoku > _MAX_KYOKU or xml.number_in(attributes, "oya", 0, 3) != kyoku % 4:
            raise ValueError(f"kyoku {kyoku} is not East 1 to West 4, or its dealer is not seat {kyoku % 4}")
        if first_die > 5 or second_die > 5:
            raise ValueError(f"dice {first_die}, {second_die} are not 0 to 5")
        self.position = f"kyoku {kyoku} honba {honba}"
        self._walls.start_kyoku(is_start_of_game=not (kyoku or honba), shuffle=attributes.get("shuffle", ""))
        scores = xml.points_in(attributes, "ten")
        if self._builder is not None and scores != self._builder.scores:
            raise ValueError(f"the kyoku starts with {scores}, but the one before ended with {self._builder.scores}")
        self._builder = KyokuBuilder(
            kyoku=kyoku,
            honba=honba,
            kyotaku=kyotaku,
            scores=scores,
            hands=[xml.tiles_in(attributes, name) for name in _HAND_NAMES],
            indicator=indicator,
            dice=(first_die, second_die),
            absent=self._absent,
        )

    def _read_agari(self, attributes: xml.Attributes) -> None:
        builder = self._running
        self._compare_table(attributes)
        seat = xml.seat_in(attributes, "who")
        win = _win(attributes, seat)
        if xml.tiles_in(attributes, "doraHai") != builder.indicators:
            raise ValueError(f"doraHai is not the list of indicators turned over: {builder.indicators}")
        hand = sorted(builder.hand(seat) if win.loser == seat else [*builder.hand(seat), win.tile])
        if sorted(xml.tiles_in(attributes, "hai")) != hand:
            raise ValueError(f"hai is not the hand of seat {seat}: {hand}")
        builder.win(win)

    def _read_ryuukyoku(self, attributes: xml.Attributes) -> None:
        """Read RYUUKYOKU: a drawn kyoku; seats whose hand is shown are tenpai at an exhaustive draw."""
        builder = self._playing
        self._compare_table(attributes)
        name = attributes.get("type", "")
        if name not in DRAW_TYPES:
            raise ValueError(f"RYUUKYOKU type {name[:40]!r} is not one of {', '.join(filter(None, DRAW_TYPES))}")
        result = DRAW_TYPES[name]
        shown = [int(hand in attributes) for hand in _HAND_NAMES]
        for seat, hand in enumerate(_HAND_NAMES):
            if shown[seat] and sorted(xml.tiles_in(attributes, hand)) != builder.hand(seat):
                raise ValueError(f"{hand} is not the hand of seat {seat}: {builder.hand(seat)}")
        is_tenpai_shown = result in (codes.EXHAUSTIVE_DRAW, codes.NAGASHI_MANGAN)
        builder.end_in_draw(result, xml.changes_in(attributes), shown if is_tenpai_shown else (0, 0, 0, 0))

    @property
    def _running(self) -> KyokuBuilder:
        if self._builder is None:
            raise ValueError("the tag comes before the first INIT")
        return self._builder

    @property
    def _playing(self) -> KyokuBuilder:
        builder = self._running
        if builder.is_over:
            raise ValueError("the tag comes after the end of the kyoku")
        return builder

    def _compare_scores(self, scores: list[int]) -> None:
        if scores != self._running.scores:
            raise ValueError(f"scores {scores} are recorded, but sticks and wins so far give {self._running.scores}")

    def _compare_table(self, attributes: xml.Attributes) -> None:
        """Compare honba, sticks and scores of an end tag with what went before."""
        _, kyotaku = xml.numbers_in(attributes, "ba", 0, 999, 2)
        if xml.attribute(attributes, "sc").count(",") == _NUM_SC_WITH_CHIPS - 1:
            raise ForeignRecord("a game with chips: sc has 16 numbers instead of 8", self.position, quarantine.CHIPS)
        scores = xml.numbers_in(attributes, "sc", -_MAX_POINTS, _MAX_POINTS, _NUM_SC)[::2]
        self._compare_scores([100 * value for value in scores])
        if not self._running.is_over and kyotaku != self._running.kyotaku:
            raise ValueError(f"{kyotaku} sticks are recorded, but {self._running.kyotaku} lie on the table")

    def _read_owari(self, attributes: xml.Attributes) -> None:
        if "owari" not in attributes:
            return
        parts = attributes["owari"].split(",")
        if len(parts) != 8:
            raise ValueError(f"owari has {len(parts)} numbers instead of 8")
        first, second, third, fourth = xml.points_in({"owari": ",".join(parts[::2])}, "owari")
        self._log.final_scores = (first, second, third, fourth)

    def _finish_kyoku(self) -> None:
        if self._builder is None:
            return
        wall = self._walls.finish_kyoku(self._builder.dealt, self._builder.indicators[0])
        self._log.kyokus.append(self._builder.finish(wall))


def _win(attributes: xml.Attributes, seat: int) -> Win:
    han: Counter[int] = Counter()
    pairs = xml.numbers_in(attributes, "yaku", 0, RED_YAKU, None) if "yaku" in attributes else []
    if not pairs:
        xml.attribute(attributes, "yakuman")
    yakuman = xml.numbers_in(attributes, "yakuman", 0, 51, None) if "yakuman" in attributes else []
    if len(pairs) % 2:
        raise ValueError("yaku is not a list of pairs: number, han")
    for number, value in zip(pairs[::2], pairs[1::2], strict=True):
        han[number] += value
    fu, points, _ = xml.numbers_in(attributes, "ten", 0, _MAX_POINTS, 3)
    return Win(
        seat=seat,
        loser=xml.seat_in(attributes, "fromWho"),
        tile=xml.number_in(attributes, "machi", 0, 135),
        deltas=xml.changes_in(attributes),
        liable=xml.seat_in(attributes, "paoWho") if "paoWho" in attributes else -1,
        han=0 if yakuman else han.total(),
        fu=0 if yakuman else fu,
        yakuman=len(yakuman),
        dora=han[DORA_YAKU],
        red=han[RED_YAKU],
        ura=han[URA_YAKU],
        yaku=sum(1 << number for number in {*han, *yakuman} - {DORA_YAKU, RED_YAKU, URA_YAKU}),
        points=points,
        ura_indicators=xml.tiles_in(attributes, "doraHaiUra") if "doraHaiUra" in attributes else (),
    )


_ROOM_BITS = {room: bits | PLAYED_BY_HUMANS for bits, room in ROOMS.items()} | {"": 0}

# Yaku numbers about as Tenhou lists them, whose order depends on the year: riichi and chance first, dora last
_YAKU_ORDER = (1, 21, 2, 3, 4, 5, 6, 0, 7, 36, 8, 9, *range(14, 18), *range(10, 14), 18, 19, 20, *range(22, 36))
_RIICHI_YAKU = 1 << yaku_number.RIICHI | 1 << yaku_number.DOUBLE_RIICHI
_FIRST_YAKUMAN, _LAST_YAKUMAN = 37, 51


def write_mjlog(log: GameLog) -> str:
    """Return the XML of a game.

    ValueError if the log cannot be played, if its rules are not Tenhou's, if a result has no han, fu and yaku (read
    from mjai or tenhou6), or if points are not multiples of 100.
    """
    rules = log.rules
    refuse_untold_game(rules, rules_read_back(rules, tenpai_ends_game=does_tenpai_end_game(log)), log.id)
    kind = _ROOM_BITS[log.room]
    kind |= (HANCHAN if rules.num_winds == 2 else 0) | (0 if rules.open_tanyao else NO_OPEN_TANYAO)
    players = " ".join(f'n{seat}="{_percent(name)}"' for seat, name in enumerate(log.names))
    if log.dans:
        players += f' dan="{_join(log.dans)}"'
    if log.ratings:
        texts = ((f"{rating:.2f}", rating) for rating in log.ratings)
        players += f' rate="{",".join(text if float(text) == rating else repr(rating) for text, rating in texts)}"'
    tags = ['<mjloggm ver="2.3">', '<SHUFFLE seed="" ref=""/>', f'<GO type="{kind}" lobby="0"/>']
    tags += [f"<UN {players}/>", '<TAIKYOKU oya="0"/>']
    absent: list[int] = []
    for index, kyoku in enumerate(log.kyokus):
        final = log.final_scores if index == len(log.kyokus) - 1 else None
        tags += _kyoku_tags(log, kyoku, final, absent)
    return "".join([*tags, "</mjloggm>"])


def refuse_rules_of_records(rules: Rules) -> None:
    """Raise UntoldRulesError if a match of ``rules`` cannot be written as mjlog, before it is played."""
    read_back = rules_read_back(rules, tenpai_ends_game=True)  # a game whose id has no hour is read so
    refuse_untold_rules(rules, read_back, "the match is played with", "leave out its records")


def rules_read_back(rules: Rules, *, tenpai_ends_game: bool) -> Rules:
    """Return the rules that a reader takes a game of ``rules`` for."""
    return Rules(num_winds=min(rules.num_winds, 2), open_tanyao=rules.open_tanyao, tenpai_ends_game=tenpai_ends_game)


def _kyoku_tags(
    log: GameLog, kyoku: KyokuLog, final_scores: tuple[int, ...] | None, absent: list[int]
) -> Iterator[str]:  # fmt: skip
    """Yield the tags of a kyoku; ``absent`` is the list of disconnected seats and is kept up to date."""
    if not kyoku.is_result_complete:
        raise ValueError(f"game {log.id} has no han, fu and yaku (it came from mjai): mjlog needs them")
    owari = ""
    if final_scores is not None:
        tenths = results_of_game(final_scores, log.rules.target_points)
        results = (f"{_hundred(score)},{tenth / 10:.1f}" for score, tenth in zip(final_scores, tenths, strict=True))
        owari = f' owari="{",".join(results)}"'
    playback = play_kyoku(kyoku)
    away = [event.seat for event in takewhile(lambda event: event.kind == "leave", playback.events)]  # at the start
    stayed = [seat for seat in absent if seat in away]
    stayed = stayed if stayed == away[: len(stayed)] else []
    for seat in [seat for seat in absent if seat not in stayed]:
        yield f'<UN n{seat}="{_percent(log.names[seat])}" />'
    absent[:] = stayed
    start = (kyoku.kyoku, kyoku.honba, kyoku.kyotaku, *kyoku.dice, int(kyoku.wall[codes.DORA_POSITIONS[0]]))
    hands = " ".join(f'hai{seat}="{_join(hand)}"' for seat, hand in enumerate(dealt_hands(kyoku)))
    yield f'<INIT seed="{_join(start)}" ten="{_hundreds(kyoku.scores)}" oya="{kyoku.kyoku % 4}" {hands}/>'
    scores = list(kyoku.scores)
    for kind, seat, tile, _, meld in playback.events[len(stayed) :]:
        match kind:
            case "draw":
                yield f"<{'TUVW'[seat]}{tile}/>"
            case "discard":
                yield f"<{'DEFG'[seat]}{tile}/>"
            case "call":
                yield f'<N who="{seat}" m="{xml.encode_meld(meld)}" />'
            case "riichi":
                yield f'<REACH who="{seat}" step="1"/>'
            case "stick":
                scores[seat] -= STICK
                yield f'<REACH who="{seat}" ten="{_hundreds(scores)}" step="2"/>'
            case "dora":
                yield f'<DORA hai="{tile}" />'
            case "leave":
                absent.append(seat)
                yield f'<BYE who="{seat}" />'
            case "return":
                absent.remove(seat)
                yield f'<UN n{seat}="{_percent(log.names[seat])}" />'
    yield from _end_tags(kyoku, playback, owari)


def _end_tags(kyoku: KyokuLog, end: KyokuBuilder, owari: str) -> Iterator[str]:
    result, scores = kyoku.result, list(end.scores)
    code, num_wins = int(result["result"]), int(result["num_wins"])
    if code != codes.WIN_RESULT:
        kind = f'type="{END_OF_RESULT[code].mjlog}" ' if END_OF_RESULT[code].mjlog else ""
        shown = shown_hands(code, result["tenpai"], end.turn)
        hands = "".join(f' hai{seat}="{_join(end.hand(seat))}"' for seat in shown)
        sc = _changes(scores, result["deltas"].tolist())
        yield f'<RYUUKYOKU {kind}ba="{kyoku.honba},{end.kyotaku}" sc="{sc}"{hands}{owari} />'
        return
    for index in range(num_wins):
        deltas: list[int] = result["win_deltas"][index].tolist()
        ba = f"{kyoku.honba},{0 if index else end.kyotaku}"
        last = owari if index == num_wins - 1 else ""
        yield f'<AGARI ba="{ba}" {_win_text(kyoku, index, end)} sc="{_changes(scores, deltas)}"{last} />'
        scores = [score + delta for score, delta in zip(scores, deltas, strict=True)]


def _win_text(kyoku: KyokuLog, index: int, end: KyokuBuilder) -> str:
    result = kyoku.result
    seat, loser, liable, fu, points = (
        int(result[f"win_{name}"][index]) for name in ("seat", "loser", "liable", "fu", "points")
    )
    melds, is_yakuman = end.melds[seat], bool(result["win_yakuman"][index])
    parts = [f'hai="{_join(end.hand(seat) if seat == loser else sorted([*end.hand(seat), end.last]))}"']
    if melds:
        parts.append(f'm="{_join(xml.encode_meld(meld) for meld in reversed(melds))}"')
    if not fu and not is_yakuman:
        raise ValueError("the fu of a limit hand is not known (tenhou6 does not have it): mjlog needs it")
    limit = limit_of_win(result, index, seat == kyoku.kyoku % 4)
    parts.append(f'machi="{end.last}" ten="{fu},{points},{limit}"')
    pairs = yaku_of_win(result, index, any(meld.type != ANKAN_MELD for meld in melds))
    if is_yakuman:
        parts.append(f'yakuman="{_join(number for number, _ in pairs)}"')
    else:
        parts.append(f'yaku="{_join(value for pair in pairs for value in pair)}"')
    parts.append(f'doraHai="{_join(end.indicators)}"')
    if seat in end.riichi_seats:
        ura = kyoku.wall[list(codes.URA_POSITIONS[: len(end.indicators)])].tolist()
        parts.append(f'doraHaiUra="{_join(ura)}"')
    parts.append(f'who="{seat}" fromWho="{loser}"' + (f' paoWho="{liable}"' if liable >= 0 else ""))
    return " ".join(parts)


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


def limit_of_win(result: np.void, index: int, is_dealer: bool) -> int:
    """Return the limit that a win reaches: 0 none, 1 mangan, 2 haneman, 3 baiman, 4 sanbaiman, 5 yakuman."""
    points, han = int(result["win_points"][index]), int(result["win_han"][index])
    mangan = 12_000 if is_dealer else 8_000
    limits = (mangan, mangan * 3 // 2, mangan * 2, mangan * 3, mangan * 4)
    return 0 if han < 5 and points < mangan else sum(points >= least for least in limits)


def results_of_game(scores: Sequence[int], target_points: int) -> list[int]:
    """Return what each seat has at the end in tenths of 1,000 points: against the target, and by placement."""
    places: list[int] = places_of_scores(np.array([scores], np.int32))[0].tolist()
    bonus = {1: 0, 2: 10_000, 3: -10_000, 4: -20_000}
    tenths = [(score - target_points + bonus[place]) // 100 for score, place in zip(scores, places, strict=True)]
    first = places.index(1)
    tenths[first] -= sum(tenths)
    return tenths


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


def _percent(name: str) -> str:
    return "".join(f"%{byte:02X}" for byte in name.encode())
