"""The sentences of promotions and verdicts, and the leaderboard of a first wall."""

from __future__ import annotations

from typing import Any

import pytest

from suphx.evaluation.rating import RatedGame
from suphx_pipelines.tournament import leaderboard
from suphx_pipelines.tournament.entrants import Entrant, Pool
from suphx_pipelines.tournament.history import EarlierNights
from suphx_pipelines.tournament.kind import Night
from suphx_pipelines.tournament.seats import contrary_seatings
from suphx_pipelines.tournament.sides import SideKind
from tests.suphx_pipelines.tournament.small_tournament import KIND

SIDES = SideKind("doudizhu")
Ends = list[float]


def match(placement: Ends, points: Ends) -> dict[str, Any]:
    """Return a match on new walls with these 95 % intervals."""
    return {
        "hanchans": 1000,
        "paired_difference": {"average_placement": sum(placement) / 2, "interval": placement},
        "points_difference": {"per_hanchan": sum(points) / 2, "interval": points},
    }


def decision(decides: str, **others: dict[str, Any]) -> dict[str, Any]:
    """Return a decision that the candidate has won, with matches in other seatings."""
    return {
        "candidate": "a-1/reinforcement",
        "opponent": "ukeire",
        "is_won": True,
        "test": {"decides": decides, "hanchans": 400},
        "match": match([-0.2, -0.1], [4.0, 9.0]),
        "other_seatings": {f"{name[1]}v{name[2]}": each for name, each in others.items()},
    }


BETTER, UNCLEAR, WORSE = match([-0.2, -0.1], [1.0, 9.0]), match([-0.1, 0.1], [-3.0, 3.0]), match([0.1, 0.2], [-9, -1])


def test_a_promotion_names_each_seating_in_which_the_candidate_is_worse() -> None:
    told = KIND.reason(decision("placement", _22=WORSE, _31=WORSE), is_promoted=True)
    assert told.startswith("new champion: a-1/reinforcement beat ukeire: placement difference")
    assert told.endswith("; but it is worse than ukeire in 2v2 and 3v1")
    assert KIND.reason(decision("placement", _22=BETTER, _31=WORSE), is_promoted=True).endswith("than ukeire in 3v1")


def test_seatings_that_agree_or_show_nothing_are_not_named() -> None:
    told = KIND.reason(decision("placement", _22=BETTER, _31=UNCLEAR), is_promoted=True)
    assert told.endswith("decided after 400 hanchans")
    assert contrary_seatings(decision("placement")) == []


@pytest.mark.parametrize(("decides", "seatings"), [("placement", ["2v2"]), ("points", ["3v1"])])
def test_the_measure_that_decides_says_what_is_worse(decides: str, seatings: list[str]) -> None:
    by_placement, by_points = match([0.1, 0.2], [-3.0, 3.0]), match([-0.1, 0.1], [-9.0, -1.0])
    assert contrary_seatings(decision(decides, _22=by_placement, _31=by_points)) == seatings


@pytest.mark.parametrize("walls", [1, 9])
def test_one_wall_shows_no_interval(walls: int) -> None:
    agents = ("ukeire", "a", "b", "c")
    entrants = tuple(Entrant(name=name, address=name, digest=name) for name in agents)
    night = Night(
        pool=Pool(entrants=entrants, champion=None, version=None, left_out={}),
        earlier=EarlierNights([], []),
        anchor="ukeire",
        name="1",
        run_id="a-1",
        games=[RatedGame(wall, (*agents[turn:], *agents[:turn]), (1, 2, 3, 4))
               for wall in range(walls) for turn in range(4)],
    )  # fmt: skip
    table = leaderboard.table_of(KIND, night)
    rows = {row["name"]: row for row in table["agents"]}
    assert rows["ukeire"]["interval"] == [1000.0, 1000.0]
    for name in agents[1:]:
        assert (rows[name]["interval"] is None) == (walls == 1)
        assert "stable_rank" not in rows[name]
    shown = "".join(text for _, text in leaderboard.sections(KIND, table))
    assert ("Over so few walls the intervals mean little" in shown) == (walls == 1)
    assert "None" not in shown + "".join(map(bytes.decode, leaderboard.pictures(KIND, table).values()))


def test_a_first_champion_that_beat_nobody_is_not_called_better() -> None:
    first = {"candidate": "a-1/reinforcement", "opponent": None, "is_won": True, "test": None, "match": None}
    promotion = {"promoted": True, "reason": "new champion: a-1/reinforcement is the first that played"}
    for found in (KIND.verdict({}, first, promotion), SIDES.verdict({}, first, promotion)):
        assert found.outcome == "none"
        assert found.sentence == "New champion: a-1/reinforcement is the first that played."


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
    test: dict[str, Any] = {"verdict": stopped, "decides": "placement", "hanchans": 400, "difference": 0.05}
    test |= {
        "expected_hanchans": 9.0,
        "always_valid_interval": [low, high],
        "always_valid_intervals": {"placement": [low, high], "points": [-9.0, 9.0]},
    }
    lost = {"candidate": "a", "opponent": "ukeire", "is_won": False, "test": test, "match": None}
    test_of_sides = {**test, "decks": 400, "expected_decks": 9.0, "always_valid_interval": [0.5 - high, 0.5 - low]}
    lost_sides = {**lost, "test": test_of_sides}
    evidence = KIND.evidence(lost, "3"), SIDES.evidence(lost_sides, "3")
    told = KIND.reason(lost, is_promoted=False), SIDES.reason(lost_sides, is_promoted=False)
    verdicts = KIND.verdict({}, lost, {"reason": told[0]}), SIDES.verdict({}, lost_sides, {"reason": told[1]})
    assert [each.outcome for each in (*evidence, *verdicts)] == [outcome] * 4
    others = {"worse", "not better", "undecided"} - {word}
    for text in (*told, *(each.why for each in evidence)):
        assert not [other for other in others if other in text], text
    assert all(f'"{word}"' in each.why for each in evidence)
