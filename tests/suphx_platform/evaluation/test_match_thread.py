from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from suphx.evaluation.kept_results import GAMES_FOLDER
from suphx_platform.evaluation.ray_game_workers import MatchThread
from suphx_platform.ray.session import ray_session
from suphx_platform.selfplay.self_play_match import MatchOrder
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.runs.tile_keeper import save_keeper

pytestmark = [pytest.mark.ray, pytest.mark.slow]


def order(folder: Path) -> MatchOrder:
    save_keeper(folder)
    save_random(folder / "start")
    return MatchOrder(
        folder=folder,
        opponent="start",
        policy="argmax",
        num_hanchans=16,
        num_deals=20,
        seed=1,
        workers=2,
        game="riichi",
    )


def test_matches_over_ray_are_those_of_one_process_with_the_nets_of_their_beginning(tmp_path: Path) -> None:
    match = order(tmp_path / "run")
    here = match.play()
    with ray_session(num_cpus=1, resources={"simulator": 1}):
        thread = MatchThread()
        try:
            future = thread.play(match)
            save_random(match.folder, seed=9)  # training continues
            there = future.result(timeout=300)
            final = replace(match, keeps_games=True, num_deals=0)
            last = thread.play(final).result(timeout=300)
        finally:
            thread.close()
    assert (there.match.placements, there.match.difference) == (here.match.placements, here.match.difference)
    assert there.deals is not None
    assert here.deals is not None
    assert there.deals.difference == here.deals.difference
    assert last.records is not None
    counts: list[float] = []
    again = final.play(counts.append)
    assert again.match.placements == last.match.placements
    assert counts == [16], "what workers of Ray have played is kept in the run's folder"


def test_a_match_ends_with_the_run(tmp_path: Path) -> None:
    with ray_session(num_cpus=1, resources={"simulator": 1}):
        thread = MatchThread()
        future = thread.play(replace(order(tmp_path), num_hanchans=40_000, keeps_games=True))
        waiting = thread.play(order(tmp_path))
        until = time.monotonic() + 300
        while not any((tmp_path / GAMES_FOLDER).rglob("*.json")) and time.monotonic() < until:
            time.sleep(0.1)
        assert any((tmp_path / GAMES_FOLDER).rglob("*.json")), "the first games are over"
        thread.close()
    with pytest.raises(InterruptedError, match="the match was stopped"):
        future.result(timeout=0)
    assert waiting.cancelled()
