"""The scripted agents random, robot, fanfou_ba, fanfou_op, fanfou_mc and ukeire; all as kernels.

All win whenever they can; ``random`` else makes any legal move. ``ukeire`` keeps the lowest shanten, with the most
unseen tiles that lower it, and claims what lowers it; pungs, which pay, and kongs as the Fanfou agents do need not.
The others are those of Wang, Qiao, Liang, Xie,
"Research on mahjong game based on prior knowledge and Monte Carlo simulation", CAAI Transactions on Intelligent Systems
17(1), 2022, 69-78:

- ``robot`` discards at random and claims as ``fanfou_op``.
- ``fanfou_ba`` discards by four lists (discard_lists.py) and claims what breaks no triplets and not two pairs.
- ``fanfou_op`` also chooses what it waits for, collects seven pairs and pungs, and chows by a table.
- ``fanfou_mc`` plays as ``fanfou_op`` until others are ready. Then it samples ready hands out of the tiles that it does
  not see, and discards what wins the fewest of them. It chooses among the first list that is not empty, as the paper
  says; ``fanfou_mc_programs`` chooses among all four, as the authors' programs do.

An agent reads nothing that is hidden from the seat that decides. What it draws at random depends on the seed of the
hand and the number of the decision only. Where ready hands are declared, ``robot`` and ``fanfou_ba`` declare as soon as
the tile that they discard anyway leaves one.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from suphx.games.dazhong.discard_lists import (
    KINDS_IN_ORDER,
    MAX_LENGTH,
    NUM_LISTS,
    SUIT_STARTS,
    count_pairs,
    fill_first_list,
    fill_list,
)
from suphx.games.dazhong.hands import claim_shanten, hand_shanten, wait_kinds, weigh_discards
from suphx.games.dazhong.names import AGENTS
from suphx.games.dazhong.table import (
    CHOW,
    CLAIM,
    DECLARE,
    DISCARD,
    KONG,
    NO_KIND,
    NUM_KINDS,
    NUM_SEATS,
    OWN_TURN,
    PASS,
    PUNG,
    START,
    TING,
    WIN,
    Table,
)
from suphx.games.mahjong.ready_hands import (
    PAIRS_OF_PAIRS,
    TENPAI_TABLE,
    TENPAI_WEIGHTS,
    TenpaiTable,
    TenpaiWeights,
    draw_tenpai,
    load_tenpai_table,
    weigh_tenpai,
)
from suphx.games.mahjong.shanten import Suits
from suphx.games.mahjong.tile import CHI_MELD
from suphx.kernel.jit import jit
from suphx.kernel.random_number import draw_number, seed_counter
from suphx.kernel.record import I8, I64, U8, field, record_dtype

RANDOM, ROBOT, BA, OP = (AGENTS.index(name) for name in ("random", "robot", "fanfou_ba", "fanfou_op"))
MC, MC_PROGRAMS, UKEIRE = (AGENTS.index(name) for name in ("fanfou_mc", "fanfou_mc_programs", "ukeire"))
NUM_SAMPLES = 10
"""Hands that fanfou_mc draws for each opponent that is ready."""
_MIN_PAIRS = 5
_MIN_PUNGS = 4
_MAX_SEED = 2**62 - 1


class Tools:
    """What the agents need besides a table: how ready hands are drawn, and scratch, so each thread needs its own."""

    tenpai: TenpaiTable = field(TENPAI_TABLE)
    weights: TenpaiWeights = field(TENPAI_WEIGHTS)
    kinds: I8 = field("i1", MAX_LENGTH)
    unseen: I64 = field("i8", 34)
    ukeire: I64 = field("i8", NUM_KINDS)
    sample: I8 = field("i1", 34)
    wins: I64 = field("i8", NUM_KINDS)
    random: I64 = field("i8", 1)


TOOLS = record_dtype(Tools)


def load_tools() -> Tools:
    """Return new tools."""
    tools = np.zeros(1, TOOLS)
    tools["tenpai"] = load_tenpai_table()
    return cast(Tools, tools.view(np.dtype((np.record, TOOLS)))[0])


@jit
def choose_scripted(t: Table, suits: Suits, tools: Tools, agent: int) -> int:
    """Return the move of an agent, a place in ``AGENTS``, for the seat that decides."""
    if t.legal[WIN]:
        return WIN
    if agent == RANDOM:
        return _draw(t, tools, t.legal)
    if t.phase == OWN_TURN:
        return _choose_turn(t, suits, tools, agent)
    if t.phase == CLAIM:
        return _claim_of_ukeire(t, suits) if agent == UKEIRE else _choose_claim(t, agent)
    return DECLARE if t.phase == START else PASS


@jit
def _choose_turn(t: Table, suits: Suits, tools: Tools, agent: int) -> int:
    seat = t.actor
    if agent == BA or not _collects_pairs(t, seat):
        kong = _find_kong(t, seat)
        if kong != NO_KIND:
            return KONG + kong
    if t.ready[seat]:
        return DISCARD + t.drawn
    if agent == ROBOT:
        kind = _draw(t, tools, t.hand[seat])
    elif agent == BA:
        kind = _choose_by_lists(t, tools, agent, seat)
    elif agent == UKEIRE:
        kind = _choose_by_ukeire(t, suits, tools, seat)
    else:
        kind = _find_ting(t, suits, tools, seat)
        if kind == NO_KIND:
            return DISCARD + _choose_discard(t, suits, tools, agent, seat)
    return (TING if t.legal[TING + kind] else DISCARD) + kind


@jit
def _find_kong(t: Table, seat: int) -> int:
    """Return the first concealed kong, or the drawn tile if it can be added to a pung, or NO_KIND."""
    for kind in KINDS_IN_ORDER:
        if t.legal[KONG + kind] and t.hand[seat, kind] == 4:
            return kind
    return t.drawn if t.drawn != NO_KIND and t.legal[KONG + t.drawn] else NO_KIND


@jit
def _find_ting(t: Table, suits: Suits, tools: Tools, seat: int) -> int:
    """Return the discard that leaves a ready hand with the most winning tiles, at least two, or NO_KIND (algorithm 2).

    Tiles that are shown or in the hand, a winning tile that is discarded included, cannot be drawn.
    """
    if hand_shanten(suits, t.hand[seat], t.num_melds[seat]) > 0:
        return NO_KIND
    kind = _choose_by_ukeire(t, suits, tools, seat)
    return kind if tools.ukeire[kind] > 1 else NO_KIND


@jit
def _choose_by_ukeire(t: Table, suits: Suits, tools: Tools, seat: int) -> int:
    """Return the first discard after which most unseen tiles lower the lowest shanten, and fill ``tools.ukeire``."""
    unseen = np.int8(4) - t.hand[seat] - t.shown
    weigh_discards(suits, t.hand[seat], t.num_melds[seat], unseen, tools.ukeire)
    best = KINDS_IN_ORDER[0]
    for kind in KINDS_IN_ORDER:
        if tools.ukeire[kind] > tools.ukeire[best]:
            best = kind
    return best


@jit
def _choose_discard(t: Table, suits: Suits, tools: Tools, agent: int, seat: int) -> int:
    """Return the discard of fanfou_op or fanfou_mc when the hand does not become ready."""
    kind = NO_KIND
    if _collects_pairs(t, seat):
        kind = _first_of(t, seat, 1 << 1 | 1 << 3 | 1 << 4, 1 << 1 | 1 << 3)
    elif _collects_pungs(t, seat):
        kind = _first_of(t, seat, 1 << 1, 1 << 1)
    if kind != NO_KIND:
        return kind
    is_threatened = False
    for other in range(NUM_SEATS):
        is_threatened |= other != seat and t.ready[other] != 0
    if agent != OP and is_threatened:
        return _choose_safest(t, suits, tools, agent, seat)
    return _choose_by_lists(t, tools, agent, seat)


@jit
def _collects_pairs(t: Table, seat: int) -> bool:
    return t.num_melds[seat] == 0 and count_pairs(t.hand[seat]) >= _MIN_PAIRS


@jit
def _collects_pungs(t: Table, seat: int) -> bool:
    pungs = t.num_melds[seat]
    for i in range(t.num_melds[seat]):
        if t.meld_type[seat, i] == CHI_MELD:
            return False
    for kind in range(NUM_KINDS):
        pungs += t.hand[seat, kind] >= 3
    return pungs >= _MIN_PUNGS


@jit
def _first_of(t: Table, seat: int, shown_counts: int, counts: int) -> int:
    """Return the first kind that was shown and of which the hand has a number in a bit set, else the first kind of
    which it has one in another, or NO_KIND."""
    found = NO_KIND
    for kind in KINDS_IN_ORDER:
        count = t.hand[seat, kind]
        if t.shown[kind] > 0 and shown_counts >> count & 1:
            return kind
        if found == NO_KIND and counts >> count & 1:
            found = kind
    return found


@jit
def _choose_by_lists(t: Table, tools: Tools, agent: int, seat: int) -> int:
    """Return the first shown tile of the first list, else its first tile (algorithm 1)."""
    length = fill_first_list(t.hand[seat], tools.kinds)
    for i in range(length):
        if t.shown[tools.kinds[i]] > 0:
            return tools.kinds[i]
    if length == 0:
        length = _fill_rest(t, agent, seat, tools.kinds)
    return tools.kinds[0] if length > 0 else _draw(t, tools, t.hand[seat])


@jit
def _fill_rest(t: Table, agent: int, seat: int, kinds: I8) -> int:
    """Write what may be discarded if all lists are empty, the best first, and return how many kinds these are."""
    hand = t.hand[seat]
    pairs, triplets = count_pairs(hand), 0
    for kind in range(NUM_KINDS):
        triplets += hand[kind] == 3
    if agent != BA and pairs > 0 and (pairs > 1 or pairs + triplets > 2):
        length = 0
        for kind in KINDS_IN_ORDER:
            if hand[kind] == 2 and t.shown[kind] > 0:
                kinds[length] = kind
                length += 1
        length = _append_close_pairs(hand, kinds, length)
        for kind in KINDS_IN_ORDER:
            if hand[kind] == 2:
                kinds[length] = kind
                length += 1
        return length
    length = 0
    if agent == BA or pairs == 1:
        length = _append_runs_of_two(t, hand, kinds, length, True)
    return _append_runs_of_two(t, hand, kinds, length, False)


@jit
def _append_close_pairs(hand: I8, kinds: I8, length: int) -> int:
    """Append pairs with another pair one or two ranks away."""
    for start in SUIT_STARTS:
        for kind in range(start + 2, start + 7):
            has_low, has_high = hand[kind - 1] == 2, hand[kind + 1] == 2
            has_lowest, has_highest = hand[kind - 2] == 2, hand[kind + 2] == 2
            if hand[kind] == 2 and (has_low or has_high or has_lowest or has_highest):
                kinds[length] = kind
                length += 1
            if has_high and has_highest:
                kinds[length] = kind + 2
                length += 1
            if has_low and has_lowest:
                kinds[length] = kind - 2
                length += 1
    return length


@jit
def _append_runs_of_two(t: Table, hand: I8, kinds: I8, length: int, needs_shown: bool) -> int:
    """Append the lower one of two single neighbours that touch nothing; if asked, only if a tile was shown that
    completes a run."""
    for start in SUIT_STARTS:
        for kind in range(start + 1, start + 7):
            is_alone = hand[kind - 1] == 0 and hand[kind + 2] == 0
            is_wanted = not needs_shown or t.shown[kind - 1] > 0 or t.shown[kind + 2] > 0
            if hand[kind] == 1 and hand[kind + 1] == 1 and is_alone and is_wanted:
                kinds[length] = kind
                length += 1
    return length


@jit
def _draw(t: Table, tools: Tools, weights: I8 | U8) -> int:
    """Return a random place of ``weights``, each as likely as its number says."""
    _seed_random(t, tools)
    place = draw_number(tools.random, weights.sum())
    for i in range(len(weights)):
        place -= weights[i]
        if place < 0:
            return i
    return -1


@jit
def _seed_random(t: Table, tools: Tools) -> None:
    seed_counter(tools.random, int(t.seed) + int(t.num_decisions) * 0x9E3779B1 & _MAX_SEED)


@jit
def _choose_safest(t: Table, suits: Suits, tools: Tools, agent: int, seat: int) -> int:
    """Return the candidate that wins the fewest of the hands that are drawn for the others that are ready, the first
    one of several (algorithm 3)."""
    hand, kinds = t.hand[seat], tools.kinds
    length = 0
    if agent == MC_PROGRAMS:
        for number in range(1, NUM_LISTS + 1):
            length = fill_list(hand, number, kinds, length)
    else:
        length = fill_first_list(hand, kinds)
    if length == 0:
        length = _fill_rest(t, agent, seat, kinds)
    if length == 0:
        return _draw(t, tools, t.hand[seat])
    count_wins(t, suits, tools, seat, NUM_SAMPLES)
    best = kinds[0]
    for i in range(1, length):
        if tools.wins[kinds[i]] < tools.wins[best]:
            best = kinds[i]
    return best


@jit
def count_wins(t: Table, suits: Suits, tools: Tools, seat: int, num_samples: int) -> None:
    """Fill ``tools.wins``: how many of the sampled hands win with each kind, of all others that are ready together.

    A sample is a ready hand out of the tiles that ``seat`` does not see, each set of tiles as likely as another.
    """
    _seed_random(t, tools)
    tools.wins[:] = 0
    for kind in range(NUM_KINDS):
        tools.unseen[kind] = 4 - t.hand[seat, kind] - t.shown[kind]
    weigh_tenpai(tools.tenpai, tools.weights, tools.unseen, PAIRS_OF_PAIRS)
    for other in range(NUM_SEATS):
        if other != seat and t.ready[other]:
            num_melds = t.num_melds[other]
            for _ in range(num_samples):
                if not draw_tenpai(tools.tenpai, suits, tools.weights, num_melds, tools.sample, tools.random):
                    break
                waits = wait_kinds(suits, tools.sample, num_melds)
                for kind in range(NUM_KINDS):
                    tools.wins[kind] += waits >> kind & 1


@jit
def _choose_claim(t: Table, agent: int) -> int:
    seat, kind = t.actor, t.claimed
    if agent != BA and _collects_pairs(t, seat):
        return PASS
    if t.legal[KONG + kind]:
        return KONG + kind
    if t.legal[PUNG] and t.hand[seat, kind] == 2:
        return PUNG
    chow = _chow_of_ba(t, seat, kind) if agent == BA else _chow_of_op(t, seat, kind)
    return PASS if chow == NO_KIND else CHOW + chow


@jit
def _claim_of_ukeire(t: Table, suits: Suits) -> int:
    """Return a kong, else the claim that lowers the shanten, a pung before a chow, or a pung that leaves it."""
    hand, num_melds, kind = t.hand[t.actor], t.num_melds[t.actor], t.claimed
    if t.legal[KONG + kind]:
        return KONG + kind
    best, least = PASS, hand_shanten(suits, hand, num_melds)
    for move in range(CHOW, PUNG + 1):
        if t.legal[move]:
            after = claim_shanten(suits, hand, num_melds, kind, move)
            if after < least or (after == least and move == PUNG):
                best, least = move, after
    return best


@jit
def _chow_of_ba(t: Table, seat: int, claimed: int) -> int:
    """Return the lowest kind of the first chow that is possible, or NO_KIND if it breaks a triplet or two pairs."""
    for lowest in range(max(claimed - 2, 0), claimed + 1):
        if t.legal[CHOW + lowest]:
            pairs = 0
            for kind in range(lowest, lowest + 3):
                count = t.hand[seat, kind] + (kind == claimed)
                if count >= 3:
                    return NO_KIND
                pairs += count == 2
            return lowest if pairs < 2 else NO_KIND
    return NO_KIND


_ONE, _TWO, _THREE, _NONE = 0, 1, 2, 3
"""Classes of chows, by what the hand gives: two single tiles, a pair and a single one, two pairs; none of these."""
_ORDERS = ((_THREE, _ONE, _TWO), (_THREE, _TWO, _ONE))
"""Which classes come first, by the number of own tiles of the claimed kind."""


@jit
def _chow_of_op(t: Table, seat: int, claimed: int) -> int:
    """Return the lowest kind of the best chow (table 2), or NO_KIND."""
    number = t.hand[seat, claimed]
    if number >= 2:
        return NO_KIND
    highest = claimed - claimed % 9 + 6
    for wanted in _ORDERS[number]:
        prefers_end = number == 0 or wanted == _ONE
        if prefers_end and highest <= claimed and _chow_class(t, seat, claimed, highest) == wanted:
            return highest
        for lowest in range(max(claimed - 2, 0), claimed + 1):
            if _chow_class(t, seat, claimed, lowest) == wanted:
                return lowest
    return NO_KIND


@jit
def _chow_class(t: Table, seat: int, claimed: int, lowest: int) -> int:
    """Return the class of a chow; _NONE also if it is not legal."""
    if not t.legal[CHOW + lowest]:
        return _NONE
    hand = t.hand[seat]
    pairs = 0
    for kind in range(lowest, lowest + 3):
        if kind != claimed:
            if hand[kind] > 2:
                return _NONE
            pairs += hand[kind] == 2
    if pairs == 2 and lowest == claimed - 1 and hand[claimed] != 1 and not _has_single_wings(hand, claimed):
        return _NONE
    return pairs


@jit
def _has_single_wings(hand: I8, claimed: int) -> bool:
    """Tell whether beside the neighbours of a 4, 5 or 6 are two single tiles on one side, and one on the other."""
    if not 3 <= claimed % 9 <= 5:
        return False
    if hand[claimed - 2] != 1 or hand[claimed + 2] != 1:
        return False
    return hand[claimed - 3] == 1 or hand[claimed + 3] == 1
