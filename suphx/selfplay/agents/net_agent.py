"""The nets of a game as an agent, from a folder with a checkpoint for each kind of decision."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from suphx.experience.observation import F32, Observations
from suphx.experience.segments import segment_argmax
from suphx.games.learning import Forward, KindOutputs
from suphx.games.mahjong.planes import NUM_COLUMNS
from suphx.games.registry import (
    DEFAULT_GAME,
    candidate_game,
    decision_names,
    find_decisions,
    find_learning,
    has_candidates,
    load_game,
)
from suphx.games.riichi.features.encoder import find_encoder
from suphx.games.riichi.selfplay.decision import move_probabilities
from suphx.kernel.record import I16, I64, U8, Records
from suphx.models.candidate_net import CandidateNet
from suphx.models.checkpoint import Net, load_header
from suphx.models.inference import CandidateInference, PackedNet
from suphx.models.net_config import ActionSelection, Calibration, Precision
from suphx.models.policy import PolicyNet, fold_batch_norm, num_weights
from suphx.models.sampling import actions_at, list_actions_at, masked_logits
from suphx.printable_text import shortened
from suphx.selfplay.agents.checkpoint_folder import WEAK, find_checkpoint, find_checkpoints, find_folder
from suphx.selfplay.agents.policy_set import load_policy_set

Floats = NDArray[np.float32]


def yes_no_actions(
    logits: Floats, uniforms: Floats, calibration: Calibration, selection: ActionSelection
) -> tuple[I16, Floats]:  # fmt: skip
    """Return the actions int16 [n], 1 = yes and 0 = no, of ``logits`` [n, 2], and their scores float32 [n].

    ``uniforms`` [n] in 0 … 1: where in its distribution a sampled action lies. The score of a yes is its probability,
    but with ``matched`` scaled so that it is 0.5 at the threshold.
    """
    yes = 1 / (1 + np.exp(-((logits[:, 1] - logits[:, 0]) / calibration.temperature).astype(np.float64)))
    if selection == "sampled":
        is_yes = uniforms >= 1 - yes
        scores = np.where(is_yes, yes, 0)
    else:
        border = calibration.yes_threshold if selection == "matched" else 0.5
        below, above = 0.5 * yes / border, 0.5 + 0.5 * (yes - border) / (1 - border)
        is_yes, scores = yes > border, np.where(yes <= border, below, above)
    return is_yes.astype(np.int16), scores.astype(np.float32)


_SMALL_NET = 1_000_000
"""Weights; the size ``small`` has about a third of it."""
LEARNED_HEADS = "learned_heads"
"""Key of a checkpoint's ``extra``: names of the heads that self-play trains, in all five checkpoints."""


class NetAgent:
    """The nets of a game, on one device, which decide in the order of the game (riichi: Figure 1 of the paper); by
    default the most probable answer.
    """

    def __init__(
        self,
        name: str,
        nets: Sequence[Net],
        encoder: str,
        *,
        calibrations: Sequence[Calibration] = (),
        action_selection: ActionSelection = "probable",
        sampled: Sequence[int] = (),
        device: str = "cpu",
        keep_probability: float = 1.0,
        rules: Any = None,
        precision: Precision = "auto",
    ) -> None:
        """``nets``: one for each kind of decision, in the order of their numbers, trained on rows of ``encoder``; those
        with oracle planes see what is hidden, each bit with ``keep_probability`` (paper, equation 5).

        ``calibrations``: one for each net; ``action_selection``: how nets say yes; ``sampled``: numbers of kinds whose
        answers are drawn from their calibrated probabilities, by the seed of the deal and the decision. ``rules``,
        ``precision``: of the game and of the nets, where these value candidates.
        """
        game = nets[0].kind.game if nets else DEFAULT_GAME
        kinds = find_decisions(game)
        if tuple(net.kind for net in nets) != kinds:
            names = ", ".join(kind.name for kind in kinds)
            raise ValueError(f"{name}: an agent needs one net for each of {names}")
        self.name = name
        self.encoder = encoder
        self.rules = rules
        """Of the game, if the nets know only the moves of some rules."""
        self._learning = find_learning(game)
        self._kinds = kinds
        self._calibrations = tuple(calibrations) or (Calibration(),) * len(kinds)
        self._selections: dict[int, ActionSelection] = dict.fromkeys(range(len(kinds)), action_selection)
        self._selections |= dict.fromkeys(sampled, "sampled")
        self._device = torch.device(device)
        features = candidate_game(game).learning.candidate_features(encoder, rules) if has_candidates(game) else None
        self._num_moves = None if features is None else len(features)
        self.depends_on_batches = features is not None
        self._candidate_nets = {
            net.kind.number: CandidateInference(net, self._device, features, precision)
            for net in nets
            if isinstance(net, CandidateNet) and features is not None
        }
        policies = [net for net in nets if isinstance(net, PolicyNet)]
        self._first_net = fold_batch_norm(policies[0]).to(self._device) if policies else None
        self._nets = {net.kind.number: self._fastest(net) for net in policies}
        self._num_oracle_planes = {net.kind.number: net.config.num_oracle_planes for net in policies}
        self._keep_probabilities = {
            number: keep_probability for number, planes in self._num_oracle_planes.items() if planes
        }

    def _fastest(self, net: PolicyNet) -> PolicyNet | PackedNet:
        is_packed = self._device.type == "cpu" and net.num_columns == NUM_COLUMNS
        return PackedNet(net) if is_packed else fold_batch_norm(net).to(self._device)

    def act(self, tables: Any, indices: I64) -> NDArray[np.integer]:
        """Return a legal move for each table; ValueError if its rules have other moves than those of the nets."""
        return self._decide(tables, indices, self.forward)

    def _decide(self, tables: Any, indices: I64, forward: Forward) -> NDArray[np.integer]:
        if self._num_moves not in (None, getattr(tables, "num_moves", None)):
            raise ValueError(
                f"these nets learned rules with {self._num_moves:,} moves, but the game is played by rules with "
                f"{tables.num_moves:,}: use nets that learned the rules of the game"
            )
        return self._learning.decide(tables, indices, self.encoder, forward, self._keep_probabilities)

    def candidate_values(self, tables: Any, indices: I64) -> F32:
        """Return float32 (m,): the value of each legal move of the tables, nan where a table has only one.

        Of a game whose moves are candidates; errors as of ``act``.
        """
        offsets, moves = tables.legal(indices)
        found = np.full(len(moves), np.nan, np.float32)
        first = dict(zip(indices.tolist(), offsets.tolist(), strict=False))

        def forward(observations: Observations, lines: I64) -> KindOutputs:
            values, own = self._values(observations), observations.candidates
            assert own is not None
            for row, line in enumerate(lines.tolist()):
                part = values[own.offsets[row] : own.offsets[row + 1]]
                found[first[line] : first[line] + len(part)] = part
            return _chosen(np.zeros(len(lines), np.int64))

        self._decide(tables, indices, forward)
        return found

    def move_probabilities(self, tables: Records, indices: I64) -> F32:
        """Return what the nets think of every legal move of riichi, float32 [n, NUM_ACTIONS] (decision.py)."""
        return move_probabilities(tables, indices, find_encoder(self.encoder), self._judge, self._keep_probabilities)

    @property
    def is_slow(self) -> bool:
        """Tell whether a decision takes so long (a large net on a CPU) that large batches make it no cheaper."""
        net = self._first_net
        return net is not None and self._device.type == "cpu" and num_weights(net) > _SMALL_NET

    @property
    def sees_hidden_tiles(self) -> bool:
        """Tell whether one of the nets has oracle planes."""
        return bool(self._keep_probabilities)

    @property
    def discard_net(self) -> PolicyNet:
        """The first net, that of riichi's discards, without BatchNorm, on the agent's device."""
        assert self._first_net is not None
        return self._first_net

    @torch.inference_mode()
    def discard_logits(self, rows: U8, net: PolicyNet | None = None) -> Tensor:
        """Return the float32 logits [n, 34], on the CPU, of ``net`` (on the agent's device) or of the first net."""
        logits: Tensor = (net or self._nets[0])(torch.from_numpy(rows).to(self._device))
        return logits.float().cpu()

    @torch.inference_mode()
    def forward(self, observations: Observations, lines: I64) -> KindOutputs:
        """Compute the outputs of the nets (games/learning.py, ``Forward``)."""
        number = observations.decision
        calibration, selection = self._calibrations[number], self._selections[number]
        if observations.candidates is not None:
            offsets, values = observations.candidates.offsets, self._values(observations)
            if selection == "sampled":
                scaled = values / calibration.temperature
                return _chosen(list_actions_at(scaled, offsets, observations.uniforms)[0])
            return _chosen(segment_argmax(values.numpy(), offsets) - offsets[:-1])
        logits = self._logits(observations)
        if not self._kinds[number].num_choices:
            return yes_no_actions(logits.numpy(), observations.uniforms, calibration, selection)
        legal = torch.from_numpy(observations.masks)
        if selection == "sampled":
            logits /= calibration.temperature
            choices, _ = actions_at(logits, legal, torch.from_numpy(observations.uniforms))
        else:
            choices = masked_logits(logits, legal).argmax(dim=1)
        return _chosen(choices.numpy())

    @torch.inference_mode()
    def _values(self, observations: Observations) -> Tensor:
        """Return float32 (m,) of all candidates, on the CPU."""
        assert observations.candidates is not None
        return self._candidate_nets[observations.decision](observations.planes, observations.candidates).float().cpu()

    def _logits(self, observations: Observations) -> Tensor:
        """Return float32 [n, k], on the CPU."""
        number = observations.decision
        net = self._nets[number]
        rows = observations.planes
        if self._learning.hidden is not None:
            rows = self._learning.hidden.seen(rows, net.num_planes, self._num_oracle_planes[number])
        logits: Tensor = net(torch.from_numpy(rows).to(self._device))
        return logits.float().cpu()

    @torch.inference_mode()
    def _judge(self, observations: Observations) -> F32:
        """Return the calibrated probabilities, float32 [n, k], of all answers of one kind."""
        logits = self._logits(observations) / self._calibrations[observations.decision].temperature
        return torch.softmax(masked_logits(logits, torch.from_numpy(observations.masks)), dim=1).numpy()


def _chosen(choices: I64) -> KindOutputs:
    """Return outputs that choose, without scores."""
    return choices.astype(np.int16), np.zeros(len(choices), np.float32)


def load_nets(
    address: str | Path, *, device: str = "cpu", game: str = DEFAULT_GAME, precision: Precision = "auto"
) -> NetAgent:
    """Return the agent with the nets in a folder; arguments and errors as of ``load_agent``."""
    address, names = str(address), decision_names(game)
    folder, words = find_folder(address, game)
    is_weak = WEAK in words
    header = load_header(find_checkpoint(folder, names[0], is_weak=is_weak))
    encoder = str(header.extra.get("encoder", header.layout.name.split("-")[0]))
    policy_set = load_policy_set(folder, encoder, is_weak=is_weak, game=game)
    return NetAgent(
        address,
        policy_set.nets,
        encoder,
        calibrations=policy_set.calibrations,
        action_selection="matched" if "matched" in words else "probable",
        sampled=[names.index(name) for name in header.extra.get(LEARNED_HEADS, names)] if "sampled" in words else (),
        device=device,
        keep_probability=float(header.extra.get("keep_probability", 1.0)),
        rules=_learned_rules(folder, game, is_weak=is_weak) if has_candidates(game) else None,
        precision=precision,
    )


def _learned_rules(folder: Path, game: str, *, is_weak: bool) -> Any:
    """Return the rules that all nets in ``folder`` have learned; ValueError if they differ or a file is damaged."""
    found = []
    for path in find_checkpoints(folder, is_weak=is_weak, game=game):
        rules = load_header(path).rules
        try:
            if isinstance(rules, str):
                raise TypeError(f"rules is {rules!r:.40}")
            found.append(load_game(game).new_rules(rules))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged ({shortened(str(error), 200)}): train it again") from error
    if len(set(found)) > 1:
        raise ValueError(f"the nets in {folder} learned different rules: use those of one training")
    return found[0]
