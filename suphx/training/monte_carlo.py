"""Deep Monte-Carlo: rounds of whole games, and nets that learn from them which candidate moves are good: by the returns
of the moves that were played (DouZero, section 3.1), the policy gradient, or the choices of a scripted agent.

>>> events = LocalRounds(config, "doudizhu", rules).advance()  # again and again: Played, then Learned
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim import RMSprop

from suphx.experience.columns import Columns, joined
from suphx.experience.observation import F32, Candidates, Observations
from suphx.experience.segments import segment_argmax, segment_rows, taken_segments
from suphx.games.game import CandidateGame, CandidateTables
from suphx.games.registry import candidate_game, decision_names
from suphx.kernel.record import I64, U8
from suphx.models.candidate_net import CandidateNet
from suphx.models.device import find_device, uses_bf16
from suphx.models.inference import CandidateInference
from suphx.models.net_config import CandidateNetConfig
from suphx.models.sampling import list_actions_at
from suphx.selfplay.agents.net_agent import NetAgent
from suphx.selfplay.agents.policy_set import PolicySet, random_policy_set
from suphx.selfplay.backend import BackendState, Event, Learned, Played, Progress
from suphx.selfplay.buffer import BufferCounts
from suphx.selfplay.rollouts.rollout import play_deals
from suphx.selfplay.weights import PolicyVersion, Versions, Weights
from suphx.training.config import MonteCarloConfig
from suphx.training.local_backend import LocalParts
from suphx.training.optimizer import make_step
from suphx.training.policy_gradient import critic_loss, padded_lists, policy_loss
from suphx.training.training_state import restore_tensors, state_tensors


def new_nets(game: CandidateGame, seed: int) -> PolicySet:
    """Return one net for each kind of decision, whose weights follow from ``seed``."""
    return random_policy_set(game.learning.encoders[0], CandidateNetConfig(), seed, game=game.name)


@dataclass(frozen=True, slots=True)
class Samples:
    """Decisions of one kind, the candidates that their loss needs, and what their games were worth at their ends."""

    rows: U8
    """uint8 [n, columns]: what was seen."""
    candidates: U8
    """uint8 [m, columns]: of Deep Monte-Carlo the moves that were made, else the legal moves of all decisions."""
    offsets: I64
    """int64 (n + 1,): where the candidates of each decision begin, and the end of the last."""
    chosen: I64
    """int64 (n,): the row in ``candidates`` of the move that was made."""
    log_probs: F32
    """float32 (n,): of moves that were drawn, when they were made; else 0."""
    returns: F32
    """float32 (n,): to who made the move (gamma is 1)."""

    def __len__(self) -> int:
        return len(self.returns)

    def take(self, indices: I64) -> Samples:
        """Return the decisions at ``indices`` with their candidates."""
        offsets, rows = taken_segments(self.offsets, indices)
        chosen = self.chosen[indices] - self.offsets[indices] + offsets[:-1]
        return Samples(
            rows=self.rows[indices],
            candidates=self.candidates[rows],
            offsets=offsets,
            chosen=chosen,
            log_probs=self.log_probs[indices],
            returns=self.returns[indices],
        )


def new_value_optimizer(nets: nn.Module, config: MonteCarloConfig) -> RMSprop:
    """Return RMSprop over all nets; a step changes those only that have gradients."""
    return RMSprop(nets.parameters(), lr=config.learning_rate, alpha=0.99, eps=1e-5)  # as DouZero


def learn_samples(
    net: nn.Module, optimizer: RMSprop, samples: Samples, config: MonteCarloConfig, *, is_bf16: bool = False
) -> float:
    """Do one step of ``net`` alone, on its device, in bf16 (autocast) if ``is_bf16``; return its loss. DivergedError if
    loss or gradient is not finite.
    """
    device = next(net.parameters()).device
    arrays = (samples.rows, samples.candidates, segment_rows(samples.offsets))
    with torch.autocast(device.type, torch.bfloat16, enabled=is_bf16):
        values = cast(Tensor, net(*(torch.from_numpy(array).to(device) for array in arrays)))
    return make_step(net, optimizer, samples_loss(values, samples, config), config.max_grad_norm, "the values")


def samples_loss(values: Tensor, samples: Samples, config: MonteCarloConfig) -> Tensor:
    """Return the loss, 0-d, of ``values`` [m] of the candidates: the mean squared error against the returns, or the
    policy gradient with the mean return as baseline.
    """
    if config.imitates:
        return choice_loss(values, samples.offsets, samples.chosen)
    returns = torch.from_numpy(samples.returns).to(values.device)
    if config.algorithm == "monte_carlo":
        return critic_loss(values, returns)
    logits, masks = padded_lists(values, samples.offsets)
    places, log_probs = (
        torch.from_numpy(array).to(values.device)
        for array in (samples.chosen - samples.offsets[:-1], samples.log_probs)
    )
    advantages = returns - returns.mean()
    return policy_loss(logits, masks, places, log_probs, advantages, alpha=config.entropy, max_ratio=_MAX_RATIO).loss


def choice_loss(values: Tensor, offsets: I64, chosen: I64) -> Tensor:
    """Return the mean over decisions of the weighted binary cross-entropy of ``values`` [m], which are logits.

    In a decision with k candidates the move that was made has the weight 1/2, each other one 1 / (2 (k - 1)).
    """
    labels = np.zeros(len(values), np.float32)
    labels[chosen] = 1
    counts = np.diff(offsets)
    weights = np.repeat(0.5 / (counts - 1), counts).astype(np.float32)
    weights[chosen] = 0.5
    costs = functional.binary_cross_entropy_with_logits(
        values, torch.from_numpy(labels).to(values.device), torch.from_numpy(weights).to(values.device), reduction="sum"
    )
    return costs / len(chosen)


_MAX_RATIO = 2.0
"""Larger importance ratios count as this much."""
_FIRST_SEED = 2**40  # of the deals to learn from; those of evaluations begin at 0
_PLAY, _LEARN = 0, 1  # two streams of random numbers in each round


class RoundSimulator:
    """Consumes: versions of the nets. Produces: rounds of whole games. Waits for: nothing.

    What a round gives depends on its number, the settings and the weights of the nets, and on nothing before it.
    """

    def __init__(self, config: MonteCarloConfig, game: str, rules: Any, nets: nn.ModuleList | None = None) -> None:
        """``nets``: one for each kind, whose weights may be changed between two rounds; None for its own."""
        self._config, self._game, self._rules = config, candidate_game(game), rules
        if nets is None and config.threads:  # without a number they are the CPUs that Ray reserves for the process
            torch.set_num_threads(config.threads)
        self._nets = nn.ModuleList(new_nets(self._game, config.seed).nets) if nets is None else nets
        learning = self._game.learning
        self._features = features = learning.candidate_features(learning.encoders[0], rules)
        self._teacher = self._game.scripted_agent(config.imitates) if config.imitates else None
        device = next(self._nets.parameters()).device
        self._inference = [
            CandidateInference(net, device, features, config.precision)
            for net in self._nets
            if isinstance(net, CandidateNet)
        ]
        self.version = -1
        """Of the weights."""

    def load(self, versions: Versions) -> None:
        """Play with the newest weights from now on."""
        for kind, net in zip(decision_names(self._game.name), self._nets, strict=True):
            own = versions[0].weights[kind]
            net.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in own.items()})
        self.version = versions[0].number

    def play(self, order: int, *, version: int = 0, drains: bool = True) -> Played:
        """Play the round ``order``."""
        started = time.monotonic()
        played: Any = PlayedRound(self.samples(order), self.version, order)
        games = self._config.games
        return Played([played], games, games, len(played), time.monotonic() - started, 0.0)

    def samples(self, number: int) -> list[Samples]:
        """Play round ``number`` to the end of all its games; return the samples of each kind of decision."""
        config, learning = self._config, self._game.learning
        for inference, net in zip(self._inference, self._nets, strict=True):
            inference.use(inference.prepared(net))
        rng = np.random.default_rng([config.seed, number, _PLAY])
        first_seed = _FIRST_SEED * (1 + config.seed) + config.games * number
        tables = self._game.open_tables(config.games, self._rules)
        tables.begin(np.arange(config.games), range(first_seed, first_seed + config.games))
        made: list[list[_Made]] = [[] for _ in self._nets]
        while (waiting := tables.waiting()).size:
            moves = np.zeros(len(waiting), np.int64)
            for rows, seen in learning.observe(tables.state, waiting, learning.encoders[0]):
                own = waiting[rows]
                places, log_probs = self._choose(seen, tables, own, rng)
                moves[rows] = seen.chosen_moves(places)
                made[seen.decision].append(self._learned(seen, places, log_probs, own, tables.actors(own)))
            tables.advance(waiting, moves)
        scores = tables.scores()
        return [self._samples(joined(parts), scores) for parts in made]

    def state(self) -> dict[str, np.ndarray]:
        """Return nothing: a round depends on its number and the weights only."""
        return {}

    def restore(self, state: Mapping[str, np.ndarray]) -> None:
        """Change nothing."""

    def _choose(
        self, seen: Observations, tables: CandidateTables, own: I64, rng: np.random.Generator
    ) -> tuple[I64, F32]:
        """Return the place of the move to make in each list, and the log-probabilities of moves that are drawn."""
        config, lists = self._config, _lists(seen)
        if self._teacher is not None:
            taught = np.repeat(self._teacher.act(tables.state, own), np.diff(lists.offsets))
            return np.flatnonzero(lists.moves == taught) - lists.offsets[:-1], np.zeros(len(own), np.float32)
        if config.algorithm == "policy_gradient":
            logits = self._inference[seen.decision](seen.planes, lists)
            return list_actions_at(logits, lists.offsets, rng.random(len(own), np.float32))
        places: I64 = np.zeros(len(lists), np.int64)
        asked = np.flatnonzero(np.diff(lists.offsets) > 1)  # nets are not asked where only one move is legal
        if asked.size:
            several = lists.take(asked)
            values = self._inference[seen.decision](seen.planes[asked], several)
            places[asked] = segment_argmax(values.cpu().numpy(), several.offsets) - several.offsets[:-1]
        if config.epsilon:
            explores = rng.random(len(own)) < config.epsilon
            at_random = (rng.random(len(own)) * np.diff(lists.offsets)).astype(np.int64)
            places[explores] = at_random[explores]
        return places, np.zeros(len(own), np.float32)

    def _learned(self, seen: Observations, places: I64, log_probs: F32, tables: I64, seats: I64) -> _Made:
        """Return what is learned from: the value of each move that was made, or the choices among several."""
        made = _Made(seen, places, log_probs, tables, seats)
        lists = _lists(seen)
        if self._teacher is not None or self._config.algorithm == "policy_gradient":
            return made.take(np.flatnonzero(np.diff(lists.offsets) > 1))
        only = Candidates(np.arange(len(lists) + 1), seen.chosen_moves(places))
        return replace(made, seen=replace(seen, candidates=only), places=np.zeros_like(places))

    def _samples(self, made: _Made, scores: F32) -> Samples:
        """Return the decisions of one kind; ``scores`` [tables, seats]."""
        lists = _lists(made.seen)
        return Samples(
            rows=made.seen.planes,
            candidates=self._features[lists.moves],
            offsets=lists.offsets,
            chosen=lists.offsets[:-1] + made.places,
            log_probs=made.log_probs,
            returns=scores[made.tables, made.seats],
        )


@dataclass(frozen=True, slots=True)
class _Made(Columns):
    """Moves that were made at some tables."""

    seen: Observations
    places: I64
    log_probs: F32
    tables: I64
    seats: I64


def _lists(seen: Observations) -> Candidates:
    assert seen.candidates is not None
    return seen.candidates


class RoundLearner:
    """Consumes: the samples of rounds. Produces: weights. Waits for: nothing."""

    def __init__(self, config: MonteCarloConfig, game: str) -> None:
        """``game``: its name. ValueError if the device is cuda and there is none."""
        self._config, self._kinds = config, decision_names(game)
        self.device = find_device(config.device)
        self.is_bf16 = uses_bf16(config.precision, self.device)
        self.nets = nn.ModuleList(new_nets(candidate_game(game), config.seed).nets).to(self.device)
        self.optimizer = new_value_optimizer(self.nets, config)
        self.num_updates = 0
        """Rounds that were learned from."""

    def learn(self, parts: Sequence[Samples], staleness: float = 0.0) -> Learned:
        """Learn from the samples of each kind, ``batches`` steps each; DivergedError if a loss is not finite."""
        config, started = self._config, time.monotonic()
        rng = np.random.default_rng([config.seed, self.num_updates, _LEARN])
        for group in self.optimizer.param_groups:
            group["lr"] = rate_of_round(config, self.num_updates)
        loss_sum = 0.0
        for net, own in zip(self.nets, parts, strict=True):
            net.train()
            for indices in np.array_split(rng.permutation(len(own)), config.batches):
                if not len(indices):  # fewer samples than batches
                    continue
                loss = learn_samples(net, self.optimizer, own.take(indices), config, is_bf16=self.is_bf16)
                loss_sum += loss * len(indices)
        self.num_updates += 1
        self._average()
        figures = {"loss_sum": loss_sum, "staleness": staleness}
        num_decisions = dict(zip(self._kinds, map(len, parts), strict=True))
        return Learned(self.num_updates, figures, time.monotonic() - started, num_decisions)

    def weights(self) -> Weights:
        """Return copies of the weights that play, by kind."""
        return self._copies(lambda parameter: parameter)

    def match_weights(self) -> Weights:
        """Return copies of the weights, by kind; averaged if ``average_rounds`` wants them."""
        return self._copies(lambda parameter: self.optimizer.state[parameter].get(_AVERAGE, parameter))

    def _copies(self, value: Callable[[Tensor], Tensor]) -> Weights:
        return {
            kind: {name: value(own).detach().cpu().numpy().copy() for name, own in net.named_parameters()}
            for kind, net in zip(self._kinds, self.nets, strict=True)
        }

    def _average(self) -> None:
        """Move the averages towards the weights as they are now; in the first rounds, they are means of fewer."""
        rounds = self._config.average_rounds
        if not rounds:
            return
        share = 1 / min(rounds, self.num_updates)
        with torch.no_grad():
            for parameter in self.nets.parameters():
                state = self.optimizer.state[parameter]
                if _AVERAGE in state:
                    state[_AVERAGE].lerp_(parameter, share)
                elif state:  # that of an optimizer that has made a step: an empty one it would not complete
                    state[_AVERAGE] = parameter.detach().clone()

    def state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Return copies, on the CPU, of all that ``restore`` needs."""
        return state_tensors(self.nets, self.optimizer), {"num_updates": self.num_updates}

    def restore(self, tensors: Mapping[str, Tensor], values: Mapping[str, Any]) -> None:
        """Go on from a ``state``; ValueError for that of other nets."""
        restore_tensors(tensors, self.nets, self.optimizer)
        self.num_updates = values["num_updates"]
        if not self._config.average_rounds:
            for state in self.optimizer.state.values():
                state.pop(_AVERAGE, None)


def rate_of_round(config: MonteCarloConfig, number: int) -> float:
    """Return the learning rate of the round ``number``, 0, 1, …"""
    share = min(1.0, number / config.decay_rounds) if config.decay_rounds else 0.0
    return config.learning_rate * (1 - share * (1 - config.last_rate_share))


_AVERAGE = "average"
"""Name of averaged weights in the optimizer's state, with which they are saved and restored."""


Figures = dict[str, dict[str, float]]
"""Opponent -> ``wp_<side>``, ``adp_<side>`` and the standard error of each, ``…_error``."""


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """A small match of nets against the scripted ``opponents`` of a config."""

    config: MonteCarloConfig
    game: str
    """Its name."""
    rules: Any
    weights: Weights
    keeps_games: bool = False

    def play(self, progress: Progress | None = None) -> Figures:
        """Play ``evaluate_decks`` deals against each opponent, with the nets on each side, on the config's device."""
        config, game = self.config, candidate_game(self.game)
        nets = new_nets(game, config.seed).with_weights(self.weights)
        player = NetAgent(
            "nets",
            nets.nets,
            game.learning.encoders[0],
            device=find_device(config.device).type,
            rules=self.rules,
            precision=config.precision,
        )
        found: Figures = {}
        for opponent in config.opponents:
            scripted = game.scripted_agent(opponent)
            played = play_deals(game, self.rules, player, scripted, range(config.evaluate_decks))
            points = game.scoring.side_points(np.array([each.points for each in played]))
            found[opponent] = {}
            for side, own in points.items():
                for measure, values in (("wp", (own > 0).astype(np.float64)), ("adp", own)):
                    found[opponent][f"{measure}_{side}"] = float(values.mean())
                    found[opponent][f"{measure}_{side}_error"] = float(values.std() / np.sqrt(len(values)))
        return found


@dataclass(frozen=True, slots=True)
class PlayedRound:
    """The samples of each kind, on their way to a learner."""

    samples: Sequence[Samples]
    version: int
    """Of the weights that played."""
    number: int

    def __len__(self) -> int:
        return sum(map(len, self.samples))

    def copied(self) -> PlayedRound:
        """Return a copy in memory of its own."""
        return replace(self, samples=[part.take(np.arange(len(part))) for part in self.samples])


class LocalRounds(LocalParts):
    """Consumes and produces: its own rounds, one after another, so that equal seeds give equal numbers."""

    gauges: ClassVar[Mapping[str, float]] = {}
    """Nothing is measured."""

    def __init__(self, config: MonteCarloConfig, game: str, rules: Any, state: BackendState | None = None) -> None:
        """``game``: its name. Go on from ``state``; ValueError if that is of other nets."""
        self._learner = RoundLearner(config, game)
        if state is not None:
            self._learner.restore(*state.learner)
        self._simulator = RoundSimulator(config, game, rules, self._learner.nets)
        self._dealt = 0 if state is None else state.next_simulator
        self.counts = BufferCounts() if state is None else state.counts
        """Samples that were learned from."""

    @property
    def version(self) -> int:
        """Rounds that were learned from."""
        return self._learner.num_updates

    def advance(self) -> list[Event]:
        """Play the next round and learn from it, however long that takes."""
        played = self._simulator.play(self._dealt)
        self._dealt += 1
        batch: Any = played.decisions[0]
        learned = self._learner.learn(batch.samples)
        self.counts.added += played.num_decisions
        self.counts.learned += played.num_decisions
        return [replace(played, decisions=[]), learned]

    def newest(self) -> PolicyVersion:
        """Return the nets as they are."""
        return PolicyVersion(self.version, self._learner.weights())

    def weights(self) -> Weights:
        """Return averaged weights by kind (``MonteCarloConfig.average_rounds``)."""
        return self._learner.match_weights()

    def state(self) -> BackendState:
        """Return all that a new backend needs to go on with the same numbers."""
        return BackendState(
            learner=self._learner.state(), versions=[self.newest()], counts=self.counts, next_simulator=self._dealt
        )

    def close(self) -> None:
        """Do nothing."""
