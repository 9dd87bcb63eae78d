"""Nets that give every candidate a value: as players, in a match on the way, and as files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from suphx.games.game import CandidateGame
from suphx.games.registry import (
    GAMES,
    candidate_game,
    decision_names,
    find_decisions,
    find_learning,
    has_candidates,
)
from suphx.kernel.record import U8
from suphx.models.candidate_net import CandidateNet
from suphx.models.checkpoint import load_checkpoint, new_net
from suphx.models.device import first_weights
from suphx.models.net_config import Calibration, CandidateNetConfig, Precision, checkpoint_name
from suphx.printable_text import shortened
from suphx.selfplay.agents.agent import NetAgent
from suphx.selfplay.agents.checkpoint_folder import find_checkpoint
from suphx.selfplay.agents.policy_set import PolicySet, save_policy_set
from suphx.selfplay.rollouts.rollout import play_deals
from suphx.selfplay.weights import Weights
from suphx.training.config import MonteCarloConfig


def new_nets(game: CandidateGame, seed: int) -> nn.ModuleList:
    """Return one net for each kind; the weights follow from ``seed``, and torch's own random state stays as it was."""
    learning, kinds = find_learning(game.name), find_decisions(game.name)
    encoder = _encoder(game)
    with first_weights(seed):
        return nn.ModuleList(
            new_net(kind, learning.layout(encoder, kind.number), CandidateNetConfig()) for kind in kinds
        )


def weights_of(nets: nn.ModuleList) -> dict[str, dict[str, np.ndarray]]:
    """Return copies of the weights of nets, by kind of decision and name."""
    return {
        net.kind.name: {name: tensor.detach().cpu().numpy().copy() for name, tensor in net.state_dict().items()}
        for net in nets
        if isinstance(net, CandidateNet)
    }


def load_weights(nets: nn.ModuleList, weights: Weights) -> None:
    """Give ``nets`` weights by kind of decision; the arrays may be read-only."""
    for net in nets:
        assert isinstance(net, CandidateNet)
        own = weights[net.kind.name]
        net.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in own.items()})


Figures = dict[str, dict[str, float]]
"""Opponent -> ``wp_<side>``, ``adp_<side>`` and the standard error of each, ``…_error``."""


def evaluate_nets(config: MonteCarloConfig, game: CandidateGame, rules: Any, nets: nn.ModuleList) -> Figures:
    """Play ``evaluate_decks`` deals against each opponent, with the nets on each side."""
    player = ValueNets(game, rules, nets).player(config.precision)
    found: Figures = {}
    for opponent in config.opponents:
        played = play_deals(game, rules, player, game.scripted_agent(opponent), range(config.evaluate_decks))
        points = game.scoring.side_points(np.array([each.points for each in played]))
        found[opponent] = {}
        for side, own in points.items():
            for measure, values in (("wp", (own > 0).astype(np.float64)), ("adp", own)):
                found[opponent][f"{measure}_{side}"] = float(values.mean())
                found[opponent][f"{measure}_{side}_error"] = float(values.std() / np.sqrt(len(values)))
    return found


@dataclass(frozen=True, slots=True)
class ValueNets:
    """Nets that learned a game by Deep Monte-Carlo."""

    game: CandidateGame
    rules: Any
    nets: nn.ModuleList

    def player(self, precision: Precision = "auto") -> NetAgent:
        """Return the agent that plays the move with the highest value, on the device of the nets."""
        nets = [net for net in self.nets.eval() if isinstance(net, CandidateNet)]
        device = str(next(self.nets.parameters()).device)
        encoder = _encoder(self.game)
        return NetAgent("nets", nets, encoder, device=device, rules=self.rules, precision=precision)


def save_value_nets(folder: Path, trained: ValueNets, extra: dict[str, Any] | None = None, *, step: int = 0) -> None:
    """Write a checkpoint for each seat, atomically; ``extra``: what else the headers say, as JSON values."""
    nets = tuple(net for net in trained.nets if isinstance(net, CandidateNet))
    policy_set = PolicySet(nets, (Calibration(),) * len(nets))
    rules = trained.game.rules_values(trained.rules)
    save_policy_set(folder, policy_set, _encoder(trained.game), rules=rules, step=step, extra=extra or {})


def load_value_nets(folder: str | Path) -> ValueNets:
    """Return the nets of a folder, on the CPU, with their game and the rules that they learned.

    ValueError if a file is missing, damaged, or of another seat or kind, and if rules differ.
    """
    folder = Path(folder)
    first_files = {name: checkpoint_name(decision_names(name)[0]) for name in GAMES if has_candidates(name)}
    name = next((name for name, file in first_files.items() if (folder / file).is_file()), None)
    if name is None:
        needed = " or ".join(first_files.values())
        raise FileNotFoundError(f"{folder} has no nets: it needs {needed} and those of the other seats")
    game = candidate_game(name)
    nets, found = list[nn.Module](), list[Any]()
    for kind in find_decisions(name):
        path = find_checkpoint(folder, kind.name, is_weak=False)
        net, header = load_checkpoint(path, kind, find_learning(name).layout(_encoder(game), kind.number))
        nets.append(net)
        try:
            if isinstance(header.rules, str):
                raise TypeError(f"rules is {header.rules!r:.40}")
            found.append(game.new_rules(header.rules))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path} is damaged ({shortened(str(error), 200)}): train it again") from error
    if len(set(found)) > 1:
        raise ValueError(f"the nets in {folder} learned different rules: use those of one training")
    return ValueNets(game, found[0], nn.ModuleList(nets))


def move_features(game: CandidateGame, rules: Any) -> U8:
    """Return what nets see of each move that ``rules`` know, uint8 [moves, columns]."""
    features = find_learning(game.name).candidate_features(_encoder(game), rules)
    assert features is not None
    return features


def _encoder(game: CandidateGame) -> str:
    return find_learning(game.name).encoders[0]
