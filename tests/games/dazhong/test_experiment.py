from __future__ import annotations

import numpy as np
import pytest

from suphx.games.dazhong.experiment import PAPER_RULES, group_orders, play_group, play_scripted, play_until_decided
from suphx.games.dazhong.table import Rules

SEATS = ("fanfou_op", "robot", "fanfou_mc", "fanfou_ba")


def test_groups_play_all_orders_of_the_paper() -> None:
    for group in (1, 2):
        orders = group_orders(group)
        assert len(set(orders)) == 12
        assert {tuple(sorted(order)) for order in orders} == {tuple(sorted(orders[0]))}
    assert group_orders(3, "fanfou_mc_programs") == [
        ("fanfou_mc_programs", "fanfou_op", "fanfou_mc_programs", "fanfou_op"),
        ("fanfou_mc_programs", "fanfou_mc_programs", "fanfou_op", "fanfou_op"),
        ("fanfou_op", "fanfou_mc_programs", "fanfou_op", "fanfou_mc_programs"),
        ("fanfou_op", "fanfou_op", "fanfou_mc_programs", "fanfou_mc_programs"),
    ]


@pytest.mark.parametrize("rules", [PAPER_RULES, Rules()])
def test_hands_do_not_depend_on_threads_and_on_the_hands_beside_them(rules: Rules) -> None:
    hands = play_scripted(SEATS, range(100, 180), rules, num_threads=1)
    again = play_scripted(SEATS, range(140, 180), rules, num_threads=3)
    for name in ("seeds", "wins", "losers", "fan"):
        assert (getattr(hands, name)[40:] == getattr(again, name)).all()
    assert (hands.fan.sum(axis=1) == 0).all()
    assert (hands.wins.sum(axis=1)[hands.losers >= 0] > 0).all()
    assert not hands.wins[np.arange(80)[hands.losers >= 0], hands.losers[hands.losers >= 0]].any()


def test_an_order_is_played_until_as_many_hands_as_wanted_are_decided() -> None:
    hands = play_until_decided(("robot",) * 4, 50, 7, PAPER_RULES)
    is_decided = hands.wins.max(axis=1) > 0
    assert is_decided.sum() == 50 < is_decided.size
    assert is_decided[-1]
    assert hands.seeds.tolist() == list(range(7, 7 + is_decided.size))


def test_orders_share_walls_if_that_is_wanted() -> None:
    common = list(play_group(3, 20, seed=3, has_common_walls=True))
    own = list(play_group(3, 20, seed=3))
    assert len({int(hands.seeds[0]) for hands in common}) == 1
    assert not set.intersection(*(set(hands.seeds.tolist()) for hands in own))
    assert (common[0].wins == own[0].wins).all()


def test_op_is_stronger_than_ba_and_robots() -> None:
    hands = play_scripted(("fanfou_op", "robot", "robot", "robot"), range(400), PAPER_RULES, num_threads=2)
    assert hands.wins[:, 0].sum() > 4 * hands.wins[:, 1:].sum(axis=0).max()
