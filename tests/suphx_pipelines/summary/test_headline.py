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


def test_the_figures_of_a_verdict_have_the_same_names_whatever_was_measured() -> None:
    verdict = Verdict(outcome="better", sentence="", difference=-0.1, low=-0.2, high=-0.05, hanchans=400)
    assert verdict_figures(verdict) == {
        "verdict/difference": -0.1,
        "verdict/difference_low": -0.2,
        "verdict/difference_high": -0.05,
        "verdict/hanchans": 400,
    }
    assert verdict_figures(Verdict(outcome="none", sentence="no match")) == {}
