"""Self-play in one process whose uncertain decisions are played out (suphx/games/playouts.py).

>>> collector = BranchCollector(config, heads, "suphx", game="riichi", first_seed=1)
>>> branches = collector.collect(nets, 8192)  # head -> Branches
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import torch
from torch import Tensor

from suphx.experience.columns import Columns, joined
from suphx.experience.observation import F32, Observations, PolicyOutputs
from suphx.games.learning import LearningConfig
from suphx.games.playouts import NO_BRANCH, BranchTables, PlayoutTables
from suphx.games.registry import decision_names, find_decisions, find_learning
from suphx.kernel.record import I16, I64, U8
from suphx.models.sampling import actions_at, masked_logits
from suphx.selfplay.config import BranchConfig


@dataclass(frozen=True, slots=True)
class Branches(Columns):
    """Rows of one head; all columns have the same length n."""

    planes: U8
    """uint8 [n, observation_bytes]: bit-packed planes."""
    masks: U8
    """uint8 [n, choices]: legal choices; [n, 0] for heads that say no or yes."""
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


def probable_actions(probabilities: Tensor, *, max_branches: int, min_probability: float) -> I16:
    """Return the actions that are worth a try, int16 [n, k], the most probable first; k is at most ``max_branches``.

    Choices are tried that are at least as probable as ``min_probability``; of no and yes both if yes is as probable,
    however sure the net is of it. NO_BRANCH: not tried, or fewer than two actions to compare.
    """
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

    def __init__(self, config: BranchConfig, heads: Sequence[int], encoder: str, *, game: str, first_seed: int) -> None:
        """Deal the first games; their seeds are ``first_seed``, ``first_seed`` + 1, …; ``heads`` are played out."""
        self._config, self._heads, self._game = config, tuple(heads), game
        self._kinds = find_decisions(game)
        learning = find_learning(game)
        lanes = learning.options & {"draw lanes"} if config.has_draw_lanes else frozenset()
        tables = learning.new_learning_tables(
            LearningConfig(num_tables=config.num_tables, learned=(), options=lanes, first_steps=_FIRST_STEPS),
            encoder,
            first_seed=first_seed,
        )
        self._tables = cast("PlayoutTables", tables)  # of a game with the option playouts

    def collect(self, nets: Sequence[Net], num_decisions: int) -> dict[int, Branches]:
        """Play on with ``nets``, one for each head, until at least ``num_decisions`` were played out; return them.

        ValueError if for a long time no decision is worth it, so that this would have no end.
        """
        trials: list[tuple[int, Branches, BranchTables]] = []
        count = in_vain = 0
        while count < num_decisions:
            before = count
            observed = self._tables.observe()
            logits = [nets[part.decision](torch.from_numpy(part.planes)).float() for part in observed]
            outputs = [self._answer(part, own) for part, own in zip(observed, logits, strict=True)]
            counted = self._tables.counted(outputs)
            probabilities = [
                torch.softmax(masked_logits(own, torch.from_numpy(part.masks)), dim=1)
                for part, own in zip(observed, logits, strict=True)
            ]
            for number, part in enumerate(observed):
                if part.decision in self._heads:
                    branches, tables = self._branch(number, part, probabilities, counted[number])
                    trials.append((part.decision, branches, tables))
                    count += len(branches)
            self._tables.step(outputs)
            in_vain = 0 if count > before else in_vain + 1
            if in_vain >= _STEPS_IN_VAIN:
                heads = ", ".join(decision_names(self._game)[head] for head in self._heads)
                raise ValueError(
                    f"in {in_vain:,} steps of {self._config.num_tables} games no decision of {heads} was to be played "
                    "out: use a smaller branches.min_probability, or more heads"
                )
        parts: dict[int, list[Branches]] = {}
        for head, branches, tables in trials:
            parts.setdefault(head, []).append(replace(branches, points=tables.points()))
        return {head: joined(parts[head]) for head in sorted(parts)}

    def open_deals(self) -> I64:
        """Return the numbers of the deals that go on in the next ``collect``, int64 [tables]."""
        return self._tables.deals()

    def _answer(self, part: Observations, logits: Tensor) -> PolicyOutputs:
        scaled = logits / self._config.temperature
        actions, log_probs = actions_at(scaled, torch.from_numpy(part.masks), torch.from_numpy(part.uniforms))
        scores = np.zeros(len(actions), np.float32)
        if not self._kinds[part.decision].is_choice:
            scores = torch.softmax(scaled, dim=1)[:, 1].numpy().astype(np.float32)
        versions = np.zeros(len(actions), np.int32)
        return PolicyOutputs(actions.numpy().astype(np.int16), scores, log_probs.numpy(), versions)

    def _branch(
        self, number: int, part: Observations, probabilities: Sequence[Tensor], counted: np.ndarray
    ) -> tuple[Branches, BranchTables]:  # fmt: skip
        """Return the decisions of a part that are played out, without points, and the tables to play."""
        config = self._config
        choices = probable_actions(
            probabilities[number], max_branches=config.max_branches, min_probability=config.min_probability
        )
        is_played_out = counted & (choices[:, 0] != NO_BRANCH)
        if part.decision == _FIRST_KIND:
            # The low digits are nearly independent of the actions.
            is_played_out &= part.uniforms * _HIGH_DIGITS % 1 < config.discard_share
        rows = np.flatnonzero(is_played_out)
        tables = self._tables.branch(
            number, rows, choices[rows], [own.numpy() for own in probabilities], num_walls=config.num_walls
        )
        no_points = np.zeros(choices[rows].shape, np.float32)
        return Branches(part.planes[rows], part.masks[rows], choices[rows], no_points, tables.deals()), tables

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs."""
        return self._tables.state()

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a ``state`` of an equal collector."""
        self._tables.restore(dict(state))


_FIRST_KIND = 0  # of every game: its discards, or turns
_HIGH_DIGITS = np.float32(4096)
_STEPS_IN_VAIN = 2_000  # many deals at every table
_FIRST_STEPS = 64  # about as many decisions as a table has in a deal
