"""A whole training by playouts in a folder: it saves its state, continues after a stop, and leaves an agent.

>>> run = PlayoutRun(job, Path("runs/night/playouts"))
>>> run.resume()
>>> while not run.is_finished:
...     run.advance()
>>> run.finish()["history"][-1]["discard_gain"]

The folder then has the checkpoints of all five nets, ``metrics.json``, and ``playout_state.safetensors``, from which a
run that was killed goes on and ends with the same numbers.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from suphx.atomic_file import write_atomically
from suphx.games.riichi import HEAD_NAMES, find_encoder, tenhou
from suphx.models.checkpoints.tensor_file import read_tensors, write_tensors
from suphx.printable_text import shortened
from suphx.selfplay.agents.policy_set import PolicySet, save_policy_set
from suphx.training.loop.metrics_file import METRICS_FILE
from suphx.training.playouts.branch_learner import BranchSums
from suphx.training.playouts.playout_config import FREE_KEYS, PlayoutConfig
from suphx.training.playouts.playout_training import PlayoutTraining

STATE_FILE = "playout_state.safetensors"
FORMAT_VERSION = 2
START_DIGEST = "start"
"""What states of earlier versions do not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlayoutJob:
    """The nets, the data and the settings of one training from playouts."""

    config: PlayoutConfig
    start: PolicySet
    encoder: str
    rules_version: str
    seed: int
    """0 <= seed < 2**20."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Goes into the headers of the checkpoints."""

    def identity(self) -> dict[str, Any]:
        """Return all that must be the same for a training to go on, as JSON can hold it."""
        config = {name: value for name, value in asdict(self.config).items() if name not in FREE_KEYS}
        nets = [asdict(net.config) for net in self.start.nets]
        same = {"config": config, "nets": nets, "encoder": self.encoder, "rules": self.rules_version, "seed": self.seed}
        return dict(json.loads(json.dumps(same | {START_DIGEST: self.start.digest()})))


class PlayoutRun:
    """Consumes: a job. Produces: an agent in a folder. Waits for: its games. To be used with ``with``."""

    def __init__(
        self,
        job: PlayoutJob,
        folder: Path,
        *,
        report: Callable[[Mapping[str, float]], None] | None = None,
        keep: Callable[[int], None] | None = None,
    ) -> None:
        """``report`` gets a point of the curves every ``report_every`` rounds; ``keep`` the rounds of a saved state."""
        folder.mkdir(parents=True, exist_ok=True)
        self._job, self._folder, self._report, self._keep = job, folder, report, keep
        encoder = find_encoder(job.encoder)
        self._training = PlayoutTraining(job.config, job.start, encoder, tenhou(), seed=job.seed)
        self._since_report: dict[str, BranchSums] = {}
        self.history: list[dict[str, float]] = []
        self._saved_at = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._training.__exit__(*error)

    @property
    def decisions(self) -> int:
        """Decisions learned from so far."""
        return self._training.decisions

    @property
    def share_done(self) -> float:
        """0 to 1."""
        return min(1.0, self.decisions / self._job.config.num_decisions)

    @property
    def is_finished(self) -> bool:
        """Tell whether all decisions were learned from."""
        return self._training.is_finished

    def resume(self) -> None:
        """Go on from the state in the folder, if there is one; ValueError if it belongs to another training."""
        path = self._folder / STATE_FILE
        if not path.is_file():
            return
        tensors, header = read_tensors(path)
        if header.get("kind") != "playouts" or header.get("format_version") != FORMAT_VERSION:
            raise ValueError(f"{path} is not a state of playouts of format {FORMAT_VERSION}: delete it to start over")
        then, now = header.get("job"), self._job.identity()
        if isinstance(then, dict) and START_DIGEST not in then:
            del now[START_DIGEST]
        if then != now:
            raise ValueError(f"{path} belongs to a training with other settings: restore them, or delete it")
        try:
            self._training.restore(tensors)
            self.history = list(header["history"])
            self._since_report = {
                head: BranchSums(**{"measured": sums["count"], **sums}) for head, sums in header["since_report"].items()
            }
        except (AttributeError, KeyError, RuntimeError, TypeError, ValueError) as error:
            reason = shortened(str(error), 200)
            raise ValueError(f"{path} is damaged ({reason}): delete it to start over") from error

    def advance(self) -> None:
        """Play and learn one round; report and save when it is time."""
        for head, sums in self._training.play_round().items():
            self._since_report.setdefault(HEAD_NAMES[head], BranchSums()).add_all(sums)
        if self._training.rounds % self._job.config.report_every == 0 or self.is_finished:
            self._add_point()
        if self.is_finished or time.monotonic() - self._saved_at >= self._job.config.save_seconds:
            self.save()

    def save(self) -> None:
        """Write the nets of now as checkpoints, and the state."""
        save_policy_set(
            self._folder,
            self._training.policy_set(),
            self._job.encoder,
            rules_version=self._job.rules_version,
            step=self._training.rounds,
            extra=dict(self._job.extra),
        )
        header = {
            "kind": "playouts",
            "format_version": FORMAT_VERSION,
            "job": self._job.identity(),
            "history": self.history,
            "since_report": {head: asdict(sums) for head, sums in self._since_report.items()},
        }
        write_tensors(self._folder / STATE_FILE, self._training.state(), header)
        self._saved_at = time.monotonic()
        if self._keep is not None:
            self._keep(self._training.rounds)

    def finish(self) -> dict[str, Any]:
        """Write ``metrics.json`` and return what it holds."""
        metrics = {
            "decisions": self.decisions,
            "rounds": self._training.rounds,
            "seconds": self._training.seconds,
            "heads": list(self._job.config.heads),
            "history": self.history,
        }
        write_atomically(self._folder / METRICS_FILE, [json.dumps(metrics, indent=1, allow_nan=False).encode()])
        return metrics

    def _add_point(self) -> None:
        point = {"decisions": float(self.decisions), "seconds": self._training.seconds}
        too_few: dict[str, BranchSums] = {}
        for head, sums in self._since_report.items():
            if means := sums.means():
                point |= {f"{head}_{name}": value for name, value in means.items()}
            elif self.is_finished:
                point[f"{head}_decisions"] = float(sums.count)
            else:
                too_few[head] = sums
        self._since_report = too_few
        self.history.append(point)
        if self._report is not None:
            self._report(point)
