"""Bidding and play of DouDizhu, and many games side by side."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from suphx.games.doudizhu.cards import (
    ACE,
    BLACK_JOKER,
    NUM_CARDS,
    NUM_RANKS,
    RED_JOKER,
    TWO,
    count_rank,
    pack_ids,
)
from suphx.games.doudizhu.moves import BOMB, ROCKET, Moves, list_legal, move_text
from suphx.games.doudizhu.table import (
    F32,
    GAME_END,
    LANDLORD,
    NO_BID,
    NO_MOVE,
    NO_SEAT,
    NUM_SEATS,
    PASS_BID,
    PLAYING,
    SEAT_NAMES,
    TABLE,
    Rules,
    Table,
    scores_of,
)
from suphx.kernel.jit import jit
from suphx.kernel.random_number import seed_counter, shuffle
from suphx.kernel.record import I32, I64, Records, as_integers, check_in_range, index_fault

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
    _give_out(ids, t.hands)
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


MAX_BID = 3
_LEAST_STRENGTHS = (6, 8, 10)
"""Of a hand that bids 1, 2 and 3: from 8 on the landlord ``rule`` wins more often than not (docs/doudizhu.md)."""


@jit
def scripted_bid(cards: int, highest: int) -> int:
    """Return the bid of a hand of 17 packed ``cards``: as much as it is worth, a pass if that is not above ``highest``.

    The strength is 4 for the red joker, 3 for the black one, 2 for each two, 1 for each ace, and 3 for each bomb.
    """
    strength = 4 * count_rank(cards, RED_JOKER) + 3 * count_rank(cards, BLACK_JOKER)
    strength += 2 * count_rank(cards, TWO) + count_rank(cards, ACE)
    for rank in range(NUM_RANKS):
        strength += 3 * (count_rank(cards, rank) == 4)
    bid = PASS_BID
    for least in _LEAST_STRENGTHS:
        bid += strength >= least
    return bid if bid > highest else PASS_BID


@jit
def deal_game(t: Table, m: Moves, seed: int, has_bidding: bool) -> None:
    """Start the game ``seed`` (0 <= seed < 2**62), with the landlord that scripted bids make if ``has_bidding``."""
    if not has_bidding:
        deal(t, m, seed)
        return
    counter = np.zeros(1, np.int64)
    seed_counter(counter, seed)
    ids = np.arange(NUM_CARDS)
    hands = np.zeros(NUM_SEATS, np.int64)
    bids = np.zeros(NUM_SEATS, np.int64)
    landlord = -1
    while landlord < 0:
        shuffle(ids, counter)
        _give_out(ids, hands)
        highest = PASS_BID
        bids[:] = NO_BID
        for place in range(NUM_SEATS):
            if highest < MAX_BID:
                bids[place] = scripted_bid(hands[place], highest)
                if bids[place] > highest:
                    highest, landlord = bids[place], place
    seat_places(t, m, seed, hands, pack_ids(ids, 0, BOTTOM_CARDS), bids, landlord)


@jit
def seat_places(t: Table, m: Moves, seed: int, hands: I64, bottom: int, bids: I64, landlord: int) -> None:
    """Start a game in which the place ``landlord`` has won the auction; ``hands`` and ``bids`` [3] are by place."""
    t.seed = seed
    t.bottom = bottom
    for place in range(NUM_SEATS):
        t.hands[(place - landlord) % NUM_SEATS] = hands[place]
    t.hands[0] += bottom
    start(t, m)
    for place in range(NUM_SEATS):
        t.bids[(place - landlord) % NUM_SEATS] = bids[place]
    t.first_bidder = -landlord % NUM_SEATS
    t.stake = bids[landlord]


@jit
def _give_out(ids: I64, hands: I64) -> None:
    for place in range(NUM_SEATS):
        hands[place] = pack_ids(ids, BOTTOM_CARDS + place * HAND_CARDS, HAND_CARDS)


class Auction:
    """One auction, bid by bid, such as with a person at one place."""

    def __init__(self, seed: int) -> None:
        """Deal the cards of ``seed``, 0 to 2**62 - 1 (ValueError for another one).

        With scripted bids only, the game is that of ``Simulator.reset``.
        """
        if not 0 <= seed < MAX_SEED:
            raise ValueError(f"seed is {seed}: use 0 to 2**62 - 1")
        self.seed = seed
        self.hands: I64 = np.zeros(NUM_SEATS, np.int64)
        """Packed cards by place, without the bottom cards."""
        self.bids: list[int] = []
        """By place, as far as they are made; 0 is a pass."""
        self.num_deals = 0
        """How often cards were dealt: once more each time that all passed."""
        self._counter = np.zeros(1, np.int64)
        seed_counter(self._counter, seed)
        self._ids = np.arange(NUM_CARDS)
        self._deal()

    @property
    def highest(self) -> int:
        """The highest bid so far, 0 if there is none."""
        return max(self.bids, default=PASS_BID)

    @property
    def place(self) -> int | None:
        """Whose turn it is to bid; None if the auction is over."""
        return None if self.highest == MAX_BID or len(self.bids) == NUM_SEATS else len(self.bids)

    @property
    def landlord(self) -> int | None:
        """The place that has won the auction; None while it goes on."""
        return self.bids.index(self.highest) if self.place is None else None

    def seat_of(self, place: int) -> int:
        """Return the seat that a place has after the auction; ValueError while it goes on."""
        if self.landlord is None:
            raise ValueError(f"place {self.place} has not bid yet")
        return (place - self.landlord) % NUM_SEATS

    def scripted_bid(self) -> int:
        """Return what a scripted agent bids at the place whose turn it is; ValueError if the auction is over."""
        return int(scripted_bid(self.hands[self._turn()], self.highest))

    def check(self, bid: int) -> None:
        """Raise ValueError for a bid that is neither 0 nor above the highest, up to 3, or after the auction."""
        self._turn()
        if bid != PASS_BID and not self.highest < bid <= MAX_BID:
            more = [str(each) for each in range(self.highest + 1, MAX_BID + 1)]
            raise ValueError(f"the bid is {bid}: pass, or bid {' or '.join(more)}")

    def bid(self, bid: int) -> None:
        """Bid for the place whose turn it is; ValueError as ``check``."""
        self.check(bid)
        self.bids.append(bid)
        if self.place is None and not self.highest:
            self._deal()

    def start(self, table: Table, moves: Moves) -> None:
        """Start the game on a table; ValueError if the auction is not over."""
        landlord = -self.seat_of(0) % NUM_SEATS
        bids = np.array(self.bids + [NO_BID] * (NUM_SEATS - len(self.bids)), np.int64)
        seat_places(table, moves, self.seed, self.hands, int(pack_ids(self._ids, 0, BOTTOM_CARDS)), bids, landlord)

    def _turn(self) -> int:
        if self.place is None:
            raise ValueError("the auction is over")
        return self.place

    def _deal(self) -> None:
        shuffle(self._ids, self._counter)
        _give_out(self._ids, self.hands)
        self.bids = []
        self.num_deals += 1


_MOVES_A_TABLE = 64  # for a start; the list grows when tables have more


class Simulator:
    """A batch of games; ``tables`` is the whole state, a TABLE record array (n,)."""

    def __init__(self, num_tables: int, rules: Rules) -> None:
        if num_tables < 1:
            raise ValueError(f"num_tables is {num_tables}: a simulator needs at least one table")
        self.rules = rules
        self.moves = rules.load_moves()
        self.tables: Records = np.zeros(num_tables, TABLE)
        self._legal = np.zeros(self.moves.num_moves + _MOVES_A_TABLE * num_tables, np.int32)

    def reset(self, seeds: Iterable[int], indices: ArrayLike | None = None) -> None:
        """Start a new game on the tables ``indices`` (None: all); cards come from ``seeds``, one for each table.

        ``indices``: integers (n,). With ``rules.bidding`` the seats bid as scripted agents do.
        ValueError for another number of seeds, one that is not in 0 … 2**62 - 1, or a table that is not there.
        """
        chosen = np.arange(len(self.tables)) if indices is None else as_integers(indices, "indices")
        all_seeds = as_integers(list(seeds), "seeds", chosen.size)
        if np.any(all_seeds < 0) or np.any(all_seeds >= MAX_SEED):
            raise ValueError(f"seeds must lie in 0 … 2**62 - 1, not {all_seeds.min()} … {all_seeds.max()}")
        check_in_range(chosen, len(self.tables))
        _deal(self.tables, self.moves, chosen, all_seeds, self.rules.bidding)

    def start(self, index: int, auction: Auction) -> None:
        """Start a game on the table ``index`` as ``auction`` ended; ValueError if it is not over."""
        auction.start(self.tables[index], self.moves)

    def waiting(self) -> I64:
        """Return the indices of the tables that wait for a move of their ``actor``."""
        return np.flatnonzero(self.tables["phase"] == PLAYING)

    def legal(self, indices: ArrayLike) -> tuple[I64, I32]:
        """Return the legal moves of the tables ``indices``, integers (n,), one after another.

        int64 (n + 1,): where the moves of each table begin, and the end of the last; int32 (m,): the moves. A table
        that does not wait has none. ValueError for a table that is not there.
        """
        places = as_integers(indices, "indices")
        offsets = np.zeros(len(places) + 1, np.int64)
        done = _list_moves(self.tables, self.moves, places, 0, self._legal, offsets)
        while 0 <= done < len(places):
            self._legal = np.concatenate([self._legal, np.zeros_like(self._legal)])
            done = _list_moves(self.tables, self.moves, places, done, self._legal, offsets)
        if done < 0:
            raise ValueError(index_fault(places, -1 - done, len(self.tables)))
        return offsets, self._legal[: offsets[-1]].copy()

    def advance(self, indices: ArrayLike, moves: ArrayLike) -> None:
        """Apply one move for each of the tables ``indices``; both are integers (n,).

        ValueError for a move that is not legal, a table that is not there, or one that is named twice.
        """
        places = as_integers(indices, "indices")
        numbers = as_integers(moves, "moves", places.size)
        chosen = np.clip(numbers, -1, self.moves.num_moves).astype(np.int32)
        bad = _first_illegal(self.tables, self.moves, places, chosen, self._legal)
        if bad >= 0:
            if fault := index_fault(places, bad, len(self.tables)):
                raise ValueError(fault)
            index, move = int(places[bad]), int(numbers[bad])
            name = move_text(self.moves, move) if 0 <= move < self.moves.num_moves else f"move {move}"
            legal = [move_text(self.moves, int(other)) for other in self.legal(np.array([index]))[1]]
            more = ", …" if len(legal) > 20 else ""
            allowed = ", ".join(legal[:20]) + more if legal else "nothing, the table does not wait"
            seat = SEAT_NAMES[self.tables[index]["actor"]]
            raise ValueError(f"table {index}, {seat}: {name} is not legal; legal: {allowed}")
        _advance(self.tables, self.moves, places, chosen)

    def scores(self) -> F32:
        """Return float32 (n, 3): what each seat won or lost by ``rules.scoring``; 0 while a game goes on."""
        return scores_of(self.tables, self.rules.scoring)


@jit
def _deal(tables: Records, m: Moves, indices: I64, seeds: I64, has_bidding: bool) -> None:
    for i in range(len(indices)):
        deal_game(tables[indices[i]], m, seeds[i], has_bidding)


@jit
def _list_moves(tables: Records, m: Moves, indices: I64, first: int, out: I32, offsets: I64) -> int:
    """List the moves of the tables from ``indices[first]`` on while ``out`` has room; return how many are done.

    -1 - i: ``indices[i]`` is not a table.
    """
    for i in range(first, len(indices)):
        at = offsets[i]
        if len(out) - at < len(m.cards):
            return i
        if not 0 <= indices[i] < len(tables):
            return -1 - i
        t = tables[indices[i]]
        offsets[i + 1] = list_legal(m, t.hands[t.actor], t.to_beat, out, at) if t.phase == PLAYING else at
    return len(indices)


@jit
def _first_illegal(tables: Records, m: Moves, indices: I64, moves: I32, scratch: I32) -> int:
    """Return the position of the first move that is not legal, table that is not there or named before; -1: none."""
    is_named = np.zeros(len(tables), np.bool_)
    for i in range(len(indices)):
        if not 0 <= indices[i] < len(tables) or is_named[indices[i]]:
            return i
        is_named[indices[i]] = True
        t = tables[indices[i]]
        end = list_legal(m, t.hands[t.actor], t.to_beat, scratch, 0) if t.phase == PLAYING else 0
        is_legal = False
        for index in range(end):
            is_legal |= scratch[index] == moves[i]
        if not is_legal:
            return i
    return -1


@jit
def _advance(tables: Records, m: Moves, indices: I64, moves: I32) -> None:
    for i in range(len(indices)):
        step(tables[indices[i]], m, moves[i])
