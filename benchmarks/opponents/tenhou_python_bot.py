"""Lets tenhou-python-bot play as an agent of ``suphx evaluate``.

    git clone https://github.com/MahjongRepository/tenhou-python-bot
    python -m venv bot && bot/bin/pip install mahjong==1.2.0.dev7
    suphx evaluate --candidate "mjai:bot/bin/python benchmarks/opponents/tenhou_python_bot.py tenhou-python-bot" …

The bot speaks Tenhou's own protocol and counts tiles by ids from 0 to 135; mjai names faces. This adapter keeps its
table up to date from the events of mjai, as the bot's own client does from Tenhou's messages, and asks it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

Event = dict[str, Any]
KINDS: list[str] = [*(f"{number}{suit}" for suit in "mps" for number in range(1, 10)), *"ESWNPFC"]
RED_IDS = {"5mr": 16, "5pr": 52, "5sr": 88}
NONE: Event = {"type": "none"}


def face_of(tile: int) -> str:
    """Return mjai's name of a tile id."""
    for face, red in RED_IDS.items():
        if tile == red:
            return face
    return KINDS[tile // 4]


class TileIds:
    """Gives tiles that are seen the lowest free ids of their face."""

    def __init__(self) -> None:
        self._used: set[int] = set()

    def new(self, face: str) -> int:
        """Return the id of a tile that is seen for the first time; ValueError if all of them were."""
        ids = [RED_IDS[face]] if face in RED_IDS else range(KINDS.index(face) * 4, KINDS.index(face) * 4 + 4)
        for tile in ids:
            if tile not in self._used and (face in RED_IDS or tile not in RED_IDS.values()):
                self._used.add(tile)
                return tile
        raise ValueError(f"there are more tiles {face} than a game has")


class Bot:
    """The bot at one seat. ``hear`` tells it what happened; ``decide`` asks what it does."""

    def __init__(self, seat: int) -> None:
        """Make its table. The bot's folder ``project`` must be on the path of modules."""
        import_module("utils.settings_handler").settings.PRINT_LOGS = False
        self._seat = seat
        self._meld_class: Any = import_module("utils.decisions_logger").MeldPrint
        self._is_complete: Any = import_module("mahjong.agari").Agari().is_agari
        self._count_kinds: Any = import_module("mahjong.tile").TilesConverter.to_34_array
        config = import_module("game.ai.configs.default").BotDefaultConfig()
        self._table: Any = import_module("game.table").Table(config)
        self._player: Any = self._table.player
        self._last: Event = NONE
        self._new_kyoku()

    def _new_kyoku(self) -> None:
        self._ids = TileIds()
        self._last_tile = -1
        self._chosen: int | None = None  # its next discard, which it has put on its table already
        self._meld_tiles: list[int] = []  # of its hand, for the call that it wants
        self._after_call: Any = None  # and its discard after it
        self._is_rinshan = self._has_missed_win = False

    def _relative(self, seat: int) -> int:
        return (seat - self._seat) % 4

    def _own_tile(self, face: str) -> int:
        """Return a tile of its hand; the drawn one, if it has this face."""
        closed = self._player.closed_hand
        if self._player.last_draw in closed and face_of(self._player.last_draw) == face:
            return int(self._player.last_draw)
        return next(int(tile) for tile in closed if face_of(tile) == face)

    def hear(self, event: Event) -> None:
        """Put what happened on its table."""
        name = event["type"]
        handler = getattr(self, f"_hear_{name}", None)
        if handler is not None:
            handler(event)
        self._last = event

    def _hear_start_kyoku(self, event: Event) -> None:
        self._new_kyoku()
        scores = [event["scores"][(self._seat + i) % 4] / 100 for i in range(4)]
        number = "ESW".index(event["bakaze"]) * 4 + event["kyoku"] - 1
        indicator, dealer = self._ids.new(event["dora_marker"]), self._relative(event["oya"])
        self._table.init_round(number, event["honba"], event["kyotaku"], indicator, dealer, scores)
        self._player.init_hand(sorted(self._ids.new(face) for face in event["tehais"][self._seat]))

    def _hear_tsumo(self, event: Event) -> None:
        if event["actor"] == self._seat:
            self._table.count_of_remaining_tiles -= 1
            self._has_missed_win = self._has_missed_win and self._player.in_riichi
            self._player.draw_tile(self._ids.new(event["pai"]))

    def _hear_dahai(self, event: Event) -> None:
        self._is_rinshan = False
        if event["actor"] != self._seat:
            self._last_tile = self._ids.new(event["pai"])
            self._table.add_discarded_tile(self._relative(event["actor"]), self._last_tile, event["tsumogiri"])
        elif self._chosen is None:  # only one was legal: it was not asked
            self._player.discard_tile(self._own_tile(event["pai"]), force_tsumogiri=True)
        elif face_of(self._chosen) != event["pai"]:
            raise ValueError(f"it discarded {face_of(self._chosen)}, and {event['pai']} was played")
        self._chosen = self._after_call = None

    def _hear_reach(self, event: Event) -> None:
        self._table.add_called_riichi_step_one(self._relative(event["actor"]))

    def _hear_reach_accepted(self, event: Event) -> None:
        self._table.add_called_riichi_step_two(self._relative(event["actor"]))

    def _hear_dora(self, event: Event) -> None:
        self._table.add_dora_indicator(self._ids.new(event["dora_marker"]))

    def _hear_chi(self, event: Event) -> None:
        self._hear_call(event, self._meld_class.CHI)

    def _hear_pon(self, event: Event) -> None:
        self._hear_call(event, self._meld_class.PON)

    def _hear_daiminkan(self, event: Event) -> None:
        self._hear_call(event, self._meld_class.KAN)

    def _hear_call(self, event: Event, kind: str) -> None:
        is_own, called = event["actor"] == self._seat, self._last_tile
        own = self._meld_tiles if is_own else [self._ids.new(face) for face in event["consumed"]]
        self._add_meld(event, kind, [*own, called], called, self._relative(event["target"]))
        if is_own:
            self._is_rinshan = kind == self._meld_class.KAN
            if not self._is_rinshan:  # of a kan, its table does this
                self._player.tiles.append(called)

    def _hear_ankan(self, event: Event) -> None:
        is_own = event["actor"] == self._seat
        kind = KINDS.index(event["consumed"][-1][:2].rstrip("r"))
        tiles = [4 * kind + i for i in range(4)]
        if is_own:
            self._is_rinshan = True
        self._add_meld(event, self._meld_class.KAN, tiles, None, self._relative(event["actor"]))

    def _hear_kakan(self, event: Event) -> None:
        is_own = event["actor"] == self._seat
        self._last_tile = self._own_tile(event["pai"]) if is_own else self._ids.new(event["pai"])
        kind = self._last_tile // 4
        tiles = [self._last_tile, *(4 * kind + i for i in range(4) if 4 * kind + i != self._last_tile)]
        if is_own:
            self._is_rinshan = True
        self._add_meld(event, self._meld_class.SHOUMINKAN, tiles, self._last_tile, self._relative(event["actor"]))

    def _add_meld(self, event: Event, kind: str, tiles: list[int], called: int | None, source: int) -> None:
        actor = self._relative(event["actor"])
        is_open = event["type"] != "ankan"
        meld = self._meld_class(kind, sorted(tiles), opened=is_open, called_tile=called, who=actor, from_who=source)
        if kind == self._meld_class.SHOUMINKAN:  # its table takes the first tile for the added one
            meld.tiles = tiles
        self._table.add_called_meld(actor, meld)

    def decide(self) -> Event:
        """Return what it does after the last event."""
        is_own = self._last.get("actor") == self._seat
        match self._last["type"]:
            case "tsumo" if is_own:
                return self._own_turn()
            case "reach" if is_own:
                return self._discard_event()
            case "chi" | "pon" if is_own:
                self._chosen, _ = self._player.discard_tile(self._after_call)
                return self._discard_event()
            case "dahai" | "kakan" if not is_own:
                return self._claim()
        return NONE

    def _own_turn(self) -> Event:
        player, drawn = self._player, self._player.last_draw
        if self._has_nine_kinds() and player.should_call_kyuushu_kyuuhai():
            return {"type": "ryukyoku", "actor": self._seat}
        if self._is_win(drawn, is_tsumo=True):
            return {"type": "hora", "actor": self._seat, "target": self._seat, "pai": face_of(drawn)}
        if kan := self._own_kan(drawn):
            return kan
        if player.in_riichi:
            self._chosen, _ = player.discard_tile(drawn, force_tsumogiri=True)
            return self._discard_event()
        self._chosen, is_riichi = player.discard_tile()
        return {"type": "reach", "actor": self._seat} if is_riichi else self._discard_event()

    def _discard_event(self) -> Event:
        assert self._chosen is not None
        is_drawn = self._last["type"] in ("tsumo", "reach") and self._chosen == self._player.last_draw
        return {"type": "dahai", "actor": self._seat, "pai": face_of(self._chosen), "tsumogiri": is_drawn}

    def _has_nine_kinds(self) -> bool:
        player = self._player
        if player.discards or self._table.meld_was_called:
            return False
        return len({tile // 4 for tile in player.tiles if tile // 4 >= 27 or tile // 4 % 9 in (0, 8)}) >= 9

    def _own_kan(self, drawn: int) -> Event | None:
        player, kind = self._player, drawn // 4
        if sum(tile // 4 == kind for tile in player.tiles) < 4 or self._table.count_of_remaining_tiles < 1:
            return None
        answer = player.should_call_kan(drawn, open_kan=False, from_riichi=player.in_riichi)
        if not answer:
            return None
        faces = [face_of(4 * kind + i) for i in range(4)]
        if answer == self._meld_class.SHOUMINKAN:
            faces.remove(face_of(drawn))
            return {"type": "kakan", "actor": self._seat, "pai": face_of(drawn), "consumed": faces}
        return {"type": "ankan", "actor": self._seat, "consumed": faces}

    def _is_win(self, tile: int, *, is_tsumo: bool, is_chankan: bool = False) -> bool:
        player = self._player
        hand = [held for held in player.tiles if not (is_tsumo and held == tile)]
        if not self._is_complete(self._count_kinds([*hand, tile]), player.meld_34_tiles):
            return False
        if player.in_riichi:
            return True
        kept, player.tiles = player.tiles, hand
        try:
            value = player.ai.estimate_hand_value_or_get_from_cache(
                tile // 4, is_tsumo=is_tsumo, is_rinshan=self._is_rinshan, is_chankan=is_chankan
            )
        finally:
            player.tiles = kept
        return value.error is None

    def _claim(self) -> Event:
        tile, is_chankan = self._last_tile, self._last["type"] == "kakan"
        source = self._relative(self._last["actor"])
        discards = {discard.value // 4 for discard in self._player.discards}
        waits = self._player.ai.waiting or []
        is_furiten = self._has_missed_win or any(kind in discards for kind in waits)
        if self._is_win(tile, is_tsumo=False, is_chankan=is_chankan):
            if not is_furiten and self._player.should_call_win(tile, False, source, is_chankan):
                return {"type": "hora", "actor": self._seat, "target": self._last["actor"], "pai": face_of(tile)}
            self._has_missed_win = True
        if is_chankan or self._player.in_riichi or self._table.count_of_remaining_tiles < 1:
            return NONE
        self._table.revealed_tiles[tile // 4] -= 1  # as its own client: it counts the tile as one of its hand
        try:
            return self._call(tile, is_kamicha=source == 3)
        finally:
            self._table.revealed_tiles[tile // 4] += 1

    def _call(self, tile: int, *, is_kamicha: bool) -> Event:
        player = self._player
        base = {"actor": self._seat, "target": self._last["actor"], "pai": face_of(tile)}
        held = [own for own in player.closed_hand if own // 4 == tile // 4]
        if len(held) == 3 and player.should_call_kan(tile, open_kan=True):
            self._meld_tiles = held
            return {"type": "daiminkan", **base, "consumed": [face_of(own) for own in held]}
        meld, self._after_call = player.try_to_call_meld(tile, is_kamicha)
        if meld is None:
            return NONE
        self._meld_tiles = [each for each in meld.tiles if each != tile]
        name = "pon" if meld.type == self._meld_class.PON else "chi"
        return {"type": name, **base, "consumed": [face_of(each) for each in self._meld_tiles]}


def main(arguments: Sequence[str]) -> None:
    """Play one game; ``arguments``: the bot's folder and the seat."""
    folder, seat = arguments
    sys.path.insert(0, str(Path(folder).resolve() / "project"))
    bot = Bot(int(seat))
    for line in sys.stdin:
        for event in json.loads(line):
            bot.hear(event)
        print(json.dumps(bot.decide()), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
