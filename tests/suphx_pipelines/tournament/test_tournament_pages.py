"""The pages of a tournament of three nights in a real browser, on a phone and on a desktop."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from suphx_pipelines.recipe.tournament_recipe import LeaderboardConfig, PoolConfig
from tests.page_checks import HAS_CHROMIUM, check_layout
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.runs.tile_keeper import save_keeper
from tests.suphx_pipelines.tournament.small_tournament import SMALL, play

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("short_games")]


@pytest.fixture(scope="module")
def last_night(tmp_path_factory: pytest.TempPathFactory, _empty_store: Path, short_games: None) -> Path:
    """The folder of the third night, with a champion, four newest checkpoints, heat map and radar."""
    runs = tmp_path_factory.mktemp("nights") / "runs"
    runs.mkdir()
    shutil.copy(_empty_store, runs / "mlflow.db")
    save_keeper(runs / "reinforcement-0a1b2c3d4e" / "reinforcement")
    for seed in range(3):
        save_random(runs / f"a-rather-long-name-{seed}0123456789" / "oracle_distillation", seed=seed)
    recipe = replace(SMALL, pool=PoolConfig(newest=4), leaderboard=LeaderboardConfig(hanchans=40))
    results = [play(runs, replace(recipe, night=f"2026-11-2{number}")) for number in range(3)]
    return runs / str(results[-1]["run_id"])


@pytest.mark.skipif(not HAS_CHROMIUM, reason="no Chromium: run apt-get install chromium")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("page", ["report/report.html", "leaderboard/live.html", "decision/live.html"])
def test_no_table_and_no_picture_is_wider_than_the_window(last_night: Path, page: str, width: int, scheme: str) -> None:
    path = last_night / page
    text = path.read_text(encoding="utf-8")
    for heading in ("Nights", "Pairings", "Style"):
        assert f"<h2>{heading}</h2>" in text
    check_layout(path, width, scheme, tables=2, pictures=5)
