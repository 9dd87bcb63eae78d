"""The rule agent against RLCard's, which PyPI ``douzero`` has for its evaluation."""

from __future__ import annotations

import importlib
import random
from copy import deepcopy

import numpy as np
import pytest

from suphx.games.doudizhu.bots import choose_scripted
from suphx.games.doudizhu.cards import cards_text, parse_cards
from suphx.games.doudizhu.engine import Simulator
from suphx.games.doudizhu.moves import KIND_NAMES, find_move, load_moves
from suphx.games.doudizhu.table import LANDLORD, LANDLORD_DOWN, LANDLORD_UP, SEAT_NAMES, Rules
from tests.games.doudizhu.peers.douzero import DouZeroGame, pack_list

MOVES = load_moves()


@pytest.mark.slow  # rlcard unpacks its list into its own folder when it is imported
def test_the_moves_are_those_of_the_published_list() -> None:
    published = importlib.import_module("rlcard.games.doudizhu.utils").ID_2_ACTION
    assert len(published) == len(set(published)) == MOVES.num_moves
    assert {cards_text(int(cards)) for cards in MOVES.cards} == {cards_text(parse_cards(text)) for text in published}


@pytest.mark.slow
def test_types_are_those_of_the_published_types() -> None:
    types = importlib.import_module("rlcard.games.doudizhu.utils").CARD_TYPE[0]
    ours_by_theirs: dict[str, set[str]] = {}
    for text, named in types.items():
        if text != "pass":
            move = find_move(MOVES, text)
            name = f"{KIND_NAMES[MOVES.kinds[move]]} {MOVES.lengths[move]}"
            ours_by_theirs.setdefault(named[0][0], set()).add(name)
    assert all(len(ours) == 1 for ours in ours_by_theirs.values()), ours_by_theirs


NUM_DECKS = 200
ONLY = np.zeros(1, np.int64)


def landlord_wins(simulator: Simulator, seed: int, theirs: tuple[int, ...]) -> bool:
    """Play the deck ``seed`` with RLCard's agents in the seats ``theirs``."""
    simulator.reset([seed])
    game = DouZeroGame(simulator.tables[0])
    rlcard_agent = importlib.import_module("douzero.evaluation.rlcard_agent")  # it unpacks files when it is imported
    agents = {seat: rlcard_agent.RLCardAgent(SEAT_NAMES[seat]) for seat in theirs}
    while simulator.waiting().size:
        offsets, legal = simulator.legal(ONLY)
        agent = agents.get(int(simulator.tables["actor"][0]))
        if agent is None:
            place = choose_scripted(simulator.tables, simulator.moves, ONLY, offsets, legal, "rule")
        else:
            cards = pack_list(agent.act(deepcopy(game.infoset)))
            place = np.flatnonzero(simulator.moves.cards[legal] == cards)[:1]
        game.play(int(simulator.moves.cards[legal[place[0]]]))
        simulator.advance(ONLY, legal[place])
    return bool(simulator.tables["winner"][0] == LANDLORD)


@pytest.mark.slow
def test_the_rule_agent_wins_more_than_that_of_rlcard() -> None:
    random.seed(1)  # RLCard's agent plays at random where it has no rule
    simulator = Simulator(1, Rules(douzero_kickers=True))
    peasants = (LANDLORD_DOWN, LANDLORD_UP)
    won = [landlord_wins(simulator, seed, peasants) for seed in range(NUM_DECKS)]
    won += [not landlord_wins(simulator, seed, (LANDLORD,)) for seed in range(NUM_DECKS)]
    assert np.mean(won) > 0.6  # 0.715 over 100 decks
