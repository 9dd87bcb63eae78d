"""Plays a session without a page: random moves of those that are offered."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suphx.games.riichi.play import GameSession


def to_the_person(session: GameSession) -> None:
    """Let the agents play until the person has to decide, or a deal or the game has ended."""
    while session.is_agents_turn:
        session.play_agent()


def play_to_the_end(
    session: GameSession, rng: np.random.Generator, before: Callable[[GameSession], None] | None = None
) -> None:
    """Play until the game is over; ``before`` is called at each decision of the person."""
    to_the_person(session)
    while not session.is_over:
        if session.is_between_deals:
            session.next_deal(session.number)
        else:
            if before is not None:
                before(session)
            moves = session.view()["moves"]
            move = moves[int(rng.integers(len(moves)))]
            session.move(session.number, move["action"], move["discards"][0] if move["discards"] else None)
        to_the_person(session)
