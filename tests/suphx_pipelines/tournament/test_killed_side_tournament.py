"""A tournament in a game of two sides leaves the same bytes on Ray, and if it is killed and started again."""

from __future__ import annotations

import shutil
import signal
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from suphx.games.registry import load_game
from tests.suphx_pipelines.tournament.kept_files import kept_walls, start_driver, when_games_come
from tests.suphx_pipelines.tournament.small_side_tournament import LONGER, SMALL, play, save_nets, save_strong_nets

pytestmark = pytest.mark.slow
NIGHT = replace(LONGER, night="2")
BLOCKS = NIGHT.leaderboard.games // 2 // load_game("doudizhu").scoring.deals_per_lineup
RESULTS = ("leaderboard/games", "leaderboard/table", "decision/decision")


def start(runs: Path, workers: int) -> subprocess.Popen[bytes]:
    return start_driver(runs, workers, NIGHT.night, module="tests.suphx_pipelines.tournament.small_side_tournament")


def results(runs: Path) -> dict[str, bytes]:
    """Return what is kept of the games and computed of them, by path."""
    computed = [path for name in RESULTS for path in runs.glob(f"nightly-*/{name}.json")]
    kept = [*kept_walls(runs), *kept_walls(runs, "decision")]
    return {str(path.relative_to(runs)): path.read_bytes() for path in sorted([*kept, *computed])}


@pytest.mark.ray
def test_workers_of_ray_leave_the_bytes_of_one_process(runs: Path, tmp_path: Path) -> None:
    save_strong_nets(runs / "a-1" / "learning")
    other = shutil.copytree(runs, tmp_path / "other")
    recipe = replace(SMALL, decision=replace(SMALL.decision, opponent="random"))
    assert play(runs, recipe)["promoted"] is True
    play(other, replace(recipe, on_ray=True, workers=2))
    expected, found = results(runs), results(other)
    assert {name: found.get(name) for name in expected} == expected
    # Two workers may also have finished decks behind those that decided; they are kept and count for nothing.
    assert all("/decision/games/decks-" in name for name in found.keys() - expected.keys())


@pytest.mark.parametrize(("stage", "workers"), [("leaderboard", 2), ("decision", 1)])
def test_a_killed_driver_goes_on_when_it_is_started_again(runs: Path, tmp_path: Path, stage: str, workers: int) -> None:
    save_nets(runs / "a-1" / "learning", seed=1)
    first = play(runs, LONGER)
    assert first["promoted"] is True
    shutil.rmtree(runs / str(first["run_id"]) / "leaderboard" / "games")
    save_nets(runs / "a-2" / "learning", seed=2)
    other = shutil.copytree(runs, tmp_path / "other")
    before = len(results(runs))
    folder = str(play(runs, NIGHT)["run_id"])
    expected = results(runs)
    assert len(expected) == before + BLOCKS + NIGHT.decision.games // 200 + len(RESULTS)
    driver = start(other, workers)
    with when_games_come(other, driver.kill, stage):
        assert driver.wait(300) == -signal.SIGKILL
    assert not (other / folder / stage / "done.json").exists()
    assert 0 < len(results(other)) - before < len(expected) - before
    assert start(other, workers).wait(300) == 0
    assert results(other) == expected
