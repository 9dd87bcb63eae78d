from __future__ import annotations

import numpy as np
import pytest

from suphx.games.doudizhu.bots import play_scripted
from suphx.games.doudizhu.cards import DECK, cards_text, counts_of, parse_cards
from suphx.games.doudizhu.engine import MAX_BID, Auction, Simulator, scripted_bid
from suphx.games.doudizhu.moves import find_move, load_moves, move_text
from suphx.games.doudizhu.table import (
    GAME_END,
    LANDLORD,
    MAX_MOVES,
    NO_BID,
    NO_SEAT,
    NUM_SEATS,
    PLAYING,
    Rules,
    scores_of,
)
from suphx.kernel.record import Records
from tests.games.doudizhu.builders import play_text
from tests.games.doudizhu.invariants import check_invariants

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


@pytest.mark.parametrize("seed", [-1, 2**62])
def test_a_seed_that_no_game_has_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match=r"seed is .*: use 0 to 2\*\*62"):
        Auction(seed)


MOVES = load_moves()
HANDS = ("33456TT2", "4477778J", "99QQKBR")


def test_after_two_passes_the_last_player_leads() -> None:
    table = play_text(MOVES, HANDS, "33 44 99 TT pass pass")[0]
    assert (table["actor"], table["num_passes"]) == (0, 2)
    assert move_text(MOVES, int(table["to_beat"])) == "pass"
    table = play_text(MOVES, HANDS, "33 44 99 TT pass pass 2 pass BR pass pass K")[0]
    assert (table["actor"], table["num_passes"], table["num_bombs"]) == (0, 0, 1)
    assert move_text(MOVES, int(table["to_beat"])) == "K"
    assert [move_text(MOVES, move) for move in table["last_moves"].tolist()] == ["pass", "pass", "K"]


@pytest.mark.parametrize(
    ("hands", "game", "winner", "points", "log_points"),
    [
        (("33", "8", "9"), "3 pass pass 3", 0, [1, -1, -1], [1, -1, -1]),
        (("33", "48888", "6Q"), "3 4 6 pass 8888", 1, [-2, 2, 2], [-2, 2, 2]),
        (("334", "8888J", "BR"), "3 8888 BR", 2, [-4, 4, 4], [-3, 3, 3]),
    ],
)
def test_a_game_ends_with_the_first_empty_hand(
    hands: tuple[str, str, str], game: str, winner: int, points: list[int], log_points: list[int]
) -> None:
    tables = play_text(MOVES, hands, game)
    assert (tables[0]["winner"], tables[0]["phase"]) == (winner, GAME_END)
    assert scores_of(tables, "win").tolist() == [np.sign(points).tolist()]
    assert scores_of(tables, "points").tolist() == [points]
    assert scores_of(tables, "log points").tolist() == [log_points]


def test_a_game_that_goes_on_is_worth_nothing() -> None:
    tables = play_text(MOVES, HANDS, "33 44")
    assert (tables[0]["winner"], tables[0]["phase"]) == (NO_SEAT, PLAYING)
    assert scores_of(tables, "points").tolist() == [[0, 0, 0]]


NUM_GAMES = 40


def play_at_random(simulator: Simulator, *, seed: int, checks: bool = False) -> Records:
    """Play all games to the end; every table has its own random numbers."""
    rngs = [np.random.default_rng([seed, int(table_seed)]) for table_seed in simulator.tables["seed"]]
    while (waiting := simulator.waiting()).size:
        offsets, legal = simulator.legal(waiting)
        numbers = [rngs[table].random() for table in waiting]
        simulator.advance(waiting, legal[(offsets[:-1] + np.diff(offsets) * numbers).astype(np.int64)])
        if checks:
            for index in waiting:
                check_invariants(simulator.tables[index], simulator.moves)
    return simulator.tables


@pytest.mark.parametrize("rules", [Rules(), Rules(douzero_kickers=True)], ids=["27,472 moves", "DouZero's kickers"])
def test_invariants_hold_in_random_games(rules: Rules) -> None:
    simulator = Simulator(NUM_GAMES, rules)
    simulator.reset(range(NUM_GAMES))
    tables = play_at_random(simulator, seed=3, checks=True)
    assert (tables["phase"] == GAME_END).all()
    assert 0 < (tables["winner"] == LANDLORD).sum() < NUM_GAMES
    assert tables["num_moves"].max() <= MAX_MOVES


def test_a_game_does_not_depend_on_the_tables_beside_it() -> None:
    many, one = Simulator(5, Rules()), Simulator(1, Rules())
    many.reset(range(10, 15))
    one.reset([13])
    assert play_at_random(many, seed=0)[3] == play_at_random(one, seed=0)[0]


def test_everybody_gets_17_cards_and_the_landlord_the_bottom_cards_too() -> None:
    simulator = Simulator(100, Rules())
    simulator.reset(range(100))
    hands = counts_of(simulator.tables["hands"])
    assert hands.sum(axis=2).tolist() == [[20, 17, 17]] * 100
    assert (simulator.tables["hands"].sum(axis=1) == DECK).all()
    assert (counts_of(simulator.tables["bottom"]) <= hands[:, LANDLORD]).all()
    mean = hands.mean(axis=0)  # every seat gets every rank equally often
    assert np.abs(mean / mean.sum(axis=1, keepdims=True) - counts_of(np.array(DECK)) / 54).max() < 0.02
    assert len(set(simulator.tables["hands"][:, 0].tolist())) == 100


def test_a_seed_deals_the_same_cards_everywhere() -> None:
    simulator = Simulator(1, Rules())
    simulator.reset([7])
    assert [cards_text(hand) for hand in simulator.tables["hands"][0].tolist()] == [
        "3344456799TTQQQA22BR", "334555668889JJQKA", "677789TTJJKKKAA22",
    ]  # fmt: skip


def test_a_table_that_does_not_wait_has_no_moves() -> None:
    simulator = Simulator(2, Rules())
    simulator.reset([4], np.array([1]))
    assert simulator.waiting().tolist() == [1]
    offsets, moves = simulator.legal(np.array([0, 1, 0]))
    assert offsets.tolist() == [0, 0, len(moves), len(moves)]


def test_a_move_that_is_not_legal_is_refused_with_those_that_are() -> None:
    simulator = Simulator(1, Rules())
    with pytest.raises(ValueError, match=r"table 0, landlord: pass is not legal; legal: nothing, the table does not"):
        simulator.advance(np.array([0]), np.array([simulator.moves.num_moves - 1]))
    simulator.reset([0])
    with pytest.raises(ValueError, match=r"table 0, landlord: pass is not legal; legal: .*, …"):
        simulator.advance(np.array([0]), np.array([simulator.moves.num_moves - 1]))
    with pytest.raises(ValueError, match="move 99999 is not legal"):
        simulator.advance(np.array([0]), np.array([99_999]))
    with pytest.raises(ValueError, match="2 moves for 1 tables: give one a table"):
        simulator.advance(np.array([0]), np.array([find_move(simulator.moves, "3")] * 2))


@pytest.mark.parametrize(
    ("indices", "message"),
    [
        ([0, 2, 0], "table 0 is named twice: give each table one move in a call"),
        ([0, 3], "there is no table 3: use 0 to 2"),
        ([-1, 0], "there is no table -1: use 0 to 2"),
    ],
)
def test_a_table_that_is_not_there_or_is_named_twice_is_refused_and_nothing_changes(
    indices: list[int], message: str
) -> None:
    simulator = Simulator(3, Rules())
    simulator.reset([5, 6, 7])
    before = simulator.tables.tobytes()
    offsets, legal = simulator.legal(np.arange(3))
    moves = np.array([legal[offsets[index % 3]] for index in indices])
    with pytest.raises(ValueError, match=message):
        simulator.advance(np.array(indices), moves)
    assert simulator.tables.tobytes() == before


@pytest.mark.parametrize("index", [-1, 2, 10**12])
def test_no_moves_are_listed_and_no_cards_dealt_for_a_table_that_is_not_there(index: int) -> None:
    simulator = Simulator(2, Rules())
    simulator.reset([5, 6])
    for call in (simulator.legal, lambda indices: simulator.reset([1, 2], indices)):
        with pytest.raises(ValueError, match=f"there is no table {index}: use 0 to 1"):
            call(np.array([0, index]))
