"""What the nets think of every legal move: all heads are asked, whatever the order of Figure 1 would leave out.

A discard has the discard net's probability of its kind; a riichi, kan or claim the probability of yes of its net. The
discards of a table add up to 1, the others are separate questions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from suphx.experience.observation import F32, Observations
from suphx.games.riichi.features.encoder import Encoder
from suphx.games.riichi.features.head import DISCARD_HEAD, RIICHI_HEAD
from suphx.games.riichi.selfplay.decision import (
    HEAD_ORDER,
    NO_KEEP_PROBABILITIES,
    UNDECIDED,
    apply_forced_actions,
    discard_action,
    observe_head,
)
from suphx.games.riichi.table.action import NUM_ACTIONS, RIICHI
from suphx.kernel.record import I64, Records

Judge = Callable[[Observations], F32]
"""Observations of one head -> probabilities float32 [n, k] of its outputs; 0 for discards that are not legal."""


def move_probabilities(
    tables: Records,
    indices: I64,
    encoder: Encoder,
    judge: Judge,
    keep_probabilities: Mapping[int, float] = NO_KEEP_PROBABILITIES,
) -> F32:
    """Return float32 [n, NUM_ACTIONS] for the actors of the tables ``indices``; NaN where no net is asked.

    That is where a rule decides (wins, one legal move), and for passing. Of moves that a net cannot tell apart (a red
    five or another one, the tile just drawn or its equal) only the one that an agent would play has a probability.
    ``keep_probabilities`` as for ``decide``.
    """
    chances = np.full((len(indices), NUM_ACTIONS), np.nan, np.float32)
    actions = np.full(indices.shape, UNDECIDED, np.int16)
    apply_forced_actions(tables, indices, actions)
    for head in HEAD_ORDER:
        asked = observe_head(tables, indices, actions, encoder, head, keep_probability=keep_probabilities.get(head))
        if not asked.owners.size:
            continue
        probabilities = judge(asked.observations)
        if head == DISCARD_HEAD:
            for row, kind in zip(*np.nonzero(asked.observations.masks), strict=True):
                owner = asked.owners[row]
                chances[owner, discard_action(tables[indices[owner]], kind)] = probabilities[row, kind]
        else:
            moves = np.full_like(asked.candidates, RIICHI) if head == RIICHI_HEAD else asked.candidates
            chances[asked.owners, moves] = probabilities[:, 1]
    return chances
