"""Agents, which choose actions at waiting tables: the scripted agents, and five nets with the decision flow.

>>> agents = [load_agent("ukeire"), load_agent("runs/laptop-1/supervised"), load_agent("runs/laptop-1/supervised:weak")]
>>> actions = agents[0].act(simulator.tables, simulator.waiting())
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from suphx.experience.observation import F32, Observations
from suphx.games.game import Agent
from suphx.games.registry import agent_names
from suphx.games.riichi.features.encoder import Encoder, find_encoder
from suphx.games.riichi.features.oracle import seen_planes
from suphx.games.riichi.names import DISCARD_HEAD, HEAD_NAMES, head_index
from suphx.games.riichi.selfplay.decision import HeadOutputs, decide, discard_outputs, move_probabilities
from suphx.games.riichi.table import NUM_ACTIONS
from suphx.games.riichi.tables import ScriptedAgent
from suphx.kernel.record import I16, I64, U8, Records, as_integers
from suphx.models.checkpoint import CheckpointHeader, load_header
from suphx.models.inference import PackedNet
from suphx.models.net_config import ActionSelection, Calibration
from suphx.models.policy import PolicyNet, fold_batch_norm, num_weights
from suphx.models.sampling import actions_at, masked_logits
from suphx.selfplay.agents.checkpoint_folder import WEAK, WORDS, find_checkpoint, split_address
from suphx.selfplay.agents.policy_set import load_policy_set

Floats = NDArray[np.float32]


def yes_no_actions(
    logits: Floats, uniforms: Floats, calibration: Calibration, selection: ActionSelection
) -> tuple[I16, Floats]:  # fmt: skip
    """Return the actions int16 [n], 1 = yes and 0 = no, and their scores float32 [n].

    ``logits`` [n, 2]; ``uniforms`` [n] in 0 … 1: where in its distribution a sampled action lies (no comes first). The
    score of a yes is higher the surer the net is: its probability of yes, but with ``matched``, where it is 0.5 at the
    threshold.
    """
    yes = _sigmoid((logits[:, 1] - logits[:, 0]) / calibration.temperature)
    if selection == "sampled":
        is_yes = uniforms >= 1 - yes
        scores = np.where(is_yes, yes, 0)
    else:
        border = calibration.yes_threshold if selection == "matched" else 0.5
        below, above = 0.5 * yes / border, 0.5 + 0.5 * (yes - border) / (1 - border)
        is_yes, scores = yes > border, np.where(yes <= border, below, above)
    return is_yes.astype(np.int16), scores.astype(np.float32)


def _sigmoid(values: Floats) -> NDArray[np.float64]:
    return 1 / (1 + np.exp(-values.astype(np.float64)))


_SMALL_NET = 1_000_000
"""Weights; the size ``small`` has about a third of it."""
LEARNED_HEADS = "learned_heads"
"""Key of a checkpoint's ``extra``: names of the heads that self-play trains, in all five checkpoints."""


def ask(agent: Agent, tables: Any, indices: I64, num_moves: int = NUM_ACTIONS) -> I64:
    """Return the moves of an agent of any game as an array of their own, int64 (n,); their legality is not checked.

    ValueError, with the name of the agent, for anything but one number of a move for each table.
    """
    actions = as_integers(agent.act(tables, indices), f"actions of {agent.name}", len(indices)).copy()
    is_outside = (actions < 0) | (actions >= num_moves)
    if is_outside.any():
        raise ValueError(f"actions of {agent.name}: {actions[is_outside][0]} is not one of 0 to {num_moves - 1}")
    return actions


AgentLike: TypeAlias = Agent | str | Path
"""An agent, or its address for ``load_agent``."""


class NetAgent:
    """Five policy nets with the decision flow of Figure 1, on one device; the most probable discard by default."""

    def __init__(
        self,
        name: str,
        nets: Sequence[PolicyNet],
        encoder: Encoder,
        *,
        calibrations: Sequence[Calibration] = (Calibration(),) * len(HEAD_NAMES),
        action_selection: ActionSelection = "probable",
        sampled_heads: Sequence[int] = (),
        device: str = "cpu",
        keep_probability: float = 1.0,
    ) -> None:
        """``nets``: one for each head, in the order of head.py, trained on the planes of ``encoder``.

        Those with oracle planes see what is hidden, each bit with ``keep_probability`` (paper, equation 5).

        ``calibrations``: one for each net; ``action_selection``: how the riichi, chow, pong and kong nets say yes;
        ``sampled`` also samples the discards.
        ``sampled_heads``: nets whose actions are drawn from their probabilities instead, discards too. A draw depends
        on the seed of the wall and the decision only. Probabilities are those after calibration.
        """
        if [net.kind.number for net in nets] != list(range(len(HEAD_NAMES))):
            raise ValueError(f"{name}: an agent needs one net for each of {', '.join(HEAD_NAMES)}")
        self.name = name
        self.encoder = encoder
        self._calibrations = calibrations
        self._selections: dict[int, ActionSelection] = dict.fromkeys(range(len(HEAD_NAMES)), action_selection)
        self._selections |= dict.fromkeys(sampled_heads, "sampled")
        self._device = torch.device(device)
        self._discard_net = fold_batch_norm(nets[DISCARD_HEAD]).to(self._device)
        self._nets = [_answering(net, self._device) for net in nets]
        self._num_oracle_planes = [net.config.num_oracle_planes for net in nets]
        self._keep_probabilities = {net.kind.number: keep_probability for net in nets if net.config.num_oracle_planes}

    def act(self, tables: Records, indices: I64) -> I16:
        """Return a legal action for each table."""
        return decide(tables, indices, self.encoder, self.forward, self._keep_probabilities)

    def move_probabilities(self, tables: Records, indices: I64) -> F32:
        """Return what the nets think of every legal move, float32 [n, NUM_ACTIONS] (decision.py)."""
        return move_probabilities(tables, indices, self.encoder, self._judge, self._keep_probabilities)

    @property
    def is_slow(self) -> bool:
        """Tell whether a decision takes so long (a large net on a CPU) that large batches make it no cheaper."""
        return self._device.type == "cpu" and num_weights(self._discard_net) > _SMALL_NET

    @property
    def sees_hidden_tiles(self) -> bool:
        """Tell whether one of the nets has oracle planes."""
        return any(self._num_oracle_planes)

    @property
    def discard_net(self) -> PolicyNet:
        """The net of discards, without BatchNorm, on the agent's device."""
        return self._discard_net

    @torch.inference_mode()
    def discard_logits(self, rows: U8, net: PolicyNet | None = None) -> Tensor:
        """Return the float32 logits [n, 34], on the CPU, of ``net`` (on the agent's device) or the agent's own one."""
        logits: Tensor = (net or self._nets[DISCARD_HEAD])(torch.from_numpy(rows).to(self._device))
        return logits.float().cpu()

    @torch.inference_mode()
    def forward(self, observations: Observations, lines: I64) -> HeadOutputs:
        """Compute the outputs of the nets (decision.py, ``Forward``)."""
        head = observations.head
        net = self._nets[head]
        rows = seen_planes(observations.planes, net.num_planes, self._num_oracle_planes[head])
        selection = self._selections[head]
        if head == DISCARD_HEAD:
            logits, legal = self.discard_logits(rows), torch.from_numpy(observations.masks)
            if selection == "sampled":
                logits /= self._calibrations[head].temperature
                kinds, _ = actions_at(logits, legal, torch.from_numpy(observations.uniforms))
            else:
                kinds = masked_logits(logits, legal).argmax(dim=1)
            return discard_outputs(kinds.numpy())
        logits = net(torch.from_numpy(rows).to(self._device))
        return yes_no_actions(logits.float().cpu().numpy(), observations.uniforms, self._calibrations[head], selection)

    @torch.inference_mode()
    def _judge(self, observations: Observations) -> F32:
        """Return the calibrated probabilities, float32 [n, k], of all actions of one head."""
        head = observations.head
        net = self._nets[head]
        rows = seen_planes(observations.planes, net.num_planes, self._num_oracle_planes[head])
        logits = net(torch.from_numpy(rows).to(self._device)).float().cpu() / self._calibrations[head].temperature
        return torch.softmax(masked_logits(logits, torch.from_numpy(observations.masks)), dim=1).numpy()


def _answering(net: PolicyNet, device: torch.device) -> PolicyNet | PackedNet:
    """Return the fastest way to compute ``net`` on the device."""
    return PackedNet(net) if device.type == "cpu" else fold_batch_norm(net).to(device)


def load_agent(address: str | Path, *, device: str = "cpu") -> Agent:
    """Return the agent that ``address`` names: a scripted one, or a folder with one checkpoint for each head.

    Options follow the folder after a colon: ``weak`` (the weights of the same training stopped early) and how the nets
    select actions (``probable``, ``matched`` or ``sampled``; agent.py): ``runs/a/supervised:weak,sampled``.
    ``sampled`` draws the actions of all nets, or of those that learned if the nets come from self-play: the policy of
    self-play itself.
    ValueError when it is none of these, a checkpoint is missing, or its planes are not those that this version encodes.
    """
    address = str(address)
    if address in agent_names():
        return ScriptedAgent(address)
    location, words = split_address(address)
    folder = Path(location)
    if not folder.is_dir():
        raise ValueError(
            f"{address!r} is no agent: name a scripted one ({', '.join(agent_names())}) or a folder with a "
            f"checkpoint for each head ({HEAD_NAMES[0]}.safetensors …), behind it perhaps "
            f"{', '.join(':' + word for word in WORDS)}"
        )
    is_weak = WEAK in words
    discard = find_checkpoint(folder, HEAD_NAMES[DISCARD_HEAD], is_weak=is_weak)
    header = load_header(discard)
    encoder = find_encoder(_encoder_name(header))
    policy_set = load_policy_set(folder, encoder.name, is_weak=is_weak)
    return NetAgent(
        address,
        policy_set.policies,
        encoder,
        calibrations=policy_set.calibrations,
        action_selection="matched" if "matched" in words else "probable",
        sampled_heads=_learned_heads(header) if "sampled" in words else (),
        device=device,
        keep_probability=float(header.extra.get("keep_probability", 1.0)),
    )


def as_agent(agent: AgentLike) -> Agent:
    """Return the agent itself, or load it by its address. ValueError for an unknown address, and for an object that is
    no agent."""
    if isinstance(agent, str | Path):
        return load_agent(agent)
    if not (hasattr(agent, "name") and callable(getattr(agent, "act", None))):
        raise ValueError(
            f"{agent!r} is no agent: give a name such as {agent_names()[-1]}, a folder of checkpoints, or an object "
            "with name and act(tables, indices)"
        )
    return agent


def _learned_heads(header: CheckpointHeader) -> list[int]:
    """Return the heads that self-play trained; all of nets that it did not."""
    return [head_index(name) for name in header.extra.get(LEARNED_HEADS, HEAD_NAMES)]


def _encoder_name(header: CheckpointHeader) -> str:
    return str(header.extra.get("encoder", header.layout.name.split("-")[0]))
