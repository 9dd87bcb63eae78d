"""How a deal ends: wins with their payments, exhaustive and abortive draws; then the next dealer or the places."""

from __future__ import annotations

from suphx.games.mahjong.tile import count_in_meld, is_simple
from suphx.games.riichi import rules as rule
from suphx.games.riichi import table as codes
from suphx.games.riichi import yaku_number
from suphx.games.riichi.legal import dealer_of, score_win
from suphx.games.riichi.table import Table, dora_kind, place_of, ura_kind
from suphx.games.riichi.tile import is_red, kind_of_face
from suphx.games.riichi.yaku import STICK, base_points, pay_honba, pay_liable, pay_win
from suphx.kernel.jit import jit
from suphx.kernel.record import I32


@jit
def count_dora(t: Table, seat: int, win_kind: int) -> int:
    """Return the dora of a winning hand, melds included, by the open indicators."""
    total = 0
    for i in range(t.num_dora):
        total += _count_kind(t, seat, win_kind, dora_kind(t.wall, i))
    return total


@jit
def count_ura(t: Table, seat: int, win_kind: int) -> int:
    """Return the dora of a winning hand, melds included, by the ura indicators that the rules turn over."""
    total = 0
    for i in range(t.num_dora if t.rule_flags & rule.KAN_URA_DORA else 1):
        total += _count_kind(t, seat, win_kind, ura_kind(t.wall, i))
    return total


@jit
def _count_kind(t: Table, seat: int, win_kind: int, kind: int) -> int:
    """Return how many tiles of ``kind`` a winning hand has, with its melds and the winning tile."""
    count = t.hand[seat, kind] + (t.phase != codes.OWN_TURN and kind == win_kind)
    for m in range(t.num_melds[seat]):
        count += count_in_meld(t.meld_type[seat, m], t.meld_kind[seat, m], kind)
    return count


@jit
def count_red(t: Table, seat: int, win_face: int) -> int:
    """Return the red fives of a winning hand, its melds and the winning tile."""
    total = int(t.phase != codes.OWN_TURN and is_red(win_face))
    for suit in range(3):
        total += t.red[seat] >> suit & 1
    for m in range(t.num_melds[seat]):
        total += t.meld_red[seat, m]
    return total


@jit
def end_by_wins(t: Table, winners: int) -> None:
    """End with the wins of a bit set of seats in turn order, ``max_rons`` at most; honba and sticks go to the first."""
    for distance in range(4):
        seat = (t.turn + distance) % 4
        if winners >> seat & 1 and t.num_wins < t.max_rons:
            _add_win(t, seat, t.num_wins)
            t.num_wins += 1
    t.kyotaku = 0
    t.result = codes.WIN_RESULT
    _finish(t)


@jit
def _add_win(t: Table, seat: int, w: int) -> None:
    is_tsumo = t.phase == codes.OWN_TURN
    face = t.drawn if is_tsumo else t.claimed_face
    kind = kind_of_face(face)
    t.win_seat[w] = seat
    t.win_loser[w] = seat if is_tsumo else t.turn
    t.win_face[w] = face
    t.win_dora[w] = count_dora(t, seat, kind)
    t.win_red[w] = count_red(t, seat, face)
    if t.riichi[seat] and t.rule_flags & rule.URA_DORA:
        t.win_ura[w] = count_ura(t, seat, kind)
    yaku, han, fu, yakuman = score_win(t, seat, kind, t.win_dora[w] + t.win_red[w] + t.win_ura[w])
    if yakuman:
        t.win_dora[w] = t.win_red[w] = t.win_ura[w] = 0
    t.win_yaku[w] = yaku
    t.win_han[w] = han
    t.win_fu[w] = fu
    t.win_yakuman[w] = yakuman
    _pay(t, seat, w, base_points(han, fu, yakuman, t.rule_flags))


@jit
def _pay(t: Table, seat: int, w: int, base: int) -> None:
    dealer = dealer_of(t)
    loser = t.win_loser[w]
    deltas = t.win_deltas[w]
    liable = _liable_seat(t, seat, t.win_yaku[w])
    if liable >= 0 and liable != loser:
        liable_base = base
        if not t.rule_flags & rule.PAO_FOR_WHOLE_HAND:
            is_double = t.win_yaku[w] >> yaku_number.DAISUUSHII & 1 and t.rule_flags & rule.DOUBLE_DAISUUSHII
            liable_base = min(base, 16000 if is_double else 8000)
        t.win_liable[w] = liable
        t.win_points[w] = pay_liable(seat, loser, liable, dealer, base, liable_base, deltas)
    else:
        liable = -1
        t.win_points[w] = pay_win(seat, loser, dealer, base, deltas)
    if w == 0:
        pay_honba(seat, loser, liable, t.honba, deltas)
        deltas[seat] += STICK * t.kyotaku
    for other in range(4):
        t.deltas[other] += deltas[other]


@jit
def _liable_seat(t: Table, seat: int, yaku: int) -> int:
    """Return the seat that fed the last set of the yakuman, or -1 (rule: pao for big dragons and big winds)."""
    if not t.rule_flags & rule.PAO:
        return -1
    if yaku >> yaku_number.DAISANGEN & 1 and t.pao_dragons[seat] >= 0:
        return t.pao_dragons[seat]
    if yaku >> yaku_number.DAISUUSHII & 1 and t.pao_winds[seat] >= 0:
        return t.pao_winds[seat]
    return -1


@jit
def end_exhaustive(t: Table) -> None:
    """End without tiles left: nagashi mangan, or a payment from the noten to the tenpai."""
    num_tenpai = 0
    num_nagashi = 0
    for seat in range(4):
        t.tenpai[seat] = t.waits[seat] != 0
        num_tenpai += t.tenpai[seat]
    for seat in range(4):
        if _has_nagashi(t, seat):
            num_nagashi += 1
            deltas = t.win_deltas[0]  # scratch, cleared below
            pay_win(seat, seat, dealer_of(t), 2000, deltas)
            for other in range(4):
                t.deltas[other] += deltas[other]
            deltas[:] = 0
    if num_nagashi > 0:
        t.result = codes.NAGASHI_MANGAN
    else:
        t.result = codes.EXHAUSTIVE_DRAW
        if 0 < num_tenpai < 4:
            for seat in range(4):
                t.deltas[seat] = (
                    t.noten_payment // num_tenpai if t.tenpai[seat] else -t.noten_payment // (4 - num_tenpai)
                )
    _finish(t)


@jit
def _has_nagashi(t: Table, seat: int) -> bool:
    """Tell whether all discards are terminals and honours and none was called."""
    if not t.rule_flags & rule.NAGASHI_RULE:
        return False
    for i in range(t.river_length[seat]):
        if is_simple(kind_of_face(t.river[seat, i])) or t.river_flags[seat, i] & codes.CALLED_FLAG:
            return False
    return True


@jit
def end_by_draw(t: Table, result: int) -> None:
    """End with an abortive draw: nothing is paid."""
    t.result = result
    _finish(t)


@jit
def _finish(t: Table) -> None:
    for seat in range(4):
        t.scores[seat] += t.deltas[seat]
    t.phase = codes.KYOKU_END
    t.legal[:] = 0
    t.num_legal = 0


@jit
def start_game(t: Table, start_points: int) -> None:
    """Set scores and counters for East 1; the table then waits for a wall."""
    t.scores[:] = start_points
    t.kyoku = t.honba = t.kyotaku = 0
    t.num_kyoku = t.num_decisions = 0
    t.placement[:] = 0
    t.phase = codes.KYOKU_START


@jit
def dealer_stays(t: Table) -> bool:
    """Tell whether the dealer deals again: after its win, tenpai at a draw, or an abortive draw."""
    dealer = dealer_of(t)
    if t.result == codes.WIN_RESULT:
        stays = False
        for w in range(t.num_wins):
            stays |= t.win_seat[w] == dealer
        return stays
    if t.result == codes.EXHAUSTIVE_DRAW or t.result == codes.NAGASHI_MANGAN:
        return t.tenpai[dealer] != 0 and t.rule_flags & rule.TENPAI_KEEPS_DEALER != 0
    return True


@jit
def end_kyoku(t: Table) -> None:
    """Go on from KYOKU_END to KYOKU_START of the next deal, or to GAME_END with places and left-over sticks paid."""
    stays = dealer_stays(t)
    if is_game_over(t, t.scores, stays):
        end_game(t)
        return
    if t.result == codes.WIN_RESULT and not stays:
        t.honba = 0
    else:
        t.honba += 1
    if not stays:
        t.kyoku += 1
    t.phase = codes.KYOKU_START


@jit
def is_game_over(t: Table, scores: I32, stays: bool) -> bool:
    """Tell whether the game ends after this deal (rule: bust, last dealer ahead, target reached, extra wind over).

    ``scores``: int32 (4,) points after the deal; ``stays``: the dealer deals again if not.
    """
    best = 0
    for seat in range(4):
        if is_bust(t, scores[seat]):
            return True
        if scores[seat] > scores[best]:
            best = seat
    last = 4 * t.num_winds - 1
    if t.kyoku < last:
        return False
    is_decided = scores[best] >= t.target_points or not t.rule_flags & rule.EXTRA_WIND
    if stays:
        if t.result == codes.WIN_RESULT:
            ends = t.rule_flags & rule.DEALER_WIN_ENDS_GAME != 0
        else:
            is_exhausted = t.result == codes.EXHAUSTIVE_DRAW or t.result == codes.NAGASHI_MANGAN
            ends = is_exhausted and t.rule_flags & rule.TENPAI_ENDS_GAME != 0
        return is_decided and best == dealer_of(t) and ends
    return is_decided or t.kyoku >= last + 4


@jit
def is_bust(t: Table, points: int) -> bool:
    """Tell whether a seat with ``points`` ends the game at once."""
    if points < 0:
        return t.rule_flags & rule.BUST_BELOW_ZERO != 0
    return points == 0 and t.rule_flags & rule.BUST_AT_ZERO != 0


@jit
def end_game(t: Table) -> None:
    """Fill the places; left-over sticks go to the first or are lost."""
    for seat in range(4):
        t.placement[seat] = place_of(t.scores, seat)
    for seat in range(4):
        if t.placement[seat] == 1 and t.rule_flags & rule.LEFTOVER_STICKS_TO_FIRST:
            t.scores[seat] += STICK * t.kyotaku
    t.kyotaku = 0
    t.phase = codes.GAME_END
