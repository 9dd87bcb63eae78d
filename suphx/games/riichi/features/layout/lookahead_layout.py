"""The look-ahead planes of the full encoding, and the terms in which docs/features.md explains them."""

from __future__ import annotations

MAX_CHANGED = 3
"""The most tiles of a way to win that a hand may lack."""

LEVELS = (1_000, 1_500, 2_000, 2_600, 3_900, 5_200, 7_700, 8_000, 12_000, 16_000, 24_000, 32_000)
"""Level i + 1 is reached with at least LEVELS[i] points; level 0 is no win. A yakuman reaches them all."""
NUM_LEVELS = len(LEVELS)
HIGH_LEVEL = LEVELS.index(7_700) + 1

# Borders of chances in ten-thousandths, by the number of new tiles.
CHANCE_BORDERS = (
    (100, 200, 300, 400, 500, 700, 900, 1_200), (10, 25, 40, 60, 100, 150, 250, 400), (2, 5, 10, 20, 40, 80, 150, 250)
)  # fmt: skip
FEW_CHANCE_BORDERS = ((200, 350, 500, 800), (20, 50, 100, 250), (3, 10, 30, 100))
CLAIM_HIGH_CHANCE_BORDERS = ((150, 250, 350, 500, 700, 1_000), (10, 20, 40, 70, 120, 250), (1, 3, 5, 10, 25, 80))

TERMS = """\
A *way to win* with k new tiles from a hand of 14: give up k tiles and take k tiles that the seat has not seen, so that
the hand is complete and has a yaku. It counts for each kind that it gives up, allowed as a discard now or not: one goes
now, the others later. A hand of 13 tiles (another seat's turn, a kan) takes k tiles and gives up k - 1; its ways count
for all columns. Opponents, furiten, and whether riichi can still be declared (1,000 points, four tiles) are ignored. Of
two fives the plain one is given up first, and a five that comes is a plain one.

- *drawn*: the hand wins by tsumo, after riichi if it is closed.
- *called*: it wins by ron without riichi. A closed hand that lacks more than one tile has called chi or pon with a
  missing tile other than the winning one, which leaves no seven pairs; one that lacks one tile stays closed.
- Points: what all payers pay together, for the winning tile, the place of that tile and the called set that give most;
  a yakuman reaches every level. Not counted: ippatsu, double riichi, ura dora, last tiles, the replacement tile after a
  kan, kans to come, honba and sticks.
- Chance of a kind: of all sets of k unseen tiles the share that are the new tiles of one of its ways, not a chance
  within some number of turns.
"""


def _per_ten_thousand(borders: tuple[tuple[int, ...], ...]) -> str:
    return "; ".join(", ".join(map(str, row)) for row in borders)


_POINTS = ", ".join(f"{points:,}" for points in LEVELS)
_NUM_CHANCES = len(CHANCE_BORDERS[0])
LOOKAHEAD = (
    (
        "lookahead_drawn",
        (MAX_CHANGED, NUM_LEVELS),
        "giving up the kind and with up to 1, 2, 3 new tiles: a win by tsumo, if closed after riichi, of at least "
        f"{_POINTS} points",
    ),
    (
        "lookahead_called",
        (MAX_CHANGED, NUM_LEVELS),
        "the same by ron without riichi; with 2 or 3 new tiles a closed hand is opened by a call",
    ),
    (
        "lookahead_chance",
        (MAX_CHANGED, _NUM_CHANCES),
        "giving up the kind and with just 1, 2, 3 new tiles: chance of a win by tsumo, of 10,000 at least "
        + _per_ten_thousand(CHANCE_BORDERS),
    ),
    (
        "lookahead_high_chance",
        (MAX_CHANGED, len(FEW_CHANCE_BORDERS[0])),
        f"the same of {LEVELS[HIGH_LEVEL - 1]:,} points or more: " + _per_ten_thousand(FEW_CHANCE_BORDERS),
    ),
    (
        "lookahead_called_chance",
        (MAX_CHANGED, len(FEW_CHANCE_BORDERS[0])),
        "the same as in lookahead_called: " + _per_ten_thousand(FEW_CHANCE_BORDERS),
    ),
)
CLAIM_LOOKAHEAD = (
    ("claim_lookahead_drawn", (MAX_CHANGED, NUM_LEVELS), "lookahead_drawn of the hand after the claim or kan"),
    ("claim_lookahead_chance", (MAX_CHANGED, _NUM_CHANCES), "lookahead_chance of the hand after the claim or kan"),
    (
        "claim_lookahead_high_chance",
        (MAX_CHANGED, len(CLAIM_HIGH_CHANCE_BORDERS[0])),
        "its lookahead_high_chance: " + _per_ten_thousand(CLAIM_HIGH_CHANCE_BORDERS),
    ),
)
