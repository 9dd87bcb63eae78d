"""Every move of random games, as the mjai event that it becomes, is read back as the same action."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.records.mjai_table import action_of_reply
from suphx.games.riichi.records.mjai_writer import running_kyoku_events, seen_by
from suphx.games.riichi.records.replay import GameRecorder
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import (
    CHI,
    CLAIM,
    KYOKU_END,
    NINE_TERMINALS,
    PASS,
    PON,
    PON_RED,
    RIICHI,
    ROB_KAN,
    RON,
    TSUMO,
    TSUMOGIRI,
)

_KINDS = {"reach", "dahai", "chi", "pon", "daiminkan", "ankan", "kakan"}
NOTHING = np.zeros(120, np.uint8)


def legal(*actions: int) -> np.ndarray:
    mask = NOTHING.copy()
    mask[list(actions)] = 1
    return mask


def events_until(recorder: GameRecorder, index: int, actor: int, *, is_own_turn: bool) -> list[dict[str, Any]]:
    return list(running_kyoku_events(recorder.running_kyoku(index), actor, is_own_turn=is_own_turn))


def choose(rng: np.random.Generator, mask: np.ndarray) -> int:
    """Return a legal action: rare ones often, passes hardly ever."""
    weights = mask * np.where(np.arange(120) >= RIICHI, 20.0, 1.0)
    weights[PASS] *= 1e-4
    return int(rng.choice(120, p=weights / weights.sum()))


def test_the_events_of_a_running_kyoku_grow_and_name_the_actions() -> None:
    rng = np.random.default_rng(3)
    simulator = Simulator(40, tenhou(), stops_at_kyoku_end=True)
    recorder = GameRecorder(simulator)
    simulator.reset(range(40))
    recorder.begin_kyokus(np.arange(40))
    tables = simulator.tables
    seen: dict[str, set[int]] = {}
    while (waiting := simulator.waiting()).size:
        actions = np.array([choose(rng, tables["legal"][index].astype(float)) for index in waiting], np.int16)
        looked_at = [i for i, action in enumerate(actions) if action > TSUMOGIRI or rng.random() < 0.02]
        before = []
        for i in looked_at:
            table = tables[waiting[i]]
            is_own_turn = int(table["phase"]) not in (CLAIM, ROB_KAN)
            known = events_until(recorder, waiting[i], int(table["actor"]), is_own_turn=is_own_turn)
            before.append(
                (int(table["actor"]), int(table["drawn"]), int(table["claimed_face"]), table["legal"].copy(), known)
            )
        recorder.advance(waiting, actions)
        for i, (actor, drawn, claimed, mask, known) in zip(looked_at, before, strict=True):
            now = events_until(recorder, waiting[i], 0, is_own_turn=False)
            assert now[: len(known)] == known[: len(now)]
            for event in now[len(known) :]:
                if event["type"] in _KINDS and event["actor"] == actor:
                    assert action_of_reply(event, mask, drawn, claimed) == actions[i]
                    seen.setdefault(event["type"], set()).add(int(actions[i]))
        ended = np.flatnonzero(tables["phase"] == KYOKU_END)
        if ended.size:
            recorder.take_kyokus(ended)
            simulator.next_kyoku(ended)
            recorder.begin_kyokus(ended)
    assert set(seen) == _KINDS
    assert {PON, PON_RED} == seen["pon"]
    assert {CHI, CHI + 1, CHI + 2} < seen["chi"] <= set(range(CHI, PASS))


def test_a_seat_does_not_see_what_others_hold_and_draw() -> None:
    start = {"type": "start_kyoku", "tehais": [["1m"] * 13, ["2m"] * 13, ["3m"] * 13, ["4m"] * 13]}
    assert seen_by(1, start)["tehais"] == [["?"] * 13, ["2m"] * 13, ["?"] * 13, ["?"] * 13]
    draw = {"type": "tsumo", "actor": 2, "pai": "E"}
    assert seen_by(2, draw) == draw
    assert seen_by(0, draw)["pai"] == "?"
    assert seen_by(0, {"type": "dahai", "actor": 2, "pai": "E"})["pai"] == "E"


def test_naming_the_only_such_tile_discards_it_even_if_it_was_just_drawn() -> None:
    assert action_of_reply({"type": "dahai", "pai": "5mr"}, legal(TSUMOGIRI, 3), drawn=34, claimed=-1) == TSUMOGIRI


@pytest.mark.parametrize(
    ("name", "action"), [("hora", TSUMO), ("hora", RON), ("none", PASS), ("ryukyoku", NINE_TERMINALS)]
)
def test_words_without_tiles_are_actions_too(name: str, action: int) -> None:
    assert action_of_reply({"type": name}, legal(TSUMOGIRI, action), drawn=0, claimed=-1) == action


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
        ({"type": "chi", "pai": "5m", "consumed": ["1m", "9m"]}, r"it calls 5m with \['1m', '9m'\], which is no run"),
    ],
)
def test_what_cannot_be_played_is_refused(reply: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        action_of_reply(reply, legal(2, TSUMOGIRI), drawn=0, claimed=4)
