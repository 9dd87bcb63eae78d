"""Learning from playouts, round by round: threads play games out while the nets learn from those of the round before.

>>> job = PlayoutJob(config=config, start=start, encoder="suphx", game="riichi", seed=1)
>>> PlayoutTrainer(job, Path("runs/playouts")).run()["decisions"]

The games of a round are played by the nets of the round before the last, and a training that resumes plays the round
again that was under way: so the numbers do not depend on speed, nor on cores if ``threads`` is 1.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Unpack

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from suphx.experience.columns import joined
from suphx.games.registry import decision_names, find_learning
from suphx.json_text import parse_json
from suphx.kernel.record import I64
from suphx.models.checkpoint import copied
from suphx.models.device import find_device
from suphx.models.inference import PackedNet
from suphx.models.net_config import Calibration
from suphx.models.policy import PolicyNet
from suphx.models.sampling import masked_logits
from suphx.selfplay.agents.policy_set import PolicySet, save_policy_set
from suphx.selfplay.branches import BranchCollector, Branches, Net
from suphx.training.config import MAX_COLLECTORS, PlayoutConfig
from suphx.training.optimizer import make_step, new_optimizer
from suphx.training.policy_gradient import divergences_of
from suphx.training.trainer import Hooks, Trainer, TrainingProgress
from suphx.training.training_state import below, damage, read_state, restore_tensors, state_tensors, write_state


def branch_loss(
    logits: Tensor,
    start_logits: Tensor,
    masks: Tensor,
    choices: Tensor,
    points: Tensor,
    *,
    unit: float,
    kl_coeff: float,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the loss (0-d) whose gradient is -sum over a of grad pi(a) A(a) / ``unit``, plus ``kl_coeff`` * KL.

    And to watch, [n] each: the points of the policy minus those of the initial one, expected over the actions that were
    tried, and KL(initial policy || policy) in nats. ``logits`` and ``start_logits`` [n, m] of the policy and the
    initial one; ``choices`` int64 [n, k]: the actions that were tried, -1 for none; ``points`` [n, k]. The advantages A
    are the points minus their mean under the policy over these actions. All terms are means over rows.
    """
    log_probs = torch.log_softmax(masked_logits(logits, masks), dim=1)
    start = torch.log_softmax(masked_logits(start_logits, masks), dim=1).detach()
    is_tried = choices >= 0
    actions = choices.clamp_min(0)
    tried = log_probs.gather(1, actions).exp() * is_tried
    policy = _normalised(tried.detach())
    advantages = (points - (policy * points).sum(dim=1, keepdim=True)) * is_tried
    divergences = divergences_of(start, log_probs)
    loss = -(tried * advantages).sum(dim=1).mean() / unit + kl_coeff * divergences.mean()
    initial = _normalised(start.gather(1, actions).exp() * is_tried)
    gains = ((policy - initial) * points).sum(dim=1)
    return loss, gains, divergences.detach()


def _normalised(weights: Tensor) -> Tensor:
    return weights / weights.sum(dim=1, keepdim=True).clamp_min(torch.finfo(weights.dtype).tiny)


F64 = NDArray[np.float64]


@dataclass(slots=True)
class BranchSums:
    """Sums over decisions: those that a net learned from, and those that it was measured with before.

    It is measured with deals from which it has learned nothing: the decisions of a deal share its hidden tiles.
    """

    count: int = 0
    """Decisions that were learned from."""
    loss: float = 0.0
    measured: int = 0
    """Decisions that the net was measured with; the other sums are over these."""
    gain: float = 0.0
    divergence: float = 0.0
    deals: int = 0
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
        """Count what ``branch_loss`` gave for decisions of whole deals, float64 [n]; deals int64 [n]."""
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
        """Return ``decisions``, ``gain`` (points a decision), its standard error, ``kl_to_start`` and ``loss``; empty
        for fewer than two deals. The standard error takes deals, not decisions, as independent (cluster-robust: Liang
        and Zeger 1986).
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

        ``open_deals`` int64 [k]: deals that go on in later branches. DivergedError if a loss or gradient is not finite;
        the net is then as before that step.
        """
        config = self._config
        if config.permute_points:
            branches = branches.permuted(generator)
        start_logits = self._measure(branches, sums)
        for part in np.array_split(generator.permutation(len(branches)), self._num_batches(branches)):
            if part.size:
                rows = np.sort(part)
                own = branches.take(rows)
                logits = self.net(torch.from_numpy(own.planes).to(self._device))
                loss, _, _ = self._loss(logits, start_logits[torch.from_numpy(rows)], own)
                rising = min(1.0, (self.steps + 1) / config.warmup_steps) if config.warmup_steps else 1.0
                for group in self.optimizer.param_groups:
                    group["lr"] = config.learning_rate * rising * rate_share
                value = make_step(self.net, self.optimizer, loss, config.max_grad_norm, f"step {self.steps + 1}")
                self.steps += 1
                sums.add_step(value, len(rows))
        self._deals = np.intersect1d(np.concatenate([self._deals, branches.deals]), open_deals)

    def _num_batches(self, branches: Branches) -> int:
        return max(1, round(len(branches) / self._config.batch_size))

    @torch.no_grad()
    def _measure(self, branches: Branches, sums: BranchSums) -> Tensor:
        """Measure with deals from which the net has not learned; return the initial net's logits of all rows."""
        parts = np.array_split(np.arange(len(branches)), self._num_batches(branches))
        planes = [torch.from_numpy(branches.planes[part]).to(self._device) for part in parts]
        start_logits = torch.cat([self._start(rows) for rows in planes])
        _, *watched = self._loss(torch.cat([self.net(rows) for rows in planes]), start_logits, branches)
        is_new = ~np.isin(branches.deals, self._deals)
        gains, divergences = (each.double().cpu().numpy()[is_new] for each in watched)
        sums.add_measured(gains, divergences, branches.deals[is_new])
        return start_logits

    def _loss(self, logits: Tensor, start_logits: Tensor, branches: Branches) -> tuple[Tensor, Tensor, Tensor]:
        masks, choices, points = (
            torch.from_numpy(column).to(self._device) for column in (branches.masks, branches.choices, branches.points)
        )
        return branch_loss(
            logits, start_logits, masks, choices.long(), points.float(),
            unit=self._config.reward_unit, kl_coeff=self._config.kl_coeff,
        )  # fmt: skip

    def state(self) -> dict[str, Tensor]:
        """Return copies of all tensors that ``restore`` needs."""
        counts = {"steps": torch.tensor(self.steps), "deals": torch.from_numpy(self._deals.copy())}
        return state_tensors(self.net, self.optimizer) | counts

    def restore(self, state: dict[str, Tensor]) -> None:
        """Go on from the ``state`` of an equal learner; KeyError or ValueError for that of another one."""
        restore_tensors(state, self.net, self.optimizer)
        self.steps = int(state["steps"])
        self._deals = state["deals"].numpy()


_FIRST_SEED, _SEEDS = 2**61, 2**36
"""Of the games of the first collector, and of each: the next one has those after them, and all are below 2**62."""


STATE_FILE = "playout_state.safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayoutJob:
    """The nets, the data and the settings of one training from playouts."""

    config: PlayoutConfig
    start: PolicySet
    encoder: str
    game: str
    seed: int
    """0 <= seed < 2**20; all random numbers follow."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Goes into the headers of the checkpoints."""

    def identity(self) -> dict[str, Any]:
        """Return all that must be the same for a training to go on, as JSON can hold it."""
        config = {name: value for name, value in asdict(self.config).items() if name not in self.config.FREE_KEYS}
        nets = [asdict(net.config) for net in self.start.nets]
        rules = find_learning(self.game).rules_version
        same = {"nets": nets, "encoder": self.encoder, "rules": rules, "seed": self.seed}
        return dict(parse_json(json.dumps(config | same | {"start": self.start.digest()})))


class PlayoutTrainer(Trainer[TrainingProgress, dict[str, Any]]):
    """Consumes: a job. Produces: an agent in a folder. Waits for: its collectors.

    A step is a round. ``progress.step`` counts rounds, ``progress.samples`` decisions.
    """

    def __init__(self, job: PlayoutJob, folder: Path, **hooks: Unpack[Hooks]) -> None:
        """Deal the first games, or go on from the state in ``folder``; ValueError if it belongs to another training.

        ``report`` gets a point of the curves every ``report_every`` rounds.
        """
        config = job.config
        super().__init__(TrainingProgress(), folder, save_seconds=config.save_seconds, threads=config.threads, **hooks)
        self._job, self._config = job, config
        self._since_report: dict[str, BranchSums] = {}
        self._names = decision_names(job.game)
        heads, device = config.head_numbers(job.game), find_device(config.device)
        self._learners = {head: BranchLearner(job.start.net(head), config, device) for head in heads}
        seeds = [_FIRST_SEED + (MAX_COLLECTORS * job.seed + number) * _SEEDS for number in range(config.num_collectors)]
        self._collectors = [
            BranchCollector(config.branches, heads, job.encoder, game=job.game, first_seed=first_seed)
            for first_seed in seeds
        ]
        self._pool = ThreadPoolExecutor(
            config.num_collectors, "playouts", initializer=torch.set_num_threads, initargs=(1,)
        )
        self._pending: list[Future[dict[int, Branches]]] = []
        self._first_players: dict[int, PolicyNet] | None = None
        self._players: dict[str, Tensor] = {}
        """The nets and the games with which the round under way began: a training that resumes plays it again."""
        if (folder / STATE_FILE).is_file():
            self._load(folder / STATE_FILE)

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(cancel_futures=True)

    @property
    def reached(self) -> int:
        """Decisions learned from."""
        return self.progress.samples

    @property
    def share_done(self) -> float:
        """Of the decisions."""
        return self.progress.samples / self._config.num_decisions

    def step(self, share_done: float) -> None:
        """Take the games of a round, have the next one played, and learn."""
        if not self._pending:
            self._begin_round(self._first_players)
        played = [future.result() for future in self._pending]
        heads = [head for head in self._learners if any(head in part for part in played)]
        found = {head: joined([part[head] for part in played if head in part]) for head in heads}
        self.progress.samples += sum(len(branches) for branches in found.values())
        self._pending = []
        open_deals = np.concatenate([collector.open_deals() for collector in self._collectors])
        if not self.is_finished:
            self._begin_round()
        rate_share = 1 + min(1.0, share_done) * (self._config.last_rate_share - 1)
        for head, branches in found.items():
            generator = np.random.default_rng([self._job.seed, self.progress.step, head])
            sums = BranchSums()
            self._learners[head].learn(branches, rate_share, generator, sums, open_deals=open_deals)
            self._since_report.setdefault(self._names[head], BranchSums()).add_all(sums)
        self.progress.step += 1
        self.clock.tick()

    def _begin_round(self, players: dict[int, PolicyNet] | None = None) -> None:
        """Have the games of a round played by ``players``, or else by copies of the nets of now."""
        players = players or {head: copied(learner.net) for head, learner in self._learners.items()}
        self._players = {
            f"player.{self._names[head]}.{name}": tensor.clone()
            for head, net in players.items()
            for name, tensor in net.state_dict().items()
        }
        for number, collector in enumerate(self._collectors):
            own = {name: torch.from_numpy(column) for name, column in collector.state().items()}
            self._players |= {f"games.{number}.{name}": column for name, column in own.items()}
        nets: list[Net] = [PackedNet(players.get(head, net)) for head, net in enumerate(self._job.start.policies)]
        count = -(-self._config.round_decisions // len(self._collectors))
        self._pending = [self._pool.submit(collector.collect, nets, count) for collector in self._collectors]

    def is_evaluation_due(self, before: float, share_done: float) -> bool:
        """Every ``report_every`` rounds, and at the end."""
        return share_done >= 1 or self.progress.step % self._config.report_every == 0

    def evaluate(self) -> None:
        """Add a point to the curves: the gains that were measured since the last one."""
        point = {"decisions": float(self.progress.samples), "seconds": self.progress.seconds}
        too_few: dict[str, BranchSums] = {}
        for head, sums in self._since_report.items():
            if means := sums.means():
                point |= {f"{head}_{name}": value for name, value in means.items()}
            elif self.is_finished:
                point[f"{head}_decisions"] = float(sums.count)
            else:
                too_few[head] = sums
        self._since_report = too_few
        self.progress.history.append(point)
        self.send(point)

    def policy_set(self) -> PolicySet:
        """Return copies of the nets of now; those that learned are not calibrated."""
        start = self._job.start
        nets, calibrations = list(start.nets), list(start.calibrations)
        for head, learner in self._learners.items():
            nets[head], calibrations[head] = copied(learner.net), Calibration()
        return PolicySet(tuple(nets), tuple(calibrations))

    def write_state(self) -> None:
        """Write the nets of now as checkpoints, and the state."""
        job, rounds = self._job, self.progress.step
        save_policy_set(
            self.folder, self.policy_set(), job.encoder, rules=find_learning(job.game).rules_version, step=rounds,
            extra=dict(job.extra),
        )  # fmt: skip
        tensors = dict(self._players)
        for head, learner in self._learners.items():
            tensors |= {f"{self._names[head]}.{name}": tensor for name, tensor in learner.state().items()}
        sums = {head: asdict(sums) for head, sums in self._since_report.items()}
        write_state(self.folder / STATE_FILE, tensors, self.progress, job.identity(), since_report=sums)

    def _load(self, path: Path) -> None:
        tensors, progress, header = read_state(path, self._job.identity(), TrainingProgress)
        with damage(path, RuntimeError, ValueError):
            self._since_report = {head: BranchSums(**sums) for head, sums in header["since_report"].items()}
            for head, learner in self._learners.items():
                learner.restore(_part(tensors, self._names[head]))
            for number, collector in enumerate(self._collectors):
                collector.restore({name: tensor.numpy() for name, tensor in _part(tensors, f"games.{number}").items()})
            nets = {head: copied(learner.net) for head, learner in self._learners.items()}
            for head, net in nets.items():
                net.load_state_dict(_part(tensors, f"player.{self._names[head]}"))
        self._first_players = nets
        self.resume(progress)

    def finish(self) -> dict[str, Any]:
        """Write ``metrics.json`` and return what it holds."""
        metrics = {
            "decisions": self.progress.samples,
            "rounds": self.progress.step,
            "seconds": self.progress.seconds,
            "heads": list(self._config.heads),
            "history": self.progress.history,
        }
        self.write_metrics(metrics)
        return metrics


def _part(state: dict[str, Tensor], name: str) -> dict[str, Tensor]:
    """Return the tensors below ``name``; KeyError if there are none."""
    found = below(state, f"{name}.")
    if not found:
        raise KeyError(name)
    return found
