"""What a tournament keeps of its games besides their results, and which nights are its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from suphx.evaluation.rating import RatedGame
from suphx.games.scoring import DEALS_PER_SEED, MAX_DEAL_SEED, deal_seeds
from suphx.kernel import source_closure
from suphx_pipelines.json_file import write_json
from suphx_pipelines.tournament.history import PLAYING_MODULES, earlier_nights, game_sources, games_json
from suphx_pipelines.tournament.kind import deal_seed
from suphx_platform.storage.storage import Storage
from suphx_platform.storage.storage_config import StorageConfig
from suphx_platform.tracking.tracking import TrackingStore
from tests.repository import REPOSITORY
from tests.suphx_pipelines.runs.small_run import context_of
from tests.suphx_pipelines.tournament.small_tournament import SMALL, code

DECIDING = (
    "suphx/kernel/random_number.py",
    "suphx/games/riichi/legal.py",
    "suphx/models/inference.py",
    "suphx/games/riichi/names.py",
    "suphx/training/adaptation.py",
    "suphx_platform/agents/mjai/mjai_agent.py",
)
OTHERS = ("suphx/evaluation/rating.py", "suphx/training/supervised.py")


def test_changed_code_is_another_engine_only_if_it_decides_games(tmp_path: Path) -> None:
    roots = (tmp_path / "core", tmp_path / "platform")
    only_sources = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "suphx", roots[0] / "suphx", ignore=only_sources)
    shutil.copytree(REPOSITORY / "platform" / "suphx_platform", roots[1] / "suphx_platform", ignore=only_sources)
    before = game_sources(PLAYING_MODULES, roots)
    assert before == game_sources(PLAYING_MODULES), "the copy is the same code"
    for name in DECIDING + OTHERS:
        (path,) = (root / name for root in roots if (root / name).is_file())
        path.write_text(path.read_text(encoding="utf-8") + "\nCHANGED = True\n", encoding="utf-8")
    source_closure.forget()
    after = game_sources(PLAYING_MODULES, roots)
    assert {name for name, digest in after.items() if digest != before[name]} == set(DECIDING)
    assert set(after) == set(before)


@pytest.mark.parametrize("place", ["runs", "storage"])
def test_games_of_a_tournament_whose_name_is_longer_do_not_count(place: str, tmp_path: Path) -> None:
    storage = StorageConfig(address=str(tmp_path / "storage"))
    for number, run in enumerate(("nightly-0123456789", "nightly-small-0123456789", "nightly-000000000a"), 1):
        folder = tmp_path / place / run / "leaderboard"
        if place == "storage":
            folder = tmp_path / "saved" / run
        folder.mkdir(parents=True)
        game = RatedGame(number, ("a", "b", "c", "d"), (1, 2, 3, 4))
        write_json(folder / "games.json", {"night": "1", "draw_lanes": True, **games_json([game], {}, code())})
        if place == "storage":
            Storage(storage).save(f"{run}/leaderboard", folder, number=1)
    found = earlier_nights("nightly", "nightly-000000000a", tmp_path / "runs", storage, code())
    assert [game.wall for game in found.games] == [1]


@pytest.mark.parametrize("damaged", ["games.json", "table.json"])
def test_a_night_that_is_damaged_here_is_read_from_the_storage(damaged: str, tmp_path: Path) -> None:
    storage = StorageConfig(address=str(tmp_path / "storage"))
    folder = tmp_path / "runs" / "nightly-0123456789" / "leaderboard"
    folder.mkdir(parents=True)
    games = games_json([RatedGame(1, ("a", "b", "c", "d"), (1, 2, 3, 4))], {}, code())
    write_json(folder / "games.json", {"night": "1", "draw_lanes": True, **games})
    write_json(folder / "table.json", {"agents": [{"digest": "a", "rating": 1000.0, "interval": None}]})
    Storage(storage).save("nightly-0123456789/leaderboard", folder, number=1)

    def found(storage: StorageConfig) -> tuple[int, int]:
        earlier = earlier_nights("nightly", "nightly-000000000a", tmp_path / "runs", storage, code())
        return len(earlier.games), len(earlier.nights)

    assert found(storage) == (1, 1)
    (folder / damaged).write_text("{", encoding="utf-8")
    assert found(StorageConfig()) == (0, 0)
    assert found(storage) == (1, 1)


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
