"""Named positions whose planes are kept as text: ``make golden`` writes them again, test_golden_planes compares.

Each file has one line for each range with planes that are not empty: the place in the range (as docs/features.md counts
it) and the kinds, or "full".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suphx.atomic_file import write_atomically
from suphx.games.mahjong.planes import PlaneRange, unpack_planes
from suphx.games.riichi.features.paper import encode
from suphx.games.riichi.features.paper_layout import CLAIM, PUBLIC
from suphx.games.riichi.features.suit_targets import load_lookup
from suphx.games.riichi.rules import tenhou_no_red
from suphx.games.riichi.table import ANKAN, CHI, CHI_RED, KAKAN, MINKAN, PON, action_name
from suphx.games.riichi.tile import format_faces
from suphx.kernel.record import U8
from tests.games.riichi.builders.hands import kind
from tests.games.riichi.builders.table_builder import Deal
from tests.repository import GOLDEN

FOLDER = GOLDEN / "planes"


# what it is; hands, draws, other arguments of Deal, moves; who decides, and the claim that is judged: -1 is discard and
# riichi
TENPAI = ["123456789m1123p", "159m", "147p", ""], "4s 1z 2z 3z 4s 1z 2z 3z 9s 6z 6z 5s 7z"
TENPAI_MOVES = "0 4s, 1 1m, 2 1p, tsumogiri, 0 4s, 1 9m, tsumogiri 6"
POSITIONS: dict[str, tuple[str, Sequence[str], str, dict[str, Any], str, int, int]] = {
    "dealers_first_turn": (
        "East 1, nothing discarded yet: two red fives, dora 1p.",
        ["340m567p2468s177z"], "0s", {"dora": "9p"}, "", 0, -1,
    ),
    "first_turn_of_terminals_and_honours": (
        "South's first turn with ten kinds of terminals and honours: three from thirteen orphans.",
        ["", "19m19p19s1234z468m"], "9m 5m", {}, "tsumogiri", 1, -1,
    ),
    "tenpai_before_riichi": (
        "Fourth turn, closed, 7z and 1p leave tenpai: riichi or not. Others discarded from the hand, too.",
        *TENPAI, {}, TENPAI_MOVES, 0, -1,
    ),
    "riichi_discard": (
        "The same hand has declared riichi: only what keeps tenpai may go.", *TENPAI, {}, f"{TENPAI_MOVES}, 0 riichi",
        0, -1,
    ),
    "shimocha_in_riichi": (
        "East 2: the dealer, our shimocha, declared riichi with 6p; 4p and 5s have passed since, ippatsu is possible.",
        ["", "234567m234p4478s", "", ""], "1m 9m 2z 3z 1s 9m 3m 3z 8s 4m 8m 3z 9p 1p 8s 7p 6p 4p 5s 5z", {"kyoku": 1},
        "tsumogiri 16, 1 riichi, 1 6p, tsumogiri 2", 0, -1,
    ),
    "two_riichis_late": (
        "South 3, dealer, 2 honba, 3 sticks: shimocha and kamicha have just declared riichi, five tiles are left.\n\n"
        "The deal is set up near its end: earlier turns are not in the rivers, and the riichis are no double riichis.",
        ["", "234m22p345s678p67s", "123789m46p2355s6z", "123p444s789s56m33z"], "9p 1z 1s 4z 2z",
        {"kyoku": 6, "honba": 2, "kyotaku": 3, "left": 9, "dora": "3p", "scores": (31_200, 18_300, 27_500, 20_000)},
        "tsumogiri, 3 riichi, 3 1z, tsumogiri, 1 riichi, 1 4z", 2, -1,
    ),
    "discard_after_chi": (
        "Seat 1 called 3p with 45p: neither 3p nor 6p may be discarded now (kuikae).",
        ["", "3456p067s23488m7z", "", ""], "3p", {"dora": "4m"}, "0 3p, 1 chi low", 1, -1,
    ),
    "chi_of_a_middle_tile": (
        "Seat 1 may call 6s between its 5s (the red one) and 7s: judged with the red five.",
        ["", "0577s4m23488m7z19p", "", ""], "6s", {"dora": "4s"}, "0 6s", 1, CHI_RED + 1,
    ),
    "pon_of_a_red_five": (
        "Seat 3 may call the red 5m of seat 1 with two plain ones, far from tenpai.",
        ["", "", "", "55m147p258s1236z9p"], "1s 0m", {}, "tsumogiri, 1 0m", 3, PON,
    ),
    "pon_of_a_dragon": (
        "Seat 2 may call 7z from seat 0: a yaku by itself, tenpai after it; dora 8p, two of them held.",
        ["", "", "23477m567p88p77z4s", ""], "7z", {"dora": "7p"}, "0 7z", 2, PON,
    ),
    "open_kan": (
        "Seat 3 may call an open kan of 2z from seat 0, its round wind in South 1; no red fives in this game.",
        ["", "", "", "222z345m34588p1s9m"], "2z", {"kyoku": 4, "rules": tenhou_no_red()}, "0 2z", 3, MINKAN,
    ),
    "closed_kan_with_a_red_five": (
        "The dealer may declare a closed kan of 5p, the red one among them.",
        ["550p123m44789s12z"], "5p", {}, "", 0, ANKAN + kind("5p"),
    ),
    "added_kan": (
        "Seat 0 called pon of 4p from seat 3 and has drawn the fourth; its hand is tenpai.",
        ["44p123m23489s99m6z"], "1s 7z 7z 4p 6s 5s 1m 4p", {},
        "0 1s, tsumogiri 2, 3 4p, 0 pon, 0 6z, tsumogiri 3", 0, KAKAN + kind("4p"),
    ),
    "furiten_by_own_river": (
        "Waits for 1p and 4p, but has discarded 4p.",
        ["123456789m1123p"], "4p 1z 2z 3z 5z", {}, "tsumogiri 4", 0, -1,
    ),
    "furiten_by_a_missed_win": (
        "In riichi with 47s, seat 0 let 4s pass and may not win by ron any more: a closed kan of 1z?\n\n"
        "The deal is set up in its middle: earlier turns are not in the rivers, and the riichi is no double riichi.",
        ["123m56s456m99p111z"], "9s 4s 2z 3z 1z", {"dora": "8m", "left": 20},
        "0 riichi, 0 9s, 1 4s, tsumogiri 2", 0, ANKAN + kind("1z"),
    ),
    "three_kans_on_the_table": (
        "Seat 0 has two closed kans, seat 1 one: four indicators, two of them make 3m dora.",
        ["1111s2222s36m47p6z", "777z159m159p369s5z"], "9p 7z", {"rinshan": "9s 9s 4z", "dora": "2m 2m 5m 1z"},
        "0 ankan 1s, 0 ankan 2s, 0 9s, 1 ankan 7z, 1 4z, tsumogiri 2", 0, -1,
    ),
    "seven_pairs": (
        "Six pairs: tenpai to seven of them, far from four sets.", ["1199m2288p3377s4z"], "5z", {}, "", 0, -1,
    ),
    "double_wind_pair": (
        "The dealer in East 1 waits for 6s with a pair of its double wind: 40 fu, as the pair counts four.",
        ["222m456p57789s11z"], "9m", {}, "", 0, -1,
    ),
    "flush_and_triplets": (
        "One from four concealed triplets, or cheaper by calls: half flush, all triplets, dragons.",
        ["111999p33p55z77z4s"], "8m", {}, "", 0, -1,
    ),
    "pure_outside_hand": (
        "Tenpai for 8p with two equal runs and a terminal in every set; with more new tiles a full flush.",
        ["112233s789s99s9p5m"], "7p", {}, "", 0, -1,
    ),
    "walls": (
        "All four 3p are in our hand and river; no two-sided wait takes 1p or 2p, 3s is thin.",
        ["33p124s147m2356z9s"], "3p 3s 3s 7z 3p 9m", {}, "0 3p, 1 3s, 2 3s, tsumogiri", 0, -1,
    ),
    "last_kyoku_in_fourth_place": (
        "South 4, 8,200 behind the third: chi of 8p for a cheap hand, or not.",
        ["", "", "", "23467p234m56s22p7z"], "1z 9s 1m 8p", {"kyoku": 7, "scores": (41_000, 25_600, 20_800, 12_600)},
        "tsumogiri 3, 2 8p", 3, CHI + 2,
    ),
    "west_round": (
        "West 1: the planned rounds are over and nobody has 30,000. First go of a hand of gaps.",
        ["", "", "13579m13579p135s", ""], "1z 2z 3z", {"kyoku": 8, "scores": (29_900, 29_900, 29_900, 10_300)},
        "tsumogiri 2", 2, -1,
    ),
}  # fmt: skip


def describe(name: str) -> str:
    """Return the text of a position: what it is, who decides what, and every plane that is not empty."""
    about, hands, draws, others, moves, seat, action = POSITIONS[name]
    deal, layout = Deal(hands, draws=draws, **others), PUBLIC if action < 0 else CLAIM
    if moves:
        deal.play(moves)
    assert deal.table["actor"] == seat, f"{name}: seat {deal.table['actor']} is asked"
    row = np.zeros(layout.observation_bytes, np.uint8)
    encode(load_lookup(), deal.tables[0], seat, action, True, row)
    planes = unpack_planes(row, layout.num_planes)
    lines = [about, f"seat {seat}: {'discard or riichi' if action < 0 else action_name(action)}", ""]
    lines += [line for part in layout.ranges if (line := _line(part, planes))]
    return "\n".join(lines) + "\n"


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
    for name in POSITIONS:
        write_atomically(FOLDER / f"{name}.txt", [describe(name).encode()])


if __name__ == "__main__":
    main()
