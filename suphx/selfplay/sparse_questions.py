"""Questions on their way to another process: a quarter of the bytes, as most words of their rows are zero."""

from __future__ import annotations

from dataclasses import dataclass

from suphx.riichi.record import I32, U8
from suphx.selfplay.question import F32, Questions
from suphx.selfplay.sparse_rows import SparseRows


@dataclass(frozen=True, slots=True)
class SparseQuestions:
    """The columns of ``Questions``, with sparse rows."""

    head: int
    rows: SparseRows
    masks: U8
    policies: I32
    places: F32

    @classmethod
    def of(cls, questions: Questions) -> SparseQuestions:
        """Return what ``dense`` makes the same questions of."""
        rows = SparseRows.of(questions.rows)
        return cls(questions.head, rows, questions.masks, questions.policies, questions.places)

    def dense(self) -> Questions:
        """Return the questions."""
        return Questions(self.head, self.rows.dense(), self.masks, self.policies, self.places)
