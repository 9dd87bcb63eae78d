"""The main loop of self-play reinforcement learning, with all parts of Figure 6 in one process.

>>> play = SelfPlay(start=player, weak=weak, encoder="suphx", rules_version="tenhou-1", seed=1)
>>> metrics = Controller(config, play, Path("runs/reinforcement")).run()

The folder then has ``<head>.safetensors`` (the newest weights: the folder is an agent), ``start/`` (those that it began
with, and the weak ones), ``metrics.json`` and the state from which a run that was killed goes on with the same numbers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from suphx.atomic_file import write_atomically
from suphx.evaluation.match import play_match
from suphx.features.encoder import find_encoder
from suphx.features.head import HEAD_NAMES
from suphx.models.calibration import Calibration
from suphx.models.policy import PolicyNet
from suphx.models.tensor_file import write_tensors
from suphx.selfplay.player import Player, save_player
from suphx.training.loss_watch import DivergedError
from suphx.training.reward import round_score
from suphx_platform.inference_engine import InferenceEngine, LocalEngine
from suphx_platform.learner import Learner, UpdateReport
from suphx_platform.parameter_server import ParameterServer
from suphx_platform.reinforcement_config import FREE_KEYS, ReinforcementConfig
from suphx_platform.reinforcement_state import Parts, Progress, load_state, save_state
from suphx_platform.replay_buffer import Batch, ReplayBuffer
from suphx_platform.simulator_actor import SimulatorActor, SimulatorPlace

STATE_FILE = "reinforcement_state.safetensors"
METRICS_FILE = "metrics.json"
DIVERGED_FILE = "diverged_batch.safetensors"
START_FOLDER = "start"


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfPlay:
    """What plays and learns."""

    start: Player
    weak: Player
    encoder: str
    rules_version: str
    seed: int
    extra: dict[str, Any] = field(default_factory=dict)
    """Goes into the headers of the checkpoints."""


class Controller:
    """Consumes: nets. Produces: better nets, curves, states. Waits for: nothing but its own parts, turn by turn."""

    def __init__(
        self,
        config: ReinforcementConfig,
        play: SelfPlay,
        folder: Path,
        *,
        report: Callable[[Mapping[str, float]], None] | None = None,
        keep: Callable[[int], None] | None = None,
    ) -> None:
        """Build all parts, or go on from the state in ``folder``.

        ``report`` gets a point of the curves every ``report_every`` updates; ``keep`` is called with the number of
        updates whenever a state was written. Raises ValueError if the state belongs to another run.
        """
        folder.mkdir(parents=True, exist_ok=True)
        self._config, self._play, self._folder = config, play, folder
        self._report, self._keep = report, keep
        heads, opponents = config.head_numbers, config.simulator.opponents
        self._engine = InferenceEngine(config.engine, play.start, play.weak, heads=heads, num_older=opponents.num_older)
        self._local = LocalEngine(self._engine, config.engine.threads)
        place = SimulatorPlace(encoder=play.encoder, heads=heads, run_seed=play.seed)
        learner = Learner(config.learner, [play.start.nets[head] for head in heads])
        self._parts = Parts(
            simulator=SimulatorActor(config.simulator, place, self._local, round_score),
            buffer=ReplayBuffer(config.buffer, heads, seed=play.seed),
            server=ParameterServer(config.server, learner.weights(), num_older=opponents.num_older),
            learner=learner,
        )
        self._progress = Progress()
        self._since_report: list[dict[str, float]] = []
        if self._state_path.is_file():
            self._progress = load_state(self._state_path, self._parts, self._identity())
            self._fetch()
        self._saved_at = self._ticked_at = time.monotonic()

    def run(self) -> dict[str, Any]:
        """Play and learn to the end; return what ``metrics.json`` holds.

        Raises DivergedError if a loss or gradient is no finite number: the batch and the last good weights are in the
        folder then.
        """
        self._write_start()
        try:
            while not self.is_finished:
                batch = self._parts.buffer.take(self._parts.server.latest)
                if batch is None:
                    self._simulate()
                else:
                    self._learn(batch)
            return self._finish()
        finally:
            self._local.close()

    @property
    def is_finished(self) -> bool:
        """Tell whether a limit of the run is reached."""
        return self._config.share_done(self._progress.updates, self._progress.seconds) >= 1

    def _simulate(self) -> None:
        """Play some decisions of every table; learn first where the buffer has no room for them."""
        played = self._parts.simulator.play(self._config.steps)
        progress = self._progress
        progress.hanchans += played.num_hanchans
        progress.kyokus += played.num_kyokus
        progress.decisions += played.num_decisions
        progress.playing_seconds += played.seconds
        progress.waiting_seconds += played.waited_seconds
        self._tick()
        while not self._parts.buffer.add(played.transitions):
            batch = self._parts.buffer.take(self._parts.server.latest)
            if batch is None:
                needed = self._parts.buffer.num_bytes + sum(part.num_bytes for part in played.transitions)
                raise ValueError(
                    f"the replay buffer cannot hold a batch and what comes in at a time: raise buffer.capacity_bytes "
                    f"above {needed:,}, or lower buffer.batch_rows, simulator.num_tables or steps"
                )
            self._learn(batch)

    def _learn(self, batch: Batch) -> None:
        """Make one update; publish, report, evaluate and save when it is time."""
        started = time.monotonic()
        try:
            update = self._parts.learner.update(batch.parts)
        except DivergedError as error:
            raise self._diverged(batch, error) from error
        progress, config = self._progress, self._config
        progress.updates += 1
        progress.learning_seconds += time.monotonic() - started
        self._since_report.append({**_flat(update), "staleness": batch.staleness})
        if progress.updates % config.publish_every == 0:
            self._parts.server.publish(self._parts.learner.weights())
            self._fetch()
        self._tick()
        if progress.updates % config.report_every == 0:
            self._add_point(batch)
        if config.evaluate_every and progress.updates % config.evaluate_every == 0:
            self._evaluate()
        if time.monotonic() - self._saved_at > config.save_seconds:
            self._save()

    def _fetch(self) -> None:
        version = self._parts.server.newer_than(self._engine.version, "engine 0")
        if version is not None:
            self._engine.load(version, self._parts.server.older())

    def _add_point(self, batch: Batch) -> None:
        """Add what happened since the last report to the curves."""
        progress = self._progress
        last = progress.history[-1] if progress.history else {}
        names = sorted({name for figures in self._since_report for name in figures})
        point = {name: _mean([figures[name] for figures in self._since_report if name in figures]) for name in names}
        self._since_report = []
        seconds = max(progress.seconds - last.get("seconds", 0.0), 1e-9)
        playing = max(progress.playing_seconds - last.get("playing_seconds", 0.0), 1e-9)
        counts = {name: getattr(progress, name) for name in _COUNTS}
        point |= counts | {f"{name}_decisions": count for name, count in asdict(self._parts.buffer.counts).items()}
        point |= {
            "version": self._parts.server.latest,
            "hanchans_per_second": (progress.hanchans - last.get("hanchans", 0)) / seconds,
            "decisions_per_second": (progress.decisions - last.get("decisions", 0)) / seconds,
            "simulator_waiting_share": (progress.waiting_seconds - last.get("waiting_seconds", 0.0)) / playing,
            "learning_share": (progress.learning_seconds - last.get("learning_seconds", 0.0)) / seconds,
            "buffer_bytes": self._parts.buffer.num_bytes,
        }
        divergences = self._parts.learner.kl_to_start(batch.parts)
        point |= {f"{head}_kl_to_start": divergence for head, divergence in divergences.items()}
        progress.history.append(point)
        if self._report is not None:
            self._report(point)

    def _newest(self) -> Player:
        """Return the nets of the newest version."""
        weights = self._parts.server.latest_version.weights
        nets = list(self._play.start.nets)
        for head in self._config.head_numbers:
            net = PolicyNet(head, nets[head].num_planes, nets[head].config)
            own = {name: torch.from_numpy(np.array(value)) for name, value in weights[HEAD_NAMES[head]].items()}
            net.load_state_dict(own)
            nets[head] = net.eval()
        calibrations = [
            Calibration() if head in self._config.head_numbers else calibration
            for head, calibration in enumerate(self._play.start.calibrations)
        ]
        return Player(tuple(nets), tuple(calibrations))

    def _evaluate(self) -> None:
        """Play matches of the newest version against the nets that the run began with and the weak ones."""
        self._write_newest()
        start = self._folder / START_FOLDER
        for name, baseline in (("start", str(start)), ("weak", f"{start}:weak")):
            if name == "weak" and self._play.weak is self._play.start:
                continue
            match = play_match(
                str(self._folder),
                baseline,
                num_hanchans=self._config.evaluation_hanchans,
                seed=self._progress.updates % (1 << 20),  # other walls every time
                workers=self._config.evaluation_workers,
            )
            difference = match.difference
            self._progress.matches.append(
                {
                    "updates": self._progress.updates,
                    "baseline": name,
                    "hanchans": match.hanchans,
                    "average_placement": match.statistics.average_placement,
                    "difference": difference.mean,
                    "interval": [difference.interval.low, difference.interval.high],
                }
            )
            if self._report is not None:
                self._report({"updates": self._progress.updates, f"difference_to_{name}": difference.mean})
        self._ticked_at = time.monotonic()  # matches do not count as time of the run

    def _finish(self) -> dict[str, Any]:
        matches = self._progress.matches
        if not matches or matches[-1]["updates"] != self._progress.updates:
            self._evaluate()
        self._save()
        metrics = {
            **{name: getattr(self._progress, name) for name in (*_COUNTS, "history", "matches")},
            "version": self._parts.server.latest,
            "heads": list(self._config.heads),
            "decisions_of_buffer": asdict(self._parts.buffer.counts),
        }
        write_atomically(self._folder / METRICS_FILE, [json.dumps(metrics, indent=1, allow_nan=False).encode()])
        return metrics

    def _save(self) -> None:
        self._write_newest()
        save_state(self._state_path, self._parts, self._progress, self._identity())
        self._saved_at = time.monotonic()
        if self._keep is not None:
            self._keep(self._progress.updates)

    def _diverged(self, batch: Batch, error: DivergedError) -> DivergedError:
        """Write down what there is to look at and return the error that says where."""
        self._write_newest()
        tensors = {
            f"{HEAD_NAMES[head]}.{name}": torch.from_numpy(np.ascontiguousarray(column))
            for head, part in batch.parts.items()
            for name, column in part.columns().items()
        }
        path = self._folder / DIVERGED_FILE
        write_tensors(path, tensors, {"kind": "diverged batch", "updates": self._progress.updates})
        return DivergedError(
            f"self-play diverged at update {self._progress.updates + 1} ({error}); the batch is in {path}, the weights "
            f"of version {self._parts.server.latest} in {self._folder}: lower learner.learning_rate "
            f"(now {self._config.learner.learning_rate}) or learner.gradient.max_ratio"
        )

    def _write_start(self) -> None:
        for player, is_weak in ((self._play.start, False), (self._play.weak, True)):
            self._write(self._folder / START_FOLDER, player, 0, is_weak=is_weak)

    def _write_newest(self) -> None:
        self._write(self._folder, self._newest(), self._progress.updates)

    def _write(self, folder: Path, player: Player, step: int, *, is_weak: bool = False) -> None:
        save_player(
            folder,
            player,
            find_encoder(self._play.encoder),
            rules_version=self._play.rules_version,
            step=step,
            extra=self._play.extra | {"encoder": self._play.encoder},
            is_weak=is_weak,
        )

    def _tick(self) -> None:
        now = time.monotonic()
        self._progress.seconds += now - self._ticked_at
        self._ticked_at = now

    @property
    def _state_path(self) -> Path:
        return self._folder / STATE_FILE

    def _identity(self) -> dict[str, Any]:
        """Return all that must be the same for a run to go on, as JSON can hold it."""
        config = _flat_config(asdict(self._config))
        ends = ("max_updates", "max_minutes")  # a longer run may go on from a shorter one
        kept = {name: value for name, value in config.items() if name not in (*FREE_KEYS, *ends)}
        nets = {HEAD_NAMES[net.head]: asdict(net.config) for net in self._play.start.nets}
        return {**kept, "seed": self._play.seed, "encoder": self._play.encoder, "nets": nets}


_COUNTS = ("updates", "hanchans", "kyokus", "decisions", "seconds", "playing_seconds", "waiting_seconds",
           "learning_seconds")  # fmt: skip


def _flat(update: UpdateReport) -> dict[str, float]:
    return {f"{head}_{name}": value for head, figures in update.figures.items() for name, value in figures.items()}


def _flat_config(table: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return nested tables as ``{"a.b": value}``, tuples as lists."""
    flat: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, Mapping):
            flat |= _flat_config(value, f"{prefix}{name}.")
        else:
            flat[prefix + name] = list(value) if isinstance(value, tuple) else value
    return flat


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
