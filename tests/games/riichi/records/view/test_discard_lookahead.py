"""What the viewer shows of discards: the tiles that ukeire counts, and the shanten of the hand after them."""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.bots.danger import fill_unseen
from suphx.games.riichi.hand.ukeire import count_shanten
from suphx.games.riichi.records.view.discard_lookahead import discard_lookahead, unseen_tiles
from suphx.games.riichi.records.view.recorded_decisions import recorded_decisions
from suphx.games.riichi.table.action import TSUMOGIRI
from suphx.games.riichi.table.tile import NUM_KINDS
from tests.games.riichi.builders.random_game import random_game


def test_unseen_tiles_are_those_of_ukeire_at_every_decision_of_a_game() -> None:
    tables = recorded_decisions(random_game(0)).tables
    assert len(tables) > 300
    for table in tables:
        expected = np.zeros(NUM_KINDS, np.int8)
        fill_unseen(table, int(table["actor"]), expected)
        assert (unseen_tiles(table, int(table["actor"])) == expected).all()


def test_the_shanten_after_a_discard_is_that_of_the_hand_without_it() -> None:
    tables = recorded_decisions(random_game(1)).tables
    asked = [table for table in tables if table["legal"][: TSUMOGIRI + 1].any()][::7]
    assert len(asked) > 20
    for table in asked:
        seat = int(table["actor"])
        found = discard_lookahead(table)
        for kind in np.flatnonzero(table["hand"][seat]):
            hand = table["hand"][seat].copy()
            hand[kind] -= 1
            melds = int(table["num_melds"][seat])
            assert found.shanten[0, kind] == count_shanten(hand[None], melds)[0]
            unseen = unseen_tiles(table, seat)
            helping = 0
            for draw in np.flatnonzero((unseen > 0) & (hand < 4)):
                hand[draw] += 1
                helping += int(unseen[draw]) * bool(count_shanten(hand[None], melds)[0] < found.shanten[0, kind])
                hand[draw] -= 1
            assert found.tiles[0, kind] == helping
