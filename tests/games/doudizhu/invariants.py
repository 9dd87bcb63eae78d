"""``check_invariants``: what must hold between any two moves, recomputed from the moves of the game."""

from __future__ import annotations

import numpy as np

from suphx.games.doudizhu.cards import DECK, cards_text, counts_of
from suphx.games.doudizhu.moves import BOMB, ROCKET, Moves
from suphx.games.doudizhu.table import GAME_END, LANDLORD, NO_BID, NO_MOVE, NO_SEAT, NUM_SEATS


def check_invariants(table: np.void, moves: Moves) -> None:
    """Raise AssertionError when ``table`` (a TABLE record of a started game) contradicts its own moves."""
    pass_move = moves.num_moves - 1
    played, last = [0] * NUM_SEATS, [NO_MOVE] * NUM_SEATS
    to_beat, num_passes, num_bombs = pass_move, 0, 0
    for number, move in enumerate(table["moves"][: table["num_moves"]].tolist()):
        seat = number % NUM_SEATS
        last[seat] = move
        if move == pass_move:
            _require(to_beat != pass_move, f"{number}: a seat that leads passed")
            num_passes += 1
            to_beat = pass_move if num_passes == NUM_SEATS - 1 else to_beat
        else:
            played[seat] += int(moves.cards[move])
            to_beat, num_passes = move, 0
            num_bombs += moves.kinds[move] in (BOMB, ROCKET)
    bids = table["bids"].tolist()
    if table["first_bidder"] == NO_SEAT:
        _require(bids == [NO_BID] * NUM_SEATS and table["stake"] == 1, "there are bids, but nobody bid first")
    else:
        order = [bids[(table["first_bidder"] + turn) % NUM_SEATS] for turn in range(NUM_SEATS)]
        made = [bid for bid in order if bid != NO_BID]
        _require(order[: len(made)] == made and max(made) == table["stake"] == bids[LANDLORD], f"bids {order}")
    hands = table["hands"].tolist()
    _require(sum(hands) + sum(played) == DECK, f"hands {list(map(cards_text, hands))} and plays are not the deck")
    _require(table["played"].tolist() == played, "cards played are stale")
    _require(table["last_moves"].tolist() == last, "last moves are stale")
    _require(int(table["to_beat"]) == to_beat, "the move to beat is stale")
    _require((table["num_passes"], table["num_bombs"]) == (num_passes, num_bombs), "passes or bombs are stale")
    _require(int(table["actor"]) == table["num_moves"] % NUM_SEATS, "it is another seat's turn")
    dealt = counts_of(table["hands"] + table["played"]).sum(axis=1).tolist()
    _require(dealt == [20, 17, 17], f"seats were dealt {dealt} cards")
    bottom, landlord = counts_of(np.array([table["bottom"], table["hands"][LANDLORD] + table["played"][LANDLORD]]))
    _require(bool((bottom <= landlord).all()) and bottom.sum() == 3, "the landlord did not get the bottom cards")
    empty = [seat for seat in range(NUM_SEATS) if not hands[seat]]
    _require(empty == ([] if table["winner"] == NO_SEAT else [table["winner"]]), f"seats without cards: {empty}")
    _require((table["phase"] == GAME_END) == bool(empty), "the game ends with the first empty hand")


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise AssertionError(otherwise)
