"""What changed in Tenhou's rules, and when, as far as records tell (docs/rules.md)."""

from __future__ import annotations

import re

from suphx.games.riichi.records.log.gamelog import GameLog
from suphx.games.riichi.table.table import EXHAUSTIVE_DRAW, NAGASHI_MANGAN

_TENHOU_ID = re.compile(r"([0-9]{10})gm-")
_LAST_THAT_WENT_ON = "2010060106"
_FIRST_THAT_ENDED = "2010061314"


def does_tenpai_end_game(log: GameLog) -> bool:
    """Return the ``tenpai_ends_game`` (rules.py) of a whole game, from the hour in its id.

    The last game at hand that went on after such a draw is of 2010-06-01, 6 o'clock; the first that ended is of
    2010-06-13, 14 o'clock. A game in between follows the newer rule unless it goes on itself. Ids of other places have
    no hour: there the newer rule holds.
    """
    hour = _TENHOU_ID.search(log.id)
    if hour is None or hour[1] >= _FIRST_THAT_ENDED:
        return True
    return hour[1] > _LAST_THAT_WENT_ON and not _goes_on_after_tenpai(log)


def _goes_on_after_tenpai(log: GameLog) -> bool:
    """Tell whether a kyoku follows a draw at which the last dealer was ahead, with the target, and tenpai."""
    for kyoku, following in zip(log.kyokus, log.kyokus[1:], strict=False):
        dealer, scores = kyoku.kyoku % 4, following.scores
        is_last = kyoku.kyoku >= 4 * log.rules.num_winds - 1
        is_drawn = kyoku.result["result"] in (EXHAUSTIVE_DRAW, NAGASHI_MANGAN)
        is_ahead = scores.index(max(scores)) == dealer and scores[dealer] >= log.rules.target_points
        if is_last and is_drawn and is_ahead and kyoku.result["tenpai"][dealer]:
            return True
    return False
