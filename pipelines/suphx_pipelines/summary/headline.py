"""The figures of a run that its page in MLflow shows, and by which runs are compared: the same names in every run."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase

from suphx.selfplay.agents.choice import SCRIPTED_AGENTS
from suphx_pipelines.summary.verdict import Verdict

_SHOWN = (
    "records/games",
    "records/kyoku",
    "records/decisions",
    "supervised/*/accuracy",
    "supervised/*/loss",
    "evaluation/average_placement",
    "evaluation/deal_in_rate",
    "evaluation/paired_difference*",
    "evaluation/stable_rank",
    "evaluation/start_difference*",
    "evaluation/win_rate",
    "ablation/summary/*",
    "agent_comparison/*",
    "learning_curve/summary/*",
    "reward_predictor/loss",
    "reward_predictor/margin_to_*",
    "*/updates",
    "*/hanchans",
    "*/decisions",
    "*/decks",
    "*/start_difference*",
    "*/start_points_per_kyoku*",
    "*/start_sampled_difference*",
    "*/weak_difference*",
    *(f"*/{name}_difference*" for name in SCRIPTED_AGENTS),
    "match/*_share*",
    "match/*_points*",
    "decision/difference*",
    "decision/share*",
    "decision/points*",
    "decision/is_won",
    "promotion/promoted",
    "leaderboard/rating/*",
)
"""Patterns of ``<stage>/<metric>``: ``match`` and ``share`` are those of games of two sides. What else a stage measures
is on its own page."""


def headline(stage: str, metrics: Mapping[str, float]) -> dict[str, float]:
    """Return those figures of a finished stage that the page of its run shows, as ``<stage>/<metric>``."""
    named = {f"{stage}/{name}": value for name, value in metrics.items()}
    return {name: value for name, value in named.items() if any(fnmatchcase(name, pattern) for pattern in _SHOWN)}


def verdict_figures(verdict: Verdict) -> dict[str, float]:
    """Return the difference behind the verdict, whatever was measured; nothing if there was no match."""
    if verdict.difference is None or verdict.low is None or verdict.high is None:
        return {}
    return {
        "verdict/difference": verdict.difference,
        "verdict/difference_low": verdict.low,
        "verdict/difference_high": verdict.high,
        "verdict/hanchans": verdict.hanchans,
    }
