"""Tables with hands that a test names, games with moves that a test names, and nets that have not learned."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from suphx.games.doudizhu.cards import DECK, counts_of, parse_cards
from suphx.games.doudizhu.engine import Simulator, start, step
from suphx.games.doudizhu.learning import ENCODER
from suphx.games.doudizhu.moves import Moves, find_move
from suphx.games.doudizhu.table import TABLE, Rules
from suphx.games.registry import candidate_game
from suphx.kernel.record import I32, Records
from suphx.selfplay.agents.net_agent import NetAgent
from suphx.selfplay.agents.policy_set import PolicySet, save_policy_set
from suphx.training.monte_carlo import new_nets

GAME = candidate_game("doudizhu")


def pack_counts(counts: NDArray[np.integer]) -> int:
    """Return packed cards for their ``counts`` (15,)."""
    return sum(int(count) << 4 * rank for rank, count in enumerate(counts))


def save_nets(folder: Path, rules: Rules | None = None, *, seed: int = 1, nets: PolicySet | None = None) -> Path:
    """Leave nets that learned ``rules``, by default of random weights; return their folder."""
    nets = nets or new_nets(GAME, seed)
    save_policy_set(folder, nets, ENCODER, rules=GAME.rules_values(rules or Rules()))
    return folder


def new_agent(nets: PolicySet | None = None, rules: Rules | None = None) -> NetAgent:
    """Return what plays of nets, by default of random weights."""
    return NetAgent("nets", (nets or new_nets(GAME, 1)).nets, ENCODER, rules=rules or Rules(), precision="fp32")


def after_moves(num_moves: int, seed: int) -> Simulator:
    """Return the deal ``seed`` after random moves; all of it if ``num_moves`` is large."""
    simulator, rng = Simulator(1, Rules()), np.random.default_rng(seed)
    simulator.reset([seed])
    for _ in range(num_moves):
        waiting = simulator.waiting()
        if waiting.size:
            offsets, legal = simulator.legal(waiting)
            simulator.advance(waiting, legal[rng.integers(offsets[:-1], offsets[1:])])
    return simulator


def random_positions(moves: Moves, number: int, *, seed: int, max_cards: int = 20) -> Iterator[tuple[int, int]]:
    """Yield packed hands with a move to beat, which is the pass in one of three.

    Cards are drawn from few ranks as often as from all, so that chains and planes are frequent. The move to beat is of
    every type and length equally often, and its cards are not in the hand.
    """
    rng = np.random.default_rng(seed)
    deck = counts_of(np.array(DECK))
    members = [np.flatnonzero(moves.groups == group) for group in np.unique(moves.groups)]
    for _ in range(number):
        to_beat = moves.num_moves - 1
        if rng.random() < 2 / 3:
            to_beat = int(rng.choice(members[rng.integers(len(members))]))
        left = deck - counts_of(moves.cards[to_beat])
        first = int(rng.integers(0, 11))
        window = np.arange(15) if rng.random() < 0.5 else np.arange(first, min(15, first + int(rng.integers(4, 9))))
        cards = np.repeat(window, left[window])
        size = min(int(rng.integers(1, max_cards + 1)), len(cards))
        hand = np.bincount(rng.choice(cards, size, replace=False), minlength=15)
        yield pack_counts(hand), to_beat


def scratch_for(moves: Moves) -> I32:
    """Return room for all moves of a hand."""
    return np.zeros(moves.num_moves, np.int32)


def play_text(moves: Moves, hands: tuple[str, str, str], game: str = "") -> Records:
    """Return one table, TABLE records (1,), after the moves of ``game`` (texts with spaces between, none checked)."""
    tables = np.zeros(1, TABLE)
    tables["hands"] = [parse_cards(hand) for hand in hands]
    start(tables[0], moves)
    for text in game.split():
        step(tables[0], moves, find_move(moves, text))
    return tables
