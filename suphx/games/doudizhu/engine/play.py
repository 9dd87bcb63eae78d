"""One game: ``deal`` gives out the cards of a seed, ``step`` applies a move of the actor."""

from __future__ import annotations

import numpy as np

from suphx.games.doudizhu.cards.card import NUM_CARDS, pack_ids
from suphx.games.doudizhu.engine.table import GAME_END, LANDLORD, NO_BID, NO_MOVE, NO_SEAT, NUM_SEATS, PLAYING, Table
from suphx.games.doudizhu.moves.move_kind import BOMB, ROCKET
from suphx.games.doudizhu.moves.move_table import Moves
from suphx.kernel.jit import jit
from suphx.kernel.random_number import seed_counter, shuffle

MAX_SEED = 2**62
HAND_CARDS = 17
BOTTOM_CARDS = 3


@jit
def deal(t: Table, m: Moves, seed: int) -> None:
    """Start the game ``seed`` (0 <= seed < 2**62): 17 cards for each seat, three more for the landlord."""
    counter = np.zeros(1, np.int64)
    seed_counter(counter, seed)
    ids = np.arange(NUM_CARDS)
    shuffle(ids, counter)
    t.seed = seed
    t.bottom = pack_ids(ids, 0, BOTTOM_CARDS)
    for seat in range(NUM_SEATS):
        t.hands[seat] = pack_ids(ids, BOTTOM_CARDS + seat * HAND_CARDS, HAND_CARDS)
    t.hands[LANDLORD] += t.bottom
    start(t, m)


@jit
def start(t: Table, m: Moves) -> None:
    """Let the landlord lead with the hands that the seats have; nothing is played yet, and there were no bids."""
    t.phase = PLAYING
    t.actor = LANDLORD
    t.played[:] = 0
    t.to_beat = len(m.cards) - 1
    t.num_passes = t.num_bombs = t.num_moves = 0
    t.winner = t.first_bidder = NO_SEAT
    t.stake = 1
    t.bids[:] = NO_BID
    t.last_moves[:] = NO_MOVE
    t.moves[:] = NO_MOVE


@jit
def step(t: Table, m: Moves, move: int) -> None:
    """Apply a legal ``move`` of ``t.actor``; then the next seat's turn begins, or the game is over."""
    seat = t.actor
    pass_move = len(m.cards) - 1
    t.moves[t.num_moves] = move
    t.num_moves += 1
    t.last_moves[seat] = move
    t.actor = (seat + 1) % NUM_SEATS
    if move == pass_move:
        t.num_passes += 1
        if t.num_passes == NUM_SEATS - 1:
            t.to_beat = pass_move
        return
    cards = m.cards[move]
    t.hands[seat] -= cards
    t.played[seat] += cards
    t.to_beat = move
    t.num_passes = 0
    t.num_bombs += m.kinds[move] == BOMB or m.kinds[move] == ROCKET
    if t.hands[seat] == 0:
        t.winner = seat
        t.phase = GAME_END
