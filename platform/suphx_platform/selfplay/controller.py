"""The main loop of self-play reinforcement learning: it counts, reports, evaluates and saves while a backend works.

>>> play = SelfPlay(start=policy_set, weak=weak, encoder="suphx", rules_version="tenhou-1", seed=1)
>>> metrics = Controller(config, play, Path("runs/reinforcement")).run()

The folder then has ``<head>.safetensors`` (the newest weights: the folder is an agent), ``start/`` (those that it began
with, and the weak ones), ``metrics.json`` and the state from which a killed run resumes with the same numbers.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from suphx.selfplay.agents.policy_set import seeing_hidden
from suphx.selfplay.backend import Backend, BackendState, Event, Fault, Learned, Played
from suphx.training.learner import DivergedBatchError
from suphx.training.local_backend import LocalBackend, SelfPlay
from suphx.training.optimizer import DivergedError
from suphx.training.reinforcement_config import ReinforcementConfig
from suphx.training.reinforcement_state import Progress, damaged, first_state
from suphx.training.trainer import PartAwayError
from suphx_platform.console.stop_request import StopRequest
from suphx_platform.console.table_text import count_text
from suphx_platform.selfplay.run_folder import KeepBest, MeasuredNets, RunFolder
from suphx_platform.selfplay.self_play_match import SelfPlayMatches, match_figures
from suphx_platform.selfplay.time_share import TimeShare

if TYPE_CHECKING:
    from suphx_platform.selfplay.metrics import RunMetrics


COUNTS = ("updates", "hanchans", "kyokus", "decisions", "rejected", "seconds", "playing_seconds", "waiting_seconds",
          "learning_seconds")  # fmt: skip
"""Counters of ``Progress`` that points and metrics.json have."""


def new_point(progress: Progress, config: ReinforcementConfig, backend: Backend) -> dict[str, Any]:
    """Return the point after the updates of ``progress.since_report``: figures by name."""
    last = progress.history[-1] if progress.history else {}
    names = sorted({name for figures in progress.since_report for name in figures})
    point = {name: _of_updates(name, [own[name] for own in progress.since_report if name in own]) for name in names}
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


def _of_updates(name: str, values: list[float]) -> float:
    """Return the value of a figure in several updates: their mean, or the maximum of a maximum."""
    return max(values) if name.endswith("_max") else sum(values) / len(values)


NewBackend = Callable[[ReinforcementConfig, SelfPlay, BackendState | None], Backend]
"""Makes a backend that begins, or continues from a state."""


def run_backend(config: ReinforcementConfig) -> NewBackend:
    """Return what makes the backend of ``config``."""
    if not config.cluster.on_ray:
        return LocalBackend
    from suphx_platform.evaluation.match_thread import MatchThread  # only a run over Ray needs these
    from suphx_platform.on_ray.ray_backend import RayBackend

    return partial(RayBackend, new_matches=MatchThread)


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


class Controller:
    """Consumes: the events of a backend. Produces: nets, curves, matches, states. Waits for: the backend."""

    def __init__(
        self,
        config: ReinforcementConfig,
        play: SelfPlay,
        folder: Path,
        *,
        new_backend: NewBackend = LocalBackend,
        metrics: RunMetrics | None = None,
        report: Callable[[Mapping[str, float]], None] | None = None,
        keep: Keep | None = None,
        keep_best: KeepBest | None = None,
        progress: Callable[[float, float | None, str], None] | None = None,
    ) -> None:
        """Build all parts, or continue from the state in ``folder``.

        ``new_backend`` makes the backend (``run_backend`` chooses it by the settings); ``metrics``: for Prometheus.
        ``report`` gets a point of the curves every ``report_every`` updates; ``keep`` is called whenever a state was
        written, and with the last state again when the run diverged. ``keep_best`` gets the nets of each match against
        the start; ``progress`` gets the share of the time that is over, matches included, 0 to 1, the seconds that are
        left if they are known, and what is going on if that is not learning. Raises ValueError if the state belongs to
        another run.
        """
        has_weak = play.weak is not play.start
        if config.oracle.policy:
            play = replace(play, start=seeing_hidden(play.start, config.head_numbers))
        self._config, self._play, self._folder = config, play, RunFolder(folder, config, play)
        self._report, self._keep, self._show_progress = report, keep, progress
        state: BackendState | None = None
        self._progress = Progress()
        saved = self._folder.load_state()
        if saved is not None:
            state, self._progress = saved
        elif play.carried is not None:
            state = first_state(play.carried, play.start.weights(config.head_numbers))
        self._saved_updates = self._progress.updates
        self._metrics = metrics
        if metrics is not None:
            metrics.open(done_share=min(1.0, self.share_done), decisions=asdict(state.counts) if state else {})
        try:
            self._backend = self._new_backend(new_backend, state)
        except BaseException:
            self._close_metrics()
            raise
        self._matches = SelfPlayMatches(config, folder, self._backend, has_weak=has_weak, seed=play.seed)
        self._measured = None if keep_best is None else MeasuredNets(folder, keep_best)
        self._warned_of_match = -1
        """Updates of the match because of which others are left out, as a warning has said."""
        self._times = TimeShare(
            config,
            evaluation_hanchans=self._matches.num_hanchans(is_final=False),
            final_hanchans=self._matches.num_hanchans(is_final=True),
            starts_with_match=play.opponent is not None,
            match_seconds=self._progress.match_seconds,
        )
        for entry in self._progress.matches:
            self._times.add_match(entry, is_earlier=True)
        self._saved_at = self._ticked_at = time.monotonic()

    def run(self) -> dict[str, Any]:
        """Play and learn to the end; return what ``metrics.json`` holds.

        Raises DivergedError if a loss or gradient is no finite number: the batch and the last good weights are in the
        folder then; KeyboardInterrupt if the process is asked to stop (Ctrl-C, SIGTERM), with the update of the saved
        state as its text, if there is one: after a stop while a part is away, it is the last regular save.
        """
        try:
            self._folder.write_start()
            with StopRequest() as stop:
                self._backend.watch_stop(lambda: stop.is_made)
                try:
                    self._play_and_learn(stop)
                except PartAwayError as error:
                    self._end_with_last_save(error)
                except DivergedBatchError as error:  # perhaps while weights or a state were awaited
                    raise self._diverged(error) from error
            try:
                return self._finish()
            except DivergedBatchError as error:  # a learner that died has repeated its batches
                raise self._diverged(error) from error
        finally:
            try:
                self._close_metrics()
            finally:  # also after another Ctrl-C while Prometheus is waited for
                self._backend.close()

    @property
    def is_finished(self) -> bool:
        """Tell whether a limit of the run is reached."""
        return self.share_done >= 1

    @property
    def share_done(self) -> float:
        """How much of the updates is done, 0 to 1 and more."""
        return self._config.share_done(self._progress.updates, self._progress.seconds)

    @property
    def time_share(self) -> float:
        """How much of the time of the run is over, its matches included: 0 to 1."""
        return self._times.after(self._progress.updates, self._progress.seconds).share

    @property
    def updates(self) -> int:
        """Updates so far, over all starts of the run."""
        return self._progress.updates

    def _new_backend(self, new_backend: NewBackend, state: BackendState | None) -> Backend:
        try:
            return new_backend(self._config, self._play, state)
        except (AttributeError, IndexError, KeyError, TypeError) as error:
            if state is None:
                raise
            raise damaged(self._folder.state_path, error) from error

    def _close_metrics(self) -> None:
        if self._metrics is not None:
            self._metrics.close()

    def _play_and_learn(self, stop: StopRequest) -> None:
        """Work to the end of the updates or until a ``stop``, and save; PartAwayError if a part is away then."""
        if self._owes_match:
            self._evaluate()
            self._add_matches()
        while not self.is_finished and not stop.is_made:
            self._advance()
        if not stop.is_made:
            self._end_learning()
        if stop.is_made:
            self._stop()

    def _stop(self) -> NoReturn:
        if self._metrics is not None:
            self._metrics.note_stopping()
        self._process_events_of(self._backend.settle)
        _logger.info("stopping: saving the state after %s", count_text(self._progress.updates, "update"))
        self._add_matches()
        self._save()
        for updates in sorted(set(self._matches.open_updates)):
            if updates != self._progress.updates:  # else the run that resumes begins with it
                text = "the match after %s is left out: it was still played when the run was stopped"
                _logger.warning(text, count_text(updates, "update"))
        raise KeyboardInterrupt(f"update {self._progress.updates:,}")

    def _end_learning(self) -> None:
        """Report and save what was learned; matches may still be played, which take long and may be stopped."""
        self._process_events_of(self._backend.settle)
        if self._progress.since_report:
            self._add_point()  # the run may end between two reports
        if self._metrics is not None:
            self._metrics.show({"done_share": 1.0})
        self._add_matches()
        if not self._has_final_match:
            self._save()

    @property
    def _owes_match(self) -> bool:
        """Tell whether the run begins where a match is due; those that a stopped run has played are not repeated."""
        updates, every = self._progress.updates, self._config.evaluate_every
        if not every or not self._matches.is_missing(updates, self._progress.matches):
            return False
        if not updates:
            return self._play.opponent is not None
        return updates % every == 0 and not (self.is_finished or self._has_final_match)

    @property
    def _has_final_match(self) -> bool:
        matches, updates = self._progress.matches, self._progress.updates
        return any(match["is_final"] and match["updates"] == updates for match in matches)

    def _end_with_last_save(self, error: PartAwayError) -> NoReturn:
        """Stop without saving: the run that resumes repeats the updates since the last save."""
        if self._metrics is not None:
            self._metrics.note_stopping()
        if not self._folder.state_path.is_file():
            _logger.warning("%s: the run ends, and no state has been saved yet", error)
            raise KeyboardInterrupt from error
        _logger.warning(
            "%s: the run ends with the state saved after %s; updates since then are repeated",
            error,
            count_text(self._saved_updates, "update"),
        )
        raise KeyboardInterrupt(f"update {self._saved_updates:,}") from error

    def _advance(self) -> None:
        """Let the backend work and count what it did; save when it is time."""
        self._process_events_of(self._backend.advance)
        self._add_matches()
        if time.monotonic() - self._saved_at > self._config.save_seconds:
            self._save()

    def _process_events_of(self, work: Callable[[], list[Event]]) -> None:
        """Run ``work`` of the backend and process its events."""
        events = work()
        self._tick()
        self._show_note("")
        if self._metrics is not None:
            self._metrics.count(events)
        for event in events:
            if isinstance(event, Played):
                self._count_games(event)
            elif isinstance(event, Learned):
                self._count_update(event)
            else:
                self._count_fault(event)
        if not self._progress.updates:  # it may take long, and the share that is done stays 0
            self._show_note(
                f"{count_text(self._progress.decisions, 'decision')} played, a batch has "
                f"{self._config.buffer.batch_size:,} of a head"
            )

    def _count_games(self, played: Played) -> None:
        progress = self._progress
        progress.hanchans += played.num_games
        progress.kyokus += played.num_deals
        progress.decisions += played.num_decisions
        progress.playing_seconds += played.seconds
        progress.waiting_seconds += played.waited_seconds

    def _count_update(self, learned: Learned) -> None:
        """Add the update to the counters; report and evaluate when they are due.

        An update that takes the place of one that was counted and then lost with a learner's machine is not counted.
        """
        progress, config = self._progress, self._config
        if learned.number <= progress.updates:
            return
        progress.updates = learned.number
        progress.learning_seconds += learned.seconds
        shares = {head: learned.figures.get(f"{head}_rejected_share", 0.0) for head in learned.num_decisions}
        progress.rejected += sum(round(share * learned.num_decisions[head]) for head, share in shares.items())
        progress.since_report.append(dict(learned.figures))
        if progress.updates % config.report_every == 0:
            self._add_point()
        if config.evaluate_every and progress.updates % config.evaluate_every == 0 and not self.is_finished:
            self._evaluate_unless_behind()
        if config.oracle.policy and config.oracle.ends_step(progress.updates):
            self._folder.write_nets_of_step(self._backend.newest().weights, progress.updates)

    def _count_fault(self, fault: Fault) -> None:
        self._progress.faults[fault.name] = self._progress.faults.get(fault.name, 0) + 1

    def _add_point(self) -> None:
        """Add what happened since the last report to the curves."""
        progress = self._progress
        point = new_point(progress, self._config, self._backend)
        progress.since_report = []
        progress.history.append(point)
        if len(progress.history) > _MAX_POINTS:
            thin_out(progress.history)
        self._show(point)

    def _show_note(self, note: str) -> None:
        if self._show_progress is not None:
            self._show_progress(*self._times.after(self._progress.updates, self._progress.seconds), note)

    def _show_match(self, note: str, hanchans: float, is_kept: bool) -> None:
        self._times.add_hanchans(hanchans, is_kept=is_kept)
        self._show_note(note)

    def _show(self, point: Mapping[str, float]) -> None:
        """Send a point of the curves to Prometheus and to ``report``."""
        if self._metrics is not None:
            self._metrics.show(point)
        if self._report is not None:
            self._report(point)

    def _evaluate_unless_behind(self) -> None:
        """Start the matches of the newest weights, unless earlier ones are still played: they would pile up.

        In lockstep none is left out, so that the numbers are those of one process.
        """
        if not self._matches.playing_updates or self._config.cluster.pace == "lockstep":
            self._evaluate()
            return
        self._times.skip_match()
        behind = self._matches.playing_updates[0]
        if behind != self._warned_of_match:
            self._warned_of_match = behind
            _logger.warning(
                "no match after %s: the one after %s is still played, and those that are due before its end are left "
                "out; raise reinforcement.evaluate_every, or lower reinforcement.evaluation_hanchans",
                count_text(self._progress.updates, "update"),
                count_text(behind, "update"),
            )

    def _evaluate(self, *, is_final: bool = False) -> None:
        """Start the matches of the newest weights."""
        self._show_note(f"match after {count_text(self._progress.updates, 'update')}")
        self._folder.write_nets(self._backend.weights(), self._progress.updates)
        if self._measured is not None:
            self._measured.note(self._progress.updates)
        self._times.begin_match()
        matches = self._progress.matches  # the first ones may be all that a stopped run has done
        self._matches.begin(self._progress.updates, is_final=is_final, tell=self._show_match, earlier=matches)
        self._ticked_at = time.monotonic()  # what a match takes here is no time of the run

    def _add_matches(self, *, waits: bool = False) -> None:
        for entry in self._matches.ended(self._progress.matches, waits=waits):
            self._progress.matches.append(entry)
            self._times.add_match(entry)
            if self._measured is not None:
                self._measured.add(entry)
            self._show({"updates": entry["updates"], **match_figures(entry)})
        if self._measured is not None:
            self._measured.keep_only(self._matches.open_updates)
        if waits:
            self._ticked_at = time.monotonic()  # nothing was played or learned meanwhile

    def _finish(self) -> dict[str, Any]:
        """Play the matches at the end, save and return the metrics; a stop here ends the run at once."""
        num_matches = len(self._progress.matches)
        self._add_matches(waits=True)
        if not self._has_final_match:
            if len(self._progress.matches) > num_matches:
                self._save()
            self._evaluate(is_final=True)
            self._add_matches(waits=True)
        self._warn_of_unmoved(self._save())
        self._warn_of_stale()
        self._show_note("")
        metrics = {
            **{name: getattr(self._progress, name) for name in (*COUNTS, "faults", "history", "matches")},
            "version": self._backend.version,
            "heads": list(self._config.heads),
            "decisions_of_buffer": asdict(self._backend.counts),
        }
        self._folder.write_metrics(metrics)
        return metrics

    def _warn_of_unmoved(self, state: BackendState) -> None:
        """Warn of policies that no update of the run has moved; ``state``: at its end."""
        moved = state.learner[1]["policy_updates"]
        if names := [head for head in self._config.heads if not moved[head]]:
            _logger.warning(
                "no update has moved these nets: %s; raise max_updates, or lower learner.critic_warmup.decisions or "
                "buffer.batch_size",
                ", ".join(names),
            )

    def _warn_of_stale(self) -> None:
        """Warn if many decisions were too old to be learned from."""
        counts = self._backend.counts
        if counts.stale > _STALE_SHARE * counts.added:
            _logger.warning(
                "%.0f %% of the decisions were dropped because their policy was more than %d versions old, often "
                "the first ones of a kyoku: raise buffer.max_staleness or weight_sync_interval, or lower "
                "simulator.num_tables",
                *(100 * counts.stale / counts.added, self._config.buffer.max_staleness),
            )

    def _save(self) -> BackendState:
        """Write the state and the nets; return the state."""
        self._process_events_of(self._backend.settle)
        weights, state = self._backend.weights(), self._backend.state()
        self._progress.match_seconds = self._times.match_seconds
        self._folder.write_nets(weights, self._progress.updates)
        self._folder.write_state(state, self._progress)
        self._saved_at = time.monotonic()
        self._saved_updates = self._progress.updates
        then = None if self._metrics is None else partial(self._metrics.note_saved, time.time())
        if self._keep is not None:
            self._keep(self._saved_updates, then)
        elif then is not None:
            then()
        return state

    def _diverged(self, error: DivergedBatchError) -> DivergedError:
        """Write the batch and the last good weights; return the error that names the files."""
        updates = self._progress.updates
        self._folder.write_nets(self._backend.newest().weights, updates)
        path = self._folder.write_diverged(error, updates)
        if self._keep is not None:
            try:  # the folder still has this state, which is no newer than before, and now the batch too
                self._keep(self._saved_updates, None)
            except OSError as failed:  # of this upload or of an earlier one
                _logger.warning("the batch is only on this machine, because the storage has failed: %s", failed)
        return DivergedError(
            f"self-play diverged at update {updates + 1} ({error}); the batch is in {path}, the weights "
            f"of version {self._backend.version} in {self._folder.path}: lower learner.learning_rate "
            f"(now {self._config.learner.learning_rate}) or learner.gradient.max_ratio"
        )

    def _tick(self) -> None:
        now = time.monotonic()
        if not self._backend.is_waiting_for_parts:  # for nodes, perhaps for hours: max_minutes is not for that
            self._progress.seconds += now - self._ticked_at
        self._ticked_at = now
