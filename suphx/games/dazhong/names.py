"""What can be known of Dazhong without its kernels: the names of its scripted agents, and what its nets decide."""

from __future__ import annotations

from suphx.games.learning import DecisionKind

ABOUT_AGENTS = {
    "random": "chooses among the legal moves at random",
    "robot": "discards a random tile, and claims as fanfou_op",
    "fanfou_ba": "discards by four lists of shapes",
    "fanfou_mc_programs": "as fanfou_mc, with the candidates of the authors' programs",
    "fanfou_mc": "as fanfou_op; once others are ready, it samples their hands and discards the safest tile",
    "fanfou_op": "as fanfou_ba; chooses its waits, and plays for seven pairs and all pungs",
    "ukeire": "plays for shanten and ukeire",
}
"""What each scripted agent plays, the strongest last."""
AGENTS = tuple(ABOUT_AGENTS)
"""Kernels know an agent by its place."""

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
