"""Actions for tests that play games: legal ones that depend on nothing but the table."""

from __future__ import annotations

from suphx.kernel.record import I64, Records


def choose(tables: Records, indices: I64) -> I64:
    """Return a legal action for each table that depends on nothing but the table."""
    mask = tables["legal"][indices].astype(bool)
    mixed = tables["wall_seed"][indices] * 7919 + tables["num_decisions"][indices] * 104_729
    places = mixed // 64 % tables["num_legal"][indices]
    ranks = mask.cumsum(axis=1) - 1
    actions: I64 = (mask & (ranks == places[:, None])).argmax(axis=1)
    return actions
