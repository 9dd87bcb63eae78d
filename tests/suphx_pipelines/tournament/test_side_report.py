"""The sentence of a tournament's report in a game of two sides."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from suphx.evaluation.rating import RatedGame
from suphx_pipelines.json_file import write_json
from suphx_pipelines.report.report_page import number
from suphx_pipelines.tournament import leaderboard
from suphx_pipelines.tournament.entrants import Entrant, Pool
from suphx_pipelines.tournament.history import EarlierNights, games_json, read_history
from suphx_pipelines.tournament.kind import Night
from suphx_pipelines.tournament.sides import SideKind
from tests.suphx_pipelines.tournament.small_tournament import code

KIND = SideKind("doudizhu")


@pytest.mark.parametrize(
    ("anchor", "scale"),
    [
        ("random", "random has 1,000 points in all nights"),
        ("rule", "the mean of all agents has 1,000 points, because rule has not played"),
    ],
)
def test_the_report_says_who_has_1000_points(anchor: str, scale: str) -> None:
    agents = ("net", "random")
    night = Night(
        pool=Pool(
            entrants=tuple(Entrant(name=name, address=name, digest=name) for name in agents),
            champion=None,
            version=None,
            left_out={},
        ),
        earlier=EarlierNights([], []),
        anchor=anchor,
        name="1",
        run_id="doudizhu-0000000001",
        games=[RatedGame(deck, agents, (1, 2)) for deck in range(40)],
        points={"net": [40.0, 0.0], "random": [0.0, -40.0]},
    )
    table = leaderboard.table_of(KIND, night)
    assert KIND.verdict(table, {"candidate": None}, {}).sentence.endswith(f", where {scale}.")
    assert f"{scale[0].upper()}{scale[1:]}. 100 points more" in dict(leaderboard.sections(KIND, table))["Leaderboard"]


def test_an_agent_with_one_deck_has_no_interval(tmp_path: Path) -> None:
    agents = ("net", "random", "rule")
    entrants = tuple(Entrant(name=name, address=name, digest=name) for name in agents)
    night = Night(
        pool=Pool(entrants=entrants, champion=None, version=None, left_out={}),
        earlier=EarlierNights([], [{"run": "a-1", "night": "0", "ratings": {"net": [1100.0, None, None]}}]),
        anchor="random",
        name="1",
        run_id="a-2",
        games=[RatedGame(deck, ("rule", "random"), (1, 2)) for deck in range(9)]
        + [RatedGame(10, ("net", "random"), (1, 2))],
        points={name: [0.0, 0.0] for name in agents},
    )
    table = leaderboard.table_of(KIND, night)
    bounds = {row["name"]: row["interval"] for row in table["agents"]}
    assert {name for name, found in bounds.items() if found is None} == {"net"}
    assert bounds["random"] == [1000.0, 1000.0]
    ratings = next(night["ratings"] for night in table["nights"] if night["night"] == "1")
    assert ratings["net"][1:] == [None, None]
    own = next(row for row in table["agents"] if row["name"] == "net")
    shown = dict(leaderboard.sections(KIND, table))
    cells = re.sub(r"<[^>]+>", "|", shown["Leaderboard"])
    assert f"||{number(own['rating'])}||–||1||" in cells
    assert "None" not in "".join(shown.values()) + "".join(
        map(bytes.decode, leaderboard.pictures(KIND, table).values())
    )
    write_json(tmp_path / "history.json", games_json([], {}, code()) | {"nights": table["nights"]})
    assert read_history(tmp_path / "history.json", code()).nights == table["nights"]
