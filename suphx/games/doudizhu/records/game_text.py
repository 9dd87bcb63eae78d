"""A game in a terminal: what a seat sees, the moves that a person types, and how it ended.

>>> DouDizhuText().seat_lines(simulator, 0, LANDLORD)
['bottom cards, dealt to the landlord: 3 K A   bombs: 0', …]
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from itertools import groupby

from suphx.games.doudizhu.cards import DECK, PASS_TEXT, cards_text, contains, count_cards, parse_cards
from suphx.games.doudizhu.engine import Auction, Simulator
from suphx.games.doudizhu.moves import KIND_NAMES, Moves, find_move, move_text
from suphx.games.doudizhu.table import LANDLORD, NO_MOVE, NO_SEAT, NUM_SEATS, PASS_BID, SEAT_NAMES, Rules, scores_of

_PASSES = ("p", PASS_TEXT)
_SEPARATORS = re.compile(r"[\s,;.+-]+")
_MAX_TYPED = 40
_SHOWN_MOVES = 30
_NAME_WIDTH = max(map(len, SEAT_NAMES)) + 2


class DouDizhuText:
    """The ``GameText`` of DouDizhu."""

    help = (
        "Who plays all cards first wins; the two peasants win together. The landlord leads. A seat",
        "beats the last move with the same type and length and a higher rank, or passes; after two",
        "passes the last one who played leads. Ranks go up: 3 4 5 6 7 8 9 T J Q K A 2 B R; T is the",
        "ten, B and R are the black and the red joker. Suits do not matter.",
        "Types: one card, a pair, three of a rank, three with one card or with a pair, five or more",
        "single cards in a row, three or more pairs in a row, two or more threes in a row, each with",
        "a card, with a pair or without, four with two cards or with two pairs. Rows end at the ace.",
        "Four of a rank are a bomb: it beats everything but a higher bomb and both jokers (BR), which",
        "beat all. Each of these doubles the points.",
        "Type the cards of your move in any order, such as 334455 or 7774, or p to pass.",
    )

    auction_help = (
        "Before each deal the players bid to be the landlord, who takes three more cards. Each has one",
        "turn: a pass, or 1, 2 or 3, more than those before. The highest bidder is the landlord, and the",
        "bid multiplies the points. If all pass, the cards are dealt again. The agents bid by their high",
        "cards and bombs; nets do not learn to bid.",
        "Type 1, 2, 3, or p to pass.",
    )

    def seat_note(self, seat: int) -> str:
        """Return with whom and against whom a seat plays."""
        if seat == LANDLORD:
            return "you play against both peasants"
        partner = next(name for other, name in enumerate(SEAT_NAMES) if other not in (LANDLORD, seat))
        return f"you and {partner} play against the landlord"

    def auction_lines(self, auction: Auction, place: int) -> list[str]:
        """Return the highest bid so far, and the hand of a place."""
        return [
            f"highest bid      {auction.highest or 'none'}",
            f"your hand        {_grouped(int(auction.hands[place]))}",
        ]

    def bid_text(self, bid: int) -> str:
        """Return ``passes`` or such as ``bids 2``."""
        return f"bids {bid}" if bid != PASS_BID else "passes"

    def read_bid(self, text: str) -> int:
        """Return the bid that a person typed; ValueError says what is wrong with it."""
        typed = unicodedata.normalize("NFKC", text).strip().lower()
        if typed in (*_PASSES, "0"):
            return PASS_BID
        if typed in ("1", "2", "3"):
            return int(typed)
        raise ValueError(f"{typed[:_MAX_TYPED]!r} is not a bid: type 1, 2, 3 or p")

    def move_text(self, rules: Rules, move: int) -> str:
        """Return the cards of a move and its type, such as ``7774 (trio + solo)``."""
        return _named(rules.load_moves(), move)

    def move_lists(self, rules: Rules, moves: Sequence[int]) -> list[str]:
        """Return a line for each type of move, with at most 30 of them."""
        table = rules.load_moves()
        by_kind: dict[str, list[str]] = {}
        for move in moves:
            by_kind.setdefault(KIND_NAMES[table.kinds[move]], []).append(_cards(table, move))
        return [
            f"{kind}: {' '.join(found[:_SHOWN_MOVES])}"
            + (f" and {len(found) - _SHOWN_MOVES} more" if len(found) > _SHOWN_MOVES else "")
            for kind, found in by_kind.items()
        ]

    def read_move(self, rules: Rules, text: str) -> int:
        """Return the move of the cards that a person typed; ValueError says what is wrong with them."""
        cards = _SEPARATORS.sub("", unicodedata.normalize("NFKC", text)).lower()
        if not cards:
            raise ValueError(f"{text[:_MAX_TYPED]!r} has no cards: type the cards of your move, or p to pass")
        if len(cards) > _MAX_TYPED:
            raise ValueError(f"{cards[:_MAX_TYPED]}… is too long for a move: a hand has at most 20 cards")
        packed = parse_cards(PASS_TEXT if cards in _PASSES else cards)
        try:
            return find_move(rules.load_moves(), cards_text(packed))
        except ValueError:
            raise ValueError(f"{cards_text(packed)} is not a move: ? lists the types") from None

    def refusal(self, simulator: Simulator, table: int, move: int) -> str:
        """Return why the seat that is to move cannot make a move."""
        t, moves = simulator.tables[table], simulator.moves
        cards, hand = int(moves.cards[move]), int(t["hands"][t["actor"]])
        if not cards:
            return "you lead: play something"
        if not contains(hand, cards):
            return f"you do not have {_named(moves, move)}"
        return f"{_named(moves, move)} does not beat {_named(moves, int(t['to_beat']))}"

    def seat_lines(self, simulator: Simulator, table: int, seat: int) -> list[str]:
        """Return what a seat sees: the bottom cards, each seat's cards left and last move, and its own hand."""
        t, moves = simulator.tables[table], simulator.moves
        own = int(t["hands"][seat])
        bottom = " ".join(cards_text(int(t["bottom"])))
        lines = [f"bottom cards, dealt to the landlord: {bottom}   bombs: {int(t['num_bombs'])}"]
        if t["first_bidder"] != NO_SEAT:
            lines[0] += f"   bid: {int(t['stake'])}"
        for turn in range(1, NUM_SEATS + 1):
            other = (seat + turn) % NUM_SEATS
            last = int(t["last_moves"][other])
            did = "" if last == NO_MOVE else f"   last move {_cards(moves, last)}"
            name = SEAT_NAMES[other] + (" (you)" if other == seat else "")
            count = count_cards(int(t["hands"][other]))
            lines.append(f"{name:{_NAME_WIDTH + 6}}{count:2} card{'s' * (count != 1)}{did}")
        lines.append(f"the others hold {_grouped(DECK - own - int(t['played'].sum()))}")
        lines.append(f"your hand       {_grouped(own)}")
        if t["actor"] == seat:
            to_beat = int(t["to_beat"])
            is_lead = to_beat == moves.num_moves - 1
            lines.append("you lead: play anything" if is_lead else f"to beat         {_named(moves, to_beat)}")
        return lines

    def end_lines(self, simulator: Simulator, table: int) -> list[str]:
        """Return who won how many points, and the hands that were left."""
        t = simulator.tables[table]
        points = scores_of(simulator.tables[table : table + 1], "points")[0]
        winner = "the landlord wins" if points[0] > 0 else "the peasants win"
        left = [
            f"{SEAT_NAMES[seat]:{_NAME_WIDTH}}{_grouped(int(t['hands'][seat]))}"
            for seat in range(NUM_SEATS)
            if t["hands"][seat]
        ]
        worth = abs(int(points[0]))
        bombs = int(t["num_bombs"])
        bid = f"a bid of {int(t['stake'])} and " if t["first_bidder"] != NO_SEAT else ""
        return [f"{winner} {worth} point{'s' * (worth > 1)}, with {bid}{bombs} bomb{'s' * (bombs != 1)}; left:", *left]


def _named(moves: Moves, move: int) -> str:
    text = _cards(moves, move)
    return text if text == PASS_TEXT else f"{text} ({KIND_NAMES[moves.kinds[move]]})"


def _cards(moves: Moves, move: int) -> str:
    """Return the cards of a move: what there is most of first, such as a trio before its kicker."""
    text = move_text(moves, move)
    return text if text == PASS_TEXT else "".join(sorted(text, key=text.count, reverse=True))


def _grouped(cards: int) -> str:
    """Return cards with a space between ranks."""
    return " ".join("".join(same) for _, same in groupby(cards_text(cards))) if cards else "no cards"
