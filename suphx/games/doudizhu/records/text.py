"""A record as text for people: the hands, the bids if there are some, then a line for each round of turns.

>>> print(record_text(record))
landlord: 33345567789TJQKKA2BR
landlord_down: …
landlord_up: …
bottom: 3KA
bids: landlord_up pass, landlord 2, landlord_down pass
moves:
334455 pass pass
7 T 2
"""

from __future__ import annotations

from dataclasses import replace

from suphx.games.doudizhu.cards.card import PASS_TEXT, cards_text, parse_cards
from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.table import NUM_SEATS, PASS_BID, SEAT_NAMES
from suphx.games.doudizhu.records.bids import Bids
from suphx.games.doudizhu.records.game_record import GameRecord

_NAMES = (*SEAT_NAMES, "bottom")
_BIDS = "bids"
_MOVES = "moves:"


def record_text(record: GameRecord) -> str:
    """Return the text of a game; the rules are not part of it."""
    lines = [f"{name}: {cards}" for name, cards in zip(_NAMES, (*record.hands, record.bottom), strict=True)]
    if record.bids:
        lines.append(f"{_BIDS}: {', '.join(f'{seat} {bid or PASS_TEXT}' for seat, bid in record.bids)}")
    rounds = range(0, len(record.moves), NUM_SEATS)
    return "\n".join([*lines, _MOVES, *(" ".join(record.moves[first : first + NUM_SEATS]) for first in rounds)]) + "\n"


def parse_record(text: str, rules: Rules | None = None) -> GameRecord:
    """Return the game of a text, played by ``rules`` (None: the defaults), with bidding if it has bids.

    ValueError says what is wrong with it.
    """
    head, mark, moves = text.partition(_MOVES)
    lines = (line.split(":", 1) for line in head.splitlines() if ":" in line)
    cards = {name.strip().lower(): text for name, text in lines}
    missing = [name for name in _NAMES if name not in cards]
    if missing or not mark:
        raise ValueError(f"this text has no line {(missing or [_MOVES])[0]!r}: docs/doudizhu.md shows a game as text")
    hands = [cards_text(parse_cards(cards[name].strip())) for name in _NAMES]
    bids = _parse_bids(cards[_BIDS]) if _BIDS in cards else ()
    return GameRecord(
        rules=replace(rules or Rules(), bidding=True) if bids else rules or Rules(),
        hands=(hands[0], hands[1], hands[2]),
        bottom=hands[3],
        moves=tuple(cards_text(parse_cards(move)) for move in moves.split()),
        bids=bids,
    )


def _parse_bids(text: str) -> Bids:
    """Return the bids of a line; ValueError for anything else."""
    found = [each.split() for each in text.split(",")]
    if not all(len(each) == 2 and (each[1] == PASS_TEXT or each[1].isdecimal()) for each in found):
        raise ValueError(f"the bids are {text.strip()!r}: write such as 'landlord_up {PASS_TEXT}, landlord 2'")
    return tuple((seat, PASS_BID if bid == PASS_TEXT else int(bid)) for seat, bid in found)
