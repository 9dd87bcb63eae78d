"""The inference engine of the paper's Figure 6: the nets of all policy sets, asked by many simulators.

The heads that learn have the newest weights, those of a few older versions and the weak ones, and their answers are
sampled; the other heads stay as the run found them. Requests that come at the same time can be answered together.

>>> engine = InferenceEngine(InferenceEngineConfig(), policy_set, weak, heads=(0,))
>>> engine.load([version])
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

from suphx.experience.columns import joined
from suphx.experience.observation import (
    FIRST_OLDER,
    LATEST,
    NUM_OLDER,
    WEAK,
    Observations,
    PolicyOutputs,
)
from suphx.models.device import find_device
from suphx.models.inference import InferenceConfig, InferenceNet
from suphx.models.policy import PolicyNet
from suphx.models.sampling import actions_at, epsilon_greedy
from suphx.selfplay.agents.net_agent import yes_no_actions
from suphx.selfplay.agents.policy_set import PolicySet
from suphx.selfplay.config import InferenceEngineConfig
from suphx.selfplay.requests import EngineCounts, Reply, Request
from suphx.selfplay.weights import PolicyVersion, Versions

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
        plays_older: bool = False,
    ) -> None:
        """``weak``: None if nobody plays it; ``heads``: those that learn; ``plays_older``: older versions can be asked
        for, each with nets of its own.
        """
        self.counts = EngineCounts()
        self.config = config
        self._device = find_device(config.device)
        self._heads = frozenset(heads)
        self._policy_set, self._weak = policy_set, weak or policy_set
        self._nets = {(head, LATEST): self._make(net) for head, net in enumerate(policy_set.policies)}
        self._versions = {LATEST: 0}
        if weak is not None:
            self._nets |= {(head, WEAK): self._make(net) for head, net in enumerate(weak.policies)}
            self._versions[WEAK] = UNLEARNED_VERSION
        for policy in range(FIRST_OLDER, FIRST_OLDER + NUM_OLDER * plays_older):
            self._versions[policy] = 0
            for head in range(len(policy_set.nets)):
                learns = head in self._heads
                self._nets[head, policy] = self._make(policy_set.net(head)) if learns else self._nets[head, LATEST]

    @property
    def version(self) -> int:
        """The policy version that answers as the latest."""
        return self._versions[LATEST]

    def load(self, versions: Versions) -> None:
        """Answer with these weights from now on; the older ones are repeated if there are too few."""
        latest, *older = versions
        policies = [policy for policy in self._versions if policy >= FIRST_OLDER]
        self._load(LATEST, latest)
        for number, policy in enumerate(policies if older else ()):
            self._load(policy, older[number % len(older)])

    def evaluate(self, request: Request) -> Reply:
        """Return the outputs to a request, part by part."""
        return self.evaluate_together([request])[0]

    def evaluate_together(self, requests: Sequence[Request]) -> list[Reply]:
        """Return the outputs to several requests: the rows of a head in all of them form one batch."""
        started = time.monotonic()
        by_head: list[dict[int, PolicyOutputs]] = [{} for _ in requests]
        for head in sorted({part.decision for request in requests for part in request}):
            found = [(i, part) for i, request in enumerate(requests) for part in request if part.decision == head]
            observations = joined([part for _, part in found])
            policies = np.unique(observations.policies)
            if len(policies) == 1:
                whole = self._evaluate_policy(observations, int(policies[0]))
            else:
                whole = PolicyOutputs.blank(len(observations), UNLEARNED_VERSION)
                for policy in policies:
                    own = np.flatnonzero(observations.policies == policy)
                    whole.put(own, self._evaluate_policy(observations.take(own), int(policy)))
            start = 0
            for i, part in found:
                by_head[i][head] = whole.part(start, start + len(part))
                start += len(part)
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
            net.use(net.prepared(newer.net(head)))
        self._versions[policy] = version.number

    @torch.inference_mode()
    def _evaluate_policy(self, observations: Observations, policy: int) -> PolicyOutputs:
        head = observations.decision
        origin = self._weak if policy == WEAK else self._policy_set
        kind = origin.net(head).kind
        logits = self._nets[head, policy](torch.from_numpy(origin.net(head).seen(observations.planes)))
        if head in self._heads or self.config.nets == "null":
            masks = torch.from_numpy(observations.masks).to(logits.device)
            uniforms = torch.from_numpy(observations.uniforms).to(logits.device)
            if self.config.epsilon:
                logits = epsilon_greedy(logits, masks, self.config.epsilon)
            actions, log_probs = (tensor.cpu().numpy() for tensor in actions_at(logits, masks, uniforms))
            # A yes counts the more, the more probable it was.
            scores = np.zeros(len(actions)) if kind.is_choice else np.where(actions == 1, np.exp(log_probs), 0)
            return PolicyOutputs(
                actions=actions.astype(np.int16),
                scores=scores.astype(np.float32),
                log_probs=log_probs.astype(np.float32),
                versions=np.full(len(actions), self._versions[policy], np.int32),
            )
        whole, rows = PolicyOutputs.blank(len(logits), UNLEARNED_VERSION), logits.cpu().numpy()
        if kind.is_choice:
            best = np.where(observations.masks > 0, rows, -np.inf).argmax(axis=1)
            return replace(whole, actions=best.astype(np.int16))
        actions, scores = yes_no_actions(
            rows, observations.uniforms, origin.calibrations[head], self.config.action_selection
        )
        return replace(whole, actions=actions, scores=scores)

    def _make(self, net: PolicyNet) -> InferenceNet | _NullNet:
        if self.config.nets == "null":
            return _NullNet(net)
        return InferenceNet(net, self._device, InferenceConfig(precision=self.config.precision))


class _NullNet:
    """A net without weights: all its logits are 0, so all actions are equally probable."""

    def __init__(self, net: PolicyNet) -> None:
        self._num_outputs = net.kind.num_outputs

    def __call__(self, rows: Tensor) -> Tensor:
        return torch.zeros(len(rows), self._num_outputs)

    def prepared(self, net: PolicyNet) -> dict[str, Tensor]:
        """Return nothing: there are no weights."""
        return {}

    def use(self, new: Mapping[str, Tensor]) -> None:
        """Do nothing."""


class LocalEngine:
    """An engine in this process, which computes in a thread of its own while the simulator continues."""

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
