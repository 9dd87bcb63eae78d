"""The policy net of one head and its critic, and what each of them sees of a decision.

>>> actor = ActorCritic(policy_net, critic=NetConfig(size="tiny"))
>>> outputs = actor(tensors)  # of actor.seen_planes(rows)
>>> outputs["logits"].shape, outputs["values"].shape
(torch.Size([512, 34]), torch.Size([512]))
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor, nn

from suphx.games.riichi import ORACLE
from suphx.models.nets.critic import CriticNet
from suphx.models.nets.net_config import NetConfig
from suphx.models.nets.policy import PolicyNet
from suphx.training.loop.prediction import net_logits
from suphx.training.reinforcement.batch_columns import SeenPlanes
from suphx.training.reinforcement.update.learner_config import LearnerConfig


class ActorCritic(nn.Module):
    """The nets of one head. The policy stays in evaluation mode: the policy that learns must be the one that acts."""

    bf16 = False
    """Whether to compute in bfloat16."""
    is_frozen = False
    """Whether the policy gets no gradient."""

    def __init__(self, start: PolicyNet, *, critic: NetConfig | None = None, teacher: PolicyNet | None = None) -> None:
        """Copy ``start``, the initial policy, and ``teacher``, whose distance counts in the loss.

        ``critic``: its size, None for no critic. Its initial weights depend on the head only, so that they are the
        same in every process.
        """
        super().__init__()
        self.policy = _copied(start)
        self.critic: CriticNet | None = None
        if critic is not None:
            with torch.random.fork_rng(devices=[]):
                torch.default_generator.manual_seed(start.head)
                self.critic = CriticNet(start.head, start.num_planes, critic)
        self._fixed = [_copied(net) for net in (start, teacher) if net is not None]  # in a list: no submodules

    @property
    def start(self) -> PolicyNet:
        """The policy as it was at first; it is no submodule."""
        return self._fixed[0]

    @property
    def teacher(self) -> PolicyNet | None:
        """The net to stay near to; it is no submodule."""
        return self._fixed[1] if len(self._fixed) > 1 else None

    def forward(self, batch: SeenPlanes[Tensor]) -> dict[str, Tensor | None]:
        """Return ``logits`` [n, k] and ``values`` [n] (None without a critic) of what ``seen_planes`` returned."""
        self.policy.eval()  # BatchNorm keeps its initial statistics
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.is_frozen):
            logits = net_logits(self.policy, batch["planes"], self.bf16)
        values = None if self.critic is None else net_logits(self.critic, batch["critic_planes"], self.bf16).float()
        return {"logits": logits, "values": values}

    def seen_planes(self, rows: np.ndarray) -> SeenPlanes[np.ndarray]:
        """Return what each net sees of stored ``rows``; nets that see the same share an array."""
        seen: SeenPlanes[np.ndarray] = {"planes": self.seen_by_policy(rows)}
        if self.critic is not None:
            net = self.critic.net
            is_same = net.config.num_oracle_planes == self.policy.config.num_oracle_planes == 0
            seen["critic_planes"] = seen["planes"] if is_same else net.seen(rows, sees_all=True)
        if self.teacher is not None:
            seen["teacher_planes"] = self.teacher.seen(rows, sees_all=True)
        return seen

    def seen_by_policy(self, rows: np.ndarray) -> np.ndarray:
        """Return what the policy sees of stored rows: the same as when it acted."""
        return self.policy.seen(rows)


def new_actor_critic(config: LearnerConfig, start: PolicyNet, teacher: PolicyNet | None = None) -> ActorCritic:
    """Return the nets of one head with the critic of ``config``; ``start``: the initial policy, which is copied."""
    critic = replace(config.critic, num_oracle_planes=ORACLE.num_planes if config.oracle_critic else 0)
    return ActorCritic(start, critic=critic if config.gradient.use_critic else None, teacher=teacher)


def _copied(net: PolicyNet) -> PolicyNet:
    copy = PolicyNet(net.head, net.num_planes, net.config)
    copy.load_state_dict(net.state_dict())
    return copy.eval()
