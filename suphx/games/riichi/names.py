"""What recipes name in riichi, without kernels: scripted agents, and the five decision kinds of the paper's Table 1."""

from __future__ import annotations

from suphx.games.learning import DecisionKind

ABOUT_AGENTS = {
    "random": "chooses among the legal actions at random",
    "tsumogiri": "discards the tile just drawn, and wins when it can",
    "ukeire": "plays for shanten and ukeire, with defence",
}
"""What each scripted agent plays. The last one is the strongest: it is the default opponent."""
AGENTS = tuple(ABOUT_AGENTS)
"""The position of a name is its number in ``choose_scripted`` (bots.py)."""

_KINDS = (*(f"{number}{suit}" for suit in "mps" for number in range(1, 10)), *(f"{number}z" for number in range(1, 8)))


_FIRST_LOGIT = 2.0  # yes or no with 88 %: sure enough to play on, open enough to learn the other


_YES_OR_NO = {"riichi": (1, 1.0), "chow": (-1, 1.5), "pong": (-1, 1.5), "kong": (-1, 1.0)}
"""Name -> the sign of the first logit, the share of the training."""

DECISIONS = (
    DecisionKind(
        game="riichi",
        number=0,
        name="discard",
        role="player",
        outputs=_KINDS,
        num_choices=len(_KINDS),
        training_share=5.0,
    ),
    *(
        DecisionKind(
            game="riichi",
            number=number,
            name=name,
            role="player",
            outputs=("no", "yes"),
            first_logit=sign * _FIRST_LOGIT,
            training_share=share,
            # the no of an own kong is not an action: other decisions have to follow it
            can_be_played_out=name != "kong",
        )
        for number, (name, (sign, share)) in enumerate(_YES_OR_NO.items(), start=1)
    ),
)
"""Paper, Table 2: the discard net chooses a kind of tile, the others say yes or no."""

DISCARD_HEAD, RIICHI_HEAD, CHOW_HEAD, PONG_HEAD, KONG_HEAD = range(5)
"""The numbers of the decision kinds. A net of one of them is a *head*."""
HEAD_NAMES = tuple(kind.name for kind in DECISIONS)

CLAIM_HEADS = (
    CHOW_HEAD,
    PONG_HEAD,
    KONG_HEAD,
)  # one input row for each possible claim, with the planes of the hand after it


def head_index(name: str) -> int:
    """Return the number of a head by its name; ValueError for an unknown one."""
    if name not in HEAD_NAMES:
        raise ValueError(f"{name!r} is not a head: use one of {', '.join(HEAD_NAMES)}")
    return HEAD_NAMES.index(name)
