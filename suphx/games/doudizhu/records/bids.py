"""The bids of a recorded game: who bid what, in order."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

from suphx.games.doudizhu.engine.auction import MAX_BID
from suphx.games.doudizhu.engine.table import LANDLORD, NO_BID, NO_SEAT, NUM_SEATS, PASS_BID, SEAT_NAMES

Bids: TypeAlias = tuple[tuple[str, int], ...]
"""Seats with their bids, the first bidder first; 0 is a pass."""


def check_bids(bids: Bids, *, is_wanted: bool) -> None:
    """Raise ValueError unless these are the bids of a whole auction that the landlord won, or none are wanted."""
    if not bids and not is_wanted:
        return
    if not is_wanted:
        raise ValueError("there are bids, but the rules have no bidding: set rules.bidding to true")
    shown = ", ".join(f"{seat} {bid}" for seat, bid in bids) or "none"
    first = SEAT_NAMES.index(bids[0][0]) if bids and bids[0][0] in SEAT_NAMES else LANDLORD
    turns = [SEAT_NAMES[(first + turn) % NUM_SEATS] for turn in range(NUM_SEATS)]
    highest, landlord = PASS_BID, None
    for (seat, bid), turn in zip(bids, turns, strict=False):
        is_right = seat == turn and highest < MAX_BID
        if not is_right or (bid != PASS_BID and not highest < bid <= MAX_BID):
            raise ValueError(f"the bids are {shown}: seats bid in turn, 0 (pass) or more than before, up to {MAX_BID}")
        if bid:
            highest, landlord = bid, seat
    is_over = len(bids) == NUM_SEATS or (len(bids) < NUM_SEATS and highest == MAX_BID)
    if not is_over or landlord != SEAT_NAMES[LANDLORD]:
        raise ValueError(f"the bids are {shown}: each seat bids once unless one bids {MAX_BID}, and the landlord most")


def read_bids(values: object) -> Bids:
    """Return the bids of a JSON value; ValueError if it is no list of seats with whole numbers."""
    pairs: list[Any] = values if isinstance(values, list) else [None]
    if not all(isinstance(pair, list) and list(map(type, pair)) == [str, int] for pair in pairs):
        raise ValueError(f"bids is {values!r:.80}: write a list of a seat and its bid each, such as [['landlord', 3]]")
    return tuple((seat, bid) for seat, bid in pairs)


def bids_of(table: np.void) -> Bids:
    """Return the bids of a TABLE record."""
    if table["first_bidder"] == NO_SEAT:
        return ()
    seats = [(int(table["first_bidder"]) + turn) % NUM_SEATS for turn in range(NUM_SEATS)]
    return tuple((SEAT_NAMES[seat], int(table["bids"][seat])) for seat in seats if table["bids"][seat] != NO_BID)


def set_bids(table: np.void, bids: Bids) -> None:
    """Write ``bids`` to a table whose game has just begun."""
    if not bids:
        return
    for seat, bid in bids:
        table["bids"][SEAT_NAMES.index(seat)] = bid
    table["first_bidder"] = SEAT_NAMES.index(bids[0][0])
    table["stake"] = max(bid for _, bid in bids)
