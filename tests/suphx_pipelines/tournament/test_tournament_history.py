"""Which games of earlier nights count, and what tells that their code was another one."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from suphx.evaluation.rating import RatedGame
from suphx.games.scoring import DEALS_PER_SEED, MAX_DEAL_SEED, deal_seeds
from suphx_pipelines.json_file import write_json
from suphx_pipelines.tournament.history import (
    EarlierNights,
    earlier_nights,
    games_json,
)
from suphx_pipelines.tournament.kind import deal_seed
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.suphx_pipelines.runs.small_run import context_of
from tests.suphx_pipelines.tournament.small_tournament import SMALL, code

NIGHTS = [f"nightly-{number:010}" for number in range(6)]


def save_night(folder: Path, wall: int, others: dict[str, Any] | None = None) -> Path:
    """Leave a night with one game, in which ``others`` are put in the place of what it says."""
    folder.mkdir(parents=True)
    games = games_json([RatedGame(wall, ("a", "b", "c", "d"), (1, 2, 3, 4))], {}, code())
    write_json(folder / "games.json", {"night": "1", "draw_lanes": True, **games, **(others or {})})
    return folder


def earlier(runs: Path, storage: StorageConfig | None = None, run_id: str = "") -> EarlierNights:
    return earlier_nights("nightly", run_id, runs, storage or StorageConfig(), code())


@pytest.mark.parametrize("place", ["runs", "storage"])
def test_games_of_a_tournament_whose_name_is_longer_do_not_count(place: str, tmp_path: Path) -> None:
    storage = StorageConfig(address=str(tmp_path / "storage"))
    for number, run in enumerate(("nightly-0123456789", "nightly-small-0123456789", "nightly-000000000a"), 1):
        folder = save_night(tmp_path / place.replace("storage", "saved") / run / "leaderboard", number)
        if place == "storage":
            Storage(storage).save(f"{run}/leaderboard", folder, number=1)
    found = earlier(tmp_path / "runs", storage, "nightly-000000000a")
    assert [game.wall for game in found.games] == [1]


@pytest.mark.parametrize("damaged", ["games.json", "table.json"])
def test_a_night_that_is_damaged_here_is_read_from_the_storage(damaged: str, tmp_path: Path) -> None:
    storage = StorageConfig(address=str(tmp_path / "storage"))
    folder = save_night(tmp_path / "runs" / NIGHTS[0] / "leaderboard", 1)
    write_json(folder / "table.json", {"agents": [{"digest": "a", "rating": 1000.0, "interval": None}]})
    Storage(storage).save(f"{NIGHTS[0]}/leaderboard", folder, number=1)

    def found(storage: StorageConfig) -> tuple[int, int]:
        nights = earlier(tmp_path / "runs", storage)
        return len(nights.games), len(nights.nights)

    assert found(storage) == (1, 1)
    (folder / damaged).write_text("{", encoding="utf-8")
    assert found(StorageConfig()) == (0, 0)
    assert found(storage) == (1, 1)


def test_games_by_other_rules_do_not_count(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "suphx_pipelines")
    for wall, others in enumerate(({}, {}, {"rules": "0" * 64})):
        save_night(tmp_path / NIGHTS[wall] / "leaderboard", wall, dict(others))
    assert [game.wall for game in earlier(tmp_path).games] == [0, 1]
    (rules,) = caplog.messages
    assert rules.endswith(f"({NIGHTS[2]} to {NIGHTS[2]}): their games do not count")


def test_a_damaged_night_does_not_count_and_is_named(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "suphx_pipelines")
    damaged: tuple[dict[str, Any], ...] = (
        {"games": [[3, [0, 1, 2, 9], [1, 2, 3, 4]]]},
        {"games": [[3, [0, 1, 2, 2], [1, 2, 3, 4]]]},
        {"games": [[3, [0, 1, 2, 3], [1, 1, 3, 4]]]},
        {"games": 5},
        {"agents": [{}]},
        {},
    )
    for run, broken in zip(NIGHTS, damaged, strict=True):
        save_night(tmp_path / run / "leaderboard", 3, broken)
    assert len(earlier(tmp_path).games) == 1
    assert [line.split(":")[0] for line in caplog.messages] == [
        f"the games of {run} do not count" for run in NIGHTS[:5]
    ]
    assert all("is damaged" in line for line in caplog.messages)


def test_a_night_takes_the_next_deals_that_no_night_has_played(runs: Path, tmp_path: Path) -> None:
    context = context_of(SMALL, TrackingStore(runs).start("leaderboard", key="leaderboard"), tmp_path / "leaderboard")

    def seed(*played: RatedGame) -> int:
        return deal_seed(context, played, lambda seed: deal_seeds(seed, DEALS_PER_SEED))

    def games_of(seed: int) -> list[RatedGame]:
        return [RatedGame(wall, ("a", "b", "c", "d"), (1, 2, 3, 4)) for wall in deal_seeds(seed % MAX_DEAL_SEED, 50)]

    first = seed()
    others = games_of(first + 2)
    assert seed(*others) == first, "the same as without them"
    assert seed(*games_of(first)) == (first + 1) % MAX_DEAL_SEED
    taken = [*games_of(first), *games_of(first + 1)[-1:], *others]
    assert seed(*taken) == seed(*taken[::-1]) == (first + 3) % MAX_DEAL_SEED
    last_deck = RatedGame(100 * first + 99, ("a", "b"), (1, 2))  # of a game of two sides, with blocks of its own
    later = deal_seed(context, [last_deck], lambda seed: range(100 * seed, 100 * seed + 100))
    assert later == (first + 1) % MAX_DEAL_SEED
