"""Random tenpai hands out of hidden tiles, each equally likely.

They come from finite automata that read how many tiles of each kind a tenpai hand holds.

An automaton reads one digit a position (the number of tiles of a kind) and ends in a node that says what was read. Each
has few nodes, because beginnings with the same continuations share one. So all tenpai hands can be counted, and one of
them drawn, by a walk over some thousand edges instead of over millions of hands.

- A suit of nine kinds, and the honours, end in a *form*: complete sets; sets and a pair; one tile short of sets; or
  one tile short of sets and a pair. The forms of the four suits are read by an automaton of their own.
- Six pairs and one single tile over all kinds: of seven kinds, or with four equal tiles as two pairs, as the variant
  has it; twelve or thirteen orphans over the terminals and honours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple, TypeVar, cast

import numpy as np

from suphx.games.mahjong.shanten import (
    CLASS_MASK,
    HONOUR_BASE,
    HONOUR_CODES,
    SUIT_CODES,
    Suits,
    load_suits,
    standard_shanten,
)
from suphx.games.mahjong.tile import NUM_KINDS, TERMINALS_AND_HONOURS
from suphx.kernel.jit import jit
from suphx.kernel.random_number import draw_large_number
from suphx.kernel.record import I8, I16, I64, U8, U16, Records, field, record_dtype
from suphx.kernel.source_closure import load_or_build

S = TypeVar("S")

SUIT, HONOURS, WHOLE, SEVEN_PAIRS, ORPHANS, PAIRS_OF_PAIRS = range(6)
"""PAIRS_OF_PAIRS: seven pairs, of which four equal tiles are two."""
NUM_AUTOMATA = 6
NUM_NODES = 2078
NUM_EDGES = 7147
MAX_NODES = 926  # of one automaton

_SETS, _TENPAI, _PAIR, _SHORT, _PAIR_OR_SHORT = "sets", "tenpai", "pair", "short", "pair or short"
FORMS = (
    *((size, _SETS) for size in (0, 3, 6, 9, 12)),
    *((size, _TENPAI) for size in (1, 4, 7, 10, 13)),
    *((size, form) for size in (2, 5, 8, 11) for form in (_PAIR, _SHORT, _PAIR_OR_SHORT)),
)
"""What a suit, or several together, may be in a tenpai hand: number of tiles, and what these are."""
NUM_FORMS = len(FORMS)
TENPAI_FORM = FORMS.index((13, _TENPAI))
"""The form of a tenpai hand without melds; each meld less by one."""


class TenpaiTable:
    """All automata, one after another; the nodes of each are numbered from its first one, where its reading begins."""

    first_node: I16 = field("i2", NUM_AUTOMATA + 1)
    position: I8 = field("i1", NUM_NODES)
    """By node: which position was read last; for suits counted from their first kind, for suits together the suit."""
    first_edge: I16 = field("i2", NUM_NODES + 1)
    """By node: its edges lie from here to the first one of the next node."""
    origin: U16 = field("u2", NUM_EDGES)
    """By edge: the node that it comes from, counted within the automaton."""
    digit: U8 = field("u1", NUM_EDGES)
    """By edge: what was read on it, a number of tiles; a form for suits together."""


TENPAI_TABLE = record_dtype(TenpaiTable)


class _Automaton(NamedTuple):
    positions: Sequence[int]
    """In the order of reading."""
    steps: Sequence[I64]
    """By position, (nodes before it, digits): the node after it, or -1; there is one node before the first position."""
    num_ends: int


@cache
def load_tenpai_table() -> TenpaiTable:
    """Return the table, read-only; built once (1 s) and mapped from the cache folder afterwards."""
    stored: Records = load_or_build("tenpai", Path(__file__), build_tenpai_table)
    return cast(TenpaiTable, stored.view(np.dtype((np.record, TENPAI_TABLE)))[0])


def build_tenpai_table() -> Records:
    """Compute the table, TENPAI_TABLE (1,), from what the suit table says that a suit lacks."""
    automata = (
        _read_suit(_find_forms(0, SUIT_CODES)),
        _read_suit(_find_forms(HONOUR_BASE, HONOUR_CODES)),
        _read_by_rule(range(4), NUM_FORMS, FORMS, _add_form, FORMS),
        _read_by_rule(range(NUM_KINDS), 3, [(p, s) for p in range(7) for s in range(2)], _add_pair, [(6, 1)]),
        _read_by_rule(
            TERMINALS_AND_HONOURS, 3, [(m, p) for m in range(2) for p in range(2)], _add_orphan, [(0, 0), (1, 1)]
        ),
        _read_by_rule(range(NUM_KINDS), 5, [(p, s) for p in range(7) for s in range(2)], _add_pair, [(6, 1)]),
    )
    first_nodes, positions, edges = [0], list[int](), list[list[tuple[int, int]]]()
    for automaton in automata:
        _append(automaton, positions, edges)
        first_nodes.append(len(positions))
    tables: Records = np.zeros(1, TENPAI_TABLE)
    table = tables[0]
    table["first_node"] = first_nodes
    table["position"] = positions
    table["first_edge"] = np.cumsum([0, *map(len, edges)])
    table["origin"], table["digit"] = np.array([edge for node in edges for edge in node]).T
    return tables


def _find_forms(base: int, num_codes: int) -> I64:
    """Return int64 (codes,): the form of each code of a suit, or -1 when no tenpai hand has such a suit."""
    suits = load_suits()
    codes = np.arange(num_codes)
    sizes = sum(codes // 5**i % 5 for i in range(9))
    packed = suits.lacking[suits.rows[base : base + num_codes] & CLASS_MASK]
    forms = np.full(num_codes, -1)
    for form, (size, name) in enumerate(FORMS):
        # Tiles missing for the sets alone if one more tile makes some, and for the sets and the pair beside them.
        short = packed[:, 0] >> 8 * ((size + 1) // 3) & 0xFF
        paired = packed[:, 1] >> 8 * (size // 3) & 0xFF
        matches = {
            _SETS: short == 0,
            _TENPAI: paired == 1,
            _PAIR: (paired == 0) & (short != 1),
            _SHORT: (paired != 0) & (short == 1),
            _PAIR_OR_SHORT: (paired == 0) & (short == 1),
        }
        forms[(sizes == size) & matches[name]] = form
    return forms


def _add_form(left: tuple[int, str], form: int) -> tuple[int, str] | None:
    """Return the form of suits of form ``left`` and one more suit together."""
    size, right = left[0] + FORMS[form][0], FORMS[form][1]
    if _SETS in (left[1], right):
        both = (size, right if left[1] == _SETS else left[1])
    elif _TENPAI in (left[1], right) or (left[1] == right != _PAIR_OR_SHORT):
        return None
    else:
        both = (size, _TENPAI)
    return both if both in FORMS else None


def _add_pair(read: tuple[int, int], number: int) -> tuple[int, int]:
    pairs, singles = read
    return pairs + number // 2, singles + number % 2


def _add_orphan(read: tuple[int, int], number: int) -> tuple[int, int]:
    missing, pairs = read
    return missing + (number == 0), pairs + (number == 2)


def _read_by_rule(
    positions: Sequence[int],
    num_digits: int,
    states: Sequence[S],
    rule: Callable[[S, int], S | None],
    ends: Sequence[S],
) -> _Automaton:
    """Return the automaton that goes on by ``rule`` from the first of ``states``, never to others than these.

    All ``ends`` become one node unless they are all states.
    """
    index = {state: i for i, state in enumerate(states)}
    after = [[rule(state, digit) for digit in range(num_digits)] for state in states]
    step = np.array([[-1 if state is None else index.get(state, -1) for state in row] for row in after])
    if len(ends) == len(states):
        return _Automaton(positions, [step[:1], *[step] * (len(positions) - 1)], len(states))
    last = np.where(np.isin(step, [index[end] for end in ends]), 0, -1)
    return _Automaton(positions, [step[:1], *[step] * (len(positions) - 2), last], 1)


def _read_suit(forms: I64) -> _Automaton:
    """Return the smallest automaton that reads a code, from its last kind to its first, and ends in its form.

    Codes that differ only in their first kinds belong together when they have the same forms for all these; so from
    the ends back to where reading begins.
    """
    steps = []
    nodes = forms
    while nodes.size > 1:
        step, nodes = np.unique(nodes.reshape(-1, 5), axis=0, return_inverse=True)
        nodes = nodes.ravel()
        if (step[0] == -1).all():  # from there no form is reached; sorted, it comes first
            step, nodes = step[1:], nodes - 1
        steps.append(step)
    return _Automaton(range(len(steps) - 1, -1, -1), steps[::-1], NUM_FORMS)


def _append(automaton: _Automaton, positions: list[int], edges: list[list[tuple[int, int]]]) -> None:
    """Append position and edges, (origin, digit) each, of every node."""
    positions.append(-1)
    edges.append([])
    origin = 0
    for number, (position, step) in enumerate(zip(automaton.positions, automaton.steps, strict=True)):
        is_last = number == len(automaton.steps) - 1
        num_after = automaton.num_ends if is_last else len(automaton.steps[number + 1])
        into: list[list[tuple[int, int]]] = [[] for _ in range(num_after)]
        for before, digit in np.argwhere(step >= 0).tolist():
            into[step[before, digit]].append((origin + before, digit))
        positions += [position] * num_after
        edges += into
        origin += len(step)


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
    pairs: int = field("i8")
    """Which automaton reads seven pairs."""
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
def weigh_tenpai(table: TenpaiTable, weights: TenpaiWeights, left: I64, pairs: int) -> None:
    """Fill ``weights`` for hidden tiles ``left`` by kind, (34,) 0-4; ``pairs``: SEVEN_PAIRS or PAIRS_OF_PAIRS."""
    weights.pairs = pairs
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
    _weigh(table, pairs, weights.ways, 0, weights.node[_SEVEN_PAIRS])
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
        _draw_path(table, weights.pairs, weights.ways, 0, weights.node[_SEVEN_PAIRS], 0, hand, state)
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
    return num_orphans + weights.node[_SEVEN_PAIRS, _first_end(table, weights.pairs, 1)]


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
    num_ends = 1 if automaton >= SEVEN_PAIRS else NUM_FORMS
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
