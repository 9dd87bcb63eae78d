from __future__ import annotations

from suphx.games.riichi.table.action import (
    ANKAN,
    CHI,
    CHI_RED,
    KAKAN,
    LEAVE,
    NUM_ACTIONS,
    PASS,
    PON_RED,
    RETURN,
    RIICHI,
    RON,
    TSUMO,
    TSUMOGIRI,
    action_name,
)


def test_every_action_has_its_own_name() -> None:
    names = [action_name(action) for action in range(NUM_ACTIONS)]
    assert len(set(names)) == NUM_ACTIONS
    assert not any("unknown" in name for name in names)


def test_names_say_the_tile_or_the_place_in_the_run() -> None:
    assert action_name(0) == "discard 1m"
    assert action_name(35) == "discard 0p"
    assert action_name(TSUMOGIRI) == "tsumogiri"
    assert action_name(ANKAN + 31) == "ankan 5z"
    assert action_name(KAKAN) == "kakan 1m"
    assert action_name(CHI + 1) == "chi middle"
    assert action_name(CHI_RED + 2) == "chi high red"
    assert action_name(PON_RED) == "pon red"
    assert [action_name(a) for a in (RIICHI, TSUMO, RON, PASS)] == ["riichi", "tsumo", "ron", "pass"]


def test_a_number_that_is_no_action_is_called_unknown() -> None:
    assert action_name(-1) == "unknown action -1"
    assert action_name(LEAVE + 50) == f"unknown action {LEAVE + 50}"


def test_the_marks_of_absent_seats_are_no_decisions() -> None:
    assert LEAVE >= NUM_ACTIONS
    assert [action_name(LEAVE), action_name(RETURN)] == ["leave", "return"]


def test_a_number_outside_the_table_is_named_as_unknown() -> None:
    assert action_name(500) == "unknown action 500"
