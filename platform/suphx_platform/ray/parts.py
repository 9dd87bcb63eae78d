"""What the actors of a run are made of, for policy gradient and for Deep Monte-Carlo.

Everything here goes to other processes. Simulators, buffers and the server load no torch, so what needs it is imported
where it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import ray

from suphx.selfplay.buffer import ReplayBuffer
from suphx.selfplay.config import SimulatorConfig
from suphx.selfplay.layout import PLACE, RayLayoutConfig, RoundLayoutConfig
from suphx.selfplay.simulator import SelfPlaySimulator, SimulatorContext
from suphx.selfplay.weights import Weights
from suphx_platform.ray.actors import Buffer
from suphx_platform.ray.process import Peer

if TYPE_CHECKING:
    from suphx.selfplay.agents.policy_set import PolicySet
    from suphx.training.config import MonteCarloConfig
    from suphx.training.learner import Learner, NewWorkers
    from suphx.training.local_backend import SelfPlay
    from suphx.training.monte_carlo import RoundLearner
    from suphx.training.reinforcement_config import ReinforcementConfig

_MAX_WAITING_BATCHES = 2
"""Of a head in a buffer, at free pace: with more, simulators wait, and the learner gets fresher decisions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunParts:
    """The parts of a run, and how its versions and orders are counted."""

    layout: RayLayoutConfig
    new_simulator: Callable[[int, Any], Any]
    """Makes one from its number and what it asks for policy outputs."""
    new_engine: Callable[[str, str], Any]
    """Makes an engine from the name of the server, and its own; it needs torch."""
    new_buffer: Callable[[], Buffer]
    new_learner: Callable[[str, str], Any]
    """Makes one from the name of the server, and that of the room of several learners."""
    policy_sets: Sequence[Any] = ()
    """What the server has for those that begin."""
    first_weights: Weights
    keeps_older: bool = False
    """Opponents play older versions."""
    num_learners: int = 1
    learner_needs: str = ""
    """A sentence about what several learners wait for."""
    steps: int | None = None
    """Steps that a simulator makes at a time; None: it plays whole rounds, by their numbers."""
    updates_per_version: int = 1
    publish_every: int = 1
    stops: Sequence[int] = ()
    """At multiples of these updates the trainer looks at the learner: it continues when it is told to."""
    max_updates: int = 0
    capacity_bytes: int = 0
    remedy: str = "reduce the numbers in [reinforcement.cluster]"
    """What helps if the nodes do not offer enough."""

    def stop_after(self, num_updates: int) -> int:
        """Return the next update after which the learner waits for the trainer; ``num_updates`` if all are made."""
        ends = [self.max_updates] if self.max_updates else []
        ends += [every * (num_updates // every + 1) for every in self.stops if every]
        return max(num_updates, min(ends, default=num_updates + 1_000_000))


def policy_gradient_parts(config: ReinforcementConfig, play: SelfPlay) -> RunParts:
    """Return the parts of self-play by policy gradient."""
    from suphx.training.local_backend import new_context
    from suphx_platform.ray.fetching_engine import FetchingEngine

    cluster = config.cluster
    max_batches = None if cluster.pace == "lockstep" else _MAX_WAITING_BATCHES
    policy_sets = [play.start, play.weak, *([play.teacher] if play.teacher else [])]
    return RunParts(
        layout=cluster,
        new_simulator=partial(_new_simulator, config.simulator, new_context(config, play, 0)),
        new_engine=partial(FetchingEngine, config),
        new_buffer=partial(ReplayBuffer, config.buffer, config.head_numbers, max_batches=max_batches),
        new_learner=partial(_new_policy_learner, config),
        policy_sets=policy_sets,
        first_weights=play.start.weights(config.head_numbers),
        keeps_older=config.simulator.opponents.older > 0,
        num_learners=config.learner.num_learners,
        learner_needs=needs_of_learners(config),
        steps=config.rollout_fragment_length,
        updates_per_version=config.weight_sync_interval,
        publish_every=config.weight_sync_interval,
        stops=(config.evaluate_every, config.oracle.updates_per_step if config.oracle.steps else 0),
        max_updates=config.max_updates,
        capacity_bytes=config.buffer.capacity_bytes,
    )


def monte_carlo_parts(config: MonteCarloConfig, layout: RoundLayoutConfig, game: str, rules: Any) -> RunParts:
    """Return the parts of Deep Monte-Carlo: each simulator has nets of its own, and one buffer keeps whole rounds."""
    from suphx.games.registry import candidate_game
    from suphx.selfplay.buffer import RoundBuffer
    from suphx.training.monte_carlo import RoundSimulator, new_nets

    found = candidate_game(game)
    waiting = max(1, (layout.rounds_per_simulator - 1) * layout.num_simulators)
    return RunParts(
        layout=layout.as_ray_layout(),
        new_simulator=_simulator_of,
        new_engine=partial(_new_round_engine, partial(RoundSimulator, config, game, rules)),
        new_buffer=partial(RoundBuffer, waiting),
        new_learner=partial(_new_round_learner, config, game),
        first_weights=new_nets(found, config.seed).weights(range(len(found.decisions))),
        publish_every=layout.weight_sync_rounds,
        stops=(config.evaluate_rounds,),
        max_updates=config.max_rounds,
        remedy="reduce num_simulators in [cluster]",
    )


def _new_simulator(config: SimulatorConfig, context: SimulatorContext, number: int, engine: Any) -> SelfPlaySimulator:
    return SelfPlaySimulator(config, replace(context, index=number), engine)


def _simulator_of(number: int, engine: Any) -> Any:
    return engine.engine


def _new_round_engine(new_simulator: Callable[[], Any], server: str, name: str) -> Any:
    from suphx_platform.ray.fetching_engine import Fetching

    return Fetching(new_simulator(), server, name)


def _new_round_learner(config: MonteCarloConfig, game: str, server: str, room: str) -> RoundLearner:
    import torch

    from suphx.training.monte_carlo import RoundLearner

    if config.threads:
        torch.set_num_threads(config.threads)
    return RoundLearner(config, game)


def _new_policy_learner(config: ReinforcementConfig, server: str, room: str) -> Learner:
    """Return the learner of policy gradient, in its own process or with several of RLlib's."""
    from suphx.training.learner import Learner
    from suphx.training.learning_step import local_step

    policy_sets: list[PolicySet] = ray.get(Peer(server).insist("policy_sets"))
    start, _, *teachers = policy_sets
    new_workers: NewWorkers = local_step
    if config.learner.num_learners > 1:
        from suphx_platform.ray.rllib_learner import RLlibWorkers

        new_workers = partial(
            RLlibWorkers,
            resources=learner_resources(config.cluster),
            timeout_seconds=config.cluster.start_seconds,
            room=room,
        )
    return Learner(
        config.learner,
        [start.net(head) for head in config.head_numbers],
        teachers=[teacher.net(head) for teacher in teachers for head in config.head_numbers],
        new_workers=new_workers,
        report_every=config.report_every,
    )


def learner_resources(cluster: RayLayoutConfig) -> dict[str, float]:
    """Return what each of several learners takes."""
    return {"CPU": cluster.cpus_per_learner, "GPU": cluster.gpus_per_learner, "learner": PLACE}


def needs_of_learners(config: ReinforcementConfig) -> str:
    """Return what several learners wait for, which the actor that starts them cannot log on the driver."""
    num_learners, device = config.learner.num_learners, config.learner.device
    if num_learners == 1:
        return ""
    amounts: Mapping[str, float] = {
        kind: amount
        for kind, amount in learner_resources(config.cluster).items()
        if amount and (kind, device) != ("GPU", "cpu")
    }
    return f"the learner needs room for {num_learners} learners with {amounts} each, all at once"
