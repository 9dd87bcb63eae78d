"""What can be known of MCR without its kernels: the names of its scripted agents, and what its nets decide."""

from __future__ import annotations

from suphx.games.learning import DecisionKind

AGENTS = ("random", "shanten")
"""Names of the scripted agents; kernels know an agent by its place."""
DECISIONS: tuple[DecisionKind, ...] = ()
"""The game has no nets yet."""
