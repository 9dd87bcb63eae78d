"""Self-play in one process whose uncertain decisions are played out (suphx/games/riichi/selfplay/playout.py).

>>> collector = BranchCollector(config, heads, find_encoder("suphx"), tenhou(), first_seed=1)
>>> branches = collector.collect(nets, 8192)  # head -> Branches
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from suphx.experience.columns import Columns, joined
from suphx.experience.observation import F32, Observations, PolicyOutputs
from suphx.games.learning import LearningConfig
from suphx.games.riichi.features.encoder import Encoder
from suphx.games.riichi.names import DISCARD_HEAD, HEAD_NAMES, RIICHI_HEAD
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.selfplay.playout import NO_BRANCH, BranchTables, play_out_scripted
from suphx.games.riichi.selfplay.table_group import TableGroup
from suphx.kernel.record import I16, I64, U8
from suphx.models.sampling import actions_at, masked_logits
from suphx.selfplay.config import BranchConfig


@dataclass(frozen=True, slots=True)
class Branches(Columns):
    """Rows of one head; all columns have the same length n."""

    planes: U8
    """uint8 [n, observation_bytes]: bit-packed planes."""
    masks: U8
    """uint8 [n, 34]: legal kinds of discards; [n, 0] for the other heads."""
    choices: I16
    """int16 [n, k]: the actions that were tried, the most probable first; NO_BRANCH: none."""
    points: F32
    """float32 [n, k]: what the deciding seat won or lost until the end of the deal after each of them."""
    deals: I64
    """int64 [n]: a number for the deal of each decision; decisions of one deal share its tiles."""

    def permuted(self, generator: np.random.Generator) -> Branches:
        """Return the same decisions with the points of each exchanged at random among the actions that were tried."""
        keys = generator.random(self.choices.shape)
        keys[self.choices == NO_BRANCH] = 2.0  # these come last and stay where they are
        return replace(self, points=np.take_along_axis(self.points, keys.argsort(axis=1), axis=1))


def probable_actions(logits: Tensor, masks: Tensor, *, max_branches: int, min_probability: float) -> I16:
    """Return the actions that are worth a try, int16 [n, k], the most probable first; k is at most ``max_branches``.

    Discards are tried that are at least as probable as ``min_probability``; of a call both actions if yes is as
    probable, however sure the net is of it. NO_BRANCH: not tried, or fewer than two actions to compare.
    """
    probabilities = torch.softmax(masked_logits(logits, masks), dim=1)
    most, order = probabilities.topk(min(max_branches, probabilities.shape[1]), dim=1)
    is_tried = (most >= min_probability) & (most > 0)
    if probabilities.shape[1] == 2:
        is_tried[:] = probabilities[:, 1:] >= min_probability
    is_tried &= is_tried.sum(dim=1, keepdim=True) >= 2
    choices: I16 = torch.where(is_tried, order, NO_BRANCH).to(torch.int16).numpy()
    return choices


Net = Callable[[Tensor], Tensor]
"""Packed rows uint8 [n, observation_bytes] on the CPU -> logits there."""


class BranchCollector:
    """Consumes: nets. Produces: decisions with the points of their branches. Waits for nothing."""

    def __init__(
        self, config: BranchConfig, heads: Sequence[int], encoder: Encoder, rules: Rules, *, first_seed: int
    ) -> None:
        """Deal the first games; their seeds are ``first_seed``, ``first_seed`` + 1, …; ``heads`` are played out."""
        self._config = config
        self._heads = tuple(heads)
        self._group = TableGroup(
            LearningConfig(
                num_tables=config.num_tables,
                learned=(),
                options=frozenset({"draw lanes"} if config.has_draw_lanes else ()),
                first_steps=_FIRST_STEPS,
            ),
            encoder,
            rules,
            first_seed=first_seed,
        )

    def collect(self, nets: Sequence[Net], num_decisions: int) -> dict[int, Branches]:
        """Play on with ``nets``, one for each head, until at least ``num_decisions`` were played out; return them.

        ValueError if for a long time no decision is worth it, so that this would have no end.
        """
        trials: list[tuple[int, Branches, BranchTables]] = []
        count = in_vain = 0
        while count < num_decisions:
            before = count
            observed = self._group.observe()
            logits = [nets[part.decision](torch.from_numpy(part.planes)).float() for part in observed]
            outputs = [self._answer(part, own) for part, own in zip(observed, logits, strict=True)]
            counted = self._group.counted(outputs)
            for number, part in enumerate(observed):
                if part.decision in self._heads:
                    after_no = self._after_no(number, observed, logits)
                    branches, tables = self._branch(number, part, logits[number], counted[number], after_no)
                    trials.append((part.decision, branches, tables))
                    count += len(branches)
            self._group.step(outputs)
            in_vain = 0 if count > before else in_vain + 1
            if in_vain >= _STEPS_IN_VAIN:
                heads = ", ".join(HEAD_NAMES[head] for head in self._heads)
                raise ValueError(
                    f"in {in_vain:,} steps of {self._config.num_tables} games no decision of {heads} was to be played "
                    "out: use a smaller branches.min_probability, or more heads"
                )
        parts: dict[int, list[Branches]] = {}
        for head, branches, tables in trials:
            parts.setdefault(head, []).append(replace(branches, points=play_out_scripted(tables)))
        return {head: joined(parts[head]) for head in sorted(parts)}

    def open_deals(self) -> I64:
        """Return the numbers of the deals that go on in the next ``collect``, int64 [tables]."""
        return self._group.deals()

    def _answer(self, part: Observations, logits: Tensor) -> PolicyOutputs:
        scaled = logits / self._config.temperature
        actions, log_probs = actions_at(scaled, torch.from_numpy(part.masks), torch.from_numpy(part.uniforms))
        scores = np.zeros(len(actions), np.float32)
        if part.decision != DISCARD_HEAD:
            scores = torch.softmax(scaled, dim=1)[:, 1].numpy().astype(np.float32)
        versions = np.zeros(len(actions), np.int32)
        return PolicyOutputs(actions.numpy().astype(np.int16), scores, log_probs.numpy(), versions)

    def _after_no(self, number: int, observed: Sequence[Observations], logits: Sequence[Tensor]) -> I64 | None:
        """Return what follows a no of each row of a part (``branch``); None for discards, which have no no.

        After no riichi it is the most probable discard of its table.
        """
        head = observed[number].decision
        if head == DISCARD_HEAD:
            return None
        if head != RIICHI_HEAD:
            return self._group.next_claims(number, [torch.softmax(own, dim=1)[:, 1].numpy() for own in logits])
        discards = next(i for i, part in enumerate(observed) if part.decision == DISCARD_HEAD)
        legal = torch.from_numpy(observed[discards].masks)
        kinds = np.full(self._config.num_tables, NO_BRANCH, np.int64)
        kinds[self._group.owners(discards)] = masked_logits(logits[discards], legal).argmax(dim=1).numpy()
        return kinds[self._group.owners(number)]

    def _branch(
        self, number: int, part: Observations, logits: Tensor, counted: np.ndarray, after_no: I64 | None
    ) -> tuple[Branches, BranchTables]:  # fmt: skip
        """Return the decisions of a part that are played out, without points, and the tables to play."""
        config = self._config
        choices = probable_actions(
            logits, torch.from_numpy(part.masks),
            max_branches=config.max_branches, min_probability=config.min_probability,
        )  # fmt: skip
        is_played_out = counted & (choices[:, 0] != NO_BRANCH)
        if part.decision == DISCARD_HEAD:
            # The low digits are nearly independent of the actions.
            is_played_out &= part.uniforms * _HIGH_DIGITS % 1 < config.discard_share
        rows = np.flatnonzero(is_played_out)
        own = None if after_no is None else after_no[rows]
        tables = self._group.branch(number, rows, choices[rows], num_walls=config.num_walls, after_no=own)
        no_points = np.zeros(choices[rows].shape, np.float32)
        return Branches(part.planes[rows], part.masks[rows], choices[rows], no_points, tables.deals()), tables

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs."""
        return self._group.state()

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a ``state`` of an equal collector."""
        self._group.restore(dict(state))


_HIGH_DIGITS = np.float32(4096)
_STEPS_IN_VAIN = 2_000  # many deals at every table
_FIRST_STEPS = 64  # about as many decisions as a table has in a deal
