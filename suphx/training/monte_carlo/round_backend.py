"""Who plays rounds and learns from them: this process, or others behind the same few methods.

``LocalRounds`` is one process. suphx_platform/on_ray/monte_carlo has the same over Ray; at the pace lockstep, with one
simulator, it gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from suphx.games.candidate_game import CandidateGame
from suphx.training.monte_carlo.monte_carlo_config import MonteCarloConfig
from suphx.training.monte_carlo.round_learner import LearnedRound, RoundLearner
from suphx.training.monte_carlo.round_player import RoundPlayer
from suphx.training.monte_carlo.value_player import Figures, evaluate_nets


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A small match of the nets, which may still be played."""

    figures: Future[Figures]
    """Has a ChildProcessError if the match was lost with its process or node."""
    weights: Callable[[], Mapping[str, Tensor]]
    """Returns the weights that play."""


class RoundBackend(Protocol):
    """Plays rounds and learns from them."""

    @property
    def dealt(self) -> int:
        """Number of the next round that somebody is given to play."""
        ...

    @property
    def gauges(self) -> Mapping[str, float]:
        """Current measurements for the curve, perhaps none."""
        ...

    @property
    def is_starting(self) -> bool:
        """Whether nobody could work yet, because nodes or processes are still missing."""
        ...

    def learn_round(self, seconds: float) -> LearnedRound | None:
        """Wait until one more round was learned from, at most for about ``seconds``, and then return None.

        DivergedError if a loss is not finite.
        """
        ...

    def watch_stop(self, is_made: Callable[[], bool]) -> None:
        """Have ``settle``, ``evaluate`` and ``update`` raise PartAwayError once a stop ``is_made`` and nobody is there
        for whom they would wait.
        """
        ...

    def settle(self) -> list[LearnedRound]:
        """Learn from all rounds that learning from has begun; return those that ``learn_round`` has not returned."""
        ...

    def evaluate(self) -> Evaluation:
        """Have the averaged nets as they are now play a small match, at once or while the other work goes on."""
        ...

    def update(self, learner: RoundLearner) -> None:
        """Give ``learner`` the weights and the optimizer's state after the rounds of ``settle``."""
        ...

    def close(self) -> None:
        """Stop all work."""
        ...


NewBackend = Callable[[RoundLearner, int], RoundBackend]
"""Makes a backend that goes on from a learner, with the number of the next round that somebody is given to play."""


class LocalRounds:
    """Consumes: nothing. Produces: rounds that were learned from. Waits for: nothing."""

    def __init__(
        self, config: MonteCarloConfig, game: CandidateGame, rules: Any, learner: RoundLearner, dealt: int
    ) -> None:
        """``learner`` is the one that learns, and its nets are those that play."""
        self._config, self._game, self._rules, self._learner = config, game, rules, learner
        self._player = RoundPlayer(config, game, rules, learner.nets, is_bf16=learner.is_bf16)
        self._dealt = dealt

    @property
    def dealt(self) -> int:
        """Number of the next round."""
        return self._dealt

    @property
    def gauges(self) -> Mapping[str, float]:
        """Nothing is measured."""
        return {}

    @property
    def is_starting(self) -> bool:
        """This process is here."""
        return False

    def learn_round(self, seconds: float) -> LearnedRound:
        """Play the next round and learn from it, however long that takes."""
        samples = self._player.play(self._dealt)
        self._dealt += 1
        return self._learner.learn(samples)

    def watch_stop(self, is_made: Callable[[], bool]) -> None:
        """Do nothing: this process is here."""

    def settle(self) -> list[LearnedRound]:
        """Return nothing: what was begun is finished."""
        return []

    def evaluate(self) -> Evaluation:
        """Play a small match."""
        nets = self._learner.averaged_nets()
        figures: Future[Figures] = Future()
        is_bf16 = self._learner.is_bf16
        figures.set_result(evaluate_nets(self._config, self._game, self._rules, nets, is_bf16=is_bf16))
        return Evaluation(figures, lambda: {name: t.detach().cpu().clone() for name, t in nets.state_dict().items()})

    def update(self, learner: RoundLearner) -> None:
        """Do nothing: ``learner`` is the one that learns."""
        assert learner is self._learner

    def close(self) -> None:
        """Do nothing."""
