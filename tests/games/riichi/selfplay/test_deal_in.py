from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from suphx.games.learning import LearningConfig
from suphx.games.mahjong.shanten import load_suits
from suphx.games.riichi.bots import should_win
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.features.samples import fill_discard_mask
from suphx.games.riichi.kyoku import start_kyoku
from suphx.games.riichi.names import DISCARD_HEAD
from suphx.games.riichi.rules import Rules, apply_rules, tenhou
from suphx.games.riichi.selfplay.decision import discard_action
from suphx.games.riichi.selfplay.table_group import TableGroup, deal_in_costs
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import (
    CALL_DISCARD,
    CLAIM,
    KYOKU_END,
    OWN_TURN,
    PASS,
    RIICHI,
    RIICHI_DISCARD,
    RON,
    TABLE,
    TSUMOGIRI,
    WIN_RESULT,
)
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import I32, U8, Records
from tests.games.riichi.builders.staged_wall import near_wall, shared_wait_wall, staged_start, staged_wall
from tests.games.riichi.builders.table_builder import Deal
from tests.selfplay.row_nets import policy_outputs

TENPAI = "123456789m1123p"  # waits for 1p and 4p: a straight with pinfu
STRAIGHT = "123456789s2399p"  # waits for 1p and 4p, too
DRAGON = "555z345678s56p99m"  # waits for 4p and 7p
NO_YAKU = "123m456789s2255p"  # waits for 2p and 5p without a yaku


def masks_of(tables: Records) -> U8:
    masks = np.zeros((len(tables), 34), np.uint8)
    for i in range(len(tables)):
        fill_discard_mask(tables[i], masks[i])
    return masks


def costs_of(tables: Records) -> I32:
    """Return what each discard costs, in points, at tables whose actors discard."""
    return 100 * deal_in_costs(tables, load_suits(), np.arange(len(tables)), masks_of(tables)).astype(np.int32)


def found(deal: Deal) -> dict[str, int]:
    """Return the discards that cost something, of the actor of a deal."""
    before = deal.tables.copy()
    costs = costs_of(deal.tables)[0]
    assert (deal.tables == before).all(), "the table itself does not change"
    names = [f"{1 + kind % 9}{'mpsz'[kind // 9]}" for kind in range(34)]
    return {names[kind]: int(costs[kind]) for kind in np.flatnonzero(costs)}


def test_a_discard_that_another_seat_waits_for_costs_what_the_win_pays_with_honba() -> None:
    deal = Deal(["4p1p5z", TENPAI, "", ""], draws="9s", dora="7z", honba=2, kyotaku=3, left=40)
    assert found(deal) == {"1p": 3900 + 600, "4p": 3900 + 600}
    deal.play("0 4p, 1 ron")
    assert deal.deltas()[0] == -4500, "sticks are paid by nobody"


def test_two_winners_are_both_paid_and_three_call_the_deal_off() -> None:
    two = Deal(["4p1p5z", TENPAI, STRAIGHT, ""], draws="9s", dora="7z", honba=1, left=40)
    assert found(two) == dict.fromkeys(("1p", "4p"), 2 * 3900 + 300)
    three = Deal(["4p1p5z", TENPAI, STRAIGHT, DRAGON], draws="9s", dora="7z", honba=1, left=40)
    assert found(three).keys() == {"1p", "7p"}, "nothing is paid for 4p: three rons call the deal off"


def test_a_red_five_counts_if_it_is_the_one_that_is_discarded() -> None:
    waits = "123456789s46p99m"
    plain = Deal(["5p", waits, "", ""], draws="9m", dora="7z", left=40)
    red = Deal(["0p", waits, "", ""], draws="9m", dora="7z", left=40)
    assert found(red)["5p"] > found(plain)["5p"]
    both = Deal(["05p", waits, "", ""], draws="9m", dora="7z", left=40)
    assert found(both)["5p"] == found(plain)["5p"], "the plain five goes before the red one"


def test_without_a_yaku_and_in_furiten_nobody_wins() -> None:
    assert found(Deal(["2p5p", NO_YAKU, "", ""], draws="9m", left=40)) == {}
    furiten = Deal(["14p", TENPAI, "", ""], draws="9s4p1s", left=40)
    assert found(furiten) != {}
    furiten.play("tsumogiri, 1 4p, tsumogiri 2")
    assert furiten.table["actor"] == 0
    assert found(furiten) == {}, "a wait in its own river"


def test_the_discard_of_a_riichi_costs_no_stick_if_it_is_won_on() -> None:
    deal = Deal([TENPAI, "123456789s78p55m", "", ""], draws="9p", dora="7z")
    before = found(deal)
    deal.act(0, RIICHI)
    assert deal.table["phase"] == RIICHI_DISCARD
    assert found(deal) == {"9p": before["9p"]}
    deal.play("0 9p, 1 ron")
    assert deal.deltas()[0] == -before["9p"]


def test_ura_dora_are_paid_to_a_seat_in_riichi() -> None:
    hands = ["4p", TENPAI, "", ""]
    costs = []
    for ura in ("7z", "9p"):  # the dora 1p: a pair of it in the hand
        deal = Deal(hands, draws="9s7z7z7z9s", dora="6z", ura=ura, left=40)
        deal.play("tsumogiri, 1 riichi")
        deal.act(1, TSUMOGIRI)
        deal.tsumogiri(2)
        assert deal.table["actor"] == 0
        costs.append(found(deal)["4p"])
    assert costs[1] > costs[0]


def test_a_win_that_the_rule_refuses_costs_nothing() -> None:
    south_4, scores = 7, (33_000, 2000, 33_000, 32_000)
    assert found(Deal(["4p", TENPAI, "", ""], draws="", kyoku=south_4 - 3, scores=scores, left=40)) != {}
    refused = Deal(["", TENPAI, "", "4p"], kyoku=south_4, scores=scores, left=40)
    assert refused.table["actor"] == 3
    assert refused.is_offered(3, TSUMOGIRI)
    assert "4p" not in found(refused), "seat 1 would stay last"


def staged_tables(make_wall: object, rules: Rules, n: int, seed: int) -> Simulator:
    """Return tables at the first decision of a deal that is dealt by ``make_wall`` somewhere in a game."""
    rng = np.random.default_rng(seed)
    simulator = Simulator(n, rules, stops_at_kyoku_end=True)
    tables = np.zeros(n, TABLE)
    apply_rules(tables, rules)
    for table in tables:
        start = staged_start(rules, rng)
        table["wall"] = make_wall(rng)  # type: ignore[operator]
        for name, value in (("kyoku", "kyoku"), ("honba", "honba"), ("kyotaku", "sticks"), ("scores", "scores")):
            table[name] = start[value]
    for i in range(n):
        start_kyoku(tables[i], load_suits())
    simulator.tables[:] = tables
    return simulator


def played_cost(table: Records, kind: int, rules: Rules) -> int:
    """Return what discarding ``kind`` costs at the one table, by playing on until nobody is asked."""
    simulator = Simulator(1, rules, stops_at_kyoku_end=True)
    simulator.tables[:] = table
    t, only = simulator.tables, np.zeros(1, np.int64)
    seat = int(t["actor"][0])
    simulator.advance(only, np.array([discard_action(t[0], kind)]))
    while t["phase"][0] == CLAIM:
        takes = bool(t["legal"][0, RON]) and should_win(t[0])
        simulator.advance(only, np.array([RON if takes else PASS]))
    is_won = t["phase"][0] == KYOKU_END and t["result"][0] == WIN_RESULT
    return -int(t["deltas"][0, seat]) if is_won else 0


@pytest.mark.parametrize("make_wall", [near_wall, shared_wait_wall, staged_wall])
def test_costs_are_those_of_playing_on(make_wall: object) -> None:
    rules = replace(tenhou(), max_rons=3) if make_wall is near_wall else tenhou()
    simulator, agent, seen = staged_tables(make_wall, rules, 40, seed=3), ScriptedAgent("ukeire"), Counter[str]()
    while (waiting := simulator.waiting()).size:
        tables = simulator.tables
        discards = waiting[np.isin(tables["phase"][waiting], (OWN_TURN, RIICHI_DISCARD, CALL_DISCARD))]
        if discards.size:
            copies = tables[discards]
            masks, costs = masks_of(copies), costs_of(copies)
            for i in range(len(copies)):
                for kind in np.flatnonzero(masks[i]):
                    expected = played_cost(copies[i : i + 1], int(kind), rules)
                    assert costs[i, kind] == expected, (copies[i]["wall_seed"], kind)
                    seen["positive" if expected else "zero"] += 1
            assert not costs[masks == 0].any()
        simulator.advance(waiting, agent.act(tables, waiting))
    assert seen["positive"] > 20, seen


def test_kept_decisions_have_the_cost_that_their_seat_then_pays() -> None:
    """In a deal that a discard ended, the last decision has that cost, and no other decision that was taken has one."""
    group = TableGroup(
        LearningConfig(num_tables=256, learned=(DISCARD_HEAD,), options=frozenset({"costs"})),
        find_encoder("mini"),
        tenhou(),
        first_seed=100,
    )
    num_paid = 0
    for _ in range(500):
        ended = group.step([policy_outputs(observations) for observations in group.observe()])
        gains = (ended.ends.scores_after - ended.ends.scores_before).astype(np.float32)
        part = ended.with_rewards(gains)[0]
        taken = 100 * part.costs[np.arange(len(part)), part.actions].astype(np.int32)
        assert not taken[~part.is_last].any()
        assert (part.rewards[taken > 0] <= 0).all()
        sticks_and_cost = part.rewards[taken > 0] + taken[taken > 0]
        assert set(sticks_and_cost.tolist()) <= {0.0, -1000.0}, "besides, only an earlier riichi stick is lost"
        num_paid += int((taken > 0).sum())
        assert part.costs.shape == (len(part), 34)
        assert not part.costs[part.masks == 0].any()
    assert num_paid > 10
