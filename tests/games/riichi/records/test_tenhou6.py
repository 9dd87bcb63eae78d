"""Games as JSON of tenhou.net/6: what the format has survives, and what it has not is neither asked for nor made up."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import pytest

from suphx.games.riichi.records.game_log import GameLog
from suphx.games.riichi.records.quarantine import INCOMPLETE, NO_END, ForeignRecord, RecordError
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.records.tenhou6 import moves_in_order, parse_tenhou6, write_tenhou6
from suphx.games.riichi.rules import Rules
from tests.games.riichi.builders.games import random_game

GAME = json.loads(write_tenhou6(random_game(3)))


def read(game: dict[str, Any], *, is_fragment_allowed: bool = True) -> GameLog:
    return parse_tenhou6(json.dumps(game), "x", is_fragment_allowed=is_fragment_allowed)


def changed(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    game: dict[str, Any] = json.loads(json.dumps(GAME))
    change(game)
    return game


def test_yaku_in_other_words_leave_the_payments() -> None:
    def translate(game: dict[str, Any]) -> None:
        win = next(row[16][2] for row in game["log"] if row[16][0] == "和了")
        win[4:] = ["Riichi(1飜)"]

    log = read(changed(translate))
    assert not all(kyoku.is_result_complete for kyoku in log.kyokus)
    assert Replayer().replay(log) == []


def test_a_wrong_yaku_is_a_difference() -> None:
    def lie(game: dict[str, Any]) -> None:
        win = next(row[16][2] for row in game["log"] if row[16][0] == "和了")
        win[4] = "海底摸月(1飜)"

    assert any("win_yaku" in difference.what for difference in Replayer().replay(read(changed(lie))))


def test_a_draw_with_tiles_left_is_a_difference() -> None:
    def cut(game: dict[str, Any]) -> None:
        row = game["log"][0]
        del game["log"][1:]
        row[5], row[6] = [row[5][0]], [row[6][0]]
        for place in (8, 9, 11, 12, 14, 15):
            row[place] = []
        row[16] = ["流局", [0, 0, 0, 0]]

    (difference,) = Replayer().replay(read(changed(cut)))
    assert difference.what == "the record ends the deal here, but by the rules the next seat draws"


def test_a_game_without_final_scores_is_a_fragment() -> None:
    game = changed(lambda game: game.pop("sc"))
    assert read(game).final_scores is None
    with pytest.raises(RecordError, match="sc is missing") as caught:
        read(game, is_fragment_allowed=False)
    assert caught.value.kind == NO_END


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ({"disp": "三鳳南喰赤", "aka": 1}, "three players"),
        ({"disp": "鳳南喰", "aka": 0}, "without red fives"),
        ({"disp": "鳳南喰"}, "without red fives"),
        ({"disp": "玉の間南喰赤", "aka51": 1, "aka52": 2, "aka53": 1}, "aka52 2"),
    ],
)
def test_games_of_other_rules_are_foreign(rule: dict[str, Any], reason: str) -> None:
    with pytest.raises(ForeignRecord, match=reason):
        read(GAME | {"rule": rule})


@pytest.mark.parametrize(
    ("rule", "num_winds"),
    [
        ({"disp": "般東喰赤速"}, 1),
        ({"disp": "玉の間南喰赤", "aka51": 1, "aka52": 1, "aka53": 1}, 2),
        ({"disp": "Jade Room South Red Fives", "aka": 1}, 2),
        ({"disp": "", "aka": 1}, 2),
        ({}, 2),  # red fives are seen
    ],
)
def test_rules_in_the_words_of_others_are_understood(rule: dict[str, Any], num_winds: int) -> None:
    assert read(GAME | {"rule": rule}).rules == Rules(num_winds=num_winds)


@pytest.mark.parametrize(("lobby", "room"), [({"lobby": 0}, "phoenix"), ({"lobby": 7}, ""), ({}, "")])
def test_only_a_game_of_the_ranked_lobby_has_a_room(lobby: dict[str, int], room: str) -> None:
    game = changed(lambda game: game.pop("lobby")) | {"rule": {"disp": "鳳南喰赤"}}
    assert read(game | lobby).room == room


def test_grades_of_other_places_are_unknown() -> None:
    log = read(GAME | {"dan": ["雀聖 2", "雀豪 1", "", ""], "rate": [1200, 0, 0, 0]})
    assert (log.dans, log.ratings) == ((), (1200.0, 0.0, 0.0, 0.0))


def first_row(game: dict[str, Any], part: Callable[[list[Any]], bool]) -> list[Any]:
    row: list[Any] = next(row for row in game["log"] if part(row))
    return row


def test_a_missing_dora_indicator_is_not_made_up() -> None:
    game = changed(lambda game: first_row(game, lambda row: len(row[2]) > 1)[2].pop())
    with pytest.raises(RecordError, match="dora indicators are turned over") as caught:
        read(game)
    assert caught.value.kind == INCOMPLETE


def test_red_fives_that_neither_a_rule_nor_a_tile_shows_are_not_made_up() -> None:
    hands = [
        [11, 19, 21, 29, 31, 39, 41, 42, 43, 12, 13, 14, 16],
        [*[22] * 4, *[23] * 4, *[24] * 4, 26],
        [*[32] * 4, *[33] * 4, *[34] * 4, 36],
        [*[27] * 4, *[28] * 4, *[37] * 4, 38],
    ]
    parts = [part for hand in hands for part in (hand, [17] if hand is hands[0] else [], [])]
    game = {"log": [[[0, 0, 0], [25_000] * 4, [18], [], *parts, ["九種九牌"]]]}
    assert len(read(game | {"rule": {"aka": 1}}).kyokus) == 1
    with pytest.raises(RecordError, match="if the game has red fives") as caught:
        read(game)
    assert caught.value.kind == INCOMPLETE


def test_missing_ura_dora_indicators_are_unknown() -> None:
    game = changed(lambda game: first_row(game, lambda row: bool(row[3]))[3].clear())
    log = read(game)
    unknown = [kyoku for kyoku in log.kyokus if not kyoku.is_ura_known]
    assert len(unknown) == 1
    assert not unknown[0].is_result_complete
    assert Replayer().replay(log) == []


CHANGES: dict[str, tuple[int, Any, str]] = {
    "a tile that is none": (4, [10] * 13, "is not a tile"),
    "a short hand": (4, [11], "dealt 1 tiles"),
    "no indicator": (2, [], "no dora indicator"),
    "a call of nobody": (5, ["11p11"], "is not a call"),
    "an impossible place": (5, ["1111m1111"], "from which seat"),
    "a discard without a draw": (6, [11] * 40, "more than it takes|not in its hand"),
    "an unknown result": (16, ["終局"], "is not 和了"),
    "a win without winner": (16, ["和了", [0, 0, 0, 0]], "score changes and a list"),
    "scores of three": (1, [1, 2, 3], "four numbers"),
    "no numbers": (0, [0], "does not begin with"),
    "North": (0, [12, 0, 0], "0 to 11"),
    "no order": (5, [], "do not fit together|plays"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_damage_is_refused_with_reason_and_place(name: str) -> None:
    place, value, reason = CHANGES[name]
    with pytest.raises(RecordError, match=reason) as caught:
        read(changed(lambda game: game["log"][1].__setitem__(place, value)))
    kyoku, honba, _ = GAME["log"][1][0]
    assert caught.value.position in ("kyoku 2 of log", f"kyoku {kyoku} honba {honba}")


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, '{"log":7}', '{"log":[]}', '{"log":[[]]}', '{"log":[{}]}'])
def test_what_is_no_game_is_refused(text: str) -> None:
    with pytest.raises(RecordError):
        parse_tenhou6(text, "x")


PON_CALLS = {3: "p111111", 2: "11p1111", 1: "1111p11"}
KAN_CALLS = {3: "m11111111", 2: "11m111111", 1: "111111m11"}


@pytest.mark.parametrize("seed", range(30))
def test_one_order_fits_even_where_all_discards_are_equal(seed: int) -> None:
    rng = random.Random(seed)
    takes: list[list[Any]] = [[], [], [], []]
    plays: list[list[Any]] = [[], [], [], []]
    seat, order = 0, []
    for turn in range(40):
        is_turn = False
        if turn and rng.random() < 0.3:
            target = seat
            seat = rng.choice([other for other in range(4) if other != target])
            is_turn = rng.random() < 0.5
            takes[seat].append((PON_CALLS if is_turn else KAN_CALLS)[(target - seat) % 4])
            order.append((seat, "pon" if is_turn else "daiminkan"))
            plays[seat] += [] if is_turn else [0]
        else:
            seat = (seat + 1) % 4 if turn else 0
        if not is_turn:
            takes[seat].append(12)
            order.append((seat, "tsumo"))
        if rng.random() < 0.1:
            plays[seat].append("292929a29")
            takes[seat].append(13)
            order += [(seat, "ankan"), (seat, "tsumo")]
        plays[seat].append(11)
        order.append((seat, "dahai"))
    assert [(event["actor"], event["type"]) for event in moves_in_order(takes, plays, 0)] == order
    takes[2] += [12] * 3
    with pytest.raises(ValueError, match="do not fit together"):
        moves_in_order(takes, plays, 0)
