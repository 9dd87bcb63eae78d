"""A record as text for people: the hands, then a line for each round of turns.

>>> print(record_text(record))
landlord: 33345567789TJQKKA2BR
landlord_down: …
landlord_up: …
bottom: 3KA
moves:
334455 pass pass
7 T 2
"""

from __future__ import annotations

from suphx.games.doudizhu.cards.card import cards_text, parse_cards
from suphx.games.doudizhu.engine.rules import Rules
from suphx.games.doudizhu.engine.table import NUM_SEATS, SEAT_NAMES
from suphx.games.doudizhu.records.game_record import GameRecord

_NAMES = (*SEAT_NAMES, "bottom")
_MOVES = "moves:"


def record_text(record: GameRecord) -> str:
    """Return the text of a game; the rules are not part of it."""
    lines = [f"{name}: {cards}" for name, cards in zip(_NAMES, (*record.hands, record.bottom), strict=True)]
    rounds = range(0, len(record.moves), NUM_SEATS)
    return "\n".join([*lines, _MOVES, *(" ".join(record.moves[first : first + NUM_SEATS]) for first in rounds)]) + "\n"


def parse_record(text: str, rules: Rules | None = None) -> GameRecord:
    """Return the game of a text, played by ``rules`` (None: the defaults); ValueError says what is wrong with it."""
    head, mark, moves = text.partition(_MOVES)
    cards = dict(line.split(":", 1) for line in head.splitlines() if ":" in line)
    missing = [name for name in _NAMES if name not in cards]
    if missing or not mark:
        raise ValueError(f"this text has no line {(missing or [_MOVES])[0]!r}: docs/games.md shows a game as text")
    hands = [cards_text(parse_cards(cards[name].strip())) for name in _NAMES]
    return GameRecord(
        rules=rules or Rules(),
        hands=(hands[0], hands[1], hands[2]),
        bottom=hands[3],
        moves=tuple(cards_text(parse_cards(move)) for move in moves.split()),
    )
