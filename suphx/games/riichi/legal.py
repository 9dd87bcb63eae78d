"""Which actions a seat has: fills ``table.legal`` over the action table (table.py).

Only this module decides what is legal; ``discardable_kinds`` below and the legal masks of features/samples.py are views
of it for nets. kyoku.py sets ``table.forbidden``: kinds that may not be discarded after a call (kuikae) or a declared
riichi.
"""

from __future__ import annotations

from suphx.games.mahjong.shanten import Suits
from suphx.games.mahjong.tile import ANKAN_MELD, PON_MELD, TERMINALS_AND_HONOURS
from suphx.games.riichi import rules as rule
from suphx.games.riichi import table as codes
from suphx.games.riichi import yaku
from suphx.games.riichi.shanten import shanten, waiting_kinds
from suphx.games.riichi.table import Table
from suphx.games.riichi.tile import is_red, kind_of_face, num_red, red_face
from suphx.games.riichi.yaku import score_hand
from suphx.kernel.jit import jit


@jit
def tiles_left(t: Table) -> int:
    """Return how many tiles can still be drawn from the live wall."""
    return codes.LAST_DRAW - t.next_draw - t.num_kans


@jit
def is_closed(t: Table, seat: int) -> bool:
    """Tell whether a hand has no melds but closed kans."""
    closed = True
    for i in range(t.num_melds[seat]):
        closed &= t.meld_type[seat, i] == ANKAN_MELD
    return closed


@jit
def dealer_of(t: Table) -> int:
    """Return the dealer's seat."""
    return t.kyoku % 4


@jit
def circumstances_of(t: Table, seat: int) -> int:
    """Return the circumstances (yaku.py) under which ``seat`` would win now."""
    flags = 0
    if t.phase == codes.OWN_TURN:
        flags |= yaku.IS_TSUMO
        if t.is_rinshan:
            flags |= yaku.IS_RINSHAN
        if t.is_first_turn[seat]:
            flags |= yaku.IS_FIRST_TURN
    elif t.phase == codes.ROB_KAN:
        flags |= yaku.IS_CHANKAN
    if t.riichi[seat] == 1:
        flags |= yaku.IS_RIICHI
    elif t.riichi[seat] == 2:
        flags |= yaku.IS_DOUBLE_RIICHI
    if t.ippatsu[seat]:
        flags |= yaku.IS_IPPATSU
    if tiles_left(t) == 0 and t.phase != codes.ROB_KAN:
        flags |= yaku.IS_LAST_TILE
    return flags


@jit
def score_win(t: Table, seat: int, win_kind: int, dora: int) -> tuple[int, int, int, int]:
    """Return ``score_hand`` of ``seat`` winning on ``win_kind``: its drawn tile, or the claimed one."""
    hand = t.hand[seat]
    is_ron = t.phase != codes.OWN_TURN
    if is_ron:
        hand[win_kind] += 1
    score = score_hand(
        hand, t.num_melds[seat], t.meld_type[seat], t.meld_kind[seat], win_kind, circumstances_of(t, seat),
        27 + (seat - dealer_of(t)) % 4, 27 + t.kyoku // 4, t.rule_flags, dora,
    )  # fmt: skip
    if is_ron:
        hand[win_kind] -= 1
    return score


@jit
def fill_own_turn(t: Table, suits: Suits) -> None:
    """Fill the mask of the actor in OWN_TURN, RIICHI_DISCARD or CALL_DISCARD."""
    seat = t.actor
    t.legal[:] = 0
    t.num_legal = 0
    if t.phase == codes.OWN_TURN:
        kind = kind_of_face(t.drawn)
        if t.waits[seat] >> kind & 1 and (is_closed(t, seat) or score_win(t, seat, kind, 0)[0] != 0):
            _allow(t, codes.TSUMO)
        _fill_own_kans(t, suits, seat)
        if t.riichi[seat] == 0:
            _fill_riichi(t, suits, seat)
            may_declare = t.is_first_turn[seat] and t.rule_flags & rule.DRAW_BY_NINE_TERMINALS
            if may_declare and _count_orphans(t, seat) >= 9:
                _allow(t, codes.NINE_TERMINALS)
    if t.riichi[seat] == 0 or t.phase == codes.RIICHI_DISCARD:
        _fill_discards(t, seat)
    else:
        _allow(t, codes.TSUMOGIRI)


@jit
def _allow(t: Table, action: int) -> None:
    t.legal[action] = 1
    t.num_legal += 1


@jit
def _fill_discards(t: Table, seat: int) -> None:
    """Allow every kind in the hand, 34 at once and without branches; then settle the exceptions."""
    for kind in range(34):
        t.legal[kind] = t.hand[seat, kind] > 0
    drawn = t.drawn
    for suit in range(3):
        if t.red[seat] >> suit & 1:
            t.legal[4 + 9 * suit] = t.hand[seat, 4 + 9 * suit] > 1
            t.legal[red_face(9 * suit)] = drawn != red_face(9 * suit)
    if drawn >= 0:
        if not is_red(drawn):
            # The drawn tile itself leaves as TSUMOGIRI.
            t.legal[drawn] = t.hand[seat, drawn] - num_red(t.red[seat], drawn) > 1
        t.legal[codes.TSUMOGIRI] = 1
    if t.forbidden != 0:
        for action in range(codes.TSUMOGIRI + (drawn >= 0)):
            kind = kind_of_face(drawn if action == codes.TSUMOGIRI else action)
            if t.forbidden >> kind & 1:
                t.legal[action] = 0
    num_discards = 0
    for action in range(codes.TSUMOGIRI + 1):
        num_discards += t.legal[action]
    t.num_legal += num_discards


@jit
def discardable_kinds(t: Table, seat: int, held: int) -> int:
    """Return as bits the kinds that ``seat`` may discard now; 0 when it is not its turn to discard.

    ``held``: bits of the kinds in its hand. They are those of the discards in ``t.legal``, which knows more: red fives
    and the drawn tile are actions of their own.
    """
    if t.actor != seat or not codes.OWN_TURN <= t.phase <= codes.CALL_DISCARD:
        return 0
    if t.phase == codes.OWN_TURN and t.riichi[seat]:
        return 1 << int(kind_of_face(t.drawn))
    return held & ~int(t.forbidden)


@jit
def _fill_own_kans(t: Table, suits: Suits, seat: int) -> None:
    if tiles_left(t) == 0 or t.num_kans == 4:
        return
    drawn = kind_of_face(t.drawn)
    for kind in range(34):
        if t.hand[seat, kind] == 4 and (t.riichi[seat] == 0 or (kind == drawn and _keeps_waits(t, suits, seat, kind))):
            _allow(t, codes.ANKAN + kind)
    for i in range(t.num_melds[seat]):
        kind = t.meld_kind[seat, i]
        if t.meld_type[seat, i] == PON_MELD and t.hand[seat, kind] > 0:
            _allow(t, codes.KAKAN + kind)


@jit
def _keeps_waits(t: Table, suits: Suits, seat: int, kind: int) -> bool:
    """Tell whether a closed kan after riichi is allowed: it leaves the waits as they were."""
    if not t.rule_flags & rule.ANKAN_AFTER_RIICHI:
        return False
    t.hand[seat, kind] = 0
    after = waiting_kinds(suits, t.hand[seat], t.num_melds[seat] + 1)
    t.hand[seat, kind] = 4
    return after == t.waits[seat]


@jit
def _fill_riichi(t: Table, suits: Suits, seat: int) -> None:
    if t.scores[seat] < yaku.STICK and t.rule_flags & rule.RIICHI_NEEDS_POINTS:
        return
    if tiles_left(t) < t.riichi_min_tiles or not is_closed(t, seat):
        return
    if shanten(suits, t.hand[seat], t.num_melds[seat]) <= 0:
        _allow(t, codes.RIICHI)


@jit
def _count_orphans(t: Table, seat: int) -> int:
    """Return how many kinds of terminals and honours a hand has."""
    kinds = 0
    for kind in TERMINALS_AND_HONOURS:
        kinds += t.hand[seat, kind] > 0
    return kinds


@jit
def fill_claim(t: Table, seat: int) -> bool:
    """Fill the mask of ``seat`` for the claimed tile; return whether it has more than to pass."""
    t.legal[:] = 0
    t.num_legal = 0
    kind = kind_of_face(t.claimed_face)
    can_win = t.waits[seat] >> kind & 1 != 0 and may_rob(t, seat) and not is_furiten(t, seat)
    if can_win and score_win(t, seat, kind, 0)[0] != 0:
        _allow(t, codes.RON)
    if t.phase != codes.ROB_KAN and t.riichi[seat] == 0 and tiles_left(t) > 0 and not has_four_kans_draw(t):
        _fill_pon(t, seat, kind)
        if seat == (t.turn + 1) % 4 and kind < 27:
            for position in range(3):
                _fill_chi(t, seat, kind, position)
    if t.num_legal == 0:
        return False
    _allow(t, codes.PASS)
    return True


@jit
def is_closed_kan_robbed(t: Table) -> bool:
    """Tell whether the claimed tile is one of a closed kan."""
    if t.phase != codes.ROB_KAN:
        return False
    is_closed_kan = False
    for i in range(t.num_melds[t.turn]):
        is_closed_kan |= t.meld_type[t.turn, i] == ANKAN_MELD and t.meld_kind[t.turn, i] == t.claimed_face
    return is_closed_kan


@jit
def may_rob(t: Table, seat: int) -> bool:
    """Tell whether ``seat``, waiting for the claimed tile, may win on it: only thirteen orphans rob a closed kan."""
    if not is_closed_kan_robbed(t):
        return True
    return t.num_melds[seat] == 0 and _count_orphans(t, seat) >= 12


@jit
def has_four_kans_draw(t: Table) -> bool:
    """Tell whether four kans of two or more seats call off the deal after this discard: it can be won, not called."""
    if t.num_kans < 4 or not t.rule_flags & rule.DRAW_BY_FOUR_KANS:
        return False
    owners = 0
    for seat in range(4):
        for i in range(t.num_melds[seat]):
            if t.meld_type[seat, i] >= ANKAN_MELD:
                owners |= 1 << seat
    return owners & (owners - 1) != 0


@jit
def is_furiten(t: Table, seat: int) -> bool:
    """Tell whether ``seat`` may not win by ron: a wait in its own river, or a missed win."""
    return t.missed_win[seat] != 0 or t.waits[seat] & t.river_kinds[seat] != 0


@jit
def _fill_pon(t: Table, seat: int, kind: int) -> None:
    count = t.hand[seat, kind]
    if count < 2:
        return
    red = num_red(t.red[seat], kind)
    if count - red >= 2:
        _allow(t, codes.PON)
    if red:
        _allow(t, codes.PON_RED)
    if count == 3 and t.num_kans < 4:
        _allow(t, codes.MINKAN)


@jit
def _fill_chi(t: Table, seat: int, kind: int, position: int) -> None:
    """Allow the run in which the claimed tile has ``position`` 0-2, if a discard is left by the kuikae rule."""
    number = kind % 9 - position
    if number < 0 or number > 6:
        return
    lowest = kind - position
    first = lowest + (position == 0)
    second = lowest + 2 - (position == 2)
    if t.hand[seat, first] == 0 or t.hand[seat, second] == 0:
        return
    forbidden = chi_forbidden(kind, position, t.rule_flags)
    t.hand[seat, first] -= 1
    t.hand[seat, second] -= 1
    has_discard = False
    for other in range(34):
        has_discard |= t.hand[seat, other] > 0 and not forbidden >> other & 1
    t.hand[seat, first] += 1
    t.hand[seat, second] += 1
    if not has_discard:
        return
    red_first = num_red(t.red[seat], first)
    red_second = num_red(t.red[seat], second)
    if t.hand[seat, first] - red_first > 0 and t.hand[seat, second] - red_second > 0:
        _allow(t, codes.CHI + position)
    if red_first or red_second:
        _allow(t, codes.CHI_RED + position)


@jit
def pon_forbidden(kind: int, rules: int) -> int:
    """Return the bit set of kinds that kuikae forbids after a pon: the same tile; ``rules``: rules.py."""
    return 1 << kind if rules & rule.NO_KUIKAE_SAME else 0


@jit
def chi_forbidden(kind: int, position: int, rules: int) -> int:
    """Return the bit set of kinds that kuikae forbids after this chi: the same tile and the other end of the run.

    ``rules`` is the bit set of rules.py.
    """
    forbidden = pon_forbidden(kind, rules)
    if not rules & rule.NO_KUIKAE_ENDS:
        return forbidden
    if position == 0 and kind % 9 < 6:
        forbidden |= 1 << (kind + 3)
    elif position == 2 and kind % 9 > 2:
        forbidden |= 1 << (kind - 3)
    return forbidden
