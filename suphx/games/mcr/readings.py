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

from suphx.kernel.jit import jit
from suphx.kernel.record import I8, I64

MAX_SUIT_READINGS = 16
CHOW_BITS, PUNG_BITS = 21, 9
PUNGS_SHIFT, PAIR_SHIFT = CHOW_BITS, CHOW_BITS + PUNG_BITS

_SUM = 0x111111111  # times a pack: the number of tiles, four bits from bit 32 on
_ODD = 0x111111111  # the lowest bit of every rank


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
    return pack * _SUM >> 32 & 15


@jit
def _count(pack: int, rank: int) -> int:
    return pack >> 4 * rank & 15


@jit
def _rank_sum(pack: int) -> int:
    """Return the sum of all ranks modulo 3: 0 for sets of any sort."""
    weighted = (pack >> 4 & 0x00F00F00F) + 2 * (pack >> 8 & 0x00F00F00F)
    return ((weighted & 0xFFF) + (weighted >> 12 & 0xFFF) + (weighted >> 24)) % 3


@jit
def is_sets(pack: int, is_suited: bool) -> bool:
    """Tell whether a pack consists of chows and pungs; honours have pungs only."""
    while pack:
        count = pack & 15
        pack >>= 4
        if count >= 3:
            count -= 3
        if count:
            if not is_suited or pack & 15 < count or pack >> 4 & 15 < count:
                return False
            pack -= count * 0x11
    return True


@jit
def is_sets_and_pair(pack: int, is_suited: bool) -> bool:
    """Tell whether a pack consists of chows, pungs and one pair."""
    residue = 2 * _rank_sum(pack) % 3  # the pair's rank modulo 3
    for rank in range(9):
        if (
            _count(pack, rank) >= 2
            and (not is_suited or rank % 3 == residue)
            and is_sets(pack - (2 << 4 * rank), is_suited)
        ):
            return True
    return False


@jit
def read_suit(pack: int, is_suited: bool, readings: I64) -> int:
    """Write every reading of a suit to ``readings``, int64 (MAX_SUIT_READINGS,), and return how many there are.

    The number of tiles decides whether there is a pair.
    """
    if pack == 0:
        readings[0] = 0
        return 1
    if tiles_of(pack) % 3 == 0:
        return _read_sets(pack, is_suited, 0, readings, 0)
    found = 0
    residue = 2 * _rank_sum(pack) % 3
    for rank in range(9):
        if _count(pack, rank) >= 2 and (not is_suited or rank % 3 == residue):
            found = _read_sets(pack - (2 << 4 * rank), is_suited, (rank + 1) << PAIR_SHIFT, readings, found)
    return found


@jit
def _read_sets(pack: int, is_suited: bool, pair: int, readings: I64, found: int) -> int:
    """Try every choice of ranks with three tiles as pungs; the rest must then be chows."""
    triples = 0  # ranks with three tiles or four
    for rank in range(9):
        triples |= int(_count(pack, rank) >= 3) << rank
    pungs = triples
    while True:
        rest = pack
        for rank in range(9):
            rest -= 3 * (pungs >> rank & 1) << 4 * rank
        chows = _read_chows(rest, is_suited)
        if chows >= 0 and found < MAX_SUIT_READINGS:
            readings[found] = pair | pungs << PUNGS_SHIFT | chows
            found += 1
        if pungs == 0 or not is_suited:
            return found
        pungs = pungs - 1 & triples


@jit
def _read_chows(pack: int, is_suited: bool) -> int:
    """Return the chows of a pack, three bits for each lowest rank; -1 if tiles are left."""
    chows = shift = 0
    while pack:
        count = pack & 15
        pack >>= 4
        if count:
            if not is_suited or pack & 15 < count or pack >> 4 & 15 < count:
                return -1
            pack -= count * 0x11
            chows |= count << shift
        shift += 3
    return chows


@jit
def is_only_wait(packs: tuple[int, int, int, int], win_kind: int, has_melds: bool) -> bool:
    """Tell whether the tiles without one of ``win_kind`` wait for this kind alone: standard hands and seven pairs.

    ``packs`` are the four suits with the winning tile, which can be read as sets and a pair.
    """
    suit, rank = win_kind // 9, win_kind % 9
    is_suited = suit < 3
    before = packs[suit] - (1 << 4 * rank)
    if tiles_of(packs[suit]) % 3 == 2:  # the pair's suit: a tile of another suit would not fit
        for other in range(9 if is_suited else 7):
            is_candidate = other != rank and _is_near(before, other, is_suited)
            if is_candidate and is_sets_and_pair(before + (1 << 4 * other), is_suited):
                return False
    else:
        if is_suited:
            for other in range(rank % 3, 9, 3):
                if other != rank and _is_near(before, other, True) and is_sets(before + (1 << 4 * other), True):
                    return False
        if is_sets_and_pair(before, is_suited) and _pair_can_grow(packs):
            return False
    return has_melds or not _waits_for_another_pair(packs, suit, rank)


@jit
def _is_near(pack: int, rank: int, is_suited: bool) -> bool:
    """Tell whether a tile of ``rank`` could be in a set or pair with others of the pack."""
    window = pack << 8 >> 4 * rank
    return window & (0xFFFFF if is_suited else 0x00F00) != 0


@jit
def _pair_can_grow(packs: tuple[int, int, int, int]) -> bool:
    """Tell whether one tile more makes sets of the suit that has the pair."""
    if tiles_of(packs[3]) % 3 == 2:
        return True  # the pair of honours becomes a pung
    for suit in range(3):
        pack = packs[suit]
        if tiles_of(pack) % 3 == 2:
            for rank in range(9):
                if _is_near(pack, rank, True) and is_sets(pack + (1 << 4 * rank), True):
                    return True
    return False


@jit
def _waits_for_another_pair(packs: tuple[int, int, int, int], suit: int, rank: int) -> bool:
    """Tell whether the tiles without the winning one are six pairs and a single tile of another kind."""
    num_odd = 0
    for other in range(4):
        odd = packs[other] & _ODD
        if other == suit:
            odd ^= 1 << 4 * rank
        num_odd += tiles_of(odd)
    return num_odd == 1 and packs[suit] >> 4 * rank & 1 == 1
