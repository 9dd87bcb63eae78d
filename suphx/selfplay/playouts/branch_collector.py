"""Self-play in one process whose uncertain decisions are played out (suphx/games/riichi/selfplay/playout.py).

>>> collector = BranchCollector(config, find_encoder("suphx"), tenhou(), first_seed=1)
>>> branches = collector.collect(nets, 8192)  # head -> Branches
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import torch
from torch import Tensor

from suphx.experience.observation import F32, Observations, PolicyOutputs
from suphx.games.riichi import DISCARD_HEAD, NO_BRANCH, Encoder, GroupConfig, Rules, TableGroup
from suphx.models.sampling import actions_at
from suphx.selfplay.playouts.branch_config import BranchConfig
from suphx.selfplay.playouts.branches import Branches, join, probable_answers

Net = Callable[[Tensor], Tensor]
"""Packed rows uint8 [n, row_bytes] on the CPU -> logits there."""


class BranchCollector:
    """Consumes: nets. Produces: decisions with the points of their branches. Waits for nothing."""

    def __init__(
        self, config: BranchConfig, heads: Sequence[int], encoder: Encoder, rules: Rules, *, first_seed: int
    ) -> None:
        """Deal the first games; their seeds are ``first_seed``, ``first_seed`` + 1, …; ``heads`` are played out."""
        self._config = config
        self._heads = tuple(heads)
        self._group = TableGroup(
            GroupConfig(
                num_tables=config.num_tables,
                heads=(),
                has_draw_lanes=config.has_draw_lanes,
                first_steps=_FIRST_STEPS,
            ),
            encoder,
            rules,
            first_seed=first_seed,
        )

    def collect(self, nets: Sequence[Net], num_decisions: int) -> dict[int, Branches]:
        """Play on with ``nets``, one for each head, until at least ``num_decisions`` were played out; return them."""
        parts: dict[int, list[Branches]] = {head: [] for head in self._heads}
        count = 0
        while count < num_decisions:
            observed = self._group.observe()
            logits = [nets[part.head](torch.from_numpy(part.rows)).float() for part in observed]
            outputs = [self._answer(part, own) for part, own in zip(observed, logits, strict=True)]
            counted = self._group.counted(outputs)
            for number, part in enumerate(observed):
                if part.head in self._heads:
                    found = self._play_out(number, part, logits[number], counted[number])
                    parts[part.head].append(found)
                    count += len(found)
            self._group.step(outputs)
        return {head: join(found) for head, found in parts.items() if found}

    def _answer(self, part: Observations, logits: Tensor) -> PolicyOutputs:
        scaled = logits / self._config.temperature
        actions, log_probs = actions_at(scaled, torch.from_numpy(part.masks), torch.from_numpy(part.uniforms))
        scores = np.zeros(len(actions), np.float32)
        if part.head != DISCARD_HEAD:
            scores = 0.5 + 0.5 * torch.softmax(scaled, dim=1)[:, 1].numpy().astype(np.float32)
        versions = np.zeros(len(actions), np.int32)
        return PolicyOutputs(actions.numpy().astype(np.int16), scores, log_probs.numpy(), versions)

    def _play_out(self, number: int, part: Observations, logits: Tensor, counted: np.ndarray) -> Branches:
        config = self._config
        choices = probable_answers(
            logits, torch.from_numpy(part.masks),
            max_branches=config.max_branches, min_probability=config.min_probability,
        )  # fmt: skip
        is_played_out = counted & (choices[:, 0] != NO_BRANCH)
        if part.head == DISCARD_HEAD:
            is_played_out &= _fractions(part.uniforms) < config.discard_share
        rows = np.flatnonzero(is_played_out)
        choices = choices[rows]
        points = self._group.play_out(number, rows, choices, num_walls=config.num_walls)
        return Branches(part.rows[rows], part.masks[rows], choices, points)

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs."""
        return self._group.state()

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a ``state`` of an equal collector."""
        self._group.restore(dict(state))


def _fractions(uniforms: F32) -> F32:
    """Return numbers in 0 … 1 that follow from the low digits of ``uniforms``: nearly independent of the answers."""
    fractions: F32 = uniforms * _HIGH_DIGITS % 1
    return fractions


_HIGH_DIGITS = np.float32(4096)
_FIRST_STEPS = 64  # about as many decisions as a table has in a deal
