"""Given deals, each played to its end: one seat's discards are looked at, and may come from nets of their own.

>>> deals = determinise(np.repeat(table, 512), seat, seeds)  # run-time adaptation (paper, section 3.4)
>>> rollouts = play_deals(deals, seats, agent, keys=seeds)  # the seat's discards are sampled and kept
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from suphx.experience.columns import Columns, joined
from suphx.experience.observation import F32, Observations
from suphx.games.game import Agent
from suphx.games.riichi.ending import end_kyoku
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.names import DECISIONS, DISCARD_HEAD
from suphx.games.riichi.rules import tenhou
from suphx.games.riichi.selfplay.decision import HeadOutputs, discard_outputs, play_to_end
from suphx.games.riichi.simulator import MAX_SEED as MAX_SEED
from suphx.games.riichi.simulator import Simulator
from suphx.games.riichi.table import GAME_END
from suphx.kernel.jit import jit
from suphx.kernel.random_number import uniform_of
from suphx.kernel.record import I64, U8, Records
from suphx.models.policy import PolicyNet
from suphx.models.sampling import actions_at, masked_logits
from suphx.selfplay.agents.net_agent import NetAgent

_STARTS_PER_GAME = 4
_MIN_GAMES = 8


def draw_starts(agent: Agent, num_starts: int, *, seed: int) -> Records:
    """Return TABLE records (num_starts,): deals that have just begun, different ones, from all parts of games.

    The dealer is to act. ``seed``, 0 to ``MAX_SEED`` - 1, decides on the games and on which of their deals are taken.
    """
    draw = np.random.default_rng(seed)
    num_games = max(_MIN_GAMES, -(-num_starts // _STARTS_PER_GAME))
    starts: list[Records] = []
    while sum(len(part) for part in starts) < num_starts:
        simulator = Simulator(num_games, tenhou(), stops_at_kyoku_end=True)
        simulator.reset(draw.integers(MAX_SEED, size=num_games).tolist())
        starts.append(simulator.tables.copy())
        while (waiting := simulator.waiting()).size:
            simulator.advance(waiting, agent.act(simulator.tables, waiting))
            ended = simulator.at_kyoku_end()
            simulator.next_kyoku(ended)
            starts.append(simulator.tables[ended[simulator.tables["phase"][ended] != GAME_END]])
    whole = np.concatenate(starts)
    return whole[np.sort(draw.permutation(len(whole))[:num_starts])]


DEFAULT_TABLES = 1024


@dataclass(frozen=True, slots=True)
class SeatDecisions(Columns):
    """The discards of one seat in each of many deals, in the order of asking; forced ones are left out."""

    planes: U8
    """uint8 [n, observation_bytes]: bit-packed planes."""
    masks: U8
    """uint8 [n, 34]."""
    actions: I64
    """int64 [n]: kinds."""
    log_probs: F32
    """float32 [n], of the policy that sampled them."""
    deals: I64
    """int64 [n]: the number of the deal."""

    def of_deals(self, first: int, last: int) -> SeatDecisions:
        """Return the decisions of the deals ``first`` … ``last`` - 1, which are numbered from 0 on in the result.

        They are in the order of their deals, those of a deal in the order of asking.
        """
        lines = np.flatnonzero((self.deals >= first) & (self.deals < last))
        own = self.take(lines[np.argsort(self.deals[lines], kind="stable")])
        return replace(own, deals=own.deals - first)


def play_deals(
    deals: Records,
    seats: I64,
    agent: NetAgent,
    *,
    nets: Sequence[PolicyNet] = (),
    net_of_deal: I64 | None = None,
    keys: I64 | None = None,
    temperature: float = 1.0,
    keeps: bool = True,
    num_tables: int = DEFAULT_TABLES,
) -> SeatDecisions:
    """Play every one of ``deals`` (n,) in place until it is counted: KYOKU_START of the next one, or GAME_END.

    All seats decide as ``agent`` does, but for the discards of ``seats`` [n]: ``nets[net_of_deal[i]]`` chooses those of
    deal i; with ``keys`` [n] they are sampled from the logits divided by ``temperature``, else the most probable ones
    (log-prob 0). With ``keeps`` they are returned. A deal does not depend on the others; at most ``num_tables`` are
    under way.
    """
    if len(seats) != len(deals):
        raise ValueError(f"{len(seats)} seats for {len(deals)} deals: give one for each deal")
    kept: list[SeatDecisions] = []

    def forward(observations: Observations, lines: I64) -> HeadOutputs:
        if observations.decision != DISCARD_HEAD:
            return agent.forward(observations, lines)
        rows, masks = observations.planes, observations.masks
        is_own = deals["actor"][lines] == seats[lines]
        net_of_row = None if net_of_deal is None else np.where(is_own, net_of_deal[lines], -1)
        logits = _logits(agent, rows, nets, net_of_row)
        kinds = masked_logits(logits, torch.from_numpy(masks)).argmax(dim=1).numpy()
        own = np.flatnonzero(is_own)
        log_probs = np.zeros(own.size, np.float32)
        if keys is not None and own.size:
            uniforms = np.empty(own.size, np.float32)
            _fill_uniforms(deals, lines[own], keys, uniforms)
            own_logits = logits[torch.from_numpy(own)] / temperature
            sampled = actions_at(own_logits, torch.from_numpy(masks[own]), torch.from_numpy(uniforms))
            kinds[own], log_probs = (column.numpy() for column in sampled)
        if keeps and own.size:
            decisions = SeatDecisions(rows[own], masks[own], kinds[own], log_probs, lines[own])
            kept.append(decisions.take(np.flatnonzero(decisions.masks.sum(axis=1) > 1)))
        return discard_outputs(np.asarray(kinds, np.int64))

    play_to_end(deals, find_encoder(agent.encoder), forward, num_tables=num_tables)
    _end_kyokus(deals)
    return joined(kept or [_no_decisions(agent.encoder)])


def _logits(agent: NetAgent, rows: U8, nets: Sequence[PolicyNet], net_of_row: np.ndarray | None) -> Tensor:
    """Return the logits of ``nets[net_of_row[i]]`` for row i; -1, or no ``net_of_row``: of the agent's own net."""
    if net_of_row is None:
        return agent.discard_logits(rows)
    logits = torch.empty(len(rows), DECISIONS[DISCARD_HEAD].num_outputs)
    for number in np.unique(net_of_row):
        chosen = np.flatnonzero(net_of_row == number)
        net = None if number < 0 else nets[number]
        logits[torch.from_numpy(chosen)] = agent.discard_logits(rows[chosen], net)
    return logits


def _no_decisions(encoder: str) -> SeatDecisions:
    rows = np.zeros((0, find_encoder(encoder).layout(DISCARD_HEAD).observation_bytes), np.uint8)
    masks, none = np.zeros((0, DECISIONS[DISCARD_HEAD].num_outputs), np.uint8), np.zeros(0, np.int64)
    return SeatDecisions(rows, masks, none, np.zeros(0, np.float32), none)


@jit
def _fill_uniforms(deals: Records, lines: I64, keys: I64, uniforms: F32) -> None:
    for i in range(len(lines)):
        uniforms[i] = uniform_of(keys[lines[i]], 1 + deals[lines[i]].num_decisions, 0)


@jit
def _end_kyokus(deals: Records) -> None:
    for i in range(len(deals)):
        end_kyoku(deals[i])
