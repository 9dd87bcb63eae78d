from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from multiprocessing import parent_process
from pathlib import Path

import numpy as np
import pytest

from suphx.evaluation.workers.forfeits import ForfeitedSeats
from suphx.evaluation.workers.game_task import GameTask, Summary
from suphx.evaluation.workers.game_workers import play_tasks, wall_seeds
from suphx.evaluation.workers.kept_results import KeptResults
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.records.log.gamelog import GameLog
from suphx.games.riichi.table.rules import Rules, tonpuu
from suphx.models.nets.net_config import NetConfig
from suphx.selfplay.agents.agent import Agent, NetAgent, load_agent
from suphx.selfplay.agents.policy_set import random_policy_set
from suphx.selfplay.rollouts.rollout import Game

TASKS = [GameTask(np.zeros((1, 4), np.int64), (seed,), f"wall-{seed}", f"x on wall {seed}") for seed in (1, 2, 3)]


def load_once(address: str) -> Agent:
    """Load an agent in the first process, and die in all others."""
    if parent_process() is not None:
        os._exit(9)
    return load_agent(address)


def load_here(address: str) -> Agent:
    """Load an agent in the first process only, as if its files went away."""
    if parent_process() is not None:
        raise ValueError(f"{address} is gone")
    return load_agent(address)


def scores(logs: Sequence[GameLog], forfeited: ForfeitedSeats) -> Summary:
    return {"scores": [log.final_scores for log in logs]}


def play(tasks: Sequence[GameTask], *, workers: int = 1, kept: KeptResults | None = None) -> dict[int, Summary]:
    return dict(play_tasks(["random"], ["0"], tasks, summarise=scores, rules=tonpuu(), workers=workers, kept=kept))


def test_a_process_that_dies_is_told_with_what_it_played() -> None:
    with pytest.raises(ChildProcessError, match="ended with exit code 9 before it played anything"):
        list(play_tasks(["random"], ["0"], TASKS, summarise=scores, rules=tonpuu(), workers=2, load=load_once))


def test_an_agent_that_a_process_cannot_load_is_told_as_such() -> None:
    with pytest.raises(ValueError, match="random is gone"):
        list(play_tasks(["random"], ["0"], TASKS, summarise=scores, rules=tonpuu(), workers=2, load=load_here))


def test_what_is_kept_is_not_played_again(tmp_path: Path) -> None:
    kept = KeptResults(tmp_path / "games")
    first = play(TASKS[1:2], kept=kept)
    assert len(kept) == 1
    marked = {"scores": "as they were"}
    kept.write("wall-2", marked)
    whole = play(TASKS, kept=kept)
    assert whole[1] == marked
    assert {**whole, 1: first[0]} == play(TASKS, workers=2)
    assert len(kept) == 3


@pytest.mark.parametrize(("channels", "most"), [(8, 512), (640, 64)])
def test_few_games_of_large_nets_are_in_progress_as_a_kill_loses_them(channels: int, most: int) -> None:
    encoder = find_encoder("mini")
    nets = random_policy_set(encoder, NetConfig(channels=channels, num_blocks=1), seed=1).nets
    seen = []

    def play_none(
        agents: Sequence[Agent], games: Iterator[Game], rules: Rules, *, num_tables: int, **_: object
    ) -> Iterator[int]:
        seen.append(num_tables)
        return (0 for _ in games)

    many = GameTask(np.zeros((600, 4), np.int64), tuple(range(600)), "all", "all")
    found = play_tasks(
        *(["net"], ["0"], [many]),
        summarise=lambda games, forfeited: {"games": len(games)},
        rules=tonpuu(),
        workers=1,
        load=lambda address: NetAgent(address, nets, encoder),
        play=play_none,
    )
    assert dict(found) == {0: {"games": 600}}
    assert seen == [most]


@pytest.mark.parametrize("content", ["{", "[]", "", "[" * 200_000])
def test_a_damaged_result_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "wall-1.json").write_text(content)
    with pytest.raises(ValueError, match=r"wall-1\.json is damaged .*: remove it, its games are played again"):
        play(TASKS, kept=KeptResults(tmp_path))


def test_seeds_of_different_matches_share_no_wall() -> None:
    first, second = wall_seeds(1, 1000), wall_seeds(2, 1000)
    assert not set(first) & set(second)
    with pytest.raises(ValueError, match="seed is 1048576"):
        wall_seeds(1 << 20, 4)
