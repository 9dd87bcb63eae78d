"""What seats observe when they decide, and what the nets compute from it: columns of one kind of decision, for many
tables at once.

A row is a decision. Its legal answers are a mask over a table of choices, or a list of candidate moves; or they are no
and yes, which are always legal. All of it is plain numpy, so that simulators can send it to the processes that have the
nets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suphx.experience.columns import Columns
from suphx.experience.segments import taken_segments
from suphx.kernel.record import I8, I16, I32, I64, U8
from suphx.number_range import Weight, check_ranges

F32 = NDArray[np.float32]

LATEST, WEAK, FIRST_OLDER = 0, 1, 2
"""Who plays a seat: the policy that learns, the weak one (SL-weak), and from 2 on older versions of the first."""
NUM_OLDER = 4
"""Older versions that are kept as opponents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpponentConfig:
    """Policies at the three seats beside the learning seat, drawn at random for every game. Shares need not add up to
    1."""

    latest: Weight = 1.0
    """Share of seats played by the learning policy; their decisions are learned from too."""
    older: Weight = 0.0
    """Share of seats played by four older versions of it, each equally often: of the versions 10, 20, 30, … the last
    ones."""
    weak: Weight = 0.0
    """Share of seats played by the weak policy: SL-weak, or the initial weights."""

    def __post_init__(self) -> None:
        check_ranges(self)
        if not (self.latest or self.older or self.weak):
            raise ValueError("latest, older and weak are all 0: use a share above 0 for one of them")

    def borders(self) -> NDArray[np.float64]:
        """Return for each policy (its number as above) the number in 0 … 1 where its part ends; ascending up to 1."""
        shares = np.array([self.latest, self.weak, *[self.older / NUM_OLDER] * NUM_OLDER])
        borders: NDArray[np.float64] = np.cumsum(shares / shares.sum())
        borders[-1] = 1.0
        return borders


@dataclass(frozen=True, slots=True)
class Candidates:
    """A list of candidate moves for each of n rows, one list after another."""

    offsets: I64
    """int64 (n + 1,): where the moves of each row begin, and the end of the last."""
    moves: I32
    """int32 (m,): rows of what a net sees of each move (``candidate_features`` of games/learning.py)."""

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: I64) -> Candidates:
        """Return copies of the lists of ``rows`` int64 [k]."""
        offsets, indices = taken_segments(self.offsets, rows)
        return Candidates(offsets, self.moves[indices])

    def part(self, start: int, stop: int) -> Candidates:
        """Return the lists of the rows from ``start`` to ``stop``; the moves are a view."""
        offsets = self.offsets[start : stop + 1]
        return Candidates(offsets - offsets[0], self.moves[offsets[0] : offsets[-1]])

    @property
    def nbytes(self) -> int:
        """Bytes of both arrays."""
        return self.offsets.nbytes + self.moves.nbytes

    @staticmethod
    def joined(parts: Sequence[Candidates]) -> Candidates:
        """Return the lists of all ``parts``, one or more, one after another."""
        starts = np.cumsum([0, *(len(part.moves) for part in parts)])
        ends = [part.offsets[1:] + start for part, start in zip(parts, starts[:-1], strict=True)]
        offsets: I64 = np.concatenate([np.zeros(1, np.int64), *ends])
        return Candidates(offsets, np.concatenate([part.moves for part in parts]))

    def at(self, places: NDArray[np.integer]) -> I32:
        """Return int32 (n,): the move at a place of each list; ValueError for a place that a list does not have."""
        counts = np.diff(self.offsets)
        outside = np.flatnonzero((places < 0) | (places >= counts))
        if outside.size:
            row = outside[0]
            raise ValueError(f"{places[row]} is not one of the {counts[row]} candidates of row {row}")
        return self.moves[self.offsets[:-1] + places]


@dataclass(frozen=True, slots=True)
class Observations(Columns):
    """Rows for one kind of decision."""

    decision: int
    """Its number in the game."""
    planes: U8
    """uint8 [n, observation_bytes]: bit-packed planes, or columns as the layout of the game's encoder has them."""
    masks: U8
    """uint8 [n, choices]: legal choices of a table; [n, 0]: no and yes, or candidates."""
    policies: I32
    """int32 [n]: which policy acts: LATEST, WEAK, or FIRST_OLDER + the number of an older version."""
    uniforms: F32
    """float32 [n] in 0 … 1: where in its distribution a sampled action lies. So the action of a row does not depend
    on what else is observed, nor on which process computes it."""
    candidates: Candidates | None = None
    """The legal moves of each row, of a kind that has candidates."""

    def chosen_moves(self, places: NDArray[np.integer]) -> I32:
        """Return the moves at the ``places`` of the lists of candidates, as ``Candidates.at``."""
        assert self.candidates is not None
        return self.candidates.at(places)


@dataclass(frozen=True, slots=True)
class PolicyOutputs(Columns):
    """The outputs of the nets for ``Observations``, row by row."""

    actions: I16
    """int16 [n]: a choice of the table, or the place of a move in its list of candidates; or 1 = yes, 0 = no."""
    scores: F32
    """float32 [n]: how sure a yes is, 0.5 … 1; of several at one table the highest counts. Unused for choices."""
    log_probs: F32
    """float32 [n]: log-probability of a sampled action; 0 for actions that were not sampled."""
    versions: I32
    """int32 [n]: policy version that computed it."""

    @classmethod
    def blank(cls, size: int, version: int) -> PolicyOutputs:
        """Return ``size`` rows of zeros, computed by ``version``, to be filled in."""
        zeros = np.zeros(size, np.float32)
        return cls(np.zeros(size, np.int16), zeros, zeros.copy(), np.full(size, version, np.int32))

    def put(self, rows: I64, part: PolicyOutputs) -> None:
        """Write ``part`` into ``rows`` int64 [k]."""
        self.actions[rows], self.scores[rows] = part.actions, part.scores
        self.log_probs[rows], self.versions[rows] = part.log_probs, part.versions


@dataclass(frozen=True, slots=True)
class Samples(Columns):
    """Samples of one head, from recorded games."""

    planes: U8
    """uint8 (n, observation_bytes): bit-packed planes."""
    masks: U8
    """uint8 (n, choices): the legal ones; (n, 0) for yes and no."""
    labels: I8
    """int8 (n,): the choice that was taken; 1 = yes, 0 = no."""
