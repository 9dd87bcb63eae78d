"""The steps of a game: every state is one that the engine was in, and the points are those of the record."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.games.mahjong.tile import NUM_KINDS
from suphx.games.riichi.archive.archive import iter_records
from suphx.games.riichi.records.decisions import KyokuWalk, Opinions, discard_lookahead, recorded_decisions
from suphx.games.riichi.records.game_log import RESULT_NAMES, GameLog
from suphx.games.riichi.records.mjai import parse_mjai, write_mjai
from suphx.games.riichi.records.quarantine import Quarantine
from suphx.games.riichi.records.viewer_game import UNKNOWN, State, shown_ura, viewer_game, viewer_state
from suphx.games.riichi.rules import Rules, apply_rules
from suphx.games.riichi.shanten import count_shanten
from suphx.games.riichi.table import CALLED_FLAG, NUM_ACTIONS, PASS, TABLE, TSUMOGIRI, URA_POSITIONS, fill_unseen
from suphx.games.riichi.yaku_number import YAKU_NAMES
from tests.games.riichi.builders.games import random_game


def test_ura_indicators_that_the_record_does_not_show_are_unknown() -> None:
    text = re.sub(r',"ura_markers":\[[^]]*\]', "", write_mjai(random_game(4)))
    log = parse_mjai(text, "x")
    game = viewer_game(log)
    assert any(deal["result"]["ura"] for deal in game["deals"])
    num_limits = 0
    for kyoku, deal in zip(log.kyokus, game["deals"], strict=True):
        assert set(deal["result"]["ura"]) <= {UNKNOWN}
        assert {deal["wall"][place] for place in URA_POSITIONS} == {UNKNOWN}
        for win in deal["result"]["wins"]:
            is_uncertain = not kyoku.is_ura_known and win["limit"] and not win["yakuman"]
            assert (win["han"] is None) == bool(is_uncertain)
            assert not is_uncertain or "ura dora" not in dict(win["bonus"])
            num_limits += bool(is_uncertain)
    assert num_limits


def test_the_shanten_after_a_discard_is_that_of_the_hand_without_it() -> None:
    tables = recorded_decisions(random_game(1)).tables
    asked = [table for table in tables if table["legal"][: TSUMOGIRI + 1].any()][::7]
    assert len(asked) > 20
    for table in asked:
        seat = int(table["actor"])
        found = discard_lookahead(table)
        for kind in np.flatnonzero(table["hand"][seat]):
            hand = table["hand"][seat].copy()
            hand[kind] -= 1
            melds = int(table["num_melds"][seat])
            assert found.shanten[0, kind] == count_shanten(hand[None], melds)[0]
            unseen = np.zeros(NUM_KINDS, np.int8)
            fill_unseen(table, seat, unseen)
            helping = 0
            for draw in np.flatnonzero((unseen > 0) & (hand < 4)):
                hand[draw] += 1
                helping += int(unseen[draw]) * bool(count_shanten(hand[None], melds)[0] < found.shanten[0, kind])
                hand[draw] -= 1
            assert found.tiles[0, kind] == helping


DEAD_WALL = 14
SEATS = range(4)
SHORT_GAME = dataclasses.replace(random_game(0), kyokus=random_game(0).kyokus[:3], final_scores=None)


def states(deal: dict[str, Any]) -> Iterator[State]:
    """Yield the state after each step, as a page computes it."""
    state = dict(deal["start"])
    for step in deal["steps"]:
        state |= step["changes"]
        yield dict(state)


def num_tiles(state: State) -> int:
    """Return how many tiles a state shows, the wall included."""
    hands = sum(len(state[f"hand{seat}"]) for seat in SEATS)
    melds = sum(len(meld["faces"]) for seat in SEATS for meld in state[f"melds{seat}"])
    rivers = sum(not number // 64 & CALLED_FLAG for seat in SEATS for number in state[f"river{seat}"])
    return int(hands + melds + rivers + len(state["drawn"]) + state["left"] + DEAD_WALL)


def assert_points_of_the_record(game: GameLog) -> None:
    deals = viewer_game(game)["deals"]
    points = [deal["after"] for deal in deals]
    recorded = [kyoku.scores for kyoku in game.kyokus[1:]] + ([game.final_scores] if game.final_scores else [])
    assert [tuple(each) for each in points[: len(recorded)]] == recorded


def test_no_tile_is_lost_from_step_to_step() -> None:
    for deal in viewer_game(SHORT_GAME)["deals"]:
        for step, state in zip(deal["steps"], states(deal), strict=True):
            # The tile of a ron is in a river, or in a kan, as well as beside the hand.
            rons = [win for win in deal["result"]["wins"] if win["seat"] != win["loser"] and step["kind"] == "end"]
            assert num_tiles(state) - len(rons) == 136, (deal["name"], step["kind"])


def test_the_last_state_of_a_deal_is_that_of_the_engine() -> None:
    game = SHORT_GAME
    for index, deal in enumerate(viewer_game(game)["deals"]):
        walk = KyokuWalk(game, index)
        assert len(list(walk)) > 0
        *_, last = states(deal)
        assert last == viewer_state(walk.table, game.rules.red_bits)


def test_the_values_are_json_and_have_the_places_of_the_record() -> None:
    game = random_game(1)
    values = json.loads(json.dumps(viewer_game(game)))
    assert values["final"] == list(game.final_scores or ())
    assert sorted(values["placement"]) == [1, 2, 3, 4]
    assert values["names"] == list(game.names)
    kinds = {step["kind"] for deal in values["deals"] for step in deal["steps"]}
    assert kinds >= {"draw", "discard", "riichi", "pon", "end"}


def test_a_wall_without_seed_shows_only_what_the_record_shows() -> None:
    game = random_game(2)
    known = dataclasses.replace(game.kyokus[0], is_wall_from_seed=True)
    hidden, whole = (
        viewer_game(dataclasses.replace(game, kyokus=[kyoku], final_scores=None))["deals"][0]
        for kyoku in (game.kyokus[0], known)
    )
    assert UNKNOWN not in whole["wall"]
    *_, last = states(hidden)
    assert hidden["wall"][: last["next"]] == whole["wall"][: last["next"]]
    assert set(hidden["wall"][last["next"] : last["next"] + last["left"]]) <= {UNKNOWN}


def test_a_record_against_the_rules_is_refused() -> None:
    game = random_game(0)
    kyoku = dataclasses.replace(game.kyokus[0], moves=game.kyokus[0].moves[1:])
    with pytest.raises(ValueError, match=r"deal 0 of game game-0 contradicts the rules: see suphx records verify"):
        viewer_game(dataclasses.replace(game, kyokus=[kyoku]))


def own_opinions(game: GameLog) -> Opinions:
    """Return the opinions of an agent that always does what was recorded."""
    actions = recorded_decisions(game).actions
    return Opinions("echo", actions, np.full((len(actions), NUM_ACTIONS), np.nan, np.float32))


def test_an_agent_that_plays_as_recorded_never_differs() -> None:
    values = viewer_game(SHORT_GAME, own_opinions(SHORT_GAME))
    decisions = recorded_decisions(SHORT_GAME)
    assert values["num_differences"] == 0
    assert values["num_decisions"] == np.count_nonzero(decisions.is_known & (decisions.tables["num_legal"] > 1))


def test_only_the_decisions_of_some_seats_are_shown() -> None:
    opinions = own_opinions(SHORT_GAME)
    whole, part = viewer_game(SHORT_GAME, opinions), viewer_game(SHORT_GAME, opinions, (2,))
    for both in zip(whole["deals"], part["deals"], strict=True):
        for all_steps, own in zip(*(deal["steps"] for deal in both), strict=True):
            assert own == all_steps | {"decisions": [each for each in all_steps["decisions"] if each["seat"] == 2]}
    assert 0 < part["num_decisions"] < whole["num_decisions"]


def test_one_other_answer_is_one_difference() -> None:
    game = SHORT_GAME
    opinions, decisions = own_opinions(game), recorded_decisions(game)
    claims = np.flatnonzero((decisions.actions == PASS) & decisions.is_known)
    number = int(claims[0])
    other = int(np.flatnonzero(decisions.tables["legal"][number][:PASS])[0])
    opinions.actions[number] = other
    opinions.probabilities[number, other] = 0.75
    values = viewer_game(game, opinions)
    steps = [step for deal in values["deals"] for step in deal["steps"]]
    (found,) = [each for step in steps for each in step["decisions"] if each["differs"]]
    assert values["num_differences"] == 1
    assert found["seat"] == decisions.tables["actor"][number]
    assert found["moves"][found["played"]]["move"] == "pass"
    assert found["moves"][found["agent"]]["p"] == 0.75


def test_a_claim_that_another_claim_hides_is_no_difference() -> None:
    game = SHORT_GAME
    decisions = recorded_decisions(game)
    hidden = np.flatnonzero(~decisions.is_known & (decisions.tables["num_legal"] > 1))
    assert hidden.size
    opinions = own_opinions(game)
    for number in hidden:
        opinions.actions[number] = int(np.flatnonzero(decisions.tables["legal"][number])[0])
    assert viewer_game(game, opinions)["num_differences"] == 0


@pytest.mark.records
@pytest.mark.parametrize("num_games", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_real_games_have_the_points_of_their_records(records: Path, num_games: int) -> None:
    for folder in ("suphx-tokujo-hanchan", "careers-hanchan", "houou-mixed-201811", "houou-tonpuu-2023-2024"):
        found = iter_records([records / folder], quarantine=Quarantine())
        for game in islice(found, num_games):
            assert_points_of_the_record(game)


@pytest.mark.slow
@pytest.mark.records
def test_rare_situations_show_every_draw_and_their_yaku(records: Path) -> None:
    shown, expected = set(), set()
    for game in iter_records([records / "rare-situations"], quarantine=Quarantine(), is_fragment_allowed=True):
        assert_points_of_the_record(game)
        for kyoku in game.kyokus:
            bits = int(np.bitwise_or.reduce(kyoku.result["win_yaku"]))
            expected |= {name for number, name in enumerate(YAKU_NAMES) if bits >> number & 1}
        results = [deal["result"] for deal in viewer_game(game)["deals"]]
        shown |= {result["kind"] for result in results}
        shown |= {name for result in results for win in result["wins"] for name in win["yaku"]}
    assert shown == expected | set(RESULT_NAMES.values())


@pytest.mark.parametrize(
    ("rules", "has_riichi", "shown"),
    [(Rules(), True, 2), (Rules(), False, 0), (Rules(kan_ura_dora=False), True, 1), (Rules(ura_dora=False), True, 0)],
)
def test_ura_indicators_are_shown_if_they_count(rules: Rules, has_riichi: bool, shown: int) -> None:
    tables = np.zeros(1, TABLE)
    apply_rules(tables, rules)
    tables["num_dora"], tables["num_wins"], tables["win_seat"][0, 0] = 2, 1, 3
    tables["riichi"][0, 3] = has_riichi
    assert shown_ura(tables[0]) == shown
