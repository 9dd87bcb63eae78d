"""Tenhou's 16-bit meld code (attribute ``m`` of the tag N) to and from tile ids.

Bits 0-1: relative seat of the source (0 = own tiles, 3 = kamicha). Then, by the lowest set flag:
chi 0x04, pon 0x08, kakan 0x10, three-player nuki 0x20, none of them = closed or open kan.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from suphx.games.riichi.table.action import ANKAN, CHI, CHI_RED, KAKAN, MINKAN, PON, PON_RED
from suphx.games.riichi.table.table import ANKAN_MELD, CHI_MELD, KAKAN_MELD, MINKAN_MELD, PON_MELD
from suphx.games.riichi.table.tile import NUM_KINDS, RED_IDS

_CHI_FLAG, _PON_FLAG, _KAKAN_FLAG, _NUKI_FLAG = 0x04, 0x08, 0x10, 0x20
_ANKAN_TILE = 0x300
_MAX_CODE = 0xFFFF
_NUM_RUNS = 21  # lowest tiles of runs: 1-7 in three suits
_KAMICHA = 3


class Meld(NamedTuple):
    """One call in tile ids; ``type`` is a kind of meld of table.py."""

    type: int
    tiles: tuple[int, ...]
    """All tiles of the meld, ascending; four for every kan."""
    called: int
    """The tile taken from another seat; -1 for ankan."""
    source: int
    """Relative seat that it came from (1 shimocha, 2 toimen, 3 kamicha); 0 for ankan."""
    added: int = -1
    """The tile that made a pon a kakan, else -1."""

    def hand_tiles(self) -> tuple[int, ...]:
        """Return the ids that leave the caller's hand with this call."""
        if self.type == KAKAN_MELD:
            return (self.added,)
        return tuple(tile for tile in self.tiles if tile != self.called)

    def action(self) -> int:
        """Return the action (action.py) that makes this call."""
        kind = self.tiles[0] >> 2
        if self.type == ANKAN_MELD:
            return ANKAN + kind
        if self.type == KAKAN_MELD:
            return KAKAN + kind
        if self.type == MINKAN_MELD:
            return MINKAN
        has_red = any(tile in RED_IDS for tile in self.hand_tiles())
        if self.type == PON_MELD:
            return PON_RED if has_red else PON
        return (CHI_RED if has_red else CHI) + self.tiles.index(self.called)


@lru_cache(maxsize=1 << 14)
def decode_meld(code: int) -> Meld:
    """Return the meld of a code; ValueError if no four-player call has this code."""
    if not 0 <= code <= _MAX_CODE:
        raise ValueError(f"meld code {code} is outside 0-{_MAX_CODE}")
    if code & _CHI_FLAG:
        meld = _decode_chi(code)
    elif code & (_PON_FLAG | _KAKAN_FLAG):
        meld = _decode_triplet(code)
    elif code & _NUKI_FLAG:
        raise ValueError(f"meld code {code} is a three-player nuki")
    else:
        meld = _decode_kan(code)
    known = code & ~_ANKAN_TILE if meld.type == ANKAN_MELD else code  # records name any of the four tiles
    if encode_meld(meld) != known:
        raise ValueError(f"meld code {code} has bits that no call has")
    return meld


def encode_meld(meld: Meld) -> int:
    """Return Tenhou's code of a sound meld (the inverse of ``decode_meld``)."""
    kind = meld.tiles[0] >> 2
    if meld.type == CHI_MELD:
        run = kind // 9 * 7 + kind % 9
        code = (run * 3 + meld.tiles.index(meld.called)) << 10 | _CHI_FLAG | meld.source
        for shift, tile in zip((3, 5, 7), meld.tiles, strict=True):
            code |= (tile & 3) << shift
        return code
    if meld.type in (PON_MELD, KAKAN_MELD):
        triplet = [tile for tile in meld.tiles if tile != meld.added]
        unused = 6 - sum(tile & 3 for tile in triplet)
        flag = _PON_FLAG if meld.type == PON_MELD else _KAKAN_FLAG
        return (kind * 3 + triplet.index(meld.called)) << 9 | unused << 5 | flag | meld.source
    first = meld.tiles[0] if meld.type == ANKAN_MELD else meld.called
    return first << 8 | meld.source


def _decode_chi(code: int) -> Meld:
    run, position = divmod(code >> 10, 3)
    if run >= _NUM_RUNS or code & 3 != _KAMICHA:
        raise ValueError(f"meld code {code} is not a chi: a run 123 to 789, taken from kamicha")
    kind = run // 7 * 9 + run % 7
    tiles = tuple((kind + step) * 4 + (code >> 3 + 2 * step & 3) for step in range(3))
    return Meld(CHI_MELD, tiles, tiles[position], _KAMICHA)


def _decode_triplet(code: int) -> Meld:
    kind, position = divmod(code >> 9, 3)
    if kind >= NUM_KINDS or code & 3 == 0:
        raise ValueError(f"meld code {code} is not a pon: a kind 0-33, taken from another seat")
    quad = tuple(range(kind * 4, kind * 4 + 4))
    unused = quad[code >> 5 & 3]
    triplet = tuple(tile for tile in quad if tile != unused)
    if code & _PON_FLAG:
        return Meld(PON_MELD, triplet, triplet[position], code & 3)
    return Meld(KAKAN_MELD, quad, triplet[position], code & 3, unused)


def _decode_kan(code: int) -> Meld:
    first = code >> 8
    kind = first >> 2
    if kind >= NUM_KINDS:
        raise ValueError(f"meld code {code} is not a kan: a tile id 0-135")
    quad = tuple(range(kind * 4, kind * 4 + 4))
    source = code & 3
    if source == 0:
        return Meld(ANKAN_MELD, quad, -1, 0)
    return Meld(MINKAN_MELD, quad, first, source)
