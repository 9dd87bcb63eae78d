"""Deal after deal: who is dealer next, when a game ends, who has which place."""

from __future__ import annotations

from suphx.riichi.jit import jit
from suphx.riichi.legal import dealer_of
from suphx.riichi.score import STICK
from suphx.riichi.table import EXHAUSTIVE_DRAW, GAME_END, KYOKU_START, NAGASHI_MANGAN, WIN_RESULT, Table


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
        return t.tenpai[dealer] != 0
    return True


@jit
def end_kyoku(t: Table) -> None:
    """Go on from KYOKU_END to KYOKU_START of the next deal, or to GAME_END with places and left-over sticks paid."""
    stays = dealer_stays(t)
    if is_game_over(t, stays):
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
def is_game_over(t: Table, stays: bool) -> bool:
    """Tell whether the game ends after this deal (rule: below 0, the last dealer ahead, the target reached, West 4)."""
    best = 0
    for seat in range(4):
        if t.scores[seat] < 0:
            return True
        if t.scores[seat] > t.scores[best]:
            best = seat
    last = 4 * t.num_winds - 1
    if t.kyoku < last:
        return False
    has_target = t.scores[best] >= t.target_points
    if stays:
        return has_target and best == dealer_of(t) and _may_stop(t)
    return has_target or t.kyoku >= last + 4


@jit
def _may_stop(t: Table) -> bool:
    """Tell whether the last dealer, ahead, ends the game by how the deal ended."""
    if t.result == WIN_RESULT:
        return True
    return t.tenpai_ends_game != 0 and (t.result == EXHAUSTIVE_DRAW or t.result == NAGASHI_MANGAN)


@jit
def end_game(t: Table) -> None:
    """Give left-over sticks to the first and fill the places; of equal scores the lower seat leads (rule)."""
    for seat in range(4):
        place = 1
        for other in range(4):
            place += t.scores[other] > t.scores[seat] or (t.scores[other] == t.scores[seat] and other < seat)
        t.placement[seat] = place
    for seat in range(4):
        if t.placement[seat] == 1:
            t.scores[seat] += STICK * t.kyotaku
    t.kyotaku = 0
    t.phase = GAME_END
