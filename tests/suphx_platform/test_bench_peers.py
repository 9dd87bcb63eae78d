"""What the other implementations of DouDizhu do while they are measured."""

from __future__ import annotations

from typing import Any

import pytest
from rlcard.agents.random_agent import RandomAgent
from rlcard.envs.doudizhu import DoudizhuEnv
from rlcard.games.doudizhu import Game

from suphx_platform.bench.doudizhu import PEERS


def test_rlcard_deals_lists_and_plays_and_does_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any) -> None:
        raise AssertionError("no other implementation encodes or lists probabilities")

    for owner, name in ((DoudizhuEnv, "_extract_state"), (RandomAgent, "eval_step"), (RandomAgent, "step")):
        monkeypatch.setattr(owner, name, refuse)
    games: list[Game] = []
    played: list[str] = []
    step = Game.step

    def noted_step(game: Game, action: str) -> Any:
        games.append(game)
        played.append(action)
        assert action in game.state["actions"]
        return step(game, action)

    monkeypatch.setattr(Game, "step", noted_step)
    play = PEERS["rlcard"]().random_games(3)
    assert [play(), play()] == [1, 1]
    assert games[-1].is_over()
    assert games[-1].winner_id in (0, 1, 2)
    assert 20 < len(played) < 500
    assert len(set(played)) > 10
