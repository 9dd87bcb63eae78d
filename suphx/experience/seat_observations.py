"""What one seat sees at many tables when it chooses among candidate moves, of which each table has its own number."""

from __future__ import annotations

from dataclasses import dataclass

from suphx.kernel.record import I32, I64, U8


@dataclass(frozen=True, slots=True)
class SeatObservations:
    """The tables at which one seat has to move; each seat has a net of its own."""

    seat: int
    tables: I64
    """int64 (n,): numbers of the tables."""
    states: U8
    """uint8 [n, columns]: the columns of a state differ from seat to seat."""
    history: U8
    """uint8 [n, lines, columns]: the last moves, the oldest line first."""
    offsets: I64
    """int64 (n + 1,): where the candidates of each table begin in ``moves``, and the end of the last."""
    moves: I32
    """int32 (m,): candidates, rows of ``Learning.candidate_features``."""
    num_moves: int
    """How many rows that has by the rules of these tables: by other rules, a move has another number."""
