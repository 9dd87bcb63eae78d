"""Steps that both backends make in the same way: a simulator's context, an update, the error of a full buffer."""

from __future__ import annotations

import time
from collections.abc import Mapping

from suphx.experience.decisions import Decisions
from suphx.models.nets.net_config import HEAD_NAMES
from suphx.training.optimizer import DivergedError
from suphx_platform.backend.backend import DivergedBatchError, Learned, SelfPlay
from suphx_platform.parts.learner import Learner, UpdateReport
from suphx_platform.parts.reinforcement_config import ReinforcementConfig
from suphx_platform.parts.self_play_simulator import SimulatorContext


def new_context(config: ReinforcementConfig, play: SelfPlay, index: int) -> SimulatorContext:
    """Return the context of the simulator ``index`` of a run."""
    return SimulatorContext(
        encoder=play.encoder,
        heads=config.head_numbers,
        run_seed=play.seed,
        sees_hidden=config.sees_hidden,
        has_costs=config.learner.gradient.exact_deal_in,
        oracle=config.oracle,
        updates_per_version=config.weight_sync_interval,
        prediction=play.prediction,
        index=index,
    )


def learn(learner: Learner, parts: Mapping[int, Decisions], staleness: float, *, report_every: int) -> Learned:
    """Make one update of ``learner``; every ``report_every`` updates, measure how far the policy is from its start.

    Raises DivergedBatchError.
    """
    started = time.monotonic()
    try:
        update = learner.update(parts)
    except DivergedError as error:
        raise DivergedBatchError(str(error), parts) from error
    figures = _flat(update) | {"staleness": staleness}
    if update.number % report_every == 0:
        measured = {f"{head}_kl_to_start": value for head, value in learner.kl_to_start(parts).items()}
        figures = measured | figures
    num_decisions = {HEAD_NAMES[head]: len(part) for head, part in parts.items()}
    return Learned(update.number, figures, time.monotonic() - started, num_decisions)


def full_error(needed_bytes: int) -> ValueError:
    """Return the error of a buffer that is full before it holds a batch."""
    return ValueError(
        f"the replay buffer cannot hold a batch and what comes in at a time: raise "
        f"reinforcement.buffer.capacity_bytes above {needed_bytes:,}, or lower reinforcement.buffer.batch_size, "
        "reinforcement.simulator.num_tables or reinforcement.rollout_fragment_length"
    )


def _flat(update: UpdateReport) -> dict[str, float]:
    return {f"{head}_{name}": value for head, figures in update.figures.items() for name, value in figures.items()}
