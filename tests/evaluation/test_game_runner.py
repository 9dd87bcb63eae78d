from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from multiprocessing import parent_process
from pathlib import Path

import numpy as np
import pytest

from suphx.evaluation.game_runner import ONE_PROCESS, GamePlan, GameRunner, GameTask, Summary
from suphx.evaluation.kept_results import KeptResults
from suphx.games.game import Agent, Game, PlayedGame
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.rules import Rules, tonpuu
from suphx.games.scoring import Forfeited, deal_seeds
from suphx.models.net_config import NetConfig
from suphx.selfplay.agents.agent import load_agent
from suphx.selfplay.agents.net_agent import NetAgent
from suphx.selfplay.agents.policy_set import random_policy_set
from suphx.selfplay.rollouts.rollout import SeatedGame


def test_seeds_of_different_matches_share_no_wall() -> None:
    first, second = deal_seeds(1, 1000), deal_seeds(2, 1000)
    assert not set(first) & set(second)
    with pytest.raises(ValueError, match="seed is 1048576"):
        deal_seeds(1 << 20, 4)


TASKS = [GameTask(np.zeros((1, 4), np.int64), (seed,), f"wall-{seed}", f"x on wall {seed}") for seed in (1, 2, 3)]


def load_here(address: str) -> Agent:
    """Load an agent in the first process only, as if its files went away."""
    if parent_process() is not None:
        raise ValueError(f"{address} is gone")
    return load_agent(address)


def scores(plan: GamePlan, games: Sequence[PlayedGame], forfeited: Forfeited) -> Summary:
    return {"scores": [list(game.points) for game in games]}


PLAN = GamePlan(addresses=("random",), names=("0",), summarise=scores, rules=tonpuu())


def play(tasks: Sequence[GameTask] = TASKS, runner: GameRunner = ONE_PROCESS) -> dict[int, Summary]:
    return {played.index: played.summary for played in runner.play(PLAN, tasks)}


def test_an_agent_that_a_process_cannot_load_is_told_as_such() -> None:
    with pytest.raises(ValueError, match="random is gone"):
        play(runner=GameRunner(workers=2, load=load_here))


def test_what_is_kept_is_not_played_again(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path / "games")
    first = play(TASKS[1:2], GameRunner(kept=kept))
    assert len(kept) == 1
    marked = {"scores": "as they were"}
    kept.write("wall-2", marked)
    whole = play(runner=GameRunner(kept=kept))
    assert whole[1] == marked
    assert {**whole, 1: first[0]} == play(runner=GameRunner(workers=2))
    assert len(kept) == 3
    KeptResults(kept.folder / "fresh").write("wall-1", marked)
    assert len(kept) == 4, "what is stored while it is played"


@pytest.mark.parametrize(("channels", "most"), [(8, 512), (640, 64)])
def test_few_games_of_large_nets_are_in_progress_as_a_kill_loses_them(channels: int, most: int) -> None:
    encoder = find_encoder("mini")
    nets = random_policy_set(encoder.name, NetConfig(channels=channels, num_blocks=1), seed=1, game="riichi").nets
    seen = []

    def play_none(
        game: Game, agents: Sequence[Agent], games: Iterator[SeatedGame], rules: Rules, *, num_tables: int, **_: object
    ) -> Iterator[SeatedGame]:
        seen.append(num_tables)
        return games

    many = GameTask(np.zeros((600, 4), np.int64), tuple(range(600)), "all", "all")
    plan = replace(PLAN, summarise=lambda plan, games, forfeited: {"games": len(games)}, play=play_none)
    (played,) = GameRunner(load=lambda address: NetAgent(address, nets, encoder.name)).play(plan, [many])
    assert (played.index, played.summary, played.forfeits) == (0, {"games": 600}, ())
    assert seen == [most]


@pytest.mark.parametrize("content", ["{", "[]", "", "[" * 200_000])
def test_a_damaged_result_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "wall-1.json").write_text(content)
    with pytest.raises(ValueError, match=r"wall-1\.json is damaged .*: remove it, its games are played again"):
        play(runner=GameRunner(kept=KeptResults(tmp_path)))
