"""Continuous games at many tables: each step applies the nets' outputs and plays until every table waits for new ones.

>>> group = TableGroup(LearningConfig(...), find_encoder("suphx"), tenhou(), first_seed=2**60)
>>> while True:
...     ended = group.step([outputs_of(observations) for observations in group.observe()])
...     decisions = ended.with_rewards(reward(ended.ends))  # training/reward.py

A table is observed for all nets that its decision may need at once (kong, riichi and discard of an own turn): one
message per decision.
The course of a game depends only on its seed and the policy outputs, not on other tables.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from suphx.experience.learning_tables import Ended, draw_seating, restore_stores, saved_tables
from suphx.experience.observation import F32, LATEST, Observations, PolicyOutputs
from suphx.experience.trajectory import TrajectoryStore, Unrewarded
from suphx.games.learning import LearningConfig
from suphx.games.mahjong.shanten import load_suits
from suphx.games.playouts import NO_BRANCH
from suphx.games.riichi.features.encoder import Encoder
from suphx.games.riichi.features.oracle import oracle_observation
from suphx.games.riichi.names import CLAIM_HEADS, DECISIONS, DISCARD_HEAD, HEAD_NAMES, RIICHI_HEAD
from suphx.games.riichi.rules import Rules
from suphx.games.riichi.selfplay import decision
from suphx.games.riichi.selfplay.playout import RiichiBranches, branch, deal_numbers, second_choices
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import GAME_END, KYOKU_END, TABLE
from suphx.kernel.record import I8, I16, I32, I64, Records


@dataclass(frozen=True, slots=True)
class KyokuEnds:
    """The ends of n deals, one row each."""

    tables: I64  # int64 [n]: the table's number in its simulator
    games: I64  # int64 [n]: the seed of the game, which no other game of the run has
    numbers: I32  # int32 [n]: deals of the game before this one
    kyoku: I32  # int32 [n]: 0 = East 1
    honba: I32  # int32 [n]
    kyotaku: I32  # int32 [n]: sticks on the table when it began
    scores_before: I32  # int32 [n, 4]: points by seat when it began
    scores_after: I32  # int32 [n, 4]
    placements: I8  # int8 [n, 4]: 1-4 by seat if the game ended with it, else 0
    next_kyoku: I32  # int32 [n]: of the deal that follows; without meaning if the game ended
    next_honba: I32  # int32 [n]: same
    next_kyotaku: I32  # int32 [n]: same
    next_scores: I32  # int32 [n, 4]: ``scores_after``; at the end of the game with the sticks that were left over


class TableGroup:
    """Consumes: outputs. Produces: observations, and the decisions of deals that ended. Waits for nothing."""

    def __init__(self, config: LearningConfig, encoder: Encoder, rules: Rules, *, first_seed: int) -> None:
        """Deal the first games; the seeds of this group's games are ``first_seed``, ``first_seed`` + 1, …"""
        self._config = config
        self._encoder = encoder
        self._suits = load_suits()
        self._borders = config.opponents.borders()
        self._simulator = Simulator(
            config.num_tables, rules, stops_at_kyoku_end=True, has_draw_lanes="draw lanes" in config.options
        )
        self._tables = self._simulator.tables
        self._seating = np.zeros((config.num_tables, 4), np.int32)
        self._start_scores = np.zeros((config.num_tables, 4), np.int32)
        self._start_sticks = np.zeros(config.num_tables, np.int32)
        self._next_seed = first_seed
        self._stores = [
            TrajectoryStore(
                head,
                config.num_tables,
                observation_bytes=stored_observation_bytes(encoder, head, has_oracle="hidden" in config.options),
                num_choices=DECISIONS[head].num_choices,
            )
            for head in config.learned
        ]
        self._hidden_heads = config.learned if "hidden" in config.options else ()
        self._observed: list[decision.HeadObservations] = []
        self._num_steps = 0
        self._deal(np.arange(config.num_tables))
        self._play(np.full(config.num_tables, decision.UNDECIDED, np.int16))

    def observe(self, keep_probability: float = 1.0) -> list[Observations]:
        """Return the observations of all tables, one part for each head that is needed.

        ``keep_probability``: of the keep-masks, in rows that have what is hidden.
        """
        begun = np.arange(self._config.num_begun(self._num_steps))
        undecided = np.full(len(begun), decision.UNDECIDED, np.int16)
        self._observed = []
        for head in decision.HEAD_ORDER:
            seen = keep_probability if head in self._hidden_heads else None
            asked = decision.observe_head(self._tables, begun, undecided, self._encoder, head, keep_probability=seen)
            if asked.owners.size:
                actors = self._tables["actor"][asked.owners]
                asked.observations.policies[:] = self._seating[asked.owners, actors]
                self._observed.append(asked)
        return [asked.observations for asked in self._observed]

    def step(self, outputs: Sequence[PolicyOutputs]) -> Ended:
        """Play on with the outputs for the last ``observe`` until every table waits; return what ended on the way."""
        actions = np.full(self._config.num_tables, decision.UNDECIDED, np.int16)
        num_decisions = self._config.num_begun(self._num_steps)
        counts = _apply_all_heads(self._tables[:num_decisions], self._observed, outputs, actions[:num_decisions])
        self._keep(outputs, counts, actions)
        self._num_steps += 1
        ends, decisions = self._play(actions)
        points = (ends.scores_after - ends.scores_before).astype(np.float32)  # the paper's round score
        return Ended(points, decisions, num_decisions, int(ends.placements.any(axis=1).sum()), ends)

    def counted(self, outputs: Sequence[PolicyOutputs]) -> list[decision.BOOL]:
        """Return which rows of the last ``observe`` are decided by these outputs, bool [n] for each part.

        A row is not if a head before it in Figure 1 decided its table.
        """
        tables = self._tables[: self._config.num_begun(self._num_steps)]
        return _apply_all_heads(tables, self._observed, outputs, np.full(len(tables), decision.UNDECIDED, np.int16))

    def deals(self) -> I64:
        """Return the numbers of the deals that the tables play now, int64 [tables] (playout.py)."""
        return deal_numbers(self._tables)

    def branch(
        self, part: int, rows: I64, choices: I16, probabilities: Sequence[F32], *, num_walls: int = 1
    ) -> RiichiBranches:
        """Return copies of tables on which to try actions, as ``PlayoutTables`` (games/playouts.py)."""
        asked, after_no = self._observed[part], self._after_no(part, probabilities)
        return branch(
            self._tables, asked.observations.decision, asked.owners[rows], asked.candidates[rows], choices,
            num_walls=num_walls, after_no=None if after_no is None else after_no[rows],
        )  # fmt: skip

    def _after_no(self, part: int, probabilities: Sequence[F32]) -> I64 | None:
        """Return what follows a no of each row of a part (playout.py), int64 [n]; None for discards, which have no no.

        After no riichi it is the most probable discard of its table, after no claim the most probable one of the other
        claims of its table, or PASS if none is more probable than not.
        """
        heads = [asked.observations.decision for asked in self._observed]
        owners = self._observed[part].owners
        if heads[part] == DISCARD_HEAD:
            return None
        if heads[part] == RIICHI_HEAD:
            discards = heads.index(DISCARD_HEAD)
            kinds = np.full(self._config.num_tables, NO_BRANCH, np.int64)
            kinds[self._observed[discards].owners] = probabilities[discards].argmax(axis=1)
            return kinds[owners]
        claims = [number for number, head in enumerate(heads) if head in CLAIM_HEADS]
        tables = np.concatenate([self._observed[number].owners for number in claims])
        candidates = np.concatenate([self._observed[number].candidates for number in claims])
        found = second_choices(tables, candidates, np.concatenate([probabilities[number][:, 1] for number in claims]))
        before = sum(len(self._observed[number].owners) for number in claims if number < part)
        return found[before : before + len(owners)]

    def state(self) -> dict[str, np.ndarray]:
        """Return all that ``restore`` needs; observations that wait for outputs are made again."""
        arrays: dict[str, np.ndarray] = {
            "tables": self._tables.view(np.uint8).reshape(len(self._tables), -1),
            "seating": self._seating,
            "start_scores": self._start_scores,
            "start_sticks": self._start_sticks,
            "next_seed": np.array([self._next_seed]),
            "num_steps": np.array([self._num_steps]),
        }
        return saved_tables(arrays, self._stores, HEAD_NAMES)

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Go on from a ``state`` of an equal group."""
        self._tables[:] = np.array(state["tables"]).reshape(-1).view(TABLE)
        self._seating = state["seating"].copy()
        self._start_scores = state["start_scores"].copy()
        self._start_sticks = state["start_sticks"].copy()
        self._next_seed, self._num_steps = int(state["next_seed"][0]), int(state["num_steps"][0])
        restore_stores(state, self._stores, HEAD_NAMES)

    def _keep(self, outputs: Sequence[PolicyOutputs], counts: Sequence[decision.BOOL], actions: I16) -> None:
        """Keep what the learning seats decided, unless there was no choice; ``actions`` of the tables are done next.

        What is kept is the sampled action of each net: whether its yes is carried out depends on the actions of the
        others. It is marked if not (``is_overruled``), and learned from like the others; the gradient then is that of
        what was played (docs/self-play.md, "Overruled calls").
        """
        for asked, output, is_counted in zip(self._observed, outputs, counts, strict=True):
            for store in self._stores:
                if store.decision != asked.observations.decision:
                    continue
                has_choice = asked.observations.masks.sum(axis=1) != 1
                chosen = np.flatnonzero(is_counted & has_choice & (asked.observations.policies == LATEST))
                seats = self._tables["actor"][asked.owners].astype(np.int64)
                is_overruled: decision.BOOL | None = None
                if store.decision in CLAIM_HEADS:  # a surer yes of the same seat overrules this one
                    is_overruled = (output.actions == 1) & (actions[asked.owners] != asked.candidates)
                store.add(asked.owners, seats, asked.observations, output, chosen, is_overruled)

    def _play(self, actions: I16) -> tuple[KyokuEnds, tuple[Unrewarded, ...]]:
        """Apply ``actions``, start the next deal where one ended, and play on until every table needs a decision."""
        everyone = np.arange(len(actions))
        parts: list[KyokuEnds] = []
        first: tuple[Unrewarded, ...] | None = None
        while True:
            overruled = decision.play_to_observation(self._tables, self._suits, everyone, actions)
            ended = np.flatnonzero(self._tables["phase"] == KYOKU_END)
            if first is None:
                # Mark the kept decisions whose claims another seat has overruled.
                tables, seats = np.nonzero(overruled != decision.UNDECIDED)
                heads = np.array(
                    [decision.claim_head(action) for action in overruled[tables, seats].tolist()], np.int64
                )
                for store in self._stores if tables.size else ():
                    own = heads == store.decision
                    store.overrule(tables[own], seats[own])
                first = tuple(store.take(ended) for store in self._stores)
            # A deal that begins and ends without an observation has no decisions to take.
            parts.append(self._finish(ended))
            if not ended.size:
                return _joined(parts), first
            actions = np.full(len(actions), decision.UNDECIDED, np.int16)

    def _finish(self, ended: I64) -> KyokuEnds:
        """Count the deals that ended at the tables ``ended``; start the next deal there, or a new game."""
        t = self._tables[ended]
        before: dict[str, Any] = {
            "tables": ended,
            "games": t["wall_seed"],
            "numbers": t["num_kyoku"] - 1,
            "kyoku": t["kyoku"].astype(np.int32),
            "honba": t["honba"].astype(np.int32),
            "kyotaku": self._start_sticks[ended],
            "scores_before": self._start_scores[ended],
            "scores_after": t["scores"],
        }
        self._simulator.next_kyoku(ended)
        t = self._tables[ended]
        over = t["phase"] == GAME_END
        after: dict[str, Any] = {
            "placements": np.where(over[:, None], t["placement"], 0).astype(np.int8),
            "next_kyoku": t["kyoku"].astype(np.int32),
            "next_honba": t["honba"].astype(np.int32),
            "next_kyotaku": t["kyotaku"].astype(np.int32),
            "next_scores": t["scores"],
        }
        self._deal(ended[over])
        self._start_scores[ended] = self._tables["scores"][ended]
        self._start_sticks[ended] = self._tables["kyotaku"][ended]
        return KyokuEnds(**before, **after)

    def _deal(self, tables: I64) -> None:
        """Begin a new game at each of ``tables``."""
        if not tables.size:
            return
        seeds = self._next_seed + np.arange(len(tables))
        self._simulator.reset(seeds, tables)
        draw_seating(seeds, tables, self._borders, self._seating)
        self._next_seed += len(tables)
        self._start_scores[tables] = self._tables["scores"][tables]
        self._start_sticks[tables] = 0


def stored_observation_bytes(encoder: Encoder, head: int, *, has_oracle: bool) -> int:
    """Return the bytes of a row of a head's decisions; ``has_oracle``: with what is hidden."""
    public = encoder.layout(head).observation_bytes
    return oracle_observation(public).itemsize if has_oracle else public


def _joined(parts: list[KyokuEnds]) -> KyokuEnds:
    if len(parts) <= 2:
        return parts[0]  # the last one is always empty
    names = [field.name for field in fields(KyokuEnds)]
    return KyokuEnds(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def _apply_all_heads(
    tables: Records, asked: Sequence[decision.HeadObservations], outputs: Sequence[PolicyOutputs], actions: I16
) -> list[decision.BOOL]:
    """Fill ``actions`` in the order of Figure 1, in which heads were ``asked``; return which rows of each count."""
    indices, surest = np.arange(len(tables)), np.zeros(len(tables), np.float32)
    counts = [
        decision.apply_outputs(
            tables, indices, part.observations.decision, part.owners, part.candidates,
            output.actions, output.scores, surest, actions,
        )
        for part, output in zip(asked, outputs, strict=True)
    ]  # fmt: skip
    decision.pass_claims(tables, indices, actions)
    return counts
