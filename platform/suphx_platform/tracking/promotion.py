"""Why a version of the registered model was promoted, or was not, as its page in MLflow shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

TOURNAMENT_TAG = "tournament"
"""The run of the tournament in which a version was the candidate."""
STORED_TAG = "stored"
"""Versions of checkpoints in a bucket (``s3://…``) that the nets were copied from, with spaces between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Promotion:
    """The claim of a candidate to the champion's place, with the evidence."""

    digest: str
    """Of the nets: the same nets have the same digest."""
    night: str
    """Of the tournament: at most one promotion a night."""
    replaces: str | None
    """The version of the champion that it played against; None if there was none."""
    description: str = ""
    """Who was the opponent, how the match ended, when and in which tournament, in Markdown."""
    trained_in: str = ""
    """Key of the run that trained the nets; the version links it if MLflow has it."""
    name: str = "nets"
    """Of the model, such as the id of its run."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """Figures and names, for searches."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Figures of the match, shown with the model."""

    @property
    def claim(self) -> str:
        """The place of an alias that is claimed: the night, and the version that is replaced."""
        return f"{self.night}/{self.replaces or 'none'}"
