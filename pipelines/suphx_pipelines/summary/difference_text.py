"""The result of a match in words: one form for logs and verdicts."""

from __future__ import annotations


def difference_text(difference: float, low: float, high: float, hanchans: int) -> str:
    """Return the difference in average placement of a match with its 95 % interval (``low``, ``high``).

    >>> difference_text(-0.183, -0.23, -0.14, 2000)
    'placement difference -0.18 (95 % interval -0.23 to -0.14; negative is better), 2,000 hanchans'
    """
    signed = f"placement difference {difference:+.2f} (95 % interval {low:+.2f} to {high:+.2f}; negative is better)"
    return f"{signed}, {hanchans:,} hanchans"
