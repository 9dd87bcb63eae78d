from __future__ import annotations

import numpy as np

from suphx.games.riichi.bots.danger import fill_dangers, fill_unseen, safe_kinds
from suphx.games.riichi.table.action import ANKAN, CHI, RIICHI
from suphx.games.riichi.table.tile import parse_kinds
from tests.games.riichi.builders.table_builder import Deal, bits_of, counts_of

TENPAI = "123456789m1123p"


def after_riichi() -> Deal:
    """Return a deal in which seat 0 has discarded 4s and then 7z with riichi, and seat 1 has discarded 9s since."""
    deal = Deal([TENPAI, "", "", ""], draws="4s 6z 5z 5z 7z 9s")
    deal.discard(0, "4s")
    deal.tsumogiri(3)
    deal.act(0, RIICHI)
    deal.discard(0, "7z")
    deal.discard(1, "9s")
    return deal


def test_unseen_tiles_are_all_but_own_hand_rivers_melds_and_indicators() -> None:
    deal = Deal(["1111m258p258s123z", "469m19p19s122334z", "", ""], draws="5m", dora="3z9s")
    deal.act(0, ANKAN)
    deal.discard(0, "5m")
    deal.act(1, CHI + 1)
    deal.pass_all()
    unseen = np.zeros(34, np.int8)
    fill_unseen(deal.tables[0], 2, unseen)
    seen = counts_of("1111m456m3z9s") + deal.table["hand"][2]
    assert unseen.tolist() == (4 - seen).tolist()


def test_nobody_is_dangerous_without_riichi() -> None:
    dangers = np.zeros(34, np.int64)
    assert not fill_dangers(Deal(["", "", "", ""]).tables[0], 1, dangers)
    assert not dangers.any()


def test_the_own_river_and_what_was_discarded_since_riichi_is_safe() -> None:
    deal = after_riichi()
    safe = int(safe_kinds(deal.tables[0], 0))
    assert safe == bits_of("4s7z9s")
    dangers = np.zeros(34, np.int64)
    assert fill_dangers(deal.tables[0], 2, dangers)
    assert dangers[parse_kinds("4s7z9s")].tolist() == [0, 0, 0]
    assert not fill_dangers(deal.tables[0], 0, np.zeros(34, np.int64))  # its own riichi does not frighten seat 0


def test_suji_is_less_dangerous_and_middle_tiles_are_most() -> None:
    dangers = np.zeros(34, np.int64)
    fill_dangers(after_riichi().tables[0], 2, dangers)
    one_suji, no_suji = parse_kinds("1s")[0], parse_kinds("1m")[0]
    assert 0 < dangers[one_suji] < dangers[no_suji] < dangers[parse_kinds("5m")[0]]
