"""What can be known of Dazhong without its kernels: the names of its scripted agents."""

from __future__ import annotations

AGENTS = ("random", "robot", "fanfou_ba", "fanfou_mc_programs", "fanfou_mc", "fanfou_op")
"""Names of the scripted agents; kernels know an agent by its place."""
DECISIONS = ()
"""What nets decide: nothing yet."""
