from __future__ import annotations

import numpy as np
import pytest

from suphx.games.riichi.bots.scripted_play import choose_random, choose_tsumogiri, choose_ukeire, is_yakuhai
from suphx.games.riichi.hand.suit_table import load_suits
from suphx.games.riichi.records.log.gamelog import GameLog
from suphx.games.riichi.records.log.replay import Replayer
from suphx.games.riichi.table.action import ANKAN, CHI, NINE_TERMINALS, PASS, PON, RIICHI, RON, TSUMO, TSUMOGIRI
from suphx.games.riichi.table.rules import Rules, tenhou
from suphx.selfplay.agents.agent import ScriptedAgent
from suphx.selfplay.agents.choice import SCRIPTED_AGENTS
from suphx.selfplay.rollouts.rollout import play_games
from tests.games.riichi.builders.hands import kind
from tests.games.riichi.builders.table_builder import Deal

TENPAI = "123456789m1123p"
FAR = "1478m258p19s1236z"


def ukeire(deal: Deal) -> int:
    return int(choose_ukeire(deal.tables[0], load_suits()))


def play(names: list[str], num_games: int) -> list[GameLog]:
    """Play games of the named scripted agents, the first one at every seat in turn."""
    agents = [ScriptedAgent(name) for name in names]
    seating = np.array([np.roll([0, 1, 1, 1] if len(names) > 1 else [0] * 4, game) for game in range(num_games)])
    return list(play_games(agents, seating, [1000 + game // 4 for game in range(num_games)], tenhou()))


def mean_placement(logs: list[GameLog], name: str) -> float:
    places = []
    for log in logs:
        assert log.final_scores is not None
        seat = log.names.index(name)
        ahead = [s > log.final_scores[seat] for s in log.final_scores]
        ties = [log.final_scores[other] == log.final_scores[seat] for other in range(seat)]
        places.append(1 + sum(ahead) + sum(ties))
    return float(np.mean(places))


@pytest.mark.parametrize("name", SCRIPTED_AGENTS)
def test_scripted_agents_play_whole_games_by_the_rules(name: str) -> None:
    replayer = Replayer()
    for log in play([name], 8):
        assert replayer.replay(log) == []


def test_ukeire_beats_random_and_tsumogiri() -> None:
    # The standard error of 80 games is 0.13 places.
    assert mean_placement(play(["ukeire", "random"], 80), "ukeire") < 1.5
    assert mean_placement(play(["ukeire", "tsumogiri"], 80), "ukeire") < 1.7


def test_random_takes_every_legal_action_for_some_number() -> None:
    deal = Deal([TENPAI, "", "", ""], draws="4p")
    legal = set(np.flatnonzero(deal.table["legal"]).tolist())
    assert {int(choose_random(deal.tables[0], number)) for number in range(len(legal))} == legal
    assert choose_random(deal.tables[0], 3) == choose_random(deal.tables[0], 3 + len(legal))


def test_tsumogiri_wins_and_otherwise_discards_what_it_drew() -> None:
    deal = Deal([TENPAI, "44p", "", ""], draws="7z 6z")
    assert choose_tsumogiri(deal.tables[0]) == TSUMOGIRI
    deal.discard(0, "7z")
    deal.discard(1, "4p")
    assert choose_tsumogiri(deal.tables[0]) == RON
    assert choose_tsumogiri(Deal([TENPAI, "", "", ""], draws="4p").tables[0]) == TSUMO
    deal = Deal([FAR, "33m", "", ""], draws="3m")
    deal.discard(0, "3m")
    assert choose_tsumogiri(deal.tables[0]) == PASS
    deal.act(1, PON)  # by the agent that sat here before
    assert deal.table["legal"][choose_tsumogiri(deal.tables[0])]


def test_ukeire_wins_declares_riichi_and_nine_terminals() -> None:
    assert ukeire(Deal([TENPAI, "", "", ""], draws="4p")) == TSUMO
    assert ukeire(Deal([TENPAI, "", "", ""], draws="7z")) == RIICHI
    assert ukeire(Deal(["19m19p19s123z2358m", "", "", ""], draws="5p")) == NINE_TERMINALS


def test_ukeire_keeps_the_least_shanten_and_the_most_helping_tiles() -> None:
    # 46m and 56s are two runs to come: without 2z the two-sided one and the gap stay.
    assert ukeire(Deal(["123m456789p46m56s", "", "", ""], draws="2z")) == TSUMOGIRI
    # A pair is missing: of the single tiles the one that can still be drawn more often stays.
    deal = Deal(["123789m234678p5z", "5z", "5z", "5z"], draws="4z")
    assert ukeire(deal) in (RIICHI, kind("5z"))


def test_ukeire_calls_only_with_a_yaku_in_sight() -> None:
    def asked(hand: str, tile: str) -> int:
        deal = Deal(["", hand, "", ""], draws=tile)
        deal.discard(0, tile)
        assert deal.table["actor"] == 1
        return ukeire(deal)

    assert asked("55z2378m99p45p67s1z", "5z") == PON  # a dragon
    assert asked("44z2378m99p45p67s1z", "4z") == PASS  # a guest wind
    assert asked("2346788m3355p67s", "5s") == CHI  # all simples
    assert asked("1346789m1155p67s", "5s") == PASS


def test_ukeire_calls_a_closed_kan_that_costs_nothing() -> None:
    assert ukeire(Deal(["5555z2389m45p678s", "", "", ""], draws="3z")) == ANKAN + kind("5z")


def test_ukeire_folds_a_far_hand_against_riichi() -> None:
    deal = Deal([TENPAI, "2588m258p258s127z", "", ""], draws="7z 5m")
    deal.act(0, RIICHI)
    deal.discard(0, "7z")
    deal.pass_all()
    assert deal.table["actor"] == 1
    assert ukeire(deal) == kind("7z")  # the only tile that is safe for certain


def test_yakuhai_are_dragons_and_the_own_and_the_rounds_wind() -> None:
    deal = Deal(["", "", "", ""], kyoku=5)  # South 2, seat 1 is dealer
    own = {seat: {tile for tile in range(34) if is_yakuhai(deal.tables[0], seat, tile)} for seat in range(4)}
    dragons_and_south = {28, 31, 32, 33}
    assert own == {
        0: dragons_and_south | {30},
        1: dragons_and_south | {27},
        2: dragons_and_south,
        3: dragons_and_south | {29},
    }


def test_ukeire_does_without_open_tanyao_where_it_is_not_allowed() -> None:
    deal = Deal(["", "2346788m3355p67s", "", ""], draws="5s", rules=Rules(open_tanyao=False))
    deal.discard(0, "5s")
    assert deal.table["actor"] == 1
    assert ukeire(deal) == PASS
