"""What every option of the rules changes, and what happens without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import riichienv

from suphx.games.riichi import rules
from suphx.games.riichi import table as codes
from suphx.games.riichi.archive.store import GAME
from suphx.games.riichi.records.replay import Replayer
from suphx.games.riichi.rules import (
    RULE_VALUES,
    Rules,
    apply_rules,
    copy_rules,
    mahjong_soul,
    refuse_untold_game,
    rule_flags,
    tenhou,
    tenhou_no_red,
)
from suphx.games.riichi.table import TABLE
from suphx.games.riichi.tile import face_of_id
from tests.games.riichi.builders.games import OTHER_VALUES, random_game
from tests.games.riichi.builders.hands import (
    SOUTH_4,
    after,
    kind,
)
from tests.games.riichi.builders.table_builder import Deal


def values_of(rules: Rules) -> bytes:
    records = np.zeros(1, RULE_VALUES)
    apply_rules(records, rules)
    return records.tobytes()


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(tenhou(), riichienv.GameRule.default_tenhou()), (mahjong_soul(), riichienv.GameRule.default_mjsoul())],
    ids=["tenhou", "mahjong soul"],
)
def test_presets_are_those_of_riichienv(ours: Rules, theirs: Any) -> None:
    assert ours.kokushi_robs_closed_kan == theirs.allows_ron_on_ankan_for_kokushi_musou
    assert ours.double_kokushi_13_waits == theirs.is_kokushi_musou_13machi_double
    assert ours.double_suuankou_tanki == theirs.is_suuankou_tanki_double
    assert ours.double_junsei_chuuren == theirs.is_junsei_chuurenpoutou_double
    assert ours.double_daisuushii == theirs.is_daisuushii_double
    assert (ours.pao == "its yakuman") == theirs.yakuman_pao_is_liability_only
    assert (ours.max_rons == 2) == theirs.sanchaho_is_draw
    assert (ours.kuikae == "forbidden") == theirs.kuikae_forbidden


def test_every_flag_has_a_bit_of_its_own() -> None:
    public = {name: value for name, value in vars(rules).items() if not name.startswith("_")}
    flags = [value for name, value in public.items() if name.isupper() and isinstance(value, int)]
    assert all(flag.bit_count() == 1 for flag in flags)
    assert len(set(flags)) == len(flags)
    everything = replace(tenhou(), bust="at zero", kan_dora="at once")
    switched_on: dict[str, Any] = {field.name: True for field in fields(Rules) if field.type == "bool"}
    assert rule_flags(replace(everything, **switched_on)) == sum(flags)


@pytest.mark.parametrize("name", [field.name for field in fields(Rules) if field.name != "start_points"])
def test_every_option_reaches_the_tables(name: str) -> None:
    changed = {name: OTHER_VALUES.get(name, not getattr(tenhou(), name))}
    assert values_of(replace(tenhou(), **changed)) != values_of(tenhou())


def test_the_rules_of_a_stored_game_reach_a_table() -> None:
    games, tables = np.zeros(1, GAME), np.zeros(1, TABLE)
    apply_rules(games, mahjong_soul())
    copy_rules(games[0], tables[0])
    for name in RULE_VALUES.names or ():
        assert tables[name] == games[name]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"num_winds": 4}, r"num_winds is 4: use 1 \(East only\) to 3 \(the extra wind must be one of the four\)"),
        ({"num_winds": 5, "extra_wind": False}, r"num_winds is 5: use 1 \(East only\) to 4"),
        ({"num_winds": 0}, "num_winds is 0"),
        ({"start_points": 0}, "start_points is 0: use a positive multiple of 100"),
        (
            {"start_points": 3_000_000_000},
            "start_points is 3000000000: use an integer between -1,000,000 and 1,000,000",
        ),
        ({"target_points": -1_000_100}, "target_points is -1000100: use an integer"),
        ({"num_winds": 1.5}, "num_winds is 1.5: use an integer"),
        ({"start_points": 25_050}, "start_points is 25050"),
        ({"target_points": 30_001}, "target_points is 30001: use a multiple of 100"),
        ({"red_fives": "sp"}, "red_fives is 'sp': name each suit with a red five once, in the order mps"),
        ({"noten_payment": 1000}, "noten_payment is 1000: use a multiple of 600"),
        ({"noten_payment": -600}, "noten_payment is -600"),
        ({"riichi_min_tiles": 70}, "riichi_min_tiles is 70: use 0 … 69"),
        ({"max_rons": 0}, r"max_rons is 0: use 1 \(head bump\), 2 or 3"),
        ({"kuikae": "maybe"}, "kuikae is 'maybe': use one of 'forbidden', 'same tile forbidden', 'allowed'"),
        ({"double_wind_pair_fu": 3}, "double_wind_pair_fu is 3: use one of 4, 2"),
        ({"open_tanyao": "yes"}, "open_tanyao is 'yes': use one of True, False"),
    ],
)
def test_a_wrong_rule_is_refused_with_the_remedy(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Rules(**options)


def test_rules_that_a_record_cannot_say_are_refused_by_name() -> None:
    refuse_untold_game(Rules(num_winds=1), Rules(num_winds=1), "game-1")
    with pytest.raises(ValueError, match="game-1 was played with num_winds = 3, kuikae = 'allowed', which its record"):
        refuse_untold_game(Rules(num_winds=3, kuikae="allowed"), Rules(), "game-1")


TENPAI = "123456789m1123p"  # waits for 1p and 4p, a straight
STRAIGHT = "123456789s2399p"  # waits for 1p and 4p
DRAGON = "555z345678s56p99m"  # waits for 4p and 7p
IPPATSU, KOKUSHI = 2, 47


def turned_round() -> Rules:
    """Return rules of which every option but the points at the start is not Tenhou's."""
    options = [field.name for field in fields(Rules) if field.name != "start_points"]
    changed = {name: OTHER_VALUES.get(name, not getattr(Rules(), name)) for name in options}
    return replace(Rules(), **changed)


# --- all together


@pytest.mark.parametrize(
    "rules", [mahjong_soul(), tenhou_no_red(), turned_round()], ids=["mahjong soul", "no red fives", "all turned round"]
)
@pytest.mark.parametrize("seed", range(3))
def test_games_by_other_rules_end_and_replay_without_a_difference(rules: Rules, seed: int) -> None:
    game = random_game(seed, rules)
    assert game.final_scores is not None
    assert Replayer().replay(game) == []


# --- what is left over, tiles, calls, draws


@pytest.mark.parametrize(("whose", "first"), [("first", 32_000), ("lost", 30_000)])
def test_left_over_sticks_go_to_the_first_or_are_lost(whose: Any, first: int) -> None:
    scores = (30_000, 25_000, 23_000, 20_000)
    table = after(SOUTH_4, scores, result=codes.EXHAUSTIVE_DRAW, kyotaku=2, rules=Rules(leftover_sticks=whose))
    assert table["phase"] == codes.GAME_END
    assert table["scores"].tolist() == [first, *scores[1:]]
    assert table["kyotaku"] == 0


@pytest.mark.parametrize(("suits", "red_ids"), [("mps", [16, 52, 88]), ("p", [52]), ("ms", [16, 88]), ("", [])])
def test_red_fives_are_chosen_suit_by_suit(suits: str, red_ids: list[int]) -> None:
    bits = Rules(red_fives=suits).red_bits
    assert [tile_id for tile_id in range(136) if face_of_id(tile_id, bits) >= 34] == red_ids


FAR = ["147m258p369s1357z", "258m369p147s1357z", "369m147p258s1357z"]
OPEN_KAN, ADDED_KAN = "0 5z, 1 minkan", "0 5z, 1 pon, 1 4p, tsumogiri 3, 1 kakan 5z"

# option (and which of its deals): hands, draws, other arguments of Deal, moves; by value of the option: what may be
# done then, or fields of the table
OPTIONS: dict[str, tuple[Sequence[str], str, dict[str, Any], str, dict[Any, str | dict[str, Any]]]] = {
    "open_tanyao": (
        ["4p", "345678m23p66s55p9s", "5p"], "1z 9m", {}, "0 1z, tsumogiri, 2 5p, 1 pon, 1 9s, tsumogiri 2, 0 4p",
        {True: "1 may ron", False: "1 may not ron"},
    ),
    "kuikae after a chi": (
        ["", "1234m147p147s123z"], "1m", {}, "0 1m, 1 chi low",
        {"forbidden": "1 may not discard 1m, 1 may not discard 4m",
         "same tile forbidden": "1 may not discard 1m, 1 may discard 4m",
         "allowed": "1 may discard 1m, 1 may discard 4m"},
    ),
    "kuikae after a pon": (
        ["", "333m147p147s1234z"], "3m", {}, "0 3m, 1 pon",
        {"forbidden": "1 may not discard 3m", "same tile forbidden": "1 may not discard 3m",
         "allowed": "1 may discard 3m"},
    ),
    "nine_terminals_draw": (
        ["19m19p19s123z2358m"], "5p", {}, "all pass", {True: "0 may nine terminals", False: "0 may not nine terminals"},
    ),
    "four_winds_draw": (
        ["2z"] * 4, "258m2p", {}, "0 2z, 1 2z, 2 2z, 3 2z, all pass",
        {True: {"result": codes.FOUR_WINDS_DRAW}, False: {"phase": codes.OWN_TURN}},
    ),
    "four_riichi_draw": (
        [TENPAI, STRAIGHT, "456789m456789s7p", "111222333z444z6z"], "7z 7z 5z 5z", {},
        "0 riichi, 0 7z, all pass, 1 riichi, 1 7z, all pass, 2 riichi, 2 5z, all pass, 3 riichi, 3 5z, all pass",
        {True: {"result": codes.FOUR_RIICHI_DRAW, "kyotaku": 4}, False: {"phase": codes.OWN_TURN, "kyotaku": 4}},
    ),
    "four_kans_draw": (
        ["1111m2222m147p19s", "3333m4444m147p28s", "6666s258p147p123z"], "5z 6z", {"rinshan": "7z 3s 7z 3z"},
        "0 ankan 1m, 0 ankan 2m, 0 5z, all pass, 1 ankan 3m, 1 ankan 4m, 1 6z, all pass",
        {True: {"result": codes.FOUR_KANS_DRAW}, False: "2 may not ankan 6s"},
    ),
    "nagashi_mangan": (
        [""], "1m 5m 5s 7p", {"left": 3}, "tsumogiri 4",
        {True: {"result": codes.NAGASHI_MANGAN, "deltas": [12_000, -4000, -4000, -4000]},
         False: {"result": codes.EXHAUSTIVE_DRAW, "deltas": [0] * 4}},
    ),
    "noten_payment": (
        [TENPAI, *FAR], "5p 7p 8m 8s", {"left": 3}, "tsumogiri 4",
        {0: {"deltas": [0] * 4}, 1200: {"deltas": [1200, -400, -400, -400]},
         6000: {"deltas": [6000, -2000, -2000, -2000]}},
    ),
    "riichi_needs_points": (
        [TENPAI], "7z", {"scores": (900, 25_000, 25_000, 25_000)}, "all pass",
        {True: "0 may not riichi", False: "0 riichi, 0 7z, all pass"},
    ),
    "ankan_after_riichi": (
        ["111m456789p22s34s"], "7z 6z 6z 6z 1m", {}, "0 riichi, 0 7z, tsumogiri 3",
        {"same waits": "0 may ankan 1m", "never": "0 may not ankan 1m"},
    ),
    "ippatsu": (
        [TENPAI, "4p"], "7z", {}, "0 riichi, 0 7z, 1 4p, 0 ron",
        {True: {"yaku": "ippatsu, pinfu, double riichi, ittsuu"}, False: {"yaku": "pinfu, double riichi, ittsuu"}},
    ),
    "kan_dora of a closed kan": (
        ["1111m258p258s123z"], "9p", {}, "0 ankan 1m",
        {"open kans later": {"num_dora": 2}, "at once": {"num_dora": 2}, "none": {"num_dora": 1}},
    ),
    "kan_dora of an open kan": (
        ["", "555z4p"], "5z", {"rinshan": "9s"}, OPEN_KAN,
        {"open kans later": {"num_dora": 1}, "at once": {"num_dora": 2}, "none": {"num_dora": 1}},
    ),
    "kan_dora after its discard": (
        ["", "555z4p"], "5z", {"rinshan": "9s"}, f"{OPEN_KAN}, 1 4p",
        {"open kans later": {"num_dora": 2}, "at once": {"num_dora": 2}, "none": {"num_dora": 1}},
    ),
    "kan_dora of an added kan": (
        ["", "55z4p"], "5z 7p 7p 7p 5z", {"rinshan": "9s"}, ADDED_KAN,
        {"open kans later": {"num_dora": 1}, "at once": {"num_dora": 2}, "none": {"num_dora": 1}},
    ),
    "kan_dora after the discard of an added kan": (
        ["", "55z4p"], "5z 7p 7p 7p 5z", {"rinshan": "9s"}, f"{ADDED_KAN}, 1 9s",
        {"open kans later": {"num_dora": 2}, "at once": {"num_dora": 2}, "none": {"num_dora": 1}},
    ),
}  # fmt: skip


@pytest.mark.parametrize("option", OPTIONS)
def test_an_option_changes_this(option: str) -> None:
    hands, draws, others, moves, outcomes = OPTIONS[option]
    for value, expected in outcomes.items():
        chosen: dict[str, Any] = {option.partition(" ")[0]: value}
        deal = Deal(hands, draws=draws, rules=Rules(**chosen), **others)
        deal.play(moves)
        if isinstance(expected, str):
            deal.play(expected)
        else:
            assert {name: deal.shows(name) for name in expected} == expected, value


@pytest.mark.parametrize(
    ("min_tiles", "left", "is_allowed"), [(4, 4, True), (4, 3, False), (1, 1, True), (1, 0, False), (0, 0, True)]
)
def test_riichi_needs_some_tiles_in_the_wall(min_tiles: int, left: int, is_allowed: bool) -> None:
    deal = Deal([TENPAI, "", "", ""], draws="7z", left=left, rules=Rules(riichi_min_tiles=min_tiles))
    assert deal.is_offered(0, codes.RIICHI) == is_allowed


@pytest.mark.parametrize(("ura", "kan_ura", "expected"), [(True, True, 3), (True, False, 2), (False, True, 0)])
def test_ura_dora_and_kan_ura_dora_may_count_for_nothing(ura: bool, kan_ura: bool, expected: int) -> None:
    rules = Rules(ura_dora=ura, kan_ura_dora=kan_ura)
    # The ura dora are 2s, the pair, and by the kan 4p.
    deal = Deal(["1111m456789p234s", "5s", "", ""], draws="2s", rinshan="6z", ura="1s3p", rules=rules)
    deal.play("0 ankan 1m, 0 riichi, 0 6z, 1 5s, 0 ron")
    assert deal.table["win_ura"][0] == expected


# --- wins


def three_rons(max_rons: int, num_rons: int) -> Deal:
    deal = Deal(
        ["", TENPAI, STRAIGHT, DRAGON.replace("99m", "77z")],
        draws="4p",
        honba=1,
        kyotaku=1,
        rules=Rules(max_rons=max_rons),
    )
    deal.discard(0, "4p")
    for seat in (1, 2, 3):
        deal.act(seat, codes.RON if seat <= num_rons else codes.PASS)
    return deal


@pytest.mark.parametrize(
    ("num_rons", "max_rons", "winners"), [(2, 1, [1]), (2, 2, [1, 2]), (3, 1, [1]), (3, 3, [1, 2, 3])]
)
def test_so_many_rons_win_from_the_first_in_turn_order_on(num_rons: int, max_rons: int, winners: list[int]) -> None:
    table = three_rons(max_rons, num_rons).table
    assert table["result"] == codes.WIN_RESULT
    assert table["win_seat"][: table["num_wins"]].tolist() == winners
    assert table["win_deltas"][0, 1] == table["win_points"][0] + 300 + 1000
    assert table["scores"].sum() == 4 * 25_000 + 1000


def closed_kan(*, robs: bool, hand: str = "119m19p19s234567z", tile: str = "1z") -> Deal:
    """Return a deal in which seat 0 has declared a closed kan of ``tile``, for which the hand of seat 1 waits."""
    deal = Deal(
        [f"{tile[0] * 4}{tile[1]}258p258s567z", hand, "", ""], draws="9p", rules=Rules(kokushi_robs_closed_kan=robs)
    )
    deal.act(0, codes.ANKAN + kind(tile))
    return deal


def test_thirteen_orphans_rob_a_closed_kan_where_they_may() -> None:
    assert closed_kan(robs=False).table["phase"] == codes.OWN_TURN
    deal = closed_kan(robs=True)
    assert deal.table["phase"] == codes.ROB_KAN
    deal.act(1, codes.RON)
    assert KOKUSHI in deal.win_yaku()
    assert deal.table["num_dora"] == 1
    assert deal.deltas() == [-32_000, 32_000, 0, 0]


def test_a_closed_kan_that_nobody_robs_stands_and_makes_furiten() -> None:
    deal = closed_kan(robs=True)
    deal.act(1, codes.PASS)
    assert deal.table["phase"] == codes.OWN_TURN
    assert (deal.table["num_dora"], deal.table["num_kans"], deal.table["is_rinshan"]) == (2, 1, 1)
    assert deal.table["missed_win"].tolist() == [0, 1, 0, 0]
    assert deal.table["is_first_turn"].tolist() == [0, 0, 0, 0]


def test_no_other_hand_robs_a_closed_kan_nor_gets_furiten_by_it() -> None:
    deal = closed_kan(robs=True, hand="13m456789p123s44z", tile="2m")
    assert deal.table["waits"][1] == 1 << kind("2m")
    assert deal.table["phase"] == codes.OWN_TURN
    assert deal.table["missed_win"].tolist() == [0, 0, 0, 0]
    assert deal.table["passed_kinds"].tolist() == [0, 0, 0, 0]
