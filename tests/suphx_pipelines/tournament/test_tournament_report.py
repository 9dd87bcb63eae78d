"""The sentences on deciding matches, and the leaderboard of few deals, in games of four seats and of two sides."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from suphx.evaluation.measures import SequentialConfig
from suphx.evaluation.rating import RatedGame
from suphx.evaluation.sequential import MatchWatch, SequentialReport
from suphx.games.registry import load_game
from suphx_pipelines.json_file import write_json
from suphx_pipelines.report.report_page import number
from suphx_pipelines.tournament.history import EarlierNights, games_json, read_history
from suphx_pipelines.tournament.kind import Entrant, Kind, Night, Pool
from suphx_pipelines.tournament.report import night_sections, pictures
from suphx_pipelines.tournament.stages import table_of
from tests.suphx_pipelines.tournament.small_tournament import KIND, code

SIDES = Kind("doudizhu")
Ends = list[float]


def match(placement: Ends, points: Ends) -> dict[str, Any]:
    """Return a match on new walls with these 95 % intervals."""
    return {
        "games": 1000,
        "paired_difference": {"average_placement": sum(placement) / 2, "interval": placement},
        "points_difference": {"per_game": sum(points) / 2, "interval": points},
    }


def decision(decides: str, **others: dict[str, Any]) -> dict[str, Any]:
    """Return a decision that the candidate has won, with matches in other seatings."""
    return {
        "candidate": "a-1/reinforcement",
        "opponent": "ukeire",
        "is_won": True,
        "test": {"decides": decides, "games": 400},
        "match": match([-0.2, -0.1], [4.0, 9.0]),
        "other_seatings": {f"{name[1]}v{name[2]}": each for name, each in others.items()},
    }


@pytest.mark.parametrize(("decides", "seatings"), [("placement", ["2v2"]), ("points", ["3v1"])])
def test_the_measure_that_decides_says_what_is_worse(decides: str, seatings: list[str]) -> None:
    by_placement, by_points = match([0.1, 0.2], [-3.0, 3.0]), match([-0.1, 0.1], [-9.0, -1.0])
    assert KIND.texts.contrary_seatings(decision(decides, _22=by_placement, _31=by_points)) == seatings


def test_a_first_champion_that_beat_nobody_is_not_called_better() -> None:
    first = {"candidate": "a-1/reinforcement", "opponent": None, "is_won": True, "test": None, "match": None}
    promotion = {"promoted": True, "reason": "new champion: a-1/reinforcement is the first that played"}
    for kind in (KIND, SIDES):
        found = kind.texts.verdict({}, first, promotion)
        assert (found.outcome, found.sentence) == ("none", "New champion: a-1/reinforcement is the first that played.")


@pytest.mark.parametrize(
    ("stopped", "bounds", "outcome", "word"),
    [
        ("undecided", (0.1, 0.3), "worse", "worse"),
        ("not_better", (0.1, 0.3), "worse", "worse"),
        ("not_better", (-0.1, 0.2), "not_better", "not better"),
        ("undecided", (-0.1, 0.2), "undecided", "undecided"),
    ],
)
def test_the_run_the_registry_and_every_sentence_have_one_verdict(
    stopped: str, bounds: tuple[float, float], outcome: str, word: str
) -> None:
    low, high = bounds
    of_seats = {"placement": [low, high], "points": [-9.0, 9.0]}
    of_sides = {"share": [0.5 - high, 0.5 - low]}
    for kind, intervals in ((KIND, of_seats), (SIDES, of_sides)):
        found = {"games": 400, "expected_games": 9.0, "always_valid_intervals": intervals}
        test = {"verdict": stopped, "difference": 0.05, "decides": next(iter(intervals)), **found}
        lost = {"candidate": "a", "opponent": "ukeire", "is_won": False, "test": test, "match": None}
        evidence, told = kind.texts.evidence(lost, "3"), kind.texts.reason(lost, is_promoted=False)
        assert evidence.outcome == kind.texts.verdict({}, lost, {"reason": told}).outcome == outcome
        others = {"worse", "not better", "undecided"} - {word}
        assert not [other for other in others if other in told or other in evidence.why]
        assert f'"{word}"' in evidence.why


def night_of(games: list[RatedGame], agents: tuple[str, ...], anchor: str, **values: Any) -> Night:
    entrants = tuple(Entrant(name=name, address=name, digest=name) for name in agents)
    pool = Pool(entrants=entrants, champion=None, version=None, left_out={})
    values = {"earlier": EarlierNights([], []), **values}
    return Night(pool=pool, anchor=anchor, name="1", run_id="a-0000000001", games=games, **values)


def shown_text(kind: Kind, table: dict[str, Any]) -> str:
    """Return all that pages and pictures show of a leaderboard."""
    shown = "".join(text for _, text in night_sections(kind, table))
    return shown + str(pictures(kind, table))


FIRST, SECOND, THIRD, FOURTH = (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
GOOD, BAD = [FIRST, FIRST, SECOND, SECOND], [THIRD, FOURTH, FOURTH, SECOND]
EVEN = [FIRST, SECOND, THIRD, FOURTH]


@pytest.mark.parametrize(
    ("walls", "verdict"),
    [([*(7 * [GOOD, GOOD, BAD, EVEN])], "undecided"), (24 * [GOOD], "better"), (24 * [BAD], "not better")],
)
def test_the_page_of_a_match_has_the_interval_so_far_and_no_mean(
    walls: list[list[tuple[int, int, int, int]]], verdict: str
) -> None:
    config = SequentialConfig(difference=0.3, error=0.05)
    watch = MatchWatch(config, 100)
    watch.add(0, np.array([np.sum(wall, axis=0) for wall in walls], np.int64))
    outcome = watch.outcome()
    names = {"candidate": "a", "opponent": "ukeire"}
    scoring = load_game("riichi").scoring
    report = SequentialReport(candidate="a", opponent="ukeire", seed=0, config=config, outcome=outcome, scoring=scoring)
    games = [RatedGame(1, ("ukeire", "a", "b", "c"), (1, 2, 3, 4))]
    table = table_of(KIND, night_of(games, ("ukeire", "a", "b", "c"), "ukeire"))
    page = dict(night_sections(KIND, table, names | KIND.decision(report, names), is_live=True))["Deciding match"]
    text = re.sub(r"<[^>]+>", " ", page).replace("\u00a0", " ")
    found = outcome.intervals["placement"]
    assert f": {verdict} after {4 * outcome.deals} hanchans" in text
    assert f"{found.low:.3f} to {found.high:.3f}".replace("-", "−") in text
    assert f"{(found.low + found.high) / 2:+.3f}".replace("-", "−") not in text
    assert "<circle" not in page
    assert ("more hanchans would decide it" in text) == (verdict == "undecided")


@pytest.mark.parametrize("walls", [1, 9])
def test_one_wall_shows_no_interval(walls: int) -> None:
    agents = ("ukeire", "a", "b", "c")
    games = [
        RatedGame(wall, (*agents[turn:], *agents[:turn]), (1, 2, 3, 4)) for wall in range(walls) for turn in range(4)
    ]
    table = table_of(KIND, night_of(games, agents, "ukeire"))
    rows = {row["name"]: row for row in table["agents"]}
    assert rows["ukeire"]["interval"] == [1000.0, 1000.0]
    assert [rows[name]["interval"] is None for name in agents[1:]] == [walls == 1] * 3
    shown = shown_text(KIND, table)
    assert ("Over so few walls the intervals mean little" in shown) == (walls == 1)
    assert "None" not in shown


@pytest.mark.parametrize(
    ("anchor", "scale"),
    [
        ("random", "random has 1,000 points in all nights"),
        ("rule", "the mean of all agents has 1,000 points, because rule has not played"),
    ],
)
def test_the_report_says_who_has_1000_points(anchor: str, scale: str) -> None:
    games = [RatedGame(deck, ("net", "random"), (1, 2)) for deck in range(40)]
    points = {"net": [40.0, 0.0], "random": [0.0, -40.0]}
    table = table_of(SIDES, night_of(games, ("net", "random"), anchor, points=points))
    nobody = {"candidate": None, "test": None, "match": None}
    assert SIDES.texts.verdict(table, nobody, {}).sentence.endswith(f", where {scale}.")
    assert f"{scale[0].upper()}{scale[1:]}. 100 points more" in dict(night_sections(SIDES, table))["Leaderboard"]


def test_an_agent_with_one_deck_has_no_interval(tmp_path: Path) -> None:
    agents = ("net", "random", "rule")
    games = [RatedGame(deck, ("rule", "random"), (1, 2)) for deck in range(9)]
    games.append(RatedGame(10, ("net", "random"), (1, 2)))
    earlier = EarlierNights([], [{"run": "a-1", "night": "0", "ratings": {"net": [1100.0, None, None]}}])
    points = {name: [0.0, 0.0] for name in agents}
    table = table_of(SIDES, night_of(games, agents, "random", earlier=earlier, points=points))
    bounds = {row["name"]: row["interval"] for row in table["agents"]}
    assert {name for name, found in bounds.items() if found is None} == {"net"}
    assert bounds["random"] == [1000.0, 1000.0]
    ratings = next(night["ratings"] for night in table["nights"] if night["night"] == "1")
    assert ratings["net"][1:] == [None, None]
    own = next(row for row in table["agents"] if row["name"] == "net")
    cells = re.sub(r"<[^>]+>", "|", dict(night_sections(SIDES, table))["Leaderboard"])
    assert f"||{number(own['rating'])}||–||1||" in cells
    assert "None" not in shown_text(SIDES, table)
    write_json(tmp_path / "history.json", games_json([], {}, code()) | {"nights": table["nights"]})
    assert read_history(tmp_path / "history.json", code()).nights == table["nights"]
