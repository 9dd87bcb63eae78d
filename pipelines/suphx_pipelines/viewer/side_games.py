"""The page of a deck that two agents play, once on each side, with what the first one thinks of each move."""

from __future__ import annotations

from typing import Any

from suphx.games.candidate_game import CandidateGame, KeptGames, Player
from suphx.selfplay.agents.side_opinion import player_opinions
from suphx_pipelines.viewer.viewer_page import viewer_page


def deck_page(
    game: CandidateGame, rules: Any, agents: tuple[tuple[str, Player], tuple[str, Player]], *, seed: int, title: str
) -> str:
    """Return the viewer's page of both games on the deck ``seed``; ``agents``: name and player of each."""
    (name, first), (other, second) = agents
    lines: list[str] = []
    game.play_match(1, rules, first, second, first_seed=seed, kept=KeptGames((name, other), lines.append))
    records = [game.read_record(line) for line in lines]
    opinions = [player_opinions(game.recorded_decisions(record), first) for record in records]
    return viewer_page({**game.viewer_game(records, opinions), "agent": name}, title=title)
