"""What can be known of Dazhong without its kernels: the names of its scripted agents, and what its nets decide."""

from __future__ import annotations

from suphx.games.learning import DecisionKind

AGENTS = ("random", "robot", "fanfou_ba", "fanfou_mc_programs", "fanfou_mc", "fanfou_op", "ukeire")
"""Names of the scripted agents; kernels know an agent by its place."""

_KINDS = (*(f"{number}{suit}" for suit in "mps" for number in range(1, 10)), *(f"{number}z" for number in range(1, 8)))
"""Of all columns of a plane; the seven honours are never legal."""
_TURN = tuple(f"{word}{kind}" for word in ("", "ting ", "kong ") for kind in _KINDS)
_CLAIM = ("pass", "pung", "kong", "chow below", "chow around", "chow above", "ting")
DECISIONS = (
    DecisionKind(
        game="dazhong", number=0, name="turn", role="player", outputs=_TURN, num_choices=len(_TURN), training_share=3.0
    ),
    DecisionKind(game="dazhong", number=1, name="claim", role="player", outputs=_CLAIM, num_choices=len(_CLAIM)),
)
"""A turn: which tile is discarded, with ting or without, or which kong is declared. A claim: what is done with a
discard, where a chow's own tiles are below, around or above it; ``ting`` is that of a hand ready after the deal."""
TURN_KIND, CLAIM_KIND = (kind.number for kind in DECISIONS)
