"""Given deals, each played to its end: one seat's discards are looked at, and may come from nets of their own.

Run-time adaptation (paper, section 3.4) plays thousands of deals that begin alike: a fixed hand, all else dealt again.

>>> deals = determinise(np.repeat(table, 512), seat, seeds)
>>> rollouts = play_deals(deals, seats, agent, keys=seeds)  # the seat's discards are sampled and kept
>>> play_deals(more_deals, seats, agent, nets=[adapted_net], net_of_deal=zeros)  # the most probable ones
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from torch import Tensor

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
from suphx.selfplay.agents.agent import NetAgent

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
class SeatDecisions:
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

    def __len__(self) -> int:
        return len(self.actions)

    def of_deals(self, first: int, last: int) -> SeatDecisions:
        """Return the decisions of the deals ``first`` … ``last`` - 1, which are numbered from 0 on in the result.

        They are in the order of their deals, those of a deal in the order of asking.
        """
        lines = np.flatnonzero((self.deals >= first) & (self.deals < last))
        own = self.take(lines[np.argsort(self.deals[lines], kind="stable")])
        return replace(own, deals=own.deals - first)

    def take(self, lines: I64) -> SeatDecisions:
        """Return the decisions ``lines``."""
        return SeatDecisions(**{field.name: getattr(self, field.name)[lines] for field in fields(self)})


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
    deal i (by default the agent's own net); with ``keys`` [n] they are sampled from the logits divided by
    ``temperature``, from uniforms that follow from the key and the decision, else the most probable ones are taken
    (log-prob 0). With ``keeps`` they are returned. What happens in a deal does not depend on the others. At most
    ``num_tables`` deals are under way at a time.
    """
    chooser = _Chooser(deals, seats, agent, nets, net_of_deal, keys, temperature, keeps=keeps)
    play_to_end(deals, find_encoder(agent.encoder), chooser.forward, num_tables=num_tables)
    _end_kyokus(deals)
    return chooser.finish()


class _Chooser:
    """Chooses discards at tables, and keeps those that are sampled."""

    def __init__(
        self,
        deals: Records,
        seats: I64,
        agent: NetAgent,
        nets: Sequence[PolicyNet],
        net_of_deal: I64 | None,
        keys: I64 | None,
        temperature: float,
        *,
        keeps: bool,
    ) -> None:
        if len(seats) != len(deals):
            raise ValueError(f"{len(seats)} seats for {len(deals)} deals: give one for each deal")
        self._deals, self._seats, self._agent, self._keys = deals, seats, agent, keys
        self._nets, self._net_of_deal, self._keeps = nets, net_of_deal, keeps
        self._temperature = temperature
        self._kept: list[SeatDecisions] = []

    def forward(self, observations: Observations, lines: I64) -> HeadOutputs:
        """Compute the outputs of all nets (decision.py, ``Forward``)."""
        if observations.decision != DISCARD_HEAD:
            return self._agent.forward(observations, lines)
        rows, masks = observations.planes, observations.masks
        is_own = self._deals["actor"][lines] == self._seats[lines]
        logits = self._logits(rows, is_own, lines)
        kinds = masked_logits(logits, torch.from_numpy(masks)).argmax(dim=1).numpy()
        own = np.flatnonzero(is_own)
        log_probs = np.zeros(own.size, np.float32)
        if self._keys is not None and own.size:
            uniforms = np.empty(own.size, np.float32)
            _fill_uniforms(self._deals, lines[own], self._keys, uniforms)
            own_logits = logits[torch.from_numpy(own)] / self._temperature
            sampled = actions_at(own_logits, torch.from_numpy(masks[own]), torch.from_numpy(uniforms))
            kinds[own], log_probs = (column.numpy() for column in sampled)
        if self._keeps and own.size:
            decisions = SeatDecisions(rows[own], masks[own], kinds[own], log_probs, lines[own])
            self._kept.append(decisions.take(np.flatnonzero(decisions.masks.sum(axis=1) > 1)))
        return discard_outputs(np.asarray(kinds, np.int64))

    def finish(self) -> SeatDecisions:
        """Return all that was kept."""
        if not self._kept:
            none = np.zeros(0, np.int64)
            rows = np.zeros((0, find_encoder(self._agent.encoder).layout(DISCARD_HEAD).observation_bytes), np.uint8)
            masks = np.zeros((0, DECISIONS[DISCARD_HEAD].num_outputs), np.uint8)
            return SeatDecisions(rows, masks, none, np.zeros(0, np.float32), none)
        names = [field.name for field in fields(SeatDecisions)]
        return SeatDecisions(**{name: np.concatenate([getattr(part, name) for part in self._kept]) for name in names})

    def _logits(self, rows: U8, is_own: np.ndarray, lines: I64) -> Tensor:
        if self._net_of_deal is None:
            return self._agent.discard_logits(rows)
        net_of_row = np.where(is_own, self._net_of_deal[lines], -1)
        logits = torch.empty(len(rows), DECISIONS[DISCARD_HEAD].num_outputs)
        for number in np.unique(net_of_row):
            chosen = np.flatnonzero(net_of_row == number)
            net = None if number < 0 else self._nets[number]
            logits[torch.from_numpy(chosen)] = self._agent.discard_logits(rows[chosen], net)
        return logits


@jit
def _fill_uniforms(deals: Records, lines: I64, keys: I64, uniforms: F32) -> None:
    for i in range(len(lines)):
        uniforms[i] = uniform_of(keys[lines[i]], 1 + deals[lines[i]].num_decisions, 0)


@jit
def _end_kyokus(deals: Records) -> None:
    for i in range(len(deals)):
        end_kyoku(deals[i])
