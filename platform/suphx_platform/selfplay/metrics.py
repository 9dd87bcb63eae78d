"""What Prometheus sees of a run: gauges and counters of Ray's metrics API, at the metrics port of the driver's node.

No other file imports ray.util.metrics. Ray puts ``ray_`` before each name and ``_total`` behind those of counters; who
looks at them, and what they mean, is in docs/operations.md.

>>> metrics = RunMetrics()
>>> metrics.open(done_share=0.0)  # Ray gets them from now on, as soon as this process is connected to it
>>> metrics.count([Fault("engine 0", "died", "…")])
>>> metrics.show({"hanchans_per_second": 12.5, "discard_entropy": 0.9})
>>> metrics.close()
"""

from __future__ import annotations

import logging
import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

import ray
from ray.util.metrics import Counter, Gauge

from suphx.games.registry import GAMES, agent_names, decision_names
from suphx.selfplay.backend import Event, Learned, Played

Tags = Mapping[str, str]

_logger = logging.getLogger(__name__)

GAUGES: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "suphx_hanchans_per_second": ("Hanchans played a second since the last point of the curves", ()),
    "suphx_decisions_per_second": ("Decisions of all seats a second since the last point", ()),
    "suphx_observations_per_second": ("Observations that all inference engines evaluated a second", ()),
    "suphx_waiting_share": ("Share of its time in which a part waited for others", ("part",)),
    "suphx_staleness": ("Versions between the policy that acted and the one that learned, mean over a batch", ()),
    "suphx_policy_version": ("The newest policy version", ()),
    "suphx_versions_behind": ("Versions that the slowest engine is behind the newest", ()),
    "suphx_entropy": ("Entropy of the policy over the legal actions, nats", ("head",)),
    "suphx_alpha": ("Coefficient of the entropy term", ("head",)),
    "suphx_loss": ("Loss of the policy net or of the critic", ("head", "kind")),
    "suphx_kl": ("KL divergence of the policy, nats, from the one that acted or from the start", ("head", "origin")),
    "suphx_importance_ratio": ("Quantiles of target over behaviour probability in a batch", ("head", "quantile")),
    "suphx_rejected_share": ("Share of decisions whose ratio was too large to learn from", ("head",)),
    "suphx_reward": ("Mean reward of a batch, in reward units", ("head",)),
    "suphx_buffer_bytes": ("Decisions that wait in all shards of the replay buffer", ()),
    "suphx_memory_bytes": ("Private memory of the largest process of a kind", ("part",)),
    "suphx_done_share": ("How much of the updates is done, 0 to 1; without matches", ()),
    "suphx_match_difference": ("Paired difference of the average placement against an opponent, below 0 is better, or "
                               "of points per game where they decide, above 0 is better", ("opponent",)),
    "suphx_uploads_waiting": ("Saves that are not in the storage yet", ()),
    "suphx_storage_outage_seconds": ("Seconds since the storage has taken nothing; 0 while it does", ()),
    "suphx_tracking_waiting": ("Messages that MLflow has not got yet", ()),
    "suphx_tracking_outage_seconds": ("Seconds since MLflow has taken nothing; 0 while it does", ()),
    "suphx_state_saved_seconds": ("Time of the newest kept state, at first of an update, seconds since 1970", ()),
    "suphx_stopping": ("1 when the run was asked to stop before its end, else 0", ()),
}  # fmt: skip
COUNTERS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "suphx_hanchans": ("Hanchans played since this process began", ()),
    "suphx_decisions": ("Decisions of all seats since this process began", ()),
    "suphx_updates": ("Updates made since this process began", ()),
    "suphx_faults": ("Parts that died, hung or failed", ("part", "kind")),
    "suphx_buffer_decisions": ("Decisions added, learned, refused, stale or lost since this process began", ("fate",)),
}

STOP_SECONDS_VARIABLE = "SUPHX_STOP_METRICS_SECONDS"
"""Environment variable: how long a run that stops exports its metrics after that, so that Prometheus reads them."""

_REFRESH_SECONDS = 1.0
"""Ray exports every ten seconds (RAY_metrics_report_interval_ms), at most every second."""
_STATE_SAVED: tuple[str, tuple[tuple[str, str], ...]] = ("suphx_state_saved_seconds", ())
_FATES = ("added", "learned", "refused", "stale", "lost")
_SAME_NAMES = (
    *("hanchans_per_second", "decisions_per_second", "staleness", "buffer_bytes", "done_share"),
    *("uploads_waiting", "storage_outage_seconds", "tracking_waiting", "tracking_outage_seconds"),
)
"""Figures whose gauges have their names."""
_OF_POINT: Mapping[str, tuple[str, Tags]] = {
    **{name: (f"suphx_{name}", {}) for name in _SAME_NAMES},
    "engine_observations_per_second": ("suphx_observations_per_second", {}),
    "version": ("suphx_policy_version", {}),
    "engine_versions_behind": ("suphx_versions_behind", {}),
    **{f"{part}_waiting_share": ("suphx_waiting_share", {"part": part}) for part in ("simulator", "engine", "learner")},
    **{f"{part}_memory_bytes": ("suphx_memory_bytes", {"part": part})
       for part in ("simulator", "engine", "buffer", "server", "learner")},
    **{f"{name}_difference": ("suphx_match_difference", {"opponent": name})
       for name in ("start", "weak", *(name for game in GAMES for name in agent_names(game)))},
}  # fmt: skip
_OF_HEAD: Mapping[str, tuple[str, Tags]] = {
    "entropy": ("suphx_entropy", {}),
    "alpha": ("suphx_alpha", {}),
    "policy_loss": ("suphx_loss", {"kind": "policy"}),
    "critic_loss": ("suphx_loss", {"kind": "critic"}),
    "kl": ("suphx_kl", {"origin": "behaviour"}),
    "kl_to_start": ("suphx_kl", {"origin": "start"}),
    "ratio_low": ("suphx_importance_ratio", {"quantile": "0.05"}),
    "ratio_median": ("suphx_importance_ratio", {"quantile": "0.5"}),
    "ratio_high": ("suphx_importance_ratio", {"quantile": "0.95"}),
    "ratio_max": ("suphx_importance_ratio", {"quantile": "1"}),
    "rejected_share": ("suphx_rejected_share", {}),
    "reward": ("suphx_reward", {}),
}
_GAUGE_OF = {
    **_OF_POINT,
    **{f"{head}_{figure}": (name, {"head": head, **tags})
       for game in GAMES for head in decision_names(game) for figure, (name, tags) in _OF_HEAD.items()},
}  # fmt: skip


class RunMetrics:
    """Consumes: what happens in a run. Produces: its gauges and counters. Waits for: Prometheus, when the run stops.

    Ray forgets a gauge that is not set for two exports. A thread sets all of them every second between ``open`` and
    ``close``, so that they are exported while the run waits for nodes, matches or the storage.
    """

    def __init__(self, watch: Callable[[], Mapping[str, float]] = dict) -> None:
        """``watch`` returns further figures to show; it is called in the thread.

        Raises ValueError if the environment variable that ``close`` follows is not a number of seconds.
        """
        self._gauges = {name: Gauge(name, text, tags) for name, (text, tags) in GAUGES.items()}
        self._counters = {name: Counter(name, text, tags) for name, (text, tags) in COUNTERS.items()}
        self._values: dict[tuple[str, tuple[tuple[str, str], ...]], float] = {}
        self._added = dict.fromkeys(_FATES, 0.0)
        self._watch = watch
        self._stop_seconds = _stop_seconds()
        self._is_closed = threading.Event()
        self._thread = threading.Thread(target=self._refresh_until_closed, name="metrics", daemon=True)
        self._stopping_since: float | None = None

    def open(self, *, done_share: float, decisions: Mapping[str, float] = MappingProxyType({})) -> None:
        """Begin to export, with the share of the run that earlier processes have done.

        ``decisions``: those of each fate that earlier processes have counted; only further ones are added.
        The age of the state follows with the first update, or with the first state that is kept: before that, nothing
        would be lost, however long the run waits for its pods.
        """
        self._values["suphx_stopping", ()] = 0.0
        self._added.update(decisions)
        self.show({"done_share": done_share})
        self._thread.start()

    def close(self) -> None:
        """Stop exporting. A run that was asked to stop exports a little longer, as its environment wants it."""
        if self._stopping_since is not None:
            self._is_closed.wait(max(0.0, self._stopping_since + self._stop_seconds - time.monotonic()))
        self._is_closed.set()
        if self._thread.ident is not None:
            self._thread.join()

    def count(self, events: Sequence[Event]) -> None:
        """Count games, updates and faults."""
        for event in events:
            if isinstance(event, Played):
                self._add("suphx_hanchans", event.num_games)
                self._add("suphx_decisions", event.num_decisions)
            elif isinstance(event, Learned):
                self._add("suphx_updates", 1)
                self._values.setdefault(_STATE_SAVED, time.time())
            else:
                self._add("suphx_faults", 1, {"part": event.part.split()[0], "kind": event.kind})

    def show(self, point: Mapping[str, float]) -> None:
        """Show a point of the curves; names that no gauge knows are left out."""
        self._set(point)
        for fate in _FATES:
            total = point.get(f"{fate}_decisions", self._added[fate])
            self._add("suphx_buffer_decisions", total - self._added[fate], {"fate": fate})
            self._added[fate] = total

    def note_saved(self, at: float) -> None:
        """Show that the state of the time ``at``, in seconds since 1970, is kept."""
        self._values[_STATE_SAVED] = at

    def note_stopping(self) -> None:
        """Show that the run was asked to stop: it is not a failure that its metrics end before it is done."""
        self._values["suphx_stopping", ()] = 1.0
        if self._stopping_since is None:
            self._stopping_since = time.monotonic()

    def _set(self, figures: Mapping[str, float]) -> None:
        for name, value in figures.items():
            if name in _GAUGE_OF:
                gauge, tags = _GAUGE_OF[name]
                self._values[gauge, tuple(tags.items())] = value

    def _refresh_until_closed(self) -> None:
        has_warned = False
        while not self._is_closed.wait(_REFRESH_SECONDS):
            if not ray.is_initialized():
                continue
            try:
                try:
                    self._set(self._watch())
                finally:  # also if that fails
                    for (name, tags), value in list(self._values.items()):
                        self._gauges[name].set(value, dict(tags))
            except Exception as error:  # noqa: BLE001 - a run without this thread would seem to be lost
                if not has_warned:
                    _logger.warning("some metrics are not exported now: %r", error)
                has_warned = True

    def _add(self, name: str, number: float, tags: Tags | None = None) -> None:
        if number > 0:  # Ray refuses others
            self._counters[name].inc(number, dict(tags or {}))


def _stop_seconds() -> float:
    """Return for how long a run that stops exports its metrics, as its environment wants it."""
    text = os.environ.get(STOP_SECONDS_VARIABLE) or "0"
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 <= seconds < math.inf:
        raise ValueError(f"{STOP_SECONDS_VARIABLE} is {text!r}: use a number of seconds, 0 or more")
    return seconds
