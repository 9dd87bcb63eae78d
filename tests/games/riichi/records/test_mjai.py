from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import numpy as np
import pytest

from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.kyoku_builder import FACE_OF_ID, Win
from suphx.games.riichi.records.mjai import TILE_NAMES, parse_mjai, write_mjai
from suphx.games.riichi.records.quarantine import INCOMPLETE, ForeignRecord, MissingFact, RecordError
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.table import NAGASHI_MANGAN, TRIPLE_RON_DRAW
from tests.games.riichi.builders import games

RICH = write_mjai(games.random_game(3))
SHORT = write_mjai(games.drawn_game(games.shuffled_wall(1), games.shuffled_wall(2)))

Event = dict[str, Any]


def events_of(text: str) -> list[Event]:
    return [json.loads(line) for line in text.splitlines()]


def text_of(events: list[Event]) -> str:
    return "\n".join(json.dumps(event) for event in events)


def tenpai_of(log: GameLog) -> list[list[int]]:
    return [kyoku.result["tenpai"].tolist() for kyoku in log.kyokus]


def first(events: list[Event], kind: str) -> Event:
    return next(event for event in events if event["type"] == kind)


@pytest.mark.parametrize(
    ("end", "tenpai", "result"),
    [
        ({"reason": "nagashimangan", "deltas": [8000, -4000, -2000, -2000]}, [0, 1, 0, 1], NAGASHI_MANGAN),
        ({"deltas": [0, 0, 0, 0]}, [1, 1, 0, 1], TRIPLE_RON_DRAW),
    ],
)
def test_who_is_tenpai_and_three_rons_on_the_last_tile_follow_from_the_hands(
    end: Event, tenpai: list[int], result: int
) -> None:
    game = games.random_game(8 if result == TRIPLE_RON_DRAW else 1)
    assert tenpai_of(game)[0] == tenpai
    events = events_of(write_mjai(game))
    place = events.index(first(events, "ryukyoku"))
    events[place] = {"type": "ryukyoku"} | end
    log = parse_mjai(text_of([*events[: place + 1], {"type": "end_kyoku"}]), "x", is_fragment_allowed=True)
    assert log.kyokus[0].result["result"] == result
    assert result == TRIPLE_RON_DRAW or tenpai_of(log) == [tenpai]


@pytest.mark.parametrize("seed", range(6))
def test_a_plain_dialect_without_reasons_and_final_scores_says_the_same(seed: int) -> None:
    game = games.random_game(seed)
    events = events_of(write_mjai(game))
    for event in events:
        for name in ("reason", "tenpais", "kyoku_first", "aka_flag"):
            event.pop(name, None)
    events[-1].pop("scores")
    log = parse_mjai(text_of(events), game.id)
    assert log.final_scores == game.final_scores
    assert [int(k.result["result"]) for k in log.kyokus] == [int(k.result["result"]) for k in game.kyokus]
    assert tenpai_of(log) == tenpai_of(game)


@pytest.mark.parametrize("seed", range(6))
def test_ura_indicators_of_the_original_mjai_are_read(seed: int) -> None:
    """It calls them ``uradora_markers``, and has the key of a win without riichi not at all."""
    game = games.random_game(seed)
    events = events_of(write_mjai(game))
    wins = [event for event in events if event["type"] == "hora"]
    assert any(win["ura_markers"] for win in wins)
    for win in wins:
        if ura := win.pop("ura_markers"):
            win["uradora_markers"] = ura
    log = parse_mjai(text_of(events), game.id)
    assert Replayer().replay(log) == []
    assert write_mjai(log) == write_mjai(game)
    wins[0]["uradora_markers"] = 7
    with pytest.raises(RecordError, match="uradora_markers is not a list of tiles"):
        parse_mjai(text_of(events), game.id)


def test_a_foreign_game_is_told_from_a_damaged_one() -> None:
    events = events_of(SHORT)
    for change in ({"names": ["A", "B", "C"]}, {"aka_flag": False}):
        with pytest.raises(ForeignRecord):
            parse_mjai(text_of([events[0] | change, *events[1:]]), "x")


def test_a_fragment_is_read_when_allowed() -> None:
    events = events_of(SHORT)
    cut = text_of(events[:-10])
    with pytest.raises(RecordError, match="truncated"):
        parse_mjai(cut, "x")
    log = parse_mjai(cut, "x", is_fragment_allowed=True)
    assert len(log.kyokus) == 1
    assert log.final_scores is None


CHANGES: dict[str, tuple[str, Event, str]] = {
    "no tile": ("tsumo", {"pai": "0m"}, "is not a tile"),
    "a fifth tile": ("tsumo", {"pai": "5mr"}, "too often|no tile|not in its hand|did not draw"),
    "a seat that is none": ("dahai", {"actor": 4}, "from 0 to 3"),
    "a seat that is a boolean": ("dahai", {"actor": True}, "from 0 to 3"),
    "another seat's turn": ("tsumo", {"actor": 2}, "turn of seat"),
    "no hands": ("start_kyoku", {"tehais": 7}, "four lists"),
    "a short hand": ("start_kyoku", {"tehais": [["1m"]] * 4}, "1 tiles"),
    "no wind": ("start_kyoku", {"bakaze": "N"}, "bakaze"),
    "another dealer": ("start_kyoku", {"oya": 2}, "dealer"),
    "scores of three": ("start_kyoku", {"scores": [1, 2, 3]}, "four numbers"),
    "an unknown event": ("dahai", {"type": "nothing"}, "unknown event"),
    "deltas of three": ("ryukyoku", {"deltas": [1, 2, 3]}, "deltas is not a list of four numbers"),
    "names of five": ("start_game", {"names": ["", "", "", "", ""]}, "5 players"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_damaged_record_is_refused_with_reason_and_place(name: str) -> None:
    kind, change, reason = CHANGES[name]
    events = events_of(SHORT)
    event = first(events, kind)
    event.update(change)
    with pytest.raises(RecordError, match=reason) as caught:
        parse_mjai("\ufeff" + text_of(events).replace("\n", "\n\n"), "x")  # blank lines do not count
    assert caught.value.position == kind or caught.value.position.endswith(f", event {events.index(event) + 1}")


def refused_as_incomplete(events: list[Event], reason: str) -> None:
    """Check that a game is set aside because something seen at the table is not in its record."""
    with pytest.raises(RecordError, match=reason) as caught:
        parse_mjai(text_of(events), "x")
    assert caught.value.kind == INCOMPLETE


@pytest.mark.parametrize("seed", [0, 1, 4, 11])
def test_a_kan_without_its_dora_event_is_set_aside(seed: int) -> None:
    events = events_of(write_mjai(games.random_game(seed)))
    doras = [index for index, event in enumerate(events) if event["type"] == "dora"]
    assert len(doras) >= 3
    for index in doras:
        refused_as_incomplete(events[:index] + events[index + 1 :], "that of a kan is missing")


def test_a_dora_event_without_a_kan_is_refused() -> None:
    events = events_of(SHORT)
    dora = {"type": "dora", "dora_marker": TILE_NAMES[FACE_OF_ID[int(games.shuffled_wall(1)[128])]]}
    with pytest.raises(RecordError, match="1 dora indicators are turned over, but the record shows 2"):
        parse_mjai(text_of([*events[:3], dora, *events[3:]]), "x")


def test_a_win_with_riichi_without_one_of_its_ura_indicators_is_set_aside() -> None:
    events = events_of(write_mjai(games.random_game(11)))
    wins = [event for event in events if event["type"] == "hora" and len(event["ura_markers"]) > 1]
    assert {len(win["ura_markers"]) for win in wins} == {2, 3}
    for win in wins:
        shown = win["ura_markers"]
        win["ura_markers"] = shown[:-1]
        refused_as_incomplete(events, f"{len(shown) - 1} ura dora indicators for {len(shown)} dora indicators")
        win["ura_markers"] = shown


@pytest.mark.parametrize("seed", [0, 4, 11])
def test_ura_indicators_that_a_record_does_not_show_agree_with_its_payments_and_are_unknown(seed: int) -> None:
    game = games.random_game(seed)
    events = events_of(write_mjai(game))
    log = parse_mjai(text_of(without(events, "ura_markers", "deltas")), "x")
    assert Replayer().replay(log) == []
    shown = parse_mjai(write_mjai(game), "x")
    for kyoku, known in zip(log.kyokus, shown.kyokus, strict=True):
        assert kyoku.result == known.result
        assert kyoku.is_ura_known or write_mjai(dataclasses.replace(shown, kyokus=[known])).count('ura_markers":["')
    assert {kyoku.is_ura_known for kyoku in log.kyokus} == {False, True}
    unknown = [event for event in events_of(write_mjai(log)) if event["type"] == "hora" and "ura_markers" not in event]
    assert len(unknown) == sum(not kyoku.is_ura_known for kyoku in log.kyokus)
    win = next(event for event in events if event.get("ura_markers"))
    win["deltas"] = [2 * delta for delta in win["deltas"]]
    del win["ura_markers"]
    with pytest.raises(RecordError, match="the one before ended with"):
        parse_mjai(text_of(events), "x")


def test_a_payment_that_no_ura_indicator_gives_is_a_difference() -> None:
    events = events_of(write_mjai(games.random_game(0)))
    end = next(index for index, event in enumerate(events) if event.get("ura_markers"))
    del events[end]["ura_markers"]
    events[end]["deltas"] = [
        delta + 100 * sign for delta, sign in zip(events[end]["deltas"], (1, -1, 1, -1), strict=True)
    ]
    log = parse_mjai(text_of(events[: end + 2]), "x", is_fragment_allowed=True)
    assert "deltas" in Replayer().replay(log)[-1].what


@pytest.mark.parametrize(
    ("kind", "name", "reason"),
    [
        ("start_kyoku", "honba", "honba is missing"),
        ("start_kyoku", "kyotaku", "kyotaku is missing"),
        ("tsumo", "pai", "tile is missing"),
        ("tsumo", "?", "a tile is hidden"),
        ("hora", "target", "target is missing"),
        ("reach_accepted", "", "its stick is not recorded"),
    ],
)
def test_an_event_without_a_key_is_not_completed(kind: str, name: str, reason: str) -> None:
    events = events_of(RICH)
    event = first(events, kind)
    if name == "?":
        event["pai"] = name
    elif name:
        del event[name]
    else:
        events.remove(event)
    refused_as_incomplete(events, reason)


def test_the_points_of_the_first_deal_are_known_only_at_the_start_of_a_game() -> None:
    events = [event | {"scores": None} for event in events_of(SHORT)]
    for event in events:
        del event["scores"]
    assert parse_mjai(text_of(events), "x").kyokus[0].scores == (25_000,) * 4
    second = events.index(first(events, "end_kyoku")) + 1
    refused_as_incomplete([events[0], *events[second:]], "start_kyoku has no scores")


def test_a_discard_that_can_only_be_the_drawn_tile_is_one_whatever_tsumogiri_says() -> None:
    """Records of Mahjong Soul say false of the dealer's first discard."""
    events = events_of(SHORT)
    hands: list[list[str]] = []
    num_unclear = 0
    for event in events:
        if event["type"] == "start_kyoku":
            hands = event["tehais"]
        if event["type"] == "dahai" and event["pai"] in hands[event["actor"]]:
            num_unclear += 1
        elif event["type"] == "dahai":
            event["tsumogiri"] = False
    expected, log = parse_mjai(SHORT, "x"), parse_mjai(text_of(events), "x")
    games.assert_same_game(log, expected)
    assert num_unclear
    for event in events:
        event.pop("tsumogiri", None)
    refused_as_incomplete(events, "tsumogiri is missing")


def without(events: list[Event], *keys: str) -> list[Event]:
    return [{key: value for key, value in event.items() if key not in keys} for event in events]


@pytest.mark.parametrize("seed", range(6))
def test_payments_that_a_record_does_not_show_follow_from_later_points(seed: int) -> None:
    game = games.random_game(seed)
    events = events_of(write_mjai(game))
    expected = parse_mjai(write_mjai(game), game.id)
    log = parse_mjai(text_of(without(events, "deltas")), game.id)
    games.assert_same_game(log, expected)
    assert Replayer().replay(log) == []
    refused_as_incomplete([*without(events[:-1], "deltas"), {"type": "end_game"}], "neither deltas nor later scores")
    refused_as_incomplete(without(events, "deltas", "reason"), "how the kyoku is drawn")


def test_payments_follow_from_the_points_that_the_original_mjai_writes_with_each_end() -> None:
    events = events_of(write_mjai(games.random_game(2)))
    scores = [0, 0, 0, 0]
    for event in events:
        if event["type"] == "start_kyoku":
            scores = event["scores"]
        elif event["type"] == "reach_accepted":
            scores[event["actor"]] -= 1000
        elif "deltas" in event:
            event["scores"] = scores = [sum(pair) for pair in zip(scores, event["deltas"], strict=True)]
    lines = [event if event["type"] == "hora" else without([event], "scores")[0] for event in without(events, "deltas")]
    draws = [event["deltas"] for event in events if event["type"] == "ryukyoku"]
    for event in lines:
        if event["type"] == "ryukyoku":
            event["deltas"] = draws.pop(0)
    log = parse_mjai(text_of(lines), "x")
    games.assert_same_game(log, parse_mjai(write_mjai(games.random_game(2)), "x"))


def test_the_payments_of_two_rons_are_told_apart_unless_a_third_seat_pays() -> None:
    """A double ron over one honba and one stick: the first winner receives both."""
    builder = games.builder_of(np.arange(136, dtype=np.uint8))
    builder.kyotaku = 1
    builder.draw(0, 52)
    builder.discard(0, 52)
    for seat in (1, 3):
        builder.win(Win(seat=seat, loser=0, tile=52, deltas=None))
    with pytest.raises(MissingFact, match="who pays for which win"):
        builder.settle([25_000, 34_300, 15_000, 27_000])
    builder.settle([14_700, 34_300, 25_000, 27_000])
    result = builder.finish().result
    assert result["win_deltas"][:2].tolist() == [[-8_300, 9_300, 0, 0], [-2_000, 0, 0, 2_000]]
    assert result["deltas"].tolist() == [-10_300, 9_300, 0, 2_000]
    assert builder.scores == [14_700, 34_300, 25_000, 27_000]


@pytest.mark.parametrize("num_winds", [1, 2])
def test_the_end_of_a_game_shows_its_number_of_winds_where_kyoku_first_is_missing(num_winds: int) -> None:
    for seed in (0, 3):
        game = games.random_game(seed, Rules(num_winds=num_winds))
        log = parse_mjai(text_of(without(events_of(write_mjai(game)), "kyoku_first")), game.id)
        assert log.rules.num_winds == num_winds
        assert Replayer().replay(log) == []


def test_a_game_that_ends_at_south_4_with_nobody_at_30_000_points_is_of_one_wind() -> None:
    """A game of two winds would go on into the West round."""
    kyoku = games.drawn_kyoku(games.shuffled_wall(1), kyoku=7)
    game = dataclasses.replace(games.drawn_game(games.shuffled_wall(1)), kyokus=[kyoku], rules=Rules(num_winds=1))
    start = next(iter(events_of(write_mjai(game))))
    lines = write_mjai(game).splitlines()[1:]
    for change, num_winds in (({}, 1), ({"kyoku_first": 0}, 2)):
        head = json.dumps(without([start], "kyoku_first")[0] | change)
        assert parse_mjai("\n".join([head, *lines]), "x").rules.num_winds == num_winds


def test_red_fives_are_in_play_only_where_the_record_shows_them() -> None:
    events = without(events_of(SHORT), "aka_flag")
    assert parse_mjai(text_of(events), "x").kyokus
    with pytest.raises(ForeignRecord, match=r"a game without red fives: a fourth 5[mps]"):
        parse_mjai(re.sub(r'(5[mps])r"', r'\1"', text_of(events)), "x")
    hands = [sorted(f"{number}{suit}" for number in (1, 2, 3, 4) for _ in range(4))[:13] for suit in "mps"]
    start = events[1] | {"tehais": [*hands, list("EEEESSSSWWWWN")], "dora_marker": "9s"}
    end = {"type": "ryukyoku", "reason": "kyushukyuhai", "deltas": [0, 0, 0, 0]}
    draw = {"type": "tsumo", "actor": 0, "pai": "9p"}
    refused_as_incomplete([events[0], start, draw, end, events[-1]], "none is seen, and no aka or aka_flag")


def test_a_name_that_is_no_text_costs_the_name() -> None:
    events = events_of(SHORT)
    events[0]["names"] = ["A", None, "\ud800", 7]
    log = parse_mjai(text_of(events), "x")
    assert log.names == ("A", "", "", "")
    assert log.ignored == {"a name that is not a text": 3}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "truncated"),
        pytest.param(f'{{"x":"{"x" * 2**20}"}}', "longer than 1,048,576 characters", id="a long line"),
        ("[]", "not a JSON object"),
        ("{", "not JSON"),
        ("[" * 100_000, "nested too deeply|not JSON"),
        ('{"type":"tsumo"}', "misplaced"),
        ('{"type":"start_game"}\n{"type":"start_game"}', "misplaced"),
        ('{"type":"start_game"}\n{"type":"hora"}', "outside a kyoku"),
    ],
)
def test_what_is_no_game_is_refused(text: str, reason: str) -> None:
    with pytest.raises(RecordError, match=reason):
        parse_mjai(text, "x")
