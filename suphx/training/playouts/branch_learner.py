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
from suphx.models.sampling import masked_logits
from suphx.selfplay.playouts.branch_collector import Branches
from suphx.training.loop.optimizer import new_optimizer
from suphx.training.loop.prediction import DivergedError
from suphx.training.playouts.playout_config import PlayoutConfig


@dataclass(frozen=True, slots=True)
class BranchLoss:
    """The loss of one batch, and what to watch, [n] each, without gradients."""

    loss: Tensor
    """0-d."""
    gains: Tensor
    """Expected points of the policy minus those of the initial one, over the actions that were tried."""
    divergences: Tensor
    """KL(initial policy || policy), nats."""


def branch_loss(
    logits: Tensor,
    start_logits: Tensor,
    masks: Tensor,
    choices: Tensor,
    points: Tensor,
    *,
    unit: float,
    kl_coeff: float,
) -> BranchLoss:
    """Return the loss whose gradient is -sum over a of grad pi(a) A(a) / ``unit``, plus ``kl_coeff`` times the KL.

    ``logits`` and ``start_logits`` [n, m] of the policy and the initial one; ``masks`` as in models/sampling.py;
    ``choices`` int64 [n, k]: the actions that were tried, -1 for none; ``points`` [n, k]. The advantages A are the
    points minus their mean under the policy over these actions. All terms are means over rows.
    """
    log_probs = torch.log_softmax(masked_logits(logits, masks), dim=1)
    start = torch.log_softmax(masked_logits(start_logits, masks), dim=1).detach()
    is_tried = choices >= 0
    actions = choices.clamp_min(0)
    tried = log_probs.gather(1, actions).exp() * is_tried
    policy = _normalised(tried.detach())
    advantages = (points - (policy * points).sum(dim=1, keepdim=True)) * is_tried
    divergences = _divergence(start, log_probs)
    loss = -(tried * advantages).sum(dim=1).mean() / unit + kl_coeff * divergences.mean()
    initial = _normalised(start.gather(1, actions).exp() * is_tried)
    gains = ((policy - initial) * points).sum(dim=1)
    return BranchLoss(loss, gains, divergences.detach())


def _normalised(weights: Tensor) -> Tensor:
    return weights / weights.sum(dim=1, keepdim=True).clamp_min(torch.finfo(weights.dtype).tiny)


def _divergence(start: Tensor, log_probs: Tensor) -> Tensor:
    """Return KL(initial policy || policy) [n]; illegal actions are minus infinity in both."""
    is_legal = start > -torch.inf
    difference = torch.where(is_legal, start, 0.0) - log_probs.masked_fill(~is_legal, 0.0)
    return (start.exp() * difference).sum(dim=1)


F64 = NDArray[np.float64]


@dataclass(slots=True)
class BranchSums:
    """Sums over decisions: of those that a net learned from, and of those that it was measured with before.

    It is measured before a round, with deals of which it has not learned from any decision: the decisions of a deal
    share its hidden tiles, and many of them look alike.
    """

    count: int = 0
    """Decisions that were learned from."""
    loss: float = 0.0
    """The sum of their losses."""
    measured: int = 0
    """Decisions that the net was measured with; the other sums are over these."""
    gain: float = 0.0
    divergence: float = 0.0
    deals: int = 0
    """Their deals."""
    deal_gain_square: float = 0.0
    """The sum over deals of g * g, with g the gains of all decisions of a deal together."""
    deal_gain_count: float = 0.0
    """The sum over deals of g * n, with n the number of decisions of a deal."""
    deal_count_square: float = 0.0
    """The sum over deals of n * n."""

    def add_step(self, loss: float, count: int) -> None:
        """Count a step: the mean loss of ``count`` decisions."""
        self.count += count
        self.loss += loss * count

    def add_measured(self, gains: F64, divergences: F64, deals: I64) -> None:
        """Count what was measured with decisions of whole deals: float64 [n] as in ``BranchLoss``; deals int64 [n]."""
        _, owners = np.unique(deals, return_inverse=True)
        sums, counts = np.bincount(owners, weights=gains), np.bincount(owners).astype(np.float64)
        self.measured += len(gains)
        self.gain += float(gains.sum())
        self.divergence += float(divergences.sum())
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
        gain = self.gain / self.measured
        spread = self.deal_gain_square - 2 * gain * self.deal_gain_count + gain * gain * self.deal_count_square
        variance = max(0.0, spread) * self.deals / (self.deals - 1)
        return {
            "decisions": float(self.count),
            "gain": gain,
            "gain_error": variance**0.5 / self.measured,
            "kl_to_start": self.divergence / self.measured,
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
        self._deals: I64 = np.zeros(0, np.int64)
        """Those from which the net has learned and that go on: at most one for each table."""

    def learn(
        self,
        branches: Branches,
        rate_share: float,
        generator: np.random.Generator,
        sums: BranchSums,
        *,
        open_deals: I64,
    ) -> None:
        """Measure with the ``branches``, then learn from each once, with ``rate_share`` of the learning rate.

        ``open_deals`` int64 [k]: numbers of all deals of which later branches can be, besides those that begin later.
        Raises DivergedError if a loss or a gradient is not finite; the net is then as before that step.
        """
        if self._config.permute_points:
            branches = branches.permuted(generator)
        start_logits = self._measure(branches, sums)
        for part in np.array_split(generator.permutation(len(branches)), self._num_batches(branches)):
            if part.size:
                rows = np.sort(part)
                loss = self._step(branches.take(rows), start_logits[torch.from_numpy(rows)], rate_share)
                sums.add_step(loss, len(rows))
        self._deals = np.intersect1d(np.concatenate([self._deals, branches.deals]), open_deals)

    def _num_batches(self, branches: Branches) -> int:
        return max(1, round(len(branches) / self._config.batch_size))

    @torch.no_grad()
    def _measure(self, branches: Branches, sums: BranchSums) -> Tensor:
        """Measure with deals from which the net has not learned; return the initial net's logits of all rows."""
        parts = np.array_split(np.arange(len(branches)), self._num_batches(branches))
        planes = [torch.from_numpy(branches.planes[part]).to(self._device) for part in parts]
        start_logits = torch.cat([self._start(rows) for rows in planes])
        loss = self._loss(torch.cat([self.net(rows) for rows in planes]), start_logits, branches)
        is_new = ~np.isin(branches.deals, self._deals)
        gains, divergences = (each.double().cpu().numpy()[is_new] for each in (loss.gains, loss.divergences))
        sums.add_measured(gains, divergences, branches.deals[is_new])
        return start_logits

    def _loss(self, logits: Tensor, start_logits: Tensor, branches: Branches) -> BranchLoss:
        masks, choices, points = (
            torch.from_numpy(column).to(self._device) for column in (branches.masks, branches.choices, branches.points)
        )
        return branch_loss(
            logits, start_logits, masks, choices.long(), points.float(),
            unit=self._config.reward_unit, kl_coeff=self._config.kl_coeff,
        )  # fmt: skip

    def _step(self, branches: Branches, start_logits: Tensor, rate_share: float) -> float:
        """Return the loss before the step."""
        config = self._config
        loss = self._loss(self.net(torch.from_numpy(branches.planes).to(self._device)), start_logits, branches)
        self.optimizer.zero_grad(set_to_none=True)
        torch.autograd.backward(loss.loss)
        norm = nn.utils.clip_grad_norm_(self.net.parameters(), config.max_grad_norm)
        value = float(loss.loss.detach())
        if not (math.isfinite(value) and bool(norm.isfinite())):
            raise DivergedError(
                f"the loss of step {self.steps + 1} is {value:g} with a gradient of norm {float(norm):g}: "
                "use a smaller playouts.learning_rate"
            )
        rising = min(1.0, (self.steps + 1) / config.warmup_steps) if config.warmup_steps else 1.0
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * rising * rate_share
        self.optimizer.step()
        self.steps += 1
        return value

    def state(self) -> dict[str, Tensor]:
        """Return copies of all tensors that ``restore`` needs."""
        tensors = {f"net.{name}": tensor for name, tensor in self.net.state_dict().items()}
        for name, parameter in self.net.named_parameters():
            for key, value in self.optimizer.state.get(parameter, {}).items():
                tensors[f"optimizer.{key}.{name}"] = value
        return {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()} | {
            "steps": torch.tensor(self.steps),
            "deals": torch.from_numpy(self._deals.copy()),
        }

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from the ``state`` of an equal learner; KeyError or RuntimeError for that of another one."""
        prefix = "net."
        self.net.load_state_dict({k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)})
        self.steps = int(state["steps"])
        self._deals = state["deals"].numpy() if "deals" in state else self._deals  # of an earlier version
        for name, parameter in self.net.named_parameters():
            own = {}
            for key in ("step", "exp_avg", "exp_avg_sq"):
                if f"optimizer.{key}.{name}" in state:
                    own[key] = state[f"optimizer.{key}.{name}"].to(parameter.device)  # fused: also the step
            if own:
                self.optimizer.state[parameter] = own
