"""All readings of the concealed tiles of an MCR hand as chows, pungs and a pair, suit by suit; single waits.

A suit is a *pack*: four bits for each rank, rank 0 lowest, so that nine ranks are one integer. A reading of a suit is
one integer as well::

    33     30 29        21 20                    0
    +--------+------------+-----------------------+
    | pair's | pungs, one | chows, three bits for |
    | rank+1 | bit a rank | each lowest rank      |
    +--------+------------+-----------------------+

Packs may have five tiles of a kind: a kind of which a player holds all four still counts as a wait.
"""

from __future__ import annotations

from suphx.games.mcr.fan_table import lowest_bit
from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64

MAX_SUIT_READINGS = 4  # 112233445566 with a pair, and 111222333
CHOW_BITS, PUNG_BITS = 21, 9
PUNGS_SHIFT, PAIR_SHIFT = CHOW_BITS, CHOW_BITS + PUNG_BITS

Packs = tuple[int, int, int, int]

_ONES = 0x111111111  # one for every rank
_EIGHTS = 8 * _ONES
_OVERDRAWN = ~(7 * _ONES)  # the bits of a pack that are set only if more tiles were taken than there are


@jit
def pack_suit(counts: I8, suit: int) -> int:
    """Return the pack of a suit of ``counts``, int8 (34,); suit 3 is the honours."""
    pack = 0
    for kind in range(33 if suit == 3 else 9 * suit + 8, 9 * suit - 1, -1):
        pack = pack << 4 | counts[kind]
    return pack


@jit
def tiles_of(pack: int) -> int:
    """Return how many tiles a pack has, at most 15."""
    return pack * _ONES >> 32 & 15


@jit
def _with_at_least(pack: int, count: int) -> int:
    """Return a pack with a one for every rank of ``pack`` with that many tiles or more."""
    return (pack + (8 - count) * _ONES & _EIGHTS) >> 3


@jit
def _pairs_of(pack: int) -> int:
    """Return a pack with a one for every rank that can be the pair of a suit: sets have ranks with a sum of 0 mod 3."""
    weighted = (pack >> 4 & 0x00F00F00F) + 2 * (pack >> 8 & 0x00F00F00F)
    residue = 2 * ((weighted & 0xFFF) + (weighted >> 12 & 0xFFF) + (weighted >> 24)) % 3
    return _with_at_least(pack, 2) & 0x001001001 << 4 * residue


@jit
def is_sets(pack: int) -> bool:
    """Tell whether a suit consists of chows and pungs."""
    while pack:
        shift = lowest_bit(pack) & ~3
        count = pack >> shift & 15
        if count >= 3:
            pack -= 3 << shift
            count -= 3
        pack -= count * 0x111 << shift
        if pack & _OVERDRAWN:
            return False
    return True


@jit
def is_sets_and_pair(pack: int) -> bool:
    """Tell whether a suit consists of chows, pungs and one pair."""
    pairs = _pairs_of(pack)
    while pairs:
        pair = pairs & -pairs
        if is_sets(pack - 2 * pair):
            return True
        pairs ^= pair
    return False


@jit
def read_suit(pack: int, readings: I64, first: int) -> int:
    """Write every reading of a suit to ``readings`` from place ``first`` on and return how many there are.

    ``readings`` has MAX_SUIT_READINGS places for it. The number of tiles decides whether there is a pair.
    """
    if pack == 0:
        readings[first] = 0
        return 1
    if tiles_of(pack) % 3 == 0:
        return _read_sets(pack, 0, readings, first) - first
    found = first
    pairs = _pairs_of(pack)
    while pairs:
        pair = pairs & -pairs
        rank = lowest_bit(pair) >> 2
        found = _read_sets(pack - 2 * pair, (rank + 1) << PAIR_SHIFT, readings, found)
        pairs ^= pair
    return found - first


@jit
def _read_sets(pack: int, pair: int, readings: I64, found: int) -> int:
    """Try every choice of ranks with three tiles as pungs; the rest must then be chows."""
    triples = pungs = _with_at_least(pack, 3)
    while True:
        chows = _read_chows(pack - 3 * pungs)
        if chows >= 0:
            readings[found] = pair | _ranks_of(pungs) << PUNGS_SHIFT | chows
            found += 1
        if pungs == 0:
            return found
        pungs = pungs - 1 & triples


@jit
def _read_chows(pack: int) -> int:
    """Return the chows of a pack, three bits for each lowest rank; -1 if tiles are left."""
    chows = 0
    while pack:
        rank = lowest_bit(pack) >> 2
        count = pack >> 4 * rank & 15
        pack -= count * 0x111 << 4 * rank
        if pack & _OVERDRAWN:
            return -1
        chows |= count << 3 * rank
    return chows


@jit
def _ranks_of(ones: int) -> int:
    """Return the bit set of the ranks of a pack of ones."""
    ranks = 0
    while ones:
        ranks |= 1 << (lowest_bit(ones) >> 2)
        ones &= ones - 1
    return ranks


@jit
def read_honours(pack: int) -> int:
    """Return the only reading of the honours, or -1."""
    pungs = pack & pack >> 1 & _ONES
    pair = ~pack & pack >> 1 & _ONES
    if pack != 3 * pungs + 2 * pair or pair & pair - 1:
        return -1
    reading = _ranks_of(pungs) << PUNGS_SHIFT
    return reading | ((lowest_bit(pair) >> 2) + 1) << PAIR_SHIFT if pair else reading


@jit
def is_only_wait(packs: Packs, win_kind: int, has_melds: bool) -> bool:
    """Tell whether the tiles without one of ``win_kind`` wait for this kind alone: standard hands and seven pairs.

    ``packs`` are the four suits with the winning tile; in one of their readings it is in the pair or in a chow.
    """
    suit, rank = win_kind // 9, win_kind % 9
    if suit < 3:  # an honour completes the pair: no other tile does
        before = packs[suit] - (1 << 4 * rank)
        if tiles_of(packs[suit]) % 3 == 2:  # the pair's suit: a tile of another suit would not fit
            for other in range(9):
                if other != rank and _is_near(before, other) and is_sets_and_pair(before + (1 << 4 * other)):
                    return False
        else:
            for other in range(rank % 3, 9, 3):
                if other != rank and _is_near(before, other) and is_sets(before + (1 << 4 * other)):
                    return False
            if is_sets_and_pair(before) and _pair_can_grow(packs):
                return False
    return has_melds or not _waits_for_another_pair(packs, suit, rank)


@jit
def _is_near(pack: int, rank: int) -> bool:
    """Tell whether a tile of ``rank`` could be in a set or pair with others of the pack."""
    return pack << 8 >> 4 * rank & 0xFFFFF != 0


@jit
def _pair_can_grow(packs: Packs) -> bool:
    """Tell whether one tile more makes sets of the suit that has the pair."""
    if packs[3] and tiles_of(packs[3]) % 3 == 2:
        return True  # the pair of honours becomes a pung
    for suit in range(3):
        pack = packs[suit]
        if tiles_of(pack) % 3 == 2:
            for rank in range(9):
                if _is_near(pack, rank) and is_sets(pack + (1 << 4 * rank)):
                    return True
    return False


@jit
def _waits_for_another_pair(packs: Packs, suit: int, rank: int) -> bool:
    """Tell whether the tiles without the winning one are six pairs and a single tile of another kind."""
    if packs[suit] >> 4 * rank & 1 == 0:
        return False
    num_odd = -1  # the winning kind
    for pack in packs:
        num_odd += tiles_of(pack & _ONES)
    return num_odd == 1
