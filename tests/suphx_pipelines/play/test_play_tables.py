"""The settings of a game: names of the seats, walls, length."""

from __future__ import annotations

from datetime import datetime

import pytest

from suphx.selfplay.agents.agent import load_agent
from suphx_pipelines.play.play_tables import PlayConfig, new_game, seat_names
from suphx_pipelines.play.seated_agents import AgentLoader


@pytest.mark.parametrize(
    ("agent", "short"),
    [
        ("ukeire", "ukeire"),
        ("runs/laptop-1/supervised/", "supervised"),
        ("s3://bucket/runs/a/supervised:weak", "supervised:weak"),
        ("models:/suphx@champion", "suphx@champion"),
        ("mjai:python a-program-with-a-very-long-name", "mjai:python a-progra"),
    ],
)
def test_the_agents_have_short_names_with_numbers(agent: str, short: str) -> None:
    names = seat_names(PlayConfig(agent=agent, name="Anna", seat=1))
    assert names == (f"{short} 1", "Anna", f"{short} 2", f"{short} 3")


def test_the_same_seed_gives_the_same_walls_and_the_next_game_others() -> None:
    loader = AgentLoader("ukeire", load_agent)

    def first_hand(seed: int | None, game: int) -> list[int]:
        session, _ = new_game(PlayConfig(agent="ukeire", seed=seed), loader, game)
        hand: list[int] = session.view()["state"]["hand0"]
        return hand

    assert first_hand(3, 0) == first_hand(3, 0) == first_hand(2, 1)
    assert first_hand(3, 0) != first_hand(3, 1)
    assert first_hand(None, 0) != first_hand(None, 0)


def test_a_game_is_named_after_its_time_and_number() -> None:
    config = PlayConfig(agent="ukeire", length="tonpuu")
    loader = AgentLoader("ukeire", load_agent)
    session, _ = new_game(config, loader, 4, now=lambda: datetime(2026, 11, 23, 10, 15))
    assert session.id == "play-20261123-101500-5"
    assert (config.rules().num_winds, PlayConfig(agent="ukeire").rules().num_winds) == (1, 2)
