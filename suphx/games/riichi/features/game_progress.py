"""What the reward predictor sees of a hanchan: a line of numbers at its start and after each kyoku.

Paper, section 3.2 and Figure 7: round score, accumulated scores, dealer, repeat-dealer counter and riichi sticks. The
layout is ours. A game of K kyoku has K + 1 lines: the one of the start lets the first kyoku have a reward, too.
Dealer, honba, kyotaku and kyoku are those of the kyoku that comes next, so that a line says what remains to play.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suphx.kernel.jit import jit
from suphx.kernel.record import I32

F32: TypeAlias = NDArray[np.float32]

GAME_PROGRESS_VERSION = 1
"""Goes up whenever a number of a line changes its meaning or place."""
NUM_KYOKU = 12
"""East 1 to West 4; later ones look like West 4."""

_POINTS = 10_000.0
_START_POINTS = 25_000.0
_COUNT = 4.0  # of honba and of kyotaku
_ROUND_SCORES, _SCORES, _DEALER, _HONBA, _KYOTAKU, _KYOKU = 0, 4, 8, 12, 13, 14
_OVER = _KYOKU + NUM_KYOKU
NUM_GAME_PROGRESS_INPUTS = _OVER + 1
"""Numbers of a line: 4 round scores, 4 scores, 4 dealer, honba, kyotaku, 12 kyoku, game over."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GameProgress:
    """State of games after each kyoku: a row for each game, by seat."""

    round_scores: I32
    """int32 [n, 4]: points won or lost in the kyoku that just ended; 0 at the start of a game."""
    scores: I32
    """int32 [n, 4]: points now; at the end the final ones."""
    kyoku: I32
    """int32 [n]: the next one, 0 = East 1."""
    honba: I32
    """int32 [n]: of the next one."""
    kyotaku: I32
    """int32 [n]: riichi sticks on the table."""
    is_over: NDArray[np.bool_]
    """bool [n]: nothing remains to play; the three columns before then mean nothing."""

    def __len__(self) -> int:
        return len(self.kyoku)

    def take(self, lines: NDArray[np.integer]) -> Self:
        """Return the ``lines``."""
        return type(self)(**{field.name: getattr(self, field.name)[lines] for field in fields(self)})


def encode_game_progress(progress: GameProgress) -> F32:
    """Return float32 [n, 4, NUM_GAME_PROGRESS_INPUTS]: each line as each of the four seats sees it, itself first.

    The other seats follow in turn (shimocha, toimen, kamicha), so that nothing tells one seat of the table from another
    but where the dealer sits.
    """
    lines = np.zeros((len(progress), 4, NUM_GAME_PROGRESS_INPUTS), np.float32)
    round_scores, scores, kyoku, honba, kyotaku = (
        np.asarray(getattr(progress, name), np.int32)
        for name in ("round_scores", "scores", "kyoku", "honba", "kyotaku")
    )
    _fill_lines(round_scores, scores, kyoku, honba, kyotaku, progress.is_over, lines)
    return lines


@jit
def _fill_lines(
    round_scores: I32, scores: I32, kyoku: I32, honba: I32, kyotaku: I32, is_over: NDArray[np.bool_], lines: F32
) -> None:  # fmt: skip
    for n in range(len(kyoku)):
        for seat in range(4):
            line = lines[n, seat]
            for i in range(4):
                seen = (seat + i) % 4
                line[_ROUND_SCORES + i] = round_scores[n, seen] / _POINTS
                line[_SCORES + i] = (scores[n, seen] - _START_POINTS) / _POINTS
            if is_over[n]:
                line[_OVER] = 1
            else:
                line[_DEALER + (kyoku[n] - seat) % 4] = 1
                line[_HONBA] = honba[n] / _COUNT
                line[_KYOTAKU] = kyotaku[n] / _COUNT
                line[_KYOKU + min(kyoku[n], NUM_KYOKU - 1)] = 1
