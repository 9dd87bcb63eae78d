"""Deals in tile notation: moves, and what the table holds after them (kyoku.py, ending.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from suphx.games.riichi import table as codes
from suphx.games.riichi.tile import parse_faces
from tests.games.riichi.builders.table_builder import Deal

TENPAI = "123456789m1123p"  # waits for 1p and 4p, a straight
STRAIGHT = "123456789s2399p"  # waits for 1p and 4p
DRAGON = "555z345678s56p99m"  # waits for 4p and 7p
WINDS = "111222333z444z6z"  # waits for 6z
FOUR_KANS = {"rinshan": "4m 4m 7z 5z"}
TWO_AND_TWO_KANS = "0 ankan 1m, 0 ankan 2m, 0 5z, 1 ankan 3m, 1 ankan 4m, 1 6z"
FED_DRAGONS = "0 5z, 1 pon, 1 1p, 2 6z, 1 pon, 1 5p, 2 7z"
FED = {"rinshan": "1s", "honba": 1}


def face(tile: str) -> int:
    return parse_faces(tile)[0]


# hands, draws, other arguments of Deal, moves; fields of the table afterwards ("yaku": those of the first win)
DEALS: dict[str, tuple[Sequence[str], str, dict[str, Any], str, dict[str, Any]]] = {
    # --- riichi
    "the stick is paid when nobody wins by the discard": (
        [TENPAI], "7z", {"kyotaku": 1}, "0 riichi, 0 7z, all pass", {"scores.0": 24_000, "kyotaku": 2},
    ),
    "the stick is not paid when the discard is ronned": (
        [TENPAI, "123456789s78p55m"], "9p", {}, "0 riichi, 0 9p, 1 ron",
        {"scores": [21_100, 28_900, 25_000, 25_000], "kyotaku": 0},
    ),
    "the stick is paid before the discard is called": (
        [TENPAI, "77z"], "7z", {}, "0 riichi, 0 7z, 1 pon", {"scores.0": 24_000},
    ),
    "riichi on the first turn is double riichi": (
        [TENPAI, "4p"], "7z", {}, "0 riichi, 0 7z, 1 4p, 0 ron", {"yaku": "ippatsu, pinfu, double riichi, ittsuu"},
    ),
    "a call before the first turn leaves single riichi": (
        ["6z", TENPAI, "4p", "66z5m"], "6z 7m 7z", {},
        "0 6z, 3 pon, 3 5m, tsumogiri, 1 riichi, 1 7z, 2 4p, 1 ron", {"yaku": "riichi, ippatsu, pinfu, ittsuu"},
    ),
    "ippatsu lasts until the next own draw": (
        [TENPAI], "7z 6z 6z 6z 4p", {}, "0 riichi, 0 7z, tsumogiri 3, 0 tsumo",
        {"yaku": "menzen tsumo, ippatsu, pinfu, double riichi, ittsuu"},
    ),
    "the next own discard ends ippatsu": (
        [TENPAI], "7z 6z 6z 6z 5z 4p", {}, "0 riichi, 0 7z, tsumogiri 4, 1 4p, 0 ron",
        {"yaku": "pinfu, double riichi, ittsuu"},
    ),
    "a closed kan ends ippatsu": (
        [TENPAI, "999s4p"], "7z 9s", {}, "0 riichi, 0 7z, 1 ankan 9s, 1 4p, 0 ron",
        {"yaku": "pinfu, double riichi, ittsuu"},
    ),
    # --- claims
    "a pon goes before a chi whoever is asked first": (
        ["", "12m", "", "33m"], "3m", {}, "0 3m, 1 chi high, 3 pon", {"actor": 3, "num_melds": [0, 0, 0, 1]},
    ),
    "a ron goes before a pon": (["", "44p", TENPAI], "4p", {}, "0 4p, 1 pon, 2 ron", {"win_seat.0": 2}),
    "a claim skips the seats between": (
        ["", "", "", "33m5z"], "3m 9p", {}, "0 3m, 3 pon, 3 5z, all pass", {"actor": 0, "drawn": face("9p")},
    ),
    "a meld keeps its tile, its giver and its red five": (
        ["", "", "05p"], "5p", {}, "0 5p, 2 pon red",
        {"meld_kind.2": [face("5p"), 0, 0, 0], "meld_from.2": [0] * 4, "meld_red.2": [1, 0, 0, 0], "red.2": 0},
    ),
    "two rons both win and honba and sticks go to the first in turn": (
        ["", DRAGON, STRAIGHT], "4p", {"honba": 2, "kyotaku": 3}, "0 4p, 1 ron, 2 ron",
        {"win_seat": [1, 2, 0], "win_points": [1300, 7700, 0], "win_deltas.0": [-1900, 4900, 0, 0],
         "win_deltas.1": [-7700, 0, 7700, 0], "kyotaku": 0},
    ),
    "three rons are an abortive draw": (
        ["", TENPAI, STRAIGHT, DRAGON.replace("99m", "77z")], "4p", {"kyotaku": 1}, "0 4p, 1 ron, 2 ron, 3 ron",
        {"result": codes.TRIPLE_RON_DRAW, "deltas": [0] * 4, "kyotaku": 1},
    ),
    # --- kans
    "the dora of an open kan turns over at the discard and counts for its ron": (
        [TENPAI, "555z4p"], "5z", {"dora": "1z3p", "rinshan": "9s"}, "0 5z, 1 minkan, 1 4p, 0 ron",
        {"num_dora": 2, "win_dora.0": 1},
    ),
    "the dora of an open kan does not count for the rinshan win": (
        ["5z", "555z123456m2399p"], "1s", {"dora": "1z3p", "rinshan": "4p"}, "0 5z, 1 minkan, 1 tsumo",
        {"num_dora": 1, "win_dora.0": 0, "yaku": "rinshan kaihou, haku"},
    ),
    "a second kan turns over the dora of the first": (
        ["5z", "555z1111m2399p"], "1s", {"rinshan": "9s 8s"}, "0 5z, 1 minkan, 1 ankan 1m", {"num_dora": 3},
    ),
    "rinshan tiles come in their order": (
        ["1111m2222m3333m4m"], "4m", FOUR_KANS, "0 ankan 1m, 0 ankan 2m, 0 ankan 3m",
        {"drawn": face("7z"), "num_dora": 4},
    ),
    "the discard after the fourth kan of two seats can be won but not called": (
        ["1111m2222m147p19s", "3333m4444m147p28s", "66z258p258s12345z", "123456789p111s6z"], "5z 6z",
        {"rinshan": "7z 3s 7z 3z"}, f"{TWO_AND_TWO_KANS}, 2 may not pon, 3 may ron, all pass",
        {"result": codes.FOUR_KANS_DRAW},
    ),
    "four kans of one seat play on and a fifth is refused": (
        ["1111m2222m3333m4m", "0555p666s", "", "88p"], "4m 6s 8p", FOUR_KANS,
        "0 ankan 1m, 0 ankan 2m, 0 ankan 3m, 0 ankan 4m, 0 5z, all pass, 1 may not ankan 5p, 1 6s, 2 8p, 3 may pon",
        {"num_kans": 4},
    ),
    "an open fifth kan is refused": (
        ["1111m2222m3333m4m", "9s", "", "555z"], "4m", FOUR_KANS,
        "0 ankan 1m, 0 ankan 2m, 0 ankan 3m, 0 ankan 4m, 0 5z, 3 may pon, 3 may not minkan", {},
    ),
    # --- abortive draws
    "nine terminals end the deal when declared": (
        ["19m19p19s123z2358m"], "5p", {}, "0 nine terminals", {"result": codes.NINE_TERMINALS_DRAW, "deltas": [0] * 4},
    ),
    "four dragons are no draw": (
        ["5z"] * 4, "258m2p", {}, "0 5z, 1 5z, 2 5z, 3 5z, all pass", {"phase": codes.OWN_TURN},
    ),
    "three equal winds are no draw": (
        ["2z", "2z", "2z", "3z"], "258m2p", {}, "0 2z, 1 2z, 2 2z, 3 3z, all pass", {"phase": codes.OWN_TURN},
    ),
    "four winds after a call do not count": (
        ["2z5m", "2z46m", "2z", "2z"], "9m 258s", {}, "0 5m, 1 chi middle, 1 2z, 2 2z, 3 2z, 0 2z, all pass",
        {"phase": codes.OWN_TURN},
    ),
    "the fourth riichi tile can be ronned": (
        [TENPAI, STRAIGHT, "456789m456789s7p", WINDS], "7z 7z 5z 4p", {},
        "0 riichi, 0 7z, all pass, 1 riichi, 1 7z, all pass, 2 riichi, 2 5z, all pass, 3 riichi, 3 4p, 0 ron, all pass",
        {"result": codes.WIN_RESULT, "win_points.0": 18_000, "win_deltas.0": [21_000, 0, 0, -18_000]},
    ),
    # --- wins
    "a tsumo takes double from the dealer and honba from all": (
        ["", TENPAI], "7z 4p", {"honba": 1, "kyotaku": 1, "left": 20}, "0 7z, 1 tsumo",
        {"deltas": [-2700, 6500, -1400, -1400], "win_loser.0": 1},
    ),
    "dora, red fives and ura dora count for a riichi win": (
        ["123m067p678s99s34p", "5p"], "7z", {"dora": "8s", "ura": "5p"}, "0 riichi, 0 7z, 1 5p, 0 ron",
        {"win_dora.0": 2, "win_red.0": 1, "win_ura.0": 1},
    ),
    "ura dora do not count without riichi": (
        [TENPAI, "4p"], "7z", {"dora": "9s", "ura": "3p"}, "0 7z, 1 4p, 0 ron", {"win_ura.0": 0},
    ),
    "the last drawn tile is haitei": (
        ["", TENPAI], "7z 4p", {"left": 1}, "0 7z, 1 tsumo", {"yaku": "menzen tsumo, haitei, pinfu, ittsuu"},
    ),
    "the last discard is houtei": (
        ["", "4p", "", TENPAI], "7z 9s", {"left": 1}, "0 7z, 1 4p, 3 ron", {"yaku": "houtei, pinfu, ittsuu"},
    ),
    "each tile of a called triplet is a dora": (
        ["", "55z9m234m678p22s34s"], "5z 2m 5s", {"dora": "7z"}, "0 5z, 1 pon, 1 9m, tsumogiri, 3 5s, 1 ron",
        {"win_dora.0": 3},
    ),
    "each tile of a called kan is a dora": (
        ["", "555z234m678p22s34s"], "5z 2m 5s", {"rinshan": "9m", "dora": "7z 9p"},
        "0 5z, 1 minkan, 1 9m, tsumogiri, 3 5s, 1 ron", {"win_dora.0": 4},
    ),
    "the red five that is ronned counts": (["", "234m678p22s234s34p"], "0p", {}, "0 0p, 1 ron", {"win_red.0": 1}),
    "a plain five is no red one": (["", "234m678p22s234s34p"], "5p", {}, "0 5p, 1 ron", {"win_red.0": 0}),
    # --- pao
    "who fed the third dragon pays the tsumo alone with honba": (
        ["", "55z66z77z59p1p99s23m", "4m", "4m"], "5z 6z 7z 8p 8p 8p 4m", FED,
        f"{FED_DRAGONS}, 1 pon, 1 9p, tsumogiri 3, 1 tsumo",
        {"win_liable.0": 2, "deltas": [0, 32_300, -32_300, 0], "yaku": "daisangen"},
    ),
    "who fed it by an open kan does, too": (
        ["", "55z66z777z5p1p99s23m", "4m", "4m"], "5z 6z 7z 8p 8p 8p 4m", FED,
        f"{FED_DRAGONS}, 1 minkan, 1 1s, tsumogiri 3, 1 tsumo",
        {"win_liable.0": 2, "deltas": [0, 32_300, -32_300, 0], "yaku": "daisangen"},
    ),
    "who fed the third dragon shares a ron and pays the honba": (
        ["", "55z66z77z59p1p99s23m", "4m", "4m"], "5z 6z 7z 8p 8p 8p 4m", FED,
        f"{FED_DRAGONS}, 1 pon, 1 9p, tsumogiri, 3 4m, 1 ron", {"deltas": [0, 32_300, -16_300, -16_000]},
    ),
    "who fed the third dragon and deals in pays as usual": (
        ["", "55z66z77z59p1p99s23m", "4m", "4m"], "5z 6z 7z 8p 8p 8p 4m", FED,
        f"{FED_DRAGONS}, 1 pon, 1 9p, 2 4m, 1 ron", {"win_liable.0": -1, "deltas": [0, 32_300, -32_300, 0]},
    ),
    "a closed third set makes nobody liable": (
        ["", "5566777z15p99s23m"], "5z 6z 8p 8p 8p 4m", {},
        "0 5z, 1 pon, 1 1p, 2 6z, 1 pon, 1 5p, tsumogiri 3, 1 tsumo",
        {"yaku": "daisangen", "deltas": [-16_000, 32_000, -8000, -8000]},
    ),
    # --- exhaustive draws
    "sticks stay on the table at a draw": (
        [""], "5p 5m 5s 7p", {"left": 3, "kyotaku": 2}, "tsumogiri 4", {"kyotaku": 2},
    ),
    "nagashi of two seats is paid twice and nothing for tenpai": (
        [TENPAI], "1z 9s 5s 7p", {"left": 3}, "tsumogiri 4", {"deltas": [8000, 4000, -6000, -6000]},
    ),
    "a called discard ends the hope of nagashi": (
        ["", "", "11m5p"], "1m 5s 9p 7p", {"left": 3}, "0 1m, 2 pon, 2 5p, tsumogiri 3",
        {"result": codes.EXHAUSTIVE_DRAW},
    ),
    "a win on the last discard leaves no nagashi": (
        ["", "", TENPAI], "1m 5s 7p 4p", {"left": 3}, "tsumogiri 3, 3 4p, 2 ron", {"num_wins": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("hands", "draws", "others", "moves", "expected"), DEALS.values(), ids=DEALS)
def test_a_deal_leads_to_this_table(
    hands: Sequence[str], draws: str, others: dict[str, Any], moves: str, expected: dict[str, Any]
) -> None:
    deal = Deal(hands, draws=draws, **others)
    deal.play(moves)
    assert {name: deal.shows(name) for name in expected} == expected


@pytest.mark.parametrize(
    ("tenpai", "deltas"),
    [
        ((), [0, 0, 0, 0]),
        ((0,), [3000, -1000, -1000, -1000]),
        ((1, 2), [-1500, 1500, 1500, -1500]),
        ((0, 1, 3), [1000, 1000, -3000, 1000]),
        ((0, 1, 2, 3), [0, 0, 0, 0]),
    ],
)
def test_tenpai_seats_share_3000_points(tenpai: tuple[int, ...], deltas: list[int]) -> None:
    ready = ["123456789m1123p", "123456789s2399p", "456789m456789s7p", "111222333z444z6z"]
    far = ["147m258p369s1357z", "147m258p369s1357z", "258m369p147s1357z", "369m147p258s1357z"]
    hands = [ready[seat] if seat in tenpai else far[seat] for seat in range(4)]
    deal = Deal(hands, draws="5p 7p 8m 8s", left=3)
    deal.tsumogiri(4)
    assert deal.table["result"] == codes.EXHAUSTIVE_DRAW
    assert deal.table["tenpai"].tolist() == [int(seat in tenpai) for seat in range(4)]
    assert deal.deltas() == deltas


def test_four_winds_after_a_closed_kan_do_not_count() -> None:
    deal = Deal(["2z", "1111m2z", "2z", "2z"], draws="9m 258s 3p")
    deal.play("0 2z, 1 ankan 1m, 1 2z, 2 2z, 3 2z, all pass")
    assert deal.table["river_length"].tolist() == [1, 1, 1, 1]
    assert deal.table["phase"] == codes.OWN_TURN
