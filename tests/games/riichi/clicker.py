"""A person who chooses at random among the moves that are offered, and notes everything that the session returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suphx.games.mahjong.shanten import load_suits
from suphx.games.riichi.bots import choose_ukeire
from suphx.games.riichi.play import GameSession
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.simulator import Simulator
from suphx.kernel.record import I16, I64, Records
from tests.games.riichi.builders.games import choose_hastily

NAMES = ("Anna", "ⓝBen", "クレオ", "D & <D>")


def ukeire(tables: Records, indices: I64) -> I16:
    """Decide as ukeire does."""
    return np.array([choose_ukeire(tables[i], load_suits()) for i in indices], np.int16)


@dataclass
class Hasty:
    """Decides as the agents of random_game do: it wins, calls and declares riichi whenever it can."""

    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    def __call__(self, tables: Records, indices: I64) -> I16:
        return np.array([choose_hastily(tables[i], self.rng) for i in indices], np.int16)


def new_session(seed: int = 0, *, seat: int = 0, rules: Rules | None = None, act: Any = None) -> GameSession:
    """Return a new game of a person with three agents."""
    return GameSession(
        act or Hasty(), seat=seat, seed=seed, rules=rules or Rules(num_winds=1), names=NAMES, game_id=f"play-{seed}"
    )


def choose(moves: list[dict[str, Any]], rng: np.random.Generator) -> tuple[int, int | None]:
    """Return one of the offered moves, with its discard if it is a riichi; wins and riichi are likely."""
    eager = [move for move in moves if move["move"] in ("tsumo", "ron", "riichi")]
    move = eager[0] if eager and rng.random() < 0.8 else moves[int(rng.integers(len(moves)))]
    return move["action"], int(rng.choice(move["discards"])) if move["discards"] else None


def play(session: GameSession, seed: int = 0) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Play to the end; yield the view and the steps after each thing that happens."""
    rng = np.random.default_rng(seed)
    while not session.is_over:
        if session.is_between_deals:
            session.next_deal(session.number)
            yield session.view(), []
        elif session.is_agents_turn:
            steps = session.play_agent()
            yield session.view(), steps
        else:
            action, discard = choose(session.view()["moves"], rng)
            steps = session.move(session.number, action, discard)
            yield session.view(), steps


def at_persons_turn(session: GameSession) -> GameSession:
    """Play on until the person has to choose; the first deal must not end before."""
    while session.is_agents_turn:
        session.play_agent()
    assert session.is_persons_turn
    return session


def simulator_of(session: GameSession) -> Simulator:
    """Return the table behind a session, to set up positions."""
    return session._simulator
