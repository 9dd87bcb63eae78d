"""The full encoding "suphx": 838 planes for discard and riichi, 958 for the claims (paper, sections 2.2 and 3.1).

paper_layout.py describes each plane. The first 838 planes are the same for every head.
"""

from __future__ import annotations

import numpy as np

from suphx.games.mahjong import planes
from suphx.games.mahjong.planes import CountMasks
from suphx.games.mahjong.shanten import Suits, special_counts, suit_rows, thirteen_orphans_shanten
from suphx.games.riichi.features.hand_value import NO_CLAIM
from suphx.games.riichi.features.lookahead import fill_lookahead
from suphx.games.riichi.features.own_hand import NO_DISCARD, fill_best_discards, fill_claim, fill_progress
from suphx.games.riichi.features.paper_layout import MAX_SHANTEN_AFTER, NUM_SHANTEN, PUBLIC, UKEIRE_BORDERS
from suphx.games.riichi.features.public import fill_open_tiles, fill_safety, fill_situation, own_discards
from suphx.games.riichi.features.suit_targets import Lookup
from suphx.games.riichi.legal import discardable_kinds
from suphx.games.riichi.shanten import seven_pairs_shanten
from suphx.games.riichi.table import OWN_TURN, Table
from suphx.games.riichi.tile import kind_of_face, red_kinds
from suphx.kernel.jit import jit
from suphx.kernel.record import U8

_PUBLIC_BYTES = PUBLIC.observation_bytes
_LAST_BITS = (1 << (PUBLIC.num_planes * planes.NUM_COLUMNS - 1) % 8 + 1) - 1

_AT = PUBLIC.first_planes()


@jit
def encode(lookup: Lookup, t: Table, seat: int, action: int, looks_ahead: bool, row: U8) -> None:
    """Fill ``row`` with what ``seat`` sees; nothing that is hidden from it has any influence.

    ``action`` is -1 for a discard or riichi decision: ``row`` is uint8 [PUBLIC.observation_bytes]. Otherwise it is the
    claim to be judged (PON, PON_RED, MINKAN, CHI …, ANKAN + k, KAKAN + k of table.py), possible in ``t``: ``row`` is
    uint8 [CLAIM.observation_bytes]. Old contents of ``row`` are overwritten. The look-ahead planes stay 0 unless
    ``looks_ahead``.
    """
    row[:] = 0
    hand = planes.count_masks(t.hand[seat])
    allowed = discardable_kinds(t, seat, hand[0])
    planes.set_counts(row, _AT.hand, hand)
    planes.set_kinds(row, _AT.hand_red, red_kinds(int(t.red[seat])))
    planes.set_kinds(row, _AT.discardable, allowed)
    if allowed == 0:
        planes.set_plane(row, _AT.phase + 3)
    else:
        planes.set_plane(row, _AT.phase + int(t.phase) - OWN_TURN)
        if t.drawn >= 0:
            planes.set_bit(row, _AT.drawn, int(kind_of_face(t.drawn)))
    unseen = fill_open_tiles(t, seat, hand, row)
    fill_situation(t, seat, row)
    fill_safety(t, seat, hand, unseen, row)
    now = _fill_progress(lookup.suits, t, seat, hand, allowed, unseen, row)
    if looks_ahead:
        fill_lookahead(lookup, t, seat, NO_CLAIM, unseen, row)
    if action >= 0:
        fill_claim(lookup.suits, t, seat, action, hand, unseen, now, row)
        if looks_ahead:
            fill_lookahead(lookup, t, seat, action, unseen, row)


@jit
def encode_other_claim(
    lookup: Lookup, t: Table, seat: int, action: int, looks_ahead: bool, known: U8, row: U8
) -> None:  # fmt: skip
    """Do the same as ``encode`` for one more claim of a decision, whose row for another claim is ``known``."""
    row[:_PUBLIC_BYTES] = known[:_PUBLIC_BYTES]
    # The last byte of the planes that all claims share belongs to the first plane of the claim, too.
    row[_PUBLIC_BYTES - 1] &= _LAST_BITS
    row[_PUBLIC_BYTES:] = 0
    unseen = (
        planes.get_kinds(row, _AT.unseen),
        planes.get_kinds(row, _AT.unseen + 1),
        planes.get_kinds(row, _AT.unseen + 2),
        planes.get_kinds(row, _AT.unseen + 3),
    )
    now = -1
    while planes.get_kinds(row, _AT.shanten + 1 + now) == 0:
        now += 1
    fill_claim(lookup.suits, t, seat, action, planes.count_masks(t.hand[seat]), unseen, now, row)
    if looks_ahead:
        fill_lookahead(lookup, t, seat, action, unseen, row)


@jit
def _fill_progress(
    suits: Suits, t: Table, seat: int, hand: CountMasks, allowed: int, unseen: CountMasks, row: U8
) -> int:  # fmt: skip
    """Fill shanten and ukeire; return the least shanten of the hand as it is."""
    after = np.empty(NO_DISCARD + 1, np.int64)
    helps = np.empty(NO_DISCARD + 1, np.int64)
    num_melds = int(t.num_melds[seat])
    least = fill_progress(suits, t.hand[seat], hand, num_melds, allowed, after, helps)
    for n in range(MAX_SHANTEN_AFTER):
        kinds = planes.full_if(after[NO_DISCARD] <= n)
        for discard in range(NO_DISCARD):
            kinds |= int(after[discard] <= n) << discard
        planes.set_kinds(row, _AT.shanten_after + n, kinds)
    best, kinds, _, furiten = fill_best_discards(
        own_discards(t, seat), allowed, least, after, helps, unseen, UKEIRE_BORDERS, row, _AT.ukeire
    )
    planes.set_kinds(row, _AT.best_discard, best)
    planes.set_kinds(row, _AT.ukeire_kinds, kinds)
    planes.set_kinds(row, _AT.furiten_after, furiten)
    now = int(after.min())
    if least == 0:
        for discard in range(NO_DISCARD):
            if allowed >> discard & 1 and after[discard] == 0 and helps[discard] >> discard & 1:
                now = -1  # the hand is complete
    planes.set_plane(row, _AT.shanten + min(now + 1, NUM_SHANTEN - 1))
    if num_melds == 0:
        counts = special_counts(suit_rows(suits, t.hand[seat]))
        for n in range(3):
            if seven_pairs_shanten(counts) <= n:
                planes.set_plane(row, _AT.seven_pairs_shanten + n)
            if thirteen_orphans_shanten(counts) <= n:
                planes.set_plane(row, _AT.orphans_shanten + n)
    return now
