"""What changes from update to update: entropy coefficients, learning rates, and whether the policy learns yet.

>>> control = UpdateControl(LearnerConfig(), [DECISIONS[DISCARD_HEAD]])
>>> parts = control.steps_by_learner({DISCARD_HEAD: decisions})
>>> figures = control.count(parts, [[learning_step.make(step) for step in steps] for steps in parts])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from suphx.experience.decisions import Decisions
from suphx.games.learning import DecisionKind
from suphx.training.learner_config import EntropyControl, LearnerConfig
from suphx.training.learning_step import Figures, HeadBatch, Step


class UpdateControl:
    """Turns batches into steps for each learner, and their figures into the settings of the next update."""

    def __init__(self, config: LearnerConfig, kinds: Sequence[DecisionKind]) -> None:
        """``kinds``: those that learn."""
        self._config = config
        self._names = {kind.number: kind.name for kind in kinds}
        self.num_updates = 0
        """Updates so far, over all starts of a run."""
        entropy = config.entropy
        self._controls = {
            kind.name: EntropyControl(target=entropy.target_of(kind), alpha=entropy.alpha) for kind in kinds
        }
        self._policy_updates = dict.fromkeys(self._controls, 0)
        """Updates that moved the policy of a head."""
        self._critic_decisions = dict.fromkeys(self._controls, 0)
        """Decisions from which only the critic of a head has learned."""

    @property
    def is_critic_alone(self) -> bool:
        """Tell whether only critics learn from the next update.

        The critic that has seen the most decisions ends this time for all heads: those that decide rarely could need
        more updates than a run has, and would learn from games of policies that move.
        """
        config = self._config
        return config.has_critic and max(self._critic_decisions.values()) < config.critic_warmup.decisions

    @property
    def num_policy_updates(self) -> int:
        """Updates that moved the policy that has moved most often: learning rates and half-lives depend on them."""
        return max(self._policy_updates.values())

    def steps_by_learner(self, batches: Mapping[int, Decisions]) -> list[list[Step]]:
        """Return the steps of each learner for an update from ``batches``, by head; some may be absent or empty.

        The first step is that of the policies. A critic that learns alone makes several steps with fewer rows.
        ValueError if all batches are empty.
        """
        if not any(map(len, batches.values())):
            raise ValueError("an update needs decisions of one head at least: the batches are empty")
        together: dict[str, Decisions] = {}
        alone: list[dict[str, Decisions]] = []
        for number, batch in batches.items():
            if not len(batch):
                continue
            head = self._names[number]
            own = batch.with_permuted_rewards((self.num_updates, number)) if self._config.permute_rewards else batch
            if not self.is_critic_alone:
                together[head] = own
                continue
            slices = own.split(-(-len(own) // self._config.critic_warmup.batch_size))
            alone += [{head: part} for part in slices if len(part)]
        steps = [self._step_by_learner(step) for step in ([together] if together else []) + alone]
        return [list(own) for own in zip(*steps, strict=True)]

    def count(self, parts: Sequence[Sequence[Step]], found: Sequence[Sequence[Figures]]) -> Figures:
        """Count the update of ``parts`` with the figures that each learner ``found`` in each step.

        An update that the trust region stopped does not count as an update of that policy: its learning rate and
        entropy control stay as they are. Return the means of the figures, the entropy coefficient and the entropy
        target of the update, by head name.
        """
        figures = mean_figures(parts, found)
        rows, is_alone = _num_decisions(parts), self.is_critic_alone
        num_updates = max(control.num_updates for control in self._controls.values())
        for head, values in figures.items():
            moves_policy = not is_alone and not values.get("stopped_share")
            if "entropy" in values:  # of a policy
                values |= self._measure(head, values["entropy"], num_updates, moves_policy=moves_policy)
            self._policy_updates[head] += moves_policy
            if is_alone:
                self._critic_decisions[head] += rows[head]
        self.num_updates += 1
        return figures

    def state(self) -> dict[str, Any]:
        """Return plain values for ``restore``."""
        return {
            "num_updates": self.num_updates,
            "policy_updates": dict(self._policy_updates),
            "controls": {head: asdict(control) for head, control in self._controls.items()},
            "critic_decisions": dict(self._critic_decisions),
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """Continue from a ``state``."""
        self._controls = {head: EntropyControl(**control) for head, control in values["controls"].items()}
        self._policy_updates = dict(values["policy_updates"])
        self._critic_decisions = dict(values["critic_decisions"])
        self.num_updates = values["num_updates"]

    def _measure(self, head: str, entropy: float, num_updates: int, *, moves_policy: bool) -> dict[str, float]:
        """Note the mean ``entropy`` of a batch; return the entropy's coefficient and target in its update.

        ``num_updates``: those before it by which the target is annealed.
        """
        control, config = self._controls[head].measured(entropy, num_updates), self._config.entropy
        self._controls[head] = control.after(entropy, config) if moves_policy else control
        return {"alpha": control.alpha, "entropy_target": control.target_now(config) or 0.0}

    def _step_by_learner(self, step: Mapping[str, Decisions]) -> list[Step]:
        """Return each learner's share of a step: whole trajectories, as even as they allow.

        All learners must take part for every head: a learner without a trajectory gets a row with the weight 0.
        """
        parts: list[dict[str, HeadBatch]] = [{} for _ in range(self._config.num_learners)]
        region = self._config.trust_region
        num_updates, is_alone = self.num_policy_updates, self.is_critic_alone
        for head, batch in step.items():
            alpha = self._controls[head].alpha
            for own, part in zip(parts, batch.split(len(parts)), strict=True):
                own[head] = HeadBatch(
                    decisions=part if len(part) else batch.part(0, 1),
                    alpha=alpha,
                    weight=len(part) / len(batch),
                    learns_policy=not is_alone,
                    rate_share=self._config.rate_share_after(num_updates),
                    kl_coeff=0.0 if is_alone else region.kl_coeff_after(num_updates),
                )
        return list(parts)


def new_stage(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state of an ``UpdateControl`` with which the next stage begins.

    Entropy control is carried over. Counters begin at 0: learning rates and the weight of the distance from the initial
    net follow the updates of the new stage.
    """
    return {**values, "num_updates": 0, "policy_updates": dict.fromkeys(values["policy_updates"], 0)}


def mean_figures(parts: Sequence[Sequence[Step]], found: Sequence[Sequence[Figures]]) -> Figures:
    """Return the means over all rows of what the learners ``found`` in their steps; the maxima of names in ``_max``."""
    values: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for number in range(len(parts[0])):
        for head in parts[0][number]:
            batches, figures = [own[number][head] for own in parts], [own[number][head] for own in found]
            rows = sum(len(batch.decisions) for batch in batches if batch.weight)
            for name in figures[0]:
                values.setdefault((head, name), []).extend(
                    (rows * batch.weight, own[name]) for batch, own in zip(batches, figures, strict=True)
                )
    result: Figures = {}
    for (head, name), weighted in values.items():
        result.setdefault(head, {})[name] = _maximum(weighted) if name.endswith("_max") else _mean(weighted)
    return result


def _mean(weighted: Sequence[tuple[float, float]]) -> float:
    return sum(weight * value for weight, value in weighted) / sum(weight for weight, _ in weighted)


def _maximum(weighted: Sequence[tuple[float, float]]) -> float:
    return max(value for weight, value in weighted if weight)


def _num_decisions(parts: Sequence[Sequence[Step]]) -> dict[str, int]:
    """Return the rows of an update by head name, without those that only keep learners in step."""
    rows: dict[str, int] = {}
    for batches in (step for own in parts for step in own):
        for head, batch in batches.items():
            rows[head] = rows.get(head, 0) + (len(batch.decisions) if batch.weight else 0)
    return rows
