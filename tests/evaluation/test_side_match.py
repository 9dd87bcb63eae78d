from __future__ import annotations

import numpy as np
import pytest

from suphx.evaluation import side_match
from suphx.evaluation.side_match import play_side_match
from suphx.games.candidate_game import candidate_game
from suphx.games.doudizhu import Rules, play_scripted

GAME = candidate_game("doudizhu")


def test_figures_are_those_of_the_same_decks_played_by_the_scripted_agents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_match, "_DEALS_AT_A_TIME", 16)  # several parts
    seen: list[int] = []
    players = GAME.scripted_player("rule"), GAME.scripted_player("random")
    report = play_side_match(GAME, Rules(), *players, num_deals=40, first_seed=9, progress=seen.append)
    landlord = play_scripted(40, Rules(), ("rule", "random"), seed=9)
    peasants = play_scripted(40, Rules(), ("random", "rule"), seed=9)
    wins = landlord.winners == 0, peasants.winners != 0
    points = [np.where(won, 1, -1) * np.exp2(play.bombs) for won, play in zip(wins, (landlord, peasants), strict=True)]
    means = {name: figure.mean for name, figure in report.figures.items()}
    assert means == pytest.approx(
        {
            "wp_landlord": wins[0].mean(),
            "wp_peasant": wins[1].mean(),
            "adp_landlord": points[0].mean(),
            "adp_peasant": points[1].mean(),
            "share": np.mean(wins),
            "points": np.mean(points),
        }
    )
    assert (seen, report.deals, report.outcome) == ([16, 16, 8], 40, "better")
    assert all(f.interval.low <= f.mean <= f.interval.high for f in report.figures.values())


def test_an_agent_against_itself_wins_half_of_the_games_of_every_deck() -> None:
    rule = GAME.scripted_player("rule")
    report = play_side_match(GAME, Rules(), rule, rule, num_deals=6)
    share = report.figures["share"]
    assert (share.mean, share.interval.low, share.interval.high) == (0.5, 0.5, 0.5)
    assert report.outcome == "undecided"


def test_few_deals_decide_nothing() -> None:
    players = GAME.scripted_player("rule"), GAME.scripted_player("random")
    reports = [play_side_match(GAME, Rules(), *players, num_deals=number, first_seed=9) for number in (5, 40)]
    assert [report.outcome for report in reports] == ["undecided", "better"]


def test_one_deal_has_no_interval() -> None:
    random = GAME.scripted_player("random")
    with pytest.raises(ValueError, match="1 deals have no interval: play at least 2"):
        play_side_match(GAME, Rules(), random, random, num_deals=1)
