from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from suphx.evaluation.kept_results import GAMES_FOLDER
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx_pipelines.json_file import read_json
from suphx_platform.selfplay.self_play_match import MatchOrder, MatchOutcome, SelfPlayMatches
from tests.selfplay.small_policy_set import save_random
from tests.suphx_pipelines.runs.tile_keeper import save_keeper

pytestmark = pytest.mark.usefixtures("short_games")
CONFIG = ReinforcementConfig(evaluation_hanchans=40, evaluation_deals=100, final_hanchans=400)


class Orders:
    """Takes orders and plays none."""

    def __init__(self) -> None:
        self.taken: list[MatchOrder] = []

    def play_match(self, order: MatchOrder, progress: object) -> Future[MatchOutcome]:
        self.taken.append(order)
        return Future()


def orders(
    *, is_final: bool, updates: int = 10, has_weak: bool = True, config: ReinforcementConfig = CONFIG
) -> list[MatchOrder]:
    player = Orders()
    matches = SelfPlayMatches(config, Path("run"), has_weak=has_weak, seed=3 + (1 << 20))
    matches.begin(cast(Any, player), updates, tell=print, is_final=is_final)
    return player.taken


def order(folder: Path, **changes: object) -> MatchOrder:
    save_keeper(folder)
    save_random(folder / "start")
    settings = {"opponent": "start", "policy": "argmax", "num_hanchans": 8, "num_deals": 0, "seed": 1, "workers": 1}
    return MatchOrder(folder=folder, game="riichi", **{**settings, **changes})  # type: ignore[arg-type]


def test_all_checkpoints_of_a_run_play_on_the_same_walls() -> None:
    early, late, last = (orders(updates=10, is_final=False), orders(updates=20, is_final=False), orders(is_final=True))
    assert {each.seed for each in (*early, *late, *last)} == {3}
    assert [(each.opponent, each.num_hanchans, each.num_deals) for each in early] == [
        ("start", 40, 100),
        ("weak", 40, 0),
    ]


def test_the_last_match_is_played_with_the_most_probable_and_with_sampled_answers() -> None:
    played = [(each.opponent, each.policy, each.num_hanchans) for each in orders(is_final=True)]
    assert played == [("start", "argmax", 400), ("weak", "argmax", 40), ("start", "sampled", 400)]
    assert [each.policy for each in orders(is_final=True, has_weak=False)] == ["argmax", "sampled"]


def test_what_is_told_counts_hanchans_and_deals_apart_and_their_sum_is_known_before() -> None:
    class Player(Orders):
        def play_match(  # type: ignore[override]
            self, order: MatchOrder, progress: Callable[[float], None]
        ) -> Future[MatchOutcome]:
            progress(30)
            progress(10)
            if order.num_deals:
                progress(2.5)
            return super().play_match(order, progress)

    told: list[tuple[str, float]] = []
    matches = SelfPlayMatches(CONFIG, Path("run"), has_weak=True, seed=3)
    matches.begin(cast(Any, Player()), 10, tell=lambda *each: told.append(each))
    assert told == [
        ("match after 10 updates (start): 30 of 40 hanchans", 30),
        ("match after 10 updates (start): 40 of 40 hanchans", 10),
        ("paired deals after 10 updates (start): 25 of about 100 deals", 2.5),
        ("match after 10 updates (weak): 30 of 40 hanchans", 30),
        ("match after 10 updates (weak): 40 of 40 hanchans", 10),
    ]
    assert matches.num_hanchans(is_final=False) == 40 + 10 + 40
    assert matches.num_hanchans(is_final=True) == 400 + 10 + 40 + 400


def test_a_scripted_agent_is_an_opponent_at_the_end_only_and_the_weak_nets_can_be_left_out() -> None:
    config = replace(CONFIG, final_opponent="ukeire", evaluation_weak=False)
    assert [each.opponent for each in orders(is_final=False, config=config)] == ["start"]
    last = orders(is_final=True, config=config)
    assert [(each.opponent, each.num_hanchans, each.num_deals) for each in last] == [
        ("start", 400, 100), ("start", 400, 0), ("ukeire", 400, 0)
    ]  # fmt: skip


def test_a_match_has_hanchans_and_deals_of_the_same_agents(tmp_path: Path) -> None:
    outcome = order(tmp_path, num_deals=20, num_hanchans=48).play()
    assert outcome.match.difference.mean < 0
    assert outcome.deals is not None
    assert outcome.deals.difference.mean > 0
    assert (outcome.deals.candidate, outcome.deals.opponent) == (outcome.match.candidate, outcome.match.opponent)
    assert order(tmp_path).play().deals is None


def test_sampled_answers_of_both_sides_give_other_games(tmp_path: Path) -> None:
    match = order(tmp_path, policy="sampled").play().match
    assert (match.candidate, match.opponent) == (f"{tmp_path}:sampled", f"{tmp_path / 'start'}:sampled")
    assert match.placements != order(tmp_path).play().match.placements


def test_a_match_that_was_killed_continues_unless_the_nets_are_others(tmp_path: Path) -> None:
    outcome = order(tmp_path, keeps_games=True).play()
    whole = outcome.match
    assert outcome.records is not None
    assert sum(table["games"] for table in read_json(tmp_path / outcome.records / "index.json")["tables"]) == 8
    assert list((tmp_path / GAMES_FOLDER).glob("*/walls-1-2.json"))
    counts: list[float] = []
    assert order(tmp_path, keeps_games=True).play(counts.append).match.placements == whole.placements
    assert counts == [8], "all at once: nothing was played again"
    counts.clear()
    save_random(tmp_path, seed=9)
    other = MatchOrder(
        folder=tmp_path, opponent="start", policy="argmax", num_hanchans=8, num_deals=0, seed=1, workers=1,
        keeps_games=True,
        game="riichi",
    )  # fmt: skip
    other.play(counts.append)
    assert len(counts) > 1
    assert len(list((tmp_path / GAMES_FOLDER).iterdir())) == 2


def test_a_match_that_is_lost_during_a_run_is_left_out_and_one_at_its_end_is_an_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Lost(Orders):
        def play_match(self, order: MatchOrder, progress: object) -> Future[MatchOutcome]:
            future: Future[MatchOutcome] = Future()
            future.set_exception(ChildProcessError("4 workers were lost while they played a and b on wall 7"))
            return future

    matches = SelfPlayMatches(CONFIG, Path("run"), has_weak=False, seed=3)
    matches.begin(cast(Any, Lost()), 10, tell=print)
    assert matches.ended([], waits=True) == []
    assert "the match after 10 updates was lost, self-play continues: 4 workers were lost" in caplog.text
    matches.begin(cast(Any, Lost()), 20, tell=print, is_final=True)
    with pytest.raises(ChildProcessError, match="4 workers were lost"):
        matches.ended([], waits=True)
