"""The layout of the full encoding: 838 planes for discard and riichi, 958 for the claims (paper, Table 2).

The paper gives the totals and the ingredients (section 2.2: own hand, open tiles, rivers in order, dora, scores and
tiles left in buckets, categories, 100 and more look-ahead planes, the tiles of a claim), not the layout: this one is
ours. No plane belongs to one suit: exchanging suits exchanges columns and nothing else.

docs/features.md explains the terms of the look-ahead planes.
"""

from __future__ import annotations

from suphx.games.mahjong.planes import layout

MAX_CHANGED = 3
"""The most tiles of a way to win that a hand may lack."""

LEVELS = (1_000, 1_500, 2_000, 2_600, 3_900, 5_200, 7_700, 8_000, 12_000, 16_000, 24_000, 32_000)
"""Level i + 1 is reached with at least LEVELS[i] points; level 0 is not a win. A yakuman reaches them all."""
NUM_LEVELS = len(LEVELS)
HIGH_LEVEL = LEVELS.index(7_700) + 1

# Borders of chances in ten-thousandths, by the number of new tiles.
CHANCE_BORDERS = (
    (100, 200, 300, 400, 500, 700, 900, 1_200), (10, 25, 40, 60, 100, 150, 250, 400), (2, 5, 10, 20, 40, 80, 150, 250)
)  # fmt: skip
FEW_CHANCE_BORDERS = ((200, 350, 500, 800), (20, 50, 100, 250), (3, 10, 30, 100))
CLAIM_HIGH_CHANCE_BORDERS = ((150, 250, 350, 500, 700, 1_000), (10, 20, 40, 70, 120, 250), (1, 3, 5, 10, 25, 80))


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


RIVER_PLACES = 24
RIICHI_TURN_BORDERS = (6, 12)
NUM_KYOKU = 12
NUM_KYOKU_LEFT = 8
NUM_HONBA = 8
NUM_STICKS = 6
MAX_DORA = 5
MAX_DORA_HELD = 4
SCORE_BORDERS = (1_000, 4_000, 8_000, 12_000, 16_000, 20_000, 24_000, 28_000, 32_000, 36_000, 40_000, 45_000, 50_000,
                 55_000, 60_000)  # fmt: skip
DIFFERENCE_BORDERS = (-32_000, -24_000, -16_000, -12_000, -8_000, -4_000, -2_000, -1_000, 0, 1_000, 2_000, 4_000, 8_000,
                      12_000, 16_000, 24_000, 32_000)  # fmt: skip
NUM_TILES_LEFT = 21
SAFE_TILE_BORDERS = (1, 3, 6)
NUM_SHANTEN = 8
MAX_SHANTEN_AFTER = 6
UKEIRE_BORDERS = (1, 2, 4, 6, 8, 12, 16, 20, 26, 32, 40, 50)
CLAIM_UKEIRE_BORDERS = (4, 8, 16, 24)
NUM_CLAIM_SHANTEN = 7

_OWN_HAND = (
    ("hand", 4, "own concealed tiles, the drawn one included: count planes"),
    ("hand_red", 1, "the fives of which the red one is among them"),
    ("drawn", 1, "the kind just drawn"),
    ("phase", 4, "full: own turn, discard after riichi was declared, discard after a claim, another seat's turn"),
    ("discardable", 1, "the kinds that may be discarded now"),
)
_MELDS = (
    ("melds", (4, 4, 4), "4 seats x 4 melds in order x count planes of the meld's tiles"),
    ("meld_sources", (4, 4, 3), "4 seats x 4 melds x from the owner's shimocha, toimen, kamicha: the kind claimed"),
    ("meld_red", 4, "4 seats: the fives of which the red one is in a meld"),
    ("kans", (4, 3), "4 seats x ankan, minkan, kakan: the kinds"),
    ("closed", 4, "full: 4 seats: no meld but ankan"),
)
_RIVERS = (
    ("rivers", (4, RIVER_PLACES), "4 seats x the first 24 discards in order, called ones included: the kind"),
    ("tsumogiri", (4, RIVER_PLACES), "the same discards, where the tile was the one just drawn: the kind"),
    ("river_counts", (4, 4), "4 seats x all discards: count planes"),
    ("river_red", 4, "4 seats: the fives of which the red one was discarded"),
    ("called", 4, "4 seats: the kinds that others called out of the river"),
    ("riichi_tile", 4, "4 seats: the kind discarded with the riichi declaration"),
    ("riichi_turn", (4, 3), "full: 4 seats x discards before that one: below 6, below 12, more"),
    ("last_discard", 4, "4 seats: the kind discarded last"),
    ("last_tedashi", 4, "4 seats: the kind discarded last from the hand, not as it was drawn"),
)
_TILES = (
    ("dora_indicators", MAX_DORA, "the indicators in the order that they were turned over"),
    ("dora", 4, "count planes: how many times a kind is dora"),
    (
        "dora_held",
        (4, MAX_DORA_HELD),
        "full: 4 seats x at least 1 … 4 dora and red fives in melds, of the observer also in the hand",
    ),
    ("unseen", 4, "tiles that the observer does not see: count planes"),
    ("unseen_red", 1, "the fives of which the red one is not seen"),
)
_CATEGORIES = (
    ("seat_winds", 4, "4 seats: the kind of the wind"),
    ("round_wind", 1, "the kind of the round wind"),
    ("yakuhai", 4, "4 seats: the kinds of which three are a yaku: dragons, round wind, seat wind"),
    ("seat", 4, "full: the observer's seat, 0 = first dealer of the game"),
    ("kyoku", NUM_KYOKU, "full: East 1 … West 4"),
    ("kyoku_left", NUM_KYOKU_LEFT, "full: planned kyoku after this one: 0 … 6, 7 or more"),
    ("honba", NUM_HONBA, "full: honba 0 … 6, 7 or more"),
    ("sticks", NUM_STICKS, "full: riichi sticks on the table 0 … 4, 5 or more"),
    ("dealer", 4, "full: the dealer"),
    ("rules", 2, "full: open tanyao counts; there are red fives"),
)
_SCORES = (
    ("scores", (4, len(SCORE_BORDERS) + 1), "full: 4 seats x score in 16 buckets: 1, 4, 8 … 40, 45 … 60 thousand"),
    (
        "score_differences",
        (3, len(DIFFERENCE_BORDERS) + 1),
        "full: own score less that of 3 others: 0, ±1, 2, 4, 8, 12, 16, 24, 32 thousand",
    ),
    ("placement", (4, 4), "full: 4 seats x present placement 1-4; of equal scores the lower seat is ahead"),
    ("tiles_left", NUM_TILES_LEFT, "full: tiles left to draw: 0, 1, 2, 3, 4-7, 8-11 … 64-67, 68 or more"),
)
_STATES = (
    ("riichi", 4, "full: 4 seats, from the declaration on"),
    ("double_riichi", 4, "full: 4 seats, on the first turn"),
    ("ippatsu", 4, "full: 4 seats: a win now would have ippatsu"),
    ("stick_due", 1, "full: a riichi was declared and its tile has not passed yet"),
    ("kans_made", 4, "full: at least 1, 2, 3, 4 kans on the table"),
    ("first_turn", 1, "full: the observer has not discarded and nobody has called"),
    ("waits", 1, "the kinds that complete the own hand without the drawn tile; nothing after a claim"),
    (
        "furiten",
        3,
        "full: one of them is in the own river; let pass since the last discard, not in riichi; since the own riichi",
    ),
)
_SAFETY = (
    (
        "safe",
        3,
        "3 others: its river, and what it let pass since its last discard or riichi, but not a tile open to claims",
    ),
    ("suji", 3, "3 others: numbers, not safe, whose two-sided waits all have a safe other end"),
    ("half_suji", 3, "3 others: 4, 5, 6 not safe with one of two such ends safe"),
    (
        "two_sided",
        (3, 2),
        "3 others x at least 1, 2: two-sided waits that may exist: both tiles held unseen, neither end safe",
    ),
    ("closed_wait", 3, "3 others: the kinds that a closed wait may take: both neighbours unseen, the kind not safe"),
    ("edge_wait", 3, "3 others: the kinds that an edge wait (12, 89) may take: both tiles unseen, the kind not safe"),
    ("pair_wait", 3, "3 others: the kinds not safe of which at least two tiles are unseen"),
    ("single_wait", 3, "3 others: the kinds not safe of which at least one tile is unseen"),
    ("no_chance", 1, "numbers whose two-sided waits all need a kind of which no tile is unseen"),
    ("one_chance", 1, "the same with at most one tile unseen, and not no_chance"),
    ("safe_from_riichi", 1, "the kinds that are safe from every other seat in riichi; nothing without riichi"),
    ("safe_from_all", 1, "the kinds that are safe from all three"),
    (
        "safe_tiles_held",
        (3, len(SAFE_TILE_BORDERS)),
        "full: 3 others x own concealed tiles, the drawn one included, that are safe: at least 1, 3, 6",
    ),
)
_PROGRESS = (
    (
        "shanten",
        NUM_SHANTEN,
        "full: least shanten of the own hand, of 14 tiles that after its best discard: -1 (complete), 0 … 6",
    ),
    ("seven_pairs_shanten", 3, "full: hand without any meld at most 0, 1, 2 from seven pairs"),
    ("orphans_shanten", 3, "full: hand without any meld at most 0, 1, 2 from thirteen orphans"),
    ("shanten_after", MAX_SHANTEN_AFTER, "after discarding the kind, allowed or not: shanten at most 0, 1 … 5"),
    ("best_discard", 1, "the allowed discards that leave the least shanten"),
    (
        "ukeire",
        len(UKEIRE_BORDERS),
        "after one of these: unseen tiles that lower it, at least 1, 2, 4, 6, 8, 12, 16, 20, 26, 32, 40, 50",
    ),
    ("ukeire_kinds", 1, "the kinds that lower the shanten after any of these, whether a tile is unseen or not"),
    ("furiten_after", 1, "those of these that leave tenpai with furiten"),
)
_CLAIM_PARTS = (
    ("claimed", 1, "the kind claimed, or of which an own kan is made"),
    ("claimed_red", 1, "full: the claimed tile, the added one, or one of an ankan is a red five"),
    ("claimed_from", 3, "full: shimocha, toimen, kamicha; nothing for an own kan"),
    ("claim", 7, "full: chi with the claimed tile lowest, middle, highest; pon, minkan, ankan, kakan"),
    ("uses_red", 1, "full: a red five goes from the hand into the meld"),
    ("hand_after", 4, "own concealed tiles after the claim, before its discard or draw: count planes"),
    ("meld_after", 4, "the new meld: count planes"),
    ("closed_after", 1, "full: no meld but ankan after it"),
    ("forbidden_after", 1, "the kinds that may not be discarded after it (kuikae)"),
    ("claim_shanten", NUM_CLAIM_SHANTEN, "full: least shanten after the claim and its best discard: 0 … 5, 6 or more"),
    ("claim_advances", 1, "full: less than `shanten`, that of the hand as it is"),
    ("claim_discard", 1, "the allowed discards after it that leave this shanten"),
    ("claim_ukeire", len(CLAIM_UKEIRE_BORDERS), "after one of these: unseen tiles that lower it: 4, 8, 16, 24 or more"),
    ("claim_ukeire_kinds", 1, "the kinds that lower the shanten after any of these, whether a tile is unseen or not"),
    ("claim_tenpai", 1, "full: tenpai without furiten after one of these"),
    ("claim_yakuhai", 1, "full: the meld is a yaku by itself"),
    ("claim_dora", 3, "full: own dora and red fives after it: at least 1, 2, 3"),
    *CLAIM_LOOKAHEAD,
)  # fmt: skip

_PARTS = (
    *_OWN_HAND, *_MELDS, *_RIVERS, *_TILES, *_CATEGORIES, *_SCORES, *_STATES, *_SAFETY, *_PROGRESS, *LOOKAHEAD,
)  # fmt: skip

PUBLIC = layout("suphx", 2, _PARTS)
CLAIM = layout("suphx-claim", 2, _PARTS + _CLAIM_PARTS)

# The same with empty look-ahead planes: what they cost, and what they are worth to a net.
PLAIN = layout("suphx-plain", 2, _PARTS)
PLAIN_CLAIM = layout("suphx-plain-claim", 2, _PARTS + _CLAIM_PARTS)
