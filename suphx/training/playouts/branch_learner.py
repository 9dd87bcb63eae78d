"""The net of one head that learns from branches: its optimizer, its steps, and what to watch."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, fields

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from suphx.kernel.record import I64
from suphx.models.nets.policy import PolicyNet
from suphx.selfplay.playouts.branches import Branches
from suphx.training.loop.loss_watch import DivergedError
from suphx.training.loop.optimizer import new_optimizer
from suphx.training.playouts.branch_loss import branch_loss
from suphx.training.playouts.playout_config import PlayoutConfig

F64 = NDArray[np.float64]


@dataclass(slots=True)
class BranchSums:
    """Sums over decisions that a net had not learned from when they were measured."""

    count: int = 0
    gain: float = 0.0
    divergence: float = 0.0
    loss: float = 0.0
    deals: int = 0
    """Deals; one that goes on in the next round counts again."""
    deal_gain_square: float = 0.0
    """The sum over deals of g * g, with g the gains of all decisions of a deal together."""
    deal_gain_count: float = 0.0
    """The sum over deals of g * n, with n the number of decisions of a deal."""
    deal_count_square: float = 0.0
    """The sum over deals of n * n."""

    def add(self, divergences: Tensor, loss: float) -> None:
        """Count a batch, without its gains: a deal has decisions in several batches. Arguments as in ``BranchLoss``."""
        self.count += len(divergences)
        self.divergence += float(divergences.sum())
        self.loss += loss * len(divergences)

    def add_gains(self, gains: F64, deals: I64) -> None:
        """Count the gains, points float64 [n], of all decisions of a round, and their deals int64 [n]."""
        _, owners = np.unique(deals, return_inverse=True)
        sums, counts = np.bincount(owners, weights=gains), np.bincount(owners).astype(np.float64)
        self.gain += float(gains.sum())
        self.deals += len(sums)
        self.deal_gain_square += float(sums @ sums)
        self.deal_gain_count += float(sums @ counts)
        self.deal_count_square += float(counts @ counts)

    def add_all(self, other: BranchSums) -> None:
        """Count all that ``other`` has counted."""
        for each in fields(self):
            setattr(self, each.name, getattr(self, each.name) + getattr(other, each.name))

    def means(self) -> dict[str, float]:
        """Return ``decisions``, ``gain`` (points a decision), its standard error, ``kl_to_start`` and ``loss``.

        The standard error takes deals as independent, and not the decisions of one deal, which share its tiles
        (cluster-robust: Liang and Zeger 1986). Empty for fewer than two deals: one says nothing of how they vary.
        """
        if self.deals < 2:
            return {}
        gain = self.gain / self.count
        spread = self.deal_gain_square - 2 * gain * self.deal_gain_count + gain * gain * self.deal_count_square
        variance = max(0.0, spread) * self.deals / (self.deals - 1)
        return {
            "decisions": float(self.count),
            "gain": gain,
            "gain_error": variance**0.5 / self.count,
            "kl_to_start": self.divergence / self.count,
            "loss": self.loss / self.count,
        }


class BranchLearner:
    """Consumes: branches of one head. Produces: a net. Waits for nothing."""

    def __init__(self, net: PolicyNet, config: PlayoutConfig, device: torch.device) -> None:
        """``net``: the initial one, which stays as it is."""
        self._config = config
        self._device = device
        self._start = copy.deepcopy(net).eval().to(device).requires_grad_(False)
        self.net = copy.deepcopy(net).eval().to(device)
        self.optimizer = new_optimizer(self.net, config.learning_rate, 0.0)
        self.steps = 0

    def learn(self, branches: Branches, rate_share: float, generator: np.random.Generator, sums: BranchSums) -> None:
        """Learn from each of the ``branches`` once; ``rate_share`` of the learning rate; measure before learning.

        Raises DivergedError if a loss or a gradient is not finite; the net is then as before that step.
        """
        if self._config.permute_points:
            branches = branches.permuted(generator)
        count = max(1, round(len(branches) / self._config.batch_size))
        gains = np.zeros(len(branches))
        for part in np.array_split(generator.permutation(len(branches)), count):
            if part.size:
                rows = np.sort(part)
                gains[rows] = self._step(branches.take(rows), rate_share, sums)
        sums.add_gains(gains, branches.deals)

    def _step(self, branches: Branches, rate_share: float, sums: BranchSums) -> F64:
        """Return the gains [n] before the step."""
        config = self._config
        rows, masks, choices, points = (
            torch.from_numpy(column).to(self._device)
            for column in (branches.planes, branches.masks, branches.choices, branches.points)
        )
        with torch.no_grad():
            start_logits = self._start(rows)
        loss = branch_loss(
            self.net(rows), start_logits, masks, choices.long(), points.float(),
            unit=config.reward_unit, kl_coeff=config.kl_coeff,
        )  # fmt: skip
        self.optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss.loss)
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), config.max_grad_norm)
        value = float(loss.loss.detach())
        if not (math.isfinite(value) and bool(norm.isfinite())):
            raise DivergedError(
                f"the loss of step {self.steps + 1} is {value:g} with a gradient of norm {float(norm):g}: "
                "use a smaller playouts.learning_rate"
            )
        sums.add(loss.divergences, value)
        rising = min(1.0, (self.steps + 1) / config.warmup_steps) if config.warmup_steps else 1.0
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * rising * rate_share
        self.optimizer.step()
        self.steps += 1
        gains: F64 = loss.gains.double().cpu().numpy()
        return gains

    def state(self) -> dict[str, Tensor]:
        """Return copies of all tensors that ``restore`` needs."""
        tensors = {f"net.{name}": tensor for name, tensor in self.net.state_dict().items()}
        for name, parameter in self.net.named_parameters():
            for key, value in self.optimizer.state.get(parameter, {}).items():
                tensors[f"optimizer.{key}.{name}"] = value
        return {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()} | {
            "steps": torch.tensor(self.steps)
        }

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from the ``state`` of an equal learner; KeyError or RuntimeError for that of another one."""
        prefix = "net."
        self.net.load_state_dict({k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)})
        self.steps = int(state["steps"])
        for name, parameter in self.net.named_parameters():
            own = {}
            for key in ("step", "exp_avg", "exp_avg_sq"):
                if f"optimizer.{key}.{name}" in state:
                    own[key] = state[f"optimizer.{key}.{name}"].to(parameter.device)  # fused: also the step
            if own:
                self.optimizer.state[parameter] = own
