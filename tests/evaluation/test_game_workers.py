from __future__ import annotations

import os
from multiprocessing import parent_process

import numpy as np
import pytest

from suphx.evaluation.game_workers import GameTask, play_tasks, wall_seeds
from suphx.riichi.rules import tonpuu
from suphx.selfplay.agent import Agent, load_agent

TASKS = [GameTask(np.zeros((1, 4), np.int64), (seed,)) for seed in (1, 2)]


def load_once(address: str) -> Agent:
    """Load an agent in the first process, and die in all others."""
    if parent_process() is not None:
        os._exit(9)
    return load_agent(address)


def test_a_process_that_dies_is_told_with_what_to_do() -> None:
    with pytest.raises(ChildProcessError, match="one of 2 processes that play games died"):
        list(play_tasks(["tsumogiri"], ["0"], TASKS, rules=tonpuu(), workers=2, load=load_once))


def test_seeds_of_different_matches_share_no_wall() -> None:
    first, second = wall_seeds(1, 1000), wall_seeds(2, 1000)
    assert not set(first) & set(second)
    with pytest.raises(ValueError, match="seed is 1048576"):
        wall_seeds(1 << 20, 4)
