"""Real games between nets in all three seatings."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

from suphx.evaluation.match import play_match, play_walls
from suphx.evaluation.match_config import SEATS, Seating
from suphx.evaluation.match_setup import CANDIDATE, MatchSetup
from suphx.evaluation.wall_difference import PLACEMENT
from suphx.games.riichi.table.rules import tonpuu
from tests.suphx_pipelines.runs.tile_keeper import save_keeper
from tests.suphx_platform.parts.small_policy_set import save_random

SEATINGS: tuple[Seating, ...] = ("1v3", "2v2", "3v1")


@pytest.mark.parametrize("seating", SEATINGS)
def test_the_same_nets_at_two_addresses_have_the_mean_on_every_wall(seating: Seating, tmp_path: Path) -> None:
    nets = save_random(tmp_path / "nets")
    copies = shutil.copytree(nets, tmp_path / "copies")
    blocks = play_walls(MatchSetup(str(nets), str(copies), seed=1, rules=tonpuu()), 6, seating=seating)
    rows = np.concatenate([block.rows[CANDIDATE] for block in blocks])
    placements = rows[:, :SEATS].reshape(-1, SEATS, SEATS).sum(axis=1).astype(np.int64)
    assert PLACEMENT.wall_sums(placements, seating).tolist() == [0] * 6
    assert len({tuple(game) for game in rows[:, :SEATS].tolist()}) > 1, "the games differ"


@pytest.mark.parametrize("seating", SEATINGS)
def test_better_nets_win_in_all_seatings(seating: Seating, tmp_path: Path) -> None:
    better, worse = save_keeper(tmp_path / "keeper"), save_random(tmp_path / "random")
    report = play_match(MatchSetup(str(better), str(worse), seed=2, rules=tonpuu()), 48, seating=seating)
    assert report.difference.is_significant
    assert report.difference.mean < -0.2
    assert report.points_difference.mean > 0
    assert report.seating == seating
