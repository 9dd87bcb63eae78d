from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import riichienv

from suphx.games.riichi import rules
from suphx.games.riichi.archive.store import GAME
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
    tonpuu,
)
from suphx.games.riichi.table import TABLE
from tests.games.riichi.builders.games import OTHER_VALUES


def values_of(rules: Rules) -> bytes:
    records = np.zeros(1, RULE_VALUES)
    apply_rules(records, rules)
    return records.tobytes()


def test_the_usual_game_is_a_hanchan_from_25000_to_30000_with_red_fives() -> None:
    rules = tenhou()
    assert (rules.num_winds, rules.start_points, rules.target_points) == (2, 25_000, 30_000)
    assert rules.red_fives == "mps"
    assert rules.open_tanyao


def test_presets_differ_from_tenhou_only_in_what_they_say() -> None:
    assert tonpuu() == Rules(num_winds=1)
    assert tenhou_no_red() == Rules(red_fives="")


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (tenhou(), riichienv.GameRule.default_tenhou()),
        (mahjong_soul(), riichienv.GameRule.default_mjsoul()),
    ],
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
