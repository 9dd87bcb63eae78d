"""The inference engine of the paper's Figure 6: the nets of all policy sets, asked by many simulators.

The heads that learn have the newest weights, those of a few older versions and the weak ones, and their answers are
sampled; the other heads stay as the run found them. Requests that come at the same time can be answered together.

>>> engine = InferenceEngine(InferenceEngineConfig(), policy_set, weak, heads=(0,))
>>> engine.load(version)
>>> outputs = engine.evaluate(group.observe())
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from suphx.experience.observation import (
    FIRST_OLDER,
    LATEST,
    WEAK,
    Candidates,
    Observations,
    PolicyOutputs,
    joined_observations,
)
from suphx.experience.segments import segment_argmax
from suphx.kernel.record import U8
from suphx.models.candidate_net import CandidateNet
from suphx.models.checkpoint import Net
from suphx.models.device import find_device
from suphx.models.inference import CandidateInference, InferenceConfig, InferenceNet
from suphx.models.net_config import ActionSelection
from suphx.models.sampling import actions_at, epsilon_greedy, list_actions_at, list_epsilon_greedy
from suphx.selfplay.agents.agent import yes_no_actions
from suphx.selfplay.agents.policy_set import PolicySet
from suphx.selfplay.config import InferenceEngineConfig
from suphx.selfplay.requests import EngineCounts, Reply, Request
from suphx.selfplay.weights import PolicyVersion

UNLEARNED_VERSION = -1
"""Version in outputs of weights that no learner made: of the weak policy, and of heads that do not learn."""


class InferenceEngine:
    """Consumes: requests, versions. Produces: outputs. Waits for: nothing. For one thread at a time."""

    def __init__(
        self,
        config: InferenceEngineConfig,
        policy_set: PolicySet,
        weak: PolicySet | None,
        *,
        heads: Sequence[int],
        num_older: int = 0,
        features: U8 | None = None,
    ) -> None:
        """``weak``: None if nobody plays it; ``heads``: those that learn; ``num_older``: older versions that can be
        asked for, each with nets of its own. ``features``: what nets see of candidates, if there are any
        (``Learning.candidate_features``).
        """
        self._features = features
        self.counts = EngineCounts()
        self.config = config
        self._device = find_device(config.device)
        self._heads = frozenset(heads)
        self._policy_set, self._weak = policy_set, weak or policy_set
        self._nets = {(head, LATEST): self._make(net) for head, net in enumerate(policy_set.nets)}
        self._versions = {LATEST: 0}
        if weak is not None:
            self._nets |= {(head, WEAK): self._make(net) for head, net in enumerate(weak.nets)}
            self._versions[WEAK] = UNLEARNED_VERSION
        for policy in range(FIRST_OLDER, FIRST_OLDER + num_older):
            self._versions[policy] = 0
            for head in range(len(policy_set.nets)):
                learns = head in self._heads
                self._nets[head, policy] = self._make(policy_set.nets[head]) if learns else self._nets[head, LATEST]

    @property
    def version(self) -> int:
        """The policy version that answers as the latest."""
        return self._versions[LATEST]

    @property
    def has_older(self) -> bool:
        """Tell whether older versions can be asked for."""
        return any(policy >= FIRST_OLDER for policy in self._versions)

    def load(self, version: PolicyVersion, older: Sequence[PolicyVersion] = ()) -> None:
        """Answer with these weights from now on; ``older``: for the opponents' mixture, repeated if too few."""
        policies = [policy for policy in self._versions if policy >= FIRST_OLDER]
        self._load(LATEST, version)
        for number, policy in enumerate(policies if older else ()):
            self._load(policy, older[number % len(older)])

    def evaluate(self, request: Request) -> Reply:
        """Return the outputs to a request, part by part."""
        return self.evaluate_together([request])[0]

    def evaluate_together(self, requests: Sequence[Request]) -> list[Reply]:
        """Return the outputs to several requests: the rows of a head in all of them form one batch."""
        started = time.monotonic()
        by_head: list[dict[int, PolicyOutputs]] = [{} for _ in requests]
        self._evaluate_by_head(requests, by_head)
        outputs = [[own[part.decision] for part in request] for own, request in zip(by_head, requests, strict=True)]
        self.counts.busy_seconds += time.monotonic() - started
        for request, reply in zip(requests, outputs, strict=True):
            self.counts.add(request, reply)
        return outputs

    def _load(self, policy: int, version: PolicyVersion) -> None:
        if self._versions[policy] == version.number:
            return
        newer = self._policy_set.with_weights(version.weights)
        for head in self._heads:
            net = self._nets[head, policy]
            net.use(net.prepared(newer.nets[head]))
        self._versions[policy] = version.number

    def _evaluate_by_head(self, requests: Sequence[Request], outputs: list[dict[int, PolicyOutputs]]) -> None:
        """Fill ``outputs`` [request][head]."""
        for head in sorted({part.decision for request in requests for part in request}):
            found = [(i, part) for i, request in enumerate(requests) for part in request if part.decision == head]
            whole = self._evaluate_head(joined_observations([part for _, part in found]))
            start = 0
            for i, part in found:
                outputs[i][head] = whole.part(start, start + len(part))
                start += len(part)

    def _evaluate_head(self, observations: Observations) -> PolicyOutputs:
        """Evaluate each policy's rows with its own net."""
        first = int(observations.policies[0])
        if (observations.policies == first).all():
            return self._evaluate_policy(observations, first)
        whole = PolicyOutputs.blank(len(observations), UNLEARNED_VERSION)
        for policy in np.unique(observations.policies):
            own = np.flatnonzero(observations.policies == policy)
            whole.put(own, self._evaluate_policy(observations.take(own), int(policy)))
        return whole

    @torch.inference_mode()
    def _evaluate_policy(self, observations: Observations, policy: int) -> PolicyOutputs:
        head = observations.decision
        net = self._nets[head, policy]
        if observations.candidates is not None:
            return self._evaluate_candidates(observations, observations.candidates, policy)
        assert not isinstance(net, CandidateInference)
        origin = self._weak if policy == WEAK else self._policy_set
        rows = origin.net(head).seen(observations.planes)
        logits = net(torch.from_numpy(rows))
        if head in self._heads or self.config.nets == "null":
            masks = torch.from_numpy(observations.masks).to(logits.device)
            uniforms = torch.from_numpy(observations.uniforms).to(logits.device)
            if self.config.epsilon:
                logits = epsilon_greedy(logits, masks, self.config.epsilon)
            actions, log_probs = (tensor.cpu().numpy() for tensor in actions_at(logits, masks, uniforms))
            return _sampled_outputs(
                actions, log_probs, self._versions[policy], is_choice=origin.net(head).kind.is_choice
            )
        return _unlearned(origin, logits.cpu().numpy(), observations, self.config.action_selection)

    def _evaluate_candidates(self, observations: Observations, candidates: Candidates, policy: int) -> PolicyOutputs:
        """Choose the best candidate of each row, or one by chance if the net learns."""
        net = self._nets[observations.decision, policy]
        logits = torch.zeros(len(candidates.moves))
        if isinstance(net, CandidateInference):
            logits = net(observations.planes, candidates)
        if observations.decision in self._heads or isinstance(net, _NullNet):
            if self.config.epsilon:
                logits = list_epsilon_greedy(logits, candidates.offsets, self.config.epsilon)
            places, log_probs = list_actions_at(logits, candidates.offsets, observations.uniforms)
            return _sampled_outputs(places, log_probs, self._versions[policy], is_choice=True)
        best = segment_argmax(logits.cpu().numpy(), candidates.offsets) - candidates.offsets[:-1]
        return replace(PolicyOutputs.blank(len(best), UNLEARNED_VERSION), actions=best.astype(np.int16))

    def _make(self, net: Net) -> InferenceNet | CandidateInference | _NullNet:
        if self.config.nets == "null":
            return _NullNet(net)
        if isinstance(net, CandidateNet):
            if self._features is None:
                raise ValueError(f"the decision {net.kind.name} has candidates: give the features of moves")
            return CandidateInference(net, self._device, self._features, self.config.precision)
        config = InferenceConfig(precision=self.config.precision, batch_sizes=self.config.batch_sizes)
        return InferenceNet(net, self._device, config)


class _NullNet:
    """A net without weights: all its logits are 0, so all actions are equally probable."""

    def __init__(self, net: Net) -> None:
        self._num_outputs = net.kind.num_outputs

    def __call__(self, rows: Tensor) -> Tensor:
        return torch.zeros(len(rows), self._num_outputs)

    def prepared(self, net: Net) -> dict[str, Tensor]:
        """Return nothing: there are no weights."""
        return {}

    def use(self, new: Mapping[str, Tensor]) -> None:
        """Do nothing."""


class LocalEngine:
    """An engine in this process, which computes in a thread of its own while the simulator goes on."""

    def __init__(self, engine: InferenceEngine, torch_threads: int = 1) -> None:
        """``torch_threads``: as ``InferenceEngineConfig.threads``; torch counts them for each thread that asks."""
        self._engine = engine
        prepare = partial(torch.set_num_threads, torch_threads) if torch_threads else None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="inference", initializer=prepare)

    def submit(self, request: Request) -> Future[Reply]:
        """Hand a request to the thread."""
        return self._thread.submit(self._engine.evaluate, request)

    def close(self) -> None:
        """End the thread."""
        self._thread.shutdown()


def _sampled_outputs(actions: np.ndarray, log_probs: np.ndarray, version: int, *, is_choice: bool) -> PolicyOutputs:
    """Return sampled actions; a yes counts the more, the more probable it was."""
    scores = np.zeros(len(actions), np.float32) if is_choice else np.where(actions == 1, np.exp(log_probs), 0)
    return PolicyOutputs(
        actions=actions.astype(np.int16),
        scores=scores.astype(np.float32),
        log_probs=log_probs.astype(np.float32),
        versions=np.full(len(actions), version, np.int32),
    )


def _unlearned(
    policy_set: PolicySet, logits: np.ndarray, observations: Observations, selection: ActionSelection
) -> PolicyOutputs:  # fmt: skip
    """Return the actions of a net that does not learn: the most probable kind, or yes and no as ``selection`` says."""
    whole = PolicyOutputs.blank(len(logits), UNLEARNED_VERSION)
    head = observations.decision
    if policy_set.nets[head].kind.is_choice:
        whole.actions[:] = np.where(observations.masks > 0, logits, -np.inf).argmax(axis=1)
        return whole
    actions, scores = yes_no_actions(logits, observations.uniforms, policy_set.calibrations[head], selection)
    return replace(whole, actions=actions, scores=scores)
