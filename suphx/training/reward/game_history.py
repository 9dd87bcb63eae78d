"""Whole games of a store as the reward predictor reads them: how they stood after each kyoku, and how they ended.

>>> histories = game_histories(KyokuStore.open(folder))
>>> batch = histories.batch(np.arange(128))  # 512 seats
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suphx.experience.observation import F32
from suphx.games.riichi import (
    NUM_GAME_PROGRESS_INPUTS,
    GameProgress,
    KyokuStore,
    encode_game_progress,
    places_of_scores,
)
from suphx.kernel.record import I8, I32, I64

HANCHAN_WINDS = 2


@dataclass(frozen=True, slots=True)
class HistoryBatch:
    """The four seats of some games, game by game, seat by seat."""

    lines: F32
    """float32 [4 * games, t, NUM_GAME_PROGRESS_INPUTS]; zeros behind the end of a game."""
    lengths: I64
    """int64 [4 * games]: lines of each, K + 1."""
    placements: I8
    """int8 [4 * games]: 1-4."""


@dataclass(frozen=True, slots=True)
class GameHistories:
    """Games one after another."""

    progress: GameProgress
    """Of all games: K + 1 lines for each, the first one at its start."""
    first_lines: I64
    """int64 [games + 1]: where each begins."""
    placements: I8
    """int8 [games, 4]: 1-4 by seat."""
    game_ids: list[str]
    num_left_out: int
    """Games of another length, and those that no record tells the end of."""

    def __len__(self) -> int:
        return len(self.placements)

    @property
    def lengths(self) -> I64:
        """int64 [games]: lines of each."""
        return np.diff(self.first_lines)

    def lines_of(self, games: NDArray[np.integer]) -> I64:
        """Return the lines [n] of ``games``, game by game."""
        ranges = [np.arange(self.first_lines[game], self.first_lines[game + 1]) for game in games]
        return np.concatenate(ranges) if ranges else np.zeros(0, np.int64)

    def batch(self, games: NDArray[np.integer]) -> HistoryBatch:
        """Return all seats of ``games`` side by side."""
        lengths = self.lengths[games]
        encoded = encode_game_progress(self.progress.take(self.lines_of(games)))
        lines = np.zeros((len(games), 4, int(lengths.max(initial=0)), NUM_GAME_PROGRESS_INPUTS), np.float32)
        row, column = _places(lengths)
        lines[row, :, column] = encoded
        return HistoryBatch(
            lines=lines.reshape(-1, *lines.shape[2:]),
            lengths=np.repeat(lengths, 4),
            placements=self.placements[games].reshape(-1),
        )


def game_histories(store: KyokuStore) -> GameHistories:
    """Return the hanchans of ``store`` that were played to their end.

    Raises ValueError if there are none, or if the store's deals contradict its games.
    """
    games, kyokus = store.games, store.kyokus
    finals = np.asarray(games["final_scores"], np.int32)
    counts = np.asarray(games["num_kyoku"], np.int64)
    firsts = np.asarray(games["first_kyoku"], np.int64)
    if games.size and not (counts.min() >= 1 and firsts.min() >= 0 and (firsts + counts).max() <= store.num_kyokus):
        raise ValueError(f"{store.folder} has games of deals that it does not have: run the records stage again")
    chosen = np.flatnonzero(finals.any(axis=1) & (np.asarray(games["num_winds"]) == HANCHAN_WINDS))
    if not chosen.size:
        raise ValueError(
            f"none of the {len(games):,} games in {store.folder} is a hanchan that was played to its end: "
            "give records of whole hanchans"
        )
    return GameHistories(
        progress=_standings(kyokus, firsts[chosen], counts[chosen], finals[chosen]),
        first_lines=np.concatenate([[0], np.cumsum(counts[chosen] + 1)]),
        placements=places_of_scores(finals[chosen]),
        game_ids=[store.game_ids[game] for game in chosen],
        num_left_out=len(games) - len(chosen),
    )


def _standings(kyokus: NDArray[np.void], firsts: I64, counts: I64, finals: I32) -> GameProgress:
    """Return how games stood: at the start of each deal, and at their end."""
    game, number = _places(counts + 1)
    is_over = number == counts[game]
    deal = firsts[game] + np.minimum(number, counts[game] - 1)  # at the end any deal will do
    scores = np.where(is_over[:, None], finals[game], kyokus["scores"][deal]).astype(np.int32)
    round_scores = np.diff(scores, axis=0, prepend=scores[:1])
    round_scores[number == 0] = 0
    columns = {name: np.asarray(kyokus[name][deal], np.int32) for name in ("kyoku", "honba", "kyotaku")}
    return GameProgress(round_scores=round_scores, scores=scores, is_over=is_over, **columns)


def _places(lengths: I64) -> tuple[I64, I64]:
    """Return for each of ``sum(lengths)`` items laid end to end which group it is of, and its number in that."""
    groups = np.repeat(np.arange(len(lengths)), lengths)
    numbers = np.arange(len(groups)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return groups, numbers
