from __future__ import annotations

import numpy as np

from suphx.games.riichi.table.table import OWN_TURN
from suphx.selfplay.agents.agent import ScriptedAgent
from suphx.selfplay.rollouts.deal_start import draw_starts


def test_starts_are_different_deals_in_which_nobody_has_discarded() -> None:
    starts = draw_starts(ScriptedAgent("ukeire"), 60, seed=3)
    assert len(starts) == 60
    assert (starts["phase"] == OWN_TURN).all()
    np.testing.assert_array_equal(starts["actor"], starts["kyoku"] % 4)
    assert not starts["river_length"].any()
    assert len({(int(t["wall_seed"]), int(t["num_kyoku"])) for t in starts}) == 60
    assert len(np.unique(starts["kyoku"])) >= 7  # from all parts of games
    np.testing.assert_array_equal(starts["scores"].sum(axis=1) + 1000 * starts["kyotaku"], 100_000)


def test_the_seed_decides() -> None:
    first, again, other = (draw_starts(ScriptedAgent("tsumogiri"), 5, seed=seed) for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).all()
