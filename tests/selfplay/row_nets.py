"""Nets whose answers follow from the bytes of a row alone: as good as random, the same in every batch."""

from __future__ import annotations

import numpy as np

from suphx.features.encoder import Encoder
from suphx.features.head import DISCARD
from suphx.riichi.record import I16, I64, U8, Records
from suphx.selfplay.answer import row_fractions
from suphx.selfplay.decision import decide
from suphx.selfplay.question import Questions, Replies

YES_SHARE = 0.3


def forward(head: int, rows: U8, masks: U8) -> np.ndarray:
    """Answer as the forward of the decision flow."""
    fractions = row_fractions(rows)
    if head == DISCARD:
        scores = (fractions[:, None] * (7 + np.arange(34))) % 1
        return np.where(masks > 0, scores, -1).astype(np.float32)
    return np.where(fractions < YES_SHARE, 0.5 + fractions, 0).astype(np.float32)


def reply(questions: Questions, version: int = 0) -> Replies:
    """Answer a group's questions in the same way; log-probs tell the rows apart."""
    scores = forward(questions.head, questions.rows, questions.masks)
    is_discard = questions.head == DISCARD
    actions = scores.argmax(axis=1) if is_discard else scores > 0.5
    return Replies(
        actions=actions.astype(np.int16),
        scores=np.zeros(len(scores), np.float32) if is_discard else scores,
        log_probs=-row_fractions(questions.rows).astype(np.float32),
        versions=np.full(len(scores), version, np.int32),
    )


class RowAgent:
    """The same as an agent."""

    name = "row"

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = encoder

    def act(self, tables: Records, indices: I64) -> I16:
        return decide(tables, indices, self._encoder, forward)
