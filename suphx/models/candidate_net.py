"""The net of decisions with candidates: a number for each move (DouZero, Zha et al. 2021, section 4.3).

The last moves go through an LSTM; its last units, the state and the columns of one candidate go through fully connected
layers with ReLU to one number: its value, or its logit. States differ in how many candidates they have, so candidates
are rows of their own.
"""

from __future__ import annotations

from typing import Self, cast

import torch
from torch import Tensor, nn
from torch.nn import functional

from suphx.games.learning import CandidateLayout, DecisionKind
from suphx.models.net_config import CandidateNetConfig


class CandidateNet(nn.Module):
    """Computes each state once, however many candidates it has."""

    def __init__(self, kind: DecisionKind, layout: CandidateLayout, config: CandidateNetConfig) -> None:
        super().__init__()
        self.kind, self.layout, self.config = kind, layout, config
        self.lstm = nn.LSTM(layout.history[1], config.units, batch_first=True)
        inputs = config.units + layout.state + layout.candidate
        self.first = nn.Linear(inputs, config.hidden)
        self.others = nn.ModuleList(nn.Linear(config.hidden, config.hidden) for _ in range(config.layers - 1))
        self.output = nn.Linear(config.hidden, 1)

    def forward(self, rows: Tensor, candidates: Tensor, state_of: Tensor) -> Tensor:
        """Return float32 [m]: the value of each candidate. ``rows`` [n, columns of the layout] and ``candidates`` [m,
        columns] of any number type; ``state_of`` int64 [m]: the row that each candidate belongs to.
        """
        states = rows[:, : self.layout.state]
        history = rows[:, self.layout.state :].reshape(-1, *self.layout.history)
        with torch.autocast(history.device.type, enabled=False):  # on CUDA it would be fp16, whatever autocast says
            units = self.lstm(history.float())[0][:, -1]
        seen = torch.cat([units, states.float()], dim=1)
        # One layer in two parts: the part of the state is the same for all of its candidates.
        of_state, of_candidate = self.first.weight[:, : seen.shape[1]], self.first.weight[:, seen.shape[1] :]
        from_states = functional.linear(seen, of_state, self.first.bias)
        x = (from_states[state_of] + functional.linear(candidates.float(), of_candidate)).relu()
        for layer in self.others:
            x = layer(x).relu()
        with torch.autocast(x.device.type, enabled=False):  # bf16 would not tell moves of nearly the same value apart
            return cast(Tensor, self.output(x.float())).squeeze(1)

    def like(self) -> Self:
        """Return a net of the same form with weights of its own."""
        return type(self)(self.kind, self.layout, self.config)
