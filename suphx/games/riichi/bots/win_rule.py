"""The rule-based winning model (paper, Figure 1): win, unless the win ends the game and leaves us last."""

from __future__ import annotations

import numpy as np

from suphx.games.riichi.engine.hanchan import is_game_over
from suphx.games.riichi.engine.kyoku_end import count_dora, count_red
from suphx.games.riichi.engine.legal import dealer_of, score_win
from suphx.games.riichi.hand.score import STICK, base_points, pay_honba, pay_win
from suphx.games.riichi.table.placement import place_of
from suphx.games.riichi.table.table import OWN_TURN, Table
from suphx.games.riichi.table.tile import kind_of_face
from suphx.kernel.jit import jit
from suphx.kernel.record import I32


@jit
def should_win(t: Table) -> bool:
    """Tell whether the actor, who may win now, shall. Only the last planned deals can make it refuse.

    Ura dora are unknown and do not count; nor do other winners of the same tile.
    """
    if t.kyoku < 4 * t.num_winds - 1:
        return True
    seat = t.actor
    scores = np.zeros(4, np.int32)
    _scores_after(t, seat, scores)
    return place_of(scores, seat) < 4 or seat == dealer_of(t) or not is_game_over(t, scores, False)


@jit
def _scores_after(t: Table, seat: int, scores: I32) -> None:
    """Fill int32 (4,) with the scores after the win, as far as the actor can know them."""
    is_tsumo = t.phase == OWN_TURN
    face = t.drawn if is_tsumo else t.claimed_face
    kind = kind_of_face(face)
    dora = count_dora(t, seat, kind) + count_red(t, seat, face)
    _, han, fu, yakuman = score_win(t, seat, kind, dora)
    loser = seat if is_tsumo else t.turn
    pay_win(seat, loser, dealer_of(t), base_points(han, fu, yakuman, t.rule_flags), scores)
    pay_honba(seat, loser, -1, t.honba, scores)
    for other in range(4):
        scores[other] += t.scores[other]
    scores[seat] += STICK * t.kyotaku
