"""Bids before a game: the auction of a person, of kernels, and of the rules."""

from __future__ import annotations

import numpy as np
import pytest

from suphx.games.doudizhu.bots.scripted_play import play_scripted
from suphx.games.doudizhu.cards.card import counts_of, parse_cards
from suphx.games.doudizhu.engine.auction import MAX_BID, Auction, scripted_bid
from suphx.games.doudizhu.engine.invariants import check_invariants
from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.simulator import Simulator
from suphx.games.doudizhu.engine.table import LANDLORD, NO_BID, NO_SEAT, NUM_SEATS

RULES = Rules(bidding=True, scoring="points")


def new_tables(num_tables: int, rules: Rules = RULES) -> Simulator:
    simulator = Simulator(num_tables, rules)
    simulator.reset(range(num_tables))
    return simulator


def hold(auction: Auction, bids: list[int] | None = None) -> Auction:
    """Make ``bids``, then scripted ones, until the auction is over."""
    told = list(bids or [])
    while auction.place is not None:
        auction.bid(told.pop(0) if told else auction.scripted_bid())
    return auction


@pytest.mark.parametrize(
    ("hand", "bid"),
    [
        ("3456789TJQK344556", 0),
        ("3456789TJQKA2234K", 0),  # 5
        ("3456789TJQKA22R34", 2),  # 9
        ("3456789TJQKA2B344", 1),  # 6
        ("3456789TJQKBR3444", 3),  # 7, and a bomb
        ("3456789TJQKBR3445", 1),  # 7
        ("34567892222ABR345", 3),
    ],
)
def test_a_hand_bids_by_its_strength_unless_that_is_not_enough(hand: str, bid: int) -> None:
    cards = parse_cards(hand)
    assert counts_of(np.array(cards)).sum() == 17
    assert [scripted_bid(cards, highest) for highest in range(MAX_BID)] == [
        bid if bid > each else 0 for each in range(3)
    ]


def test_tables_are_dealt_as_the_auction_of_the_same_seed_ends() -> None:
    simulator = new_tables(300)
    again = Simulator(300, RULES)
    for seed in range(300):
        again.start(seed, hold(Auction(seed)))
        check_invariants(simulator.tables[seed], simulator.moves)
    assert (again.tables == simulator.tables).all()
    assert set(simulator.tables["stake"]) == {1, 2, 3}
    assert set(simulator.tables["first_bidder"]) == {0, 1, 2}


def test_without_bidding_the_same_seed_deals_the_cards_as_before_and_nobody_bids() -> None:
    plain, bid = new_tables(50, Rules()), new_tables(50)
    assert (plain.tables["bids"] == NO_BID).all()
    assert (plain.tables["stake"] == 1).all()
    assert (plain.tables["first_bidder"] == NO_SEAT).all()
    assert (plain.tables["bottom"] == bid.tables["bottom"]).all()  # no auction of these seeds had to be repeated
    assert (plain.tables["hands"].sum(axis=1) == bid.tables["hands"].sum(axis=1)).all()


@pytest.mark.parametrize("bids", [[3], [1, 3], [0, 0, 1], [1, 2, 0], [2, 0, 3], [1, 0, 0]])
def test_the_highest_bidder_gets_the_bottom_cards_and_the_stake(bids: list[int]) -> None:
    auction = Auction(11)
    hands = auction.hands.copy()
    hold(auction, bids)
    assert auction.bids == bids
    simulator = Simulator(1, RULES)
    simulator.start(0, auction)
    (table,) = simulator.tables
    landlord = bids.index(max(bids))
    assert table["hands"][LANDLORD] == hands[landlord] + table["bottom"]
    for place in range(NUM_SEATS):
        seat = auction.seat_of(place)
        assert seat == (place - landlord) % NUM_SEATS
        assert table["bids"][seat] == (bids[place] if place < len(bids) else NO_BID)
        if seat != LANDLORD:
            assert table["hands"][seat] == hands[place]
    assert table["first_bidder"] == auction.seat_of(0)
    assert (table["stake"], table["seed"]) == (max(bids), 11)
    check_invariants(table, simulator.moves)


def test_if_all_pass_other_cards_are_dealt() -> None:
    auction = Auction(11)
    first = auction.hands.copy()
    for _ in range(NUM_SEATS):
        auction.bid(0)
    assert (auction.num_deals, auction.bids, auction.place) == (2, [], 0)
    assert (auction.hands != first).any()
    assert hold(auction).landlord is not None


def test_bids_out_of_turn_and_too_low_ones_are_refused() -> None:
    auction = Auction(5)
    with pytest.raises(ValueError, match="place 0 has not bid yet"):
        auction.seat_of(0)
    auction.bid(2)
    for bid in (1, 2, 4, -1):
        with pytest.raises(ValueError, match=f"the bid is {bid}: pass, or bid 3"):
            auction.bid(bid)
    with pytest.raises(ValueError, match="place 1 has not bid yet"):
        Simulator(1, RULES).start(0, auction)
    auction.bid(3)
    with pytest.raises(ValueError, match="the auction is over"):
        auction.bid(0)


def test_the_stake_multiplies_points() -> None:
    by_points, plain = new_tables(200), play_scripted(200, RULES, ("rule", "rule"))
    by_points.tables["winner"], by_points.tables["num_bombs"] = plain.winners, plain.bombs
    by_points.tables["phase"] = 2
    worth = by_points.tables["stake"] * 2.0**plain.bombs
    signs = np.where(plain.winners == LANDLORD, 1, -1)
    assert by_points.scores()[:, LANDLORD] == pytest.approx(signs * worth)
    logs = new_tables(200, Rules(bidding=True, scoring="log points"))
    logs.tables[:] = by_points.tables
    assert logs.scores()[:, LANDLORD] == pytest.approx(signs * (np.log2(worth) + 1))
    wins = new_tables(200, Rules(bidding=True))
    wins.tables[:] = by_points.tables
    assert (wins.scores()[:, LANDLORD] == signs).all()


def test_bids_leave_better_hands_to_the_landlord() -> None:
    won = [(play_scripted(4000, rules, ("rule", "rule")).winners == LANDLORD).mean() for rules in (Rules(), RULES)]
    assert won[0] < 0.47 < 0.54 < won[1]


@pytest.mark.parametrize("seed", [-1, 2**62])
def test_a_seed_that_no_game_has_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match=r"seed is .*: use 0 to 2\*\*62"):
        Auction(seed)


def test_bidding_must_be_true_or_false() -> None:
    with pytest.raises(ValueError, match="bidding is 1: use true or false"):
        Rules(bidding=1)  # type: ignore[arg-type]
