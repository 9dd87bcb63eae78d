"""What one player did in a recorded game, as a line of counts: placement, wins, deal-ins, riichi and calls.

A double ron is two wins and two deal-ins, so that a table's deal-ins are its wins by ron; ``deal_in_kyoku`` counts it
once. Points of a win are those of the hand, without honba and sticks; whoever pays for pao does not deal in unless the
tile was theirs.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suphx.games.riichi import table as codes
from suphx.games.riichi.records.game_log import ACTION_BITS, GameLog
from suphx.games.riichi.table import places_of_scores

STATISTICS_COLUMNS = (
    "first", "second", "third", "fourth", "games", "place", "kyoku", "wins", "deal_ins", "deal_in_kyoku", "riichis",
    "calls", "draws", "tenpais", "scored_wins", "win_points", "win_turns", "scored_deal_ins", "deal_in_points",
)  # fmt: skip
STATISTICS_RATIOS: dict[str, tuple[str, str]] = {
    "average_placement": ("place", "games"),
    "win_rate": ("wins", "kyoku"),
    "deal_in_rate": ("deal_ins", "kyoku"),
    "deal_in_kyoku_rate": ("deal_in_kyoku", "kyoku"),
    "riichi_rate": ("riichis", "kyoku"),
    "call_rate": ("calls", "kyoku"),
    "tenpai_at_draw_rate": ("tenpais", "draws"),
    "average_win": ("win_points", "scored_wins"),
    "average_deal_in": ("deal_in_points", "scored_deal_ins"),
    "average_win_turn": ("win_turns", "wins"),
}
"""Rate -> the two columns whose sums are divided."""


def game_row(log: GameLog, player: str, places: Sequence[int] | None = None) -> list[int] | None:
    """Return what ``player`` did in a game, for ``summarise_rows``; None if it lacks the name or a final score.

    ``places``: of each seat, 1-4, where others count than those of the points.
    """
    if log.final_scores is None:
        return None
    if places is None:
        places = places_of_scores(np.array([log.final_scores]))[0].tolist()
    lines = [_seat_row(log, seat, places[seat]) for seat in range(4) if log.names[seat] == player]
    return [sum(column) for column in zip(*lines, strict=True)] if lines else None


def _seat_row(log: GameLog, seat: int, place: int) -> list[int]:
    row = dict.fromkeys(STATISTICS_COLUMNS, 0)
    row[STATISTICS_COLUMNS[place - 1]] = row["games"] = 1
    row["place"] = place
    for kyoku in log.kyokus:
        result, scored, deal_ins = kyoku.result, int(kyoku.is_result_complete), 0
        moves = kyoku.moves.astype(np.int64)
        actions = moves[moves >> ACTION_BITS == seat] & ((1 << ACTION_BITS) - 1)
        row["kyoku"] += 1
        row["riichis"] += bool(np.any(actions == codes.RIICHI))
        # The table of actions has PON, PON_RED, MINKAN and the six CHI side by side.
        row["calls"] += bool(np.any((actions >= codes.PON) & (actions < codes.PASS)))
        if result["result"] == codes.EXHAUSTIVE_DRAW:
            row["draws"] += 1
            row["tenpais"] += int(result["tenpai"][seat] != 0)
        for i in range(int(result["num_wins"]) if result["result"] == codes.WIN_RESULT else 0):
            winner, loser, points = (int(result[name][i]) for name in ("win_seat", "win_loser", "win_points"))
            if winner == seat:
                row["wins"] += 1
                row["win_turns"] += int(np.count_nonzero(actions <= codes.TSUMOGIRI)) + (loser == seat)
                row["scored_wins"] += scored
                row["win_points"] += points * scored
            elif loser == seat:
                deal_ins += 1
                row["scored_deal_ins"] += scored
                row["deal_in_points"] += points * scored
        row["deal_ins"] += deal_ins
        row["deal_in_kyoku"] += deal_ins > 0
    return list(row.values())
