"""What the live page says of the deciding match, from its first game to its end."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from suphx.evaluation.match_config import SeatingChoice
from suphx.evaluation.measures import SequentialConfig
from suphx.evaluation.sequential import MatchWatch, SequentialOutcome
from suphx_pipelines.recipe.tournament_recipe import DecisionConfig
from suphx_pipelines.tournament.pages import LiveState
from tests.suphx_pipelines.tournament.small_tournament import KIND, SMALL

CONFIG = DecisionConfig(hanchans=400, fresh_hanchans=100, test=SequentialConfig(difference=0.3, error=0.05))
FIRST, SECOND, THIRD, FOURTH = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)


def outcome_of(*walls: list[tuple[int, int, int, int]]) -> SequentialOutcome:
    """Return what the test says of walls; each has the candidate's place in four games, one-hot."""
    placements = np.array([np.sum(wall, axis=0) for wall in walls], np.int64).reshape(-1, 4)
    watch = MatchWatch(CONFIG.test, 100)
    watch.add(0, placements)
    return watch.outcome()


def match_section(
    config: DecisionConfig, outcome: SequentialOutcome | None, *, played: float, fresh: float, is_over: bool = False
) -> str:
    state = LiveState(outcome=outcome, played=played, fresh=fresh, is_over=is_over)
    return KIND.live(replace(SMALL, decision=config), state)


def shown(outcome: SequentialOutcome | None, *, fresh: float = 0, is_over: bool = False) -> str:
    played = 0.5 if outcome is None else outcome.hanchans + 8
    page = match_section(CONFIG, outcome, played=played, fresh=fresh, is_over=is_over)
    return re.sub(r"<[^>]+>", " ", page).replace("\u00a0", " ")


EVEN = [FIRST, SECOND, THIRD, FOURTH]
GOOD = ([FIRST, FIRST, SECOND, SECOND], [FIRST, FIRST, FIRST, SECOND])
BAD = ([THIRD, FOURTH, FOURTH, SECOND], [FOURTH, FOURTH, THIRD, THIRD])


@pytest.mark.parametrize("seating", ["all", "1v3"])
def test_the_title_names_the_seating_that_decides(seating: SeatingChoice) -> None:
    config = replace(CONFIG, test=replace(CONFIG.test, seating=seating))
    assert KIND.texts.title(config.test, "a", "ukeire") == "The deciding match: a against three ukeire."
    config = replace(CONFIG, test=replace(CONFIG.test, seating="2v2"))
    assert KIND.texts.title(config.test, "a", "ukeire") == "The deciding match (2v2): a against ukeire."


def test_before_the_first_look_nothing_is_estimated() -> None:
    text = shown(None)
    assert "0 of at most 400 hanchans have been played" in text
    assert "looks at them for the first time after 96 hanchans" in text
    assert "so far" not in text


def test_a_match_that_is_not_decided_shows_difference_interval_and_what_is_left() -> None:
    outcome = outcome_of(*(7 * (GOOD[0], GOOD[0], BAD[0], EVEN)))
    assert outcome.decision == "undecided"
    low, high = outcome.intervals["placement"].low, outcome.intervals["placement"].high
    mean = (1.5 + 1.5 + 3.25 + 2.5) / 4 - 2.5
    assert (low + high) / 2 == pytest.approx(mean), "the middle of the interval is the mean of the games"
    text = shown(outcome)
    assert "120 of at most 400 hanchans have been played" in text
    claim = r"the claim that the candidate is better by 0\.3 places"
    figures = r"log-likelihood ratio \S+, the match ends at ±\S+"
    left = r"About \d+ more hanchans are expected\."
    assert re.search(rf"Not decided yet: the first 112 hanchans speak for {claim} \({figures}\)\. {left}", text)
    assert f"{mean:+.3f}".replace("-", "−") in text
    assert f"{low:.3f} to {high:.3f}".replace("-", "−") in text
    assert "points per hanchan" in text
    assert "The match ended before the test had decided" in shown(outcome, is_over=True)
    assert "more hanchans would be needed" in shown(outcome, is_over=True)


def check_without_mean(outcome: SequentialOutcome) -> None:
    """The mean of a match that was stopped is neither in the words nor in the picture; the interval is."""
    page, text = match_section(CONFIG, outcome, played=96, fresh=0, is_over=True), shown(outcome)
    low, high = outcome.intervals["placement"].low, outcome.intervals["placement"].high
    assert f"{low:.3f} to {high:.3f}".replace("-", "−") in text
    assert f"{(low + high) / 2:+.3f}".replace("-", "−") not in text
    assert "<th>so far" not in page
    assert "<circle" not in page


def test_a_decision_is_said_in_words_and_then_the_games_on_new_walls_count() -> None:
    better = outcome_of(*(12 * GOOD))
    assert better.decision == "better"
    text = shown(better, fresh=37.6)
    assert f"Decided after {better.hanchans} hanchans: the candidate is better" in text
    assert "37 of 100 hanchans have been played on new walls" in text
    all_seatings = replace(CONFIG, test=replace(CONFIG.test, seating="all"))
    assert "37 of 300 hanchans" in match_section(all_seatings, better, played=400, fresh=37.6)
    check_without_mean(better)
    worse = outcome_of(*(12 * BAD))
    assert worse.decision == "not_better"
    text = shown(worse)
    assert f"Decided after {worse.hanchans} hanchans: it is not true that the candidate is better by 0.3 places" in text
    assert "new walls" not in text
    check_without_mean(worse)
