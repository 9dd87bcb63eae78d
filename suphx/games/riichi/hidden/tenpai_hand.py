"""Tenpai hands out of hidden tiles: how many there are, and one of them at random, each equally likely.

A hand is a set of tiles: the four of a kind are different tiles here. Tenpai is what ``waiting_kinds`` says, thirteen
orphans and waits of which no tile is left included. The automata of tenpai_table.py count the hands: a node's *weight*
is the number of ways to draw what was read up to it. Walked back from the end, each edge taken in proportion to its
weight, they give a hand.
"""

from __future__ import annotations

from suphx.games.riichi.hand.shanten import standard_shanten
from suphx.games.riichi.hand.suit_table import Suits
from suphx.games.riichi.hidden.tenpai_table import (
    HONOURS,
    MAX_NODES,
    NUM_FORMS,
    ORPHANS,
    SEVEN_PAIRS,
    SUIT,
    TENPAI_FORM,
    WHOLE,
    TenpaiTable,
)
from suphx.kernel.jit import jit
from suphx.kernel.random_number import draw_large_number
from suphx.kernel.record import I8, I64, field, record_dtype

# Whose weights: of suits 0-3, of these together, of seven pairs and of thirteen orphans.
_WHOLE, _SEVEN_PAIRS, _ORPHANS = 4, 5, 6


class TenpaiWeights:
    """What ``weigh_tenpai`` computes of hidden tiles and ``draw_tenpai`` reads; ``np.zeros(1, TENPAI_WEIGHTS)[0]``."""

    ways: I64 = field("i8", 34, 5)
    """Ways to draw 0-4 tiles of a kind."""
    form_ways: I64 = field("i8", 4, NUM_FORMS)
    """Ways to draw a form in a suit."""
    node: I64 = field("i8", 7, MAX_NODES)
    """Ways to draw what was read up to a node."""
    form: I8 = field("i1", 4)
    """Scratch: the forms of the suits of the hand that is drawn."""


TENPAI_WEIGHTS = record_dtype(TenpaiWeights)


@jit
def choose(number: int, size: int) -> int:
    """Return the ways to draw ``size`` of up to four tiles."""
    ways = 1
    for i in range(size):
        ways = ways * (number - i) // (i + 1)
    return ways


@jit
def weigh_tenpai(table: TenpaiTable, weights: TenpaiWeights, left: I64) -> None:
    """Fill ``weights`` for hidden tiles ``left`` by kind, (34,) 0-4."""
    for kind in range(34):
        for size in range(5):
            weights.ways[kind, size] = choose(left[kind], size)
    for suit in range(4):
        automaton = HONOURS if suit == 3 else SUIT
        _weigh(table, automaton, weights.ways, 9 * suit, weights.node[suit])
        first_end = _first_end(table, automaton, NUM_FORMS)
        for form in range(NUM_FORMS):
            weights.form_ways[suit, form] = weights.node[suit, first_end + form]
    _weigh(table, WHOLE, weights.form_ways, 0, weights.node[_WHOLE])
    _weigh(table, SEVEN_PAIRS, weights.ways, 0, weights.node[_SEVEN_PAIRS])
    _weigh(table, ORPHANS, weights.ways, 0, weights.node[_ORPHANS])


@jit
def count_tenpai(table: TenpaiTable, weights: TenpaiWeights, num_melds: int) -> int:
    """Return how many tenpai hands there are beside ``num_melds`` melds; seven pairs that are also sets count twice.

    There are fewer than 2**59 sets of 13 tiles.
    """
    standard = weights.node[_WHOLE, _first_end(table, WHOLE, NUM_FORMS) + TENPAI_FORM - num_melds]
    return standard + _count_special(table, weights, num_melds)


@jit
def draw_tenpai(table: TenpaiTable, suits: Suits, weights: TenpaiWeights, num_melds: int, hand: I8, state: I64) -> bool:
    """Fill ``hand`` (34,) with a tenpai hand of 13 tiles, melds counted as three; False when there is none.

    Every set of hidden tiles that is tenpai is equally likely; ``state``: random_number.py.
    """
    total = count_tenpai(table, weights, num_melds)
    if total == 0:
        return False
    num_special = _count_special(table, weights, num_melds)
    num_orphans = weights.node[_ORPHANS, _first_end(table, ORPHANS, 1)] if num_melds == 0 else 0
    while True:
        hand[:] = 0
        number = draw_large_number(state, total)
        if number >= num_special:
            _draw_standard(table, weights, num_melds, hand, state)
            return True
        if number < num_orphans:
            _draw_path(table, ORPHANS, weights.ways, 0, weights.node[_ORPHANS], 0, hand, state)
            return True
        _draw_path(table, SEVEN_PAIRS, weights.ways, 0, weights.node[_SEVEN_PAIRS], 0, hand, state)
        # Hands that are both are drawn as sets only. They are at most half of all draws.
        if standard_shanten(suits, hand, 0) != 0:
            return True


@jit
def _first_end(table: TenpaiTable, automaton: int, num_ends: int) -> int:
    return table.first_node[automaton + 1] - table.first_node[automaton] - num_ends


@jit
def _count_special(table: TenpaiTable, weights: TenpaiWeights, num_melds: int) -> int:
    """Return how many hands are thirteen orphans or seven pairs but for one tile."""
    if num_melds > 0:
        return 0
    num_orphans = weights.node[_ORPHANS, _first_end(table, ORPHANS, 1)]
    return num_orphans + weights.node[_SEVEN_PAIRS, _first_end(table, SEVEN_PAIRS, 1)]


@jit
def _weigh(table: TenpaiTable, automaton: int, ways: I64, first_position: int, node: I64) -> None:
    """Fill the weights ``node`` of an automaton that reads positions from ``first_position`` on in ``ways``."""
    first = table.first_node[automaton]
    node[0] = 1
    for i in range(1, table.first_node[automaton + 1] - first):
        position = first_position + table.position[first + i]
        total = 0
        for edge in range(table.first_edge[first + i], table.first_edge[first + i + 1]):
            total += node[table.origin[edge]] * ways[position, table.digit[edge]]
        node[i] = total


@jit
def _draw_standard(table: TenpaiTable, weights: TenpaiWeights, num_melds: int, hand: I8, state: I64) -> None:
    """Draw the forms of the suits, then a hand of these."""
    form = TENPAI_FORM - num_melds
    _draw_path(table, WHOLE, weights.form_ways, 0, weights.node[_WHOLE], form, weights.form, state)
    for suit in range(4):
        automaton = HONOURS if suit == 3 else SUIT
        _draw_path(table, automaton, weights.ways, 9 * suit, weights.node[suit], weights.form[suit], hand, state)


@jit
def _draw_path(
    table: TenpaiTable, automaton: int, ways: I64, first_position: int, node: I64, end: int, digits: I8, state: I64
) -> None:
    """Walk back from an end to where reading begins and note the digit of each position."""
    first = table.first_node[automaton]
    num_ends = 1 if automaton in (SEVEN_PAIRS, ORPHANS) else NUM_FORMS
    now = _first_end(table, automaton, num_ends) + end
    while now > 0:
        position = first_position + table.position[first + now]
        left = draw_large_number(state, node[now])
        for edge in range(table.first_edge[first + now], table.first_edge[first + now + 1]):
            left -= node[table.origin[edge]] * ways[position, table.digit[edge]]
            if left < 0:
                digits[position] = table.digit[edge]
                now = table.origin[edge]
                break
