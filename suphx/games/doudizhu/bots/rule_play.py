"""The agent ``rule``: it keeps the best hand to go on with, passes to its teammate, and blocks who is nearly out.

It knows what its seat sees: its own hand, the move to beat, and how many cards the others have.
"""

from __future__ import annotations

from suphx.games.doudizhu.bots.hand_plan import hand_value
from suphx.games.doudizhu.cards.card import ACE, count_cards
from suphx.games.doudizhu.engine.table import LANDLORD, LANDLORD_UP, NUM_SEATS, Table
from suphx.games.doudizhu.moves.move_kind import BOMB, PAIR, ROCKET, SOLO
from suphx.games.doudizhu.moves.move_table import Moves
from suphx.kernel.jit import jit
from suphx.kernel.record import I32, I64

_WIN = 1 << 20
_NEVER = -(1 << 20)
_BLOCK = 40  # for a high card before an opponent who is nearly out
_FEW_CARDS = 3
_TURN_VALUE = 4  # of winning the turn
_URGENT_TURN_VALUE = 18  # the same when an opponent has few cards
_TEAMMATE_HIGH = 7  # what the teammate plays above this rank is high enough


@jit
def choose_rule(t: Table, m: Moves, legal: I32, first: int, last: int, counts: I64) -> int:
    """Return the index in ``legal``, between ``first`` and ``last`` - 1, of the move that the agent makes.

    ``counts`` (15,) is scratch.
    """
    if last - first == 1:
        return first
    hand = t.hands[t.actor]
    opponent_cards = _fewest_opponent_cards(t)
    best_index = first
    best_value = _NEVER - 1
    for index in range(first, last):
        move = legal[index]
        value = hand_value(hand - m.cards[move], counts)
        if m.cards[move] == hand:
            value = _WIN
        elif m.cards[move] != 0:
            value += _move_value(t, m, move, opponent_cards)
        if value > best_value:
            best_index = index
            best_value = value
    return best_index


@jit
def _move_value(t: Table, m: Moves, move: int, opponent_cards: int) -> int:
    """Return what a move is worth besides the hand that it leaves; a pass is worth 0."""
    kind = m.kinds[move]
    rank = m.ranks[move]
    is_lead = t.to_beat == len(m.cards) - 1
    if is_lead:
        is_dangerous = (kind == SOLO and opponent_cards == 1) or (kind == PAIR and opponent_cards == 2)
        return _BLOCK * (rank - ACE - 3) if is_dangerous else 0
    if _owner(t) != LANDLORD and t.actor != LANDLORD:
        return _value_over_teammate(t, m, move)
    value = _URGENT_TURN_VALUE if opponent_cards <= _FEW_CARDS else _TURN_VALUE
    if kind == SOLO and opponent_cards == 1:
        value += _BLOCK * rank // 4
    if kind in (BOMB, ROCKET):
        value -= 2
    return value


@jit
def _value_over_teammate(t: Table, m: Moves, move: int) -> int:
    """Return what it is worth to beat the teammate: only a low card, with one that is not wasted."""
    kind = m.kinds[move]
    teammate = NUM_SEATS - t.actor
    is_low = m.ranks[t.to_beat] <= _TEAMMATE_HIGH and kind in (SOLO, PAIR)
    highest = ACE if t.actor == LANDLORD_UP else _TEAMMATE_HIGH + 2
    if not is_low or m.ranks[move] > highest or count_cards(t.hands[teammate]) <= _FEW_CARDS:
        return _NEVER
    return 0


@jit
def _owner(t: Table) -> int:
    """Return who played the move to beat."""
    return (t.actor - 1 - t.num_passes) % NUM_SEATS


@jit
def _fewest_opponent_cards(t: Table) -> int:
    if t.actor != LANDLORD:
        return count_cards(t.hands[LANDLORD])
    return min(count_cards(t.hands[1]), count_cards(t.hands[2]))
