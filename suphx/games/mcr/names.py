"""What can be known of MCR without its kernels: the names of its scripted agents, and what its nets decide."""

from __future__ import annotations

from suphx.games.learning import DecisionKind

ABOUT_AGENTS = {
    "random": "chooses among the legal moves at random",
    "shanten": "plays for shanten and ukeire, without a look at fans",
    "fan_plan": "plays for the likeliest hands of at least 8 fan",
}
"""What each scripted agent plays, the strongest last."""
AGENTS = tuple(ABOUT_AGENTS)
"""Kernels know an agent by its place."""

_KINDS = (*(f"{suit}{rank}" for suit in "WBT" for rank in range(1, 10)), "F1", "F2", "F3", "F4", "J3", "J2", "J1")
"""In the order of suphx/games/mahjong."""
_CLAIM = (
    "pass",
    *(f"chow {suit}{rank}" for suit in "WBT" for rank in range(2, 9)),
    *(f"pung {kind}" for kind in _KINDS),
    *(f"kong {kind}" for kind in _KINDS),
)
DECISIONS = (
    DecisionKind(
        game="mcr", number=0, name="discard", role="player", outputs=_KINDS, num_choices=34, training_share=3.0
    ),
    DecisionKind(game="mcr", number=1, name="claim", role="player", outputs=_CLAIM, num_choices=90),
)
"""A claim: what is done with a discard, by the middle tile of a chow, and at one's own turn with a kong, where ``pass``
leaves the decision to the discard net. Who can win wins."""
DISCARD_KIND, CLAIM_KIND = (kind.number for kind in DECISIONS)
