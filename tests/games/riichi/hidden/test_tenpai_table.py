from __future__ import annotations

import itertools

import numpy as np
import pytest

from suphx.games.riichi.hidden.tenpai_table import FORMS, NUM_FORMS, SUIT, build_tenpai_table, load_tenpai_table

SETS = [tuple(3 * (k == i) for k in range(9)) for i in range(9)] + [
    tuple(int(i <= k < i + 3) for k in range(9)) for i in range(7)
]
PAIRS = [tuple(2 * (k == i) for k in range(9)) for i in range(9)]

Suit = tuple[int, ...]


def add(*groups: Suit) -> Suit:
    return tuple(sum(column) for column in zip(*groups, strict=True))


def complete(num_sets: int, has_pair: bool) -> set[Suit]:
    """All suits of so many sets, with a pair or without."""
    found = set()
    for sets in itertools.combinations_with_replacement(SETS, num_sets):
        for pair in PAIRS if has_pair else [(0,) * 9]:
            suit = add(pair, *sets)
            if max(suit) <= 4:
                found.add(suit)
    return found


def one_less(suits: set[Suit]) -> set[Suit]:
    return {(*suit[:i], suit[i] - 1, *suit[i + 1 :]) for suit in suits for i in range(9) if suit[i]}


def suits_read() -> dict[tuple[int, str], set[Suit]]:
    """By form: all suits that the automaton reads, by a walk along every path."""
    table = load_tenpai_table()
    first, last = int(table.first_node[SUIT]), int(table.first_node[SUIT + 1])
    read: list[set[Suit]] = [{(0,) * 9}]
    for node in range(first + 1, last):
        edges = range(table.first_edge[node], table.first_edge[node + 1])
        position = int(table.position[node])
        read.append(
            {
                (*suit[:position], int(table.digit[edge]), *suit[position + 1 :])
                for edge in edges
                for suit in read[table.origin[edge]]
            }
        )
    return dict(zip(FORMS, read[-NUM_FORMS:], strict=True))


def test_the_suit_automaton_reads_exactly_the_suits_of_every_form() -> None:
    read = suits_read()
    for num_sets in range(4):
        assert read[3 * num_sets, "sets"] == complete(num_sets, False)
        assert read[3 * num_sets + 1, "tenpai"] == one_less(complete(num_sets, True))
    for num_sets in range(3):
        size = 3 * num_sets + 2
        pair, short = complete(num_sets, True), one_less(complete(num_sets + 1, False))
        assert read[size, "pair"] == pair - short
        assert read[size, "short"] == short - pair
        assert read[size, "pair or short"] == pair & short


def test_building_the_table_again_gives_the_stored_one() -> None:
    built = build_tenpai_table()[0]
    stored = load_tenpai_table()
    for name in built.dtype.names:
        np.testing.assert_array_equal(built[name], getattr(stored, name), err_msg=name)


def test_edges_come_from_nodes_before_and_digits_differ() -> None:
    table = load_tenpai_table()
    for first, last in itertools.pairwise(table.first_node.tolist()):
        left = set()
        for node in range(first + 1, last):
            for edge in range(table.first_edge[node], table.first_edge[node + 1]):
                assert table.origin[edge] < node - first
                left.add((int(table.origin[edge]), int(table.digit[edge])))
        assert len(left) == table.first_edge[last] - table.first_edge[first]


def test_the_table_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        load_tenpai_table().digit[0] = 1
