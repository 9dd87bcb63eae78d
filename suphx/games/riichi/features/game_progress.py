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
    seat = np.arange(4)[:, None]
    seen = (seat + np.arange(4)) % 4
    lines[..., _ROUND_SCORES:_SCORES] = progress.round_scores[:, seen] / _POINTS
    lines[..., _SCORES:_DEALER] = (progress.scores[:, seen] - _START_POINTS) / _POINTS
    goes_on, kyoku = ~progress.is_over[:, None, None], progress.kyoku[:, None, None]
    lines[..., _DEALER:_HONBA] = goes_on & ((kyoku - seat) % 4 == np.arange(4))
    lines[..., _HONBA] = np.where(progress.is_over, 0, progress.honba / _COUNT)[:, None]
    lines[..., _KYOTAKU] = np.where(progress.is_over, 0, progress.kyotaku / _COUNT)[:, None]
    lines[..., _KYOKU:_OVER] = goes_on & (np.minimum(kyoku, NUM_KYOKU - 1) == np.arange(NUM_KYOKU))
    lines[..., _OVER] = progress.is_over[:, None]
    return lines
