"""Nets that give every candidate a value: as players, in a match on the way, and as files."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from suphx.experience.observation import SeatObservations
from suphx.experience.segments import segment_argmax, segment_rows, taken_segments
from suphx.games.game import CandidateAgent, CandidateGame
from suphx.games.registry import (
    GAMES,
    candidate_game,
    decision_names,
    find_decisions,
    find_learning,
    has_candidates,
)
from suphx.kernel.record import I32, I64, U8
from suphx.models.candidate_net import CandidateNet
from suphx.models.checkpoint import load_checkpoint, new_net
from suphx.models.device import first_weights, uses_bf16
from suphx.models.net_config import Calibration, CandidateNetConfig, Precision, checkpoint_name
from suphx.printable_text import shortened
from suphx.selfplay.agents.checkpoint_folder import find_checkpoint
from suphx.selfplay.agents.policy_set import PolicySet, save_policy_set
from suphx.selfplay.rollouts.rollout import play_deals
from suphx.training.config import MonteCarloConfig

_MAX_CANDIDATES = 8192  # about so many go through a net at a time: more would need gigabytes


@dataclass(frozen=True, slots=True)
class PlayedMoves:
    """Moves that one seat's net chose at the same time, at different tables."""

    seat: int
    tables: I64
    states: U8
    history: U8
    moves: I32


@dataclass(slots=True)
class ValuePlayer(CandidateAgent):
    """Plays all seats. It appends what it plays to ``played``, if there is a list.

    >>> player = ValuePlayer(nets, move_features(game, rules))
    >>> played = play_deals(game, rules, player, game.scripted_agent("random"), range(100))
    """

    nets: nn.ModuleList
    """One for each seat, as ``new_nets`` gives them, all on one device."""
    columns: U8
    """uint8 [moves, columns]: what a net sees of each move."""
    epsilon: float = 0.0
    """Share of moves that are played at random."""
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    played: list[PlayedMoves] | None = None
    is_bf16: bool = False
    """Compute the values in bf16 (autocast); the last layer stays float32."""
    depends_on_batches: ClassVar[bool] = True

    def choose(self, simulator: Any, seen: SeatObservations) -> I64:
        """Return the indices in ``seen.moves`` of the moves with the highest values, a few of them at random.

        ValueError if the tables have other rules than ``columns``, by which moves have other numbers.
        """
        counts = np.diff(seen.offsets)
        chosen = seen.offsets[:-1].copy()
        for rows, offsets, indices, values in self._valued(seen):
            chosen[rows] = indices[segment_argmax(values, offsets)]
        if self.epsilon:
            explores = self.rng.random(len(chosen)) < self.epsilon
            random_indices = seen.offsets[:-1] + (self.rng.random(len(chosen)) * counts).astype(np.int64)
            chosen[explores] = random_indices[explores]
        if self.played is not None:
            self.played.append(PlayedMoves(seen.seat, seen.tables, seen.states, seen.history, seen.moves[chosen]))
        return chosen

    def values(self, seen: SeatObservations) -> NDArray[np.float32]:
        """Return float32 (m,): the value of each of ``seen.moves``, nan where a table has only one.

        ValueError as for ``choose``.
        """
        found = np.full(len(seen.moves), np.nan, np.float32)
        for _, _, indices, values in self._valued(seen):
            found[indices] = values
        return found

    def _valued(self, seen: SeatObservations) -> Iterator[tuple[I64, I64, I64, NDArray[np.float32]]]:
        """Yield observations with several moves, a part at a time: their rows, offsets, indices of moves and values."""
        if seen.num_moves != len(self.columns):
            raise ValueError(
                f"these nets learned rules with {len(self.columns):,} moves, but the game is played by rules with "
                f"{seen.num_moves:,}: use nets that learned the rules of the game"
            )
        counts = np.diff(seen.offsets)
        several = np.flatnonzero(counts > 1)  # a forced move needs no value
        if not several.size:
            return
        for rows in np.array_split(several, -(-int(counts[several].sum()) // _MAX_CANDIDATES)):
            if rows.size:
                offsets, indices = taken_segments(seen.offsets, rows)
                columns = self.columns[seen.moves[indices]]
                yield rows, offsets, indices, self._net_values(seen, rows, columns, segment_rows(offsets))

    def _net_values(self, seen: SeatObservations, rows: I64, columns: U8, lists: I64) -> NDArray[np.float32]:
        arrays = (seen.states[rows], seen.history[rows], columns, lists)
        net = self.nets[seen.seat]
        device = next(net.parameters()).device
        with torch.inference_mode(), torch.autocast(device.type, torch.bfloat16, enabled=self.is_bf16):
            values: NDArray[np.float32] = net(*(torch.from_numpy(array).to(device) for array in arrays)).cpu().numpy()
        return values


def new_nets(game: CandidateGame, seed: int) -> nn.ModuleList:
    """Return one net for each seat; the weights follow from ``seed``, and torch's own random state stays as it was."""
    learning, kinds = find_learning(game.name), find_decisions(game.name)
    encoder = _encoder(game)
    with first_weights(seed):
        return nn.ModuleList(
            new_net(kind, learning.layout(encoder, kind.number), CandidateNetConfig()) for kind in kinds
        )


Figures = dict[str, dict[str, float]]
"""Opponent -> ``wp_<side>``, ``adp_<side>`` and the standard error of each, ``…_error``."""


def evaluate_nets(
    config: MonteCarloConfig, game: CandidateGame, rules: Any, nets: nn.ModuleList, *, is_bf16: bool
) -> Figures:
    """Play ``evaluate_decks`` deals against each opponent, with the nets on each side."""
    player = ValuePlayer(nets.eval(), move_features(game, rules), is_bf16=is_bf16)
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

    def player(self, precision: Precision = "auto") -> ValuePlayer:
        """Return the agent that plays the move with the highest value, on the CPU."""
        is_bf16 = uses_bf16(precision, torch.device("cpu"))
        return ValuePlayer(self.nets.eval(), move_features(self.game, self.rules), is_bf16=is_bf16)


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
