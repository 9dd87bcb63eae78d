from __future__ import annotations

from suphx_pipelines.summary.headline import headline, verdict_figures
from suphx_pipelines.summary.verdict import Verdict


def test_figures_of_strength_are_headlines_and_technical_ones_are_not() -> None:
    figures = {
        "paired_difference": -0.1,
        "paired_difference_low": -0.2,
        "win_rate": 0.25,
        "observations_per_second": 9.0,
    }
    assert headline("evaluation", figures) == {
        "evaluation/paired_difference": -0.1,
        "evaluation/paired_difference_low": -0.2,
        "evaluation/win_rate": 0.25,
    }
    nets = headline("supervised/discard", {"accuracy": 0.7, "waiting_share": 0.1})
    assert nets == {"supervised/discard/accuracy": 0.7}
    assert headline("reinforcement", {"hanchans": 9.0, "version": 3.0}) == {"reinforcement/hanchans": 9.0}
    assert headline("report", {"bytes": 9.0}) == {}


def test_the_shares_and_points_of_a_match_of_two_sides_are_headlines_with_their_intervals() -> None:
    ends = ("", "_low", "_high")
    match = {f"{name}{end}": 0.5 for name in ("rule_share", "rule_points") for end in ends}
    assert headline("match", match | {"rule_wp_first": 0.6}) == {f"match/{name}": 0.5 for name in match}
    decision = {f"{name}{end}": 0.5 for name in ("share", "points") for end in ends} | {"decks": 90.0, "is_won": 1.0}
    technical = {"decision_decks": 400.0, "always_valid/share_low": 0.4, "log_likelihood_ratio": 3.0}
    assert headline("decision", decision | technical) == {f"decision/{name}": each for name, each in decision.items()}


def test_the_figures_of_a_verdict_have_the_same_names_whatever_was_measured() -> None:
    verdict = Verdict(outcome="better", sentence="", difference=-0.1, low=-0.2, high=-0.05, hanchans=400)
    assert verdict_figures(verdict) == {
        "verdict/difference": -0.1,
        "verdict/difference_low": -0.2,
        "verdict/difference_high": -0.05,
        "verdict/hanchans": 400,
    }
    assert verdict_figures(Verdict(outcome="none", sentence="no match")) == {}
