"""The value of each candidate move in a state: the net of Deep Monte-Carlo (DouZero, Zha et al. 2021, section 4.3).

The last moves go through an LSTM; its last units, the state and the columns of one candidate go through fully connected
layers with ReLU to one number. States differ in how many candidates they have, so candidates are rows of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateValueConfig:
    """What the net sees, and its size; the defaults of the size are DouZero's."""

    state_columns: int
    """Columns of a state."""
    history_columns: int
    """Columns of one line of the history of moves."""
    candidate_columns: int
    """Columns of a candidate."""
    units: int = 128
    """Units of the LSTM."""
    hidden: int = 512
    """Width of each fully connected layer."""
    layers: int = 5
    """Fully connected layers before the output."""

    def __post_init__(self) -> None:
        for name in ("state_columns", "history_columns", "candidate_columns", "units", "hidden", "layers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} of the net is {getattr(self, name)}: use at least 1")


class CandidateValueNet(nn.Module):
    """Computes each state once, however many candidates it has.

    >>> net = CandidateValueNet(CandidateValueConfig(state_columns=319, history_columns=162, candidate_columns=54))
    >>> net(states, history, candidates, state_of).shape  # uint8 [8, 319], [8, 5, 162], [90, 54]; int64 [90]
    torch.Size([90])
    """

    def __init__(self, config: CandidateValueConfig) -> None:
        super().__init__()
        self.config = config
        self.lstm = nn.LSTM(config.history_columns, config.units, batch_first=True)
        inputs = config.units + config.state_columns + config.candidate_columns
        self.first = nn.Linear(inputs, config.hidden)
        self.others = nn.ModuleList(nn.Linear(config.hidden, config.hidden) for _ in range(config.layers - 1))
        self.output = nn.Linear(config.hidden, 1)

    def forward(self, states: Tensor, history: Tensor, candidates: Tensor, state_of: Tensor) -> Tensor:
        """Return float32 [m]: the value of each candidate.

        ``states`` [n, columns], ``history`` [n, lines, columns] (the oldest line first) and ``candidates`` [m, columns]
        may have any number type; ``state_of`` int64 [m] is the row in ``states`` that each candidate belongs to.
        """
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
