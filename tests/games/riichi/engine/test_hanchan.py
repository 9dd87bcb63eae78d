from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from suphx.games.riichi.engine.hanchan import start_game
from suphx.games.riichi.table.rules import Rules, tonpuu
from suphx.games.riichi.table.table import (
    EXHAUSTIVE_DRAW,
    FOUR_RIICHI_DRAW,
    FOUR_WINDS_DRAW,
    GAME_END,
    KYOKU_START,
    NAGASHI_MANGAN,
    NINE_TERMINALS_DRAW,
    TABLE,
    TRIPLE_RON_DRAW,
    WIN_RESULT,
)
from tests.games.riichi.builders.hands import (
    DEALER_LEADS,
    EAST_1,
    EAST_4,
    EVEN,
    OTHER_LEADS,
    SOUTH_4,
    WEST_1,
    WEST_4,
    after,
    next_deal,
)

# --- who deals next


def test_a_game_starts_in_east_1_with_equal_points() -> None:
    tables = np.zeros(1, TABLE)
    start_game(tables[0], 25_000)
    assert next_deal(tables[0]) == (EAST_1, 0)
    assert tables["scores"][0].tolist() == list(EVEN)


@pytest.mark.parametrize(
    ("result", "winners", "tenpai", "expected"),
    [
        (WIN_RESULT, (0,), (), (0, 3)),  # the dealer won
        (WIN_RESULT, (1,), (), (1, 0)),
        (WIN_RESULT, (2, 0), (), (0, 3)),  # a double ron with the dealer
        (EXHAUSTIVE_DRAW, (), (0, 1), (0, 3)),
        (EXHAUSTIVE_DRAW, (), (1, 2, 3), (1, 3)),
        (NAGASHI_MANGAN, (), (0,), (0, 3)),
        (NAGASHI_MANGAN, (), (), (1, 3)),
        (NINE_TERMINALS_DRAW, (), (), (0, 3)),
        (FOUR_WINDS_DRAW, (), (), (0, 3)),
        (FOUR_RIICHI_DRAW, (), (), (0, 3)),
        (TRIPLE_RON_DRAW, (), (), (0, 3)),
    ],
)
def test_the_dealer_stays_after_a_win_tenpai_or_an_abortive_draw(
    result: int, winners: Sequence[int], tenpai: Sequence[int], expected: tuple[int, int]
) -> None:
    assert next_deal(after(EAST_1, result=result, winners=winners, tenpai=tenpai, honba=2)) == expected


# --- the end


@pytest.mark.parametrize(("lowest", "is_over"), [(-100, True), (0, False), (100, False)])
def test_below_zero_ends_the_game_and_zero_plays_on(lowest: int, is_over: bool) -> None:
    table = after(EAST_1, (lowest, 30_000, 40_000, 30_000 - lowest), winners=(2,))
    assert (table["phase"] == GAME_END) == is_over


@pytest.mark.parametrize(
    ("scores", "winners", "is_over"),
    [
        (OTHER_LEADS, (0,), True),  # somebody has the target after South 4
        (EVEN, (0,), False),  # nobody has: on into West
        ((29_900, 29_900, 20_100, 20_100), (0,), False),
        ((30_000, 29_000, 20_900, 20_100), (0,), True),
        (DEALER_LEADS, (3,), True),  # the last dealer won and leads
        (OTHER_LEADS, (3,), False),  # it won and does not lead
        ((25_000, 25_000, 20_100, 29_900), (3,), False),  # it leads below the target
        ((30_000, 24_000, 16_000, 30_000), (3,), False),  # a tie is lost to the seat nearer to East
    ],
)
def test_after_south_4(scores: Sequence[int], winners: Sequence[int], is_over: bool) -> None:
    assert (after(SOUTH_4, scores, winners=winners)["phase"] == GAME_END) == is_over


def test_the_target_does_not_end_the_game_before_the_last_deal() -> None:
    assert after(SOUTH_4 - 1, (40_000, 20_000, 20_000, 20_000), winners=(0,))["phase"] == KYOKU_START


@pytest.mark.parametrize(("tenpai_ends_game", "is_over"), [(True, True), (False, False)])
def test_tenpai_of_the_leading_last_dealer_ends_the_game_if_the_rules_say_so(
    tenpai_ends_game: bool, is_over: bool
) -> None:
    table = after(
        SOUTH_4, DEALER_LEADS, result=EXHAUSTIVE_DRAW, tenpai=(3,), rules=Rules(tenpai_ends_game=tenpai_ends_game)
    )
    assert (table["phase"] == GAME_END) == is_over


def test_a_last_dealer_who_leads_and_is_noten_ends_the_game_by_losing_the_deal() -> None:
    assert after(SOUTH_4, DEALER_LEADS, result=EXHAUSTIVE_DRAW)["phase"] == GAME_END


def test_an_abortive_draw_of_the_last_deal_is_played_again() -> None:
    table = after(SOUTH_4, DEALER_LEADS, result=NINE_TERMINALS_DRAW)
    assert next_deal(table) == (SOUTH_4, 1)


def test_west_ends_as_soon_as_somebody_has_the_target() -> None:
    assert next_deal(after(SOUTH_4, EVEN, winners=(0,))) == (WEST_1, 0)
    assert after(WEST_1, OTHER_LEADS, winners=(1,))["phase"] == GAME_END
    assert next_deal(after(WEST_1, EVEN, winners=(1,))) == (WEST_1 + 1, 0)


def test_after_west_4_the_game_ends_below_the_target_too() -> None:
    assert after(WEST_4, EVEN, winners=(0,))["phase"] == GAME_END
    assert next_deal(after(WEST_4, EVEN, winners=(3,))) == (WEST_4, 1)


def test_an_east_game_ends_after_east_4_and_goes_on_into_south() -> None:
    assert after(EAST_4, OTHER_LEADS, winners=(0,), rules=tonpuu())["phase"] == GAME_END
    assert next_deal(after(EAST_4, EVEN, winners=(0,), rules=tonpuu())) == (EAST_4 + 1, 0)
    assert after(SOUTH_4, EVEN, winners=(0,), rules=tonpuu())["phase"] == GAME_END
    assert next_deal(after(EAST_4, OTHER_LEADS, winners=(0,))) == (EAST_4 + 1, 0)


# --- places


def test_places_follow_points() -> None:
    table = after(SOUTH_4, (20_000, 31_000, 9000, 40_000), winners=(0,))
    assert table["placement"].tolist() == [3, 2, 4, 1]


def test_of_equal_points_the_seat_nearer_to_the_first_dealer_is_ahead() -> None:
    table = after(SOUTH_4, (20_000, 30_000, 20_000, 30_000), winners=(0,))
    assert table["placement"].tolist() == [3, 1, 4, 2]


def test_left_over_sticks_go_to_the_first() -> None:
    table = after(SOUTH_4, (30_000, 30_000, 20_000, 18_000), result=EXHAUSTIVE_DRAW, kyotaku=2)
    assert table["phase"] == GAME_END
    assert table["scores"].tolist() == [32_000, 30_000, 20_000, 18_000]
    assert table["kyotaku"] == 0
