"""Policy gradient by self-play: the loop of trainer.py over a backend, with its curves, its matches and its files.

>>> play = SelfPlay(start=policy_set, weak=weak, encoder="suphx", rules_version="tenhou-1", seed=1)
>>> metrics = PolicyTrainer(config, play, Path("runs/reinforcement")).run()

The folder then has ``<head>.safetensors`` (the newest weights: the folder is an agent), ``start/`` (those that it began
with, and the weak ones), ``metrics.json`` and the state from which a killed run resumes with the same numbers.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from suphx.selfplay.agents.policy_set import seeing_hidden
from suphx.selfplay.backend import Backend, BackendState, Event, Learned, Played
from suphx.training.backend_state import BackendTrainer, first_state
from suphx.training.learner import DivergedBatchError
from suphx.training.local_backend import LocalBackend, SelfPlay
from suphx.training.reinforcement_config import STATE_FILE, ReinforcementConfig
from suphx.training.trainer import (
    DivergedError,
    Now,
    PartUnavailableError,
    Report,
    StoppedError,
    TrainingProgress,
    TrainingWatch,
)
from suphx.training.training_state import damage
from suphx_platform.console.stop_request import StopRequest
from suphx_platform.console.table_text import count_text
from suphx_platform.selfplay.run_folder import Measured, MeasuredNets, RunFolder
from suphx_platform.selfplay.self_play_match import SelfPlayMatches, match_figures
from suphx_platform.selfplay.time_share import TimeShare

if TYPE_CHECKING:
    from suphx_platform.selfplay.metrics import RunMetrics

COUNTS = ("updates", "hanchans", "kyokus", "decisions", "rejected", "seconds", "playing_seconds", "waiting_seconds",
          "learning_seconds")  # fmt: skip
"""Counters of ``SelfPlayProgress`` that points and metrics.json have."""


@dataclass(slots=True, kw_only=True)
class SelfPlayProgress(TrainingProgress):
    """The progress of a run; ``step`` counts updates."""

    hanchans: int = 0
    kyokus: int = 0
    decisions: int = 0
    """Of all seats."""
    rejected: int = 0
    """Decisions without a gradient of the sampled action, since their importance ratio was above
    learner.gradient.reject_ratio."""
    playing_seconds: float = 0.0
    waiting_seconds: float = 0.0
    """Part of the playing in which a simulator had no policy outputs."""
    learning_seconds: float = 0.0
    faults: dict[str, int] = field(default_factory=dict)
    """What broke how often: ``engine_died`` and the like."""
    matches: list[dict[str, Any]] = field(default_factory=list)
    since_report: list[dict[str, float]] = field(default_factory=list)
    """Figures of the updates since the last point of the curves."""

    @property
    def updates(self) -> int:
        """Updates so far, over all starts of the run."""
        return self.step


def new_point(progress: SelfPlayProgress, config: ReinforcementConfig, backend: Backend) -> dict[str, Any]:
    """Return the point after the updates of ``progress.since_report``: figures by name, means, or maxima of maxima."""
    last = progress.history[-1] if progress.history else {}
    names = sorted({name for figures in progress.since_report for name in figures})
    point: dict[str, Any] = {}
    for name in names:
        values = [own[name] for own in progress.since_report if name in own]
        point[name] = max(values) if name.endswith("_max") else sum(values) / len(values)
    seconds = max(progress.seconds - last.get("seconds", 0.0), 1e-9)
    playing = max(progress.playing_seconds - last.get("playing_seconds", 0.0), 1e-9)
    counts = {name: getattr(progress, name) for name in COUNTS}
    point |= counts | {f"{name}_decisions": count for name, count in asdict(backend.counts).items()}
    point |= {f"{name}_faults": count for name, count in progress.faults.items()}
    point |= {
        "version": backend.version,
        "hanchans_per_second": (progress.hanchans - last.get("hanchans", 0)) / seconds,
        "decisions_per_second": (progress.decisions - last.get("decisions", 0)) / seconds,
        "simulator_waiting_share": (progress.waiting_seconds - last.get("waiting_seconds", 0.0)) / playing,
        "learning_share": (progress.learning_seconds - last.get("learning_seconds", 0.0)) / seconds,
        "done_share": config.share_done(progress.updates, progress.seconds),
        **config.oracle.figures_of_update(progress.updates),
        **backend.gauges,
    }
    point["learner_waiting_share"] = max(0.0, 1 - point["learning_share"])
    return point


def thin_out(history: list[dict[str, Any]]) -> None:
    """Remove one of at least three points: where the others are closest, so that the distances stay about equal.

    The first and the last one stay.
    """
    updates = [point["updates"] for point in history]
    gaps = [after - before for before, after in zip(updates, updates[2:], strict=False)]
    del history[1 + gaps.index(min(gaps))]


NewBackend = Callable[[ReinforcementConfig, SelfPlay, BackendState | None], Backend]
"""Makes a backend that begins, or continues from a state."""


def run_backend(config: ReinforcementConfig) -> NewBackend:
    """Return what makes the backend of ``config``."""
    if not config.cluster.on_ray:
        return LocalBackend
    from suphx_platform.evaluation.ray_game_workers import MatchThread  # only a run over Ray needs these
    from suphx_platform.ray.backend import ray_backend
    from suphx_platform.ray.parts import policy_gradient_parts

    def new_backend(config: ReinforcementConfig, play: SelfPlay, state: BackendState | None) -> Backend:
        return ray_backend(policy_gradient_parts(config, play), state, new_matches=MatchThread)

    return new_backend


def run_metrics(config: ReinforcementConfig, watch: Callable[[], Mapping[str, float]] = dict) -> RunMetrics | None:
    """Return the metrics for Prometheus, which only a run over Ray has; ``watch``: as for ``RunMetrics``."""
    if not config.cluster.on_ray:
        return None
    from suphx_platform.selfplay.metrics import RunMetrics

    return RunMetrics(watch)


Keep = Callable[[int, Callable[[], None] | None], None]
"""Gets the number of updates of a state that was written, and what to call, if anything, when that state is kept."""

_logger = logging.getLogger(__name__)

_MAX_POINTS = 5000
"""Of the curves, in each saved state; of longer runs, points at equal distances are kept. MLflow has all."""
_STALE_SHARE = 0.05
"""Of all decisions: if more were dropped as stale, a warning tells it."""


class PolicyTrainer(BackendTrainer[SelfPlayProgress, dict[str, Any]]):
    """Consumes: the events of a backend. Produces: nets, curves, matches, states. Waits for: the backend.

    A step of the loop is what the backend does in about a second: games, or an update.
    """

    unit = "update"

    def __init__(
        self,
        config: ReinforcementConfig,
        play: SelfPlay,
        folder: Path,
        *,
        new_backend: NewBackend = LocalBackend,
        metrics: RunMetrics | None = None,
        report: Report | None = None,
        keep: Keep | None = None,
        measured: Measured | None = None,
        progress: Callable[[float, str], None] | None = None,
        watch: TrainingWatch | None = None,
    ) -> None:
        """Load the state in ``folder``, if there is one; ValueError if it belongs to another run.

        ``new_backend`` makes the backend (``run_backend`` chooses it by the settings); ``metrics``: for Prometheus.
        ``report`` gets a point of the curves every ``report_every`` updates; ``keep`` is called whenever a state was
        written, and with the last state again when the run diverged. ``measured`` gets the nets of each match against
        the start; ``progress`` gets the share of the time that is over, matches included, 0 to 1, and what is going on
        if that is not learning.
        """
        super().__init__(
            SelfPlayProgress(), folder, save_seconds=config.save_seconds, report=report, watch=watch or StopRequest()
        )
        has_weak = play.weak is not play.start
        if config.oracle.policy:
            play = replace(play, start=seeing_hidden(play.start, config.head_numbers))
        self._config, self._play, self._files = config, play, RunFolder(folder, config, play)
        self.state_path, self._metrics = folder / STATE_FILE, metrics
        self.make_backend = partial(new_backend, config, play)
        self._keep_state, self._show_progress = keep, progress
        if self.state_path.is_file():
            self.progress, _ = self.read_state(SelfPlayProgress)
            with damage(self.state_path):
                for match in self.progress.matches:
                    if type(match["hanchans"]) is not int:
                        raise TypeError(f"a match has {match['hanchans']!r:.80} hanchans")
            self.saved_step = self.reached
        elif play.carried is not None:
            self._state = first_state(play.carried, play.start.weights(config.head_numbers))
        self._measured = None if measured is None else MeasuredNets(self._files, measured)
        self._matches = SelfPlayMatches(config, folder, has_weak=has_weak, seed=play.seed)
        self._begins = True
        self._warned_of_match = -1
        """Updates of the match because of which others are left out, as a warning has said."""
        self._moved: Mapping[str, int] = {}
        """Updates that moved the policy of each head, as of the last save."""
        self._times = TimeShare(
            config,
            evaluation_hanchans=self._matches.num_hanchans(is_final=False),
            final_hanchans=self._matches.num_hanchans(is_final=True),
            starts_with_match=play.opponent is not None,
        )
        for entry in self.progress.matches:
            self._times.add_match(entry)
        if self.reached:
            self.watch.resumed(self.reached, self.time_share)

    def identity(self) -> dict[str, Any]:
        """Return the settings that must not change when a run resumes, as JSON values."""
        return self._files.identity()

    def open(self) -> None:
        """Begin to export metrics, build all parts, write the nets of the start."""
        if self._metrics is not None:
            counts = asdict(self._state.counts) if self._state else {}
            self._metrics.open(done_share=min(1.0, self.share_done), decisions=counts)
        super().open()
        self._files.write_start()

    def close(self) -> None:
        """End all parts."""
        try:
            if self._metrics is not None:
                self._metrics.close()
        finally:  # also after another Ctrl-C while Prometheus is waited for
            super().close()

    @property
    def share_done(self) -> float:
        """How much of the updates is done, 0 to 1 and more."""
        return self._config.share_done(self.reached, self.progress.seconds)

    @property
    def time_share(self) -> float:
        """How much of the time of the run is over, its matches included: 0 to 1."""
        return self._times.share(self.reached, self.progress.seconds)

    def now(self) -> Now:
        """Return where the run stands; a stop goes before the matches at the end."""
        now = super().now()
        return replace(now, ends=now.ends and not now.stops)

    def step(self, share_done: float) -> None:
        """Let the backend work and count what it did; first play a match that is owed."""
        begins, self._begins = self._begins, False
        if begins and self._owes_match:
            self._begin_match()
        elif share_done < 1:
            self._process(self.parts.advance())

    def is_evaluation_due(self, before: float, share_done: float) -> bool:
        """Always: a match may have ended."""
        return True

    def evaluate(self) -> None:
        """Add the matches that have ended; at the end also what was learned since the last report."""
        if self.is_finished:
            self._process(self.parts.settle())
            if self.progress.since_report:
                self._add_point()  # the run may end between two reports
            if self._metrics is not None:
                self._metrics.show({"done_share": 1.0})
        self._add_matches()

    def report(self, share_done: float) -> None:
        """Show how much of the time is over."""
        note = ""
        if not self.reached:  # it may take long, and the share that is done stays 0
            note = (
                f"{count_text(self.progress.decisions, 'decision')} played, a batch has "
                f"{self._config.buffer.batch_size:,} of a head"
            )
        self._show_note(note)

    def write_state(self) -> None:
        """Write the nets and the state after all updates that have begun."""
        self._process(self.parts.settle())
        weights, state = self.parts.weights(), self.parts.state()
        self._moved = state.learner[1]["policy_updates"]
        self._files.write_nets(weights, self.reached)
        self.write_backend(state, self.progress)

    def save(self) -> None:
        """Write the state, and pass it on with what to call when it is kept."""
        super().save()
        then = None if self._metrics is None else partial(self._metrics.note_saved, time.time())
        if self._keep_state is not None:
            self._keep_state(self.saved_step, then)
        elif then is not None:
            then()

    def stop(self) -> NoReturn:
        """Save the state, and end; say which matches are lost."""
        if self._metrics is not None:
            self._metrics.note_stopping()
        self._process(self.parts.settle())
        _logger.info("stopping: saving the state after %s", count_text(self.reached, "update"))
        self._add_matches()
        self.save()
        for updates in sorted(set(self._matches.open_updates)):
            if updates != self.reached:  # else the run that resumes begins with it
                text = "the match after %s is left out: it was still played when the run was stopped"
                _logger.warning(text, count_text(updates, "update"))
        raise StoppedError(self.reached)

    def stop_unsaved(self, error: PartUnavailableError) -> NoReturn:
        """Stop without saving: the run that resumes repeats the updates since the last save."""
        if self._metrics is not None:
            self._metrics.note_stopping()
        super().stop_unsaved(error)

    def finish(self) -> dict[str, Any]:
        """Play the matches at the end, save, return what ``metrics.json`` holds; a stop here ends the run at once."""
        num_matches = len(self.progress.matches)
        self._add_matches(waits=True)
        if not self._has_final_match:
            if len(self.progress.matches) > num_matches:
                self.save()
            self._begin_match(is_final=True)
            self._add_matches(waits=True)
        self.save()
        self._warn_at_end()
        self._show_note("")
        metrics = {
            **{name: getattr(self.progress, name) for name in (*COUNTS, "faults", "history", "matches")},
            "version": self.parts.version,
            "heads": list(self._config.heads),
            "decisions_of_buffer": asdict(self.parts.counts),
        }
        self.write_metrics(metrics)
        return metrics

    def _process(self, events: Sequence[Event]) -> None:
        """Count the events of the backend, and the time that they took."""
        if self.parts.is_waiting_for_parts:  # for nodes, perhaps for hours: max_minutes is not for that
            self.clock.skip()
        else:
            self.clock.tick()
        if self._metrics is not None:
            self._metrics.count(events)
        progress = self.progress
        for event in events:
            if isinstance(event, Played):
                progress.hanchans += event.num_games
                progress.kyokus += event.num_deals
                progress.decisions += event.num_decisions
                progress.playing_seconds += event.seconds
                progress.waiting_seconds += event.waited_seconds
            elif isinstance(event, Learned):
                self._count_update(event)
            else:
                progress.faults[event.name] = progress.faults.get(event.name, 0) + 1

    def _count_update(self, learned: Learned) -> None:
        """Add the update to the counters; report, and begin matches, when they are due.

        An update that takes the place of one that was counted and then lost with a learner's machine is not counted.
        """
        progress, config = self.progress, self._config
        if learned.number <= progress.step:
            return
        progress.step = learned.number
        progress.learning_seconds += learned.seconds
        shares = {head: learned.figures.get(f"{head}_rejected_share", 0.0) for head in learned.num_decisions}
        progress.rejected += sum(round(share * learned.num_decisions[head]) for head, share in shares.items())
        progress.since_report.append(dict(learned.figures))
        if progress.step % config.report_every == 0:
            self._add_point()
        if config.evaluate_every and progress.step % config.evaluate_every == 0 and not self.is_finished:
            self._begin_match_unless_behind()
        if config.oracle.policy and config.oracle.ends_step(progress.step):
            self._files.write_nets_of_step(self.parts.newest().weights, progress.step)

    def _add_point(self) -> None:
        progress = self.progress
        point = new_point(progress, self._config, self.parts)
        progress.since_report = []
        progress.history.append(point)
        if len(progress.history) > _MAX_POINTS:
            thin_out(progress.history)
        self._show(point)

    def _show(self, point: Mapping[str, float]) -> None:
        """Send a point of the curves to Prometheus and to ``report``."""
        if self._metrics is not None:
            self._metrics.show(point)
        self.send(point)

    def _show_note(self, note: str) -> None:
        if self._show_progress is not None:
            self._show_progress(self.time_share, note)

    def _show_match(self, note: str, hanchans: float) -> None:
        self._times.add_hanchans(hanchans)
        self._show_note(note)

    @property
    def _owes_match(self) -> bool:
        """Tell whether the run begins where a match is due; those that a stopped run has played are not repeated."""
        every = self._config.evaluate_every
        if not every or not self._matches.is_missing(self.reached, self.progress.matches):
            return False
        if not self.reached:
            return self._play.opponent is not None
        return self.reached % every == 0 and not (self.is_finished or self._has_final_match)

    @property
    def _has_final_match(self) -> bool:
        return any(match["is_final"] and match["updates"] == self.reached for match in self.progress.matches)

    def _begin_match_unless_behind(self) -> None:
        """Begin the matches of the newest weights, unless earlier ones are still played: they would pile up.

        In lockstep none is left out, so that the numbers are those of one process.
        """
        if not self._matches.playing_updates or self._config.cluster.pace == "lockstep":
            self._begin_match()
            return
        self._times.skip_match()
        behind = self._matches.playing_updates[0]
        if behind != self._warned_of_match:
            self._warned_of_match = behind
            _logger.warning(
                "no match after %s: the one after %s is still played, and those that are due before its end are left "
                "out; raise reinforcement.evaluate_every, or lower reinforcement.evaluation_hanchans",
                count_text(self.reached, "update"),
                count_text(behind, "update"),
            )

    def _begin_match(self, *, is_final: bool = False) -> None:
        self._show_note(f"match after {count_text(self.reached, 'update')}")
        weights = self.parts.weights()
        self._files.write_nets(weights, self.reached)
        if self._measured is not None:
            self._measured.note(self.reached, weights)
        earlier = self.progress.matches  # the first ones may be all that a stopped run has done
        self._matches.begin(self.parts, self.reached, is_final=is_final, tell=self._show_match, earlier=earlier)
        self.clock.skip()  # what a match takes here is no time of the run

    def _add_matches(self, *, waits: bool = False) -> None:
        for entry in self._matches.ended(self.progress.matches, waits=waits):
            self.progress.matches.append(entry)
            self._times.add_match(entry)
            if self._measured is not None:
                self._measured.add(entry)
            self._show({"updates": entry["updates"], **match_figures(entry)})
        if self._measured is not None:
            self._measured.keep_only(self._matches.open_updates)
        if waits:
            self.clock.skip()  # nothing was played or learned meanwhile

    def _warn_at_end(self) -> None:
        """Warn of policies that no update of the run has moved, and if many decisions were too old to learn from."""
        if names := [head for head in self._config.heads if not self._moved[head]]:
            _logger.warning(
                "no update has moved these nets: %s; raise max_updates, or lower learner.critic_warmup.decisions or "
                "buffer.batch_size",
                ", ".join(names),
            )
        counts = self.parts.counts
        if counts.stale > _STALE_SHARE * counts.added:
            _logger.warning(
                "%.0f %% of the decisions were dropped because their policy was more than %d versions old, often "
                "the first ones of a kyoku: raise buffer.max_staleness or weight_sync_interval, or lower "
                "simulator.num_tables",
                100 * counts.stale / counts.added,
                self._config.buffer.max_staleness,
            )

    def note_divergence(self, error: DivergedError) -> None:
        """Write the batch and the last good weights; raise the error that names the files."""
        if not isinstance(error, DivergedBatchError):
            return
        self._files.write_nets(self.parts.newest().weights, self.reached)
        path = self._files.write_diverged(error, self.reached)
        if self._keep_state is not None:
            try:  # the folder still has this state, which is no newer than before, and now the batch too
                self._keep_state(self.saved_step, None)
            except OSError as failed:  # of this upload or of an earlier one
                _logger.warning("the batch is only on this machine, because the storage has failed: %s", failed)
        raise DivergedError(
            f"self-play diverged at update {self.reached + 1} ({error}); the batch is in {path}, the weights "
            f"of version {self.parts.version} in {self._files.path}: lower learner.learning_rate "
            f"(now {self._config.learner.learning_rate}) or learner.gradient.max_ratio"
        ) from error
