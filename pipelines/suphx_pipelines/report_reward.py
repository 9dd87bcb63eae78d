"""The report's section on the reward predictor; the keys that it reads stand in reward_predictor.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suphx.riichi.game_text import kyoku_name
from suphx_pipelines import report_figure, report_page
from suphx_pipelines.report_number import interval, number, percent

_PREDICTORS = {
    "net": "the net",
    "mean": "mean of all places",
    "place_now": "as if the game ended now",
    "place_and_kyoku": "mean of this place before this kyoku",
}


def section(result: Mapping[str, Any]) -> str:
    """Return the section; empty without a result."""
    if not result:
        return ""
    games = result["games"]
    points = ", ".join(f"{value:g}" for value in result["points"])
    body = report_page.paragraph(
        f"What first to fourth place are worth: {points}. Learned from {number(games['train'])} hanchans, tested on "
        f"{number(games['test'])} others; {number(games['left_out'])} games of another length were left out. "
        f"{number(result['num_weights'])} weights."
    )
    columns = ("predictor", "loss (equation 4)", "the net is below by", "difference", "95 % interval")
    rows = [
        (_PREDICTORS[name], number(figures["loss"]), percent(figures.get("margin")), number(figures.get("difference")),
         interval(figures.get("interval"), 0)) for name, figures in result["test"].items()
    ]  # fmt: skip
    caption = "Mean squared error in points, over all prefixes of the test games; intervals by bootstrap over games."
    body += report_page.table(columns, rows, caption=caption)
    history = report_figure.losses(result["history"])
    calibration = report_figure.reliability(result["calibration"])
    body += report_page.side_by_side(
        report_page.figure(history, "Loss of equation 4, after each epoch."),
        report_page.figure(calibration, "Ten groups of equal size, by what was predicted."),
    )
    sums = result["sums"]
    body += report_page.paragraph(
        f"The four seats of a table are predicted one by one: their sum is {sums['mean']:+.1f} points off on average, "
        f"{sums['mean_absolute']:.1f} regardless of sign.",
        is_soft=True,
    )
    return body + "".join(_example(game) for game in result["examples"])


def _example(game: Mapping[str, Any]) -> str:
    """Return the picture of one game; each label says which kyoku is next."""
    labels = [kyoku_name(kyoku, honba) for kyoku, honba in zip(game["kyoku"], game["honba"], strict=True)]
    picture = report_figure.predictions(game, [*labels, "end"])
    final = ", ".join(number(score) for score in game["scores"][-1])
    caption = f"A test game, before each kyoku. Final scores {final}; dots: what the seats were paid."
    return report_page.figure(picture, caption)
