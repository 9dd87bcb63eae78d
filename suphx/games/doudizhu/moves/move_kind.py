"""The types of moves, and the lengths that chains may have."""

from __future__ import annotations

SOLO, PAIR, TRIO, TRIO_SOLO, TRIO_PAIR = range(5)
SOLO_CHAIN, PAIR_CHAIN, TRIO_CHAIN, PLANE_SOLOS, PLANE_PAIRS = range(5, 10)
QUAD_SOLOS, QUAD_PAIRS, BOMB, ROCKET, PASS = range(10, 15)

KIND_NAMES = (
    "solo", "pair", "trio", "trio + solo", "trio + pair",
    "solo chain", "pair chain", "trio chain", "plane + solos", "plane + pairs",
    "quad + 2 solos", "quad + 2 pairs", "bomb", "rocket", "pass",
)  # fmt: skip

CHAIN_LENGTHS = {
    SOLO_CHAIN: range(5, 13),
    PAIR_CHAIN: range(3, 11),
    TRIO_CHAIN: range(2, 7),
    PLANE_SOLOS: range(2, 6),
    PLANE_PAIRS: range(2, 5),
}
"""Ranks that a chain of each type may have; a hand has at most 20 cards."""
CARDS_A_RANK = {SOLO_CHAIN: 1, PAIR_CHAIN: 2, TRIO_CHAIN: 3, PLANE_SOLOS: 3, PLANE_PAIRS: 3}
