"""Names of tiles and walls of any size."""

from __future__ import annotations

import numpy as np
import pytest

from suphx.games.mahjong.tile import join_names, kind_name, parse_names, shuffle_tiles
from suphx.games.riichi.table import shuffle_wall

SUITED = {kind_name(kind): kind for kind in range(27)}


def test_a_game_without_honours_has_no_names_of_them() -> None:
    assert parse_names("19m 5p9s", SUITED) == [0, 8, 13, 26]
    messages = {"1z": "1z in '1z' is not a tile: honours", "0m": "0m in '0m' is not a tile", "m1": "'m1' is"}
    for text, message in messages.items():
        with pytest.raises(ValueError, match=message):
            parse_names(text, SUITED)


def test_names_are_joined_suit_by_suit() -> None:
    assert join_names(["7z", "1m", "9m", "3s"]) == "19m3s7z"


@pytest.mark.parametrize("size", [108, 136, 144])
def test_a_wall_of_any_size_is_a_permutation_that_follows_from_seed_and_deal(size: int) -> None:
    walls = np.zeros((3, size), np.int16)
    for wall, deal in zip(walls, (5, 5, 6), strict=True):
        shuffle_tiles(11, deal, wall)
    assert (np.sort(walls[0]) == np.arange(size)).all()
    assert (walls[0] == walls[1]).all()
    assert (walls[0] != walls[2]).mean() > 0.9


def test_riichi_deals_the_wall_of_its_kyoku_and_honba() -> None:
    own, shared = np.zeros(136, np.int16), np.zeros(136, np.int16)
    shuffle_wall(3, 2, 1, own)
    shuffle_tiles(3, 2 * 1024 + 1, shared)
    assert (own == shared).all()
