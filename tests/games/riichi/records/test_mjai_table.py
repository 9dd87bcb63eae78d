"""A seat that knows only its events has the same decisions as the simulator, and its answers mean the same moves."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from suphx.games.riichi import table as codes
from suphx.games.riichi.features.encoder import encode_rows, find_encoder
from suphx.games.riichi.names import RIICHI_HEAD
from suphx.games.riichi.records.mjai import kyoku_events, running_kyoku_events, seen_by
from suphx.games.riichi.records.mjai_table import MjaiTable, action_of_reply, reply_of_action
from suphx.games.riichi.records.replay import GameRecorder
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import TABLE, action_name
from suphx.kernel.record import Records
from tests.games.riichi.builders.games import choose_hastily

ONLY = np.zeros(1, np.int64)
OWN = ("hand", "red", "waits", "missed_win")
"""Of other seats they are hidden."""
UNKNOWN = {"wall", "wall_seed", "claim_actions", "drawn", "num_decisions", "draw_places"}
PUBLIC = [name for name in TABLE.names or () if name not in {*OWN, *UNKNOWN} and not name.startswith(("win_", "pao_"))]
MELDS_AND_MORE = {"chi", "pon", "daiminkan", "ankan", "kakan", "dora", "reach", "reach_accepted"}


class FollowedGame:
    """A game of hasty players, each of whom is followed by a table that gets only its events."""

    def __init__(self, seed: int) -> None:
        self.simulator = Simulator(1, tenhou(), stops_at_kyoku_end=True)
        self.simulator.reset([seed])
        self.recorder = GameRecorder(self.simulator)
        self.seats = [MjaiTable() for _ in range(4)]
        for seat, table in enumerate(self.seats):
            table.see({"type": "start_game", "id": seat})
        self.known = [0] * 4
        self.before: list[dict[str, Any]] = []
        self.types: set[str] = set()

    def decision(self) -> Records:
        """Return the actor's table as it follows from its events."""
        table: Any = self.simulator.tables[0]
        seat = int(table["actor"])
        is_own_turn = int(table["phase"]) not in (codes.CLAIM, codes.ROB_KAN)
        now = running_kyoku_events(self.recorder.running_kyoku(0), seat, is_own_turn=is_own_turn)
        events = [*self.before, *now]
        for event in events[self.known[seat] :]:
            self.seats[seat].see(seen_by(seat, event))
            self.types.add(event["type"])
        self.known[seat] = len(events)
        tables = self.seats[seat].decision()
        assert tables is not None, events[-3:]
        return tables

    def play(self, action: int) -> None:
        self.recorder.advance(ONLY, np.array([action], np.int16))
        if self.simulator.tables[0]["phase"] == codes.KYOKU_END:
            self.recorder.take_kyokus(ONLY)
            self.before += kyoku_events(self.recorder.finished_kyokus(0)[-1])
            self.simulator.next_kyoku(ONLY)
            self.recorder.begin_kyokus(ONLY)


def assert_same_sight(ours: Any, theirs: Any) -> None:
    seat = int(ours["actor"])
    for name in PUBLIC:
        assert ours[name].tolist() == theirs[name].tolist(), name
    for name in OWN:
        assert ours[name][seat].tolist() == theirs[name][seat].tolist(), name
    if ours["drawn"] >= 0 or theirs["drawn"] >= 0:
        assert ours["drawn"] == theirs["drawn"]


def planes(tables: Records) -> bytes:
    return encode_rows(find_encoder("suphx"), RIICHI_HEAD, tables, ONLY, np.full(1, -1)).tobytes()


def test_a_seat_sees_the_same_and_its_answers_mean_the_same() -> None:
    rng = np.random.default_rng(5)
    types: set[str] = set()
    for seed in range(20):
        game = FollowedGame(seed)
        table: Any = game.simulator.tables[0]
        while table["num_kyoku"] < 4 and game.simulator.waiting().size:
            known = game.decision()
            assert_same_sight(known[0], table)
            for action in np.flatnonzero(table["legal"]).tolist():
                reply = reply_of_action(known[0], action)
                found = action_of_reply(reply, table["legal"], int(table["drawn"]), int(table["claimed_face"]))
                assert found == action, action_name(action)
            if rng.random() < 0.05:
                assert planes(known) == planes(game.simulator.tables)
            game.play(codes.MINKAN if table["legal"][codes.MINKAN] else choose_hastily(table, rng))
        types |= game.types
        if types >= MELDS_AND_MORE:
            return
    raise AssertionError(f"no game shows {MELDS_AND_MORE - types}")


HANDS = [["?"] * 13, [f"{n}m" for n in range(1, 10)] + ["E", "E", "E", "P"], ["?"] * 13, ["?"] * 13]
DEAL = {
    "type": "start_kyoku", "bakaze": "E", "kyoku": 1, "honba": 0, "kyotaku": 0, "oya": 0, "dora_marker": "1p",
    "scores": [25000] * 4, "tehais": HANDS,
}  # fmt: skip
DRAWN = {"type": "tsumo", "actor": 0, "pai": "?"}


def seated(*events: dict[str, Any]) -> MjaiTable:
    table = MjaiTable(1)
    for event in ({"type": "start_game"}, *events):
        table.see(event)
    return table


def test_equal_indicators_are_different_tiles() -> None:
    more = [{"type": "dora", "dora_marker": name} for name in ("1p", "5p", "1p", "1p")]
    decision = seated(DEAL, *more, *OWN_TURN[1:]).decision()
    assert decision is not None
    indicators = [int(tile) for tile in decision["wall"][0][list(codes.DORA_POSITIONS)]]
    assert len(set(indicators)) == 5
    assert [tile >> 2 for tile in indicators] == [9, 9, 13, 9, 9]


def test_each_deal_has_its_own_seed_for_agents_that_draw_lots() -> None:
    discard = {"type": "dahai", "actor": 0, "pai": "P", "tsumogiri": True}
    seeds = []
    for deal in (DEAL, DEAL, DEAL | {"honba": 1}):
        decision = seated(deal, DRAWN, discard).decision()
        assert decision is not None
        seeds.append(int(decision["wall_seed"][0]))
    assert seeds[0] == seeds[1] != seeds[2]


def test_a_discard_is_a_decision_until_something_else_happens() -> None:
    table = seated(DEAL, DRAWN)
    assert table.decision() is None
    table.see({"type": "dahai", "actor": 0, "pai": "P", "tsumogiri": True})
    known = table.decision()
    assert known is not None
    assert [action_name(a) for a in np.flatnonzero(known[0]["legal"]).tolist()] == ["ron", "pass"]
    table.see({"type": "pon", "actor": 3, "target": 0, "pai": "P", "consumed": ["P", "P"]})
    assert table.decision() is None
    table.see({"type": "dahai", "actor": 3, "pai": "E", "tsumogiri": False})
    table.see({"type": "some_new_event"})
    known = table.decision()
    assert known is not None
    assert known[0]["missed_win"][1] == 1
    assert reply_of_action(known[0], int(np.flatnonzero(known[0]["legal"])[0]))["type"] == "pon"
    table.see({"type": "end_kyoku"})
    assert table.decision() is None


def discard(seat: int, tile: str) -> dict[str, Any]:
    return {"type": "dahai", "actor": seat, "pai": tile, "tsumogiri": False}


def claim(kind: str, seat: int, tile: str, *consumed: str) -> dict[str, Any]:
    return {"type": kind, "actor": seat, "target": 0, "pai": tile, "consumed": list(consumed)}


def hand(*tiles: str) -> list[list[str]]:
    return [tiles_of if seat != 1 else list(tiles) for seat, tiles_of in enumerate(HANDS)]


OWN_TURN = [DEAL, DRAWN, discard(0, "N"), {"type": "tsumo", "actor": 1, "pai": "9s"}]


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ([DEAL | {"bakaze": "X"}], "bakaze 'X' is not E, S or W"),
        ([{key: value for key, value in DEAL.items() if key != "tehais"}], "'start_kyoku' is incomplete: KeyError"),
        ([DEAL, DRAWN, {"type": "dahai", "actor": 4, "pai": "P"}], "actor=4 is not a whole number from 0 to 3"),
        ([DEAL, DRAWN, {"type": "dahai", "actor": 0, "pai": "9z"}], "'9z' is not a tile"),
        ([DEAL, DRAWN, {"type": "dahai", "actor": 2, "pai": "1m"}, DRAWN], "seat 2 plays 'discard 1m', which"),
        ([DEAL, DRAWN, DRAWN], "seat 0 draws, but it is not its turn"),
        ([DEAL, DRAWN, *[discard(0, "1m")] * 2], "but nobody has drawn since"),
        ([DEAL | {"tehais": hand(*["1m"] * 13)}], "tile 1m appears too often: there are 4 of it"),
        ([DEAL | {"tehais": hand("1m")}], "seat 1 is dealt 1 tiles instead of 13"),
        ([DEAL | {"tehais": 7}], "tehais is not four lists of tiles"),
        *(([DEAL | {"kyoku": kyoku}], "kyoku=.* is not a whole number from 1 to 4") for kyoku in (0, 100, 500, 1.0)),
        ([DEAL | {"oya": 2}], "oya is not seat 0, the dealer"),
        *(([DEAL | {"honba": number}], "honba=.* from 0 to 999") for number in (10**6, -1, True)),
        ([DEAL | {"kyotaku": 10**6}], "kyotaku=1000000 is not a whole number from 0 to 999"),
        ([DEAL | {"scores": [10**12] * 4}], "scores=1000000000000 is not a whole number"),
        ([DEAL | {"scores": [25000]}], "scores is not a list of four numbers"),
        ([DEAL, DRAWN, discard(0, "E"), claim("pon", 2, "E", "E", "E")], "tile E appears too often"),
        ([DEAL, *[{"type": "dora", "dora_marker": f"{number}s"} for number in "12345"]], "there are 5"),
        ([DEAL, DRAWN, discard(0, "5sr"), claim("pon", 2, "5sr", "5s", "5sr")], "tile 5sr appears too often"),
        ([DEAL, DRAWN, discard(0, "S"), claim("pon", 2, "S", "S", "W")], "pon of S, W, S is impossible"),
        ([DEAL, DRAWN, discard(0, "S"), claim("pon", 2, "S", "S", "S", "S")], "consumed of pon is not a list"),
        ([DEAL, DRAWN, discard(0, "S"), claim("pon", 2, "W", "W", "W")], "W, which is not the last discard"),
        ([DEAL, DRAWN, discard(0, "1s"), claim("chi", 2, "1s", "2s", "3s"), DRAWN], "'chi low', which the rules"),
        ([DEAL, DRAWN, discard(0, "9p"), claim("chi", 1, "9p", "1s", "8p")], "is not a run|impossible"),
        ([DEAL, DRAWN, discard(0, "W"), claim("pon", 1, "W", "W", "W")], "seat 1 plays W, which is not in its hand"),
        ([DEAL, discard(0, "W")], "nobody has drawn in this deal"),
        ([DEAL, DRAWN, {"type": "ankan", "actor": 0, "consumed": ["S", "S", "W", "W"]}], "ankan of S, S, W, W"),
        ([DEAL, DRAWN, {"type": "ankan", "actor": 0, "consumed": ["1m"] * 4}], "tile 1m appears too often"),
        ([DEAL, DRAWN, {"type": "kakan", "actor": 0, "pai": "S", "consumed": ["S"] * 3}, DRAWN], "'kakan 2z', which"),
        ([*OWN_TURN, discard(1, "S")], "seat 1 plays S, which is not in its hand"),
        ([*OWN_TURN, discard(1, "1m") | {"tsumogiri": True}], "discards 1m as drawn, but did not draw it"),
        ([*OWN_TURN, {"type": "ankan", "actor": 1, "consumed": ["E"] * 4}], "seat 1 plays E, which is not in its hand"),
        ([DEAL, DRAWN, discard(0, "N"), DRAWN | {"actor": 1}], "'\\?' is not a tile"),
    ],
)  # fmt: skip
def test_what_no_deal_can_have_is_refused(events: list[dict[str, Any]], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        seated(*events)


def test_games_without_red_fives_have_four_plain_ones() -> None:
    fives = hand(*["5m"] * 4, *["1s", "2s", "3s"] * 3)
    table = MjaiTable()
    table.see({"type": "start_game", "id": 1, "aka_flag": False})
    table.see(DEAL | {"tehais": fives})
    with pytest.raises(ValueError, match="tile 5pr appears too often: there are 0 of it"):
        table.see(DEAL | {"tehais": hand("5pr", *["1s", "2s", "3s"] * 4)})
    assert table._tables["red_fives"].tolist() == [0]
    with pytest.raises(ValueError, match="tile 5m appears too often: there are 3 of it"):
        seated(DEAL | {"tehais": fives})


def test_the_seat_is_that_of_the_only_hand_that_is_shown() -> None:
    table = MjaiTable()
    for game in ({"type": "start_game"}, {"type": "start_game", "id": None}):
        for shown in (1, 3):  # another one in the next game
            table.see(game)
            table.see(DEAL | {"tehais": [HANDS[1] if seat == shown else ["?"] * 13 for seat in range(4)]})
            assert table.seat == shown
    table.see({"type": "start_game", "id": 1})
    table.see(DEAL)
    assert table.seat == 1


@pytest.mark.parametrize("hands", [[["?"] * 13] * 4, [HANDS[1]] * 4, [], [HANDS[1]]])
def test_the_seat_must_be_known(hands: list[list[str]]) -> None:
    table = MjaiTable()
    table.see({"type": "start_game"})
    with pytest.raises(
        ValueError, match=r"start_game has no id, and start_kyoku shows . hands, so that the seat is not"
    ):
        table.see(DEAL | {"tehais": hands})
    with pytest.raises(ValueError, match="start_kyoku comes before start_game"):
        MjaiTable(1).see(DEAL)


NOTHING = np.zeros(120, np.uint8)


def legal(*actions: int) -> np.ndarray:
    mask = NOTHING.copy()
    mask[list(actions)] = 1
    return mask


def test_naming_the_only_such_tile_discards_it_even_if_it_was_just_drawn() -> None:
    assert (
        action_of_reply({"type": "dahai", "pai": "5mr"}, legal(codes.TSUMOGIRI, 3), drawn=34, claimed=-1)
        == codes.TSUMOGIRI
    )


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        ({"type": "dance"}, "its type is none of none, dahai"),
        ({"type": "dahai", "pai": "0m"}, "'0m' is not a tile"),
        ({"type": "dahai", "pai": "9m", "tsumogiri": True}, "discards 9m as drawn, but drew 1m"),
        ({"type": "dahai", "pai": "9m"}, "discard 9m is not legal: discard 3m, tsumogiri are"),
        ({"type": "chi", "pai": "9m", "consumed": "7m8m"}, "consumed is not a list"),
        ({"type": "hora"}, "ron is not legal"),
        ({"type": "pon", "pai": "8m", "consumed": ["8m", "8m"]}, "it calls 8m, but 5m was discarded"),
        ({"type": "chi", "pai": "5m", "consumed": ["1m", "9m"]}, r"it calls 5m with \['1m', '9m'\], which is not a"),
    ],
)
def test_what_cannot_be_played_is_refused(reply: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action_of_reply(reply, legal(2, codes.TSUMOGIRI), drawn=0, claimed=4)
