"""The sentence of a tournament's report in a game of two sides."""

from __future__ import annotations

import pytest

from suphx.evaluation.rating.rated_games import RatedGame
from suphx_pipelines.tournament.pool.tournament_history import EarlierNights
from suphx_pipelines.tournament.pool.tournament_pool import Entrant, Pool
from suphx_pipelines.tournament.sides import side_page, side_report
from suphx_pipelines.tournament.sides.side_table import SideBoard


@pytest.mark.parametrize(
    ("anchor", "scale"),
    [
        ("random", "random has 1,000 points in all nights"),
        ("rule", "the mean of all agents has 1,000 points, because rule has not played"),
    ],
)
def test_the_report_says_who_has_1000_points(anchor: str, scale: str) -> None:
    agents = ("net", "random")
    board = SideBoard(
        pool=Pool(
            entrants=tuple(Entrant(name=name, address=name, digest=name) for name in agents),
            champion=None,
            version=None,
            left_out={},
        ),
        sides=("landlord", "farmers"),
        earlier=EarlierNights([], []),
        anchor=anchor,
        night="1",
        run_id="doudizhu-0000000001",
        games=[RatedGame(deck, agents, (1, 2)) for deck in range(40)],
        points={("net", "landlord"): 40.0, ("random", "farmers"): -40.0},
    )
    table = board.table()
    assert side_report.verdict(table, {"candidate": None}, {}).sentence.endswith(f", where {scale}.")
    assert f"{scale[0].upper()}{scale[1:]}. 100 points more" in dict(side_page.sections(table))["Leaderboard"]
