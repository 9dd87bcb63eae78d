"""Deal after deal: who is dealer next, when a game ends, who has which place."""

from __future__ import annotations

from suphx.games.riichi.engine.legal import dealer_of
from suphx.games.riichi.hand.score import STICK
from suphx.games.riichi.table.placement import place_of
from suphx.games.riichi.table.rule_flag import (
    BUST_AT_ZERO,
    BUST_BELOW_ZERO,
    DEALER_WIN_ENDS_GAME,
    EXTRA_WIND,
    LEFTOVER_STICKS_TO_FIRST,
    TENPAI_ENDS_GAME,
    TENPAI_KEEPS_DEALER,
)
from suphx.games.riichi.table.table import EXHAUSTIVE_DRAW, GAME_END, KYOKU_START, NAGASHI_MANGAN, WIN_RESULT, Table
from suphx.kernel.jit import jit
from suphx.kernel.record import I32


@jit
def start_game(t: Table, start_points: int) -> None:
    """Set scores and counters for East 1; the table then waits for a wall."""
    t.scores[:] = start_points
    t.kyoku = t.honba = t.kyotaku = 0
    t.num_kyoku = t.num_decisions = 0
    t.placement[:] = 0
    t.phase = KYOKU_START


@jit
def dealer_stays(t: Table) -> bool:
    """Tell whether the dealer deals again: after its win, tenpai at a draw, or an abortive draw."""
    dealer = dealer_of(t)
    if t.result == WIN_RESULT:
        stays = False
        for w in range(t.num_wins):
            stays |= t.win_seat[w] == dealer
        return stays
    if t.result == EXHAUSTIVE_DRAW or t.result == NAGASHI_MANGAN:
        return t.tenpai[dealer] != 0 and t.rule_flags & TENPAI_KEEPS_DEALER != 0
    return True


@jit
def end_kyoku(t: Table) -> None:
    """Go on from KYOKU_END to KYOKU_START of the next deal, or to GAME_END with places and left-over sticks paid."""
    stays = dealer_stays(t)
    if is_game_over(t, t.scores, stays):
        end_game(t)
        return
    if t.result == WIN_RESULT and not stays:
        t.honba = 0
    else:
        t.honba += 1
    if not stays:
        t.kyoku += 1
    t.phase = KYOKU_START


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
    is_decided = scores[best] >= t.target_points or not t.rule_flags & EXTRA_WIND
    if stays:
        return is_decided and best == dealer_of(t) and _may_stop(t)
    return is_decided or t.kyoku >= last + 4


@jit
def is_bust(t: Table, points: int) -> bool:
    """Tell whether a seat with ``points`` ends the game at once."""
    if points < 0:
        return t.rule_flags & BUST_BELOW_ZERO != 0
    return points == 0 and t.rule_flags & BUST_AT_ZERO != 0


@jit
def _may_stop(t: Table) -> bool:
    """Tell whether the last dealer, ahead, ends the game by how the deal ended."""
    if t.result == WIN_RESULT:
        return t.rule_flags & DEALER_WIN_ENDS_GAME != 0
    is_exhausted = t.result == EXHAUSTIVE_DRAW or t.result == NAGASHI_MANGAN
    return is_exhausted and t.rule_flags & TENPAI_ENDS_GAME != 0


@jit
def end_game(t: Table) -> None:
    """Fill the places; left-over sticks go to the first or are lost."""
    for seat in range(4):
        t.placement[seat] = place_of(t.scores, seat)
    for seat in range(4):
        if t.placement[seat] == 1 and t.rule_flags & LEFTOVER_STICKS_TO_FIRST:
            t.scores[seat] += STICK * t.kyotaku
    t.kyotaku = 0
    t.phase = GAME_END
