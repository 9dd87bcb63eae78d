"""Named positions whose planes are kept as text: ``make golden`` writes them again, test_golden_planes compares.

Each file has one line for each range with planes that are not empty: the place in the range (as docs/features.md counts
it) and the kinds, or "full".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from suphx.atomic_file import write_atomically
from suphx.games.mahjong.planes import PlaneLayout, PlaneRange, unpack_planes
from suphx.games.riichi.features.paper import encode
from suphx.games.riichi.features.paper_layout import CLAIM, PUBLIC
from suphx.games.riichi.features.suit_targets import load_lookup
from suphx.games.riichi.rules import tenhou_no_red
from suphx.games.riichi.table import ANKAN, CHI, CHI_RED, KAKAN, MINKAN, PON, RIICHI, action_name
from suphx.games.riichi.tile import format_faces
from suphx.kernel.record import U8
from tests.games.riichi.builders.hands import kind
from tests.games.riichi.builders.table_builder import Deal
from tests.repository import GOLDEN

FOLDER = GOLDEN / "planes"


class GoldenPosition(NamedTuple):
    deal: Deal
    seat: int
    action: int = -1
    """The claim that is judged, or -1 for the planes of discard and riichi."""


def dealers_first_turn() -> GoldenPosition:
    """East 1, nothing discarded yet: two red fives, dora 1p."""
    return GoldenPosition(Deal(["340m567p2468s177z"], draws="0s", dora="9p"), 0)


def first_turn_of_terminals_and_honours() -> GoldenPosition:
    """South's first turn with ten kinds of terminals and honours: three from thirteen orphans."""
    deal = Deal(["", "19m19p19s1234z468m"], draws="9m 5m")
    deal.tsumogiri()
    return GoldenPosition(deal, 1)


def tenpai_before_riichi() -> GoldenPosition:
    """Fourth turn, closed, 7z and 1p leave tenpai: riichi or not. Others discarded from the hand, too."""
    deal = Deal(["123456789m1123p", "159m", "147p", ""], draws="4s 1z 2z 3z 4s 1z 2z 3z 9s 6z 6z 5s 7z")
    deal.play("0 4s, 1 1m, 2 1p, tsumogiri, 0 4s, 1 9m, tsumogiri 6")
    return GoldenPosition(deal, 0)


def riichi_discard() -> GoldenPosition:
    """The same hand has declared riichi: only what keeps tenpai may go."""
    position = tenpai_before_riichi()
    position.deal.act(0, RIICHI)
    return position


def shimocha_in_riichi() -> GoldenPosition:
    """East 2: the dealer, our shimocha, declared riichi with 6p; 4p and 5s have passed since, ippatsu is possible."""
    draws = "1m 9m 2z 3z 1s 9m 3m 3z 8s 4m 8m 3z 9p 1p 8s 7p 6p 4p 5s 5z"
    deal = Deal(["", "234567m234p4478s", "", ""], draws=draws, kyoku=1)
    deal.play("tsumogiri 16, 1 riichi, 1 6p, tsumogiri 2")
    return GoldenPosition(deal, 0)


def two_riichis_late() -> GoldenPosition:
    """South 3, dealer, 2 honba, 3 sticks: shimocha and kamicha have just declared riichi, five tiles are left.

    The deal is set up near its end: earlier turns are not in the rivers, and the riichis are no double riichis.
    """
    hands = ["", "234m22p345s678p67s", "123789m46p2355s6z", "123p444s789s56m33z"]
    scores = (31_200, 18_300, 27_500, 20_000)
    deal = Deal(hands, kyoku=6, honba=2, kyotaku=3, left=9, draws="9p 1z 1s 4z 2z", dora="3p", scores=scores)
    deal.play("tsumogiri, 3 riichi, 3 1z, tsumogiri, 1 riichi, 1 4z")
    return GoldenPosition(deal, 2)


def discard_after_chi() -> GoldenPosition:
    """Seat 1 called 3p with 45p: neither 3p nor 6p may be discarded now (kuikae)."""
    deal = Deal(["", "3456p067s23488m7z", "", ""], draws="3p", dora="4m")
    deal.play("0 3p, 1 chi low")
    return GoldenPosition(deal, 1)


def chi_of_a_middle_tile() -> GoldenPosition:
    """Seat 1 may call 6s between its 5s (the red one) and 7s: judged with the red five."""
    deal = Deal(["", "0577s4m23488m7z19p", "", ""], draws="6s", dora="4s")
    deal.discard(0, "6s")
    return GoldenPosition(deal, 1, CHI_RED + 1)


def pon_of_a_red_five() -> GoldenPosition:
    """Seat 3 may call the red 5m of seat 1 with two plain ones, far from tenpai."""
    deal = Deal(["", "", "", "55m147p258s1236z9p"], draws="1s 0m")
    deal.play("tsumogiri, 1 0m")
    return GoldenPosition(deal, 3, PON)


def pon_of_a_dragon() -> GoldenPosition:
    """Seat 2 may call 7z from seat 0: a yaku by itself, tenpai after it; dora 8p, two of them held."""
    deal = Deal(["", "", "23477m567p88p77z4s", ""], draws="7z", dora="7p")
    deal.discard(0, "7z")
    return GoldenPosition(deal, 2, PON)


def open_kan() -> GoldenPosition:
    """Seat 3 may call an open kan of 2z from seat 0, its round wind in South 1; no red fives in this game."""
    deal = Deal(["", "", "", "222z345m34588p1s9m"], draws="2z", kyoku=4, rules=tenhou_no_red())
    deal.discard(0, "2z")
    return GoldenPosition(deal, 3, MINKAN)


def closed_kan_with_a_red_five() -> GoldenPosition:
    """The dealer may declare a closed kan of 5p, the red one among them."""
    return GoldenPosition(Deal(["550p123m44789s12z"], draws="5p"), 0, ANKAN + kind("5p"))


def added_kan() -> GoldenPosition:
    """Seat 0 called pon of 4p from seat 3 and has drawn the fourth; its hand is tenpai."""
    deal = Deal(["44p123m23489s99m6z"], draws="1s 7z 7z 4p 6s 5s 1m 4p")
    deal.play("0 1s, tsumogiri 2, 3 4p, 0 pon, 0 6z, tsumogiri 3")
    return GoldenPosition(deal, 0, KAKAN + kind("4p"))


def furiten_by_own_river() -> GoldenPosition:
    """Waits for 1p and 4p, but has discarded 4p."""
    deal = Deal(["123456789m1123p"], draws="4p 1z 2z 3z 5z")
    deal.tsumogiri(4)
    return GoldenPosition(deal, 0)


def furiten_by_a_missed_win() -> GoldenPosition:
    """In riichi with 47s, seat 0 let 4s pass and may not win by ron any more: a closed kan of 1z?

    The deal is set up in its middle: earlier turns are not in the rivers, and the riichi is no double riichi.
    """
    deal = Deal(["123m56s456m99p111z"], draws="9s 4s 2z 3z 1z", dora="8m", left=20)
    deal.play("0 riichi, 0 9s, 1 4s, tsumogiri 2")
    return GoldenPosition(deal, 0, ANKAN + kind("1z"))


def three_kans_on_the_table() -> GoldenPosition:
    """Seat 0 has two closed kans, seat 1 one: four indicators, two of them make 3m dora."""
    hands = ["1111s2222s36m47p6z", "777z159m159p369s5z"]
    deal = Deal(hands, draws="9p 7z", rinshan="9s 9s 4z", dora="2m 2m 5m 1z")
    deal.play("0 ankan 1s, 0 ankan 2s, 0 9s, 1 ankan 7z, 1 4z, tsumogiri 2")
    return GoldenPosition(deal, 0)


def seven_pairs() -> GoldenPosition:
    """Six pairs: tenpai to seven of them, far from four sets."""
    return GoldenPosition(Deal(["1199m2288p3377s4z"], draws="5z"), 0)


def double_wind_pair() -> GoldenPosition:
    """The dealer in East 1 waits for 6s with a pair of its double wind: 40 fu, as the pair counts four."""
    return GoldenPosition(Deal(["222m456p57789s11z"], draws="9m"), 0)


def flush_and_triplets() -> GoldenPosition:
    """One from four concealed triplets, or cheaper by calls: half flush, all triplets, dragons."""
    return GoldenPosition(Deal(["111999p33p55z77z4s"], draws="8m"), 0)


def pure_outside_hand() -> GoldenPosition:
    """Tenpai for 8p with two equal runs and a terminal in every set; with more new tiles a full flush."""
    return GoldenPosition(Deal(["112233s789s99s9p5m"], draws="7p"), 0)


def walls() -> GoldenPosition:
    """All four 3p are in our hand and river; no two-sided wait takes 1p or 2p, 3s is thin."""
    deal = Deal(["33p124s147m2356z9s"], draws="3p 3s 3s 7z 3p 9m")
    deal.play("0 3p, 1 3s, 2 3s, tsumogiri")
    return GoldenPosition(deal, 0)


def last_kyoku_in_fourth_place() -> GoldenPosition:
    """South 4, 8,200 behind the third: chi of 8p for a cheap hand, or not."""
    deal = Deal(
        ["", "", "", "23467p234m56s22p7z"], kyoku=7, scores=(41_000, 25_600, 20_800, 12_600), draws="1z 9s 1m 8p"
    )
    deal.play("tsumogiri 3, 2 8p")
    return GoldenPosition(deal, 3, CHI + 2)


def west_round() -> GoldenPosition:
    """West 1: the planned rounds are over and nobody has 30,000. First go of a hand of gaps."""
    deal = Deal(["", "", "13579m13579p135s", ""], kyoku=8, scores=(29_900, 29_900, 29_900, 10_300), draws="1z 2z 3z")
    deal.tsumogiri(2)
    return GoldenPosition(deal, 2)


POSITIONS: tuple[Callable[[], GoldenPosition], ...] = (
    dealers_first_turn,
    first_turn_of_terminals_and_honours,
    tenpai_before_riichi,
    riichi_discard,
    shimocha_in_riichi,
    two_riichis_late,
    discard_after_chi,
    chi_of_a_middle_tile,
    pon_of_a_red_five,
    pon_of_a_dragon,
    open_kan,
    closed_kan_with_a_red_five,
    added_kan,
    furiten_by_own_river,
    furiten_by_a_missed_win,
    three_kans_on_the_table,
    seven_pairs,
    double_wind_pair,
    flush_and_triplets,
    pure_outside_hand,
    walls,
    last_kyoku_in_fourth_place,
    west_round,
)


def describe(make: Callable[[], GoldenPosition]) -> str:
    """Return the text of a position: what it is, who decides what, and every plane that is not empty."""
    position = make()
    table = position.deal.table
    asked = "discard or riichi" if position.action < 0 else action_name(position.action)
    planes = encoded(position)
    lines = [inspect.cleandoc(make.__doc__ or ""), f"seat {position.seat}: {asked}", ""]
    lines += [line for part in layout_of(position).ranges if (line := _line(part, planes))]
    assert table["actor"] == position.seat, f"{make.__name__}: seat {table['actor']} is asked"
    return "\n".join(lines) + "\n"


def encoded(position: GoldenPosition) -> U8:
    """Return uint8 (planes, 34) of a position."""
    layout = layout_of(position)
    row = np.zeros(layout.observation_bytes, np.uint8)
    encode(load_lookup(), position.deal.tables[0], position.seat, position.action, True, row)
    return unpack_planes(row, layout.num_planes)


def layout_of(position: GoldenPosition) -> PlaneLayout:
    return PUBLIC if position.action < 0 else CLAIM


def _line(part: PlaneRange, planes: U8) -> str:
    """Return the planes of a range that are not empty: name, [place] and kinds."""
    shown = []
    for offset in range(part.count):
        columns = np.flatnonzero(planes[part.first + offset])
        if columns.size:
            place = np.unravel_index(offset, part.shape or (part.count,))
            where = f"[{','.join(str(int(i)) for i in place)}]" if part.count > 1 else ""
            shown.append(where + ("full" if columns.size == 34 else format_faces(columns.tolist())))
    return f"{part.name}: {' '.join(shown)}" if shown else ""


def main() -> None:
    """Write all files, each whole or not at all."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for make in POSITIONS:
        write_atomically(FOLDER / f"{make.__name__}.txt", [describe(make).encode()])


if __name__ == "__main__":
    main()
