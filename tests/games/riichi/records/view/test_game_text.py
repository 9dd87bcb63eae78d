from __future__ import annotations

import pytest

from suphx.games.riichi.records.view.game_text import hand_text, kyoku_name
from tests.games.riichi.builders.table_builder import Deal


@pytest.mark.parametrize(
    ("kyoku", "honba", "name"),
    [(0, 0, "East 1"), (7, 2, "South 4, honba 2"), (8, 0, "West 1"), (11, 1, "West 4, honba 1")],
)
def test_deals_are_named_by_round_dealer_and_honba(kyoku: int, honba: int, name: str) -> None:
    assert kyoku_name(kyoku, honba) == name


def test_a_hand_is_written_in_short_form_with_its_red_fives() -> None:
    deal = Deal(["", "123406789m1123p", "", ""], draws="7z", left=40)
    assert hand_text(deal.tables[0], 1) == "123406789m1123p"
