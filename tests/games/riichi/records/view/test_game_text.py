from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from suphx.games.riichi.records.log.gamelog import GameLog, move
from suphx.games.riichi.records.view.game_text import describe_kyoku, kyoku_name
from suphx.games.riichi.table.action import ANKAN, PON, RIICHI, RON, TSUMO, TSUMOGIRI
from suphx.games.riichi.table.table import EXHAUSTIVE_DRAW, WIN_RESULT
from suphx.games.riichi.table.tile import ALL_RED_FIVES
from tests.games.riichi.builders.random_game import random_game
from tests.games.riichi.builders.table_builder import make_wall


def game_of(hands: list[str], moves: list[int], *, draws: str, rinshan: str = "", dora: str = "") -> GameLog:
    """Return a game of one deal on a hand-made wall."""
    log = dataclasses.replace(
        random_game(0).kyokus[0],
        wall=make_wall(hands, draws, rinshan, dora, "", 0, 69, ALL_RED_FIVES).astype(np.uint8),
        moves=np.array(moves, np.uint16),
    )
    return dataclasses.replace(random_game(0), names=("Anna", "Ben", "Cleo", "Dora"), kyokus=[log], final_scores=None)


@pytest.mark.parametrize(
    ("kyoku", "honba", "name"),
    [(0, 0, "East 1"), (7, 2, "South 4, honba 2"), (8, 0, "West 1"), (11, 1, "West 4, honba 1")],
)
def test_deals_are_named_by_round_dealer_and_honba(kyoku: int, honba: int, name: str) -> None:
    assert kyoku_name(kyoku, honba) == name


def test_a_deal_reads_from_the_hands_to_the_payments() -> None:
    game = game_of(
        ["123406789m1123p", "5z4p", "55z5s", ""],
        [
            *(move(0, RIICHI), move(0, TSUMOGIRI), move(1, 31), move(2, PON), move(2, 22)),
            *(move(3, TSUMOGIRI), move(0, TSUMO)),
        ],
        draws="7z 6s 9s 4p",
        dora="4m",
    )
    lines = describe_kyoku(game, 0)
    assert lines[0] == "East 1, 0 sticks, dora indicator 4m"
    assert lines[1] == "  Anna          25000 points   123406789m1123p"
    text = [line.strip() for line in lines[5:]]
    assert text[:6] == [
        "Anna         draws 7z, declares riichi: 123406789m1123p7z",
        "Anna         draws 7z, discards 7z, tsumogiri",
        "Ben          draws 6s, discards 5z",
        "Cleo         calls pon on 5z",
        "Cleo         discards 5s",
        "Dora         draws 9s, discards 9s, tsumogiri",
    ]
    assert text[6] == "Anna         draws 4p, wins by tsumo: 123406789m11234p"
    assert "menzen tsumo, pinfu, double riichi, ittsuu" in text[7]
    assert "dora 1" in text[7]
    assert "red fives 1" in text[7]
    assert text[8].startswith("Anna +")


def test_rons_and_kans_are_described() -> None:
    game = game_of(
        ["6666s258p258s123z", "123456789m2399p", "", ""],
        [move(0, ANKAN + 23), move(0, TSUMOGIRI), move(1, RON)],
        draws="9s",
        rinshan="4p",
    )
    text = "\n".join(describe_kyoku(game, 0))
    assert "Anna         ankan 6s" in text
    assert "Ben          wins by ron on 4p: 123456789m2399p" in text
    assert "pinfu, ittsuu" in text


@pytest.mark.parametrize("seed", range(4))
def test_every_deal_of_random_games_can_be_told(seed: int) -> None:
    game = random_game(seed)
    for index, log in enumerate(game.kyokus):
        lines = describe_kyoku(game, index)
        assert lines[0].startswith(kyoku_name(log.kyoku, log.honba))
        if log.result["result"] == WIN_RESULT:
            assert any(" points: " in line for line in lines)
        if log.result["result"] == EXHAUSTIVE_DRAW:
            assert any("exhaustive draw" in line for line in lines)


def test_moves_that_contradict_the_rules_are_refused() -> None:
    game = random_game(0)
    log = dataclasses.replace(game.kyokus[0], moves=game.kyokus[0].moves[:3])
    with pytest.raises(ValueError, match="deal 0 of game game-0 contradicts the rules: see suphx records verify"):
        describe_kyoku(dataclasses.replace(game, kyokus=[log]), 0)
