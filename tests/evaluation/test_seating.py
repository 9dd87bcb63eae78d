from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from suphx.evaluation.match_config import Seating
from suphx.evaluation.measures import PLACEMENT, points_measure
from suphx.games.scoring import SeatScoring

SEATINGS: tuple[Seating, ...] = ("1v3", "2v2", "3v1")


@pytest.mark.parametrize("seating", SEATINGS)
def test_every_seat_has_as_many_candidates(seating: Seating) -> None:
    for wall in range(6):
        seats = SeatScoring().candidate_seats(seating, wall)
        assert seats.sum(axis=0).tolist() == [int(seating[0])] * 4
        assert seats.sum(axis=1).tolist() == [int(seating[0])] * 4


def test_two_against_two_sit_in_all_six_ways_equally_often() -> None:
    ways = np.concatenate([SeatScoring().candidate_seats("2v2", wall) for wall in range(3)])
    different, counts = np.unique(ways, axis=0, return_counts=True)
    assert (len(different), set(counts.tolist())) == (6, {2})


@pytest.mark.parametrize("seating", SEATINGS)
@pytest.mark.parametrize("wall", range(3))
def test_equal_agents_differ_by_nothing(seating: Seating, wall: int) -> None:
    """The same four players at the same seats give the same places in all four games of a wall."""
    counts = np.zeros((1, 4), np.int64)
    for seats in SeatScoring().candidate_seats(seating, wall):
        counts[0] += seats[[2, 0, 3, 1]]  # the players of these seats come first to fourth
    for measure in (PLACEMENT, points_measure((90, 45, 0, -135)), points_measure((75, 30, 0, -165))):
        assert replace(measure, candidates=int(seating[0])).wall_sums(counts).tolist() == [0]


@pytest.mark.parametrize("seating", SEATINGS)
def test_a_strength_that_adds_up_gives_the_same_difference_in_all_seatings(seating: Seating) -> None:
    """Places from a table's mean 2.5 and a candidate's lead of 0.4 over each opponent."""
    number = int(seating[0])
    places_of_a_candidate = 2.5 - 0.4 * (4 - number) / 4
    beyond_the_mean = 4 * number * (places_of_a_candidate - 2.5)  # of a wall, as wall_sums
    assert replace(PLACEMENT, candidates=number).wall_unit * beyond_the_mean == pytest.approx(-0.3)


def test_a_wall_that_is_played_in_all_orders_has_every_seating_once() -> None:
    scoring = SeatScoring(has_all_orders=True)
    ways = scoring.candidate_seats("2v2", 5)
    assert sorted(map(tuple, ways.tolist())) == sorted({tuple(way) for way in ways.tolist()})
    assert [scoring.num_games(seating) for seating in scoring.seatings] == [4, 6, 4]
    assert len({tuple(order) for order in scoring.lineup_seats(7).tolist()}) == len(scoring.lineup_seats(7)) == 24
