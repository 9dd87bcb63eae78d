from __future__ import annotations

import pytest

from suphx.games.riichi.bots.win_rule import should_win
from suphx.games.riichi.table.action import PASS, RON, TSUMO
from suphx.games.riichi.table.rules import Rules
from tests.games.riichi.builders.table_builder import Deal

TENPAI = "123456789m1123p"  # ron on 4p: a straight and pinfu, 3 han 30 fu, 3900 points
SOUTH_3, SOUTH_4, WEST_4 = 6, 7, 11


def ron(kyoku: int, scores: tuple[int, int, int, int], *, winner: int = 0, honba: int = 0, kyotaku: int = 0) -> bool:
    """Return whether ``winner`` would take a ron on 4p of seat 3, the dealer of every fourth deal."""
    hands = [TENPAI if seat == winner else "" for seat in range(4)]
    deal = Deal(hands, draws="4p", kyoku=kyoku, scores=scores, honba=honba, kyotaku=kyotaku, left=20)
    deal.discard(int(deal.table["actor"]), "4p")
    assert deal.is_offered(winner, RON)
    while deal.table["actor"] != winner:
        deal.act(int(deal.table["actor"]), PASS)
    return bool(should_win(deal.tables[0]))


@pytest.mark.parametrize(
    ("kyoku", "scores", "wins"),
    [
        (SOUTH_4, (2000, 33_000, 33_000, 32_000), False),  # the game ends and we stay last
        (SOUTH_4, (24_000, 25_000, 27_000, 24_000), True),  # nobody has 30,000: West comes
        (SOUTH_4, (28_000, 31_000, 31_000, 10_000), True),  # we are not last
        (SOUTH_4, (20_000, 33_000, 24_500, 22_500), True),  # 3,900 lift us to third: 23,900 and 18,600
        (SOUTH_4, (15_000, 45_000, 38_000, 2000), True),  # the loser is last, below zero
        (WEST_4, (16_000, 28_000, 28_000, 28_000), False),  # West 4 is the end whatever the points
    ],
)
def test_ron(kyoku: int, scores: tuple[int, int, int, int], wins: bool) -> None:
    assert ron(kyoku, scores) == wins


def test_before_the_last_planned_deal_every_win_is_taken() -> None:
    deal = Deal(["", "", TENPAI, ""], draws="4p", kyoku=SOUTH_3, scores=(33_000, 33_000, 1000, 33_000), left=20)
    assert should_win(deal.tables[0])
    deal = Deal([TENPAI, "", "", ""], draws="4p", kyoku=SOUTH_3, scores=(1000, 33_000, 33_000, 33_000), left=20)
    deal.discard(2, "4p")
    assert deal.is_offered(0, RON)
    assert deal.table["actor"] == 0
    assert should_win(deal.tables[0])


def test_the_dealer_takes_a_win_that_lets_it_deal_on() -> None:
    deal = Deal(["", "", "", TENPAI], draws="4p", kyoku=SOUTH_4, scores=(33_000, 33_000, 32_000, 2000), left=20)
    assert deal.is_offered(3, TSUMO)
    assert should_win(deal.tables[0])


def test_honba_and_sticks_count() -> None:
    scores = (18_000, 33_000, 27_000, 22_000)
    assert ron(SOUTH_4, scores)
    low = (14_000, 33_500, 26_500, 23_000)
    assert not ron(SOUTH_4, low)  # 17,900 against 19,100
    assert ron(SOUTH_4, low, kyotaku=3)


def test_equal_points_count_for_the_seat_nearer_to_east() -> None:
    # 3,900 make both 20,000: seat 0 is third, seat 2 is last.
    assert ron(SOUTH_4, (16_100, 33_000, 27_000, 23_900))
    assert not ron(SOUTH_4, (20_000, 33_000, 16_100, 30_900), winner=2)


def test_below_zero_ends_the_game_whatever_the_target() -> None:
    rules = Rules(target_points=99_000)
    deal = Deal(
        [TENPAI, "", "", ""], draws="4p", kyoku=SOUTH_4, scores=(1000, 49_000, 49_900, 100), left=20, rules=rules
    )
    deal.discard(3, "4p")
    assert deal.table["actor"] == 0
    assert should_win(deal.tables[0])  # the loser falls behind us
