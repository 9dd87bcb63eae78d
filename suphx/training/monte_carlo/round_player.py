"""A round: whole games as samples to learn from, which the nets of all seats play, or a scripted agent to imitate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import nn

from suphx.games.candidate_game import CandidateGame
from suphx.training.monte_carlo.choice_samples import ObservedPlayer
from suphx.training.monte_carlo.monte_carlo_config import MonteCarloConfig
from suphx.training.monte_carlo.monte_carlo_step import Samples, ValueSamples
from suphx.training.monte_carlo.value_player import PlayedMoves, ValuePlayer

_FIRST_SEED = 2**40  # of the deals to learn from; those of evaluations begin at 0
_PLAY = 0  # round_learner.py has the other stream of random numbers


class RoundPlayer:
    """Consumes: nets. Produces: the samples of rounds. Waits for: nothing.

    What a round gives depends on its number, the settings and the weights of the nets, and on nothing before it.
    """

    def __init__(
        self, config: MonteCarloConfig, game: CandidateGame, rules: Any, nets: nn.ModuleList, *, is_bf16: bool
    ) -> None:
        """``nets`` play; whoever has them may change their weights between two rounds."""
        self._config, self._game, self._rules, self._nets = config, game, rules, nets
        self._columns = game.candidate_columns(rules)
        self._is_bf16 = is_bf16

    def play(self, number: int) -> list[Samples]:
        """Play round ``number`` to the end of all its games; return the samples of each seat."""
        config = self._config
        first_seed = _FIRST_SEED * (1 + config.seed) + config.games * number
        seeds = range(first_seed, first_seed + config.games)
        if config.imitates:
            return self._imitate(seeds)
        rng = np.random.default_rng([config.seed, number, _PLAY])
        played: list[PlayedMoves] = []
        player = ValuePlayer(self._nets.eval(), self._columns, config.epsilon, rng, played, self._is_bf16)
        scores = self._game.play(self._rules, seeds, player)
        samples: list[Samples] = []
        for seat in range(len(self._nets)):
            own = [part for part in played if part.seat == seat]
            states, history = (np.concatenate([getattr(part, name) for part in own]) for name in ("states", "history"))
            tables, moves = (np.concatenate([getattr(part, name) for part in own]) for name in ("tables", "moves"))
            samples.append(ValueSamples(states, history, self._columns[moves], scores[tables, seat]))
        return samples

    def _imitate(self, seeds: Sequence[int]) -> list[Samples]:
        """Return the decisions of the scripted agent in games against itself."""
        teacher = ObservedPlayer(self._game.scripted_player(self._config.imitates))
        self._game.play(self._rules, seeds, teacher)
        return [teacher.samples(seat, self._columns) for seat in range(len(self._nets))]
