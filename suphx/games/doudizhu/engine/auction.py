"""The bids before a game (``Rules.bidding``): who becomes the landlord, and for what stake.

Each of three places has 17 cards and one turn to bid, place 0 first: a pass, or more than the highest bid so far. A bid
of 3 ends the auction. The highest bidder becomes the landlord and takes the three other cards; if all pass, the cards
are dealt again.

>>> auction = Auction(seed=7)
>>> while auction.place is not None:
...     auction.bid(auction.scripted_bid())
>>> auction.landlord, auction.bids
(1, [0, 2, 0])
"""

from __future__ import annotations

import numpy as np

from suphx.games.doudizhu.cards.card import ACE, BLACK_JOKER, NUM_CARDS, NUM_RANKS, RED_JOKER, TWO, count_rank, pack_ids
from suphx.games.doudizhu.engine.play import BOTTOM_CARDS, HAND_CARDS, MAX_SEED, deal, start
from suphx.games.doudizhu.engine.table import NO_BID, NUM_SEATS, PASS_BID, Table
from suphx.games.doudizhu.moves.move_table import Moves
from suphx.kernel.jit import jit
from suphx.kernel.random_number import seed_counter, shuffle
from suphx.kernel.record import I64

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
    if has_bidding:
        _deal_by_bids(t, m, seed)
    else:
        deal(t, m, seed)


@jit
def _deal_by_bids(t: Table, m: Moves, seed: int) -> None:
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
        landlord = self.landlord
        if landlord is None:
            raise ValueError(f"place {self.place} has not bid yet")
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
