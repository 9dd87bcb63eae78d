"""The interval of a rating of at least two walls."""

from __future__ import annotations

from suphx.evaluation.rating.rating import Rating
from suphx.evaluation.statistics import Interval


def interval_of(rating: Rating) -> Interval:
    """Return the interval of a rating; AssertionError if it has none."""
    assert rating.interval is not None
    return rating.interval
